"""A chain falls on a floor, rattles, and comes to rest: rigid contacts at every joint,
with friction; energy only falls."""

import numpy as np

import condyle as cd

N, LENGTH = 3, 0.1

iron = cd.contact.Rigid(restitution=0.2, friction=0.4)
floor = cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, iron)
link = {"X_BM": (-LENGTH / 2, 0, 0), "mass": 0.1, "inertia": (1e-5, 9e-5, 9e-5)}
system = cd.System()
system.add_body("link0", mobilizer=cd.Planar(), **link)
for i in range(1, N):
    system.add_body(f"link{i}", f"link{i - 1}", cd.Pin(), X_PF=(LENGTH / 2, 0, 0), **link)
ends = [
    cd.contact.Point(f"link{i}", (LENGTH / 2, 0, 0), iron, name=str(i)) for i in range(N)
]
start = cd.contact.Point("link0", (-LENGTH / 2, 0, 0), iron, name="start")
system.add_contact("floor", floor, [start, *ends])

bent = {f"link{i}": 0.2 * (-1) ** i for i in range(1, N)}
state = system.state(q={"link0_rz": 1.0, "link0_ty": 0.2, **bent})
traj = cd.simulate(system, state, 1.5, accuracy=1e-5)
energy = np.array([sum(s.energy()) for s in traj])
lost = -sum(hit.energy for hit in traj.impacts)
print(
    f"{len(traj.impacts)} impacts take {lost:.3f} of {energy[0]:.3f} J, friction the rest"
)
print(f"at the end {energy[-1]:.1e} J, {traj.statistics.steps} steps; {traj.status}")

assert traj.finished
assert np.diff(energy).max() < 1e-5 * energy[0]  # it never grows, but for the accuracy
assert abs(energy[-1]) < 1e-6 and np.abs(traj.u[-1]).max() < 1e-6  # all links lie flat
