"""Derivatives of a System's operators: exact, as machine code."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arguments import answered
from condyle.arrays import Entries
from condyle.errors import ConstraintError, DescriptionError, UnknownNameError
from condyle.model.differentiate import VARIABLES, Differentiated, has_gradient
from condyle.model.layouts import GRADIENT, build_looped_gradient, prefers_loops
from condyle.model.operators import OPERATORS
from condyle.native.calls.function import NativeFunction
from condyle.native.sweeps.lookup import Staged
from condyle.native.sweeps.tree_solve import TreeSolve
from condyle.system.operators import SMALLEST_EIGENVALUE, Options
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.system.compiled import Compiled

OF_BODY = {"body_pose": ("poses", 12), "body_velocity": ("velocities", 6), "body_acceleration": ("accelerations", 6),
            "reactions": ("reactions", 6)}
_OPTIONS = tuple(name for name in Options.__annotations__ if name != "out")
INTERNAL = ("instance", "prescribed", "poses", "velocities", "accelerations", "composite_inertias",
             "articulated_inertias", "mass_centre_motion", "timed_power", "constraint_power", "impulses")
FOR_BODY = ("station_jacobian", "frame_jacobian")


class Differentiation:
    """jvp, vjp and jacobian of the operators that are kernels of their own: dynamics, forces, energy, momentum, mass centre, and
    poses, velocities, accelerations, reactions and Jacobians of bodies.

    With respect to q derivatives are along the manifold (q has nu directions, quaternions stay normalised):
    column j = d/de f(q + e N(q) e_j). Variables: q, u, tau, udot, f, station, t, z, inputs, discrete, parameters, as far as the
    operator has them. Results: the operator's, flat; body_pose as R row by row, then p; energy as (kinetic, potential).
    A table look-up is differentiated with its row held fixed; at a stop's edge the side that is taken counts.
    """

    if TYPE_CHECKING:
        _compiled: Compiled | None

        @property
        def compiled(self) -> Compiled: ...
        def _freeze(self, why: str) -> Compiled: ...
        def body(self, which: Body | str) -> Body: ...
        def _check_time(self, what: str, kernel: str, arrays: tuple[Any, ...], options: Mapping[str, Any]) -> None: ...

    @answered(skip=1)
    def jvp(self, operator: str, *arguments: Any, tangents: Mapping[str, Any], **options: Any) -> np.ndarray:
        """Derivative of an operator in a direction, shape (..., size of the result).

        `system.jvp("forward_dynamics", q, u, tau, tangents={"q": dq, "u": du})`: tangents of q have shape (..., nu).
        """
        if not isinstance(tangents, Mapping) or not tangents:
            raise DescriptionError(f"jvp({operator!r}): tangents: expected a mapping from variables to directions, as "
                                   f"{{'q': dq}}, got {tangents!r}")
        wrt = tuple(tangents)
        function, arrays = self._derivative("jvp", operator, arguments, wrt, options)
        return _called(function, [*arrays, *(tangents[name] for name in wrt)], options)

    @answered(skip=1)
    def vjp(self, operator: str, *arguments: Any, cotangent: Any, wrt: Sequence[str] = ("q",), **options: Any
            ) -> dict[str, np.ndarray]:
        """Gradients of cotangent . result with respect to each variable of `wrt`: a mapping to arrays (..., n)."""
        if not options and type(wrt) is tuple:              # asked before, in the same way?
            direct = self.compiled.direct.get(("vjp", operator, wrt, len(arguments)))
            if direct is not None:
                return direct(*arguments, cotangent)
        wrt = _variables("vjp", wrt)
        function, arrays = self._derivative("vjp", operator, arguments, wrt, options)
        result = _named(wrt, _called(function, [*arrays[:-1], cotangent, arrays[-1]], options))
        if not options and len(arguments) == len(function.inputs) - 2:
            self._keep_direct("vjp", operator, wrt, function, len(arguments))
        return result

    @answered(skip=1)
    def jacobian(self, operator: str, *arguments: Any, wrt: str | Sequence[str], **options: Any) -> Any:
        """All partial derivatives, shape (..., size of the result, n): `system.jacobian("energy", q, u, wrt="q")`.

        Several variables, `wrt=("q", "u", "tau")`, cost less together: then a mapping from variables to arrays.
        """
        if not options and (type(wrt) is tuple or type(wrt) is str):
            direct = self.compiled.direct.get(("jacobian", operator, wrt, len(arguments)))
            if direct is not None:                          # asked before, in the same way
                return direct(*arguments) if type(wrt) is tuple else direct(*arguments)[wrt]
        names = _variables("jacobian", wrt)
        function, arrays = self._derivative("jacobian", operator, arguments, names, options)
        shapes = [(self._size(operator), self._directions(name)) for name in names]
        result = _named(names, _called(function, arrays, options), shapes) if names else {}
        if not options and 0 <= len(function.inputs) - 1 - len(arguments) <= function.optional:
            self._keep_direct("jacobian", operator, wrt if isinstance(wrt, str) else names, function, len(arguments), shapes)
        return result[wrt] if isinstance(wrt, str) else result

    def _keep_direct(self, kind: str, operator: str, wrt: str | tuple[str, ...], function: NativeFunction, count: int,
                     shapes: Sequence[tuple[int, ...]] = ()) -> None:
        """From here on plain vectors go straight to the kernel, if the same is asked for."""
        compiled, names = self.compiled, (wrt,) if isinstance(wrt, str) else wrt
        if not names or operator == "multipliers" or any(shape[0] == 0 for shape in shapes):
            return
        tail, zeros, what = compiled.tails.default, compiled.no_tau, f"{kind} of {operator}"

        def slow(*given: Any) -> dict[str, np.ndarray]:
            self._check_time(what, operator, given, {})
            given = given if len(given) == len(function.inputs) - 1 else (*given, zeros)
            return _named(names, function(*given, tail), shapes)

        direct = function.direct(slow, tail)
        if direct is not None:
            compiled.direct[kind, operator, wrt, count] = direct

    def _size(self, operator: str) -> int:
        """How many numbers the result of an operator has for one state, its parts side by side."""
        if operator in OF_BODY:
            return OF_BODY[operator][1]
        return sum(n for name, n in OPERATORS[operator].outputs(self.compiled.model) if name != "status")

    def _results(self, name: str, size: int) -> Entries:
        """What stands in an operator's result: speeds, where it is one number for each."""
        udot = self.compiled.entries["udot"]
        per_speed = OPERATORS[name].results[0][0] in ("udot", "tau", "f", "Mf") and size == len(udot.names)
        return udot if per_speed else Entries("entry", ())

    def _directions(self, name: str) -> int:
        model = self.compiled.model
        if name == "q":
            return model.tree.nu
        return model.sizes().get(name, model.tail[name].stop - model.tail[name].start if name in model.tail else 0)

    def _derivative(self, kind: str, operator: str, arguments: tuple[Any, ...], wrt: tuple[str, ...],
                    options: Mapping[str, Any]) -> tuple[NativeFunction, list[Any]]:
        """The native derivative, and the operator's arguments with their tail."""
        compiled = self._compiled or self._freeze(f"{kind}()")
        if operator in OPERATORS or operator in OF_BODY:
            self._check_time(f"{kind} of {operator}", OF_BODY.get(operator, (operator, 0))[0], arguments, options)
        known_function = compiled.functions.get((kind, operator, wrt, None))
        if known_function is not None and not options and len(arguments) == len(OPERATORS[operator].arguments) - 1 and \
                operator != "multipliers":
            return known_function, [*arguments, compiled.tails.default]              # asked before, in the same way
        for option in options:
            if option not in _OPTIONS:
                raise UnknownNameError(f"option of {kind}()", option, _OPTIONS)
        if operator not in OPERATORS and operator not in OF_BODY:
            raise UnknownNameError("operator", operator, [name for name in (*OPERATORS, *OF_BODY) if name not in INTERNAL])
        name, size = OF_BODY.get(operator, (operator, 0))
        inputs = OPERATORS[name].inputs(self.compiled.model)[:-1]
        arrays, body, part = list(arguments), None, slice(None)
        if operator in OF_BODY or operator in FOR_BODY:
            place = len(inputs) if operator in OF_BODY else 1
            if len(arrays) <= place:
                raise DescriptionError(f"{kind}({operator!r}): it needs {[n for n, _ in inputs]} and a body")
            which = self.body(arrays.pop(place))
            if which.is_ground:
                raise DescriptionError(f"{kind}({operator!r}): ground does not move; name another body")
            body, part = which.index, slice(size * which.index, size * which.index + size) if size else slice(None)
        if operator in ("forward_dynamics", "multipliers") and len(arrays) == 2:
            arrays.append(compiled.no_tau)
        if len(arrays) != len(inputs):
            raise DescriptionError(f"{kind}({operator!r}): expected the arguments {[n for n, _ in inputs]}, got {len(arrays)}")
        has = [n for n, _ in inputs] + ["t", "z", "inputs", "discrete", "parameters"]
        for variable in wrt:
            if variable not in has or variable not in VARIABLES:
                raise UnknownNameError(f"variable of {operator}", variable, has)
        key = (kind, name, wrt, body)
        if key not in compiled.functions:
            compiled.functions[key] = self._made(kind, name, wrt, body if operator in FOR_BODY else None, part, key)
        tail = compiled.tails.make(options)
        if operator == "multipliers":
            self._check_rank(arrays[0], arrays[1], tail)
        return compiled.functions[key], [*arrays, tail]

    def _check_rank(self, q: Any, u: Any, tail: np.ndarray) -> None:
        """Refuse derivatives of multipliers where redundant constraints share the load: how they share it jumps."""
        model = self.compiled.model
        m = model.equations()
        flags = tail[..., model.tail["enabled"]][..., len(model.forces):][..., :len(model.constraints)]
        enabled = np.repeat(flags, [c.size for c in model.constraints.values()], axis=-1).sum(axis=-1)
        Y = self.compiled.function("constraint_matrix")(q, u, tail)
        rank = np.linalg.matrix_rank(Y.reshape(Y.shape[:-1] + (m, m)), rtol=SMALLEST_EIGENVALUE, hermitian=True) if m else 0
        if np.any(rank < enabled):
            raise ConstraintError(f"derivatives of multipliers exist at full rank only, but here the equations of the enabled "
                                  f"constraints have rank {np.min(rank)} of {int(np.max(enabled))}: some are redundant; disable "
                                  "them, or take derivatives of forward_dynamics, which always exist", {}, None)

    def _made(self, kind: str, name: str, wrt: tuple[str, ...], body: int | None, part: slice, key: Any) -> NativeFunction:
        model, operator = self.compiled.model, OPERATORS[name]

        def build() -> ca.Function | Staged | TreeSolve:
            return getattr(Differentiated(model, name, wrt, body, part), kind)()

        size = len(range(self._size(name))[part])
        inputs, directions = operator.inputs(model), [(f"d_{v}", self._directions(v)) for v in wrt]
        sides: dict[str, Callable[[], tuple[list[tuple[str, int]], list[tuple[str, int]]]]] = {
            "jvp": lambda: ([*inputs, *directions], [("dy", size)]),
            "vjp": lambda: ([*inputs[:-1], ("cotangent", size), inputs[-1]], directions),
            "jacobian": lambda: (inputs, [(f"J_{v}", size * n) for v, (_, n) in zip(wrt, directions, strict=True)])}
        ins, outs = sides[kind]()
        looped = [kind == "vjp" and has_gradient(model, name, wrt) and prefers_loops(
            model, name, lanes=lanes, longer=GRADIENT) for lanes in (False, True)]
        one, many = (partial(build_looped_gradient, model, wrt) if loops else build for loops in looped)
        status = [("status", 1)] if operator.has_status else []
        return NativeFunction(f"{kind} of {name}", one, wide=one if looped[0] == looped[1] else many,
                              key=f"{key} {part} looped: {looped}\n{self.compiled.key}", inputs=ins, outputs=[*outs, *status],
                              entries={**self.compiled.entries, "cotangent": self._results(name, size)},
                              direct=kind != "jvp", keys=() if kind == "jvp" else wrt,
                              optional=kind == "jacobian" and len(inputs) > 2 and inputs[-2][0] == "tau",
                              rows=size if kind == "jacobian" else 0,
                              refuse=self.compiled.refusal(name, f"{kind} of {name}", len(inputs) - 1 if kind == "jvp" else -1))


def _variables(kind: str, wrt: Any) -> tuple[str, ...]:
    """The names in `wrt`, which may be one."""
    try:
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    except TypeError:
        names = (wrt,)
    if not all(isinstance(name, str) for name in names):
        raise DescriptionError(f"{kind}: wrt: expected names of variables, such as 'q' or ('q', 'u'), got {wrt!r}")
    if len(set(names)) < len(names):
        raise DescriptionError(f"{kind}: wrt: each variable once, got {wrt!r}")
    return names


def _named(names: tuple[str, ...], result: Any, shapes: Sequence[tuple[int, ...]] = ()) -> dict[str, np.ndarray]:
    """Results (..., n) by name, of these shapes, if some are given."""
    parts = result if isinstance(result, tuple) else (result,)
    if shapes:
        parts = tuple(x.reshape((*x.shape[:-1], *shape)) for x, shape in zip(parts, shapes, strict=True))
    return dict(zip(names, parts, strict=True))


def _called(function: NativeFunction, arrays: list[Any], options: Mapping[str, Any]) -> Any:
    return function(*arrays, threads=options["threads"]) if options.get("threads") else function.fast(*arrays)
