"""Order of passes over rows: the same computation with better memory locality.

A pass from base to tip and one back traverse memory twice. As one depth-first walk around the tree, which
enters a row after its parent and leaves it after all of its children, a row's numbers are often still in
cache when it is left. A leaf is entered and left at once: one kernel does both, and intermediate values stay
in registers. Values needed only within the walk live from entering a row until leaving it. They are stored
once per level of the tree instead of once per row, which stays in the nearest cache.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.native.loops.sweep import RowKernel, RowPass, StraightStep
from condyle.native.tables.lookup import lookups_in

_OWN = ("me", "parent", "root", "constant")


def join_passes(
    steps: Sequence[RowPass | StraightStep], types: np.ndarray, parents: np.ndarray
) -> list[RowPass | StraightStep]:
    """The steps, with each outward pass and the inward pass after it joined to one walk where the results
    stay the same."""
    out: list[RowPass | StraightStep] = []
    for k, step in enumerate(steps):
        before = out[-1] if out else None
        if isinstance(step, RowPass) and isinstance(before, RowPass) and _may_walk(before, step, types):
            out[-1] = _walk(before, step, types, parents, steps[k + 1 :])
        else:
            out.append(step)
    return out


def share_levels(steps: Sequence[RowPass | StraightStep]) -> list[RowPass | StraightStep] | None:
    """The steps, with the fields that only the walk needs moved to the links "level" and "above": a row's
    level and that of its parent. None if there is no single walk, or if it has no such fields."""
    walks = [step for step in steps if isinstance(step, RowPass) and step.walk is not None]
    if len(walks) != 1:
        return None
    elsewhere = _fields(walks[0].kernels, "reads", ("root",)) | _fields(walks[0].kernels, "writes", ("root",))
    for step in steps:
        if isinstance(step, StraightStep):
            elsewhere |= {place[1] for place in (*step.reads, *step.writes) if isinstance(place, tuple)}
        elif step is not walks[0]:
            elsewhere |= {
                place.partition(".")[2] for kernel in step.kernels if kernel for place, _ in kernel.places()
            }
    moved = {"me": "level", "parent": "above"}
    shared = _fields(walks[0].kernels, "reads", ("parent",)) | _fields(
        walks[0].kernels, "writes", ("parent",)
    )

    def renamed(place: str) -> str:  # fields that rows share have one size for all types
        where, _, name = place.partition(".")
        return f"{moved[where]}.{name}" if where in moved and name in shared - elsewhere else place

    kernels = [
        kernel
        and RowKernel(
            {renamed(p): x for p, x in kernel.reads.items()},
            {renamed(p): x for p, x in kernel.writes.items()},
        )
        for kernel in walks[0].kernels
    ]
    if not any(place.startswith("level.") for kernel in kernels if kernel for place, _ in kernel.places()):
        return None
    return [RowPass(kernels, walk=step.walk) if step is walks[0] else step for step in steps]  # type: ignore[union-attr]


def _fields(kernels: Sequence[RowKernel | None], side: str, where: Sequence[str]) -> set[str]:
    places = [
        place.split(".") for kernel in kernels if kernel for place in getattr(kernel, side) if "." in place
    ]
    return {name for row, name in places if row in where}


def _may_walk(down: RowPass, back: RowPass, types: np.ndarray) -> bool:
    """Whether no row that is entered later reads what a row that was left before has written."""
    if down.backwards or not back.backwards or down.walk is not None or back.walk is not None:
        return False
    kernels = [kernel for kernel in (*down.kernels, *back.kernels) if kernel is not None]
    if any(kernel.adds for kernel in kernels) or (types == types[0]).sum() > 1:
        return False
    rows = {place.split(".")[0] for kernel in kernels for place, _ in kernel.places() if "." in place}
    others = ("parent", "root")
    return rows <= set(_OWN) and not _fields(back.kernels, "writes", others) & (
        _fields(down.kernels, "reads", others) | _fields(down.kernels, "writes", others)
    )


def _walk(
    down: RowPass,
    back: RowPass,
    types: np.ndarray,
    parents: np.ndarray,
    later: Sequence[RowPass | StraightStep],
) -> RowPass:
    """Kernels that enter rows of each type, those that leave them, and those that do both."""
    # types of bodies come first, those of other rows after them
    n = max(len(down.kernels), len(back.kernels), 1 + int(types.max()))
    enter, leave = ([*step.kernels, *[None] * (n - len(step.kernels))] for step in (down, back))
    both = [
        fused(a, b, _read_later(t, later, types)) for t, (a, b) in enumerate(zip(enter, leave, strict=True))
    ]
    runs = np.array([enter[t] is not None or leave[t] is not None for t in types])
    children: list[list[int]] = [[] for _ in types]
    for row in reversed(range(1, len(types))):  # rows that run, and rows that lead to them, in order
        if runs[row] or children[row]:
            children[parents[row]].insert(0, row)
    order: list[tuple[int, int]] = []
    stack = [(0, False)]
    while stack:
        row, entered = stack.pop()
        t = int(types[row])
        if row and not children[row] and both[t] is not None:
            order.append((row, 2 * n + t))
        elif entered:
            order.append((row, n + t))
        else:
            order.append((row, t))
            stack.append((row, True))
            stack += [(child, False) for child in reversed(children[row])]
    rows, numbers = np.array(order).T
    return RowPass([*enter, *leave, *both], walk=(rows, numbers))


def _read_later(t: int, later: Sequence[RowPass | StraightStep], types: np.ndarray) -> set[str]:
    """Fields of a row of type t, one without children, that later steps read."""
    out: set[str] = set()
    for step in later:
        if isinstance(step, StraightStep):
            out |= {place[1] for place in step.reads if isinstance(place, tuple) and types[place[0]] == t}
        else:
            mine = step.kernels[t : t + 1] if step.walk is None else step.kernels
            out |= _fields(mine, "reads", ("me",))
            for kernel in step.kernels:
                links = {place.split(".")[0] for place in kernel.reads if "." in place} if kernel else set()
                out |= _fields([kernel], "reads", [link for link in links if link not in _OWN])
    return out


def fused(a: RowKernel | None, b: RowKernel | None, later: set[str]) -> RowKernel | None:
    """One kernel that runs a and then b on a row. Of the values that a writes for b, it writes only those
    in `later`."""
    if a is None or b is None or lookups_in([x.nz[:] for x in b.writes.values()]):
        return None
    reads, symbols, values = dict(a.reads), [ca.SX(0, 1)], [ca.SX(0, 1)]
    for place, x in b.reads.items():
        if place in a.writes or place in reads:
            symbols.append(x.nz[:])
            values.append((a.writes if place in a.writes else a.reads)[place].nz[:])
        else:
            reads[place] = x
    new = ca.substitute([ca.SX(0), *b.writes.values()], [ca.vertcat(*symbols)], [ca.vertcat(*values)])[1:]
    writes = {place: x for place, x in a.writes.items() if not place.startswith("me.") or place[3:] in later}
    return RowKernel(reads, {**writes, **dict(zip(b.writes, new, strict=True))})
