"""Mathematical functions of W lanes, out of line, each defined once in a module that uses it.

sin and cos (one function gives both), exp and log are written here and are the same instructions in the same order for
every W, so that a lane of a SIMD kernel equals the scalar kernel to the last bit. erfinv is written here because the C
library has none. All others call the C library lane by lane.

Accuracy, in units in the last place: sin, cos 1 for |x| < 1e9 (the C library's own beyond); exp, log 1; erfinv 4.
NaN, infinities, zeros with their sign, negatives, subnormal arguments and results behave as in the C library, except
that a NaN's sign and payload are not kept. Without a fused multiply-add in hardware all this is right but slow.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from condyle.native.machine.parallel import HELPER
from condyle.native.straight.ir import Body, Lanes, bits, definition

_ROUND = 1.5 * 2.0**52                                      # x + _ROUND - _ROUND is x rounded, also in its low bits
_FAR = 1e9                                                  # from here on the C library reduces the argument

# pi/2 and log 2 as sums of doubles; ln2's first part ends in zeros, so that its multiples up to 2^11 are exact.
_PI_2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_LN_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)

# Minimax polynomials in x^2 on |x| < pi/4 and in s^2 on |s| < 0.1716, as published with FreeBSD's msun.
_SIN = (-1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10)
_COS = (4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11)
_LOG = (6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
        1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01)
_ATTRIBUTES = "noinline nounwind"
_EXP = tuple(1 / math.factorial(k) for k in range(2, 14))   # (exp r - 1 - r) / r^2 on |r| < 0.35


class Host(Protocol):
    """What a module offers to the functions defined in it."""

    lanes: Lanes

    def add(self, text: str) -> None: ...
    def declare(self, name: str, signature: str) -> None: ...
    def define(self, name: str, write: Callable[[str], None]) -> str: ...


def function(module: Host, name: str, operands: int = 1) -> str:
    """Symbol of `name` for the module's lanes: T name(T, ..), or {T, T} sincos(T). Defined when first asked for."""
    W = module.lanes.W
    if W == 1 and name not in _WRITTEN:
        module.declare(name, f"double @{name}({', '.join(['double'] * operands)}) nounwind")
        return name
    write = _WRITTEN.get(name) or (lambda m, symbol: _lane_by_lane(m, symbol, name, operands))
    return module.define(f"condyle.{name}.{W}", lambda symbol: write(module, symbol))


def _lane_by_lane(module: Host, symbol: str, scalar: str, operands: int) -> None:
    """A function of W lanes that calls a scalar one for each."""
    L = module.lanes
    if not scalar.startswith("condyle."):
        module.declare(scalar, f"double @{scalar}({', '.join(['double'] * operands)}) nounwind")
    b = Body(L, module.declare)
    r = "poison"
    for lane in range(L.W):
        x = [b.put(f"extractelement {L.T} %x{k}, i64 {lane}") for k in range(operands)]
        y = b.put(f"call double @{scalar}({', '.join(f'double {a}' for a in x)})")
        r = b.put(f"insertelement {L.T} {r}, double {y}, i64 {lane}")
    head = ", ".join(f"{L.T} %x{k}" for k in range(operands))
    module.add(HELPER + definition(f"internal {L.T} @{symbol}({head})", b.lines, f"{L.T} {r}", _ATTRIBUTES))


def _pair(b: Body, first: str, second: str) -> str:
    """A returned structure of two results."""
    T = b.lanes.T
    half = b.put(f"insertvalue {{{T}, {T}}} poison, {T} {first}, 0")
    return b.put(f"insertvalue {{{T}, {T}}} {half}, {T} {second}, 1")


def _sincos(module: Host, symbol: str) -> None:
    """Both for |x| < _FAR without a branch; a lane beyond sends the block through `symbol.far`."""
    L = module.lanes
    b = Body(L, module.declare)
    size = b.intrinsic("fabs", "%x0")
    far = b.compare("oge", size, _FAR)
    b.lines.append(f"br i1 {b.any(far)}, label %far, label %near\nnear:")
    result = _pair(b, *_near_sincos(b, "%x0", size))
    S = f"{{{L.T}, {L.T}}}"
    b.lines.append(f"ret {S} {result}\nfar:\n%r = call {S} @{symbol}.far({L.T} %x0, {L.B} {far})")
    module.add(HELPER + definition(f"internal {S} @{symbol}({L.T} %x0)", b.lines, f"{S} %r", _ATTRIBUTES))
    _far_sincos(module, symbol)


def _near_sincos(b: Body, x: str, size: str) -> tuple[str, str]:
    """Cody and Waite's reduction in three parts to |r + e| < pi/4, then two polynomials.

    x - n P1 is exact. No double below 1e9 is closer than 2^-62 to a multiple of pi/2, and r + e is right to 2^-118.
    """
    P1, P2, P3 = _PI_2
    t = b.fma(x, 2 / math.pi, _ROUND)
    n, quarter = b.sub(t, _ROUND), b.as_integer(t)
    minus_n = b.neg(n)
    r1 = b.fma(minus_n, P1, x)
    p = b.mul(n, P2)
    p_error = b.fma(n, P2, b.neg(p))
    r2 = b.sub(r1, p)                                       # r1 - p = r2 + r2_error exactly (Knuth)
    back = b.sub(r2, r1)
    r2_error = b.sub(b.sub(r1, b.sub(r2, back)), b.add(p, back))
    tail = b.fma(minus_n, P3, b.sub(r2_error, p_error))
    r = b.add(r2, tail)
    e = b.add(b.sub(r2, r), tail)
    z = b.mul(r, r)
    # sin(r + e) = r + (e + r^3 S(z) - e z/2)
    sine = b.add(r, b.fma(b.mul(r, z), b.polynomial(z, _SIN), b.fma(b.mul(e, z), -0.5, e)))
    # cos(r + e) = 1 - z/2 + (z^2 C(z) - r e), with 1 - z/2 kept in two parts
    half = b.mul(z, 0.5)
    w = b.sub(1.0, half)
    rest = b.fma(b.mul(z, z), b.polynomial(z, _COS), b.neg(b.mul(r, e)))
    cosine = b.add(w, b.add(b.sub(b.sub(1.0, w), half), rest))
    odd = b.put(f"icmp ne {b.lanes.I} {b.integer('and', quarter, 1)}, {b.lanes.integer(0)}")
    s = _flip(b, b.select(odd, cosine, sine), quarter)
    c = _flip(b, b.select(odd, sine, cosine), b.integer("add", quarter, 1))
    return b.select(b.compare("olt", size, 2.0**-27), x, s), c


def _flip(b: Body, value: str, quarter: str) -> str:
    """value, negated in the third and fourth quarter."""
    sign = b.integer("shl", b.integer("and", quarter, 2), 62)
    return b.as_double(b.integer("xor", b.as_integer(value), sign))


def _far_sincos(module: Host, symbol: str) -> None:
    """sin and cos of the C library where `far`, and as ever elsewhere: no lane depends on its neighbours."""
    L = module.lanes
    b = Body(L, module.declare)
    S = f"{{{L.T}, {L.T}}}"
    near = b.call(symbol, b.select("%far", 0.0, "%x0"), type=S)
    result = [b.select("%far", b.call(_c_library(module, name), "%x0"), b.put(f"extractvalue {S} {near}, {k}"))
              for k, name in enumerate(("sin", "cos"))]
    r = _pair(b, *result)
    head = f"internal {S} @{symbol}.far({L.T} %x0, {L.B} %far)"
    module.add(HELPER + definition(head, b.lines, f"{S} {r}", _ATTRIBUTES))


def _c_library(module: Host, name: str) -> str:
    """The C library's own function, whatever is written here."""
    if module.lanes.W == 1:
        module.declare(name, f"double @{name}(double) nounwind")
        return name
    return module.define(f"condyle.c_{name}.{module.lanes.W}", lambda symbol: _lane_by_lane(module, symbol, name, 1))


def _unary(module: Host, symbol: str, write: Callable[[Body, str], str], lanes: Lanes | None = None) -> None:
    L = lanes or module.lanes
    b = Body(L, module.declare)
    r = write(b, "%x0")
    module.add(HELPER + definition(f"internal {L.T} @{symbol}({L.T} %x0)", b.lines, f"{L.T} {r}", _ATTRIBUTES))


def _exp(b: Body, x: str) -> str:
    """exp x = 2^n exp(r + e), n = round(x / log 2); 2^n in two factors, so that it overflows by itself."""
    x = b.select(b.compare("ogt", x, 710.0), 710.0, x)      # comparisons with NaN are false: it passes
    x = b.select(b.compare("olt", x, -750.0), -750.0, x)
    n = b.sub(b.fma(x, 1 / math.log(2), _ROUND), _ROUND)
    r1 = b.fma(b.neg(n), _LN_2[0], x)
    p = b.mul(n, _LN_2[1])
    r = b.sub(r1, p)
    e = b.sub(b.sub(r1, r), p)
    z = b.mul(r, r)
    series = b.fma(b.polynomial(z, _EXP[1::2]), r, b.polynomial(z, _EXP[0::2]))
    y = b.add(1.0, b.add(r, b.fma(z, series, e)))
    half = b.fma(n, 0.5, _ROUND)
    rest = b.add(b.sub(n, b.sub(half, _ROUND)), _ROUND)
    for k in (half, rest):
        y = b.mul(y, b.as_double(b.integer("shl", b.integer("add", b.as_integer(k), 1023), 52)))
    return y


def _log(b: Body, x: str) -> str:
    """log x = k log 2 + log(1 + f), x = 2^k (1 + f), 1 + f between the roots of 1/2 and 2; s = f / (2 + f)."""
    small = b.compare("olt", x, 2.0**-1022)
    y = b.as_integer(b.select(small, b.mul(x, 2.0**54), x))
    root = bits(math.sqrt(0.5))
    t = b.integer("add", y, bits(1.0) - root)
    k = b.sub(b.as_double(b.integer("or", b.integer("lshr", t, 52), bits(2.0**52))), 2.0**52 + 1023)
    k = b.sub(k, b.select(small, 54.0, 0.0))
    f = b.sub(b.as_double(b.integer("add", b.integer("and", t, (1 << 52) - 1), root)), 1.0)
    s = b.div(f, b.add(f, 2.0))
    z = b.mul(s, s)
    w = b.mul(z, z)
    R = b.fma(w, b.polynomial(w, _LOG[1::2]), b.mul(z, b.polynomial(w, _LOG[0::2])))
    half = b.mul(b.mul(f, 0.5), f)
    low = b.fma(s, b.add(half, R), b.mul(k, _LN_2[1]))
    r = b.sub(b.mul(k, _LN_2[0]), b.sub(b.sub(half, low), f))
    other = b.select(b.compare("oeq", x, 0.0), -math.inf, b.select(b.compare("olt", x, 0.0), math.nan, x))
    inside = b.logic("and", b.compare("ogt", x, 0.0), b.compare("olt", x, math.inf))
    return b.select(inside, r, other)


def _erfinv(b: Body, x: str) -> str:
    """Winitzki's estimate (2e-3), then three steps of Halley's method on erf, or on erfc where x is nearer to 1."""
    for name in ("erf", "erfc", "exp", "log"):
        b.declare(name, f"double @{name}(double) nounwind")
    a = b.intrinsic("fabs", x)
    L = b.call("log", b.mul(b.sub(1.0, a), b.add(1.0, a)))
    A = b.fma(L, 0.5, 2 / (math.pi * 0.147))
    M = b.div(L, -0.147)
    y = b.intrinsic("sqrt", b.div(M, b.add(A, b.intrinsic("sqrt", b.fma(A, A, M)))))
    for _ in range(3):
        miss = b.select(b.compare("ole", a, 0.5), b.sub(b.call("erf", y), a), b.sub(b.sub(1.0, a), b.call("erfc", y)))
        step = b.mul(b.mul(miss, math.sqrt(math.pi) / 2), b.call("exp", b.mul(y, y)))
        y = b.sub(y, b.div(step, b.fma(y, step, 1.0)))
    return b.intrinsic("copysign", b.select(b.compare("oeq", a, 1.0), math.inf, y), x)


def _define_erfinv(module: Host, symbol: str) -> None:
    """Scalar, and lane by lane where there are several."""
    if module.lanes.W == 1:
        _unary(module, symbol, _erfinv)
    else:
        scalar = module.define("condyle.erfinv.1", lambda one: _unary(module, one, _erfinv, Lanes(1)))
        _lane_by_lane(module, symbol, scalar, 1)


_WRITTEN: dict[str, Callable[[Host, str], None]] = {
    "sincos": _sincos,
    "exp": lambda module, symbol: _unary(module, symbol, _exp),
    "log": lambda module, symbol: _unary(module, symbol, _log),
    "erfinv": _define_erfinv,
}
