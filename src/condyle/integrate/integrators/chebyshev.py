"""Runge-Kutta-Chebyshev methods: explicit, of order 2, stable along the negative real axis.

Sommeijer, Shampine, Verwer: RKC: an explicit solver for parabolic PDEs, J. Comput. Appl. Math. 88 (1997),
section 2:

    Y_1 = y + m'_1 h f_0,  Y_j = (1 - m_j - n_j) y + m_j Y_j-1 + n_j Y_j-2 + m'_j h f_j-1 + g_j h f_0      (1)
    w_0 = 1 + 2/13 / s^2,  w_1 = T'_s(w_0) / T''_s(w_0),  b_j = T''_j(w_0) / T'_j(w_0)^2,
        b_0 = b_2,  b_1 = 1 / w_0,  a_j = 1 - b_j T_j(w_0)                                                 (2)
    m_j = 2 b_j w_0 / b_j-1,  n_j = -b_j / b_j-2,  m'_1 = b_1 w_1,  m'_j = 2 b_j w_1 / b_j-1,
        g_j = -a_j-1 m'_j                                                                                  (3)
    error = 4/5 (y - y+) + 2/5 h (f + f+)                                                                  (4)

With s stages it is stable for h lambda from -0.65 (s^2 - 1) on, where s Runge-Kutta stages of order s reach
about -s. Written as a tableau, it is one more Explicit.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Chebyshev

from condyle.integrate.integrators.explicit import Explicit

DAMPING = 2 / 13


def chebyshev(name: str, stages: int) -> Explicit:
    """The method of so many stages, 2 or more."""
    s, w_0 = stages, 1 + DAMPING / stages**2
    T, T1, T2 = ([float(Chebyshev.basis(j).deriv(k)(w_0)) for j in range(s + 1)] for k in range(3))
    w_1 = T1[s] / T2[s]  # (2)
    b = [1.0, 1 / w_0, *(T2[j] / T1[j] ** 2 for j in range(2, s + 1))]
    b[0] = b[2]
    Y = np.zeros((s + 1, s))  # Y_j = y + h sum_i Y[j, i] f_i
    Y[1, 0] = b[1] * w_1
    for j in range(2, s + 1):
        m, n, m_ = 2 * b[j] * w_0 / b[j - 1], -b[j] / b[j - 2], 2 * b[j] * w_1 / b[j - 1]  # (3)
        Y[j] = m * Y[j - 1] + n * Y[j - 2]  # (1)
        Y[j, j - 1] += m_
        Y[j, 0] -= (1 - b[j - 1] * T[j - 1]) * m_
    e = 2 / 5 * np.eye(s + 1)[[0, s]].sum(axis=0) - 4 / 5 * np.append(Y[s], 0.0)  # (4)
    return Explicit(name, 2, 3, A=tuple(tuple(Y[j, :j]) for j in range(s)), b=tuple(Y[s]), e=tuple(e))


RKC = chebyshev("rkc", 5)
