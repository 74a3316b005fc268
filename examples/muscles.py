"""The arm lifts itself by six muscles with elastic tendons. Excitations are a number, an
input, samples over time, and a reflex written in Python. Where is the energy from?"""

from dataclasses import replace

import numpy as np

import condyle as cd

EXCITATIONS = {
    "BIClong": (np.linspace(0, 0.4, 5), [0.02, 0.1, 0.3, 0.1, 0.02]),  # samples over time
    "BICshort": cd.functions.SmoothStep(0.0, 0.2, 0.02, 0.15),  # of the time
    "BRA": 0.1,
    "TRIlong": lambda s: 0.02 + 0.1 * s.u("r_elbow_flex"),  # resists flexion
}

ready, system = cd.models.arm26(), cd.models.arm26(muscle=None)
for name in ready.muscles:
    excitation = EXCITATIONS.get(name, cd.Input(name, 0.02))
    system.add_force(name, replace(ready.force(name), excitation=excitation))

start = system.equilibrate_muscles(system.state())  # fibers pull as their tendons do
assert abs(start.zdot()[1::2]).max() < 1e-9  # none of them moves
traj = cd.simulate(system, start, 0.3, accuracy=1e-6)
elbow = traj["r_elbow_flex"][-1]
print(
    f"after {traj.t[-1]:g} s the elbow is at {np.degrees(elbow):.0f} degrees, "
    f"the activation of TRIlong at {traj['TRIlong.activation'][-1]:.2f}"
)
assert elbow > 0.5
assert 0.05 < traj["TRIlong.activation"][-1] < 1

muscles = cd.muscle_analysis(system, traj)
work = np.trapezoid(muscles["fiber_active_power"].values.sum(axis=1), traj.t)
energy = traj.energy().values.sum(axis=1)
gained = energy[-1] - energy[0]
print(f"fibers did {work:.3f} J of work, the energy grew by {gained:.3f} J")
assert np.isclose(work, gained, rtol=1e-2)  # tendons only keep it a while
