"""The gradient of w . udot (gradient.py) in the looped layout: kinematics out; both right-hand sides of
aba.py in; accelerations and the bars of each body by itself out; sums of bars, and what each mobilizer makes
of them, in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

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
from condyle.forces.path import PathLaw
from condyle.model.load_gradient import load_gradient, row_gradient, span_gradient
from condyle.model.looped.between import StraightLine
from condyle.model.looped.draft import Draft, packed
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
from condyle.model.looped.path_laws import LawView, PathKind, path_kinds
from condyle.model.looped.path_rows import PathRows, asks_for_state, tension
from condyle.model.looped.span_rows import SpanKind
from condyle.model.looped.tables import Looped
from condyle.model.model import Model

_NO_BARS = Bars(ZERO, ZERO, ca.SX(3, 1))


def _bars(d: Draft, where: str, loads: bool) -> Bars:
    bars = Bars(*(d.get(where, name) for name in ("F", "A_bar", "w_bar")))
    return replace(bars, v=d.get(where, "v_bar"), T=d.get(where, "T")) if loads else bars


def _put_bars(d: Draft, where: str, bars: Bars, loads: bool) -> None:
    names = ("F", "A_bar", "w_bar", "v_bar", "T") if loads else ("F", "A_bar", "w_bar")
    for name, value in zip(names, (bars.F, bars.A, bars.w, bars.v, bars.T), strict=False):
        d.put(where, name, value)


def forward_gradient(looped: Looped) -> None:
    """d_q, d_u and d_tau of the cotangent's product with udot, as far as they are among the results."""
    forces = has_forces(looped.model)
    wanted = {name for name, _ in looped.results}

    def start(d: Draft) -> None:
        ground_with_gravity(d)
        d.put("me", "Y", ZERO)
        d.put("me", "z_f", ZERO)
        _put_bars(d, "me", _NO_BARS, forces)
        d.writes["me.status"] = ca.SX.zeros(1, 1)

    def prepare(d: Draft) -> None:
        new = d.kinematics(True, positions=forces)
        P, p_c = aba.bias_pass(d, new)
        d.put("me", "z_f", ZERO)
        d.keep("own", (ca.tril(P[0]), p_c))
        d.keep("V_FM", new.V_FM)
        d.keep("R_GF", new.X_GF[0])
        make_room(d)

    looped.outward(prepare, start)
    generalized = forces and apply_loads(looped, "z", -1)
    apply_motions(looped, True)

    def inward(d: Draft) -> None:
        aba.inward_pass(
            d,
            with_laws(d, "tau", generalized),
            of_held(d, "lock"),
            of_held(d, "held"),
            d.of_speeds("cotangent"),
        )

    looped.inward(inward, nothing)

    def outward(d: Draft) -> None:
        (udot, Y), (x, X) = aba.outward_pass(d, "eps", "Y"), aba.outward_pass(d, "eps_f", "X")
        A = add(d.get("me", "A"), Y)
        I, p_c = d.kept("own")
        _put_bars(d, "me", Bars(*own(ca.tril2symm(I), p_c, d.body.mass, d.get("me", "V")[0], A, X)), forces)
        d.put("me", "A", A)
        nu = d.mobilizer.nu
        for name, kept in (
            ("udot", udot),
            ("x", x),
            ("r_bar", ca.SX.zeros(3, 1)),
            ("H_bar", [_dense(ZERO)] * nu),
            ("q_bar", ca.SX.zeros(nu, 1)),
            ("u_bar", ca.SX.zeros(nu, 1)),
        ):
            d.keep(name, kept)
        if "d_tau" in wanted:
            d.writes["d_tau"] = ca.vertcat(ca.SX(0, 1), *x)

    def finish(d: Draft) -> None:
        d.writes["status"] = d.read("me.status", 1)

    looped.outward(outward, finish)
    if not wanted & {"d_q", "d_u", "d_z"}:
        return
    loads = (_apply_load_gradient(looped) if forces else None) or LoadGradient()
    pulled = bool(loads.F or loads.V or loads.T or looped.tabled)

    def back(d: Draft) -> None:
        nu, plain, parent = (
            d.mobilizer.nu,
            is_plain(d.mobilizer),
            [d.get("parent", name)[0] for name in ("V", "A", "X")],
        )
        at = BodyMotion(d.get("me", "V"), d.get("me", "A"), d.get("me", "X"), *parent)
        bars = _bars(d, "me", pulled)
        u, udot, x = (
            ca.vertcat(ca.SX(0, 1), *values)
            for values in (
                d.of_speeds("u"),
                *([ca.SX(0)] * nu if plain else d.kept(name) for name in ("udot", "x")),
            )
        )
        dq, du = of_mobilizer(
            d.mobilizer,
            d.t,
            d.q,
            u,
            udot,
            x,
            None if plain else d.kept("R_GF"),
            d.kept("H"),
            at,
            bars,
            d.kept("r_bar") if loads.r else 0,
            d.kept("H_bar") if loads.H else (),
        )
        for name, value, more in (("q", dq, loads.q), ("u", du, loads.u)):
            if f"d_{name}" in wanted:
                d.writes[f"d_{name}"] = -ca.densify(value + d.kept(f"{name}_bar") if more else value)
        handed = to_parent(bars, d.kept("r"), at.w_P, d.kept("V_FM"))
        _put_bars(d, "parent", added(_bars(d, "parent", pulled), handed), pulled)

    looped.inward(back, nothing)


def _apply_load_gradient(looped: Looped) -> LoadGradient | None:
    """Add the bars of loads to those of the bodies: of most laws in a straight line, then those of laws in
    tables."""
    line = StraightLine(looped)
    loads = load_gradient(line, line.loads(without=looped.tabled))
    if loads is not None:
        _put_load_gradient(looped, line, loads)
    looped.law_pass(row_gradient)
    if looped.path_rows is not None:
        _along_paths(looped.path_rows)
    return loads


def _along_paths(paths: PathRows) -> None:
    """The same of laws along paths: -psi is T(L, v, z) w, with the rate w of the length under X.

    spans: w += sum of W_i . X_i | laws: L_bar = w dT/dL, v_bar = w dT/dv | spans: load_gradient.py (3)
    """

    def begin(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
        d.writes["me.w"] = ca.SX.zeros(1, 1)

    def rate(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
        W = d.read("me.W", 6 * len(kind.links))
        return {
            "law.w": sum(
                (
                    ca.dot(W[6 * i : 6 * i + 6], ca.vertcat(*d.get(link, "X")))
                    for i, link in enumerate(kind.links)
                ),
                ca.SX(0),
            )
        }

    def bars(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
        T, w = tension(d, law, view), d.read("me.w", 1)
        for name, x in (("me.L_bar", d.read("me.L", 1)), ("me.v_bar", d.read("me.v", 1))):
            d.writes[name] = ca.densify(w * ca.jacobian(T, x))
        if "law_d_z" in paths.looped.windows and kind.law.states:
            d.writes["law_d_z"] = ca.densify(-w * ca.jacobian(T, view.z).T)

    paths.law_pass(begin)
    paths.span_pass(rate)
    paths.law_pass(bars)
    paths.span_pass(span_gradient)


def has_looped_gradient(model: Model, wrt: Sequence[str]) -> bool:
    """Whether all that is asked for is here: with respect to auxiliary states those of laws along paths."""
    kinds = path_kinds(model)
    if model.tree.shares or any(asks_for_state(law) for kind in kinds for _, law in kind.members):
        return False
    own = sum(len(law.states) for kind in kinds for _, law in kind.members)
    return set(wrt) <= {"q", "u", "tau", "z"} and ("z" not in wrt or own == model.nz)


def _put_load_gradient(looped: Looped, line: StraightLine, loads: LoadGradient) -> None:
    writes: dict[Any, ca.SX] = {}
    for B in {*loads.F, *loads.V, *loads.T}:
        bars = added(Bars(line.read(B, "F"), ZERO, line.read(B, "w_bar")), of_loads(loads, B))
        writes |= {
            (B + 1, name): packed(_dense(value))
            for name, value in (("F", bars.F), ("w_bar", bars.w), ("v_bar", bars.v), ("T", bars.T))
        }
    for name, values in (("r_bar", loads.r), ("q_bar", loads.q), ("u_bar", loads.u)):
        writes |= {(B + 1, name): ca.densify(value) for B, value in values.items()}
    writes |= {(B + 1, "H_bar"): packed([_dense(h) for h in H_bar]) for B, H_bar in loads.H.items()}
    line.write(writes)


def _dense(value: Any) -> Any:
    return ca.densify(value) if isinstance(value, ca.SX) else tuple(ca.densify(x) for x in value)
