"""NativeFunction: what it accepts, what it refuses, what it compiles, and its threads."""

from __future__ import annotations

import threading

import casadi as ca
import numpy as np
import pytest

from condyle.errors import DescriptionError, NativeError, ShapeError
from condyle.native.calls import native_function
from condyle.native.calls.native_function import NativeFunction
from condyle.native.machine import jit, threads
from tests.native.calls.functions import EMPTY, add_one, build, check, draw, make


@pytest.fixture(scope="module")
def f() -> NativeFunction:
    return make()


# -- shapes and kinds


@pytest.mark.parametrize("shape", [(), (1,), (3,), (15,), (16,), (17,), (100,), (2, 3), (5, 1, 8), (4, 0, 2)])
def test_batches(f, shape):
    check(f(draw(*shape, 7), EMPTY, draw(*shape, 3, seed=1)), draw(*shape, 7), draw(*shape, 3, seed=1))
    check(f(draw(*shape, 7), EMPTY, draw(3)), draw(*shape, 7), draw(3))


def test_broadcasting(f):
    q, u = draw(40, 1, 7), draw(5, 3)
    check(f(q, EMPTY, u), q, u)
    # the empty argument has the batch
    check(f(draw(7), np.empty((4, 0)), u[0]), np.tile(draw(7), (4, 1)), u[0])


@pytest.mark.parametrize("states", [3, 50])
def test_strides(f, states):
    wide, tall = draw(2 * states, 30), draw(3, states)
    for q in (wide[::2, :7], wide[:states, 1:29:4], wide[::-2, 6::-1], np.asfortranarray(wide[:states, :7])):
        check(f(q, EMPTY, tall.T), q, tall.T)
    check(f(np.broadcast_to(draw(7), (states, 7)), EMPTY, tall.T), draw(7), tall.T)


@pytest.mark.parametrize("dtype", [int, np.float32, np.longdouble, ">f8", np.uint8])
def test_other_numbers_are_converted(f, dtype):
    q = np.arange(7).astype(dtype)
    check(f.fast(q, EMPTY, [1, 2, 3]), q, [1, 2, 3])
    check(f(q.tolist(), [], (1, 2, 3)), q, [1, 2, 3])


def test_unaligned_and_subclass(f):
    class Mine(np.ndarray):
        pass

    odd = np.empty(57, np.uint8)[1:].view(np.float64)[:7]
    odd[:] = draw(7)
    assert not odd.flags.aligned
    for q in (odd, draw(7).view(Mine)):
        results = f.fast(q, EMPTY, draw(3))
        check(results, draw(7), draw(3))
        assert type(results[0]) is np.ndarray


@pytest.mark.parametrize("call", ["fast", "__call__"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((draw(6), EMPTY, draw(3)), r"forward: q: expected \(..., 7\), got \(6,\)"),
        ((draw(20, 7), EMPTY, draw(20, 4)), r"forward: u: expected \(..., 3\), got \(20, 4\)"),
        ((1.0, EMPTY, draw(3)), r"forward: q: expected \(..., 7\), got \(\)"),
        ((draw(7), draw(1), draw(3)), r"forward: none: expected \(..., 0\), got \(1,\)"),
        ((draw(7), draw(3)), r"forward: expected 3 arrays \(q, none, u\), got 2"),
        ((draw(7), EMPTY, draw(3), draw(3)), r"forward: expected 3 arrays .* got 4"),
        ((), r"forward: expected 3 arrays .* got 0"),
        ((draw(4, 7), EMPTY, draw(5, 3)), r"forward: shapes do not broadcast.*q \(4, 7\).*u \(5, 3\)"),
        (
            (draw(7) * 1j, EMPTY, draw(3)),
            r"forward: q: expected real numbers of shape \(..., 7\), got ndarray of "
            r"complex128",
        ),
        (("abc", EMPTY, draw(3)), r"forward: q: expected real numbers of shape \(..., 7\), got str: 'abc'"),
        ((None, EMPTY, draw(3)), "forward: q: expected real numbers .* got NoneType: None"),
        ((ca.SX.sym("q", 7), EMPTY, draw(3)), "forward: q: expected real numbers.* got SX"),
        (
            ({"hip": 1.0}, EMPTY, draw(3)),
            "forward: q: expected real numbers .* got dict: {'hip': 1.0}; .* not by name",
        ),
        (
            (draw(7, 20), EMPTY, draw(3)),
            r"forward: q: expected \(..., 7\), got \(7, 20\); one row per state: "
            r"transpose it",
        ),
        (([[1, 2], [1]], EMPTY, draw(3)), "forward: q: expected .* rows of different lengths"),
    ],
)
def test_refusals(f, call, arguments, message):
    f.fast(draw(7), EMPTY, draw(3))
    with pytest.raises(ShapeError, match=message):
        getattr(f, call)(*arguments)


# -- out=


@pytest.mark.parametrize("states", [(), (3,), (40,), (4, 10)])
def test_out(f, states):
    q, u = draw(*states, 7), draw(*states, 3, seed=1)
    out = np.empty((*states, 7)), np.empty((*states, 0)), np.empty((*states, 3))
    results = f(q, EMPTY, u, out=out)
    assert all(r is o for r, o in zip(results, out))
    check(out, q, u)


def test_out_of_other_kinds():
    f, x = add_one(), draw(20, 5)
    room = np.zeros((20, 10))
    assert f(x, out=room[:, ::2]) is not None
    np.testing.assert_array_equal(room[:, ::2], x + 1)
    assert not room[:, 1::2].any()
    small = np.empty((20, 5), np.float32)
    assert f(x, out=small) is small
    np.testing.assert_array_equal(small, (x + 1).astype(np.float32))
    swapped = np.empty((20, 5), ">f8")
    np.testing.assert_array_equal(f(x, out=(swapped,)), x + 1)


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("states", [4, 60])
def test_out_may_overlap_the_inputs(states, count):
    f = add_one()
    for first, second in (
        (slice(0, -1), slice(1, None)),
        (slice(1, None), slice(0, -1)),
        (slice(None), slice(None)),
    ):
        room = draw(states, 5)
        want = room[first] + 1
        f(room[first], out=room[second], threads=count)
        np.testing.assert_array_equal(room[second], want)


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((3, 4)), r"out y: expected \(3, 5\), got \(3, 4\)"),
        ((np.empty((3, 5)),) * 2, "out: expected 1 arrays, got 2"),
        ([0.0] * 5, "out y: expected an array, got list"),
        (np.empty((3, 5), int), "out y: expected floating-point numbers, got int64"),
        (np.broadcast_to(0.0, (3, 5)), "out y: the array is read-only"),
    ],
)
def test_bad_out(out, message):
    with pytest.raises(ShapeError, match=message):
        add_one()(np.zeros((3, 5)), out=out)


# -- sizes of zero, nothing in, nothing out


def test_no_inputs_and_no_outputs():
    constant = NativeFunction(
        "constant", lambda: ca.Function("f", [], [ca.SX([1, 2])]), key="c", inputs=[], outputs=[("y", 2)]
    )
    for _ in range(3):
        np.testing.assert_array_equal(constant.fast(), [1, 2])
    z = ca.SX.sym("z", 0)
    batch = NativeFunction(
        "batch",
        lambda: ca.Function("f", [z], [ca.SX([1, 2]), ca.SX(0, 0)]),
        key="b",
        inputs=[("z", 0)],
        outputs=[("y", 2), ("none", 0)],
    )
    for states in (3, 40):
        y, none = batch.fast(np.empty((states, 0)))
        np.testing.assert_array_equal(y, [[1, 2]] * states)
        assert none.shape == (states, 0)
    assert [r.shape for r in batch.fast(EMPTY)] == [(2,), (0,)]
    nothing = NativeFunction(
        "nothing",
        lambda: ca.Function("f", [ca.SX.sym("x", 2)], [ca.SX(0, 1)]),
        key="n",
        inputs=[("x", 2)],
        outputs=[("none", 0)],
    )
    assert [nothing.fast(np.zeros(s)).shape for s in ((2,), (2,), (30, 2))] == [(0,), (0,), (30, 0)]
    silent = NativeFunction(
        "silent", lambda: ca.Function("f", [ca.SX.sym("x", 2)], []), key="s", inputs=[("x", 2)], outputs=[]
    )
    assert [silent.fast(np.zeros(s)) for s in ((2,), (2,), (30, 2))] == [()] * 3


def test_sparse_results_are_filled_with_zeros():
    x = ca.SX.sym("x", 2)
    f = NativeFunction(
        "f",
        lambda: ca.Function("f", [x], [ca.vertcat(x[0], ca.SX(1, 1), x[1])]),
        key="sparse",
        inputs=[("x", 2)],
        outputs=[("y", 3)],
    )
    np.testing.assert_array_equal(f.fast(np.array([1.0, 2.0])), [1, 0, 2])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda x: ca.Function("f", [x, ca.SX.sym("y")], [x]), "made 2 inputs, expected 1"),
        (lambda x: ca.Function("f", [x], []), "made 0 outputs, expected 1"),
        (lambda x: ca.Function("f", [x], [x[:2]]), r"made output y of shape \(2, 1\), expected \(5, 1\)"),
        (lambda x: ca.Function("f", [x], [x.T]), r"made output y of shape \(1, 5\), expected \(5, 1\)"),
        (lambda x: x, r"build\(\) returned SX, expected a casadi.Function"),
    ],
)
def test_build_is_checked(made, message):
    f = NativeFunction(
        "wrong", lambda: made(ca.SX.sym("x", 5)), key="wrong", inputs=[("x", 5)], outputs=[("y", 5)]
    )
    with pytest.raises(NativeError, match=f"wrong: .*{message}"):
        f.fast(np.zeros(5))


def test_matrix_expressions_are_expanded():
    x = ca.MX.sym("x", 3)
    f = NativeFunction(
        "mx",
        lambda: ca.Function("f", [x], [ca.mtimes(ca.DM.eye(3) * 2, x)]),
        key="mx",
        inputs=[("x", 3)],
        outputs=[("y", 3)],
    )
    np.testing.assert_array_equal(f.fast(np.arange(3.0)), [0, 2, 4])


# -- compiling


def test_compiles_what_is_needed_only():
    f = make(key="lazy")
    assert f.report == native_function.CompileReport()
    f.fast(draw(7), EMPTY, draw(3))
    f(draw(native_function.SIMD_FROM - 1, 7), EMPTY, draw(3))
    assert f.report.kernels == (1,)
    f(draw(native_function.SIMD_FROM, 7), EMPTY, draw(3))
    assert f.report.kernels == (1, jit.lane_width())
    assert f.report.operations == build().n_instructions()
    g = make(key="lazy batch")
    g(draw(50, 7), EMPTY, draw(3))
    assert g.report.kernels == (jit.lane_width(),)


def test_empty_batch_builds_nothing():
    f = make(lambda: pytest.fail("built"), key="empty batch")
    assert [r.shape for r in f(np.empty((0, 7)), EMPTY, draw(3))] == [(0, 7), (0, 0), (0, 3)]


def test_error_in_build_is_not_kept():
    answers = [ZeroDivisionError("first"), None]

    def sometimes() -> ca.Function:
        if error := answers.pop(0):
            raise error
        return build()

    f = make(sometimes, key="sometimes")
    with pytest.raises(ZeroDivisionError, match="first"):
        f.fast(draw(7), EMPTY, draw(3))
    check(f.fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))


def test_contraction_is_a_choice():
    """x y + z rounded twice without, once with; the cache keeps them apart."""
    x = ca.SX.sym("x", 3)
    f, g = (
        NativeFunction(
            "fma",
            lambda: ca.Function("f", [x], [x[0] * x[1] + x[2]]),
            key="fma",
            inputs=[("x", 3)],
            outputs=[("y", 1)],
            contract=c,
        )
        for c in (False, True)
    )
    e = 2.0**-30
    values = np.array([1 + e, 1 - e, -1.0])
    assert f.fast(values) == 0.0
    assert g.fast(values) in (0.0, -e * e)  # the latter where the processor can


def test_casadi_evaluator(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    monkeypatch.setattr(jit, "compile_ir", lambda *a, **k: pytest.fail("compiled"))
    f = make(key="never compiled")
    for shape in ((), (1,), (3,), (40,), (2, 5), (0,)):
        check(f(draw(*shape, 7), EMPTY, draw(3)), draw(*shape, 7), draw(3))
        check(f.fast(draw(*shape, 7), EMPTY, draw(3)), draw(*shape, 7), draw(3))
    assert f.report.kernels == ()
    assert f.report.build > 0


def test_unknown_evaluator(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "cassady")
    with pytest.raises(DescriptionError, match="CONDYLE_EVALUATOR=cassady: expected native or casadi"):
        make().fast(draw(7), EMPTY, draw(3))


# -- threads


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("states", [2, 17, 400])
def test_threads_change_nothing(f, states, count):
    q, u = draw(states, 7), draw(states, 3)
    one = f(q, EMPTY, u, threads=1)
    many = f(q, EMPTY, u, threads=count)
    assert all(np.array_equal(a, b) for a, b in zip(one, many))
    check(many, q, u)


def test_threads_are_used(f, monkeypatch):
    """A long batch is cut into as many pieces as there are threads to have; a short one is not."""
    pieces: list[int] = []
    monkeypatch.setattr(
        threads, "run", lambda tasks: [pieces.append(len(tasks))] and [task() for task in tasks]
    )
    monkeypatch.setenv("CONDYLE_THREADS", "3")
    states = 4 * native_function.THREAD_WORK // build().n_instructions()
    check(f(draw(states, 7), EMPTY, draw(3)), draw(states, 7), draw(3))
    f(draw(100, 7), EMPTY, draw(3))
    f(draw(100, 7), EMPTY, draw(3), threads=5)
    f(draw(states, 7), EMPTY, draw(3), threads=1)
    monkeypatch.setenv("CONDYLE_THREADS", "1")
    f(draw(states, 7), EMPTY, draw(3))
    assert pieces == [3, 5]


@pytest.mark.parametrize("asked", [0, -1, 1.5, "2", True])
def test_bad_thread_counts(f, asked):
    with pytest.raises(DescriptionError, match="threads: expected a whole number from 1 on"):
        f(draw(7), EMPTY, draw(3), threads=asked)


@pytest.mark.parametrize("value", ["0", "many", "-2", "1.5"])
def test_bad_thread_variable(monkeypatch, value):
    monkeypatch.setenv("CONDYLE_THREADS", value)
    with pytest.raises(DescriptionError, match=f"CONDYLE_THREADS={value}: expected a whole number"):
        threads.thread_count()


def test_error_in_a_thread_reaches_the_caller():
    done = []

    def fail() -> None:
        raise ZeroDivisionError("in a thread")

    with pytest.raises(ZeroDivisionError, match="in a thread"):
        threads.run([lambda: done.append(1), fail, lambda: done.append(2)])
    assert sorted(done) == [1, 2]


def test_many_threads_at_once():
    """First calls race to compile: one build. Then all ways in at once."""
    builds = []
    f = make(lambda: builds.append(1) or build(), key="race")
    errors: list[BaseException] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        try:
            start.wait()
            for k in range(30):
                q, u = draw(7, seed=seed + k), draw(3, seed=k)
                check(f.fast(q, EMPTY, u), q, u)
                q = draw(200, 7, seed=seed + k)
                check(f(q, EMPTY, u, threads=1 + k % 3), q, u)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work, args=(100 * k,)) for k in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not errors
    assert len(builds) == 1
