"""A gate with a dry hinge falls shut, is caught by its latch, and torn open by a gust.

That it is caught is a discrete variable, the memory of an event: the latch pulls from then
on, until another event forgets it. The hinge rubs with all that it carries, weight and
centrifugal force, which is found together with the accelerations.
"""

import numpy as np

import condyle as cd

MASS, ARM, MU, RADIUS = 20.0, 0.5, 0.2, 0.01
CLOSER, LATCH, TEARS = 2.0, 400.0, 6.0  # [N m/rad, N m/rad, N m]


def latch(s):
    return {"gate": -LATCH * s.discrete("caught", 0.0) * s.q("gate")}


def gust(s):
    return {"gate": 12.0 * np.exp(-(((s.t - 8.0) / 0.3) ** 2))}


gate = cd.System(gravity=(0, 0, -9.81))
gate.add_body(
    "gate", mobilizer=cd.Pin(), mass=MASS, com=(ARM, 0, 0), inertia=(1.7, 1.7, 1.7)
)
gate.add_force("closer", cd.forces.MobilitySpring("gate", CLOSER, 0.0))
gate.add_force("hinge", cd.forces.JointFriction("gate", MU, radius=RADIUS))
gate.add_force("latch", cd.forces.Custom(latch))
gate.add_force("gust", cd.forces.Custom(gust))
gate.add_discrete("times", 0)


def catch(state):
    again = state["times"] + 1
    return state.replace(u=0 * state.u, discrete={"caught": 1.0, "times": again})


def tear(state):
    return state.replace(discrete={"caught": 0.0})


held = lambda s: s.discrete("caught", 0.0) > 0.5
shut = cd.Event(
    lambda s: np.where(held(s), 1.0, s.q("gate")), "falling", catch, name="shut"
)
torn = cd.Event(
    lambda s: np.where(held(s), LATCH * s.q("gate") - TEARS, -1.0),
    "rising",
    tear,
    name="torn",
)
traj = cd.simulate(
    gate, gate.state(q={"gate": 1.5}), 20.0, events=[shut, torn], accuracy=1e-7
)
assert traj.finished, traj.status
happened = [(event.name, event.t) for event in traj.events]
print(", ".join(f"{name} at {t:.2f} s" for name, t in happened))
assert [name for name, _ in happened] == ["shut", "torn", "shut"]
assert traj[-1]["times"] == 2 and traj[-1]["caught"] == 1

# the hinge carries weight and centrifugal force: friction by hand at the first shut
first = traj(happened[0][1] - 1e-6)
u, a = first.u[0], first.udot[0]
load = MASS * np.hypot(9.81, np.hypot(ARM * u * u, ARM * a))
slip = RADIUS * u
friction = -MU * RADIUS * load * slip / np.hypot(slip, 1e-3)  # comes on over 1 mm/s
inertia = 1.7 + MASS * ARM**2
by_hand = (friction - CLOSER * first.q[0]) / inertia
print(
    f"acceleration {a:.4f} rad/s^2, by hand {by_hand:.4f}; the hinge carries {load:.0f} N"
)
assert abs(a - by_hand) < 1e-9 * abs(by_hand)  # rounding
