"""Laws along paths as rows of tables: a few kernels for any number of muscles.

A path is a constant length and a sum of spans (paths/span.py). Each law has a row, and so has each span,
which is linked to its law and to the bodies that it touches. With W_i, the wrench of a unit tension of a span
on body i, about M's origin, and V_i, the velocity of that body,

    laws: L = constant, v = 0  |  spans: l, W;  L += l,  v += sum of W_i . V_i                             (1)
    laws: T(L, v, z, inputs), zdot  |  spans: load of body i -= T W_i                                      (2)

A law is traced once for all laws of its class, over symbols for its numbers, its length and its rate; a
span is traced once for all spans of its signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.inertia import inner
from condyle.dynamics.kinematics import Pair
from condyle.dynamics.row import NUMBER, VECTOR, RowField, RowFields
from condyle.forces.external import TimeSeries
from condyle.forces.path import PathLaw
from condyle.laws.described import entries
from condyle.model.looped.draft import KernelDraft, StraightLine
from condyle.model.looped.law_rows import frame_of
from condyle.model.looped.path_kinds import LawView, PathKind, SpanKind, in_M
from condyle.paths.span import Span
from condyle.trace.parameter import Discrete, Expression, Input, Parameter

if TYPE_CHECKING:
    from condyle.model.looped.tables import Looped
    from condyle.model.model import Model


class LawFields(RowFields):
    """Fields of a law along a path: (1), (2), the rate of L under X, and derivatives of T."""

    L = RowField[ca.SX](NUMBER)
    v = RowField[ca.SX](NUMBER)
    tension = RowField[ca.SX](NUMBER)
    w = RowField[ca.SX](NUMBER)
    L_bar = RowField[ca.SX](NUMBER)
    v_bar = RowField[ca.SX](NUMBER)
    T_L = RowField[ca.SX](NUMBER)
    T_v = RowField[ca.SX](NUMBER)
    T_z = RowField[ca.SX](lambda d: ca.SX.ones(d.states, 1))


class SpanFields(RowFields):
    """Fields of a span: W of its bodies below each other, the same about one point p_0, and the rows of its
    solvers; field of a turn (path_jacobian.py): the change of W."""

    W = RowField[ca.SX](lambda d: ca.SX.ones(6 * d.ends, 1))
    W_0 = RowField[ca.SX](lambda d: ca.SX.ones(6 * d.ends, 1))
    p_0 = RowField[ca.SX](VECTOR)
    rows = RowField[ca.SX](lambda d: ca.SX.ones(d.row_size, 1))
    dW = RowField[ca.SX](lambda d: ca.SX.ones(6 * d.ends, 1))


class LawKernel(KernelDraft):
    """The kernel of a kind of laws."""

    def __init__(self, looped: Looped, law: PathLaw) -> None:
        super().__init__(looped)
        self.me, self.states = LawFields(self, "me"), len(law.states)


class SpanKernel(KernelDraft):
    """The kernel of a kind of spans."""

    def __init__(self, looped: Looped, kind: SpanKind) -> None:
        super().__init__(looped)
        self.me, self.law = SpanFields(self, "me"), LawFields(self, "law")
        self.ends, self.row_size = len(kind.links), kind.span.row_size


class PathRows:
    """The rows of laws along paths and of their spans, and passes over them.

    Attributes:
        kinds: kinds of laws.
        spans: kinds of spans.
        members: the laws' places among the forces.

    Args:
        known: whether lengths of paths are given: then there are no spans.
    """

    def __init__(self, looped: Looped, kinds: Sequence[PathKind], known: bool = False) -> None:
        self.looped, self.kinds, model = looped, list(kinds), looped.model
        laws = [(i, law) for kind in kinds for i, law in kind.members]
        self.members = frozenset(i for i, _ in laws)
        spanned = [] if known else laws
        frame = {
            body: frame_of(model, body)
            for body in dict.fromkeys(body for _, law in spanned for body in law.path.length.bodies)
        }
        found: dict[Any, list[tuple[int, Span]]] = {}
        for k, (_, law) in enumerate(spanned):
            for span in law.path.length.spans:
                found.setdefault(span.signature, []).append((k, in_M(span, frame)))
        self.spans = [SpanKind(members[0][1], tuple(members)) for members in found.values()]
        self._add_rows(laws)
        if not known:
            constant = [_constant(law) for _, law in laws]
            looped.constant("path.constant", self.first_law, np.array(constant))

    def _add_rows(self, laws: Sequence[tuple[int, PathLaw]]) -> None:
        looped, model = self.looped, self.looped.model
        counts = [*(len(kind.members) for kind in self.kinds), *(len(kind.members) for kind in self.spans)]
        first = np.cumsum([len(looped.types), *counts]).tolist()
        first_span = first[len(self.kinds) :]
        self.types = looped.fresh_type + np.arange(len(counts))
        self.first_law, self.rows = first[0], slice(first[0], first[0] + len(laws))
        links: dict[str, dict[int, int]] = {"law": {}}
        for kind, start in zip(self.spans, first_span, strict=False):
            for r, (k, span) in enumerate(kind.members, start=start):
                links["law"][r] = self.first_law + k
                for link, body in zip(kind.links, span.bodies, strict=True):
                    links.setdefault(link, {})[r] = model.tree.body(body).index + 1
        looped.add_rows(np.repeat(self.types, counts), np.zeros(sum(counts), dtype=np.int64), links)
        for k, (kind, start) in enumerate(zip(self.spans, first_span, strict=False)):
            for n, name in enumerate(kind.coordinates):
                at = [model.tree.coordinate_index(span.coordinates[n]) for _, span in kind.members]
                looped.window(name, "q", start, at)
            numbers = np.array([span.numbers for _, span in kind.members])
            looped.constant(f"span{k}.numbers", start, numbers)
        switches = np.array([i for i, _ in laws])
        looped.window("law_on", "tail", self.first_law, model.tail["enabled"].start + switches)
        before = np.cumsum([0, *(len(force.states) for force in model.forces.values())])[switches]
        for name, (argument, begin) in looped.of_states("law_z", "law_zdot", "law_d_z").items():
            looped.window(name, argument, self.first_law, begin + before)
        for k, alike in enumerate(self.kinds):
            for f, x in alike.columns().items():
                looped.constant(f"path{k}.{f}", first[k], x)
            for f in alike.symbols:
                at = [_place(model, getattr(law, f).parameters[0]) for _, law in alike.members]
                looped.window(f"path{k}_{f}", "tail", first[k], at)

    # ---- passes

    def law_pass(self, write: Callable[[PathKind, LawKernel, PathLaw, LawView], None]) -> None:
        """Add a pass over the laws; the law's twin reads L and v of its row."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.kinds, self.types, strict=False)):
            d = kernels[int(t)] = LawKernel(self.looped, kind.law)
            given = {f: d.read(f"constant.path{k}.{f}", x.shape[1]) for f, x in kind.columns().items()}
            given |= {f: d.read(f"path{k}_{f}", 1) for f in kind.symbols}
            given |= {f: d.me[_signal_field(f)] for f in kind.signals}
            names = [name for name, _ in kind.law.states]
            z = d.read("law_z", len(names)) if names else ca.SX(0, 1)
            write(kind, d, kind.twin(given, d.me.L, d.me.v), LawView(z, names))
        self.looped.extra_pass(kernels)

    def span_pass(self, write: Callable[[SpanKind, SpanKernel, SX], None]) -> None:
        """Add a pass over the spans: write(kind, kernel, numbers)."""
        kernels = {}
        for k, (kind, t) in enumerate(zip(self.spans, self.types[len(self.kinds) :], strict=True)):
            d = kernels[int(t)] = SpanKernel(self.looped, kind)
            assert kind.span.numbers is not None
            write(kind, d, d.read(f"constant.span{k}.numbers", len(kind.span.numbers)))
        self.looped.extra_pass(kernels)

    def lengths(self, moving: bool = True) -> None:
        """(1): lengths and, if bodies move, their rates. Spans store W and the rows of their solvers; W_0
        is W about one point p_0."""

        def begin(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
            d.me.L, d.me.v = d.read("constant.path.constant", 1), ca.SX(0)

        def span(kind: SpanKind, d: SpanKernel, numbers: SX) -> None:
            l, W, rows = kind.traced(d, numbers)
            p_0 = d.row(kind.links[0]).p
            d.me.W, d.me.rows, d.me.p_0 = wrenches(kind, W), rows, p_0
            moved = {link: (n + ca.cross(d.row(link).p - p_0, f), f) for link, (n, f) in W.items()}
            d.me.W_0 = wrenches(kind, moved)
            d.add(d.law, LawFields.L, l)
            if moving:
                v = sum((inner(F, d.row(link).V) for link, F in W.items()), ca.SX(0))
                d.add(d.law, LawFields.v, v)

        self.law_pass(begin)
        self.span_pass(span)

    def tensions(self, forces: bool = True, rates: bool = False) -> None:
        """T and zdot of (2); both are zero for a disabled law."""

        def write(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
            if forces:
                d.me.tension = tension(d, law, view)
            if rates and kind.law.states:
                zdot = ca.vertcat(*law.rates(view))  # type: ignore[arg-type]
                d.writes["law_zdot"] = ca.densify(ca.if_else(d.read("law_on", 1), zdot, 0))

        self.write_signals()
        self.law_pass(write)

    def potentials(self, total: Any) -> None:
        """Add potential energies to the last entry of a sum over all bodies, a field of the root."""

        def write(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
            if (stored := law.potential(view)) is not None:  # type: ignore[arg-type]
                before = ca.SX(d.root[total].numel() - 1, 1)
                d.root[total] += ca.vertcat(before, ca.if_else(d.read("law_on", 1), stored, 0))

        self.write_signals()
        self.law_pass(write)

    def powers(self, result: str) -> None:
        """-T v of each law, as a result with one number per force."""

        def write(kind: PathKind, d: LawKernel, law: PathLaw, view: LawView) -> None:
            d.writes["law_power"] = -tension(d, law, view) * d.me.v

        places = [i for kind in self.kinds for i, _ in kind.members]
        self.looped.window("law_power", result, self.first_law, places)
        self.write_signals()
        self.law_pass(write)

    def write_signals(self) -> None:
        """Straight-line code for expressions and functions of time or of the state in laws."""
        row = {
            i: (self.first_law + r, kind)
            for r, (i, kind) in enumerate((i, kind) for kind in self.kinds for i, _ in kind.members)
        }
        line = StraightLine(self.looped)
        for i, (_, law, view) in enumerate(line.laws()):
            if i in row:
                at, kind = row[i]
                for f in kind.signals:
                    line.save(at, _signal_field(f), _signal(getattr(law, f), view))
        line.write()

    def push(self, into: Any, sign: int) -> None:
        """Add sign times the loads of (2) to a field of the bodies."""

        def span(kind: SpanKind, d: SpanKernel, numbers: SX) -> None:
            T, W = d.law.tension, d.me.W
            for i, link in enumerate(kind.links):
                d.add(d.row(link), into, -sign * T * W[6 * i : 6 * i + 6])

        self.span_pass(span)

    def crossed(self) -> Iterator[tuple[int, int, list[float]]]:
        """Rows of spans with each body that they cross and that has speeds, and for each end of the span 1
        if it is on this body or beyond, else 0; not all ends are equal."""
        tree = self.looped.model.tree
        beyond = {B: frozenset(tree.path(B)) for B in tree.base_to_tip} | {-1: frozenset[int]()}
        for kind, t in zip(self.spans, self.types[len(self.kinds) :], strict=True):
            rows = np.flatnonzero(self.looped.types == t).tolist()
            for row, (_, span) in zip(rows, kind.members, strict=True):
                ends = [beyond[tree.body(body).index] for body in span.bodies]
                for B in sorted(frozenset.union(*ends) - frozenset.intersection(*ends)):
                    if tree.speeds_of(B):
                        yield row, B, [float(B in end) for end in ends]


def _constant(law: PathLaw) -> list[Any]:
    length = law.path.length
    return entries(float(ca.evalf(ca.SX(length.constant))) if length.stored is None else length.stored)


def tension(d: LawKernel, law: PathLaw, view: LawView) -> SX:
    """T of a law in a table; zero if it is disabled."""
    return ca.if_else(d.read("law_on", 1), law.known(view, law.tension(view)), 0)  # type: ignore[arg-type]


def asks_for_state(law: PathLaw) -> bool:
    """Whether some field is a function of the state, so that not all derivatives are in the table."""
    values = [getattr(law, f) for f, _ in law.roles()]
    return any(hasattr(value, "asks") for value in values)


def wrenches(kind: SpanKind, W: Mapping[str, Pair]) -> SX:
    """W of all bodies of a span below each other, dense."""
    none = ca.SX(3, 1), ca.SX(3, 1)
    return ca.densify(ca.vertcat(*(x for link in kind.links for x in W.get(link, none))))


def _signal_field(name: str) -> RowField[SX]:
    """The row's field for the value of a law's field at a state."""
    return RowField(NUMBER, name=name)


def _signal(value: Any, s: Any) -> SX:
    """The value of a law's field at a state."""
    if isinstance(value, Expression):
        return value.sx
    return value(s.t) if isinstance(value, TimeSeries) else value.at(s)


def _place(model: Model, parameter: Parameter) -> int:
    """The place of a parameter, an input or a discrete variable in the tail."""
    tree = model.tree
    name, registry = {Input: ("inputs", tree.inputs), Discrete: ("discrete", tree.discrete)}.get(
        type(parameter), ("parameters", tree.parameters)
    )
    return model.tail[name].start + registry.names.index(parameter.name)
