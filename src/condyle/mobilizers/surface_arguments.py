"""What a SplineSurface is given, read and checked before anything is computed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, real
from condyle.errors import DescriptionError
from condyle.functions import Function
from condyle.mobilizers.constants import constant, text
from condyle.mobilizers.twists import AXES
from condyle.trace import Symbol, Traced, trace


class Mode(NamedTuple):
    """A part of the control values: amplitude times values (6, n1, ..). An amplitude is None (1), computed
    from Parameters, or a function of time."""

    values: Array
    amplitude: Symbol | Traced | None
    law: Function | None = None  # what was traced, if it can be written as text


def control_values(given: Any, what: str) -> tuple[NDArray[Any], list[Mode]]:
    """Control values as given, and the modes that they are: the numbers, then one per Parameter."""
    try:
        array = np.array(given)
    except ValueError:
        raise DescriptionError(
            f"{what}: expected an array of shape (6, n1), (6, n1, n2) or (6, n1, n2, n3), "
            "got rows of different lengths"
        ) from None
    if array.ndim not in (2, 3, 4) or array.shape[0] != 6:
        turned = (
            "; functions are the first dimension: np.moveaxis(values, -1, 0)"
            if (array.ndim in (2, 3, 4) and array.shape[-1] == 6)
            else ""
        )
        raise DescriptionError(
            f"{what}: expected shape (6, n1), (6, n1, n2) or (6, n1, n2, n3), got {array.shape}{turned}"
        )
    if array.dtype != object:
        array = real(what, array).copy()
        _finite(array, what)
        array.flags.writeable = False
        return array, [Mode(array, None)]
    numbers = np.zeros(array.shape)
    symbols: dict[str, Symbol] = {}
    places: dict[str, Array] = {}
    for index in np.ndindex(*array.shape):
        value = constant(array[index], f"{what}[{', '.join(map(str, index))}]")
        if isinstance(value, Symbol):
            key = text(value)
            symbols[key] = value
            places.setdefault(key, np.zeros(array.shape))[index] = 1.0
        else:
            numbers[index] = value
    return array, [Mode(numbers, None), *(Mode(places[key], symbols[key]) for key in symbols)]


def _finite(array: Array, what: str) -> None:
    if not np.isfinite(array).all():
        index = tuple(map(int, np.argwhere(~np.isfinite(array))[0]))
        raise DescriptionError(
            f"{what}[{', '.join(map(str, index))}] is {array[index]}; every control value must be finite"
        )


def mode_of(given: Any, shape: tuple[int, ...], what: str) -> Mode:
    try:
        values, amplitude, *_ = given
    except (TypeError, ValueError):
        raise DescriptionError(
            f"{what}: expected a pair of control values {shape} and an amplitude (a "
            f"function of time, or a Parameter), got {given!r}"
        ) from None
    array = real(f"{what}: values", values).copy()
    if array.shape != shape:
        raise DescriptionError(
            f"{what}: its values have shape {array.shape}; expected that of the surface, {shape}"
        )
    _finite(array, f"{what}: values")
    array.flags.writeable = False
    if isinstance(amplitude, Symbol):
        return Mode(array, constant(amplitude, f"{what}: amplitude"))
    if isinstance(amplitude, Traced):
        return Mode(array, amplitude)
    if not callable(amplitude):
        raise DescriptionError(
            f"{what}: amplitude: expected a function of time, or a Parameter, got {amplitude!r}"
        )
    return Mode(
        array,
        trace(amplitude, ("t",), what=f"{what}: amplitude", outputs=()),
        amplitude if isinstance(amplitude, Function) else None,
    )


def axes_of(given: Any, what: str) -> tuple[str, ...]:
    axes = tuple(given) if isinstance(given, (tuple, list)) else (given,)
    if sorted(map(str, axes)) != sorted(AXES):
        twice = sorted({str(a) for a in axes if axes.count(a) > 1})
        why = f"; {', '.join(twice)} occurs twice, so that two twists depend on each other" if twice else ""
        raise DescriptionError(
            f"{what}: axes: expected the six names {', '.join(AXES)} in any order, got {given!r}{why}"
        )
    return axes


def flags_of(given: Any, n: int, what: str) -> tuple[bool, ...]:
    items = (given,) * n if isinstance(given, (bool, np.bool_)) else tuple(given)
    if len(items) != n or not all(isinstance(x, (bool, np.bool_)) for x in items):
        raise DescriptionError(f"{what}: expected True or False, or {n} of them, got {given!r}")
    return tuple(map(bool, items))


def knot_sequences(given: Any, n: int, what: str) -> tuple[Any, ...]:
    if given is None:
        return (None,) * n
    items = tuple(given)
    if n == 1 and np.ndim(given) == 1 and not any(x is None for x in items):
        return (items,)
    if len(items) != n:
        raise DescriptionError(f"{what}: knots: expected {n} sequences, one per coordinate, got {len(items)}")
    return items


def domains_of(given: Any, n: int, what: str) -> tuple[tuple[float, float], ...]:
    try:
        pairs = np.array(given, dtype=float)
        pairs = np.broadcast_to(pairs, (n, 2)) if pairs.shape == (2,) else pairs
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape != (n, 2) or not np.isfinite(pairs).all() or not (pairs[:, 0] < pairs[:, 1]).all():
        raise DescriptionError(
            f"{what}: domain: expected (low, high) with low < high, or {n} of them, got {given!r}"
        )
    return tuple((float(low), float(high)) for low, high in pairs)


def knots_of(given: Any, n: int, order: int, closed: bool, domain: tuple[float, float], what: str) -> Array:
    """The knots of one direction, checked; uniform over the domain where none are given."""
    need = n + 1 if closed else n + order
    if n < order:
        raise DescriptionError(
            f"{what}: {n} control values are too few, order {order} needs at least {order}"
        )
    if given is None:
        inner = np.linspace(*domain, n + 1 if closed else n - order + 2)
        return (
            inner
            if closed
            else np.concatenate([inner[:1].repeat(order - 1), inner, inner[-1:].repeat(order - 1)])
        )
    t = np.array(given, dtype=float)
    if t.shape != (need,):
        rule = "number of values + 1, the last closes the period" if closed else "number of values + order"
        raise DescriptionError(
            f"{what}: got knots of shape {t.shape}; {n} control values of order {order} need {need} ({rule})"
        )
    if not np.isfinite(t).all():
        raise DescriptionError(f"{what}: knots[{int(np.argmin(np.isfinite(t)))}] is not finite")
    if (np.diff(t) < 0).any():
        i = int(np.argmax(np.diff(t) < 0))
        raise DescriptionError(
            f"{what}: knots must not decrease, but knots[{i}] = {t[i]:g} and knots[{i + 1}] = {t[i + 1]:g}"
        )
    low, high = (t[0], t[-1]) if closed else (t[order - 1], t[n])
    if not low < high:
        raise DescriptionError(f"{what}: the domain, from {low:g} to {high:g}, is empty; spread the knots")
    inside, times = np.unique(t[:-1] if closed else t[(t > low) & (t < high)], return_counts=True)
    if len(inside) and times.max() > order - 3:
        raise DescriptionError(
            f"{what}: the knot {inside[times.argmax()]:g} occurs {times.max()} times; at "
            f"most {order - 3} are allowed for order {order}: the motion must have two "
            "continuous derivatives"
        )
    return t
