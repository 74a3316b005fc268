"""User functions as expressions: a plain Python function is called once with symbols and becomes a CasADi SX Function.

A user writes `def f(q): return 0.1 * np.sin(q)`. `trace(f, ["knee"], what=...)` calls it with one `Symbol` per name,
keeps what came out as a `Traced` record (serialised SX, so it pickles and can key a cache), and then calls f again with
plain floats at random points to see that the two agree.

A Symbol stands for every value at once, so whatever needs one number now (float, int, if, min, max, while, the math module,
SciPy's splines) is refused by a TraceError that shows the user's line and says what to write instead. A bare casadi.SX
would silently become NaN there.
"""
from __future__ import annotations

import ast
import contextlib
import difflib
import dis
import functools
import inspect
import linecache
import math
import numbers
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any, NoReturn

import casadi as ca
import numpy as np

from condyle.errors import TraceError

__all__ = ["Symbol", "Traced", "symbols", "to_sx", "trace", "where"]


# ---- what each operation means on scalar SX; keys are the names of NumPy's and scipy.special's ufuncs ----

def _mod(x: ca.SX, y: ca.SX) -> ca.SX:
    """Remainder with the sign of y, as Python's %."""
    r = ca.fmod(x, y)
    return ca.if_else(r * y < 0, r + y, r)


def _floor_divide(x: ca.SX, y: ca.SX) -> ca.SX:
    return _rint((x - _mod(x, y)) / y)


def _rint(x: ca.SX) -> ca.SX:
    """Nearest integer, halves to even: C's remainder does the rounding."""
    return x - ca.remainder(x, 1)


def _truth(x: ca.SX) -> ca.SX:
    return x != 0


UNARY: dict[str, Callable[[ca.SX], ca.SX]] = {
    **{name: getattr(ca, name) for name in
       ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p", "log10", "sqrt", "floor", "ceil", "sign", "erf")},
    "arcsin": ca.asin, "arccos": ca.acos, "arctan": ca.atan, "arcsinh": ca.asinh, "arccosh": ca.acosh, "arctanh": ca.atanh,
    "negative": lambda x: -x, "positive": lambda x: x, "conjugate": lambda x: x, "square": lambda x: x * x, "reciprocal": lambda x: 1 / x,
    "absolute": ca.fabs, "fabs": ca.fabs, "rint": _rint, "trunc": lambda x: ca.if_else(x < 0, ca.ceil(x), ca.floor(x)),
    "exp2": lambda x: ca.SX(2) ** x, "log2": lambda x: ca.log(x) / math.log(2), "cbrt": lambda x: ca.sign(x) * ca.fabs(x) ** (1 / 3),
    "deg2rad": lambda x: x * (math.pi / 180), "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180), "degrees": lambda x: x * (180 / math.pi),
    "logical_not": ca.logic_not, "invert": ca.logic_not,
    "isnan": lambda x: x != x, "isfinite": lambda x: ca.fabs(x) < math.inf, "isinf": lambda x: ca.fabs(x) == math.inf,
    "signbit": lambda x: ca.copysign(1, x) < 0, "erfc": lambda x: 1 - ca.erf(x), "expit": lambda x: 0.5 + 0.5 * ca.tanh(0.5 * x),
}
BINARY: dict[str, Callable[[ca.SX, ca.SX], ca.SX]] = {
    "add": lambda x, y: x + y, "subtract": lambda x, y: x - y, "multiply": lambda x, y: x * y, "divide": lambda x, y: x / y,
    "power": lambda x, y: x ** y, "float_power": lambda x, y: x ** y, "remainder": _mod, "mod": _mod, "fmod": ca.fmod,
    "floor_divide": _floor_divide, "arctan2": ca.atan2, "hypot": ca.hypot, "copysign": ca.copysign,
    "maximum": ca.fmax, "fmax": ca.fmax, "minimum": ca.fmin, "fmin": ca.fmin,
    "heaviside": lambda x, h: ca.if_else(x == 0, h, x > 0),
    "logaddexp": lambda x, y: ca.fmax(x, y) + ca.log1p(ca.exp(-ca.fabs(x - y))),
    "less": lambda x, y: x < y, "less_equal": lambda x, y: x <= y, "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y, "equal": lambda x, y: x == y, "not_equal": lambda x, y: x != y,
    "logical_and": ca.logic_and, "logical_or": ca.logic_or, "logical_xor": lambda x, y: _truth(x) != _truth(y),
    "bitwise_and": ca.logic_and, "bitwise_or": ca.logic_or, "bitwise_xor": lambda x, y: _truth(x) != _truth(y),
}
_RULES: dict[str, Callable[..., ca.SX]] = {**UNARY, **BINARY, "clip": lambda x, low, high: ca.fmin(ca.fmax(x, low), high)}


# ---- the symbol ----

class Symbol:
    """One scalar value that is not known yet. Behaves like a float in NumPy-style arithmetic; see the module's docstring.

    Comparisons give Symbols (1 or 0); combine them with & | ~ and use them in `np.where` or `cd.where`.
    NumPy arrays of Symbols have dtype object: arithmetic, sin, sqrt, dot, cross, @, stack and sum work on them;
    comparisons, maximum, sign and clip of a whole array do not (NumPy wants plain booleans there): take elements.
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
        _refuse("a float")

    def __int__(self) -> NoReturn:
        _refuse("an integer")

    def __complex__(self) -> NoReturn:
        _refuse("a complex number")

    def __bool__(self) -> NoReturn:
        _refuse("true or false")

    def __round__(self, digits: int | None = None) -> Symbol:
        if digits:
            _refuse("rounded decimal digits")
        return _apply("rint", self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any) -> Any:
        if out is not None and any(isinstance(o, np.ndarray) and o.dtype != object for o in out):
            _refuse("a float, to be put into an array of floats")
        if method != "__call__" or ufunc.signature is not None or ufunc.types == ["O" * ufunc.nin + "->" + "O" * ufunc.nout]:
            return _plain(getattr(ufunc, method)(*_boxed(inputs), **options))
        if ufunc.__name__ == "divmod":
            result = (_apply("floor_divide", *inputs), _apply("remainder", *inputs))
        elif ufunc.__name__ in _RULES:
            result = _apply(ufunc.__name__, *inputs)
        else:
            near = difflib.get_close_matches(ufunc.__name__, _RULES, n=3)
            _refuse(f"a number for {ufunc.__name__}, which has no symbolic form" + (f" (near: {', '.join(near)})" if near else ""))
        if out is not None:
            out[0][...] = result
            return out[0]
        return result

    def __array_function__(self, func: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if func in _ARRAY_FUNCTIONS:
            return _ARRAY_FUNCTIONS[func](*args, **kwargs)
        return _plain(func(*_boxed(args), **{key: _boxed(value) for key, value in kwargs.items()}))


def _add_operators() -> None:
    """Give Symbol its operators, and the methods (.sin(), .sqrt(), ...) that NumPy calls on elements of object arrays."""
    def binary(name: str) -> tuple[Callable, Callable]:
        def forward(self: Symbol, other: Any) -> Any:
            return _apply(name, self, other) if _is_value(other) else NotImplemented

        def backward(self: Symbol, other: Any) -> Any:
            return _apply(name, other, self) if _is_value(other) else NotImplemented
        return forward, backward

    for operator, name in {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power",
                           "mod": "remainder", "floordiv": "floor_divide", "and": "logical_and", "or": "logical_or",
                           "xor": "logical_xor"}.items():
        forward, backward = binary(name)
        setattr(Symbol, f"__{operator}__", forward)
        setattr(Symbol, f"__r{operator}__", backward)
    for operator, name in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
                           "ne": "not_equal"}.items():
        setattr(Symbol, f"__{operator}__", binary(name)[0])
    for name in UNARY:
        setattr(Symbol, name, functools.partialmethod(lambda self, name: _apply(name, self), name))
    for name in ("arctan2", "hypot", "fmod", "copysign", "heaviside", "logaddexp"):
        setattr(Symbol, name, binary(name)[0])
    for operator, name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "logical_not", "floor": "floor",
                           "ceil": "ceil", "trunc": "trunc"}.items():
        setattr(Symbol, f"__{operator}__", functools.partialmethod(lambda self, name: _apply(name, self), name))


def _is_number(value: Any) -> bool:
    return isinstance(value, (numbers.Real, np.bool_)) or (isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiub")


def _is_value(value: Any) -> bool:
    """What may stand beside a Symbol in an operation: Symbols, real numbers, scalar SX and NumPy arrays of those."""
    return isinstance(value, (Symbol, np.ndarray)) or _is_number(value) or (isinstance(value, ca.SX) and value.is_scalar())


def _scalar_sx(value: Any) -> ca.SX:
    if isinstance(value, Symbol):
        return value.sx
    if isinstance(value, ca.SX) and value.is_scalar():
        return ca.densify(value)
    if _is_number(value):
        return ca.SX(float(value))
    raise TypeError(f"cannot calculate with {value!r} of type {type(value).__name__} and a symbol; use real numbers")


def _apply(name: str, *inputs: Any) -> Any:
    """The rule `name` on Symbols and numbers; elementwise, to an object array, if an input is an array or a list."""
    def scalar(*values: Any) -> Symbol:
        return Symbol(_RULES[name](*map(_scalar_sx, values)))

    if all(isinstance(x, (Symbol, ca.SX)) or np.ndim(x) == 0 for x in inputs):
        return scalar(*(x[()] if isinstance(x, np.ndarray) else x for x in inputs))
    return np.frompyfunc(scalar, len(inputs), 1)(*_boxed(inputs))


def _boxed(value: Any) -> Any:
    """Symbols as 0-d object arrays, also inside lists and tuples, so that NumPy does not ask them again."""
    if isinstance(value, Symbol):
        box = np.empty((), dtype=object)
        box[()] = value
        return box
    return type(value)(map(_boxed, value)) if type(value) in (list, tuple) else value


def _plain(value: Any) -> Any:
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def where(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b: `if` for numbers, arrays and symbols alike.

    Both sides are always evaluated. Where the side not taken would be NaN or infinite (a root of a negative number, a division
    by zero), guard its argument, so that derivatives stay finite too: `where(x > 0, np.sqrt(where(x > 0, x, 1.0)), 0.0)`.
    """
    def scalar(c: Any, x: Any, y: Any) -> Any:
        if not any(isinstance(v, (Symbol, ca.SX)) for v in (c, x, y)):
            return x if c else y
        return Symbol(ca.if_else(_scalar_sx(c), _scalar_sx(x), _scalar_sx(y)))

    values = [np.asarray(_boxed(v)) for v in (condition, a, b)]
    if all(v.dtype != object for v in values):
        return np.where(*values)[()]
    return _plain(np.frompyfunc(scalar, 3, 1)(*values))


def _select(conditions: Sequence, choices: Sequence, default: Any = 0) -> Any:
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        default = where(condition, choice, default)
    return default


def _clip(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    x = x if low is None else _apply("maximum", x, low)
    return x if high is None else _apply("minimum", x, high)


def _sinc(x: Any) -> Any:
    y = where(x == 0, 1e-20, math.pi * x)
    return np.sin(y) / y


def _interp(*args: Any, **kwargs: Any) -> NoReturn:
    _refuse("a number for np.interp, which has corners and no symbolic form")


_ARRAY_FUNCTIONS: dict[Callable, Callable] = {
    np.where: where, np.select: _select, np.clip: _clip, np.sinc: _sinc, np.interp: _interp,
}
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
    array = np.array(values, dtype=object)
    rows = [[_scalar_sx(x) for x in np.ravel(row)] for row in np.atleast_1d(array)]
    return ca.vertcat(*(ca.horzcat(*row) for row in rows))


# ---- refusals: what happened, on which line, and what to write instead ----

@dataclass
class _Call:
    """The call of a user function that is being traced."""

    what: str
    function: str
    refusal: TraceError | None = None


_current: ContextVar[_Call | None] = ContextVar("condyle_trace", default=None)

_MATH = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh", "atanh": "arctanh",
         "atan2": "arctan2", "pow": "power", "dist": "hypot"}


def _refuse(wanted: str) -> NoReturn:
    """Raise the TraceError for a Symbol that was asked for a number. Kept too, in case NumPy or SciPy swallows it."""
    call = _current.get() or _Call("a user function", "it")
    frames = _frames(sys._getframe(2))
    user = next((f for f in frames if not _is_library(f)), None)
    modules = [f.f_globals.get("__name__", "") for f in frames[:frames.index(user) if user else None]]
    spot, text, called = _spot(user)
    error = TraceError(f"{call.what}: {call.function} wants {wanted} from a symbol{spot}. {_remedy(user, modules, text, called, wanted)} "
                       "(It is called once with symbols that stand for any value, and becomes machine code.)")
    call.refusal = call.refusal or error
    raise error


def _frames(frame: FrameType | None) -> list[FrameType]:
    """From the innermost frame out to the call that `trace` makes."""
    frames = []
    while frame is not None and frame.f_code is not _evaluate.__code__:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _is_library(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").split(".")[0] in ("numpy", "scipy", "condyle", "casadi", "functools", "contextlib")


def _spot(frame: FrameType | None) -> tuple[str, str, Any]:
    """Where the frame stands: ` at file:line: `source``, the source of the expression, and what it calls if it is a call."""
    if frame is None:
        return "", "", None
    line, end, first, last = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip("\n")
    text = ""
    if line == end == frame.f_lineno and first is not None:
        text = source.encode()[first:last].decode(errors="replace")
    called = None
    with contextlib.suppress(SyntaxError, AttributeError, KeyError):
        tree = ast.parse(text, mode="eval").body
        names = {**frame.f_builtins, **frame.f_globals, **frame.f_locals}
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
            called = names[tree.func.id]
        elif isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and isinstance(tree.func.value, ast.Name):
            called = getattr(names[tree.func.value.id], tree.func.attr)
    shown = text or source.strip()
    return f" at {frame.f_code.co_filename}:{frame.f_lineno}" + (f": `{shown}`" if shown else ""), text, called


def _remedy(user: FrameType | None, modules: list[str], text: str, called: Any, wanted: str) -> str:
    name = getattr(called, "__name__", "")
    stores = user is not None and not modules and dis.opname[user.f_code.co_code[user.f_lasti]] == "STORE_SUBSCR"
    if any(m.startswith("scipy.interpolate") for m in modules) or "interp" in wanted:
        return "Use cd.Spline(x, y) instead of a SciPy spline or np.interp."
    if any(m.startswith("scipy") for m in modules):
        return "SciPy functions cannot be traced: write it with NumPy functions, or tabulate it and use cd.Spline(x, y)."
    if stores or "array of floats" in wanted:
        return "Make the array from its entries, np.array([[...], ...]), or with dtype=object; an array of floats cannot hold symbols."
    if getattr(called, "__module__", "") == "math":
        return f"Use np.{_MATH.get(name, name)} instead of math.{name}."
    if called in (max, min):
        return f"Use np.{name}imum(a, b) instead of {name}(a, b)."
    if wanted == "true or false":
        return ("Use np.where(condition, a, b) or cd.where instead of if, while, and, or; & | ~ to combine conditions; np.maximum and "
                "np.minimum instead of max and min. Compare elements, not whole arrays of symbols.")
    if wanted == "an integer":
        return "Leave out int(), or use np.floor or np.trunc; a table indexed by a symbol becomes cd.Spline(x, y)."
    return "Leave out float(); use np.sin, np.sqrt, ... instead of the math module, and cd.Spline(x, y) instead of a SciPy spline."


def _code(function: Any) -> CodeType | None:
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None) or getattr(getattr(type(function), "__call__", None), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _describe(function: Any) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or type(function).__name__
    name = "lambda" if name.endswith("<lambda>") else name.replace("<locals>.", "")
    code = _code(function)
    return f"function {name}" + (f" ({code.co_filename}:{code.co_firstlineno})" if code else "")


# ---- tracing ----

@dataclass(frozen=True)
class Traced:
    """A user function as an expression. Equal if what it computes is written the same; pickles.

    Attributes:
        what: what it is for, as errors name it.
        names: names of its scalar inputs.
        shape: shape of its result: () for a scalar.
        text: serialised SX Function with canonical symbol names; the same in every process, fit for a cache key.
    """

    what: str
    names: tuple[str, ...]
    shape: tuple[int, ...]
    text: str

    @functools.cached_property
    def function(self) -> ca.Function:
        """CasADi SX Function: one scalar input per name, one dense column with the result in row-major order."""
        return ca.Function.deserialize(self.text)

    def __call__(self, *values: Any) -> np.ndarray:
        """The result at plain numbers, by CasADi's evaluator; shape `shape`."""
        return np.array(self.function(*map(float, values)), dtype=float).reshape(self.shape) if values else \
            np.array(self.function()["y"], dtype=float).reshape(self.shape)

    def __repr__(self) -> str:
        return f"Traced({self.what!r}, ({', '.join(self.names)}) -> {self.shape})"

    def __getstate__(self) -> dict[str, Any]:
        return {"what": self.what, "names": self.names, "shape": self.shape, "text": self.text}


def trace(function: Callable[..., Any] | float | None, names: Sequence[str], *, what: str,
          outputs: tuple[int, ...] | None = None, flatten: Callable[[Any], Any] | None = None,
          ranges: Sequence[tuple[float, float]] | None = None, points: int = 4, seed: int = 0,
          source: Callable[..., Any] | None = None) -> Traced:
    """Call a user function once with symbols, check it against plain floats, and return it as a `Traced` record.

    Args:
        function: f(*scalars) -> scalar, sequence or (nested) array of scalars; a number or None (zero) is a constant.
        names: one name per argument, such as the coordinates.
        what: what the function is for, as errors shall name it: "angle 1 of FunctionBased".
        outputs: shape the result must have, () for a scalar; None takes any.
        flatten: turns the function's result into an array of scalars, if it is something else, such as (R, p).
        ranges: (low, high) of each argument for the comparison with floats; (-1, 1) by default.
        points: how many random points are compared.
        seed: of those points.
        source: the user's own function, where `function` only wraps it; errors name it.
    """
    names = tuple(names)
    constant = function is None or _is_number(function)
    if not constant and not callable(function):
        raise TraceError(f"{what}: expected a function of ({', '.join(names)}), a number or None, got {function!r}")
    value = 0.0 if function is None else function
    call = _Call(what, "the constant" if constant else _describe(source or function))
    run: Callable[..., np.ndarray] = functools.partial(
        _evaluate, call, (lambda *_: value) if constant else function, flatten, outputs)
    if not constant:
        _check_arity(function, names, call)

    inputs = [ca.SX.sym(f"x{i}") for i in range(len(names))]
    with _refusals_first(call):
        result = run([Symbol(x) for x in inputs])
        y = ca.cse(ca.vertcat(ca.SX(0, 1), *(_scalar_sx(r) for r in result.ravel())))
        try:
            sx = ca.Function("traced", inputs, [y], [f"x{i}" for i in range(len(names))], ["y"])
        except RuntimeError as error:
            raise TraceError(f"{what}: {call.function} uses a symbol that is not one of its arguments; a function must not keep "
                             "values between calls") from error
        traced = Traced(what, names, result.shape, sx.serialize())
        _check_constants(sx, call)
        _compare(traced, run, ranges, points, seed, call)
    return traced


def _evaluate(call: _Call, function: Callable[..., Any], flatten: Callable[[Any], Any] | None,
              outputs: tuple[int, ...] | None, arguments: Sequence[Any]) -> np.ndarray:
    """The function's result as an object array of Symbols and numbers."""
    token = _current.set(call)
    try:
        result = function(*arguments)
        entries = flatten(result) if flatten else result
    except TraceError:
        raise
    except Exception as error:
        values = "symbols, one scalar per argument" if arguments and isinstance(arguments[0], Symbol) else f"{[float(a) for a in arguments]}"
        if error.__traceback__ and any("scipy" in f.filename for f in inspect.getinnerframes(error.__traceback__)[1:]):
            raise TraceError(f"{call.what}: {call.function} gives a symbol to SciPy, which fails ({error}). Use cd.Spline(x, y) instead of "
                             "a SciPy spline, and NumPy functions else") from error
        error.add_note(f"Condyle called {call.function} for {call.what} with {values}.")
        raise
    finally:
        _current.reset(token)
    return _entries(entries, outputs, call)


def _entries(result: Any, outputs: tuple[int, ...] | None, call: _Call) -> np.ndarray:
    expected = "real numbers: a scalar, or an array or nested list of scalars" if outputs is None else \
        "one real number" if outputs == () else f"real numbers in an array of shape {outputs}"
    if isinstance(result, ca.SX):
        result = symbols(result)[0] if result.is_scalar() else symbols(result)
    try:
        array = np.array(result, dtype=object)
    except ValueError as error:
        raise TraceError(f"{call.what}: {call.function} returned lists of unequal lengths or shapes; expected {expected}") from error
    for index, entry in np.ndenumerate(array):
        if not (isinstance(entry, (Symbol, ca.SX)) or _is_number(entry)):
            at = f" at {list(index)} of its result" if index else ""
            raise TraceError(f"{call.what}: {call.function} returned {entry!r} ({type(entry).__name__}){at}; expected {expected}"
                             + (". Is a return statement missing?" if entry is None else ""))
    if outputs is not None and array.shape != tuple(outputs):
        raise TraceError(f"{call.what}: {call.function} returned shape {array.shape}; expected {expected}")
    return array


@contextlib.contextmanager
def _refusals_first(call: _Call) -> Iterator[None]:
    """What a Symbol refused is the cause of whatever fails later, even if NumPy, SciPy or the user's function caught it."""
    try:
        yield
    except Exception as error:
        if call.refusal is None or call.refusal is error:
            raise
        raise call.refusal from error


def _check_arity(function: Any, names: tuple[str, ...], call: _Call) -> None:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise TraceError(f"{call.what}: {call.function} takes {signature}, but is called with {len(names)} value(s), one for each of "
                         f"({', '.join(names)}): {error}") from error


def _check_constants(sx: ca.Function, call: _Call) -> None:
    for k in range(sx.n_instructions()):
        if sx.instruction_id(k) == ca.OP_CONST and math.isnan(sx.instruction_constant(k)):
            raise TraceError(f"{call.what}: {call.function} contains a NaN constant; check the numbers it uses")


def _compare(traced: Traced, run: Callable[..., np.ndarray], ranges: Sequence[tuple[float, float]] | None, points: int, seed: int,
             call: _Call) -> None:
    """Plain floats against the expression at random points; what is NaN or infinite at every point is an error."""
    low, high = np.array(ranges if ranges is not None else [(-1.0, 1.0)] * len(traced.names), dtype=float).reshape(-1, 2).T
    x = np.random.default_rng(seed).uniform(low, high, (points, len(traced.names)))
    finite = np.zeros(traced.shape, dtype=bool)
    for point in x:
        at = ", ".join(f"{name} = {value:.6g}" for name, value in zip(traced.names, point, strict=True)) or "no arguments"
        symbolic = traced(*point)
        plain = _floats(run, point, call, traced, at)
        # Rounding differs a little (powers, log10), and cancellation magnifies it; hidden state and branches differ grossly.
        scale = max(1e-3, np.abs(np.where(np.isfinite(plain), plain, 0.0)).max(initial=0.0))
        if not np.allclose(symbolic, plain, rtol=1e-7, atol=1e-9 * scale, equal_nan=True):
            again = _floats(run, point, call, traced, at)
            cause = "it gives another value each time it is called" if not np.array_equal(plain, again, equal_nan=True) else \
                "does it keep values between calls, use random numbers, or branch on the type of its arguments?"
            raise TraceError(f"{call.what}: {call.function} gives {plain.tolist()} with floats but {symbolic.tolist()} with symbols at {at}; "
                             f"{cause}")
        finite |= np.isfinite(plain)
    if points and not finite.all():
        where_ = f"entry {list(np.argwhere(~finite)[0])} of its result" if traced.shape else "its result"
        raise TraceError(f"{call.what}: {call.function}: {where_} is NaN or infinite at all {points} points tried, the last at {at}; "
                         f"expected finite values for arguments between {low.tolist()} and {high.tolist()}")


def _floats(run: Callable[..., np.ndarray], point: np.ndarray, call: _Call, traced: Traced, at: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        plain = run(list(point))
    if plain.shape != traced.shape:
        raise TraceError(f"{call.what}: {call.function} returned shape {plain.shape} with floats at {at} but {traced.shape} with symbols")
    if any(isinstance(entry, (Symbol, ca.SX)) for entry in plain.ravel()):
        raise TraceError(f"{call.what}: {call.function} returned a symbol of an earlier call; a function must not keep values between calls")
    return plain.astype(float)
