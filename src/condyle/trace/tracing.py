"""Tracing: a user function is called once with symbols, stored as an expression, and compared with plain
floats.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array
from condyle.errors import TraceError
from condyle.native.tables.lookup import Closure, RowSource, lookup_context, lookups_in
from condyle.records import dataclass
from condyle.trace.refusal import REMEDIES, UserCall, check_arity, describe, evaluate, refusal_first
from condyle.trace.symbol import Symbol, defaulted_in, is_number, is_symbolic, is_truth, scalar, symbols


@dataclass(frozen=True, eq=False)
class Traced:
    """A user function as an expression. Two are equal if they compute the same by the same operations. It
    pickles.

    Attributes:
        what: its purpose, for errors.
        names: names of its scalar inputs.
        shape: shape of its result, () for a scalar.
        serial: the serialized SX Function with canonical symbol names.
        outside: Parameters that it uses.
        tables: tables in which it looks up rows.
    """

    what: str
    names: tuple[str, ...]
    shape: tuple[int, ...]
    serial: str
    outside: tuple[Symbol, ...] = ()
    tables: tuple[RowSource, ...] = ()

    @functools.cached_property
    def text(self) -> str:
        """Its expression, with Parameters and tables: the same in every process, so that it can be a cache
        key.
        """
        tables = [table.text for table in self.tables]
        return f"{self.serial}{list(self.outside) or ''}{tables or ''}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traced) and (self.names, self.shape, self.text) == (
            other.names,
            other.shape,
            other.text,
        )

    def __hash__(self) -> int:
        return hash((self.names, self.shape, self.text))

    @functools.cached_property
    def function(self) -> ca.Function:
        """CasADi SX Function: one scalar input per name; one dense column, the result in row-major order.
        Where there are Parameters or tables: `condyle.native.tables.lookup.Closure.function`."""
        return ca.Function.deserialize(self.serial)

    @functools.cached_property
    def _closure(self) -> Closure:
        return Closure.from_function(
            self.function, 1, ca.vertcat(ca.SX(0, 1), *(s.sx for s in self.outside)), self.tables
        )

    def apply(self, *arguments: SX) -> SX:
        """The result as an expression of expressions, a dense column."""
        if not self.outside and not self.tables:
            found = self.function.call(list(arguments), True, False)[0]
            return found if arguments else ca.SX(found)  # CasADi gives numbers for no arguments
        return self._closure(*arguments)[0]

    def linear(self) -> list[float] | None:
        """Slopes, one per argument, and value at zero, if it is one number and linear in its arguments;
        else None."""
        if self.outside or self.tables or self.shape not in ((), (1,)):
            return None
        x = ca.SX.sym("x", len(self.names))
        slopes = ca.simplify(ca.jacobian(self.apply(*ca.vertsplit(x)), x))
        if not slopes.is_constant():
            return None
        return [*np.array(ca.DM(slopes)).ravel().tolist(), self(*[0.0] * len(self.names)).item()]

    def __call__(self, *values: float) -> Array:
        """The result at plain numbers, by CasADi's evaluator; shape `shape`. Parameters have their
        defaults."""
        if not self.outside and not self.tables:
            return np.array(self.function.call([float(v) for v in values])[0], dtype=float).reshape(
                self.shape
            )
        defaults = [s.default for s in self.outside]  # type: ignore[attr-defined]
        return self._closure.at(*map(float, values), outside=defaults)[0].reshape(self.shape)

    def __repr__(self) -> str:
        return f"Traced({self.what!r}, ({', '.join(self.names)}) -> {self.shape})"

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("what", "names", "shape", "serial", "outside", "tables")
        }


@lookup_context()
def trace(
    function: Callable[..., Any] | float | None,
    names: Sequence[str],
    *,
    what: str,
    outputs: tuple[int, ...] | None = None,
    flatten: Callable[[Any], Any] | None = None,
    ranges: Sequence[tuple[float, float]] | None = None,
    points: int = 4,
    seed: int = 0,
    source: Callable[..., Any] | None = None,
) -> Traced:
    """Call a user function once with symbols, check it against plain floats, and return it as a `Traced`
    record.

    Args:
        function: f(*scalars) -> a scalar, a sequence or a (nested) array of scalars; a number, or None for
            zero.
        names: one name per argument, such as the coordinates.
        what: purpose of the function, for errors: "angle 1 of FunctionBased(knee)".
        outputs: required shape of the result, () for a scalar; None allows any.
        flatten: converts results that are not arrays, such as (R, p), into an array of scalars.
        ranges: (low, high) of each argument in the comparison with floats; (-1, 1) by default.
        points: number of random points to compare.
        seed: of these points.
        source: the user's own function, if `function` wraps it; for errors.
    """
    names = tuple(names)
    call = UserCall(what, "the constant")
    if function is None or is_number(function):
        value = 0.0 if function is None else function
        law: Callable[..., Any] = lambda *_: value
    elif callable(function):
        law = function
        call.function, call.law = describe(source or function), source or function
        check_arity(law, names, call)
    else:
        raise TraceError(
            f"{what}: expected a function of ({', '.join(names)}), a number or None, got {function!r}"
        )

    def run(arguments: Sequence[Any]) -> NDArray[np.object_]:
        symbolic = any(isinstance(a, Symbol) for a in arguments)
        return _entries(evaluate(call, law, flatten, arguments, symbolic), outputs, call)

    x = [ca.SX.sym(f"x{i}") for i in range(len(names))]
    with refusal_first(call):
        result = run([Symbol(s) for s in x])
        y = ca.cse(ca.vertcat(ca.SX(0, 1), *map(scalar, result.ravel())))
        lookups = lookups_in([y])
        rows, indices = [lookup.row for lookup in lookups], [lookup.index for lookup in lookups]
        outside = defaulted_in(ca.veccat(y, *indices))
        more = [ca.vertcat(ca.SX(0, 1), *(s.sx for s in outside)), *rows] if outside or rows else []
        try:
            sx = ca.Function("traced", [*x, *more], [y, *indices])
        except RuntimeError as error:
            raise call.error(
                "uses a symbol of an earlier call; it must not keep values between calls"
            ) from error
        traced = Traced(
            what, names, result.shape, sx.serialize(), outside, tuple(lookup.table for lookup in lookups)
        )
        codes = [sx.instruction_id(k) for k in range(sx.n_instructions())]
        if any(math.isnan(sx.instruction_constant(k)) for k, code in enumerate(codes) if code == ca.OP_CONST):
            raise call.error("contains a constant that is NaN; check the numbers it uses")
        sample = _sample(ranges, len(names), points, seed)
        _compare(traced, run, sample, call)
        if ca.OP_IF_ELSE_ZERO in codes:
            _check_derivatives(traced, sample, call)
    return traced


def _entries(result: Any, outputs: tuple[int, ...] | None, call: UserCall) -> NDArray[np.object_]:
    """A function's result as an object array of Symbols and numbers."""
    expected = "expected " + (
        "a real number, or an array or nested list of them"
        if outputs is None
        else f"real numbers in an array of shape {outputs}"
        if outputs
        else "one real number"
    )
    try:
        array = np.array(_without_sx(result), dtype=object)
    except ValueError as error:
        raise call.error(f"returned rows of unequal shapes; {expected}") from error
    for index, entry in np.ndenumerate(array):
        if is_truth(entry):
            at = f" at {list(index)} of its result" if index else ""
            raise call.error(
                f"returned a truth value{at}, as a comparison gives it; {expected}. {REMEDIES['truth']}"
            )
        if not (is_symbolic(entry) or is_number(entry)):
            at = f" at {list(index)} of its result" if index else ""
            hint = "; is a return statement missing?" if entry is None else ""
            raise call.error(f"returned {entry!r} ({type(entry).__name__}){at}; {expected}{hint}")
    if outputs is not None and array.shape != tuple(outputs):
        raise call.error(f"returned an array of shape {array.shape}; {expected}")
    return array


def _number(entry: Any, call: UserCall) -> float:
    """A float, or the value of an expression of Parameters at their defaults."""
    if not is_symbolic(entry):
        return float(entry)
    x = scalar(entry)
    outside = defaulted_in(ca.veccat(x, *(lookup.index for lookup in lookups_in([x]))))
    f = Closure("f", [s.sx for s in outside], [x])
    if f.outside.numel():
        raise call.error("returned a symbol of an earlier call; it must not keep values between calls")
    return float(f.at(*(s.default for s in outside))[0].item())  # type: ignore[attr-defined]


def _without_sx(result: Any) -> Any:
    if isinstance(result, ca.SX):
        return symbols(result)[0] if result.is_scalar() else symbols(result)
    return [_without_sx(entry) for entry in result] if isinstance(result, (list, tuple)) else result


def _sample(ranges: Sequence[tuple[float, float]] | None, n: int, points: int, seed: int) -> Array:
    """Scattered points, shape (points, n), without numpy.random, which takes 7 ms to import. An infinite end
    of a range becomes one two units from the other end."""
    low, high = np.array([(-1.0, 1.0)] * n if ranges is None else ranges, dtype=float).reshape(n, 2).T
    low = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2, -1.0))
    high = np.where(np.isfinite(high), high, low + 2)
    at = np.outer(np.arange(1.0, points + 1) + points * seed, np.sqrt(np.arange(n) + 2.5))  # irrational
    return low + (high - low) * (at % 1.0)


def _named(traced: Traced, point: Array) -> str:
    return (
        ", ".join(f"{name} = {value:.9g}" for name, value in zip(traced.names, point, strict=True))
        or "no arguments"
    )


def _compare(
    traced: Traced, run: Callable[[Sequence[Any]], NDArray[np.object_]], sample: Array, call: UserCall
) -> None:
    """Plain floats against the expression; an entry that is NaN or infinite at every point is an error
    too."""

    def floats(point: Array) -> Array:
        with np.errstate(all="ignore"):
            entries = run(list(point))
        if entries.shape != traced.shape:
            raise call.error(
                f"returned shape {traced.shape} with symbols but {entries.shape} with floats at "
                f"{_named(traced, point)}; the shape must not depend on values or types"
            )
        return np.array([_number(entry, call) for entry in entries.ravel()]).reshape(entries.shape)

    finite = np.zeros(traced.shape, dtype=bool)
    for point in sample:
        symbolic, plain = traced(*point), floats(point)
        # Powers and log10 round differently, cancellation magnifies that; hidden state and branches differ
        # grossly.
        scale = max(1e-3, np.abs(plain[np.isfinite(plain)]).max(initial=0.0))
        if not np.allclose(symbolic, plain, rtol=1e-7, atol=1e-9 * scale, equal_nan=True):
            steady = np.array_equal(plain, floats(point), equal_nan=True)
            cause = (
                "it gives another value each time: it must not use random numbers or keep values "
                "between calls"
            )
            if steady:
                cause = "does it keep values between calls, or branch on the type of its arguments?"
            raise call.error(
                f"gives {plain.tolist()} with floats but {symbolic.tolist()} with symbols at "
                f"{_named(traced, point)}; {cause}"
            )
        finite |= np.isfinite(plain)
    if len(sample) and not finite.all():
        entry = f"in entry {np.argwhere(~finite)[0].tolist()} of its result " if traced.shape else ""
        raise call.error(
            f"is NaN or infinite {entry}at all {len(sample)} points tried, such as "
            f"{_named(traced, sample[0])}; expected finite values"
        )


def _check_derivatives(traced: Traced, sample: Array, call: UserCall) -> None:
    """A finite value with a NaN first or second derivative comes from the side of a `where` that is not
    taken."""
    x = ca.SX.sym("x", len(traced.names))
    if traced.outside or traced.tables:
        return
    y = traced.apply(*ca.vertsplit(x))
    J = ca.jacobian(y, x)
    # Forward, reverse and second derivatives pass NaN on differently: all are used later.
    derivatives = ca.Function(
        "derivatives", [x], [J, ca.jtimes(y, x, ca.SX.ones(y.shape), True), ca.jacobian(J, x)]
    )
    for point in sample:
        if np.isfinite(traced(*point)).all() and not all(
            np.isfinite(np.array(d)).all() for d in derivatives(point)
        ):
            raise call.error(
                f"has a value but no derivative at {_named(traced, point)}: both sides of "
                "np.where are evaluated. Guard the side not taken: where(x > 0, np.sqrt(where(x "
                "> 0, x, 1.0)), 0.0)"
            )
