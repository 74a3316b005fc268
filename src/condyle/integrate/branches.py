"""Where lengths of paths jump: a rule's answer changes, which surface a path goes over, on which piece and
side.

At the end of every step each wrap is looked at: its branch as a number (straight, or the piece that it is
on), and its normal where the path first touches it, which turns by much where the path changes sides. Between
steps of which these differ the change is isolated by dividing the interval. Where a path lifts off its
surface its length goes on smoothly: with the slopes s_1, s_2 before and after a part of length d in which the
branch changes,

    jump = L(t + d) - L(t) - d (s_1 + s_2) / 2 = O(d^2)                                                    (1)

and nothing is done. Where the length jumps by more than JUMP it is reported, and the run begins anew just
after.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.model.model import Model, description
from condyle.model.symbols import Symbols
from condyle.native.calls.function import SIMD_FROM, NativeFunction
from condyle.native.sweeps.lookup import Staged, assembled
from condyle.paths.path import PathLength
from condyle.paths.span import Span
from condyle.system.state import State
from condyle.system.system import System

JUMP = 1e-9
"""Lengths that change by less [m] do not jump."""
TURNED = 0.8
"""Cosine of the angle between normals at the ends of a step below which the path may have changed sides."""
PARTS = 16
"""An interval is divided in so many parts."""
INSTANT = 1e-13
"""How well the instant is known, as a part of the time reached or of one second."""
LANES_FROM = 2_000
"""Spans times rows of one look from which lanes pay."""
MOST = 200
"""So many jumps of one run are located; a run that chatters from side to side goes on without."""

Looks = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Jump:
    """The length of a path jumped, because a rule of its surfaces or points changed its answer.

    Attributes:
        name: the force whose path it is.
        where: the surface, or the point that comes and goes.
        t: when [s].
        size: how much longer the path became [m].
        energy: what the system's potential energy gained [J].
    """

    name: str
    where: str
    t: float
    size: float
    energy: float

    def __str__(self) -> str:
        return f"the path of {self.name!r} by {1e3 * self.size:+.4g} mm at {self.where} at t = {self.t:.9g} s"


@dataclass(frozen=True)
class Look:
    """What is seen of all spans at m instants.

    Attributes:
        L: lengths of spans [m], shape (m, spans).
        code: which branch each switch is on, shape (m, switches).
        n: its normal, shape (m, switches, 3).
    """

    L: np.ndarray
    code: np.ndarray
    n: np.ndarray

    @property
    def changes(self) -> np.ndarray:
        """Whether each switch changes from one instant to the next, shape (m - 1, switches)."""
        code = np.nan_to_num(self.code, nan=-1.0)
        turned = np.einsum("mkj,mkj->mk", self.n[:-1], self.n[1:]) < TURNED
        return (code[:-1] != code[1:]) | (turned & (code[1:] > 0) & self.n[1:].any(axis=2))


@dataclass(frozen=True)
class Found:
    """A jump in the step that begins at a row: the instants before and after, and of which spans."""

    row: int
    before: float
    after: float
    sizes: dict[int, float]
    switches: list[int]


class _Poses:
    """The state as a span sees it: poses of its bodies and its coordinates."""

    def __init__(self, bodies: list[str], poses: ca.SX, names: list[str], coordinates: ca.SX) -> None:
        self.known: dict[str, ca.SX] = {}
        self._R = {b: ca.reshape(poses[12 * i:12 * i + 9], 3, 3) for i, b in enumerate(bodies)}
        self._p = {b: poses[12 * i + 9:12 * i + 12] for i, b in enumerate(bodies)}
        self._q = dict(zip(names, ca.vertsplit(coordinates), strict=True)) if names else {}

    def rotation(self, body: str) -> ca.SX:
        return self._R[body]

    def station_position(self, body: str, p: Any) -> ca.SX:
        return self._p[body] + self._R[body] @ ca.SX(p)

    def coordinate(self, name: str) -> ca.SX:
        return self._q[name]


@dataclass(frozen=True, eq=False)
class _Kind:
    """Spans of one signature: one kernel for all, as in tables of laws."""

    spans: tuple[Span, ...]
    places: np.ndarray                                       # among all spans
    bodies: np.ndarray                                       # of each span, among all bodies looked at
    coordinates: np.ndarray                                  # of each span, among the coordinates

    @cached_property
    def function(self) -> NativeFunction:
        """Numbers, poses (12 per body) and coordinates, side by side -> L, codes, normals."""
        span = self.spans[0]
        return NativeFunction("branches", self._build, key=f"branches {span.text}",
                              inputs=[("given", sum(self.sizes))],
                              outputs=[("look", 1 + 4 * len(span.switches))])

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Of the numbers, the poses and the coordinates of a span."""
        span = self.spans[0]
        return span.values().numel(), 12 * len(span.bodies), len(span.coordinates)

    def _build(self) -> ca.Function | Staged:
        span, (n, m, k) = self.spans[0], self.sizes
        given = ca.SX.sym("given", n + m + k)
        links, names = [f"b{i}" for i in range(len(span.bodies))], [f"q{i}" for i in range(k)]
        twin = span.twin(given[:n], links, names)
        view = _Poses(links, given[n:n + m], names, given[n + m:])
        code, normal = twin.branches(twin.found(view))  # type: ignore[arg-type]
        out = ca.vertcat(twin.at(view), code, ca.vec(normal))  # type: ignore[arg-type]
        return assembled("branches", [given], [ca.densify(out)])

    @cached_property
    def _plain(self) -> np.ndarray | None:
        each = [span.numbers for span in self.spans]
        return None if None in each else np.array(each, dtype=float)

    def numbers(self, state: State) -> np.ndarray:
        """Of each span, shape (spans, k)."""
        if self._plain is not None:
            return self._plain
        system, out = state.system, []
        known = {name: x for kind in ("parameters", "inputs", "discrete")
                 for name, x in zip(system.names(kind), getattr(state, kind), strict=True)}
        for span in self.spans:
            given = {p.name: p.sx for p in span.parameters()}
            f = ca.Function("numbers", [*given.values()], [span.values()])
            out.append(np.ravel(f.call([float(known[name]) for name in given])[0].full()))
        return np.array(out, dtype=float)


class Branches:
    """The branches of all paths of forces of a system."""

    def __init__(self, model: Model, spans: dict[Span, list[str]]) -> None:
        self.model, self.spans, self.owners = model, list(spans), list(spans.values())
        self._bodies = list(dict.fromkeys(b for span in self.spans for b in span.bodies))
        names = [c.name for b in model.tree.bodies for c in b.coordinates]
        groups: dict[Hashable, list[int]] = {}
        for i, span in enumerate(self.spans):
            groups.setdefault(span.signature, []).append(i)
        self._kinds = [_Kind(tuple(self.spans[i] for i in group), np.array(group),
                             np.array([[self._bodies.index(b) for b in self.spans[i].bodies] for i in group]),
                             np.array([[names.index(q) for q in self.spans[i].coordinates] for i in group],
                                      dtype=int)) for group in groups.values()]
        first = np.cumsum([0, *(len(span.switches) for span in self.spans)])
        self._first, self.of_span = first, np.repeat(np.arange(len(self.spans)), np.diff(first))
        self.where = [name for span in self.spans for name in span.switches]
        sizes = model.sizes()
        self._poses = NativeFunction(
            "branch_poses", self._build, key=f"branch_poses {self._bodies}\n{description(model)}",
            inputs=[(name, sizes[name]) for name in ("q", "u", "tail")],
            outputs=[("poses", 12 * len(self._bodies))])

    @staticmethod
    def of(system: System) -> Branches | None:
        """Those of a system; None if no path of its forces can jump."""
        if "branches" not in system.compiled.programs:
            model, spans = system.compiled.model, dict[Span, list[str]]()
            for name, law in model.forces.items():
                asked = [law.path.length] if hasattr(law, "path") else [
                    ask for ask in getattr(law, "asks", ()) if isinstance(ask, PathLength)]
                every = [span for length in asked for span in getattr(length, "spans", ())]
                for span in (span for span in every if span.switches):
                    same = next((s for s in spans if s.text == span.text), span)
                    spans.setdefault(same, []).append(name)
            system.compiled.programs["branches"] = Branches(model, spans) if spans else None
        return system.compiled.programs["branches"]  # type: ignore[no-any-return]

    def _build(self) -> ca.Function | Staged:
        s = Symbols(self.model)
        view = s.view(s.kinematics())
        poses = [ca.vertcat(ca.vec(ca.densify(view.rotation(b))), view.station_position(b, ca.SX.zeros(3)))
                 for b in self._bodies]
        return assembled("branch_poses", [s["q"], s["u"], s["tail"]], [ca.densify(ca.vertcat(*poses))])

    def look(self, like: State, t: np.ndarray, y: np.ndarray, only: np.ndarray | None = None) -> Look:
        """At times t (m,) and q, u, z side by side (m, n), all else as in a state; of some spans, or of all:
        the others are zero."""
        tree, m = self.model.tree, len(t)
        nq, n = tree.nq, tree.nq + tree.nu
        tails = np.empty((m, self.model.tail_size))
        tails[...] = like.tail
        tails[:, self.model.tail["t"]], tails[:, self.model.tail["z"]] = t[:, None], y[:, n:]
        q = np.ascontiguousarray(y[:, :nq])
        poses = self._poses.fast(q, np.ascontiguousarray(y[:, nq:n]), tails).reshape(m, len(self._bodies), 12)
        L, code = np.zeros((m, len(self.spans))), np.zeros((m, len(self.where)))
        normal = np.zeros((m, len(self.where), 3))
        asked = None if only is None else set(only.tolist())
        for kind in self._kinds:
            some: Any = slice(None)
            if asked is not None:
                some = [i for i, at in enumerate(kind.places.tolist()) if at in asked]
                if not some:
                    continue
            places = kind.places[some]
            k, count = len(places), len(kind.spans[0].switches)
            n, b, _ = kind.sizes
            given = np.empty((m, k, sum(kind.sizes)))
            given[:, :, :n] = kind.numbers(like)[some]
            given[:, :, n:n + b] = poses[:, kind.bodies[some]].reshape(m, k, b)
            given[:, :, n + b:] = q[:, kind.coordinates[some]]
            found = _evaluated(kind.function, given.reshape(m * k, -1)).reshape(m, k, 1 + 4 * count)
            L[:, places] = found[..., 0]
            at = self._first[places][:, None] + np.arange(count)
            code[:, at] = found[..., 1:1 + count]
            normal[:, at] = found[..., 1 + count:].reshape(m, k, count, 3)
        return Look(L, code, normal)

    def first(self, like: State, t: np.ndarray, y: np.ndarray, y_at: Callable[[int, np.ndarray], np.ndarray]
              ) -> Found | None:
        """The first jump among rows t (m,), y (m, n).

        Args:
            y_at: y in the step that begins at a row, at times (k,), shape (k, n).
        """
        changes = self.look(like, t, y).changes
        for k in np.flatnonzero(changes.any(axis=1)):
            a, b, spans = float(t[k]), float(t[k + 1]), np.unique(self.of_span[changes[k]])
            while (found := self._isolated(like, a, b, int(k), y_at, spans)) is not None:
                if found.sizes:
                    return found
                a = found.after
        return None

    def _isolated(self, like: State, a: float, b: float, k: int,
                  y_at: Callable[[int, np.ndarray], np.ndarray], only: np.ndarray) -> Found | None:
        """The first change of a branch between two instants of the step that begins at row k; without sizes
        if the lengths go on smoothly."""
        while True:
            t = np.linspace(a, b, PARTS + 1)
            look = self.look(like, t, y_at(k, t), only)
            changes = look.changes
            if not changes.any():
                return None
            i = int(np.flatnonzero(changes.any(axis=1))[0])
            switches = np.flatnonzero(changes[i]).tolist()
            spans = sorted({int(self.of_span[s]) for s in switches})
            steps = np.diff(look.L[:, spans], axis=0)
            around = steps[[max(i - 1, 0), min(i + 1, PARTS - 1)]].mean(axis=0)
            jump = steps[i] - (around if 0 < i < PARTS - 1 else steps[i - 1 if i else 1])            # (1)
            a, b = float(t[i]), float(t[i + 1])
            if abs(b - a) <= INSTANT * max(1.0, abs(b)):
                sizes = {s: float(x) for s, x in zip(spans, steps[i], strict=True) if abs(x) > JUMP}
                return Found(k, a, b, sizes, switches)
            if (np.abs(jump) < JUMP / 10).all():
                return Found(k, a, b, {}, switches)

    def report(self, found: Found, before: State, after: State) -> list[Jump]:
        """What happened, of each force that is not disabled."""
        energy = float(after.energy()[1]) - float(before.energy()[1])
        out = []
        for span, size in found.sizes.items():
            where = " and ".join(self.where[s] for s in found.switches if self.of_span[s] == span)
            out += [Jump(name, where, found.after, size, energy) for name in self.owners[span]
                    if name not in after.disabled]
        return out


def _evaluated(f: NativeFunction, given: np.ndarray) -> np.ndarray:
    """f of many rows. Of few by its kernel for one state, which has the solvers that the run has compiled:
    those for lanes take seconds once, which only many rows are worth."""
    if len(given) >= LANES_FROM:
        return f.fast(given)
    return np.concatenate([f.fast(given[i:i + SIMD_FROM - 1]) for i in range(0, len(given), SIMD_FROM - 1)])
