"""Result of scaling: the system, its factors, the measurements, and how well markers fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from condyle.arrays import is_number
from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.presentation import Block, Display, cut, page
from condyle.quality import Check, Judged, Verdict
from condyle.records import dataclass
from condyle.studies.assemble import assemble
from condyle.studies.kinematics.result import STATIC_LARGEST, STATIC_RMS, InverseKinematics, marker_checks
from condyle.studies.scaling.measurements import Measured
from condyle.system.state import State
from condyle.system.system import System

FACTOR, FACTOR_FAILS = 1.4, 3.0
"""Factors beyond the first, or below its inverse, are rarely right; beyond the second a unit is wrong."""

LENGTH_OF = "length of "
"""Prefix of Parameters for the ratio of a path's length to its original length."""


def default_pose(system: System, parameters: Mapping[str, float] | None = None) -> State:
    """The default state, which satisfies the constraints."""
    state = system.state()
    state = state.replace(parameters=dict(parameters)) if parameters else state
    return assemble(system, state) if system.constraints else state


@dataclass(frozen=True, eq=False, repr=False)
class Scaling(Display, Judged):
    """A scaled system with its factors and measurements, from `cd.scale`.

    Attributes:
        system: the scaled system, not frozen.
        factors: of each body along x, y, z.
        measurements: one per pair of markers: name, pair, model and subject distance [m], factor.
        pose: the static pose that fits the markers best, a result of `cd.inverse_kinematics`, or None.
        notes: further remarks.
        original: the system that was scaled.
    """

    system: System
    factors: dict[str, tuple[float, ...]]
    measurements: tuple[Measured, ...]
    pose: InverseKinematics | None
    notes: tuple[str, ...]
    original: System

    _study = "scale"
    elsewhere: ClassVar[dict[str, str]] = {
        "model": "it is result.system",
        "errors": "it is result.marker_errors",
    }

    def parameters(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values of the system's Parameters for sizes of a subject, if the factors are Parameters: the
        sizes, and the relative lengths of muscles, ligaments and springs along paths, in proportion to the
        lengths of their paths in the default pose. Derivatives of the latter are those of
        `system.jacobian("path_lengths", q, wrt="parameters")`.

        Args:
            values: values of the factors' Parameters; the others keep their defaults.

        Returns:
            {name: value}, for `parameters=` of operators and of `State.replace`.
        """
        system, mine = self.system, self.original.parameters
        names = [n for n in system.parameters if n in mine or not n.startswith(LENGTH_OF)]
        if not isinstance(values, Mapping):
            raise DescriptionError(
                f"Scaling.parameters: expected {{name: value}} of {cut(names)}, got {values!r}"
            )
        for n, x in values.items():
            if n not in names:
                raise UnknownNameError("Parameter", n, names, "Scaling.parameters")
            if not is_number(x) or (n not in mine and x <= 0):
                raise DescriptionError(
                    f"Scaling.parameters: {n!r}: expected one {'number' if n in mine else 'size, a number above 0'}, "
                    f"got {x!r}; call it once per subject"
                )
            if n not in mine and not 1 / FACTOR_FAILS < x < FACTOR_FAILS:
                warn(f"Scaling.parameters: {n!r} is {x:g}, far from 1; a factor is 1.1, not 110")
        out = {n: float(x) for n, x in values.items()}
        follow = [k for k, n in enumerate(system.paths) if LENGTH_OF + n in system.parameters]
        if not follow:
            return out
        before = default_pose(self.original.copy()).path_lengths()
        after = default_pose(self._measured, out).path_lengths()
        for k in follow:
            out[LENGTH_OF + system.paths[k]] = float(after[k] / before[k]) if before[k] > 0 else 1.0
        return out

    @cached_property
    def _measured(self) -> System:
        """A copy for lengths of paths: `system` itself stays unfrozen."""
        return self.system.copy()

    @cached_property
    def marker_errors(self) -> dict[str, float]:
        """Distance of each marker from its place on the scaled model in the static pose, before it moved."""
        if self.pose is None:
            return {}
        table = self.pose.errors
        return {name: float(table[name][0]) for name in table.names}

    @cached_property
    def moved(self) -> dict[str, float]:
        """Distance by which each marker was moved on its body [m]."""
        out = {}
        for name in self.system.markers:
            new, old = self.system.marker(name), self.original.marker(name)
            scaled = np.array(old.station) * self.factors.get(old.body, (1.0, 1.0, 1.0))
            if (far := float(np.linalg.norm(new.station - scaled))) > 0:
                out[name] = far
        return out

    @property
    def rms(self) -> float:
        """Root mean square of the marker errors [m]; NaN without a pose."""
        e = np.array([x for x in self.marker_errors.values() if np.isfinite(x)])
        return float(np.sqrt(np.mean(e**2))) if e.size else float("nan")

    def _checks(self) -> Iterator[Check]:
        far = {body: max(max(s), 1 / max(min(s), 1e-300)) for body, s in self.factors.items()}
        if far:
            body = max(far, key=lambda body: far[body])
            yield Check(
                "factor farthest from 1, or its inverse",
                far[body],
                "",
                FACTOR,
                FACTOR_FAILS,
                f"{body}: {' '.join(f'{x:.3f}' for x in self.factors[body])}",
                "are markers and units of model and recording the same?",
            )
        if self.pose is not None:
            yield from marker_checks(self.pose.errors, STATIC_RMS, STATIC_LARGEST, " in the static pose")

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to check: rows of `quality` above their guidelines."""
        return tuple(str(c) for c in self.quality if c.verdict in (Verdict.CHECK, Verdict.FAIL))

    def _blocks(self) -> list[Block]:
        alike: dict[tuple[float, ...], list[str]] = {}
        for body, s in self.factors.items():
            alike.setdefault(s, []).append(body)
        blocks = [
            Block(
                "Factors",
                ("x", "y", "z", "bodies"),
                [(*(f"{x:.4f}" for x in s), ", ".join(bodies)) for s, bodies in alike.items()],
            )
        ]
        if self.measurements:
            blocks.append(
                Block(
                    "Measurements",
                    ("", "markers", "model [m]", "subject [m]", "factor"),
                    [
                        (m.name, " - ".join(m.pair), f"{m.model:.4f}", f"{m.subject:.4f}", f"{m.factor:.4f}")
                        for m in self.measurements
                    ],
                )
            )
        if self.marker_errors:
            worst = sorted(self.marker_errors.items(), key=lambda x: -x[1])[:8]
            blocks.append(
                Block(
                    "Markers in the static pose, farthest off",
                    ("", "error [m]"),
                    [(n, f"{e:.4f}") for n, e in worst] + [("rms of all", f"{self.rms:.4f}")],
                )
            )
        masses = [sum(b.mass for b in x.bodies) for x in (self.original, self.system)]
        blocks.append(Block("Mass [kg]", ("before", "after"), [tuple(f"{m:.3f}" for m in masses)]))
        said = [(x,) for x in (*self.warnings, *self.notes)]
        return [*blocks, *self.quality.blocks, *[Block("To look at", (), said)] * bool(said)]

    def report(self) -> str:
        """Factors, measurements, the markers farthest off, masses, and what to check."""
        return "\n\n".join(block.text() for block in self._blocks())

    def __repr__(self) -> str:
        error = f", marker errors {100 * self.rms:.2f} cm rms" if self.marker_errors else ""
        return (
            f"Scaling({len(self.factors)} bodies, {sum(b.mass for b in self.system.bodies):.4g} kg{error}"
            f"{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        return page(repr(self), *self._blocks())
