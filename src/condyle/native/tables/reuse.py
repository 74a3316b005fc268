"""Stages that reuse values of earlier stages: poses and lengths of paths are needed to look up curves, to
solve for fibers, and for the results.

Each stage of a Staged is a function of the arguments and of the rows so far. A value that some stage has
computed and a later one needs is computed once: the first stage stores it, the others load it.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from condyle.native.straight.data import datum, function
from condyle.native.straight.instructions import LEAVES, Instructions, apply

_AGAIN = frozenset(
    [ca.OP_NOT, ca.OP_NEG, ca.OP_IF_ELSE_ZERO, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR]
)
"""Operations that cost no more than a load, or that are fused with others."""


def reuse_values(functions: Sequence[ca.Function]) -> tuple[list[ca.Function], list[int]]:
    """Let functions that run in turn on the same arguments store values for later ones.

    Args:
        functions: x_0, x_1, .. -> results; all of the same arguments. An argument does not change once some
            function has read it.

    Returns:
        functions x_0, x_1, .., reused -> results, new; and the number of new values of each. `reused` holds
        the new values of all functions, one after the other; the last function has none and returns its
        results only.
    """
    nodes, first, outputs = _numbered(functions)
    needed = [_needed(nodes, first, stage, results) for stage, results in enumerate(outputs)]
    stored: list[list[int]] = [[] for _ in functions]
    for k in sorted({k for _, loaded in needed for k in loaded}):
        stored[first[k]].append(k)
    place = {k: i for i, k in enumerate(k for mine in stored for k in mine)}
    made = [
        _function(f, nodes, computed, loaded, results, stored[stage], place, stage == len(functions) - 1)
        for stage, (f, (computed, loaded), results) in enumerate(zip(functions, needed, outputs, strict=True))
    ]
    return made, [len(mine) for mine in stored]


Nodes = list[tuple[int, int, int, float]]


def _numbered(functions: Sequence[ca.Function]) -> tuple[Nodes, list[int], list[list[tuple[int, int, int]]]]:
    """Values of all functions, each listed once: operation, operands, constant; the first function that has
    it; and the results of each function."""
    known: dict[tuple[int, int, int, float | str], int] = {}
    nodes: Nodes = []
    first: list[int] = []
    outputs = []
    for stage, f in enumerate(functions):
        code = Instructions(f)
        number: list[int] = []
        for k, (op, a, b) in enumerate(zip(code.op, code.a, code.b, strict=True)):
            constant = code.constants.get(k, 0.0)
            if op not in LEAVES:
                a, b = number[a], number[b] if b >= 0 else -1
            key = op, a, b, constant.hex()
            if key not in known:
                known[key] = len(nodes)
                nodes.append((op, a, b, constant))
                first.append(stage)
            number.append(known[key])
        outputs.append([(number[node], argument, element) for node, argument, element in code.outputs])
    return nodes, first, outputs


def _needed(
    nodes: Nodes, first: list[int], stage: int, results: list[tuple[int, int, int]]
) -> tuple[list[int], set[int]]:
    """The values that a stage computes, operands first, and those that it loads."""
    computed: set[int] = set()
    loaded: set[int] = set()
    todo = [node for node, _, _ in results]
    while todo:
        k = todo.pop()
        if k in computed or k in loaded:
            continue
        op, a, b, _ = nodes[k]
        if first[k] < stage and op not in LEAVES and op not in _AGAIN:
            loaded.add(k)
            continue
        computed.add(k)
        if op not in LEAVES:
            todo += (a, b) if b >= 0 else (a,)
    return sorted(computed), loaded


def _function(
    f: ca.Function,
    nodes: Nodes,
    computed: list[int],
    loaded: set[int],
    results: list[tuple[int, int, int]],
    stored: list[int],
    place: dict[int, int],
    last: bool,
) -> ca.Function:
    arguments = [ca.SX.sym(f"x{k}", f.numel_in(k)) for k in range(f.n_in())]
    given, x = ca.SX.sym("reused", len(place)), [ca.vertsplit(x) if x.numel() else [] for x in arguments]
    before = ca.vertsplit(given) if place else []
    value = {k: before[place[k]] for k in loaded}
    for k in computed:
        op, a, b, constant = nodes[k]
        if op == ca.OP_INPUT:
            value[k] = x[a][b]
        elif op == ca.OP_CONST:
            value[k] = ca.SX(constant)
        elif op == ca.OP_PARAMETER:
            value[k] = datum(a)
        else:
            value[k] = apply(op, value[a], *([value[b]] if b >= 0 else []))
    out: list[list[ca.SX]] = [[ca.SX(0)] * f.numel_out(k) for k in range(f.n_out())]
    for node, argument, element in results:
        out[argument][element] = value[node]
    columns = [ca.densify(ca.vertcat(ca.SX(0, 1), *column)) for column in out]
    if not last:
        columns.append(ca.vertcat(ca.SX(0, 1), *(value[k] for k in stored)))
    return function(f.name(), [*arguments, given], columns)
