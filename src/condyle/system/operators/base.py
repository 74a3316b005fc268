"""How a System evaluates an operator: one kernel on its arguments and the tail, for one state, many, or a
State that caches results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from condyle.arrays import POINT, Array, Vector, check_finite, vector
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.model.operators import OPERATORS
from condyle.system.compiled import Compiled
from condyle.system.description import Description
from condyle.system.operators.public import METHODS, OPTIONS
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.system.operators.constraints import Constraints
    from condyle.system.operators.contacts import Contacts
    from condyle.system.operators.groups import Group
    from condyle.system.operators.kinematics import KinematicsOperators
    from condyle.system.operators.muscles import Muscles
    from condyle.system.system import System

G = TypeVar("G", bound="Group")


class Operators(Description):
    """Base class of all operators, which are methods of its subclasses, by topic, and of groups."""

    @property
    def contacts(self) -> Contacts:
        """Names of the contacts, forces between compliant surfaces, then constraints between rigid ones
        (`cd.contact.Rigid`); and their operators, `system.contacts.forces(q, u)`."""
        from condyle.system.operators.contacts import Contacts

        return self._group(Contacts, self._contact_names)

    @property
    def constraints(self) -> Constraints:
        """Names of the constraints, and their operators, `system.constraints.errors(q, u)`."""
        from condyle.system.operators.constraints import Constraints

        return self._group(Constraints, lambda: self._constraints)

    @property
    def muscles(self) -> Muscles:
        """Names of the forces that are muscles, and `system.muscles.equilibrium(q)`."""
        from condyle.system.operators.muscles import Muscles

        return self._group(Muscles, self._muscle_names)

    @property
    def kinematics(self) -> KinematicsOperators:
        """Operators for frames fixed on bodies, and for coordinate rates as matrices."""
        from condyle.system.operators.kinematics import KinematicsOperators

        return self._group(KinematicsOperators, tuple)

    def _group(self, kind: type[G], names: Callable[[], Iterable[str]]) -> G:
        made = self._groups.get(kind)
        if made is None or self._compiled is None:  # names may have been added
            made = self._groups[kind] = kind(cast("System", self), names())
        return made

    def _shorten(self, name: str, compiled: Compiled) -> None:
        """From now on pass plain vectors directly to the kernel of an operator, if possible."""
        if not OPERATORS[name].direct:
            return
        group, _, short = name.rpartition(".")
        owner = getattr(self, group) if group else self
        if short not in owner.__dict__ and getattr(type(owner), short) is METHODS[name]:
            direct = compiled.shortcut(name, getattr(owner, short))
            if direct is not None:
                owner.__dict__[short] = direct

    def _run(
        self, name: str, arguments: tuple[Any, ...], options: Mapping[str, Any], which: str | None = None
    ) -> Any:
        """The result of one kernel in its shape (..., *shape), or a tuple of several; None among the
        arguments means no tau."""
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
        """A mask of the speeds that are held, locked or prescribed, shape (..., nu)."""
        tails = self.compiled.tails
        return tails.held(options["state"].tail if "state" in options else tails.make(options))

    def _check_equations(self, name: str, values: Array, *levels: str) -> None:
        """Raise an error for values (..., m) of the equations of some levels, all by default, that are not
        finite."""
        if not np.isfinite(values).all():
            from condyle.system.failures import refuse_undefined

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
