"""Hertz's ellipse against mpmath: docs/theory/contact.md (25), (26)."""

import mpmath
import numpy as np
import pytest

from condyle.contact import hertz


@pytest.mark.parametrize("k", [1.0, 1.2, 3.0, 20.0, 90.0])
def test_sigma_to_rounding(k: float) -> None:
    """1e-13: (28), (29) have some hundred roundings; a wrong slope (29b) leaves up to 1e-7."""
    with mpmath.workdps(40):
        m = 1 - 1 / mpmath.mpf(k) ** 2
        K, E = mpmath.ellipk(m), mpmath.ellipe(m)
        D = (K - E) / m if m else mpmath.pi / 4
        ratio, sigma = k**2 * (K - D) / D, mpmath.pi / 2 * k * mpmath.sqrt(E) / K**1.5
    found = np.ravel(hertz._function()(float(ratio))[:2])
    np.testing.assert_allclose(found, [float(sigma), 1 / k], rtol=1e-13)
