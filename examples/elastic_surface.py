"""A ball slides on a membrane that gives way under it: a spline surface that is elastic.

What lee2008 proposes as future work, after the D-NURBS of Terzopoulos and Qin: heights of
the surface's control points are coordinates with mass and springs, and one equation keeps
the ball on the surface. The multiplier is what ball and membrane do to each other.
"""

import numpy as np

import condyle as cd

N, CELL, MASS = 5, 0.1, 0.02  # control points along a side, their distance [m], mass [kg]
TENSION, SOFT = 60.0, 40.0  # between neighbors, and to the frame around [N/m]
BALL, G = 0.3, 9.81


def basis(x):
    """The cubic B-spline at a distance of x cells, two derivatives everywhere."""
    x = np.abs(x)
    return (np.maximum(2 - x, 0) ** 3 - 4 * np.maximum(1 - x, 0) ** 3) / 6


def weights(x, y):
    """How much each control height counts at a place."""
    k = range(N)
    return [[basis(x / CELL - i) * basis(y / CELL - j) for j in k] for i in k]


def height(s):
    x, y, z = (s.q(f"ball_t{axis}") for axis in "xyz")
    w = weights(x, y)
    return z - sum(w[i][j] * s.q(f"h{i}{j}") for i in range(N) for j in range(N))


def stretched(s):
    """Energy of the membrane: differences of neighbors, and of the edge from its frame."""
    h = [[s.q(f"h{i}{j}") for j in range(N)] for i in range(N)]
    along = [h[i][j] - h[i - 1][j] for i in range(1, N) for j in range(N)]
    across = [h[i][j] - h[i][j - 1] for i in range(N) for j in range(1, N)]
    edge = [h[i][j] for i in range(N) for j in range(N) if {i, j} & {0, N - 1}]
    held = SOFT * sum(x**2 for x in edge)
    return (TENSION * sum(x**2 for x in (*along, *across)) + held) / 2


system = cd.System(gravity=(0, 0, -G))
for i in range(N):
    for j in range(N):
        system.add_body(
            f"p{i}{j}",
            mobilizer=cd.Slider(axis=(0, 0, 1)),
            X_PF=(i * CELL, j * CELL, 0),
            mass=MASS,
            coordinates=(f"h{i}{j}",),
        )
system.add_body("ball", mobilizer=cd.Translation(), mass=BALL)
system.add_force("membrane", cd.forces.Potential(stretched))
system.add_constraint("on the surface", cd.constraints.Holonomic(height))

flat = system.state(q={"ball_tx": 0.12, "ball_ty": 0.25, "ball_tz": 0.0})
run = cd.simulate(system, flat, t_final=3.0, accuracy=1e-6)
off = np.ptp(np.add(*system.energy(run.q, run.u)))
print(f"{len(run)} steps: energy within {off:.1e} J")
assert off < 1e-4

rest = cd.relax(system, run[-1])  # where it would come to rest: in the middle
q = dict(zip(system.coordinates, rest.q))
np.testing.assert_allclose([q["ball_tx"], q["ball_ty"]], (N - 1) * CELL / 2, atol=1e-5)
print(f"at rest the ball hangs {1e3 * -q['ball_tz']:.1f} mm below the frame")
held = -SOFT * sum(
    q[f"h{i}{j}"] for i in range(N) for j in range(N) if {i, j} & {0, N - 1}
)
np.testing.assert_allclose(held, G * (BALL + N * N * MASS), rtol=1e-6)
