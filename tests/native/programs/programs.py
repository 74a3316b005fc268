"""Small programs, and a way to run them, that several tests share."""

import casadi as ca
import numpy as np
import pytest

from condyle.native.machine import jit
from condyle.native.programs.nodes import If, Scan, Stream, While, kernel
from condyle.native.programs.program import Program

WIDE = jit.lane_width()
LANES = pytest.mark.parametrize("W", [1, 2, WIDE], ids=lambda W: f"W{W}")


def run(tree, sizes, inputs, W=1, streams=None, counts=None, **options):
    """Run the tree for lanes of inputs, name -> (size, lanes); returns slices by name, shape (size,
    lanes)."""
    tables = {n: s if isinstance(s, Stream) else a.shape[1] for n, (s, a) in (streams or {}).items()}
    program = Program(tree, sizes, W=W, streams=tables, counts=tuple(counts or {}), **options)
    lanes = next(iter(inputs.values())).shape[1]
    assert lanes % W == 0
    results = {n: np.empty((s, lanes)) for n, s in program.sizes.items()}
    for start in range(0, lanes, W):
        workspace = program.workspace()
        for n, x in inputs.items():
            workspace[n] = x[:, start : start + W] if W > 1 else x[:, start]
        arrays = {n: a for n, (_, a) in (streams or {}).items()}
        program.run(workspace, arrays, counts)
        for n, x in results.items():
            x[:, start : start + W] = workspace[n].reshape(-1, W)
    return results


def halving():
    """n <- how often x can be halved before it is below 1; nan and infinite x never are."""
    sizes = {"x": 1, "n": 1, "busy": 1}
    test = kernel(lambda x: ca.if_else(x >= 1, 1, ca.if_else(x < 1, 0, np.nan)), "x", "busy", sizes, "test")
    step = kernel(lambda x, n: (x / 2, n + 1), "x n", "x n", sizes, "halve")
    return [test, While("busy", [step, test], 40)], sizes


def nested():
    """Scan over rows of a While with an If inside: sums of lengths of Collatz sequences, with the odd steps
    counted."""
    sizes = {"x": 1, "first": 1, "n": 1, "odds": 1, "busy": 1, "odd": 1}
    load = kernel(lambda first, row: first + row, "first row", "x", sizes | {"row": 1}, "load")
    look = kernel(lambda x: (x > 1, x / 2 > ca.floor(x / 2)), "x", "busy odd", sizes, "look")
    triple = kernel(lambda x, c: ((3 * x + 1) * 2, c + 1), "x odds", "x odds", sizes, "triple")
    halve = kernel(lambda x, n: (x / 2, n + 1), "x n", "x n", sizes, "halve")
    save = kernel(lambda n: n, "n", "out", sizes | {"out": 1}, "save")
    sequence = While("busy", [If("odd", triple), halve, look], 1000)
    return Scan("rows", [load, look, sequence, save], ["row", "out"]), sizes
