"""Prescribed motions in a system: what they make of q, u and udot, and where they act: docs/theory/motion.md.

A motion acts on a speed while it is enabled and the speed is not locked; on coordinates while it acts on all
of their speeds. Flags are 0 or 1 at runtime: one program serves every set.
"""

from __future__ import annotations

import casadi as ca

from condyle.arrays import SX
from condyle.tree.body import Body
from condyle.tree.tree import Tree


class Prescription:
    """The motions of a tree at one state.

    Args:
        enabled: 0/1, one per body of tree.driven.
        lock: 0, or infinity where a speed is locked, (nu,).
        held: the acceleration of locked speeds, else 0, (nu,).

    Attributes:
        lock: 0, or infinity where a speed is held: locked or prescribed.
    """

    def __init__(self, tree: Tree, t: SX, q: SX, u: SX, enabled: SX, lock: SX, held: SX) -> None:
        self.tree, self.t, self.q, self.u = tree, t, q, u
        self._enabled, self._lock, self._held = enabled, lock, held
        driven = enumerate(tree.driven)
        self.acts = {
            k: ca.logic_and(enabled[i], lock[k] == 0) for i, body in driven for k in body.prescribed_speeds
        }
        self.lock = _changed(lock, {k: ca.if_else(flag, ca.inf, lock[k]) for k, flag in self.acts.items()})

    def _given(self, body: Body) -> list[list[SX]]:
        """Coordinates, speeds and accelerations that a motion gives."""
        assert body.motion is not None
        return [
            ca.vertsplit(x) if x.numel() else []
            for x in body.motion.closure(self.t, self.q[body.q], self.u[body.u])
        ]

    def held(self) -> SX:
        """Accelerations of held speeds, 0 where a speed is free, (nu,)."""
        out = {
            k: ca.if_else(self.acts[k], a, self._held[k])
            for body in self.tree.driven
            for k, a in zip(body.prescribed_speeds, self._given(body)[2], strict=True)
        }
        return _changed(self._held, out)

    def _prescribed(self) -> tuple[dict[int, tuple[SX, SX]], dict[int, tuple[SX, SX]]]:
        """Coordinates and speeds that are prescribed: by number, whether, and what."""
        q: dict[int, tuple[ca.SX, ca.SX]] = {}
        u: dict[int, tuple[ca.SX, ca.SX]] = {}
        for body in self.tree.driven:
            motion = body.motion
            assert motion is not None
            coordinates, speeds, _ = self._given(body)
            for rows, columns in motion.parts if coordinates else ():
                acts = [self.acts[body.u.start + j] for j in columns if j in motion.speeds]
                flag = acts[0] if len(acts) == 1 else ca.logic_all(ca.vertcat(*acts))
                q |= {
                    body.q.start + i: (flag, coordinates[motion.coordinates.index(i)])
                    for i in rows
                    if i in motion.coordinates
                }
            if speeds:
                u |= {k: (self.acts[k], x) for k, x in zip(body.prescribed_speeds, speeds, strict=True)}
        return q, u

    def state(self) -> tuple[SX, SX]:
        """q and u with what motions prescribe in its place."""
        q, u = self._prescribed()
        return (
            _changed(self.q, {i: ca.if_else(flag, x, self.q[i]) for i, (flag, x) in q.items()}),
            _changed(self.u, {k: ca.if_else(flag, x, self.u[k]) for k, (flag, x) in u.items()}),
        )

    def followed(self) -> Prescription:
        """The same motions at the state that they prescribe."""
        return Prescription(self.tree, self.t, *self.state(), self._enabled, self._lock, self._held)

    def without(self, e: SX) -> SX:
        """Errors of q, u and more with zeros where q and u are prescribed."""
        q, u = self._prescribed()
        flags = {i: flag for i, (flag, _) in q.items()} | {
            self.tree.nq + k: flag for k, (flag, _) in u.items()
        }
        return _changed(e, {i: ca.if_else(flag, 0, e[i]) for i, flag in flags.items()})


def _changed(x: SX, entries: dict[int, SX]) -> SX:
    return ca.vertcat(*(entries.get(k, old) for k, old in enumerate(ca.vertsplit(x)))) if entries else x
