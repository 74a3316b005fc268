"""Locks: speeds that are held at position, velocity or acceleration level, as names, levels and numbers.

position       q keeps its value: u = 0 and udot = 0
velocity       u keeps its value: udot = 0
acceleration   udot has a given value, 0 unless it is said
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.tree.prescribed import LEVELS

Locked = Mapping[str, Any]
"""From names of speeds to a level, or to the acceleration at which a speed is held [rad/s^2, m/s^2]."""


def levels(speeds: tuple[str, ...], locked: Any) -> dict[str, Any]:
    """Checked names and levels from what a user gave: names (velocity level), or a mapping to levels and
    accelerations."""
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
    """The tail's parts lock, 0 or infinity, and held, the accelerations, each (..., nu). An array of 0/1 will
    do too."""
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
    """Speeds that are locked at position level: they are zero."""
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
