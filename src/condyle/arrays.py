"""Conversion of user input to checked arrays, with the same rules everywhere:

- numbers are real: text, booleans, complex numbers, dates, other objects and masked entries raise an error;
- labels are matched: a mapping, a Table, a pandas object or a structured array is matched by its labels, in
any order; labels that are not the names of the entries raise an error; without labels (none of them text)
entries are matched by position; - numbers are finite, and quaternions are not zero.

A mapping may leave entries out, which keep their defaults; a table must have exactly the entries.
"""

from __future__ import annotations

import math
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.records import dataclass

_FLOAT = np.dtype(np.float64)
_LONG = 20

if TYPE_CHECKING:
    from casadi import SX
else:
    SX = "an expression of CasADi"
"""In annotations: an expression, scalar or matrix. CasADi itself is loaded where it computes."""
Array: TypeAlias = NDArray[np.float64]
"""Results."""
Scalar: TypeAlias = float | Array
"""One number per state: an array of shape (...), or one number for one state."""
Vector: TypeAlias = ArrayLike | Mapping[str, ArrayLike]
"""Input numbers (..., n): in order or labeled."""


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a vector.

    Args:
        noun: name of an entry in errors. names: of the entries; none if they have none.
        default: values of the entries that a mapping leaves out, shape (n,); None if it must have all.
        quaternions: those among the entries, as (name of the body, slice).
    """

    noun: str
    names: tuple[str, ...]
    default: np.ndarray | None = None
    quaternions: tuple[tuple[str, slice], ...] = ()


POINT = Entries("component", ("x", "y", "z"))
"""A point or a vector in space."""


def real(what: str, value: Any, expected: str = "real numbers") -> np.ndarray:
    """float64 of any shape. Labels x, y, z are matched; other labels that could mean an order raise an error."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return value
    value = in_order(what, value, expected)
    try:
        array = np.asarray(value)
        # whole columns of a table may be numbers all the same
        if array.dtype == object:
            array = _numbers_in(array)
    except ValueError:
        raise ShapeError(
            f"{what}: expected {expected}, got rows of different lengths: {reprlib.repr(value)}"
        ) from None
    except (TypeError, OverflowError) as error:
        raise ShapeError(f"{what}: expected {expected}, got {type(value).__name__}: {error}") from error
    if array.dtype.kind not in "fiu":
        got = (
            f"ndarray of {array.dtype}"
            if isinstance(value, np.ndarray)
            else f"{type(value).__name__}: {reprlib.repr(value)}"
        )
        hint = {
            "c": "; complex steps are no derivatives here: use system.jvp",
            "b": "; truth values are no numbers",
        }
        raise ShapeError(f"{what}: expected {expected}, got {got}{hint.get(array.dtype.kind, '')}")
    return array.astype(np.float64, copy=False)


def _masked(value: Any) -> bool:
    """Whether it is a masked array. NumPy loads their module when it is first named, 30 ms: none exist
    before."""
    return "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray)


def in_order(what: str, value: Any, expected: str = "real numbers") -> Any:
    """Values with labels x, y and z in this order; unlabeled input is returned unchanged.

    Raises:
        ShapeError: of a table with other columns, and of masked entries.
    """
    if _masked(value):
        if np.ma.is_masked(value):
            where = tuple(map(int, np.argwhere(np.ma.getmaskarray(value))[0]))
            raise ShapeError(
                f"{what}: entry {where} is masked; expected {expected}: leave such rows out, or "
                "fill them: array.filled(...)"
            )
        return value.data
    labels, column, _ = _labels(value) or ((), None, ())
    if column is None or not any(isinstance(label, (str, tuple)) for label in labels):
        return value
    if len(labels) == 3 and set(labels) == set(POINT.names):
        return np.stack([np.asarray(column(name), dtype=float) for name in POINT.names], axis=-1)
    is_table = len(labels) > 1 and np.ndim(column(labels[0]))
    # the labels of a longer Series may be those of its rows
    if is_table or len(labels) == 3:
        raise ShapeError(
            f"{what}: it has {'columns' if is_table else 'labels'} {list(labels)[:3]}, but "
            "names are known here for x, y, z only; its values alone, as .to_numpy() gives "
            "them, go by position"
        )
    return value


def gaps(value: Any) -> Any:
    """A recording in which masked entries are NaN: they were not measured."""
    if _masked(value):
        return np.ma.filled(value.astype(float), np.nan) if value.dtype.kind in "fiu" else value
    return value


def matrices(value: Any) -> Any:
    """SciPy's Rotation and RigidTransform, or a list of them, as matrices; other input unchanged."""
    if hasattr(value, "as_matrix"):
        return value.as_matrix()
    if isinstance(value, (list, tuple)) and len(value) and all(hasattr(x, "as_matrix") for x in value):
        return np.stack([x.as_matrix() for x in value])
    return value


def vector(what: str, value: Any, size: int, entries: Entries | None = None, one: bool = False) -> np.ndarray:
    """float64 of shape (..., size), or (size,) for one state, matched by labels if there are any. Numbers
    need not be finite: see `check_finite`.
    """
    if (
        type(value) is np.ndarray
        and value.dtype == np.float64
        and value.ndim
        and value.shape[-1] == size
        and (not one or value.ndim == 1)
    ):
        return value
    shape = f"({size},)" if one else f"(..., {size})"
    if isinstance(value, Mapping):
        array = _from_mapping(what, value, shape, entries, one)
    elif (columns := _columns(what, value, entries)) is not None:
        array = columns
    else:
        array = real(what, value, f"real numbers of shape {shape}")
    if array.ndim == 0 or array.shape[-1] != size or (one and array.ndim > 1):
        turned = (
            "; one row per state: transpose it"
            if array.ndim == 2 and array.shape[0] == size and not one
            else ""
        )
        many = (
            "; a State is one state: the operators of the System take many"
            if one and array.shape[1:] == (size,)
            else ""
        )
        names = (
            f", one for each of {', '.join(entries.names)}" if entries and 0 < len(entries.names) <= 6 else ""
        )
        raise ShapeError(
            f"{what}: expected {'shape ' if one else ''}{shape}, got {array.shape}{turned or many or names}"
        )
    return array


def check_finite(what: str, array: np.ndarray, entries: Entries, result: Any = None) -> None:
    """Raise ShapeError that names the first entry which is not finite, or the first quaternion without
    direction."""
    bad = unusable(array, entries)
    if bad.any():
        where = tuple(map(int, np.argwhere(bad)[0])) if bad.ndim else ()
        raise ShapeError(
            f"{what}: {complaint(array[where], entries)}{place(where, bad, result is not None)}", result
        )


def median(x: Array) -> float:
    """The median of numbers (n,), without np.median, which loads masked arrays."""
    ordered = np.sort(x)
    if not len(ordered) or ordered[-1] != ordered[-1]:
        return math.nan
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def plain(size: int, quaternions: Sequence[slice] = ()) -> Callable[[Any], bool]:
    """A fast function that tells whether a value needs no further checks: a float64 vector of that size,
    finite, without zero quaternions. Otherwise `check_finite` decides.
    """
    shape = (size,)

    def short(value: Any) -> bool:
        return (
            type(value) is np.ndarray
            and value.dtype is _FLOAT
            and value.shape == shape
            and isfinite(sum(value.tolist()))
        )

    def long(value: Any) -> bool:  # one product is quicker than a list here
        return (
            type(value) is np.ndarray
            and value.dtype is _FLOAT
            and value.shape == shape
            and isfinite(value.dot(value))
        )

    check = short if size < _LONG else long
    if not quaternions:
        return check
    return lambda value: check(value) and all(np.square(value[part]).sum() != 0.0 for part in quaternions)


def unusable(array: np.ndarray, entries: Entries) -> np.ndarray:
    """States of an array (..., n) with a number that is not finite, or a zero quaternion: shape (...)."""
    bad = ~np.isfinite(array).all(axis=-1)
    with np.errstate(all="ignore"):
        for _, part in entries.quaternions:
            bad = bad | (np.square(array[..., part]).sum(axis=-1) == 0)
    return np.asarray(bad)


def complaint(row: np.ndarray, entries: Entries) -> str:
    """The complaint about one state (n,), or empty."""
    for i in np.flatnonzero(~np.isfinite(row)):
        which = f"{entries.noun} {entries.names[i]!r}" if entries.names else f"{entries.noun} {i}"
        return f"{which} is {row[i]}; it must be a finite number"
    for body, part in entries.quaternions:
        with np.errstate(all="ignore"):
            if np.square(row[part]).sum() == 0:
                return (
                    f"the quaternion of body {body!r} is zero, which is no orientation; start from "
                    "system.defaults(), or write (1, 0, 0, 0) for a body that is not turned"
                )
    return ""


def place(where: tuple[int, ...], bad: np.ndarray, result: bool = True) -> str:
    """Text on the first bad state of a batch."""
    if not where:
        return ""
    others = "`error.result` has the others; " if result else ""
    return (
        f" (state {where} of the batch, {int(bad.sum())} of {bad.size} are so; "
        f"{others}np.isfinite(q).all(axis=-1) says which to leave out)"
    )


# ---- labels ------------------------------------------------------------------------------------------------


def _from_mapping(
    what: str, value: Mapping[Any, Any], shape: str, entries: Entries | None, one: bool
) -> np.ndarray:
    if entries is None or not (entries.names or entries.default is not None):
        raise ShapeError(
            f"{what}: expected real numbers of shape {shape}, got {type(value).__name__}: "
            f"{reprlib.repr(value)}; give the numbers in their order, not by name"
        )
    for key in value:
        if key not in entries.names:
            raise _unknown(what, str(key), entries)
    if entries.default is None and len(value) < len(entries.names):
        raise ShapeError(f"{what}: {_lacks(entries, value)}")
    expected = "one number" if one else "a number, or one per state"
    given = {key: real(f"{what}: {entries.noun} {key!r}", bare(v), expected) for key, v in value.items()}
    for key, v in given.items():
        if one and v.ndim:
            raise ShapeError(f"{what}: {entries.noun} {key!r}: expected one number, got shape {v.shape}")
    return _joined(what, given, entries)


def _unknown(what: str, key: str, entries: Entries) -> UnknownNameError:
    """The error for an unknown name; for free bodies it suggests the right one."""
    body, _, end = key.rpartition("_")
    speed = f"{body}_{ {'t': 'v', 'r': 'w', 'q': 'w'}.get(end[:1], '') }{end[1:]}"
    if speed in entries.names:
        return UnknownNameError(entries.noun, key, [speed], what)
    if end in ("rx", "ry", "rz") and f"{body}_qw" in entries.names:
        return UnknownNameError(
            entries.noun,
            key,
            [f"{body}_q{axis}" for axis in "wxyz"],
            f"{what}: {body!r} turns by a quaternion; with coordinates='euler' its "
            "mobilizer has three angles [rad]",
        )
    return UnknownNameError(entries.noun, key, entries.names, what)


def _joined(what: str, columns: Mapping[str, np.ndarray], entries: Entries) -> np.ndarray:
    try:
        shape = np.broadcast_shapes(*(v.shape for v in columns.values()))
    except ValueError:
        got = ", ".join(f"{key!r} {v.shape}" for key, v in columns.items() if v.ndim)
        raise ShapeError(f"{what}: shapes do not broadcast: {got}") from None
    array = np.empty((*shape, len(entries.names)))
    if entries.default is not None:
        array[...] = entries.default
    for key, v in columns.items():
        array[..., entries.names.index(key)] = v
    return array


def _columns(what: str, value: Any, entries: Entries | None) -> np.ndarray | None:
    """Labeled values in the order of the names; None without text labels."""
    found = _labels(value)
    if found is None:
        return None
    labels, column, rows = found
    names = entries.names if entries else ()
    if not any(isinstance(label, (str, tuple)) for label in labels):
        if any(isinstance(row, str) and row in names for row in rows):
            raise ShapeError(
                f"{what}: its rows have the names {list(rows)[:3]}; one row per state: transpose it"
            )
        return None
    by_position = "its values alone, as .to_numpy() gives them, go by position"
    if entries is None or not names:
        raise ShapeError(
            f"{what}: it has labels, {list(labels)[:3]}, but here entries have no names; {by_position}"
        )
    for label in labels:
        if label not in names:
            raise UnknownNameError(
                entries.noun,
                label,
                names,
                f"{what}: its labels must be the names of the {entries.noun}s and no others; {by_position}",
            )
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if list(labels).count(label) > 1)
        raise ShapeError(f"{what}: the label {twice!r} is there more than once")
    if len(labels) < len(names):
        raise ShapeError(f"{what}: {_lacks(entries, labels)}")
    return _joined(
        what, {name: real(f"{what}: {entries.noun} {name!r}", bare(column(name))) for name in names}, entries
    )


def _labels(value: Any) -> tuple[Sequence[Any], Callable[[Any], Any], Sequence[Any]] | None:
    """Labels of the entries, a function from a label to its values, and labels of the rows; None if there are
    no labels."""
    if isinstance(value, np.ndarray):
        names = value.dtype.names
        return None if names is None else (names, value.__getitem__, ())
    if isinstance(value, (list, tuple, str, float, int)):
        return None
    if isinstance(getattr(value, "names", None), tuple) and isinstance(
        getattr(value, "values", None), np.ndarray
    ):
        return value.names, lambda name: value.values[:, value.names.index(name)], ()  # a Table
    if not hasattr(value, "to_numpy"):
        return None
    rows = getattr(value, "index", ())
    rows = list(rows) if not callable(rows) else ()
    columns = getattr(value, "columns", None)
    if columns is not None and not callable(columns):  # a DataFrame
        return list(columns), value.__getitem__, rows
    return rows, lambda name: value[name], ()  # a Series


def by_label(what: str, value: Any, entries: Entries) -> Any:
    """Labeled input in the order of the names; other input unchanged."""
    columns = _columns(what, value, entries)
    return value if columns is None else columns


def bare(value: Any) -> Any:
    """Without labels."""
    return value.to_numpy() if hasattr(value, "to_numpy") else value.values if _labels(value) else value


def _lacks(entries: Entries, given: Any) -> str:
    missing = [name for name in entries.names if name not in given]
    more = f" and {len(missing) - 4} more" if len(missing) > 4 else ""
    dicts = "; a dict may leave out what keeps its default" if entries.default is not None else ""
    return f"there is no {entries.noun} {', '.join(map(repr, missing[:4]))}{more}: give all{dicts}"


def _numbers_in(array: np.ndarray) -> np.ndarray:
    """An array of objects that are all plain numbers as numbers; else as it is."""
    plain = all(
        isinstance(x, (float, int, np.floating, np.integer)) and not isinstance(x, bool) for x in array.flat
    )
    return array.astype(float) if plain and array.size else array


def number(what: str, value: Any, expected: str) -> float:
    """One number; strings, booleans, arrays and None raise an error."""
    try:
        if isinstance(value, (str, bool)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise DescriptionError(f"{what}: expected {expected}, got {value!r}") from None


def is_whole(value: object, least: float = -math.inf, most: float = math.inf) -> bool:
    """Whether it is an integer within these limits, and not a boolean."""
    return (
        isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(least <= value <= most)
    )


def is_number(value: object, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether it is a finite real number within these limits, and not a boolean."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    return real and bool(low <= value <= high and value - value == 0)  # type: ignore[operator]


def vertcat(parts: Iterable[SX]) -> SX:
    """Stack columns of expressions; an empty column for none."""
    import casadi as ca

    return ca.vertcat(ca.SX(0, 1), *parts)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Values in order, each once. np.unique, np.median and np.quantile load masked arrays (5 ms)."""
    x = np.sort(values)
    return x[np.concatenate([[True], x[1:] != x[:-1]])] if len(x) else x


def middle(x: Array) -> Array:
    """Along the first axis, the upper one of two."""
    ordered: Array = np.sort(x, axis=0)
    return ordered[len(x) // 2]
