"""The system of a study: a user's system with some of its forces and the loads that the study applies.

Forces that a study leaves out are not in the machine code at all: inverse dynamics of an arm does not solve
the paths of its muscles. The loads of a study are Inputs with values for each frame:

    tension of a path [N]                      instead of the muscle that runs along it
    force of an actuator [N, N m]              instead of its control
    moment about ground's origin and force     on a body, in ground [N m, N]
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError, check_names, warn
from condyle.forces.actuators import Actuator, CoordinateActuator
from condyle.forces.base import GROUPS, Force
from condyle.forces.external import ExternalWrench
from condyle.forces.path import PathLaw
from condyle.laws.described import quantity, sx
from condyle.laws.leaves import StateVariable
from condyle.laws.view import View
from condyle.model.model import Model
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad, LoadWrenches, loads_on
from condyle.studies.motion.motion import Motion
from condyle.system.checked_arguments import check_system
from condyle.system.state import State
from condyle.system.states import Batch
from condyle.system.system import System
from condyle.table import Table
from condyle.trace import Number
from condyle.trace.parameter import Input

if TYPE_CHECKING:
    from condyle.fit.frames import Frames
    from condyle.integrate.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class Pull(PathLaw):
    """A given tension along a path.

    Args:
        path: the path.
        pull: the tension [N].
    """

    pull: Annotated[Number, quantity("N")]

    def tension(self, s: View) -> ca.SX:
        return sx(self.pull)


@dataclass(frozen=True, eq=False)
class StudySystem:
    """A copy of a user's system with the forces that a study applies.

    Attributes:
        system: the system with these forces.
        pulled: names of the paths and actuators with given forces.
        loaded: names of the bodies with given loads.
        silent: names of forces that are included only for their auxiliary states.
        left_out: text that lists the forces of the user's system that are left out.
    """

    system: System
    pulled: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()
    silent: frozenset[str] = frozenset()
    left_out: str = ""
    _places: list[_Places] = field(default_factory=list, repr=False)  # computed on first use

    def batch(self, motion: Motion, pulls: Array | None = None, loads: Array | None = None) -> Batch:
        """The frames of a motion, for operators of this system.

        Args:
            motion: motion of the user's system.
            pulls: given forces [N, N m], shape (m, pulled).
            loads: wrenches about ground's origin, in ground [N m, N], shape (m, loaded, 6).
        """
        if not self._places or self._places[0].model is not motion.system.compiled.model:
            self._places[:] = [_Places(self, motion.system.compiled.model)]
        places = self._places[0]
        shape = len(motion), len(places.constants)
        if motion.steady:  # everything except time is the same in all frames
            row = places.constants.copy()
            row[places.into] = motion.start.tail[places.source]
            if self.system.compiled.timed.operators or pulls is not None or loads is not None:
                tail = np.empty(shape)
                tail[...] = row
                tail[:, 0] = motion.t
            else:  # like np.broadcast_to, in a tenth of the time
                tail = np.ndarray(shape, buffer=row, strides=(0, row.itemsize))
        else:
            tail = np.empty(shape)
            tail[...] = places.constants
            tail[:, places.into] = motion.tail[:, places.source]
        if pulls is not None:
            tail[:, places.pulls] = pulls
        if loads is not None:
            for k, where in enumerate(places.loads):
                tail[:, where] = loads[:, k]
        arrays = {"q": lambda: motion.q, "u": lambda: motion.u, "udot": lambda: motion.udot}
        return Batch(self.system, motion.t, tail, arrays, motion.status)


class _Places:
    """Where the numbers in the tail of a study's system come from.

    Attributes:
        model: model of the user's system.
        constants: constant numbers of the tail; zero for all others.
        into: places in the tail with numbers from the user's tail.
        source: places of these numbers in the user's tail.
        pulls: places of the given forces.
        loads: places of the given loads, by body.
    """

    def __init__(self, part: StudySystem, theirs: Model) -> None:
        self.model, own = theirs, part.system.compiled.model
        constants, source = np.zeros(own.tail_size), np.full(own.tail_size, -1)
        for name in ("t", "discrete", "lock", "held", "parameters", "table"):
            if own.tail[name].stop > own.tail[name].start:
                source[own.tail[name]] = range(theirs.tail[name].start, theirs.tail[name].stop)
        for name, mine, known in (
            ("z", own.state_variables, theirs.state_variables),
            ("enabled", own.switches, theirs.switches),
        ):
            at = {n: k for k, n in enumerate(known, theirs.tail[name].start)}
            for k, n in enumerate(mine, own.tail[name].start):
                constants[k], source[k] = (0.0, at[n]) if n in at else (1.0, -1)
        for k, name in enumerate(own.switches, own.tail["enabled"].start):
            if name in part.silent or name in part.pulled:  # a given force acts
                constants[k], source[k] = float(name not in part.silent), -1
        controls, first = theirs.tail["inputs"], own.tail["inputs"].start
        source[first : first + controls.stop - controls.start] = range(controls.start, controls.stop)
        place = {name: k for k, name in enumerate(part.system.inputs, first)}
        self.constants, self.into = constants, np.flatnonzero(source >= 0)
        self.source = source[self.into]
        self.pulls = _run([place[_tension(name)] for name in part.pulled])
        self.loads = [_run([place[name] for name in _wrench(body)]) for body in part.loaded]


def _run(places: list[int]) -> list[int] | slice:
    """A slice, if the places are consecutive."""
    a = places[0] if places else 0
    return slice(a, a + len(places)) if places == [*range(a, a + len(places))] else places


def _tension(force: str) -> str:
    """Name of the Input of a path or an actuator."""
    return f"given force of {force}"


def _wrench(body: str) -> list[str]:
    """Names of the six Inputs of a body."""
    return [f"given load on {body}: {axis}" for axis in ("mx", "my", "mz", "fx", "fy", "fz")]


def with_force(law: Force, value: Input) -> Force:
    """A path or an actuator with a given force."""
    if isinstance(law, PathLaw):
        return Pull(law.path, value)
    assert isinstance(law, Actuator)
    changes: dict[str, Any] = {"control": value, "optimal_force": 1.0}
    return replace(law, **changes)


def warn_unilateral_ignored(who: str, motion: Motion) -> None:
    """Warn of rigid contacts, stops and ropes, which exert no forces in a study of a recorded motion."""
    system = motion.system
    if names := [name for name in system.constraints.unilateral if name not in motion.start.disabled]:
        some = ", ".join(map(repr, names[:3])) + ", ..." * (len(names) > 3)
        warn(
            f"{who}: {some}: rigid contacts, stops and ropes act one way, and count as open in "
            "recorded motions: they exert nothing. Give their forces as external_loads=, or "
            "disable them if that is meant: state=system.state(disabled=[...])",
            RuntimeWarning,
        )


def recorded_motion(
    who: str,
    system: System,
    motion: Table | Motion | Trajectory | Frames,
    external_loads: ExternalLoad | Sequence[ExternalLoad] | None,
    lowpass: float | None,
    state: State | None,
) -> tuple[Motion, LoadWrenches]:
    """The inputs of the study `who` of a recorded motion: the motion, and the wrenches of external loads."""
    check_system(who, system, "motion")
    moved = Motion.of(system, motion, lowpass=lowpass, state=state)
    warn_unilateral_ignored(who, moved)
    return moved, loads_on(moved, external_loads)


def study_system(
    system: System,
    kept: Collection[str],
    pulled: Iterable[str] = (),
    loaded: Iterable[str] = (),
    rigid: Mapping[str, Constraint] | None = None,
    law: Callable[[Force, Input], Force] = with_force,
) -> StudySystem:
    """A system with some of its forces, cached.

    Args:
        system: the user's system.
        kept: names of the forces that act as modeled.
        pulled: names of paths and actuators, on which given forces act.
        loaded: names of bodies on which given loads act.
        rigid: constraints that replace forces, by the forces' names.
        law: makes the law of a force in `pulled` from that force and its Input.
    """
    pulled, loaded, rigid = tuple(pulled), tuple(loaded), dict(rigid or {})
    constrained = tuple((name, c.description()) for name, c in rigid.items())
    key = ("study system", frozenset(kept), pulled, loaded, constrained, law)

    def make() -> StudySystem:
        _refuse_reactions(system, kept, pulled)
        silent = frozenset({"gravity"} - set(kept)) | _asked(system, kept) - set(kept)
        copy = system.copy()
        copy._forces = {name: force for name, force in copy._forces.items() if name in kept or name in silent}
        for name in pulled:
            copy.add_force(name, law(system.force(name), Input(_tension(name), 0.0)))
        for body in loaded:
            m = [Input(name, 0.0) for name in _wrench(body)]
            load = ExternalWrench(body, (0, 0, 0), m[3:], m[:3], station_frame="ground")
            copy.add_force(f"given load on {body}", load)
        for name, constraint in rigid.items():
            copy.add_constraint(name, constraint)
        return StudySystem(copy, pulled, loaded, silent, _left_out(system, copy))

    return system.compiled.remembered(key, make)


def _refuse_reactions(system: System, kept: Collection[str], pulled: Collection[str]) -> None:
    """Raise DescriptionError if a law that acts depends on reactions to which omitted forces contribute."""
    asking = [name for name in system.compiled.model.reaction_laws if name in kept]
    out = [name for name in system.forces if name not in kept and name not in pulled]
    if asking and (out := [n for n in out if not isinstance(system.force(n), CoordinateActuator)]):
        raise DescriptionError(
            f"force {asking[0]!r} asks for reactions of joints, to which {out[0]!r}, which this study leaves out, "
            "contributes. Leave the one that asks out too, system.copy(forces={name: None}), or give all forces: "
            "cd.joint_reactions(..., forces=)"
        )


def _left_out(system: System, part: System) -> str:
    out = [name for name in system.forces if name not in part.forces]
    which = f"{', '.join(out[:6])}{', ...' * (len(out) > 6)}"
    return f"; {len(out)} forces left out: {which}" if out else ""


def _asked(system: System, kept: Collection[str]) -> set[str]:
    """Names of forces whose auxiliary states the kept forces, constraints or measures read."""
    laws: list[Any] = [system.force(name) for name in kept]
    laws += [system.constraint(name) for name in system.constraints]
    laws += [system.measure(name) for name in system.measures]
    names = {
        ask.name.rpartition(".")[0]
        for law in laws
        for ask in getattr(law, "asks", ())
        if isinstance(ask, StateVariable)
    }
    return names & set(system.forces)


def forces_of_groups(system: System, groups: Iterable[str]) -> tuple[str, ...]:
    """Names of the forces of some groups.

    Raises:
        UnknownNameError: an unknown group.
    """
    groups = (groups,) if isinstance(groups, str) else tuple(groups)
    check_names("group of forces", groups, GROUPS)
    return system.compiled.remembered(
        ("forces of groups", *groups),
        lambda: tuple(name for name, force in system._forces.items() if force.group in groups),
    )
