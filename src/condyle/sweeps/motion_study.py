"""Studies of a recorded motion with varied members, for `cd.uncertainty`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError, check_name, check_names
from condyle.io.markers import Markers
from condyle.muscles.muscle import Muscle
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad
from condyle.studies.inverse_dynamics import inverse_dynamics
from condyle.studies.joint_reactions import joint_reactions
from condyle.studies.kinematics.inverse_kinematics import inverse_kinematics
from condyle.studies.motion.motion import Motion
from condyle.studies.static_optimization import static_optimization
from condyle.sweeps.member_table import Member
from condyle.system.system import System
from condyle.table import Table
from condyle.trace.parameter import Expression, Parameter

RESULTS = ("kinematics", "moments", "activations", "forces", "loads")
MUSCLE = {"strength": "max_isometric_force", "slack": "tendon_slack_length", "fiber": "optimal_fiber_length"}
"""Uncertain quantities of a muscle, and their field names."""


@dataclass(frozen=True, eq=False)
class MotionStudy:
    """Joint moments, muscle forces and joint loads of a recorded motion for varied members: the study of
    `cd.uncertainty`, or the work of `cd.sweep`.

    Columns of the members are names of Parameters of the system, or factors of its values: "mass" of all
    bodies (with their inertias), "BODY mass", "MUSCLE strength", "MUSCLE slack" (length of the tendon),
    "MUSCLE fiber" (optimal length), and "strength", "slack", "fiber" of all muscles. All members share
    compiled code.

    Args:
        system: the system.
        motion: markers, for inverse kinematics, or coordinates over time.
        external_loads: as for `cd.inverse_dynamics`.
        noise: standard deviation of each number of a marker's position [m], or of each coordinate [rad, m],
            added to the motion independently for each member.
        lowpass: cutoff frequency [Hz] for the coordinates.
        reserves: as for `cd.static_optimization`.
        results: some of "kinematics", "moments", "activations", "forces", "loads"; others are not computed.
        options: other arguments of `cd.static_optimization`, such as {"passive": True}.
    """

    system: System
    motion: Markers | Table
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None = None
    noise: float = 0.0
    lowpass: float | None = None
    reserves: float | Mapping[str, float] | None = None
    results: Sequence[str] = ("moments", "forces", "loads")
    options: Mapping[str, bool | float | Mapping[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_names("result of a MotionStudy", self.results, RESULTS)
        if not self.results:
            raise DescriptionError(f"MotionStudy: results: expected some of {RESULTS}, got none")
        if not np.isfinite(self.noise) or self.noise < 0:
            raise DescriptionError(f"MotionStudy: noise: expected a number from 0 on [m], got {self.noise!r}")

    def __call__(self, member: Member) -> dict[str, Table]:
        """The results of one member."""
        system = self.varied(tuple(member))
        state = system.state(parameters=dict(member))
        with warnings.catch_warnings(action="ignore"):  # otherwise each member would warn
            motion = Motion.of(system, self._moved(system, member), lowpass=self.lowpass, state=state)
            out, loads = {"kinematics": motion.table()[list(system.coordinates)]}, self.external_loads
            if "moments" in self.results:
                out["moments"] = inverse_dynamics(system, motion, loads)
            if set(self.results) & {"activations", "forces", "loads"}:
                forces = None
                if system.muscles:
                    options: dict[str, Any] = dict(self.options)
                    muscles = static_optimization(system, motion, loads, reserves=self.reserves, **options)
                    out |= {"activations": muscles.activations, "forces": muscles.forces}
                    forces = muscles.forces
                if "loads" in self.results:
                    out["loads"] = joint_reactions(system, motion, forces, loads)
        return {name: out[name] for name in self.results if name in out}

    def _moved(self, system: System, member: Member) -> Table:
        given = self.motion
        if isinstance(given, Markers):
            if self.noise:
                noise = member.random().normal(scale=self.noise, size=given.positions.shape)
                given = Markers(given.time, given.names, given.positions + noise, rate=given.rate)
            return inverse_kinematics(system, given).motion
        if not self.noise:
            return given
        noise = member.random().normal(scale=self.noise, size=given.values.shape)
        return Table(given.time, given.names, given.values + noise, given.units, degrees=given.degrees)

    def varied(self, names: tuple[str, ...]) -> System:
        """The system with Parameters for some names, built once per process."""
        key = ("varied", *names)
        known = self.system.compiled.programs
        of, made = known.get(key, (None, None))
        if of is not self.system:  # copies share compiled code, but their markers may differ
            made = _varied(self.system, names)
            known[key] = self.system, made
        return made  # type: ignore[return-value]


def _varied(system: System, names: Sequence[str]) -> System:
    bodies: dict[str, Any] = {}
    forces: dict[str, Any] = {}
    possible = [*system.parameters, "mass", *(f"{b.name} mass" for b in system.bodies)]
    possible += [*MUSCLE, *(f"{m} {what}" for m in system.muscles for what in MUSCLE)]
    for name in names:
        if name in system.parameters:
            continue
        check_name("quantity", name, possible, "a member varies Parameters, masses and muscles")
        whose, _, what = name.rpartition(" ")
        factor = Parameter(name, 1.0)
        if what == "mass":
            for body in system.bodies:
                if whose in ("", body.name) and float(_number(body.mass)) > 0:
                    kept, m = bodies.get(body.name, {}), body.mass_properties
                    now = {
                        "mass": body.symbolic.get("mass", m.mass),
                        "inertia": body.symbolic.get("inertia", m.inertia),
                    }
                    bodies[body.name] = {key: _times(kept.get(key, x), factor) for key, x in now.items()}
            continue
        for muscle in [whose] if whose else system.muscles:
            law = forces.get(muscle, system.force(muscle))
            assert isinstance(law, Muscle)
            forces[muscle] = replace(law, **{MUSCLE[what]: _times(getattr(law, MUSCLE[what]), factor)})
    return system.copy(bodies=bodies, forces=forces)


def _number(x: Any) -> float:
    return float(Expression(x).at().item()) if isinstance(x, ca.SX) else float(x)


def _times(x: Any, factor: Parameter) -> Any:
    x = x.sx if isinstance(x, Expression) else x
    return x * factor
