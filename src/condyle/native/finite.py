"""Machine code that sees whether the arguments of a kernel are finite, at the cost of reading them once.

    sum over all numbers x of 0 x  +  sum over quaternions e of 0 / |e|^2                                            (1)

is zero if every number is finite and no quaternion is zero, else NaN. Four sums run side by side, so that none waits for
another.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SUMS = 4
LOOP_FROM = 512                                             # doubles from which a loop is shorter than a straight line
_CHUNK = 16                                                 # doubles that one turn of the loop reads


@dataclass(frozen=True)
class Watched:
    """An argument that is looked at: its place among the kernel's inputs, its size, and where quaternions start in it."""

    place: int
    size: int
    quaternions: tuple[int, ...] = ()


def scan(name: str, W: int, arguments: Sequence[tuple[str, Watched]]) -> list[str]:
    """Lines that define `%name`, an i1: whether (1) is zero for arguments at their pointers, lane l of number j at [j W + l]."""
    lines: list[str] = []
    one: list[str] = []                                     # scalars that shall be zero
    many: list[str] = []                                    # and vectors of V
    V = W if W > 1 else 4
    vector = f"<{V} x double>"

    def at(pointer: str, offset: int, kind: str) -> str:
        k = len(lines)
        lines.extend([f"%{name}.p{k} = getelementptr double, ptr {pointer}, i64 {offset}",
                      f"%{name}.v{k} = load {kind}, ptr %{name}.p{k}, align 8"])
        return f"%{name}.v{k}"

    def made(text: str) -> str:
        k = len(lines)
        lines.append(f"%{name}.n{k} = {text}")
        return f"%{name}.n{k}"

    for pointer, watched in arguments:
        count = watched.size * W
        if count >= LOOP_FROM:
            one.append(made(f"call double @scan(ptr {pointer}, i64 {count - _CHUNK})"))
        elif count < V:
            one += [made(f"fmul double {at(pointer, j, 'double')}, 0.0") for j in range(count)]
        else:
            starts = sorted({*range(0, count - V + 1, V), count - V})
            many += [made(f"fmul {vector} {at(pointer, j, vector)}, zeroinitializer") for j in starts]
        for start in watched.quaternions:
            if W > 1:
                parts = [at(pointer, (start + j) * W, vector) for j in range(4)]
                squares = [made(f"fmul {vector} {x}, {x}") for x in parts]
                many.append(made(f"fdiv {vector} zeroinitializer, {_sum(squares, vector, made)}"))
            else:
                parts = [at(pointer, start + j, "double") for j in range(4)]
                squares = [made(f"fmul double {x}, {x}") for x in parts]
                one.append(made(f"fdiv double 0.0, {_sum(squares, 'double', made)}"))
    good = []
    if many:
        total = _sum(many, vector, made)
        bits = made(f"bitcast <{V} x i1> {made(f'fcmp une {vector} {total}, zeroinitializer')} to i{V}")
        good.append(made(f"icmp eq i{V} {bits}, 0"))
    if one:
        good.append(made(f"fcmp oeq double {_sum(one, 'double', made)}, 0.0"))
    both = good[0] if len(good) == 1 else made(f"and i1 {good[0]}, {good[1]}") if good else "true"
    return [*lines, f"%{name} = and i1 {both}, true"]


def _sum(terms: list[str], kind: str, made: object) -> str:
    """The sum of all, in a few chains."""
    assert callable(made)
    chains = terms[:SUMS]
    for k, term in enumerate(terms[SUMS:]):
        chains[k % SUMS] = made(f"fadd {kind} {chains[k % SUMS]}, {term}")
    while len(chains) > 1:
        chains = [made(f"fadd {kind} {chains[0]}, {chains[1]}"), *chains[2:]]
    return chains[0]


def scanner() -> str:
    """`@scan(x, last)`: the sum of 0 x over last + 16 numbers, sixteen at a time; those at the end may be read twice."""
    text = ["define internal double @scan(ptr %x, i64 %last) noinline {", "entry:", "br label %turn", "turn:",
            "%i = phi i64 [ 0, %entry ], [ %next, %turn ]"]
    text += [f"%s{k} = phi <4 x double> [ zeroinitializer, %entry ], [ %t{k}, %turn ]" for k in range(SUMS)]
    text += ["%p0 = getelementptr double, ptr %x, i64 %i"]
    for k in range(SUMS):
        text += [f"%p{k}.{k} = getelementptr double, ptr %p0, i64 {4 * k}", f"%v{k} = load <4 x double>, ptr %p{k}.{k}, align 8",
                 f"%z{k} = fmul <4 x double> %v{k}, zeroinitializer", f"%t{k} = fadd <4 x double> %s{k}, %z{k}"]
    text += [f"%far = add i64 %i, {_CHUNK}", "%short = icmp slt i64 %far, %last", "%next = select i1 %short, i64 %far, i64 %last",
             "%more = icmp slt i64 %i, %last", "br i1 %more, label %turn, label %done", "done:",
             "%a = fadd <4 x double> %t0, %t1", "%b = fadd <4 x double> %t2, %t3", "%c = fadd <4 x double> %a, %b"]
    text += [f"%e{k} = extractelement <4 x double> %c, i32 {k}" for k in range(4)]
    return "\n".join([*text, "%f = fadd double %e0, %e1", "%g = fadd double %e2, %e3", "%h = fadd double %f, %g",
                      "ret double %h", "}"])
