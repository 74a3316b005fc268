"""Light bodies beside heavy ones, against 60 digits: what is answered is right, and what rounding takes is
said to be that."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

import condyle as cd

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge

SHAPE = np.array([0.1, 0.12, 0.11])  # [m^2] times the mass
COM_A, COM_B, JOINT = (0.05, -0.1, 0.02), (0.1, -0.4, 0.2), (0.3, -1.0, 0.2)


def balls(mass_a: float, mass_b: float) -> cd.System:
    system = cd.System()
    system.add_body("a", mobilizer=cd.Ball(), mass=mass_a, com=COM_A, inertia=tuple(mass_a * SHAPE))
    system.add_body("b", "a", cd.Ball(), X_PF=JOINT, mass=mass_b, com=COM_B, inertia=tuple(mass_b * SHAPE))
    return system


def oracle(mass_a: float, mass_b: float, q, u) -> np.ndarray:
    """udot from the equations of each body, the forces in both joints unknown, in 60 digits."""
    with mp.workdps(60):
        vector = lambda x: mp.matrix([mp.mpf(float(v)) for v in x])
        skew = lambda a: mp.matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        cross = lambda a, b: skew(a) * b

        def rotation(quaternion):
            w, x, y, z = vector(quaternion)
            K = skew([x, y, z])
            return mp.eye(3) + 2 * (w * K + K * K) / (w**2 + x**2 + y**2 + z**2)

        m_a, m_b, g = mp.mpf(mass_a), mp.mpf(mass_b), mp.matrix([0, -mp.mpf(9.81), 0])
        R_a = rotation(q[:4])
        R_b, w_a, relative = R_a * rotation(q[4:8]), vector(u[:3]), R_a * vector(u[3:6])
        w_b, c_a, c_b, r = w_a + relative, R_a * vector(COM_A), R_b * vector(COM_B), R_a * vector(JOINT)
        I_a, I_b = (R * mp.diag(list(vector(m * SHAPE))) * R.T for R, m in ((R_a, mass_a), (R_b, mass_b)))
        spin = lambda w, x: cross(w, cross(w, x))
        # alpha_a, alpha_b, force of a on b, force of ground on a
        A, y = mp.zeros(12), mp.zeros(12, 1)
        lines = [
            ((-m_b * skew(r), -m_b * skew(c_b), -mp.eye(3), None), m_b * (g - spin(w_a, r) - spin(w_b, c_b))),
            ((None, I_b, skew(c_b), None), -cross(w_b, I_b * w_b)),
            ((-m_a * skew(c_a), None, mp.eye(3), -mp.eye(3)), m_a * (g - spin(w_a, c_a))),
            ((I_a, None, skew(r - c_a), skew(c_a)), -cross(w_a, I_a * w_a)),
        ]
        for i, (blocks, right) in enumerate(lines):
            y[3 * i : 3 * i + 3] = right
            for j, block in enumerate(blocks):
                if block is not None:
                    A[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = block
        x = mp.lu_solve(A, y)
        both = [*x[0:3], *(R_a.T * (x[3:6] - x[0:3] - cross(w_a, relative)))]
        return np.array([float(v) for v in both])


def states(system: cd.System) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(1)
    return [
        (system.compiled.normalized(system.defaults()[0] + rng.uniform(-0.5, 0.5, 8)), rng.uniform(-1, 1, 6))
        for _ in range(4)
    ]


# A light body that carries a heavy one turns about the line to it against its own inertia alone, which is
# added to that of the heavy one: rounding times the ratio of masses, here up to 1e3 of these. Subtree by it,
# it loses nothing.
@pytest.mark.parametrize(
    ("mass_a", "mass_b", "tolerance"),
    [
        (1.0, 1.0, 1e-13),
        (1e6, 1e-6, 1e-13),
        (1e3, 1e-9, 1e-13),
        (1e-2, 1e2, 1e-9),
        (1e-4, 1e4, 1e-5),
        (1e-6, 1e6, 1e-3),
    ],
)
def test_what_is_answered_is_right(mass_a, mass_b, tolerance, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = balls(mass_a, mass_b)
    for q, u in states(system):
        expected = oracle(mass_a, mass_b, q, u)
        np.testing.assert_allclose(
            system.forward_dynamics(q, u), expected, rtol=0, atol=tolerance * np.abs(expected).max()
        )


def test_what_rounding_takes_is_not_called_a_joint_that_lost_rank(monkeypatch):
    """1e-8 kg that carry 1e8 kg: doubles keep no digit of the inertia of the light one."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = balls(1e-8, 1e8)
    for q, u in states(system):
        with pytest.raises(
            cd.errors.SingularError, match=r"of body 'a' .* lost in rounding .* 1e-08 kg and carries"
        ) as caught:
            system.forward_dynamics(q, u)
        assert caught.value.body == "a"
