"""`cd.static_optimization`: activations of muscles that a recorded motion takes, with the least effort:
docs/theory/static_optimization.md. actors.py has the equations of motion, effort.py the least effort."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from condyle.arguments import answered
from condyle.arrays import Array
from condyle.errors import ConvergenceError, DescriptionError, warn
from condyle.fit.frames import Frames
from condyle.integrate.trajectory import Trajectory
from condyle.muscles.checks import FULL
from condyle.presentation import Block, Display, cut, page, rows_of, span
from condyle.quality import Quality
from condyle.records import dataclass
from condyle.status import Outcome, Status
from condyle.studies.acting import acting, warn_of_one_way
from condyle.studies.actors import WHO, Actors, directions
from condyle.studies.effort import least_effort
from condyle.studies.external_load import ExternalLoad, Wrenches, loads_on, stacked
from condyle.studies.motion import Motion
from condyle.studies.recruitment import Recruitment
from condyle.studies.residuals import Residuals
from condyle.system.given import check_system, flag, number
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.unsolved import unsolved
from condyle.table import Table, save_all

KKT = 1e-9
"""A frame with a larger residual did not converge."""


@dataclass(frozen=True, eq=False, repr=False)
class StaticOptimization(Display):
    """Activations, forces and how well they were found, from `cd.static_optimization`. Frames that failed are
    NaN in all Tables but `missing`.

    Attributes:
        activations: of the muscles.
        controls: of the actuators.
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

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw activations (of all muscles, if none is named) over time; returns matplotlib's axes."""
        axes = self.activations.plot(*names, axes=axes)
        axes.set_ylabel("activation")
        return axes

    def save(self, folder: str | Path, ending: str = "sto") -> list[Path]:
        """Write its Tables into a folder: activations.sto, forces.sto, and those of controls, reserves and
        missing that have columns.

        Args:
            folder: must exist.
            ending: "sto", "mot", "csv" or "npz".

        Returns:
            the files.
        """
        tables = {
            "activations": self.activations,
            "controls": self.controls,
            "forces": self.forces,
            "reserves": self.reserves,
            "missing": self.missing,
        }
        return save_all(
            "StaticOptimization",
            {name: table for name, table in tables.items() if table.names},
            folder,
            ending,
        )

    def __repr__(self) -> str:
        t = self.activations.time
        return (
            f"StaticOptimization({len(t)} frames{span(t)}: {cut(self.activations.names)}; {self.status}"
            f"{self.quality.summary})"
        )

    def _repr_html_(self) -> str:
        return page(repr(self), *self._blocks())

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


@answered(
    {
        "reserve": "they are reserves=1.0, or {coordinate: optimal force}",
        "use_muscle_physiology": "it is physiology=",
        "activation_exponent": "it is exponent=",
        "p": "it is exponent=",
        "cutoff": "a low-pass filter is lowpass=, a frequency [Hz]",
    }
)
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

    Each frame is on its own: activation dynamics and the stretch of tendons take no part, as in OpenSim. A
    frame that no activations explain is NaN; `failures` names what is missing, and a warning says so.

    Args:
        system: its muscles and actuators are looked for; all other forces act as they are.
        motion: a Table of coordinates, from which speeds and accelerations come by splines (see
            `cd.Motion.of`), or a `cd.Motion`, a Trajectory, or Frames, which have their own.
        external_loads: measured forces on bodies over time, `cd.ExternalLoad`, one or several.
        exponent: p of the sum of |x|^p over activations, controls and reserves, at least 1. With 1 the answer
            may not be unique.
        a_min: least activation of all muscles, or by name; by default each muscle's `minimum_activation`.
        a_max: greatest activation of all muscles, or by name.
        physiology: whether the tension at an activation of 1 depends on the fiber's length and velocity, with
            a rigid tendon; otherwise it is the `max_isometric_force`.
        passive: whether passive tensions act too, with a rigid tendon. OpenSim leaves them out.
        reserves: optimal forces [N m, N] of actuators that are added to help: one number for all speeds, or
            by coordinate. What they exert costs (force / optimal force)^p.
        weights: of muscles, actuators and reserves in the sum, by the name of the force or coordinate; 1 by
            default.
        lowpass: cut-off frequency [Hz] of a filter for the coordinates of a Table; none by default.
        state: parameters, inputs, locks and what is disabled; `system.state()` by default.

    Returns:
        a StaticOptimization: `.activations`, `.forces`, `.reserves`, `.status` and more.

    Raises:
        UnknownNameError: a coordinate that the Table does not have, a muscle that there is not.
        DescriptionError: nothing that can act, bounds that cross, an exponent below 1.
        CondyleError: arguments that cannot be.
    """
    p = number(f"{WHO}: exponent", exponent, "a number, at least 1")
    if not 1 <= p < math.inf:
        raise DescriptionError(
            f"{WHO}: exponent = {p:g} must be a number from 1 on: below 1 there are many least sums"
        )
    check_system("static_optimization", system, "motion")
    moved = Motion.of(system, motion, lowpass=lowpass, state=state)
    warn_of_one_way("static_optimization", moved)
    actors = Actors(moved, flag(f"{WHO}: physiology", physiology), flag(f"{WHO}: passive", passive), reserves)
    (low, high), w = actors.bounds(a_min, a_max), actors.weights(weights)
    loads = loads_on(moved, external_loads)
    tau = _moments(moved, loads)
    b = tau - actors.passive
    m, n = len(moved), len(low)
    x, nearest, missing = np.full((m, n), np.nan), np.full((m, n), np.nan), np.zeros((m, system.nu))
    kkt, balance = np.full(m, np.nan), np.full(m, np.nan)
    finite = np.isfinite(actors.columns).all(axis=(1, 2)) & np.isfinite(b).all(axis=1)
    for frames, speeds, N in directions(moved, np.flatnonzero(finite)):
        A, right = (actors.columns, b) if len(frames) == m else (actors.columns[frames], b[frames])
        if N is not None:  # (2)
            A, right = np.swapaxes(N, 1, 2) @ A, (np.swapaxes(N, 1, 2) @ right[..., None])[..., 0]
        elif len(speeds) < system.nu:
            A, right = A[:, speeds], right[:, speeds]
        found = least_effort(A, right, low, high, w, p)
        x[frames], nearest[frames], kkt[frames] = found.x, found.nearest, found.kkt
        missing[frames[:, None], speeds] = found.missing
        balance[frames] = np.abs((A @ found.x[..., None])[..., 0] - right).max(axis=1, initial=0.0)
    rows = Recruitment(actors, tau, x, high, Residuals(moved, tau, loads), physiology)
    return _result(moved, actors, x, nearest, missing, kkt, balance, high, rows)


def _moments(motion: Motion, loads: Wrenches) -> Array:
    """tau of (1), shape (m, nu): what muscles and actuators have to do together."""
    system, model = motion.system, motion.system.compiled.model
    kept = [
        name for name in system.forces if name not in model.controlled_paths and name not in model.actuators
    ]
    batch = acting(system, kept, loaded=tuple(loads)).batch(motion, loads=stacked(loads))
    return batch.kernel("inverse_dynamics", motion.udot)  # type: ignore[no-any-return]


def _result(
    motion: Motion,
    actors: Actors,
    x: Array,
    nearest: Array,
    missing: Array,
    kkt: Array,
    balance: Array,
    high: Array,
    rows: Recruitment,
) -> StaticOptimization:
    k, others = len(actors.muscles), actors.others
    n = k + len(others)
    with np.errstate(invalid="ignore"):
        full = nearest[:, :k] >= high[:k] - FULL
    saturated = tuple(tuple(name for name, at in zip(actors.muscles, row, strict=True) if at) for row in full)
    failures = {
        int(i): _why(motion, actors, int(i), missing[i], kkt[i], saturated[i])
        for i in np.flatnonzero(~np.isfinite(x).all(axis=1) | (kkt > KKT))
    }
    status = Outcome(Status.FINISHED, str(motion.status))
    quality = Quality(rows.checks, WHO)
    if failures:
        status = Outcome(Status.SOME_FAILED, f"{len(failures)} of {len(motion)} frames failed")
        warn(f"{WHO}: {status}; {next(iter(failures.values()))}")
    elif rows.suspicious():
        quality.warn()
    forces = x[:, :n] * actors.strength[:, :n]
    forces[:, : actors.added.shape[1]] += actors.added
    units = motion.system.compiled.generalized_forces
    speeds = [motion.system.speeds[j] for j in actors.reserves]
    table = lambda names, values, of: Table(motion.t, names, values, of, status=status, degrees=False)
    return StaticOptimization(
        table(actors.muscles, x[:, :k], [""] * k),
        table(others, x[:, k:n], [""] * len(others)),
        table((*actors.muscles, *others), forces, actors.units),
        table(speeds, x[:, n:] * actors.strength[:, n:], [units[s] for s in speeds]),
        table(motion.system.speeds, missing, [units[s] for s in motion.system.speeds]),
        kkt,
        balance,
        saturated,
        failures,
        status,
        quality,
    )


def _why(
    motion: Motion, actors: Actors, i: int, missing: Array, kkt: float, saturated: tuple[str, ...]
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
            for name, column in zip((*actors.muscles, *actors.others), actors.columns[i].T)
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
