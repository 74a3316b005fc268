"""Programs: pauses, threads, processes, packing, and what is refused."""

import gc
import json
import os
import pickle
import textwrap
import threading

import casadi as ca
import numpy as np
import pytest

from condyle.errors import DescriptionError, NativeError, ShapeError, UnknownNameError
from condyle.native.programs.nodes import Call, Get, If, Ints, Kernel, Put, Scan, Stream, Take, While, kernel
from condyle.native.programs.program import Program
from tests.ctrl_c import pressed_from
from tests.native.programs.programs import LANES, WIDE, halving, nested
from tests.process import output

# Queues


@LANES
def test_lanes_and_threads_share_a_queue(W):
    """1000 members, taken by all lanes of three threads: each is served once, and its row is its own."""
    sizes = {"member": 1, "busy": 1, "x": 2, "count": 1}
    take = [Take("queue", "member"), kernel(lambda i, n: i < n, "member count", "busy", sizes, "some")]
    work = [
        kernel(lambda i: ca.vertcat(i, i**2), "member", "x", sizes, "square"),
        Put("x", "out", "member"),
        *take,
    ]
    program = Program(
        [*take, While("busy", work, 2000)],
        sizes,
        W=W,
        streams={"queue": Stream(1, True), "out": Stream(2, True)},
    )
    queue, out = np.zeros((1, 1)), np.full((1000, 2), np.nan)
    workspaces = [program.workspace() for _ in range(3)]

    def serve(ws):
        ws["count"] = 1000
        program.run(ws, {"queue": queue, "out": out})

    threads = [threading.Thread(target=serve, args=(ws,)) for ws in workspaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(out, np.arange(1000.0)[:, None] ** [1, 2])
    assert queue[0, 0] == 1000 + 3 * W  # each lane asked once more than it got
    assert not any(ws["status"].any() for ws in workspaces)


# Pauses


@LANES
def test_a_run_in_single_rounds_equals_one_run(W):
    """Stopping at the head of every loop, inside If, While and nested Scans, changes nothing."""
    tree, sizes = nested()
    tree = [
        Scan(2, tree, {"row": 0, "out": "rows"}),
        If("first", Scan(3, kernel(lambda x: x + 1, "x", "x", sizes))),
    ]
    program = Program(tree, sizes, W=W, streams={"row": 1, "out": 1}, counts=["rows"])
    shape = (10, 1) + (W,) * (W > 1)
    row = np.broadcast_to(np.reshape([7.0, 1, 6, 9, 3] * 2, (10,) + (1,) * (len(shape) - 1)), shape)

    def prepared():
        workspace = program.workspace()
        workspace["first"] = np.arange(W)[None] if W > 1 else 1
        return workspace, np.zeros(shape)

    whole, expected = prepared()
    program.run(whole, {"row": row, "out": expected}, {"rows": 5})
    stepped, out = prepared()
    program.start(stepped, {"row": row, "out": out}, {"rows": 5})
    pauses = 0
    while not program.advance(stepped, 1):
        assert stepped.paused
        pauses += 1
    assert not stepped.paused
    assert pauses > 50
    assert np.array_equal(out, expected)
    for n in sizes:
        assert np.array_equal(whole[n], stepped[n]), n


def counting():
    """x <- goal, one by one."""
    sizes = {"x": 1, "goal": 1, "busy": 1}
    step = kernel(lambda x, goal: (x + 1, x + 1 < goal), "x goal", "x busy", sizes)
    return Program([kernel(lambda: ca.SX(1), [], "busy", sizes), While("busy", step, 10**15)], sizes)


FAR = 3e9  # seconds away


def test_interrupted_and_resumed():
    """An error out of `progress` leaves a workspace that goes on where it was."""
    program = counting()
    workspace = program.workspace()
    workspace["goal"] = FAR

    def stop(ws):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        program.run(workspace, progress=stop)
    assert workspace.paused
    before = workspace["x"][0]
    assert 0 < before < FAR
    assert not program.advance(workspace, 1000)
    assert workspace["x"][0] == before + 1000
    workspace["goal"] = before + 500_000  # the memory is ours between pauses
    assert program.advance(workspace, 1_000_000)
    assert workspace["x"][0] == before + 500_000
    workspace["x"], workspace["goal"] = 0, 5
    program.run(workspace)  # a new run starts at the beginning
    assert workspace["x"][0] == 5


def test_ctrl_c_comes_through():
    """A keyboard interrupt reaches Python long before the program ends; were it lost, all rounds would be
    counted."""
    program = counting()
    workspace = program.workspace()
    workspace["goal"] = 1e6 * FAR
    with pressed_from() as press, pytest.raises(KeyboardInterrupt):
        program.run(workspace, progress=press)
    assert workspace.paused
    assert workspace["x"][0] < 1e6 * FAR


# Threads, processes, packing


def test_threads_with_workspaces_of_their_own():
    tree, sizes = halving()
    repeat = kernel(lambda x0: (x0, ca.SX(0)), "x0", "x n", sizes | {"x0": 1})
    program = Program(Scan("times", [repeat, tree]), sizes | {"x0": 1}, W=WIDE, counts=["times"])
    results: dict[int, np.ndarray] = {}

    def work(k):
        workspace = program.workspace()
        workspace["x0"] = 2.0 ** (k + np.arange(WIDE))[None]
        program.run(workspace, counts={"times": 3000})
        results[k] = workspace["n"].copy()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k in range(8):
        assert results[k].tolist() == [[k + lane + 1 for lane in range(WIDE)]]


def test_a_workspace_serves_one_run_at_a_time():
    program = counting()
    workspace = program.workspace()
    workspace["goal"] = FAR
    with pytest.raises(NativeError, match="in use by another thread"):
        program.run(workspace, progress=program.run)
    with pytest.raises(NativeError, match="belongs to another program"):
        counting().run(workspace)


def test_pack_goes_through_json_and_pickle():
    tree, sizes = halving()
    program = Program(tree, sizes, W=WIDE)
    data, layout = program.pack()
    copies = [
        Program.unpack(data, json.loads(json.dumps(layout))),
        pickle.loads(pickle.dumps(program)),
        Program.unpack(*pickle.loads(pickle.dumps((data, layout)))),
    ]
    for copy in copies:
        assert copy.key() == program.key()
        workspace = copy.workspace()
        workspace["x"] = 2.0 ** np.arange(WIDE)[None]
        copy.run(workspace)
        assert workspace["n"].tolist() == [[k + 1 for k in range(WIDE)]]
    assert copies[0].pack() == program.pack()
    with pytest.raises(NativeError, match="it is damaged"):
        Program.unpack(data[:-1], layout)
    with pytest.raises(NativeError, match="build the program again"):
        Program.unpack(data, layout | {"versions": "another machine"})


def test_key_follows_what_the_program_does():
    def key(factor=3.0, limit=40, **options):
        sizes = {"x": 1, "busy": 1}
        step = kernel(lambda x: x * factor + 1, "x", "x", sizes)
        return Program(While("busy", step, limit), sizes, **options).key()

    keys = [key(), key(factor=5.0), key(limit=41), key(W=2), key(contract=False), key(counts=["n"])]
    assert key() == keys[0]
    assert len(set(keys)) == len(keys)


def test_workspace_keeps_the_code_alive():
    tree, sizes = halving()
    program = Program(tree, sizes)
    workspace = program.workspace()
    run_it = program.run
    del program
    gc.collect()
    workspace["x"] = 8
    run_it(workspace)
    assert workspace["n"][0] == 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_runs_the_same_program():
    """In a process of its own, so that no thread of the test run is there to be forked."""
    script = """
        import os, threading
        from condyle.native.programs.nodes import Scan, kernel
        from condyle.native.programs.program import Program
        sizes = {"x": 1}
        program = Program(Scan("n", kernel(lambda x: x + 1, "x", "x", sizes)), sizes, counts=["n"])
        workspace = program.workspace()
        program.run(workspace, counts={"n": 1_000_000})     # long enough to have used the watching thread
        child = os.fork()
        program.run(workspace, counts={"n": 2_000_000})
        assert workspace["x"][0] == 3_000_000
        if not child:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """
    output("-c", textwrap.dedent(script))


# What cannot be is refused


def refused(tree, error, match, sizes=None, **options):
    with pytest.raises(error, match=match):
        Program(tree, {"x": 2, "flag": 1, "status": 1} | (sizes or {}), **options)


def identity(n, m=None):
    x = ca.SX.sym("x", n)
    return ca.Function("identity", [x], [x] if m is None else [x, x])


def test_wrong_trees_are_refused():
    body = Kernel(identity(2), ("x",), ("x",))
    refused(
        Kernel(identity(2), ("xx",), ("x",)),
        UnknownNameError,
        r"slice 'xx'; did you mean 'x'.*Kernel 'identity'",
    )
    refused(Kernel(identity(3), ("x",), ("x",)), DescriptionError, "has 3 elements, slice 'x' has 2")
    refused(Kernel(identity(2), ("x",), ("flag",)), DescriptionError, "o0 has 2 elements, slice 'flag' has 1")
    refused(Kernel(identity(2), ("x", "x"), ("x",)), DescriptionError, "has 1 inputs, but 2 slices")
    refused(Kernel(identity(2, 2), ("x",), ("x", "x")), DescriptionError, "two outputs go to 'x'")
    refused(While("flag", body), DescriptionError, r"While\('flag'\): has no limit")
    refused(While("flag", body, -1), DescriptionError, "limit -1: expected")
    refused(While("flag", body, "often"), UnknownNameError, "unknown count 'often'.*declare it")
    refused(While("x", body, 3), DescriptionError, "flag 'x' has size 2; it must be 1")
    refused(While("flag", body, 3, "x"), DescriptionError, "status 'x' has size 2")
    refused(If("flg", body), UnknownNameError, "did you mean 'flag'")
    refused(
        Scan("count", body),
        UnknownNameError,
        "unknown count 'count'; did you mean 'counts'",
        counts=["counts"],
    )
    refused(Scan(3, body, ["y"]), UnknownNameError, "unknown stream 'y'")
    refused(
        Scan(3, body, ["y"]), DescriptionError, "table 'y' cannot move", streams={"y": Stream(2, shared=True)}
    )
    refused(
        Get("y", "flag", "x"), DescriptionError, "rows of 'y' have 3 elements, 'x' has 2", streams={"y": 3}
    )
    refused(
        Kernel(identity(2), ("x",), ("y",)),
        DescriptionError,
        "is no slice",
        streams={"y": Stream(2, shared=True)},
    )
    refused(
        Take("y", "flag"),
        DescriptionError,
        "'y' must be a shared stream of size 1",
        streams={"y": Stream(2, shared=True)},
    )
    refused(Take("y", "flag"), DescriptionError, "'y' must be a shared stream of size 1", streams={"y": 1})
    refused(Take("y", "x"), DescriptionError, "result 'x' has size 2", streams={"y": Stream(1, shared=True)})
    refused(Scan(3, Get("y", "flag", "x"), ["y"]), DescriptionError, "moves with a Scan", streams={"y": 2})
    refused(Get("t", "flag", "x"), DescriptionError, "no table of rows of 2", sizes={"t": 5})
    refused(Call("dgesw", ()), UnknownNameError, "did you mean .*'dgesv'")
    refused(Call("dgesv", (1, 1)), DescriptionError, "takes 8 arguments, got 2")
    transpose = ("x", 1, 1, "x", 1, Ints("x"), "x", 1, Ints("flag"))
    refused(Call("dgetrs", transpose), DescriptionError, r"argument 0 is a char \*, so one byte; got 'x'")
    refused(Call("dnrm2", (1, "x", 1)), NativeError, "return nothing")
    refused([body, "x"], DescriptionError, "a str is no node")
    refused(body, DescriptionError, "size -1", sizes={"y": -1})
    refused(body, DescriptionError, "one name for two", streams={"x": 2})
    refused(body, DescriptionError, "positive integer", W=0)
    x = ca.SX.sym("x", 2)
    refused(
        Kernel(ca.Function("f", [x], [ca.vertcat(x[0], ca.SX(1, 1))]), ("x",), ("x",)),
        DescriptionError,
        "sparse",
    )
    refused(
        Kernel(ca.Function("f", [x], [x * ca.SX.sym("k")], {"allow_free": True}), ("x",), ("x",)),
        DescriptionError,
        "depends on .*k",
    )


def test_errors_say_where_in_the_tree():
    body = Kernel(identity(3), ("x",), ("x",))
    refused(
        [Scan(2, [While("flag", [body], 3)])],
        DescriptionError,
        r"Scan\(2\) > While\('flag'\) > Kernel 'identity'",
    )


def test_wrong_arguments_are_refused():
    sizes = {"x": 2}
    tree = Scan(
        "n", kernel(lambda x, a: (x, x + a), "x a", "x out", sizes | {"a": 2, "out": 2}), ["a", "out"]
    )
    program = Program(tree, sizes, streams={"a": 2, "out": 2}, counts=["n"])
    workspace, good = program.workspace(), np.zeros((3, 2))

    def wrong(match, error=ShapeError, counts=None, **streams):
        with pytest.raises(error, match=match):
            program.run(workspace, {"a": good, "out": np.zeros((3, 2))} | streams, counts or {"n": 3})

    # inputs are converted
    program.run(workspace, {"a": good.astype(int)[::1], "out": np.zeros((3, 2))}, {"n": 3})
    wrong(r"'out' is written: expected a writeable", out=np.zeros((3, 2), int))
    wrong(r"'out' is written", out=np.zeros((2, 3)).T)
    wrong(r"'out' is written", out=np.broadcast_to(0.0, (3, 2)))
    wrong(r"'a': expected shape \(rows, 2\), got \(3, 3\)", a=np.zeros((3, 3)))
    wrong(r"'a': expected shape \(rows, 2\), got \(6,\)", a=np.zeros(6))
    wrong("'a': has 2 rows, the program needs 3", a=np.zeros((2, 2)))
    wrong("count 'n' = -1", counts={"n": -1})
    wrong("count 'n' = 2.5", counts={"n": 2.5})
    wrong("unknown count 'm'", UnknownNameError, counts={"n": 3, "m": 1})
    wrong("unknown stream 'b'", UnknownNameError, b=good)
    with pytest.raises(ShapeError, match="the stream 'out' is missing"):
        program.run(workspace, {"a": good}, {"n": 3})
    with pytest.raises(ShapeError, match=r"slice 'x': expected shape \(2,\), got \(3,\)"):
        workspace["x"] = [1, 2, 3]
    with pytest.raises(UnknownNameError, match="unknown slice 'y'"):
        workspace["y"]
    with pytest.raises(UnknownNameError, match="did you mean 'xs'"):
        kernel(lambda x: x, "xz", "xs", {"xs": 2})


@LANES
def test_workspace_views(W):
    """Aligned to cache lines, apart from each other, zero at first; a column goes to all lanes."""
    program = Program([], {"a": 3, "b": 0, "c": 5}, W=W)
    workspace = program.workspace()
    assert all(workspace[n].ctypes.data % 64 == 0 for n in "ac")
    assert not any(workspace[n].any() for n in program.sizes)
    workspace["a"] = [1, 2, 3]
    assert workspace["a"].shape == ((3, W) if W > 1 else (3,))
    assert (workspace["a"].reshape(3, W) == [[1], [2], [3]]).all()
    assert workspace["b"].size == 0
    assert not workspace["c"].any()
    program.run(workspace)
    assert repr(program).startswith("<Program: 4 slices")
