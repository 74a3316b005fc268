"""How a System answers: one kernel on its arguments and the tail, for one state, many, or a State that keeps
results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from condyle.arrays import POINT, Array, Vector, check_finite, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.model.operators import OPERATORS
from condyle.system.compiled import Compiled
from condyle.system.description import Description
from condyle.system.operators.options import OPTIONS
from condyle.system.operators.public import METHODS
from condyle.system.unmet import refuse_undefined
from condyle.tree.body import Body


class Operators(Description):
    """What all operators need: they are methods of the classes below this one, by topic."""

    def _shorten(self, name: str, compiled: Compiled) -> None:
        """From here on plain vectors go straight to the kernel of an operator, if that is possible."""
        if (
            OPERATORS[name].direct
            and name not in self.__dict__
            and getattr(type(self), name) is METHODS[name]
        ):
            direct = compiled.shortcut(name, getattr(self, name))
            if direct is not None:
                self.__dict__[name] = direct

    def _run(
        self, name: str, arguments: tuple[Any, ...], options: Mapping[str, Any], which: str | None = None
    ) -> Any:
        """The result of one kernel in its shape (..., *shape), or a tuple of several; None among the
        arguments is no tau."""
        compiled = self._compiled or self._freeze(f"{name}()")
        try:
            function = compiled.functions[name, which]
        except KeyError:
            function = compiled.function(name, which)
        if arguments[-1] is None:
            arguments = (*arguments[:-1], compiled.no_tau)
        if "state" in options:
            if options["state"].system is not self:
                raise DescriptionError(
                    f"{name}: the state belongs to another system; make it with system.state()"
                )
            state = options["state"]
            result = state.result(OPERATORS[name], function, arguments, which)
            return compiled.shaped(name, compiled.found(name, arguments, state.tail, result))
        compiled.check_time(OPERATORS[name].label, name, arguments, options)
        if not options:
            result = function.fast(*arguments, compiled.tails.default)
            self._shorten(name, compiled)
            return compiled.shaped(name, compiled.found(name, arguments, compiled.tails.default, result))
        for option in options:
            if option not in OPTIONS:
                raise UnknownNameError(f"option of {name}()", option, OPTIONS)
        out, threads, tail = options.get("out"), options.get("threads"), compiled.tails.make(options)
        if out is None and threads is None:
            result = function.fast(*arguments, tail)
            self._shorten(name, compiled)
        else:
            result = function(*arguments, tail, out=out, threads=threads)
        return compiled.shaped(name, compiled.found(name, arguments, tail, result))

    def _of_body(
        self, name: str, arguments: tuple[Any, ...], body: Body | str | None, options: Mapping[str, Any]
    ) -> Array:
        """The row of one body in a result of all bodies; all of them, shape (..., bodies, n), for None."""
        which = None if body is None else self.body(body)
        result: Array = self._run(name, arguments, options)
        if which is None:
            return result
        record = OPERATORS[name]
        row = len(next(iter(record.results.values())).split()) - 1  # dimensions of a row
        if which.is_ground:
            shape = result.shape[-row:]
            return np.broadcast_to(
                np.reshape(record.ground or np.zeros(shape), shape), result.shape[: -row - 1] + shape
            )
        return result[..., which.index, :] if row == 1 else result[..., which.index, :, :]

    def _held(self, options: Any) -> Array:
        """Which speeds are held, locked or prescribed, shape (..., nu)."""
        tails = self.compiled.tails
        return tails.held(options["state"].tail if "state" in options else tails.make(options))

    def _check_equations(self, name: str, values: Array, *levels: str) -> None:
        """Refuse values (..., m) of the equations of some levels, all by default, that are not finite."""
        if not np.isfinite(values).all():
            refuse_undefined(self.compiled.model, name, values, levels)


def stacked(angular: Array, linear: Array) -> Array:
    """A spatial vector (..., 6) from its halves, which broadcast."""
    return np.concatenate(np.broadcast_arrays(angular, linear), axis=-1)


def point(name: str, value: Vector, batch: tuple[int, ...] = ()) -> Array:
    """A checked point (..., 3) that broadcasts with a batch of states."""
    expected = f"{name}: expected a point of 3 numbers [m], shape (..., 3)"
    try:
        array = vector(name, value, 3, POINT)
    except ShapeError as error:
        raise ShapeError(f"{expected}, got {value!r} ({error})") from None
    check_finite(name, array, POINT)
    try:
        np.broadcast_shapes(array.shape[:-1], batch)
    except ValueError:
        raise ShapeError(f"{expected}, that broadcasts with the states {batch}, got {array.shape}") from None
    return array
