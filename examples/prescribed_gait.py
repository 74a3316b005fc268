"""A leg that walks as it is told: splines through the angles of a stride, the moments they take, and work that becomes energy."""
import numpy as np

import condyle as cd

STRIDE, TOE_OFF = 1.1, 1.62 * 1.1                                    # [s]
percent = np.array([0, 8, 15, 25, 35, 45, 55, 62, 70, 78, 85, 92])
degrees = {"hip": [25, 24, 21, 13, 4, -5, -10, -6, 7, 19, 27, 28],
           "knee": [-4, -13, -17, -13, -6, -5, -14, -35, -59, -58, -35, -10],
           "ankle": [0, -5, 1, 5, 8, 10, 2, -15, -12, -2, 1, 0]}
times = np.concatenate([(percent / 100 + k) * STRIDE for k in range(3)])
curve = {name: cd.Spline(times, np.radians(angles * 3)) for name, angles in degrees.items()}

walker = cd.System()
walker.add_body("pelvis", mobilizer=cd.Slider(), X_PF=(0, 0.95, 0), coordinates="forward",        # it needs no mass
                motion=cd.Prescribed(velocity=lambda t: 1.3 + 0.1 * np.sin(4 * np.pi * t / STRIDE)))
for name, parent, joint, length, mass, com, I in (("thigh", "pelvis", "hip", 0, 7.5, (0, -0.18, 0), 0.1), (
        "shank", "thigh", "knee", 0.42, 3.5, (0, -0.18, 0), .05), ("foot", "shank", "ankle", 0.43, 1.1, (.06, -.04, 0), .005)):
    walker.add_body(name, parent, cd.Pin(), X_PF=(0, -length, 0), mass=mass, com=com, inertia=(I, I / 4, I), coordinates=joint,
                    motion=cd.Prescribed(position=curve[joint]))
walker.add_force("tendon", cd.forces.MobilitySpring("ankle", 15.0, 0.0))

t = np.linspace(STRIDE, 2 * STRIDE, 101)                              # one stride, all at once
q, u = walker.prescribe(np.zeros(4), np.zeros(4), t=t)
moments, udot = walker.motion_forces(q, u, t=t), walker.forward_dynamics(q, u, t=t)
print(*(f"{name}: {m.min():.1f} .. {m.max():.1f} N m" for name, m in zip(walker.speeds[1:], moments.T[1:])), sep="\n")
assert np.abs(udot[:, 1] - curve["hip"].derivative(t, 2)).max() < 1e-9 * np.abs(udot).max()
assert np.abs(moments - walker.inverse_dynamics(q, u, udot, t=t)).max() < 1e-12 * np.abs(moments).max()

# In time, and from toe-off on the foot swings freely: what the motions do is what the energy gains.
free = cd.Event(at=TOE_OFF, action=lambda state: state.replace(disabled=["foot"]), name="toe-off")
traj = cd.simulate(walker, walker.state(t=STRIDE), 2 * STRIDE, accuracy=1e-6, events=free, max_step=0.01)
t = np.r_[np.linspace(STRIDE, TOE_OFF - 1e-12, 4001), np.linspace(TOE_OFF, 2 * STRIDE, 4001)]
q, u = np.split(traj.at(t), 2, axis=1)
power = np.vstack([walker.motion_power(q[:4001], u[:4001], t=t[:4001]),
                   walker.motion_power(q[4001:], u[4001:], t=t[4001:], disabled=["foot"])])
work, gained = np.trapezoid(power.sum(-1), t), sum(traj[-1].energy()) - sum(traj[0].energy())
print(f"work {work:.4f} J, energy gained {gained:.4f} J; the free foot ends at {np.degrees(q[-1, 3]):.1f} degrees")
assert abs(work - gained) < 1e-6 * np.trapezoid(np.abs(power).sum(-1), t)      # the accuracy; the sum itself errs less
assert np.abs(traj.q[:, 2] - curve["knee"](traj.t)).max() < 1e-14               # the integrator has no part in it
