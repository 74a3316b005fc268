"""A loop that acts as one kernel, in the place of a look-up: `row = get(solver, p)` (lookup.py).

    x, busy = start(p);   x, busy = step(p, x) while busy, at most `limit` times;
    row = (finish(p, x), status)                                                                          (1)

SX cannot loop, and iterations unrolled into SX would all be run, and be compiled again at every place. A
solver is compiled once. A state whose `busy` is zero leaves the loop: in lanes it is computed along and not
stored, so that it equals the scalar loop to the last bit. One whose `busy` is NaN leaves at once. Where the
loop did not end by itself the status is LIMIT or NAN, and all else in the row is NaN: nothing goes on with a
result that was not found.

A solver may ask others: start, step and finish may hold rows of tables and of solvers.

A derivative takes the row as constant: `condyle.native.sweeps.implicit` gives results of equations their
derivatives.
"""
from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER
from condyle.native.machine import cache
from condyle.native.straight.emit import add_kernel
from condyle.native.sweeps.lookup import Staged, lookups_in

OK, LIMIT, NAN = 0, 1, 2
"""What the status of a row says: found; still busy after `limit` rounds; `busy` became NaN."""


@dataclass(frozen=True, eq=False, repr=False)
class Solver:
    """See the module's text. Two of equal `text` are the same.

    Args:
        name: for messages and for the order in a stage: an identifier.
        start: p (needs,) -> x (n,), busy.
        step: p, x -> x, busy.
        finish: p, x -> results (width - 1,).
        limit: steps at most.
    """

    name: str
    start: ca.Function | Staged
    step: ca.Function | Staged
    finish: ca.Function | Staged
    limit: int

    @staticmethod
    def of(name: str, needs: int, start: Callable[[ca.SX], Sequence[Any]],
           step: Callable[[ca.SX, ca.SX], Sequence[Any]],
           finish: Callable[[ca.SX, ca.SX], Any], limit: int) -> Solver:
        """From Python functions of SX columns.

        Args:
            needs: size of p.
            start: start(p) -> x, busy.
            step: step(p, x) -> x, busy.
            finish: finish(p, x) -> results.
        """
        p = ca.SX.sym("p", needs)
        first = _columns(name, "start", start(p), 2)
        x = ca.SX.sym("x", first[0].numel())
        return Solver(name, _function(name, "start", [p], first),
                      _function(name, "step", [p, x], _columns(name, "step", step(p, x), 2)),
                      _function(name, "finish", [p, x], _columns(name, "finish", [finish(p, x)], 1)), limit)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise DescriptionError(f"Solver: the name {self.name!r} is no identifier, such as 'equilibrium'")
        if not isinstance(self.limit, int) or isinstance(self.limit, bool) or self.limit < 0:
            raise DescriptionError(f"Solver {self.name!r}: limit = {self.limit!r}; expected an integer, 0 or "
                                   "more")
        n = _sizes(self.start)[1][0]
        for part, ins, outs in (("start", [self.needs], [n, 1]), ("step", [self.needs, n], [n, 1]),
                                ("finish", [self.needs, n], [self.width - 1])):
            found = _sizes(getattr(self, part))
            if found != (ins, outs):
                raise DescriptionError(f"Solver {self.name!r}: {part} has sizes {found[0]} -> {found[1]}; "
                                       f"expected {ins} -> "
                                       f"{outs}")

    @property
    def needs(self) -> int:
        """Size of p."""
        return _sizes(self.start)[0][0]

    @property
    def width(self) -> int:
        """Size of the row: results, and the status."""
        return _sizes(self.finish)[1][0] + 1

    @cached_property
    def text(self) -> str:
        """What determines it, the same in every process."""
        parts = [self.name, *(f.text if isinstance(f, Staged) else f.serialize()
                                for f in (self.start, self.step, self.finish)), str(self.limit)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def __repr__(self) -> str:
        return f"Solver({self.name!r}, {self.needs} -> {self.width}, {self.text[:16]})"

    def n_instructions(self) -> int:
        """Operations of a run of four rounds."""
        return self.start.n_instructions() + 4 * self.step.n_instructions() + self.finish.n_instructions()

    def emit(self, module: Module) -> str:
        """Link `void @symbol(ptr p, ptr row, ptr work)`, once to a module; returns the symbol.

        It depends on no model, hence it is compiled once for all and has its own entry in the cache.
        """
        exact = "" if module.contract else ".exact"
        return module.define(f"solver.{self.name}.{self.text[:16]}.{module.lanes.W}{exact}",
                             lambda symbol: self._link(module, symbol))

    def _link(self, module: Module, symbol: str) -> int:
        """Link the machine code that is known, or write it and let it be compiled with the module."""
        key = f"{symbol}\n{self.text}"
        if (found := _known.get(key) or cache.fetch(key)) is not None:
            code, facts = found
            module.link(symbol, [POINTER] * 3, lambda: code)
            return int(facts["work"])
        own = Module(module.lanes.W, module.contract)
        work = self._write(own, symbol)
        module.link(symbol, [POINTER] * 3, lambda: _compiled(key, own, work))
        return work

    def _write(self, module: Module, symbol: str) -> int:
        """(1)"""
        L, n, last = module.lanes, _sizes(self.start)[1][0], self.width - 1
        masked = L.W > 1
        work = n + 1 + max(_add(module, f, f"{symbol}.{part}", masked and part == "step") for part, f in (
            ("start", self.start), ("step", self.step), ("finish", self.finish)))
        with module.function(symbol, [POINTER] * 3, internal=False) as b:
            p, row, x = b.arguments
            busy, rest = b.at(x, n * L.W), b.at(x, (n + 1) * L.W)
            b.call(f"{symbol}.start", p, x, busy, rest)
            with b.repeat() as k:
                flag = b.load(busy)
                # not of a lane that has left: its flag is 0 or NaN for good
                live = b.compare("one", flag, 0.0)
                b.leave_unless(b.any(live) & b.compare("ult", k, self.limit))
                b.call(f"{symbol}.step", p, x, x, busy, rest, *[live] * masked)
            b.call(f"{symbol}.finish", p, x, row, rest)
            status = b.select(b.compare("uno", flag, 0.0), float(NAN),
                              b.select(live, float(LIMIT), float(OK)))
            found = b.compare("oeq", status, float(OK))
            b.store(status, b.at(row, last * L.W))
            for j in range(last):
                place = b.at(row, j * L.W)
                b.store(b.select(found, b.load(place), math.nan), place)
        return work

    def evaluate(self, p: np.ndarray) -> np.ndarray:
        """Rows (width, states) at p (needs, states), by CasADi's evaluator."""
        x, busy = _evaluated(self.start, p)
        for _ in range(self.limit):
            live = ~np.isnan(busy[0]) & (busy[0] != 0)
            if not live.any():
                break
            after = _evaluated(self.step, p, x)
            x[:, live], busy[:, live] = after[0][:, live], after[1][:, live]
        status = np.where(np.isnan(busy[0]), NAN, np.where(busy[0] != 0, LIMIT, OK)).astype(float)
        results = _evaluated(self.finish, p, x)[0]
        return np.vstack([np.where(status == OK, results, np.nan), status])


def _sizes(f: ca.Function | Staged) -> tuple[list[int], list[int]]:
    """Of its inputs and outputs."""
    if isinstance(f, Staged):
        return f.inputs, f.outputs
    return [f.numel_in(k) for k in range(f.n_in())], [f.numel_out(k) for k in range(f.n_out())]


def _add(module: Module, f: ca.Function | Staged, name: str, masked: bool) -> int:
    return f.emit(module, name, masked=masked) if isinstance(f, Staged) else add_kernel(module, f, name,
                                                                                       masked=masked)


def _evaluated(f: ca.Function | Staged, *arguments: np.ndarray) -> list[np.ndarray]:
    """Outputs (size, states) at inputs (size, states), by CasADi's evaluator."""
    if isinstance(f, Staged):
        return f.evaluate(arguments)
    states = arguments[0].shape[1]
    given = [ca.DM(a) if a.size else ca.DM(0, states) for a in arguments]
    return [y.full() for y in f.map(states).call(given)]


_known: dict[str, tuple[bytes, dict[str, Any]]] = {}
"""Machine code of the last solvers that were compiled in this process: where nothing is kept on disk it
serves the next model."""
_MOST = 32


def _compiled(key: str, module: Module, work: int) -> bytes:
    if key not in _known:
        while len(_known) >= _MOST:
            _known.pop(next(iter(_known)))
        _known[key] = module.compile(), {"work": work}
        cache.store(key, *_known[key])
    return _known[key][0]


def _columns(name: str, part: str, results: Any, count: int) -> list[ca.SX]:
    if not isinstance(results, (tuple, list)) or len(results) != count:
        raise DescriptionError(f"Solver {name!r}: {part} returned {results!r}; expected x, busy")
    columns = [ca.densify(ca.vec(ca.SX(y))) for y in results]
    if count == 2 and columns[1].numel() != 1:
        raise DescriptionError(f"Solver {name!r}: {part} returned busy of size {columns[1].numel()}; "
                               "expected one number")
    return columns


def _function(name: str, part: str, arguments: list[ca.SX], results: list[ca.SX]) -> ca.Function | Staged:
    try:
        if lookups_in(results):
            return Staged(part, arguments, ca.cse(results))
        return ca.Function(part, arguments, results, {"cse": True})
    except RuntimeError as error:
        known = {s.element_hash() for a in arguments for s in ca.symvar(a)}
        others = [s.name() for s in ca.symvar(ca.vertcat(*results)) if s.element_hash() not in known]
        raise DescriptionError(f"Solver {name!r}: {part} uses {', '.join(others)}, no arguments of it: give "
                               "them in p") from error
