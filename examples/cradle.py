"""Newton's cradle of rigid balls: with gaps that nobody sees they hit one after another,
and the last one leaves with the speed of the first."""

import numpy as np

import condyle as cd

N, RADIUS, LENGTH, GAP, G = 4, 0.02, 0.3, 1e-5, 9.81

steel = cd.contact.Rigid(restitution=1.0)
system = cd.System(gravity=(0, -G, 0))
for i in range(N):
    system.add_body(
        f"ball{i}",
        mobilizer=cd.Pin(),
        X_PF=(i * (2 * RADIUS + GAP), 0, 0),
        X_BM=(0, LENGTH, 0),
        mass=0.1,
        inertia=(1.6e-5,) * 3,
    )
balls = [cd.contact.Sphere(f"ball{i}", (0, 0, 0), RADIUS, steel) for i in range(N)]
for i in range(N - 1):
    system.add_contact(f"touch{i}", balls[i], balls[i + 1])

LIFTED = np.radians(-20)
traj = cd.simulate(system, system.state(q={"ball0": LIFTED}), 1.0, accuracy=1e-7)
hits = traj.impacts
print(f"{len(hits)} impacts, the first at {hits[0].t:.4f} s; {traj.status}")

# a quarter of the period of a pendulum with amplitude 20 degrees, by the AGM
agm = lambda a, b: a if abs(a - b) < 1e-15 else agm((a + b) / 2, np.sqrt(a * b))
swing = np.sqrt((LENGTH**2 + 1.6e-4) / LENGTH / G)
quarter = np.pi / 2 * swing / agm(1.0, np.cos(LIFTED / 2))
print(f"a quarter of the period is {quarter:.4f} s")
assert abs(hits[0].t - quarter) < 1e-3  # a gap from its lowest point

last = f"ball{N - 1}"
top = traj[last].max()
print(f"the last ball rises to {np.degrees(top):.3f} degrees")
assert abs(top + LIFTED) < 2e-4  # gaps shift the lowest points a little
energy = np.array([sum(s.energy()) for s in traj])
assert np.ptp(energy) < 1e-6 * np.abs(energy).max()
assert traj.finished
