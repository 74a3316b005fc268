"""Mechanics of a plan with dense matrices: every body's path, then Newton, Euler and d'Alembert. NumPy only.

  X_GB = X_GP X_PF X_FM X_BM^-1                                                              (1)
  partial velocities: (w_k, v_k) of each mass center = velocity at u = e_k minus velocity at u = 0   (2)
  M = sum_B  m v_k . v_j + w_k . I w_j                                                       (3)
  tau_k = sum_B  v_k . m (a_cm - g) + w_k . (I alpha + w x I w)                              (4)
Time is held in the partial velocities, not in the accelerations, so that (4) holds for rheonomic joints too.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.paths import Path
from tests.oracles.trees import Plan


class Mechanics:
    """Answers for a plan. q (..., nq); u, udot, tau (..., nu); t (...)."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.nu = sum(part.joint.counts[1] for part in plan.parts)

    def paths(self, q, u, udot, t=0.0) -> list[Path]:
        """X_GB with two derivatives, for every body."""
        batch = np.broadcast_shapes(np.shape(q)[:-1], np.shape(u)[:-1], np.shape(udot)[:-1], np.shape(t))
        q, u, udot = (np.broadcast_to(x, batch + np.shape(x)[-1:]) for x in (q, u, udot))
        t = np.broadcast_to(t, batch)
        X_GB, iq, iu = [], 0, 0
        for part in self.plan.parts:
            nq, nu = part.joint.counts
            X_FM = part.joint.path(t, q[..., iq : iq + nq], u[..., iu : iu + nu], udot[..., iu : iu + nu])
            X = Path.of(*part.X_PF) @ X_FM @ Path.of(*part.X_BM).inverse()
            X_GB.append(X if part.parent < 0 else X_GB[part.parent] @ X)  # (1)
            iq, iu = iq + nq, iu + nu
        return X_GB

    def centers(self, q, u, udot, t=0.0):
        """Velocities and accelerations (..., bodies, 6) of mass centers, and inertias (..., bodies, 3, 3) in
        ground."""
        V, A, I = [], [], []
        for part, X in zip(self.plan.parts, self.paths(q, u, udot, t)):
            at_com = X @ Path.of(np.eye(3), part.com)
            V.append(at_com.velocity())
            A.append(at_com.acceleration())
            I.append(X.R @ part.inertia @ np.swapaxes(X.R, -1, -2))
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in V))
        V, A = (np.stack([np.broadcast_to(x, (*batch, 6)) for x in xs], -2) for xs in (V, A))
        return V, A, np.stack([np.broadcast_to(x, (*batch, 3, 3)) for x in I], -3)

    def partials(self, q, t=0.0):
        """(2), shape (..., nu, bodies, 6)."""
        u = np.concatenate([np.zeros((1, self.nu)), np.eye(self.nu)])
        V = self.centers(np.asarray(q)[..., None, :], u, np.zeros(self.nu), np.asarray(t)[..., None])[0]
        return V[..., 1:, :, :] - V[..., :1, :, :]

    @property
    def masses(self):
        return np.array([part.mass for part in self.plan.parts])

    def mass_matrix(self, q, t=0.0):
        J = self.partials(q, t)
        I = self.centers(q, np.zeros(self.nu), np.zeros(self.nu), t)[2]
        return np.einsum("...kbi,b,...jbi->...kj", J[..., 3:], self.masses, J[..., 3:]) + np.einsum(
            "...kbi,...bil,...jbl->...kj", J[..., :3], I, J[..., :3]
        )  # (3)

    def inverse_dynamics(self, q, u, udot, t=0.0):
        J = self.partials(q, t)
        V, A, I = self.centers(q, u, udot, t)
        force = self.masses[:, None] * (A[..., 3:] - self.plan.gravity)
        Iw, Ialpha = ((I @ x[..., :3, None])[..., 0] for x in (V, A))
        moment = Ialpha + np.cross(V[..., :3], Iw)
        return np.einsum("...kbi,...bi->...k", J, np.concatenate([moment, force], axis=-1))  # (4)

    def forward_dynamics(self, q, u, tau, t=0.0):
        h = self.inverse_dynamics(q, u, np.zeros(self.nu), t)
        return np.linalg.solve(self.mass_matrix(q, t), (tau - h)[..., None])[..., 0]

    def energy(self, q, u, t=0.0):
        """Kinetic and potential energy [J], shape (...)."""
        V, _, I = self.centers(q, u, np.zeros(self.nu), t)
        Iw = (I @ V[..., :3, None])[..., 0]
        kinetic = 0.5 * ((V[..., :3] * Iw).sum((-1, -2)) + (self.masses * (V[..., 3:] ** 2).sum(-1)).sum(-1))
        X = self.paths(q, u, np.zeros(self.nu), t)
        potential = -sum(
            part.mass * (x.R @ part.com + x.p) @ self.plan.gravity for part, x in zip(self.plan.parts, X)
        )
        return kinetic, potential
