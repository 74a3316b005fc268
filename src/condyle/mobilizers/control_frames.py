"""Control frames and knots of a spline curve as users give them: checked, tiny errors mended."""

from __future__ import annotations

from typing import Any

import numpy as np

from condyle.arrays import Array, matrices, real
from condyle.errors import DescriptionError, ShapeError, warn
from condyle.mobilizers import bsplines
from condyle.spatial import Transform, log_se3

LARGEST_STEP = np.radians(170.0)
"""Rotation between neighbors that is refused [rad]: at 180 degrees its direction is lost, and 181 would
silently become -179."""
ROUNDING, TYPED, WRONG = 1e-14, 1e-9, 1e-5
"""Largest entry of R'R - 1: below the first R is taken as it is; above, the rotation nearest to R is; above
the second a warning says so; above the third R is refused."""


def checked_order(order: Any, what: str) -> int:
    """k, one more than the degree."""
    if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or not 4 <= order <= 12:
        got = f"an array; R and p are one argument, {what}((R, p))" if np.ndim(order) else repr(order)
        raise DescriptionError(f"{what}: order must be a whole number from 4 (cubic, C2) to 12, got {got}")
    return int(order)


def checked_frames(frames: Any, order: int, what: str) -> Transform:
    """Control frames with one leading dimension, every R a rotation to rounding."""
    R, p = _arrays(frames, what)
    if p.ndim != 2 or p.shape[-1] != 3 or R.shape != (len(p), 3, 3):
        raise DescriptionError(
            f"{what}: frames: expected R of shape (n, 3, 3) and p of shape (n, 3), got "
            f"{R.shape} and {p.shape}"
        )
    n = len(p)
    if n < order:
        raise DescriptionError(
            f"{what}: got {n} control frame(s); a curve of order {order} needs at least {order}"
        )
    bad = np.flatnonzero(~(np.isfinite(R).all(axis=(1, 2)) & np.isfinite(p).all(axis=1)))
    if bad.size:
        raise DescriptionError(
            f"{what}: frames[{bad[0]}] has a number that is not finite: R =\n{R[bad[0]]}, "
            f"p = {p[bad[0]]}; leave such frames out"
        )
    return Transform.unchecked(_rotations(R, what), np.array(p))


def _arrays(frames: Any, what: str) -> tuple[Array, Array]:
    frames = matrices(getattr(frames, "X", frames))  # of MeasuredFrames
    if not isinstance(frames, Transform) and (not isinstance(frames, (tuple, list)) or len(frames) != 2):
        if np.shape(frames)[1:] == (4, 4):
            frames = np.asarray(frames)[:, :3, :3], np.asarray(frames)[:, :3, 3]
        elif isinstance(frames, (tuple, list)) and frames and all(isinstance(X, Transform) for X in frames):
            frames = [X.R for X in frames], [X.p for X in frames]
        else:
            got = f"shape {frames.shape}" if isinstance(frames, np.ndarray) else type(frames).__name__
            hint = "; for a file write cd.read_frames(path)" if isinstance(frames, str) else ""
            raise DescriptionError(
                f"{what}: frames: expected a Transform with leading dimension n, (R, p) "
                f"of shapes (n, 3, 3) and (n, 3), or an array (n, 4, 4), got {got}{hint}"
            )
    R, p = frames
    R = matrices(R)
    try:
        return real(f"{what}: R of frames", R), real(f"{what}: p of frames", p)
    except (ShapeError, TypeError) as error:
        raise DescriptionError(str(error)) from None


def _rotations(R: Array, what: str) -> Array:
    """The rotations nearest to R where it is one to a few digits only."""
    off = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max(axis=(1, 2))
    worst = int(off.argmax())
    if off[worst] > WRONG:
        raise DescriptionError(
            f"{what}: frames[{worst}]: R is not a rotation: the largest entry of R'R - 1 "
            f"is {off[worst]:.3g}, allowed is {WRONG:g}; R is\n{R[worst]}"
        )
    if (left := np.flatnonzero(np.linalg.det(R) < 0)).size:
        raise DescriptionError(
            f"{what}: frames[{left[0]}]: R has determinant -1, it is a reflection: the "
            "axes are left-handed. Reverse or exchange one"
        )
    if off[worst] > TYPED:
        warn(
            f"{what}: R of {int((off > TYPED).sum())} frame(s) is a rotation to a few digits only, "
            f"worst frames[{worst}] with R'R - 1 up to {off[worst]:.2g}; the nearest rotations are "
            "taken"
        )
    U, _, V = np.linalg.svd(R)
    return np.where((off > ROUNDING)[:, None, None], U @ V, R)


def steps_between(frames: Transform, closed: bool = False) -> Array:
    """z_j = log(G_(j-1)^-1 G_j), shape (n - 1, 6); of a closed curve the one from the last to the first
    too."""
    R, p = (np.concatenate([x, x[:1]]) if closed else x for x in frames)
    before, after = Transform.unchecked(R[:-1], p[:-1]), Transform.unchecked(R[1:], p[1:])
    return log_se3(before.inverse() @ after)


def checked_steps(z: Array, what: str) -> None:
    """Refuse rotations between neighbors near half a turn."""
    angle = np.linalg.norm(z[:, :3], axis=1)
    far = np.flatnonzero(angle >= LARGEST_STEP)
    if far.size:
        raise DescriptionError(
            f"{what}: frames[{far[0]}] and the next one are "
            f"{np.degrees(angle[far[0]]):.1f} degrees apart; below "
            f"{np.degrees(LARGEST_STEP):.0f} degrees it is sure which way the body turns. "
            "Give frames between them"
        )


def checked_knots(
    given: Any, domain: Any, n: int, order: int, form: str, what: str
) -> tuple[Array, tuple[float, float]]:
    """Knots, and the domain that they have.

    Args:
        form: "clamped", "mirrored" or "closed".
    """
    asked = None if domain is None else checked_domain(domain, what)
    count = {"clamped": n - order + 2, "mirrored": n, "closed": n + 1}[form]
    if given is None:
        low, high = own = asked or (0.0, 1.0)
        inner = low + (high - low) * np.linspace(0.0, 1.0, count)
        inner[-1] = high
        knots = bsplines.clamped(inner, order) if form == "clamped" else inner
    else:
        try:
            knots = np.array(real(f"{what}: knots", given))
        except (ShapeError, TypeError) as error:
            raise DescriptionError(str(error)) from None
        needed = n + order if form == "clamped" else count
        if knots.shape != (needed,):
            rule = {"clamped": "frames + order", "mirrored": "one per frame", "closed": "frames + 1"}[form]
            raise DescriptionError(
                f"{what}: knots: expected {needed} numbers ({rule}), got shape {knots.shape}"
            )
        _check_order(knots, order, form, what)
        own = (
            (float(knots[order - 1]), float(knots[n]))
            if form == "clamped"
            else (float(knots[0]), float(knots[-1]))
        )
        if asked is not None and asked != own:
            # another period of a closed curve
            size = asked[1] - asked[0]
            if form != "closed" or abs(size - (own[1] - own[0])) > 1e-12 * max(*map(abs, asked), size):
                raise DescriptionError(
                    f"{what}: the knots give the domain {own}, but domain = {asked}; give one of them"
                )
    knots.flags.writeable = False
    return knots, asked or own


def checked_domain(domain: Any, what: str) -> tuple[float, float]:
    """(low, high), low < high."""
    try:
        low, high = map(float, domain)
    except (TypeError, ValueError):
        low = high = np.nan
    if not (low < high and np.isfinite([low, high]).all()):
        raise DescriptionError(f"{what}: domain must be two numbers (low, high), low < high, got {domain!r}")
    return low, high


def _check_order(knots: Array, order: int, form: str, what: str) -> None:
    """Finite, none decreasing, and at most order - 3 equal inside: else the curve is not C2 there."""
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
            "curve is not twice continuously differentiable there. Spread the knots or "
            "raise the order"
        )
