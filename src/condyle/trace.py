"""User functions as expressions: a plain Python function is called once with symbols and becomes a CasADi SX Function.

A user writes `def f(q): return 0.1 * np.sin(q)`. `trace(f, ["knee"], what=...)` calls it with one `Symbol` per name,
keeps what came out as a `Traced` record (serialised SX, so it pickles and can key a cache), and then calls f again with
plain floats at random points to see that the two agree.

A Symbol stands for every value at once. Whatever needs one number now (float, int, if, min, max, the math module,
SciPy's splines) is refused by a TraceError that shows the user's line and says what to write instead; a bare casadi.SX
would silently become NaN there.
"""
from __future__ import annotations

import ast
import contextlib
import difflib
import dis
import functools
import hashlib
import inspect
import linecache
import math
import numbers
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn

import casadi as ca
import numpy as np

from condyle.errors import TraceError
from condyle.native.lookup import Closure, Table, lookups_in

__all__ = ["Symbol", "Traced", "symbols", "to_sx", "trace", "where"]


# ---- What each operation means on scalar SX. The keys are the names of the ufuncs of NumPy and scipy.special. ----

def _mod(x: ca.SX, y: ca.SX) -> ca.SX:
    """Remainder with the sign of y, as Python's %."""
    r = ca.fmod(x, y)
    return ca.if_else(r * y < 0, r + y, r)


def _rint(x: ca.SX) -> ca.SX:
    """Nearest integer, halves to even: C's remainder does the rounding."""
    return x - ca.remainder(x, 1)


def _xor(x: ca.SX, y: ca.SX) -> ca.SX:
    return (x != 0) != (y != 0)


_UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    **{name: getattr(ca, name) for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p", "log10", "sqrt",
        "floor", "ceil", "fabs", "sign", "erf")},
    "arcsin": ca.asin, "arccos": ca.acos, "arctan": ca.atan,
    "arcsinh": ca.asinh, "arccosh": ca.acosh, "arctanh": ca.atanh,
    "negative": lambda x: -x, "positive": lambda x: x, "conjugate": lambda x: x, "absolute": ca.fabs,
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "cbrt": lambda x: ca.sign(x) * ca.fabs(x) ** (1 / 3),
    "exp2": lambda x: ca.SX(2) ** x, "log2": lambda x: ca.log(x) / math.log(2),
    "rint": _rint, "trunc": lambda x: ca.if_else(x < 0, ca.ceil(x), ca.floor(x)),
    "deg2rad": lambda x: x * (math.pi / 180), "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180), "degrees": lambda x: x * (180 / math.pi),
    "logical_not": ca.logic_not, "invert": ca.logic_not, "isnan": lambda x: x != x,
    "isfinite": lambda x: ca.fabs(x) < math.inf, "isinf": lambda x: ca.fabs(x) == math.inf,
    "expit": lambda x: 0.5 + 0.5 * ca.tanh(0.5 * x),
}
_BINARY: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y, "power": lambda x, y: x ** y, "float_power": lambda x, y: x ** y,
    "remainder": _mod, "fmod": ca.fmod, "floor_divide": lambda x, y: _rint((x - _mod(x, y)) / y),
    "arctan2": ca.atan2, "hypot": ca.hypot, "copysign": ca.copysign,
    "maximum": ca.fmax, "fmax": ca.fmax, "minimum": ca.fmin, "fmin": ca.fmin,
    "heaviside": lambda x, h: ca.if_else(x == 0, h, x > 0),
    "logaddexp": lambda x, y: ca.fmax(x, y) + ca.log1p(ca.exp(-ca.fabs(x - y))),
    "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y, "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y, "equal": lambda x, y: x == y, "not_equal": lambda x, y: x != y,
    "logical_and": ca.logic_and, "logical_or": ca.logic_or, "logical_xor": _xor,
    "bitwise_and": ca.logic_and, "bitwise_or": ca.logic_or, "bitwise_xor": _xor,
}
_RULES: dict[str, Callable[..., Any]] = {
    **_UNARY, **_BINARY, "clip": lambda x, low, high: ca.fmin(ca.fmax(x, low), high)}


# ---- The symbol ----

class Symbol:
    """One scalar value that is not known yet. It behaves like a float in arithmetic and in NumPy's functions.

    Comparisons give Symbols (1 or 0): combine them with & | ~ and use them in `np.where` or `cd.where`.
    NumPy arrays of Symbols have dtype object. Arithmetic, dot, cross, @, stack and sum work on them. np.sin and such
    work if all entries are Symbols; comparisons, maximum, sign and clip do not, since NumPy wants plain booleans there:
    do those entry by entry.
    """

    __slots__ = ("sx",)
    __hash__ = object.__hash__

    def __init__(self, sx: ca.SX) -> None:
        self.sx = sx

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __float__(self) -> NoReturn:
        _refuse("float", "makes a float of a symbol")

    def __int__(self) -> NoReturn:
        _refuse("int", "makes an integer of a symbol")

    def __complex__(self) -> NoReturn:
        _refuse("float", "makes a complex number of a symbol")

    def __bool__(self) -> NoReturn:
        _refuse("bool", "asks whether a symbol is true")

    def __round__(self, digits: int | None = None) -> Symbol:
        if digits:
            _refuse("function", "rounds a symbol to decimal digits")
        return _apply("rint", self)

    def __divmod__(self, other: Any) -> Any:
        return _apply("floor_divide", self, other), _apply("remainder", self, other)

    def __rdivmod__(self, other: Any) -> Any:
        return _apply("floor_divide", other, self), _apply("remainder", other, self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if out is not None and any(isinstance(o, np.ndarray) and o.dtype != object for o in out):
            _refuse("store", "puts a symbol into an array of floats")
        name, on_objects = ufunc.__name__, ["O" * ufunc.nin + "->" + "O" * ufunc.nout]
        if method != "__call__" or ufunc.signature is not None or ufunc.types == on_objects:
            return _plain(getattr(ufunc, method)(*_boxed(inputs), **options))
        if name == "divmod":
            return _apply("floor_divide", *inputs), _apply("remainder", *inputs)
        if name not in _RULES:
            near = difflib.get_close_matches(name, _RULES, n=3)
            _refuse("function", f"gives a symbol to {name}, which has no symbolic form"
                    + (f" (near: {', '.join(near)})" if near else ""))
        result = _apply(name, *inputs)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if func in _ARRAY_FUNCTIONS:
            return _ARRAY_FUNCTIONS[func](*args, **kwargs)
        return _plain(func(*_boxed(args), **{key: _boxed(value) for key, value in kwargs.items()}))


DEFAULTED: dict[int, Symbol] = {}
"""Symbols that have a value of their own, `default`, by the hash of their node: Parameters and Inputs."""


def _add_operators() -> None:
    """Give Symbol its operators, and the methods .sin(), .sqrt(), ... that NumPy calls on entries of object arrays."""
    def unary(name: str) -> Callable:
        return lambda self: _apply(name, self)

    def forward(name: str) -> Callable:
        return lambda self, other: _apply(name, self, other) if _is_operand(other) else NotImplemented

    def backward(name: str) -> Callable:
        return lambda self, other: _apply(name, other, self) if _is_operand(other) else NotImplemented

    for operator, name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
                           "mod": "remainder", "floordiv": "floor_divide", "and": "logical_and", "or": "logical_or",
                           "xor": "logical_xor"}.items():
        setattr(Symbol, f"__{operator}__", forward(name))
        setattr(Symbol, f"__r{operator}__", backward(name))
    for operator, name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
                           "ne": "not_equal"}.items():
        setattr(Symbol, f"__{operator}__", forward(name))
    for operator, name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "logical_not",
                           "floor": "floor", "ceil": "ceil", "trunc": "trunc"}.items():
        setattr(Symbol, f"__{operator}__", unary(name))
    for name in _UNARY:
        setattr(Symbol, name, unary(name))
    for name in ("arctan2", "hypot", "fmod", "copysign", "heaviside", "logaddexp"):
        setattr(Symbol, name, forward(name))


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "fiub"
    return isinstance(value, (numbers.Real, np.bool_))


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, Symbol) or (isinstance(value, ca.SX) and value.is_scalar())


def _is_operand(value: Any) -> bool:
    return isinstance(value, np.ndarray) or _is_symbolic(value) or _is_number(value)


def _scalar(value: Any) -> ca.SX:
    if isinstance(value, Symbol):
        return value.sx
    if _is_symbolic(value):
        return ca.densify(value)
    if _is_number(value):
        return ca.SX(float(value))
    raise TypeError(f"cannot calculate with {value!r} ({type(value).__name__}) and a symbol; use real numbers")


def _apply(name: str, *inputs: Any) -> Any:
    """The rule `name` on Symbols and numbers; entry by entry, to an object array, if an input is an array or a list."""
    def rule(*values: Any) -> Symbol:
        return Symbol(_RULES[name](*map(_scalar, values)))

    if all(_is_symbolic(x) or np.ndim(x) == 0 for x in inputs):
        return rule(*(x[()] if isinstance(x, np.ndarray) else x for x in inputs))
    return np.frompyfunc(rule, len(inputs), 1)(*_boxed(inputs))


def _boxed(value: Any) -> Any:
    """Symbols as 0-d object arrays, also inside lists and tuples, so that NumPy does not hand the call back to them."""
    if isinstance(value, Symbol):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return type(value)(map(_boxed, value)) if type(value) in (list, tuple) else value


def _plain(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b: `if` for numbers, arrays and symbols alike.

    Both sides are always evaluated. If the side not taken can be NaN or infinite (the root of a negative number, a
    division by zero), guard its argument so that derivatives stay finite too:
    `where(x > 0, np.sqrt(where(x > 0, x, 1.0)), 0.0)`.
    """
    def choose(c: Any, x: Any, y: Any) -> Symbol:
        return Symbol(ca.if_else(_scalar(c), _scalar(x), _scalar(y)))

    values = [np.asarray(_boxed(v)) for v in (condition, a, b)]
    if any(_is_symbolic(entry) for v in values if v.dtype == object for entry in v.flat):
        return _plain(np.frompyfunc(choose, 3, 1)(*values))
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
    _refuse("spline", "gives a symbol to np.interp")


_ARRAY_FUNCTIONS: dict[Callable, Callable] = {
    np.where: where, np.select: _select, np.clip: _clip, np.sinc: _sinc, np.interp: _interp}
_add_operators()


def symbols(sx: ca.SX) -> np.ndarray:
    """The entries of an SX matrix as an object array of Symbols; a column gives shape (n,), else (rows, columns)."""
    array = np.empty(sx.shape, dtype=object)
    for i, j in np.ndindex(*sx.shape):
        array[i, j] = Symbol(ca.densify(sx[i, j]))
    return array[:, 0] if sx.shape[1] == 1 else array


def to_sx(values: Any) -> ca.SX:
    """Symbols and numbers, scalar, shape (n,) or (n, m), as a dense SX matrix."""
    if isinstance(values, ca.SX):
        return ca.densify(values)
    rows = np.atleast_1d(np.array(values, dtype=object))
    return ca.vertcat(*(ca.horzcat(*map(_scalar, np.ravel(row))) for row in rows))


# ---- Refusals: what happened, on which line, and what to write instead ----

@dataclass
class _Call:
    """The call of a user function that is under way, as errors speak of it."""

    what: str
    function: str
    law: Any = None
    refusal: TraceError | None = None

    def error(self, message: str) -> TraceError:
        return TraceError(f"{self.what}: {self.function} {message}")


_current: ContextVar[_Call | None] = ContextVar("condyle_trace", default=None)

_NUMPY_NAMES = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
                "atanh": "arctanh", "atan2": "arctan2", "pow": "power", "dist": "hypot"}
_REMEDIES = {
    "spline": "Use cd.Spline(x, y) instead of a SciPy spline or np.interp.",
    "scipy": "SciPy cannot calculate with symbols: use NumPy's functions, or tabulate it and use cd.Spline(x, y).",
    "store": "An array of floats cannot hold symbols: build it from its entries, np.array([[...], ...]), "
             "or make it with dtype=object.",
    "function": "Write it with arithmetic and NumPy's elementary functions, or tabulate it and use cd.Spline(x, y).",
    "bool": "Use np.where(condition, a, b) or cd.where instead of if, while, and, or; combine conditions by & | ~; "
            "use np.maximum and np.minimum instead of max and min; compare entries, not whole arrays of symbols.",
    "int": "Leave out int(), or use np.floor or np.trunc; a table indexed by a symbol becomes cd.Spline(x, y).",
    "float": "Leave out float() and dtype=float; use np.sin, np.sqrt, ... instead of the math module, "
             "and cd.Spline(x, y) instead of a SciPy spline.",
}


def _refuse(kind: str, did: str) -> NoReturn:
    """Raise the TraceError for something a Symbol cannot do. It is kept too, in case NumPy or SciPy swallows it."""
    call = _current.get() or _Call("user code", "it")
    inner: list[str] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not _evaluate.__code__:
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in ("numpy", "scipy", "condyle", "casadi", "functools"):
            break
        inner.append(module)
        frame = frame.f_back
    user = frame if frame is not None and frame.f_code is not _evaluate.__code__ else None
    spot, called = _spot(user) if user else ("", call.law)
    remedy = _remedy(kind, user, inner, called)
    error = call.error(f"{did}{spot}. {remedy} (It is called once, with symbols that stand for any value.)")
    call.refusal = call.refusal or error
    raise error


def _spot(frame: FrameType) -> tuple[str, Any]:
    """` at file:line: `source`` for the expression that the frame is at, and the function it calls if it is a call."""
    line, end, first, last = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    source = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
    whole = line == end == frame.f_lineno and first is not None
    text = source.encode()[first:last].decode(errors="replace") if whole else source.strip()
    called = None
    with contextlib.suppress(SyntaxError, AttributeError, KeyError):
        names = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
        match ast.parse(text, mode="eval").body:
            case ast.Call(func=ast.Name(id=name)):
                called = names[name]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if inspect.ismodule(names[module]):
                called = getattr(names[module], name)
    return f" at {frame.f_code.co_filename}:{frame.f_lineno}" + (f": `{text}`" if text else ""), called


def _remedy(kind: str, user: FrameType | None, inner: list[str], called: Any) -> str:
    name = getattr(called, "__name__", "")
    if any(module.startswith("scipy.interpolate") for module in inner):
        kind = "spline"
    elif any(module.startswith("scipy") for module in inner):
        kind = "scipy"
    elif user and not inner and dis.opname[user.f_code.co_code[user.f_lasti]] == "STORE_SUBSCR":
        kind = "store"
    elif getattr(called, "__module__", None) == "math":
        return f"Use np.{_NUMPY_NAMES.get(name, name)} instead of math.{name}."
    elif called is max or called is min:
        return f"Use np.{name}imum(a, b) instead of {name}(a, b)."
    return _REMEDIES[kind]


def _describe(function: Any) -> str:
    """`function name (file:line)`, as far as they are known."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    name = "lambda" if name.endswith("<lambda>") else name.replace("<locals>.", "")
    method = getattr(inspect.unwrap(function), "__func__", inspect.unwrap(function))
    code = getattr(method, "__code__", None) or getattr(type(method).__dict__.get("__call__"), "__code__", None)
    return f"function {name}" + (f" ({code.co_filename}:{code.co_firstlineno})" if isinstance(code, CodeType) else "")


# ---- Tracing ----

@dataclass(frozen=True, eq=False)
class Traced:
    """A user function as an expression. Two are equal if they compute the same by the same operations. It pickles.

    Attributes:
        what: what it is for, as errors name it.
        names: names of its scalar inputs.
        shape: shape of its result, () for a scalar.
        serial: the serialised SX Function with canonical symbol names.
        outside: the Parameters it uses.
        tables: the tables it looks rows up in.
    """

    what: str
    names: tuple[str, ...]
    shape: tuple[int, ...]
    serial: str
    outside: tuple[Symbol, ...] = ()
    tables: tuple[Table, ...] = ()

    @functools.cached_property
    def text(self) -> str:
        """What it computes, with its Parameters and tables: the same in every process, fit for a cache key."""
        tables = [hashlib.sha256(table.rows.tobytes()).hexdigest() for table in self.tables]
        return f"{self.serial}{list(self.outside) or ''}{tables or ''}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traced) and (self.names, self.shape, self.text) == (other.names, other.shape, other.text)

    def __hash__(self) -> int:
        return hash((self.names, self.shape, self.text))

    @functools.cached_property
    def function(self) -> ca.Function:
        """CasADi SX Function: one scalar input per name; one dense column, the result in row-major order. Where there are
        Parameters or tables: `condyle.native.lookup.Closure.function`."""
        return ca.Function.deserialize(self.serial)

    @functools.cached_property
    def _closure(self) -> Closure:
        return Closure.of(self.function, 1, ca.vertcat(ca.SX(0, 1), *(s.sx for s in self.outside)), self.tables)

    def apply(self, *arguments: ca.SX) -> ca.SX:
        """The result as an expression of expressions, a dense column."""
        if not self.outside and not self.tables:
            return self.function.call(list(arguments), True, False)[0]
        return self._closure(*arguments)[0]

    def __call__(self, *values: float) -> np.ndarray:
        """The result at plain numbers, by CasADi's evaluator; shape `shape`. Parameters have their defaults."""
        if not self.outside and not self.tables:
            return np.array(self.function.call([float(v) for v in values])[0], dtype=float).reshape(self.shape)
        defaults = [s.default for s in self.outside]  # type: ignore[attr-defined]
        return self._closure.at(*map(float, values), outside=defaults)[0].reshape(self.shape)

    def __repr__(self) -> str:
        return f"Traced({self.what!r}, ({', '.join(self.names)}) -> {self.shape})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("what", "names", "shape", "serial", "outside", "tables")}


def trace(function: Callable[..., Any] | float | None, names: Sequence[str], *, what: str,
          outputs: tuple[int, ...] | None = None, flatten: Callable[[Any], Any] | None = None,
          ranges: Sequence[tuple[float, float]] | None = None, points: int = 4, seed: int = 0,
          source: Callable[..., Any] | None = None) -> Traced:
    """Call a user function once with symbols, check it against plain floats, and return it as a `Traced` record.

    Args:
        function: f(*scalars) -> a scalar, a sequence or a (nested) array of scalars; a number, or None for zero.
        names: one name per argument, such as the coordinates.
        what: what the function is for, as errors shall name it: "angle 1 of FunctionBased(knee)".
        outputs: shape that the result must have, () for a scalar; None takes any.
        flatten: turns the function's result into an array of scalars if it is something else, such as (R, p).
        ranges: (low, high) of each argument in the comparison with floats; (-1, 1) by default.
        points: how many random points are compared.
        seed: of those points.
        source: the user's own function, where `function` only wraps it: errors name it.
    """
    names = tuple(names)
    call = _Call(what, "the constant")
    if function is None or _is_number(function):
        value = 0.0 if function is None else function
        law: Callable[..., Any] = lambda *_: value
    elif callable(function):
        law = function
        call.function, call.law = _describe(source or function), source or function
        _check_arity(law, names, call)
    else:
        raise TraceError(f"{what}: expected a function of ({', '.join(names)}), a number or None, got {function!r}")

    def run(arguments: Sequence[Any]) -> np.ndarray:
        return _entries(_evaluate(call, law, flatten, arguments), outputs, call)

    x = [ca.SX.sym(f"x{i}") for i in range(len(names))]
    with _refusal_first(call):
        result = run([Symbol(s) for s in x])
        y = ca.cse(ca.vertcat(ca.SX(0, 1), *map(_scalar, result.ravel())))
        lookups = lookups_in([y])
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        outside = _parameters(ca.veccat(y, *indices))
        more = [ca.vertcat(ca.SX(0, 1), *(s.sx for s in outside)), *rows] if outside or rows else []
        try:
            sx = ca.Function("traced", [*x, *more], [y, *indices])
        except RuntimeError as error:
            raise call.error("uses a symbol of an earlier call; it must not keep values between calls") from error
        traced = Traced(what, names, result.shape, sx.serialize(), outside, tuple(lookup.table for lookup in lookups))
        codes = [sx.instruction_id(k) for k in range(sx.n_instructions())]
        if any(math.isnan(sx.instruction_constant(k)) for k, code in enumerate(codes) if code == ca.OP_CONST):
            raise call.error("contains a constant that is NaN; check the numbers it uses")
        sample = _sample(ranges, len(names), points, seed)
        _compare(traced, run, sample, call)
        if ca.OP_IF_ELSE_ZERO in codes:
            _check_derivatives(traced, sample, call)
    return traced


def _evaluate(call: _Call, function: Callable[..., Any], flatten: Callable[[Any], Any] | None,
              arguments: Sequence[Any]) -> Any:
    token = _current.set(call)
    try:
        result = function(*arguments)
        return flatten(result) if flatten else result
    except TraceError:
        raise
    except Exception as error:
        symbolic = any(isinstance(a, Symbol) for a in arguments)
        for library, remedy in (("scipy.interpolate", "spline"), ("scipy", "scipy"), ("numpy.linalg", "function")):
            if symbolic and isinstance(error, (TypeError, ValueError)) and _passes(error.__traceback__, library):
                raise call.error(f"gives symbols to {library}, which fails: {error}. {_REMEDIES[remedy]}") from error
        if symbolic and isinstance(error, TypeError) and "has no callable" in str(error):
            raise call.error(f"gives an array that mixes symbols and numbers to a NumPy function ({error}). Apply the "
                             "function to the entries: np.array([np.sqrt(q), 1.0])") from error
        values = "symbols, one scalar for each argument" if symbolic else f"{[float(a) for a in arguments]}"
        error.add_note(f"Condyle called {call.function} for {call.what} with {values}.")
        raise
    finally:
        _current.reset(token)


def _passes(traceback: TracebackType | None, library: str) -> bool:
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__", "").startswith(library):
            return True
        traceback = traceback.tb_next
    return False


@contextlib.contextmanager
def _refusal_first(call: _Call) -> Iterator[None]:
    """What a Symbol refused is the cause of what fails later, even if NumPy, SciPy or the user's function caught it."""
    try:
        yield
    except Exception as error:
        if call.refusal is None or call.refusal is error:
            raise
        raise call.refusal from error


def _check_arity(function: Callable[..., Any], names: tuple[str, ...], call: _Call) -> None:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise call.error(f"takes {signature}, but is called with {len(names)} value(s), ({', '.join(names)}): "
                         f"{error}") from error


def _entries(result: Any, outputs: tuple[int, ...] | None, call: _Call) -> np.ndarray:
    """A function's result as an object array of Symbols and numbers."""
    expected = "expected " + ("a real number, or an array or nested list of them" if outputs is None else
                              f"real numbers in an array of shape {outputs}" if outputs else "one real number")
    try:
        array = np.array(_without_sx(result), dtype=object)
    except ValueError as error:
        raise call.error(f"returned rows of unequal shapes; {expected}") from error
    for index, entry in np.ndenumerate(array):
        if not (_is_symbolic(entry) or _is_number(entry)):
            at = f" at {list(index)} of its result" if index else ""
            hint = "; is a return statement missing?" if entry is None else ""
            raise call.error(f"returned {entry!r} ({type(entry).__name__}){at}; {expected}{hint}")
    if outputs is not None and array.shape != tuple(outputs):
        raise call.error(f"returned an array of shape {array.shape}; {expected}")
    return array


def _parameters(x: ca.SX) -> tuple[Symbol, ...]:
    """The symbols with a default, such as Parameters, that an expression depends on."""
    return tuple(DEFAULTED[s.element_hash()] for s in ca.symvar(x) if s.element_hash() in DEFAULTED)


def _number(entry: Any, call: _Call) -> float:
    """A float, or the value of an expression of Parameters at their defaults."""
    if not _is_symbolic(entry):
        return float(entry)
    x = _scalar(entry)
    outside = _parameters(x)
    if len(outside) != len(ca.symvar(x)):
        raise call.error("returned a symbol of an earlier call; it must not keep values between calls")
    f = ca.Function("f", [s.sx for s in outside], [x])
    return float(f(*(s.default for s in outside)))  # type: ignore[attr-defined]


def _without_sx(result: Any) -> Any:
    if isinstance(result, ca.SX):
        return symbols(result)[0] if result.is_scalar() else symbols(result)
    return [_without_sx(entry) for entry in result] if isinstance(result, (list, tuple)) else result


def _sample(ranges: Sequence[tuple[float, float]] | None, n: int, points: int, seed: int) -> np.ndarray:
    """Random points, shape (points, n). An infinite end of a range becomes one two units from the other end."""
    low, high = np.array([(-1.0, 1.0)] * n if ranges is None else ranges, dtype=float).reshape(n, 2).T
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1.0))
    high = np.where(np.isfinite(high), high, low + 2)
    return np.random.default_rng(seed).uniform(low, high, (points, n))


def _named(traced: Traced, point: np.ndarray) -> str:
    return ", ".join(f"{name} = {value:.9g}" for name, value in zip(traced.names, point, strict=True)) or "no arguments"


def _compare(traced: Traced, run: Callable[[Sequence[Any]], np.ndarray], sample: np.ndarray, call: _Call) -> None:
    """Plain floats against the expression; an entry that is NaN or infinite at every point is an error too."""
    def floats(point: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            entries = run(list(point))
        if entries.shape != traced.shape:
            raise call.error(f"returned shape {traced.shape} with symbols but {entries.shape} with floats at "
                             f"{_named(traced, point)}; the shape must not depend on values or types")
        return np.array([_number(entry, call) for entry in entries.ravel()]).reshape(entries.shape)

    finite = np.zeros(traced.shape, dtype=bool)
    for point in sample:
        symbolic, plain = traced(*point), floats(point)
        # Powers and log10 round differently, cancellation magnifies that; hidden state and branches differ grossly.
        scale = max(1e-3, np.abs(plain[np.isfinite(plain)]).max(initial=0.0))
        if not np.allclose(symbolic, plain, rtol=1e-7, atol=1e-9 * scale, equal_nan=True):
            steady = np.array_equal(plain, floats(point), equal_nan=True)
            cause = "does it keep values between calls, or branch on the type of its arguments?" if steady else \
                "it gives another value each time: it must not use random numbers or keep values between calls"
            raise call.error(f"gives {plain.tolist()} with floats but {symbolic.tolist()} with symbols at "
                             f"{_named(traced, point)}; {cause}")
        finite |= np.isfinite(plain)
    if len(sample) and not finite.all():
        entry = f"in entry {np.argwhere(~finite)[0].tolist()} of its result " if traced.shape else ""
        raise call.error(f"is NaN or infinite {entry}at all {len(sample)} points tried, such as "
                         f"{_named(traced, sample[0])}; expected finite values")


def _check_derivatives(traced: Traced, sample: np.ndarray, call: _Call) -> None:
    """A finite value with a NaN first or second derivative comes from the side of a `where` that is not taken."""
    x = ca.SX.sym("x", len(traced.names))
    if traced.outside or traced.tables:
        return
    y = traced.apply(*ca.vertsplit(x))
    J = ca.jacobian(y, x)
    # Forward, reverse and second derivatives pass NaN on differently: all are used later.
    derivatives = ca.Function("derivatives", [x], [J, ca.jtimes(y, x, ca.SX.ones(y.shape), True), ca.jacobian(J, x)])
    for point in sample:
        if np.isfinite(traced(*point)).all() and not all(np.isfinite(np.array(d)).all() for d in derivatives(point)):
            raise call.error(f"has a value but no derivative at {_named(traced, point)}: both sides of np.where are "
                             "evaluated. Guard the side not taken: where(x > 0, np.sqrt(where(x > 0, x, 1.0)), 0.0)")
