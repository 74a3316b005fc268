"""Functions of each element as loops: equal to CasADi's evaluator and to one straight line."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.loops.elements import ElementSum, Elementwise
from condyle.native.programs.nodes import If, elementwise, summed
from condyle.native.programs.program import Program

SIZES = (1, 3, 31, 33, 64, 70)  # written out, loops with and without a rest


def fn(h: ca.SX, x: ca.SX, d: ca.SX, c: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Two results: one vector, two vectors."""
    return x + h * d[0], ca.vertcat(c[1] * x, d[1] - c[0])


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("W", [1, 4])
def test_elements(n: int, W: int) -> None:
    sizes = {"h": 1, "x": n, "d": 2 * n, "c": 2, "y": n, "z": 2 * n, "s": 1, "on": 1}
    nodes = [
        If("on", [elementwise(fn, "h x d c", "y z", sizes, n, whole=["c"])]),
        summed(lambda x, y: x * y, "x y", "s", sizes, n),
    ]
    program = Program(nodes, sizes, W=W)
    ws = program.workspace()
    rng, shape = np.random.default_rng(n), (W,) if W > 1 else ()
    given = {name: rng.normal(size=(sizes[name], *shape)) for name in "hxdc"}
    for name, value in given.items():
        ws[name] = value
    on = np.ones((1, *shape))
    on[..., W // 2 :] = W == 1  # some lanes do not take the branch: nothing is stored there
    ws["on"] = on
    before = ws["y"].copy()
    program.run(ws)
    d = given["d"].reshape(2, n, *shape)
    y = np.where(on, given["x"] + given["h"] * d[0], before)
    np.testing.assert_allclose(ws["y"], y, rtol=1e-14, atol=1e-15)  # a product may be fused
    z = np.where(on, np.concatenate([given["c"][1] * given["x"], d[1] - given["c"][0]]), 0.0)
    np.testing.assert_allclose(ws["z"], z, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(ws["s"][0], (given["x"] * ws["y"]).sum(axis=0), rtol=1e-13, atol=1e-13)


def test_evaluator() -> None:
    n, states = 40, 3
    h, x, d, c = ca.SX.sym("h"), ca.SX.sym("x"), ca.SX.sym("d", 2), ca.SX.sym("c", 2)
    each = Elementwise(ca.Function("f", [h, x, d, c], [*fn(h, x, d, c)]), n, {0, 3})
    rng = np.random.default_rng(0)
    a = [rng.normal(size=(size, states)) for size in each.inputs]
    y, z = each.evaluate(a)
    np.testing.assert_allclose(y, a[1] + a[0] * a[2][:n], rtol=1e-15)
    np.testing.assert_allclose(z, np.concatenate([a[3][1] * a[1], a[2][n:] - a[3][0]]), rtol=1e-15)
    total = ElementSum(ca.Function("f", [x], [x * x]), n)
    np.testing.assert_allclose(total.evaluate([a[1]])[0], (a[1] ** 2).sum(axis=0, keepdims=True))
    assert total.outputs == [1]
