"""A slider-crank as in an engine: crank and rod in a chain, the rod's end held to a
slider on a rail by one constraint.

It has one degree of freedom, so that its energy is J(a) a'^2 / 2 + V(a) with the crank's
angle a. The run is checked by that, and by the same mechanism in maximal coordinates,
where the rod's end is a hinge.
"""

import numpy as np

import condyle as cd
from condyle import maximal

r, l, m_crank, m_rod, m_slider, g = 0.2, 0.5, 1.2, 0.8, 1.5, 9.81
system = cd.System(gravity=(0, -g, 0))
for name, parent, at, m, length in (
    ("crank", "ground", 0, m_crank, r),
    ("rod", "crank", r, m_rod, l),
):
    I = m * length**2 / 12
    system.add_body(
        name,
        parent,
        cd.Pin(),
        X_PF=(at, 0, 0),
        mass=m,
        com=(length / 2, 0, 0),
        inertia=(0, I, I),
    )
system.add_body(
    "slider", mobilizer=cd.Slider(), mass=m_slider, inertia=(1e-3, 1e-3, 1e-3)
)
tree = system.copy()  # with the loop still open
system.add_constraint("wrist", cd.constraints.Ball("rod", (l, 0, 0), "slider", (0, 0, 0)))

q, _ = system.project([0.4, -0.5, 0.6], np.zeros(3), locked=["crank"])
# the crank's angle and rate are given, the rest follows
_, u = system.project(q, [12.0, 0, 0], locked=["crank"])
traj = cd.simulate(system, system.state(q=q, u=u), 1.0, accuracy=1e-8)
assert traj.finished, traj.status
wrist = maximal.Loop("rod", (l, 0, 0), "slider", None, cd.Pin())
other = maximal.MaximalSystem(tree, [wrist]).simulate(q, u, 1.0, accuracy=1e-8)
apart = np.abs(traj.q[-1] - other.q[-1]).max()
assert apart < 1e-7, apart  # two formulations, two methods

a, s, c = traj.q[:, 0], np.sin(traj.q[:, 0]), np.cos(traj.q[:, 0])
cosine = np.sqrt(l**2 - (r * s) ** 2) / l  # of the rod's lean
# of the slider and the rod, for one of the crank
slide, lean = -r * s * (1 + r * c / (l * cosine)), r * c / (l * cosine)
rod = ((slide - r * s) / 2) ** 2 + (r * c / 2) ** 2 + (l * lean) ** 2 / 12
J = m_crank * r**2 / 3 + m_rod * rod + m_slider * slide**2
energy = J * traj["crank_speed"] ** 2 / 2 + g * (m_crank + m_rod) * r / 2 * s
assert np.ptp(energy) < 1e-7 * energy[0]
speed = traj["crank_speed"]
print(
    f"{(a[-1] - a[0]) / 2 / np.pi:.3f} turns at {speed.min():.2f} to {speed.max():.2f} "
    f"rad/s; energy stays to {np.ptp(energy):.0e} J, "
    f"both formulations agree to {apart:.0e}"
)
