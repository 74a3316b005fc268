"""Derivatives of a System's operators: exact, as machine code. See System.jvp, vjp and jacobian."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array, Entries
from condyle.constraints.solve.straight_blocks import REGULAR
from condyle.errors import ArgumentError, ConstraintError, DescriptionError, UnknownNameError
from condyle.model.differentiate import VARIABLES, OperatorDerivative, has_gradient
from condyle.model.layouts import GRADIENT, build_looped_gradient, prefers_looped_jacobian, prefers_loops
from condyle.model.looped.gradient import has_looped_gradient
from condyle.model.looped.jacobian import (
    build_looped_jacobian,
    build_looped_jvp,
    has_looped_jacobian,
    has_looped_jvp,
)
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord
from condyle.model.symbols import Symbols
from condyle.native.calls.native_function import NativeFunction
from condyle.native.fastcall.builtin import DirectCall
from condyle.native.machine import notes
from condyle.native.straight.kernel_function import Composite
from condyle.native.tables.lookup import lookup_context, lookups_in
from condyle.system.compiled import Compiled
from condyle.system.failures import report_left_out, report_unsolved
from condyle.system.operators.public import OPTIONS

ACCELERATIONS = "forward_dynamics", "ydot"
CONTACT_FORCES = "contacts.forces", "contacts.losses", "contacts.wrenches", "contact_centers"
"""Operators that solve for multipliers."""
_OPTIONS = tuple(name for name in OPTIONS if name != "out")


def derivable(name: str) -> OperatorRecord:
    """The record of an operator with its own kernel, for jvp, vjp, jacobian and casadi."""
    operator = OPERATORS.get(name)
    if operator is None or not operator.derivable:
        known = [name for name, operator in OPERATORS.items() if operator.derivable]
        where = "" if operator is None else "it exists, but is composed of others or has no derivative"
        raise UnknownNameError(
            "operator" if operator is None else "operator with derivatives", name, known, where
        )
    return operator


def jvp(
    compiled: Compiled, name: str, arguments: tuple[Any, ...], tangents: Any, options: Mapping[str, Any]
) -> Array:
    """See System.jvp."""
    if not isinstance(tangents, Mapping) or not tangents:
        raise DescriptionError(
            f"jvp({name!r}): tangents: expected a mapping from variables to directions, "
            f"as {{'q': dq}}, got {tangents!r}"
        )
    wrt = tuple(tangents)
    function, arrays = _derivative(compiled, "jvp", name, arguments, wrt, options)
    result: Array = _called(function, [*arrays, *(tangents[variable] for variable in wrt)], options)
    _check_paths(compiled, "jvp", name, arrays, result)
    return result


def vjp(
    compiled: Compiled,
    name: str,
    arguments: tuple[Any, ...],
    cotangent: Any,
    wrt: Any,
    options: Mapping[str, Any],
) -> dict[str, Array]:
    """See System.vjp."""
    wrt = _variables("vjp", wrt)
    function, arrays = _derivative(compiled, "vjp", name, arguments, wrt, options)
    result = _named(wrt, _called(function, [*arrays[:-1], cotangent, arrays[-1]], options))
    _check_paths(compiled, "vjp", name, arrays, tuple(result.values()))
    if not options and len(arguments) == len(function.inputs) - 2:
        _keep_direct(compiled, "vjp", name, wrt, function, len(arguments))
    return result


def jacobian(
    compiled: Compiled, name: str, arguments: tuple[Any, ...], wrt: Any, options: Mapping[str, Any]
) -> Any:
    """See System.jacobian."""
    names = _variables("jacobian", wrt)
    function, arrays = _derivative(compiled, "jacobian", name, arguments, names, options)
    rows = len(range(_size(compiled, name))[_part(compiled, OPERATORS[name], 0)])
    shapes = [(rows, _directions(compiled, variable)) for variable in names]
    result = _named(names, _called(function, arrays, options), shapes) if names else {}
    _check_paths(compiled, "jacobian", name, arrays, tuple(result.values()))
    if not options and 0 <= len(function.inputs) - 1 - len(arguments) <= function.optional:
        _keep_direct(
            compiled,
            "jacobian",
            name,
            wrt if isinstance(wrt, str) else names,
            function,
            len(arguments),
            shapes,
        )
    return result[wrt] if isinstance(wrt, str) else result


def _keep_direct(
    compiled: Compiled,
    kind: str,
    name: str,
    wrt: str | tuple[str, ...],
    function: NativeFunction,
    count: int,
    shapes: Sequence[tuple[int, ...]] = (),
) -> None:
    """Let further calls of the same kind with plain vectors go directly to the kernel."""
    names = (wrt,) if isinstance(wrt, str) else wrt
    if not names or name == "multipliers" or any(shape[0] == 0 for shape in shapes):
        return
    tail, zeros, timed, what = compiled.tails.default, compiled.no_tau, compiled.timed, f"{kind} of {name}"

    def slow(*given: Any) -> dict[str, Array]:  # it has no reference to `compiled`, which refers to it
        if name in timed.operators:
            timed.check(what, name, given, None)
        given = given if len(given) == len(function.inputs) - 1 else (*given, zeros)
        return _named(names, function(*given, tail), shapes)

    direct = function.direct(slow, tail)
    if direct is not None:
        looks = compiled.model.over_surfaces and OPERATORS[name].on_paths
        compiled.direct[kind, name, wrt, count] = (
            _looked_at(weakref.ref(compiled), kind, name, direct) if looks else direct
        )


def _looked_at(
    compiled: weakref.ref[Compiled], kind: str, name: str, direct: Callable[..., dict[str, Array]]
) -> Callable[..., dict[str, Array]]:
    """The builtin, followed by a check for paths that were not found."""

    def call(*given: Any) -> dict[str, Array]:
        result = direct(*given)
        owner = compiled()
        if owner is not None and (notes.is_set() or any(math.isnan(x.sum()) for x in result.values())):
            _check_paths(owner, kind, name, [*given, owner.tails.default], tuple(result.values()))
        return result

    return call


def _check_paths(compiled: Compiled, kind: str, name: str, arrays: Sequence[Any], result: Any) -> None:
    """Raise or warn about paths and contacts that were not found (failures.py). `arrays` are an operator's,
    with the tail."""
    parts = result if isinstance(result, tuple) else (result,)
    if not compiled.model.over_surfaces or not OPERATORS[name].on_paths:
        return
    what, q, tail = f"{kind} of {name}", arrays[0], np.asarray(arrays[-1])
    if any(np.isnan(x).any() for x in parts):
        report_unsolved(compiled, what, q, tail, result)
    if notes.is_set():
        report_left_out(compiled, what, q, tail)


def _size(compiled: Compiled, name: str) -> int:
    """Total size of a kernel's results for one state."""
    return sum(n for result, n in OPERATORS[name].outputs(compiled.model) if result != "status")


def _part(compiled: Compiled, operator: OperatorRecord, body: int) -> slice:
    """Slice of an operator's results for one body."""
    return operator.row(compiled.model, body) if operator.per_body == "row" else slice(None)


def _results(compiled: Compiled, name: str, size: int) -> Entries:
    """Names of an operator's results: speeds, if it has one number for each."""
    udot = compiled.entries["udot"]
    per_speed = list(OPERATORS[name].results.values()) == ["nu"] and size == len(udot.names)
    return udot if per_speed else Entries("entry", ())


def _directions(compiled: Compiled, name: str) -> int:
    """Number of directions of a variable: nu for q."""
    model = compiled.model
    if name == "q":
        return model.tree.nu
    return model.sizes().get(
        name, model.tail[name].stop - model.tail[name].start if name in model.tail else 0
    )


def _derivative(
    compiled: Compiled,
    kind: str,
    name: str,
    arguments: tuple[Any, ...],
    wrt: tuple[str, ...],
    options: Mapping[str, Any],
) -> tuple[NativeFunction, list[Any]]:
    """The native derivative, and the operator's arguments with their tail."""
    operator = OPERATORS.get(name)
    if operator is not None:
        compiled.check_time(f"{kind} of {name}", name, arguments, options)
        known = compiled.functions.get((kind, name, wrt, None))
        if (
            known is not None
            and not options
            and len(arguments) == len(operator.arguments) - 1
            and name != "multipliers"
        ):
            return known, [*arguments, compiled.tails.default]  # same call as before
    operator = derivable(name)
    inputs = operator.inputs(compiled.model)[:-1]
    for option in options:
        if option in (own := [n for n, _ in inputs]):
            raise ArgumentError(
                f"{kind}({name!r}): {option} is given in its place, not by name: "
                f"{kind}({name!r}, {', '.join(own)}, ...)"
            )
        if option not in _OPTIONS:
            raise UnknownNameError(f"option of {kind}()", option, _OPTIONS)
    arrays, body = list(arguments), None
    if operator.per_body:
        place = len(inputs) if operator.per_body == "row" else 1
        if len(arrays) <= place:
            raise DescriptionError(f"{kind}({name!r}): it needs {[n for n, _ in inputs]} and a body")
        which = compiled.model.tree.body(arrays.pop(place))
        if which.is_ground:
            raise DescriptionError(f"{kind}({name!r}): ground does not move; name another body")
        body = which.index
    if inputs[-1][0] == "tau" and len(arrays) == len(inputs) - 1:
        arrays.append(compiled.no_tau)
    if len(arrays) != len(inputs):
        raise DescriptionError(
            f"{kind}({name!r}): expected the arguments {[n for n, _ in inputs]}, got {len(arrays)}"
        )
    has = [n for n, _ in inputs] + ["t", "z", "inputs", "discrete", "parameters"]
    for variable in wrt:
        if variable not in has or variable not in VARIABLES:
            raise UnknownNameError(f"variable of {name}", variable, has)
    key = (kind, name, wrt, body)
    if key not in compiled.functions:
        compiled.functions[key] = _made(compiled, kind, operator, wrt, body, key)
    tail = compiled.tails.make(options)
    if name == "multipliers":
        _check_rank(compiled, arrays[0], arrays[1], tail)
    elif compiled.model.unilateral and name in (*ACCELERATIONS, *CONTACT_FORCES):
        check_shares(compiled, kind, name, arrays[0], arrays[1], tail)
    return compiled.functions[key], [*arrays, tail]


def _check_rank(compiled: Compiled, q: Any, u: Any, tail: Array) -> None:
    """Raise an error for derivatives of multipliers of redundant constraints, whose load sharing is not
    differentiable.
    """
    model = compiled.model
    flags = tail[..., model.tail["enabled"]][..., len(model.forces) :][..., : len(model.constraints)]
    enabled = np.repeat(flags, [c.size for c in model.constraints.values()], axis=-1).sum(axis=-1)
    rank = _rank(compiled, _matrix(compiled, q, u, tail))
    if np.any(rank < enabled):
        raise ConstraintError(
            "derivatives of multipliers exist at full rank only, but here the equations of "
            f"the enabled constraints have rank {np.min(rank)} of {int(np.max(enabled))}: "
            "some are redundant; disable them, or take derivatives of forward_dynamics, "
            "which exist there unless contacts slide",
            {},
            None,
        )


def _rank(compiled: Compiled, Y: Array) -> Any:
    """Rank of the constraints, or of some, one per state. With friction Y is not symmetric."""
    symmetric = not compiled.model.has_friction
    return np.linalg.matrix_rank(Y, rtol=REGULAR, hermitian=symmetric) if Y.size else 0


def _matrix(compiled: Compiled, q: Any, u: Any, tail: Array) -> Array:
    """Y of each state, (..., m, m)."""
    Y, m = compiled.function("constraint_matrix")(q, u, tail), compiled.model.equations()
    return Y.reshape(Y.shape[:-1] + (m, m))


def check_shares(compiled: Compiled, kind: str, name: str, q: Any, u: Any, tail: Array) -> None:
    """Refuse derivatives that depend on the load sharing of redundant rigid contacts: of their forces, and of
    accelerations if one slides, multipliers.py (9).
    """
    model = compiled.model
    discrete = list(model.tree.discrete.names)
    counts = name in CONTACT_FORCES
    if not counts:
        ways = [
            discrete.index(v) for n, c in model.unilateral.items() if c.has_friction for v in c.directions(n)
        ]
        counts = (tail[..., model.tail["discrete"]][..., ways] != 0).any(axis=-1)
    if not np.any(counts):
        return
    Y = _matrix(compiled, q, u, tail)
    mine = np.concatenate([np.full(c.size, n in model.unilateral) for n, c in model.constraints.items()])
    acting = (np.diagonal(Y, axis1=-2, axis2=-1)[..., mine] != 0).sum(axis=-1)
    if np.any(counts & (_rank(compiled, Y) < _rank(compiled, Y[..., ~mine, :][..., ~mine]) + acting)):
        raise ConstraintError(
            f"{kind} of {name}: rigid contacts that touch here are redundant, and how they "
            "share their load, on which this result depends, has no derivative here"
            f"{'' if name in CONTACT_FORCES else ' while they slide'}: take fewer points, "
            "or a compliant cd.contact.Material",
            {},
            None,
        )


def _made(
    compiled: Compiled, kind: str, operator: OperatorRecord, wrt: tuple[str, ...], body: int | None, key: Any
) -> NativeFunction:
    """The native function of a derivative."""
    model, name = compiled.model, operator.name
    part = slice(None) if body is None else _part(compiled, operator, body)

    def build() -> ca.Function | Composite:
        own = body if operator.per_body == "kernel" else None
        return getattr(OperatorDerivative(model, name, wrt, own, part), kind)()

    size = len(range(_size(compiled, name))[part])
    inputs, directions = operator.inputs(model), [(f"d_{v}", _directions(compiled, v)) for v in wrt]
    sides: dict[str, Callable[[], tuple[list[tuple[str, int]], list[tuple[str, int]]]]] = {
        "jvp": lambda: ([*inputs, *directions], [("dy", size)]),
        "vjp": lambda: ([*inputs[:-1], ("cotangent", size), inputs[-1]], directions),
        "jacobian": lambda: (
            inputs,
            [(f"J_{v}", size * n) for v, (_, n) in zip(wrt, directions, strict=True)],
        ),
    }
    ins, outs = sides[kind]()
    build_looped: Callable[[], ca.Function | Composite] = build
    looped = [False, False]
    if (
        kind == "vjp"
        and has_gradient(model, name, [v for v in wrt if v != "z"])
        and has_looped_gradient(model, wrt)
    ):
        build_looped = partial(build_looped_gradient, model, wrt)
        looped = [prefers_loops(model, name, lanes=lanes, longer=GRADIENT) for lanes in (False, True)]
    elif (
        kind == "jacobian"
        and name == "forward_dynamics"
        and prefers_looped_jacobian(model)
        and has_looped_jacobian(model, wrt)
    ):
        build_looped = partial(build_looped_jacobian, model, wrt)
        looped = [True, prefers_looped_jacobian(model, lanes=True)]
    elif kind == "jvp" and name == "forward_dynamics" and has_looped_jvp(model, wrt):
        build_looped = partial(build_looped_jvp, model, wrt)
        looped = [prefers_looped_jacobian(model, lanes=lanes) for lanes in (False, True)]
    one, many = (build_looped if loops else build for loops in looped)
    status = [("status", 1)] if operator.has_status else []
    return NativeFunction(
        f"{kind} of {name}",
        one,
        wide=one if looped[0] == looped[1] else many,
        key=f"{key} {part} looped: {looped}\n{compiled.key}",
        inputs=ins,
        outputs=[*outs, *status],
        entries={**compiled.entries, "cotangent": _results(compiled, name, size)},
        direct=None
        if kind == "jvp"
        else DirectCall(
            optional=kind == "jacobian" and len(inputs) > 2 and inputs[-2][0] == "tau",
            keys=tuple(wrt),
            rows=size if kind == "jacobian" else 0,
        ),
        refuse=compiled.refusal(operator, f"{kind} of {name}", len(inputs) - 1 if kind == "jvp" else -1),
    )


def _variables(kind: str, wrt: Any) -> tuple[str, ...]:
    """The names in `wrt`, which may be one."""
    try:
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    except TypeError:
        names = (wrt,)
    if not all(isinstance(name, str) for name in names):
        raise DescriptionError(
            f"{kind}: wrt: expected names of variables, such as 'q' or ('q', 'u'), got {wrt!r}"
        )
    if len(set(names)) < len(names):
        raise DescriptionError(f"{kind}: wrt: each variable once, got {wrt!r}")
    return names


def _named(names: tuple[str, ...], result: Any, shapes: Sequence[tuple[int, ...]] = ()) -> dict[str, Array]:
    """Results {name: (..., n)}, in these shapes if some are given."""
    parts = result if isinstance(result, tuple) else (result,)
    if shapes:
        parts = tuple(x.reshape((*x.shape[:-1], *shape)) for x, shape in zip(parts, shapes, strict=True))
    return dict(zip(names, parts, strict=True))


def _called(function: NativeFunction, arrays: list[Any], options: Mapping[str, Any]) -> Any:
    return function(*arrays, threads=options["threads"]) if options.get("threads") else function.fast(*arrays)


TAIL_VARIABLES = ("t", "z", "inputs", "discrete", "parameters")
"""Parts of the tail that become inputs."""


@lookup_context()
def casadi_function(
    compiled: Compiled, operator: str, body: int | None, options: dict[str, Any]
) -> ca.Function:
    """See System.casadi. body: its index."""
    record = derivable(operator)
    if bool(record.per_body) != (body is not None):
        raise DescriptionError(
            f"casadi({operator!r}): "
            + (
                "this operator has no body; leave body= out"
                if body is not None
                else "of which body? Give body='...', not ground"
            )
        )
    model, s = compiled.model, Symbols(compiled.model, direct=True, straight=True)
    found = record.expressions(s, **({"body": body} if record.per_body == "kernel" else {}))
    if lookups_in(found):
        raise DescriptionError(
            f"casadi({operator!r}): splines of many points, series or solvers in the "
            "system are looked up in tables, which a casadi.Function of expressions does "
            "not do; use system.jvp, vjp or jacobian"
        )
    inside = ca.Function("inside", [s[a] for a in record.arguments], found)
    sizes = {a: n for a, n in record.inputs(model) if a != "tail"}
    sizes |= {v: model.tail[v].stop - model.tail[v].start for v in TAIL_VARIABLES}
    given = {a: ca.SX.sym(a, n) for a, n in sizes.items()}
    tail = ca.SX(ca.DM(compiled.tails.make(options)))
    for variable in TAIL_VARIABLES:
        tail[model.tail[variable]] = given[variable]
    results = inside.call([*(given[a] for a in record.arguments if a != "tail"), tail], True, False)
    named = []
    # a status may follow
    for (result, shape), x in zip(record.shapes(model).items(), results, strict=False):
        if record.per_body == "row" and body is not None:
            x, shape = x[record.row(model, body)], shape[1:]
        named.append(
            (result, x if len(shape) < 2 else ca.reshape(x, shape[-1], x.numel() // max(shape[-1], 1)).T)
        )
    wanted = [a for a, n in sizes.items() if n or a not in TAIL_VARIABLES]
    return ca.Function(
        operator.replace(".", "_"),
        [given[a] for a in wanted],
        [ca.densify(x) for _, x in named],
        wanted,
        [n for n, _ in named],
        {"default_in": [_default(compiled, a) for a in wanted]},
    )


def _default(compiled: Compiled, argument: str) -> float:
    """The default of an input, one number for all its entries: NaN where leaving it out would be wrong."""
    if argument in ("t", "tau"):
        return 0.0
    values = (
        compiled.tails.make({})[compiled.model.tail[argument]] if argument in TAIL_VARIABLES else np.empty(0)
    )
    return float(values[0]) if len(values) and (values == values[0]).all() else float("nan")
