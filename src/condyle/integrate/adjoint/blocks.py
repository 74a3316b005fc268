"""Derivatives carried over the rows of one run in two passes over blocks of its steps: matrices.py (1) for all steps of
a block side by side in lanes, then (2) step by step, forward or in reverse.

The nodes of a differentiated step (tape.py) fall into those that depend on a direction and those that do not. What the
first read of the second is kept for the steps of a block, never for those of the whole run.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.integrate.adjoint.matrices import Matrices, TreeMatrices
from condyle.integrate.adjoint.slopes import MapSlope, Slope
from condyle.integrate.adjoint.tape import Rate, Recorded, Tape, used_slices
from condyle.integrate.equations import EquationsOfMotion, RightHandSide
from condyle.integrate.integrators.base import Method
from condyle.integrate.step_loop import copy
from condyle.model.model import Model
from condyle.native.programs.nodes import Get, If, Node, Put, Stream, Take, While, elementwise, kernel, walk
from condyle.native.programs.program import Program, ProgramAndTables

KEPT = 4e6
"""Bytes of what is kept of a block, about: it stays in the cache of a processor."""


def block_programs(
    method: Method,
    eq: EquationsOfMotion,
    reverse: bool,
    by: Sequence[int],
    W: int,
    columns: int,
    looped: Model | None,
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
    tape = step_tape(method, eq, slope, sizes, streams, tables, columns)
    if reverse:
        tape.bars["p"] = "dp"
        nodes = tape.reverse_nodes("y_next", "d", ["y", "p"])
        result = tape.bars["y"]
    else:
        tape.tangents |= {"y": "d", "p": "dp"}
        nodes = tape.tangent_nodes("y_next")
        result = tape.tangents[tape.at("y_next")]
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
        "row.seed": n,
        "task.p": eq.parameters,
    }
    shared |= {"task.first": 1, "task.last": 1, "task.d": sizes["d"], "task.dp": sizes["dp"]}
    shared |= {f"kept.{name}": sizes[name] for name in kept}
    if eq.series:
        shared |= {"row.offsets": sizes["offsets"]}
    streams |= {name: Stream(size, shared=True) for name, size in shared.items()}

    def optional(name: str, node: Node) -> list[Node]:
        return [node] if sizes[name] else []

    def program(body: Node, lanes: int) -> ProgramAndTables:
        used = {x.stream for x, _ in walk(body) if isinstance(x, (Get, Put, Take))}
        mine = {name: stream for name, stream in streams.items() if name in used}
        known = set().union(*used_slices(body), {"count", "base", "seeded", "weights", "tolerance"})
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
) -> Tape:
    """A step of a method with its projection, recorded."""
    recorded = Recorded()
    step = method.step(eq, recorded, recorded, sizes)  # type: ignore[arg-type]
    tape = Tape(slope, sizes, ["y", "p"] if slope.np else ["y"], columns)
    tape.record([Rate("t", "y", "k0", known=True), *step.attempt])
    found = eq.projection(0, derived=True)
    if found is not None:
        maps = [found.nearer] if found.tolerance is None else [found.nearer, found.along]
        slopes = [
            MapSlope(f, name, slope.wanted, sizes, streams, tables)  # type: ignore[arg-type]
            for f, name in zip(maps, ("nearer", "along"), strict=False)
        ]
        tape.project(slopes, "t_next", "y_next", None if found.tolerance is None else "tolerance")
    return tape
