"""Parts of functions at points: terms that each depend on few of the variables, such as a muscle's.

    F(y, d) = F_0(y, d) + sum over parts of  S_k F_k(y_k, d_k)                                               (1)

y_k and d_k are some of y and d; S_k puts the values into rows of F. By the chain rule a Hessian is then the
sum of small ones. Parts with the same operations on other numbers, such as left and right muscles, form one
kind: derived and compiled once, and evaluated in lanes like additional points. If a part has no second
derivatives, like a muscle over an ellipsoid, whose length has no third ones, finite differences of the first
are used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.collocation.point_functions import PointFunction
from condyle.errors import NativeError
from condyle.native.machine import cache
from condyle.native.straight.instructions import Instructions, apply
from condyle.native.tables.lookup import Closure, Context, lookup_context
from condyle.records import dataclass

Part = tuple[SX, Sequence[int], bool]
"""An expression, the rows of F that it is added to, and whether it has second derivatives."""
Terms = Callable[[], tuple[SX, SX, Sequence[Part], Context]]
"""Creates the symbols y and d and all parts, and returns their trace."""


@dataclass(frozen=True, eq=False)
class PartKind:
    """Parts with the same operations.

    Attributes:
        function: F_k(y_k, (d_k, numbers)).
        y: indices of y that each member uses, shape (members, n).
        d: indices of d, shape (members, k).
        numbers: other numbers in which members differ, shape (members, c).
        rows: of F that each member adds to, shape (members, r).
    """

    function: PointFunction
    y: Any
    d: Any
    numbers: Array
    rows: Any

    def data(self, d: Array) -> Array:
        """d_k and numbers of all members at points with numbers d (P, n), shape (P * members, k + c)."""
        own, shape = d[:, self.d], (len(d), *self.numbers.shape)
        both = np.concatenate([own, np.broadcast_to(self.numbers, shape)], axis=2)
        return both.reshape(both.shape[0] * both.shape[1], both.shape[2])


def kinds(name: str, key: str, build: Terms, hessian: bool) -> list[PartKind]:
    """All parts by kind, from the cache if possible.

    Args:
        name: for messages.
        key: text that determines the expressions.
        build: creates them.
        hessian: second derivatives are needed.
    """
    made: list[_Draft] = []

    def drafts() -> list[_Draft]:
        if not made:
            made.extend(_drafts(*build()))
        return made

    def load(code: bytes, facts: Any) -> list[tuple[Any, ...]]:
        numbers, at, out = np.frombuffer(code), 0, []
        for shapes, known in zip(facts["shapes"], facts["known"], strict=True):
            arrays = []
            for shape in shapes:
                size = int(np.prod(shape))
                arrays.append(numbers[at : at + size].reshape(shape))
                at += size
            out.append((*arrays, known))
        return out

    facts_key = f"parts {name}\n{key}"
    found = cache.loaded(facts_key, load)
    if found is None:
        found = [(*draft.arrays, draft.first.known) for draft in drafts()]
        code = b"".join(np.asarray(x, float).tobytes() for each in found for x in each[:-1])
        facts = {"known": [each[-1] for each in found]}
        cache.store(
            facts_key, code, facts | {"shapes": [[list(x.shape) for x in each[:-1]] for each in found]}
        )
    out = []
    for i, arrays in enumerate(found):
        y, d, rows = (x.astype(int) for x in (arrays[0], arrays[1], arrays[3]))
        function = PointFunction(
            f"{name} part {i + 1}", key, lambda i=i: drafts()[i].expressions(),  # type: ignore[misc]
            y.shape[1], d.shape[1] + arrays[2].shape[1], hessian, arrays[4],
        )  # fmt: skip
        out.append(PartKind(function, y, d, arrays[2], rows))
    return out


class _Member:
    """A part as operations on its own symbols, in the order in which these are in y and d."""

    def __init__(self, part: Part, place: dict[int, tuple[int, int]]) -> None:
        expression, rows, self.known = part
        self.rows = list(rows)
        self.closure = Closure("part", [], [ca.densify(ca.vec(expression))])
        symbols = ca.vertsplit(self.closure.outside) if self.closure.outside.numel() else []
        try:
            where = [place[s.element_hash()] for s in symbols]
        except KeyError:
            raise NativeError("a part reads symbols that are neither variables nor data") from None
        order = sorted(range(len(where)), key=where.__getitem__)
        rank = {k: i for i, k in enumerate(order)}
        self.y = [where[k][1] for k in order if where[k][0] == 0]
        self.d = [where[k][1] for k in order if where[k][0] == 1]
        code = self.code = Instructions(self.closure.function)
        for k, op in enumerate(code.op):
            if op == ca.OP_INPUT and code.a[k] == 0:
                code.b[k] = rank[code.b[k]]
        self.constants = list(code.constants.values())
        tables = [table.text for table in self.closure.tables]
        self.key = (
            tuple(code.op),
            tuple(code.a),
            tuple(code.b),
            tuple(code.outputs),
            tuple(tables),
            len(self.y),
            self.known,
        )


class _Draft:
    """Members of one kind, before they become functions."""

    def __init__(self, members: list[_Member], context: Context) -> None:
        self.first, self.context = members[0], context
        constants = np.array([m.constants for m in members]).reshape(len(members), -1)
        self.free = np.flatnonzero((constants != constants[0]).any(axis=0))
        self.arrays = (
            np.array([m.y for m in members]), np.array([m.d for m in members]).reshape(len(members), -1),
            constants[:, self.free], np.array([m.rows for m in members]),
        )  # fmt: skip

    def expressions(self) -> tuple[SX, SX, SX, Context]:
        """y_k, (d_k, numbers), F_k and the trace, as PointFunction takes them."""
        code, closure = self.first.code, self.first.closure
        y, d = ca.SX.sym("y", len(self.first.y)), ca.SX.sym("d", len(self.first.d) + len(self.free))
        rows = [ca.SX.sym("row", table.width) for table in closure.tables]
        own = ca.vertcat(y, d[: len(self.first.d)])
        ins = [ca.vertsplit(x) if x.numel() else [] for x in (own, *rows)]
        where = list(code.constants)
        number = {where[k]: d[len(self.first.d) + i] for i, k in enumerate(self.free)}
        nodes: list[SX] = []
        for k, op in enumerate(code.op):
            if op == ca.OP_INPUT:
                nodes.append(ins[code.a[k]][code.b[k]])
            elif op == ca.OP_CONST:
                nodes.append(number.get(k, ca.SX(code.constants[k])))
            else:
                nodes.append(apply(op, nodes[code.a[k]], *([nodes[code.b[k]]] if code.b[k] >= 0 else [])))
        sizes = [closure.function.numel_out(i) for i in range(code.results)]
        outs = [[ca.SX(0)] * n for n in sizes]
        for node, argument, element in code.outputs:
            outs[argument][element] = nodes[node]
        none = ca.SX(0, 1)
        made = ca.Function("part", [y, d, none, *rows], [ca.vertcat(none, *x) for x in outs])
        with lookup_context(self.context):
            F = Closure.from_function(made, closure.n, none, closure.tables)(y, d)[0]
        return y, d, F, self.context


def _drafts(y: SX, d: SX, parts: Sequence[Part], context: Context) -> list[_Draft]:
    place = {
        s.element_hash(): (which, i)
        for which, x in enumerate((y, d))
        for i, s in enumerate(ca.vertsplit(x) if x.numel() else [])
    }
    groups: dict[Any, list[_Member]] = {}
    with lookup_context(context):
        for part in parts:
            member = _Member(part, place)
            groups.setdefault(member.key, []).append(member)
    return [_Draft(members, context) for members in groups.values()]
