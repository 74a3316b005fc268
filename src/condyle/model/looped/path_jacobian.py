"""What laws along paths add to the Jacobian of forward dynamics in the looped layout (jacobian.py).

With loads -T W_i of a span on bodies i (path_rows.py), a change of q_j moves the bodies at or beyond J, its
body, with S_j, and their velocities by dV = S_j x V + G_j (dynamics/derivatives.py (2)). Spans of a law give

    r_j = dL/dq_j = sum of W_i . S_j,    s_j = dv/dq_j = sum of dW_i . V_i + W_i . dV_i     over moved i   (1)
    dT/dq_j = T_L r_j + T_v s_j,         dT/du_j = T_v r_j,        d(load)/dz = -T_z W                     (2)
    d(load_i)/dq_j = -(dT/dq_j W_i + T dW_i),    d(load_i)/du_j = -dT/du_j W_i                             (3)

A span that moves as a whole changes nothing, so that only speeds that it crosses count. Loads that move with
their bodies are part of the force F that a body carries; what (3) adds to that is summed tip to base for
every speed j, and S_k times the sum is what f_k changes by.

Rows: an *arm* for each law and speed, with (2); a *turn* for each span and speed that it crosses; a *cell*
for each body and speed, with sums of (3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.dynamics.kinematics import Pair
from condyle.forces.path import PathLaw
from condyle.model.looped.draft import PAIR, Draft, unpacked
from condyle.model.looped.path_laws import LawView, PathKind
from condyle.model.looped.path_rows import PathRows, tension, wrenches
from condyle.model.looped.span_rows import SpanKind
from condyle.model.looped.tables import Looped
from condyle.native.loops.sweep import RowKernel

cross = ca.cross


class PathColumns:
    """The passes being written, after those of bodies and their speeds.

    Args:
        paths: the rows of laws and spans.
        place: where the columns of each variable begin among those of all, in rows of `width` numbers.
        speeds: the row of the first speed.
    """

    def __init__(
        self, looped: Looped, paths: PathRows, place: Mapping[str, int], width: int, speeds: int
    ) -> None:
        self.looped, self.paths, self.place, self.width, self.speeds = looped, paths, place, width, speeds
        self.tree = looped.model.tree
        self._add_rows()

    def _add_rows(self) -> None:
        looped, tree, paths = self.looped, self.tree, self.paths
        law, parent = looped.links["law"], tree.parent
        crossed = [(row, j, sides) for row, B, sides in paths.crossed() for j in tree.speeds_of(B)]
        arms = sorted({(int(law[row]), j) for row, j, _ in crossed})
        touched = {
            (row, j): [int(looped.links[f"end{i}"][row]) - 1 for i in range(len(sides))]
            for row, j, sides in crossed
        }
        wanted = {(A, j) for (_, j), ends in touched.items() for B in ends if B >= 0 for A in tree.path(B)}
        cells = [(B, j) for B in tree.tip_to_base for j in range(tree.nu) if (B, j) in wanted]
        types, first, fresh = list[int](), len(looped.types), looped.fresh_type
        known: dict[Any, int] = {}

        def of_type(*key: Any) -> int:
            return known.setdefault(key, fresh + len(known))

        links: dict[str, dict[int, int]] = {}

        def new(t: int, **leads: int) -> int:
            row = first + len(types)
            types.append(t)
            for link, to in leads.items():
                links.setdefault(link, {})[row] = to
            return row

        nothing = new(of_type("cell", 0))
        where = {(-1, j): nothing for j in range(tree.nu)}
        where |= {key: nothing + 1 + n for n, key in enumerate(cells)}
        for B, j in cells:
            own = {f"own{n}": self.speeds + k for n, k in enumerate(tree.speeds_of(B))}
            P = parent(B)
            new(of_type("cell", len(own)), up=nothing if P is None else where[P, j], **own)
        links.setdefault("up", {})[nothing] = nothing
        arm = {(r, j): new(of_type("arm", self._kind(r)), law=r) for r, j in arms}
        turns = []
        for row, j, _ in crossed:
            bodies = touched[row, j]
            ends = {f"end{i}": B + 1 for i, B in enumerate(bodies)}
            to = {f"cell{i}": where[B, j] for i, B in enumerate(bodies)}
            r = int(law[row])
            turns.append(
                new(
                    of_type("turn", int(looped.types[row])),
                    span=row,
                    law=r,
                    arm=arm[r, j],
                    speed=self.speeds + j,
                    **ends,
                    **to,
                )
            )
        looped.add_rows(np.array(types, dtype=np.int64), np.zeros(len(types), dtype=np.int64), links)
        self.types = known
        self._tables(crossed, turns, cells, where, arm)

    def _kind(self, law: int) -> int:
        """Which kind a law is, by its row."""
        return int(self.looped.types[law] - self.paths.types[0])

    def _span_kind(self, t: int) -> int:
        return t - int(self.paths.types[len(self.paths.kinds)])

    def _tables(
        self,
        crossed: Sequence[Any],
        turns: Sequence[int],
        cells: Sequence[tuple[int, int]],
        where: Mapping[tuple[int, int], int],
        arm: Mapping[tuple[int, int], int],
    ) -> None:
        """Constants of turns, and where results of cells and arms are."""
        looped, tree, n = self.looped, self.tree, len(self.looped.types)
        for t in {int(looped.types[row]) for row, _, _ in crossed}:
            k = self._span_kind(t)
            known = looped.constants[f"span{k}.numbers"]
            numbers, sides = np.zeros((n, known.shape[1])), np.zeros((n, len(self.paths.spans[k].links)))
            for r, (row, _, side) in zip(turns, crossed, strict=True):
                if looped.types[row] == t:
                    numbers[r], sides[r] = known[row], side
            looped.constants |= {f"turn{k}.numbers": numbers, f"turn{k}.sides": sides}
        for name in ("q", "u"):
            if name in self.place:
                for e in range(max(b.mobilizer.nu for b in tree.bodies)):
                    at = np.zeros(n, dtype=np.int64)
                    for B, j in cells:
                        if e < len(tree.speeds_of(B)):
                            k = tree.bodies[B].u.start + e
                            at[where[B, j]] = k * self.width + self.place[name] + j
                    looped.windows[f"cell_{name}{e}"] = "columns", at
        if "z" in self.place:
            _, z = looped.windows["law_z"]
            at = np.zeros(n, dtype=np.int64)
            for (r, j), row in arm.items():
                at[row] = j * self.width + self.place["z"] + z[r] - looped.model.tail["z"].start
            looped.windows["arm_z"] = "columns", at

    # ---- passes

    def write(self) -> None:
        self.paths.law_pass(self._derivatives)
        self._pass(cell=self._empty_cell, arm=self._empty_arm)
        self._pass(turn=self._turn)
        self._pass(arm=self._arm)
        self._pass(turn=self._push)
        self._pass(cell=self._cell)

    def _pass(self, **write: Any) -> None:
        kernels = {}
        for (what, number), t in self.types.items():
            if what in write:
                d = self.looped.draft()
                adds = write[what](d, number) or {}
                kernels[t] = RowKernel(d.reads, d.writes, adds)
        self.looped.extra_pass(kernels)

    def _derivatives(self, kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
        """T_L, T_v and T_z."""
        T = tension(d, law, view)
        for name, x in (("T_L", d.read("me.L", 1)), ("T_v", d.read("me.v", 1)), ("T_z", view.z)):
            if x.numel():
                d.writes[f"me.{name}"] = ca.densify(ca.jacobian(T, x)).T

    def _empty_cell(self, d: Draft, number: int) -> None:
        d.writes |= {"me.by_q": ca.SX.zeros(6, 1), "me.by_u": ca.SX.zeros(6, 1)}

    def _empty_arm(self, d: Draft, number: int) -> None:
        d.writes |= {"me.r": ca.SX.zeros(1, 1), "me.s": ca.SX.zeros(1, 1)}

    def _span(self, d: Draft, t: int) -> tuple[SpanKind, ca.SX, ca.SX]:
        """The kind of a turn's span, its numbers and sides."""
        k = self._span_kind(t)
        kind = self.paths.spans[k]
        assert kind.span.numbers is not None
        return (
            kind,
            d.read(f"constant.turn{k}.numbers", len(kind.span.numbers)),
            d.read(f"constant.turn{k}.sides", len(kind.links)),
        )

    def _turn(self, d: Draft, t: int) -> dict[str, ca.SX]:
        """(1), and dW of each end."""
        kind, numbers, sides = self._span(d, t)
        S, G = (unpacked(PAIR, d.read(f"speed.{name}", 6)) for name in ("S", "G"))
        W = wrenches(kind, kind.traced(d, numbers, "span.rows")[1])
        found, steps, moves = d.read("span.W", W.numel()), dict[str, ca.SX](), list[tuple[ca.SX, ca.SX]]()
        for i, link in enumerate(kind.links):
            R, p = d.get(link, "R"), d.read(f"{link}.p_O", 3)
            step = sides[i] * (S[1] + cross(S[0], p))
            steps |= {f"{link}.R": ca.vec(sides[i] * ca.skew(S[0]) @ R), f"{link}.p": step}
            moves.append((step, sides[i]))
        seen = [place for place in steps if place in d.reads]
        dW = ca.jtimes(
            W, ca.vertcat(*(d.reads[place] for place in seen)), ca.vertcat(*(steps[place] for place in seen))
        )
        r = s = ca.SX(0)
        for i, (link, (step, side)) in enumerate(zip(kind.links, moves, strict=True)):
            n, f = found[6 * i : 6 * i + 3], found[6 * i + 3 : 6 * i + 6]
            (w, v), p = d.get(link, "V"), d.read(f"{link}.p_O", 3)
            dw = side * (cross(S[0], w) + G[0])
            dv = side * (cross(S[0], v + cross(p, w)) + cross(S[1], w) + G[1]) + cross(dw, p) + cross(w, step)
            r += side * ca.dot(n, S[0]) + ca.dot(f, step)  # (1)
            s += ca.dot(dW[6 * i : 6 * i + 6], ca.vertcat(w, v)) + ca.dot(n, dw) + ca.dot(f, dv)
        d.writes["me.dW"] = ca.densify(dW)
        return {"arm.r": ca.densify(r), "arm.s": ca.densify(s)}

    def _arm(self, d: Draft, number: int) -> None:
        """(2)"""
        r, s, T_L, T_v = (d.read(place, 1) for place in ("me.r", "me.s", "law.T_L", "law.T_v"))
        d.writes |= {"me.dT_q": T_L * r + T_v * s, "me.dT_u": T_v * r}
        if "z" in self.place and (states := len(self.paths.kinds[number].law.states)):
            d.writes["arm_z"] = ca.densify(-r * d.read("law.T_z", states))

    def _push(self, d: Draft, t: int) -> dict[str, ca.SX]:
        """(3) without what moves with the bodies, about O."""
        kind, _, sides = self._span(d, t)
        S, adds = unpacked(PAIR, d.read("speed.S", 6)), dict[str, ca.SX]()
        W, dW = d.read("span.W", 6 * len(kind.links)), d.read("me.dW", 6 * len(kind.links))
        T, dT_q, dT_u = (d.read(place, 1) for place in ("law.tension", "arm.dT_q", "arm.dT_u"))
        for i, link in enumerate(kind.links):
            p, at = d.read(f"{link}.p_O", 3), slice(6 * i, 6 * i + 6)
            step = sides[i] * (S[1] + cross(S[0], p))
            w, dw = _about(p, W[at]), _about(p, dW[at])
            dw = dw[0] + cross(step, w[1]), dw[1]
            carried = cross(S[0], w[0]) + cross(S[1], w[1]), cross(S[0], w[1])
            by_q = [-(dT_q * x + T * (dx - sides[i] * c)) for x, dx, c in zip(w, dw, carried, strict=True)]
            adds[f"cell{i}.by_q"] = ca.densify(ca.vertcat(*by_q))
            adds[f"cell{i}.by_u"] = ca.densify(-dT_u * ca.vertcat(*w))
        return adds

    def _cell(self, d: Draft, speeds: int) -> dict[str, ca.SX]:
        sums = {name: d.read(f"me.by_{name}", 6) for name in ("q", "u")}
        for e in range(speeds):
            S = d.read(f"own{e}.S", 6)
            for name, F in sums.items():
                if name in self.place:
                    window = f"cell_{name}{e}"
                    d.writes[window] = d.read(window, 1) + ca.dot(S, F)
        return {f"up.by_{name}": F for name, F in sums.items()}


def _about(p: ca.SX, F: ca.SX) -> Pair:
    """A force about the point at p, about O."""
    return F[:3] + cross(p, F[3:]), F[3:]
