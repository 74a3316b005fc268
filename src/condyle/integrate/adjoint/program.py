"""The native programs that carry derivatives over the rows of a run, forward or in reverse.

A *task* goes over the steps between two rows, with a tangent or a cotangent of its own; lanes take tasks from a
queue. A step is computed again from its row (t, y, f) and differentiated: tape.py. Nothing is kept of it, so that
memory is that of the rows.

    reverse:  y^ at the last row, seeds at those before it  ->  y^ at the first, p^
    forward:  y' at the first row, p'                       ->  y' at the last
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.errors import DescriptionError
from condyle.forces.external import TimeSeries, series_offsets
from condyle.integrate.adjoint.blocks import KEPT, block_programs, step_tape
from condyle.integrate.adjoint.matrices import LANES, LONGEST, Matrices, TreeMatrices
from condyle.integrate.adjoint.slopes import OFFSETS, LoopedSlope, Slope
from condyle.integrate.equations import EquationsOfMotion, RightHandSide, count_directions, equations
from condyle.integrate.integrators.base import Method
from condyle.integrate.integrators.explicit import Explicit
from condyle.integrate.integrators.symplectic import SemiExplicitEuler
from condyle.integrate.manifold import Manifold
from condyle.integrate.step_loop import copy
from condyle.model.layouts import prefers_loops
from condyle.model.model import Model, description
from condyle.model.right_hand_side import right_hand_side
from condyle.model.symbols import Symbols
from condyle.native.machine.jit import lane_width
from condyle.native.machine.threads import thread_count
from condyle.native.programs.nodes import Get, If, Node, Put, Stream, Take, While, elementwise, kernel
from condyle.native.programs.program import Program, ProgramAndTables, Workspace, cached_program
from condyle.native.programs.slice_function import Loops
from condyle.records import dataclass
from condyle.system.system import System

FORWARD, REVERSE = "forward", "reverse"


def wanted(model: Model) -> np.ndarray:
    """Which numbers of p, the tail after z, runs are differentiated by: inputs, discrete variables, parameters and
    their table."""
    start = model.tail["inputs"].start
    parts = [
        np.arange(model.tail[x].start, model.tail[x].stop)
        for x in ("inputs", "discrete", "parameters", "table")
    ]
    return np.concatenate(parts) - start


def native(
    system: System, method: Method, direction: str, by_p: bool, W: int, offsets: bool = False
) -> ProgramAndTables:
    """The program of a direction, for W lanes; by_p: with derivatives by p; offsets: and by sampled series."""
    key = ("derivative of a run", method.text, direction, by_p, W, offsets)
    if key not in system.compiled.programs:
        text = (
            f"derivative {method.text} {direction} {by_p} {W} {offsets}\n{description(system.compiled.model)}"
        )
        system.compiled.programs[key] = cached_program(
            text, lambda: _build(system, method, direction, by_p, W, offsets)
        )
    return system.compiled.programs[key]


def _build(
    system: System, method: Method, direction: str, by_p: bool, W: int, offsets: bool
) -> ProgramAndTables:
    model = system.compiled.model
    by = wanted(model) if by_p else np.zeros(0, int)
    if direction == REVERSE and not method.needs_jacobian and not offsets:
        eq = equations(system, W=W)
        if LoopedSlope.fits(model, eq, W > 1):
            return rows_loop(method, eq, direction, by, W, model)
    return rows_loop(method, equations(system, derivatives=True, W=W, offsets=offsets), direction, by, W)


def rows_loop(
    method: Method,
    eq: EquationsOfMotion,
    direction: str,
    by: Sequence[int] | np.ndarray,
    W: int,
    looped: Model | None = None,
) -> ProgramAndTables:
    """The program, and the tables of its right-hand side. looped: the model, where its derivatives are loops."""
    n, by = eq.n, [int(k) for k in by]
    scalars = "t h_try t_next row task first last which count busy finished seeded steps evaluations accuracy"
    sizes = dict.fromkeys(f"{scalars} one zero t_stage f.unused status tolerance".split(), 1)
    vectors = "y y_next y_stage k0 k_next error other weights no_y d"
    sizes |= dict.fromkeys(vectors.split(), n) | {"p": eq.parameters, "dp": len(by)}
    streams = {"queue": Stream(1, shared=True)}
    tables: dict[str, np.ndarray] = {}
    rhs = RightHandSide(eq, sizes, streams, tables)
    slope = Slope(eq, rhs, by) if looped is None else LoopedSlope(looped, eq, rhs, by, streams, tables, W)
    tape = step_tape(method, eq, slope, sizes, streams, tables)
    reverse = direction == REVERSE
    if reverse:
        tape.bars["p"] = "dp"
        nodes = tape.reverse_nodes("y_next", "d", ["y", "p"])
        result = tape.bars["y"]
    else:
        tape.tangents |= {"y": "d", "p": "dp"}
        nodes = tape.tangent_nodes("y_next")
        result = tape.tangents[tape.at("y_next")]
    shared = {"t": 1, "y": n, "f": n, "seed": n}
    if eq.series:
        shared |= {"offsets": sizes["offsets"]}
    shared |= {
        "task.first": 1,
        "task.last": 1,
        "task.which": 1,
        "task.d": n,
        "task.p": eq.parameters,
        "task.dp": len(by),
    }
    streams |= {
        f"{'' if '.' in name else 'row.'}{name}": Stream(size, shared=True) for name, size in shared.items()
    }

    def optional(name: str, node: Node) -> list[Node]:
        return [node] if sizes[name] else []

    ends = "last first" if reverse else "first last"
    take: list[Node] = [
        Take("queue", "task"),
        kernel(lambda task, count: task < count, "task count", "busy", sizes, "some"),
        If(
            "busy",
            [
                Get("task.first", "task", "first"),
                Get("task.last", "task", "last"),
                Get("task.which", "task", "which"),
                Get("task.d", "task", "d"),
                *optional("p", Get("task.p", "which", "p")),
                *optional("dp", Get("task.dp", "task", "dp")),
                kernel(lambda a: a, ends.split()[:1], ["row"], sizes, "begin"),
            ],
        ),
    ]
    end: list[Node] = [Put("d", "task.d", "task"), *optional("dp", Put("dp", "task.dp", "task"))]
    back = -1 if reverse else 0
    body: list[Node] = [
        kernel(lambda row: (row + back + 1, row + back), "row", "steps row", sizes, "pair"),
        Get("row.t", "steps", "t_next"),
        Get("row.t", "row", "t"),
        Get("row.y", "row", "y"),
        Get("row.f", "row", "k0"),
        kernel(
            lambda t, t_next: (t_next - t, ca.SX(1), ca.SX(0)), "t t_next", "h_try one zero", sizes, "length"
        ),
        *nodes,
        copy(result, "d", n, W),
    ]
    if reverse:
        sizes["seed"] = n
        add = elementwise(lambda a, b: a + b, ["d", "seed"], ["d"], sizes, n, "seeded")
        body.append(If("seeded", [Get("row.seed", "row", "seed"), add]))
        done = kernel(lambda row, first: row <= first, "row first", "finished", sizes, "done")
    else:
        done = kernel(lambda row, last: (row + 1, row + 1 >= last), "row last", "row finished", sizes, "done")
    body += [done, If("finished", [*end, take])]
    return Program(
        [take, While("busy", body, "limit")], sizes, W=W, streams=streams, counts=("limit",)
    ), tables


def in_blocks(
    system: System, method: Method, direction: str, by_p: bool, columns: int, offsets: bool
) -> tuple[ProgramAndTables, ProgramAndTables] | None:
    """The programs of blocks.py for so many tangents side by side; None where derivatives along a direction take less
    time than matrices would."""
    model, W = system.compiled.model, lane_width()
    if W == 1 or not isinstance(method, (Explicit, SemiExplicitEuler)):
        return None
    by = wanted(model) if by_p else np.zeros(0, int)
    name = f"{bool(len(by))} {offsets}"
    (layout,) = model.notes.get(
        f"matrices of runs {name} {W} {settings.layout()}", lambda: [matrix_layout(system, by, offsets)]
    )
    if not layout:
        return None
    key = f"{direction} of blocks {method.text} {name} {W} {columns}"
    if key not in system.compiled.programs:
        text = f"{key} {layout}\n{description(model)}"
        made = list[tuple[ProgramAndTables, ProgramAndTables]]()

        def make(k: int) -> ProgramAndTables:
            if not made:
                loops = layout == LOOPED
                eq = (
                    equations(system, W=W)
                    if loops
                    else equations(system, derivatives=True, W=W, offsets=offsets)
                )
                made.append(
                    block_programs(
                        method, eq, direction == REVERSE, by.tolist(), W, columns, model if loops else None
                    )
                )
            return made[0][k]

        pair = (
            cached_program(f"{text} side by side", partial(make, 0)),
            cached_program(f"{text} in order", partial(make, 1)),
        )
        system.compiled.programs[key] = pair  # type: ignore[assignment]
    return system.compiled.programs[key]  # type: ignore[return-value]


STRAIGHT, LOOPED = 1.0, 2.0


def matrix_layout(system: System, by: np.ndarray, offsets: bool) -> float:
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
class Tasks:
    """Steps to go over: of each task those between its rows `first` and `last`.

    Args:
        t, y, f: the rows, shape (m,), (m, n), (m, n).
        first, last: rows, shape (tasks,).
        which: which tail holds, shape (tasks,).
        tails: shape (.., k).
        manifold: of the run.
        lanes: tasks of different rows, to be taken side by side: members of an ensemble.
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

    @property
    def steps(self) -> int:
        return int((self.last - self.first).sum())


def carry(
    system: System,
    method: Method,
    direction: str,
    tasks: Tasks,
    d: np.ndarray,
    dp: np.ndarray,
    seeds: np.ndarray | None = None,
    by_p: bool = True,
    series: SeriesBars | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Tangents d (tasks, n), dp (tasks, p') from the first to the last row of each task; or cotangents from the last
    to the first, with seeds (m, n) added at the rows before the last. `series` collects what falls to sampled series."""
    by_p = by_p and bool(dp.shape[1])
    offsets = series is not None and bool(series.found)
    columns = lane_width() if direction == FORWARD and len(d) > 1 else 1
    blocks = None if tasks.lanes else in_blocks(system, method, direction, by_p, columns, offsets)
    p = tasks.tails[:, system.compiled.model.tail["inputs"].start :]
    streams = {
        "row.t": tasks.t.reshape(-1, 1),
        "row.y": tasks.y,
        "row.f": tasks.f,
        "row.seed": np.zeros((1, d.shape[1])) if seeds is None else seeds,
        "task.p": np.ascontiguousarray(p),
    }
    if series is not None and offsets:
        streams["task.p"] = np.hstack([p, np.zeros((len(p), series.width))])
        streams[OFFSETS] = np.zeros((len(tasks.t) * series.stages, 1 + series.width))
    weights = np.zeros(d.shape[1])
    weights[system.nq : system.nq + system.nu] = tasks.manifold.weights
    values = {"seeded": float(seeds is not None), "weights": weights, "tolerance": tasks.manifold.tolerance}
    out, out_p = np.array(d, dtype=float), np.array(dp if by_p else dp[:, :0], dtype=float)
    if blocks is None:
        W = 1 if len(d) == 1 else lane_width()
        run = Runner(*native(system, method, direction, by_p, W, offsets), streams, values)
        run(_numbered(tasks) | {"task.d": out, "task.dp": out_p}, len(d), tasks.steps + len(d) + 1)
    elif columns == 1:
        _over_blocks(
            *(Runner(*made, streams, values) for made in blocks), tasks, out, out_p, direction == REVERSE
        )
    else:
        side = Runner(*blocks[0], streams, values), Runner(*blocks[1], streams, values)
        groups = _alike(tasks, columns)
        first = groups[:, 0]
        shared = replace(tasks, first=tasks.first[first], last=tasks.last[first], which=tasks.which[first])
        each = [_beside(x, groups) for x in (out, out_p)]
        _over_blocks(*side, shared, *each, False)
        for x, found in zip((out, out_p), each, strict=True):
            some = groups < len(x)
            x[groups[some]] = found.reshape(*groups.shape[:1], -1, columns).transpose(0, 2, 1)[some]
    if not (np.isfinite(out).all() and np.isfinite(out_p).all()):
        raise DescriptionError(
            "derivatives of a run: some are not finite: a force has no slope somewhere, such as that of a norm where it "
            "is zero; move the start a little, or take a smooth law (contacts: smooth=)"
        )
    if series is not None and offsets:
        series.add(streams[OFFSETS])
    return out, out_p if by_p else np.array(dp)


def _alike(tasks: Tasks, columns: int) -> np.ndarray:
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


def _numbered(tasks: Tasks) -> dict[str, np.ndarray]:
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

        if threads == 1:
            work(self.workspaces[0])
            return
        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(work, ws) for ws in self.workspaces[:threads]]:
                done.result()


def _over_blocks(
    side_by_side: Runner, in_order: Runner, tasks: Tasks, d: np.ndarray, dp: np.ndarray, reverse: bool
) -> None:
    """Both passes over block after block; d and dp of each task are changed."""
    kept = {k: x["size"] for k, x in side_by_side.program.layout["streams"].items() if k.startswith("kept.")}
    first, last = int(tasks.first.min()), int(tasks.last.max())
    W, which = side_by_side.program.W, np.zeros((len(tasks.t), 1))
    for a, b, k in {*zip(tasks.first.tolist(), tasks.last.tolist(), tasks.which.tolist(), strict=True)}:
        which[a:b] = k
    length = min(last - first, W * max(1, round(KEPT / (8 * W * sum(kept.values())))))
    memory = {name: np.empty((length, size)) for name, size in kept.items()} | {"row.which": which}
    starts = range(first, last, length)
    for a in reversed(starts) if reverse else starts:
        b = min(a + length, last)
        side_by_side(memory, b - a, b - a + W, a)
        mine = np.flatnonzero((tasks.first < b) & (tasks.last > a))
        part = replace(
            tasks,
            first=np.maximum(tasks.first, a)[mine],
            last=np.minimum(tasks.last, b)[mine],
            which=tasks.which[mine],
        )
        here, here_p = d[mine], dp[mine]
        in_order(
            memory | _numbered(part) | {"task.d": here, "task.dp": here_p},
            len(mine),
            part.steps + len(mine) + 1,
            a,
        )
        d[mine], dp[mine] = here, here_p


class SeriesBars:
    """Gradients by the values of the sampled series of a system: what each is called, and the sum so far.

    Args:
        what: how errors call it.
        system: whose series.
        method: of the run.
    """

    def __init__(self, what: str, system: System, method: Method) -> None:
        with series_offsets() as found:
            s = Symbols(system.compiled.model)
            s.follow_motions()
            s.arguments["tau"] = ca.SX.zeros(system.nu)
            right_hand_side(s)
        self.found = [series for series, _ in found.values()]
        self.width = sum(len(series.values[0]) for series in self.found)
        self.stages = len(method.A) if isinstance(method, Explicit) else 1
        self.sums = [np.zeros(np.shape(series.values)) for series in self.found]
        if self.found and not isinstance(method, (Explicit, SemiExplicitEuler)):
            raise DescriptionError(
                f"{what}: wrt='inputs': the values of sampled series have derivatives with explicit methods only, not with "
                f"{method.name!r}; run with 'dormand-prince' or 'rkc'"
            )
        self.names = self._names(system)

    def _names(self, system: System) -> list[str]:
        """The law that has it, and the field if it has several."""
        out = dict[int, str]()
        for name, law in system.compiled.model.forces.items():
            fields = {
                field: value
                for field in getattr(law, "__dataclass_fields__", ())
                if isinstance(value := getattr(law, field, None), TimeSeries)
            }
            for field, value in fields.items():
                out.setdefault(id(value), name if len(fields) == 1 else f"{name}.{field}")
        return [out.get(id(series), f"series{k}") for k, series in enumerate(self.found)]

    def add(self, rows: np.ndarray) -> None:
        """Rows (m, 1 + width): a time, and cotangents of all series there."""
        rows, first = rows[rows[:, 1:].any(axis=1)], 1
        for total, series in zip(self.sums, self.found, strict=True):
            width = total.shape[1]
            total += series.pull_back(rows[:, 0], rows[:, first : first + width])
            first += width

    @property
    def gradients(self) -> dict[str, np.ndarray]:
        """By "inputs.NAME", shape (n,), or (n, 3) for vectors."""
        return {
            f"inputs.{name}": x[:, 0] if x.shape[1] == 1 else x
            for name, x in zip(self.names, self.sums, strict=True)
        }


WORTH = 20_000
"""Steps from which on threads share them."""
