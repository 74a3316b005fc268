"""The gradient of w . udot (gradient.py) in the looped layout: kinematics out; both right-hand sides of
aba.py in; accelerations and the bars of each body alone out; sums of bars, and their products with each
mobilizer's Jacobians, in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from condyle.dynamics import aba
from condyle.dynamics.aba import ZERO
from condyle.dynamics.gradient import (
    Bars,
    BodyMotion,
    LoadGradient,
    added,
    is_plain,
    of_loads,
    of_mobilizer,
    own,
    to_parent,
)
from condyle.dynamics.inertia import add
from condyle.dynamics.row import BodyFields
from condyle.forces.path import PathLaw
from condyle.model.load_gradient import load_gradient, row_gradient, span_gradient
from condyle.model.looped.draft import Draft, StraightLine, dense
from condyle.model.looped.passes import (
    apply_loads,
    apply_motions,
    ground_with_gravity,
    has_forces,
    make_room,
    nothing,
    of_held,
    with_laws,
)
from condyle.model.looped.path_kinds import LawView, PathKind, SpanKind, path_kinds
from condyle.model.looped.path_rows import (
    LawFields,
    LawKernel,
    PathRows,
    SpanKernel,
    asks_for_state,
    tension,
)
from condyle.model.looped.tables import Looped
from condyle.model.model import Model

_NO_BARS = Bars(ZERO, ZERO, ca.SX(3, 1))


def _bars(row: BodyFields, loads: bool) -> Bars:
    bars = Bars(row.F, row.A_bar, row.w_bar)
    return replace(bars, v=row.v_bar, T=row.T) if loads else bars


def _put_bars(row: BodyFields, bars: Bars, loads: bool) -> None:
    row.F, row.A_bar, row.w_bar = bars.F, bars.A, bars.w
    if loads:
        row.v_bar, row.T = bars.v, bars.T


def forward_gradient(looped: Looped) -> None:
    """d_q, d_u and d_tau of the cotangent's product with udot, as far as they are among the results."""
    forces = has_forces(looped.model)
    wanted = {name for name, _ in looped.results}

    def start(d: Draft) -> None:
        ground_with_gravity(d)
        d.me.Y = d.me.z_f = ZERO
        _put_bars(d.me, _NO_BARS, forces)
        d.me.status = ca.SX(0)

    def prepare(d: Draft) -> None:
        new = d.kinematics(True, positions=forces)
        P, p_c = aba.bias_pass(d, new)
        d.me.z_f = ZERO
        d.me.own = (ca.tril(P[0]), p_c)
        d.me.V_FM = new.V_FM
        d.me.R_GF = new.X_GF[0]
        make_room(d)

    looped.outward(prepare, start)
    generalized = forces and apply_loads(looped, BodyFields.z, -1)
    apply_motions(looped, True)

    def inward(d: Draft) -> None:
        aba.inward_pass(
            d,
            with_laws(d, "tau", generalized),
            of_held(d, BodyFields.lock),
            of_held(d, BodyFields.held),
            d.of_speeds("cotangent"),
        )

    looped.inward(inward, nothing)

    def outward(d: Draft) -> None:
        (udot, Y) = aba.outward_pass(d, BodyFields.eps, BodyFields.Y)
        (x, X) = aba.outward_pass(d, BodyFields.eps_f, BodyFields.X)
        A = add(d.me.A, Y)
        I, p_c = d.me.own
        _put_bars(d.me, Bars(*own(ca.tril2symm(I), p_c, d.body.mass, d.me.V[0], A, X)), forces)
        d.me.A = A
        nu = d.mobilizer.nu
        d.me.udot, d.me.x = udot, x
        d.me.r_bar, d.me.H_bar = ca.SX.zeros(3, 1), [dense(ZERO)] * nu
        d.me.q_bar = d.me.u_bar = ca.SX.zeros(nu, 1)
        if "d_tau" in wanted:
            d.writes["d_tau"] = ca.vertcat(ca.SX(0, 1), *x)

    def finish(d: Draft) -> None:
        d.writes["status"] = d.me.status

    looped.outward(outward, finish)
    if not wanted & {"d_q", "d_u", "d_z"}:
        return
    loads = (_apply_load_gradient(looped) if forces else None) or LoadGradient()
    pulled = bool(loads.F or loads.V or loads.T or looped.tabled)

    def back(d: Draft) -> None:
        plain, none = is_plain(d.mobilizer), [ca.SX(0)] * d.mobilizer.nu
        at = BodyMotion(d.me.V, d.me.A, d.me.X, d.parent.V[0], d.parent.A[0], d.parent.X[0])
        bars = _bars(d.me, pulled)
        u, udot, x = (
            ca.vertcat(ca.SX(0, 1), *values)
            for values in (d.of_speeds("u"), *((none, none) if plain else (d.me.udot, d.me.x)))
        )
        dq, du = of_mobilizer(
            d.mobilizer,
            d.t,
            d.q,
            u,
            udot,
            x,
            None if plain else d.me.R_GF,
            d.me.H,
            at,
            bars,
            d.me.r_bar if loads.r else 0,
            d.me.H_bar if loads.H else (),
        )
        if "d_q" in wanted:
            d.writes["d_q"] = -ca.densify(dq + d.me.q_bar if loads.q else dq)
        if "d_u" in wanted:
            d.writes["d_u"] = -ca.densify(du + d.me.u_bar if loads.u else du)
        handed = to_parent(bars, d.me.r, at.w_P, d.me.V_FM)
        _put_bars(d.parent, added(_bars(d.parent, pulled), handed), pulled)

    looped.inward(back, nothing)


def _apply_load_gradient(looped: Looped) -> LoadGradient | None:
    """Add the bars of loads to those of the bodies: most laws in a straight line, then the laws in
    tables."""
    line = StraightLine(looped)
    loads = load_gradient(line, line.loads(without=looped.tabled))
    if loads is not None:
        _put_load_gradient(line, loads)
    looped.law_pass(row_gradient)
    if looped.path_rows is not None:
        _along_paths(looped.path_rows)
    return loads


def _along_paths(paths: PathRows) -> None:
    """The same of laws along paths: -psi is T(L, v, z) w, with the rate w of the length under X.

    spans: w += sum of W_i . X_i | laws: L_bar = w dT/dL, v_bar = w dT/dv | spans: load_gradient.py (3)
    """

    def begin(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
        d.me.w = ca.SX(0)

    def rate(kind: SpanKind, d: SpanKernel, numbers: ca.SX) -> None:
        W = d.me.W
        terms = (
            ca.dot(W[6 * i : 6 * i + 6], ca.vertcat(*d.row(link).X)) for i, link in enumerate(kind.links)
        )
        d.add(d.law, LawFields.w, sum(terms, ca.SX(0)))

    def bars(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
        T, w = tension(d, law, view), d.me.w
        d.me.L_bar, d.me.v_bar = w * ca.jacobian(T, d.me.L), w * ca.jacobian(T, d.me.v)
        if "law_d_z" in paths.looped.windows and kind.law.states:
            d.writes["law_d_z"] = ca.densify(-w * ca.jacobian(T, view.z).T)

    paths.law_pass(begin)
    paths.span_pass(rate)
    paths.law_pass(bars)
    paths.span_pass(span_gradient)


def has_looped_gradient(model: Model, wrt: Sequence[str]) -> bool:
    """Whether all variables are supported; among auxiliary states only those of laws along paths are."""
    kinds = path_kinds(model)
    if (
        model.tree.shares
        or model.reaction_laws
        or any(asks_for_state(law) for kind in kinds for _, law in kind.members)
    ):
        return False
    own = sum(len(law.states) for kind in kinds for _, law in kind.members)
    return set(wrt) <= {"q", "u", "tau", "z"} and ("z" not in wrt or own == model.nz)


def _put_load_gradient(line: StraightLine, loads: LoadGradient) -> None:
    for B in {*loads.F, *loads.V, *loads.T}:
        body = line.body(B)
        bars = added(Bars(body.F, ZERO, body.w_bar), of_loads(loads, B))
        body.F, body.w_bar, body.v_bar, body.T = bars.F, bars.w, bars.v, bars.T
    for field, values in (
        (BodyFields.r_bar, loads.r),
        (BodyFields.q_bar, loads.q),
        (BodyFields.u_bar, loads.u),
        (BodyFields.H_bar, loads.H),
    ):
        for B, value in values.items():
            line.body(B)[field] = value
    line.write()
