"""Runge-Kutta steps and fixed-step integration as native programs: orders measured, lanes equal to single runs."""
import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from condyle.errors import DescriptionError, ShapeError
from condyle.native.programs import solve
from condyle.native.programs.nodes import Kernel
from condyle.native.programs.program import Program
from tests.native.programs.programs import WIDE, run

EPS = np.finfo(float).eps


T, Y = ca.SX.sym("t"), ca.SX.sym("y")
RATIONAL = ca.Function("rational", [T, Y], [-2 * T * Y**2])  # y = 1 / (1 + t^2): not linear, not autonomous


def measured_order(tableau, steps):
    """Slope of the error at t = 1."""
    errors = [abs(solve.rk4(RATIONAL, [1.0], 0.0, 1 / n, n, n, tableau=tableau)[1][-1, 0] - 0.5) for n in steps]
    return np.diff(np.log(errors)) / np.diff(np.log(steps))


@pytest.mark.parametrize("tableau", [solve.RK4, solve.MERSON, solve.DORMAND_PRINCE], ids=lambda T: T.name)
def test_order_is_the_one_claimed(tableau):
    orders = -measured_order(tableau, [16, 32, 64])
    # halving h, the next power of h disturbs the slope by a few tenths at these steps
    np.testing.assert_allclose(orders, tableau.order, atol=0.35)


@pytest.mark.parametrize(("tableau", "order"), [(solve.MERSON, 4), (solve.DORMAND_PRINCE, 5)], ids=["merson", "dopri"])
def test_error_estimate_has_the_order_of_the_comparison(tableau, order):
    """Merson compares with a method of order 3, Dormand and Prince with one of order 4: one more in a single step."""
    sizes = {"t": 1, "y": 1, "h": 1}
    tree = solve.rk_step(tableau, lambda t, y, k: Kernel(RATIONAL, (t, y), (k,)), sizes, error="e")
    h, ones = 0.1 * 0.5**np.arange(4), np.ones((1, 4))
    e = run(tree, sizes, {"t": 1.3 * ones, "y": ones / 2.69, "h": h[None]})["e"][0]
    # the next power of h disturbs the slope by less than h
    np.testing.assert_allclose(np.diff(np.log(np.abs(e))) / np.diff(np.log(h)), order, atol=0.1)


def test_a_tableau_without_an_estimate_gives_none():
    with pytest.raises(DescriptionError, match="rk4 has no error estimate"):
        solve.rk_step(solve.RK4, lambda t, y, k: Kernel(RATIONAL, (t, y), (k,)), {"t": 1, "y": 1, "h": 1}, error="e")


def oscillator():
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p")
    return ca.Function("oscillator", [t, y, p], [ca.vertcat(y[1], -p**2 * y[0])])


def test_harmonic_oscillator(evidence):
    """x = cos(w t). RK4's phase is behind by w t (w h)^4 / 120, its amplitude lacks w t (w h)^5 / 144."""
    w, h = 2.0, 0.01
    t, Y = solve.rk4(oscillator(), [1.0, 0.0], 0.0, h, 1000, 10, [w])
    assert t.shape == (101,) and Y.shape == (101, 2)
    assert t[-1] == pytest.approx(10, rel=2 * EPS)          # products, not sums, of h
    lag = w * t * (w * h)**4 / 120
    # the next terms are smaller by (w h)^2 and by (w h); rounding is 1e-13
    np.testing.assert_allclose(Y[:, 0], np.cos(w * t - lag), rtol=0, atol=20 * (w * h)**5 / 144 + 1e-13)
    evidence("RK4 as a native program: harmonic oscillator, 1000 steps of 0.02 rad, against the cosine",
             np.abs(Y[:, 0] - np.cos(w * t)).max(), w * 10 * (w * h)**4 / 120 * 1.01 + 1e-13)


def test_lanes_of_initial_states_equal_single_runs():
    """A batch that does not fill its last block, parameters one by one or for all."""
    rng = np.random.default_rng(1)
    count = 2 * WIDE + 3
    y0, w = rng.normal(size=(count, 2)), rng.uniform(1, 3, (count, 1))
    f = oscillator()
    t, Y = solve.rk4(f, y0, 0.5, 0.01, 60, 20, w)
    assert Y.shape == (count, 4, 2)
    for i in range(count):
        ti, Yi = solve.rk4(f, y0[i], 0.5, 0.01, 60, 20, w[i])
        assert np.array_equal(t, ti)
        assert np.array_equal(Y[i], Yi)                     # the same operations
    same = solve.rk4(f, y0, 0, 0.01, 4, 2, np.full((count, 1), 2.0))[1]
    assert np.array_equal(solve.rk4(f, y0, 0, 0.01, 4, 2, [2.0])[1], same)
    assert solve.rk4(f, y0[:0], 0, 0.01, 4, 2, [2.0])[1].shape == (0, 3, 2)
    assert np.array_equal(solve.rk4(f, y0[0], 0, 0.01, 0, 1, [2.0])[1], y0[:1])


def test_pendulum_against_another_integrator():
    """A function of two arguments, not linear, against SciPy's DOP853 at tight tolerance."""
    t, y = ca.SX.sym("t"), ca.SX.sym("y", 2)
    f = ca.Function("pendulum", [t, y], [ca.vertcat(y[1], -9.81 * ca.sin(y[0]) + ca.cos(3 * t))])
    ts, Y = solve.rk4(f, [1.0, 0.0], 0.0, 1e-3, 3000, 300)
    other = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0]) + np.cos(3 * t)], (0, 3), [1.0, 0.0], method="DOP853",
                      rtol=1e-13, atol=1e-14, t_eval=np.minimum(ts, 3))
    # RK4 at h = 1e-3: (w h)^4 w t / 120 with w near 3 is 7e-12; SciPy's own error is near 1e-12
    np.testing.assert_allclose(Y, other.y.T, rtol=0, atol=1e-10)


def test_the_right_hand_side_is_compiled_once():
    sizes = {"y": 2, "p": 1}
    f = oscillator()
    tree = solve.integrate_fixed(solve.RK4, lambda t, y, k: Kernel(f, (t, y, "p"), (k,)), sizes)
    text = Program(tree, sizes, streams={"Y": 2}, counts=("frames", "every")).text
    assert text.count("oscillator(") == 1 + 4               # one definition, a call for each stage


def test_progress_and_interrupt_of_rk4():
    seen = []

    def report(fraction):
        seen.append(fraction)
        if len(seen) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve.rk4(oscillator(), [1.0, 0.0], 0.0, 1e-9, 10**9, 10**9, [1.0], progress=report)
    assert 0 < seen[0] < seen[1] < 1


def test_wrong_arguments_of_rk4():
    f, t, y = oscillator(), ca.SX.sym("t"), ca.SX.sym("y", 2)
    for match, arguments in [
        (r"params: expected shape \(1,\) or \(1, 1\), got \(0,\)", (f, [1, 0], 0, 0.1, 10)),
        ("sizes t: 1, y: 2, output: 2: expected 1, 3, 3", (f, [1, 0, 0], 0, 0.1, 10)),
        ("has 1 inputs and 1 outputs", (ca.Function("g", [y], [y]), [1, 0], 0, 0.1, 10)),
        ("output: 1", (ca.Function("g", [t, y], [t]), [1, 0], 0, 0.1, 10)),
        ("multiple of every", (f, [1, 0], 0, 0.1, 10, 3, [1])),
        (r"y0: expected shape \(n,\) or \(N, n\), got \(\)", (f, 1.0, 0, 0.1, 10)),
    ]:
        with pytest.raises((ShapeError, DescriptionError), match=match):
            solve.rk4(*arguments)
