"""A knee from measured points: splines become the joint, and the joint becomes machine
code.

Where the tibia is in the femur at some angles (Delp 1990, as in OpenSim's gait2392).
Section 4 of seth2010: one coordinate, against a planar joint with two couplers.
"""

import timeit

import numpy as np

import condyle as cd

forward = cd.functions.SimmSpline(
    [
        -2.0944,
        -1.74533,
        -1.39626,
        -1.0472,
        -0.698132,
        -0.349066,
        -0.174533,
        0.197344,
        0.337395,
        0.490178,
        1.52146,
        2.0944,
    ],
    [
        -0.0032,
        0.00179,
        0.00411,
        0.0041,
        0.00212,
        -0.001,
        -0.0031,
        -0.005227,
        -0.005435,
        -0.005574,
        -0.005435,
        -0.00525,
    ],
)  # [rad], [m]
up = cd.functions.SimmSpline(
    [-2.0944, -1.22173, -0.523599, -0.349066, -0.174533, 0.159149, 2.0944],
    [-0.4226, -0.4082, -0.399, -0.3976, -0.3966, -0.395264, -0.396],
)
knee = cd.FunctionBased("knee", (None, None, lambda q: q), (forward, up, None))
shank = {"mass": 3.7, "com": (0, -0.19, 0), "inertia": (0.05, 0.005, 0.05)}

leg, coupled = cd.System(), cd.System()
for system in (leg, coupled):
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        mass=9.3,
        com=(0, -0.17, 0),
        inertia=(0.13, 0.035, 0.14),
        coordinates="hip",
    )
leg.add_body("shank", "thigh", knee, **shank)
coupled.add_body("shank", "thigh", cd.Planar(), coordinates=("knee", "x", "y"), **shank)
for name, f in (("x", forward), ("y", up)):
    coupled.add_constraint(
        f"knee_{name}",
        cd.constraints.CoordinateCoupler(
            lambda place, angle, f=f: place - f(angle), [name, "knee"]
        ),
    )

# The leg falls from rest until it is straight, told in both ways.
start = {"hip": 0.6, "knee": -1.7}
one = leg.state(q=start)
other = coupled.state(q=start | {"x": forward(-1.7), "y": up(-1.7)})
np.testing.assert_allclose(one.udot, other.udot[:2], rtol=1e-9)
options = {"t_final": 0.24, "accuracy": 1e-7}
swing, check = (cd.simulate(s.system, s, **options) for s in (one, other))
apart = np.abs([swing(t).q - check(t).q[:2] for t in np.linspace(0, 0.24, 25)]).max()
errors, _ = coupled.constraints.errors(check.q, check.u)  # of positions [m], of rates
violation = 1e3 * np.abs(errors).max()
print(
    f"swings differ by {apart:.1e} rad; couplers are off by {violation:.0e} mm, the "
    "joint never"
)
assert apart < 1e-5, apart
ke, pe = leg.energy(swing.q, swing.u)
assert np.ptp(ke + pe) < 1e-5, np.ptp(ke + pe)  # [J] of 50

call = lambda system, q: lambda: system.forward_dynamics(q, np.zeros((len(q), system.nu)))
cost = [
    min(timeit.repeat(call(s.system, np.tile(s.q, (10_000, 1))), number=3, repeat=5))
    for s in (one, other)
]
print(f"ten thousand states: couplers take {cost[1] / cost[0]:.1f} times as long")
