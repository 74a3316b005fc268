"""Jumps of path lengths: the branch of a path changes, that is the surfaces that it goes over, the piece and
the side.

The signature of a state says for each wrap on which branch it is, as a number (straight, or the piece that it
is on), and its normal where the path first touches it, which turns by much where the path changes sides. The
step loop records it at the end of every step, from the results of the right-hand side. Between steps whose
signatures differ the change is isolated by dividing the interval. Where a path lifts off its surface its
length goes on smoothly: with the slopes s_1, s_2 before and after a part of length d in which the branch
changes,

    jump = L(t + d) - L(t) - d (s_1 + s_2) / 2 = O(d^2)                                                    (1)

and nothing is done. Where the length jumps by more than JUMP, or SHARE of the run's accuracy, it is reported,
and the run restarts just after.

Most changes are harmless, which the step loop itself detects (`unchanged`). After a step in which the
signature has changed, the paths are solved again at PARTS + 1 places of the polynomial between its ends. The
change d_p of a length over the part p in which its branch changes is compared with those around it, as in (1):

    jump = d_p - (d_p-1 + d_p+1) / 2,    d_p - d_p+1 or d_p - d_p-1 at the ends                            (2)

If all are less than a tenth of what counts as a jump, nothing has `changed`, and Python does not check. If
one part is left it is divided again, NATIVE_ROUNDS times at most: then it is a jump, and Python checks this
part. If more are left, Python checks all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.interrupts.base import ROWS, Cause, Interrupter, Interruption
from condyle.integrate.steps import polynomial, unstacked
from condyle.laws.view import View
from condyle.model.model import Model, description
from condyle.native.calls.native_function import SIMD_FROM, NativeFunction
from condyle.native.machine.data import looked_up
from condyle.native.programs.program import Workspace
from condyle.native.tables.staged import Staged, build_function
from condyle.paths.path import PathLength
from condyle.paths.span import Span
from condyle.records import dataclass
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.equations import EquationsOfMotion, RightHandSide
    from condyle.integrate.integrators.base import Method, MethodStep
    from condyle.integrate.run import SimulationRun
    from condyle.native.programs.nodes import Node

JUMP, SHARE = 1e-9, 1e-3
"""Lengths that change by less [m] do not jump; in runs, those that change by less than this part of the
accuracy: a quarter of what one step may add to the error (control.py)."""
TURNED = 0.8
"""Cosine of the angle between normals at the ends of a step below which the path may have changed sides."""
PARTS = SIMD_FROM - 2
"""Number of parts of an interval: one call for one state."""
AT_ONCE = 8
"""Number of parts of a step that are divided at once, the first ones."""
ROUNDS = 1000
"""Largest number of divisions. One jump takes about twenty rounds; a path that changes its branch
without end, by less than a jump, would take forever."""
INSTANT = 1e-13
"""Tolerance of the instant, as a fraction of the time reached or of one second."""
CLEAR = 100.0
"""Speed of lengths [m/s] above that of any path."""
LANES_FROM = 2_000
"""Product of spans and rows above which lanes pay."""
MOST = 200
"""Largest number of jumps of one run that are located; a run that chatters from side to side continues
without."""


@dataclass(frozen=True)
class Jump:
    """A jump of the length of a path, because a wrap surface or a conditional point changed its state.

    Attributes:
        name: the force whose path it is.
        where: the surface, or the conditional point.
        t: when [s].
        size: increase of the length [m].
        energy: increase of the system's potential energy [J].
    """

    name: str
    where: str
    t: float
    size: float
    energy: float

    def __str__(self) -> str:
        return f"the path of {self.name!r} by {1e3 * self.size:+.4g} mm at {self.where} at t = {self.t:.9g} s"


@dataclass(frozen=True)
class SpanBranches:
    """Branches of all spans at m instants.

    Attributes:
        L: lengths of spans [m], shape (m, spans).
        code: the branch of each switch, shape (m, switches).
        n: its normal, shape (m, switches, 3).
    """

    L: np.ndarray
    code: np.ndarray
    n: np.ndarray

    @property
    def signatures(self) -> np.ndarray:
        """Shape (m, 4 switches)."""
        return np.column_stack([self.code, self.n.reshape(len(self.n), -1)])


def changes(code: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Whether each switch changes from one instant to the next, shape (..., m - 1, switches).

    Args:
        code: shape (..., m, switches).
        n: shape (..., m, switches, 3).
    """
    known = np.where(np.isnan(code), -1.0, code)
    turned = (n[..., :-1, :, :] * n[..., 1:, :, :]).sum(axis=-1) < TURNED
    touching = (known[..., 1:, :] > 0) & n[..., 1:, :, :].any(axis=-1)
    return (known[..., :-1, :] != known[..., 1:, :]) | (turned & touching)


def differs(old: SX, new: SX) -> list[SX]:
    """Whether each switch has changed from one signature (4 switches,) to the next. A code that is not a
    number counts as changed."""
    count, out = old.numel() // 4, []
    for k in range(count):
        at = slice(count + 3 * k, count + 3 * k + 3)
        turned = ca.logic_and(
            ca.dot(old[at], new[at]) < TURNED, ca.logic_and(new[k] > 0, ca.dot(new[at], new[at]) > 0)
        )
        out.append(ca.logic_or(turned, old[k] != new[k]))
    return out


@dataclass(frozen=True)
class Found(Interruption):
    """A jump in a step: the increase of each span's length [m], and the switches that change."""

    sizes: dict[int, float]
    switches: list[int]


@dataclass(frozen=True)
class Suspects:
    """Parts of steps in which branches change, in the order of time.

    Attributes:
        step: index of the step of each part, shape (m,).
        a: where it begins [s], shape (m,).
        b: where it ends [s], shape (m,).
        spans: whose branches change, shape (m, spans).
    """

    step: np.ndarray
    a: np.ndarray
    b: np.ndarray
    spans: np.ndarray

    def __len__(self) -> int:
        return len(self.step)

    def subset(self, here: np.ndarray) -> Suspects:
        return Suspects(self.step[here], self.a[here], self.b[here], self.spans[here])

    def and_(self, more: Suspects) -> Suspects:
        """Both together, in the order of steps and time; a run may go backward."""
        both = [
            np.concatenate(pair)
            for pair in ((self.step, more.step), (self.a, more.a), (self.b, more.b), (self.spans, more.spans))
        ]
        way = np.sign(both[2] - both[1])
        return Suspects(*both).subset(np.lexsort((way * both[1], both[0])))


class _Poses:
    """The part of the state on which a span depends: poses of its bodies and its coordinates."""

    def __init__(self, bodies: list[str], poses: SX, names: list[str], coordinates: SX) -> None:
        self.known: dict[str, ca.SX] = {}
        self._R = {b: ca.reshape(poses[12 * i : 12 * i + 9], 3, 3) for i, b in enumerate(bodies)}
        self._p = {b: poses[12 * i + 9 : 12 * i + 12] for i, b in enumerate(bodies)}
        self._q = dict(zip(names, ca.vertsplit(coordinates), strict=True)) if names else {}

    def rotation(self, body: str) -> SX:
        return self._R[body]

    def station_position(self, body: str, p: Any) -> SX:
        return self._p[body] + self._R[body] @ ca.SX(p)

    def coordinate(self, name: str) -> SX:
        return self._q[name]


@dataclass(frozen=True, eq=False)
class _Kind:
    """Spans of one signature: one kernel for all, as in tables of laws."""

    spans: tuple[Span, ...]
    places: np.ndarray  # among all spans
    bodies: np.ndarray  # of each span, among all bodies involved
    coordinates: np.ndarray  # of each span, among the coordinates
    data: np.ndarray  # of the model

    @cached_property
    def function(self) -> NativeFunction:
        """Numbers, poses (12 per body) and coordinates, side by side -> L, codes, normals."""
        span = self.spans[0]
        return NativeFunction(
            "branches",
            self._build,
            key=f"branches {span.text}",
            data=self.data,
            inputs=[("given", sum(self.sizes))],
            outputs=[("look", 1 + 4 * len(span.switches))],
        )

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
        view = _Poses(links, given[n : n + m], names, given[n + m :])
        code, normal = twin.branches(twin.found(view))  # type: ignore[arg-type]
        out = ca.vertcat(twin.at(view), code, ca.vec(normal))  # type: ignore[arg-type]
        return build_function("branches", [given], [ca.densify(out)])

    @cached_property
    def _plain(self) -> np.ndarray | None:
        each = [span.numbers for span in self.spans]
        return None if None in each else looked_up(self.data, each)

    def numbers(self, model: Model, tails: np.ndarray, row: np.ndarray, member: np.ndarray) -> np.ndarray:
        """Of spans `member` (m,) at rows (m,) of tails, shape (m, k)."""
        if self._plain is not None:
            return self._plain[member]
        out = np.empty((len(row), self.sizes[0]))
        known = {
            name: (kind, k)
            for kind, names in (
                ("parameters", model.tree.parameters.names),
                ("inputs", model.tree.inputs.names),
                ("discrete", model.tree.discrete.names),
            )
            for k, name in enumerate(names)
        }
        for i in np.unique(member).tolist():
            span, here = self.spans[i], member == i
            given = {p.name: p.sx for p in span.parameters()}
            f = ca.Function("numbers", [*given.values()], [span.values()])
            places = [model.tail[known[name][0]].start + known[name][1] for name in given]
            values = [ca.DM(tails[row[here], place][None]) for place in places]
            made = f.map(int(here.sum())).call(values)[0] if places else f.call([])[0]
            out[here] = made.full().T
        return out


class Branches:
    """The branches of all paths of forces of a system."""

    def __init__(self, model: Model, spans: dict[Span, list[str]]) -> None:
        self.model, self.spans, self.owners = model, list(spans), list(spans.values())
        self._bodies = list(dict.fromkeys(b for span in self.spans for b in span.bodies))
        first = np.cumsum([0, *(len(span.switches) for span in self.spans)])
        self._first, self.of_span = first, np.repeat(np.arange(len(self.spans)), np.diff(first))
        self.where = [name for span in self.spans for name in span.switches]
        self._owned = self.of_span[:, None] == np.arange(len(self.spans))  # which switch is of which span
        sizes = model.sizes()
        self._poses = NativeFunction(
            "branch_poses",
            self._build,
            key=f"branch_poses {self._bodies}\n{description(model)}",
            data=model.data,
            inputs=[(name, sizes[name]) for name in ("q", "u", "tail")],
            outputs=[("poses", 12 * len(self._bodies))],
        )

    @cached_property
    def _kinds(self) -> list[_Kind]:
        """Spans that differ in their numbers only."""
        names = [c.name for b in self.model.tree.bodies for c in b.coordinates]
        groups: dict[Hashable, list[int]] = {}
        for i, span in enumerate(self.spans):
            groups.setdefault(span.signature, []).append(i)
        return [
            _Kind(
                tuple(self.spans[i] for i in group),
                np.array(group),
                np.array([[self._bodies.index(b) for b in self.spans[i].bodies] for i in group]),
                np.array([[names.index(q) for q in self.spans[i].coordinates] for i in group], dtype=int),
                self.model.data,
            )
            for group in groups.values()
        ]

    @staticmethod
    def of_system(system: System, model: Model | None = None) -> Branches | None:
        """The branches of a system; None if no path of its forces can jump."""
        model, spans = model or system.compiled.model.code, dict[Span, list[str]]()
        key = "branches", model.stored is not None
        if key not in system.compiled.programs:

            def switched(name: str) -> list[Span]:
                law = model.forces[name]
                asked = (
                    [law.path.length]
                    if hasattr(law, "path")
                    else [ask for ask in getattr(law, "asks", ()) if isinstance(ask, PathLength)]
                )
                return [s for length in asked for s in getattr(length, "spans", ()) if s.switches]

            for name in model.notes.get("paths with branches", lambda: [*filter(switched, model.forces)]):
                for span in switched(name):
                    same = next((s for s in spans if s.text == span.text), span)
                    spans.setdefault(same, []).append(name)
            system.compiled.programs[key] = Branches(model, spans) if spans else None
        return system.compiled.programs[key]  # type: ignore[no-any-return]

    def _build(self) -> ca.Function | Staged:
        from condyle.model.symbols import Symbols

        s = Symbols(self.model)
        view = s.view(s.kinematics())
        poses = [
            ca.vertcat(ca.vec(ca.densify(view.rotation(b))), view.station_position(b, ca.SX.zeros(3)))
            for b in self._bodies
        ]
        return build_function("branch_poses", [s["q"], s["u"], s["tail"]], [ca.densify(ca.vertcat(*poses))])

    def signature(self, view: View) -> tuple[SX, SX]:
        """The signature at a view, codes of all switches, then their normals; and the lengths of spans."""
        each = [span.branches(span.found(view)) for span in self.spans]
        codes = ca.vertcat(*(code for code, _ in each), *(ca.vec(n) for _, n in each))
        return ca.densify(codes), ca.densify(ca.vertcat(*(span.at(view) for span in self.spans)))

    def look(
        self, tails: np.ndarray, t: np.ndarray, y: np.ndarray, asked: np.ndarray | None = None
    ) -> SpanBranches:
        """Branches at times t (m,), q, u, z side by side (m, n) and tails (1, k) or (m, k); of the requested
        spans (m, spans), or of all: the others are zero."""
        m, (q, u, full) = len(t), unstacked(self.model, tails, t, y)
        poses = _evaluated(self._poses, q, u, full).reshape(m, -1, 12)
        L, code = np.zeros((m, len(self.spans))), np.zeros((m, len(self.where)))
        normal = np.zeros((m, len(self.where), 3))
        for kind in self._kinds:
            which = np.ones((m, len(kind.places)), bool) if asked is None else asked[:, kind.places]
            row, member = np.nonzero(which)
            if not len(row):
                continue
            count, (n, b, _) = len(kind.spans[0].switches), kind.sizes
            given = np.empty((len(row), sum(kind.sizes)))
            given[:, :n] = kind.numbers(self.model, full, row, member)
            given[:, n : n + b] = poses[row[:, None], kind.bodies[member]].reshape(-1, b)
            given[:, n + b :] = q[row[:, None], kind.coordinates[member]]
            found = _evaluated(kind.function, given)
            places = kind.places[member]
            L[row, places] = found[:, 0]
            at = row[:, None], self._first[places][:, None] + np.arange(count)
            code[at] = found[:, 1 : 1 + count]
            normal[at] = found[:, 1 + count :].reshape(-1, count, 3)
        return SpanBranches(L, code, normal)

    def suspects(self, t: np.ndarray, signatures: np.ndarray, steps: np.ndarray) -> Suspects:
        """Among steps (k,), which begin at rows t (m,) with signatures (m, n), those in which a branch
        changes."""
        count = len(self.where)
        pairs = signatures[np.stack([steps, steps + 1], axis=1)]
        changed = changes(pairs[..., :count], pairs[..., count:].reshape(-1, 2, count, 3))[:, 0]
        spans = changed @ self._owned
        return Suspects(steps, t[steps], t[steps + 1], spans).subset(spans.any(axis=1))

    def located(
        self,
        suspects: Suspects,
        tails_at: Callable[[np.ndarray], np.ndarray],
        y_at: Callable[[np.ndarray, np.ndarray], np.ndarray],
        accuracy: float = 0.0,
        near: float = 0.0,
    ) -> dict[int, Found]:
        """The first jump of each step that has one.

        All parts are divided at once, as often as necessary: by (1) most lengths soon turn out to be smooth.

        Args:
            suspects: what to check.
            tails_at: tails of the states in steps (m,), shape (1, k) or (m, k).
            y_at: y in steps (m,) at times (m,), shape (m, n).
            accuracy: of the run.
            near: instants of clear jumps need not be known better than this [s]; a jump is clear if a path
                would need a speed above CLEAR for it.
        """
        found: dict[int, Found] = {}
        least = max(JUMP, SHARE * accuracy)
        for _ in range(ROUNDS):
            if not len(suspects):
                break
            if len(suspects) <= AT_ONCE:
                suspects = self._divided(suspects, tails_at, y_at, found, least, near)
            else:  # the later ones in a step wait: a path may chatter
                now = np.arange(len(suspects)) - np.searchsorted(suspects.step, suspects.step) < AT_ONCE
                divided = self._divided(suspects.subset(now), tails_at, y_at, found, least, near)
                suspects = divided.and_(suspects.subset(~now))
            if found:
                first = np.array([found[k].before if k in found else np.nan for k in suspects.step.tolist()])
                late = (suspects.b - suspects.a) * (suspects.a - first) >= 0
                suspects = suspects.subset(~late)
        return found

    def _divided(
        self,
        given: Suspects,
        tails_at: Callable[[np.ndarray], np.ndarray],
        y_at: Callable[[np.ndarray, np.ndarray], np.ndarray],
        found: dict[int, Found],
        least: float,
        near: float,
    ) -> Suspects:
        """The parts of some parts that are still suspect; jumps above the least go to `found`, the first of
        each step."""
        m, x = len(given), np.linspace(0.0, 1.0, PARTS + 1)
        t = given.a[:, None] + (given.b - given.a)[:, None] * x
        t[:, -1] = given.b
        step, spans = np.repeat(given.step, PARTS + 1), np.repeat(given.spans, PARTS + 1, axis=0)
        look = self.look(tails_at(step), t.ravel(), y_at(step, t.ravel()), spans)
        L, code, n = (v.reshape(m, PARTS + 1, *v.shape[1:]) for v in (look.L, look.code, look.n))
        changed, steps = changes(code, n), np.diff(L, axis=1)
        i, p = np.nonzero(changed.any(axis=2))
        if not len(i):
            return given.subset(i)
        mine = changed[i, p] @ self._owned
        before, after = steps[i, np.where(p > 0, p - 1, 1)], steps[i, np.where(p < PARTS - 1, p + 1, p - 1)]
        at_first, at_last = (p == 0)[:, None], (p == PARTS - 1)[:, None]
        around = np.where(at_first, after, np.where(at_last, before, (before + after) / 2))
        jump = np.where(mine, steps[i, p] - around, 0.0)  # (1)
        a, b = t[i, p], t[i, p + 1]
        known = np.abs(b - a) <= INSTANT * np.maximum(1.0, np.abs(b))
        known |= (np.abs(b - a) <= near) & (np.abs(jump) > CLEAR * near).any(axis=1)
        smooth = ~(np.abs(jump) >= least / 10).any(axis=1)  # a length that is NaN does not jump
        for k in np.flatnonzero(known):
            sizes = {
                int(s): float(steps[i[k], p[k], s])
                for s in np.flatnonzero(mine[k])
                if abs(steps[i[k], p[k], s]) > least
            }
            one, way = int(given.step[i[k]]), np.sign(b[k] - a[k])
            if sizes and not (one in found and way * found[one].before <= way * a[k]):
                switches = np.flatnonzero(changed[i[k], p[k]]).tolist()
                found[one] = Found(one, float(a[k]), float(b[k]), sizes, switches)
        left = ~known & ~smooth
        return Suspects(given.step[i], a, b, mine).subset(left)

    def report(self, found: Found, before: State, after: State) -> list[Jump]:
        """The jumps of all forces that are not disabled."""
        energy = float(after.energy()[1]) - float(before.energy()[1])
        out = []
        for span, size in found.sizes.items():
            where = " and ".join(self.where[s] for s in found.switches if self.of_span[s] == span)
            out += [
                Jump(name, where, found.after, size, energy)
                for name in self.owners[span]
                if name not in after.disabled
            ]
        return out


def _evaluated(f: NativeFunction, *given: np.ndarray) -> np.ndarray:
    """f of many rows. For few rows by its kernel for one state, whose solvers the run has compiled already:
    compiling those for lanes takes seconds, which only pays for many rows."""
    few = len(given[0]) < LANES_FROM
    return f.one_by_one(*given) if few else f.fast(*given)  # type: ignore[no-any-return]


NATIVE_ROUNDS = 8
"""Number of times that the native loop divides a step: each time the residual of a smooth length falls by
200, and a jump is located 14 times better. A division in Python takes ten times as long."""


class PathJumps(Interrupter):
    """Jumps of path lengths: they are reported, and the run restarts just after."""

    batch, waits = ROWS // 16, True

    def __init__(self, run: SimulationRun, branches: Branches) -> None:
        self.run, self.branches = run, branches

    def locate(self, done: int, before: Interruption | None) -> Iterator[Found]:
        """The first instant in the steps just done at which the length of a path jumps."""
        run, branches, rows = self.run, self.branches, self.run.buffer
        if len(run.jumps) >= MOST:
            return
        here, stop, tail = rows.count - 1, rows.count + done, run.like.tail[None]
        t, y = rows["t"][here:stop, 0], rows["y"][here:stop]
        if "signature" in rows:
            signatures, steps = rows["signature"][here:stop], np.flatnonzero(rows["changed"][here + 1 : stop])
        else:
            signatures, steps = branches.look(tail, t, y).signatures, np.arange(done)
        if not len(steps) or not len(suspects := branches.suspects(t, signatures, steps)):
            return
        y_at = run.y_at(rows.rows(stop))
        look = partial(
            branches.located,
            tails_at=lambda k: tail,
            y_at=lambda k, t: y_at(here + k, t),
            accuracy=run.settings.accuracy,
        )
        found = {}
        if "signature" in rows and len(suspects) == 1 and (part := left(run.ws)) is not None:
            a, b = suspects.a[0], suspects.b[0]  # the loop has ended after this step
            rounded = 4 * np.spacing(max(abs(a), abs(b)))
            within = [
                np.clip(a + x * (b - a) + way * rounded, min(a, b), max(a, b))
                for x, way in zip(part, (-run.way, run.way), strict=True)
            ]
            found = look(replace(suspects, a=np.array(within[:1]), b=np.array(within[1:])))
        found = found or look(suspects)
        if found:
            yield replace(found[min(found)], step=here + min(found))

    def act(self, instant: Found) -> bool:  # type: ignore[override]
        """Report a jump, and restart just after it with steps as long as those before."""
        run, k, count = self.run, instant.step, self.run.buffer.count
        rows = run.buffer.rows(k + 2)
        # at the instant itself rounding decides: a run that restarted there would jump back and forth
        beyond = instant.after + run.way * INSTANT * max(1.0, abs(instant.after))
        instant = replace(instant, after=run.way * min(run.way * beyond, run.way * float(rows.t[k + 1])))
        t = np.array([instant.before, instant.after])
        y = run.y_at(rows)(np.array([k, k]), t)
        before, after = (run.state_at(float(t[i]), y[i]) for i in (0, 1))
        found = self.branches.report(instant, before, after)
        run.jumps += found
        longest = np.abs(np.diff(rows.t[max(count - 1, k - 8) :])).max()
        run.cut(k, instant.before, y[0])
        run.ws["h"] = run.settings.step or min(longest, run.settings.max_step or np.inf)
        run.change(after, Cause(jumps=tuple(jump.name for jump in found)))
        return True


def some(truths: Sequence[SX]) -> SX:
    """Whether any of them holds."""
    out = ca.SX(0)
    for truth in truths:
        out = ca.logic_or(out, truth)
    return out


def left(ws: Workspace) -> tuple[float, float] | None:
    """The remaining part of the last step, as fractions of it; None if several parts remain."""
    if ws["more"][0] != 1:
        return None
    first, wide, part = (float(ws[name][0]) for name in ("x_first", "x_wide", "rough_part"))
    return first + part / PARTS * wide, first + (part + 1) / PARTS * wide


def unchanged(
    method: Method,
    eq: EquationsOfMotion,
    rhs: RightHandSide,
    step: MethodStep,
    rate: str,
    sizes: dict[str, int],
) -> list[Node]:
    """Nodes that reset `changed`, before t and y become those of the step's end.

    Args:
        method: whose step it is.
        eq: the equations of motion.
        rhs: f as nodes.
        step: the step of the method.
        rate: the slice with f at its end.
        sizes: of the slices.
    """

    from condyle.native.programs.nodes import If, Kernel, Scan, kernel, record_kernel

    if eq.signature is None:
        return []
    n, k, spans = eq.n, eq.signature.numel_out(0), eq.signature.numel_out(1)
    sizes |= (
        dict.fromkeys(("part", "t_part", "x_first", "x_wide", "rough", "rough_part", "more"), 1)
        | {"y_part": n, "s_was": k, "s_part": k}
        | dict.fromkeys(("l_was", "l_part", "d_before", "d_mine", "mine"), spans)
    )
    between = ("dense",) if step.dense else ()

    def place(part: SX, first: SX, wide: SX, t: SX, h: SX, *x: SX) -> tuple[SX, SX]:
        at = first + part / PARTS * wide
        return t + at * h, polynomial(x[:4], h, at, ca.vertsplit(x[4], n) if between else (), method.hermite)

    def compare(s: Any) -> tuple[SX, ...]:
        least, part, d = ca.fmax(JUMP, SHARE * s.accuracy) / 10, s.part, s.l_part - s.l_was
        switched = differs(s.s_was, s.s_part)
        now = ca.vertcat(
            *(some([c for c, of in zip(switched, eq.switches, strict=True) if of == i]) for i in range(spans))
        )
        now = ca.if_else(part > 0, now, ca.SX.zeros(spans))
        around = ca.if_else(part > 2, (s.d_before + d) / 2, d)  # (2)
        before = some(
            [
                ca.logic_and(s.mine[i], ca.logic_not(ca.fabs(s.d_mine[i] - around[i]) < least))
                for i in range(spans)
            ]
        )
        last = ca.logic_and(
            part == PARTS,
            some(
                [
                    ca.logic_and(now[i], ca.logic_not(ca.fabs(d[i] - s.d_mine[i]) < least))
                    for i in range(spans)
                ]
            ),
        )
        where = ca.if_else(last, part - 1, ca.if_else(before, part - 2, s.rough_part))
        return part + 1, s.rough + before + last, where, s.l_part, s.s_part, s.d_mine, d, now

    def narrow(first: SX, wide: SX, where: SX) -> tuple[SX, ...]:
        return first + where / PARTS * wide, wide / PARTS, ca.SX(0), ca.SX(0), ca.SX.zeros(spans)

    inside: list[Node] = [
        kernel(
            place,
            ["part", "x_first", "x_wide", "t", "h_try", "y", "k0", "y_next", rate, *between],
            ["t_part", "y_part"],
            sizes,
            "place",
        ),
        *step.project("t_part", "y_part"),
        *rhs.look_up("t_part", "y_part"),
        Kernel(eq.signature, ("t_part", "y_part", "p", *rhs.rows), ("s_part", "l_part")),
        record_kernel(
            compare,
            "part rough rough_part accuracy l_was l_part s_was s_part d_before d_mine mine",
            "part rough rough_part l_was s_was d_before d_mine mine",
            sizes,
            "compare",
        ),
    ]
    again: list[Node] = [
        kernel(narrow, "x_first x_wide rough_part", "x_first x_wide rough part mine", sizes, "narrow"),
        Scan(PARTS + 1, inside),
        kernel(lambda rough: (rough > 0, rough == 1), "rough", "changed more", sizes, "left"),
    ]
    begin = kernel(
        lambda: (ca.SX(0), ca.SX(PARTS), ca.SX(0), ca.SX(1)),
        [],
        ["x_first", "x_wide", "rough_part", "more"],
        sizes,
        "whole",
    )
    return [If("changed", [begin, Scan(NATIVE_ROUNDS, [If("more", again)])])]
