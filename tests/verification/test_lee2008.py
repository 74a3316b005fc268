"""Appendix A of lee2008 as an independent program: the articulated-body algorithm for spline joints, in its
own coordinates.

Everything is in body frames {i}, angular first. A joint is a product of exponentials of twists, G = exp(g1
phi1) .. exp(gm phim).

  s = g1 phi1',  then for k = 2 .. m:  ds = gk phik'' + Ad^-1 (ds) + ad_s gk phik'
                                       s = gk phik' + Ad^-1 s                            appendix B
  v_i = Ad_G^-1 v_{i-1} + S qdot,   c_i = S' qdot^2 + ad_v (S qdot)                                 (11), (14)
  inward and outward recursions of appendix A, gravity as an acceleration of ground
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import condyle as cd
from tests.oracles import cross_matrix


def hat(g):
    return np.block([[cross_matrix(g[:3]), g[3:, None]], [np.zeros((1, 4))]])


def Ad(T):
    R, p = T[:3, :3], T[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [cross_matrix(p) @ R, R]])  # (2)


def ad(g):
    return np.block(
        [[cross_matrix(g[:3]), np.zeros((3, 3))], [cross_matrix(g[3:]), cross_matrix(g[:3])]]
    )  # (4)


class Curve:
    """A spline joint: twists g (m, 6), |w| = 1, and the functions phi_k = a_k q + b_k sin(c_k q + d_k)."""

    def __init__(self, rng):
        self.g = rng.normal(size=(3, 6))
        self.g[:, :3] /= np.linalg.norm(self.g[:, :3], axis=1, keepdims=True)
        self.g[:, 3:] *= 0.3
        self.a = np.array([1.0, 0.4, -0.3])
        self.b, self.c, self.d = rng.uniform(0.1, 0.3, 3), rng.uniform(0.5, 2, 3), rng.uniform(-3, 3, 3)

    def phi(self, q):
        """phi, phi', phi'', shape (3, m)."""
        wave = self.c * q + self.d
        return (
            self.a * q + self.b * np.sin(wave),
            self.a + self.b * self.c * np.cos(wave),
            -self.b * self.c**2 * np.sin(wave),
        )

    def transform(self, q):
        """What a user writes: the exponentials in closed form, with NumPy's functions only."""
        R, p = np.eye(3), np.zeros(3)
        for k, g in enumerate(self.g):
            phi = self.a[k] * q + self.b[k] * np.sin(self.c[k] * q + self.d[k])
            K, v = cross_matrix(g[:3]), g[3:]
            R_k = np.eye(3) + np.sin(phi) * K + (1 - np.cos(phi)) * (K @ K)
            p_k = phi * v + (1 - np.cos(phi)) * (K @ v) + (phi - np.sin(phi)) * (K @ K @ v)
            R, p = R @ R_k, p + R @ p_k
        return R, p

    def derivatives(self, q):
        """G, S and dS/dq by appendix B."""
        phi, phi1, phi2 = self.phi(q)
        G, s, ds = np.eye(4), np.zeros(6), np.zeros(6)
        for k, g in enumerate(self.g):
            E = expm(hat(g) * phi[k])
            back = Ad(np.linalg.inv(E))
            s_back = back @ s
            ds = g * phi2[k] + back @ ds + ad(s_back) @ g * phi1[k]
            s = g * phi1[k] + s_back
            G = G @ E
        return G, s, ds


def inertia(m, r, I):
    """(8): I about the frame's origin. Angular first: [I, m [r]; m [r]', m 1]."""
    c = cross_matrix(r)
    return np.block([[I - m * c @ c, m * c], [m * c.T, m * np.eye(3)]])


def appendix_a(joints, placed, bodies, gravity, q, qdot, tau):
    """qddot of a chain. placed: X_PF (4, 4) of each joint; bodies: (m, r, I about the mass center)."""
    n = len(joints)
    G, S, v, c = [], [], [], []
    for i, joint in enumerate(joints):
        X, s, ds = joint.derivatives(q[i])
        G.append(placed[i] @ X)
        S.append(s)
        v.append(Ad(np.linalg.inv(G[i])) @ (v[-1] if v else np.zeros(6)) + s * qdot[i])  # (11)
        c.append(ds * qdot[i] ** 2 + ad(v[i]) @ s * qdot[i])  # (14)
    J = [inertia(*body) for body in bodies]
    J_a, b = [None] * n, [None] * n
    for i in range(n - 1, -1, -1):
        J_a[i], b[i] = J[i], -ad(v[i]).T @ J[i] @ v[i]
        if i + 1 < n:
            k = i + 1
            A, Omega = Ad(np.linalg.inv(G[k])), S[k] @ J_a[k] @ S[k]
            JS = J_a[k] @ S[k]
            push = J_a[k] @ c[k] + b[k]
            J_a[i] = J_a[i] + A.T @ (J_a[k] - np.outer(JS, JS) / Omega) @ A
            b[i] = b[i] + A.T @ (push + JS * (tau[k] - S[k] @ push) / Omega)
    qddot, a = np.zeros(n), np.concatenate([np.zeros(3), -gravity])
    for i in range(n):
        a = Ad(np.linalg.inv(G[i])) @ a
        qddot[i] = (tau[i] - S[i] @ (J_a[i] @ (a + c[i]) + b[i])) / (S[i] @ J_a[i] @ S[i])  # (44)
        a = a + c[i] + S[i] * qddot[i]
    return qddot


@pytest.mark.parametrize("n", [1, 4])
def test_chain_of_spline_joints(n, evidence):
    rng = np.random.default_rng(n)
    joints = [Curve(rng) for _ in range(n)]
    gravity = rng.uniform(-10, 10, 3)
    placed, bodies = [], []
    system = cd.System(gravity=gravity)
    for i, joint in enumerate(joints):
        twist = rng.normal(size=6)
        twist[3:] *= 0.2
        X = expm(hat(twist))
        m, r, I = rng.uniform(0.5, 2), rng.uniform(-0.2, 0.2, 3), np.diag([0.02, 0.03, 0.04])
        placed.append(X)
        bodies.append((m, r, I))
        mobilizer = cd.Custom((f"q{i}",), joint.transform)
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            mobilizer,
            X_PF=cd.Transform(X[:3, :3], X[:3, 3]),
            mass=m,
            com=r,
            inertia=I,
        )
    q, u, tau = rng.uniform(-1, 1, (3, 20, n))
    expected = np.array([appendix_a(joints, placed, bodies, gravity, *state) for state in zip(q, u, tau)])
    # cond(M) of these chains is below 1e4: some 1e-12 is rounding.
    evidence(
        "chains of spline joints against appendix A of lee2008, relative",
        np.abs(system.forward_dynamics(q, u, tau) - expected).max() / np.abs(expected).max(),
        1e-10,
    )
