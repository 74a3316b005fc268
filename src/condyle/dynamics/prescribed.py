"""Prescribed motions in a system: what they make of q, u and udot, and where they act: docs/theory/motion.md.

A motion acts on a speed while it is enabled and the speed is not locked; on coordinates while it acts on all of their speeds.
Flags are 0 or 1 at runtime: one program serves every set.
"""
from __future__ import annotations

import casadi as ca

from condyle.tree.body import Body
from condyle.tree.tree import Tree


class Prescription:
    """The motions of a tree at one state.

    Args:
        enabled: 0/1, one a body of tree.driven.
        lock: 0, or infinity where a speed is locked, (nu,).   held: the acceleration of locked speeds, else 0, (nu,).

    Attributes:
        lock: 0, or infinity where a speed is held: locked or prescribed.
    """

    def __init__(self, tree: Tree, t: ca.SX, q: ca.SX, u: ca.SX, enabled: ca.SX, lock: ca.SX, held: ca.SX) -> None:
        self.tree, self.t, self.q, self.u, self._held = tree, t, q, u, held
        driven = enumerate(tree.driven)
        self.acts = {k: ca.logic_and(enabled[i], lock[k] == 0) for i, body in driven for k in body.prescribed_speeds}
        self.lock = _changed(lock, {k: ca.if_else(flag, ca.inf, lock[k]) for k, flag in self.acts.items()})

    def _given(self, body: Body) -> list[list[ca.SX]]:
        """Coordinates, speeds and accelerations that a motion gives."""
        assert body.motion is not None
        return [ca.vertsplit(x) if x.numel() else [] for x in body.motion.closure(self.t, self.q[body.q], self.u[body.u])]

    def held(self) -> ca.SX:
        """Accelerations of held speeds, 0 where a speed is free, (nu,)."""
        out = {k: ca.if_else(self.acts[k], a, self._held[k])
               for body in self.tree.driven for k, a in zip(body.prescribed_speeds, self._given(body)[2], strict=True)}
        return _changed(self._held, out)

    def state(self) -> tuple[ca.SX, ca.SX]:
        """q and u with what motions prescribe in its place."""
        q: dict[int, ca.SX] = {}
        u: dict[int, ca.SX] = {}
        for body in self.tree.driven:
            motion, first = body.motion, body.q.start
            assert motion is not None
            coordinates, speeds, _ = self._given(body)
            for rows, columns in motion.parts:
                for i in rows:
                    if i in motion.coordinates:
                        acts = [self.acts[body.u.start + j] for j in columns]
                        flag = acts[0] if len(acts) == 1 else ca.logic_all(ca.vertcat(*acts))
                        q[first + i] = ca.if_else(flag, coordinates[motion.coordinates.index(i)], self.q[first + i])
            if speeds:
                u |= {k: ca.if_else(self.acts[k], x, self.u[k]) for k, x in zip(body.prescribed_speeds, speeds, strict=True)}
        return _changed(self.q, q), _changed(self.u, u)


def _changed(x: ca.SX, entries: dict[int, ca.SX]) -> ca.SX:
    return ca.vertcat(*(entries.get(k, old) for k, old in enumerate(ca.vertsplit(x)))) if entries else x
