"""Gaps, rows and the matrix W of unilateral constraints at a state: docs/theory/rigid_contact.md.

Z = M^-1 G',   W = G Z   with equality constraints and locks: the effect of impulses after the reaction of these

    Z <- Z - Z_e (G_e Z_e)^+ G_e Z,   Z_e = M^-1 G_e'                                                 (16)
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from condyle.constraints.unilateral import Unilateral
from condyle.integrate.rigid.held_accelerations import HeldAccelerations, in_few
from condyle.system.state import State
from condyle.system.system import System


class Modes:
    """Names and places of the discrete variables that record which constraints hold."""

    def __init__(self, system: System) -> None:
        model = system.compiled.model
        self.constraints: list[Unilateral] = list(model.unilateral.values())
        self.names = list(model.unilateral)
        place = {name: k for k, name in enumerate(system.discrete)}
        k = len(self.names)
        self.closed, self.stick, self.slide = np.zeros(k, int), np.full(k, -1), np.full((k, 3), -1)
        for i, (name, c) in enumerate(model.unilateral.items()):
            self.closed[i] = place[c.flags(name)["closed"]]
            if c.has_friction:
                self.stick[i] = place[c.flags(name)["stick"]]
                self.slide[i] = [place[v] for v in c.directions(name)]
        self.has_friction = self.stick >= 0
        order = [*model.forces, *model.constraints]
        self.switch = np.array([order.index(name) for name in self.names], int)
        self.discrete, self.enabled = model.tail["discrete"], model.tail["enabled"]
        rows, start = [], 0
        for each in model.constraints.values():
            rows.append(slice(start, start + each.size))
            start += each.size
        first = [rows[list(model.constraints).index(name)] for name in self.names]
        self.normal = np.array([s.start for s in first], int)
        self.mine = np.zeros(start, bool)  # rows of unilateral constraints
        for s in first:
            self.mine[s] = True

    def open(self, tail: np.ndarray) -> np.ndarray:
        """A tail (.., n) in which no unilateral constraint holds."""
        out = tail.copy()
        d = out[..., self.discrete]
        for places in (self.closed, self.stick[self.has_friction], self.slide[self.has_friction].ravel()):
            d[..., places] = 0.0
        return out


class ContactNumbers:
    """The input of a solver at one state.

    Attributes:
        gap, rate: shape (k,).
        slip: shape (k, 2).
        G, bias: shape (k, 3, nu), (k, 3).
        e, mu: shape (k,).
        frames: tangents t_1, t_2 of each in ground, shape (k, 2, 3).
    """

    def __init__(self, state: State, modes: Modes) -> None:
        self.state, self.modes, self.compiled = state, modes, state.system.compiled
        self.q, self.u, self.tail = state.q, state.u, modes.open(state.tail)
        found = [np.asarray(x) for x in self.compiled.function("unilateral_rows")(self.q, self.u, self.tail)]
        k, nu = len(modes.names), self.u.size
        self.gap, self.rate, self.slip = found[0], found[1], found[2].reshape(k, 2)
        self.G, self.bias = found[3].reshape(k, 3, nu), found[4].reshape(k, 3)
        self.e, self.mu = found[5], found[6]

    @cached_property
    def frames(self) -> np.ndarray:
        T = np.asarray(self.compiled.function("unilateral_tangents")(self.q, self.u, self.tail))
        return T.reshape(len(self.gap), 2, 3)

    @cached_property
    def _equality(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """G_e, Z_e and (G_e Z_e)^+ of (16)."""
        system = self.state.system
        if not len(self.modes.mine):
            return np.zeros((0, self.u.size)), np.zeros((self.u.size, 0)), np.zeros((0, 0))
        G = np.asarray(self.compiled.function("constraints.jacobian")(self.q, self.u, self.tail))
        G = G.reshape(-1, self.u.size)[~self.modes.mine]
        levels = np.array([level for _, level in system.constraints.equations()])[~self.modes.mine]
        G = G[levels != "acceleration"]
        Z = self.solve(G).T
        Y = G @ Z
        scale = 1 / np.sqrt(np.maximum(np.diag(Y), 1e-300))
        scale[np.diag(Y) <= 1e-14 * np.diag(Y).max(initial=0.0)] = 0.0
        return (
            G,
            Z,
            scale[:, None] * np.linalg.pinv(scale[:, None] * Y * scale, rcond=1e-12, hermitian=True) * scale,
        )

    def solve(self, f: np.ndarray) -> np.ndarray:
        """M^-1 f of rows (m, nu), locked speeds held."""
        if not len(f):
            return np.zeros_like(f)
        m, function = len(f), self.compiled.function("solve_mass_matrix")
        return in_few(function, np.tile(self.q, (m, 1)), np.ascontiguousarray(f), np.tile(self.tail, (m, 1)))[
            0
        ]

    def response(self, rows: np.ndarray) -> np.ndarray:
        """Z of (16) of rows G (m, nu): changes of speeds by unit impulses, shape (m, nu)."""
        Z = self.solve(rows)
        G_e, Z_e, inverse = self._equality
        return Z - (Z @ G_e.T) @ inverse @ Z_e.T if len(G_e) else Z  # (16)

    @cached_property
    def free(self) -> np.ndarray:
        """udot without unilateral constraints, shape (nu,)."""
        return HeldAccelerations(self.state.system).at(self.state, self.tail)[0]

    def accelerations(self) -> np.ndarray:
        """gddot and rates of slip without unilateral constraints, shape (k, 3)."""
        return self.G @ self.free + self.bias
