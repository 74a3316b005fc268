"""Derivatives carried over the rows of one run in two passes over blocks of its steps: matrices.py (1) for all steps of
a block side by side in lanes, then (2) step by step, forward or in reverse.

Some nodes of a differentiated step (tape.py) depend on a direction, the others do not. What the former read
from the latter is stored for the steps of one block, never for the whole run.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.integrate.adjoint.matrices import LANES, LONGEST, Matrices, TreeMatrices
from condyle.integrate.adjoint.slopes import REVERSE, Slope, wanted
from condyle.integrate.adjoint.tape import used_slices
from condyle.integrate.adjoint.tasks import (
    AdjointTasks,
    Runner,
    derived_nodes,
    numbered,
    over_tasks,
    row_nodes,
    step_tape,
    task_program,
    task_sizes,
    task_streams,
)
from condyle.integrate.equations import EquationsOfMotion, RightHandSide, count_directions, equations
from condyle.integrate.integrators.base import Method
from condyle.integrate.integrators.explicit import Explicit
from condyle.integrate.integrators.symplectic import SemiExplicitEuler
from condyle.integrate.step_loop import copy
from condyle.model.layouts import prefers_loops
from condyle.model.model import Model, description
from condyle.native.machine.jit import lane_width
from condyle.native.programs.nodes import (
    Get,
    Node,
    Put,
    Stream,
    Take,
    While,
    kernel,
)
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.native.programs.slice_function import Loops
from condyle.system.system import System

KEPT = 3e6
"""Approximate bytes stored for a block, which fit into the cache of a processor."""


def _build(
    method: Method,
    eq: EquationsOfMotion,
    reverse: bool,
    by: Sequence[int],
    W: int,
    columns: int,
    looped: Model | None,
    between: bool = False,
) -> tuple[ProgramAndTables, ProgramAndTables]:
    """The program that evaluates all steps of a block in W lanes, and the program that goes through the steps
    in order with all tangents side by side; each with its tables. looped: the model, if loops over bodies
    give its matrices."""
    sizes = task_sizes(eq, by, columns)
    streams, tables = dict[str, Stream](), dict[str, np.ndarray]()
    rhs = RightHandSide(eq, sizes, streams, tables)
    slope = Matrices(eq, rhs, by) if looped is None else TreeMatrices(looped, eq, rhs, by, streams, tables, W)
    tape, last = step_tape(method, eq, slope, sizes, streams, tables, columns, between)
    nodes, result = derived_nodes(tape, last, reverse)
    side_by_side, in_order, moving = list[Node](), list[Node](), {"d", "dp", "row", "at"}
    for node in nodes:
        reads, writes = used_slices(node)
        (in_order if reads & moving else side_by_side).append(node)
        moving |= writes if reads & moving else set()
    start = [kernel(lambda row: row + 1, "row", "steps", sizes, "pair"), *row_nodes(sizes, between)]
    kept = sorted(used_slices(in_order)[0] & used_slices([*start, *side_by_side])[1])
    kept = [name for name in kept if name not in ("one", "zero", "status") and sizes[name]]
    streams |= task_streams(eq, sizes, {f"kept.{name}": sizes[name] for name in kept})
    fetch: list[Node] = [
        Take("queue", "at"),
        kernel(lambda at, count, base: (at < count, base + at), "at count base", "busy row", sizes, "some"),
    ]
    parameters = [[Get("row.which", "row", "which"), Get("task.p", "which", "p")]] if sizes["p"] else []
    puts = [Put(name, f"kept.{name}", "at") for name in kept]
    loop: list[Node] = [fetch, While("busy", [*start, *parameters, *side_by_side, *puts, fetch], "limit")]
    back = int(reverse)
    needs_p = "p" in used_slices(in_order)[0]
    body: list[Node] = [
        kernel(
            lambda row, base: (row - back, row - back - base, ca.SX(1), ca.SX(0)),
            "row base",
            "row at one zero",
            sizes,
            "step",
        ),
        *(Get(f"kept.{name}", "at", name) for name in kept),
        *(parameters if needs_p else []),
        *in_order,
        copy(result, "d", sizes["d"], 1),
    ]
    both = (loop, W), (over_tasks(sizes, reverse, [], body), 1)
    first, second = (task_program(nodes, lanes, sizes, streams, tables) for nodes, lanes in both)
    return first, second


def block_programs(
    system: System,
    method: Method,
    direction: str,
    by_p: bool,
    columns: int,
    offsets: bool,
    between: bool = False,
) -> tuple[ProgramAndTables, ProgramAndTables] | None:
    """The programs of both passes for all tangents side by side; None if derivatives along a direction take
    less time than matrices."""
    model, W = system.compiled.model, lane_width()
    if W == 1 or not isinstance(method, (Explicit, SemiExplicitEuler)):
        return None
    by = wanted(model) if by_p else np.zeros(0, int)
    name = f"{bool(len(by))} {offsets}"
    (layout,) = model.notes.get(
        f"matrices of runs {name} {W} {settings.layout()}", lambda: [_layout(system, by, offsets)]
    )
    if not layout:
        return None
    key = f"{direction} of blocks {method.text} {name} {W} {columns} {between}"

    def find() -> tuple[ProgramAndTables, ProgramAndTables]:
        made = list[tuple[ProgramAndTables, ProgramAndTables]]()

        def make(k: int) -> ProgramAndTables:
            if not made:
                loops = model if layout == LOOPED else None
                eq = equations(system, derivatives=loops is None, W=W, offsets=offsets)
                made.append(_build(method, eq, direction == REVERSE, by.tolist(), W, columns, loops, between))
            return made[0][k]

        text = f"{key} {layout}\n{description(model)}"
        parts = (f"{text} side by side", f"{text} in order")
        first, second = (cached_program(part, partial(make, k)) for k, part in enumerate(parts))
        return first, second

    return system.compiled.remembered(key, find)


STRAIGHT, LOOPED = 1.0, 2.0


def _layout(system: System, by: np.ndarray, offsets: bool) -> float:
    """How matrices of f are computed: 0 for not at all, STRAIGHT line code, LOOPED over bodies."""
    model = system.compiled.model
    if not offsets and settings.layout() != "unrolled":
        eq = equations(system, W=lane_width())
        if TreeMatrices.fits(model, eq) and (isinstance(eq.f, Loops) or eq.f.n_instructions() > SHORT):
            return LOOPED
    if prefers_loops(model, lanes=True):
        return 0.0
    eq = equations(system, derivatives=True, W=lane_width(), offsets=offsets)
    sizes = dict.fromkeys(("y", "k0"), eq.n) | {"p": eq.parameters}
    slope = Slope(eq, RightHandSide(eq, sizes, {}, {}), by.tolist())
    one = slope.along.n_instructions()
    if one * count_directions(slope.ydot, slope.active) > 10 * LONGEST:
        return 0.0
    whole = Matrices(eq, slope.rhs, by.tolist())
    length = whole.linear.n_instructions()
    short = length / (LANES * lane_width()) + 2 * whole.numbers.numel() < 1.5 * one
    return STRAIGHT if short and length <= LONGEST else 0.0


SHORT = 2000
"""Number of operations of f above which loops over bodies compute its matrices."""


def _alike(tasks: AdjointTasks, columns: int) -> np.ndarray:
    """Tasks that run side by side, (groups, columns): those over the same steps; an index beyond the last
    fills gaps."""
    steps = np.column_stack([tasks.first, tasks.last, tasks.which])
    which, out = np.unique(steps, axis=0, return_inverse=True)[1].ravel(), []
    for k in range(which.max() + 1):
        mine = np.flatnonzero(which == k)
        out.append(np.append(mine, np.full(-len(mine) % columns, len(which))).reshape(-1, columns))
    return np.concatenate(out)


def _beside(x: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Rows (m, n) as columns of groups, (groups, n columns), with zeros for those that are missing."""
    whole = np.vstack([x, np.zeros((1, x.shape[1]))])
    return np.ascontiguousarray(whole[groups].transpose(0, 2, 1)).reshape(len(groups), -1)


_OWN = threading.local()


def _memory(shapes: Mapping[str, tuple[int, int]]) -> dict[str, np.ndarray]:
    """Arrays of these shapes in memory that the thread reuses, because allocating it is slow."""
    whole = sum(m * n for m, n in shapes.values())
    if getattr(_OWN, "memory", np.empty(0)).size < whole:
        _OWN.memory = np.empty(whole)
    ends = np.cumsum([0, *(m * n for m, n in shapes.values())])
    return {
        name: _OWN.memory[a:b].reshape(shapes[name])
        for name, a, b in zip(shapes, ends, ends[1:], strict=False)
    }


class Blocks:
    """Both passes over block after block.

    Args:
        first, second: the programs, with their tables.
        streams, values: as for Runner.
    """

    def __init__(
        self,
        first: ProgramAndTables,
        second: ProgramAndTables,
        streams: Mapping[str, np.ndarray],
        values: Mapping[str, Any],
    ) -> None:
        self.side_by_side, self.in_order = Runner(*first, streams, values), Runner(*second, streams, values)
        known = first[0].layout["streams"].items()
        self.kept = {name: stream["size"] for name, stream in known if name.startswith("kept.")}

    def carry(
        self, tasks: AdjointTasks, d: np.ndarray, dp: np.ndarray, columns: int, reverse: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """d (m, n) and dp (m, p') of all tasks at their ends."""
        if columns == 1:
            self._over(tasks, d, dp, reverse)
            return d, dp
        groups = _alike(tasks, columns)
        one = groups[:, 0]
        shared = replace(tasks, first=tasks.first[one], last=tasks.last[one], which=tasks.which[one])
        each = _beside(d, groups), _beside(dp, groups)
        self._over(shared, *each, reverse)
        some = groups < len(d)
        for x, found in zip((d, dp), each, strict=True):
            x[groups[some]] = found.reshape(len(groups), -1, columns).transpose(0, 2, 1)[some]
        return d, dp

    def _over(self, tasks: AdjointTasks, d: np.ndarray, dp: np.ndarray, reverse: bool) -> None:
        """d and dp of each task are changed."""
        first, last, W = int(tasks.first.min()), int(tasks.last.max()), self.side_by_side.program.W
        which = np.zeros((len(tasks.t), 1))
        for a, b, k in {*zip(tasks.first.tolist(), tasks.last.tolist(), tasks.which.tolist(), strict=True)}:
            which[a:b] = k
        length = min(last - first, W * max(1, round(KEPT / (8 * W * sum(self.kept.values())))))
        memory = _memory({name: (length, size) for name, size in self.kept.items()}) | {"row.which": which}
        starts = range(first, last, length)
        for a in reversed(starts) if reverse else starts:
            b = min(a + length, last)
            self.side_by_side(memory, b - a, b - a + W, a)
            mine = np.flatnonzero((tasks.first < b) & (tasks.last > a))
            clipped = np.maximum(tasks.first, a)[mine], np.minimum(tasks.last, b)[mine], tasks.which[mine]
            part = replace(tasks, first=clipped[0], last=clipped[1], which=clipped[2])
            streams = memory | numbered(part) | {"task.d": d[mine], "task.dp": dp[mine]}
            self.in_order(streams, len(mine), part.steps + len(mine) + 1, a)
            d[mine], dp[mine] = streams["task.d"], streams["task.dp"]
