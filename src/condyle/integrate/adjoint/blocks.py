"""Derivatives carried over the rows of one run in two passes over blocks of its steps: matrices.py (1) for all steps of
a block side by side in lanes, then (2) step by step, forward or in reverse.

The nodes of a differentiated step (tape.py) fall into those that depend on a direction and those that do not. What the
first read of the second is kept for the steps of a block, never for those of the whole run.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.arrays import SX
from condyle.errors import NativeError
from condyle.integrate.adjoint.matrices import LANES, LONGEST, Matrices, TreeMatrices
from condyle.integrate.adjoint.slopes import OFFSETS, REVERSE, MapSlope, Slope, wanted
from condyle.integrate.adjoint.tape import Rate, Recorded, Tape, used_slices
from condyle.integrate.equations import EquationsOfMotion, RightHandSide, count_directions, equations
from condyle.integrate.integrators.base import Method
from condyle.integrate.integrators.explicit import Explicit
from condyle.integrate.integrators.symplectic import SemiExplicitEuler
from condyle.integrate.manifold import Manifold
from condyle.integrate.step_loop import copy
from condyle.integrate.steps import polynomial
from condyle.model.layouts import prefers_loops
from condyle.model.model import Model, description
from condyle.native.machine.jit import lane_width
from condyle.native.machine.threads import thread_count
from condyle.native.programs.nodes import (
    Get,
    If,
    LaneStatus,
    Node,
    Put,
    Stream,
    Take,
    While,
    elementwise,
    kernel,
    walk,
)
from condyle.native.programs.program import Program, ProgramAndTables, Workspace, cached_program
from condyle.native.programs.slice_function import Loops
from condyle.records import dataclass
from condyle.system.system import System

WORTH = 20_000
"""Steps from which on threads share them."""
KEPT = 3e6
"""Bytes of what is kept of a block, about: it stays in the cache of a processor."""


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
    """The program of all steps of a block, for W lanes, and that of one step after the other, for so many tangents side
    by side; each with its tables. looped: the model, if its matrices come from loops over bodies."""
    n = eq.n
    scalars = "t h_try t_next row task at base first last which count busy finished seeded steps evaluations accuracy"
    sizes = dict.fromkeys(f"{scalars} one zero t_stage f.unused status tolerance".split(), 1)
    vectors = "y y_next y_stage k0 k_next error other weights no_y"
    sizes |= dict.fromkeys(vectors.split(), n) | {
        "p": eq.parameters,
        "d": n * columns,
        "dp": len(by) * columns,
    }
    streams, tables = dict[str, Stream](), dict[str, np.ndarray]()
    rhs = RightHandSide(eq, sizes, streams, tables)
    slope = Matrices(eq, rhs, by) if looped is None else TreeMatrices(looped, eq, rhs, by, streams, tables, W)
    tape, last = step_tape(method, eq, slope, sizes, streams, tables, columns, between)
    if reverse:
        tape.bars["p"] = "dp"
        nodes = tape.reverse_nodes(last, "d", ["y", "p"])
        result = tape.bars["y"]
    else:
        tape.tangents |= {"y": "d", "p": "dp"}
        nodes = tape.tangent_nodes(last)
        result = tape.tangents[tape.at(last)]
    side_by_side, in_order, moving = list[Node](), list[Node](), {"d", "dp", "row", "at"}
    for node in nodes:
        reads, writes = used_slices(node)
        (in_order if reads & moving else side_by_side).append(node)
        moving |= writes if reads & moving else set()
    start: list[Node] = [
        kernel(lambda row: row + 1, "row", "steps", sizes, "pair"),
        Get("row.t", "steps", "t_next"),
        Get("row.t", "row", "t"),
        Get("row.y", "row", "y"),
        Get("row.f", "row", "k0"),
        *([Get("row.x", "row", "t_x")] if between else []),
        kernel(lambda t, end: (end - t, ca.SX(1), ca.SX(0)), "t t_next", "h_try one zero", sizes, "length"),
    ]
    kept = sorted(used_slices(in_order)[0] & used_slices([*start, *side_by_side])[1])
    kept = [name for name in kept if name not in ("one", "zero", "status") and sizes[name]]
    shared = {
        "queue": 1,
        "row.t": 1,
        "row.y": n,
        "row.f": n,
        "row.which": 1,
        "row.x": 1,
        "row.seed": n,
        "task.p": eq.parameters,
    }
    shared |= {"task.first": 1, "task.last": 1, "task.d": sizes["d"], "task.dp": sizes["dp"]}
    shared |= {f"kept.{name}": sizes[name] for name in kept}
    if eq.series:
        shared |= {OFFSETS: sizes["offsets"]}
    streams |= {name: Stream(size, shared=True) for name, size in shared.items()}

    def optional(name: str, node: Node) -> list[Node]:
        return [node] if sizes[name] else []

    def program(body: Node, lanes: int) -> ProgramAndTables:
        rows = [x for x, _ in walk(body) if isinstance(x, (Get, Put))]
        used = {"queue", *(x.stream for x in rows)}
        mine = {name: stream for name, stream in streams.items() if name in used}
        known = set().union(
            *used_slices(body), ["count", "base", "seeded", "weights", "tolerance", "at", "task"]
        )
        known |= {x.status for x in rows}
        slices = {name: size for name, size in sizes.items() if name in known}
        made = Program(body, slices, W=lanes, streams=mine, counts=("limit",))
        return made, {name: table for name, table in tables.items() if name in used}

    fetch: list[Node] = [
        Take("queue", "at"),
        kernel(lambda at, count, base: (at < count, base + at), "at count base", "busy row", sizes, "some"),
    ]
    parameters = optional("p", [Get("row.which", "row", "which"), Get("task.p", "which", "p")])
    puts = [Put(name, f"kept.{name}", "at") for name in kept]
    first = program([fetch, While("busy", [*start, *parameters, *side_by_side, *puts, fetch], "limit")], W)

    begin = "last" if reverse else "first"
    take: list[Node] = [
        Take("queue", "task"),
        kernel(lambda task, count: task < count, "task count", "busy", sizes, "some"),
        If(
            "busy",
            [
                Get("task.first", "task", "first"),
                Get("task.last", "task", "last"),
                Get("task.d", "task", "d"),
                *optional("dp", Get("task.dp", "task", "dp")),
                kernel(lambda a: a, [begin], ["row"], sizes, "begin"),
            ],
        ),
    ]
    end: list[Node] = [Put("d", "task.d", "task"), *optional("dp", Put("dp", "task.dp", "task"))]
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
    if reverse:
        sizes["seed"] = n
        add = elementwise(lambda a, b: a + b, ["d", "seed"], ["d"], sizes, n, "seeded")
        body.append(If("seeded", [Get("row.seed", "row", "seed"), add]))
        done = kernel(lambda row, first: row <= first, "row first", "finished", sizes, "done")
    else:
        done = kernel(lambda row, last: (row + 1, row + 1 >= last), "row last", "row finished", sizes, "done")
    second = program([take, While("busy", [*body, done, If("finished", [*end, take])], "limit")], 1)
    return first, second


def step_tape(
    method: Method,
    eq: EquationsOfMotion,
    slope: Slope,
    sizes: dict[str, int],
    streams: dict[str, Stream],
    tables: dict[str, np.ndarray],
    columns: int = 1,
    between: bool = False,
) -> tuple[Tape, str]:
    """A step of a method with its projection, recorded, and the slice that it ends with; `between`: with y at a time
    t_x in it, by the method's polynomial, projected too."""
    recorded = Recorded()
    step = method.step(eq, recorded, recorded, sizes)  # type: ignore[arg-type]
    tape = Tape(slope, sizes, ["y", "p"] if slope.np else ["y"], columns)
    tape.record([Rate("t", "y", "k0", known=True), *step.attempt])
    found, slopes = eq.projection(0, derived=True), list[MapSlope]()
    if found is not None:
        maps = [found.nearer] if found.tolerance is None else [found.nearer, found.along]
        slopes = [
            MapSlope(f, name, slope.wanted, sizes, streams, tables)  # type: ignore[arg-type]
            for f, name in zip(maps, ("nearer", "along"), strict=False)
        ]
    sizes |= {"t_x": 1, "y_x": eq.n, "f_end": eq.n, "dense": step.dense * eq.n}

    def project(t: str, y: str) -> None:
        if found is not None:
            tape.project(slopes, t, y, None if found.tolerance is None else "tolerance")

    project("t_next", "y_next")
    if not between:
        return tape, "y_next"

    def inside(t: SX, t_x: SX, h: SX, y: SX, f: SX, y_end: SX, f_end: SX, *more: SX) -> SX:
        vectors = ca.vertsplit(more[0]) if more else []
        return polynomial((y, f, y_end, f_end), h, (t_x - t) / h, vectors, method.hermite)

    ins = ["t", "t_x", "h_try", "y", "k0", "y_next", "f_end", *["dense"] * bool(step.dense)]
    tape.record([Rate("t_next", "y_next", "f_end"), *step.accepted])
    tape.record(elementwise(inside, ins, "y_x", sizes, eq.n, "inside"))
    project("t_x", "y_x")
    return tape, "y_x"


def block_programs(
    system: System,
    method: Method,
    direction: str,
    by_p: bool,
    columns: int,
    offsets: bool,
    between: bool = False,
) -> tuple[ProgramAndTables, ProgramAndTables] | None:
    """The programs of both passes for so many tangents side by side; None where derivatives along a direction take less
    time than matrices would."""
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
    """How matrices of f are found: 0 not at all, in a STRAIGHT line, LOOPED over bodies."""
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
"""Operations of f from which on loops over bodies find its matrices."""


@dataclass(frozen=True, eq=False)
class AdjointTasks:
    """Steps to go over: of each task those between its rows `first` and `last`.

    Args:
        t, y, f: the rows, shape (m,), (m, n), (m, n).
        first, last: rows, shape (tasks,).
        which: which tail holds, shape (tasks,).
        tails: shape (.., k).
        manifold: of the run.
        lanes: tasks of different rows, to be taken side by side: members of an ensemble.
        x: times inside of the steps that begin at the rows, shape (m,), where y is wanted; their ends if None.
    """

    t: np.ndarray
    y: np.ndarray
    f: np.ndarray
    first: np.ndarray
    last: np.ndarray
    which: np.ndarray
    tails: np.ndarray
    manifold: Manifold
    lanes: bool = False
    x: np.ndarray | None = None

    @property
    def steps(self) -> int:
        return int((self.last - self.first).sum())


def _alike(tasks: AdjointTasks, columns: int) -> np.ndarray:
    """Which tasks go side by side, (groups, columns): those over the same steps; beyond the last where one is missing."""
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


def numbered(tasks: AdjointTasks) -> dict[str, np.ndarray]:
    numbers = {"first": tasks.first, "last": tasks.last, "which": tasks.which}
    return {f"task.{name}": np.array(x, dtype=float).reshape(-1, 1) for name, x in numbers.items()}


class Runner:
    """Runs of one program, on one thread or several, which take from one queue.

    Args:
        program, tables: what runs.
        streams, values: streams and slices that stay the same.
    """

    def __init__(
        self,
        program: Program,
        tables: Mapping[str, np.ndarray],
        streams: Mapping[str, np.ndarray],
        values: Mapping[str, Any],
    ) -> None:
        self.program, self.streams, self.values = program, {**streams, **tables}, values
        self.workspaces = list[Workspace]()

    def __call__(self, streams: Mapping[str, np.ndarray], count: int, limit: int, base: int = 0) -> None:
        """Take `count` numbers from the queue; limit: of rounds."""
        W, known = self.program.W, self.program.layout["streams"]
        bound = {
            k: x for k, x in {**self.streams, **streams, "queue": np.zeros((1, 1))}.items() if k in known
        }
        threads = min(thread_count(), -(-count // W)) if limit > WORTH else 1
        while len(self.workspaces) < threads:
            self.workspaces.append(ws := self.program.workspace())
            for name, value in self.values.items():
                if name in self.program.sizes:
                    ws[name] = value

        def work(ws: Workspace) -> None:
            ws["count"] = count
            if "base" in self.program.sizes:
                ws["base"] = base
            self.program.run(ws, bound, {"limit": limit})
            if ws["status"].any():
                raise NativeError(f"derivatives of a run: {LaneStatus(int(ws['status'].max())).advice}")

        if threads == 1:
            work(self.workspaces[0])
            return
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(work, ws) for ws in self.workspaces[:threads]]:
                done.result()


_OWN = threading.local()


def _memory(shapes: Mapping[str, tuple[int, int]]) -> dict[str, np.ndarray]:
    """Arrays of these shapes in memory that the thread keeps: the system takes long to give it."""
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
        streams, values: as Runner takes them.
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
        """d (m, n) and dp (m, p') of all tasks at their ends, so many of them side by side."""
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
