"""Shapes of joints by their freedom: a pin is an axis, a ball a sphere, a slider a rail.

The hinge matrix H of a mobilizer at one pose, in F, gives directions of pure translation and axes of
rotation; a rotation with translation has the axis of its screw,

    p = w x v / w.w,   v = v_M - w x p_M                                                                  (1)
"""

from __future__ import annotations

import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.mobilizers.base import Mobilizer
from condyle.shapes import Drawing
from condyle.spatial import Transform
from condyle.spatial.rotations import frame_along

SMALL = 1e-6
"""Fraction of the largest motion that counts as zero."""


def glyphs(mobilizer: Mobilizer, q: Array, t: float, size: float) -> list[Drawing]:
    """Shapes of a joint in F, as large as `size` [m]; none for free or fixed bodies.

    Args:
        mobilizer: the joint.
        q: its coordinates, shape (nq,).
        t: time [s].
        size: radius of a sphere [m].
    """
    if not 0 < mobilizer.nu < 6:
        return []
    _, p, H = mobilizer._pose_and_hinge(t, q)
    if not np.isfinite(H).all():
        return []
    turns, shifts = H[:3] * size, H[3:]
    _, sizes, V = np.linalg.svd(turns)
    rank = int((sizes > SMALL * max(float(np.abs(H).max()), SMALL) * size).sum())
    # speeds without rotation: directions; speeds with rotation: axes
    U = V[rank:]
    slides = _basis((shifts @ U.T).T)
    axes = _basis(H[:3].T)
    out: list[Drawing] = []
    if len(axes) == 3:
        out.append(Drawing(shapes.Sphere(size), Transform(p=p)))
    elif len(axes) == 2:  # a cross
        out += [_rod(axis, p, 0.42 * size, 1.5 * size) for axis in _turned(H[:3])]
    elif len(axes) == 1:
        w, v = _screw(H, p)
        both = bool(len(slides)) and abs(float(slides[0] @ w)) > 1 - SMALL
        at = p if len(slides) else np.cross(w, v)
        if np.linalg.norm(at - p) > 8 * size:  # its axis is far away: nearly a translation
            at = p
        out.append(_rod(w, at, 0.6 * size, (2.6 if both else 1.6) * size))
        if both:
            slides = slides[1:]
        if not len(slides) and abs(float(v @ w)) > SMALL and not both:
            out.append(Drawing(shapes.Line(_thread(w, 0.66 * size, 2.4 * size) + at)))
            out[0] = _rod(w, at, 0.6 * size, 2.6 * size)
    if len(slides) == 1:
        out += _rail(slides[0], np.zeros(3) if not len(axes) else p, size)
    elif len(slides) == 2:
        z = np.cross(*slides)
        out.append(Drawing(shapes.Box((2 * size, 2 * size, 0.12 * size)), _frame(z, p), opacity=0.6))
    elif len(slides) == 3:
        out += [_rod(e, np.zeros(3), 0.2 * size, 2 * size) for e in np.eye(3)]
    return out


def _basis(rows: Array) -> Array:
    """Orthonormal vectors that span some rows (n, 3), shape (rank, 3)."""
    if not rows.size or not np.abs(rows).max() > 0:
        return np.zeros((0, 3))
    _, sizes, V = np.linalg.svd(rows / np.abs(rows).max())
    out: Array = V[: int((sizes > SMALL).sum())]
    return out


def _turned(H_w: Array) -> list[Array]:
    """The axes of rotational speeds, unit vectors."""
    sizes = np.linalg.norm(H_w, axis=0)
    return [w / s for w, s in zip(H_w.T, sizes, strict=True) if s > SMALL * sizes.max()]


def _screw(H: Array, p: Array) -> tuple[Array, Array]:
    """Of the speed with the largest rotation: its unit axis, and the velocity of F's origin per angular speed
    (1)."""
    k = int(np.argmax(np.linalg.norm(H[:3], axis=0)))
    w = H[:3, k]
    size = float(np.linalg.norm(w))
    return w / size, (H[3:, k] - np.cross(w, p)) / size


def _frame(z: Array, p: Array) -> Transform:
    """A frame at p whose z axis is given."""
    return Transform(frame_along(z), p)


def _rod(axis: Array, p: Array, radius: float, half: float) -> Drawing:
    return Drawing(shapes.Cylinder(radius, half), _frame(axis, p))


def _rail(along: Array, p: Array, size: float) -> list[Drawing]:
    """Two bars along a direction."""
    X = _frame(along, p)
    bar = shapes.Box((0.14 * size, 0.3 * size, 3 * size))
    return [Drawing(bar, X @ Transform(p=(side * 0.75 * size, 0, 0))) for side in (-1, 1)]


def _thread(axis: Array, radius: float, half: float) -> Array:
    s = np.linspace(-1, 1, 97)
    X = _frame(axis, np.zeros(3))
    points = np.stack([radius * np.cos(14 * s), radius * np.sin(14 * s), half * s], axis=1)
    out: Array = points @ X.R.T
    return out
