"""What is asked for a few states is evaluated by CasADi, and compiled when that has paid."""

from __future__ import annotations

import numpy as np

from condyle.native.calls import native_function
from condyle.native.calls.native_function import NativeFunction, compile_when_it_pays
from condyle.native.machine import cache
from condyle.native.straight.kernel_function import effort
from tests.native.calls.functions import EMPTY, build, draw, make

# sums of products are rounded once or twice: some units of rounding of numbers of size 10
CLOSE = {"rtol": 1e-13, "atol": 1e-14}


def fresh(name: str) -> NativeFunction:
    """Another process would have such a one."""
    given = make()
    return NativeFunction(name, build, key=f"{name} of a test", inputs=given.inputs, outputs=given.outputs)


def asked(f: NativeFunction, states: int) -> list[np.ndarray]:
    found = f(draw(states, 7), EMPTY, draw(states, 3, seed=1))
    return list(found) if isinstance(found, tuple) else [found]


def test_few_states_are_interpreted_and_equal():
    f = fresh("few")
    for states in (1, 40):
        with compile_when_it_pays():
            found = asked(f, states)
        assert f.report.kernels == ()
        for x, y in zip(found, asked(fresh("few beside it"), states), strict=True):
            np.testing.assert_allclose(x, y, **CLOSE)
    asked(f, 1)  # elsewhere it is compiled
    assert f.report.kernels == (1,)


def test_it_is_compiled_when_it_pays():
    """After as much evaluation as compiling takes, and at once for many states."""
    f = fresh("paying")
    _, written = effort(build())
    once = native_function._CALL + written * native_function._OPERATION
    most = native_function._COMPILED + written * native_function._COMPILED_OPERATION
    calls = 0
    with compile_when_it_pays():
        while not f.report.kernels:
            asked(f, 1)
            calls += 1
        assert calls == int(most / once) + 1
        many = fresh("many")
        asked(many, 10_000_000 // written)
        assert len(many.report.kernels) == 1


def test_what_another_process_asked_for_is_compiled_and_kept():
    first, second, third = (fresh("again") for _ in range(3))
    with compile_when_it_pays():
        asked(first, 1)
        asked(first, 1)
        asked(second, 1)
        asked(third, 1)
    assert first.report.kernels == ()
    assert (second.report.kernels, second.report.from_cache) == ((1,), (False,))
    assert (third.report.kernels, third.report.from_cache) == ((1,), (True,))


def test_a_note_is_not_taken_for_code():
    """Where nothing pays but speed, an entry without code is as if it were not there."""
    first, second = fresh("note"), fresh("note")
    with compile_when_it_pays():
        asked(first, 1)
    assert cache.fetch(first._evaluator._key(1))[0] == b""
    asked(second, 1)
    assert second.report.from_cache == (False,)
    assert cache.fetch(first._evaluator._key(1))[0] != b""
