"""Joint angles of a leg from markers: a free thigh, a knee that slides as it bends, an
ankle; noise, and markers that get lost.

The motion is made up, so that the answer is known: markers come from it with 2 mm of
noise, and the angles come back.
"""

import numpy as np

import condyle as cd

rng, t = np.random.default_rng(0), np.linspace(0, 2, 401)
leg = cd.System()
knee = cd.FunctionBased(
    coordinates=("knee",),
    angles=(None, None, lambda q: q),
    translations=(
        lambda q: 0.005 * np.sin(2 * q),
        lambda q: -0.41 + 0.02 * np.cos(q),
        None,
    ),
)
leg.add_body("thigh", mobilizer=cd.Free(), mass=9.3, inertia=(0.13, 0.03, 0.13))
leg.add_body("shank", "thigh", knee, mass=3.7, inertia=(0.05, 0.01, 0.05))
leg.add_body(
    "foot",
    "shank",
    cd.Universal(),
    X_PF=(0, -0.43, 0),
    mass=1.2,
    inertia=(0.002, 0.005, 0.005),
    coordinates=("inversion", "ankle"),
)

angle = 0.5 * np.sin(2 * np.pi * t)  # flexion of the hip, about z
motion = np.column_stack(
    [
        np.cos(angle / 2),
        0 * t,
        0 * t,
        np.sin(angle / 2),
        1.2 * t,
        0.9 + 0 * t,
        0 * t,
        -0.6 + 0.5 * np.cos(2 * np.pi * t),
        0.1 * np.sin(4 * t),
        0.2 * np.sin(2 * np.pi * t),
    ]
)
markers = {
    f"{body}{i}": (body, station)
    for body, places in {
        "thigh": (
            (0.08, -0.05, 0.1),
            (0.05, -0.2, 0.12),
            (-0.07, -0.3, 0.1),
            (0.06, -0.38, -0.05),
        ),
        "shank": ((0.05, -0.05, 0.06), (-0.04, -0.2, 0.05), (0.05, -0.35, -0.04)),
        "foot": ((-0.06, -0.02, 0.0), (0.14, -0.03, 0.04), (0.12, -0.03, -0.04)),
    }.items()
    for i, station in enumerate(places)
}
seen = {
    name: leg.station_position(motion, *place) + 0.002 * rng.normal(size=(401, 3))
    for name, place in markers.items()
}
seen["shank1"][100:180] = np.nan  # behind the other leg
seen["foot0"][300:340] = np.nan

goals = [
    cd.goals.Station(*place, seen[name], name=name) for name, place in markers.items()
]
frames = cd.assemble_frames(leg, leg.state(q=motion[0]), goals, t=t)
assert frames.status == "finished", frames.status
error = np.degrees(np.abs(frames.q[:, 7:] - motion[:, 7:]))
print(
    f"{len(frames)} frames, {frames.iterations.mean():.1f} iterations each; "
    f"residual {1e3 * frames.rms.mean():.2f} mm rms"
)
largest = zip(leg.coordinates[7:], error.max(axis=0))
print("largest errors [deg]: " + ", ".join(f"{name} {x:.1f}" for name, x in largest))
assert frames.rms.mean() < 0.0035  # three axes of 2 mm, less what the fit takes up
assert error.max() < 8 and error.mean() < 1
assert np.isnan(frames.residual_table()["shank1"][100:180]).all()
