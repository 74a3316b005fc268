"""Impulses of many contacts by sweeps over them (projected Gauss-Seidel), one native program.

Trees of bodies that hang on ground separately are blocks of speeds u_a; a contact k is between two of them.
Its rows G_ka, G_kb (3 x n each: normal, two tangents) and what unit impulses do, Z_ka = M_a^-1 G_ka', are
known. One contact after the other, until nothing changes any more:

    v = G_ka u_a + G_kb u_b                                                                                (1)
    p_n <- max(p_n - w_n (v_n + s p_n - c), 0)      so that v_n + s p_n >= c, p_n >= 0, one of them equal  (2)
    p_t <- the point nearest to p_t - w_t v_t with |p_t| <= mu p_n                      Coulomb's friction (3)
    u_a <- u_a + Z_ka dp,   u_b <- u_b + Z_kb dp                                                           (4)

with w_n = 1 / (W_nn + s), s = 0 of hard contacts, and w_t = 1 / (W_11 + W_22) of W = G_ka Z_ka + G_kb Z_kb.
What changed is the largest |dp| / w of a sweep, a velocity.
"""
from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np

from condyle.native.programs.nodes import Get, Node, Put, Scan, Stream, While, kernel
from condyle.native.programs.program import Program

ROUNDS = 200_000
"""Of the loops that native code runs at a time: some 50 ms."""
NUMBERS = 7
"""Of a contact beside its rows: c, mu, w_n, w_t, s, a, b."""


@cache
def _program(n: int) -> Program:
    """For blocks of n speeds."""
    sizes = {"k": 1, "rows": 12 * n + NUMBERS, "p": 3, "a": 1, "b": 1, "u_a": n, "u_b": n, "most": 1,
             "busy": 1, "tolerance": 1, "done": 1}

    def places(rows: ca.SX) -> tuple[ca.SX, ca.SX]:
        return rows[-2], rows[-1]

    def update(rows: ca.SX, p: ca.SX, u_a: ca.SX, u_b: ca.SX, most: ca.SX
               ) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        G_a, G_b, Z_a, Z_b = (ca.reshape(rows[3 * n * i:3 * n * (i + 1)], n, 3).T for i in range(4))
        c, mu, w_n, w_t, s = (rows[12 * n + i] for i in range(5))
        v = G_a @ u_a + G_b @ u_b                                                            # (1)
        p_n = ca.fmax(p[0] - w_n * (v[0] + s * p[0] - c), 0)                                            # (2)
        free = p[1:] - w_t * v[1:]
        length = ca.norm_2(free)
        p_t = free * ca.if_else(length > mu * p_n, mu * p_n / ca.if_else(length > 0, length, 1), 1)  # (3)
        dp = ca.vertcat(p_n, p_t) - p
        moved = ca.fmax(ca.fabs(dp[0]) / w_n, ca.norm_2(dp[1:]) / w_t)
        return p + dp, u_a + Z_a.T @ dp, u_b + Z_b.T @ dp, ca.fmax(most, moved)              # (4)

    one: list[Node] = [
        Get("C", "k", "rows"), kernel(places, "rows", "a b", sizes, "places"),
        Get("P", "k", "p"), Get("U", "a", "u_a"), Get("U", "b", "u_b"),
        kernel(update, "rows p u_a u_b most", "p u_a u_b most", sizes, "update"),
        Put("p", "P", "k"), Put("u_a", "U", "a"), Put("u_b", "U", "b"),
        kernel(lambda k: k + 1, "k", "k", sizes, "next")]
    start = kernel(lambda: (ca.SX(0), ca.SX(0)), "", "k most", sizes, "first")
    again = kernel(lambda most, tolerance, done: (most > tolerance, done + 1), "most tolerance done",
                   "busy done", sizes, "again")
    tree = [kernel(lambda: (ca.SX(1), ca.SX(0)), "", "busy done", sizes, "begin"),
            While("busy", [start, Scan("contacts", one), again], "sweeps")]
    return Program(tree, sizes, streams={"C": Stream(12 * n + NUMBERS), "P": Stream(3), "U": Stream(n)},
                   counts=("contacts", "sweeps"))


class Sweeps:
    """Solves (1)-(4) again and again.

    Args:
        n: speeds of a block.
    """

    def __init__(self, n: int) -> None:
        self.n, self.program = n, _program(n)
        self.workspace = self.program.workspace()

    def rows(self, G: np.ndarray, Z: np.ndarray, blocks: np.ndarray, mu: np.ndarray, s: float) -> np.ndarray:
        """What the program reads: G and Z (m, 2, 3, n), blocks (m, 2), mu (m,); c is zero still."""
        m, n = len(G), self.n
        out = np.zeros((m, 12 * n + NUMBERS))
        out[:, :6 * n], out[:, 6 * n:12 * n] = G.reshape(m, -1), Z.reshape(m, -1)
        W = np.einsum("main,main->mi", G, Z)
        numbers = out[:, 12 * n:]
        numbers[:, 1] = mu
        numbers[:, 2] = 1 / np.maximum(W[:, 0] + s, 1e-300)
        numbers[:, 3] = 1 / np.maximum(W[:, 1] + W[:, 2], 1e-300)
        numbers[:, 4] = s
        numbers[:, 5:] = blocks
        return out

    def without_friction(self, rows: np.ndarray) -> np.ndarray:
        """The same rows, changed."""
        rows[:, 12 * self.n + 1] = 0.0
        return rows

    def __call__(self, rows: np.ndarray, c: np.ndarray, u: np.ndarray, p: np.ndarray, tolerance: float,
                 most: int) -> tuple[float, int]:
        """Change u (blocks, n) and p (m, 3) in place; the velocity that still changed in the last sweep, and
        how many there were.

        Args:
            rows: of `rows`.
            c: least normal velocities, shape (m,).
            u: speeds, those of p already added.
            p: impulses to begin with.
            tolerance: [m/s] when it ends.
            most: how many sweeps at most.
        """
        if not len(rows):
            return 0.0, 0
        rows[:, 12 * self.n] = c
        ws = self.workspace
        ws["tolerance"], ws["status"] = tolerance, 0
        self.program.start(ws, {"C": rows, "P": p, "U": u}, {"contacts": len(rows), "sweeps": most})
        while not self.program.advance(ws, ROUNDS):          # Ctrl-C comes between
            pass
        return float(ws["most"][0]), int(ws["done"][0])
