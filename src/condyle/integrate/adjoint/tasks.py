"""Tasks of derivatives: the rows of a step, its tape, the queue from which both kinds of programs
(program.py, blocks.py) take tasks, and the threads that run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import NativeError
from condyle.integrate.adjoint.slopes import OFFSETS, MapSlope, Slope
from condyle.integrate.adjoint.tape import Rate, Recorded, Tape, used_slices
from condyle.integrate.equations import EquationsOfMotion
from condyle.integrate.integrators.base import Method
from condyle.integrate.manifold import Manifold
from condyle.integrate.steps import polynomial
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
from condyle.native.programs.program import Program, ProgramAndTables, Workspace
from condyle.records import dataclass

WORTH = 20_000
"""Number of steps above which threads share them."""
ROW_STREAMS = ("t", "y", "f", "which", "x", "seed")
TASK_STREAMS = ("first", "last", "which", "d", "p", "dp")


def task_sizes(eq: EquationsOfMotion, by: Sequence[int], columns: int = 1) -> dict[str, int]:
    """Slices of a program that carries tangents side by side over tasks."""
    scalars = "t h_try t_next row task at base first last which count busy finished seeded steps evaluations accuracy"
    vectors = "y y_next y_stage k0 k_next error other weights no_y f seed"
    return {
        **dict.fromkeys(f"{scalars} one zero t_stage f.unused status tolerance x".split(), 1),
        **dict.fromkeys(vectors.split(), eq.n),
        "p": eq.parameters,
        "d": eq.n * columns,
        "dp": len(by) * columns,
    }


def task_streams(
    eq: EquationsOfMotion, sizes: Mapping[str, int], more: Mapping[str, int] | None = None
) -> dict[str, Stream]:
    """The rows and tasks that a program reads, besides its own memory."""
    shared = {"queue": 1} | {f"row.{name}": sizes[name] for name in ROW_STREAMS}
    shared |= {f"task.{name}": sizes[name] for name in TASK_STREAMS} | dict(more or {})
    if eq.series:
        shared[OFFSETS] = sizes["offsets"]
    return {name: Stream(size, shared=True) for name, size in shared.items()}


def row_nodes(sizes: dict[str, int], between: bool) -> list[Node]:
    """Read the row at which a step begins, and the time at which the next one begins."""
    return [
        Get("row.t", "steps", "t_next"),
        Get("row.t", "row", "t"),
        Get("row.y", "row", "y"),
        Get("row.f", "row", "k0"),
        *([Get("row.x", "row", "t_x")] if between else []),
        kernel(lambda t, end: (end - t, ca.SX(1), ca.SX(0)), "t t_next", "h_try one zero", sizes, "length"),
    ]


def derived_nodes(tape: Tape, last: str, reverse: bool) -> tuple[list[Node], str]:
    """The differentiated step, from d and dp, and the slice with the new d."""
    if reverse:
        tape.bars["p"] = "dp"
        return tape.reverse_nodes(last, "d", ["y", "p"]), tape.bars["y"]
    tape.tangents |= {"y": "d", "p": "dp"}
    return tape.tangent_nodes(last), tape.tangents[tape.at(last)]


def over_tasks(
    sizes: dict[str, int], reverse: bool, more: Sequence[Node], body: Sequence[Node]
) -> list[Node]:
    """Take tasks from the queue and run the body for each of their steps; more: streams read for a task
    besides its ends and directions."""

    def with_p(node: Node) -> list[Node]:
        return [node] if sizes["dp"] else []

    take: list[Node] = [
        Take("queue", "task"),
        kernel(lambda task, count: task < count, "task count", "busy", sizes, "some"),
        If(
            "busy",
            [
                Get("task.first", "task", "first"),
                Get("task.last", "task", "last"),
                *more,
                Get("task.d", "task", "d"),
                *with_p(Get("task.dp", "task", "dp")),
                kernel(lambda a: a, ["last" if reverse else "first"], ["row"], sizes, "begin"),
            ],
        ),
    ]
    end: list[Node] = [Put("d", "task.d", "task"), *with_p(Put("dp", "task.dp", "task"))]
    if reverse:
        add = elementwise(lambda a, b: a + b, ["d", "seed"], ["d"], sizes, sizes["seed"], "seeded")
        seeds: list[Node] = [If("seeded", [Get("row.seed", "row", "seed"), add])]
        done = kernel(lambda row, first: row <= first, "row first", "finished", sizes, "done")
    else:
        seeds = []
        done = kernel(lambda row, last: (row + 1, row + 1 >= last), "row last", "row finished", sizes, "done")
    return [take, While("busy", [*body, *seeds, done, If("finished", [*end, take])], "limit")]


def task_program(
    body: list[Node],
    W: int,
    sizes: Mapping[str, int],
    streams: Mapping[str, Stream],
    tables: Mapping[str, np.ndarray],
) -> ProgramAndTables:
    """The program of these nodes, with the slices, streams and tables that they use."""
    rows = [x for x, _ in walk(body) if isinstance(x, (Get, Put))]
    used = {"queue", *(x.stream for x in rows)}
    known = set().union(*used_slices(body), ["count", "base", "seeded", "weights", "tolerance", "at", "task"])
    known |= {x.status for x in rows}
    slices = {name: size for name, size in sizes.items() if name in known}
    mine = {name: stream for name, stream in streams.items() if name in used}
    own = {name: table for name, table in tables.items() if name in used}
    return Program(body, slices, W=W, streams=mine, counts=("limit",)), own


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
    """The recorded step of a method with its projection, and the slice of its result; `between`: with y at a
    time t_x in it, by the method's polynomial, projected too."""
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


@dataclass(frozen=True, eq=False)
class AdjointTasks:
    """Steps to differentiate: of each task those between its rows `first` and `last`.

    Args:
        t, y, f: the rows, shape (m,), (m, n), (m, n).
        first, last: rows, shape (tasks,).
        which: index of the tail that holds, shape (tasks,).
        tails: shape (.., k).
        manifold: of the run.
        lanes: the tasks have different rows and run side by side: members of an ensemble.
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


def numbered(tasks: AdjointTasks) -> dict[str, np.ndarray]:
    numbers = {"first": tasks.first, "last": tasks.last, "which": tasks.which}
    return {f"task.{name}": np.array(x, dtype=float).reshape(-1, 1) for name, x in numbers.items()}


class Runner:
    """Runs of one program on one or several threads with one queue.

    Args:
        program, tables: the program and its tables.
        streams, values: streams and slices that do not change.
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
