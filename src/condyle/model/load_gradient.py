"""Gradient of the virtual power of loads, psi = sum of X . load + x . f, for gradient.py.

Laws see poses, velocities, coordinates and speeds. They are written over symbols for these and differentiated
automatically; what follows from the symbols is left to the recursion. A small turn e of a body with its pose,
velocity, X and the load on it changes
-psi by e . T_w, a small step by p_bar:

  T_w = -(R x dpsi/dR + w x dpsi/dw + v x dpsi/dv + X x load),   R x dpsi/dR = sum over columns            (1)
  p_bar = -dpsi/dp,   v_bar = -dpsi/dv,   w_bar has -dpsi/dw,   F has -load                                (2)

Where a law asks for the momentum M u it sees r and H too, which turn with the parent: their part of (1) is
the parent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import casadi as ca

from condyle.dynamics.aba import ZERO, Solution
from condyle.dynamics.gradient import LoadGradient
from condyle.dynamics.inertia import add, inner
from condyle.dynamics.kinematics import Kinematics, Pair
from condyle.dynamics.view import Loads
from condyle.mobilizers import motion
from condyle.model.looped.between import OnDemand
from condyle.model.looped.draft import COMMON, Draft, flat, packed, unpacked
from condyle.model.looped.law_rows import LawKind
from condyle.model.looped.span_rows import SpanKind
from condyle.model.symbols import Symbols
from condyle.native.tables.lookup import Closure

cross = ca.cross


class Line(Protocol):
    """A straight line over symbols that are made when asked for: condyle.model.looped.between, or Cut."""

    symbols: Symbols
    kin: Kinematics

    def read(self, B: int, name: str) -> Any:
        """X of a body, or x of its speeds."""


class Cut:
    """A straight line within an unrolled recursion: symbols in place of what is computed already, which
    `closed` puts back."""

    def __init__(self, symbols: Symbols, kin: Kinematics, solved: Solution) -> None:
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

    def read(self, B: int, name: str) -> Any:
        return self._known[name][B]

    def _symbol(self, name: str, key: int) -> Any:
        value = self._values[name][key]
        column = ca.SX.sym(f"{name}{key}", packed(value).numel())
        self._columns.append((column, packed(value)))
        return unpacked(value, column)

    def closed(self, gradient: LoadGradient) -> LoadGradient:
        """With the values of the symbols in their place."""
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


def load_gradient(line: Line, loads: Loads) -> LoadGradient | None:
    """The gradient of loads on the line, or None if there are none."""
    s, kin = line.symbols, line.kin
    tree = s.model.tree
    if not loads.bodies and not loads.mobility:
        return None
    owner = {k: (b.index, k - b.u.start) for b in tree.owners for k in tree.speeds_of(b.index)}
    psi = sum((inner(line.read(B, "X"), F) for B, F in loads.bodies.items()), ca.SX(0))
    for k, f in loads.mobility.items():
        B, j = owner[k]
        psi += line.read(B, "x")[j] * f
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

    def turn(B: int | None, by: ca.SX, step: Any = None) -> None:
        if B is not None:
            out.T[B] = add(out.T.get(B, ZERO), (by, ca.SX(3, 1) if step is None else step))

    for B, F in out.F.items():
        turn(B, _crossed(line.read(B, "X"), F))  # (1)
    for B, R_bar in bar["R"].items():
        turn(B, sum((cross(seen["R"][B][:, j], R_bar[:, j]) for j in range(3)), ca.SX(3, 1)))
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


def row_gradient(kind: LawKind, d: Draft, column: Mapping[str, ca.SX]) -> dict[str, ca.SX]:
    """(1), (2) of a law in a table: what it adds to F, w_bar, v_bar and T of the rows of its bodies, by
    place."""
    loads, out = kind.loads(d, column), dict[str, ca.SX]()
    X = {link: d.get(link, "X") for link in loads}
    psi = sum((inner(X[link], F) for link, F in loads.items()), ca.SX(0))
    seen = [(link, name) for link in kind.links for name in ("R", "p", "V") if f"{link}.{name}" in d.reads]
    back = _bars(-psi, [d.reads[f"{link}.{name}"] for link, name in seen])
    bar = {
        (link, name): unpacked(COMMON[name], ca.densify(x))
        for (link, name), x in zip(seen, back, strict=True)
    }
    for link in kind.links:
        turn, step = ca.SX(3, 1), bar.get((link, "p"), ca.SX(3, 1))
        if link in loads:
            F = -loads[link][0], -loads[link][1]
            out[f"{link}.F"] = ca.densify(ca.vertcat(*F))
            turn += _crossed(X[link], F)
        if (link, "R") in bar:
            R, R_bar = d.get(link, "R"), bar[link, "R"]
            turn += sum((cross(R[:, j], R_bar[:, j]) for j in range(3)), ca.SX(3, 1))
        if (link, "V") in bar:
            V_bar = bar[link, "V"]
            out |= {f"{link}.w_bar": V_bar[0], f"{link}.v_bar": V_bar[1]}
            turn += _crossed(d.get(link, "V"), V_bar)
        out[f"{link}.T"] = ca.densify(ca.vertcat(turn, step))
    return out


def span_gradient(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
    """(1), (2) of a span of a path in a table, as row_gradient: -psi is T w, where w is the rate of the
    length under X (looped/gradient.py). With bars of length and rate it depends on a span's poses by

        L_bar l + sum over bodies of (v_bar V + T X) . W                                               (3)
    """
    l, W, _ = kind.traced(d, numbers, "me.rows")
    L_bar, v_bar, T = (d.read(f"law.{name}", 1) for name in ("L_bar", "v_bar", "tension"))
    V, X = ({link: d.get(link, name) for link in W} for name in ("V", "X"))
    value = L_bar * l + sum(
        (v_bar * inner(V[link], F) + T * inner(X[link], F) for link, F in W.items()), ca.SX(0)
    )  # (3)
    seen = [(link, name) for link in kind.links for name in ("R", "p") if f"{link}.{name}" in d.reads]
    back = _bars(value, [d.reads[f"{link}.{name}"] for link, name in seen])
    bar = {at: ca.densify(x) for at, x in zip(seen, back, strict=True)}
    out: dict[str, ca.SX] = {}
    for link in W:
        R, F = d.get(link, "R"), (T * W[link][0], T * W[link][1])
        V_bar = v_bar * W[link][0], v_bar * W[link][1]
        R_bar = ca.reshape(bar[link, "R"], 3, 3)
        turn = sum((cross(R[:, j], R_bar[:, j]) for j in range(3)), ca.SX(3, 1))
        turn += _crossed(X[link], F) + _crossed(V[link], V_bar)
        out |= {
            f"{link}.F": ca.vertcat(*F),
            f"{link}.w_bar": V_bar[0],
            f"{link}.v_bar": V_bar[1],
            f"{link}.T": ca.vertcat(turn, bar[link, "p"]),
        }
    return {place: ca.densify(x) for place, x in out.items()}


def _alike(structure: Any, values: Iterator[ca.SX]) -> Any:
    """Values one after the other, in the structure of others."""
    return (
        next(values)
        if isinstance(structure, ca.SX)
        else type(structure)(_alike(x, values) for x in structure)
    )


def _crossed(a: Pair, b: Pair) -> ca.SX:
    return cross(a[0], b[0]) + cross(a[1], b[1])


def _bars(psi: ca.SX, variables: list[ca.SX]) -> Iterator[ca.SX]:
    """d psi/d x for each variable, of its shape; entries that are structurally zero have no derivative."""
    every = ca.vertcat(ca.SX(0, 1), *(x.nz[:] for x in variables))
    back, start = ca.jtimes(psi, every, ca.SX(1), True), 0
    for x in variables:
        yield ca.sparsify(ca.SX(x.sparsity(), ca.densify(back[start : start + x.nnz()])))
        start += x.nnz()
