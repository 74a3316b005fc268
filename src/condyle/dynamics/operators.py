"""The operators of a system as CasADi Functions of flat vectors: what native code is made from.

Every operator takes some of q, u, tau, udot, f, station and, last, the *tail*: what else a state holds, in one vector

    tail = [t, one 0/1 flag for each force (1: enabled), one lock for each speed (0, or infinity: locked)]

so that one compiled program serves every time and every set of locks and disabled forces. Matrices are flattened row by row.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from condyle.dynamics import aba, crba, energy, jacobians, rnea
from condyle.dynamics.inertia import shift_motion
from condyle.dynamics.kinematics import Kinematics, kinematics
from condyle.mobilizers import Mobilizer
from condyle.tree.tree import Tree


@dataclass(frozen=True)
class Subject:
    """What operators are made of: the tree and the force of gravity [m/s^2]."""

    tree: Tree
    gravity: tuple[float, float, float]
    forces: tuple[str, ...] = ("gravity",)

    @property
    def tail_size(self) -> int:
        return 1 + len(self.forces) + self.tree.nu


class _Symbols:
    """The arguments of one operator as symbols, and the kinematics they give."""

    def __init__(self, subject: Subject) -> None:
        self.subject, tree = subject, subject.tree
        sizes = {"q": tree.nq, "u": tree.nu, "tau": tree.nu, "udot": tree.nu, "f": tree.nu, "station": 3,
                 "tail": subject.tail_size}
        self.arguments = {name: ca.SX.sym(name, n) for name, n in sizes.items()}
        tail, forces = self.arguments["tail"], len(subject.forces)
        self.t, self.lock = tail[0], tail[1 + forces:]
        self.gravity = tail[1] * ca.sparsify(ca.SX(ca.DM(list(subject.gravity))))

    def __getitem__(self, name: str) -> ca.SX:
        return self.arguments[name]

    def kinematics(self, moving: bool = True, only: Sequence[int] | None = None) -> Kinematics:
        return kinematics(self.subject.tree, self.t, self["q"], self["u"] if moving else None, only)


def _rows(A: ca.SX) -> ca.SX:
    return ca.vec(A.T)


def _qdot(tree: Tree, s: _Symbols) -> list[ca.SX]:
    def rate(mobilizer: Mobilizer, q: ca.SX, u: ca.SX) -> ca.SX:
        return mobilizer.N(q) @ u
    return [ca.vertcat(ca.SX(0, 1), *(rate(b.mobilizer, s["q"][b.q], s["u"][b.u]) for b in tree.bodies if b.mobilizer.nq))]


def _forward_dynamics(tree: Tree, s: _Symbols) -> list[ca.SX]:
    return [aba.forward_dynamics(tree, s.kinematics(), s["tau"], s.lock, s.gravity)]


def _solve_mass_matrix(tree: Tree, s: _Symbols) -> list[ca.SX]:
    return [aba.forward_dynamics(tree, s.kinematics(moving=False), s["f"], s.lock, ca.SX(3, 1), at_rest=True)]


def _inverse_dynamics(tree: Tree, s: _Symbols) -> list[ca.SX]:
    return [rnea.inverse_dynamics(tree, s.kinematics(), s["udot"], s.gravity)]


def _mass_matrix(tree: Tree, s: _Symbols) -> list[ca.SX]:
    return [_rows(crba.mass_matrix(tree, s.kinematics(moving=False)))]


def _poses(tree: Tree, s: _Symbols) -> list[ca.SX]:
    kin, out = s.kinematics(moving=False), []
    for B in tree.base_to_tip:
        X_MB = kin.placed[B].X_MB
        out += [_rows(kin.R_GM[B] @ X_MB.R), kin.p_GM[B] + kin.R_GM[B] @ X_MB.p]
    return [ca.vertcat(ca.SX(0, 1), *out)]


def _velocities(tree: Tree, s: _Symbols) -> list[ca.SX]:
    kin = s.kinematics()
    return [ca.vertcat(ca.SX(0, 1), *(x for B in tree.base_to_tip
                         for x in shift_motion(kin.V_GM[B], kin.R_GM[B] @ kin.placed[B].X_MB.p)))]


def _energy(tree: Tree, s: _Symbols) -> list[ca.SX]:
    return list(energy.energy(tree, s.kinematics(), s.gravity))


def _reactions(tree: Tree, s: _Symbols) -> list[ca.SX]:
    F = rnea.mobilizer_forces(tree, s.kinematics(), s["udot"], s.gravity)
    return [ca.vertcat(ca.SX(0, 1), *(x for B in tree.base_to_tip for x in F[B]))]


def _station_jacobian(tree: Tree, s: _Symbols, body: int) -> list[ca.SX]:
    kin = s.kinematics(moving=False, only=tree.path(body))
    X_MB = kin.placed[body].X_MB
    return [_rows(jacobians.station_jacobian(tree, kin, body, X_MB.R @ s["station"] + X_MB.p))]


@dataclass(frozen=True)
class Operator:
    """Arguments (tail comes last by itself), names and sizes of the results, and the expressions."""

    arguments: tuple[str, ...]
    results: tuple[tuple[str, Callable[[Tree], int]], ...]
    expressions: Callable[..., list[ca.SX]]

    def inputs(self, subject: Subject) -> list[tuple[str, int]]:
        s = _Symbols(subject)
        return [(name, s[name].numel()) for name in (*self.arguments, "tail")]

    def outputs(self, subject: Subject) -> list[tuple[str, int]]:
        return [(name, size(subject.tree)) for name, size in self.results]

    def build(self, subject: Subject, name: str, **which: Any) -> ca.Function:
        s = _Symbols(subject)
        results = [ca.densify(r) for r in self.expressions(subject.tree, s, **which)]
        return ca.Function(name, [s[a] for a in (*self.arguments, "tail")], results)


OPERATORS: dict[str, Operator] = {
    "qdot": Operator(("q", "u"), (("qdot", lambda tree: tree.nq),), _qdot),
    "forward_dynamics": Operator(("q", "u", "tau"), (("udot", lambda tree: tree.nu),), _forward_dynamics),
    "inverse_dynamics": Operator(("q", "u", "udot"), (("tau", lambda tree: tree.nu),), _inverse_dynamics),
    "mass_matrix": Operator(("q",), (("M", lambda tree: tree.nu ** 2),), _mass_matrix),
    "solve_mass_matrix": Operator(("q", "f"), (("udot", lambda tree: tree.nu),), _solve_mass_matrix),
    "poses": Operator(("q",), (("X_GB", lambda tree: 12 * len(tree.bodies)),), _poses),
    "velocities": Operator(("q", "u"), (("V_GB", lambda tree: 6 * len(tree.bodies)),), _velocities),
    "station_jacobian": Operator(("q", "station"), (("J", lambda tree: 3 * tree.nu),), _station_jacobian),
    "energy": Operator(("q", "u"), (("kinetic", lambda tree: 1), ("potential", lambda tree: 1)), _energy),
    "reactions": Operator(("q", "u", "udot"), (("F", lambda tree: 6 * len(tree.bodies)),), _reactions),
}
