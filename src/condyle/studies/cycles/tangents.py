"""Small changes of a state: x = (theta, u, z), with dq = N dtheta along the manifold, nu + nu + nz numbers.

    q + dq = q + N dtheta, quaternions back to unit length;     dtheta = N^+ dq                            (1)

On constraints p(t, q) = 0, v(t, q, u) = 0 a change dx is one of

    p_q N dtheta = 0,   v_q N dtheta + v_u du = 0                                                          (2)

that is zero in locked variables and in integrals of measures.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array, vertcat
from condyle.integrate.events import StateFunctions
from condyle.laws.leaves import Leaf
from condyle.mobilizers import motion
from condyle.model.symbols import Symbols
from condyle.system.state import State
from condyle.system.system import System
from condyle.trace import Traced

Law = tuple[str, Traced, tuple[Leaf, ...]]
"""The name of a function in errors, the function, and its requests to the state."""
SMALL = 1e-9
"""Singular values below this fraction of the largest count as zero."""


class Differentiated(StateFunctions):
    """Traced functions of the state, with exact derivatives along (1) and by Parameters."""

    label = "differentiated"

    @property
    def directions(self) -> int:
        return 2 * self.model.tree.nu + self.model.nz + len(self.model.tree.parameters)

    def _outputs(self) -> list[tuple[str, int]]:
        return [*super()._outputs(), ("dg", self.size * self.directions)]

    def _results(self, s: Symbols) -> list[ca.SX]:
        (g,) = super()._results(s)
        rate = [motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u]).qdot for b in self.model.tree.owners]
        N = ca.jacobian(vertcat(rate), s["u"])
        wrt = (s["u"], s.z, s["parameters"])
        dg = ca.horzcat(ca.jacobian(g, s["q"]) @ N, *(ca.jacobian(g, x) for x in wrt))
        return [ca.densify(g), ca.vec(ca.densify(dg).T)]

    def _symbols(self) -> Symbols:
        return Symbols(self.model, direct=True)

    def at(self, state: State) -> tuple[Array, Array]:
        """Values (size,) and derivatives (size, nu + nu + nz)."""
        g, dg, _ = self.by_all(state)
        return g, dg

    def by_all(self, state: State) -> tuple[Array, Array, Array]:
        """The same, and derivatives by Parameters (size, k)."""
        g, dg = self.function(state.q, state.u, state.tail)
        x, p = np.split(
            dg.reshape(self.size, self.directions), [self.directions - len(state.parameters)], axis=1
        )
        return g, x, p


def options_of(state: State) -> dict[str, Any]:
    """Options of operators beside q and u."""
    return {
        name: getattr(state, name)
        for name in ("t", "z", "inputs", "discrete", "parameters", "disabled", "locked")
    }


def N_of(state: State) -> Array:
    """N, shape (nq, nu): qdot = N u."""
    system = state.system
    return np.asarray(system.qdot(np.tile(state.q, (system.nu, 1)), np.eye(system.nu), **options_of(state))).T


def displaced(state: State, dx: Array) -> State:
    """The state changed by dx of (1); not projected to constraints."""
    system = state.system
    nu, q = system.nu, state.q + N_of(state) @ dx[: system.nu]
    return state.replace(
        q=system.compiled.normalized(q), u=state.u + dx[nu : 2 * nu], z=state.z + dx[2 * nu :]
    )


def change(a: State, b: State) -> Array:
    """dx of (1) from a to b, to first order in their distance; zero for measures."""
    dz = np.where(measured(a.system), 0.0, b.z - a.z)
    return np.concatenate([np.linalg.pinv(N_of(a)) @ (b.q - a.q), b.u - a.u, dz])


def measured(system: System) -> NDArray[np.bool_]:
    """Which of z are integrals of measures, on which nothing depends, shape (nz,)."""
    names = [name.partition(".")[0] for name in system.state_variables]
    return np.array([name in system.measures for name in names], dtype=bool)


def basis(state: State) -> Array:
    """An orthonormal basis of the changes (2), shape (nu + nu + nz, d)."""
    system = state.system
    nu, n = system.nu, 2 * system.nu + len(state.z)
    free = np.flatnonzero(
        ~np.concatenate([np.tile(system.compiled.tails.held(state.tail), 2), measured(system)])
    )
    out = np.eye(n)[:, free]
    if not system.constraints:
        return out
    J = system.jacobian("constraints.errors", state.q, state.u, wrt=("q", "u"), **options_of(state))
    C = np.hstack([J["q"], J["u"], np.zeros((len(J["q"]), n - 2 * nu))])[:, free]
    _, s, Vt = np.linalg.svd(C)
    rank = int(np.sum(s > SMALL * s.max(initial=0.0)))
    return np.asarray(out @ Vt[rank:].T)
