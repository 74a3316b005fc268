"""One mobilizer of each kind, with numbers that are all different; variants after a dash.

The oracles of tests/oracles describe their joints themselves, because they share nothing with Condyle.
"""

from __future__ import annotations

import numpy as np

import condyle as cd
from condyle.mobilizers import (
    Ball,
    BendStretch,
    Bushing,
    CantileverFreeBeam,
    Coupled,
    Custom,
    Cylinder,
    Ellipsoid,
    EllipticSlider,
    Free,
    FreeLine,
    FunctionBased,
    Gimbal,
    LineOrientation,
    Mobilizer,
    Pin,
    Planar,
    Screw,
    Slider,
    SphericalCoords,
    SplineCurve,
    SplineSurface,
    Translation,
    Universal,
    Weld,
    compose,
)
from condyle.spatial import exp_so3, rotation_from_quaternion, rotation_x, rotation_z

RADII = (0.7, 1.1, 1.6)  # [m], of ellipsoids
KNOTS = np.linspace(-2, 2, 9)
TIMED = Custom(
    ("a", "b"), lambda t, a, b: (rotation_x(a + 0.5 * t) @ rotation_z(b), (0.2 * t * a, b, t**2)), time=True
)


def frames(n: int, turn: float = -1.9) -> tuple[np.ndarray, np.ndarray]:
    """n frames of a knee-like motion, or of a loop that turns once about z if the turn is 2 pi."""
    a = turn * np.arange(n) / (n if turn == 2 * np.pi else n - 1)
    vectors = np.stack([0.2 * np.sin(a), 0.1 * np.cos(2 * a), a], axis=1)
    return exp_so3(vectors), np.stack([0.3 * np.cos(a), 0.2 * np.sin(a), 0.05 * np.sin(3 * a)], axis=1)


LOOP = 2 * np.pi
_a, _b = np.meshgrid(np.linspace(-1, 1, 5), np.linspace(-1, 1, 6), indexing="ij")
SURFACE = np.array(
    [
        0.4 * _a,
        0.3 * _b,
        0.1 * np.cos(2 * _a) * np.cos(_b),
        0.5 * np.sin(_b),
        0.4 * np.sin(_a) - 0.1 * _b,
        0.3 * _a * _b,
    ]
)
"""Control values of a surface: x, y, z, angles about x, y, z."""
RIPPLE = np.zeros((6, 5, 6))
RIPPLE[2], RIPPLE[3] = 0.1 * np.cos(3 * _a + _b), 0.1 * np.sin(2 * _b)
BENT = ("ry", "tz", "rx", "tx", "rz", "ty")
"""Rotations and translations by turns."""
_angle = 2 * np.pi * np.arange(6) / 6
RING = np.array(
    [np.cos(_angle), np.sin(_angle), 0.1 * np.sin(2 * _angle), 0 * _angle, 0.1 * np.cos(_angle), _angle]
)
"""Control values of a closed curve that turns once about z."""

EVERY: dict[str, Mobilizer] = {
    "Weld": Weld(),
    "Pin": Pin(),
    "Pin-axis": Pin(axis=(1, 2, 3)),
    "Slider": Slider(),
    "Screw": Screw(0.3),
    "Screw-x": Screw(-0.2, axis="x"),
    "Universal": Universal(),
    "Cylinder": Cylinder(),
    "BendStretch": BendStretch(),
    "Planar": Planar(),
    "SphericalCoords": SphericalCoords(),
    "SphericalCoords-x": SphericalCoords(0.2, True, -0.4, True, "x", True),
    "LineOrientation": LineOrientation(),
    "Gimbal": Gimbal(),
    "Bushing": Bushing(),
    "Ball": Ball(),
    "Ball-euler": Ball(coordinates="euler"),
    "Translation": Translation(),
    "Free": Free(),
    "Free-euler": Free(coordinates="euler"),
    "FreeLine": FreeLine(),
    "Ellipsoid": Ellipsoid(RADII),
    "Ellipsoid-euler": Ellipsoid(RADII, coordinates="euler"),
    "Ellipsoid-normal": Ellipsoid(RADII, normal=True),
    "Ellipsoid-normal-euler": Ellipsoid(RADII, True, "euler"),
    "EllipticSlider": EllipticSlider(0.7, 0.4),
    "CantileverFreeBeam": CantileverFreeBeam(0.8),
    "FunctionBased": FunctionBased(
        ("a",), (lambda q: 0.3 * np.sin(q), None, lambda q: q), (lambda q: 0.1 * q * q, 0.2, None)
    ),
    "FunctionBased-two": FunctionBased(
        ("a", "b"), (lambda a, b: a, lambda a, b: b, None), (None, lambda a, b: 0.1 * a * b, None)
    ),
    "FunctionBased-time": FunctionBased(
        ("a",),
        (None, None, lambda t, q: q + 0.2 * np.sin(t)),
        (lambda t, q: 0.1 * t * q, None, None),
        time=True,
    ),
    "FunctionBased-spline": FunctionBased(
        ("a",), (None, None, lambda q: q), (cd.Spline(KNOTS, 0.1 * np.cos(KNOTS)), None, None)
    ),
    "Coupled": Coupled(Cylinder(), "knee", ("knee", cd.functions.Polynomial((0.1, -0.3, 0.2)))),
    "Coupled-two": Coupled(
        Gimbal(),
        ("a", "b"),
        (cd.functions.Polynomial((0.5,), exponents=((1, 1),)), (cd.functions.Linear(0.7, 0.1), "a"), "b"),
    ),
    "SplineSurface": SplineSurface(
        SURFACE, domain=((-1, 1), (-1, 2)), X=cd.Transform(rotation_x(0.4), (0.1, 0.2, 0.3))
    ),
    "SplineSurface-time": SplineSurface(
        SURFACE, domain=((-1, 1), (-1, 2)), modes=[(RIPPLE, lambda t: np.sin(2 * t + 0.3))]
    ),
    "SplineSurface-order": SplineSurface(0.5 * SURFACE, order=5, axes=BENT),
    "SplineSurface-closed": SplineSurface(RING, closed=True, domain=(0, 3)),
    "Custom": Custom("knee", lambda q: (rotation_z(q), (0.1 * np.sin(2 * q), q**2 / (1 + q**2), 0.0))),
    "Custom-time": TIMED,
    "Custom-N": Custom(
        ("w", "x", "y", "z"),
        lambda *q: (
            rotation_from_quaternion(np.array(q) / np.sqrt(sum(c * c for c in q))),
            np.array(q[:3]) * 0.0 + (0.3, 0.2, 0.1),
        ),
        N=lambda w, x, y, z: np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]]) / 2,
        speeds=("wx", "wy", "wz"),
        default=(1, 0, 0, 0),
        units=("1",) * 4,
    ),
    "Custom-hinge": Custom(
        "q", lambda q: (rotation_x(q), (q**2, 0, 0)), hinge=lambda q: [[1], [0], [0], [2 * q], [0], [0]]
    ),
    "SplineCurve": SplineCurve(frames(7)),
    "SplineCurve-long": SplineCurve(frames(30), domain=(-1, 2), ends="mirrored"),
    "SplineCurve-5": SplineCurve(frames(9), 5),
    "SplineCurve-6": SplineCurve(frames(9), 6),
    "SplineCurve-closed": SplineCurve(frames(9, LOOP), closed=True),
    "SplineCurve-closed-5": SplineCurve(frames(20, LOOP), 5, True),
    "compose": compose(BendStretch(), Slider("z"), Pin("x")),
    "compose-surface": compose(
        SplineSurface(SURFACE), SplineSurface(0.7 * SURFACE[:, ::-1], order=5).reversed()
    ),
    "compose-time": compose(TIMED, Cylinder()),
    "compose-curve-pin": compose(SplineCurve(frames(7)), Pin("x")),
    "compose-curves": compose(SplineCurve(frames(7)), SplineCurve(frames(8, LOOP), closed=True).reversed()),
}
BUILT_IN = [name for name in EVERY if not name.startswith(("Coupled", "Custom", "FunctionBased", "compose"))]
"""Those with closed forms of their own."""

ONE_OF_EACH = [name for name in EVERY if "-" not in name or name.startswith(("Pin", "Ball", "FunctionBased"))]


def one_of_each() -> list[Mobilizer]:
    """One of each kind, then the same reversed: what trees of every mobilizer are made of."""
    forward = [EVERY[name] for name in ONE_OF_EACH]
    return [*forward, *(m.reversed() for m in forward)]
