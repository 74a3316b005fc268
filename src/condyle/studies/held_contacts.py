"""Compliant contacts that are treated as rigid for an instant where they touch (sherman2011 section 5.3).

In each frame, the two bodies of a contact that overlaps have no acceleration relative to each other at its point P:

    a(P on b) - a(P on a) = G udot + g = 0,      G = J_b(P) - J_a(P)                                       (1)

along the normal, or along all three axes. udot is an affine function of generalized forces, with any other
constraints, and responds with R = udot(G') - udot(0). A cause with acceleration udot_i then has

    (G R) lambda_i = -G udot_i,     udot_i <- udot_i + R lambda_i                                          (2)

and velocities also have -g on the right. Contacts that share a load share it by least squares.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.records import dataclass
from condyle.studies.motion.motion import Motion

WORDS = ("contacts", "normals")
ROUNDING = 1e-10
"""Contacts are redundant if a singular value of G R is below this share of the largest."""


@dataclass(frozen=True, eq=False)
class HeldContacts:
    """Constraints that hold the bodies of a motion.

    Attributes:
        names: names of the contacts.
        G: rows of (1), zero where contacts are apart, shape (m, n, k, nu): k is 1 or 3.
        g: accelerations at udot = 0, shape (m, n, k).
        axes: axes along which they are held, in ground, shape (m, n, k, 3).
    """

    names: tuple[str, ...]
    G: Array
    g: Array
    axes: Array

    @classmethod
    def of(cls, motion: Motion, word: str) -> HeldContacts:
        """Contacts of a motion, held along all axes ("contacts") or their normals."""
        system, model = motion.system, motion.system.compiled.model
        names = tuple(model.contacts)
        if not names:
            raise DescriptionError(
                f"induced_accelerations: rigid={word!r}: the system has no compliant contacts; give {{force: constraint}}"
            )
        batch: Any = {"state": motion._batch()}
        ask = lambda operator, *given: system._run(operator, (motion.q, *given), batch)
        touches = ask("contacts.depths")[:, : len(names)] > 0
        P, n = (ask(f"contacts.{what}")[:, : len(names)] for what in ("points", "normals"))
        J = ask("kinematics.system_jacobian")
        bodies = {b.name: b.index for b in system.bodies}
        still = np.zeros_like(motion.u)
        G, g = np.zeros((*P.shape, system.nu)), np.zeros(P.shape)
        for k, law in enumerate(model.contacts.values()):
            for sign, surface in zip((-1, 1), law.surfaces(), strict=True):
                name = surface.body
                if name not in bodies:  # ground
                    continue
                r = P[:, k] - system.body_pose(motion.q, name, **batch).p
                V = (J[:, bodies[name]] @ motion.u[..., None])[..., 0]
                A = system.body_acceleration(motion.q, motion.u, still, name, **batch)
                w, alpha, a = V[:, :3], A[:, :3], A[:, 3:]
                G[:, k] += sign * (
                    J[:, bodies[name], 3:] + np.cross(J[:, bodies[name], :3], r[..., None], axis=1)
                )
                g[:, k] += sign * (a + np.cross(alpha, r) + np.cross(w, np.cross(w, r)))
        axes = n[:, :, None] if word == "normals" else np.broadcast_to(np.eye(3), (*n.shape[:2], 3, 3))
        on = touches[..., None].astype(float)
        return cls(names, on[..., None] * (axes @ G), on * (axes @ g[..., None])[..., 0], axes)

    def hold(self, udot: Array, answer: Callable[[Array], Array]) -> tuple[Array, Array]:
        """Accelerations of causes (m, c, nu), velocities first, with the contacts held, and forces on the second
        surfaces, in ground, (m, c, n, 3).

        Args:
            udot: accelerations without the held contacts.
            answer: function from generalized forces (m, j, nu) to accelerations (m, j, nu).
        """
        m, n, k, nu = self.G.shape
        G = self.G.reshape(m, n * k, nu)
        found = answer(np.concatenate([np.zeros((m, 1, nu)), G], axis=1))
        R = found[:, 1:] - found[:, :1]
        right = -udot @ np.swapaxes(G, 1, 2)
        right[:, 0] -= self.g.reshape(m, n * k)
        Y = G @ np.swapaxes(R, 1, 2)
        lost = ~np.isfinite(udot).all(axis=(1, 2))
        Y[lost], right[lost] = 0.0, 0.0
        lambda_ = right @ np.linalg.pinv(Y, ROUNDING, hermitian=True)  # (2)
        return udot + lambda_ @ R, np.einsum("mcnk,mnkx->mcnx", lambda_.reshape(m, -1, n, k), self.axes)
