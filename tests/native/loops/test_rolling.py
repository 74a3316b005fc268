"""Straight lines that repeat themselves, as loops: the same numbers from a few operations of machine code."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.loops import rolling
from condyle.native.loops.rolling import LONG, roll
from condyle.native.programs.nodes import If, kernel
from tests.native.programs.programs import LANES, run

N = 4 * 121 + 3
EPS = np.finfo(float).eps


def cases(n: int = N) -> dict[str, ca.Function]:
    """Sums and products of vectors; in any order; with sums over all; unit quaternions, entries go
    together."""
    h, t, x, y = ca.SX.sym("h"), ca.SX.sym("t"), ca.SX.sym("x", n), ca.SX.sym("y", n)
    order = np.random.default_rng(1).permutation(n).tolist()
    fours = [x[4 * k : 4 * k + 4] for k in range(n // 4)]
    unit = [q / ca.sqrt(ca.sumsqr(q)) * ca.sin(t) for q in fours]
    results = {
        "sums": [t + h / 2, x + h * (0.3 * y + 0.7 * x), ca.if_else(t > 0, y, x)],
        "any order": [ca.exp(x) * y[order] - h * x + t * y],
        "folds": [*folds(h, t, x, y), h + ca.dot(x, y)],
        "together": [ca.vertcat(*unit, x[4 * len(unit) :]), h * y + x],
    }
    return {name: ca.Function("f", [h, t, x, y], z) for name, z in results.items()}


def folds(h: ca.SX, t: ca.SX, x: ca.SX, y: ca.SX) -> list[ca.SX]:
    """Norms, and what is divided by them, and the largest of that; two of them in one sum."""
    z = x / ca.norm_2(x) - t * y
    largest, least = ca.mmax(ca.fabs(z)), ca.mmin(x)
    return [ca.sqrt(h * ca.dot(z, y) + largest), ca.if_else(least < t, z * largest, y) + least, largest]


def values(f: ca.Function, lanes: int) -> list[np.ndarray]:
    return [np.random.default_rng(k).uniform(0.5, 1.5, (f.numel_in(k), lanes)) for k in range(f.n_in())]


@pytest.mark.parametrize("name", cases())
def test_equals_the_straight_line(name):
    f = cases()[name]
    rows = roll(f)
    assert rows is not None
    x = values(f, 3)
    for found, expected in zip(rows.evaluate(x), f.map(3).call(x), strict=True):
        # Terms of folds are added in another order: N of them, of size one.
        near = N * EPS if name == "folds" else 0
        np.testing.assert_allclose(found, expected.full(), rtol=near, atol=near)


@LANES
@pytest.mark.parametrize("name", cases())
def test_in_a_program(name, W):
    """Lanes whose branch is not taken keep what they had."""
    f = cases()[name]
    ins, outs = [f"i{k}" for k in range(f.n_in())], [f"o{k}" for k in range(f.n_out())]
    sizes = {"on": 1} | {n: f.numel_in(k) for k, n in enumerate(ins)}
    sizes |= {n: f.numel_out(k) for k, n in enumerate(outs)}
    x = values(f, 8)
    on = np.array([[1.0, 0, 1, 1, 0, 1, 0, 1]])
    before = {n: np.full((sizes[n], 8), 7.0) for n in outs}
    found = run(
        If("on", kernel(lambda *a: f.call(a), ins, outs, sizes)),
        sizes,
        dict(zip(ins, x, strict=True)) | before | {"on": on},
        W,
    )
    for n, y in zip(outs, f.map(8).call(x), strict=True):
        # Products are fused with sums, and terms added in another order.
        np.testing.assert_allclose(found[n], np.where(on, y.full(), 7.0), rtol=N * EPS, atol=N * EPS)


@pytest.mark.parametrize("name", ["sums", "folds"])
def test_what_is_left_does_not_grow(name):
    for n in (500, 1500):
        rows = roll(cases(n)[name])
        calls = [call for k in range(len(rows.steps)) for call in rows.merged(k).values()]
        assert sum(call.function.n_instructions() for call in calls) < LONG


def test_what_does_not_repeat_itself_stays():
    x = ca.SX.sym("x", N)
    chain = [ca.SX(0)]
    for k in range(N):
        chain.append(ca.sin(chain[-1]) + x[k])
    for y in (chain[-1], ca.vertcat(*chain), x[:5] + 1):
        assert roll(ca.Function("f", [x], [ca.densify(y)])) is None


@LANES
def test_a_result_in_place_of_an_argument(W):
    """Each result reads what others overwrite: all is read before anything is written."""
    sizes = {"x": 400, "y": 1}
    turned = kernel(lambda x, y: (ca.vertcat(x[1:], x[0]) * 2 + y, y / 2), "x y", "x y", sizes)
    assert roll(turned.f) is not None
    x, y = np.random.default_rng(0).uniform(-1, 1, (400, 8)), np.linspace(1, 2, 8)[None]
    found = run(turned, sizes, {"x": x, "y": y}, W)
    np.testing.assert_allclose(found["x"], np.roll(x, -1, axis=0) * 2 + y, rtol=0, atol=4 * EPS)
    np.testing.assert_array_equal(found["y"], y / 2)


def test_terms_that_share_most_of_a_function_are_not_listed_one_by_one(monkeypatch):
    """To list each with all that it shares would take the square of the function's length."""
    x = ca.SX.sym("x", 400)
    chain = [x[0]]
    for k in range(1, 400):
        chain.append(ca.sin(chain[-1]) * x[k])
    f = ca.Function("f", [x], [ca.dot(ca.vertcat(*chain), x), 2 * x])
    listed: list[int] = []
    one = rolling._component

    def counted(*given):
        found = one(*given)
        listed.append(len(found.key[0]))
        return found

    monkeypatch.setattr(rolling, "_component", counted)
    assert roll(f) is None
    assert sum(listed) < 5 * f.n_instructions()
