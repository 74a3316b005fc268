"""The cost of goals, its gradient and its Gauss-Newton matrix as expressions of q.

With e = x - p the error of a station and w its weight, cost = 1/2 sum w |e|^2 along q + N du has

    g = -J' (w e),     H = J' w J = sum w J_i' J_i                                                                  (1)

(1) is mechanics: H is the mass matrix of a tree that has the weights as point masses at the stations, -g the generalised forces
of springs w e that pull at them. So the recursions of dynamics compute both, in O(n) and O(n depth). From the sums of rows.py
(1), in ground, with R = R_GB, p = p_GB, y = xm - p,

    force   f = W y - R m,     moment about p  n = a(R C) + R m x y,    a(A)_i = sum_jk e_ijk A_jk                  (2)
    cost      = 1/2 (W |y|^2 + k) - y . R m - tr(R C)                                                               (3)

An orientation has the error phi = log(R_target R'), the rotation that is missing, and adds w phi to the moments and w 1 to the
inertias; the gradient w phi is exact at any angle. A distance pulls along the line between its points and adds the square of one
row; a coordinate adds N' w N; what a user wrote has rows as a constraint has (constraints/solve/equations.py).
"""
from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from condyle.constraints.solve.corrections import moved, normalised
from condyle.constraints.solve.equations import Equations
from condyle.dynamics import crba, rnea
from condyle.dynamics.jacobians import frame_jacobian
from condyle.dynamics.kinematics import Kinematics
from condyle.dynamics.view import Loads, View
from condyle.fit.goals import Residuals
from condyle.fit.layout import Layout
from condyle.model.model import Model
from condyle.model.symbols import Symbols
from condyle.native.sweeps.lookup import Staged, assembled
from condyle.spatial.exponential import log_so3

cross = ca.cross


@dataclass(frozen=True, eq=False)
class FitExpressions:
    """Kernels of the native loop.

    Attributes:
        evaluate: q, tail, row -> cost, g (nu,), H (nu^2,), p (m,), P by rows (m nu,).
        errors: q, tail -> p (m,).   step: q, du, tail -> q + N du with unit quaternions.
        prescribe: q, u, tail -> q with what motions prescribe at t, and 0/1 a speed (nu,): it is held, locked or prescribed.
        m: number of constraint equations of position level.
    """

    evaluate: ca.Function | Staged
    errors: ca.Function | Staged
    step: ca.Function | Staged
    prescribe: ca.Function | Staged
    m: int


def expressions(model: Model, layout: Layout) -> FitExpressions:
    """The kernels of a system and a layout of goals. Each has symbols of its own: look-ups end with the kernel they are in."""
    return FitExpressions(_evaluate(model, layout), _errors(model), _step(model), _prescribe(model),
                       model.equations("position"))


def _evaluate(model: Model, layout: Layout) -> ca.Function | Staged:
    s, row = Symbols(model), ca.SX.sym("row", layout.size)
    kin = s.kinematics()
    cost, g, H = _goals(s, kin, layout, row)
    constraints = s.rows(kin)
    P = constraints.jacobian()
    P = P[[i for _, part, at in constraints.parts if part.level == "position" for i in range(at.start, at.stop)], :]
    return assembled("evaluate", [s["q"], s["tail"], row], [cost, g, ca.vec(H), constraints.errors()[0], ca.vec(P.T)])


def _errors(model: Model) -> ca.Function | Staged:
    s = Symbols(model)
    return assembled("errors", [s["q"], s["tail"]], [s.rows(s.kinematics()).errors()[0]])


def _step(model: Model) -> ca.Function | Staged:
    s, tree = Symbols(model), model.tree
    return assembled("step", [s["q"], s["u"], s["tail"]], [normalised(tree, s["q"] + moved(tree, s.t, s["q"], s["u"]))])


def _prescribe(model: Model) -> ca.Function | Staged:
    s = Symbols(model)
    return assembled("prescribe", [s["q"], s["u"], s["tail"]], [s.motions.state()[0], s.lock > 0])


def _goals(s: Symbols, kin: Kinematics, layout: Layout, row: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Cost, gradient and Gauss-Newton matrix (1)."""
    tree = s.model.tree
    loads, cost, view = Loads(s.view(kin)), ca.SX(0), s.view(kin)
    masses = [replace(b, mass=ca.SX(1, 1), com=ca.SX(3, 1), I=ca.SX(3, 3)) for b in kin.placed]
    stations, orientations, distances, coordinates, mine = layout.blocks()
    for B, at in zip(layout.stations, stations, strict=True):
        W, m, six, xm, C, k = ca.vertsplit(row[at], [0, 1, 4, 10, 13, 22, 23])
        xx, yy, zz, xy, xz, yz = ca.vertsplit(six)
        S, C = ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), ca.reshape(C, 3, 3).T
        body = kin.placed[B]
        R, r = kin.R_GM[B] @ body.R_MB, kin.R_GM[B] @ body.p_MB
        y, Rm, A = xm - kin.p_GM[B] - r, R @ m, R @ C
        f = W * y - Rm                                                                                          # (2)
        n = ca.vertcat(A[1, 2] - A[2, 1], A[2, 0] - A[0, 2], A[0, 1] - A[1, 0]) + cross(Rm, y)
        _add(loads, B, n + cross(r, f), f)
        cost += (W * ca.dot(y, y) + k) / 2 - ca.dot(y, Rm) - ca.trace(A)                                        # (3)
        masses[B] = replace(masses[B], **_mass(body.R_MB, body.p_MB, W, m, S))
    for B, at in zip(layout.orientations, orientations, strict=True):
        R, w = ca.reshape(row[at][:9], 3, 3).T, row[at][9]
        phi = log_so3(R @ (kin.R_GM[B] @ kin.placed[B].R_MB).T)
        _add(loads, B, w * phi, ca.SX(3, 1))
        cost += w * ca.dot(phi, phi) / 2
        masses[B] = replace(masses[B], I=masses[B].I + w * ca.SX.eye(3))
    g = -rnea.generalised(tree, kin, loads)
    H = crba.mass_matrix(tree, replace(kin, placed=masses))                                                     # (1)
    for pair, at in zip(layout.distances, distances, strict=True):
        error, J = _distance(view, pair, row[at])
        cost, g, H = _row(cost, g, H, error, J, row[at][7])
    for i, at in zip(layout.coordinates, coordinates, strict=True):
        b = next(b for b in tree.bodies if b.q.start <= i < b.q.stop)
        J = ca.SX(1, tree.nu)
        J[0, b.u] = b.mobilizer.N(s["q"][b.q])[i - b.q.start, :]
        cost, g, H = _row(cost, g, H, s["q"][i] - row[at][0], J, row[at][1])
    for own, at in zip(layout.own, mine, strict=True):
        error, J, w = *_own(s, kin, own.law), row[at][-1]
        error -= row[at][:-1]
        cost, g, H = cost + w * ca.dot(error, error) / 2, g + w * (J.T @ error), H + w * (J.T @ J)
    return cost, g, H


def _own(s: Symbols, kin: Kinematics, law: Residuals) -> tuple[ca.SX, ca.SX]:
    """Errors of a user's goal (k,), and their Jacobian along the manifold (k, nu): those of a constraint."""
    rows = Equations({"goal": law}, s.view(kin), ca.SX.ones(1))
    return rows.errors()[0], rows.jacobian()


def residuals(model: Model, law: Residuals) -> ca.Function | Staged:
    """q, tail -> what a user's function gives, (k,)."""
    s = Symbols(model)
    return assembled("residuals", [s["q"], s["tail"]], [_own(s, s.kinematics(), law)[0]])


def _row(cost: ca.SX, g: ca.SX, H: ca.SX, error: ca.SX, J: ca.SX, w: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """All three with w error^2 / 2 more, whose gradient is w error J."""
    J = ca.sparsify(J)
    return cost + w * error * error / 2, g + w * error * J.T, H + w * (J.T @ J)


def _add(loads: Loads, B: int, n: ca.SX, f: ca.SX) -> None:
    now = loads.bodies.get(B)
    loads.bodies[B] = (n, f) if now is None else (now[0] + n, now[1] + f)


def _mass(R_MB: ca.SX, p_MB: ca.SX, W: ca.SX, m: ca.SX, S: ca.SX) -> dict[str, ca.SX]:
    """Mass, mass centre and inertia about M's origin, in M, of point masses W, m, S of rows.py (1) given in the body's frame."""
    R, p = ca.SX(ca.DM(R_MB)) if not isinstance(R_MB, ca.SX) else R_MB, ca.SX(p_MB)
    Rm = R @ m
    second = R @ S @ R.T + Rm @ p.T + p @ Rm.T + W * (p @ p.T)
    com = (Rm + W * p) / ca.if_else(W > 0, W, 1)
    return {"mass": W, "com": com, "I": ca.trace(second) * ca.SX.eye(3) - second}


def _distance(view: View, pair: tuple[int, int], block: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Error of a distance and its row: J = e' (J_b - J_a), e the direction from a to b, zero where they coincide."""
    tree, points, jacobians = view.tree, [], []
    for B, p in zip(pair, (block[:3], block[3:6]), strict=True):
        body = tree.bodies[B] if B >= 0 else tree.ground
        points.append(view.station_position(body.name, p))
        if B < 0:
            jacobians.append(ca.SX(3, tree.nu))
            continue
        placed = view.kin.placed[B]
        jacobians.append(frame_jacobian(tree, view.kin, B, placed.R_MB @ p + placed.p_MB)[3:, :])
    r = points[1] - points[0]
    square = ca.dot(r, r)
    length = ca.sqrt(ca.if_else(square > 0, square, 1))
    e = ca.if_else(square > 0, 1 / length, 0) * r
    return ca.if_else(square > 0, length, 0) - block[6], e.T @ (jacobians[1] - jacobians[0])
