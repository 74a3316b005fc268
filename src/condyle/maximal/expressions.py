"""All equations of a system over its maximal coordinates, written once over symbols: docs/theory/maximal.md
(3)-(5), (13), (21).

Rows come in this order: those of the bodies' joints, those of loops, those of the System's constraints. A
constraint says p(...) = 0 or v(...) = 0 of stations, rotations, coordinates and speeds. All of these are
functions of x and V here, so that its rows follow as those of a joint do, by AD along xdot = J V:

    position level        C = p,      Cdot = p_x J V + p_t                                                (24)
    velocity level        Cdot = v,   C_V = v_V,   gamma = -(v_x J V + v_t)                               (25)
    acceleration level    C_V = a_z w_V,   gamma = -a(z = w_x J V + w_t)

where z are accelerations and w the velocities whose rates they are.

Drivers, (19) and (30), are prescribed motions of joints and locks, which say what a speed's acceleration is. A
motion acts on a speed while it is enabled and the speed is not locked; on coordinates while it acts on all of
their speeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import SX, Array
from condyle.forces.base import Force
from condyle.laws.described import sx
from condyle.laws.leaves import Leaf
from condyle.maximal.joint import JointConstraint
from condyle.maximal.view import MaximalView, exerted
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.spatial import quaternion_rate_matrix, rotation_from_quaternion
from condyle.tree.tree import Tree


def stacked(parts: Sequence[SX], columns: int = 1) -> SX:
    """Parts above each other, of which there may be none."""
    return ca.vertcat(ca.SX(0, columns), *parts)


class NumericFunction:
    """A function of named vectors. Results by name: columns as vectors, everything else as matrices.

    Args:
        inputs: symbols by name.
        outputs: expressions of them by name; a matrix is filled where it is not structurally zero.
    """

    def __init__(self, name: str, inputs: Mapping[str, SX], outputs: Mapping[str, SX]) -> None:
        self._columns = [name for name, y in outputs.items() if y.shape[1] == 1]
        self._patterns: list[tuple[str, tuple[int, int], NDArray[np.intp], NDArray[np.intp]]] = []
        dense = []
        for key, y in outputs.items():
            y = ca.densify(y) if key in self._columns else ca.sparsify(y)
            rows, columns = (np.array(index, dtype=int) for index in y.sparsity().get_triplet())
            self._patterns.append((key, y.shape, rows, columns))
            dense.append(y.nz[:])
        self._given = {key: np.zeros(x.numel()) for key, x in inputs.items()}
        self._found = [np.zeros(y.numel()) for y in dense]
        self._function = build_function(name, list(inputs.values()), dense)
        if not isinstance(self._function, Staged):
            self._buffer, self._run = self._function.buffer()
            for i, array in enumerate(self._given.values()):
                self._buffer.set_arg(i, array.data)  # type: ignore[call-arg]
            for i, array in enumerate(self._found):
                self._buffer.set_res(i, array.data)  # type: ignore[call-arg]

    def __call__(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Results at values; more than the inputs may be given."""
        for key, array in self._given.items():
            array[:] = values[key]
        if isinstance(self._function, Staged):
            for array, y in zip(
                self._found, self._function.evaluate([a[:, None] for a in self._given.values()]), strict=True
            ):
                array[:] = y[:, 0]
        else:
            self._run()
        out: dict[str, Any] = {}
        for (key, shape, rows, columns), numbers in zip(self._patterns, self._found, strict=True):
            if key in self._columns:
                out[key] = numbers.copy()
            else:
                out[key] = np.zeros(shape)
                out[key][rows, columns] = numbers
        return out


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

    def _written(self) -> NumericFunction:
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
        return NumericFunction("drivers", s, {"q": q, "u": u, "udot": udot, "N": N})

    def __call__(
        self, q: Array, u: Array, locked: NDArray[np.bool_], locked_udot: Array, given: Mapping[str, Any]
    ) -> DriverValues:
        """What drivers say at q and u, with the speeds that are locked and their accelerations; given: t,
        enabled, ..."""
        none = np.zeros(len(locked), dtype=bool)
        if self._values is None:
            return DriverValues(locked, locked_udot, none, 0 * locked_udot, 0 * locked_udot, 0.0)
        found = self._values({**given, "q": q, "u": u})
        N = found["N"].reshape(len(q), len(u))  # of one speed it comes as a vector
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
                    apart[columns] = np.linalg.lstsq(N[np.ix_(rows, columns)], step, rcond=None)[0]
                    off = max(off, float(np.abs(step).max()))
        return DriverValues(
            locked | acts, np.where(acts, found["udot"], locked_udot), has_u, found["u"], apart, off
        )


GROUND = ca.SX(ca.DM([1.0, 0, 0, 0, 0, 0, 0]))
LEVELS = ("position", "velocity", "acceleration")


@dataclass(frozen=True)
class PlacedJoint:
    """A joint with its rows of C and the places of its massless unknowns in x and V."""

    joint: JointConstraint
    rows: slice
    x: slice
    V: slice

    def part(self, everything: SX, kind: str) -> SX:
        """The joint's own part of x or V: parent, body, massless unknowns. Ground is in neither."""
        n, own, ground = (7, self.x, GROUND) if kind == "x" else (6, self.V, ca.SX(6, 1))
        ends = [ground if B < 0 else everything[n * B : n * B + n] for B in (self.joint.P, self.joint.B)]
        return ca.vertcat(*ends, everything[own])

    def placed(self, block: SX, width: int, kind: str) -> SX:
        """Columns of the joint's own part at their places among all `width` ones."""
        n, own = (7, self.x) if kind == "x" else (6, self.V)
        out = ca.SX(block.shape[0], width)
        for k, B in enumerate((self.joint.P, self.joint.B)):
            if B >= 0:
                out[:, n * B : n * B + n] += block[:, n * k : n * k + n]
        out[:, own] += block[:, 2 * n :]
        return out


class Expressions:
    """The functions of numbers that a MaximalSystem is made of.

    Args:
        joints: joints of the tree, wired.
        loops: joints that close loops, wired.
        constraints: those of the System; all but their equations is found here.
        nx: number of coordinates.
        nv: number of velocities.

    Attributes:
        places: rows of each constraint, by name.
        m: how many rows.
        levels: the lowest level at which each row holds, as its place in LEVELS, shape (m,).
        asks_momentum: whether a law asks for the momentum of each speed.
    """

    def __init__(
        self,
        tree: Tree,
        forces: Mapping[str, Force],
        constraints: Mapping[str, Any],
        joints: Sequence[PlacedJoint],
        loops: Sequence[PlacedJoint],
        nx: int,
        nv: int,
    ) -> None:
        self.tree, self.forces, self.constraints = tree, forces, constraints
        self.joints, self.loops, self.nx, self.nv = joints, loops, nx, nv
        self.m = sum(wired.joint.n for wired in (*joints, *loops))
        levels, self.places = [0] * self.m, {}
        for name, constraint in constraints.items():
            start = self.m
            for part in constraint.parts:
                levels += [LEVELS.index(part.level)] * part.size
                self.m += part.size
            self.places[name] = slice(start, self.m)
        self.levels = np.array(levels, dtype=int)
        self.place, self.newton, self.positions, self.moved = (
            self._place(),
            self._newton(),
            self._positions(),
            self._moved(),
        )
        self.velocities, self.accelerations, self.dynamics = (
            self._velocities(),
            self._accelerations(),
            self._dynamics(),
        )
        self.drivers = Drivers(tree, len(forces) + len(constraints))

    # ---- symbols -------------------------------------------------------------------------------------------

    def _symbols(self, *names: str) -> dict[str, SX]:
        tree = self.tree
        sizes = {
            "x": self.nx,
            "V": self.nv,
            "near": tree.nq,
            "q": tree.nq,
            "momentum": tree.nu,
            "t": 1,
            "z": sum(len(f.states) for f in self.forces.values()),
            "enabled": len(self.forces) + len(self.constraints) + len(tree.driven),
        }
        known = {
            "inputs": tree.inputs.symbols,
            "parameters": ca.vertcat(tree.parameters.symbols, tree.discrete.symbols),
        }
        return {name: known[name] if name in known else ca.SX.sym(name, sizes[name]) for name in names}

    def _each(self, s: Mapping[str, SX], closure: str) -> list[list[SX]]:
        """One of the closures, positions or rates, of every joint of the tree, then of every loop."""
        out = []
        for k, wired in enumerate((*self.joints, *self.loops)):
            joint = wired.joint
            near = s["near"][joint.q] if k < len(self.joints) else ca.SX(ca.DM(joint.mobilizer.default_q()))
            moving = (wired.part(s["V"], "V"),) if closure == "rates" else ()
            out.append(getattr(joint, closure)(wired.part(s["x"], "x"), *moving, near, s["t"]))
        return out

    def _joined(self, each: Sequence[Sequence[SX]], k: int) -> SX:
        """One result of the closures of all joints of the tree: `_each`."""
        return stacked([found[k] for found in each[: len(self.joints)]])

    def _xdot(self, x: SX, V: SX, each: Sequence[Sequence[SX]]) -> SX:
        """(3)"""
        bodies = [
            ca.vertcat(
                quaternion_rate_matrix(x[7 * B : 7 * B + 4]) @ V[6 * B : 6 * B + 3], V[6 * B + 3 : 6 * B + 6]
            )
            for B in range(len(self.joints))
        ]
        return ca.vertcat(stacked(bodies), self._joined(each, 6))

    # ---- functions -----------------------------------------------------------------------------------------

    def _place(self) -> NumericFunction:
        """q, t -> x, where the chain of mobilizers puts the bodies."""
        s = self._symbols("q", "t", "parameters")
        poses: dict[int, tuple[ca.SX, ca.SX]] = {-1: (ca.SX.eye(3), ca.SX(3, 1))}
        own = []
        for wired in self.joints:
            joint = wired.joint
            R_PB, p_PB = joint.pose(s["q"][joint.q], s["t"])
            R_GP, p_GP = poses[joint.P]
            poses[joint.B] = R_GP @ R_PB, p_GP + R_GP @ p_PB
            own += [s["q"][joint.q]] if joint.ns else []
        turns = [ca.densify(poses[B][0]) for B in range(len(self.joints))]
        return NumericFunction(
            "place",
            s,
            {
                "R": stacked(turns, 3),
                "p": stacked([poses[B][1] for B in range(len(self.joints))]),
                "own": stacked(own),
            },
        )

    def _newton(self) -> NumericFunction:
        """x, near, t -> C = (Cr, Cs) of (22) and its Jacobian."""
        s = self._symbols("x", "near", "t", "parameters")
        each = self._each(s, "positions")
        C = [self._joined(each, k) for k in (3, 0)]
        C_x = [
            wired.placed(found[k], self.nx, "x") for k in (4, 1) for wired, found in zip(self.joints, each)
        ]
        return NumericFunction("newton", s, {"C": stacked(C), "C_x": stacked(C_x, self.nx)})

    def _written(
        self, s: Mapping[str, SX], pairs: Sequence[Sequence[SX]], u: SX
    ) -> list[tuple[SX, Any, list[SX]]]:
        """Each part of each constraint: its switch, itself, and its leaves as expressions of x, V and t; of
        accelerations the velocities whose rates they are."""
        q = self._joined(pairs, 2)
        view = MaximalView(self.tree, {**s, "q": q, "u": u})
        return [
            (s["enabled"][len(self.forces) + i], part, [_velocity(leaf).at(view) for leaf in part.leaves])
            for i, constraint in enumerate(self.constraints.values())
            for part in constraint.parts
        ]

    def _positions(self) -> NumericFunction:
        """x, near, t -> C of all rows, zero for those of velocities; q."""
        s = self._symbols("x", "near", "t", "enabled", "parameters")
        pairs = self._each(s, "positions")
        C = [pair[0] for pair in pairs]
        none = {**s, "V": ca.SX(self.nv, 1)}
        for on, part, leaves in self._written(none, pairs, ca.SX(self.tree.nu, 1)):
            C.append(
                ca.if_else(on, part.zeroth(*leaves)[0], 0)
                if part.level == "position"
                else ca.SX(part.size, 1)
            )
        q = self._joined(pairs, 2)
        return NumericFunction("positions", s, {"C": stacked(C), "q": q})

    def _moved(self) -> NumericFunction:
        """x, V, t -> xdot = J(x) V (3)."""
        s = self._symbols("x", "V", "near", "t", "parameters")
        return NumericFunction("moved", s, {"xdot": self._xdot(s["x"], s["V"], self._each(s, "rates"))})

    def _drags(self, s: Mapping[str, SX], u: SX) -> SX:
        """D of all rows: what friction of sliding contacts does for a unit of their normal multipliers, d
        held; docs/theory/rigid_contact.md (6)."""
        D = ca.SX(self.m, self.nv)
        pairs = self._each(s, "positions")
        q = self._joined(pairs, 2)
        view, d = MaximalView(self.tree, {**s, "q": q, "u": u}), ca.SX.sym("d", 3)
        for i, (name, c) in enumerate(self.constraints.items()):
            if getattr(c, "has_friction", False):
                x = [leaf.at(view) for leaf in c.moving]
                row = ca.jacobian(sx(c.friction) * ca.dot(d, c.slip(x)), s["V"])
                row = ca.substitute(row, d, ca.if_else(c.sliding(), c.direction(x), 0))
                D[self.places[name].start, :] = ca.if_else(s["enabled"][len(self.forces) + i], row, 0)
        return D

    def _rows(self, s: Mapping[str, SX]) -> tuple[list[list[SX]], SX, list[tuple[SX, SX, SX, SX]]]:
        """Rates of the joints, u, and of each part of each constraint: its switch, Cdot, C_V and the rate of
        Cdot at A = 0."""
        each = self._each(s, "rates")
        u = self._joined(each, 3)
        out = []
        if self.constraints:
            xdot = self._xdot(s["x"], s["V"], each)
            rate = lambda y: ca.jtimes(y, s["x"], xdot) + ca.jtimes(y, s["t"], ca.SX(1))
            for on, part, leaves in self._written(s, self._each(s, "positions"), u):
                if part.level == "acceleration":
                    z = [leaf.level == "acceleration" for leaf in part.leaves]
                    values = [rate(x) if is_z else x for x, is_z in zip(leaves, z)]
                    C_V = sum(
                        (
                            a_z @ ca.jacobian(w, s["V"])
                            for a_z, w, is_z in zip(part.gradient(*values), leaves, z)
                            if is_z
                        ),
                        ca.SX(part.size, self.nv),
                    )
                    out.append((on, ca.SX(part.size, 1), C_V, part.zeroth(*values)[0]))
                    continue
                e = part.zeroth(*leaves)[0]
                Cdot = rate(e) if part.level == "position" else e  # (24), (25)
                out.append((on, Cdot, ca.jacobian(Cdot, s["V"]), rate(Cdot)))
        return each, u, out

    def _velocities(self) -> NumericFunction:
        """x, V, near, t -> Cdot, C_V and C_t of all rows (4), (24), (25); u and S (13); D."""
        s = self._symbols("x", "V", "near", "t", "enabled", "parameters")
        V, n = s["V"], len(self.joints)
        each, u, written = self._rows(s)
        C_V = [
            wired.placed(rates[0], self.nv, "V") for wired, rates in zip((*self.joints, *self.loops), each)
        ]
        C_t = [rates[1] for rates in each]
        Cdot = [c_V @ V + c_t for c_V, c_t in zip(C_V, C_t)]
        for on, velocity, row, _ in written:
            now = ca.if_else(on, velocity, 0)
            C_V.append(ca.if_else(on, row, 0))
            C_t.append(ca.substitute(now, V, ca.SX.zeros(self.nv)))
            Cdot.append(now)
        S = [wired.placed(rates[4], self.nv, "V") for wired, rates in zip(self.joints, each[:n])]
        return NumericFunction(
            "velocities",
            s,
            {
                "Cdot": stacked(Cdot),
                "C_V": stacked(C_V, self.nv),
                "C_t": stacked(C_t),
                "u": u,
                "S": stacked(S, self.nv),
                "D": self._drags(s, u),
            },
        )

    def _accelerations(self) -> NumericFunction:
        """x, V, near, t -> gamma of all rows (5), (24), (25); sigma (13)."""
        s = self._symbols("x", "V", "near", "t", "enabled", "parameters")
        each, _, written = self._rows(s)
        gamma = [rates[2] for rates in each] + [-ca.if_else(on, rate, 0) for on, _, _, rate in written]
        return NumericFunction("accelerations", s, {"gamma": stacked(gamma), "sigma": self._joined(each, 5)})

    def _dynamics(self) -> NumericFunction:
        """x, V, q, u and the rest of a state -> M, Q without laws on speeds, these laws' f, zdot; p_BM in
        ground."""
        s = self._symbols("x", "V", "q", "momentum", "t", "z", "inputs", "enabled", "parameters")
        s["u"] = ca.SX.sym("u", self.tree.nu)
        M, Q, arms = [ca.SX(0, 0)], [ca.SX(0, 1)], [ca.SX(0, 1)]
        for B, body in enumerate(self.tree.bodies):
            m, com, inertia = body.mass_expressions()
            R, w = rotation_from_quaternion(s["x"][7 * B : 7 * B + 4]), s["V"][6 * B : 6 * B + 3]
            c = R @ com
            I = R @ inertia @ R.T + m * (ca.dot(c, c) * ca.SX.eye(3) - c @ c.T)
            M.append(ca.blockcat([[I, m * ca.skew(c)], [-m * ca.skew(c), m * ca.SX.eye(3)]]))  # (21)
            Q.append(-ca.vertcat(ca.cross(w, I @ w), m * ca.cross(w, ca.cross(w, c))))
            arms.append(R @ self.joints[B].joint.X_BM.p)
        loads, f, zdot = exerted(self.forces, MaximalView(self.tree, s))
        outputs = [ca.vertcat(*Q) + loads, f, zdot]
        self.asks_momentum = bool(self.tree.nu) and ca.depends_on(ca.vertcat(*outputs), s["momentum"])
        massless = self.nv - 6 * len(self.joints)
        return NumericFunction(
            "dynamics",
            s,
            {
                "M": ca.diagcat(*M, ca.SX(massless, massless)),
                "Q": ca.vertcat(outputs[0], ca.SX(massless, 1)),
                "f": f,
                "zdot": zdot,
                "arms": ca.vertcat(*arms),
            },
        )


def _velocity(leaf: Leaf) -> Leaf:
    """A leaf, or of an acceleration the velocity whose rate it is."""
    return leaf.velocity if leaf.level == "acceleration" else leaf  # type: ignore[attr-defined]
