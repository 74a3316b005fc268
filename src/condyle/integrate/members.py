"""Members of an ensemble: many states of one system, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from condyle.arrays import Entries, complaint, real, unusable, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.system import System

VARIED = ("t", "q", "u", "z", "inputs", "discrete", "parameters")
COMMON = ("locked", "disabled")


@dataclass(frozen=True, eq=False, repr=False)
class Members:
    """N states. `members[i]` is the State of one.

    Attributes:
        t: times [s], shape (N,).
        y: q, u, z side by side, shape (N, n).
        tail: what kernels take after q and u, shape (N, k).
    """

    def __repr__(self) -> str:
        varied = [name for name in VARIED if name in self.values]
        return f"Members({len(self)} states{'; given: ' * bool(varied)}{', '.join(varied)})"

    t: np.ndarray
    y: np.ndarray
    tail: np.ndarray
    states: Sequence[State] = field(repr=False, default=())
    like: State | None = field(repr=False, default=None)
    values: dict[str, np.ndarray] = field(repr=False, default_factory=dict)

    @staticmethod
    def of(system: System, given: Any) -> Members:
        """From a sequence of States, or from a mapping of what `system.state` takes, with one more leading
        dimension."""
        if isinstance(given, Mapping):
            return _from_arrays(system, given)
        first = given[0] if isinstance(given, (list, tuple)) and given else None
        if (
            isinstance(given, np.ndarray)
            or np.isscalar(first)
            or isinstance(first, (np.ndarray, list, tuple))
        ):
            raise DescriptionError(
                "simulate: an array is no state: start from system.state(q=..., u=...), "
                f"with q of shape ({system.nq},) and u of shape ({system.nu},); many "
                f"states from {{'q': array of shape (N, {system.nq}), 'u': array of shape "
                f"(N, {system.nu})}}"
            )
        try:
            states = tuple(given)
        except TypeError:
            states = (None,)
        for i, s in enumerate(states):
            if not isinstance(s, State):
                raise DescriptionError(
                    "simulate: expected a State, a sequence of States, or a mapping as "
                    f"{{'q': array of shape (N, {system.nq}), 'parameters': ...}}; got "
                    f"{given if states == (None,) else s!r}"
                )
            if s.system is not system:
                which = f"state {i} of {len(states)}" if len(states) > 1 else "the state"
                raise DescriptionError(
                    f"simulate: {which} belongs to another system; make it with system.state()"
                )
        if not states:
            raise DescriptionError("simulate: there is no state in the sequence")
        return Members(
            np.array([s.t for s in states]),
            np.array([np.concatenate([s.q, s.u, s.z]) for s in states]),
            np.array([s.tail for s in states]),
            states,
        )

    @property
    def system(self) -> System:
        like = self.states[0] if self.states else self.like
        assert like is not None
        return like.system

    def varied(self) -> dict[str, np.ndarray]:
        """Parameters and inputs that are not the same in all members, by name, shape (N,)."""
        model, out = self.system.compiled.model, dict[str, np.ndarray]()
        for kind, names in (("parameters", model.tree.parameters.names), ("inputs", model.tree.inputs.names)):
            columns = self.tail[:, model.tail[kind]]
            out |= {name: x for name, x in zip(names, columns.T, strict=True) if (x != x[0]).any()}
        return out

    def some(self, i: np.ndarray) -> Members:
        """Those at places i (n,)."""
        return Members(
            self.t[i],
            self.y[i],
            self.tail[i],
            [self.states[k] for k in i] if self.states else (),
            self.like,
            {name: value[i] for name, value in self.values.items()},
        )

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, i: int) -> State:
        if self.states:
            return self.states[i]
        assert self.like is not None
        return self.like.replace(**{name: value[i] for name, value in self.values.items()})


def _from_arrays(system: System, given: Mapping[str, Any]) -> Members:
    for name in given:
        if name not in (*VARIED, *COMMON):
            raise UnknownNameError("variable of a State", name, (*VARIED, *COMMON))
    like = system.state(**{name: given[name] for name in COMMON if name in given})
    values = {name: _values(like, name, given[name]) for name in VARIED if name in given}
    shapes = {name: v.shape[: v.ndim - (name != "t")] for name, v in values.items()}
    try:
        batch = np.broadcast_shapes(*shapes.values())
    except ValueError:
        raise ShapeError(f"simulate: leading dimensions differ: {shapes}") from None
    if len(batch) != 1 or not batch[0]:
        got = ", ".join(f"{name} of shape {v.shape}" for name, v in values.items()) or "none"
        one = (
            f"; one state is system.state({', '.join(f'{n}=...' for n in values)})"
            if values and not batch
            else ""
        )
        raise ShapeError(
            f"simulate: many states have one leading dimension, N: q of shape (N, {system.nq}), "
            f"u of shape (N, {system.nu}); got {got}{one}"
        )
    values = {
        name: np.broadcast_to(v, batch + v.shape[v.ndim - (name != "t") :]) for name, v in values.items()
    }
    for name, v in values.items():
        entries = Entries("time", ("t",)) if name == "t" else system.compiled.entries[name]
        v = v[:, None] if name == "t" else v
        for i in np.flatnonzero(unusable(v, entries))[:1]:
            raise ShapeError(f"simulate: {name} of member {i}: {complaint(v[i], entries)}")
    default = {name: np.asarray(getattr(like, name)) for name in VARIED}
    full = {name: values.get(name, np.broadcast_to(v, batch + v.shape)) for name, v in default.items()}
    options = {name: full[name] for name in VARIED if name not in ("q", "u")}
    tail = system.compiled.tail(**options, **{name: given[name] for name in COMMON if name in given})
    tail = np.ascontiguousarray(np.broadcast_to(tail, batch + tail.shape[-1:]))
    q, u = system.compiled.prescribed(full["q"], full["u"], tail, like.locked)
    return Members(np.array(full["t"]), np.concatenate([q, u, full["z"]], axis=1), tail, (), like, values)


def _values(like: State, name: str, value: Any) -> np.ndarray:
    """Numbers (..., k) of a variable: an array, what has labels, or a mapping from names to arrays that
    changes the defaults."""
    if name == "t":
        return real("simulate: t", value, "one number, or one per member [s]")
    entries = like.system.compiled.entries[name]
    return vector(
        f"simulate: {name}", value, len(entries.names), replace(entries, default=getattr(like, name))
    )
