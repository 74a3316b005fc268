"""State: everything variable about a system, and stored results. Immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import pi, radians
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array, Entries, check_finite, real, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.presentation import Block, Display, cut, number, page
from condyle.spatial import Transform
from condyle.system.operators import METHODS
from condyle.system.operators.contacts import TOUCHES
from condyle.system.operators.groups import attach, in_group
from condyle.system.operators.public import state_method
from condyle.system.variables import place, recorded, variables
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.native.calls.native_function import NativeFunction
    from condyle.system.answers import OfState
    from condyle.system.compiled import Compiled
    from condyle.system.system import System
else:
    OfState = object


INVALIDATES = {
    "parameters": Stage.INSTANCE,
    "t": Stage.TIME,
    "q": Stage.POSITION,
    "u": Stage.VELOCITY,
    "z": Stage.FORCE,
    "inputs": Stage.FORCE,
    "discrete": Stage.TIME,
    "disabled": Stage.FORCE,
    "locked": Stage.ACCELERATION,
}
"""The stage that each variable of a State invalidates."""

_ENTRIES = ("q", "u", "z", "inputs", "discrete", "parameters")


def warn_of_degrees(system: System, q: Mapping[str, Any], what: str = "q") -> None:
    """Warn of an angle that is full turns outside its range, but within it as degrees."""
    for body in system.bodies:
        for c, unit in zip(body.coordinates, body.mobilizer.units, strict=False):  # a follower has none
            x = q.get(c.name)
            if c.range is None or unit != "rad" or not isinstance(x, (int, float)):
                continue
            low, high = c.range
            if not low - 2 * pi < x < high + 2 * pi and low <= radians(x) <= high:
                warn(
                    f"{what}: {c.name!r} = {x:g} rad, its range is {low:.4g} to {high:.4g} rad; angles "
                    f"are in radians: np.radians({x:g})"
                )
                return


class State(Display, OfState):
    """Everything variable about a system: time, coordinates, speeds and the rest; created by
    `system.state(...)`.

    Arrays are read-only. `state.replace(u=...)` is a new State that shares every result the change leaves
    valid.

    Attributes:
        system: the system.
        t: time [s].
        q: coordinates, in the order of `system.coordinates`, shape (nq,).
        u: speeds, in the order of `system.speeds`, shape (nu,).
        z: auxiliary states, in the order of `system.state_variables`.
        inputs: in the order of `system.inputs`.
        discrete: discrete variables, in the order of `system.discrete`.
        parameters: in the order of `system.parameters`.
        locked: levels of locked speeds by name, or the accelerations at which they are held.
        disabled: names of disabled forces and constraints, and of bodies whose motion is disabled.

    Enabled motions override q and u at t; speeds locked at position level are zero.
    """

    plumbing = frozenset({"of", "result", "tail"})
    elsewhere: ClassVar[dict[str, str]] = {
        "explain": "system.explain(state)",
        "describe": "system.describe()",
        "project": "cd.assemble(system, state)",
        "simulate": "cd.simulate(system, state, t_final)",
        "jacobian": "system.jacobian(operator, q, u, wrt=...)",
        "measure": "part of a run: cd.simulate(...).measure(name); integrals and samples are state[name]",
        **dict.fromkeys(("com", "center_of_mass"), "state.mass_center()"),
        "set": "state.replace(q={'knee': 0.3}): a new State",
        **TOUCHES,
    }

    system: System
    t: float
    q: Array
    u: Array
    z: Array
    inputs: Array
    discrete: Array
    parameters: Array
    locked: Mapping[str, Any]
    disabled: frozenset[str]
    tail: Array
    _compiled: Compiled
    _results: dict[Any, tuple[Stage, Any]]
    _unknown = ""
    """Reason for unknown accelerations in states of some runs; they are known in a changed State."""

    @classmethod
    def of(cls, system: System, **values: object) -> State:
        """A checked state. Vectors are arrays, or mappings from names to values; None is the default."""
        start = {name: system.default(name) for name in _ENTRIES}
        given = {name: value for name, value in values.items() if value is not None}
        if isinstance(q := given.get("q"), Mapping):
            warn_of_degrees(system, q)
        usual = system.compiled.tails
        return cls._made(
            system,
            {"t": 0.0, "locked": MappingProxyType(usual.locked), "disabled": usual.off, **start},
            given,
            {},
        )

    def replace(self, **changes: object) -> State:
        """A new State with other values for any of the attributes; a mapping changes the entries it names."""
        if len(changes) == 1:
            ((name, value),) = changes.items()
            if (quick := self._changed(name, value)) is not None:
                return quick
        for name in changes:
            if name not in INVALIDATES:
                raise UnknownNameError("variable of a State", name, INVALIDATES)
        first = min((INVALIDATES[name] for name in changes), default=Stage.ACCELERATION + 1)
        kept = {key: result for key, result in self._results.items() if result[0] < first}
        tail = self.tail if set(changes) <= {"q", "u"} else None
        return self._made(
            self.system, {name: getattr(self, name) for name in INVALIDATES}, changes, kept, tail
        )

    def _changed(self, name: str, value: Any) -> State | None:
        """A new State with another value of one variable, for simple values: a number t, or a plain vector.
        Else None.
        """
        now = self.__dict__
        compiled = now["_compiled"]
        if compiled.moves or now["locked"]:
            return None
        tail = now["tail"]
        if (check := compiled.plain.get(name)) is None:
            if (tail := compiled.tails.one({name: value}, tail)) is None:
                return None
        elif not check(value):
            return None
        if name == "t":
            value = float(value)
        else:
            value = value.copy()
            value.setflags(False)
        state = object.__new__(type(self))
        own = state.__dict__
        own.update(now)
        own.pop("_unknown", None)
        own[name], own["tail"] = value, tail
        first = INVALIDATES[name]
        own["_results"] = {key: result for key, result in now["_results"].items() if result[0] < first}
        return state

    @classmethod
    def _made(
        cls,
        system: System,
        now: dict[str, Any],
        changes: Mapping[str, Any],
        results: dict[Any, Any],
        tail: Array | None = None,
    ) -> State:
        new = dict(now)
        for name, value in changes.items():
            if name == "t":
                new[name] = _time(value)
            elif name in _ENTRIES:
                new[name] = _values(name, value, now[name], system.compiled.entries[name])
            elif name == "locked":
                new[name] = MappingProxyType(_one_each(system.compiled.tails.levels(value)))
            else:
                new[name] = system.compiled.tails.switches(value)
        if tail is None:
            tails = system.compiled.tails
            usual = {"locked": tails.locked, "disabled": tails.off}
            tail = tails.make({name: x for name, x in new.items() if name not in usual or x != usual[name]})
        if system.motions or new["locked"]:
            results = _prescribed(system, new, results, tail)
        for value in new.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        state = object.__new__(cls)
        state.__dict__.update(new, system=system, tail=tail, _compiled=system.compiled, _results=results)
        return state

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a State never changes: use state.replace({name}=...) for a new one")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (
            self.system,
            {name: getattr(self, name) for name in INVALIDATES} | {"locked": dict(self.locked)},
        )

    def __repr__(self) -> str:
        """Time, coordinates and speeds with their names, and everything that differs from the default."""
        parts = [f"t={number(self.t)}"]
        for title, name in (
            ("", "q"),
            ("speeds ", "u"),
            ("z ", "z"),
            ("inputs ", "inputs"),
            ("discrete ", "discrete"),
            ("parameters ", "parameters"),
        ):
            values, default = getattr(self, name), self.system.default(name)
            if len(values) and (name in ("q", "u") or not np.array_equal(values, default)):
                named = zip(self.system._names(name), values, strict=True)
                parts.append(title + cut([f"{key}={number(x)}" for key, x in named]))
        if self.locked:
            parts.append("locked " + cut([f"{key}: {level}" for key, level in sorted(self.locked.items())]))
        if self.disabled:
            parts.append("disabled " + cut(sorted(self.disabled)))
        return f"State({'; '.join(parts)})"

    def _repr_html_(self) -> str:
        names, units = variables(self.system)
        values = np.concatenate([self.q, self.u, self.z])
        rows = [(name, number(x), unit) for name, x, unit in zip(names, values, units, strict=True)]
        more = [
            Block(
                kind,
                (kind.removesuffix("s"), "value"),
                [(n, number(x)) for n, x in zip(self.system._names(kind), getattr(self, kind), strict=True)],
            )
            for kind in ("parameters", "inputs", "discrete")
        ]
        flags = Block(
            "locked and disabled",
            (),
            [
                *((f"{n}: {level}",) for n, level in self.locked.items()),
                *((f"{n}: disabled",) for n in sorted(self.disabled)),
            ],
        )
        return page(
            f"State at t = {number(self.t)} s",
            Block("", ("variable", "value", "unit"), rows),
            *(block for block in (*more, flags) if block.rows),
        )

    def __getitem__(self, name: str) -> float:
        """A coordinate, a speed, an auxiliary state or a discrete variable by its name in tables:
        `state["knee"]`, `state["knee_speed"]`."""
        k = place(self.system, name)
        for part in (self.q, self.u, self.z, self.discrete):
            if k < len(part):
                return float(part[k])
            k -= len(part)
        raise AssertionError(name)

    def _named(self, name: str) -> str:
        if name in recorded(self.system)[0]:
            return f"state[{name!r}]"
        path = in_group(name)
        return f"state.{path}" if path else ""

    # it is not a sequence: without this Python would try state[0]
    __iter__ = None

    @property
    def stage(self) -> Stage:
        """The latest stage with a computed result."""
        return max((stage for stage, _ in self._results.values()), default=Stage.INSTANCE)

    def result(
        self,
        record: OperatorRecord,
        function: NativeFunction,
        arguments: tuple[ArrayLike, ...],
        which: str | None,
    ) -> object:
        """The result of a kernel, computed at most once while it is valid."""
        compiled, q, u = self._compiled, self.q, self.u
        key: list[Any] = [record.name, which]
        given = []
        for a, (name, n) in zip(arguments, function.inputs, strict=False):
            if a is not q and a is not u:
                a = vector(name, a, n, compiled.entries.get(name), one=True)
            given.append(a)
            key.append("q" if a is q else "u" if a is u else a.tobytes())
        return self._kept(tuple(key), record, function, given)

    def _kept(
        self,
        key: tuple[Any, ...],
        record: OperatorRecord,
        function: NativeFunction,
        arguments: Sequence[Array],
    ) -> Any:
        """The result of a kernel under its key, computed if it is missing."""
        found = self._results.get(key)
        if found is None:
            if self._unknown and record.stage == Stage.ACCELERATION:
                raise DescriptionError(f"{record.name}: {self._unknown}")
            self._compiled.evaluations[record.name] += 1
            result = function.fast(*arguments, self.tail)
            for array in result if type(result) is tuple else (result,):
                array.setflags(False)
            self._results[key] = found = record.stage, result
        return found[1]

    @property
    def qdot(self) -> Array:
        """Rates of the coordinates, shape (nq,)."""
        return self.system.qdot(self.q, self.u, state=self)  # type: ignore[call-arg]

    @property
    def udot(self) -> Array:
        """Accelerations under the enabled forces alone, shape (nu,)."""
        now = self.__dict__
        compiled, results = now["_compiled"], now["_results"]
        if (found := results.get(compiled.udot_key)) is None:
            if self._unknown:
                raise DescriptionError(f"udot: {self._unknown}")
            system = now["system"]
            if type(system).forward_dynamics is not METHODS["forward_dynamics"]:
                return system.forward_dynamics(self.q, self.u, state=self)
            compiled.evaluations["forward_dynamics"] += 1
            udot = compiled.forward_dynamics.fast(now["q"], now["u"], compiled.no_tau, now["tail"])
            udot.setflags(False)
            found = results[compiled.udot_key] = Stage.ACCELERATION, udot
        return found[1]

    def fit_q(
        self, body: Body | str, X: Transform | ArrayLike, relative_to: Body | str | None = None
    ) -> tuple[State, Array]:
        """A State in which the coordinates of one joint bring its body closest to a pose; other joints do not
        change.

        Args:
            body: the body of the joint.
            X: desired pose of its frame: a Transform, or a 3-vector (translation).
            relative_to: the body in whose frame X is; ground by default.

        Returns:
            the State, and the residual: angle [rad] and distance [m], shape (2,). It minimizes the sum of
                squares, with 1 rad equal to 1 m; of several solutions one near this state. Constraints and
                ranges are ignored: use `cd.assemble` for these.
        """
        from condyle.system.placed_joint import fit_q

        return fit_q(self, body, X, relative_to)

    def fit_u(
        self, body: Body | str, V: ArrayLike, relative_to: Body | str | None = None
    ) -> tuple[State, Array]:
        """A State in which the speeds of one joint bring its body's velocity closest to a given one; other
        joints do not change.

        Args:
            body: the body of the joint.
            V: angular, then linear velocity of its origin [rad/s, m/s], shape (6,), as `body_velocity(body,
                relative_to)`.
            relative_to: the body relative to which V is measured and expressed; ground by default.

        Returns:
            the State, and the residual [rad/s, m/s], shape (2,).
        """
        from condyle.system.placed_joint import fit_u

        return fit_u(self, body, V, relative_to)


for _record in OPERATORS.values():
    if _record.public and not hasattr(State, _record.name):  # qdot is an attribute
        attach(State, _record, state_method(_record))


def _time(t: Any) -> float:
    expected = "one finite number [s]; coordinates are a keyword argument: state(q=...)"
    value = real("t", t, expected)
    if value.ndim or not np.isfinite(value):
        raise ShapeError(f"t: expected {expected}; got {t!r}")
    return float(value)


def _values(name: str, value: Any, current: Array, entries: Entries) -> Array:
    """Checked values, a copy: an array, labeled data, or a mapping that changes `current`."""
    array = vector(name, value, len(current), replace(entries, default=current), one=True)
    check_finite(name, array, entries)
    return array.copy()


def without_accelerations(state: State, why: str) -> State:
    """A new State whose accelerations raise an error, if there is a reason."""
    if why:
        state.__dict__["_unknown"] = why
    return state


def _one_each(locked: dict[str, Any]) -> dict[str, Any]:
    for name, level in locked.items():
        if isinstance(level, np.ndarray):
            raise ShapeError(
                f"locked: speed {name!r}: expected one acceleration, got shape {level.shape}; a "
                "State is one state"
            )
    return locked


def _prescribed(system: System, new: dict[str, Any], results: dict[Any, Any], tail: Array) -> dict[Any, Any]:
    """Insert values prescribed by motions and locks into q and u; returns the results that remain valid."""
    q, u = system.compiled.prescribed(new["q"], new["u"], tail, new["locked"])
    for name, x, stage in (("u", u, Stage.VELOCITY), ("q", q, Stage.POSITION)):
        if not np.isfinite(x).all():
            i = int(np.flatnonzero(~np.isfinite(x))[0])
            raise ShapeError(
                f"{name}: {system._names(name)[i]!r} is {x[i]} by its prescribed motion at t = "
                f"{new['t']:g} s; it must be a finite number: check the function, or disable "
                "it by the name of its body"
            )
        if not np.array_equal(x, new[name]):
            new[name] = x
            results = {key: result for key, result in results.items() if result[0] < stage}
    return results


def _restored(system: System, values: dict[str, Any]) -> State:
    return State.of(system, **values)
