"""The equations of mobilizers, traced once per description and inlined wherever they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import casadi as ca
from numpy.typing import ArrayLike

from condyle.arrays import Array
from condyle.native.tables.lookup import Closure, RowSource, lookup_context
from condyle.trace import DEFAULTED

if TYPE_CHECKING:
    from condyle.mobilizers.base import Mobilizer

T = TypeVar("T")

KEPT = 4096
"""Descriptions of mobilizers whose equations are remembered; the oldest goes first. More than a model has, so
that each is traced once while a model is made."""

_TRACED: dict[str, Closure] = {}
_FORMS: dict[str, tuple[Closure, list[int]]] = {}
"""The equations of one mobilizer of each form, and the places of what they look up among its tables."""


def remember(known: dict[str, Any], text: str, value: Any) -> None:
    """Keep a value, and forget the oldest if there are many."""
    if len(known) >= KEPT:
        known.pop(next(iter(known)), None)
    known[text] = value


@lookup_context()
def traced(mobilizer: Mobilizer) -> Closure:
    """R, p, H_w, H_v, w_t, v_t, bias_w, bias_v, qdot and N as functions of t, q, u; once per description, and
    once per form where that is known."""
    text = mobilizer.description()
    if (found := _TRACED.get(text)) is None:
        form, tables = form_of(mobilizer)
        known = _FORMS.get(form) if form else None
        if known is None:
            t, q, u = ca.SX.sym("t"), ca.SX.sym("q", mobilizer.nq), ca.SX.sym("u", mobilizer.nu)
            parts = [ca.sparsify(x) for x in mobilizer.motion(t, q, u).parts()]
            N = mobilizer.N(q)
            found = Closure("motion", [t, q, u], [*parts, N @ u, ca.sparsify(N)])
            texts = [table.text for table in tables]
            if form and {table.text for table in found.tables} <= set(texts):
                remember(_FORMS, form, (found, [texts.index(table.text) for table in found.tables]))
        else:
            closure, order = known
            found = Closure.from_function(
                closure.function, closure.n, closure.outside, [tables[k] for k in order]
            )
        remember(_TRACED, text, found)
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


def motion_symbols(mobilizer: Mobilizer) -> ca.SX:
    """The symbols beside t, q, u in a mobilizer's equations: its Parameters."""
    return traced(mobilizer).outside


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


def motion(mobilizer: Mobilizer, t: ca.SX, q: ca.SX, u: ca.SX) -> JointMotion[ca.SX]:
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
_RUNAWAY: dict[str, Closure | None] = {}


def runaway(mobilizer: Mobilizer, q: ca.SX) -> ca.SX | None:
    """Not zero where an entry of N(q) is above LARGEST_RATE or not a number; None if N is made of sums and
    products alone."""
    text = mobilizer.description()
    if text not in _RUNAWAY:
        x = ca.SX.sym("q", mobilizer.nq)
        N = ca.sparsify(mobilizer.N(x)).nz[:]
        flag = ca.SX(0)
        for entry in ca.vertsplit(N) if N.numel() else []:
            flag = (
                flag
                if entry.is_constant()
                else ca.logic_or(flag, ca.logic_not(ca.fabs(entry) <= LARGEST_RATE))
            )
        f = Closure("runaway", [x], [N]).function
        bounded = {f.instruction_id(k) for k in range(f.n_instructions())} <= _BOUNDED
        remember(_RUNAWAY, text, None if bounded else Closure("runaway", [x], [flag]))
    closure = _RUNAWAY[text]
    return None if closure is None else closure(q)[0]
