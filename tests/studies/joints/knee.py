"""A path of frames like a knee's, with known control frames, and noise."""

import numpy as np

from condyle.spatial import Transform, exp_se3

DEGREE, MILLIMETER = np.radians(0.5), 1e-3
"""Noise of angles [rad] and of positions [m], standard deviations of each component."""
LENGTH = MILLIMETER / DEGREE
"""Of the metric in which all components have the same noise [m]."""


def control_frames(n, closed=False):
    """n control frames: a turn by 115 degrees that rolls and slides, or a loop."""
    if closed:
        a = 2 * np.pi * np.arange(n) / n
        return exp_se3(
            np.stack(
                [
                    0.3 * np.sin(a),
                    0.2 * np.cos(a),
                    0.5 * np.cos(2 * a),
                    0.1 * np.cos(a),
                    0.1 * np.sin(a),
                    0 * a,
                ],
                axis=1,
            )
        )
    a = np.linspace(0, -2, n)
    R = exp_se3(np.stack([0.075 * a * a, 0.1 * np.sin(2 * a), a, 0 * a, 0 * a, 0 * a], axis=1)).R
    return Transform(R, np.stack([0.02 * np.sin(2 * a), -0.4 + 0.02 * np.cos(a), 0.008 * a], axis=1))


def noisy(X, rng, size=1.0):
    """Frames moved by normal noise, in their own axes."""
    z = rng.normal(size=(len(X.p), 6)) * np.repeat([DEGREE, MILLIMETER], 3)
    return X @ exp_se3(size * z)
