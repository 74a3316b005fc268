"""Two mobilizers in series without a body between them: compose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, vertcat
from condyle.errors import DescriptionError, UnknownNameError
from condyle.mobilizers.base import Mobilizer, RelativeMotion, Wrapper
from condyle.mobilizers.constants import (
    LENGTHS,
    conditions_on,
    coordinate_units,
    given_units,
    names_of,
    parameters_of,
    sx,
    text,
    valued,
)
from condyle.mobilizers.function_based import Law, law_of, picklable, times
from condyle.mobilizers.traced import motion
from condyle.native.tables.lookup import RowSource
from condyle.records import assign, dataclass
from condyle.spatial import Transform
from condyle.trace import Symbol, Traced


def compose(first: Mobilizer, *others: Mobilizer) -> Mobilizer:
    """Mobilizers in series: M of the first is F of the second, and so on. It has the coordinates of all.

    `compose(Slider("x"), Pin("z"))` is a pin on a slider, with no body between.
    """
    if not isinstance(first, Mobilizer):
        raise DescriptionError(
            "compose: expected mobilizers one after the other, such as "
            f"compose(cd.Slider(), cd.Pin()), got {first!r}"
        )
    result = first
    for mobilizer in others:
        result = Composition(result, mobilizer)
    return result


@dataclass(frozen=True, eq=False, repr=False)
class Composition(Mobilizer):
    """a from F to a frame E, then b from E to M. With r = R_a p_b and w_b, v_b, bias_b turned into F by R_a:

        R = R_a R_b,   p = p_a + r                                                              (11)
        w = w_a + w_b,   v = v_a + w_a x r + v_b                                                (12)
        bias_w = bias_w,a + w_a x w_b + bias_w,b
        bias_v = bias_v,a + bias_w,a x r + w_a x (w_a x r + 2 v_b) + bias_v,b                   (13)

    H loses rank where a speed of b causes the same motion as speeds of a.
    """

    a: Mobilizer
    b: Mobilizer

    def __post_init__(self) -> None:
        a, b = self.a, self.b
        for x in (a, b):
            if not isinstance(x, Mobilizer):
                raise DescriptionError(f"compose: expected mobilizers such as cd.Pin(), got {x!r}")
        if a.nu + b.nu > 6:
            raise DescriptionError(
                f"compose: {a!r} and {b!r} have {a.nu} + {b.nu} speeds together; a body has at most six"
            )
        quaternions = (
            *a.quaternions,
            *(slice(a.nq + part.start, a.nq + part.stop) for part in b.quaternions),
        )
        singular = "; ".join(
            filter(None, (a.singular, b.singular, "where a later speed repeats what earlier ones do"))
        )
        assign(
            self,
            coordinate_names=_joined(a.coordinate_names, b.coordinate_names),
            speed_names=_joined(a.speed_names, b.speed_names),
            quaternions=quaternions,
            named_by_user=a.named_by_user and b.named_by_user,
            uses_time=a.uses_time or b.uses_time,
            singular=singular,
            has_lengths=a.has_lengths or b.has_lengths,
        )

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        return (*self.a.domains, *self.b.domains)

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        (a_q, a_u), (b_q, b_u) = self.a.sizes(length), self.b.sizes(length)
        return (*a_q, *b_q), (*a_u, *b_u)

    @cached_property
    def units(self) -> tuple[str, ...]:
        return (*self.a.units, *self.b.units)

    @cached_property
    def speed_units(self) -> tuple[str, ...]:
        return (*self.a.speed_units, *self.b.speed_units)

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        (q_a, q_b), (u_a, u_b) = self._split(q, self.a.nq), self._split(u, self.a.nu)
        a, b = self.a.motion(t, q_a, u_a), self.b.motion(t, q_b, u_b)
        R_a = a.R
        r = R_a @ b.p
        H_w, H_v = R_a @ b.H_w, R_a @ b.H_v
        w_a, w_b, v_b = a.H_w @ u_a + a.w_t, H_w @ u_b + R_a @ b.w_t, H_v @ u_b + R_a @ b.v_t
        return RelativeMotion(
            R=R_a @ b.R,
            p=a.p + r,  # (11)
            H_w=ca.horzcat(a.H_w, H_w),
            H_v=ca.horzcat(a.H_v - ca.skew(r) @ a.H_w, H_v),  # (12)
            w_t=a.w_t + R_a @ b.w_t,
            v_t=a.v_t + ca.cross(a.w_t, r) + R_a @ b.v_t,
            bias_w=a.bias_w + ca.cross(w_a, w_b) + R_a @ b.bias_w,
            bias_v=a.bias_v
            + ca.cross(a.bias_w, r)
            + ca.cross(w_a, ca.cross(w_a, r) + 2 * v_b)
            + R_a @ b.bias_v,
        )  # (13)

    def N(self, q: SX) -> SX:
        q_a, q_b = self._split(q, self.a.nq)
        return ca.diagcat(self.a.N(q_a), self.b.N(q_b))

    def N_inverse(self, q: SX) -> SX:
        q_a, q_b = self._split(q, self.a.nq)
        return ca.diagcat(self.a.N_inverse(q_a), self.b.N_inverse(q_b))

    @staticmethod
    def _split(x: SX, n: int) -> tuple[SX, SX]:
        """The first n entries and the others, columns also where there are none."""
        first, rest = ca.vertsplit(x, [0, n, x.numel()])
        return first, rest

    def check_parameters(self, values: Mapping[str, float]) -> None:
        for mobilizer in (self.a, self.b):
            mobilizer.check_parameters(values)

    def conditions(self) -> SX | None:
        a, b = self.a.conditions(), self.b.conditions()
        return None if a is None or b is None else ca.vertcat(a, b)

    def default_q(self) -> Array:
        return np.concatenate([self.a.default_q(), self.b.default_q()])

    def random_q(self, rng: np.random.Generator) -> Array:
        return np.concatenate([self.a.random_q(rng), self.b.random_q(rng)])

    def _scaled(self, s: Array) -> Mobilizer:
        """Lengths of b turn with a: unequal factors are for those of a alone."""
        factors = self._one_factor(s, f"lengths of {self.b!r}") if self.b.has_lengths else s
        return Composition(self.a.scaled(s), self.b.scaled(factors))

    def description(self) -> str:
        return f"Composition({self.a.description()}, {self.b.description()})"

    def form(self) -> tuple[str, tuple[RowSource, ...]] | None:
        a, b = (part.form() or (part.description(), ()) for part in (self.a, self.b))
        return f"Composition({a[0]}, {b[0]})", (*a[1], *b[1])

    def __repr__(self) -> str:
        return f"compose({self.a!r}, {self.b!r})"


def _joined(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """All names, those of the second with a number where they exist already."""
    names = list(first)
    for name in second:
        free, k = name, 2
        while free in names:
            free, k = f"{name}{k}", k + 1
        names.append(free)
    return tuple(names)


# ---- coupled ---------------------------------------------------------------------------------------------
#
# A mobilizer whose coordinates follow others: Coupled.


@dataclass(frozen=True, eq=False, repr=False)
class Coupled(Mobilizer):
    """A mobilizer whose coordinates are functions of fewer coordinates, or of those of another body.

    With X, H, bias of the mobilizer at its own coordinates x, and u = qdot:

        x = f(q),   xdot = f_q u                                                                (1)
        H' = H f_q,   bias' = bias + H (d/dt f_q) u                                             (2)

    A knee whose translations depend on its angle has one coordinate, and no constraint. If all coordinates
    depend on those of another body, also pass `follows=` to `System.add_body`:

        mobilizer = cd.Coupled(cd.Pin(), "knee", lambda knee: 0.5 * knee)
        system.add_body("patella", "femur", mobilizer, follows="tibia")

    Args:
        mobilizer: the joint; its speeds must be the rates of its coordinates.
        coordinates: names of q, one to six.
        functions: x, one for each coordinate of the mobilizer: a function f(*q) of one number; (f, "knee") or
            (f, ("knee", "hip")) of these coordinates only; the name of a coordinate that equals x; a number
            or Parameter. A single one need not be in a tuple.
        own: names of the mobilizer's coordinates, for files; by default those of the mobilizer.
        units: unit of each of q. By default that of the mobilizer's coordinate that equals q; otherwise "m"
            for pure translation, "rad" for others.
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
        parameters_of(vertcat(s.sx for law in laws if law for s in law.outside), what)
        units = given_units(self.units, names, what)
        assign(
            self,
            coordinates=names,
            functions=given,
            laws=laws,
            own=own,
            coordinate_names=names,
            speed_names=names,
            uses_time=inner.uses_time,
            scales_with_body=inner.scales_with_body,
            singular="; ".join(
                filter(None, (inner.singular, "where the functions do not move with a coordinate"))
            ),
        )
        assign(self, units=units or self._own_units())

    def _own_units(self) -> tuple[str, ...]:
        usual = coordinate_units(*self._hinge(), ())
        own = {
            f: unit
            for f, unit in zip(self.functions, self.mobilizer.units, strict=True)
            if isinstance(f, str)
        }
        return tuple(own.get(name, unit) for name, unit in zip(self.coordinates, usual, strict=True))

    def _values(self, q: SX) -> SX:
        """x (1)."""
        arguments = ca.vertsplit(q)
        return vertcat(
            ca.SX(1, 1) if law is None else ca.sparsify(law.apply(*arguments)) for law in self.laws
        )

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
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
        lengths = vertcat(q[j] for j, unit in enumerate(self.units) if unit in LENGTHS)
        given = [
            law.apply(*ca.vertsplit(q))
            for f, law in zip(self.functions, self.laws, strict=True)
            if law is not None and not isinstance(f, str)
        ]
        if ca.depends_on(vertcat(given), lengths):
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

    def conditions(self) -> SX | None:
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
            "functions": tuple(f if isinstance(f, str) else picklable(f) for f in self.functions)
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


# ---- scaled ----------------------------------------------------------------------------------------------
#
# Any mobilizer between bodies of another size: ScaledMobilizer.


@dataclass(frozen=True)
class ScaledMobilizer(Wrapper):
    """A mobilizer whose lengths, including coordinates and speeds in m, cm or mm, are multiplied by k.

    With D and S diagonal: k for coordinates and speeds that are lengths, 1 for others, and X, H, N those of
    the forward mobilizer at D^-1 q, S^-1 u:

        R' = R,   p' = k p,   H' = [H_w; k H_v] S^-1,   bias' = [bias_w; k bias_v],   N' = D N S^-1        (1)
    """

    factor: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.factor, Symbol):
            return
        if set(self.units) & set(LENGTHS) or {x.removesuffix("/s") for x in self.speed_units} & set(LENGTHS):
            raise DescriptionError(
                f"{self.forward!r}: a factor that is a Parameter cannot scale its coordinates that are lengths"
            )

    def conditions(self) -> SX | None:
        own, forward = conditions_on(self.factor, positive=True), self.forward.conditions()
        return None if own is None or forward is None else ca.vertcat(own, forward)

    @cached_property
    def _D(self) -> Array:
        return np.array([self.factor if unit in LENGTHS else 1.0 for unit in self.units])

    @cached_property
    def _S(self) -> Array:
        return np.array(
            [self.factor if unit.removesuffix("/s") in LENGTHS else 1.0 for unit in self.speed_units]
        )

    def motion(self, t: SX, q: SX, u: SX) -> RelativeMotion:
        k, X = sx(self.factor), motion(self.forward, t, q / ca.DM(self._D), u / ca.DM(self._S))
        back = ca.diag(1 / ca.DM(self._S))
        return RelativeMotion(
            R=X.R,
            p=k * X.p,
            H_w=X.H_w @ back,
            H_v=k * X.H_v @ back,
            w_t=X.w_t,
            v_t=k * X.v_t,
            bias_w=X.bias_w,
            bias_v=k * X.bias_v,
        )  # (1)

    def N(self, q: SX) -> SX:
        return ca.diag(ca.DM(self._D)) @ self.forward.N(q / ca.DM(self._D)) @ ca.diag(1 / ca.DM(self._S))

    def N_inverse(self, q: SX) -> SX:
        inverse = self.forward.N_inverse(q / ca.DM(self._D))
        return ca.diag(ca.DM(self._S)) @ inverse @ ca.diag(1 / ca.DM(self._D))

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        return tuple(
            (d * low, d * high) for d, (low, high) in zip(self._D, self.forward.domains, strict=True)
        )

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        q, u = self.forward.sizes(length / valued(self.factor, {}))
        return (
            tuple(None if x is None else x / d for x, d in zip(q, self._D, strict=True)),
            tuple(None if x is None else x / d for x, d in zip(u, self._S, strict=True)),
        )

    def guess(self, R_FM: Array) -> Array | None:
        return None if (q := self.forward.guess(R_FM)) is None else self._D * q

    def starts(self, q: Array, X_FM: Transform) -> Iterator[Array]:
        return (
            self._D * x
            for x in self.forward.starts(q / self._D, Transform(X_FM.R, X_FM.p / valued(self.factor, {})))
        )

    def default_q(self) -> Array:
        return self._D * self.forward.default_q()

    def random_q(self, rng: np.random.Generator) -> Array:
        return self._D * self.forward.random_q(rng)

    def description(self) -> str:
        return f"ScaledMobilizer({self.forward.description()}, {text(self.factor)})"

    def _scaled(self, s: Array) -> Mobilizer:
        return ScaledMobilizer(self.forward, self.factor * self._one_factor(s, "its lengths"))

    def __repr__(self) -> str:
        return f"{self.forward!r}.scaled({self.factor})"
