"""The instruction stream of a CasADi SX Function as a graph, in which operations are joined before code is
written.

CasADi's instructions name slots that are used again and again; here every instruction is a node with its own
number, and operands are numbers of nodes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import NativeError
from condyle.native.machine.data import OPERATIONS, DerivedData
from condyle.native.straight.data import places_of
from condyle.native.straight.selection import Selections

CHOICE = -1  # our own operation: c ? x : y
LEAVES = (ca.OP_INPUT, ca.OP_CONST, ca.OP_PARAMETER)
_PRODUCTS = (ca.OP_MUL, ca.OP_SQ)
TRUTHS = ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR
"""Operations whose result is true or false."""
_NAMES = {getattr(ca, n): n[3:] for n in dir(ca) if n.startswith("OP_")}


def operation_name(op: int) -> str:
    return _NAMES.get(op, f"number {op}")


def apply(op: int, *operands: SX) -> SX:
    """The value of an operation."""
    return ca.SX.unary(op, *operands) if len(operands) == 1 else ca.SX.binary(op, *operands)


_SERIALIZED_FROM = 15
"""Functions with at least this many instructions are read from their serialization; reading one by one
takes three times as long."""
_Listed = tuple[list[int], list[int], list[int], list[int], list[float]]


def listed(f: ca.Function) -> _Listed:
    """Operations of f; slots of their results; slots of the first and the second operand, -1 for none; constants. Of
    OP_INPUT the operands are argument and element; OP_OUTPUT puts its first operand into element `second` of an
    argument, whose index takes the place of the result's slot."""
    known: _Listed | None = f.__dict__.get("_condyle_listed")
    if known is None:
        n = f.n_instructions()
        known = (_as_serialized(f, n) if n >= _SERIALIZED_FROM else None) or _one_by_one(f, range(n))
        f.__dict__["_condyle_listed"] = known  # a function never changes
    return known


def _one_by_one(f: ca.Function, which: Sequence[int]) -> _Listed:
    out: _Listed = [], [], [], [], []
    ops, results, first, second, constants = out
    for k in which:
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        result, *operands = (o[0], i[0], o[1]) if op == ca.OP_OUTPUT else (*o, *i)
        ops.append(op)
        results.append(result)
        first.append(operands[0] if operands else -1)
        second.append(operands[1] if len(operands) > 1 else -1)
        constants.append(f.instruction_constant(k) if op == ca.OP_CONST else 0.0)
    return out


def _as_serialized(f: ca.Function, n: int) -> _Listed | None:
    """The same from CasADi's serialization of f, where the instructions are an array of records, found by
    its first and last one; one in the middle is compared too. None if it is not found."""
    letters = np.frombuffer(f.serialize().encode(), np.uint8) - 97
    data = (letters[0::2] | letters[1::2] << 4).tobytes()
    *some, _ = _one_by_one(f, (0, n // 2, n - 1))
    head, tail = struct.pack("<2i", some[0][0], some[1][0]), struct.pack("<4i", *(x[2] for x in some))
    last = len(data)
    while (last := data.rfind(tail, 0, last)) >= 0:
        at = last - (n - 1) * len(tail)
        if at < 0 or not data.startswith(head, at):
            last += len(tail) - 1
            continue
        records = np.frombuffer(data, "<i4", 4 * n, at).reshape(n, 4)
        if records[n // 2, :2].tolist() != [some[0][1], some[1][1]]:
            return None
        op, result, first, second = records.T.tolist()
        for code in set(op).difference(_OPERANDS):
            _OPERANDS[code] = len(f.instruction_input(op.index(code)))
        count = [_OPERANDS[code] for code in op]
        first = [a if m else -1 for a, m in zip(first, count, strict=True)]
        second = [b if m == 2 else -1 for b, m in zip(second, count, strict=True)]
        return op, result, first, second, np.frombuffer(data, "<f8", 2 * n - 1, at + 8)[::2].tolist()
    return None


_OPERANDS = {ca.OP_INPUT: 2, ca.OP_OUTPUT: 2}
"""Number of operands of the operations seen so far."""


class Instructions:
    """Nodes of f in an order in which operands come first. Equal operations are one node: choices by equal conditions
    can then be taken together. Products are an exception: two sums may each take in a copy.

    Attributes, indexed by node:
        op: operation, one of casadi.OP_*.
        a, b: operands; for OP_INPUT argument and element, for OP_PARAMETER the place of the datum
            (data.py); -1 for none.
    And
        constants: value of each OP_CONST node.
        outputs: (node, argument, element) of each output.
        results: how many outputs f has.
    """

    def __init__(self, f: ca.Function) -> None:
        self.op: list[int] = []
        self.a: list[int] = []
        self.b: list[int] = []
        self.constants: dict[int, float] = {}
        self.outputs: list[tuple[int, int, int]] = []
        self.results = f.n_out()
        newest: dict[int, int] = {}
        known: dict[tuple[int, int, int], int] = {}
        free = iter(places_of(f))
        for op, o, i, j, constant in zip(*listed(f), strict=True):
            if op == ca.OP_OUTPUT:
                self.outputs.append((newest[i], o, j))
                continue
            if op in (ca.OP_ASSIGN, ca.OP_LIFT):  # only another name for the same value
                newest[o] = newest[i]
                continue
            if op == ca.OP_INPUT:
                a, b = i, j
            elif op == ca.OP_CONST:
                a = b = -1
                self.constants[len(self.op)] = constant
            elif op == ca.OP_PARAMETER:
                a, b = next(free), -1
            elif op == ca.OP_CALL:
                raise NativeError(
                    f"function {f.name()!r} calls a function that was made with never_inline; "
                    "machine code needs its operations: make that function without the option"
                )
            else:
                a = newest[i]
                b = newest[j] if j >= 0 else -1
                if op not in _PRODUCTS:
                    first = newest[o] = known.setdefault((op, a, b), len(self.op))
                    if first < len(self.op):
                        continue
            newest[o] = len(self.op)
            self.op.append(op)
            self.a.append(a)
            self.b.append(b)

    def operands(self, k: int) -> Sequence[int]:
        """Nodes from which a node is computed; none for arguments and constants."""
        if self.op[k] in LEAVES:
            return ()
        return (self.a[k], self.b[k]) if self.b[k] >= 0 else (self.a[k],)


class Graph(Instructions):
    """The instructions of f, with choices, tables and fused products joined.

    Attributes beside those of Instructions, indexed by node:
        op: may also be CHOICE.
        uses: how often the node is an operand or an output; 0 means unused.
    And
        choices: (c, x, y) of each CHOICE.
        selections: choices among many constants.
        products: node of the OP_MUL or OP_SQ that a sum or difference takes in, so that both become one fused
            multiply-add. Such a product has no other use.

    Args:
        fuse: whether to join products with sums.
        tables: whether to take trees of choices over constants together.
        derived: receives the operations on data alone.
    """

    def __init__(
        self, f: ca.Function, fuse: bool, tables: bool = False, derived: DerivedData | None = None
    ) -> None:
        super().__init__(f)
        if derived is not None and f.has_free():
            self._derive(derived)
        self.choices = self._find_choices()
        self.selections = Selections(self.op if tables else (), self.a, self.b, self.constants, self.choices)
        self.uses = self._count_uses()
        while self.selections.keep_shared(self.uses):
            self.uses = self._count_uses()
        self.products = self._find_products() if fuse else {}

    def _derive(self, derived: DerivedData) -> None:
        """Turn nodes that are computed from data alone into data."""
        known: dict[int, Any] = dict(self.constants)
        for k, op in enumerate(self.op):
            if op == ca.OP_PARAMETER:
                known[k] = [self.a[k]]
            elif (name := operation_name(op)) in OPERATIONS:
                operands = [known.get(x) for x in super().operands(k)]
                if None not in operands and any(isinstance(x, list) for x in operands):
                    known[k] = [derived.place(name, operands)]
                    self.op[k], self.a[k], self.b[k] = ca.OP_PARAMETER, known[k][0], -1

    def _find_choices(self) -> dict[int, tuple[int, int, int]]:
        """if_else(c, x, y) arrives as (c ? x : 0) + (!c ? y : 0)."""
        op, a, b = self.op, self.a, self.b
        choices = {}
        for k, o in enumerate(op):
            if o == ca.OP_ADD and op[a[k]] == ca.OP_IF_ELSE_ZERO == op[b[k]]:
                p, q = a[k], b[k]
                if op[a[p]] == ca.OP_NOT and a[a[p]] == a[q]:
                    p, q = q, p
                if op[a[q]] == ca.OP_NOT and a[a[q]] == a[p]:
                    choices[k] = a[p], b[p], b[q]
                    op[k] = CHOICE
        return choices

    def _count_uses(self) -> list[int]:
        uses = [0] * len(self.op)
        for k, _, _ in self.outputs:
            uses[k] += 1
        for k in reversed(range(len(uses))):
            if uses[k]:
                for operand in self.operands(k):
                    uses[operand] += 1
        return uses

    def operands(self, k: int) -> Sequence[int]:
        if k in self.selections.at:
            return self.selections.conditions(k)
        return self.choices.get(k) or super().operands(k)

    def _find_products(self) -> dict[int, int]:
        """Find the products that sums take in. If both terms are products, it is the later one, since the
        earlier one has had time to finish."""
        op, uses, products = self.op, self.uses, {}
        for k, o in enumerate(op):
            if uses[k] and o in (ca.OP_ADD, ca.OP_SUB):
                candidates = [m for m in (self.a[k], self.b[k]) if op[m] in _PRODUCTS and uses[m] == 1]
                if candidates:
                    products[k] = max(candidates)
        return products
