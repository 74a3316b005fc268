"""Derivatives by differences of order 8: sum of WEIGHTS f(x + STEPS).

The error h^8 f^(9) / 630 with h = 0.01 is 1e-19 f^(9); rounding is some eps f / h = 1e-13 f. Functions of
these tests vary over lengths of about 1: DIFFERENCES of the largest entry is far above both and far below a
wrong term.
"""

from __future__ import annotations

import numpy as np

STEPS = 0.01 * np.array([-4, -3, -2, -1, 1, 2, 3, 4])
WEIGHTS = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / 0.01
DIFFERENCES = 1e-9
