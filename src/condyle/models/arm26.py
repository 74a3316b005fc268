"""The right arm with two joints and six muscles.

Numbers of OpenSim's model Arm26, which reduces the upper limb of Holzbaur, Murray and Delp (2005), A model of
the upper extremity for simulating musculoskeletal surgery and analyzing neuromuscular control, Annals of
Biomedical Engineering 33, 829-840; by J. Reinbolt, A. Seth, A. Habib, S. Hamner. Creative Commons Attribution
3.0. Names are OpenSim's.

Every pose within the ranges has all paths. TRIlong touches the cylinder TRIlongglen from a shoulder elevation
of 0.82 rad on, where its length jumps by 2.2 mm as it comes over the end of the cylinder, and the ellipsoid
TRIlonghh too from 1.09 to 2.5 rad. At 1.99 rad it slips to the other side of the ellipsoid: it is 2 mm
shorter there, and its moment arm goes from -10 to +17 mm.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from condyle.mobilizers import Pin
from condyle.models.published import THELEN, known_by, rows_of_text
from condyle.muscles import Muscle, Thelen2003
from condyle.paths import Cylinder, Ellipsoid, Path, Wrap
from condyle.spatial import Transform, rotation_from_euler
from condyle.system.system import System
from condyle.tree.body import Coordinate

GRAVITY = (0.0, -9.8066, 0.0)
BASE = np.array([0.0, 0.8, 0.0])
"""Where OpenSim's body "base", which is welded to ground, has its origin [m]."""

# mass [kg], mass center [m], inertia about it [kg m^2]
BODIES = {
    "r_humerus": (1.864572, (0.0, -0.180496, 0.0), (0.01481, 0.004551, 0.013193)),
    "r_ulna_radius_hand": (1.534315, (0.0, -0.181479, 0.0), (0.019281, 0.001571, 0.020062)),
}

# body: parent, place in it [m], axis, coordinate, range [rad]
JOINTS = {
    "r_humerus": (
        "base",
        (-0.017545, -0.007, 0.17),
        (-0.05889802, 0.0023, 0.99826136),
        "r_shoulder_elev",
        (-1.57079633, 3.14159265),
    ),
    "r_ulna_radius_hand": (
        "r_humerus",
        (0.0061, -0.2904, -0.0123),
        (0.04940001, 0.03660001, 0.99810825),
        "r_elbow_flex",
        (0.0, 2.26892803),
    ),
}

SURFACES = {  # body, place [m], angles x-y-z [rad], surface
    "TRIlongglen": (
        "base",
        (-0.043905, -0.0039, 0.1478),
        (1.37532, -0.294612, 2.43596),
        Cylinder(0.003, 0.03, quadrant="x"),
    ),
    "TRIlonghh": (
        "r_humerus",
        (-0.0078, -0.0041, -0.0014),
        (3.00162, -0.853466, 2.57419),
        Ellipsoid((0.035, 0.02, 0.02), quadrant="z"),
    ),
    "BIClonghh": (
        "r_humerus",
        (0.0033, 0.0073, 0.0003),
        (-2.00434, -1.00164, 0.975465),
        Ellipsoid((0.025, 0.02, 0.02), quadrant="-y"),
    ),
    "TRI": (
        "r_humerus",
        (0.0028, -0.2919, -0.0069),
        (-0.14015, -0.00628319, 0.154985),
        Cylinder(0.016, 0.05, quadrant="all"),
    ),
}

MUSCLES = """
    TRIlong   798.52   0.134   0.143  0.20943951
    TRIlat     624.3  0.1138   0.098  0.15707963
    TRImed     624.3  0.1138  0.0908  0.15707963
    BIClong    624.3  0.1157  0.2723         0.0
    BICshort  435.56  0.1321  0.1923         0.0
    BRA       987.26  0.0858  0.0535         0.0
"""
"""Muscle, F_0 [N], l_0 [m], l_S [m], alpha_0 [rad]."""
POINTS = """
    TRIlong   base                 -0.05365  -0.01373   0.14723
    TRIlong   r_humerus            -0.02714  -0.11441  -0.00664
    TRIlong   r_humerus            -0.03184  -0.22637  -0.01217
    TRIlong   r_humerus            -0.01743  -0.26757  -0.01208
    TRIlong   r_ulna_radius_hand    -0.0219   0.01046  -0.00078
    TRIlat    r_humerus            -0.00599  -0.12646   0.00428
    TRIlat    r_humerus            -0.02344  -0.14528   0.00928
    TRIlat    r_humerus            -0.03184  -0.22637  -0.01217
    TRIlat    r_humerus            -0.01743  -0.26757  -0.01208
    TRIlat    r_ulna_radius_hand    -0.0219   0.01046  -0.00078
    TRImed    r_humerus            -0.00838  -0.13695  -0.00906
    TRImed    r_humerus            -0.02601  -0.15139   -0.0108
    TRImed    r_humerus            -0.03184  -0.22637  -0.01217
    TRImed    r_humerus            -0.01743  -0.26757  -0.01208
    TRImed    r_ulna_radius_hand    -0.0219   0.01046  -0.00078
    BIClong   base                -0.039235   0.00347   0.14795
    BIClong   base                -0.028945   0.01391   0.15639
    BIClong   r_humerus             0.02131   0.01793   0.01028
    BIClong   r_humerus             0.02378  -0.00511   0.01201
    BIClong   r_humerus             0.01345  -0.02827   0.00136
    BIClong   r_humerus             0.01068  -0.07736  -0.00165
    BIClong   r_humerus             0.01703  -0.12125   0.00024
    BIClong   r_humerus              0.0228   -0.1754   -0.0063
    BIClong   r_ulna_radius_hand    0.00751  -0.04839   0.02179
    BICshort  base                 0.004675  -0.01231   0.13475
    BICshort  base                -0.007075  -0.04004   0.14507
    BICshort  r_humerus             0.01117  -0.07576  -0.01101
    BICshort  r_humerus             0.01703  -0.12125  -0.01079
    BICshort  r_humerus              0.0228   -0.1754   -0.0063
    BICshort  r_ulna_radius_hand    0.00751  -0.04839   0.02179
    BRA       r_humerus              0.0068   -0.1739   -0.0036
    BRA       r_ulna_radius_hand    -0.0032   -0.0239    0.0009
"""
"""Muscle, body, place [m], from origin to insertion."""
WRAPS: dict[str, tuple[tuple[str, tuple[int, int] | None], ...]] = {
    "TRIlong": (("TRI", None), ("TRIlonghh", None), ("TRIlongglen", None)),
    "TRIlat": (("TRI", None),),
    "TRImed": (("TRI", None),),
    "BIClong": (("BIClonghh", (1, 2)),),
    "BRA": (("TRI", None),),
}
"""Surfaces of each muscle, and the points between which it may touch them; all by default."""


def arm26(
    muscle: type[Muscle] | None = Thelen2003,
    *,
    parameters: str | Iterable[str] | None = None,
    **options: object,
) -> System:
    """The right arm: shoulder elevation, elbow flexion, six muscles.

    Args:
        muscle: their class, as in OpenSim `cd.muscles.Thelen2003`, or another with curves of its own; None
            leaves them out.
        parameters: numbers that become Parameters, by names and patterns such as "*.mass" or
            "BIClong.tendon_slack_length"; "all" for every number: see `System.copy`.
        options: for the muscles, such as tendon="rigid" or activation_dynamics=False.

    Returns:
        a System, y up, not frozen: forces may be added. Names are those of OpenSim's model; its body "base"
            is ground here.
    """
    system = System(gravity=GRAVITY)
    for body, (parent, place, axis, coordinate, between) in JOINTS.items():
        mass, com, inertia = BODIES[body]
        on, p = _on(parent, place)
        system.add_body(
            body,
            on,
            Pin(axis=axis),
            X_PF=p,
            mass=mass,
            com=com,
            inertia=inertia,
            coordinates=(Coordinate(coordinate, range=between),),
        )
    if muscle is not None:
        numbers = known_by(muscle, THELEN) | options
        for name, *own in rows_of_text(MUSCLES):
            system.add_force(name, muscle(path(name), *own, **numbers))
    return system if parameters is None else system.copy(parameters=parameters)


def path(muscle: str) -> Path:
    """The path of a muscle."""
    surfaces = []
    for name, between in WRAPS.get(muscle, ()):
        on, place, angles, surface = SURFACES[name]
        body, p_BS = _on(on, place)
        surfaces.append(
            Wrap(surface, body, Transform(rotation_from_euler(angles, "xyz"), p_BS), between, name)
        )
    return Path([_on(body, p) for name, body, *p in rows_of_text(POINTS) if name == muscle], surfaces)


def _on(body: str, p: Any) -> tuple[str, np.ndarray]:
    """A point of OpenSim's bodies on ours."""
    return ("ground", BASE + p) if body == "base" else (body, np.array(p))
