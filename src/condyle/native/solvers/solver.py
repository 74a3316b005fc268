"""A loop that acts as one kernel and is used like a table: `row = look_up(solver, p)` (lookup.py).

    x, busy = start(p);   x, busy = step(p, x) while busy, at most `limit` times;
    row = (finish(p, x), status)                                                                          (1)

SX cannot loop, and unrolled iterations would all run, and be compiled again at every use. A solver is
compiled once. A state whose `busy` is zero leaves the loop: in lanes it is computed but not stored, so that
it equals the scalar loop to the last bit. One whose `busy` is NaN leaves at once. If the loop does not
converge the status is LIMIT or NAN, and the rest of the row is NaN.

If idle(p) finds that a state has nothing to solve, the results of idle are the row: (1) runs only for the
other lanes, if any.

A step may need a sum over the rows c of a table, of which one term is compiled: total = sum term(p, x, c),
and then x, busy = step(p, x, total).

Solvers may be nested: start, step and finish may contain rows of tables and of solvers.

Derivatives treat the row as constant: `condyle.native.solvers.implicit_function` adds the derivatives of
solutions of equations.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.native.ir.builder import Builder
from condyle.native.ir.module import Module
from condyle.native.ir.values import BOOL, POINTER, Value, wide
from condyle.native.machine import notes
from condyle.native.straight.data import function
from condyle.native.straight.kernel_function import evaluate, identity, sizes
from condyle.native.tables.linked import LinkedSource, link_source
from condyle.native.tables.lookup import lookups_in
from condyle.native.tables.staged import Staged
from condyle.records import dataclass

SUMS = 4
"""Number of sums to which the terms are added in turn."""
_LINE = 64  # bytes of a cache line
OK, LIMIT, NAN = 0, 1, 2
"""Status of a row: solved; still busy after `limit` steps; `busy` became NaN."""


@dataclass(frozen=True, eq=False, repr=False)
class Solver(LinkedSource):
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        start: p (needs,) -> x (n,), busy.
        step: p, x -> x, busy; with a sum p, x, total -> x, busy. Trailing numbers of x may be left out:
            these do not change.
        finish: p, x -> results (width - 1,).
        limit: largest number of steps.
        term: p, x, c -> a term of the sum that a step needs.
        table: the rows c, shape (terms, numbers).
        idle: p -> results, busy; where that is zero, these are the results.
        noted: if the last result is nonzero, it sets the word of notes.py.
    """

    name: str
    start: ca.Function | Staged
    step: ca.Function | Staged
    finish: ca.Function | Staged
    limit: int
    term: ca.Function | None = None
    table: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    idle: ca.Function | Staged | None = None
    noted: bool = False

    @staticmethod
    def trace(
        name: str,
        needs: int,
        start: Callable[[SX], Sequence[Any]],
        step: Callable[..., Sequence[Any]],
        finish: Callable[[SX, SX], Any],
        limit: int,
        *,
        term: Callable[[SX, SX, SX], Any] | None = None,
        table: np.ndarray | None = None,
        idle: Callable[[SX], Sequence[Any]] | None = None,
        noted: bool = False,
    ) -> Solver:
        """From Python functions of SX columns.

        Args:
            needs: size of p.
            start: start(p) -> x, busy.
            step: step(p, x) -> x, busy.
            finish: finish(p, x) -> results.
            term, table: term(p, x, c) is summed over the rows c of the table, for step(p, x, total).
            idle: idle(p) -> results, busy.
            noted: see the class.
        """
        p = ca.SX.sym("p", needs)
        first = _columns(name, "start", start(p), 2)
        x = ca.SX.sym("x", first[0].numel())
        rows, one, totals = np.zeros((0, 0)), None, []
        if term is not None and table is not None:
            rows = np.array(table, dtype=float)
            c = ca.SX.sym("c", rows.shape[1])
            one = function("term", [p, x, c], _columns(name, "term", [term(p, x, c)], 1), cse=True)
            totals = [ca.SX.sym("total", one.numel_out(0))]
        then = _columns(name, "step", step(p, x, *totals), 2)
        if then[0].numel() != x.numel():
            raise DescriptionError(
                f"Solver {name!r}: step returned {then[0].numel()} numbers for x; "
                f"expected {x.numel()}, as many as start"
            )
        then[0] = _without_unchanged(x, then[0])
        return Solver(
            name,
            _function(name, "start", [p], first),
            _function(name, "step", [p, x, *totals], then),
            _function(name, "finish", [p, x], _columns(name, "finish", [finish(p, x)], 1)),
            limit,
            one,
            rows,
            idle and _function(name, "idle", [p], _columns(name, "idle", idle(p), 2)),
            noted,
        )

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise DescriptionError(f"Solver: the name {self.name!r} is no identifier, such as 'equilibrium'")
        if not isinstance(self.limit, int) or isinstance(self.limit, bool) or self.limit < 0:
            raise DescriptionError(
                f"Solver {self.name!r}: limit = {self.limit!r}; expected an integer, 0 or more"
            )
        n, moved = sizes(self.start)[1][0], sizes(self.step)[1][0]
        total = [self.term.numel_out(0)] if self.term else []
        for part, ins, outs in (
            ("start", [self.needs], [n, 1]),
            ("step", [self.needs, n, *total], [min(n, moved), 1]),
            ("finish", [self.needs, n], [self.width - 1]),
            ("term", [self.needs, n, self.table.shape[1]], total),
            ("idle", [self.needs], [self.width - 1, 1]),
        ):
            f = getattr(self, part)
            if f is not None and (found := sizes(f)) != (ins, outs):
                raise DescriptionError(
                    f"Solver {self.name!r}: {part} has sizes {found[0]} -> {found[1]}; "
                    f"expected {ins} -> {outs}"
                )

    @property
    def side_by_side(self) -> bool:
        """Whether several rows of one state are computed in lanes. With a sum the lanes hold its terms
        instead."""
        return self.term is None

    @property
    def needs(self) -> int:
        """Size of p."""
        return sizes(self.start)[0][0]

    @property
    def width(self) -> int:
        """Size of the row: results, and the status."""
        return sizes(self.finish)[1][0] + 1

    @cached_property
    def text(self) -> str:
        """Text that determines the solver, the same in every process."""
        functions = self.start, self.step, self.finish, self.term, self.idle
        parts = [
            self.name,
            *("" if f is None else identity(f) for f in functions),
            str(self.limit),
            *["noted"] * self.noted,
            self.table.tobytes().hex(),
        ]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def n_instructions(self) -> int:
        """Operations of a run with four steps."""
        step = self.step.n_instructions() + (len(self.table) * self.term.n_instructions() if self.term else 0)
        idle = self.idle.n_instructions() if self.idle else 0
        return idle + self.start.n_instructions() + min(4, self.limit) * step + self.finish.n_instructions()

    def emit(self, module: Module) -> str:
        """Link `void @symbol(ptr p, ptr row, ptr work)`, once to a module; returns the symbol.

        It does not depend on a model, so it is compiled only once and has its own entry in the cache.
        """
        return link_source(module, f"solver.{self.name}.{self.text[:16]}", self.text, self._write)

    def _write(self, module: Module, symbol: str) -> int:
        """Write (1)."""

        from condyle.native.straight.kernel_writer import add_kernel

        L, n, last = module.lanes, sizes(self.start)[1][0], self.width - 1
        masked = L.W > 1
        apart = masked and self.idle is not None  # lanes that have nothing to solve keep their rows
        sums = self.term.numel_out(0) if self.term else 0
        works = [
            add_kernel(module, f, f"{symbol}.{part}", masked=there)
            for part, f, there in (
                ("start", self.start, False),
                ("step", self.step, masked),
                ("finish", self.finish, apart),
            )
        ]
        if self.idle is not None:
            works.append(add_kernel(module, self.idle, f"{symbol}.idle"))
        if self.term:
            works.append(self._write_sum(module, f"{symbol}.sum"))
        with module.function(symbol, [POINTER] * 3, internal=False) as b:
            p, row, x = b.arguments
            busy, total, rest = (b.at(x, k * L.W) for k in (n, n + 1, n + 1 + sums))
            asked: list[Value] = []
            if self.idle is not None:
                solve = b.label("solve")
                b.call(f"{symbol}.idle", p, row, busy, rest)
                b.store(float(OK), b.at(row, last * L.W))
                asked = [b.compare("une", b.load(busy), 0.0)]
                b.branch(b.any(asked[0]), solve, idle := b.label("idle"))
                b.place(idle)
                b.give()
                b.place(solve)
            b.call(f"{symbol}.start", p, x, busy, rest)
            if apart:
                b.store(b.select(asked[0], b.load(busy), 0.0), busy)
            with b.repeat() as k:
                flag = b.load(busy)
                # not of lanes that have left the loop: their flags remain 0 or NaN
                live = b.compare("one", flag, 0.0)
                b.leave_unless(b.any(live) & b.compare("ult", k, self.limit))
                if self.term:
                    b.call(f"{symbol}.sum", p, x, total, rest)
                b.call(f"{symbol}.step", p, x, *[total] * bool(self.term), x, busy, rest, *[live] * masked)
            b.call(f"{symbol}.finish", p, x, row, rest, *asked * apart)
            status = b.select(
                b.compare("uno", flag, 0.0), float(NAN), b.select(live, float(LIMIT), float(OK))
            )
            found = b.compare("oeq", status, float(OK))
            b.store(status, b.at(row, last * L.W))
            if self.noted:
                with b.when(b.any(b.compare("one", b.load(b.at(row, (last - 1) * L.W)), 0.0))):
                    b.store(1, b.symbol(module.note()))
            b.branch(
                b.any(b.compare("une", status, float(OK))), clear := b.label("clear"), end := b.label("end")
            )
            b.place(end)
            b.give()
            b.place(clear)
            for j in range(last):
                place = b.at(row, j * L.W)
                b.store(b.select(found, b.load(place), math.nan), place)
        return n + 1 + sums + max(works)

    def _write_sum(self, module: Module, symbol: str) -> int:
        """Define total <- sum of the terms; returns blocks of work.

        Term i goes to sum i modulo 4, and the four sums are added as (0 + 1) + (2 + 3). One state thus
        takes four terms at a time, in the lanes of a register.
        """

        from condyle.native.straight.kernel_writer import add_kernel

        assert self.term is not None
        W, alone, count, n = module.lanes.W, module.lanes.W == 1, len(self.table), self.term.numel_out(0)
        p, x, c, total = (
            ca.SX.sym(name, size)
            for name, size in zip("pxct", [*(self.term.numel_in(k) for k in range(3)), n], strict=True)
        )
        added = function("add", [p, x, c, total], [total + self.term.call([p, x, c], True, False)[0]])
        own = Module(SUMS, module.contract) if alone else module
        work = add_kernel(
            own,
            added,
            f"{symbol}.add",
            uniform=(0, 1) if alone else (2,),
            masked=alone,
            places=[("p", 0), ("x", 0), ("c", 0), ("total", 0), ("total", 0)],
        )
        rows = self.table
        if alone:
            module.include(own)
            rows = np.concatenate([rows, *[rows[-1:]] * (-count % SUMS)])  # padding: sums not stored
            rows = rows.reshape(-1, SUMS, rows.shape[1]).transpose(0, 2, 1)
        table = module.table(f"{symbol}.table", rows)
        with module.function(symbol, [POINTER] * 4) as b:
            given, state, sums, rest = b.arguments
            parts = b.aligned(rest, _LINE)
            free = b.at(parts, SUMS * n * W)
            for j in range(SUMS * n):
                b.store(0.0, b.at(parts, j * W))
            with b.loop(count, SUMS if alone else 1) as i:
                row = b.at(b.symbol(table), i * rows.shape[1 if alone else -1])
                if alone:
                    b.call(f"{symbol}.add", given, state, row, parts, free, _first(b, count - i))
                else:
                    b.call(f"{symbol}.add", given, state, row, b.at(parts, (i & SUMS - 1) * (n * W)), free)
            for j in range(n):
                each = [b.load(b.at(parts, (j * SUMS + k if alone else k * n + j) * W)) for k in range(SUMS)]
                b.store((each[0] + each[1]) + (each[2] + each[3]), b.at(sums, j * W))
        return SUMS * n + work * (SUMS if alone else 1) + _LINE // 8

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator."""
        idle, asked = np.zeros((self.width - 1, p.shape[1])), np.ones(p.shape[1], bool)
        if self.idle is not None:
            idle, busy = evaluate(self.idle, p)
            asked = busy[0] != 0
            if not asked.any():
                return np.vstack([idle, np.full(busy.shape, float(OK))])
        x, busy = evaluate(self.start, p)
        busy[:, ~asked] = 0.0
        for _ in range(self.limit):
            live = ~np.isnan(busy[0]) & (busy[0] != 0)
            if not live.any():
                break
            terms = (
                [evaluate(self.term, p, x, np.tile(c[:, None], p.shape[1]))[0] for c in self.table]
                if self.term
                else []
            )
            after = evaluate(self.step, p, x, *[np.sum(terms, axis=0)] * bool(self.term))
            x[: len(after[0]), live], busy[:, live] = after[0][:, live], after[1][:, live]
        status = np.where(np.isnan(busy[0]), NAN, np.where(busy[0] != 0, LIMIT, OK)).astype(float)
        results = np.where(asked, evaluate(self.finish, p, x)[0], idle)
        if self.noted and np.any(results[-1] > 0):
            notes.put()
        return np.vstack([np.where(status == OK, results, np.nan), status])


def _first(b: Builder, count: Value) -> Value:
    """A mask that is true in the first `count` of SUMS lanes."""
    return b.put(
        wide(BOOL, SUMS), f"icmp sgt {b.spread(count, SUMS)}, <{', '.join(f'i64 {k}' for k in range(SUMS))}>"
    )


def _without_unchanged(x: SX, after: SX) -> SX:
    """The x after a step, without trailing elements that the step does not change."""
    moved = [k for k in range(x.numel()) if x[k].element_hash() != after[k].element_hash()]
    return after[: max(moved, default=-1) + 1]


def _columns(name: str, part: str, results: Any, count: int) -> list[SX]:
    if not isinstance(results, (tuple, list)) or len(results) != count:
        raise DescriptionError(f"Solver {name!r}: {part} returned {results!r}; expected x, busy")
    columns = [ca.densify(ca.vec(ca.SX(y))) for y in results]
    if count == 2 and columns[1].numel() != 1:
        raise DescriptionError(
            f"Solver {name!r}: {part} returned busy of size {columns[1].numel()}; expected one number"
        )
    return columns


def _function(name: str, part: str, arguments: list[SX], results: list[SX]) -> ca.Function | Staged:
    try:
        if lookups_in(results):
            return Staged(part, arguments, ca.cse(results))
        return function(part, arguments, results, cse=True)
    except RuntimeError as error:
        known = {s.element_hash() for a in arguments for s in ca.symvar(a)}
        others = [s.name() for s in ca.symvar(ca.vertcat(*results)) if s.element_hash() not in known]
        raise DescriptionError(
            f"Solver {name!r}: {part} uses {', '.join(others)}, no arguments of it: give them in p"
        ) from error
