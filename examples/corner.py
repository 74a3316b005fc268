"""A cart with a pendulum slides down a rail that has a corner: an impulse, by an event.

A joint that goes around a corner changes its direction at once, and the bodies their
velocities: from J_1 u to J_2 v, with the Jacobians J of all bodies before and after. The
impulse of the rail lets pass what the new direction allows and nothing else, J_2' M (J_2 v -
J_1 u) = 0. What is lost is the kinetic energy of the jump itself (Carnot). A rail that is
rounded, as spline joints are, loses nothing however sharp it is.
"""

import numpy as np

import condyle as cd

STEEP, CART, BOB, LENGTH = 0.7, 2.0, 0.5, 0.4
COM = (0, -LENGTH, 0)


def rail(s):
    """Down a slope to s = 0, then level."""
    down = np.where(s < 0, 1.0, 0.0)
    x = s * (down * np.cos(STEEP) + 1 - down)
    return np.eye(3), (x, -s * down * np.sin(STEEP), 0.0)


system = cd.System(gravity=(0, -9.81, 0))
system.add_body(
    "cart", mobilizer=cd.Custom(coordinates=("way",), transform=rail), mass=CART
)
system.add_body("bob", "cart", cd.Pin(), mass=BOB, com=COM, inertia=(1e-3,) * 3)


def motions(q):
    """J of both bodies, angular before linear, at their mass centers."""
    rows = []
    for body, com in (("cart", (0, 0, 0)), ("bob", COM)):
        spin = [system.body_velocity(q, e, body)[:3] for e in np.eye(2)]
        rows += [np.transpose(spin), system.station_jacobian(q, body, com)]
    return np.concatenate(rows)


M = np.diag([0, 0, 0] + [CART] * 3 + [1e-3] * 3 + [BOB] * 3)
lost = []


def turn(state):
    way = np.sign(state.u[0])
    sides = [np.array([k * way * 1e-9, state.q[1]]) for k in (-1, 1)]
    before, after = map(motions, sides)
    v = np.linalg.solve(after.T @ M @ after, after.T @ M @ before @ state.u)
    jump = after @ v - before @ state.u
    lost.append(jump @ M @ jump / 2)
    return state.replace(q=sides[1], u=v)


corner = cd.Event(lambda s: s.q("way"), "both", turn, name="corner")
start = system.state(q={"way": -0.5, "bob": 0.3})
traj = cd.simulate(system, start, 1.5, events=[corner], accuracy=1e-9)
assert traj.finished, traj.status
E = traj.energy().values.sum(axis=1)
gone = E[0] - E[-1]
print(f"{len(lost)} corner passed: {gone:.6f} J lost, {lost[0]:.6f} J by Carnot")
assert len(lost) == 1 and abs(gone - lost[0]) < 1e-6
