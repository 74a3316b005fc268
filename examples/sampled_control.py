"""A controller that looks fifty times a second balances a stick; measures tell how.

What it sees are samples: discrete variables, held from one to the next. The work of its
motor is an integral beside q and u; the largest torque is found between steps too."""

import numpy as np

import condyle as cd

STIFFNESS, DAMPING = 12.0, 3.0  # of the controller [N m/rad, N m s/rad]


def torque(s):
    return -STIFFNESS * s.discrete("angle_seen") - DAMPING * s.discrete("speed_seen")


def stick(period):
    system = cd.System(gravity=(0, -9.81, 0))
    system.add_body(
        "stick",
        mobilizer=cd.Pin(),
        mass=0.5,
        com=(0, 0.5, 0),
        inertia=(0.04, 1e-3, 0.04),
        coordinates="angle",
    )
    for name, seen in (
        ("angle_seen", lambda s: s.q("angle")),
        ("speed_seen", lambda s: s.u("angle")),
    ):
        system.add_measure(name, cd.measures.SampleAndHold(seen, period))
    system.add_force("motor", cd.forces.Custom(lambda s: {"angle": torque(s)}))
    power = lambda s: torque(s) * s.u("angle")
    system.add_measure("work", cd.measures.Integral(power))
    system.add_measure("largest", cd.measures.Maximum(lambda s: abs(torque(s))))
    return system


def run(period, t_final):
    system = stick(period)
    traj = cd.simulate(system, system.state(q={"angle": 0.2}), t_final, accuracy=1e-6)
    print(
        f"{1 / period:.0f} times a second: {traj['angle'][-1]:.2g} rad at the end, "
        f"at most {traj.measure('largest')[-1]:.1f} N m, "
        f"{traj.measure('work')[-1] * 1e3:.1f} mJ"
    )
    return traj


traj = run(0.02, 4.0)
assert abs(traj["angle"][-1]) < 1e-3
energy = traj.energy().values.sum(axis=1)
assert np.allclose(energy - energy[0], traj["work"], atol=1e-5)  # as given
assert abs(run(0.16, 1.0)["angle"]).max() > 1.0  # the same controller is too slow at 6 Hz
