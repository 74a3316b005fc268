"""Trees that Python runs: the numbers of machine code, without any."""

import casadi as ca
import numpy as np
import pytest

from condyle.errors import NativeError
from condyle.native.machine import cache, jit
from condyle.native.programs.interpreted import Interpreted
from condyle.native.programs.nodes import Call, Get, If, Ints, Kernel, LaneStatus, Put, Take, While, kernel
from condyle.native.programs.program import compile_kernel
from condyle.native.tables.expression_cache import cached
from tests.native.programs.programs import halving, nested, run


def interpreted(tree, sizes, inputs, streams=None, counts=None):
    """Slices by name after a run on one lane."""
    program = Interpreted(tree, sizes, {n: a.shape[1] for n, a in (streams or {}).items()})
    workspace = program.workspace()
    for n, x in inputs.items():
        workspace[n][:] = x
    program.run(workspace, streams, counts)
    return workspace


@pytest.fixture
def no_code(monkeypatch):
    """Nothing is compiled."""

    def refuse(*_):
        raise AssertionError("machine code was asked for")

    monkeypatch.setattr(jit, "compile_ir", refuse)


@pytest.mark.parametrize("x", [0.3, 1.0, 1000.0, 1e300, np.inf, np.nan])
def test_loops_that_end_reach_their_limit_or_are_not_a_number(x):
    tree, sizes = halving()
    compiled = run(tree, sizes, {"x": np.array([[x]])})
    found = interpreted(tree, sizes, {"x": x})
    for name in ("n", "status"):
        np.testing.assert_array_equal(found[name], compiled[name][:, 0])  # halves are exact


def test_loops_inside_of_scans_over_streams(no_code):
    tree, sizes = nested()
    rows, out = np.array([[1.0], [7.0], [27.0]]), np.zeros((3, 1))
    found = interpreted(tree, sizes, {"first": 0.0}, {"row": rows, "out": out}, {"rows": 3})
    # Collatz: 27 takes 111 steps, of which 41 are odd, 7 takes 16 (5), 1 none; sums go on, and an odd step halves too
    assert out.ravel().tolist() == [0, 16 - 5 + 5, 16 + 111]
    assert found["odds"] == 5 + 41


def test_routines_of_lapack(no_code):
    A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
    sizes = {"A": 9, "x": 3, "info": 1}
    tree = [
        Call("dpotrf", (b"L", 3, "A", 3, Ints("info"))),
        Call("dpotrs", (b"L", 3, 1, "A", 3, "x", 3, Ints("info"))),
        Call("dscal", (3, 2.0, "x", 1)),
    ]
    found = interpreted(tree, sizes, {"A": A.ravel(), "x": [1, 2, 3]})
    np.testing.assert_allclose(found["x"], 2 * np.linalg.solve(A, [1, 2, 3]), rtol=1e-14)  # cond(A) is 3
    assert found["info"] == 0
    found = interpreted(tree[:1], sizes, {"A": -A.ravel()})
    assert found["info"] == 1  # the first minor is not positive


@pytest.mark.parametrize(("index", "row", "status"), [(1.7, 1, 0), (-1, 0, 3), (5, 2, 3), (np.nan, 0, 3)])
def test_rows_of_tables(no_code, index, row, status):
    table = np.arange(6.0).reshape(3, 2)
    sizes = {"at": 1, "x": 2}
    found = interpreted(Get("rows", "at", "x"), sizes, {"at": index}, {"rows": table})
    assert found["x"].tolist() == table[row].tolist()
    assert found["status"] == status
    found = interpreted(Put("x", "rows", "at"), sizes, {"at": index, "x": 9}, {"rows": table})
    assert (table == 9).any() == (status == 0)
    assert found["status"] == status


def test_a_slice_may_be_read_and_written(no_code):
    """x, y <- y, x; and a branch that is not taken for a NaN."""
    sizes = {"x": 2, "y": 2, "flag": 1}
    swap = kernel(lambda x, y: (y, x), "x y", "x y", sizes)
    for flag, x in ((1.0, [3, 4]), (0.0, [1, 2]), (np.nan, [1, 2])):
        found = interpreted(If("flag", swap), sizes, {"x": [1, 2], "y": [3, 4], "flag": flag})
        assert found["x"].tolist() == x


def test_what_needs_machine_code():
    x = ca.SX.sym("x")
    external = compile_kernel(ca.Function("f", [x], [2 * x]), "twice")
    for node in (Kernel(external, ("x",), ("x",)), Take("queue", "x")):
        with pytest.raises(NativeError, match="needs machine code: make a Program"):
            interpreted([node], {"x": 1}, {}, {"queue": np.zeros((1, 1))})


def test_a_limit_by_a_count(no_code):
    sizes = {"x": 1}
    tree = While("x", kernel(lambda x: x + 1, "x", "x", sizes), "rounds")
    found = interpreted(tree, sizes, {"x": 1.0}, counts={"rounds": 4})
    assert (found["x"], found["status"]) == (5, LaneStatus.LIMIT)


def test_kept_trees_are_made_once(no_code, tmp_path, monkeypatch):
    """In this process and, from the disk, in the next one, they run as they did."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    held: dict = {}
    monkeypatch.setattr("condyle.native.tables.expression_cache._held", held)
    calls = []

    def make():
        calls.append(1)
        tree, sizes = halving()
        return Interpreted(tree, sizes)

    for forget in (False, False, True, True):
        if forget:
            held.clear()
        program = cached("halving", make)
        workspace = program.workspace()
        workspace["x"][:] = 100.0
        program.run(workspace)
        assert workspace["n"] == 7
    assert len(calls) == 1
    held.clear()
    cache.store("expressions\nhalving", b"not a pickle", {})
    assert isinstance(cached("halving", make), Interpreted)
    assert len(calls) == 2
