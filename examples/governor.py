"""A flyball governor: balls on two arms swing out as the shaft spins, and lift a sleeve
by two links. Two loops.

Left alone after a push it keeps its angular momentum H and its energy. At one spin w it
could stay as it is: the balls hang in balance where w^2 d(spin inertia)/d(alpha) / 2 =
dV/d(alpha). Both are checked, and the run in maximal coordinates.
"""

import numpy as np

import condyle as cd
from condyle import maximal

l, ball, link, sleeve, g = 0.3, 0.9, 0.2, 1.4, 9.81
system = cd.System(gravity=(0, -g, 0))
system.add_body("shaft", mobilizer=cd.Pin(axis="y"), mass=1, inertia=(0.02, 0.02, 0.02))
I = link * l**2 / 12
for side in "ab":
    system.add_body(f"arm {side}", "shaft", cd.Pin(), mass=ball, com=(0, -l, 0))
    system.add_body(
        f"link {side}",
        f"arm {side}",
        cd.Pin(),
        X_PF=(0, -l, 0),
        mass=link,
        com=(0, -l / 2, 0),
        inertia=(I, 0, I),
    )
system.add_body(
    "sleeve", "shaft", cd.Slider(axis="y"), mass=sleeve, inertia=(0.004, 0.004, 0.004)
)
tree = system.copy()  # with the loops still open
for side in "ab":
    end = cd.constraints.Ball(f"link {side}", (0, -l, 0), "sleeve", (0, 0, 0))
    system.add_constraint(f"end {side}", end)

alpha = 0.6
q = np.array([0, alpha, -2 * alpha, -alpha, 2 * alpha, -2 * l * np.cos(alpha)])
spin_inertia = lambda a: 0.024 + 2 * (ball + link / 3) * (l * np.sin(a)) ** 2
w = np.sqrt(
    g * (2 * ball + 3 * link + 2 * sleeve) / (2 * (ball + link / 3) * l * np.cos(alpha))
)
balance = system.forward_dynamics(q, [w, 0, 0, 0, 0, 0])
assert np.abs(balance).max() < 1e-10, balance  # nothing moves but the shaft

u = np.array([1.2 * w, 0, 0, 0, 0, 0])
traj = cd.simulate(system, system.state(q=q, u=u), 1.0, accuracy=1e-8)
assert traj.finished, traj.status
H = spin_inertia(traj["arm a"]) * traj["shaft_speed"]
energy = traj.energy().values.sum(axis=1)
assert np.ptp(H) < 1e-7 * H[0] and np.ptp(energy) < 1e-7 * abs(energy[0])
hinges = [
    maximal.Loop(f"link {side}", (0, -l, 0), "sleeve", None, cd.Pin()) for side in "ab"
]
other = maximal.MaximalSystem(tree, hinges).simulate(q, u, 1.0, accuracy=1e-8)
apart = np.abs(traj.q[-1] - other.q[-1]).max()
assert apart < 1e-7, apart
print(
    f"balance at {w:.3f} rad/s; pushed, alpha swings from {alpha} "
    f"to {traj['arm a'].max():.3f} rad; both agree to {apart:.0e}"
)
