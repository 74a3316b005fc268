"""What a program does lane by lane, as functions of the module that needs them: rows of tables, queues,
outside calls."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, DOUBLE, INT, LONG, POINTER, Value
from condyle.native.programs.nodes import LaneStatus


@contextmanager
def each_lane(b: Builder, mask: Value) -> Iterator[Value]:
    """Run the body for each lane whose bit is set in a mask."""
    with b.loop(b.lanes.W) as lane, b.when(b.compare("ne", mask & (b.number(1, LONG) << lane), 0)):
        yield lane


def add_row(module: Module, which: str) -> str:
    """Define `program.get` or `program.put`, which moves one row of a table for each lane; returns its name.

    An index that is not in [0, rows) never becomes an address.
    """

    def write(name: str) -> None:
        with module.function(name, [*[POINTER] * 4, *[LONG] * 6]) as b:
            table, indices, array, status, rows, mask, size, row, element, side = b.arguments
            with each_lane(b, mask) as lane:
                x, n = b.load(b.at(indices, lane), DOUBLE), b.convert("sitofp", rows, DOUBLE)
                inside = b.compare("oge", x, 0.0) & b.compare("olt", x, n)
                with b.when(inside, False):
                    place = b.at(status, lane)
                    old = b.load(place, DOUBLE)
                    b.store(b.select(b.compare("oeq", old, 0.0), float(LaneStatus.INDEX), old), place)
                edge = b.select(b.compare("oge", x, n), b.convert("sitofp", rows - 1, DOUBLE), 0.0)
                i = b.convert("fptosi", b.select(inside, x, edge), LONG)
                base = i * row + lane * side
                with b.when(inside if which == "put" else b.compare("sgt", rows, 0)), b.loop(size) as j:
                    there, here = b.at(table, base + j * element), b.at(array, j * b.lanes.W + lane)
                    source, target = (there, here) if which == "get" else (here, there)
                    b.store(b.load(source, DOUBLE), target)

    return module.define(f"program.{which}", write)


def add_row_of_one(module: Module, which: str, size: int) -> str:
    """The same for one lane and rows of a size that is known, moved at once."""

    def write(name: str) -> None:
        with module.function(name, [*[POINTER] * 4, LONG]) as b:
            table, index, array, status, rows = b.arguments
            x, n = b.load(index, DOUBLE), b.convert("sitofp", rows, DOUBLE)
            inside = b.compare("oge", x, 0.0) & b.compare("olt", x, n)
            with b.when(inside, False):
                old = b.load(status, DOUBLE)
                b.store(b.select(b.compare("oeq", old, 0.0), float(LaneStatus.INDEX), old), status)
            edge = b.select(b.compare("oge", x, n), b.convert("sitofp", rows - 1, DOUBLE), 0.0)
            i = b.convert("fptosi", b.select(inside, x, edge), LONG)
            with b.when(inside if which == "put" else b.compare("sgt", rows, 0)):
                there = b.at(table, i * size)
                target, source = (array, there) if which == "get" else (there, array)
                b.outside("llvm.memmove.p0.p0.i64", target, source, 8 * size, b.number(0, BOOL))

    return module.define(f"program.{which}.{size}", write)


def add_take(module: Module) -> str:
    """Define `program.take`: give each lane the next number of a counter in memory that others may share."""

    def write(name: str) -> None:
        with module.function(name, [POINTER, POINTER, LONG]) as b:
            counter, target, mask = b.arguments
            with each_lane(b, mask) as lane:
                b.store(
                    b.put(DOUBLE, f"atomicrmw fadd {counter}, {b.number(1, DOUBLE)} seq_cst"),
                    b.at(target, lane),
                )

    return module.define("program.take", write)


def add_lane_copy(module: Module, which: str, whole: bool) -> str:
    """Define `program.load` or `program.store`: copy one lane of a slice to or from a plain array, perhaps of
    C int."""

    def write(name: str) -> None:
        element, align = (INT, 4) if whole else (DOUBLE, 8)
        with module.function(name, [*[POINTER] * 2, *[LONG] * 2]) as b:
            plain, array, size, lane = b.arguments
            with b.loop(size) as j:
                here, there = b.at(array, j * b.lanes.W + lane), b.at(plain, j, element)
                if which == "load":
                    x = b.load(here, DOUBLE)
                    b.store(b.outside("llvm.fptosi.sat.i32.f64", x, result=INT) if whole else x, there, align)
                else:
                    x = b.load(there, element, align)
                    b.store(b.convert("sitofp", x, DOUBLE) if whole else x, here)

    return module.define(f"program.{which}.{'int' if whole else 'double'}", write)
