"""Independent constraints beyond a light part, against 60 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import condyle as cd

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge

C = cd.constraints
TIP = 1e-3  # [kg], [m]
HOOK = (1.2, -1.7)


def chain(mass: float) -> cd.System:
    """Three pins of 1 m and a tip of 1 g and 1 mm, whose end is held and which is geared to the last."""
    system, parent, at = cd.System(gravity=(0, -9.81, 0)), "ground", (0, 0, 0)
    for k in range(3):
        system.add_body(
            f"b{k}", parent, cd.Pin(), X_PF=at, mass=mass, com=(0, -0.5, 0), inertia=(mass / 12,) * 3
        )
        parent, at = f"b{k}", (0, -1, 0)
    system.add_body(
        "tip", parent, cd.Pin(), X_PF=at, mass=TIP, com=(0, -TIP / 2, 0), inertia=(TIP**3 / 12,) * 3
    )
    system.add_constraint("ball", C.Ball("ground", (*HOOK, 0), "tip", (0, -TIP, 0)))
    system.add_constraint("gear", C.CoordinateCoupler(lambda a, b: a - 0.5 * b, ("tip", "b2")))
    return system


def oracle(mass: float, q, u) -> np.ndarray:
    """udot by the equations with multipliers, in 60 digits: absolute angles, lengths and masses as the floats
    they are."""
    with mp.workdps(60):
        masses, lengths = [mp.mpf(mass)] * 3 + [mp.mpf(TIP)], [mp.mpf(1)] * 3 + [mp.mpf(TIP)]
        inertias = [mp.mpf(mass / 12)] * 3 + [mp.mpf(TIP**3 / 12)]
        angle, rate = ([mp.fsum(map(mp.mpf, map(float, x[: k + 1]))) for k in range(4)] for x in (q, u))
        along = [(mp.sin(a), -mp.cos(a)) for a in angle]
        across = [(mp.cos(a), mp.sin(a)) for a in angle]

        def point(arms):
            """Rows of the Jacobian by q, and acceleration at udot = 0."""
            J = [[mp.fsum(arms[k] * across[k][i] for k in range(j, 4)) for j in range(4)] for i in range(2)]
            return J, [mp.fsum(-arms[k] * rate[k] ** 2 * along[k][i] for k in range(4)) for i in range(2)]

        M, f = mp.zeros(4), mp.zeros(4, 1)
        for k in range(4):
            J, a = point([lengths[j] if j < k else lengths[k] / 2 if j == k else mp.mpf(0) for j in range(4)])
            a[1] += mp.mpf(9.81)
            for i in range(4):
                f[i] -= masses[k] * (J[0][i] * a[0] + J[1][i] * a[1])
                for j in range(4):
                    M[i, j] += masses[k] * (J[0][i] * J[0][j] + J[1][i] * J[1][j]) + (
                        inertias[k] if max(i, j) <= k else 0
                    )
        J, a = point(lengths)
        G = mp.matrix([*J, [0, 0, mp.mpf(-0.5), 1]])
        A, b = mp.zeros(7), mp.zeros(7, 1)
        A[:4, :4], A[:4, 4:], A[4:, :4] = M, G.T, G
        b[:4], b[4:6] = f, mp.matrix([-a[0], -a[1]])
        return np.array([float(x) for x in mp.lu_solve(A, b)[:4]])


# Rounding times the condition of Y with a unit diagonal, which is 1e4 times the mass, and at least 1e-12.
@pytest.mark.parametrize(
    ("mass", "tolerance"), [(1.0, 1e-12), (70.0, 1e-10), (100.0, 1e-10), (1e3, 1e-9), (1e5, 1e-6)]
)
def test_independent_constraints_behind_a_light_part(mass, tolerance, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = chain(mass)
    q, u = system.project([0.9, -0.7, 0.6, 0.2], [0.4, -0.3, 0.2, 0.1])
    p, v = system.constraints.errors(q, u)
    assert max(np.abs(p).max(), np.abs(v).max()) < 1e-10
    udot, expected = system.forward_dynamics(q, u), oracle(mass, q, u)
    np.testing.assert_allclose(udot, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    left = system.constraints.jacobian(q, u) @ udot + system.constraints.bias(q, u)
    np.testing.assert_allclose(left, 0, rtol=0, atol=tolerance * np.abs(expected).max())
    assert system.constraints.rank(q, u)[0] == 3  # and the row across the plane


def test_a_run_behind_a_light_part():
    """One degree of freedom: energy is kept, and the end does not depend on the accuracy but for that."""
    system = chain(70.0)
    q, u = system.project([0.9, -0.7, 0.6, 0.2], [0.4, -0.3, 0.2, 0.1])
    start = system.state(q=q, u=u)
    runs = [cd.simulate(system, start, 0.5, accuracy=accuracy) for accuracy in (1e-6, 1e-9)]
    assert all(run.finished for run in runs)
    energy = [sum(system.energy(x.q, x.u)) for x in (runs[1][0], runs[1][-1])]
    assert abs(energy[1] - energy[0]) < 1e-6  # of some 1000 J, by a run at 1e-9
    # ten times the accuracy
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], rtol=0, atol=1e-5)
