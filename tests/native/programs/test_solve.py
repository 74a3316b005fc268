"""Newton's method and its derivatives as native programs, against references that share nothing with them."""
import casadi as ca
import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from condyle.errors import DescriptionError, NativeError
from condyle.native.programs import solve
from condyle.native.programs.derivative import jvp, vjp
from condyle.native.programs.nodes import Call, Get, If, Kernel, Put, Scan, Status, Stream, While, kernel
from condyle.native.programs.program import compile_kernel
from tests.native.programs.programs import LANES, WIDE, run

EPS = np.finfo(float).eps


# Linear systems

@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_lu_solve(n, seed):
    """Against numpy, with rows in an order that needs pivots."""
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(n, n)), rng.normal(size=(n, 2))
    if n > 1:
        A[0, 0] = A[1, 1] = 0
    SA, Sb = ca.SX.sym("A", n, n), ca.SX.sym("b", n, 2)
    x = ca.Function("f", [SA, Sb], [solve.lu_solve(SA, Sb)])(A, b).full()
    # backward stable: n eps cond, 10 for the growth of pivots
    np.testing.assert_allclose(A @ x, b, rtol=0, atol=10 * n * EPS * np.linalg.cond(A) * np.abs(b).max())


# Newton: one equation, as of a muscle in series with its tendon

def muscle(l_M, p, exp, cos):
    """Force of the tendon less that of the fibre along it; normalised lengths and forces, p = (l_MT, a, alpha)."""
    l_MT, a, alpha = p
    l_T = l_MT - l_M * cos(alpha)
    f_T = 0.2 * exp(35 * (l_T - 0.995)) - 0.25
    f_L = exp(-((l_M - 1) / 0.45) ** 2)
    f_P = (exp(4 * (l_M - 1) / 0.6) - 1) / (np.e**4 - 1)
    return f_T - (a * f_L + f_P) * cos(alpha)


def muscle_newton():
    sizes = {"l_M": 1, "p": 3}
    tree = solve.newton(lambda x, p: muscle(x, ca.vertsplit(p), ca.exp, ca.cos), "l_M", ["p"], sizes, tol=1e-12)
    return tree, sizes


def muscles(seed, count):
    """Parameters (3, count) and a guess with the tendon 3 % stretched."""
    rng = np.random.default_rng(seed)
    a, alpha, l_M = rng.uniform(0.02, 1, count), rng.uniform(0, 0.5, count), rng.uniform(0.6, 1.4, count)
    l_MT = 1.02 + l_M * np.cos(alpha)
    return np.array([l_MT, a, alpha]), (l_MT - 1.03)[None] / np.cos(alpha)


def test_newton_balances_muscle_and_tendon(evidence):
    tree, sizes = muscle_newton()
    p, guess = muscles(0, 400)
    y = run(tree, sizes, {"l_M": guess, "p": p}, WIDE)
    assert not y["status"].any()
    expected = [brentq(muscle, 0.2, 2.0, (pi, np.exp, np.cos), xtol=1e-15, rtol=4 * EPS) for pi in p.T]
    # the residual rounds to about 10 eps of a force near 1 and rises by at least 8 a unit of length
    evidence("Newton as a native program: equilibrium of 400 muscles, against brentq [optimal lengths]",
             np.abs(y["l_M"][0] - expected).max(), 5e-15)

    scalar = run(tree, sizes, {"l_M": guess, "p": p}, 1)
    for n in sizes:                                         # the same operations: equal to the last bit
        assert np.array_equal(scalar[n], y[n]), n
    assert len(np.unique(y["l_M.iterations"])) > 1


@LANES
def test_newton_reports_lanes_without_a_root(W):
    """x^2 = p: no root for p < 0, and a guess of zero divides by zero; the neighbours do not notice."""
    sizes = {"x": 1, "p": 1}
    tree = solve.newton(lambda x, p: x * x - p, "x", ["p"], sizes, max_iter=50)
    p = np.array([[4.0, -1.0, 9.0, 2.0, np.nan, 16.0, 25.0, 1.0]])
    x = np.array([[1.0, 0.7, 1.0, 0.0, 1.0, -3.0, np.inf, 1.0]])
    y = run(tree, sizes, {"x": x, "p": p}, W)
    OK, LIMIT, NAN = Status.OK, Status.LIMIT, Status.NAN
    assert y["status"].tolist() == [[OK, LIMIT, OK, NAN, NAN, OK, NAN, OK]]
    good = [0, 2, 5, 7]
    assert np.array_equal(y["x"][0, good], [2, 3, -4, 1])   # converged quadratically to numbers that exist
    assert y["x.iterations"][0, 1] == 50
    assert y["x.iterations"][0, 7] == 1


def test_newton_refuses_a_residual_of_another_size():
    with pytest.raises(DescriptionError, match="residual has 2 elements, the unknown 1"):
        solve.newton(lambda x, p: p, "x", ["p"], {"x": 1, "p": 2})


# Newton: four equations, a four-bar linkage

def four_bar(x, p, cos, sin):
    """Joints B, C of a linkage A-B-C-D, A = 0, D = (d, 0): x = (B, C), p = (angle of AB, AB, BC, CD, d)."""
    phi, r, l, m, d = p
    return [x[0] - r * cos(phi), x[1] - r * sin(phi), (x[2] - x[0])**2 + (x[3] - x[1])**2 - l**2,
            (x[2] - d)**2 + x[3]**2 - m**2]


def four_bar_closed_form(p):
    """C is where two circles meet, above BD."""
    phi, r, l, m, d = p
    B, D = np.array([r * np.cos(phi), r * np.sin(phi)]), np.array([d, 0])
    e = D - B
    s = np.hypot(*e)
    along = (s**2 + l**2 - m**2) / (2 * s)
    C = B + e / s * along + np.array([-e[1], e[0]]) / s * np.sqrt(l**2 - along**2)
    return np.concatenate([B, C])


def four_bar_newton():
    sizes = {"x": 4, "p": 5}
    residual = lambda x, p: ca.vertcat(*four_bar(ca.vertsplit(x), ca.vertsplit(p), ca.cos, ca.sin))
    return solve.newton(residual, "x", ["p"], sizes, tol=1e-12), sizes


def linkages(seed, count):
    rng = np.random.default_rng(seed)
    return np.array([rng.uniform(0, 2 * np.pi, count), rng.uniform(0.2, 0.4, count), rng.uniform(1.0, 1.2, count),
                     rng.uniform(0.8, 1.0, count), rng.uniform(0.9, 1.1, count)])


def test_newton_closes_a_four_bar_linkage(evidence):
    tree, sizes = four_bar_newton()
    p = linkages(0, 160)
    expected = np.array([four_bar_closed_form(q) for q in p.T]).T
    guess = expected + np.random.default_rng(1).uniform(-0.1, 0.1, expected.shape)
    y = run(tree, sizes, {"x": guess, "p": p}, WIDE)
    assert not y["status"].any()
    # the circles meet at no less than about 20 degrees: rounding grows by 1 / sin^2, below 10
    evidence("Newton as a native program: 160 four-bar linkages, four unknowns, against the closed form [lengths]",
             np.abs(y["x"] - expected).max(), 20 * EPS)
    scalar = run(tree, sizes, {"x": guess, "p": p}, 1)
    assert np.array_equal(scalar["x"], y["x"])              # pivots differ between lanes, results do not


# Derivatives

def derivative_of_root(residual, p, guess):
    """dx/dp, shape (n, m), by central differences of roots in 60 digits: exact to 1e-30."""
    with mpmath.workdps(60):
        x0, p, h = [mpmath.mpf(float(v)) for v in guess], [mpmath.mpf(float(v)) for v in p], mpmath.mpf(10)**-20
        root = lambda q: mpmath.matrix(mpmath.findroot(lambda *x: residual(x, q), x0))
        shifted = lambda j, s: [*p[:j], p[j] + s * h, *p[j + 1:]]
        columns = [(root(shifted(j, 1)) - root(shifted(j, -1))) / (2 * h) for j in range(len(p))]
        return np.array([[float(v) for v in c] for c in columns]).T


def test_implicit_derivative_of_a_muscle(evidence):
    tree, sizes = muscle_newton()
    p, guess = muscles(3, 8)
    residual = lambda x, q: [muscle(x[0], q, mpmath.exp, mpmath.cos)]
    expected = np.vstack([derivative_of_root(residual, q, [g]) for q, g in zip(p.T, guess[0])]).T
    forward_sizes, reverse_sizes = dict(sizes), dict(sizes)
    forward, reverse = jvp(tree, forward_sizes), vjp(tree, reverse_sizes)
    worst = 0.0
    for W in (1, WIDE):
        for j in range(3):
            y = run(forward, forward_sizes, {"l_M": guess, "p": p, "p.dot": np.eye(3)[:, [j] * 8]}, W)
            worst = max(worst, np.abs(y["l_M.dot"][0] - expected[j]).max())
        y = run(reverse, reverse_sizes, {"l_M": guess, "p": p, "l_M.bar": np.ones((1, 8))}, W)
        worst = max(worst, np.abs(y["p.bar"] - expected).max())
        assert not y["l_M.bar"].any()                       # what a root was guessed from does not matter
    # the error of the root, 1e-15, times the tendon's curvature, 35, and as much again for the sums
    evidence("Derivatives of a native Newton solve, forward and reverse, against 60 digits", worst, 1e-13)


def test_implicit_derivative_of_a_linkage():
    """Forward and reverse: the whole Jacobian, by columns and by rows."""
    tree, sizes = four_bar_newton()
    p = linkages(5, 1)[:, 0]
    start = four_bar_closed_form(p)
    J = derivative_of_root(lambda x, q: four_bar(x, q, mpmath.cos, mpmath.sin), p, start)
    forward_sizes, reverse_sizes = dict(sizes), dict(sizes)
    forward, reverse = jvp(tree, forward_sizes), vjp(tree, reverse_sizes)
    inputs = {"x": start[:, None] + 0.05, "p": p[:, None]}
    Jp = np.hstack([run(forward, forward_sizes, inputs | {"p.dot": e[:, None]})["x.dot"] for e in np.eye(5)])
    Jx = np.hstack([run(reverse, reverse_sizes, inputs | {"x.bar": e[:, None]})["p.bar"] for e in np.eye(4)]).T
    # a solve with the Jacobian at the root, its condition is below 1e2
    np.testing.assert_allclose(Jp, J, rtol=0, atol=100 * EPS * np.abs(J).max())
    np.testing.assert_allclose(Jx, J, rtol=0, atol=100 * EPS * np.abs(J).max())


@LANES
def test_derivative_of_a_chain_that_overwrites_its_slices(W):
    """x <- x y; y <- x^2 (the new x); root r of r^3 = y; z = r y. So r = (x y)^(2/3), z = (x y)^(8/3)."""
    sizes = {"x": 1, "y": 1, "r": 1, "z": 1}
    chain = [kernel(lambda x, y: x * y, "x y", "x", sizes), [kernel(lambda x: x * x, "x", "y", sizes)],
             solve.newton(lambda r, y: r**3 - y, "r", ["y"], sizes, tol=1e-13),
             kernel(lambda r, y: r * y, "r y", "z", sizes), kernel(lambda r: (r + 1, ca.SX(0)), "r", "r y", sizes)]
    forward_sizes, reverse_sizes = dict(sizes), dict(sizes)
    forward, reverse = jvp(chain, forward_sizes), vjp(chain, reverse_sizes)
    rng = np.random.default_rng(7)
    x, y, xd, yd = rng.uniform(0.5, 2, (4, 1, 8))
    dz = 8 / 3 * (x * y)**(5 / 3)
    inputs = {"x": x, "y": y, "r": np.ones((1, 8))}
    f = run(forward, forward_sizes, inputs | {"x.dot": xd, "y.dot": yd}, W)
    r = run(reverse, reverse_sizes, inputs | {"z.bar": np.ones((1, 8))}, W)
    # a few roundings of numbers near 1
    np.testing.assert_allclose(f["z"], (x * y)**(8 / 3), rtol=20 * EPS)
    np.testing.assert_allclose(f["z.dot"], dz * (y * xd + x * yd), rtol=40 * EPS)
    np.testing.assert_allclose(f["r.dot"], 2 / 3 * (x * y)**(-1 / 3) * (y * xd + x * yd), rtol=40 * EPS)
    np.testing.assert_allclose(r["x.bar"], dz * y, rtol=40 * EPS)
    np.testing.assert_allclose(r["y.bar"], dz * x, rtol=40 * EPS)
    assert not r["z.bar"].any()


@LANES
def test_derivatives_hold_branches_and_rows_fixed(W):
    """y = c x with c from a table, doubled where the flag is set: dy/dx = c or 2 c, none by the index."""
    sizes = {"x": 1, "i": 1, "c": 1, "y": 1, "f": 1}
    tree = [Get("table", "i", "c"), kernel(lambda x, c: c * x, "x c", "y", sizes)]
    branch = If("f", kernel(lambda y: 2 * y, "y", "y", sizes))
    forward_sizes, reverse_sizes = dict(sizes), dict(sizes)
    forward, reverse = jvp([*tree, branch], forward_sizes), vjp(tree, reverse_sizes)
    inputs = {"x": np.full((1, 8), 3.0), "i": np.arange(8)[None] % 4, "f": np.arange(8)[None] % 2.0}
    streams = {"table": (Stream(1, shared=True), np.array([[1.0], [10.0], [100.0], [1000.0]]))}
    one = np.ones((1, 8))
    f = run(forward, forward_sizes, inputs | {"x.dot": one, "c.dot": 5 * one}, W, streams)
    r = run(reverse, reverse_sizes, inputs | {"y.bar": one, "c.bar": 5 * one}, W, streams)
    assert f["y.dot"].tolist() == [[1, 20, 100, 2000] * 2]
    assert r["x.bar"].tolist() == [[1, 10, 100, 1000] * 2]
    assert not f["c.dot"].any() and not r["c.bar"].any()


def test_nodes_without_a_rule_refuse():
    sizes = {"x": 1, "f": 1}
    body = kernel(lambda x: x + 1, "x", "x", sizes)
    elsewhere = compile_kernel(body.f, "elsewhere")
    nodes = {r"While\('f'\)": While("f", body, 3), r"Scan\(3\)": Scan(3, body), r"Put\('t'\)": Put("x", "t", "f"),
             r"Call\('dscal'\)": Call("dscal", (1, 2.0, "x", 1)),
             "Kernel 'elsewhere'": Kernel(elsewhere, ("x",), ("x",))}
    for name, node in nodes.items():
        for differentiate in (jvp, vjp):
            with pytest.raises(NativeError, match=f"{name} has no derivative rule"):
                differentiate([body, node], dict(sizes))
    with pytest.raises(NativeError, match=r"If\('f'\) has no derivative rule \(vjp\)"):
        vjp(If("f", body), dict(sizes))
