"""Poses, velocities and accelerations of one body on OpenSim's joints, which are Simbody's mobilizers: writes
joints.json.

    python tests/data/simbody/make_joints.py        with the opensim package, in a process of its own

OpenSim gives Ball, Free and Ellipsoid Euler angles for coordinates; their speeds are Simbody's, w_FM in F.
"""

import json
from pathlib import Path

import numpy as np
import opensim as osim

RADII = (0.7, 1.1, 1.6)


def body_on(kind):
    model = osim.Model()
    model.setGravity(osim.Vec3(1, -9, 2))
    body = osim.Body("b", 1.7, osim.Vec3(0.1, -0.2, 0.3), osim.Inertia(0.4, 0.5, 0.6, 0.01, -0.02, 0.03))
    model.addBody(body)
    frames = [model.getGround(), osim.Vec3(0), osim.Vec3(0), body, osim.Vec3(0), osim.Vec3(0)]
    extra = [osim.Vec3(*RADII)] if kind == "Ellipsoid" else []
    joint = getattr(osim, f"{kind}Joint")("j", *frames, *extra)
    model.addJoint(joint)
    return model, body, joint


def vector(v):
    return [v.get(i) for i in range(3)]


def main():
    osim.Logger.setLevelString("Off")
    rng = np.random.default_rng(0)
    joints = {}
    for kind in ("Pin", "Slider", "Universal", "Gimbal", "Planar", "Ball", "Free", "Ellipsoid"):
        model, body, joint = body_on(kind)
        state, n = model.initSystem(), joint.numCoordinates()
        joints[kind] = []
        for _ in range(3):
            q, u = rng.uniform(-1, 1, (2, n)).round(3)
            for i in range(n):
                joint.get_coordinates(i).setValue(state, float(q[i]), False)
                joint.get_coordinates(i).setSpeedValue(state, float(u[i]))
            model.realizeAcceleration(state)
            X, V, udot = body.getTransformInGround(state), body.getVelocityInGround(state), state.getUDot()
            joints[kind].append(
                {
                    "q": q.tolist(),
                    "u": u.tolist(),
                    "R": [[X.R().get(i, j) for j in range(3)] for i in range(3)],
                    "p": vector(X.p()),
                    "V": vector(V.get(0)) + vector(V.get(1)),
                    "udot": [udot.get(i) for i in range(n)],
                }
            )
    record = {
        "source": f"OpenSim {osim.GetVersion()}, make_joints.py",
        "gravity": [1, -9, 2],
        "mass": 1.7,
        "com": [0.1, -0.2, 0.3],
        "inertia": [0.4, 0.5, 0.6, 0.01, -0.02, 0.03],
        "radii": RADII,
        "joints": joints,
    }
    text = json.dumps(record, indent=None).replace('}, {"q"', '},\n{"q"').replace('], "', '],\n "')
    Path(__file__).with_name("joints.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
