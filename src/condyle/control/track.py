"""`cd.track`: a dynamically consistent movement close to a recorded one, with torques or muscles.

With measured loads, torques on the coordinates of the root are residuals, which show inconsistencies of
measured motion and forces. Adjusting masses and mass centers reduces them, as in OpenSim's residual reduction
(RRA):

    minimize  tracking |q - q measured|^2 + speeds |qdot - ...|^2 + effort |controls|^2,  integrated       (1)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.control.answer import Answer
from condyle.control.goals.effort import Effort
from condyle.control.goals.follow import Follow, Measured, degree, motion_table, variable_name
from condyle.control.problem import Problem
from condyle.control.solve import solve
from condyle.errors import DescriptionError, check_name
from condyle.native.machine.notice import announced
from condyle.nlp import Iteration
from condyle.quality import Check, Quality
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.spline_rates import spline
from condyle.system.checked_arguments import check_system
from condyle.system.system import System
from condyle.table import Table
from condyle.trace.parameter import Parameter

WHO = "track"
ALONE, BESIDE = 100.0, 10.0
"""Default optimal force of torques for systems without and with actuators [N m, N]."""
MASS, SHIFT = 0.2, 0.1
"""Maximum change of masses, relative, and of mass centers, along each axis [m]."""
GOOD_SHIFT, GOOD_ANGLE = 0.02, np.deg2rad(2.0)
"""Largest differences from the recorded motion within OpenSim's guidelines for RRA [m, rad]."""


@dataclass(frozen=True, eq=False)
class Tracked:
    """Result of `cd.track`.

    Attributes:
        answer: the full answer: objective, terms, status, statistics, replay.
        motion: coordinates over time [rad, m].
        torques: added torques, by coordinate [N m, N].
        differences: largest difference from the recorded motion, by coordinate [rad, m].
        system: the system with adjusted masses and mass centers; the given one without `adjust`.
        parameters: adjusted values: "torso mass" [kg], "torso com x" [m], ...
        quality: differences and the solver's outcome, with guidelines.
    """

    answer: Answer
    motion: Table
    torques: Table
    differences: dict[str, float]
    system: System
    parameters: dict[str, float]
    quality: Quality

    def __repr__(self) -> str:
        worst = max(self.differences, key=lambda name: self.differences[name], default="")
        far = f"; largest difference {self.differences[worst]:.3g} in {worst}" if worst else ""
        return f"Tracked({self.answer.status}, objective {self.answer.objective:.6g}{far})"


@with_call_hints(
    {"external_loads": "it is loads=", "reserves": "it is torques=", "tracking_weight": "it is weights="}
)
@announced
def track(
    system: System,
    motion: Measured,
    loads: ExternalLoad | Sequence[ExternalLoad] | Mapping[str, ExternalLoad] | None = None,
    *,
    times: tuple[float, float] | None = None,
    torques: float | Mapping[str, float] | None = None,
    weights: Mapping[str, float] | None = None,
    speeds: float = 0.0,
    effort: float = 1e-3,
    adjust: str | Sequence[str] = (),
    mesh: int | None = None,
    scheme: str = "radau-2",
    accuracy: float = 1e-6,
    iterations: int = 1000,
    progress: bool | Callable[[Iteration], object] = False,
) -> Tracked:
    """Find a dynamically consistent movement close to a recorded one.

    Args:
        system: with muscles or actuators, or without: then torques move it.
        motion: the recorded movement: see `cd.goals.Follow`.
        loads: measured forces, such as ground reactions.
        times: (start, end) [s]; all of the motion by default.
        torques: optimal forces of torques added to all coordinates, or {coordinate: optimal force} [N m, N];
            a smaller one makes a torque more costly. By default 100 if the system has no actuators, else 10;
            0 for none.
        weights: weights of coordinates or markers; 1 for others.
        speeds: weight of their rates [s^2].
        effort: weight of squared controls relative to tracking.
        adjust: quantities to adjust: "BODY mass" and "BODY com" for a body, "mass" for all masses by one
            factor.
        mesh: number of intervals; 50 a second by default, and at least 20.
        scheme: see `cd.solve`.
        accuracy: see `cd.solve`.
        iterations: largest number of iterations.
        progress: see `cd.solve`.

    Raises:
        DescriptionError: data that do not cover the times, bad values.
        UnknownNameError: a body, coordinate or marker that the system does not have.
    """
    check_system(WHO, system, "motion")
    goal = Follow(motion, weights, speeds=speeds)
    if times is None:
        clock = np.asarray(_time(goal.measured))
        times = float(clock[0]), float(clock[-1])
    changed, parameters, back = _adjustable(system, adjust)
    problem = Problem(changed, times=times, parameters=parameters)
    if torques is None:
        torques = BESIDE if system.inputs else ALONE
    added: tuple[str, ...] = ()
    if isinstance(torques, Mapping):
        added = problem.add_torques(torques)
    elif torques:
        added = problem.add_torques(optimal_force=torques)
    if loads is not None:
        problem.add_loads(loads)
    problem.minimize(goal, 1.0)
    problem.minimize(Effort(), effort)
    count = mesh or max(20, int(np.ceil(50 * (times[1] - times[0]))))
    answer = solve(
        problem, mesh=count, scheme=scheme, accuracy=accuracy, iterations=iterations, progress=progress
    )
    return _tracked(answer, goal, added, back(answer.parameters))


def _time(measured: Any) -> Any:
    return next(iter(measured.values())).time if isinstance(measured, Mapping) else measured.time


def _tracked(answer: Answer, goal: Follow, added: Sequence[str], system: System) -> Tracked:
    problem = answer.program.problem
    laws: Any = problem.dynamics.model.forces
    sizes = [float(laws[name].optimal_force) for name in added]
    values = (
        answer.controls[list(added)].values * np.array(sizes) if added else np.zeros((len(answer.times), 0))
    )
    names = [name.removesuffix("_torque") for name in added]
    unit = dict(zip(answer.motion.names, answer.motion.units, strict=True))
    torques = Table(answer.times, names, values, ["N" if unit.get(n) == "m" else "N m" for n in names])
    differences: dict[str, float] = {}
    table = motion_table(goal.measured)
    if isinstance(table, Table):
        for column in table.names:
            if (name := variable_name(column, problem.dynamics.index)) in unit:
                measured = spline(table.time, table[column][:, None], degree(len(table)))(answer.times)[:, 0]
                differences[name] = float(np.abs(answer.motion[name] - measured).max())
    checks = [
        Check(f"largest difference of {name}", x, unit[name], GOOD_SHIFT if unit[name] == "m" else GOOD_ANGLE)
        for name, x in sorted(differences.items(), key=lambda item: -item[1])[:3]
    ]
    checks.append(
        Check("violation of the equations of motion", answer.statistics["violation"], "", 1e-4,
              advice="the solver did not converge: see answer.message")
    )  # fmt: skip
    return Tracked(
        answer, answer.motion, torques, differences, system, answer.parameters, Quality(checks, WHO)
    )


def _adjustable(
    system: System, adjust: str | Sequence[str]
) -> tuple[System, dict[str, tuple[float, float]], Callable[[Mapping[str, float]], System]]:
    """The system with Parameters for masses and mass centers, their ranges, and a function that replaces them
    by numbers.
    """
    names = (adjust,) if isinstance(adjust, str) else tuple(adjust)
    bodies = {body.name: body for body in system.bodies}
    ranges: dict[str, tuple[float, float]] = {}
    made: dict[str, dict[str, Any]] = {}

    def mass_of(name: str) -> tuple[float, Any, Any]:
        m = bodies[name].mass_properties
        return float(m.mass), np.asarray(m.com, float), np.asarray(m.inertia, float)

    for what in names:
        if what == "mass":
            ranges["mass factor"] = 1 - MASS, 1 + MASS
            factor = Parameter("mass factor", 1.0)
            for name in bodies:
                m, _, inertia = mass_of(name)
                if m > 0:
                    made.setdefault(name, {}).update(mass=m * factor, inertia=factor * inertia)
            continue
        name, _, kind = what.rpartition(" ")
        if kind not in ("mass", "com") or not name:
            raise DescriptionError(f"track: adjust: expected 'BODY mass', 'BODY com' or 'mass', got {what!r}")
        check_name("body", name, bodies, "track: adjust")
        m, com, inertia = mass_of(name)
        own = made.setdefault(name, {})
        if kind == "mass":
            ranges[what] = (1 - MASS) * m, (1 + MASS) * m
            parameter = Parameter(what, m)
            own.update(mass=parameter, inertia=(parameter / m) * inertia)
        else:
            each = [Parameter(f"{what} {axis}", float(x)) for axis, x in zip("xyz", com, strict=True)]
            ranges |= {p.name: (p.default - SHIFT, p.default + SHIFT) for p in each}
            own["com"] = each
    changed = system.copy(bodies=made) if made else system

    def back(found: Mapping[str, float]) -> System:
        values = {name: found[name] for name in ranges if name in found}
        if not values:
            return system
        numbers: dict[str, dict[str, Any]] = {}
        for name, own in made.items():
            m = changed.body(name).mass_properties_at(values)
            numbers[name] = {key: getattr(m, key) for key in own}
        return system.copy(bodies=numbers)

    return changed, ranges, back
