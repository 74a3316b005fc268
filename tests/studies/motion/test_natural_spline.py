"""Natural splines in machine code, beside SciPy's and their own definition."""

import pickle

import numpy as np
import pytest

from condyle.studies.motion import spline_rates
from condyle.studies.motion.natural_spline import UNEVEN, NaturalSpline, usable


def recorded(m, ratio, seed):
    rng = np.random.default_rng(seed)
    steps = np.exp(rng.uniform(0, np.log(ratio), m - 1))
    return 0.3 + 0.01 * np.concatenate([[0], np.cumsum(steps)]), rng.normal(size=(m, 3))


def by_scipy(t, x, degree):
    from scipy.interpolate import make_interp_spline

    h, half = (t[-1] - t[0]) / (len(t) - 1), (degree + 1) // 2
    ends = [(j, np.zeros(x.shape[1])) for j in range(half, degree)]
    made = make_interp_spline((t - t[0]) / h, x, k=degree, bc_type=(ends, ends))
    return lambda times, nu=0: made((times - t[0]) / h, nu=nu) / h**nu


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("m", [8, 9, 85, 1000])
def test_as_scipy(degree, m, evidence):
    worst = 0.0
    for seed, ratio in enumerate((1.0, 1 + 1e-7, 2.0, UNEVEN)):
        t, x = recorded(m, ratio, seed)
        assert usable(m, *spline_rates.steps(t))
        ours, theirs = NaturalSpline(t, x, degree), by_scipy(t, x, degree)
        assert abs(ours(t) - x).max() < 5e-14  # A has a condition number below 100
        times = np.random.default_rng(seed).permutation(
            np.concatenate([t, np.linspace(t[0], t[-1], 201), [t[0] - 0.003, t[-1] + 0.003]])
        )
        for nu in range(3):
            there = theirs(times, nu)
            worst = max(worst, abs(ours(times, nu) - there).max() / abs(there).max())
    # rounding of both, times the condition number of A
    evidence("natural splines at uneven times against SciPy, values and derivatives, relative", worst, 5e-14)


def test_it_is_natural():
    """Derivatives 2 .. 3 at the ends vanish; polynomials of degree h - 1 come back."""
    t, x = recorded(40, 3.0, 0)
    ends = NaturalSpline(t, x, 3)(t[[0, -1]], 2)
    assert abs(ends).max() < 1e-12 * abs(NaturalSpline(t, x, 3)(t, 2)).max()
    powers = np.stack([np.ones_like(t), t, t**2], axis=1)
    assert np.allclose(NaturalSpline(t, powers, 5)(t, 2), [0, 0, 2], atol=1e-9)  # rounding over step^2


def test_it_can_be_kept():
    t, x = recorded(30, 2.0, 1)
    made = NaturalSpline(t, x)
    assert (pickle.loads(pickle.dumps(made))(t, 1) == made(t, 1)).all()


def test_others_are_scipys():
    t, x = recorded(30, 1000.0, 2)
    assert not usable(30, *spline_rates.steps(t)) and not usable(7, 1.0, 1.0)
    assert np.allclose(spline_rates.spline(t, x)(t), x, atol=1e-9)
    t, x = recorded(30, 2.0, 2)
    x[3, 0] = np.nan
    with pytest.raises(ValueError, match=r"(?i)nan|infs|finite"):
        spline_rates.spline(t, x)
