"""A mobilizer whose coordinates follow others: Coupled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.mobilizers.constants import names_of, parameters_of, text
from condyle.mobilizers.function_based import Law, kept, law_of, times
from condyle.mobilizers.traced import motion
from condyle.mobilizers.units import LENGTHS, coordinate_units, given_units
from condyle.records import dataclass
from condyle.trace import Traced


@dataclass(frozen=True, eq=False, repr=False)
class Coupled(Mobilizer):
    """A mobilizer whose coordinates are functions of fewer, or of those of another body.

    With X, H, bias of the mobilizer at its own coordinates x, and u = qdot:

        x = f(q),   xdot = f_q u                                                                (1)
        H' = H f_q,   bias' = bias + H (d/dt f_q) u                                             (2)

    So a knee whose translations follow its angle has one coordinate, and no constraint. A body of which all
    coordinates follow those of another body takes `follows=` of `System.add_body` too:

        mobilizer = cd.Coupled(cd.Pin(), "knee", lambda knee: 0.5 * knee)
        system.add_body("patella", "femur", mobilizer, follows="tibia")

    Args:
        mobilizer: what moves the body; its speeds are the rates of its coordinates.
        coordinates: names of q, one to six.
        functions: x, one for each coordinate of the mobilizer: a function f(*q) of one number; (f, "knee") or
            (f, ("knee", "hip")) of these coordinates alone; the name of a coordinate, which then is x itself;
            a number or Parameter. One alone need not be in a tuple.
        own: names of the mobilizer's coordinates, for files; by default those that the mobilizer gives them.
        units: unit of each of q. By default that of the coordinate of the mobilizer which is q itself; where
            none is, "m" for coordinates that shift only, "rad" for all others.
    """

    mobilizer: Mobilizer
    coordinates: Sequence[str]
    functions: Any
    own: Sequence[str] = ()
    units: tuple[str, ...] = ()
    laws: tuple[Traced | None, ...] = field(default=(), repr=False)

    named_by_user = True

    def __post_init__(self) -> None:
        inner = self.mobilizer
        if not isinstance(inner, Mobilizer):
            raise DescriptionError(f"Coupled: expected a mobilizer such as cd.Pin() first, got {inner!r}")
        names = names_of(self.coordinates, "Coupled: coordinates", "one to six different names")
        what = f"Coupled({inner!r}, {', '.join(names)})"
        if len(names) > 6:
            raise DescriptionError(f"{what}: coordinates must be one to six different names, got {names!r}")
        if not has_rates(inner):
            raise DescriptionError(
                f"{what}: speeds of {inner!r} are not the rates of its coordinates, which "
                "therefore cannot follow others; take angles, such as cd.Gimbal()"
            )
        given = _listed(self.functions, inner.nq)
        if len(given) != inner.nq:
            raise DescriptionError(
                f"{what}: functions must be {inner.nq}, one for each of "
                f"{inner.coordinate_names}, got {self.functions!r}"
            )
        for name in given:
            if isinstance(name, str) and name not in names:
                raise UnknownNameError("coordinate", name, names, f"{what}: functions")
        own = tuple(self.own) or inner.coordinate_names
        if isinstance(self.own, str) or len(own) != inner.nq or not all(isinstance(x, str) for x in own):
            raise DescriptionError(
                f"{what}: own must be {inner.nq} names, one for each of "
                f"{inner.coordinate_names}, got {self.own!r}"
            )
        laws = self.laws or tuple(
            law_of((_itself, f) if isinstance(f, str) else f, names, f"{what}: functions[{k}]")
            for k, f in enumerate(given)
        )
        parameters_of(ca.vertcat(ca.SX(0, 1), *(s.sx for law in laws if law for s in law.outside)), what)
        units = given_units(self.units, names, what)
        for name, value in (
            ("coordinates", names),
            ("functions", given),
            ("laws", laws),
            ("own", own),
            ("coordinate_names", names),
            ("speed_names", names),
            ("uses_time", inner.uses_time),
            ("scales_with_body", inner.scales_with_body),
            (
                "singular",
                "; ".join(
                    filter(None, (inner.singular, "where the functions do not move with a coordinate"))
                ),
            ),
        ):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "units", units or self._own_units())

    def _own_units(self) -> tuple[str, ...]:
        usual = coordinate_units(*self._hinge(), ())
        own = {
            f: unit
            for f, unit in zip(self.functions, self.mobilizer.units, strict=True)
            if isinstance(f, str)
        }
        return tuple(own.get(name, unit) for name, unit in zip(self.coordinates, usual, strict=True))

    def _values(self, q: ca.SX) -> ca.SX:
        """x (1)."""
        arguments = ca.vertsplit(q)
        return ca.vertcat(
            ca.SX(0, 1),
            *(ca.SX(1, 1) if law is None else ca.sparsify(law.apply(*arguments)) for law in self.laws),
        )

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        x = self._values(q)
        f_q = ca.jacobian(x, q)
        R, p, H_w, H_v, w_t, v_t, bias_w, bias_v, _ = motion(self.mobilizer, t, x, f_q @ u)
        turning = ca.jtimes(f_q @ u, q, u)
        return RelativeMotion(
            R=R,
            p=p,
            H_w=H_w @ f_q,
            H_v=H_v @ f_q,
            w_t=w_t,
            v_t=v_t,
            bias_w=bias_w + H_w @ turning,
            bias_v=bias_v + H_v @ turning,
        )  # (2)

    def itself(self) -> dict[int, int]:
        """Coordinates of the mobilizer that are one of q, by their places."""
        return {k: self.coordinates.index(f) for k, f in enumerate(self.functions) if isinstance(f, str)}

    def _scaled(self, s: Array) -> Mobilizer:
        q = ca.SX.sym("q", self.nq)
        lengths = ca.vertcat(ca.SX(0, 1), *(q[j] for j, unit in enumerate(self.units) if unit in LENGTHS))
        given = [
            law.apply(*ca.vertsplit(q))
            for f, law in zip(self.functions, self.laws, strict=True)
            if law is not None and not isinstance(f, str)
        ]
        if ca.depends_on(ca.vertcat(ca.SX(0, 1), *given), lengths):
            return super()._scaled(s)
        grown = [
            unit in LENGTHS and not isinstance(f, str) and law is not None
            for f, law, unit in zip(self.functions, self.laws, self.mobilizer.units, strict=True)
        ]
        made = replace(self, mobilizer=self.mobilizer.scaled(s))
        if not any(grown):
            return made
        factor = self._one_factor(s, f"the translation {self.own[grown.index(True)]!r} of its functions")
        return made._with_factors([factor if x else 1.0 for x in grown])

    def _with_factors(self, factors: Sequence[float]) -> Coupled:
        """The same with coordinates of the mobilizer that are multiplied by these factors, one each."""
        given = tuple(
            f if factor == 1.0 else times((_itself, f) if isinstance(f, str) else f, law, factor)
            for f, law, factor in zip(self.functions, self.laws, factors, strict=True)
        )
        return replace(self, functions=given, laws=())

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        own = {j: self.mobilizer.domains[k] for k, j in self.itself().items()}
        return tuple(own.get(j, usual) for j, usual in enumerate(super().domains))

    def default_q(self) -> Array:
        inner, q = self.mobilizer.default_q(), super().default_q()
        for k, j in self.itself().items():
            q[j] = inner[k]
        return q

    def check_parameters(self, values: Mapping[str, float]) -> None:
        self.mobilizer.check_parameters(values)

    def conditions(self) -> ca.SX | None:
        # functions have values wherever their Parameters do
        return self.mobilizer.conditions()

    def coupled(self, q: Sequence[float] | Array) -> Array:
        """x = f(q) as numbers, shape (nq of the mobilizer,)."""
        return np.array([0.0 if law is None else float(law(*map(float, q))) for law in self.laws])

    def description(self) -> str:
        return f"Coupled({self.mobilizer.description()}, {len(self.coordinates)}, {text(self.laws)})"

    def __getstate__(self) -> dict:
        # The user's callables are not pickled: what they compute was traced, and that is.
        return self.__dict__ | {
            "functions": tuple(f if isinstance(f, str) else kept(f) for f in self.functions)
        }

    def __repr__(self) -> str:
        return f"Coupled({self.mobilizer!r}, {', '.join(self.coordinates)})"


def has_rates(mobilizer: Mobilizer) -> bool:
    """Whether u = qdot, everywhere."""
    return mobilizer.nq == mobilizer.nu and (
        not mobilizer.nq or ca.sparsify(mobilizer.N(ca.SX.sym("q", mobilizer.nq))).is_eye()
    )


def _listed(given: Any, n: int) -> tuple[Law | str, ...]:
    """n functions one after the other; one alone may stand without a tuple."""
    several = isinstance(given, (tuple, list)) and not (n == 1 and len(given) == 2 and callable(given[0]))
    return tuple(given) if several else (given,)


def _itself(x: Any) -> Any:
    return x
