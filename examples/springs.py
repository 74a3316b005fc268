"""A forearm on a spring, with air drag written as three lines of Python: where it rests,
and what it loses on the way."""

import numpy as np

import condyle as cd

HAND = (0.0, -0.3, 0.0)


def drag(s):
    v = s.station_velocity("forearm", HAND)
    return {"forearm": cd.forces.Wrench(force=-s.parameter("drag", 0.8) * v, at=HAND)}


def bow(s):  # an energy: its force comes by differentiation
    return 2.0 * (1 - np.cos(s.q("elbow")))


system = cd.System()
system.add_body(
    "forearm",
    mobilizer=cd.Pin(),
    mass=1.5,
    com=(0, -0.15, 0),
    inertia=(0.012, 0.002, 0.012),
    coordinates=("elbow",),
)
system.add_force(
    "biceps",
    cd.forces.TwoPointSpring(
        "ground", (0.0, 0.25, 0), "forearm", (0.02, -0.04, 0), 3e3, 0.2
    ),
)
system.add_force("stop", cd.forces.MobilityStop("elbow", 0.0, 2.4, 50.0, 0.5))
system.add_force("motor", cd.forces.MobilityForce("elbow", cd.Input("torque", 0.0)))
system.add_force("drag", cd.forces.Custom(drag))
system.add_force("bow", cd.forces.Potential(bow))

q = np.linspace(0, 2.4, 2401)[:, None]
pull = system.forward_dynamics(q, np.zeros(1))[:, 0]  # 2401 postures at once
rest = q[np.argmin(np.abs(pull)), 0]
print(f"the forearm rests at {np.degrees(rest):.1f} degrees")
assert np.any(np.diff(np.sign(pull)) < 0)  # a stable one: pushed back from both sides

state = system.state(q={"elbow": 1.0}, u={"elbow": 3.0})
lost = dict(zip(system.forces, state.power(), strict=True))
print(f"moving at 3 rad/s it loses {-lost['drag']:.2f} W to the air")
dt = 1e-4
before, after = (
    sum(state.replace(q=state.q + h * state.qdot, u=state.u + h * state.udot).energy())
    for h in (-dt, dt)
)
assert np.isclose((after - before) / (2 * dt), lost["drag"], rtol=1e-4)
faster = system.forward_dynamics(
    state.q, state.u, inputs={"torque": 5.0}, parameters={"drag": 0.0}
)
print(f"with 5 N m and no air: {faster[0]:.0f} rad/s^2 instead of {state.udot[0]:.0f}")
