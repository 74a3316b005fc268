"""Joints given by functions of their coordinates: seth2010 section 3."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, vertcat
from condyle.errors import DescriptionError, check_names
from condyle.functions import Function, Scaled
from condyle.functions.base import exact
from condyle.mobilizers.base import Mobilizer, RelativeMotion, zeros
from condyle.mobilizers.closed_form import LETTERS, Axis, column, rotation_about_axis, unit_axis
from condyle.mobilizers.constants import coordinate_units, given_units, names_of, parameters_of, text
from condyle.records import assign, dataclass
from condyle.trace import Symbol, Traced, trace
from condyle.trace.symbol import scalar

Law = Callable[..., object] | Symbol | float | None | tuple[Callable[..., object], str | Sequence[str]]


@dataclass(frozen=True, eq=False)
class FunctionBased(Mobilizer):
    """A joint whose three angles and three translations are functions of its coordinates.

        R_FM = R(a1, theta1) R(a2, theta2) R(a3, theta3),   p_FM = a4 p1 + a5 p2 + a6 p3        seth2010 (18)
        W = [a1, R1 a2, R1 R2 a3],   H_w = W theta_q,   H_v = A p_q                             (20)-(25)
        bias = d/dt (H u) at udot = 0, by automatic differentiation                             (26)-(35)

    q: the coordinates, in the units of the functions. u = qdot.
    The functions are traced once: use NumPy (`np.sin`, `np.where`) or `cd.Spline` in them.

    Args:
        coordinates: names, one to six. They name the system's coordinates unless `add_body` gives others.
        angles: three functions f(*q) -> angle [rad] of body-fixed rotations; a number or Parameter is
            constant, None is zero. (f, "knee") or (f, ("knee", "hip")) is a function of these coordinates
            only, for instance one of `cd.functions`.
        translations: three functions f(*q) -> displacement [m].
        axes: three rotation axes, or six, including those of the translations; "x", "y", "z" or 3-vectors in
            F, of any length (rotation axes rotate with the body). Default x, y, z for both.
        time: call the functions as f(t, *q), t in seconds: a joint that also moves by itself.
        domain: (low, high) of the coordinate within which the functions are valid, or one pair per
            coordinate. `cd.simulate` warns if it is left. Default: unlimited.
        units: unit of each coordinate, for tables, plots and the weights of errors. By default "m" for
            coordinates that move translations alone, "rad" for all others.
    """

    coordinates: Sequence[str]
    angles: Sequence[Law] = (None, None, None)
    translations: Sequence[Law] = (None, None, None)
    axes: Sequence[object] | None = None
    time: bool = False
    units: tuple[str, ...] = ()
    domain: Sequence[float] | Sequence[Sequence[float]] | None = None
    laws: tuple[Traced | None, ...] = field(default=(), repr=False)

    named_by_user = True
    scales_with_body = True
    singular = "where the functions do not move with a coordinate, move alike with two, or reach gimbal lock"

    def __post_init__(self) -> None:
        names = names_of(self.coordinates, "FunctionBased: coordinates", "one to six different names")
        if len(names) > 6:
            raise DescriptionError(
                f"FunctionBased: coordinates must be one to six different names, got {names!r}"
            )
        what = f"FunctionBased({', '.join(names)})"
        for label, functions in (("angles", self.angles), ("translations", self.translations)):
            if not isinstance(functions, (tuple, list)) or len(functions) != 3:
                raise DescriptionError(
                    f"{what}: {label} must be three functions, numbers or None, got {functions!r}"
                )
        axes = tuple(LETTERS) if self.axes is None else tuple(self.axes)
        if len(axes) not in (3, 6):
            raise DescriptionError(
                f"{what}: axes must be three (rotations) or six (and translations), got {len(axes)}"
            )
        axes = tuple(unit_axis(a, f"{what}: axes[{i}]") for i, a in enumerate((*axes, *LETTERS)[:6]))
        if abs(np.linalg.det(np.array(axes[3:]))) < 1e-6:
            raise DescriptionError(f"{what}: the three translation axes must be independent, got {axes[3:]}")
        units = given_units(self.units, names, what)
        domain = None if self.domain is None else _domain(self.domain, len(names), what)
        arguments = ("t", *names) if self.time else names
        laws = self.laws or tuple(
            law_of(f, arguments, f"{what}: {label}[{i}]")
            for label, functions in (("angles", self.angles), ("translations", self.translations))
            for i, f in enumerate(functions)
        )
        parameters_of(vertcat(s.sx for law in laws if law for s in law.outside), what)
        assign(
            self,
            coordinates=names,
            axes=axes,
            units=units,
            laws=laws,
            domain=domain,
            angles=tuple(self.angles),
            translations=tuple(self.translations),
            coordinate_names=names,
            speed_names=names,
            uses_time=bool(self.time),
        )
        assign(self, units=units or coordinate_units(*self._hinge(), ()))

    def _scaled(self, s: Array) -> Mobilizer:
        """As OpenSim: translations along an axis a by |a| . s, but for those that are a coordinate itself."""
        axes: Any = self.axes
        return self._with_translations(
            [
                1.0 if law is None or _is_coordinate(law) else np.abs(axis) @ s
                for axis, law in zip(axes[3:], self.laws[3:], strict=True)
            ]
        )

    def _with_translations(self, factors: Sequence[Any]) -> FunctionBased:
        """The same joint with translations that are multiplied by these factors, one each."""
        same = [not isinstance(factor, Symbol) and factor == 1.0 for factor in factors]
        if all(same):
            return self
        arguments = ("t", *self.coordinates) if self.time else tuple(self.coordinates)
        what = f"FunctionBased({', '.join(self.coordinates)}): translations"
        given, laws = list(self.translations), list(self.laws)
        for i, factor in enumerate(factors):
            if not same[i] and laws[3 + i] is not None:
                given[i] = times(given[i], laws[3 + i], factor)
                laws[3 + i] = law_of(given[i], arguments, f"{what}[{i}]")
        return replace(self, translations=tuple(given), laws=tuple(laws))

    @property
    def parametric(self) -> bool:
        return any(law is not None and law.outside for law in self.laws)

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        known: Any = self.domain
        return super().domains if known is None else known

    def conditions(self) -> SX | None:
        # functions have values wherever their Parameters do
        return zeros(0)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        arguments = [t, *ca.vertsplit(q)] if self.time else ca.vertsplit(q)
        # constants leave no trace in the machine code
        values = [zeros(1) if law is None else ca.sparsify(law.apply(*arguments)) for law in self.laws]
        theta, p = ca.vertcat(*values[:3]), ca.vertcat(*values[3:])
        a: tuple[Axis, ...] = self.axes  # type: ignore[assignment]
        R1, R2, R3 = (
            ca.SX.eye(3) if law is None else rotation_about_axis(axis, angle)
            for law, axis, angle in zip(self.laws[:3], a[:3], values[:3], strict=True)
        )
        W = ca.horzcat(column(a[0]), R1 @ column(a[1]), R1 @ R2 @ column(a[2]))  # (20)
        A = ca.horzcat(*(column(axis) for axis in a[3:]))  # (23)
        H_w, H_v = W @ ca.jacobian(theta, q), A @ ca.jacobian(p, q)  # (22), (25)
        w_t, v_t = W @ ca.jacobian(theta, t), A @ ca.jacobian(p, t)
        V = ca.vertcat(H_w @ u + w_t, H_v @ u + v_t)
        bias = ca.jtimes(V, q, u) + ca.jacobian(V, t)  # (26)-(35)
        return RelativeMotion(
            R=R1 @ R2 @ R3, p=A @ p, H_w=H_w, H_v=H_v, w_t=w_t, v_t=v_t, bias_w=bias[:3], bias_v=bias[3:]
        )

    def description(self) -> str:
        known = "" if self.domain is None else f", domain={self.domain}"
        return (
            f"FunctionBased({len(self.coordinates)}, {self.axes}, time={self.time}, {text(self.laws)}{known})"
        )

    def __getstate__(self) -> dict:
        # The user's callables are not pickled: what they compute was traced, and that is.
        return self.__dict__ | {
            "angles": tuple(map(picklable, self.angles)),
            "translations": tuple(map(picklable, self.translations)),
        }

    def __repr__(self) -> str:
        return f"FunctionBased({', '.join(self.coordinates)})"


def _domain(given: Any, n: int, what: str) -> tuple[tuple[float, float], ...]:
    try:
        pairs = np.array(given, dtype=float)
        pairs = pairs[None] if n == 1 and pairs.shape == (2,) else pairs
    except (TypeError, ValueError):
        pairs = np.empty(0)
    if pairs.shape != (n, 2) or not (pairs[:, 0] < pairs[:, 1]).all():
        raise DescriptionError(
            f"{what}: domain: expected (low, high) with low < "
            f"high{f' for each of {n}' * (n > 1)}, got {given!r}"
        )
    return tuple((float(low), float(high)) for low, high in pairs)


def _is_coordinate(law: Traced) -> bool:
    """Whether a translation is a coordinate itself, which grows with the body as a Slider's does."""
    found = law.linear()
    return found is not None and found[-1] == 0.0 and sorted(found[:-1]) == [0.0] * (len(found) - 2) + [1.0]


def times(given: Any, traced: Any, factor: float) -> Any:
    """A function of a joint times a number."""
    if isinstance(given, (tuple, list)):
        return times(given[0], None, factor), given[1]
    if isinstance(given, Scaled):
        return Scaled(given.function, given.factor * factor)
    if isinstance(given, Function):
        return Scaled(given, factor)
    if callable(given) and not isinstance(given, Symbol):
        return lambda *q: factor * given(*q)
    if given is not None:
        return given * factor

    def unpickled(*q: Any) -> Any:
        symbolic = any(isinstance(x, Symbol) for x in q)
        return factor * (Symbol(traced.apply(*(scalar(x) for x in q))) if symbolic else traced(*q))

    return unpickled


def picklable(law: Law) -> Law:
    """What pickles hold of a function: Condyle's own, numbers and Symbols; None for a user's callable."""
    own = law[0] if isinstance(law, tuple) else law
    return law if isinstance(own, (Function, Symbol, int, float)) else None


def law_of(function: Law, arguments: Sequence[str], what: str) -> Traced | None:
    """The traced function, or None if it is absent or the constant zero."""
    if function is None or (isinstance(function, (int, float)) and function == 0):
        return None
    own, places = function, [*range(len(arguments))]
    if isinstance(function, (tuple, list)):
        own, places = _of_some(function, arguments, what)
    key = exact(own) if isinstance(own, Function) else None
    if key is None:
        return _traced(own, places, arguments, what)
    key = f"{key} {places} of {len(arguments)}"  # most functions of a model are alike
    known = _TRACED.get(key) or _traced(own, places, arguments, what)
    if len(_TRACED) < MANY:
        _TRACED[key] = known
    return replace(known, what=what, names=tuple(arguments))


def _traced(function: Any, places: list[int], arguments: Sequence[str], what: str) -> Traced:
    """A function of some of the arguments."""
    if isinstance(function, Symbol):
        return trace(lambda *_: function, arguments, what=what, outputs=())
    if places == [*range(len(arguments))]:
        return trace(function, arguments, what=what, outputs=(), points=_points(function))
    return trace(
        lambda *q: function(*(q[i] for i in places)),
        arguments,
        what=what,
        outputs=(),
        source=function,
        points=_points(function),
    )


MANY = 1000
_TRACED: dict[str, Traced] = {}
"""Functions of this package, by what they are and which arguments they take; not more than so many."""


def _points(function: Any) -> int:
    """At how many points a function is compared with floats: those of Condyle are known to agree."""
    if isinstance(function, Scaled):
        return _points(function.function)
    return 0 if type(function).__module__.startswith(f"{Function.__module__.rpartition('.')[0]}.") else 4


def _of_some(given: Any, arguments: Sequence[str], what: str) -> tuple[Callable[..., object], list[int]]:
    """The function of a pair (f, names), and where its coordinates are among the arguments."""
    own, names = given if len(given) == 2 else (None, None)
    if isinstance(names, str):
        names = (names,)
    if not callable(own) or not isinstance(names, (tuple, list)) or not names:
        raise DescriptionError(
            f"{what}: expected a function, or (function, coordinate) for a function of "
            f"some coordinates, such as (cd.functions.Sine(), {arguments[-1]!r}), got {given!r}"
        )
    check_names("coordinate", names, arguments, what)
    return own, [list(arguments).index(name) for name in names]
