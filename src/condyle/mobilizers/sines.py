"""A mobilizer's equations in two steps: what takes long and needs nothing of the parent, then all else.

A sine takes as long as a matrix product. Where many bodies are computed one after the other, all sines come
first: a processor works at several of them at a time, while a body waits for its parent. Of a mobilizer that
looks tables up, such as a joint along a spline, all that does not depend on u comes first.
"""

from __future__ import annotations

import casadi as ca

from condyle.mobilizers.base import Mobilizer
from condyle.mobilizers.traced import traced
from condyle.native.tables.lookup import Closure, lookups_in

KEPT = 4096
"""Descriptions of mobilizers that are remembered; the oldest goes first."""

_SPLIT: dict[str, tuple[Closure, Closure] | None] = {}


def sines_first(mobilizer: Mobilizer) -> tuple[Closure, Closure] | None:
    """(t, q) -> sines and cosines, or all that does not depend on u, a column, and (t, q, u, that column) ->
    what `motion` gives. None if there are none."""
    text = mobilizer.description()
    if text not in _SPLIT:
        if len(_SPLIT) >= KEPT:
            _SPLIT.pop(next(iter(_SPLIT)), None)
        _SPLIT[text] = _split(mobilizer)
    return _SPLIT[text]


def _split(mobilizer: Mobilizer) -> tuple[Closure, Closure] | None:
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

    def kept(value: ca.SX, moves: bool) -> ca.SX:
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
        Closure("motion", [*inputs, ca.vertcat(ca.SX(0, 1), *symbols.values())], outputs),
    )
