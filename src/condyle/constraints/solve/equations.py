"""Constraints in a system: errors, the Jacobian G and the bias of all equations, and the loads of multipliers.

Equations come in the order of the constraints. A leaf's rate and acceleration are those of the tree's kinematics at udot = 0:

    station    xdot = v + w x r,    xddot = a + alpha x r + w x (w x r)                                   (1)
    rotation   Rdot = [w] R,        Rddot = [alpha] R + [w] [w] R                                         (2)
    coordinate qdot = N u,          qddot = (N u)_q N u + N udot                                          (3)

and a row's force on it goes to the body or the speeds that carry it:

    station    force f = p_x' lambda at the point,    rotation    torque = sum over columns r_i x (p_R' lambda)_i     (4)
    coordinate generalised forces N' p_q' lambda                                                                     (5)

so that G' is what forces of unit multipliers do to the speeds, and equals (dp/dq N)' (sherman2011 (13)-(16)). A disabled
constraint has zeros for all of this.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from condyle.constraints.base import Constraint
from condyle.dynamics.kinematics import Pair, accelerations
from condyle.dynamics.view import Loads, View
from condyle.laws.ask import Ask
from condyle.laws.described import sx
from condyle.laws.names import owner, speed_named
from condyle.mobilizers import motion
from condyle.native.sweeps.lookup import Closure
from condyle.tree.body import Body

cross = ca.cross


def row_slices(constraints: Mapping[str, Constraint]) -> dict[str, slice]:
    """Where each constraint's equations stand among all."""
    out, start = {}, 0
    for name, constraint in constraints.items():
        out[name], start = slice(start, start + constraint.size), start + constraint.size
    return out


def parts_of(constraints: Mapping[str, Constraint]) -> list[tuple[int, Constraint, slice]]:
    """All parts: the number of their constraint, themselves, and where their equations stand among all."""
    out, start = [], 0
    for i, constraint in enumerate(constraints.values()):
        for part in constraint.parts:
            out.append((i, part, slice(start, start + part.size)))
            start += part.size
    return out


@dataclass
class Wrenches:
    """What multipliers do: spatial forces about M's origin, a column a multiplier, by body; rows of G by speed."""

    bodies: dict[int, Pair] = field(default_factory=dict)
    speeds: dict[int, ca.SX] = field(default_factory=dict)

    def add(self, B: int, n: ca.SX, f: ca.SX) -> None:
        if B >= 0:
            now = self.bodies.get(B)
            self.bodies[B] = (n, f) if now is None else (now[0] + n, now[1] + f)

    def add_speed(self, k: int, column: ca.SX) -> None:
        self.speeds[k] = self.speeds[k] + column if k in self.speeds else column


class Equations:
    """All constraints of a system at one state.

    Args:
        enabled: 0/1, one a constraint.
    """

    def __init__(self, constraints: Mapping[str, Constraint], view: View, enabled: ca.SX) -> None:
        self.constraints = dict(constraints)
        self.parts = parts_of(constraints)
        self.view, self.enabled = view, enabled
        self.tree, self.kin = view.tree, view.kin
        self._A: dict[int | None, Pair] | None = None

    @property
    def size(self) -> int:
        return sum(c.size for c in self.constraints.values())

    # ---- leaves -------------------------------------------------------------------------------------------------------

    def _rates(self, body: Body) -> tuple[ca.SX, ca.SX]:
        """qdot and, at udot = 0, qddot of a body's coordinates (3)."""
        t, q, u = (ca.SX.sym(n, k) for n, k in (("t", 1), ("q", body.mobilizer.nq), ("u", body.mobilizer.nu)))
        rate = motion(body.mobilizer, t, q, u)[8]
        closure = Closure("rates", [t, q, u], [ca.densify(rate), ca.densify(ca.jtimes(rate, q, rate))])
        qdot, qddot = closure(self.view.t, self.view.q[body.q], self.view.u[body.u])
        return qdot, qddot

    def _station(self, leaf: Ask) -> tuple[ca.SX, ca.SX]:
        """Velocity and, at udot = 0, acceleration of a station (1)."""
        v, B = self.view.station_velocity(leaf.name, sx(leaf.station)), self.tree.body(leaf.name).index
        if B < 0:
            return v, ca.SX(3, 1)
        r, w, (alpha, a) = self.view.from_M(leaf.name, sx(leaf.station)), self.kin.V_GM[B][0], self.biased(B)
        return v, a + cross(alpha, r) + cross(w, cross(w, r))

    def biased(self, B: int) -> Pair:
        """Acceleration of a body at udot = 0."""
        if self._A is None:
            self._A = accelerations(self.tree, self.kin, None)
        return self._A[B]

    def _moved(self, leaf: Ask) -> tuple[ca.SX, ca.SX]:
        """First and second time derivative of a leaf at udot = 0; of a velocity only the first counts."""
        zero = ca.SX(leaf.size, 1)
        match leaf.kind:
            case "t":
                return ca.SX(1), zero
            case "coordinate":
                body, j = owner(self.tree, leaf.name, leaf.text)
                qdot, qddot = self._rates(body)
                return qdot[j], qddot[j]
            case "station_position":
                return self._station(leaf)
            case "station_velocity":
                return self._station(leaf)[1], zero
            case "rotation" | "angular_velocity":
                B = self.tree.body(leaf.name).index
                if B < 0:
                    return zero, zero
                w, alpha = ca.skew(self.kin.V_GM[B][0]), self.biased(B)[0]
                if leaf.kind == "angular_velocity":
                    return alpha, zero
                R = self.view.rotation(leaf.name)
                return ca.vec((w @ R).T), ca.vec(((ca.skew(alpha) + w @ w) @ R).T)           # (2)
        return zero, zero                                       # parameters; speeds at udot = 0

    def _value(self, leaf: Ask) -> ca.SX:
        """A leaf's value; of an acceleration that at udot = 0."""
        match leaf.kind:
            case "udot":
                return ca.SX(1, 1)
            case "station_acceleration":
                return self._station(leaf)[1]
            case "angular_acceleration":
                B = self.tree.body(leaf.name).index
                return self.biased(B)[0] if B >= 0 else ca.SX(3, 1)
        return leaf.answer(self.view)

    # ---- equations ----------------------------------------------------------------------------------------------------

    def _if_enabled(self, i: int, value: ca.SX) -> ca.SX:
        return ca.if_else(self.enabled[i], value, 0)

    def errors(self) -> tuple[ca.SX, ca.SX]:
        """p of all position rows; pdot of these and v of all velocity rows, in the order of the constraints."""
        p, v = [], []
        for i, c, _ in self.parts:
            if c.level == "acceleration":
                continue
            x = [leaf.answer(self.view) for leaf in c.leaves]
            value = self._if_enabled(i, c.zeroth(*x)[0])
            if c.level == "position":
                p.append(value)
                xdot = [self._moved(leaf)[0] for leaf in c.leaves]
                v.append(self._if_enabled(i, c.first(*x, *xdot)[0]))
            else:
                v.append(value)
        return ca.vertcat(ca.SX(0, 1), *p), ca.vertcat(ca.SX(0, 1), *v)

    def bias(self) -> ca.SX:
        """Acceleration errors at udot = 0, shape (m,): -b of (16)."""
        out = []
        for i, c, _ in self.parts:
            if c.level == "acceleration":
                out.append(self._if_enabled(i, c.zeroth(*(self._value(leaf) for leaf in c.leaves))[0]))
                continue
            x, moved = [leaf.answer(self.view) for leaf in c.leaves], [self._moved(leaf) for leaf in c.leaves]
            xdot = [first for first, _ in moved]
            a = c.second(*x, *xdot, *(second for _, second in moved)) if c.level == "position" else c.first(*x, *xdot)
            out.append(self._if_enabled(i, a[0]))
        return ca.vertcat(ca.SX(0, 1), *out)

    # ---- forces -------------------------------------------------------------------------------------------------------

    def wrenches(self, i: int, c: Constraint) -> Wrenches:
        """What unit multipliers of one constraint do, with the sign of G' lambda (4), (5)."""
        x = [self._value(leaf) for leaf in c.leaves]
        out, coordinates = Wrenches(), {}
        for leaf, value, g in zip(c.leaves, x, c.gradient(*x), strict=True):
            if leaf.kind not in c.loaded or leaf.kind == "t":
                continue
            g = self._if_enabled(i, ca.densify(g))
            if leaf.kind == "coordinate":
                coordinates[leaf.name] = g
            elif leaf.kind in ("speed", "udot"):
                out.add_speed(self.tree.speed_index(speed_named(self.tree, leaf.name, leaf.text)), g)
            else:
                B, f = self.tree.body(leaf.name).index, g.T
                if leaf.kind.startswith("station"):
                    out.add(B, ca.skew(self.view.from_M(leaf.name, sx(leaf.station))) @ f, f)
                elif leaf.kind in ("angular_velocity", "angular_acceleration"):
                    out.add(B, f, ca.SX(3, c.size))
                else:
                    R = ca.reshape(value, 3, 3).T
                    torque = sum((ca.skew(R[:, k]) @ f[k::3, :] for k in range(3)), ca.SX(3, c.size))
                    out.add(B, torque, ca.SX(3, c.size))
        for body in dict.fromkeys(owner(self.tree, name, "")[0] for name in coordinates):
            N = body.mobilizer.N(self.view.q[body.q])
            g = ca.horzcat(*(coordinates.get(q.name, ca.SX(c.size, 1)) for q in body.coordinates)) @ N
            for k in range(body.mobilizer.nu):
                if ca.sparsify(g[:, k]).nnz():
                    out.add_speed(body.u.start + k, g[:, k])
        return out

    def jacobian(self) -> ca.SX:
        """G, shape (m, nu), structurally zero where a constraint's bodies do not hang on a speed."""
        G = ca.SX(self.size, self.tree.nu)
        for i, c, rows in self.parts:
            wrenches = self.wrenches(i, c)
            F = dict(wrenches.bodies)
            for B in self.tree.tip_to_base:
                if B not in F:
                    continue
                n, f = F[B]
                for k in self.tree.speeds_of(B):
                    wrenches.add_speed(k, (self.kin.H[k][0].T @ n + self.kin.H[k][1].T @ f).T)
                if (parent := self.tree.parent(B)) is not None:
                    now = F.get(parent, (ca.SX(3, c.size), ca.SX(3, c.size)))
                    F[parent] = now[0] + n + ca.skew(self.kin.p_PM[B]) @ f, now[1] + f
            for k, column in wrenches.speeds.items():
                G[rows, k] = column
        return ca.sparsify(G)

    def loads(self, lambda_: ca.SX, loads: Loads | None = None) -> Loads:
        """-G' lambda as loads on bodies and speeds, added to those given: what the constraints exert."""
        out = Loads(self.view) if loads is None else loads
        for i, c, rows in self.parts:
            wrenches, mine = self.wrenches(i, c), lambda_[rows]
            for B, (n, f) in wrenches.bodies.items():
                F = -(n @ mine), -(f @ mine)
                now = out.bodies.get(B)
                out.bodies[B] = F if now is None else (now[0] + F[0], now[1] + F[1])
            for k, column in wrenches.speeds.items():
                out.mobility[k] = out.mobility.get(k, ca.SX(0)) - ca.dot(column, mine)
        return out

    def reactions(self, lambda_: ca.SX) -> list[ca.SX]:
        """Moment about the body's origin and force of each constraint on each of its bodies, in the order of bodies_of."""
        out = []
        for k, whole in enumerate(self.constraints.values()):
            total = {self.tree.body(name).index: (ca.SX(3, 1), ca.SX(3, 1)) for name in bodies_of(whole)}
            for i, c, rows in self.parts:
                for B, (n, f) in self.wrenches(i, c).bodies.items() if i == k else ():
                    total[B] = total[B][0] - n @ lambda_[rows], total[B][1] - f @ lambda_[rows]
            for B, (n, f) in total.items():
                out += [n - cross(self.kin.R_GM[B] @ self.kin.placed[B].p_MB, f), f]
        return out


def bodies_of(c: Constraint) -> tuple[str, ...]:
    """Names of the bodies, ground apart, that a constraint acts on as wrenches, each once."""
    bodiless = ("t", "coordinate", "speed", "udot")
    named = (leaf.name for part in c.parts for leaf in part.leaves if leaf.kind in part.loaded and leaf.kind not in bodiless)
    return tuple(name for name in dict.fromkeys(named) if name != "ground")

