"""A ball bounces ever lower: impacts found to a window, compared with their closed form,
until it rests."""

import numpy as np

import condyle as cd

G, HEIGHT, RESTITUTION, ACCURACY, WINDOW = 9.81, 1.0, 0.7, 1e-6, 1e-9

system = cd.System(gravity=(0, -G, 0))
system.add_body(
    "ball",
    mobilizer=cd.Slider(axis=(0, 1, 0)),
    mass=0.4,
    inertia=(1e-3,) * 3,
    coordinates="height",
)


def bounce(state):
    if abs(state.u[0]) < 0.05:  # too slow to leave the floor again: it rests
        return state.replace(locked={"height": "position"})
    return state.replace(u=-RESTITUTION * state.u)


impact = cd.Event(lambda s: s.q("height"), action=bounce, window=WINDOW, name="impact")
traj = cd.simulate(
    system, system.state(q=[HEIGHT]), 4.0, accuracy=ACCURACY, events=impact
)
print(
    f"{len(traj.events)} impacts, at rest after {traj.events[-1].t:.4f} s; "
    f"{traj.statistics.steps} steps; {traj.status}"
)

first = np.sqrt(2 * HEIGHT / G)
k = np.arange(len(traj.events))
bounces = RESTITUTION * (1 - RESTITUTION**k) / (1 - RESTITUTION)  # 0 for the first
exact = first * (1 + 2 * bounces)
late = np.array([e.t for e in traj.events]) - exact
print(f"the last impact is {abs(late[-1]):.1e} s from its closed form")
# the k-th within k windows plus accuracy
assert np.all(np.abs(late) <= (k + 1) * WINDOW + ACCURACY)
assert traj.finished
assert traj[-1].locked == {"height": "position"}
