"""A leg turns a crank, as on a bicycle: a loop of thigh, shank and crank, the flexors and
extensors of two joints, a turn in a second that repeats itself and gives 60 J."""

import numpy as np

import condyle as cd

CRANK, THIGH, SHANK, WORK = 0.17, 0.43, 0.46, 60.0  # [m], [J]
HIP = (-0.15, 0.68, 0)  # from the crank's axle

leg = cd.System()
crank = leg.add_body(
    "crank",
    mobilizer=cd.Pin(),
    mass=1,
    com=(0, 0, 0),
    inertia=(0.2, 0.2, 0.2),
    coordinates="crank",
)
for name, parent, at, length, mass, q in (
    ("thigh", "ground", HIP, THIGH, 8.0, "hip"),
    ("shank", "thigh", (0, -THIGH, 0), SHANK, 4.0, "knee"),
):
    leg.add_body(
        name,
        parent,
        cd.Pin(),
        X_PF=at,
        mass=mass,
        com=(0, -length / 2, 0),
        inertia=mass * (0.3 * length) ** 2 * np.ones(3),
        coordinates=q,
    )
    leg.add_geometry(name, cd.shapes.Box((0.04, length / 2, 0.04)), (0, -length / 2, 0))
leg.add_geometry("crank", cd.shapes.Box((CRANK / 2, 0.01, 0.01)), (CRANK / 2, 0, 0))
pedal = cd.constraints.PointOnLine(
    "crank", (CRANK, 0, 0), (0, 0, 1), "shank", (0, -SHANK, 0)
)
leg.add_constraint("pedal", pedal)
load = WORK / (2 * np.pi)  # [N m], against the turning
leg.add_force("load", cd.forces.MobilityForce("crank", load))
start = leg.assemble({"crank": 0.0, "hip": 1.0, "knee": -1.4})
