"""A collar on a screw: one coordinate that turns and shifts, or two and a constraint.

The first example of seth2010 (Fig. 1, (5)-(8)). A tool without a screw takes a cylinder
and couples its shift to its turn: three equations for one freedom, and drift to mend.
"""

import timeit

import numpy as np

import condyle as cd

pitch, collar = 0.02, {"mass": 1.5, "inertia": (0.002, 0.002, 0.003)}  # [m/rad], [kg ..]
upright = {"gravity": (0, 0, -9.81)}

screw = cd.System(**upright)
screw.add_body("collar", mobilizer=cd.Screw(pitch), coordinates="turn", **collar)

coupled = cd.System(**upright)
coupled.add_body(
    "collar", mobilizer=cd.Cylinder(), coordinates=("turn", "shift"), **collar
)
coupled.add_constraint(
    "thread",
    cd.constraints.CoordinateCoupler(
        lambda turn, shift: shift - pitch * turn, ["turn", "shift"]
    ),
)

# Gravity pulls the collar down, and the thread makes it spin: (I + m s^2) udot = -m g s.
expected = -1.5 * 9.81 * pitch / (0.003 + 1.5 * pitch**2)
one, two = screw.state().udot, coupled.state().udot
print(
    f"spin {one[0]:.9f} rad/s^2 by the screw, {two[0]:.9f} by the coupler, "
    f"{expected:.9f} by hand"
)
np.testing.assert_allclose(one, [expected], rtol=1e-13)
np.testing.assert_allclose(two, [expected, pitch * expected], rtol=1e-12)

times = np.linspace(0, 2, 41)
options = {"t_final": 2.0, "accuracy": 1e-8}
spin = {"turn": 20.0, "shift": 20.0 * pitch}  # [rad/s], [m/s]
starts = screw.state(u={"turn": 20.0}), coupled.state(u=spin)
runs = [cd.simulate(state.system, state, **options) for state in starts]
turn = [np.array([run(t).q[0] for t in times]) for run in runs]
exact = 20 * times + expected * times**2 / 2
for name, angle in zip(("screw", "coupler"), turn, strict=True):
    print(
        f"{name}: {np.abs(angle - exact).max():.1e} rad off after "
        f"{exact[-1] / 2 / np.pi:.1f} turns"
    )
    np.testing.assert_allclose(angle, exact, atol=1e-6)

cost = []
for system in (screw, coupled):
    q, u = (np.tile(x, (10_000, 1)) for x in system.defaults())
    call = lambda system=system, q=q, u=u: system.forward_dynamics(q, u)
    cost.append(min(timeit.repeat(call, number=3, repeat=5)))
print(f"ten thousand states: the coupler takes {cost[1] / cost[0]:.1f} times as long")
