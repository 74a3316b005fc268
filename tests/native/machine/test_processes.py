"""Machine code across forks, spawned workers, deletion and the end of the interpreter."""

from __future__ import annotations

import gc
import os
import sys
import weakref

import pytest

from tests.native.calls.functions import EMPTY, check, draw, make, run
from tests.process import ROOT, output

PROLOGUE = """
import gc, os, sys, threading, multiprocessing
import numpy as np
from condyle.native.machine import threads
from tests.native.calls.functions import EMPTY, check, draw, make
f = make(key="processes")
def batch(seed, count=None):
    q = draw(5000, 7, seed=seed)
    check(f(q, EMPTY, draw(3), threads=count), q, draw(3))
    check(f.fast(q[0], EMPTY, draw(3)), q[0], draw(3))
    return threads.thread_count(), threads.thread_count(4), threading.active_count()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork():
    """Children forked after the parent used its threads compute, with one thread each; so do those that
    compile anew."""
    program = (
        PROLOGUE
        + """
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
    from tests.native.calls.functions import build
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
    )
    assert run(program, CONDYLE_THREADS="4").split() == ["good"]


def test_spawn(tmp_path):
    """Workers of multiprocessing use one thread, whatever the variable says, unless their call asks for
    more."""
    script = tmp_path / "workers.py"
    script.write_text(
        PROLOGUE
        + """
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        for counts in pool.starmap(batch, [(1, None), (2, 3)]):
            assert counts[:2] == (1, 4), counts
    assert batch(0)[0] == 3
    print("good")
""",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    assert output(
        sys.executable, script, environment={"CONDYLE_THREADS": "3", "PYTHONPATH": path}
    ).split() == ["good"]


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
        assert all(w() is not None for w in watched)  # the builtin still needs them
        check(fast(draw(7), EMPTY, draw(3)), draw(7), draw(3))
        del fast
        assert all(w() is None for w in watched)
    finally:
        gc.enable()


def test_results_and_builtin_outlive_the_function():
    """In a process of its own, where a mistake is a crash; also at the end of the interpreter."""
    program = (
        PROLOGUE
        + """
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
    )
    assert run(program).split() == ["good"]
