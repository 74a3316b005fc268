"""The tail of the operators' arguments, from the keyword options: one vector with time, z, inputs,
parameters, switches and locks, as condyle.model lays it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from condyle.arrays import Entries, check_finite, plain, real, vector
from condyle.errors import ShapeError
from condyle.model.model import Model
from condyle.native.calls.native_function import NativeFunction
from condyle.native.fastcall.builtin import CallOption
from condyle.system.locks import known, levels, masks

NAMES = ("t", "z", "inputs", "discrete", "parameters", "locked", "disabled")
"""The options that the tail is made from."""

_VECTORS = ("z", "inputs", "discrete", "parameters")


class Tails:
    """Makes tails of one system.

    Args:
        model: whose layout they have.
        entries: names and defaults of z, inputs, discrete variables and parameters, by these words.
        instance: from parameters (..., n) to these and what is derived from them, (..., n + k); it refuses
            what they cannot be.
        off: names of forces and constraints that do not act by default.

    Attributes:
        locked: speeds that are locked by default, from their names to the level.
        off: as given.
        default: the tail without options, shape (n,), read-only.
        one: the tail of one state from a number t and plain vectors of the others; the rest is that of a
            second argument, the default tail if it is left out. None if there is anything else, which `make`
            checks and explains.
        parts: the same for builtins, without parameters.
    """

    def __init__(
        self,
        model: Model,
        entries: Mapping[str, Entries],
        instance: NativeFunction,
        off: frozenset[str] = frozenset(),
    ) -> None:
        self._model, self._entries, self._instance = model, entries, instance
        where = model.tail
        self._where = {**where, "instance": model.instance}
        self.default = np.zeros(model.tail_size)
        self.locked, self.off = model.tree.locked, off
        self.default[where["enabled"]] = [0.0 if name in off else 1.0 for name in model.switches]
        self.default[where["lock"]] = masks(model.tree.speeds, self.locked)["lock"]
        for name in _VECTORS:
            self.default[where[name]] = entries[name].default
        if entries["parameters"].names:
            self.default[model.instance] = instance(self.default[where["parameters"]])
        self.default.flags.writeable = False
        self.one = _quick(self.default, model, instance)
        self.parts = [
            CallOption("t", where["t"].start),
            *(
                CallOption(name, where[name].start, where[name].stop - where[name].start)
                for name in _VECTORS
                if name != "parameters"
            ),
        ]

    def make(self, options: Mapping[str, Any]) -> np.ndarray:
        """Checked tails (..., n) from the options; those that are None or no part of the tail do not
        count."""
        given = {name: value for name, value in options.items() if name in NAMES and value is not None}
        if not given:
            return self.default
        if (tail := self.one(given)) is not None:
            return tail
        parts = {"t": _times(given["t"])[..., None]} if "t" in given else {}
        for name in _VECTORS:
            if name in given:
                entries = self._entries[name]
                values = vector(name, given[name], len(entries.names), entries)
                # what they must be besides finite, the INSTANCE kernel says
                if name == "parameters":
                    parts["instance"] = self._instance.fast(values)
                else:
                    check_finite(name, values, entries)
                    parts[name] = values
        if "disabled" in given:
            off = self.switches(given["disabled"])
            parts["enabled"] = np.array([0.0 if name in off else 1.0 for name in self._model.switches])
        if "locked" in given:
            parts |= masks(self._model.tree.speeds, given["locked"])
        try:
            shapes = {v.shape[:-1] for v in parts.values()}
            batch = np.broadcast_shapes(*shapes) if len(shapes) > 1 else shapes.pop()
        except ValueError:
            called = {"instance": "parameters"}
            got = ", ".join(
                f"{called.get(name, name)} {v.shape[:-1]}" for name, v in parts.items() if v.ndim > 1
            )
            raise ShapeError(f"options: leading dimensions do not broadcast: {got}") from None
        tail = np.empty(batch + self.default.shape)
        tail[...] = self.default
        for name, values in parts.items():
            tail[..., self._where[name]] = values
        return tail

    def levels(self, locked: Any) -> dict[str, Any]:
        """Names of locked speeds with their levels, or the accelerations at which they are held."""
        return levels(self._model.tree.speeds, locked)

    def switches(self, names: Any) -> frozenset[str]:
        """Checked names of forces, constraints and prescribed motions."""
        model = self._model
        motions = [body.name for body in model.tree.driven]
        kinds = ["force", *["constraint"] * bool(model.constraints), *["motion"] * bool(motions)]
        return known(" or ".join(kinds), names, (*model.forces, *model.constraints, *motions))

    def held(self, tail: np.ndarray) -> np.ndarray:
        """Which speeds are held, locked or prescribed, (..., nu), from a tail."""
        model = self._model
        out = np.isinf(tail[..., self._where["lock"]])
        enabled = tail[..., self._where["enabled"]][..., len(model.forces) + len(model.constraints) :]
        for i, body in enumerate(model.tree.driven):
            out[..., body.prescribed_speeds] |= enabled[..., i, None] != 0
        return out


def _quick(default: np.ndarray, model: Model, instance: NativeFunction) -> Callable[..., np.ndarray | None]:
    """Tails.one: a function with all it needs at hand, since it is called for every state that is asked
    for."""
    where, derived = model.tail, model.instance
    places = {
        name: (where[name], plain(where[name].stop - where[name].start))
        for name in _VECTORS
        if name != "parameters"
    }
    shape = (where["parameters"].stop - where["parameters"].start,)

    def one(options: Mapping[str, Any], start: np.ndarray = default) -> np.ndarray | None:
        tail = start.copy()
        for name, value in options.items():
            if name == "t":
                if not isinstance(value, float) or not isfinite(value):
                    return None
                tail[0] = value
            elif name == "parameters":  # the INSTANCE kernel refuses what is not finite
                if type(value) is not np.ndarray or value.shape != shape or value.dtype != np.float64:
                    return None
                tail[derived] = instance.fast(value)
            elif name in places:
                part, check = places[name]
                if not check(value):
                    return None
                tail[part] = value
            else:
                return None
        return tail

    return one


def _times(value: Any) -> np.ndarray:
    t = real("t", value, "one number, or one per state [s]")
    if not np.isfinite(t).all():
        raise ShapeError(f"t: expected finite numbers [s], got {value!r}")
    return t
