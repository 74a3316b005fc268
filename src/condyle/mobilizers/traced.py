"""The equations of mobilizers, traced once per description and inlined wherever they are needed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import casadi as ca
from numpy.typing import ArrayLike

from condyle.arrays import SX, Array, vertcat
from condyle.native.tables.lookup import Closure, RowSource, lookup_context, lookups_in
from condyle.trace import DEFAULTED

if TYPE_CHECKING:
    from condyle.mobilizers.base import Mobilizer


T = TypeVar("T")

KEPT = 4096
"""Maximum number of mobilizers whose equations are cached; the oldest is dropped first. More than a model
has, so each is traced once per model.
"""

_FORMS: dict[str, tuple[Closure, list[int]]] = {}
"""The equations of one mobilizer of each form, and the places of what they look up among its tables."""


def remember(known: dict[str, Any], text: str, value: Any) -> None:
    """Cache a value, and drop the oldest if there are many."""
    if len(known) >= KEPT:
        known.pop(next(iter(known)), None)
    known[text] = value


def per_description(function: Callable[[Mobilizer], T]) -> Callable[[Mobilizer], T]:
    """A function of a mobilizer that is computed once per description."""
    known: dict[str, T] = {}

    @functools.wraps(function)
    def get(mobilizer: Mobilizer) -> T:
        text = mobilizer.description()
        if text not in known:
            remember(known, text, function(mobilizer))
        return known[text]

    get.known = known  # type: ignore[attr-defined]
    return get


@per_description
@lookup_context()
def traced(mobilizer: Mobilizer) -> Closure:
    """R, p, H_w, H_v, w_t, v_t, bias_w, bias_v, qdot and N as functions of t, q, u; once per description, and
    once per form where that is known."""
    form, tables = form_of(mobilizer)
    known = _FORMS.get(form) if form else None
    if known is not None:
        closure, order = known
        return Closure.from_function(closure.function, closure.n, closure.outside, [tables[k] for k in order])
    t, q, u = ca.SX.sym("t"), ca.SX.sym("q", mobilizer.nq), ca.SX.sym("u", mobilizer.nu)
    parts = [ca.sparsify(x) for x in mobilizer.motion(t, q, u).parts()]
    N = mobilizer.N(q)
    found = Closure("motion", [t, q, u], [*parts, N @ u, ca.sparsify(N)])
    texts = [table.text for table in tables]
    if form and {table.text for table in found.tables} <= set(texts):
        remember(_FORMS, form, (found, [texts.index(table.text) for table in found.tables]))
    return found


def form_of(mobilizer: Mobilizer) -> tuple[str, tuple[RowSource, ...]]:
    """The form of a mobilizer, which tables are the same included, and its tables; empty if it is not
    known."""
    if (form := mobilizer.form()) is None:
        return "", ()
    text, tables = form
    texts = [table.text for table in tables]
    return f"{text} {[texts.index(x) for x in texts]}", tables


def motion_size(mobilizer: Mobilizer) -> int:
    """How many operations a mobilizer's equations take. To load a number of a table and to leave it in a row
    are two of them. To select one of two values is one; CasADi has four, two that may be zero, their sum and
    a number."""
    closure = traced(mobilizer)
    f = closure.function
    halves = sum(f.instruction_id(k) == ca.OP_IF_ELSE_ZERO for k in range(f.n_instructions()))
    return f.n_instructions() - 3 * (halves // 2) + 2 * sum(table.width for table in closure.tables)


def motion_symbols(mobilizer: Mobilizer) -> SX:
    """The symbols beside t, q, u in a mobilizer's equations: its Parameters."""
    return traced(mobilizer).outside if mobilizer.parametric else ca.SX(0, 1)


class JointMotion(NamedTuple, Generic[T]):
    """The terms of base.py (1)-(4) of one mobilizer at one t, q, u: expressions or numbers."""

    R: T
    p: T
    H_w: T
    H_v: T
    w_t: T
    v_t: T
    bias_w: T
    bias_v: T
    qdot: T


def motion(mobilizer: Mobilizer, t: SX, q: SX, u: SX) -> JointMotion[SX]:
    """The terms of base.py (1)-(4) as expressions, traced once per description and inlined."""
    return JointMotion(*traced(mobilizer)(t, q, u)[:9])


def motion_at(mobilizer: Mobilizer, t: float, q: ArrayLike, u: ArrayLike) -> JointMotion[Array]:
    """The terms of base.py (1)-(4) as numbers; Parameters have their defaults."""
    closure = traced(mobilizer)
    outside = [DEFAULTED[s.element_hash()] for s in ca.vertsplit(closure.outside)]
    defaults = [symbol.default for symbol in outside]  # type: ignore[attr-defined]
    return JointMotion(*closure.at(t, q, u, outside=defaults)[:9])


LARGEST_RATE = 1e8
"""Entry of N(q) above which coordinates are said not to follow the speeds: half of the digits of what it is
computed from are lost. At ±pi/2, as near as a double gets, that of Euler angles is 1.6e16."""

_BOUNDED = frozenset(
    (
        ca.OP_ADD,
        ca.OP_SUB,
        ca.OP_MUL,
        ca.OP_NEG,
        ca.OP_TWICE,
        ca.OP_SQ,
        ca.OP_SIN,
        ca.OP_COS,
        ca.OP_CONST,
        ca.OP_INPUT,
        ca.OP_OUTPUT,
        ca.OP_ASSIGN,
    )
)


def runaway(mobilizer: Mobilizer, q: SX) -> SX | None:
    """Not zero where an entry of N(q) is above LARGEST_RATE or not a number; None if N is made of sums and
    products alone."""
    closure = _runaway(mobilizer)
    return None if closure is None else closure(q)[0]


@per_description
def _runaway(mobilizer: Mobilizer) -> Closure | None:
    x = ca.SX.sym("q", mobilizer.nq)
    N = ca.sparsify(mobilizer.N(x)).nz[:]
    f = Closure("runaway", [x], [N]).function
    if {f.instruction_id(k) for k in range(f.n_instructions())} <= _BOUNDED:
        return None
    flag = ca.SX(0)
    for entry in ca.vertsplit(N) if N.numel() else []:
        if not entry.is_constant():
            flag = ca.logic_or(flag, ca.logic_not(ca.fabs(entry) <= LARGEST_RATE))
    return Closure("runaway", [x], [flag])


# ---- sines -----------------------------------------------------------------------------------------------
#
# A mobilizer's equations in two steps: expensive parts independent of the parent first, then the rest.
#
# A sine takes as long as a matrix product. Where many bodies are computed one after the other, all sines come
# first: a processor evaluates several of them in parallel, while a body waits for its parent. For a mobilizer
# with look-ups, such as a joint along a spline, everything that does not depend on u comes first.


@per_description
def sines_first(mobilizer: Mobilizer) -> tuple[Closure, Closure] | None:
    """(t, q) -> sines and cosines, or all that does not depend on u, a column, and (t, q, u, that column) ->
    what `motion` gives. None if there are none."""
    closure = traced(mobilizer)
    if closure.tables:
        return _still_first(closure)
    f = closure.function
    inputs = [ca.SX.sym(name, f.size1_in(k)) for k, name in enumerate("tqu")]
    given = [*inputs, closure.outside]
    outputs = [ca.SX.zeros(f.sparsity_out(k)) for k in range(9)]
    slots: dict[int, ca.SX] = {}
    sines: list[ca.SX] = []
    symbols: list[ca.SX] = []
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            if o[0] < len(outputs):
                outputs[o[0]].nz[o[1]] = slots[i[0]]
        elif op == ca.OP_INPUT:
            slots[o[0]] = given[i[0]][i[1]]
        elif op == ca.OP_CONST:
            slots[o[0]] = ca.SX(f.instruction_constant(k))
        elif op in (ca.OP_SIN, ca.OP_COS) and not ca.depends_on(slots[i[0]], ca.vertcat(inputs[2], *symbols)):
            sines.append(ca.SX.unary(op, slots[i[0]]))
            symbols.append(ca.SX.sym("sine"))
            slots[o[0]] = symbols[-1]
        else:
            slots[o[0]] = (
                ca.SX.unary(op, slots[i[0]]) if len(i) == 1 else ca.SX.binary(op, slots[i[0]], slots[i[1]])
            )
    if not sines:
        return None
    return (
        Closure("sines", inputs[:2], [ca.vertcat(*sines)]),
        Closure("motion", [*inputs, ca.vertcat(*symbols)], outputs),
    )


MOST = 64
"""Numbers that the first step may leave for the second where tables are looked up."""


def _still_first(closure: Closure) -> tuple[Closure, Closure] | None:
    """The same, where what does not depend on u comes first."""
    inputs = [ca.SX.sym(name, closure.function.size1_in(k)) for k, name in enumerate("tqu")]
    motion = closure(*inputs)[:9]
    given = [*inputs, closure.outside, *(lookup.row for lookup in lookups_in(motion))]
    f = ca.Function("motion", given, motion)
    outputs = [ca.SX.zeros(f.sparsity_out(k)) for k in range(f.n_out())]
    slots: dict[int, tuple[ca.SX, bool]] = {}  # values, and whether they depend on u
    still: list[ca.SX] = []
    symbols: dict[int, ca.SX] = {}

    def kept(value: SX, moves: bool) -> SX:
        """A value in the second step."""
        if moves or value.is_constant():
            return value
        key = value.element_hash()
        if key not in symbols:
            still.append(value)
            symbols[key] = ca.SX.sym("still")
        return symbols[key]

    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            outputs[o[0]].nz[o[1]] = kept(*slots[i[0]])
        elif op == ca.OP_INPUT:
            slots[o[0]] = given[i[0]][i[1]], i[0] == 2
        elif op == ca.OP_CONST:
            slots[o[0]] = ca.SX(f.instruction_constant(k)), False
        else:
            operands = [slots[x] for x in i]
            moves = any(depends for _, depends in operands)
            values = [kept(*x) if moves else x[0] for x in operands]
            slots[o[0]] = ca.SX.unary(op, *values) if len(i) == 1 else ca.SX.binary(op, *values), moves
    if len(still) > MOST:
        return None
    return (
        Closure("still", inputs[:2], [ca.vertcat(*still)]),
        Closure("motion", [*inputs, vertcat(symbols.values())], outputs),
    )
