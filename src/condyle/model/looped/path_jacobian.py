"""Contribution of laws along paths to the Jacobian of forward dynamics in the looped layout (jacobian.py).

With loads -T W_i of a span on bodies i (path_rows.py), a change of q_j moves the bodies at or beyond J, its
body, by S_j, and changes their velocities by dV = S_j x V + G_j (dynamics/derivatives.py (2)). The spans of
a law give

    r_j = dL/dq_j = sum of W_i . S_j,    s_j = dv/dq_j = sum of dW_i . V_i + W_i . dV_i     over moved i   (1)
    dT/dq_j = T_L r_j + T_v s_j,         dT/du_j = T_v r_j,        d(load)/dz = -T_z W                     (2)
    d(load_i)/dq_j = -(dT/dq_j W_i + T dW_i),    d(load_i)/du_j = -dT/du_j W_i                             (3)

A span that moves rigidly does not change, so only speeds that it crosses contribute. Loads that move
rigidly with their bodies are part of the force F summed over the descendants of a body; the terms of (3)
are summed tip to base for every speed j, and S_k times the sum is the change of f_k.

Rows: an *arm* for each law and speed, with (2); a *turn* for each span and speed that it crosses; a *pull*
for each span and speed that only other spans of its law cross, where only T changes; a *cell* for each body
and speed, with sums of (3). Loads that depend on one body alone, such as those of contacts, may be
included: if such a load changes by d(load) = A x + B G, about M's origin, in addition to moving rigidly
with the body,

    d(load)/dq_j = A S_j + B G_j,    d(load)/du_j = B S_j                                                  (4)

has a row *felt* for each such body and each speed between it and ground.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.kinematics import Pair
from condyle.dynamics.row import NUMBER, PAIR, VECTOR, RowField, RowFields
from condyle.forces.path import PathLaw
from condyle.model.looped.draft import KernelDraft
from condyle.model.looped.path_kinds import LawView, PathKind, SpanKind
from condyle.model.looped.path_rows import LawFields, LawKernel, PathRows, SpanFields, tension, wrenches
from condyle.model.looped.tables import Looped, NewRows

cross = ca.cross


class SpeedFields(RowFields):
    """Fields of a speed, about O: motion = (S, g, E, K) and force = (row_I, row_Q, dF_q, dF_u) as in
    derivatives.Column; S and G."""

    motion = RowField[tuple[Pair, ca.SX, Pair, Pair]]((PAIR, VECTOR, PAIR, PAIR))
    force = RowField[tuple[Pair, ca.SX, Pair, Pair]]((PAIR, VECTOR, PAIR, PAIR))
    S = RowField[Pair](PAIR)
    G = RowField[Pair](PAIR)


class ArmFields(RowFields):
    """Fields of an arm: (1), (2)."""

    r = RowField[ca.SX](NUMBER)
    s = RowField[ca.SX](NUMBER)
    dT_q = RowField[ca.SX](NUMBER)
    dT_u = RowField[ca.SX](NUMBER)


class CellFields(RowFields):
    """Fields of a cell: sums of (3)."""

    by_q = RowField[ca.SX](ca.SX.ones(6, 1))
    by_u = RowField[ca.SX](ca.SX.ones(6, 1))


FELT = RowField[ca.SX](ca.SX.ones(6, 12), name="felt")
"""Field of a body: (A, B) of (4)."""


class TurnKernel(KernelDraft):
    """The kernel of the turns of a kind of spans."""

    def __init__(self, looped: Looped, kind: SpanKind, number: int) -> None:
        super().__init__(looped)
        assert kind.span.numbers is not None
        self.kind_of_span, self.ends, self.row_size = kind, len(kind.links), kind.span.row_size
        self.me, self.span = SpanFields(self, "me"), SpanFields(self, "span")
        self.arm, self.speed = ArmFields(self, "arm"), SpeedFields(self, "speed")
        self.numbers = self.read(f"constant.turn{number}.numbers", len(kind.span.numbers))
        self.sides = self.read(f"constant.turn{number}.sides", self.ends)


class PullKernel(KernelDraft):
    """The kernel of the pulls of a kind of spans."""

    def __init__(self, looped: Looped, kind: SpanKind) -> None:
        super().__init__(looped)
        self.kind_of_span, self.ends, self.row_size = kind, len(kind.links), kind.span.row_size
        self.span, self.arm = SpanFields(self, "span"), ArmFields(self, "arm")


class PathColumns:
    """The passes, being written; they come after those of bodies and their speeds.

    Args:
        paths: the rows of laws and spans.
        place: the result that holds the columns of each variable, and where they begin in its rows of `width` numbers.
        speeds: the row of the first speed.
        felt: bodies whose loads depend on them alone: (4).

    Attributes:
        local: whether only the contributions of a law to the equations of the speeds that it crosses are
            needed. Then the passes before do not rotate loads with their bodies, and the rotated loads of a
            turn are added at the bodies between the speed's body and ground.
    """

    local = False

    def __init__(
        self,
        looped: Looped,
        paths: PathRows | None,
        place: Mapping[str, tuple[str, int]],
        width: int,
        speeds: int,
        felt: Collection[int] = (),
    ) -> None:
        self.looped, self.paths, self.place, self.width, self.speeds = looped, paths, place, width, speeds
        self.tree, self.felt = looped.model.tree, felt
        self._add_rows()

    def _add_rows(self) -> None:
        looped, tree, paths, rows = self.looped, self.tree, self.paths, NewRows(self.looped)
        crossed = []
        if paths is not None:
            law, first_span = looped.links["law"], int(paths.types[len(paths.kinds)])
            crossed = [(row, j, sides) for row, B, sides in paths.crossed() for j in tree.speeds_of(B)]
        before = {B: [j for A in tree.path(B) for j in tree.speeds_of(A)] for B in self.felt}
        arms = sorted({(int(law[row]), j) for row, j, _ in crossed})
        ends_of = {
            row: [int(looped.links[f"end{i}"][row]) - 1 for i in range(len(sides))]
            for row, _, sides in crossed
        }
        touched = {(row, j): ends_of[row] for row, j, _ in crossed}
        others: dict[int, list[int]] = {}  # spans by law: a span that crosses no speed has no pulls
        for row in ends_of:
            others.setdefault(int(law[row]), []).append(row)
        pulls = [(row, r, j) for r, j in arms for row in others[r] if (row, j) not in touched]
        touched |= {(row, j): ends_of[row] for row, _, j in pulls}
        if self.local:
            touching = {B for ends in ends_of.values() for B in ends}
            above = {B: frozenset(tree.path(B)) if B >= 0 else frozenset() for B in touching}
            between: dict[int, set[int]] = {}
            for row, ends in ends_of.items():
                reach = [above[B] for B in ends]
                between.setdefault(int(law[row]), set()).update(
                    frozenset.union(*reach) - frozenset.intersection(*reach)
                )
            wanted = {(A, j) for r, j in arms for A in between[r]}
        else:
            wanted = {
                (A, j) for (_, j), ends in touched.items() for B in ends if B >= 0 for A in tree.path(B)
            }
            wanted |= {(A, j) for B, speeds in before.items() for A in tree.path(B) for j in speeds}
        depth_first = {B: n for n, B in enumerate(tree.tip_to_base)}
        cells = sorted(wanted, key=lambda key: (depth_first[key[0]], key[1]))
        nothing = rows.add("cell", 0)
        where: defaultdict[tuple[int | None, int], int] = defaultdict(lambda: nothing)
        where.update((key, nothing + 1 + n) for n, key in enumerate(cells))
        owner = [b.index for b in tree.bodies for _ in tree.speeds_of(b.index)]
        rows.link("up", {nothing: nothing})
        for B, j in cells:
            own = {f"own{n}": self.speeds + k for n, k in enumerate(tree.speeds_of(B))}
            rows.add("cell", len(own), up=where[tree.parent(B), j], **own)
        for B, speeds in before.items():
            for j in speeds:
                rows.add("felt", 0, felt_by=B + 1, cell0=where[B, j], speed=self.speeds + j)
        arm = {
            (r, j): rows.add("arm", int(looped.types[r] - looped.types[self._first_law]), law=r)
            for r, j in arms
        }
        turns: dict[int, dict[int, Any]] = {}  # spans and sides, by kind and row
        for row, j, sides in crossed:
            links = {f"end{i}": B + 1 for i, B in enumerate(touched[row, j])}
            links |= {f"cell{i}": where[B, j] for i, B in enumerate(touched[row, j])}
            r, kind = int(law[row]), int(looped.types[row]) - first_span
            if self.local:
                links["above"] = where[tree.parent(owner[j]), j]
            turn = rows.add("turn", kind, span=row, law=r, arm=arm[r, j], speed=self.speeds + j, **links)
            turns.setdefault(kind, {})[turn] = row, sides
        for row, r, j in pulls:
            links = {f"end{i}": B + 1 for i, B in enumerate(touched[row, j])}
            links |= {f"cell{i}": where[B, j] for i, B in enumerate(touched[row, j])}
            rows.add("pull", int(looped.types[row]) - first_span, span=row, arm=arm[r, j], **links)
        rows.finish()
        self.types = rows.types
        for kind, known in turns.items():
            spans, beyond = zip(*known.values(), strict=True)
            numbers = looped.constants[f"span{kind}.numbers"][list(spans)]
            for name, x in (("numbers", numbers), ("sides", beyond)):
                looped.constants[f"turn{kind}.{name}"] = table = np.zeros(
                    (len(looped.types), np.shape(x)[1]), np.asarray(x).dtype
                )
                table[list(known)] = x
        self._windows({where[cell]: cell for cell in cells}, {row: key for key, row in arm.items()})

    def _windows(self, cells: Mapping[int, tuple[int, int]], arms: Mapping[int, tuple[int, int]]) -> None:
        """Places of the results of cells and arms, by row."""
        looped, tree = self.looped, self.tree

        def window(name: str, result: str, at: Mapping[int, int]) -> None:
            places = np.zeros(len(looped.types), dtype=np.int64)
            places[list(at)] = list(at.values())
            looped.windows[name] = result, places

        for name in (name for name in ("q", "u") if name in self.place):
            result, begin = self.place[name]
            for e in range(max(b.mobilizer.nu for b in tree.bodies)):
                at = {
                    row: begin + self._entry(tree.bodies[B].u.start + e, j)
                    for row, (B, j) in cells.items()
                    if e < len(tree.speeds_of(B))
                }
                window(f"cell_{name}{e}", result, at)
        if "z" in self.place:
            result, begin = self.place["z"]
            z = looped.windows["law_z"][1] - looped.model.tail["z"].start
            at = {row: j * self.width + begin + int(z[r]) for row, (r, j) in arms.items()}
            window("arm_z", result, at)

    def _entry(self, k: int, j: int) -> int:
        """Place of the entry of two speeds in a result."""
        return k * self.width + j

    @property
    def _first_law(self) -> int:
        return 0 if self.paths is None else self.paths.first_law

    # ---- passes

    def write(self) -> None:
        self._pass(cell=self._empty_cell, arm=self._empty_arm)
        if self.paths is not None:
            self.paths.law_pass(self._derivatives)
            self._pass(turn=self._turn)
            self._pass(arm=self._arm)
            self._pass(turn=self._push, pull=self._pull)
        self._pass(felt=self._felt)
        self._pass(cell=self._cell)

    def _pass(self, **write: Callable[[Any, int], None]) -> None:
        kernels: dict[int, KernelDraft] = {}
        for (what, number), t in self.types.items():
            if what in write:
                d = self._kernel(what, number)
                write[what](d, number)
                kernels[t] = d
        self.looped.extra_pass(kernels)

    def _kernel(self, what: str, number: int) -> KernelDraft:
        if self.paths is None or what not in ("turn", "pull"):
            return KernelDraft(self.looped)
        kind = self.paths.spans[number]
        return TurnKernel(self.looped, kind, number) if what == "turn" else PullKernel(self.looped, kind)

    def _derivatives(self, kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
        """T_L, T_v and T_z."""
        T = tension(d, law, view)
        d.me.T_L, d.me.T_v = ca.jacobian(T, d.me.L), ca.jacobian(T, d.me.v)
        if d.states:
            d.me.T_z = ca.jacobian(T, view.z).T

    def _empty_cell(self, d: KernelDraft, number: int) -> None:
        cell = CellFields(d, "me")
        cell.by_q = cell.by_u = ca.SX(6, 1)

    def _empty_arm(self, d: KernelDraft, number: int) -> None:
        arm = ArmFields(d, "me")
        arm.r = arm.s = ca.SX(0)

    def _turn(self, d: TurnKernel, number: int) -> None:
        """The kernel of turns: (1), and dW of each end."""
        kind, S, G = d.kind_of_span, d.speed.S, d.speed.G
        W = wrenches(kind, kind.traced(d, d.numbers, d.span.rows)[1])
        found, steps, moves = d.span.W, dict[str, ca.SX](), list[tuple[ca.SX, ca.SX]]()
        for i, link in enumerate(kind.links):
            R, p = d.row(link).R, d.row(link).p_O
            step = d.sides[i] * (S[1] + cross(S[0], p))
            steps |= {f"{link}.R": ca.vec(d.sides[i] * ca.skew(S[0]) @ R), f"{link}.p": step}
            moves.append((step, d.sides[i]))
        seen = [place for place in steps if place in d.reads]
        dW = ca.jtimes(
            W, ca.vertcat(*(d.reads[place] for place in seen)), ca.vertcat(*(steps[place] for place in seen))
        )
        r = s = ca.SX(0)
        for i, (link, (step, side)) in enumerate(zip(kind.links, moves, strict=True)):
            n, f = found[6 * i : 6 * i + 3], found[6 * i + 3 : 6 * i + 6]
            (w, v), p = d.row(link).V, d.row(link).p_O
            dw = side * (cross(S[0], w) + G[0])
            dv = side * (cross(S[0], v + cross(p, w)) + cross(S[1], w) + G[1]) + cross(dw, p) + cross(w, step)
            r += side * ca.dot(n, S[0]) + ca.dot(f, step)  # (1)
            s += ca.dot(dW[6 * i : 6 * i + 6], ca.vertcat(w, v)) + ca.dot(n, dw) + ca.dot(f, dv)
        d.me.dW = dW
        d.add(d.arm, ArmFields.r, r)
        d.add(d.arm, ArmFields.s, s)

    def _arm(self, d: KernelDraft, number: int) -> None:
        """The kernel of arms: (2)."""
        arm, law = ArmFields(d, "me"), LawFields(d, "law")
        r, s = arm.r, arm.s
        arm.dT_q, arm.dT_u = law.T_L * r + law.T_v * s, law.T_v * r
        if "z" in self.place and self.paths and (states := len(self.paths.kinds[number].law.states)):
            T_z = RowField[ca.SX](ca.SX.ones(states, 1), name="T_z")
            d.writes["arm_z"] = ca.densify(-r * law[T_z])

    def _push(self, d: TurnKernel, number: int) -> None:
        """(3) about O, without the loads that move rigidly with the bodies."""
        S, W, dW = d.speed.S, d.span.W, d.me.dW
        T, dT_q, dT_u = LawFields(d, "law").tension, d.arm.dT_q, d.arm.dT_u
        whole = ca.SX(6, 1)
        for i, link in enumerate(d.kind_of_span.links):
            p, at = d.row(link).p_O, slice(6 * i, 6 * i + 6)
            step = d.sides[i] * (S[1] + cross(S[0], p))
            w, dw = _about(p, W[at]), _about(p, dW[at])
            dw = dw[0] + cross(step, w[1]), dw[1]
            carried = cross(S[0], w[0]) + cross(S[1], w[1]), cross(S[0], w[1])
            whole += d.sides[i] * ca.vertcat(*carried)
            by_q = [-(dT_q * x + T * (dx - d.sides[i] * c)) for x, dx, c in zip(w, dw, carried, strict=True)]
            cell = CellFields(d, f"cell{i}")
            d.add(cell, CellFields.by_q, ca.vertcat(*by_q))
            d.add(cell, CellFields.by_u, -dT_u * ca.vertcat(*w))
        if self.local:
            d.add(CellFields(d, "above"), CellFields.by_q, -T * whole)

    def _pull(self, d: PullKernel, number: int) -> None:
        """(3) of a span that does not move, or moves rigidly."""
        for i, link in enumerate(d.kind_of_span.links):
            w, cell = (
                ca.vertcat(*_about(d.row(link).p_O, d.span.W[6 * i : 6 * i + 6])),
                CellFields(d, f"cell{i}"),
            )
            d.add(cell, CellFields.by_q, -d.arm.dT_q * w)
            d.add(cell, CellFields.by_u, -d.arm.dT_u * w)

    def _felt(self, d: KernelDraft, number: int) -> None:
        """The kernel of rows *felt*: (4) about O."""
        at, speed, cell = d.row("felt_by"), SpeedFields(d, "speed"), CellFields(d, "cell0")
        K, p = at[FELT], at.p_O
        S, G = (ca.vertcat(x[0], x[1] + cross(x[0], p)) for x in (speed.S, speed.G))
        for field, change in ((CellFields.by_q, K @ ca.vertcat(S, G)), (CellFields.by_u, K[:, 6:] @ S)):
            d.add(cell, field, ca.vertcat(*_about(p, change)))

    def _cell(self, d: KernelDraft, speeds: int) -> None:
        cell, up = CellFields(d, "me"), CellFields(d, "up")
        for name, field in (("q", CellFields.by_q), ("u", CellFields.by_u)):
            for e in range(speeds if name in self.place else 0):
                window, S = f"cell_{name}{e}", ca.vertcat(*SpeedFields(d, f"own{e}").S)
                d.writes[window] = d.read(window, 1) + ca.dot(S, cell[field])
            d.add(up, field, cell[field])


def _about(p: SX, F: SX) -> Pair:
    """A force with its moment about the point at p, moved to O."""
    return F[:3] + cross(p, F[3:]), F[3:]
