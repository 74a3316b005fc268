"""Any mobilizer between bodies of another size: ScaledMobilizer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.mobilizers.base import Mobilizer, RelativeMotion, Wrapper
from condyle.mobilizers.traced import motion
from condyle.mobilizers.units import LENGTHS
from condyle.records import dataclass
from condyle.spatial import Transform


@dataclass(frozen=True)
class ScaledMobilizer(Wrapper):
    """A mobilizer whose lengths are k times as large, coordinates and speeds in m, cm or mm with them.

    With D and S diagonal: k for coordinates and speeds that are lengths, 1 for others, and X, H, N those of
    the forward mobilizer at D^-1 q, S^-1 u:

        R' = R,   p' = k p,   H' = [H_w; k H_v] S^-1,   bias' = [bias_w; k bias_v],   N' = D N S^-1        (1)
    """

    factor: float

    @cached_property
    def _D(self) -> Array:
        return np.array([self.factor if unit in LENGTHS else 1.0 for unit in self.units])

    @cached_property
    def _S(self) -> Array:
        return np.array(
            [self.factor if unit.removesuffix("/s") in LENGTHS else 1.0 for unit in self.speed_units]
        )

    def motion(self, t: ca.SX, q: ca.SX, u: ca.SX) -> RelativeMotion:
        k, X = self.factor, motion(self.forward, t, q / ca.DM(self._D), u / ca.DM(self._S))
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

    def N(self, q: ca.SX) -> ca.SX:
        return ca.diag(ca.DM(self._D)) @ self.forward.N(q / ca.DM(self._D)) @ ca.diag(1 / ca.DM(self._S))

    def N_inverse(self, q: ca.SX) -> ca.SX:
        inverse = self.forward.N_inverse(q / ca.DM(self._D))
        return ca.diag(ca.DM(self._S)) @ inverse @ ca.diag(1 / ca.DM(self._D))

    @property
    def domains(self) -> tuple[tuple[float, float], ...]:
        return tuple(
            (d * low, d * high) for d, (low, high) in zip(self._D, self.forward.domains, strict=True)
        )

    def sizes(self, length: float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        q, u = self.forward.sizes(length / self.factor)
        return (
            tuple(None if x is None else x / d for x, d in zip(q, self._D, strict=True)),
            tuple(None if x is None else x / d for x, d in zip(u, self._S, strict=True)),
        )

    def guess(self, R_FM: Array) -> Array | None:
        return None if (q := self.forward.guess(R_FM)) is None else self._D * q

    def starts(self, q: Array, X_FM: Transform) -> Iterator[Array]:
        return (
            self._D * x for x in self.forward.starts(q / self._D, Transform(X_FM.R, X_FM.p / self.factor))
        )

    def default_q(self) -> Array:
        return self._D * self.forward.default_q()

    def random_q(self, rng: np.random.Generator) -> Array:
        return self._D * self.forward.random_q(rng)

    def description(self) -> str:
        return f"ScaledMobilizer({self.forward.description()}, {self.factor!r})"

    def _scaled(self, s: Array) -> Mobilizer:
        return ScaledMobilizer(self.forward, self.factor * self._one_factor(s, "its lengths"))

    def __repr__(self) -> str:
        return f"{self.forward!r}.scaled({self.factor:g})"
