"""A small spatial subject made up: a pelvis that floats, a trunk, two legs with ball, pin and pin; its walk."""

import numpy as np

import condyle as cd

LANDMARKS = {
    "pelvis": {"R.ASIS": (0.1, 0.05, 0.13), "L.ASIS": (0.1, 0.05, -0.13), "V.Sacral": (-0.1, 0.05, 0.0)},
    "torso": {
        "Sternum": (0.1, 0.35, 0.0),
        "C7": (-0.08, 0.45, 0.0),
        "T10": (-0.1, 0.2, 0.0),
        "Xiphoid": (0.11, 0.2, 0.03),
    },
    "femur": {
        "Thigh.Upper": (0.05, -0.15, 0.08),
        "Thigh.Front": (0.08, -0.25, 0.02),
        "Knee.Lat": (0.0, -0.4, 0.055),
        "Knee.Med": (0.0, -0.4, -0.055),
    },
    "tibia": {
        "Shank.Upper": (0.04, -0.12, 0.05),
        "Shank.Front": (0.05, -0.25, 0.0),
        "Ankle.Lat": (0.0, -0.4, 0.045),
        "Ankle.Med": (0.0, -0.4, -0.04),
    },
    "foot": {"Heel": (-0.06, -0.05, 0.0), "Toe.Lat": (0.14, -0.06, 0.05), "Toe.Med": (0.15, -0.06, -0.03)},
}


def generic(sizes=None, mass=1.0, order=("z", "x", "y"), knee=0.0, ankle=None):
    """The model; sizes: {segment: (3,)}; order: of the axes of hips and back;
    knee: where it is by default [rad]; ankle: options of its coordinates."""
    s = {"pelvis": 1.0, "torso": 1.0, "femur": 1.0, "tibia": 1.0, "foot": 1.0} | (sizes or {})
    s = {k: np.ones(3) * v for k, v in s.items()}
    system = cd.System(gravity=(0, -9.81, 0))
    free = cd.FunctionBased(
        ("tilt", "list", "turn", "tx", "ty", "tz"),
        angles=(lambda a, b, c, x, y, z: a, lambda a, b, c, x, y, z: b, lambda a, b, c, x, y, z: c),
        translations=(lambda a, b, c, x, y, z: x, lambda a, b, c, x, y, z: y, lambda a, b, c, x, y, z: z),
        axes=("z", "x", "y"),
    )
    body = lambda m, I: {"mass": m * mass, "inertia": tuple(np.array(I) * mass)}
    system.add_body("pelvis", mobilizer=free, **body(11, (0.1, 0.09, 0.06)))
    three = lambda n: cd.FunctionBased(
        (f"{n}_flexion", f"{n}_adduction", f"{n}_rotation"),
        angles=(lambda a, b, c: a, lambda a, b, c: b, lambda a, b, c: c),
        axes=order,
    )
    system.add_body(
        "torso",
        system.body("pelvis"),
        three("lumbar"),
        X_PF=s["pelvis"] * (-0.1, 0.08, 0),
        com=s["torso"] * (0.0, 0.28, 0.0),
        **body(34, (1.4, 0.7, 1.4)),
    )
    for side, z in (("r", 1), ("l", -1)):
        system.add_body(
            f"femur_{side}",
            system.body("pelvis"),
            three(f"hip_{side}"),
            X_PF=s["pelvis"] * (-0.07, -0.066, 0.083 * z),
            com=s["femur"] * (0, -0.17, 0),
            **body(9, (0.14, 0.035, 0.14)),
        )
        system.add_body(
            f"tibia_{side}",
            system.body(f"femur_{side}"),
            cd.Pin(),
            X_PF=s["femur"] * (0, -0.4, 0),
            com=s["tibia"] * (0, -0.19, 0),
            coordinates=cd.Coordinate(f"knee_{side}", default=knee),
            **body(3.6, (0.05, 0.005, 0.05)),
        )
        system.add_body(
            f"foot_{side}",
            system.body(f"tibia_{side}"),
            cd.Pin(),
            X_PF=s["tibia"] * (0, -0.41, 0),
            com=s["foot"] * (0.05, -0.03, 0),
            coordinates=cd.Coordinate(f"ankle_{side}", **(ankle or {})),
            **body(1.4, (0.001, 0.005, 0.005)),
        )
    for segment, places in LANDMARKS.items():
        for name, p in places.items():
            p = s[segment] * p
            if segment in ("pelvis", "torso"):
                system.add_marker(name, segment, p)
            else:
                system.add_marker(f"R.{name}", f"{segment}_r", p)
                system.add_marker(f"L.{name}", f"{segment}_l", p * (1, 1, -1))
    return system


def walk(system, t, speed=1.2):
    """Coordinates of a walk, shape (T, nq)."""
    q, n, w = np.zeros((len(t), system.nq)), list(system.coordinates), 2 * np.pi * t / 1.1
    put = lambda name, x: q.__setitem__((slice(None), n.index(name)), x)
    put("tx", speed * t)
    put("ty", 0.93 + 0.02 * np.cos(2 * w))
    put("tz", 0.02 * np.sin(w))
    put("list", 0.06 * np.sin(w))
    put("turn", 0.08 * np.cos(w))
    put("lumbar_rotation", -0.1 * np.cos(w))
    put("lumbar_flexion", -0.05 + 0.03 * np.cos(2 * w))
    for side, sign in (("r", 1), ("l", -1)):
        put(f"hip_{side}_flexion", 0.15 + 0.4 * sign * np.sin(w))
        put(f"hip_{side}_adduction", 0.06 * sign * np.cos(w))
        put(f"hip_{side}_rotation", 0.08 * sign * np.sin(w))
        put(f"knee_{side}", -0.35 - 0.3 * sign * np.cos(w))
        put(f"ankle_{side}", 0.05 + 0.2 * sign * np.sin(2 * w))
    return q


def seen(system, t, q, rng, placement=0.005, skin=0.004, static=False):
    """Markers of a recording: worn stations stay for one rng seed."""
    worn = np.random.default_rng(7)
    X = system.body_poses(q)
    columns = []
    for n in system.markers:
        m = system.marker(n)
        p = np.array(m.station) + worn.normal(size=3) * (
            4 * placement if "Thigh" in n or "Shank" in n else placement
        )
        move = np.outer(np.sin(2 * np.pi * t / 1.1 + rng.uniform(0, 6)), rng.normal(size=3)) * (
            0 if static else skin
        )
        b = system.body(m.body).index
        columns.append(X.p[:, b] + np.einsum("tij,tj->ti", X.R[:, b], p + move))
    y = np.stack(columns, axis=1)
    return cd.Markers(t, system.markers, y + rng.normal(scale=3e-4, size=y.shape))


SIZES = {"pelvis": 1.06, "torso": 0.95, "femur": 1.08, "tibia": 1.04, "foot": 1.03}


def recording(sizes=SIZES, seed=0, trials=1, frames=70, **options):
    """The truth, its static trial, trials and their coordinates."""
    true, rng = generic(sizes), np.random.default_rng(seed)
    t = np.arange(frames) / 60
    q = walk(true, t)
    still = np.tile(true.defaults()[0], (6, 1))
    still[:, list(true.coordinates).index("ty")] = 0.95
    static = seen(true, np.arange(6) / 60, still, rng, static=True, **options)
    return true, static, [seen(true, t, q, rng, **options) for _ in range(trials)], q
