"""A heat bath: docs/theory/forces.md (19)-(22). Simbody's Force::Thermostat; Martyna, Klein and Tuckerman
(1992)."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces.base import Law
from condyle.laws.described import quantity, sx
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace import Number
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class NoseHooverThermostat(Law):
    """A chain of m Nose-Hoover thermostats that controls the mean temperature of the system.

        f = -zeta_0 M u,   T = u' M u / (N kB)                                               (19)
        zetadot_0 = (T / T_b - 1) / t^2 - zeta_0 zeta_1                                      (20)
        zetadot_k = n zeta_{k-1}^2 - 1 / t^2 - zeta_k zeta_{k+1},   n = N for k = 1, else 1
        etadot_k = zeta_k                                                                    (21)

    The last of the chain has no follower. zeta [1/s] and eta are its auxiliary states: zeta0, ..., eta0, ...
    Energy plus

        E_b = kB T_b (t^2 (N zeta_0^2 + sum zeta_k^2) / 2 + N eta_0 + sum eta_k)             (22)

    is conserved if no other force does work: `bath_energy`.

    Args:
        temperature: T_b [K], above 0.
        relaxation_time: t [s], above 0.
        chain: m, at least 1.
        dofs: N, number of degrees of freedom in thermal equilibrium; all speeds by default. A system free in
            space has six fewer.
        boltzmann: kB [J/K].
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    temperature: Annotated[Number, quantity("K", lowest=0.0, positive=True)]
    relaxation_time: Annotated[Number, quantity("s", lowest=0.0, positive=True)]
    chain: int = field(default=3, kw_only=True)
    dofs: int | None = field(default=None, kw_only=True)
    boltzmann: float = field(default=1.380649e-23, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, least in (("chain", 1), ("dofs", 1)):
            value = getattr(self, name)
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if not (whole and value >= least) and not (name == "dofs" and value is None):
                raise DescriptionError(
                    f"NoseHooverThermostat: {name} must be a whole number, at least {least}, got {value!r}"
                )
        if not (isinstance(self.boltzmann, (int, float)) and 0 < self.boltzmann < np.inf):
            raise DescriptionError(
                f"NoseHooverThermostat: boltzmann must be one number above 0 [J/K], got {self.boltzmann!r}"
            )

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        return tuple((f"{name}{k}", 0.0) for name in ("zeta", "eta") for k in range(self.chain))

    def check(self, tree: Tree) -> None:
        if self.dofs is not None and self.dofs > max(tree.nu, 1):
            raise DescriptionError(f"{self!r}: dofs = {self.dofs}, but the system has {tree.nu} speeds")

    def apply(self, s: View, loads: Loads) -> None:
        f = -s.state_variable(0) * s.generalized_momentum()  # (19)
        for k, speed in enumerate(s.tree.speeds):
            loads.add_mobility(speed, f[k])

    def rates(self, s: View) -> list[ca.SX]:
        m, per_t2, n = self.chain, 1 / sx(self.relaxation_time) ** 2, self.dofs or s.tree.nu
        zeta = [s.state_variable(k) for k in range(m)]
        p = s.generalized_momentum()
        T = sum((s.speed(name) * p[k] for k, name in enumerate(s.tree.speeds)), ca.SX(0)) / (
            n * self.boltzmann
        )
        rate = [(T / sx(self.temperature) - 1) * per_t2]  # (20)
        rate += [(n if k == 1 else 1) * zeta[k - 1] ** 2 - per_t2 for k in range(1, m)]
        return [rate[k] - (zeta[k] * zeta[k + 1] if k + 1 < m else 0) for k in range(m)] + zeta  # (21)

    def bath_energy(
        self, z: ArrayLike, dofs: int, temperature: float | None = None, relaxation_time: float | None = None
    ) -> Array:
        """E_b of (22) [J], shape (...), from its own states z, shape (..., 2 chain). Where temperature and
        relaxation time are Parameters, give their values."""
        T = self.temperature if temperature is None else temperature
        t = self.relaxation_time if relaxation_time is None else relaxation_time
        if not all(isinstance(x, (int, float)) for x in (T, t)):
            raise DescriptionError(
                "bath_energy: temperature and relaxation_time are Parameters; give their values"
            )
        zeta, eta = np.split(np.asarray(z, dtype=float), 2, axis=-1)
        n = np.array([dofs] + [1] * (self.chain - 1))
        return self.boltzmann * T * (t**2 * (n * zeta**2).sum(-1) / 2 + (n * eta).sum(-1))  # (22)
