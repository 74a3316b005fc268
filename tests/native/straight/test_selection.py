"""Trees of choices over constants as tables: the same numbers as CasADi's evaluator, in every width, and one
index for all."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from condyle.native.machine import jit, parallel
from condyle.native.straight.instructions import Graph
from tests.native.straight.kernels import Kernels, evaluate

WIDTHS = sorted({1, 2, jit.lane_width()})
X = np.concatenate([np.linspace(-3, 3, 61), [np.nan, np.inf, -np.inf, -0.0]])


def tree(x, breaks, leaves, first=0, last=None):
    """A balanced tree: leaves[k] from breaks[k - 1] on."""
    last = len(breaks) if last is None else last
    if first == last:
        return leaves[first]
    middle = (first + last) // 2
    return ca.if_else(
        x < breaks[middle], tree(x, breaks, leaves, first, middle), tree(x, breaks, leaves, middle + 1, last)
    )


def columns(x, rng, n, count, zeros=()):
    """`count` trees of n leaves with the same conditions."""
    breaks = np.sort(rng.uniform(-2, 2, n - 1))
    rows = rng.normal(size=(count, n))
    rows[:, list(zeros)] = 0.0
    return [tree(x, breaks, row.tolist()) for row in rows]


def powers(x, c):
    return sum((a * x**k for k, a in enumerate(c)), ca.SX(0))


CASES = {
    "one register": lambda x, rng: columns(x, rng, 7, 3),
    "two registers": lambda x, rng: columns(x, rng, 16, 3),
    "ends that are zero": lambda x, rng: columns(x, rng, 11, 4, zeros=(0, 10)),
    "zeros in the middle": lambda x, rng: columns(x, rng, 9, 4, zeros=(3, 4, 5)),
    "too many": lambda x, rng: columns(x, rng, 25, 3),
    "too few": lambda x, rng: columns(x, rng, 4, 3),
    "alone": lambda x, rng: columns(x, rng, 11, 1),
    "leaves that are no constants": lambda x, rng: [
        tree(x, [-1, 0, 1, 1.5, 2], [x, 1, 2, 3, 4, k]) for k in (1, 2)
    ],
    "a part of it used elsewhere": lambda x, rng: [
        y for c in columns(x, rng, 8, 2) for y in (c, ca.if_else(x < 3, c, 2.0))
    ],
    "negations": lambda x, rng: [
        ca.if_else(ca.logic_not(x < 0), a, b)
        for a, b in zip(columns(x, rng, 6, 2), columns(-x, rng, 6, 2), strict=True)
    ],
    "used far away": lambda x, rng: [powers(ca.sin(x * k), columns(x, rng, 11, 4)) for k in range(1, 6)],
}


def function(name: str, seed: int = 0) -> ca.Function:
    x = ca.SX.sym("x")
    return ca.Function(
        "f", [x], [ca.densify(ca.SX(y)) for y in CASES[name](x, np.random.default_rng(seed))], {"cse": True}
    )


@pytest.mark.parametrize("split", [1000, 7], ids=["whole", "cut"])
@pytest.mark.parametrize("W", WIDTHS)
def test_equal_to_casadi(W, split):
    functions = [function(name) for name in CASES]
    kernels = Kernels(functions, W, contract=False, split=split)
    for i, (name, f) in enumerate(zip(CASES, functions, strict=True)):
        for got, expected in zip(kernels(i, X), evaluate(f, X), strict=True):
            # sin is within two units in the last place of CasADi's; all else is exact.
            np.testing.assert_allclose(
                got, expected, rtol=1e-14 if "far" in name else 0, atol=0, err_msg=name
            )


@pytest.mark.parametrize(
    ("name", "tables"),
    [
        ("one register", 3),
        ("two registers", 3),
        ("ends that are zero", 4),
        ("too few", 0),
        ("alone", 0),
        ("leaves that are no constants", 0),
    ],
)
def test_what_becomes_a_table(name, tables):
    graph = Graph(function(name), fuse=False, tables=True)
    assert len([k for k in graph.selections.at if graph.uses[k]]) == tables
    shapes = {graph.selections.at[k].shape for k in graph.selections.at if graph.uses[k]}
    assert len(shapes) == (tables > 0)  # one index for all
    assert not Graph(function(name), fuse=False).selections.at


@pytest.mark.parametrize("W", [w for w in (1, jit.permuted_lanes()) if w])
def test_selections_become_few(W):
    """Ten for the index of eleven leaves, whatever the number of columns."""
    lines = [
        line for line in Kernels([function("ends that are zero")], W).text.splitlines() if "select " in line
    ]
    assert len([line for line in lines if "i64" in line]) == 10
    assert all(
        "i64" in line
        or line.endswith(
            (
                "double 0x0000000000000000",
                # truths as numbers
                "splat (double 0x0000000000000000)",
            )
        )
        for line in lines
    )


def test_tables_go_with_the_parts_of_a_long_module(monkeypatch):
    """Parts that are compiled by themselves take along the tables that they name."""
    monkeypatch.setattr(parallel, "_CHUNK", 500)
    f = function("used far away")
    kernels = Kernels([f], 1, contract=False, split=7)
    assert len(parallel.divide(kernels.text)) > 3
    for got, expected in zip(kernels(0, X), evaluate(f, X), strict=True):
        # sin is within two units in the last place
        np.testing.assert_allclose(got, expected, rtol=1e-14, atol=0)
