"""Rows of tables: their times, and slices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import ShapeError
from condyle.table.units import scaled, si

TIME = "time [s]"
CYCLE = "cycle [%]"
NUMBERED = ("frame", "trial", "member", CYCLE)
"""What rows may be over."""
ROUNDED = 1e-6
"""A time may be beyond the end of a slice by this fraction of the mean step."""


def disorder(time: Array, over: str = TIME) -> tuple[int, str] | None:
    """The first row whose time is out of order, and what is wrong; None if there is none. Times increase, or
    decrease in runs backward in time; two rows with the same time are before and after an event. Numbers of
    frames (`over`) have no order.
    """
    if not np.isfinite(time).all():
        at = int(np.isfinite(time).argmin())
        return at, f"the time is {'missing' if np.isnan(time[at]) else 'infinite'}"
    step = np.diff(time) if over not in NUMBERED else np.empty(0)
    back = (step < 0).sum() > (step > 0).sum()
    wrong = step > 0 if back else step < 0
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    return at + 1, (
        f"times must {'decrease as the others do' if back else 'increase'}, {time[at + 1]:.9g} "
        f"follows {time[at]:.9g}"
    )


def last_rows(time: Array) -> NDArray[np.intp]:
    """Rows without those that have the time of the next one."""
    return np.flatnonzero(np.append(time[1:] != time[:-1], [True] * bool(len(time))))


def seconds(who: str, time: Array, unit: str) -> Array:
    """Times in seconds, from a unit in their title.

    Raises:
        ShapeError: a unit that is not one of time.
    """
    factor, of = si(unit or "s") or (1.0, "")
    if of != "s":
        raise ShapeError(f"{who}: times are in [{unit}]; expected s, ms or min")
    return time if factor == 1 else np.asarray(scaled(np.asarray(time, dtype=float), factor))


def rows_in(part: slice, time: Array) -> slice | NDArray[np.intp]:
    """Rows of a slice: by number, or by times [s] if one of its ends is a float. Then rows at both ends are
    included, also where rounding has put them beyond: 0.1 + 0.2 is at 0.3.

    Raises:
        ShapeError: an end that is neither a number nor a time, or a step that is not a whole number.
    """
    ends = [x for x in (part.start, part.stop) if x is not None]
    whole = [isinstance(x, (int, np.integer)) and not isinstance(x, bool) for x in ends]
    if all(whole) and isinstance(part.step, (int, np.integer, type(None))):
        return part
    if not all(
        ok or (isinstance(x, (float, np.floating)) and x == x) for ok, x in zip(whole, ends, strict=True)
    ):
        raise ShapeError(
            f"rows go by number, table[2:10], or by times, table[0.2:0.5], got [{part.start!r}:{part.stop!r}]"
        )
    if not isinstance(part.step, (int, np.integer, type(None))):
        raise ShapeError(
            f"[{part.start!r}:{part.stop!r}:{part.step!r}]: a step counts rows, 1, 2, ...; "
            "values at other times are numpy.interp(times, table.time, table['knee'])"
        )
    first, last = (part.start, part.stop) if len(time) < 2 or time[-1] >= time[0] else (part.stop, part.start)
    near = ROUNDED * (np.ptp(time) / (len(time) - 1) if len(time) > 1 else 0.0)
    inside = np.ones(len(time), dtype=bool)
    if first is not None:
        inside &= time >= first - near
    if last is not None:
        inside &= time <= last + near
    return np.flatnonzero(inside)[:: part.step]
