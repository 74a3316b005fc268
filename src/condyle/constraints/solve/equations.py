"""Constraints in a system: errors, the Jacobian G and the bias of all equations, and the loads of
multipliers.

Equations come in the order of the constraints. Leaves (laws/leaves.py) know their rates, from the tree's
kinematics at udot = 0,

    station    xdot = v + w x r,    xddot = a + alpha x r + w x (w x r)                                   (1)
    rotation   Rdot = [w] R,        Rddot = [alpha] R + [w] [w] R                                         (2)
    coordinate qdot = N u,          qddot = (N u)_q N u + N udot                                          (3)

and a row's force on it goes to the body or the speeds that carry it:

    station    force f = p_x' lambda at the point
    rotation   torque = sum over columns r_i x (p_R' lambda)_i                                            (4)
    coordinate generalized forces N' p_q' lambda                                                          (5)

so that G' is what forces of unit multipliers do to the speeds, and equals (dp/dq N)' (sherman2011 (13)-(16)).
A disabled constraint has zeros for all of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from condyle.arrays import SX, vertcat
from condyle.constraints.base import Constraint
from condyle.dynamics.kinematics import Pair
from condyle.dynamics.view import TreeLoads, TreeView

cross = ca.cross


def row_slices(constraints: Mapping[str, Constraint]) -> dict[str, slice]:
    """Where each constraint's equations are among all."""
    out, start = {}, 0
    for name, constraint in constraints.items():
        out[name], start = slice(start, start + constraint.size), start + constraint.size
    return out


def parts_of(constraints: Mapping[str, Constraint]) -> list[tuple[int, Constraint, slice]]:
    """All parts: the number of their constraint, themselves, and where their equations are among all."""
    out, start = [], 0
    for i, constraint in enumerate(constraints.values()):
        for part in constraint.parts:
            out.append((i, part, slice(start, start + part.size)))
            start += part.size
    return out


class UnitWrenches:
    """What unit multipliers do (laws.view.Loads): spatial forces about M's origin by body, rows of G by
    speed; one column per multiplier."""

    def __init__(self, view: TreeView) -> None:
        self.view = view
        self.bodies: dict[int, Pair] = {}
        self.speeds: dict[int, ca.SX] = {}

    def _add(self, body: str, n: SX, f: SX) -> None:
        B = self.view.tree.body(body).index
        if B >= 0:
            now = self.bodies.get(B)
            self.bodies[B] = (n, f) if now is None else (now[0] + n, now[1] + f)

    def add_force(self, body: str, p: Any, force: SX) -> None:
        self._add(body, ca.skew(self.view.from_M(body, p)) @ force, force)

    def add_torque(self, body: str, torque: SX) -> None:
        self._add(body, torque, ca.SX(*torque.shape))

    def add_mobility(self, speed: str, value: SX) -> None:
        self.add_speed(self.view.tree.speed_index(speed), value.T)

    def add_speed(self, k: int, column: SX) -> None:
        self.speeds[k] = self.speeds[k] + column if k in self.speeds else column

    def on_speeds(self, size: int) -> SX:
        """What they do to the speeds, one row per multiplier, shape (size, nu): structurally zero where
        nothing hangs on one."""
        tree, kin, F, speeds = self.view.tree, self.view.kin, dict(self.bodies), dict(self.speeds)
        for B in tree.tip_to_base:
            if B not in F:
                continue
            n, f = F[B]
            for k, h in zip(tree.speeds_of(B), kin.H[B], strict=True):
                column = (h[0].T @ n + h[1].T @ f).T
                speeds[k] = speeds[k] + column if k in speeds else column
            if (parent := tree.parent(B)) is not None:
                now = F.get(parent, (ca.SX(3, size), ca.SX(3, size)))
                F[parent] = now[0] + n + ca.skew(kin.p_PM[B]) @ f, now[1] + f
        out = ca.SX(size, tree.nu)
        for k, column in speeds.items():
            out[:, k] = column
        return out


class ConstraintEquations:
    """All constraints of a system at one state.

    Args:
        enabled: 0/1, one per constraint.
    """

    def __init__(self, constraints: Mapping[str, Constraint], view: TreeView, enabled: SX) -> None:
        self.constraints = dict(constraints)
        self.parts = parts_of(constraints)
        self.view, self.enabled = view, enabled
        self.tree, self.kin = view.tree, view.kin

    @property
    def size(self) -> int:
        return sum(c.size for c in self.constraints.values())

    # ---- equations -----------------------------------------------------------------------------------------

    def _if_enabled(self, i: int, value: SX) -> SX:
        return ca.if_else(self.enabled[i], value, 0)

    def errors(self) -> tuple[SX, SX]:
        """p of all position rows; pdot of these and v of all velocity rows, in the order of the
        constraints."""
        p, v = [], []
        for i, c, _ in self.parts:
            if c.level == "acceleration":
                continue
            x = [leaf.at(self.view) for leaf in c.leaves]
            value = self._if_enabled(i, c.zeroth(*x)[0])
            if c.level == "position":
                p.append(value)
                xdot = [leaf.rate(self.view) for leaf in c.leaves]
                v.append(self._if_enabled(i, c.first(*x, *xdot)[0]))
            else:
                v.append(value)
        return vertcat(p), vertcat(v)

    def position_errors(self) -> SX:
        """p of all position rows alone."""
        each = (
            self._if_enabled(i, c.zeroth(*(leaf.at(self.view) for leaf in c.leaves))[0])
            for i, c, _ in self.parts
            if c.level == "position"
        )
        return vertcat(each)

    def bias(self) -> SX:
        """Acceleration errors at udot = 0, shape (m,): -b of (16)."""
        out = []
        for i, c, _ in self.parts:
            if c.level == "acceleration":
                out.append(self._if_enabled(i, c.zeroth(*(leaf.at(self.view) for leaf in c.leaves))[0]))
                continue
            x, xdot = [leaf.at(self.view) for leaf in c.leaves], [leaf.rate(self.view) for leaf in c.leaves]
            if c.level == "position":
                a = c.second(*x, *xdot, *(leaf.bias(self.view) for leaf in c.leaves))
            else:
                a = c.first(*x, *xdot)
            out.append(self._if_enabled(i, a[0]))
        return vertcat(out)

    # ---- forces --------------------------------------------------------------------------------------------

    def wrenches(self, i: int, c: Constraint) -> UnitWrenches:
        """What unit multipliers of one constraint do, with the sign of G' lambda (4), (5)."""
        return self._exerted(i, c, UnitWrenches(self.view))

    def _exerted(self, i: int, c: Constraint, out: UnitWrenches) -> UnitWrenches:
        x = [leaf.at(self.view) for leaf in c.leaves]
        for leaf, g in zip(c.leaves, c.gradient(*x), strict=True):
            if leaf.level == c.level:
                leaf.load(self.view, self._if_enabled(i, ca.densify(g)).T, out)
        return out

    def _pushes(self, i: int, c: Constraint) -> UnitWrenches:
        """The same with friction of what slides, which acts with the first multiplier."""
        out = self.wrenches(i, c)
        return out if c.drag is None else self._exerted(i, c.drag, out)

    @property
    def drags(self) -> bool:
        """Whether some may slide with friction: then forces are not G' lambda."""
        return any(c.drag is not None for _, c, _ in self.parts)

    def jacobian(self) -> SX:
        """G, shape (m, nu), structurally zero where a constraint's bodies do not hang on a speed."""
        G = ca.SX(self.size, self.tree.nu)
        for i, c, rows in self.parts:
            G[rows, :] = self.wrenches(i, c).on_speeds(c.size)
        return ca.sparsify(G)

    def pushes(self) -> SX:
        """G + S, shape (m, nu): forces are -(G + S)' lambda, docs/theory/rigid_contact.md (6)."""
        F = ca.SX(self.size, self.tree.nu)
        for i, c, rows in self.parts:
            F[rows, :] = self._pushes(i, c).on_speeds(c.size)
        return ca.sparsify(F)

    def loads(self, lambda_: SX, loads: TreeLoads | None = None, only: int | None = None) -> TreeLoads:
        """-G' lambda as loads on bodies and speeds, added to those given: what the constraints exert, or only
        one of them."""
        out = TreeLoads(self.view) if loads is None else loads
        for i, c, rows in self.parts:
            if only is not None and i != only:
                continue
            wrenches, mine = self._pushes(i, c), lambda_[rows]
            for B, (n, f) in wrenches.bodies.items():
                F = -(n @ mine), -(f @ mine)
                now = out.bodies.get(B)
                out.bodies[B] = F if now is None else (now[0] + F[0], now[1] + F[1])
            for k, column in wrenches.speeds.items():
                out.mobility[k] = out.mobility.get(k, ca.SX(0)) - ca.dot(column, mine)
        return out

    def reactions(self, lambda_: SX) -> list[SX]:
        """Moment about the body's origin and force of each constraint on each of its bodies, in the order of
        its bodies."""
        out = []
        for k, whole in enumerate(self.constraints.values()):
            total = {self.tree.body(name).index: (ca.SX(3, 1), ca.SX(3, 1)) for name in whole.bodies}
            for i, c, rows in self.parts:
                for B, (n, f) in self._pushes(i, c).bodies.items() if i == k else ():
                    total[B] = total[B][0] - n @ lambda_[rows], total[B][1] - f @ lambda_[rows]
            for B, (n, f) in total.items():
                out += [n - cross(self.kin.R_GM[B] @ self.kin.placed[B].p_MB, f), f]
        return out
