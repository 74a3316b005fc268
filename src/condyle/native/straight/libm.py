"""Mathematical functions of W lanes, out of line, each defined once in a module that uses it.

sin and cos (one function gives both), exp and log are written here and are the same instructions in the same
order for every W, so that a lane of a SIMD kernel equals the scalar kernel to the last bit. erfinv is written
here because the C library has none. All others call the C library lane by lane.

Accuracy, in units in the last place: sin, cos 1 for |x| < 1e9 (the C library's own beyond); exp, log 1;
erfinv 4. NaN, infinities, zeros with their sign, negatives, subnormal arguments and results behave as in the
C library, except that a NaN's sign and payload are not kept. Without a fused multiply-add in hardware all
this is right but slow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import DOUBLE, Value, bits
from condyle.native.machine.parallel import HELPER

# x + _ROUND - _ROUND is x rounded, exact in its low bits too
_ROUND = 1.5 * 2.0**52
_FAR = 1e9  # from here on the C library reduces the argument

# pi/2 and log 2 as sums of doubles; ln2's first part ends in zeros, so that its multiples up to 2^11 are
# exact.
_PI_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_LN_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)

# Minimax polynomials in x^2 on |x| < pi/4 and in s^2 on |s| < 0.1716, as published with FreeBSD's msun.
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_LOG = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_EXP = tuple(1 / math.factorial(k) for k in range(2, 14))  # (exp r - 1 - r) / r^2 on |r| < 0.35


def function(module: Module, name: str, operands: int = 1) -> str:
    """Symbol of `name` for the module's lanes: T name(T, ..), or {T, T} sincos(T). It is defined on first
    use."""
    W = module.lanes.W
    if W == 1 and name not in _WRITTEN:
        module.declare(name, DOUBLE, [DOUBLE] * operands)
        return name
    write = _WRITTEN.get(name) or (lambda m, symbol: _lane_by_lane(m, symbol, name, operands))
    return module.define(f"condyle.{name}.{W}", lambda symbol: write(module, symbol))


def _function(
    module: Module, symbol: str, operands: int = 1, result: str = ""
) -> AbstractContextManager[Builder]:
    """Define a function of doubles in lanes, written inside `with`."""
    T = module.lanes.T
    return module.function(
        symbol, [T] * operands, result=result or T, attributes="noinline nounwind", note=HELPER
    )


def _lane_by_lane(module: Module, symbol: str, scalar: str, operands: int) -> None:
    """Define a function of W lanes that calls a scalar function for each lane."""
    if not scalar.startswith("condyle."):
        module.declare(scalar, DOUBLE, [DOUBLE] * operands)
    with _function(module, symbol, operands) as b:
        T = module.lanes.T
        r = "poison"
        for lane in range(module.lanes.W):
            x = [b.put(DOUBLE, f"extractelement {a}, i64 {lane}") for a in b.arguments]
            y = b.call(scalar, *x, result=DOUBLE)
            r = b.put(T, f"insertelement {T} {r}, {y}, i64 {lane}").text
        b.give(Value(b, T, r))


def _two(module: Module) -> str:
    """The type of two results."""
    return f"{{{module.lanes.T}, {module.lanes.T}}}"


def _pair(b: Builder, first: Value, second: Value) -> Value:
    """A returned structure of two results."""
    type = _two(b.module)
    half = b.put(type, f"insertvalue {type} poison, {first}, 0")
    return b.put(type, f"insertvalue {half}, {second}, 1")


def _sincos(module: Module, symbol: str) -> None:
    """sin and cos, without a branch for |x| < _FAR; if some lane is beyond, the block goes through
    `symbol.far`."""
    type = _two(module)
    with _function(module, symbol, result=type) as b:
        (x,) = b.arguments
        size = b.intrinsic("fabs", x)
        far = b.compare("oge", size, _FAR)
        beyond, near = b.label("far"), b.label("near")
        b.branch(b.any(far), beyond, near)
        b.place(near)
        b.give(_pair(b, *_near_sincos(b, x, size)))
        b.place(beyond)
        b.give(b.call(f"{symbol}.far", x, far, result=type))
    _far_sincos(module, symbol)


def _near_sincos(b: Builder, x: Value, size: Value) -> tuple[Value, Value]:
    """Cody and Waite's reduction in three parts to |r + e| < pi/4, then two polynomials.

    x - n P1 is exact. No double below 1e9 is closer than 2^-62 to a multiple of pi/2, and r + e is right to
    2^-118.
    """
    P1, P2, P3 = _PI_2
    t = b.fma(x, 2 / math.pi, _ROUND)
    n, quarter = t - _ROUND, _as_integer(t)
    minus_n = -n
    r1 = b.fma(minus_n, P1, x)
    p = n * P2
    p_error = b.fma(n, P2, -p)
    r2 = r1 - p  # r1 - p = r2 + r2_error exactly (Knuth)
    back = r2 - r1
    r2_error = (r1 - (r2 - back)) - (p + back)
    tail = b.fma(minus_n, P3, r2_error - p_error)
    r = r2 + tail
    e = (r2 - r) + tail
    z = r * r
    # sin(r + e) = r + (e + r^3 S(z) - e z/2)
    sine = r + b.fma(r * z, b.polynomial(z, _SIN), b.fma(e * z, -0.5, e))
    # cos(r + e) = 1 - z/2 + (z^2 C(z) - r e), with 1 - z/2 kept in two parts
    half = z * 0.5
    w = 1.0 - half
    rest = b.fma(z * z, b.polynomial(z, _COS), -(r * e))
    cosine = w + (((1.0 - w) - half) + rest)
    odd = b.compare("ne", quarter & 1, 0)
    s = _flip(b.select(odd, cosine, sine), quarter)
    c = _flip(b.select(odd, sine, cosine), quarter + 1)
    return b.select(b.compare("olt", size, 2.0**-27), x, s), c


def _as_integer(x: Value) -> Value:
    """The bits of a double."""
    return x.builder.convert("bitcast", x, x.builder.lanes.I)


def _as_double(x: Value) -> Value:
    return x.builder.convert("bitcast", x, x.builder.lanes.T)


def _flip(value: Value, quarter: Value) -> Value:
    """value, negated in the third and fourth quarter."""
    return _as_double(_as_integer(value) ^ ((quarter & 2) << 62))


def _far_sincos(module: Module, symbol: str) -> None:
    """sin and cos of the C library where `far`, and our own elsewhere: no lane depends on its neighbors."""
    L, type = module.lanes, _two(module)
    with module.function(
        f"{symbol}.far", [L.T, L.B], result=type, attributes="noinline nounwind", note=HELPER
    ) as b:
        x, far = b.arguments
        near = b.call(symbol, b.select(far, 0.0, x), result=type)
        results = [
            b.select(
                far, b.call(_c_library(module, name), x, result=L.T), b.put(L.T, f"extractvalue {near}, {k}")
            )
            for k, name in enumerate(("sin", "cos"))
        ]
        b.give(_pair(b, *results))


def _c_library(module: Module, name: str) -> str:
    """The C library's own function, also for functions written here."""
    if module.lanes.W == 1:
        module.declare(name, DOUBLE, [DOUBLE])
        return name
    return module.define(
        f"condyle.c_{name}.{module.lanes.W}", lambda symbol: _lane_by_lane(module, symbol, name, 1)
    )


def _unary(module: Module, symbol: str, write: Callable[[Builder, Value], Value]) -> None:
    with _function(module, symbol) as b:
        b.give(write(b, b.arguments[0]))


def _exp(b: Builder, x: Value) -> Value:
    """exp x = 2^n exp(r + e), n = round(x / log 2); 2^n in two factors, so that it overflows by itself."""
    x = b.select(b.compare("ogt", x, 710.0), 710.0, x)  # comparisons with NaN are false, so NaN passes
    x = b.select(b.compare("olt", x, -750.0), -750.0, x)
    n = b.fma(x, 1 / math.log(2), _ROUND) - _ROUND
    r1 = b.fma(-n, _LN_2[0], x)
    p = n * _LN_2[1]
    r = r1 - p
    e = (r1 - r) - p
    z = r * r
    series = b.fma(b.polynomial(z, _EXP[1::2]), r, b.polynomial(z, _EXP[0::2]))
    y = 1.0 + (r + b.fma(z, series, e))
    half = b.fma(n, 0.5, _ROUND)
    rest = (n - (half - _ROUND)) + _ROUND
    for k in (half, rest):
        y = y * _as_double((_as_integer(k) + 1023) << 52)
    return y


def _log(b: Builder, x: Value) -> Value:
    """log x = k log 2 + log(1 + f), x = 2^k (1 + f), 1 + f between the roots of 1/2 and 2; s = f / (2 +
    f)."""
    small = b.compare("olt", x, 2.0**-1022)
    y = _as_integer(b.select(small, x * 2.0**54, x))
    root = bits(math.sqrt(0.5))
    t = y + (bits(1.0) - root)
    k = _as_double((t >> 52) | bits(2.0**52)) - (2.0**52 + 1023)
    k = k - b.select(small, 54.0, 0.0)
    f = _as_double((t & ((1 << 52) - 1)) + root) - 1.0
    s = f / (f + 2.0)
    z = s * s
    w = z * z
    R = b.fma(w, b.polynomial(w, _LOG[1::2]), z * b.polynomial(w, _LOG[0::2]))
    half = (f * 0.5) * f
    low = b.fma(s, half + R, k * _LN_2[1])
    r = (k * _LN_2[0]) - ((half - low) - f)
    other = b.select(b.compare("oeq", x, 0.0), -math.inf, b.select(b.compare("olt", x, 0.0), math.nan, x))
    inside = b.compare("ogt", x, 0.0) & b.compare("olt", x, math.inf)
    return b.select(inside, r, other)


def _erfinv(b: Builder, x: Value) -> Value:
    """Winitzki's estimate (2e-3), then three steps of Halley's method on erf, or on erfc where x is nearer to
    1."""

    def c(name: str, x: Value) -> Value:
        return b.outside(name, x, result=DOUBLE)

    a = b.intrinsic("fabs", x)
    L = c("log", (1.0 - a) * (1.0 + a))
    A = b.fma(L, 0.5, 2 / (math.pi * 0.147))
    M = L / -0.147
    y = b.intrinsic("sqrt", M / (A + b.intrinsic("sqrt", b.fma(A, A, M))))
    for _ in range(3):
        miss = b.select(b.compare("ole", a, 0.5), c("erf", y) - a, (1.0 - a) - c("erfc", y))
        step = (miss * (math.sqrt(math.pi) / 2)) * c("exp", y * y)
        y = y - step / b.fma(y, step, 1.0)
    return b.intrinsic("copysign", b.select(b.compare("oeq", a, 1.0), math.inf, y), x)


def _define_erfinv(module: Module, symbol: str) -> None:
    """Define erfinv as a scalar function, and lane by lane for several lanes."""
    if module.lanes.W == 1:
        _unary(module, symbol, _erfinv)
        return

    def one(name: str) -> None:
        scalar = Module(1, module.contract)
        _unary(scalar, name, _erfinv)
        module.include(scalar)

    _lane_by_lane(module, symbol, module.define("condyle.erfinv.1", one), 1)


_WRITTEN: dict[str, Callable[[Module, str], None]] = {
    "sincos": _sincos,
    "exp": lambda module, symbol: _unary(module, symbol, _exp),
    "log": lambda module, symbol: _unary(module, symbol, _log),
    "erfinv": _define_erfinv,
}
