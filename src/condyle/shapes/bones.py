"""Bones to draw where a model has no meshes: lofted tubes, fitted between joint centers by the names of bodies.

Each bone is a few tubes through points with radii [mm], of a man of 1.75 m (segment lengths of Winter, Biomechanics and
Motor Control of Human Movement, 2009; shapes by eye). Axes are OpenSim's: x forward, y up, z to the right; the origin is the
joint to the body before. Bones of the left side are mirrored. They are for the eye only: nothing is measured on them.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from condyle.arrays import Array
from condyle.errors import check_name
from condyle.shapes.mesh import Mesh

SIDES, RINGS, ROUND = 8, 3, 3
"""Corners of a section, sections between two points, and in each rounded end."""

RIBS = "".join(
    f"""
    -62 {y:.0f} 8 5, -78 {y - 4:.0f} {0.55 * w:.0f} 5, -40 {y - 12:.0f} {0.98 * w:.0f} 5, 20 {y - 26:.0f} {0.86 * w:.0f} 5, {x:.0f} {y - 34:.0f} {0.3 * w:.0f} 4.5
    -62 {y:.0f} -8 5, -78 {y - 4:.0f} {-0.55 * w:.0f} 5, -40 {y - 12:.0f} {-0.98 * w:.0f} 5, 20 {y - 26:.0f} {-0.86 * w:.0f} 5, {x:.0f} {y - 34:.0f} {-0.3 * w:.0f} 4.5"""
    for y, w, x in [(420, 62, 48), (398, 88, 60), (374, 104, 70), (350, 116, 78), (326, 124, 84), (302, 129, 86), (277, 131, 84), (252, 130, 78), (228, 126, 62)]
)  # fmt: skip

BONES = {
    "femur": (
        410,
        """
        0 0 0 23, 0 0 0 23
        0 0 4 17, -3 -12 26 14, -4 -24 46 17
        -8 6 58 8, -8 -8 58 17, -5 -34 52 19, 6 -120 40 14.5, 10 -210 28 13.5, 4 -300 16 15, 0 -355 8 19, -4 -385 2 24
        -8 -40 40 8, -6 -60 38 10, 0 -80 40 8
        14 -384 -22 12, 6 -402 -24 21, -14 -404 -24 21, -28 -396 -22 12
        14 -384 24 12, 6 -402 25 22, -14 -402 26 21, -28 -394 24 12
        18 -382 0 18, 14 -366 2 16, 6 -350 4 14""",
    ),
    "tibia": (
        400,
        """
        -6 -30 -26 16, -4 -32 0 20, -6 -30 27 16
        0 -44 0 27, 6 -70 0 19, 10 -120 -2 14, 8 -200 -4 11.5, 2 -290 -4 12, 0 -350 -3 14, 0 -384 -2 17
        26 -58 0 6, 28 -72 0 9, 22 -92 0 6
        2 -380 -20 8, 0 -402 -24 9, 0 -414 -24 5
        -20 -48 34 9, -20 -66 36 8, -18 -160 38 5.5, -14 -280 34 5, -8 -360 28 6, -8 -400 27 9, -8 -418 27 5""",
    ),
    "patella": (
        0,
        """
        -4 -18 0 6, 0 0 0 17, -4 20 0 11""",
    ),
    "talus": (
        0,
        """
        -10 -4 -4 12, 2 0 0 18, 24 -10 -4 13""",
    ),
    "foot": (
        180,
        """
        -14 6 0 13, -6 10 0 24, 24 16 0 19, 52 22 2 17
        60 30 -14 16, 84 30 -10 15, 92 26 14 13
        92 28 -18 9, 140 12 -26 7, 180 2 -30 9
        94 28 -8 8, 142 14 -10 6, 182 2 -12 7.5
        94 26 2 8, 140 12 3 5.5, 176 1 3 7
        92 24 12 8, 134 10 18 5.5, 166 0 20 7
        88 20 22 9, 124 6 32 6, 152 -2 36 7.5""",
    ),
    "toes": (
        0,
        """
        0 0 -30 8, 24 -2 -31 6.5, 44 -4 -31 8, 52 -5 -31 5
        0 0 -12 7, 22 -2 -12 5, 44 -5 -11 5
        0 -1 3 6, 18 -3 4 5, 36 -6 5 5
        -12 -2 20 6, 6 -4 21 5, 22 -7 22 4.5
        -26 -4 36 6, -8 -6 37 5, 6 -8 37 4.5""",
    ),
    "pelvis": (
        0,
        """
        0 0 82 24, -4 24 84 17, -26 62 88 10, -40 88 90 7
        0 6 84 22, 10 40 100 12, 28 72 112 8, 40 84 112 8
        -82 74 40 13, -74 100 58 9, -44 116 84 8, 0 116 112 8, 34 96 118 8, 46 78 110 8
        -60 60 66 10, -30 84 86 7, 4 92 104 7
        -84 84 30 16, -70 66 44 15, -40 36 66 15, -10 10 78 20
        4 -2 66 12, 28 -14 40 9, 44 -26 12 10, 48 -30 4 10
        -8 -12 76 15, -30 -46 66 16, -34 -70 56 15, -10 -74 44 8, 24 -52 24 8, 44 -36 10 9
        0 0 -82 24, -4 24 -84 17, -26 62 -88 10, -40 88 -90 7
        0 6 -84 22, 10 40 -100 12, 28 72 -112 8, 40 84 -112 8
        -82 74 -40 13, -74 100 -58 9, -44 116 -84 8, 0 116 -112 8, 34 96 -118 8, 46 78 -110 8
        -60 60 -66 10, -30 84 -86 7, 4 92 -104 7
        -84 84 -30 16, -70 66 -44 15, -40 36 -66 15, -10 10 -78 20
        4 -2 -66 12, 28 -14 -40 9, 44 -26 -12 10, 48 -30 -4 10
        -8 -12 -76 15, -30 -46 -66 16, -34 -70 -56 15, -10 -74 -44 8, 24 -52 -24 8, 44 -36 -10 9
        -70 112 0 20, -84 92 0 26, -98 64 0 24, -100 34 0 17, -90 8 0 11, -76 -10 0 6
        -84 90 -26 16, -84 92 0 20, -84 90 26 16""",
    ),
    "thorax": (
        0,
        f"""
        -10 0 0 19, -8 60 0 19, -18 120 0 18, -40 180 0 17, -62 240 0 16, -72 300 0 15, -70 360 0 14, -54 415 0 13, -34 460 0 12, -22 520 0 12
        72 214 0 6, 88 228 0 10, 84 290 0 13, 70 350 0 14, 54 392 0 16, 48 404 0 14{RIBS}""",
    ),
    "clavicle": (
        0,
        """
        40 404 18 9, 44 414 50 6.5, 22 424 96 6, -6 432 140 7, -12 432 160 8
        40 404 -18 9, 44 414 -50 6.5, 22 424 -96 6, -6 432 -140 7, -12 432 -160 8
        -66 424 100 6, -40 436 140 7, -10 430 166 9
        -66 424 -100 6, -40 436 -140 7, -10 430 -166 9
        -84 430 62 6, -92 400 66 4, -100 340 84 4, -96 290 104 6, -84 320 130 6, -56 380 150 8, -26 404 158 13
        -84 430 -62 6, -92 400 -66 4, -100 340 -84 4, -96 290 -104 6, -84 320 -130 6, -56 380 -150 8, -26 404 -158 13""",
    ),
    "skull": (
        0,
        """
        -86 70 0 10, -78 84 0 46, -50 98 0 66, -10 106 0 74, 30 104 0 70, 62 92 0 56, 84 76 0 36, 92 66 0 14
        -30 40 0 44, 0 40 0 48, 30 44 0 46
        58 40 0 40, 84 30 0 26, 92 8 0 16, 88 -8 0 14
        64 40 30 12, 40 34 56 9, 10 38 64 8, -14 44 66 6
        64 40 -30 12, 40 34 -56 9, 10 38 -64 8, -14 44 -66 6
        0 14 52 8, -4 -20 50 9, 6 -38 46 9, 50 -50 30 9, 82 -50 10 11, 86 -50 0 12
        0 14 -52 8, -4 -20 -50 9, 6 -38 -46 9, 50 -50 -30 9, 82 -50 -10 11, 86 -50 0 12""",
    ),
    "humerus": (
        290,
        """
        0 0 -2 23, 0 0 -2 23
        0 4 14 10, 0 -8 14 17, 0 -40 10 14, 0 -100 8 11.5, 0 -180 4 10.5, 0 -240 2 12, 0 -268 0 16
        0 -272 -34 7, 0 -284 -22 12, 2 -290 0 12, 2 -288 18 13, 0 -276 30 7""",
    ),
    "ulna": (
        240,
        """
        -18 14 -4 9, -14 2 -4 13, -6 -18 -6 12, -2 -50 -8 9, 2 -120 -12 7, 4 -190 -14 6, 4 -232 -14 8, 4 -242 -14 5
        6 -12 14 9, 8 -24 14 10, 10 -50 12 8, 16 -110 16 7.5, 12 -180 12 8, 6 -222 8 12, 4 -240 8 14""",
    ),
    "hand": (
        0,
        """
        0 -12 -12 11, 0 -20 14 12
        0 -34 -14 11, 0 -36 14 12
        2 -44 18 7, 2 -92 22 6, 4 -100 23 7, 6 -136 24 5.5, 10 -158 24 5, 14 -172 24 4.5
        2 -44 6 7, 2 -94 7 6, 4 -102 7 7, 6 -144 7 5.5, 10 -170 7 5, 14 -184 7 4.5
        2 -44 -6 7, 2 -90 -8 6, 4 -98 -8 7, 6 -136 -9 5.5, 10 -158 -9 5, 14 -172 -9 4.5
        2 -42 -16 7, 2 -82 -22 5.5, 4 -90 -23 6, 6 -116 -24 5, 10 -134 -25 4.5, 12 -144 -25 4
        6 -28 22 7, 20 -58 36 7, 28 -82 44 7, 34 -108 50 5.5, 38 -120 53 4.5""",
    ),
    "scapula": (
        0,
        """
        0 0 0 16, -20 4 -14 10
        -20 24 -4 9, -40 32 -40 7, -60 20 -80 5
        -24 0 -18 8, -50 -50 -44 5, -66 -100 -60 6, -74 -60 -78 4, -74 0 -92 4, -66 30 -94 5, -50 30 -60 4
        14 14 -10 8, 26 8 -6 7
        -10 30 14 9, -16 32 -2 8""",
    ),
}
"""Length between the joints [mm], 0 where a bone has no second one, and tubes: points with radii [mm]."""

OF_BODY = (
    (r"femur|thigh", ("femur",)),
    (r"tibia|shank|fibula", ("tibia",)),
    (r"patella", ("patella",)),
    (r"talus", ("talus",)),
    (r"calcn|calcaneus|^foot|foot$", ("foot",)),
    (r"^toes?", ("toes",)),
    (r"pelvis", ("pelvis",)),
    (r"torso|thorax|trunk", ("thorax",)),
    (r"^head|skull", ("skull",)),
    (r"humerus|upper_?arm", ("humerus",)),
    (r"ulna_?radius_?hand|forearm_?hand", ("ulna", "hand")),
    (r"ulna|forearm", ("ulna",)),
    (r"^hand", ("hand",)),
    (r"scapula", ("scapula",)),
)
"""Which bones a body is, by its name."""


def bone(name: str, scale: float = 1.0, mirrored: bool = False) -> Mesh:
    """A bone of the right side, or of the left.

    Args:
        name: femur, tibia, patella, talus, foot, toes, pelvis, thorax, clavicle (with scapulae), skull, humerus, ulna
            (with the radius), hand, scapula.
        scale: times the size of a man of 1.75 m.
        mirrored: of the left side.
    """
    check_name("bone", name, BONES)
    return Mesh(_arrays(name), (scale, scale, -scale if mirrored else scale))


def bones_of(name: str) -> tuple[str, ...]:
    """The bones of a body with such a name; none for others."""
    plain = re.sub(r"^r_|^l_|_[rl]$", "", name.lower())
    return next((bones for pattern, bones in OF_BODY if re.search(pattern, plain)), ())


@cache
def _arrays(name: str) -> tuple[Array, np.ndarray]:
    """Vertices [m] and triangles."""
    vertices, triangles, count = [], [], 0
    for line in BONES[name][1].strip().splitlines():
        points = 1e-3 * np.array([[float(x) for x in point.split()] for point in line.split(",")])
        v, t = tube(points[:, :3], points[:, 3])
        vertices.append(v)
        triangles.append(t + count)
        count += len(v)
    return np.concatenate(vertices), np.concatenate(triangles)


def tube(points: Array, radii: Array) -> tuple[Array, np.ndarray]:
    """Vertices (n, 3) and triangles (m, 3) of a tube through points (k, 3), with radii (k,) and round ends."""
    if np.ptp(points, axis=0).max() < 1e-9:  # a ball
        points = points[[0, -1]] + np.array([[0, 1, 0], [0, -1, 0]]) * 1e-4
        radii = np.full(2, radii.max())
    keep = np.append(True, np.linalg.norm(np.diff(points, axis=0), axis=1) > 1e-9)
    p, r = points[keep], radii[keep]
    if len(p) > 2:  # a smooth line through the points
        from scipy.interpolate import PchipInterpolator

        s = np.append(0, np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1)))
        fine = np.interp(np.linspace(0, len(s) - 1, (len(s) - 1) * RINGS + 1), np.arange(len(s)), s)
        p, r = PchipInterpolator(s, p)(fine), PchipInterpolator(s, r)(fine)
    along = np.gradient(p, axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    angle = np.linspace(np.pi / 2, 0, ROUND, endpoint=False)
    first = [(p[0] - along[0] * r[0] * np.sin(a), r[0] * max(np.cos(a), 1e-3), along[0]) for a in angle]
    last = [
        (p[-1] + along[-1] * r[-1] * np.sin(a), r[-1] * max(np.cos(a), 1e-3), along[-1]) for a in angle[::-1]
    ]
    rings = [*first, *zip(p, r, along, strict=True), *last]
    across = np.cross(along[0], [1, 0, 0] if abs(along[0][0]) < 0.9 else [0, 0, 1])
    turn, out = np.linspace(0, 2 * np.pi, SIDES, endpoint=False), []
    for middle, radius, way in rings:
        across = across - (across @ way) * way
        across /= np.linalg.norm(across)
        other = np.cross(way, across)
        out.append(middle + radius * (np.outer(np.cos(turn), across) + np.outer(np.sin(turn), other)))
    n = len(out)
    place = np.arange(n * SIDES).reshape(n, SIDES)
    a, b = place[:-1], place[1:]
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    quads = [np.stack([a, d, c], -1).reshape(-1, 3), np.stack([a, c, b], -1).reshape(-1, 3)]
    return np.concatenate(out), np.concatenate(quads)
