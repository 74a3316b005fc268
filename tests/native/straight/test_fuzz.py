"""Random expression graphs through machine code and through CasADi's evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from condyle.native.machine import jit
from condyle.native.straight import kernel_writer
from tests.native.straight.graphs import EXACT, LOGIC, OTHER, random_graph, random_inputs, spread
from tests.native.straight.kernels import Kernels, evaluate

BATCH = 100  # graphs in one module
STATES = 16


@pytest.fixture(autouse=True)
def _short_reach(monkeypatch):
    """Values travel through memory often, as in long kernels."""
    monkeypatch.setattr(kernel_writer, "_REACH", 12)


def graphs(seed: int, *tables, size: int = 40):
    rng = np.random.default_rng(seed)
    made = [random_graph(rng, tables, int(rng.integers(3, size))) for _ in range(BATCH)]
    return made, [random_inputs(rng, STATES) for _ in made]


def same(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Equal with the sign of zero; every NaN is like every other."""
    return (np.isnan(a) & np.isnan(b)) | ((a == b) & (np.signbit(a) == np.signbit(b)))


def check_exact(seed: int, W: int) -> None:
    """+ - * sqrt without contraction: the same bits as CasADi."""
    functions, inputs = graphs(seed, EXACT)
    kernels = Kernels(functions, W, contract=False, split=25)
    for i, (f, x) in enumerate(zip(functions, inputs)):
        got, expected = kernels(i, x)[0], evaluate(f, x)[0]
        assert same(got, expected).all(), (
            f"seed {seed}, graph {i}, W = {W}: {got} instead of {expected}\n{f.str(True)}"
        )


def check_close(seed: int, contract: bool) -> tuple[int, int]:
    """All operations: within the spread of two right evaluations, scalar and W lanes, which are the same
    bits.

    Returns outputs compared and outputs in all.
    """
    functions, inputs = graphs(seed, EXACT, LOGIC, OTHER)
    scalar, wide = (Kernels(functions, W, contract, split=25) for W in (1, jit.lane_width()))
    compared = total = 0
    for i, (f, x) in enumerate(zip(functions, inputs)):
        got, expected = scalar(i, x)[0], evaluate(f, x)[0]
        with np.errstate(all="ignore"):
            allowed, known = spread(f, x, contract)
            # Each of the two may lie this far from the exact one.
            right = (
                (np.isnan(got) & np.isnan(expected))
                | (got == expected)
                | (np.abs(got - expected) <= 2 * allowed)
            )
        where = f"seed {seed}, graph {i}, contract {contract}"
        bad = np.argwhere(known & ~right)
        assert not len(bad), (
            f"{where}: at {x[bad[0, 0]]}: {got[bad[0, 0]]} instead of "
            f"{expected[bad[0, 0]]}, allowed {allowed[bad[0, 0]]}\n{f.str(True)}"
        )
        lanes = wide(i, x)[0]
        # of a NaN: either sign
        alike = same(got, lanes) | (~known if "copysign" in f.str(True) else False)
        assert alike.all(), f"{where}: {lanes} in lanes instead of {got}\n{f.str(True)}"
        compared += int(known.sum())
        total += known.size
    return compared, total


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("W", [1, jit.lane_width()])
def test_exact_operations_have_the_same_bits(seed, W):
    check_exact(seed, W)


@pytest.mark.parametrize("seed", [11, 12])
@pytest.mark.parametrize("contract", [False, True])
def test_all_operations_are_close(seed, contract):
    compared, total = check_close(seed, contract)
    # A check that skips everything would pass: most outputs must have a known spread.
    assert compared > 0.7 * total


@pytest.mark.slow
def test_ten_thousand_graphs():
    """2,000 exact and 8,000 of everything, each scalar and in lanes: a minute or two."""
    for seed in range(1000, 1020):
        for W in (1, jit.lane_width()):
            check_exact(seed, W)
    counts = [check_close(seed, contract=bool(seed % 2)) for seed in range(2000, 2080)]
    compared, total = np.sum(counts, axis=0)
    print(f"compared {compared} of {total} outputs")
    assert compared > 0.7 * total
