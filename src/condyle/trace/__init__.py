"""User functions as expressions: a plain Python function is called once with symbols and becomes a CasADi SX
Function.

A user writes `def f(q): return 0.1 * np.sin(q)`. `trace(f, ["knee"], what=...)` calls it with one `Symbol`
per name, stores the result as a `Traced` record (serialized SX, so it pickles and can key a cache), and then
calls f with plain floats at random points to check that the two agree.

A Symbol has no single value. Code that needs a number at once (float, int, if, min, max, the math module,
SciPy's splines) raises a TraceError that shows the user's line and what to write instead; a bare casadi.SX
would silently become NaN there.
"""

from __future__ import annotations

from condyle.trace.symbol import (
    DEFAULTED,
    Number,
    Numbers,
    Symbol,
    defaulted_in,
    is_truth,
    symbols,
    to_sx,
    where,
)
from condyle.trace.tracing import Traced, trace

__all__ = [
    "DEFAULTED",
    "Number",
    "Numbers",
    "Symbol",
    "Traced",
    "defaulted_in",
    "is_truth",
    "symbols",
    "to_sx",
    "trace",
    "where",
]
