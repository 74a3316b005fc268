"""Derivatives by differences of order 8, the oracle of this room."""

from collections.abc import Callable

import numpy as np

WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def slope(f: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """df/de at e = 0; errors are h^8 of the ninth derivative and 1e-15 / h."""
    return sum(c * (f(k * h) - f(-k * h)) / h for k, c in enumerate(WEIGHTS, 1))


def relative(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference over the largest number."""
    return float(np.abs(a - b).max(initial=0) / max(np.abs(b).max(initial=0), 1e-300))
