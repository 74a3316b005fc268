"""JointFit: a joint made from measured frames, and how well it reproduces them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, is_whole
from condyle.errors import DescriptionError
from condyle.mobilizers import Mobilizer, motion_at
from condyle.presentation import Block, Display, number, page, rows_of
from condyle.quality import Check, Judged
from condyle.records import dataclass
from condyle.spatial import Metric, Transform, log_se3, log_so3
from condyle.status import Outcome, Status
from condyle.studies.joints.measured_frames import MeasuredFrames
from condyle.table import Table

SAMPLES = 200
"""Points at which a joint's Jacobian and Hessian are evaluated for plots and reports."""
WORST = 5


@dataclass(frozen=True, eq=False, repr=False)
class JointFit(Display, Judged):
    """A joint from measured frames: from `cd.fit_spline_curve` and its relatives.

    Attributes:
        mobilizer: the joint, for `system.add_body(..., mobilizer=fit.mobilizer)`.
        frames: the m measured frames.
        q: coordinates of the measured frames, given or found, shape (m,), or (m, nq) for several coordinates.
        residuals: per frame: coordinates, `angle` [deg] and `distance` [mm] from the joint's frame to the
            measured one, and `size` [mm], both together in the metric.
        metric: relative weight of angles and distances.
        status: "finished", or why the fit ended earlier. Equals a `cd.Status` too.
        notes: sentences about choices of the fit.
        steps: a record of each iteration; None without iterations.
        cross_validation: error at left-out frames for every choice that was tried; None if there was no
            choice.
    """

    mobilizer: Mobilizer
    frames: Transform
    q: NDArray[np.float64]
    residuals: Table
    metric: Metric
    status: Outcome
    notes: tuple[str, ...] = ()
    steps: Table | None = None
    cross_validation: Table | None = None

    _study = "fit"
    elsewhere: ClassVar[dict[str, str]] = {
        "save": "fit.mobilizer.save('knee.json')",
        "pose": "fit.mobilizer.pose(q)",
        "joint": "fit.mobilizer",
        "domain": "fit.mobilizer.domain",
        "residual": "fit.residuals, a Table",
        "error": "fit.residuals, or fit.rms",
    }

    @classmethod
    def of(
        cls,
        mobilizer: Mobilizer,
        measured: MeasuredFrames,
        q: Array,
        fitted: Transform,
        metric: Metric,
        *,
        status: Outcome | None = None,
        notes: tuple[str, ...] = (),
        **more: Any,
    ) -> Self:
        """The result from a joint, measured frames (m,), their q, and the joint's frames at these q,
        `fitted` (m,). `more` has other attributes."""
        frames, time = measured.X, measured.time
        left = fitted.inverse() @ frames
        columns = np.column_stack(
            [
                *([] if time is None else [time]),
                q,
                np.degrees(np.linalg.norm(log_so3(left.R), axis=-1)),
                1e3 * np.linalg.norm(frames.p - fitted.p, axis=-1),
                1e3 * metric.norm(log_se3(left)),
            ]
        )
        names = [*([] if time is None else ["t"]), *mobilizer.coordinate_names, "angle", "distance", "size"]
        units = [
            *([] if time is None else ["s"]),
            *("" if u == "1" else u for u in mobilizer.units),
            "deg",
            "mm",
            "mm",
        ]
        status = status or Outcome(Status.FINISHED)
        residuals = Table(measured.source, names, columns, units, status=status, over="frame")
        q = np.array(q, dtype=float)
        q.flags.writeable = False
        return cls(mobilizer, frames, q, residuals, metric, status, notes, **more)

    def worst(self, count: int = WORST) -> Table:
        """The frames with the largest residuals in the metric, the worst first."""
        if not is_whole(count, 0):
            raise DescriptionError(f"JointFit.worst: expected how many frames, got {count!r}")
        return self.residuals._with(rows=np.argsort(-self.residuals["size"], kind="stable")[:count])

    @property
    def rms(self) -> tuple[float, float]:
        """Root mean squares of the residuals: angle [deg] and distance [mm]."""
        angle, distance = (float(np.sqrt((self.residuals[c] ** 2).mean())) for c in ("angle", "distance"))
        return angle, distance

    def _checks(self) -> Iterator[Check]:
        """Quality checks. Residuals have no guideline, since they depend on how frames were measured; a
        search that does not converge fails."""
        for name, unit, value in zip(("angle", "distance"), ("deg", "mm"), self.rms, strict=True):
            x = self.residuals[name]
            yield Check(
                f"root mean square of the residual {name}",
                value,
                unit,
                where=f"largest {number(x.max())} at frame {int(self.residuals.time[x.argmax()])}",
            )
        yield Check(
            "search without an end",
            float(self.status != Status.FINISHED),
            "",
            0.0,
            math.inf,
            advice=f"{self.status}",
        )

    def rates(self, samples: int = SAMPLES) -> Table:
        """How the joint moves: |s|, the joint Jacobian, and |ds|, the joint Hessian, in the metric.

        For a joint with one coordinate, over its domain of q; for others, at some of the measured frames,
        with each coordinate moving alone.

        Args:
            samples: number of rows.

        Returns:
            a Table; columns are the coordinates, then |s| and |ds| [m per unit of q, and per its square].
        """
        m, nq = len(self.residuals), self.mobilizer.nq
        flat = self.q.reshape(m, nq)
        if nq == 1:
            low, high = self.mobilizer.domains[0]
            if not np.isfinite(high - low):
                low, high = float(flat.min()), float(flat.max())
            q = np.linspace(low, high, samples)[:, None]
        else:
            q = flat[np.linspace(0, m - 1, min(m, samples)).astype(int)]
        nu = self.mobilizer.nu
        out = np.empty((len(q), 2, nu))
        for i, at in enumerate(q):
            for j in range(nu):
                out[i, :, j] = self._rate(at, np.eye(nu)[j], j)
        names = self.mobilizer.coordinate_names
        of = [""] if nu == 1 else [f" of {name}" for name in self.mobilizer.speed_names]
        return Table(
            np.arange(len(q)),
            [*names, *(f"|s|{x}" for x in of), *(f"|ds|{x}" for x in of)],
            np.column_stack([q, out.reshape(len(q), -1)]),
            over="trial",
        )

    def _rate(self, q: Array, u: Array, j: int) -> tuple[float, float]:
        """|s| and |ds| of coordinate j at q: H and bias turned into M, the latter without w x v."""
        at = motion_at(self.mobilizer, 0.0, q, u)
        w, v, dw, dv = (
            at.R.T @ x
            for x in (
                np.reshape(at.H_w, (3, -1))[:, j],
                np.reshape(at.H_v, (3, -1))[:, j],
                np.ravel(at.bias_w),
                np.ravel(at.bias_v),
            )
        )
        s, ds = np.concatenate([w, v]), np.concatenate([dw, dv - np.cross(w, v)])
        return float(self.metric.norm(s)), float(self.metric.norm(ds))

    def plot(self, figure: Any = None, *, width: str | float = "page", path: str | Path | None = None) -> Any:
        """Draw path, residuals, |s| and |ds|: over q for a joint with one coordinate, else over the frames.

        Args:
            figure: matplotlib's figure to draw on; a new one by default.
            width: "column" or "page" of a journal, or inches.
            path: write a file too, as for `Table.plot`.

        Returns:
            matplotlib's figure.
        """
        if figure is not None and not hasattr(figure, "subplots"):
            raise DescriptionError(
                f"JointFit.plot: expected a figure of matplotlib, got {figure!r}; to keep "
                "the picture write fit.plot(path='fit.png')"
            )
        from condyle.table.plots import house_style, inches, new_figure, save

        wide = inches(width)
        with house_style():
            figure = (
                new_figure((wide, 0.85 * wide if wide > 5 else 2 * wide), path) if figure is None else figure
            )
            place, turn, angle, distance, speed, bend = figure.subplots(
                *((3, 2) if wide > 5 else (6, 1))
            ).ravel()
            rates, table = self.rates(), self.residuals
            one = self.mobilizer.nq == 1
            x = self.q.ravel() if one else table.time
            label = table.titles[table.names.index(self.mobilizer.coordinate_names[0])] if one else "frame"
            mark: dict[str, Any] = {"marker": ".", "linestyle": "none", "markersize": 2.5}
            middle = Transform(self.frames.R[len(table) // 2], self.frames.p[len(table) // 2])
            turned = np.degrees(log_so3(middle.R.T @ self.frames.R))
            for axes, values in ((place, 1e3 * (self.frames.p - middle.p)), (turn, turned)):
                for component, name in zip(values.T, "xyz"):
                    axes.plot(x, component, label=name, **mark)
                axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            if one:
                q = rates[self.mobilizer.coordinate_names[0]]
                at = [motion_at(self.mobilizer, 0.0, [value], [0.0]) for value in q]
                for axes, curve in (
                    (place, [1e3 * (np.ravel(X.p) - middle.p) for X in at]),
                    (turn, np.degrees(log_so3(middle.R.T @ np.array([X.R for X in at])))),
                ):
                    axes.set_prop_cycle(None)
                    axes.plot(q, curve, linewidth=1)
            else:
                q = rates.time
            angle.plot(x, table["angle"], **mark)
            distance.plot(x, table["distance"], **mark)
            nu = self.mobilizer.nu
            for axes, names in ((speed, rates.names[-2 * nu : -nu]), (bend, rates.names[-nu:])):
                for name in names:
                    axes.plot(q, rates[name], label=name)
                axes.set_ylim(0, 1.1 * max(1e-12, *(rates[name].max() for name in names)))
                if nu > 1:
                    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
            for axes, title in (
                (place, "position from the middle frame [mm]"),
                (turn, "rotation vector from the middle frame [deg]"),
                (angle, "residual angle [deg]"),
                (distance, "residual distance [mm]"),
                (speed, "Jacobian |s| [m per unit]"),
                (bend, "Hessian |ds| [m per unit^2]"),
            ):
                axes.set_title(title)
                axes.set_xlabel(label if axes in (speed, bend) or one else "frame")
            save(figure, path)
        return figure

    def report(self) -> str:
        """A report of the fit and its quality, as text."""
        table, rates = self.residuals, self.rates()
        nu = self.mobilizer.nu
        lines = [
            f"{type(self.mobilizer).__name__} from {len(table)} frames: {self.status}",
            *(f"  {note}" for note in self.notes),
            f"  metric: {self.metric!r}",
        ]
        for name, unit in (("angle", "deg"), ("distance", "mm"), ("size", "mm")):
            x = table[name]
            lines.append(
                f"  {name:9s} rms {number(np.sqrt((x * x).mean()))} {unit}, median "
                f"{number(np.median(x))}, largest {number(x.max())} at frame "
                f"{int(table.time[x.argmax()])}"
            )
        for name in rates.names[-2 * nu :]:
            x = rates[name]
            lines.append(f"  {name:9s} from {number(x.min())} to {number(x.max())}, mean {number(x.mean())}")
        worst = self.worst()
        rows = [[str(int(i)), *map(number, row)] for i, row in zip(worst.time, worst.values)]
        blocks = [Block("  worst frames", [worst.over, *worst.titles], rows)]
        if (tried := self.cross_validation) is not None:
            rows = [list(map(number, row)) for row in tried.values]
            blocks.append(Block("  cross-validation", tried.titles, rows))
        return "\n".join([*lines, *(block.text().replace("\n", "\n  ") for block in blocks)])

    def __repr__(self) -> str:
        angle, distance = self.rms
        return (
            f"JointFit({type(self.mobilizer).__name__} from {len(self.residuals)} frames: rms "
            f"{number(angle)} deg, {number(distance)} mm; {self.status}{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        worst = self.worst()
        return page(
            repr(self),
            rows_of([worst.over, *worst.titles], worst.time, worst.values),
            *self.quality.blocks,
            Block("notes", (), [(note,) for note in self.notes]),
        )
