"""Trace errors: what happened, on which line of the user's code, and what to write instead."""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn

from condyle.errors import TraceError
from condyle.records import dataclass


@dataclass
class UserCall:
    """The user function being called, for error messages."""

    what: str
    function: str
    law: Any = None
    refusal: TraceError | None = None

    def error(self, message: str) -> TraceError:
        return TraceError(f"{self.what}: {self.function} {message}")


_current: ContextVar[UserCall | None] = ContextVar("condyle_trace", default=None)

_NUMPY_NAMES = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "atan2": "arctan2",
    "pow": "power",
    "dist": "hypot",
}
REMEDIES = {
    "spline": "Use cd.Spline(x, y) instead of a SciPy spline or np.interp.",
    "scipy": "SciPy cannot calculate with symbols: use NumPy's functions, or tabulate it and use "
    "cd.Spline(x, y).",
    "store": "An array of floats cannot hold symbols: build it from its entries, np.array([[...], ...]), or "
    "make it with dtype=object.",
    "function": "Write it with arithmetic and NumPy's elementary functions, or tabulate it and use "
    "cd.Spline(x, y).",
    "bool": "Use np.where(condition, a, b) or cd.where instead of if, while, and, or; combine conditions by "
    "& | ~; use np.maximum and np.minimum instead of max and min; compare entries, not whole arrays "
    "of symbols.",
    "truth": "Return the difference instead of a == b: a - b is zero, or changes sign, where they are equal; "
    "to choose between two numbers use np.where(condition, a, b).",
    "int": "Leave out int(), or use np.floor or np.trunc; a table indexed by a symbol becomes cd.Spline(x, "
    "y).",
    "float": "Leave out float() and dtype=float; use np.sin, np.sqrt, ... instead of the math module, and "
    "cd.Spline(x, y) instead of a SciPy spline.",
}


def refuse(kind: str, did: str) -> NoReturn:
    """Raise the TraceError for something a Symbol cannot do. It is also stored, in case NumPy or SciPy
    swallows it.
    """
    call = _current.get() or UserCall("user code", "it")
    inner: list[str] = []
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code is not evaluate.__code__:
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in ("numpy", "scipy", "condyle", "casadi", "functools"):
            break
        inner.append(module)
        frame = frame.f_back
    user = frame if frame is not None and frame.f_code is not evaluate.__code__ else None
    spot, called = _spot(user) if user else ("", call.law)
    remedy = _remedy(kind, user, inner, called)
    error = call.error(f"{did}{spot}. {remedy} (It is called once, with symbols that stand for any value.)")
    call.refusal = call.refusal or error
    raise error


def _spot(frame: FrameType) -> tuple[str, Any]:
    """` at file:line: `source`` for the expression that the frame is at, and the function it calls if it is a
    call."""
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
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)) if inspect.ismodule(
                names[module]
            ):
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
    return REMEDIES[kind]


def describe(function: Any) -> str:
    """`function name (file:line)`, as far as they are known."""
    while isinstance(function, functools.partial):
        function = function.func
    name = (
        getattr(function, "__qualname__", None)
        or getattr(function, "__name__", None)
        or type(function).__name__
    )
    name = "lambda" if name.endswith("<lambda>") else name.replace("<locals>.", "")
    method = getattr(inspect.unwrap(function), "__func__", inspect.unwrap(function))
    code = getattr(method, "__code__", None) or getattr(
        type(method).__dict__.get("__call__"), "__code__", None
    )
    return f"function {name}" + (
        f" ({code.co_filename}:{code.co_firstlineno})" if isinstance(code, CodeType) else ""
    )


def evaluate(
    call: UserCall,
    function: Callable[..., Any],
    flatten: Callable[[Any], Any] | None,
    arguments: Sequence[Any],
    symbolic: bool,
) -> Any:
    """The function's result; errors in it are reported in terms of the user's code."""
    token = _current.set(call)
    try:
        result = function(*arguments)
        return flatten(result) if flatten else result
    except TraceError:
        raise
    except Exception as error:
        for library, remedy in (
            ("scipy.interpolate", "spline"),
            ("scipy", "scipy"),
            ("numpy.linalg", "function"),
        ):
            if (
                symbolic
                and isinstance(error, (TypeError, ValueError))
                and _passes(error.__traceback__, library)
            ):
                raise call.error(
                    f"gives symbols to {library}, which fails: {error}. {REMEDIES[remedy]}"
                ) from error
        if symbolic and isinstance(error, TypeError) and "has no callable" in str(error):
            raise call.error(
                f"gives an array that mixes symbols and numbers to a NumPy function ({error}). "
                "Apply the function to the entries: np.array([np.sqrt(q), 1.0])"
            ) from error
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
def refusal_first(call: UserCall) -> Iterator[None]:
    """Report the first refusal of a Symbol as the cause of later failures, even if NumPy, SciPy or the user's
    function caught it.
    """
    try:
        yield
    except Exception as error:
        if call.refusal is None or call.refusal is error:
            raise
        raise call.refusal from error


def check_arity(function: Callable[..., Any], names: tuple[str, ...], call: UserCall) -> None:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        return
    try:
        signature.bind(*names)
    except TypeError as error:
        raise call.error(
            f"takes {signature}, but is called with {len(names)} value(s), ({', '.join(names)}): {error}"
        ) from error
