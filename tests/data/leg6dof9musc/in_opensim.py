"""What OpenSim computes for leg6dof9musc at given states, as JSON. A process of its own: OpenSim and CasADi
cannot be loaded together.

    python in_opensim.py leg6dof9musc.osim states.json > numbers.json

states.json has coordinates, q and u and udot of each state in their order. Muscles are off in inverse
dynamics. Lengths [m], moment arms [m], poses of bodies (rotation by rows, then origin), the mass matrix,
residual forces [N m, N].
"""

import json
import sys

import numpy as np
import opensim as osim


def numbers(file, given):
    osim.Logger.setLevelString("error")
    model = osim.Model(file)
    state = model.initSystem()
    names = given["coordinates"]
    coordinates = [model.getCoordinateSet().get(name) for name in names]
    muscles = [model.getMuscles().get(i) for i in range(model.getMuscles().getSize())]
    bodies = [model.getBodySet().get(i) for i in range(model.getBodySet().getSize())]
    where = []  # of each speed in OpenSim's vector
    for c in coordinates:
        c.setSpeedValue(state, 1.0)
        where.append(int(np.argmax([state.getU().get(k) for k in range(len(names))])))
        c.setSpeedValue(state, 0.0)

    def place(q, u):
        for c, value, speed in zip(coordinates, q, u):
            c.setValue(state, value, False)
            c.setSpeedValue(state, speed)
        model.realizeVelocity(state)

    out = {
        "bodies": [b.getName() for b in bodies],
        "muscles": [m.getName() for m in muscles],
        "poses": [],
        "lengths": [],
        "moment_arms": [],
        "mass_matrix": [],
        "inverse_dynamics": [],
    }
    for q, u, udot in zip(given["q"], given["u"], given["udot"]):
        place(q, u)
        out["poses"].append(
            [
                [x.R().get(i, j) for i in range(3) for j in range(3)] + [x.p().get(i) for i in range(3)]
                for x in (b.getTransformInGround(state) for b in bodies)
            ]
        )
        out["lengths"].append([m.getLength(state) for m in muscles])
        out["moment_arms"].append([[m.computeMomentArm(state, c) for c in coordinates] for m in muscles])
        place(q, u)
        M = osim.Matrix()
        model.getMatterSubsystem().calcM(state, M)
        out["mass_matrix"].append([[M.getElt(i, j) for j in where] for i in where])
        for m in muscles:
            m.setAppliesForce(state, False)
        model.realizeVelocity(state)
        rates = osim.Vector(len(names), 0.0)
        for i, k in enumerate(where):
            rates.set(k, udot[i])
        tau = osim.InverseDynamicsSolver(model).solve(state, rates)
        out["inverse_dynamics"].append([tau.get(k) for k in where])
    return out


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        print(json.dumps(numbers(sys.argv[1], json.load(file))))
