"""Drivers: prescribed motions of joints and locks, which say what a speed's acceleration is:
docs/theory/maximal.md (19), (30).

A motion acts on a speed while it is enabled and the speed is not locked; on coordinates while it acts on all
of their speeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.maximal.numbers import Numbers
from condyle.records import dataclass
from condyle.tree.tree import Tree


@dataclass(frozen=True)
class DriverValues:
    """What drivers say at one state.

    Attributes:
        driven: which speeds are locked or prescribed, shape (nu,).
        udot: their accelerations, zero elsewhere, shape (nu,).
        has_u: speeds whose value is prescribed.
        u: these values, shape (nu,).
        apart: the change of speeds' coordinates that leads to prescribed coordinates, to first order, shape
            (nu,).
        off: the largest difference of a coordinate from what is prescribed.
    """

    driven: NDArray[np.bool_]
    udot: Array
    has_u: NDArray[np.bool_]
    u: Array
    apart: Array
    off: float


class Drivers:
    """The motions of a tree. before: how many switches of forces and constraints come before those of
    motions."""

    def __init__(self, tree: Tree, before: int) -> None:
        self.tree, self.before = tree, before
        self._values = self._written() if tree.driven else None

    def _written(self) -> Numbers:
        """q, u, t -> what motions say of q, u and udot, at its place in vectors of all, and N of all
        bodies."""
        tree = self.tree
        s = {
            "q": ca.SX.sym("q", tree.nq),
            "u": ca.SX.sym("u", tree.nu),
            "t": ca.SX.sym("t"),
            "inputs": tree.inputs.symbols,
            "parameters": ca.vertcat(tree.parameters.symbols, tree.discrete.symbols),
        }
        q, u, udot, N = ca.SX(tree.nq, 1), ca.SX(tree.nu, 1), ca.SX(tree.nu, 1), ca.SX(tree.nq, tree.nu)
        for body in tree.driven:
            motion = body.motion
            assert motion is not None
            coordinates, speeds, accelerations = motion.closure(s["t"], s["q"][body.q], s["u"][body.u])
            where = list(body.prescribed_speeds)
            if motion.coordinates:
                q[[body.q.start + i for i in motion.coordinates]] = coordinates
            if speeds.numel():
                u[where] = speeds
            udot[where] = accelerations
            N[body.q, body.u] = body.mobilizer.N(s["q"][body.q])
        return Numbers("drivers", s, {"q": q, "u": u, "udot": udot, "N": N})

    def __call__(
        self, q: Array, u: Array, locked: NDArray[np.bool_], locked_udot: Array, given: Mapping[str, Any]
    ) -> DriverValues:
        """What drivers say at q and u, with the speeds that are locked and their accelerations; given: t,
        enabled, ..."""
        none = np.zeros(len(locked), dtype=bool)
        if self._values is None:
            return DriverValues(locked, locked_udot, none, 0 * locked_udot, 0 * locked_udot, 0.0)
        found = self._values({**given, "q": q, "u": u})
        acts, has_u, apart, off = none.copy(), none.copy(), np.zeros(len(locked)), 0.0
        for i, body in enumerate(self.tree.driven):
            motion, first = body.motion, body.q.start
            assert motion is not None
            if not given["enabled"][self.before + i]:
                continue
            acts[list(body.prescribed_speeds)] = ~locked[list(body.prescribed_speeds)]
            if motion.level != "acceleration":
                has_u[list(body.prescribed_speeds)] = acts[list(body.prescribed_speeds)]
            for rows, columns in motion.parts:
                rows, columns = [first + k for k in rows], [body.u.start + k for k in columns]
                if (
                    motion.coordinates
                    and set(rows) <= {first + k for k in motion.coordinates}
                    and acts[columns].all()
                ):
                    step = found["q"][rows] - q[rows]
                    apart[columns] = np.linalg.lstsq(found["N"][np.ix_(rows, columns)], step, rcond=None)[0]
                    off = max(off, float(np.abs(step).max()))
        return DriverValues(
            locked | acts, np.where(acts, found["udot"], locked_udot), has_u, found["u"], apart, off
        )
