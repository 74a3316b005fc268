"""The decorator of an operator's public method, and its call from a State.

A public method has signature and docstring; everything else is in the record of the same name
(condyle.model.operators).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import check_call
from condyle.arrays import Array, Vector
from condyle.errors import ArgumentError, CondyleError, ShapeError, UnknownNameError
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord
from condyle.spatial import Transform

if TYPE_CHECKING:
    from condyle.system.state import State


class Options(TypedDict, total=False):
    """The keyword options of every operator.

    - t: time [s], one number or one per state. One state without it is at t = 0; many states need it where a
      system depends on time.
    - z: auxiliary states, an array (..., nz), labeled data, or a mapping from names to values; the rest keep
      their defaults.
    - inputs: values of the Inputs, given in the same ways.
    - discrete: values of the discrete variables, given in the same ways.
    - parameters: values of the Parameters, given in the same ways.
    - locked: names of locked speeds, or a 0/1 array (..., nu), or a mapping from names to levels: "position"
      (q is constant: States have u = 0 at these speeds), "velocity" (u is constant: the level of a name
      alone), "acceleration" or a number (udot is 0, or this number). Default: those of locked coordinates.
    - disabled: names of disabled forces, constraints, and bodies with prescribed motion. Default: those
      added with enabled=False.
    - out: output array, or a tuple of arrays.
    - threads: number of threads for a batch (default: environment variable CONDYLE_THREADS, or all).
    """

    t: ArrayLike | None
    z: Vector | None
    inputs: Vector | None
    discrete: Vector | None
    parameters: Vector | None
    locked: Iterable[str] | Mapping[str, str | float] | Vector | None
    disabled: Iterable[str] | None
    out: Array | tuple[Array, ...] | None
    threads: int | None


OPTIONS = tuple(Options.__annotations__)


F = TypeVar("F", bound=Callable[..., Any])

METHODS: dict[str, Callable[..., Any]] = {}
"""The operators' methods of System, {name: method}."""

_ABOUT_OPTIONS = (inspect.getdoc(Options) or "").partition("\n\n")[2]


def operator(method: F, group: str = "") -> F:
    """Decorate the method of an operator, whose record has the same name, with that of its group before it
    if it is in one. It supports `out=`, and errors name the operator."""
    record = OPERATORS[f"{group}.{method.__name__}" if group else method.__name__]
    made: Any = _call(method, record)
    made.summary = inspect.getdoc(method) or ""
    made.__doc__ = f"{made.summary}\n\nOptions, all by keyword:\n\n{_ABOUT_OPTIONS}"
    made.__signature__ = _with_options(method)
    METHODS[record.name] = made
    return made  # type: ignore[no-any-return]


def _with_options(method: Callable[..., Any]) -> inspect.Signature:
    """The signature with every option named."""
    signature = inspect.signature(method)
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    options = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in OPTIONS]
    return signature.replace(parameters=[*own, *options])


def asked(record: OperatorRecord) -> list[inspect.Parameter]:
    """Arguments of an operator after its leading arrays and before the options. udot may be left out: default
    is that of the state.
    """
    out = []
    for p in list(inspect.signature(METHODS[record.name]).parameters.values())[1:]:
        if p.name not in record.arrays and p.kind is not p.KEYWORD_ONLY:
            own = p.name == "udot"
            out.append(p.replace(default=None, annotation=f"{p.annotation} | None") if own else p)
    return out


# ---- calls of a System's method ----------------------------------------------------------------------------


def _call(method: F, record: OperatorRecord) -> F:
    """The method; a call that does not fit raises ArgumentError. The kernel of a direct operator writes into
    `out` itself; of the others the result is copied there."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        out = None if record.direct else options.pop("out", None)
        try:
            result = method(self, *arguments, **options)
        except (TypeError, CondyleError) as error:
            _explain(method, record.name, error, arguments, options)
            raise
        return result if out is None else _into(out, result, record.name)

    return call  # type: ignore[return-value]


def _explain(
    method: Callable[..., Any],
    name: str,
    error: Exception,
    arguments: tuple[Any, ...],
    options: dict[str, Any],
) -> None:
    """Raise ArgumentError if the call does not fit; make other errors name this operator, not one that it
    calls."""
    if isinstance(error, (TypeError, ShapeError)):
        _check_call(method, name, arguments, options)
    if isinstance(error, UnknownNameError):
        if error.kind.startswith("option of ") and error.kind != f"option of {name}()":
            raise UnknownNameError(f"option of {name}()", error.name, OPTIONS) from None
    elif error.args and isinstance(error.args[0], str):
        inner, colon, rest = error.args[0].partition(": ")
        if colon and inner != name and inner in OPERATORS:
            error.args = (f"{name}: {rest}", *error.args[1:])


def _check_call(
    method: Callable[..., Any], name: str, arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    """Raise ArgumentError if an operator is called with a State, or with arguments that do not fit."""
    signature = inspect.signature(method)
    # called by a State: the user's own arguments follow q, u, udot
    if "state" in options:
        return
    for x in arguments:
        if type(x).__module__ == "condyle.system.state":
            own = [
                n
                for n, p in list(signature.parameters.items())[1:]
                if n not in ("q", "u", "udot", "options") and p.default is p.empty
            ]
            said = "" if name == "qdot" else f"({', '.join(own)})"
            raise ArgumentError(
                f"{name}: takes arrays, got a State; ask the State itself: "
                f"state.{name}{said}, or give "
                f"system.{name} its arrays state.q, state.u"
            ) from None
    # every operator has these, so they are not the mistake
    named = {key: x for key, x in options.items() if key not in OPTIONS}
    check_call(name, signature, (None, *arguments), named, None, skip=1)


def _into(out: Any, result: Any, name: str) -> Any:
    """Write the result into the user's `out`."""
    if isinstance(result, Transform):
        raise ShapeError(f"{name}: out= is not possible, the answer is a Transform; leave it out")
    if isinstance(result, tuple):
        if not isinstance(out, tuple) or len(out) != len(result):
            raise ShapeError(
                f"{name}: out: expected a tuple of {len(result)} arrays, got {type(out).__name__}"
            )
        return tuple(_into(o, r, name) for o, r in zip(out, result, strict=True))
    if not isinstance(out, np.ndarray) or out.shape != np.shape(result) or out.dtype.kind != "f":
        got = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ShapeError(
            f"{name}: out: expected floating-point numbers of shape {np.shape(result)}, got {got}"
        )
    np.copyto(out, result)
    return out


# ---- calls of a State's method -----------------------------------------------------------------------------


def state_method(record: OperatorRecord) -> Callable[..., Any]:
    """The operator as a method of State: q, u and udot are its own."""
    name, arrays, own = record.name, record.arrays, asked(record)
    known = [p.name for p in own]
    moves = known[:1] == ["udot"]

    def call(self: State, *arguments: Any, **named: Any) -> Any:
        for argument in named:
            if argument not in known:
                raise UnknownNameError(
                    f"argument of State.{name}()", argument, known, "change a State with state.replace(...)"
                )
        if len(arguments) > len(known):
            raise ArgumentError(
                f"State.{name}: takes {len(known)} arguments ({', '.join(known)}), got "
                f"{len(arguments)}; a State has {', '.join(arrays)} itself"
            )
        if moves and not arguments and named.get("udot") is None:
            named["udot"] = self.udot
        try:
            return attrgetter(name)(self.system)(
                *(getattr(self, a) for a in arrays), *arguments, **named, state=self
            )
        except TypeError:
            check_call(f"State.{name}", signature, (self, *arguments), named, None, skip=1)
            raise

    method: Any = METHODS[name]
    call.__name__, call.__doc__ = name.rpartition(".")[2], method.summary
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.signature(method).replace(parameters=[this, *own])
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call
