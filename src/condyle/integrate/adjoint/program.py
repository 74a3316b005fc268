"""The native programs that carry derivatives over the rows of a run, forward or in reverse.

A *task* is the steps between two rows, with one tangent or cotangent; lanes take tasks from a queue. A step
is computed again from its row (t, y, f) and differentiated: tape.py. Nothing else is stored, so that memory
is that of the rows.

    reverse:  y^ at the last row, seeds at those before it  ->  y^ at the first, p^
    forward:  y' at the first row, p'                       ->  y' at the last
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.forces.external import TimeSeries, series_offsets
from condyle.integrate.adjoint.blocks import Blocks, block_programs
from condyle.integrate.adjoint.slopes import FORWARD, OFFSETS, REVERSE, LoopedSlope, Slope, wanted
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
from condyle.integrate.equations import EquationsOfMotion, RightHandSide, equations
from condyle.integrate.integrators.base import Method
from condyle.integrate.integrators.explicit import Explicit
from condyle.integrate.integrators.symplectic import SemiExplicitEuler
from condyle.integrate.step_loop import copy
from condyle.model.model import Model, description
from condyle.model.right_hand_side import right_hand_side
from condyle.model.symbols import Symbols
from condyle.native.machine.jit import lane_width
from condyle.native.programs.nodes import Get, Node, Stream, kernel
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.system.system import System


def native(
    system: System,
    method: Method,
    direction: str,
    by_p: bool,
    W: int,
    offsets: bool = False,
    between: bool = False,
) -> ProgramAndTables:
    """The program of a direction, for W lanes; by_p: with derivatives by p; offsets: and by sampled series; between: of
    y inside of a step."""
    key = ("derivative of a run", method.text, direction, by_p, W, offsets, between)
    if key not in system.compiled.programs:
        text = f"derivative {method.text} {direction} {by_p} {W} {offsets} {between}\n{description(system.compiled.model)}"
        system.compiled.programs[key] = cached_program(
            text, lambda: _build(system, method, direction, by_p, W, offsets, between)
        )
    return system.compiled.programs[key]


def _build(
    system: System, method: Method, direction: str, by_p: bool, W: int, offsets: bool, between: bool
) -> ProgramAndTables:
    model = system.compiled.model
    by = wanted(model) if by_p else np.zeros(0, int)
    if direction == REVERSE and not method.needs_jacobian and not offsets:
        eq = equations(system, W=W)
        if LoopedSlope.fits(model, eq, W > 1):
            return rows_loop(method, eq, direction, by, W, model, between)
    return rows_loop(
        method, equations(system, derivatives=True, W=W, offsets=offsets), direction, by, W, None, between
    )


def rows_loop(
    method: Method,
    eq: EquationsOfMotion,
    direction: str,
    by: Sequence[int] | np.ndarray,
    W: int,
    looped: Model | None = None,
    between: bool = False,
) -> ProgramAndTables:
    """The program, and the tables of its right-hand side. looped: the model, if its derivatives are loops."""
    by, reverse = [int(k) for k in by], direction == REVERSE
    sizes = task_sizes(eq, by)
    streams, tables = dict[str, Stream](), dict[str, np.ndarray]()
    rhs = RightHandSide(eq, sizes, streams, tables)
    slope = Slope(eq, rhs, by) if looped is None else LoopedSlope(looped, eq, rhs, by, streams, tables, W)
    tape, last = step_tape(method, eq, slope, sizes, streams, tables, 1, between)
    nodes, result = derived_nodes(tape, last, reverse)
    streams |= task_streams(eq, sizes)
    back = -1 if reverse else 0
    which = [Get("task.which", "task", "which"), *([Get("task.p", "which", "p")] if sizes["p"] else [])]
    body: list[Node] = [
        kernel(lambda row: (row + back + 1, row + back), "row", "steps row", sizes, "pair"),
        *row_nodes(sizes, between),
        *nodes,
        copy(result, "d", eq.n, W),
    ]
    return task_program(over_tasks(sizes, reverse, which, body), W, sizes, streams, tables)


def carry(
    system: System,
    method: Method,
    direction: str,
    tasks: AdjointTasks,
    d: np.ndarray,
    dp: np.ndarray,
    seeds: np.ndarray | None = None,
    by_p: bool = True,
    series: SeriesBars | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Tangents d (tasks, n), dp (tasks, p') from the first to the last row of each task; or cotangents from the last
    to the first, with seeds (m, n) added at the rows before the last. `series` collects the derivatives with
    respect to sampled series."""
    by_p = by_p and bool(dp.shape[1])
    offsets = series is not None and bool(series.found)
    columns = lane_width() if direction == FORWARD and len(d) > 1 else 1
    blocks = (
        None
        if tasks.lanes
        else block_programs(system, method, direction, by_p, columns, offsets, tasks.x is not None)
    )
    p = tasks.tails[:, system.compiled.model.tail["inputs"].start :]
    streams = {
        "row.t": tasks.t.reshape(-1, 1),
        "row.y": tasks.y,
        "row.f": tasks.f,
        "row.seed": np.zeros((1, d.shape[1])) if seeds is None else seeds,
        "task.p": np.ascontiguousarray(p),
    }
    if tasks.x is not None:
        streams["row.x"] = tasks.x.reshape(-1, 1)
    if series is not None and offsets:
        streams["task.p"] = np.hstack([p, np.zeros((len(p), series.width))])
        streams[OFFSETS] = np.zeros((len(tasks.t) * series.stages, 1 + series.width))
    weights = np.zeros(d.shape[1])
    weights[system.nq : system.nq + system.nu] = tasks.manifold.weights
    values = {"seeded": float(seeds is not None), "weights": weights, "tolerance": tasks.manifold.tolerance}
    out, out_p = np.array(d, dtype=float), np.array(dp if by_p else dp[:, :0], dtype=float)
    if blocks is None:
        W = 1 if len(d) == 1 else lane_width()
        run = Runner(
            *native(system, method, direction, by_p, W, offsets, tasks.x is not None), streams, values
        )
        run(numbered(tasks) | {"task.d": out, "task.dp": out_p}, len(d), tasks.steps + len(d) + 1)
    else:
        out, out_p = Blocks(*blocks, streams, values).carry(tasks, out, out_p, columns, direction == REVERSE)
    if not (np.isfinite(out).all() and np.isfinite(out_p).all()):
        raise DescriptionError(
            "derivatives of a run: some are not finite: a force has no slope at some state, such as a norm where it "
            "is zero; move the start a little, or use a smooth law (contacts: smooth=)"
        )
    if series is not None and offsets:
        series.add(streams[OFFSETS])
    return out, out_p if by_p else np.array(dp)


class SeriesBars:
    """Gradients by the values of the sampled series of a system: the name of each, and the sum so far.

    Args:
        what: its name in errors.
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
        self.stages = 1 + (len(method.A) if isinstance(method, Explicit) else 1)  # and f at the end of a step
        self.sums = [np.zeros(np.shape(series.values)) for series in self.found]
        if self.found and not isinstance(method, (Explicit, SemiExplicitEuler)):
            raise DescriptionError(
                f"{what}: wrt='inputs': the values of sampled series have derivatives with explicit methods only, not with "
                f"{method.name!r}; run with 'dormand-prince' or 'rkc'"
            )
        self.names = self._names(system)

    def _names(self, system: System) -> list[str]:
        """The law of each series, with the field if the law has several."""
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
        """Rows (m, 1 + width): a time, and the cotangents of all series at that time."""
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
