"""A symbolic scalar, and NumPy's functions of it."""

from __future__ import annotations

import difflib
import math
import numbers
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arrays import SX
from condyle.trace.refusal import refuse


def _mod(x: SX, y: SX) -> SX:
    """Remainder with the sign of y, as Python's %."""
    r = ca.fmod(x, y)
    return ca.if_else(r * y < 0, r + y, r)


def _rint(x: SX) -> SX:
    """Nearest integer, halves to even: C's remainder does the rounding."""
    return x - ca.remainder(x, 1)


def _xor(x: SX, y: SX) -> SX:
    return (x != 0) != (y != 0)


UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    **{
        name: getattr(ca, name)
        for name in (
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "exp",
            "expm1",
            "log",
            "log1p",
            "log10",
            "sqrt",
            "floor",
            "ceil",
            "fabs",
            "sign",
            "erf",
        )
    },
    "arcsin": ca.asin,
    "arccos": ca.acos,
    "arctan": ca.atan,
    "arcsinh": ca.asinh,
    "arccosh": ca.acosh,
    "arctanh": ca.atanh,
    "negative": lambda x: -x,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "absolute": ca.fabs,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "cbrt": lambda x: ca.sign(x) * ca.fabs(x) ** (1 / 3),
    "exp2": lambda x: ca.SX(2) ** x,
    "log2": lambda x: ca.log(x) / math.log(2),
    "rint": _rint,
    "trunc": lambda x: ca.if_else(x < 0, ca.ceil(x), ca.floor(x)),
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "degrees": lambda x: x * (180 / math.pi),
    "logical_not": ca.logic_not,
    "invert": ca.logic_not,
    "isnan": lambda x: x != x,
    "isfinite": lambda x: ca.fabs(x) < math.inf,
    "isinf": lambda x: ca.fabs(x) == math.inf,
    "expit": lambda x: 0.5 + 0.5 * ca.tanh(0.5 * x),
}
BINARY: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "power": lambda x, y: x**y,
    "float_power": lambda x, y: x**y,
    "remainder": _mod,
    "fmod": ca.fmod,
    "floor_divide": lambda x, y: _rint((x - _mod(x, y)) / y),
    "arctan2": ca.atan2,
    "hypot": ca.hypot,
    "copysign": ca.copysign,
    "maximum": ca.fmax,
    "fmax": ca.fmax,
    "minimum": ca.fmin,
    "fmin": ca.fmin,
    "heaviside": lambda x, h: ca.if_else(x == 0, h, x > 0),
    "logaddexp": lambda x, y: ca.fmax(x, y) + ca.log1p(ca.exp(-ca.fabs(x - y))),
    "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y,
    "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y,
    "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y,
    "logical_and": ca.logic_and,
    "logical_or": ca.logic_or,
    "logical_xor": _xor,
    "bitwise_and": ca.logic_and,
    "bitwise_or": ca.logic_or,
    "bitwise_xor": _xor,
}
RULES: dict[str, Callable[..., Any]] = {
    **UNARY,
    **BINARY,
    "clip": lambda x, low, high: ca.fmin(ca.fmax(x, low), high),
}
TRUTHS = frozenset(
    {
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "equal",
        "not_equal",
        "logical_and",
        "logical_or",
        "logical_xor",
        "logical_not",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "invert",
        "isnan",
        "isfinite",
        "isinf",
    }
)
"""Rules whose results are true or false."""


class Symbol:
    """A symbolic scalar. It behaves like a float in arithmetic and in NumPy's functions.

    Comparisons give Symbols (1 or 0): combine them with & | ~ and use them in `np.where` or `cd.where`.
    NumPy arrays of Symbols have dtype object. Arithmetic, dot, cross, @, stack and sum work on them. np.sin
    and such work if all entries are Symbols; comparisons, maximum, sign and clip do not, since NumPy wants
    plain booleans there: do those entry by entry.
    """

    __slots__ = ("sx",)
    __hash__ = object.__hash__

    def __init__(self, sx: SX) -> None:
        self.sx = sx

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __copy__(self) -> Symbol:
        return self

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Expressions of Parameters pickle in serialized form."""
        outside = defaulted_in(self.sx)
        if len(outside) != len(ca.symvar(self.sx)):
            raise TypeError(
                f"{self!r} cannot be pickled: it has no value outside the function that is being traced"
            )
        return _restored, (ca.Function("f", [s.sx for s in outside], [self.sx]).serialize(), outside)

    def __float__(self) -> NoReturn:
        refuse("float", "makes a float of a symbol")

    def __int__(self) -> NoReturn:
        refuse("int", "makes an integer of a symbol")

    def __complex__(self) -> NoReturn:
        refuse("float", "makes a complex number of a symbol")

    def __bool__(self) -> NoReturn:
        refuse("bool", "asks whether a symbol is true")

    def __round__(self, digits: int | None = None) -> Symbol:
        if digits:
            refuse("function", "rounds a symbol to decimal digits")
        return _apply("rint", self)

    def __divmod__(self, other: Any) -> Any:
        return _apply("floor_divide", self, other), _apply("remainder", self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _apply("floor_divide", other, self), _apply("remainder", other, self)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        if out is not None and any(isinstance(o, np.ndarray) and o.dtype != object for o in out):
            refuse("store", "puts a symbol into an array of floats")
        name, on_objects = ufunc.__name__, ["O" * ufunc.nin + "->" + "O" * ufunc.nout]
        if method != "__call__" or ufunc.signature is not None or ufunc.types == on_objects:
            return plain(getattr(ufunc, method)(*boxed(inputs), **options))
        if name == "divmod":
            return _apply("floor_divide", *inputs), _apply("remainder", *inputs)
        if name not in RULES:
            near = difflib.get_close_matches(name, RULES, n=3)
            refuse(
                "function",
                f"gives a symbol to {name}, which has no symbolic form"
                + (f" (near: {', '.join(near)})" if near else ""),
            )
        result = _apply(name, *inputs)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if func in _ARRAY_FUNCTIONS:
            return _ARRAY_FUNCTIONS[func](*args, **kwargs)
        return plain(func(*boxed(args), **{key: boxed(value) for key, value in kwargs.items()}))

    # from _add_operators, declared for editors and mypy
    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Symbol: ...
        def __radd__(self, other: Any) -> Symbol: ...
        def __sub__(self, other: Any) -> Symbol: ...
        def __rsub__(self, other: Any) -> Symbol: ...
        def __mul__(self, other: Any) -> Symbol: ...
        def __rmul__(self, other: Any) -> Symbol: ...
        def __truediv__(self, other: Any) -> Symbol: ...
        def __rtruediv__(self, other: Any) -> Symbol: ...
        def __pow__(self, other: Any) -> Symbol: ...
        def __rpow__(self, other: Any) -> Symbol: ...
        def __mod__(self, other: Any) -> Symbol: ...
        def __rmod__(self, other: Any) -> Symbol: ...
        def __floordiv__(self, other: Any) -> Symbol: ...
        def __rfloordiv__(self, other: Any) -> Symbol: ...
        def __and__(self, other: Any) -> Symbol: ...
        def __rand__(self, other: Any) -> Symbol: ...
        def __or__(self, other: Any) -> Symbol: ...
        def __ror__(self, other: Any) -> Symbol: ...
        def __xor__(self, other: Any) -> Symbol: ...
        def __rxor__(self, other: Any) -> Symbol: ...
        def __lt__(self, other: Any) -> Symbol: ...
        def __le__(self, other: Any) -> Symbol: ...
        def __gt__(self, other: Any) -> Symbol: ...
        def __ge__(self, other: Any) -> Symbol: ...
        def __eq__(self, other: object) -> Symbol: ...  # type: ignore[override]
        def __ne__(self, other: object) -> Symbol: ...  # type: ignore[override]
        def __neg__(self) -> Symbol: ...
        def __pos__(self) -> Symbol: ...
        def __abs__(self) -> Symbol: ...
        def __invert__(self) -> Symbol: ...
        def __floor__(self) -> Symbol: ...
        def __ceil__(self) -> Symbol: ...
        def __trunc__(self) -> Symbol: ...


Number: TypeAlias = float | Symbol
"""A number, a Parameter, an Input, or an expression of them."""
Numbers: TypeAlias = ArrayLike | Sequence[Number]
"""Several of these, or an array."""
Operand: TypeAlias = ArrayLike | Symbol | ca.SX
"""Input of elementwise functions: numbers, arrays, Symbols and CasADi expressions."""
Outcome: TypeAlias = float | NDArray[np.float64] | NDArray[np.object_] | Symbol | ca.SX
"""Output of these, of the same kind."""


class Truth(Symbol):
    """The result of a comparison: 1 or 0. Arithmetic with it gives a plain Symbol; laws must not return it."""

    __slots__ = ()


DEFAULTED: dict[int, Symbol] = {}
"""Symbols with a value `default`, by the hash of their node: Parameters and Inputs."""


def _add_operators() -> None:
    """Give Symbol its operators, and the methods .sin(), .sqrt(), ... that NumPy calls on entries of object
    arrays."""

    def unary(name: str) -> Callable:
        return lambda self: _apply(name, self)

    def forward(name: str) -> Callable:
        return lambda self, other: _apply(name, self, other) if _is_operand(other) else NotImplemented

    def backward(name: str) -> Callable:
        return lambda self, other: _apply(name, other, self) if _is_operand(other) else NotImplemented

    for operator, name in {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "pow": "power",
        "mod": "remainder",
        "floordiv": "floor_divide",
        "and": "logical_and",
        "or": "logical_or",
        "xor": "logical_xor",
    }.items():
        setattr(Symbol, f"__{operator}__", forward(name))
        setattr(Symbol, f"__r{operator}__", backward(name))
    for operator, name in {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
    }.items():
        setattr(Symbol, f"__{operator}__", forward(name))
    for operator, name in {
        "neg": "negative",
        "pos": "positive",
        "abs": "absolute",
        "invert": "logical_not",
        "floor": "floor",
        "ceil": "ceil",
        "trunc": "trunc",
    }.items():
        setattr(Symbol, f"__{operator}__", unary(name))
    for name in UNARY:
        setattr(Symbol, name, unary(name))
    for name in ("arctan2", "hypot", "fmod", "copysign", "heaviside", "logaddexp"):
        setattr(Symbol, name, forward(name))


def is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "fiub"
    return isinstance(value, (numbers.Real, np.bool_))


def is_symbolic(value: Any) -> bool:
    return isinstance(value, Symbol) or (isinstance(value, ca.SX) and value.is_scalar())


def is_truth(value: Any) -> bool:
    """Whether the value is true or false rather than a number: a Python or NumPy bool, or a comparison of
    symbols."""
    return isinstance(value, (bool, np.bool_, Truth)) or (
        isinstance(value, np.ndarray) and value.dtype == bool
    )


def _is_operand(value: Any) -> bool:
    return isinstance(value, np.ndarray) or is_symbolic(value) or is_number(value)


def scalar(value: Any) -> SX:
    if isinstance(value, Symbol):
        return value.sx
    if is_symbolic(value):
        return ca.densify(value)
    if is_number(value):
        return ca.SX(float(value))
    raise TypeError(
        f"cannot calculate with {value!r} ({type(value).__name__}) and a symbol; use real numbers"
    )


def _apply(name: str, *inputs: Any) -> Any:
    """The rule `name` on Symbols and numbers; entry by entry, to an object array, if an input is an array or
    a list."""
    kind = Truth if name in TRUTHS else Symbol

    def rule(*values: Any) -> Symbol:
        return kind(RULES[name](*map(scalar, values)))

    if all(is_symbolic(x) or np.ndim(x) == 0 for x in inputs):
        return rule(*(x[()] if isinstance(x, np.ndarray) else x for x in inputs))
    return np.frompyfunc(rule, len(inputs), 1)(*boxed(inputs))


def boxed(value: Any) -> Any:
    """Symbols as 0-d object arrays, also inside lists and tuples, so that NumPy does not pass the call back
    to them.
    """
    if isinstance(value, Symbol):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return type(value)(map(boxed, value)) if type(value) in (list, tuple) else value


def plain(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def where(condition: Operand, a: Operand, b: Operand) -> Outcome:
    """a where the condition holds, else b: `if` for numbers, arrays and symbols alike.

    Both sides are always evaluated. If the side not taken can be NaN or infinite (the root of a negative
    number, a division by zero), guard its argument so that derivatives stay finite too:
    `where(x > 0, np.sqrt(where(x > 0, x, 1.0)), 0.0)`.
    """

    def choose(c: Any, x: Any, y: Any) -> Symbol:
        kind = Truth if is_truth(x) and is_truth(y) else Symbol
        return kind(ca.if_else(scalar(c), scalar(x), scalar(y)))

    values = [np.asarray(boxed(v)) for v in (condition, a, b)]
    if any(is_symbolic(entry) for v in values if v.dtype == object for entry in v.flat):
        return plain(np.frompyfunc(choose, 3, 1)(*values))
    return np.where(*values)[()]


def _select(condlist: Sequence, choicelist: Sequence, default: Any = 0) -> Any:
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        default = where(condition, choice, default)
    return default


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    x = x if low is None else _apply("maximum", x, low)
    return x if high is None else _apply("minimum", x, high)


def _sinc(x: Any) -> Any:
    y = where(x == 0, 1e-20, math.pi * x)
    return np.sin(y) / y


def _interp(*args: Any, **options: Any) -> NoReturn:
    refuse("spline", "gives a symbol to np.interp")


_ARRAY_FUNCTIONS: dict[Callable, Callable] = {
    np.where: where,
    np.select: _select,
    np.clip: _clip,
    np.sinc: _sinc,
    np.interp: _interp,
}
_add_operators()


def symbols(sx: SX) -> NDArray[np.object_]:
    """The entries of an SX matrix as an object array of Symbols; a column gives shape (n,), else (rows,
    columns)."""
    array = np.empty(sx.shape, dtype=object)
    for i, j in np.ndindex(*sx.shape):
        array[i, j] = Symbol(ca.densify(sx[i, j]))
    return array[:, 0] if sx.shape[1] == 1 else array


def to_sx(values: Any) -> SX:
    """Symbols and numbers, scalar, shape (n,) or (n, m), as a dense SX matrix."""
    if isinstance(values, ca.SX):
        return ca.densify(values)
    rows = np.atleast_1d(np.array(values, dtype=object))
    if any(is_truth(entry) for entry in rows.flat):
        refuse("truth", "puts a truth value, as a comparison gives it, where a number belongs")
    return ca.vertcat(*(ca.horzcat(*map(scalar, np.ravel(row))) for row in rows))


def defaulted_in(x: SX) -> tuple[Symbol, ...]:
    """The symbols with a default, such as Parameters, that an expression depends on."""
    return tuple(DEFAULTED[s.element_hash()] for s in ca.symvar(x) if s.element_hash() in DEFAULTED)


def _restored(serial: str, outside: tuple[Symbol, ...]) -> Symbol:
    return Symbol(ca.Function.deserialize(serial).call([s.sx for s in outside], True, False)[0])
