"""The tail of the operators' arguments, from the keyword options: one vector with time, z, inputs, parameters,
switches and locks, as condyle.model lays it out.

Locks hold speeds at one of three levels:

    position        q keeps its value: u = 0 and udot = 0
    velocity        u keeps its value: udot = 0
    acceleration    udot has a given value, 0 by default
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

import numpy as np

from condyle.arrays import Entries, check_finite, plain, real, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.model.model import Model
from condyle.native.calls.native_function import NativeFunction
from condyle.native.fastcall.builtin import CallOption
from condyle.tree.prescribed import LEVELS

NAMES = ("t", "z", "inputs", "discrete", "parameters", "locked", "disabled")
"""The options in the tail."""

_VECTORS = ("z", "inputs", "discrete", "parameters")


class Tails:
    """Builds tails of one system.

    Args:
        model: the model, which defines their layout.
        entries: names and defaults of z, inputs, discrete variables and parameters, by these words.
        instance: function from parameters (..., n) to these and derived numbers, (..., n + k); raises an
            error for invalid values.
        off: names of forces and constraints that do not act by default.

    Attributes:
        locked: speeds that are locked by default, from their names to the level.
        off: as given.
        default: the tail without options, shape (n,), read-only.
        one: the tail of one state from a number t and plain vectors; the rest is that of a second argument,
            by default the default tail. None for other options, which `make` checks.
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
        """Checked tails (..., n) from the options; options that are None or not part of the tail are
        ignored."""
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
                # the INSTANCE kernel checks them beyond being finite
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
        """Held speeds, locked or prescribed, (..., nu), from a tail."""
        model = self._model
        out = np.isinf(tail[..., self._where["lock"]])
        enabled = tail[..., self._where["enabled"]][..., len(model.forces) + len(model.constraints) :]
        for i, body in enumerate(model.tree.driven):
            out[..., body.prescribed_speeds] |= enabled[..., i, None] != 0
        return out


def _quick(default: np.ndarray, model: Model, instance: NativeFunction) -> Callable[..., np.ndarray | None]:
    """Tails.one: a closure with everything it needs, since it is called for every state."""
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
            elif name == "parameters":  # the INSTANCE kernel checks for finite values
                if type(value) is not np.ndarray or value.shape != shape or value.dtype != np.float64:
                    return None
                if value.size:
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


Locked = Mapping[str, Any]
"""{name of a speed: level, or the acceleration at which it is held [rad/s^2, m/s^2]}."""


def levels(speeds: tuple[str, ...], locked: Any) -> dict[str, Any]:
    """Checked names and levels from user input: names (velocity level), or a mapping to levels and
    accelerations.
    """
    if isinstance(locked, Mapping):
        given = dict(locked)
    else:
        given = dict.fromkeys(known("speed", locked, speeds), "velocity")
    for name, level in given.items():
        if name not in speeds:
            raise UnknownNameError("speed", name, speeds)
        if isinstance(level, str) and level in LEVELS:
            continue
        try:
            number = np.asarray(level if not isinstance(level, (str, bool)) else np.nan, dtype=float)
        except (TypeError, ValueError):
            number = np.array(np.nan)
        if not np.isfinite(number).all():
            raise DescriptionError(
                f"locked: speed {name!r}: expected 'position', 'velocity', "
                "'acceleration', or a number, the acceleration at which it is held "
                f"[rad/s^2, m/s^2], got {level!r}"
            )
        given[name] = number if number.ndim else float(number)
    return given


def masks(speeds: tuple[str, ...], locked: Any) -> dict[str, np.ndarray]:
    """The tail's parts lock, 0 or infinity, and held, the accelerations, each (..., nu). An array of 0/1 is
    accepted too.
    """
    if isinstance(locked, np.ndarray) and locked.dtype != object and locked.dtype.kind in "bif":
        if locked.shape[-1:] != (len(speeds),) or not np.isin(locked, (0, 1)).all():
            raise ShapeError(
                f"locked: expected names of speeds, or 0/1 of shape (..., {len(speeds)}), got {locked!r}"
            )
        return {"lock": np.where(locked != 0, np.inf, 0.0)}
    given = levels(speeds, locked)
    lock = np.array([np.inf if name in given else 0.0 for name in speeds])
    values = {name: x for name, x in given.items() if not isinstance(x, str)}
    held = np.zeros(np.broadcast_shapes(*(np.shape(x) for x in values.values())) + lock.shape)
    for name, x in values.items():
        held[..., speeds.index(name)] = x
    return {"lock": lock, "held": held}


def resting(speeds: tuple[str, ...], locked: Any) -> list[int]:
    """A mask of the speeds locked at position level, which are zero."""
    return (
        [
            speeds.index(name)
            for name, level in locked.items()
            if isinstance(level, str) and level == "position"
        ]
        if isinstance(locked, Mapping)
        else []
    )


def known(kind: str, names: Iterable[str], all_of_them: tuple[str, ...]) -> frozenset[str]:
    """Names as a set, if all of them exist."""
    try:
        names = (names,) if isinstance(names, str) else tuple(names)
    except TypeError:
        raise DescriptionError(
            f"expected names of {kind}s such as {all_of_them[:3]}, got {names!r}"
        ) from None
    for name in names:
        if not isinstance(name, str) or name not in all_of_them:
            raise UnknownNameError(kind, name, all_of_them)
    return frozenset(names)
