"""NativeFunction: what it accepts, what it refuses, and how it survives threads, forks and deletion."""
from __future__ import annotations

import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
import weakref
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from condyle.errors import DescriptionError, NativeError, ShapeError
from condyle.native import fastcall, function, gufunc, jit, threads
from condyle.native.function import NativeFunction

ROOT = Path(__file__).parents[2]
EPS = np.finfo(float).eps
EMPTY = np.empty(0)


def build() -> ca.Function:
    q, none, u = ca.SX.sym("q", 7), ca.SX.sym("none", 0), ca.SX.sym("u", 3)
    force = ca.vertcat(*(ca.sin(q[k]) * u[k % 3] for k in range(7)))
    return ca.Function("f", [q, none, u], [force, ca.SX(0, 1), ca.vertcat(u[0], 0, q[1] * u[2])])


def expected(q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    shape = np.broadcast_shapes(q.shape[:-1], u.shape[:-1])
    q, u = np.broadcast_to(q, (*shape, 7)), np.broadcast_to(u, (*shape, 3))
    force = np.sin(q) * u[..., [0, 1, 2, 0, 1, 2, 0]]
    return force, np.stack([u[..., 0], 0 * u[..., 0], q[..., 1] * u[..., 2]], -1)


def make(build=build, key: str = "test", **options) -> NativeFunction:
    return NativeFunction("forward", build, key=key, inputs=[("q", 7), ("none", 0), ("u", 3)],
                          outputs=[("force", 7), ("nothing", 0), ("rest", 3)], **options)


def add_one(key: str = "one") -> NativeFunction:
    """x + 1, of one vector."""
    x = ca.SX.sym("x", 5)
    return NativeFunction("add_one", lambda: ca.Function("f", [x], [x + 1]), key=key, inputs=[("x", 5)],
                          outputs=[("y", 5)])


def check(results, q, u) -> None:
    force, nothing, rest = results
    want = expected(np.asarray(q, float), np.asarray(u, float))
    assert nothing.shape == (*want[0].shape[:-1], 0)
    # sin is good to 2 ulp, the product adds a half.
    np.testing.assert_allclose(force, want[0], rtol=4 * EPS, atol=0)
    np.testing.assert_allclose(rest, want[1], rtol=4 * EPS, atol=0)


@pytest.fixture(scope="module")
def f() -> NativeFunction:
    return make()


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def run(program: str, **environment: str) -> str:
    """Output of a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", program], env=os.environ | environment, cwd=ROOT,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- shapes and kinds


@pytest.mark.parametrize("shape", [(), (1,), (3,), (15,), (16,), (17,), (100,), (2, 3), (5, 1, 8), (4, 0, 2)])
def test_batches(f, shape):
    check(f(draw(*shape, 7), EMPTY, draw(*shape, 3, seed=1)), draw(*shape, 7), draw(*shape, 3, seed=1))
    check(f(draw(*shape, 7), EMPTY, draw(3)), draw(*shape, 7), draw(3))


def test_broadcasting(f):
    q, u = draw(40, 1, 7), draw(5, 3)
    check(f(q, EMPTY, u), q, u)
    check(f(draw(7), np.empty((4, 0)), u[0]), np.tile(draw(7), (4, 1)), u[0])      # the empty argument has the batch


@pytest.mark.parametrize("states", [3, 50])
def test_strides(f, states):
    wide, tall = draw(2 * states, 30), draw(3, states)
    for q in (wide[::2, :7], wide[:states, 1:29:4], wide[::-2, 6::-1], np.asfortranarray(wide[:states, :7])):
        check(f(q, EMPTY, tall.T), q, tall.T)
    check(f(np.broadcast_to(draw(7), (states, 7)), EMPTY, tall.T), draw(7), tall.T)


@pytest.mark.parametrize("dtype", [int, bool, np.float32, np.longdouble, ">f8", np.uint8])
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
@pytest.mark.parametrize(("arguments", "message"), [
    ((draw(6), EMPTY, draw(3)), r"forward: q: expected \(..., 7\), got \(6,\)"),
    ((draw(20, 7), EMPTY, draw(20, 4)), r"forward: u: expected \(..., 3\), got \(20, 4\)"),
    ((1.0, EMPTY, draw(3)), r"forward: q: expected \(..., 7\), got \(\)"),
    ((draw(7), draw(1), draw(3)), r"forward: none: expected \(..., 0\), got \(1,\)"),
    ((draw(7), draw(3)), r"forward: expected 3 arrays \(q, none, u\), got 2"),
    ((draw(7), EMPTY, draw(3), draw(3)), r"forward: expected 3 arrays .* got 4"),
    ((), r"forward: expected 3 arrays .* got 0"),
    ((draw(4, 7), EMPTY, draw(5, 3)), r"forward: shapes do not broadcast.*q \(4, 7\).*u \(5, 3\)"),
    ((draw(7) * 1j, EMPTY, draw(3)), "forward: q: expected real numbers, got ndarray of complex128"),
    (("abc", EMPTY, draw(3)), "forward: q: expected real numbers, got str"),
    ((None, EMPTY, draw(3)), "forward: q: expected real numbers, got NoneType of object"),
    ((ca.SX.sym("q", 7), EMPTY, draw(3)), "forward: q: expected real numbers, got SX"),
    (([[1, 2], [1]], EMPTY, draw(3)), "forward: q: expected .* rows of different lengths"),
])
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
    for first, second in ((slice(0, -1), slice(1, None)), (slice(1, None), slice(0, -1)), (slice(None), slice(None))):
        room = draw(states, 5)
        want = room[first] + 1
        f(room[first], out=room[second], threads=count)
        np.testing.assert_array_equal(room[second], want)


@pytest.mark.parametrize(("out", "message"), [
    (np.empty((3, 4)), r"out y: expected \(3, 5\), got \(3, 4\)"),
    ((np.empty((3, 5)),) * 2, "out: expected 1 arrays, got 2"),
    ([0.0] * 5, "out y: expected an array, got list"),
    (np.empty((3, 5), int), "out y: expected floating-point numbers, got int64"),
    (np.broadcast_to(0.0, (3, 5)), "out y: the array is read-only"),
])
def test_bad_out(out, message):
    with pytest.raises(ShapeError, match=message):
        add_one()(np.zeros((3, 5)), out=out)


# -- sizes of zero, nothing in, nothing out


def test_no_inputs_and_no_outputs():
    constant = NativeFunction("constant", lambda: ca.Function("f", [], [ca.SX([1, 2])]), key="c", inputs=[],
                              outputs=[("y", 2)])
    for _ in range(3):
        np.testing.assert_array_equal(constant.fast(), [1, 2])
    z = ca.SX.sym("z", 0)
    batch = NativeFunction("batch", lambda: ca.Function("f", [z], [ca.SX([1, 2]), ca.SX(0, 0)]), key="b",
                           inputs=[("z", 0)], outputs=[("y", 2), ("none", 0)])
    for states in (3, 40):
        y, none = batch.fast(np.empty((states, 0)))
        np.testing.assert_array_equal(y, [[1, 2]] * states)
        assert none.shape == (states, 0)
    assert [r.shape for r in batch.fast(EMPTY)] == [(2,), (0,)]
    nothing = NativeFunction("nothing", lambda: ca.Function("f", [ca.SX.sym("x", 2)], [ca.SX(0, 1)]), key="n",
                             inputs=[("x", 2)], outputs=[("none", 0)])
    assert [nothing.fast(np.zeros(s)).shape for s in ((2,), (2,), (30, 2))] == [(0,), (0,), (30, 0)]
    silent = NativeFunction("silent", lambda: ca.Function("f", [ca.SX.sym("x", 2)], []), key="s", inputs=[("x", 2)],
                            outputs=[])
    assert [silent.fast(np.zeros(s)) for s in ((2,), (2,), (30, 2))] == [()] * 3


def test_sparse_results_are_filled_with_zeros():
    x = ca.SX.sym("x", 2)
    f = NativeFunction("f", lambda: ca.Function("f", [x], [ca.vertcat(x[0], ca.SX(1, 1), x[1])]), key="sparse",
                       inputs=[("x", 2)], outputs=[("y", 3)])
    np.testing.assert_array_equal(f.fast(np.array([1.0, 2.0])), [1, 0, 2])


@pytest.mark.parametrize(("made", "message"), [
    (lambda x: ca.Function("f", [x, ca.SX.sym("y")], [x]), "made 2 inputs, expected 1"),
    (lambda x: ca.Function("f", [x], []), "made 0 outputs, expected 1"),
    (lambda x: ca.Function("f", [x], [x[:2]]), r"made output y of shape \(2, 1\), expected \(5, 1\)"),
    (lambda x: ca.Function("f", [x], [x.T]), r"made output y of shape \(1, 5\), expected \(5, 1\)"),
    (lambda x: x, r"build\(\) returned SX, expected a casadi.Function"),
])
def test_build_is_checked(made, message):
    f = NativeFunction("wrong", lambda: made(ca.SX.sym("x", 5)), key="wrong", inputs=[("x", 5)], outputs=[("y", 5)])
    with pytest.raises(NativeError, match=f"wrong: .*{message}"):
        f.fast(np.zeros(5))


def test_matrix_expressions_are_expanded():
    x = ca.MX.sym("x", 3)
    f = NativeFunction("mx", lambda: ca.Function("f", [x], [ca.mtimes(ca.DM.eye(3) * 2, x)]), key="mx",
                       inputs=[("x", 3)], outputs=[("y", 3)])
    np.testing.assert_array_equal(f.fast(np.arange(3.0)), [0, 2, 4])


# -- the builtin


def test_fast_becomes_a_builtin(f):
    g = make()
    assert fastcall.works()                                 # on every Python and NumPy that we test with
    check(g.fast(draw(40, 7), EMPTY, draw(3)), draw(40, 7), draw(3))
    assert "fast" not in vars(g)                            # a batch compiles no scalar kernel
    check(g.fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    assert type(g.fast) is type(len)
    check(g.fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    check(g.fast(draw(40, 7), EMPTY, draw(3)), draw(40, 7), draw(3))
    with pytest.raises(TypeError, match="keyword"):
        g.fast(draw(7), EMPTY, u=draw(3))


def test_builtin_takes_the_short_way(f, monkeypatch):
    """Plain vectors never reach Python; everything else does."""
    g, slow = add_one(), []
    g.fast(np.zeros(5))
    monkeypatch.setattr(function._Evaluator, "__call__", lambda self, *a: slow.append(a) or "slow")
    x = draw(5)
    frozen = draw(5)
    frozen.flags.writeable = False
    short = [x, frozen, pickle.loads(pickle.dumps(x)), draw(3, 5)[1], draw(10)[::2].copy()]
    for a in short:
        np.testing.assert_array_equal(g.fast(a), a + 1)
    assert not slow
    odd = np.empty(57, np.uint8)[1:].view(np.float64)[:5]
    for a in (draw(10)[::2], draw(1, 5), draw(4), x.astype(">f8"), x.astype("f4"), x.view("i8"), x.tolist(), None, odd,
              x.view("m8[s]"), np.float64(1), x.view(type("Sub", (np.ndarray,), {}))):
        assert g.fast(a) == "slow"
    assert g.fast() == g.fast(x, x) == "slow"
    assert len(slow) == 14


def test_builtin_keeps_no_references(f):
    q, u = draw(7), draw(3)
    f.fast(q, EMPTY, u)
    double = np.dtype(np.float64)
    numpys = [(draw(7), draw(0), draw(3))]
    before = [sys.getrefcount(x) for x in (q, u, EMPTY, f.fast, double)]
    results = [f.fast(q, EMPTY, u) for _ in range(100)]
    assert {sys.getrefcount(x) for r in results for x in r} == {sys.getrefcount(x) for r in numpys for x in r}
    assert {sys.getrefcount(r) for r in results} == {sys.getrefcount(r) for r in numpys}
    del results
    assert [sys.getrefcount(x) for x in (q, u, EMPTY, f.fast, double)] == before


def test_a_million_calls_leak_nothing():
    g, x = add_one(), draw(5)
    h = make()
    q, u = draw(7), draw(3)
    bad = draw(4)

    def calls(count: int) -> None:
        for _ in range(count):
            g.fast(x)
        for _ in range(count // 10):
            h.fast(q, EMPTY, u)
        for _ in range(count // 1000):
            with pytest.raises(ShapeError):
                g.fast(bad)

    calls(2000)
    gc.collect()
    tracemalloc.start()
    try:
        calls(2000)
        before = tracemalloc.get_traced_memory()[0]
        calls(10_000)
        gc.collect()
        # One lost array a call would be a megabyte; caches of the interpreter stay below 20 kB.
        assert tracemalloc.get_traced_memory()[0] - before < 20_000
    finally:
        tracemalloc.stop()
    before = _resident()
    calls(1_000_000)
    # One lost byte a call would be a megabyte; an array 100 MB.
    assert _resident() - before < 10_000_000


def _resident() -> int:
    """Bytes of memory in use by this process, 0 where that cannot be read."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _failing_after(count: int, real: int) -> jit.Library:
    """A function `make` that calls `real` so many times in every `count` + 1 calls, then fails as Python does."""
    no_memory = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    arguments = "ptr {0}a, i32 {0}b, ptr {0}c, i32 {0}d, ptr {0}e, ptr {0}f, i32 {0}g, i32 {0}h, ptr {0}i".format("%")
    return jit.Library(jit.compile_ir(f"""
@calls = internal global i64 0
define ptr @make({arguments}) {{
  %n = load i64, ptr @calls
  %fail = icmp eq i64 %n, {count}
  br i1 %fail, label %no, label %yes
yes:
  %m = add i64 %n, 1
  store i64 %m, ptr @calls
  %real = inttoptr i64 {real} to ptr
  %array = call ptr %real({arguments})
  ret ptr %array
no:
  store i64 0, ptr @calls
  %none = inttoptr i64 {no_memory} to ptr
  %null = call ptr %none()
  ret ptr %null
}}"""))


@pytest.mark.parametrize("entry", ["array 0", "array 1", "array 2", "tuple"])
def test_no_memory_is_an_error(entry, monkeypatch):
    """Wherever an allocation fails: MemoryError, and what was made before is given back."""
    h, q, u = make(), draw(7), draw(3)
    h.fast(q, EMPTY, u)
    table = fastcall._table()
    k = fastcall._TABLE.index("tuple_new" if entry == "tuple" else "array_new")
    old = table[k]
    if entry == "tuple":
        table[k] = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    else:
        library = _failing_after(int(entry[-1]), old)
        table[k] = library.address("make")
    try:
        with pytest.raises(MemoryError):
            h.fast(q, EMPTY, u)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            try:
                h.fast(q, EMPTY, u)
            except MemoryError:
                pass
            else:
                pytest.fail("no error")
        # A lost array a call would be 100 kB.
        assert tracemalloc.get_traced_memory()[0] - before < 10_000
    finally:
        tracemalloc.stop()
        table[k] = old
    check(h.fast(q, EMPTY, u), q, u)


def test_builtin_needs_a_known_layout(monkeypatch):
    for name, value in (("_DATA", 24), ("_DIMS", 40), ("_DESCR", 48), ("_NDIM", 28), ("_ARRAY_TYPE", 3), ("_KIND", 28)):
        fastcall._table.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(fastcall, name, value)
            assert not fastcall.works.__wrapped__(), name
    fastcall._table.cache_clear()
    assert fastcall.works.__wrapped__()


def test_without_builtin_and_ufunc(monkeypatch):
    """On a Python or NumPy that we do not know the same results come by ctypes."""
    monkeypatch.setattr(fastcall, "works", lambda: False)
    monkeypatch.setattr(function.fastcall, "works", lambda: False)
    monkeypatch.setattr(gufunc, "gufuncs_work", lambda: False)
    g = make()
    for shape in ((), (3,), (40,), (4, 10)):
        for count in (1, 3):
            check(g(draw(*shape, 7), EMPTY, draw(3), threads=count), draw(*shape, 7), draw(3))
        check(g.fast(draw(*shape, 7), EMPTY, draw(3)), draw(*shape, 7), draw(3))
    assert "fast" not in vars(g)


def test_no_warnings_from_flags():
    """Neither in our own calls nor in NumPy's next ones, whatever flags the builtin leaves behind."""
    x = ca.SX.sym("x", 5)
    kernel = ca.vertcat(1 / x[0], ca.sqrt(x[1]), x[2] * x[3], x[4] * x[4], x[0] / x[0])
    f = NativeFunction("flags", lambda: ca.Function("f", [x], [kernel]), key="flags", inputs=[("x", 5)],
                       outputs=[("y", 5)])
    bad = np.array([0.0, -1.0, 1e300, 1e300, 1e-300])
    ones = np.ones((2, 2))
    with np.errstate(all="raise"):
        for states in ((), (3,), (40,)):
            f(np.broadcast_to(bad, (*states, 5)), threads=2)
        for after in (lambda: ones + 1, lambda: np.float64(1) / 3, lambda: np.linalg.inv(np.eye(3)), lambda: ones @ ones,
                      lambda: ones.astype(np.float32), lambda: ones.astype(int), lambda: ones.sum(),
                      lambda: np.interp(0.5, [0.0, 1.0], [0.0, 1.0]), lambda: np.float32(np.float64(1.1))):
            f.fast(bad)
            y = f.fast(bad)
            after()
        assert np.isinf(y[[0, 2]]).all()
        assert np.isnan(y[[1]]).all()


# -- compiling


def test_compiles_what_is_needed_only():
    f = make(key="lazy")
    assert f.report == function.Report()
    f.fast(draw(7), EMPTY, draw(3))
    f(draw(function.SIMD_FROM - 1, 7), EMPTY, draw(3))
    assert f.report.kernels == (1,)
    f(draw(function.SIMD_FROM, 7), EMPTY, draw(3))
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
    f, g = (NativeFunction("fma", lambda: ca.Function("f", [x], [x[0] * x[1] + x[2]]), key="fma", inputs=[("x", 3)],
                           outputs=[("y", 1)], contract=c) for c in (False, True))
    e = 2.0**-30
    values = np.array([1 + e, 1 - e, -1.0])
    assert f.fast(values) == 0.0
    assert g.fast(values) in (0.0, -e * e)                  # the latter where the processor can


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
    monkeypatch.setattr(threads, "run", lambda tasks: [pieces.append(len(tasks))] and [task() for task in tasks])
    monkeypatch.setenv("CONDYLE_THREADS", "3")
    states = 4 * function.THREAD_WORK // build().n_instructions()
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


# -- other processes, deletion

PROLOGUE = """
import gc, os, sys, threading, multiprocessing
import numpy as np
from condyle.native import threads
from tests.native.test_function import EMPTY, check, draw, make
f = make(key="processes")
def batch(seed, count=None):
    q = draw(5000, 7, seed=seed)
    check(f(q, EMPTY, draw(3), threads=count), q, draw(3))
    check(f.fast(q[0], EMPTY, draw(3)), q[0], draw(3))
    return threads.thread_count(), threads.thread_count(4), threading.active_count()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork():
    """Children forked after the parent used its threads compute, with one thread each; so do those that compile anew."""
    program = PROLOGUE + """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)         # Python >= 3.12 warns of threads before a fork
batch(0, 4)
assert threading.active_count() > 1
with multiprocessing.get_context("fork").Pool(2) as pool:
    for counts in pool.starmap(batch, [(1, None), (2, 4), (3, 3)]):
        assert counts[:2] == (1, 1), counts
if (child := os.fork()) == 0:
    g = make(key="compiled in the child")
    q = draw(50, 7)
    check(g(q, EMPTY, draw(3), threads=4), q, draw(3))
    os._exit(0 if threading.active_count() == 1 and threads._pool is None else 1)
assert os.waitpid(child, 0)[1] == 0
stop, building = threading.Event(), threading.Event()
def slow():
    building.set(); stop.wait(0.3)
    from tests.native.test_function import build
    return build()
other = threading.Thread(target=make(slow, key="slow").fast, args=(draw(7), EMPTY, draw(3)))
other.start(); building.wait()
if (child := os.fork()) == 0:                               # in the middle of another thread's compilation
    check(make(key="child").fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
other.join()
batch(0, 4)
print("good")
"""
    assert run(program, CONDYLE_THREADS="4").split() == ["good"]


def test_spawn(tmp_path):
    """Workers of multiprocessing use one thread, whatever the variable says, unless their call asks for more."""
    script = tmp_path / "workers.py"
    script.write_text(PROLOGUE + """
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for counts in pool.starmap(batch, [(1, None), (2, 3)]):
            assert counts[:2] == (1, 4), counts
    assert batch(0)[0] == 3
    print("good")
""", encoding="utf-8")
    environment = os.environ | {"CONDYLE_THREADS": "3", "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["good"], done.stderr


def test_deleted_at_once():
    """No cycle keeps machine code alive until the collector runs."""
    f = make()
    f.fast(draw(7), EMPTY, draw(3))
    f(draw(50, 7), EMPTY, draw(3))
    evaluator = f._evaluator
    watched = [weakref.ref(evaluator), weakref.ref(evaluator._loops[1].library)]
    fast = f.fast
    gc.disable()
    try:
        del f, evaluator
        assert all(w() is not None for w in watched)        # the builtin still needs them
        check(fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
        del fast
        assert all(w() is None for w in watched)
    finally:
        gc.enable()


def test_results_and_builtin_outlive_the_function():
    """In a process of its own, where a mistake is a crash; also at the end of the interpreter."""
    program = PROLOGUE + """
import atexit
fasts, results = [], []
for k in range(20):
    g = make(key=f"deleted {k % 3}")
    results.append(g.fast(draw(7), EMPTY, draw(3)))
    results.append(g(draw(100, 7), EMPTY, draw(3), threads=2))
    g.itself = g                                            # a cycle of the user's
    fasts.append(g.fast)
    del g
    gc.collect()
for fast in fasts:
    check(fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    check(fast(draw(100, 7), EMPTY, draw(3)), draw(100, 7), draw(3))
del fasts[::2], fast
gc.collect()
for k, r in enumerate(results):
    q = draw(7) if k % 2 == 0 else draw(100, 7)
    check(r, q, draw(3))
atexit.register(lambda: (batch(1), batch(1, 3), print("good")))
"""
    assert run(program).split() == ["good"]
