"""What hypothesis draws for spatial tests: rotations crowded near 0 and pi; and the rounding that they may
show."""

from __future__ import annotations

from math import pi

import numpy as np
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from condyle.spatial import Transform, rotation_about

EPS = np.finfo(float).eps
# A rotation has entries up to 1; each test multiplies a handful, and each product rounds by about 3 eps.
ROUNDING = 20 * EPS
# Positions reach 10 sqrt(3) and are turned and added a few times.
ROUNDING_P = 20 * ROUNDING


def given(*strategies):
    return lambda test: settings(deadline=None, max_examples=60, print_blob=True)(
        hypothesis_given(*strategies)(test)
    )


def floats(low, high):
    return st.floats(low, high, allow_nan=False)


def vectors(n, bound=10.0):
    return st.lists(floats(-bound, bound), min_size=n, max_size=n).map(np.array)


def units(n):
    return vectors(n, 1.0).filter(lambda v: np.linalg.norm(v) > 0.1).map(lambda v: v / np.linalg.norm(v))


near_zero = floats(-12, -3).map(lambda e: 10.0**e)
near_pi = floats(-12, -3).map(lambda e: pi - 10.0**e)
angles = st.one_of(st.just(0.0), near_zero, floats(0, pi), near_pi, st.just(pi))
quaternions = st.one_of(units(4), st.sampled_from(list(np.eye(4))))
rotations = st.builds(rotation_about, units(3), angles)
transforms = st.builds(Transform, rotations, vectors(3))
twists = st.builds(lambda axis, angle, v: np.r_[axis * angle, v], units(3), angles, vectors(3))


def assert_same_pose(X, Y, rounding=ROUNDING, rounding_p=ROUNDING_P):
    assert_allclose(X.R, Y.R, rtol=0, atol=rounding)
    assert_allclose(X.p, Y.p, rtol=0, atol=rounding_p)
