"""Random expression graphs over every scalar operation, and how far two honest evaluations of one may
differ."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SPECIAL = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    np.pi,
    1e300,
    -1e300,
    1e-300,
    5e-324,
    -5e-324,
    1e-310,
    np.inf,
    -np.inf,
    np.nan,
)
EXACT: dict[str, Callable] = {  # rounded correctly by everyone
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "sqrt": lambda a, b: ca.sqrt(a),
    "sq": lambda a, b: a * a,
    "twice": lambda a, b: 2 * a,
    "neg": lambda a, b: -a,
}
LOGIC: dict[str, Callable] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "not": lambda a, b: ca.logic_not(a),
    "and": ca.logic_and,
    "or": ca.logic_or,
    "if_else": lambda a, b: ca.if_else(a < b, a, b + 1),
    "if_else_zero": lambda a, b: ca.if_else(a, b, 0),
    "floor": lambda a, b: ca.floor(a),
    "ceil": lambda a, b: ca.ceil(a),
    "fabs": lambda a, b: ca.fabs(a),
    "sign": lambda a, b: ca.sign(a),
    "copysign": ca.copysign,
    "fmin": ca.fmin,
    "fmax": ca.fmax,
}
OTHER: dict[str, Callable] = {
    "/": lambda a, b: a / b,
    "inv": lambda a, b: 1 / a,
    "norm": lambda a, b: (a / (d := a - b)) * (b / d) + 1 / d,
    "pow": lambda a, b: a**b,
    "constpow": lambda a, b: a**1.7,
    **{
        n: (lambda fn: lambda a, b: fn(a, b))(getattr(ca, n)) for n in ("atan2", "fmod", "remainder", "hypot")
    },
    **{
        n: (lambda fn: lambda a, b: fn(a))(getattr(ca, n))
        for n in (
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "exp",
            "log",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
            "erf",
            "erfinv",
            "log1p",
            "expm1",
        )
    },
}


def random_graph(
    rng: np.random.Generator, tables: tuple[dict[str, Callable], ...], size: int, inputs: int = 4
) -> ca.Function:
    """A function of one vector with up to three outputs; `size` operations, later ones mostly on recent
    results."""
    x = ca.SX.sym("x", inputs)
    pool = [*ca.vertsplit(x), *(ca.SX(float(c)) for c in rng.choice(SPECIAL, 2)), ca.SX(float(rng.normal()))]

    def pick() -> ca.SX:
        recent = rng.random() < 0.6
        return (
            pool[max(-len(pool), -1 - int(rng.exponential(4)))] if recent else pool[rng.integers(len(pool))]
        )

    for _ in range(size):
        table = tables[rng.integers(len(tables))]
        pool.append(list(table.values())[rng.integers(len(table))](pick(), pick()))
    chosen = [pool[-1], *(pick() for _ in range(2))]
    return ca.Function("graph", [x], [ca.densify(ca.vertcat(*chosen))])


def random_inputs(rng: np.random.Generator, states: int, inputs: int = 4) -> Array:
    """Rows of inputs, a fifth of them special values."""
    x = rng.normal(size=(states, inputs)) * 10.0 ** rng.integers(-3, 4, (states, inputs))
    return np.where(rng.random(x.shape) < 0.2, rng.choice(SPECIAL, x.shape), x)


# How the interpreter below computes each operation, and how many units in the last place two evaluations may
# differ.
# NumPy has functions of its own, right to 4 units at worst
_LIBRARY = 4
_EVALUATE: dict[int, tuple[Callable, float]] = {
    ca.OP_ASSIGN: (lambda a, b: a, 0),
    ca.OP_ADD: (np.add, 0),
    ca.OP_SUB: (np.subtract, 0),
    ca.OP_MUL: (np.multiply, 0),
    ca.OP_NEG: (lambda a, b: -a, 0),
    ca.OP_SQ: (lambda a, b: a * a, 0),
    ca.OP_TWICE: (lambda a, b: a + a, 0),
    ca.OP_SQRT: (lambda a, b: np.sqrt(a), 0),
    ca.OP_LT: (lambda a, b: (a < b) * 1.0, 0),
    ca.OP_LE: (lambda a, b: (a <= b) * 1.0, 0),
    ca.OP_EQ: (lambda a, b: (a == b) * 1.0, 0),
    ca.OP_NE: (lambda a, b: (a != b) * 1.0, 0),
    ca.OP_NOT: (lambda a, b: (a == 0) * 1.0, 0),
    ca.OP_AND: (lambda a, b: ((a != 0) & (b != 0)) * 1.0, 0),
    ca.OP_OR: (lambda a, b: ((a != 0) | (b != 0)) * 1.0, 0),
    ca.OP_IF_ELSE_ZERO: (lambda a, b: np.where(a == 0, 0.0, b), 0),
    ca.OP_FLOOR: (lambda a, b: np.floor(a), 0),
    ca.OP_CEIL: (lambda a, b: np.ceil(a), 0),
    ca.OP_FABS: (lambda a, b: np.abs(a), 0),
    ca.OP_COPYSIGN: (np.copysign, 0),
    ca.OP_SIGN: (lambda a, b: np.where(a < 0, -1.0, np.where(a > 0, 1.0, a)), 0),
    ca.OP_FMIN: (lambda a, b: np.where((b < a) | np.isnan(a), b, a), 0),
    ca.OP_FMAX: (lambda a, b: np.where((b > a) | np.isnan(a), b, a), 0),
    ca.OP_DIV: (np.divide, 2),
    ca.OP_INV: (lambda a, b: 1 / a, 2),
    ca.OP_POW: (np.power, _LIBRARY),
    ca.OP_CONSTPOW: (np.power, _LIBRARY),
    ca.OP_ATAN2: (np.arctan2, _LIBRARY),
    ca.OP_FMOD: (np.fmod, 0),
    ca.OP_HYPOT: (np.hypot, _LIBRARY),
    ca.OP_REMAINDER: (lambda a, b: _REMAINDER(a, b), 0),
    ca.OP_ERF: (lambda a, b: _ERF(a), _LIBRARY),
    ca.OP_ERFINV: (lambda a, b: _ERFINV(a), 1e12),  # CasADi's own is right to four digits only
    **{
        getattr(ca, f"OP_{n.upper()}"): ((lambda fn: lambda a, b: fn(a))(getattr(np, numpy_name)), _LIBRARY)
        for n, numpy_name in (
            ("sin", "sin"),
            ("cos", "cos"),
            ("tan", "tan"),
            ("asin", "arcsin"),
            ("acos", "arccos"),
            ("atan", "arctan"),
            ("exp", "exp"),
            ("log", "log"),
            ("sinh", "sinh"),
            ("cosh", "cosh"),
            ("tanh", "tanh"),
            ("asinh", "arcsinh"),
            ("acosh", "arccosh"),
            ("atanh", "arctanh"),
            ("log1p", "log1p"),
            ("expm1", "expm1"),
        )
    },
}
_PERIODIC = (ca.OP_SIN, ca.OP_COS, ca.OP_TAN, ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_POW, ca.OP_CONSTPOW)
_CHOPS = (ca.OP_FMOD, ca.OP_REMAINDER, ca.OP_SIN, ca.OP_COS, ca.OP_TAN)


def _mapped(op: Callable, operands: int) -> Callable:
    """CasADi's evaluator of one operation on arrays."""
    a = [ca.SX.sym(f"a{k}") for k in range(operands)]
    f = ca.Function("op", a, [op(*a)])
    return lambda *x: np.array(f(*(ca.DM(np.asarray(v, float)[None]) for v in x))).ravel()


_REMAINDER, _ERF, _ERFINV = _mapped(ca.remainder, 2), _mapped(ca.erf, 1), _mapped(ca.erfinv, 1)


def spread(f: ca.Function, x: Array, contract: bool) -> tuple[Array, NDArray[np.bool_]]:
    """How far two right evaluations of f at the rows of x may lie apart, and where that is known; both
    (states, nnz).

    Each operation is evaluated at its operands and at the corners of the box of what its operands may be; the
    largest change, plus its own rounding, is what its result may be. A comparison, floor, sign, .. at its
    jump so gets a box that holds both sides. Nothing is known any more where corners differ in kind (NaN, an
    infinity, a number), where a periodic function has a box that is no longer small, and of the sign that is
    copied from a NaN. Zero from if_else may have either sign: its box is +-5e-324. With contraction a product
    counts as not yet rounded, and nothing is known of one that overflows.
    """
    slots: dict[int, tuple[Array, Array, NDArray[np.bool_], int]] = {}
    out_e, out_known = [], []
    n = len(x)
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            _, e, known, _ = slots[i[0]]
            out_e.append(e)
            out_known.append(known)
        elif op in (ca.OP_CONST, ca.OP_INPUT):
            v = np.full(n, f.instruction_constant(k)) if op == ca.OP_CONST else x[:, i[1]]
            slots[o[0]] = v, np.zeros(n), np.ones(n, bool), op
        else:
            operands = [slots[s] for s in i]
            slots[o[0]] = _step(op, operands, contract)
    return np.array(out_e).T, np.array(out_known).T


def _step(op: int, operands: list, contract: bool) -> tuple[Array, Array, NDArray[np.bool_], int]:
    fn, units = _EVALUATE[op]
    (a, e_a, known, op_a), (b, e_b, known_b, op_b) = operands[0], operands[-1]
    known = known & known_b
    v = fn(a, b)
    corners = [
        fn(a + s * e_a, b + t * e_b) for s in (-1, 1) for t in ((-1, 1) if len(operands) > 1 else (s,))
    ]
    change = np.zeros(len(v))
    for c in corners:
        known = known & ((c == v) | np.isfinite(c - v) | (np.isnan(c) & np.isnan(v)))
        change = np.maximum(change, np.where(np.isfinite(c - v), np.abs(c - v), 0.0))
    box = np.maximum(e_a, e_b)
    inexact = box > 0
    e = change + np.where(inexact, 2 * np.spacing(np.abs(v)), 0.0)
    if units:
        e = e + units * np.spacing(np.abs(v))
    if op in _PERIODIC:
        known = known & (
            box <= 1e-3 * np.maximum(1.0, np.minimum(np.abs(a), np.abs(b) if op in _CHOPS[:2] else 1.0))
        )
    if contract and op in (ca.OP_MUL, ca.OP_SQ):
        e = e + np.spacing(np.abs(v))
        known = known & ~(np.isinf(v) & np.isfinite(a) & np.isfinite(b))
    if op == ca.OP_COPYSIGN:
        known = known & ~np.isnan(b)
    if op == ca.OP_ADD and op_a == op_b == ca.OP_IF_ELSE_ZERO:
        e = np.where(v == 0, np.maximum(e, 5e-324), e)
    e = np.where(np.isfinite(v) & np.isfinite(e), e, 0.0)
    return v, e, known, op
