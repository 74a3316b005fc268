"""The builtin: when it takes the short way, what it leaves behind, and what happens without it."""

from __future__ import annotations

import ctypes
import gc
import inspect
import os
import pickle
import sys
import tracemalloc
from operator import attrgetter

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.errors import ShapeError
from condyle.native.calls import gufunc, native_function
from condyle.native.calls.native_function import NativeFunction
from condyle.native.fastcall import structures
from condyle.native.fastcall.builtin import CallOption, DirectCall
from condyle.native.machine import jit
from tests.native.calls.functions import EMPTY, add_one, check, draw, make


@pytest.fixture(scope="module")
def f() -> NativeFunction:
    return make()


def test_fast_becomes_a_builtin(f):
    g = make()
    assert structures.works()  # on every Python and NumPy that we test with
    check(g.fast(draw(40, 7), EMPTY, draw(3)), draw(40, 7), draw(3))
    assert "fast" not in vars(g)  # a batch compiles no scalar kernel
    check(g.fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    assert type(g.fast) is type(len)
    check(g.fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
    check(g.fast(draw(40, 7), EMPTY, draw(3)), draw(40, 7), draw(3))
    with pytest.raises(TypeError, match="keyword"):
        g.fast(draw(7), EMPTY, u=draw(3))


def test_help_stays_when_a_builtin_takes_over():
    """The signature without annotations, and the docstring, of the method that it stands for."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1.0, com=(0, -0.2, 0))
    for name, arguments in (
        ("forward_dynamics", 2),
        ("inverse_dynamics", 3),
        ("qdot", 2),
        ("gravity_forces", 1),
    ):
        method = attrgetter(name)(system)
        method(*np.zeros((arguments, 1)))
        builtin = attrgetter(name)(system)
        assert type(builtin) is type(len)
        assert inspect.getdoc(builtin) == inspect.getdoc(method)
        assert [(p.name, p.kind, p.default) for p in inspect.signature(builtin).parameters.values()] == [
            (p.name, p.kind, p.default) for p in inspect.signature(method).parameters.values()
        ]


def test_builtin_takes_the_short_way(f, monkeypatch):
    """Plain vectors never reach Python; everything else does."""
    g, slow = add_one(), []
    g.fast(np.zeros(5))
    monkeypatch.setattr(native_function._Evaluator, "__call__", lambda self, *a: slow.append(a) or "slow")
    x = draw(5)
    frozen = draw(5)
    frozen.flags.writeable = False
    short = [x, frozen, pickle.loads(pickle.dumps(x)), draw(3, 5)[1], draw(10)[::2].copy()]
    for a in short:
        np.testing.assert_array_equal(g.fast(a), a + 1)
    assert not slow
    odd = np.empty(57, np.uint8)[1:].view(np.float64)[:5]
    others = [
        draw(10)[::2],
        draw(1, 5),
        draw(5, 1),
        draw(5, 5).T,
        draw(4),
        odd,
        x.astype(">f8"),
        x.astype("f4"),
        x.view("i8"),
        x.view("m8[s]"),
        x.view(type("Sub", (np.ndarray,), {})),
        x.tolist(),
        np.float64(1),
        None,
    ]
    for a in others:
        assert g.fast(a) == "slow"
    assert g.fast() == g.fast(x, x) == "slow"
    assert len(slow) == len(others) + 2


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


def named():
    """The builtin of `direct`, u fixed and its results in a dict; and u."""
    h, u = make(direct=DirectCall(keys=("a", "b", "c"))), draw(3)
    h(draw(7), EMPTY, u)
    return h.direct(lambda *given: dict(zip("abc", h(*given, u), strict=True)), u), u


def test_results_in_a_dict():
    """Under their keys, in their order, held by nobody else; what the builtin cannot do comes from the slow
    path."""
    direct, u = named()
    q = draw(7)
    keys = [sys.getrefcount(key) for key in "abc"]
    results = [direct(q, EMPTY) for _ in range(100)]
    python = [{"a": draw(7)}]
    assert {sys.getrefcount(r) for r in results} == {sys.getrefcount(r) for r in python}
    assert {sys.getrefcount(r[key]) for r in results for key in "abc"} == {
        sys.getrefcount(r["a"]) for r in python
    }
    assert all(type(r) is dict and list(r) == ["a", "b", "c"] for r in results)
    check(results[-1].values(), q, u)
    del results, python
    assert [sys.getrefcount(key) for key in "abc"] == keys
    check(direct(draw(40, 7), EMPTY).values(), draw(40, 7), u)
    check(direct(list(q), EMPTY).values(), q, u)


def test_results_as_matrices():
    """Row by row, as many rows as were asked for."""
    x, A = ca.SX.sym("x", 3), ca.SX.sym("A", 2)
    h = NativeFunction(
        "h",
        lambda: ca.Function("h", [x, A], [ca.vertcat(x, x + 1), 2 * A, ca.SX(0, 1)]),
        key="h of test_results_as_matrices",
        inputs=[("x", 3), ("A", 2)],
        outputs=[("a", 6), ("b", 2), ("c", 0)],
        direct=DirectCall(keys=("a", "b", "c"), rows=2),
    )
    h(np.zeros(3), np.zeros(2))
    result = h.direct(lambda *given: None, np.array([1.0, 2.0]))(np.array([1.0, 2.0, 3.0]))
    assert {name: y.tolist() for name, y in result.items()} == {
        "a": [[1, 2, 3], [2, 3, 4]],
        "b": [[2], [4]],
        "c": [[], []],
    }
    assert all(y.flags.c_contiguous and y.flags.owndata for y in result.values())


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
    """A function `make` that calls `real` so many times in every `count` + 1 calls, then fails as Python
    does."""
    no_memory = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    arguments = (
        "ptr {0}a, i32 {0}b, ptr {0}c, i32 {0}d, ptr {0}e, ptr {0}f, i32 {0}g, i32 {0}h, ptr {0}i".format("%")
    )
    return jit.Library(
        jit.compile_ir(f"""
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
}}""")
    )


@pytest.mark.parametrize("entry", ["array 0", "array 1", "array 2", "tuple_new", "dict_new"])
def test_no_memory_is_an_error(entry, monkeypatch):
    """Wherever an allocation fails: MemoryError, and what was made before is given back."""
    h, q, u = make(), draw(7), draw(3)
    h.fast(q, EMPTY, u)
    direct, _ = named()
    call = (lambda: direct(q, EMPTY)) if entry == "dict_new" else (lambda: h.fast(q, EMPTY, u))
    table = structures.table()
    k = structures.TABLE.index(entry if entry.endswith("new") else "array_new")
    old = table[k]
    if entry.endswith("new"):
        table[k] = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
    else:
        library = _failing_after(int(entry[-1]), old)
        table[k] = library.address("make")
    try:
        with pytest.raises(MemoryError):
            call()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(1000):
            try:
                call()
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
    for name, value in (
        ("DATA", 24),
        ("DIMS", 40),
        ("DESCR", 48),
        ("NDIM", 28),
        ("ARRAY_TYPE", 3),
        ("KIND", 28),
    ):
        structures.table.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(structures, name, value)
            assert not structures.works.__wrapped__(), name
    structures.table.cache_clear()
    assert structures.works.__wrapped__()


@pytest.fixture
def untested():
    """As in a process that has not used a builtin yet."""
    caches = structures.works, structures.table
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize("fails", ["layout", "numpy", "free-threaded build", "no lock"])
def test_a_self_test_that_fails_falls_back_quietly(fails, monkeypatch, untested):
    """At the first use, without a warning (these are errors here): the same results come the ordinary way."""
    if fails == "layout":
        monkeypatch.setattr(structures, "DIMS", 40)
    elif fails == "numpy":
        monkeypatch.setattr(np, "__version__", "3.0.0")
    elif fails == "free-threaded build":
        monkeypatch.setattr(structures.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    else:
        monkeypatch.setattr(structures.sys, "_is_gil_enabled", lambda: False, raising=False)
    g, q, u = make(direct=DirectCall()), draw(7), draw(3)
    for _ in range(3):
        check(g.fast(q, EMPTY, u), q, u)
    assert "fast" not in vars(g) and not structures.works()
    assert g.direct(lambda *given: g(*given, u), u) is None


def test_without_builtin_and_ufunc(monkeypatch):
    """On a Python or NumPy that we do not know the same results come by ctypes."""
    monkeypatch.setattr(structures, "works", lambda: False)
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
    f = NativeFunction(
        "flags", lambda: ca.Function("f", [x], [kernel]), key="flags", inputs=[("x", 5)], outputs=[("y", 5)]
    )
    bad = np.array([0.0, -1.0, 1e300, 1e300, 1e-300])
    ones = np.ones((2, 2))
    with np.errstate(all="raise"):
        for states in ((), (3,), (40,)):
            f(np.broadcast_to(bad, (*states, 5)), threads=2)
        for after in (
            lambda: ones + 1,
            lambda: np.float64(1) / 3,
            lambda: np.linalg.inv(np.eye(3)),
            lambda: ones @ ones,
            lambda: ones.astype(np.float32),
            lambda: ones.astype(int),
            lambda: ones.sum(),
            lambda: np.interp(0.5, [0.0, 1.0], [0.0, 1.0]),
            lambda: np.float32(np.float64(1.1)),
        ):
            f.fast(bad)
            y = f.fast(bad)
            after()
        assert np.isinf(y[[0, 2]]).all()
        assert np.isnan(y[[1]]).all()


def chain(count: int = 2, time: bool = False) -> cd.System:
    system, parent = cd.System(), "ground"
    for k in range(count):
        mass = cd.Parameter("mass", 1.0) if k == 0 else 1.0
        parent = system.add_body(
            f"b{k}", parent, cd.Pin(), X_PF=(0, -0.3, 0), mass=mass, com=(0, -0.1, 0), inertia=(0.1, 0.1, 0.1)
        )
    system.add_force("push", cd.forces.MobilityForce("b0", cd.Input("push", 0.1)))
    if time:
        system.add_force("wind", cd.forces.Custom(lambda s: {"b1": np.sin(s.t)}))
    return system


def test_forward_dynamics_without_tau_takes_the_short_way(monkeypatch):
    """tau may be left out; t, inputs and parameters as plain values go past the method, and nothing else
    does."""
    system = chain()
    q, u, zero = draw(2), draw(2), np.zeros(2)
    expected = system.forward_dynamics(q, u, zero)
    pushed = system.forward_dynamics([*q], [*u], t=1.0, inputs={"push": 2.0}, parameters={"mass": 3.0})
    slow = []
    assert type(system.forward_dynamics) is type(len)
    monkeypatch.setattr(type(system), "_run", lambda self, name, *a: slow.append(name))
    np.testing.assert_array_equal(system.forward_dynamics(q, u), expected)
    given = {"t": 1.0, "inputs": np.array([2.0]), "parameters": np.array([3.0])}
    np.testing.assert_array_equal(system.forward_dynamics(q, u, **given), pushed)
    np.testing.assert_array_equal(system.forward_dynamics(q, u, zero, **given), pushed)
    assert not slow
    bad = [
        {"t": np.nan},
        {"t": "now"},
        {"inputs": np.array([np.nan])},
        {"inputs": np.array([np.inf])},
        {"inputs": np.zeros(2)},
        {"inputs": [1.0]},
        {"t": 1.0, "locked": ()},
        {"other": 1},
        {"threads": 1},
    ]
    for options in bad:
        system.forward_dynamics(q, u, **options)
    with pytest.raises(cd.errors.ArgumentError):
        system.forward_dynamics(q)
    system.forward_dynamics(q, u, None)
    system.forward_dynamics(np.array([np.nan, 0.0]), u)
    system.forward_dynamics(q, np.array([np.nan, 0.0]))
    assert len(slow) == len(bad) + 3  # without u the call itself is refused


def test_options_never_reach_python():
    """Numbers and vectors by keyword fill parts of the fixed input, for one call; all else, and results that
    are not finite, go to the slow path, and nothing holds what was given."""
    x, tail = ca.SX.sym("x", 2), ca.SX.sym("tail", 5)
    options = CallOption("t", 0), CallOption("z", 1, 3), CallOption("none", 4, 0)
    h = NativeFunction(
        "h",
        lambda: ca.Function("h", [x, tail], [ca.vertcat(x, tail, 1 / x[0])]),
        key="h of test_options_never_reach_python",
        inputs=[("x", 2), ("tail", 5)],
        outputs=[("y", 8)],
        direct=DirectCall(options=options, finite=True),
    )
    fixed, slow = np.arange(5.0), []
    h(np.ones(2), fixed)
    direct = h.direct(lambda *given, **options: slow.append(options), fixed)
    q, t, z = np.array([2.0, 3.0]), 0.5, np.array([7.0, 8.0, 9.0])
    held = [sys.getrefcount(v) for v in (q, t, z, fixed)]
    for _ in range(3):
        assert direct(q, z=z, t=t, none=np.zeros(0)).tolist() == [2, 3, 0.5, 7, 8, 9, 4, 0.5]
        assert direct(q, t=-t).tolist() == [2, 3, -0.5, 1, 2, 3, 4, 0.5]
        assert direct(q).tolist() == [2, 3, 0, 1, 2, 3, 4, 0.5]
    assert not slow
    assert [sys.getrefcount(v) for v in (q, t, z, fixed)] == held
    bad = [
        {"t": 1},
        {"t": np.nan},
        {"t": np.float64(1.0)},
        {"z": [7.0, 8.0, 9.0]},
        {"z": z[:2]},
        {"z": np.array([1.0, np.inf, 0.0])},
        {"z": z, "other": 1.0},
        {"z": None},
    ]
    for given in bad:
        direct(q, **given)
    direct(0 * q)
    assert len(slow) == len(bad) + 1


def test_the_short_way_refuses_as_the_method_does():
    system = chain(time=True)
    q, u = draw(2), draw(2)
    system.forward_dynamics(q, u)
    for call in (
        lambda: system.forward_dynamics(q, np.array([np.nan, 0.0]), t=1.0),
        lambda: system.forward_dynamics(q[:1], u),
        lambda: system.forward_dynamics(q, u, t=np.inf),
        lambda: system.forward_dynamics(draw(3, 2), u),
        lambda: system.forward_dynamics(system.state(), t=1.0),
        lambda: system.forward_dynamics(q, t=1.0),
        lambda: system.forward_dynamics(q, u, parameters=np.array([-1.0])),
        lambda: system.forward_dynamics(draw(3, 2), u, inputs=np.array([1.0])),
    ):
        with pytest.raises(Exception) as short:
            call()
        assert type(vars(system).pop("forward_dynamics")) is type(len)
        with pytest.raises(type(short.value)) as long:
            call()
        assert str(short.value) == str(long.value)
        system.forward_dynamics(q, u)
