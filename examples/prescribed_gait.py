"""A leg that walks as it is told: splines through the angles of a stride, the moments
they take, and work that becomes energy."""

import numpy as np

import condyle as cd

STRIDE, TOE_OFF = 1.1, 1.62 * 1.1  # [s]
percent = np.array([0, 8, 15, 25, 35, 45, 55, 62, 70, 78, 85, 92])
degrees = {
    "hip": [25, 24, 21, 13, 4, -5, -10, -6, 7, 19, 27, 28],
    "knee": [-4, -13, -17, -13, -6, -5, -14, -35, -59, -58, -35, -10],
    "ankle": [0, -5, 1, 5, 8, 10, 2, -15, -12, -2, 1, 0],
}
times = np.concatenate([(percent / 100 + k) * STRIDE for k in range(3)])
curve = {
    name: cd.Spline(times, np.radians(angles * 3)) for name, angles in degrees.items()
}

walker = cd.System()
speed = cd.Prescribed(velocity=lambda t: 1.3 + 0.1 * np.sin(4 * np.pi * t / STRIDE))
walker.add_body(
    "pelvis",
    mobilizer=cd.Slider(),
    X_PF=(0, 0.95, 0),
    coordinates="forward",
    motion=speed,
)  # it needs no mass
for name, parent, joint, length, mass, com, I in (
    ("thigh", "pelvis", "hip", 0, 7.5, (0, -0.18, 0), 0.1),
    ("shank", "thigh", "knee", 0.42, 3.5, (0, -0.18, 0), 0.05),
    ("foot", "shank", "ankle", 0.43, 1.1, (0.06, -0.04, 0), 0.005),
):
    walker.add_body(
        name,
        parent,
        cd.Pin(),
        X_PF=(0, -length, 0),
        mass=mass,
        com=com,
        inertia=(I, I / 4, I),
        coordinates=joint,
        motion=cd.Prescribed(position=curve[joint]),
    )
walker.add_force("tendon", cd.forces.MobilitySpring("ankle", 15.0, 0.0))

t = np.linspace(STRIDE, 2 * STRIDE, 101)  # one stride, all at once
q, u = walker.prescribe(np.zeros(4), np.zeros(4), t=t)
moments, udot = walker.motion_forces(q, u, t=t), walker.forward_dynamics(q, u, t=t)
for name, m in zip(walker.speeds[1:], moments.T[1:]):
    print(f"{name}: {m.min():.1f} .. {m.max():.1f} N m")
largest = lambda x: np.abs(x).max()
assert largest(udot[:, 1] - curve["hip"].derivative(t, 2)) < 1e-9 * largest(udot)
again = walker.inverse_dynamics(q, u, udot, t=t)
assert largest(moments - again) < 1e-12 * largest(moments)

# In time, and from toe-off on the foot swings freely: what the motions do is what the
# energy gains.
free = cd.Event(
    at=TOE_OFF, action=lambda state: state.replace(disabled=["foot"]), name="toe-off"
)
traj = cd.simulate(
    walker, walker.state(t=STRIDE), 2 * STRIDE, accuracy=1e-6, events=free, max_step=0.01
)
t = np.r_[
    np.linspace(STRIDE, TOE_OFF - 1e-12, 4001), np.linspace(TOE_OFF, 2 * STRIDE, 4001)
]
power = traj.motion_power(t=t).values  # the foot's motion is off after toe-off
work = np.trapezoid(power.sum(-1), t)
gained = sum(traj[-1].energy()) - sum(traj[0].energy())
print(
    f"work {work:.4f} J, energy gained {gained:.4f} J; "
    f"the free foot ends at {np.degrees(traj['ankle'][-1]):.1f} degrees"
)
# the accuracy; the sum itself errs less
assert abs(work - gained) < 1e-6 * np.trapezoid(np.abs(power).sum(-1), t)
# the integrator has no part in it
assert largest(traj["knee"] - curve["knee"](traj.t)) < 1e-14
