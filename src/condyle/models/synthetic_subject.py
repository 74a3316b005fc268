"""A subject who does not exist, and the recording of a walk: for examples and tests whose truth is known.

The generic model has a pelvis, a torso and two legs that move in the sagittal plane, with 18 muscles and 29
markers. Lengths and masses are near those of Winter (2009), Biomechanics and Motor Control of Human Movement;
muscle paths and strengths are of the size found in the literature and are made for demonstrations. The
subject is that model with each body times a factor, its own mass, and markers that were not stuck exactly
where the model has them.

The walk is periodic. Angles are trigonometric series through ten values per cycle that resemble normal gait,
so speeds and accelerations are exact. With F and M the force and the moment about its origin that the pelvis
P would need, the ground pushes at the height zero with

    F at p,     p_x = P_x + (M_z - P_y F_x) / F_y                                                          (1)

shared by the feet: a part s of F at p + (1 - s) d under the right, the rest at p - s d under the left, where
d is from the left to the right foot. So nothing is left over for the pelvis: residuals vanish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.io.markers import Markers
from condyle.mobilizers import Pin, Planar
from condyle.models.published import rows_of_text
from condyle.muscles import Thelen2003
from condyle.paths import Path
from condyle.records import dataclass
from condyle.system.system import System
from condyle.table import Table
from condyle.tree.body import Coordinate

MASS = 72.0
"""Of the generic model [kg]."""
FACTORS = {
    "pelvis": 1.06,
    "torso": 1.03,
    "femur_r": 1.05,
    "femur_l": 1.05,
    "tibia_r": 0.97,
    "tibia_l": 0.97,
    "foot_r": 1.08,
    "foot_l": 1.08,
}
"""The subject's sizes over those of the generic model."""
HIP, LUMBAR, KNEE, ANKLE = (-0.06, -0.07, 0.085), (-0.09, 0.08, 0.0), (0.0, -0.43, 0.0), (0.0, -0.43, 0.0)
"""Where joints are on their parents [m], right side."""

# share of the body mass, mass center [m], radii of gyration [m]
BODIES = {
    "pelvis": (0.142, (-0.07, 0.0, 0.0), (0.1, 0.1, 0.08)),
    "torso": (0.536, (0.02, 0.3, 0.0), (0.2, 0.11, 0.2)),
    "femur": (0.1, (0.0, -0.186, 0.0), (0.139, 0.06, 0.139)),
    "tibia": (0.0465, (0.0, -0.186, 0.0), (0.13, 0.04, 0.13)),
    "foot": (0.0145, (0.05, -0.04, 0.0), (0.03, 0.07, 0.07)),
}

MARKERS = """
    V.Sacral      pelvis  -0.16   0.02    0.0
    .ASIS         pelvis   0.02   0.02   0.12
    Sternum       torso    0.14   0.33    0.0
    Top.Head      torso    0.05   0.72    0.0
    .Acromion     torso     0.0   0.42   0.17
    .Thigh.Upper  femur    0.02  -0.15    0.1
    .Thigh.Front  femur    0.09  -0.25   0.02
    .Knee.Lat     femur     0.0  -0.42   0.06
    .Knee.Med     femur     0.0  -0.42  -0.05
    .Shank.Upper  tibia    0.02  -0.12   0.06
    .Shank.Front  tibia    0.05  -0.22    0.0
    .Ankle.Lat    tibia   -0.01  -0.42   0.05
    .Ankle.Med    tibia     0.0  -0.41  -0.04
    .Heel         foot    -0.06  -0.04    0.0
    .Midfoot      foot     0.08  -0.03   0.04
    .Toe          foot     0.16  -0.06    0.0
"""
"""Marker, body, place [m], right side; those with a dot have a left one."""
MUSCLES = """
    iliopsoas   2900.0   0.11  0.85  0.14
    glut_max    2200.0   0.15   1.0   0.0
    hamstrings  2700.0   0.11  1.05   0.0
    bifemsh      820.0   0.17   1.1   0.3
    rect_fem    1200.0  0.115   0.9   0.2
    vasti       5200.0    0.1  0.75   0.1
    gastroc     2500.0  0.065   1.0  0.25
    soleus      5600.0  0.055   1.0   0.4
    tib_ant     1400.0    0.1   0.9   0.1
"""
"""Muscle, max. isometric force [N], optimal fiber length [m], its share at the default pose, pennation
[rad]."""
POINTS = """
    iliopsoas   pelvis  -0.08    0.08  0.04
    iliopsoas   pelvis  -0.01   -0.05  0.08
    iliopsoas   femur     0.0   -0.06   0.0
    glut_max    pelvis  -0.15     0.0  0.07
    glut_max    femur   -0.03   -0.13  0.03
    hamstrings  pelvis  -0.12   -0.13  0.07
    hamstrings  tibia   -0.03   -0.05   0.0
    bifemsh     femur     0.0   -0.21  0.02
    bifemsh     tibia   -0.03   -0.06  0.03
    rect_fem    pelvis  -0.02   -0.04  0.09
    rect_fem    femur   0.055    -0.4   0.0
    rect_fem    tibia   0.045   -0.06   0.0
    vasti       femur    0.03    -0.2   0.0
    vasti       femur   0.055    -0.4   0.0
    vasti       tibia   0.045   -0.06   0.0
    gastroc     femur   -0.02    -0.4   0.0
    gastroc     foot    -0.05   -0.04   0.0
    soleus      tibia   -0.02   -0.15   0.0
    soleus      foot    -0.05   -0.04   0.0
    tib_ant     tibia    0.02   -0.16   0.0
    tib_ant     tibia   0.035   -0.39   0.0
    tib_ant     foot     0.08  -0.045   0.0
"""
"""Muscle, body, place [m], right side, from origin to insertion."""

RANGES = {"hip_flexion": (-0.6, 2.0), "knee_angle": (-2.2, 0.15), "ankle_angle": (-0.9, 0.7)}
CYCLE, SPEED = 1.1, 1.25
"""Of the walk: duration of a cycle [s], and speed [m/s]."""
ANGLES = {
    "hip_flexion": (30, 25, 17, 8, -2, -9, -3, 12, 26, 31),
    "knee_angle": (-5, -15, -16, -10, -6, -10, -34, -58, -48, -18),
    "ankle_angle": (0, -4, 3, 7, 9, 8, -12, -10, 0, 2),
}
"""At every tenth of a cycle that begins with the right heel [deg]."""
TRUNK = {
    "pelvis_tilt": (-0.08, (-0.0029,), (0.0101,)),
    "pelvis_tx": (0.0, (-0.0055, -0.0009), (0.0146, 0.0002)),
    "pelvis_ty": (1.0132, (0.0008, 0.0002), (-0.0027, 0.0036)),
    "lumbar_extension": (0.03, (0.0045,), (0.0079,)),
}
"""Mean, and cosines and sines of twice and four times the frequency of the cycle [rad, m]: fitted so that the
ground pushes under the stance foot, from heel to toe, and that the foot does not move, to 2 cm."""
DOUBLE = 0.12
"""The share of a cycle over which load goes from one foot to the other."""


def generic_subject(factors: Mapping[str, float] | None = None, mass: float = MASS) -> System:
    """The walker of `synthetic_subject`: pelvis, torso, two legs, 18 muscles, markers.

    Args:
        factors: {body: factor of its lengths}; 1 where none is given. Muscles keep their
            strength; their fibers and tendons are longer as their paths are in the default pose.
        mass: of the whole body [kg], shared as in the generic model.

    Returns:
        a System with the coordinates pelvis_tilt, pelvis_tx, pelvis_ty, lumbar_extension, and hip_flexion,
        knee_angle, ankle_angle of both legs, _r and _l [rad, m].
    """
    scale = dict.fromkeys(FACTORS, 1.0) | dict(factors or {})
    system = System(gravity=(0.0, -9.81, 0.0))

    def add(name: str, parent: str, at: Array, mobilizer: Pin | Planar, *coordinates: Coordinate) -> None:
        share, com, radii = BODIES[name.split("_")[0]]
        s = scale[name]
        system.add_body(
            name,
            parent,
            mobilizer,
            X_PF=at * (scale[parent] if parent != "ground" else 1.0),
            mass=share * mass,
            com=s * np.array(com),
            inertia=share * mass * (s * np.array(radii)) ** 2,
            coordinates=coordinates,
        )

    add(
        "pelvis",
        "ground",
        np.zeros(3),
        Planar(),
        Coordinate("pelvis_tilt", 0.0, (-1.5, 1.5)),
        Coordinate("pelvis_tx", 0.0, (-5.0, 5.0)),
        Coordinate("pelvis_ty", 0.95, (-1.0, 2.0)),
    )
    add("torso", "pelvis", np.array(LUMBAR), Pin(), Coordinate("lumbar_extension", 0.0, (-1.5, 1.5)))
    for side, z in (("r", 1.0), ("l", -1.0)):
        parent = "pelvis"
        for body, at, joint in (
            ("femur", HIP, "hip_flexion"),
            ("tibia", KNEE, "knee_angle"),
            ("foot", ANKLE, "ankle_angle"),
        ):
            add(
                f"{body}_{side}",
                parent,
                np.array(at) * (1, 1, z),
                Pin(),
                Coordinate(f"{joint}_{side}", 0.0, RANGES[joint]),
            )
            parent = f"{body}_{side}"
    for name, body, *place in rows_of_text(MARKERS):
        for side in ("R", "L") if name.startswith(".") else ("",):
            on = _sided(body, side.lower())
            system.add_marker(f"{side}{name}", on, scale[on] * _mirrored(place, side.lower()))
    for side in ("r", "l"):
        for name, *muscle in rows_of_text(MUSCLES):
            points = [(_sided(body, side), p) for own, body, *p in rows_of_text(POINTS) if own == name]
            _add_muscle(system, f"{name}_{side}", side, scale, points, *muscle)
    return system


def _sided(body: str, side: str) -> str:
    return body if body in ("pelvis", "torso") else f"{body}_{side}"


def _mirrored(place: Sequence[float], side: str) -> Array:
    return np.array(place) * (1, 1, -1 if side == "l" else 1)


def _add_muscle(
    system: System,
    name: str,
    side: str,
    scale: Mapping[str, float],
    points: list[tuple[str, list[float]]],
    strength: float,
    fiber: float,
    share: float,
    pennation: float,
) -> None:
    """A muscle whose fiber has a share of its optimal length in the default pose of the generic model; both
    fiber and tendon grow as the path does."""
    on = [body for body, _ in points]
    generic = [_mirrored(place, side) for _, place in points]
    scaled = [scale[body] * place for body, place in zip(on, generic, strict=True)]
    length, new = (_length(system, on, places, s) for places, s in ((generic, {}), (scaled, scale)))
    tendon = length - share * fiber * np.cos(np.arcsin(min(1.0, np.sin(pennation) / share)))
    system.add_force(
        name,
        Thelen2003(
            Path(list(zip(on, scaled, strict=True))),
            max_isometric_force=strength,
            optimal_fiber_length=fiber * new / length,
            tendon_slack_length=tendon * new / length,
            pennation_angle=pennation,
        ),
    )


def _length(system: System, on: list[str], places: list[Array], scale: Mapping[str, float]) -> float:
    """Of a path in the default pose, where all bodies have the axes of ground."""

    def origin(name: str) -> Array:
        where = {"pelvis": np.zeros(3), "torso": np.array(LUMBAR) * scale.get("pelvis", 1.0)}
        if name in where:
            return where[name]
        body, side = name.split("_")
        chain = (("pelvis", HIP), (f"femur_{side}", KNEE), (f"tibia_{side}", ANKLE))
        upto = {"femur": 1, "tibia": 2, "foot": 3}[body]
        return sum((scale.get(parent, 1.0) * _mirrored(at, side) for parent, at in chain[:upto]), np.zeros(3))

    points = [origin(body) + place for body, place in zip(on, places, strict=True)]
    return float(sum(np.linalg.norm(b - a) for a, b in pairwise(points)))


@dataclass(frozen=True, eq=False)
class Subject:
    """A subject who does not exist, from `cd.models.synthetic_subject`.

    Attributes:
        generic: the model to begin with.
        system: the subject as it is: the truth.
        factors: its sizes over those of the generic model, by body.
        mass: [kg].
        static: markers while it stands in the default pose.
        walk: markers while it walks, with noise.
        ground_reactions: forces [N] and points [m] under both feet while it walks: columns r_force_x ..,
            r_point_x .., l_force_x .., l_point_x ...
        motion: coordinates of the walk: the truth.
        u: speeds of the walk, shape (T, nu).
        udot: accelerations, shape (T, nu).
    """

    generic: System
    system: System
    factors: dict[str, float]
    mass: float
    static: Markers
    walk: Markers
    ground_reactions: Table
    motion: Table
    u: NDArray[np.float64]
    udot: NDArray[np.float64]

    def save(self, folder: str | FilePath) -> None:
        """Write the recording as a lab would have it, into a folder that exists: static.trc, walk.trc,
        ground_reactions.mot and OpenSim's ExternalLoads, ground_reactions.xml."""
        folder = FilePath(folder)
        self.static.save(folder / "static.trc")
        self.walk.save(folder / "walk.trc")
        self.ground_reactions.save(folder / "ground_reactions.mot")
        loads = "".join(LOAD.format(side=side) for side in "rl")
        (folder / "ground_reactions.xml").write_text(LOADS.format(loads=loads), encoding="utf-8")


LOADS = """<?xml version="1.0" encoding="UTF-8" ?>
<OpenSimDocument Version="40000"><ExternalLoads name="walk"><objects>{loads}
</objects><datafile>ground_reactions.mot</datafile></ExternalLoads></OpenSimDocument>
"""
LOAD = """
<ExternalForce name="{side}"><applied_to_body>foot_{side}</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body>
<point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>{side}_force_</force_identifier><point_identifier>{side}_point_</point_identifier>
</ExternalForce>"""


def synthetic_subject(
    *,
    noise: float = 0.001,
    placement: float = 0.003,
    mass: float = 68.0,
    duration: float = 1.5,
    rate: float = 100.0,
    seed: int = 0,
) -> Subject:
    """A subject made up, with a recording of a walk: markers with noise, and ground reactions that fit the
    motion exactly.

    Args:
        noise: standard deviation of each number of a marker's position [m].
        placement: of markers from where the model has them, on each axis of their body [m].
        mass: of the subject [kg].
        duration: of the recording [s].
        rate: frames per second.
        seed: of what is random.

    Returns:
        the generic model, the recording, and the truth.
    """
    rng = np.random.default_rng(seed)
    system = generic_subject(FACTORS, mass)
    worn = {
        name: np.array(system.marker(name).station) + rng.normal(scale=placement, size=3)
        for name in system.markers
    }

    def seen(t: Array, q: Array) -> Markers:
        places = [system.station_position(q, system.marker(name).body, worn[name]) for name in system.markers]
        positions = np.stack(places, axis=1)
        positions += rng.normal(scale=noise, size=positions.shape)
        return Markers(t, system.markers, 1000 * positions, units="mm", rate=rate)

    still = np.arange(round(0.5 * rate)) / rate
    static = seen(still, np.tile(system.defaults()[0], (len(still), 1)))
    t = np.arange(round(duration * rate) + 1) / rate
    q, u, udot = _walk(system, t)
    units = ["m" if name in ("pelvis_tx", "pelvis_ty") else "rad" for name in system.coordinates]
    return Subject(
        generic_subject(),
        system,
        dict(FACTORS),
        mass,
        static,
        seen(t, q),
        _ground_reactions(system, t, q, u, udot),
        Table(t, system.coordinates, q, units),
        u,
        udot,
    )


# ---- the walk ----------------------------------------------------------------------------------------------


def _walk(system: System, t: Array) -> tuple[Array, Array, Array]:
    """q, u and udot of the walk, each (T, n): here u is the rate of q."""
    out = np.zeros((3, len(t), system.nq))
    for k, name in enumerate(system.coordinates):
        if name in TRUNK:
            out[:, :, k] = _harmonics(TRUNK[name], t)
            if name == "pelvis_tx":
                out[0, :, k] += SPEED * t
                out[1, :, k] += SPEED
        else:
            joint, side = name[:-2], name[-1]
            out[:, :, k] = _series(np.radians(ANGLES[joint]), t / CYCLE + (0.5 if side == "l" else 0.0))
    return out[0], out[1], out[2]


def _series(values: Array, phase: Array) -> Array:
    """The trigonometric series through even samples of a cycle, and two derivatives by time, (3, T)."""
    c = np.fft.rfft(values) / len(values)
    c[1:] *= 2.0
    if len(values) % 2 == 0:
        c[-1] /= 2.0
    k = 2j * np.pi * np.arange(len(c))
    waves = np.exp(k[:, None] * phase)
    return np.stack([((k / CYCLE) ** n * c @ waves).real for n in range(3)])


def _harmonics(series: tuple[float, tuple[float, ...], tuple[float, ...]], t: Array) -> Array:
    """mean + sum of cosines and sines of twice, four times ... the frequency, and derivatives, (3, T)."""
    mean, cosines, sines = series
    out = np.zeros((3, len(t)))
    out[0] = mean
    for k, (a, b) in enumerate(zip(cosines, sines, strict=True), 1):
        w = 4 * np.pi * k / CYCLE
        c, s = np.cos(w * t), np.sin(w * t)
        out += np.stack([a * c + b * s, w * (b * c - a * s), -w * w * (a * c + b * s)])
    return out


def _share(phase: Array) -> Array:
    """The right foot's share of the load."""

    def rise(x: Array) -> Array:
        x = np.clip(x, 0.0, 1.0)
        return x**3 * (10 - 15 * x + 6 * x**2)

    phase = phase % 1.0
    return rise(phase / DOUBLE) - rise((phase - 0.5) / DOUBLE)


def _ground_reactions(system: System, t: Array, q: Array, u: Array, udot: Array) -> Table:
    """Forces and points under both feet: (1)."""
    tau = system.inverse_dynamics(q, u, udot, disabled=system.muscles)
    M, F_x, F_y = tau[:, :3].T  # the pelvis turns, then moves along x and y
    P = q[:, 1:3]
    p = P[:, 0] + (M - P[:, 1] * F_x) / F_y
    s = _share(t / CYCLE)
    feet = {side: system.station_position(q, f"foot_{side}", (0.04, 0.0, 0.0)) for side in "rl"}
    d = feet["r"][:, 0] - feet["l"][:, 0]
    columns = {}
    for side, share, x in (("r", s, p + (1 - s) * d), ("l", 1 - s, p - s * d)):
        for axis, force in zip("xyz", (share * F_x, share * F_y, 0 * t), strict=True):
            columns[f"{side}_force_{axis}"] = force
        for axis, point in zip("xyz", (x, 0 * t, feet[side][:, 2]), strict=True):
            columns[f"{side}_point_{axis}"] = point
    return Table(
        t,
        list(columns),
        np.stack(list(columns.values()), axis=1),
        ["N" if "force" in name else "m" for name in columns],
    )
