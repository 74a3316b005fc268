"""A double pendulum against its textbook equations, then ten seconds of its motion.

Two point masses on massless rods, the second pin's angle measured from the first rod.
Free of friction, so energy stays.
"""

import numpy as np

import condyle as cd

m1, l1, m2, l2, g = 2.0, 1.0, 1.5, 0.7, 9.81
pendulum = cd.System(gravity=(0, -g, 0))
pendulum.add_body("upper", mobilizer=cd.Pin(), X_BM=(0, l1, 0), mass=m1)
pendulum.add_body("lower", "upper", cd.Pin(), X_BM=(0, l2, 0), mass=m2)


def textbook(q, u):
    """Accelerations of the two angles from the vertical, a and b, as relative ones."""
    a, b, wa, wb = q[0], q[0] + q[1], u[0], u[0] + u[1]
    d = 2 * m1 + m2 - m2 * np.cos(2 * (a - b))
    alpha = (
        -g * (2 * m1 + m2) * np.sin(a)
        - m2 * g * np.sin(a - 2 * b)
        - 2 * np.sin(a - b) * m2 * (wb**2 * l2 + wa**2 * l1 * np.cos(a - b))
    ) / (l1 * d)
    beta = (
        2
        * np.sin(a - b)
        * (
            wa**2 * l1 * (m1 + m2)
            + g * (m1 + m2) * np.cos(a)
            + wb**2 * l2 * m2 * np.cos(a - b)
        )
        / (l2 * d)
    )
    return np.array([alpha, beta - alpha])


rng = np.random.default_rng(0)
q, u = rng.uniform(-3, 3, (2, 1000, 2))
np.testing.assert_allclose(
    pendulum.forward_dynamics(q, u), textbook(q.T, u.T).T, rtol=0, atol=1e-11
)

h, y = 0.002, np.array([2.0, 0.5, 0.0, 0.0])  # Runge-Kutta 4, the state is (q, u)
rate = lambda y: np.concatenate(
    [pendulum.qdot(y[:2], y[2:]), pendulum.forward_dynamics(y[:2], y[2:])]
)
start = sum(pendulum.energy(y[:2], y[2:]))
for _ in range(5000):
    k1 = rate(y)
    k2 = rate(y + h / 2 * k1)
    k3 = rate(y + h / 2 * k2)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
drift = sum(pendulum.energy(y[:2], y[2:])) - start
assert abs(drift) < 1e-4, drift  # of some 50 J that it exchanges; the error falls as h^4
print(
    f"after 10 s the angles are {y[:2].round(3)} rad, "
    f"the energy has drifted by {drift:.1e} J"
)
