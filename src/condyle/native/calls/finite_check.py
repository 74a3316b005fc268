"""Machine code that checks whether the arguments of a kernel are finite, in one pass.

    sum over all numbers x of 0 x  +  sum over quaternions e of 0 / |e|^2                                  (1)

is zero if every number is finite and no quaternion is zero, else NaN. Four sums run side by side, so that
none waits for another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, DOUBLE, LONG, POINTER, Value, wide
from condyle.records import dataclass

SUMS = 4
# doubles from which a loop is shorter than a straight line
LOOP_FROM = 512
# the same for quaternions: LLVM's time grows with the square of the length of a straight line
TURNS_FROM = 24
_CHUNK = 16  # doubles that one round of the loop reads


@dataclass(frozen=True)
class FiniteArgument:
    """A checked argument: its index among the kernel's inputs, its size, and where quaternions start in it."""

    place: int
    size: int
    quaternions: tuple[int, ...] = ()


def is_finite(b: Builder, arguments: Sequence[tuple[Value, FiniteArgument]]) -> Value:
    """Whether (1) is zero for arguments at their addresses, lane l of number j at [j W + l]."""
    W = b.lanes.W
    V = W if W > 1 else 4
    vector = wide(DOUBLE, V)
    one: list[Value] = []  # scalars that must be zero
    many: list[Value] = []  # and vectors of V

    for pointer, watched in arguments:
        count = watched.size * W
        if count >= LOOP_FROM:
            one.append(b.call(_add_scan(b.module), pointer, count - _CHUNK, result=DOUBLE))
        elif count < V:
            one += [b.load(b.at(pointer, j), DOUBLE) * 0.0 for j in range(count)]
        else:
            starts = sorted({*range(0, count - V + 1, V), count - V})
            many += [b.load(b.at(pointer, j), vector) * 0.0 for j in starts]
        turns = many if W > 1 else one
        if len(watched.quaternions) >= TURNS_FROM:
            turns.append(b.call(_add_turns(b.module, watched.quaternions), pointer, result=wide(DOUBLE, W)))
            continue
        turns += [_turn(b, b.at(pointer, start * W)) for start in watched.quaternions]
    good = []
    if many:
        good.append(b.compare("eq", b.as_bits(b.compare("une", _sum(many), 0.0)), 0))
    if one:
        good.append(b.compare("oeq", _sum(one), 0.0))
    return good[0] if len(good) == 1 else good[0] & good[1] if good else b.number(1, BOOL)


def _sum(terms: list[Value]) -> Value:
    """The sum of all terms, in a few independent chains."""
    chains = terms[:SUMS]
    for k, term in enumerate(terms[SUMS:]):
        chains[k % SUMS] = chains[k % SUMS] + term
    while len(chains) > 1:
        chains = [chains[0] + chains[1], *chains[2:]]
    return chains[0]


def _turn(b: Builder, quaternion: Value) -> Value:
    """0 / |e|^2 of the quaternion at an address."""
    parts = [b.load(b.at(quaternion, j * b.lanes.W)) for j in range(4)]
    return 0.0 / _sum([x * x for x in parts])


def _add_turns(module: Module, starts: Sequence[int]) -> str:
    """Define turns(x), the sum of 0 / |e|^2 over the quaternions that start at some numbers of x."""
    key = f"turns.{hashlib.sha256(repr(starts).encode()).hexdigest()[:16]}"

    def write(name: str) -> None:
        W = module.lanes.W
        table = module.table(f"{name}.starts", W * np.asarray(starts, np.int32))
        with module.function(name, [POINTER], result=wide(DOUBLE, W), attributes="noinline nounwind") as b:
            (x,) = b.arguments
            with b.loop(len(starts)) as i:
                total = b.carry(b.number(0.0, wide(DOUBLE, W)))
                b.hand_on(total, total + _turn(b, b.at(x, b.entry(table, i))))
            b.give(b.after_loop(total))

    return module.define(key, write)


def _add_scan(module: Module) -> str:
    """Define scan(x, last), the sum of 0 x over last + 16 numbers, sixteen at a time; those at the end may be
    read twice."""

    def write(name: str) -> None:
        vector = wide(DOUBLE, _CHUNK // SUMS)
        with module.function(name, [POINTER, LONG], result=DOUBLE, attributes="noinline nounwind") as b:
            x, last = b.arguments
            with b.overlapping(last, _CHUNK) as i:
                sums = [b.carry(b.number(0.0, vector)) for _ in range(SUMS)]
                for k, total in enumerate(sums):
                    numbers = b.load(b.at(b.at(x, i), k * _CHUNK // SUMS), vector)
                    b.hand_on(total, total + numbers * 0.0)
            first, second, third, fourth = map(b.after_loop, sums)
            total = (first + second) + (third + fourth)
            b.give(_sum([b.put(DOUBLE, f"extractelement {total}, i32 {k}") for k in range(_CHUNK // SUMS)]))

    return module.define("scan", write)
