"""Gradient of the virtual power of loads, psi = sum of X . load + x . f, for gradient.py.

Laws depend on poses, velocities, coordinates and speeds. They are traced with symbols for these and
differentiated automatically; the recursion continues from these symbols. A small rotation e of a body, with
its pose, velocity, X and the load on it, changes -psi by e . T_w; p_bar is the change per small
displacement:

  T_w = -(R x dpsi/dR + w x dpsi/dw + v x dpsi/dv + X x load),   R x dpsi/dR = sum over columns            (1)
  p_bar = -dpsi/dp,   v_bar = -dpsi/dv,   w_bar has -dpsi/dw,   F has -load                                (2)

A law that uses the momentum M u also depends on r and H, which rotate with the parent: their part of (1)
goes to the parent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import casadi as ca

from condyle.arrays import SX
from condyle.dynamics.aba import ZERO, TreeSolution
from condyle.dynamics.gradient import LoadGradient
from condyle.dynamics.inertia import add, inner
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.dynamics.row import BodyFields, RowField
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import motion
from condyle.model.looped.draft import KernelDraft, OnDemand, flat, packed, unpacked
from condyle.model.looped.law_rows import LawKind
from condyle.model.looped.path_kinds import SpanKind
from condyle.model.looped.path_rows import SpanKernel
from condyle.model.symbols import Symbols
from condyle.native.tables.lookup import Closure

cross = ca.cross


class LawLine(Protocol):
    """Straight-line code over symbols created on demand: condyle.model.looped.draft, or Cut."""

    symbols: Symbols
    kin: Kinematics

    def body(self, B: int) -> BodyFields:
        """Symbols for X of a body and x of its speeds."""


class Cut:
    """Straight-line code within an unrolled recursion: symbols replace values already computed, which
    `closed` substitutes back.
    """

    def __init__(self, symbols: Symbols, kin: Kinematics, solved: TreeSolution) -> None:
        tree = symbols.model.tree
        self.symbols = symbols
        self._values: dict[str, Mapping[Any, Any]] = {
            "R": kin.R_GM,
            "p": kin.p_GM,
            "r": kin.p_PM,
            "V": kin.V_GM,
            "H": kin.H,
            "X": solved.X,
            "x": {b.index: ca.vertsplit(solved.x)[b.u] for b in tree.bodies},
        }
        self._columns: list[tuple[ca.SX, ca.SX]] = []
        ask = lambda name: OnDemand(lambda key: self._symbol(name, key))
        self.kin = Kinematics(
            kin.placed, R_GM=ask("R"), p_GM=ask("p"), p_PM=ask("r"), V_GM=ask("V"), H=ask("H")
        )
        self._known = {"X": ask("X"), "x": ask("x")}

    def body(self, B: int) -> BodyFields:
        return BodyFields(self, B)

    def load(self, B: int, field: RowField[Any]) -> Any:
        return self._known[field.name][B]

    def save(self, B: int, field: RowField[Any], value: Any) -> None:
        raise NotImplementedError("nothing is left in a recursion that is written already")

    def _symbol(self, name: str, key: int) -> Any:
        value = self._values[name][key]
        column = ca.SX.sym(f"{name}{key}", packed(value).numel())
        self._columns.append((column, packed(value)))
        return unpacked(value, column)

    def closed(self, gradient: LoadGradient) -> LoadGradient:
        """The gradient with the symbols replaced by their values."""
        parts: list[dict[int, Any]] = [
            gradient.F,
            gradient.V,
            gradient.T,
            gradient.r,
            gradient.H,
            gradient.q,
            gradient.u,
        ]
        outputs = [x for part in parts for value in part.values() for x in flat(value)]
        closure = Closure("loads", [column for column, _ in self._columns], outputs)
        results = iter(closure(*(value for _, value in self._columns)))

        def same(value: Any) -> Any:
            return next(results) if isinstance(value, ca.SX) else type(value)(same(x) for x in value)

        return LoadGradient(*({key: same(value) for key, value in part.items()} for part in parts))


def load_gradient(line: LawLine, loads: TreeLoads) -> LoadGradient | None:
    """The gradient of loads as code of `line`, or None if there are no loads."""
    s, kin = line.symbols, line.kin
    tree = s.model.tree
    if not loads.bodies and not loads.mobility:
        return None
    owner = {k: (b.index, k - b.u.start) for b in tree.owners for k in tree.speeds_of(b.index)}
    psi = sum((inner(line.body(B).X, F) for B, F in loads.bodies.items()), ca.SX(0))
    for k, f in loads.mobility.items():
        B, j = owner[k]
        psi += line.body(B).x[j] * f
    seen: dict[str, dict[int, Any]] = {
        "R": {**kin.R_GM},
        "p": {**kin.p_GM},
        "V": {**kin.V_GM},
        "r": {**kin.p_PM},
        "H": {**kin.H},
    }
    bars = _bars(
        -psi, [s["q"], s["u"], *(x for part in seen.values() for value in part.values() for x in flat(value))]
    )
    dq, du = next(bars), next(bars)
    bar: dict[str, dict[int, Any]] = {
        name: {key: _alike(value, bars) for key, value in part.items()} for name, part in seen.items()
    }
    out = LoadGradient(
        F={B: (-F[0], -F[1]) for B, F in loads.bodies.items()}, V=bar["V"], r=bar["r"], H=bar["H"]
    )

    def turn(B: int | None, by: SX, step: Any = None) -> None:
        if B is not None:
            out.T[B] = add(out.T.get(B, ZERO), (by, ca.SX(3, 1) if step is None else step))

    for B, F in out.F.items():
        turn(B, _crossed(line.body(B).X, F))  # (1)
    for B, R_bar in bar["R"].items():
        turn(B, _turned(seen["R"][B], R_bar))
    for B, V_bar in bar["V"].items():
        turn(B, _crossed(seen["V"][B], V_bar))
    for B, p_bar in bar["p"].items():
        turn(B, ca.SX(3, 1), p_bar)  # (2)
    for B, r_bar in bar["r"].items():
        turn(tree.parent(B), cross(seen["r"][B], r_bar))
    for B, H_bar in bar["H"].items():
        for h, h_bar in zip(seen["H"][B], H_bar, strict=True):
            turn(tree.parent(B), _crossed(h, h_bar))
    for b in tree.owners:
        if dq[b.q].nnz():
            rate = motion(b.mobilizer, s.t, s["q"][b.q], s["u"][b.u]).qdot
            out.q[b.index] = ca.densify(ca.jtimes(rate, s["u"][b.u], dq[b.q], True))
        if du[b.u].nnz():
            out.u[b.index] = ca.densify(du[b.u])
    return out


def row_gradient(kind: LawKind, d: KernelDraft, column: Mapping[str, SX]) -> None:
    """(1), (2) of a law in a table: its contributions to F, w_bar, v_bar and T of its bodies."""
    loads = kind.loads(d, column)
    psi = sum((inner(d.row(link).X, F) for link, F in loads.items()), ca.SX(0))
    bar = _seen_bars(d, kind.links, -psi, (BodyFields.R, BodyFields.p, BodyFields.V))
    for link in kind.links:
        body, turn, F = d.row(link), ca.SX(3, 1), None
        if link in loads:
            F = -loads[link][0], -loads[link][1]
            turn += _crossed(body.X, F)
        if (link, "R") in bar:
            turn += _turned(body.R, bar[link, "R"])
        V_bar = bar.get((link, "V"))
        if V_bar is not None:
            turn += _crossed(body.V, V_bar)
        _add_bars(d, body, F, V_bar, (turn, bar.get((link, "p"), ca.SX(3, 1))))


def span_gradient(kind: SpanKind, d: SpanKernel, numbers: SX) -> None:
    """(1), (2) of a span of a path in a table, like row_gradient: -psi is T w, where w is the rate of the
    length under X (looped/gradient.py). With the bars of length and rate, its dependence on a span's poses
    is

        L_bar l + sum over bodies of (v_bar V + T X) . W                                               (3)
    """
    l, W, _ = kind.traced(d, numbers, d.me.rows)
    L_bar, v_bar, T = d.law.L_bar, d.law.v_bar, d.law.tension
    value = L_bar * l + sum(
        (v_bar * inner(d.row(link).V, F) + T * inner(d.row(link).X, F) for link, F in W.items()), ca.SX(0)
    )  # (3)
    bar = _seen_bars(d, kind.links, value, (BodyFields.R, BodyFields.p))
    for link, (n, f) in W.items():
        body, F, V_bar = d.row(link), (T * n, T * f), (v_bar * n, v_bar * f)
        turn = _turned(body.R, bar[link, "R"]) + (_crossed(body.X, F) + _crossed(body.V, V_bar))
        _add_bars(d, body, F, V_bar, (turn, bar[link, "p"]))


def _seen_bars(d: KernelDraft, links: Sequence[str], value: SX, fields: Sequence[Any]) -> dict[Any, Any]:
    """d value/d field for the fields of bodies that the kernel has read, by link and name."""
    seen = [(link, field) for link in links for field in fields if f"{link}.{field.name}" in d.reads]
    back = _bars(value, [d.reads[f"{link}.{field.name}"] for link, field in seen])
    return {
        (link, field.name): unpacked(field.like, ca.densify(x))
        for (link, field), x in zip(seen, back, strict=True)
    }


def _add_bars(d: KernelDraft, body: BodyFields, F: Pair | None, V_bar: Pair | None, T: Pair) -> None:
    if F is not None:
        d.add(body, BodyFields.F, F)
    if V_bar is not None:
        d.add(body, BodyFields.w_bar, V_bar[0])
        d.add(body, BodyFields.v_bar, V_bar[1])
    d.add(body, BodyFields.T, T)


def _turned(R: SX, R_bar: SX) -> SX:
    return sum((cross(R[:, j], R_bar[:, j]) for j in range(3)), ca.SX(3, 1))


def _alike(structure: Any, values: Iterator[SX]) -> Any:
    """Consecutive values, arranged in the given structure."""
    return (
        next(values)
        if isinstance(structure, ca.SX)
        else type(structure)(_alike(x, values) for x in structure)
    )


def _crossed(a: Pair, b: Pair) -> SX:
    return cross(a[0], b[0]) + cross(a[1], b[1])


def _bars(psi: SX, variables: list[SX]) -> Iterator[SX]:
    """d psi/d x for each variable, in its shape; structurally zero entries have no derivative."""
    every = ca.vertcat(ca.SX(0, 1), *(x.nz[:] for x in variables))
    back, start = ca.jtimes(psi, every, ca.SX(1), True), 0
    for x in variables:
        yield ca.sparsify(ca.SX(x.sparsity(), ca.densify(back[start : start + x.nnz()])))
        start += x.nnz()
