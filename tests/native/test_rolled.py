"""Straight lines that repeat themselves, as loops: the same numbers from a few operations of machine code."""
from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.programs.nodes import If, kernel
from condyle.native.sweeps.rolled import LONG, rolled
from tests.native.programs import LANES, run

N = 4 * 61 + 3


def cases(n: int = N) -> dict[str, ca.Function]:
    """Sums and products of vectors; the same in any order; quaternions of unit length, whose entries belong together."""
    h, t, x, y = ca.SX.sym("h"), ca.SX.sym("t"), ca.SX.sym("x", n), ca.SX.sym("y", n)
    order = np.random.default_rng(1).permutation(n).tolist()
    fours = [x[4 * k:4 * k + 4] for k in range(n // 4)]
    unit = [q / ca.sqrt(ca.sumsqr(q)) * ca.sin(t) for q in fours]
    return {"sums": ca.Function("f", [h, t, x, y], [t + h / 2, x + h * (0.3 * y + 0.7 * x), ca.if_else(t > 0, y, x)]),
            "any order": ca.Function("f", [h, t, x, y], [ca.exp(x) * y[order] - h * x + t * y]),
            "together": ca.Function("f", [h, t, x, y], [ca.vertcat(*unit, x[4 * len(unit):]), h * y + x])}


def values(f: ca.Function, lanes: int) -> list[np.ndarray]:
    return [np.random.default_rng(k).uniform(0.5, 1.5, (f.numel_in(k), lanes)) for k in range(f.n_in())]


@pytest.mark.parametrize("name", cases())
def test_equals_the_straight_line(name):
    f = cases()[name]
    rows = rolled(f)
    assert rows is not None
    x = values(f, 3)
    for found, expected in zip(rows.evaluate(x), f.map(3).call(x), strict=True):
        np.testing.assert_array_equal(found, expected.full())


@LANES
@pytest.mark.parametrize("name", cases())
def test_in_a_program(name, W):
    """Lanes whose branch is not taken keep what they had."""
    f = cases()[name]
    ins, outs = [f"i{k}" for k in range(f.n_in())], [f"o{k}" for k in range(f.n_out())]
    sizes = {n: f.numel_in(k) for k, n in enumerate(ins)} | {n: f.numel_out(k) for k, n in enumerate(outs)} | {"on": 1}
    x = values(f, 8)
    on = np.array([[1.0, 0, 1, 1, 0, 1, 0, 1]])
    before = {n: np.full((sizes[n], 8), 7.0) for n in outs}
    found = run(If("on", kernel(lambda *a: f.call(a), ins, outs, sizes)), sizes,
                dict(zip(ins, x, strict=True)) | before | {"on": on}, W)
    for n, y in zip(outs, f.map(8).call(x), strict=True):
        # Products are fused with sums.
        np.testing.assert_allclose(found[n], np.where(on, y.full(), 7.0), rtol=1e-14)


def test_what_is_left_does_not_grow():
    left = []
    for n in (N, 10 * N + 6):
        rows = rolled(cases(n)["sums"])
        left.append(sum(call.function.n_instructions() for call in rows.merged(0).values()))
    assert left[0] == left[1] < LONG


def test_what_does_not_repeat_itself_stays():
    x = ca.SX.sym("x", N)
    chain = [ca.SX(0)]
    for k in range(N):
        chain.append(ca.sin(chain[-1]) + x[k])
    for y in (ca.sum1(x * x * x), ca.vertcat(*chain), x[:5] + 1):
        assert rolled(ca.Function("f", [x], [ca.densify(y)])) is None


def test_a_result_in_place_of_an_argument():
    """Each result reads what others overwrite: such a kernel stays one line, which loads before it stores."""
    sizes = {"x": 4 * N}
    turned = kernel(lambda x: ca.vertcat(x[1:], x[0]) * 2 + 1, "x", "x", sizes)
    assert rolled(turned.f) is not None
    x = np.random.default_rng(0).uniform(-1, 1, (4 * N, 1))
    np.testing.assert_array_equal(run(turned, sizes, {"x": x})["x"], np.roll(x, -1, axis=0) * 2 + 1)
