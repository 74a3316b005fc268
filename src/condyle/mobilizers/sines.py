"""A mobilizer's equations in two steps: sines and cosines of its coordinates, then all else.

A sine takes as long as a matrix product and needs nothing of the parent. Where many bodies are computed one
after the other, all sines come first: a processor works at several of them at a time, while a body waits for
its parent.
"""
from __future__ import annotations

import casadi as ca

from condyle.mobilizers.base import Mobilizer, traced
from condyle.native.sweeps.lookup import Closure

KEPT = 4096
"""Descriptions of mobilizers that are remembered; the oldest goes first."""

_SPLIT: dict[str, tuple[Closure, Closure] | None] = {}


def sines_first(mobilizer: Mobilizer) -> tuple[Closure, Closure] | None:
    """(t, q) -> sines and cosines, a column, and (t, q, u, that column) -> what `motion` gives. None if there
    are none, or if tables are looked up."""
    text = mobilizer.description()
    if text not in _SPLIT:
        if len(_SPLIT) >= KEPT:
            _SPLIT.pop(next(iter(_SPLIT)), None)
        _SPLIT[text] = _split(mobilizer)
    return _SPLIT[text]


def _split(mobilizer: Mobilizer) -> tuple[Closure, Closure] | None:
    closure = traced(mobilizer)
    if closure.tables:
        return None
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
            slots[o[0]] = ca.SX.unary(op, slots[i[0]]) if len(i) == 1 else ca.SX.binary(op, slots[i[0]],
                                                                                        slots[i[1]])
    if not sines:
        return None
    return (Closure("sines", inputs[:2], [ca.vertcat(*sines)]),
            Closure("motion", [*inputs, ca.vertcat(*symbols)], outputs))
