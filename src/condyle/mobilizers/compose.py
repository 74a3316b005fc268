"""Two mobilizers in series without a body between them: compose."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers.base import Mobilizer, RelativeMotion
from condyle.native.tables.lookup import RowSource
from condyle.records import dataclass


def compose(first: Mobilizer, *others: Mobilizer) -> Mobilizer:
    """Mobilizers one after the other: M of the first is F of the second, and so on. The coordinates are those
    of all.

    `compose(Slider("x"), Pin("z"))` is a pin that rides on a slider, with no body between.
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

    H loses rank where a speed of b repeats what the speeds of a can do.
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
        for name, value in (
            ("coordinate_names", _joined(a.coordinate_names, b.coordinate_names)),
            ("speed_names", _joined(a.speed_names, b.speed_names)),
            ("quaternions", quaternions),
            ("named_by_user", a.named_by_user and b.named_by_user),
            ("uses_time", a.uses_time or b.uses_time),
            ("singular", singular),
            ("has_lengths", a.has_lengths or b.has_lengths),
        ):
            object.__setattr__(self, name, value)

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

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
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

    def N(self, q: ca.SX) -> ca.SX:
        q_a, q_b = self._split(q, self.a.nq)
        return ca.diagcat(self.a.N(q_a), self.b.N(q_b))

    def N_inverse(self, q: ca.SX) -> ca.SX:
        q_a, q_b = self._split(q, self.a.nq)
        return ca.diagcat(self.a.N_inverse(q_a), self.b.N_inverse(q_b))

    @staticmethod
    def _split(x: ca.SX, n: int) -> tuple[ca.SX, ca.SX]:
        """The first n entries and the others, columns also where there are none."""
        first, rest = ca.vertsplit(x, [0, n, x.numel()])
        return first, rest

    def check_parameters(self, values: Mapping[str, float]) -> None:
        for mobilizer in (self.a, self.b):
            mobilizer.check_parameters(values)

    def conditions(self) -> ca.SX | None:
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
