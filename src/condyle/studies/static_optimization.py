"""`cd.static_optimization`: the muscle activations of least effort that explain a recorded motion.
docs/theory/static_optimization.md. unknown_forces.py has the equations of motion, least_effort.py the solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import ConvergenceError, DescriptionError, warn
from condyle.forces.actuators import CoordinateActuator
from condyle.muscles.muscle import FULL, fibers, saturation
from condyle.native.machine.notice import announced
from condyle.presentation import Block, ShowsBlocks, cut, rows_of, span
from condyle.quality import Check, Quality
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.studies.external_load import ExternalLoad, LoadWrenches, stacked
from condyle.studies.least_effort import LeastEffort, least_effort
from condyle.studies.motion.motion import Motion
from condyle.studies.residual_forces import ResidualForces
from condyle.studies.study_system import recorded_motion, study_system
from condyle.studies.unknown_forces import WHO, UnknownForces, directions
from condyle.system.checked_arguments import flag, number
from condyle.system.failures import report_left_out_frames, unsolved
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table, save_all

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory
    from condyle.table.plots import AxesLike, PlotOptions

KKT = 1e-9
"""A frame with a larger residual did not converge."""


@dataclass(frozen=True, eq=False, repr=False)
class StaticOptimization(ShowsBlocks):
    """Activations, forces and their quality, from `cd.static_optimization`. Failed frames are NaN in all
    Tables except `missing`.

    Attributes:
        activations: activations of the muscles.
        controls: controls of the actuators.
        forces: tensions of muscles and of actuators along paths [N], forces of other actuators [N, N m].
        reserves: forces of the reserves [N m, N], a column per speed that has one.
        missing: generalized forces that nothing can exert [N m, N], a column per speed: zero unless a frame
            has no solution.
        kkt: residual of the conditions of optimality of each frame, relative to the gradient, shape (m,).
        balance: largest error of the equations of motion of each frame [N m, N], shape (m,).
        saturated: names of the muscles at their upper bound, of each frame.
        failures: what went wrong, by frame.
        status: "finished", or how many frames failed. Equal to a `cd.Status` too.
        quality: residuals and reserves against their guidelines, saturated muscles, fibers far from their
            optimal length, frames that failed.
    """

    activations: Table
    controls: Table
    forces: Table
    reserves: Table
    missing: Table
    kkt: NDArray[np.float64]
    balance: NDArray[np.float64]
    saturated: tuple[tuple[str, ...], ...]
    failures: dict[int, Outcome]
    status: Outcome
    quality: Quality = field(default_factory=Quality)

    elsewhere: ClassVar[dict[str, str]] = {
        "to_pandas": "a method of each of its Tables, such as result.forces.to_pandas()"
    }

    def _named(self, name: str) -> str:
        return f"result.activations[{name!r}] or result.forces[{name!r}]" if name in self.forces.names else ""

    def plot(self, *names: str, **options: Unpack[PlotOptions]) -> AxesLike:
        """Draw activations (of all muscles, if none is named) over time. Options and what is
        returned are those of `Table.plot`."""
        from condyle.table.panels import Source
        from condyle.table.plots import draw

        return draw([Source(self.activations)], names, ylabel="activation", **options)

    def save(self, folder: str | Path, ending: str = "sto") -> list[Path]:
        """Write its Tables into a folder: activations.sto, forces.sto, and those of controls, reserves and
        missing that have columns.

        Args:
            folder: must exist.
            ending: "sto", "mot", "csv" or "npz".

        Returns:
            the files.
        """
        names = ("activations", "controls", "forces", "reserves", "missing")
        tables = {name: table for name in names if (table := getattr(self, name)).names}
        return save_all("StaticOptimization", tables, folder, ending)

    def __repr__(self) -> str:
        t = self.activations.time
        return (
            f"StaticOptimization({len(t)} frames{span(t)}: {cut(self.activations.names)}; {self.status}"
            f"{self.quality.summary})"
        )

    def _blocks(self) -> list[Block]:
        a = self.activations
        return [
            rows_of(["time [s]", *a.titles], a.time, a.values),
            *self.quality.blocks,
            Block("failures", (), [(text,) for text in self.failures.values()]),
        ]

    def check(self) -> StaticOptimization:
        """Itself, if no frame failed and no row of `quality` fails.

        Raises:
            ConvergenceError: the first failure.
            QualityError: the worst row.
        """
        for text in self.failures.values():
            raise ConvergenceError(f"{WHO}: {self.status}; {text}", None, text.kind)
        self.quality.check()
        return self


@with_call_hints(
    {
        "loads": "they are external_loads=[cd.ExternalLoad(...)]",
        "reserve": "they are reserves=1.0, or {coordinate: optimal force}",
        "use_muscle_physiology": "it is physiology=",
        "activation_exponent": "it is exponent=",
        "p": "it is exponent=",
        "cutoff": "a low-pass filter is lowpass=, a frequency [Hz]",
    }
)
@announced
def static_optimization(
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None,
    *,
    exponent: float = 2.0,
    a_min: float | Mapping[str, float] | None = None,
    a_max: float | Mapping[str, float] = 1.0,
    physiology: bool = True,
    passive: bool = False,
    reserves: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    lowpass: float | None = None,
    state: State | None = None,
) -> StaticOptimization:
    """Activations that move a system as recorded with the least effort, the weighted sum of their powers.

    Each frame is solved separately: activation dynamics and the stretch of tendons are ignored, as in
    OpenSim. A frame that no activations can explain is NaN and raises a warning; `failures` lists the
    missing forces.

    Args:
        system: muscle and actuator forces are the unknowns; all other forces are applied as modeled.
        motion: a Table of coordinates, which is differentiated by splines for speeds and accelerations (see
            `cd.Motion.of`), or a `cd.Motion`, a Trajectory, or Frames, which contain them.
        external_loads: measured forces on bodies over time, `cd.ExternalLoad`, one or several.
        exponent: p of the sum of |x|^p over activations, controls and reserves, at least 1. With 1 the answer
            may not be unique.
        a_min: least activation of all muscles, or {muscle: value}; by default each muscle's `minimum_activation`.
        a_max: greatest activation of all muscles, or {muscle: value}.
        physiology: whether the tension at an activation of 1 depends on the fiber's length and velocity, with
            a rigid tendon; otherwise it is the `max_isometric_force`.
        passive: whether passive tensions act too, with a rigid tendon. OpenSim leaves them out.
        reserves: optimal forces [N m, N] of reserve actuators, which are added: one number for all speeds,
            or by coordinate. Their forces cost (force / optimal force)^p.
        weights: of muscles, actuators and reserves in the sum, by the name of the force or coordinate; 1 by
            default.
        lowpass: cut-off frequency [Hz] of a filter for the coordinates of a Table; none by default.
        state: parameters, inputs, locks and disabled elements; `system.state()` by default.

    Returns:
        a StaticOptimization: `.activations`, `.forces`, `.reserves`, `.status` and more.

    Raises:
        UnknownNameError: a coordinate that the Table does not have, an unknown muscle.
        DescriptionError: no muscle, actuator or reserve, bounds that cross, an exponent below 1.
        CondyleError: invalid arguments.
    """
    p = number(f"{WHO}: exponent", exponent, "a number, at least 1")
    if not 1 <= p < math.inf:
        raise DescriptionError(
            f"{WHO}: exponent = {p:g} must be a number from 1 on: below 1 there are many least sums"
        )
    moved, loads = recorded_motion(WHO, system, motion, external_loads, lowpass, state)
    unknowns = UnknownForces(
        moved, flag(f"{WHO}: physiology", physiology), flag(f"{WHO}: passive", passive), reserves
    )
    (low, high), w = unknowns.bounds(a_min, a_max), unknowns.weights(weights)
    tau = _moments(moved, loads)
    b = tau - unknowns.passive
    m, n = len(moved), len(low)
    x, nearest, kkt, balance = (np.full(shape, np.nan) for shape in ((m, n), (m, n), m, m))
    every = LeastEffort(x, kkt, np.zeros((m, system.nu)), nearest)
    finite = np.isfinite(unknowns.columns).all(axis=(1, 2)) & np.isfinite(b).all(axis=1)
    for frames, speeds, N in directions(moved, np.flatnonzero(finite)):
        A, right = (unknowns.columns, b) if len(frames) == m else (unknowns.columns[frames], b[frames])
        if N is not None:  # (2)
            A, right = np.swapaxes(N, 1, 2) @ A, (np.swapaxes(N, 1, 2) @ right[..., None])[..., 0]
        elif len(speeds) < system.nu:
            A, right = A[:, speeds], right[:, speeds]
        found = least_effort(A, right, low, high, w, p)
        x[frames], nearest[frames], kkt[frames] = found.x, found.nearest, found.kkt
        every.missing[frames[:, None], speeds] = found.missing
        balance[frames] = np.abs((A @ found.x[..., None])[..., 0] - right).max(axis=1, initial=0.0)
    rows = Recruitment(unknowns, tau, x, high, ResidualForces(moved, tau, loads), physiology)
    return _result(moved, unknowns, every, balance, high, rows)


def _moments(motion: Motion, loads: LoadWrenches) -> Array:
    """tau of (1), shape (m, nu): the generalized forces that muscles and actuators must exert together."""
    system, model = motion.system, motion.system.compiled.model
    kept = [
        name for name in system.forces if name not in model.controlled_paths and name not in model.actuators
    ]
    batch = study_system(system, kept, loaded=tuple(loads)).batch(motion, loads=stacked(loads))
    return batch.kernel("inverse_dynamics", motion.udot)  # type: ignore[no-any-return]


def _result(
    motion: Motion,
    unknowns: UnknownForces,
    found: LeastEffort,
    balance: Array,
    high: Array,
    rows: Recruitment,
) -> StaticOptimization:
    x, kkt, missing, k, others = found.x, found.kkt, found.missing, len(unknowns.muscles), unknowns.others
    n = k + len(others)
    with np.errstate(invalid="ignore"):
        full = found.nearest[:, :k] >= high[:k] - FULL
    saturated = tuple(
        tuple(name for name, at in zip(unknowns.muscles, row, strict=True) if at) for row in full
    )
    failures = {
        int(i): _why(motion, unknowns, int(i), missing[i], kkt[i], saturated[i])
        for i in np.flatnonzero(~np.isfinite(x).all(axis=1) | (kkt > KKT))
    }
    report_left_out_frames(motion.system.compiled, WHO, motion.t, motion.q, motion.tail)
    status = Outcome(Status.FINISHED, str(motion.status))
    quality = Quality(rows.checks, WHO)
    if failures:
        status = Outcome(Status.SOME_FAILED, f"{len(failures)} of {len(motion)} frames failed")
        warn(f"{WHO}: {status}; {next(iter(failures.values()))}")
    elif rows.suspicious():
        quality.warn()
    forces = x[:, :n] * unknowns.strength[:, :n]
    forces[:, : unknowns.added.shape[1]] += unknowns.added
    units = motion.system.compiled.generalized_forces
    speeds = [motion.system.speeds[j] for j in unknowns.reserves]
    table = lambda names, values, of: Table(motion.t, names, values, of, status=status, degrees=False)
    return StaticOptimization(
        table(unknowns.muscles, x[:, :k], [""] * k),
        table(others, x[:, k:n], [""] * len(others)),
        table((*unknowns.muscles, *others), forces, unknowns.units),
        table(speeds, x[:, n:] * unknowns.strength[:, n:], [units[s] for s in speeds]),
        table(motion.system.speeds, missing, [units[s] for s in motion.system.speeds]),
        kkt,
        balance,
        saturated,
        failures,
        status,
        quality,
    )


def _why(
    motion: Motion, unknowns: UnknownForces, i: int, missing: Array, kkt: float, saturated: tuple[str, ...]
) -> Outcome:
    """Why a frame failed."""
    kind, where = Status.TOO_WEAK, f"frame {i} (t = {motion.t[i]:.6g} s)"
    if missing.any():
        units = motion.system.compiled.generalized_forces
        worst = sorted(np.flatnonzero(missing), key=lambda j: -abs(missing[j]))
        speeds = motion.system.speeds
        amounts = ", ".join(f"{missing[j]:.3g} {units[speeds[j]]} at {speeds[j]!r}" for j in worst[:3])
        full = f"saturated: {cut(saturated)}" if saturated else "no muscle is saturated"
        return Outcome(
            kind, f"{where}: no activations explain the motion: {amounts} missing; {full}; {kind.advice}"
        )
    if math.isnan(kkt):
        bad = [
            name
            for name, column in zip((*unknowns.muscles, *unknowns.others), unknowns.columns[i].T)
            if not np.isfinite(column).all()
        ]
        what = f"the path of {cut(bad)} has no length here" if bad else "the joint moments are not finite"
        if words := unsolved(
            motion.system.compiled,
            motion.q[i],
            np.broadcast_to(motion.tail, (len(motion.t), motion.tail.shape[-1]))[i],
        ):
            return Outcome(Status.PATH, f"{where}: {words[0]}; {Status.PATH.advice}")
        return Outcome(Status.NOT_FINITE, f"{where}: {what}")
    return Outcome(
        Status.STILL_IMPROVING,
        f"{where}: the effort was still falling, KKT residual {kkt:.1g}; "
        "take another exponent, or leave reserves out",
    )


RESERVE, RESERVE_FAILS = 10.0, 50.0
"""[%] Peak of a reserve relative to the peak moment of its joint: OpenSim's guideline; and the value above
which reserves, not muscles, move the joint."""
FELT = 0.01
"""Reserves below this part of the largest moment of all joints are ignored."""


class Recruitment:
    """Quality checks of a static optimization.

    Args:
        unknowns: muscles, actuators and reserves.
        tau: generalized forces that they exert together [N m, N], shape (m, nu).
        x: activations, controls and reserves found, shape (m, n).
        most: their upper bounds, shape (n,).
        residuals: residual forces of the same motion and loads.
        physiology: whether tensions depended on fiber lengths.
    """

    def __init__(
        self,
        unknowns: UnknownForces,
        tau: Array,
        x: Array,
        most: Array,
        residuals: ResidualForces,
        physiology: bool,
    ) -> None:
        self.unknowns, self.tau, self.x, self.most = unknowns, tau, x, most
        self.residuals, self.physiology = residuals, physiology

    def suspicious(self) -> bool:
        """Whether a row may fail, by a quick test."""
        return self.residuals.suspicious() or any(check.verdict == "fail" for check in self._helped())

    def checks(self) -> Iterator[Check]:
        """Rows of a quality table."""
        names = self.unknowns.muscles
        yield from self.residuals.checks()
        yield from self._helped()
        if names:
            yield from saturation(names, self.x[:, : len(names)], self.most[: len(names)])
            if self.physiology:
                yield from fibers(names, self.unknowns.fiber_lengths())
        failed = int(np.isnan(self.x).any(axis=1).sum())
        yield Check("frames that failed", failed, f"of {len(self.x)}", 0.0, 0.0, advice="see result.failures")

    def _helped(self) -> Iterator[Check]:
        """The largest reserve and the largest actuator of a coordinate relative to the moment at this
        coordinate, among coordinates on which muscles can act."""
        unknowns, m = self.unknowns, len(self.unknowns.muscles)
        first = m + len(unknowns.others)
        base = {k for b in self.residuals.bases for k in (*b.forces, *b.moments)}
        forces: list[Any] = [unknowns.system.force(name) for name in unknowns.others]
        motors = [m + k for k, law in enumerate(forces) if isinstance(law, CoordinateActuator)]
        reserves = [*range(first, self.x.shape[1])]
        if not len(self.x) or not (motors or reserves):
            return
        reached = np.abs(unknowns.columns[..., :m]).max(axis=(0, 2), initial=0.0) > 0
        need = np.fmax.reduce(np.abs(self.tau), axis=0, initial=0.0)
        kinds = np.array(list(unknowns.system.compiled.generalized_forces.values()))
        floor = FELT * np.array([need[kinds == kind].max() for kind in kinds])
        for noun, columns, limit in (("reserve", reserves, RESERVE_FAILS), ("actuator", motors, math.inf)):
            given = np.abs((unknowns.columns[..., columns] @ self.x[:, columns, None])[..., 0])
            most = np.fmax.reduce(given, axis=0, initial=0.0)
            speeds = [j for j in range(len(need)) if reached[j] and j not in base and most[j] > floor[j]]
            if not columns or not reached.any():
                continue
            if not speeds:
                yield Check(f"largest {noun} against its joint moment", 0.0, "%", RESERVE, limit)
                continue
            j = max(speeds, key=lambda j: most[j] / max(need[j], 1e-300))
            i = int(np.nanargmax(given[:, j]))
            yield Check(
                f"largest {noun} against its joint moment",
                100 * most[j] / max(need[j], 1e-300),
                "%",
                RESERVE,
                limit,
                f"{most[j]:.3g} {kinds[j]} at {unknowns.system.speeds[j]}, t = {unknowns.motion.t[i]:.4g} s",
                "muscles cannot exert what this motion takes: are muscles or loads missing, or "
                "fibers stretched far? Or the reserves are cheap: give them a lower optimal force",
            )
