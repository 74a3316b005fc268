"""B-splines in the form that a table of rows takes: knots, and cumulative polynomials of every interval.
docs/theory/spline_joints.md (2)-(4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError


def clamped(inner: Array, order: int) -> Array:
    """Knots with their ends repeated, so that the spline begins at its first control frame and ends at its
    last."""
    ends = order - 1
    return np.concatenate([np.full(ends, inner[0]), inner, np.full(ends, inner[-1])])


def periodic(knots: Array, order: int) -> Array:
    """Knots -order .. n + order of a closed spline of n intervals, from its n + 1 knots."""
    n = len(knots) - 1
    index = np.arange(-order, n + order + 1)
    return knots[index % n] + (index // n) * (knots[-1] - knots[0])


def mirrored(knots: Array) -> Array:
    """Three more knots beyond each end, at the distances of those inside."""
    return np.concatenate([2 * knots[0] - knots[3:0:-1], knots, 2 * knots[-1] - knots[-2:-5:-1]])


def check_knots(knots: Array, order: int, form: str, what: str) -> None:
    """Finite, none decreasing, and at most order - 3 equal inside: else the motion is not C2 there."""
    if not np.isfinite(knots).all():
        raise DescriptionError(f"{what}: knots[{int(np.argmin(np.isfinite(knots)))}] is not finite")
    step = np.diff(knots)
    if not (step >= 0).all():
        i = int(np.argmin(step >= 0))
        raise DescriptionError(
            f"{what}: knots must not decrease, but knots[{i}] = {knots[i]:g} and "
            f"knots[{i + 1}] = {knots[i + 1]:g}"
        )
    first, last = (knots[order - 1], knots[-order]) if form == "clamped" else (knots[0], knots[-1])
    if not first < last:
        raise DescriptionError(f"{what}: the domain, from {first:g} to {last:g}, is empty; spread the knots")
    t = knots if form != "closed" else np.concatenate([knots, knots[1:] + last - first])
    most = 1 if form == "mirrored" else order - 3
    end = last if form != "closed" else 2 * last - first
    inside, times = np.unique(t[(t > first) & (t < end)], return_counts=True)
    if form == "mirrored" and not (step > 0).all():
        inside, times = knots[:-1][step == 0], np.full(int((step == 0).sum()), 2)
    if times.size and times.max() > most:
        raise DescriptionError(
            f"{what}: the knot {inside[times.argmax()]:g} occurs {times.max()} times; "
            f"with order {order} at most {most} may be equal inside the domain, or the "
            "motion is not twice continuously differentiable there. Spread the knots or "
            "raise the order"
        )


def polynomials(t: Array, order: int, intervals: NDArray[np.intp]) -> Array:
    """Taylor coefficients at t_i of B_(i-k+1) .. B_i on [t_i, t_(i+1)), for every interval i.

        B_(j,r) = (q - t_j)/(t_(j+r-1) - t_j) B_(j,r-1) + (t_(j+r) - q)/(t_(j+r) - t_(j+1)) B_(j+1,r-1)    (2)

    Args:
        t: knots, none decreasing.
        order: k, one more than the degree.
        intervals: the i, of length > 0, shape (m,).

    Returns:
        shape (m, k, k): spline, power.
    """
    k, m = order, len(intervals)
    origin = t[intervals]
    # B_(i-r+1,r) .. B_(i,r) as polynomials of q - t_i
    B = np.zeros((m, 1, k))
    B[:, 0, 0] = 1.0
    for r in range(2, k + 1):
        higher = np.zeros((m, r, k))
        for a in range(r - 1):  # B_(j,r-1), j = i - r + 2 + a, enters two
            j = intervals - r + 2 + a
            share = B[:, a] / (t[j + r - 1] - t[j])[:, None]
            turn = np.roll(share, 1, axis=1)  # times q - t_i: the highest coefficient is zero
            higher[:, a + 1] += turn + (origin - t[j])[:, None] * share
            higher[:, a] += (t[j + r - 1] - origin)[:, None] * share - turn
        B = higher
    return B


def cumulative(t: Array, order: int, intervals: NDArray[np.intp]) -> Array:
    """Taylor coefficients at t_i of Bt_(i-k+2) .. Bt_i on [t_i, t_(i+1)), for every interval i.

        Bt_j = B_j + B_(j+1) + ... + B_i                                                                  (3)

    Args:
        t: knots, none decreasing.
        order: k, one more than the degree.
        intervals: the i, of length > 0, shape (m,).

    Returns:
        shape (m, k - 1, k); of the last, c x^(k-1), all but one coefficient are exactly zero.
    """
    return np.cumsum(polynomials(t, order, intervals)[:, :0:-1], axis=1)[:, ::-1]
