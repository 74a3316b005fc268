"""What depends on no model is compiled once: the loop over states and the functions of the mathematical library."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from condyle.native.calls import gufunc
from condyle.native.calls.native_function import NativeFunction
from condyle.native.machine import jit
from condyle.native.straight import line_code


def square_roots_and_sines(n: int) -> NativeFunction:
    """A function of its own for each n, of one state or many."""
    x = ca.SX.sym("x", n)
    f = ca.Function("f", [x], [ca.sin(x) * ca.cumsum(x) + ca.sqrt(x)])
    return NativeFunction(f"f{n}", lambda: f, key=f.serialize(), inputs=[("x", n)], outputs=[("y", n)])


@pytest.mark.skipif(not line_code.available(True, jit.lane_width()), reason="another processor or system")
def test_a_second_function_compiles_what_calls_it_and_no_more(tmp_path: Path, monkeypatch) -> None:
    """Of each further function LLVM sees its stub; of another process not even the loop and the sine."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("CONDYLE_CACHE", "on")
    seen: list[str] = []
    compiled = jit.compile_ir
    monkeypatch.setattr(jit, "compile_ir", lambda text, *level: seen.append(text) or compiled(text, *level))

    def run(n: int) -> list[str]:
        """What LLVM compiles for 64 states of a function."""
        seen.clear()
        x = np.random.default_rng(n).uniform(1, 2, (64, n))
        expected = np.sin(x) * np.cumsum(x, axis=1) + np.sqrt(x)
        np.testing.assert_allclose(square_roots_and_sines(n)(x), expected, rtol=1e-14)  # sums of n numbers
        return [
            what for text in seen for what in ("@gather(", "@condyle.sincos", "@loop.run(") if what in text
        ]

    def forget() -> None:
        """As a new process begins."""
        gufunc._shared_loop.cache_clear()
        line_code._function.cache_clear()

    forget()
    assert sorted(run(40)) == ["@condyle.sincos", "@gather(", "@loop.run("]
    assert run(41) == ["@loop.run("]
    forget()
    assert run(42) == ["@loop.run("]
    forget()
