"""Laws along paths as rows of tables: any number of muscles takes a handful of kernels.

A path is a constant length and a sum of spans (paths/span.py). Each law has a row, and so has each span,
which is linked to its law and to the bodies that it touches. With W_i, what a unit force on the length of a
span exerts on body i, about M's origin, and V_i, the velocity of that body,

    laws: L = constant, v = 0  |  spans: l, W;  L += l,  v += sum of W_i . V_i                             (1)
    laws: T(L, v, z, inputs), zdot  |  spans: load of body i -= T W_i                                      (2)

A law is traced once for all of its class over symbols for its numbers, its length and its rate; a span is
traced once for all of its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.dynamics.inertia import inner
from condyle.dynamics.kinematics import Pair
from condyle.forces.external import TimeSeries
from condyle.forces.path import PathLaw
from condyle.model.looped.law_rows import frame_of
from condyle.model.looped.path_laws import LawView, PathKind
from condyle.model.looped.span_rows import SpanKind, in_M
from condyle.native.loops.sweep import RowKernel
from condyle.paths.span import Span
from condyle.trace.parameter import Discrete, Expression, Input, Parameter

if TYPE_CHECKING:
    from condyle.model.looped.draft import Draft
    from condyle.model.looped.tables import Looped
    from condyle.model.model import Model


class PathRows:
    """The rows of laws along paths and of their spans, and passes over them.

    Attributes:
        kinds: of laws.
        spans: kinds of spans.
        members: the laws, by their places among the forces.
    """

    def __init__(self, looped: Looped, kinds: Sequence[PathKind]) -> None:
        self.looped, self.kinds, model = looped, list(kinds), looped.model
        laws = [(i, law) for kind in kinds for i, law in kind.members]
        self.members = frozenset(i for i, _ in laws)
        frame = {
            body: frame_of(model, body)
            for body in dict.fromkeys(body for _, law in laws for body in law.path.length.bodies)
        }
        found: dict[Any, list[tuple[int, Span]]] = {}
        for k, (_, law) in enumerate(laws):
            for span in law.path.length.spans:
                found.setdefault(span.signature, []).append((k, in_M(span, frame)))
        self.spans = [SpanKind(members[0][1], tuple(members)) for members in found.values()]
        self._add_rows(laws)

    def _add_rows(self, laws: Sequence[tuple[int, PathLaw]]) -> None:
        looped, model = self.looped, self.looped.model
        counts = [*(len(kind.members) for kind in self.kinds), *(len(kind.members) for kind in self.spans)]
        first = np.cumsum([len(looped.types), *counts])
        self.types = looped.fresh_type + np.arange(len(counts))
        self.first_law, self.rows = int(first[0]), slice(int(first[0]), int(first[0]) + len(laws))
        links: dict[str, dict[int, int]] = {"law": {}}
        for kind, start in zip(self.spans, first[len(self.kinds) :], strict=False):
            for r, (k, span) in enumerate(kind.members, start=int(start)):
                links["law"][r] = self.first_law + k
                for link, body in zip(kind.links, span.bodies, strict=True):
                    links.setdefault(link, {})[r] = model.tree.body(body).index + 1
        looped.add_rows(np.repeat(self.types, counts), np.zeros(sum(counts), dtype=np.int64), links)
        for kind, start in zip(self.spans, first[len(self.kinds) :], strict=False):
            for name, k in zip(kind.coordinates, range(len(kind.coordinates)), strict=True):
                at = [model.tree.coordinate_index(span.coordinates[k]) for _, span in kind.members]
                self._window(name, "q", int(start), at)
        switches = np.array([i for i, _ in laws])
        self._window("law_on", "tail", self.first_law, model.tail["enabled"].start + switches)
        before = np.cumsum([0, *(len(force.states) for force in model.forces.values())])[switches]
        for name, (argument, begin) in looped.of_states("law_z", "law_zdot", "law_d_z").items():
            self._window(name, argument, self.first_law, begin + before)
        for k, alike in enumerate(self.kinds):
            for f, x in alike.columns().items():
                self._constant(f"path{k}.{f}", int(first[k]), x)
            for f in alike.symbols:
                self._window(
                    f"path{k}_{f}",
                    "tail",
                    int(first[k]),
                    [_place(model, getattr(law, f).parameters[0]) for _, law in alike.members],
                )
        constant = [[float(ca.evalf(ca.SX(law.path.length.constant)))] for _, law in laws]
        self._constant("path.constant", self.first_law, np.array(constant))
        for k, kind in enumerate(self.spans):
            self._constant(
                f"span{k}.numbers",
                int(first[len(self.kinds) + k]),
                np.array([span.numbers for _, span in kind.members]),
            )

    def _constant(self, name: str, first: int, x: np.ndarray) -> None:
        self.looped.constants[name] = table = np.zeros((len(self.looped.types), x.shape[1]))
        table[first : first + len(x)] = x

    def _window(self, name: str, argument: str, first: int, at: Any) -> None:
        """Where rows from `first` on begin in an argument; a window of this name may have others already."""
        known = self.looped.windows.get(name, (argument, np.zeros(len(self.looped.types), dtype=np.int64)))
        known[1][first : first + len(at)] = at
        self.looped.windows[name] = known

    # ---- passes

    def law_pass(self, write: Callable[[PathKind, Draft, PathLaw, LawView], None]) -> None:
        """A pass over the laws; the law's twin reads L and v of its row."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.kinds, self.types, strict=False)):
            d = self.looped.draft()
            given = {f: d.read(f"constant.path{k}.{f}", x.shape[1]) for f, x in kind.columns().items()}
            given |= {f: d.read(f"path{k}_{f}", 1) for f in kind.symbols}
            given |= {f: d.read(f"me.{f}", 1) for f in kind.signals}
            names = [name for name, _ in kind.law.states]
            z = d.read("law_z", len(names)) if names else ca.SX(0, 1)
            write(kind, d, kind.twin(given, d.read("me.L", 1), d.read("me.v", 1)), LawView(z, names))
            kernels[int(t)] = RowKernel(d.reads, d.writes)
        self.looped.extra_pass(kernels)

    def span_pass(self, write: Callable[[SpanKind, Draft, ca.SX], dict[str, ca.SX]]) -> None:
        """A pass over the spans; `write` says what one adds to which field of its links, by place."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.spans, self.types[len(self.kinds) :], strict=True)):
            d = self.looped.draft()
            assert kind.span.numbers is not None
            adds = write(kind, d, d.read(f"constant.span{k}.numbers", len(kind.span.numbers)))
            kernels[int(t)] = RowKernel(d.reads, d.writes, adds)
        self.looped.extra_pass(kernels)

    def lengths(self, moving: bool = True) -> None:
        """(1): lengths, and if bodies move their rates. Spans keep W and the rows of their solvers; W_0 is W
        about one point p_0."""

        def begin(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            d.writes |= {"me.L": d.read("constant.path.constant", 1), "me.v": ca.SX.zeros(1, 1)}

        def span(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
            l, W, rows = kind.traced(d, numbers, "")
            d.writes |= {"me.W": wrenches(kind, W), "me.rows": ca.densify(rows)}
            p_0 = d.get(kind.links[0], "p")
            moved = {link: (n + ca.cross(d.get(link, "p") - p_0, f), f) for link, (n, f) in W.items()}
            d.writes |= {"me.W_0": wrenches(kind, moved), "me.p_0": p_0}
            adds = {"law.L": ca.densify(l)}
            if moving:
                adds["law.v"] = sum((inner(F, d.get(link, "V")) for link, F in W.items()), ca.SX(0))
            return adds

        self.law_pass(begin)
        self.span_pass(span)

    def tensions(self, forces: bool = True, rates: bool = False) -> None:
        """T and zdot of (2); of a law that is disabled both are zero."""

        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            if forces:
                d.writes["me.tension"] = tension(d, law, view)
            if rates and kind.law.states:
                zdot = ca.vertcat(*law.rates(view))  # type: ignore[arg-type]
                d.writes["law_zdot"] = ca.densify(ca.if_else(d.read("law_on", 1), zdot, 0))

        self._write_signals()
        self.law_pass(write)

    def potentials(self, total: str, size: int) -> None:
        """Add potential energies to the last of a sum over all bodies."""

        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            if (stored := law.potential(view)) is not None:  # type: ignore[arg-type]
                d.add(total, ca.vertcat(ca.SX(size - 1, 1), ca.if_else(d.read("law_on", 1), stored, 0)))

        self._write_signals()
        self.law_pass(write)

    def powers(self, result: str) -> None:
        """-T v of each law, as a result with one number per force."""

        def write(kind: PathKind, d: Draft, law: PathLaw, view: LawView) -> None:
            d.writes["law_power"] = -tension(d, law, view) * d.read("me.v", 1)

        places = [i for kind in self.kinds for i, _ in kind.members]
        self._window("law_power", result, self.first_law, places)
        self._write_signals()
        self.law_pass(write)

    def _write_signals(self) -> None:
        """A straight line for what laws have of expressions and of functions of time or of the state."""
        from condyle.model.looped.between import StraightLine

        row = {
            i: (self.first_law + r, kind)
            for r, (i, kind) in enumerate((i, kind) for kind in self.kinds for i, _ in kind.members)
        }
        line, writes = StraightLine(self.looped), dict[Any, ca.SX]()
        for i, (_, law, view) in enumerate(line.laws()):
            if i in row:
                writes |= {
                    (row[i][0], f): ca.densify(_signal(getattr(law, f), view)) for f in row[i][1].signals
                }
        line.write(writes)

    def push(self, into: str, sign: int) -> None:
        """Add sign times the loads of (2) to a field of the bodies."""

        def span(kind: SpanKind, d: Draft, numbers: ca.SX) -> dict[str, ca.SX]:
            T, W = d.read("law.tension", 1), d.read("me.W", 6 * len(kind.links))
            return {f"{link}.{into}": -sign * T * W[6 * i : 6 * i + 6] for i, link in enumerate(kind.links)}

        self.span_pass(span)

    def crossed(self) -> Iterator[tuple[int, int, list[float]]]:
        """Each row of a span with a body that has speeds and that it crosses, and for each of its ends 1 if
        that is on the body or beyond, else 0: not all are equal."""
        tree = self.looped.model.tree
        beyond = {B: frozenset(tree.path(B)) for B in tree.base_to_tip} | {-1: frozenset[int]()}
        for kind, t in zip(self.spans, self.types[len(self.kinds) :], strict=True):
            rows = np.flatnonzero(self.looped.types == t).tolist()
            for row, (_, span) in zip(rows, kind.members, strict=True):
                ends = [beyond[tree.body(body).index] for body in span.bodies]
                for B in sorted(frozenset.union(*ends) - frozenset.intersection(*ends)):
                    if tree.speeds_of(B):
                        yield row, B, [float(B in end) for end in ends]


def tension(d: Draft, law: PathLaw, view: LawView) -> ca.SX:
    """T of a law in a table; zero if it is disabled."""
    return ca.if_else(d.read("law_on", 1), law.known(view, law.tension(view)), 0)  # type: ignore[arg-type]


def asks_for_state(law: PathLaw) -> bool:
    """Whether some field is a function of the state, so that not all derivatives are in the table."""
    values = [getattr(law, f) for f, _ in law.roles()]
    return any(hasattr(value, "asks") for value in values)


def wrenches(kind: SpanKind, W: Mapping[str, Pair]) -> ca.SX:
    """W of all bodies of a span below each other, dense."""
    none = ca.SX(3, 1), ca.SX(3, 1)
    return ca.densify(ca.vertcat(*(x for link in kind.links for x in W.get(link, none))))


def _signal(value: Any, s: Any) -> ca.SX:
    """What a field holds at a state."""
    if isinstance(value, Expression):
        return value.sx
    return value(s.t) if isinstance(value, TimeSeries) else value.at(s)


def _place(model: Model, parameter: Parameter) -> int:
    """Where a parameter, an input or a discrete variable is in the tail."""
    tree = model.tree
    name, registry = {Input: ("inputs", tree.inputs), Discrete: ("discrete", tree.discrete)}.get(
        type(parameter), ("parameters", tree.parameters)
    )
    return model.tail[name].start + registry.names.index(parameter.name)
