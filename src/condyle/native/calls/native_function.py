"""Compiled functions of vectors, for one state or a million.

The first call with one state compiles a scalar kernel; the first call with a large batch compiles the same
kernel for W lanes. Either may come from the cache on disk, and then the expressions are not even built. With
CONDYLE_EVALUATOR=casadi nothing is compiled: CasADi's evaluator runs the expressions, for debugging and
comparison.

Inside `compile_when_it_pays` machine code is made when it would have saved time: until then CasADi's evaluator runs
the expressions. Its sums and products are rounded apart where machine code may fuse them, so that results differ by
some units of rounding of the largest terms.
"""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

import condyle.settings as settings
from condyle.arrays import Entries, complaint, place, unusable, vector
from condyle.errors import NativeError, ShapeError
from condyle.native.calls.finite_check import FiniteArgument
from condyle.native.calls.gufunc import InnerLoop, add_loop
from condyle.native.fastcall import structures
from condyle.native.fastcall.builtin import DirectCall, add_call, make_builtin
from condyle.native.ir.module import Module
from condyle.native.machine import cache, jit, notice, threads
from condyle.native.machine.data import NONE, DerivedData
from condyle.native.straight.data import evaluated_at, function
from condyle.native.straight.kernel_function import KernelFunction, effort, evaluate
from condyle.native.tables.lookup import lookup_context
from condyle.records import dataclass

# smallest batch that uses lanes; the same on every machine
SIMD_FROM = 16
# operations that justify a thread, about 0.1 ms of lanes
THREAD_WORK = 4_000_000

# time of an evaluation by CasADi: per call of a function, and per operation and state [s]; time to make
# machine code: per operation, and the rest [s]
_CALL, _OPERATION = 35e-6, 7e-9
_COMPILED_OPERATION, _COMPILED = 20e-6, 30e-3

Refusal = Callable[[tuple[Any, ...], list[np.ndarray], np.ndarray], None]

_compiling = threading.RLock()
_held: list[Any] = []


def _before_fork() -> None:
    """Wait for other threads to leave LLVM: a child that inherits its lock would deadlock."""
    _compiling.acquire()
    loaded = sys.modules.get("llvmlite.binding.ffi")
    lock = getattr(getattr(loaded, "lib", None), "_lock", None)
    if lock is not None:
        lock.__enter__()
        _held.append(lock)


def _after_fork() -> None:
    while _held:
        _held.pop().__exit__(None, None, None)
    _compiling.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


_sparing: ContextVar[bool] = ContextVar("compile when it pays", default=False)


@contextmanager
def compile_when_it_pays() -> Iterator[None]:
    """Context of a job that may evaluate functions for a few states only: CasADi evaluates them until that
    has taken as long as compiling would. A function that an earlier process has used already is compiled at
    once, so that the next process finds it in the cache."""
    before = _sparing.set(True)
    try:
        yield
    finally:
        _sparing.reset(before)


@dataclass(frozen=True)
class CompileReport:
    """Time and source of a function's machine code.

    Args:
        build: seconds building expressions.
        emit: seconds writing LLVM IR.
        compile: seconds in LLVM.
        load: seconds reading from the cache and linking.
        kernels: lanes of each kernel made, in order.
        from_cache: whether each came from the cache.
        operations: scalar operations for one state.
    """

    build: float = 0.0
    emit: float = 0.0
    compile: float = 0.0
    load: float = 0.0
    kernels: tuple[int, ...] = ()
    from_cache: tuple[bool, ...] = ()
    operations: int = 0

    @property
    def cached(self) -> bool:
        """True if there is machine code and all of it came from the cache."""
        return bool(self.kernels) and all(self.from_cache)

    @property
    def seconds(self) -> float:
        return self.build + self.emit + self.compile + self.load


class NativeFunction:
    """A compiled function of vectors, one state or a million.

    Expressions are built at the first call, unless the key is in the cache.

    Args:
        name: for messages.
        build: returns the expressions: a CasADi Function of dense column vectors with the sizes below, or a
            Composite.
        key: text that identifies the result of `build`.
        inputs: names and sizes of the arguments.
        outputs: names and sizes of the results.
        contract: allow fused multiply-add.
        refuse: the last output is a status, one number. It is not among the results; if it is not zero,
            `refuse(arrays, results, status)` is called with arguments, results and statuses (..., 1), and
            should raise an error.
        direct: also prepare `direct`, with the last input fixed, and its calling convention.
        wide: returns the expressions arranged for lanes, if another arrangement than `build`'s is faster.
        entries: names of the entries of some inputs. These accept labels and must be finite: a ShapeError
            names the first entry that is not, and has the results of the other states.
        data: numbers that the expressions hold as data (straight/data.py); the key does not depend on them.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[], KernelFunction],
        *,
        key: str,
        inputs: Sequence[tuple[str, int]],
        outputs: Sequence[tuple[str, int]],
        contract: bool = True,
        refuse: Refusal | None = None,
        direct: DirectCall | None = None,
        wide: Callable[[], KernelFunction] | None = None,
        entries: Mapping[str, Entries] = MappingProxyType({}),
        data: np.ndarray = NONE,
    ) -> None:
        self.name, self.inputs, self.outputs = name, tuple(inputs), tuple(outputs)
        self.optional = direct is not None and direct.optional
        self._evaluator = _Evaluator(
            name,
            build,
            wide or build,
            key,
            self.inputs,
            self.outputs,
            contract,
            refuse,
            direct,
            entries,
            data,
        )

    def __repr__(self) -> str:
        ins, outs = (", ".join(f"{n}({s})" for n, s in side) for side in (self.inputs, self.outputs))
        return f"NativeFunction({self.name}: {ins} -> {outs})"

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """One array for each output, a tuple if there are several: (..., size), as the arrays (..., size)
        broadcast.

        Args:
            arrays: one for each input, in order.
            out: array, or tuple of arrays, to write into; may share memory with the inputs.
            threads: largest number of threads; default CONDYLE_THREADS, else the number of cores, and fewer
                for small batches.
        """
        return self._evaluator(*arrays, out=out, threads=threads)

    def fast(self, *arrays: Any) -> Any:
        """Call with positional arrays only, with the least overhead.

        Get this attribute at every call: once the scalar kernel is compiled, a native builtin replaces
        this method. It passes float64 vectors directly to the kernel and everything else to `__call__`.
        """
        result = self._evaluator(*arrays)
        builtin = self._evaluator.builtin()
        if builtin is not None:
            self.__dict__["fast"] = builtin
        return result

    def one_by_one(self, *arrays: Any) -> Any:
        """Call the kernel for one state repeatedly, if compiling that for lanes would take longer than it
        saves.
        """
        return self._evaluator(*arrays, threads=1, lanes=False)

    def direct(
        self, slow: Callable[..., Any], last: np.ndarray, like: Callable[..., Any] | None = None
    ) -> Callable[..., Any] | None:
        """A builtin like `fast` that takes the last input from `last` and passes unsupported calls, also
        keywords, to `slow`. None until the scalar kernel exists.
        """
        return self._evaluator.builtin(slow, last, like)

    @property
    def report(self) -> CompileReport:
        """Times of building and compiling so far."""
        return self._evaluator.report


@dataclass(eq=False)
class _Evaluator:
    """Common parts of a NativeFunction and its builtin. It refers to neither, so that no reference cycle
    keeps machine code alive."""

    name: str
    build: Callable[[], KernelFunction]
    wide: Callable[[], KernelFunction]
    key: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    contract: bool
    refuse: Refusal | None
    direct: DirectCall | None
    entries: Mapping[str, Entries]
    data: np.ndarray

    def __post_init__(self) -> None:
        self._entries = [self.entries.get(name) for name, _ in self.inputs]
        self._watched = [
            FiniteArgument(k, size, tuple(part.start for _, part in e.quaternions))
            for k, ((_, size), e) in enumerate(zip(self.inputs, self._entries))
            if e is not None
        ]
        self._function: KernelFunction | None = None
        self._built: Callable[[], KernelFunction] | None = None  # what made it
        self._interpreted = 0.0  # [s] of CasADi's evaluator
        self._asked: set[int] = set()  # lanes that earlier processes or this one have used
        self._loops: dict[int, InnerLoop] = {}
        self._casadi: bool | None = None
        self.report = CompileReport()

    # -- calling

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None, lanes: bool = True) -> Any:
        rows, batch = self._arguments(arrays)
        states = math.prod(batch)
        results = [np.empty((*batch, size)) for _, size in self.outputs]
        targets = None if out is None else self._targets(out, batch)
        if targets is not None:
            results[: len(targets)] = [t if _usable(t, rows) else r for t, r in zip(targets, results)]
        fine = not states or self._run(
            [_flat(a, batch, states) for a in rows],
            [r.reshape(states, r.shape[-1]) for r in results],
            states,
            threads,
            lanes,
        )
        status = results.pop() if self.refuse is not None else None
        if not fine:
            self._check_finite(rows, batch, results)
        if status is not None and self.refuse is not None and status.any():
            self.refuse(tuple(rows), results, status)
        if targets is not None:
            for target, result in zip(targets, results):
                if target is not result:
                    np.copyto(target, result, casting="same_kind")
            results = targets
        return results[0] if len(results) == 1 else tuple(results)

    def _arguments(self, arrays: tuple[Any, ...]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """float64 arrays with the right last dimension, and their broadcast leading shape."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(name for name, _ in self.inputs)
            raise ShapeError(f"{self.name}: expected {len(self.inputs)} arrays ({names}), got {len(arrays)}")
        rows = [
            x
            if type(x) is np.ndarray
            and x.dtype == np.float64
            and x.ndim
            and x.shape[-1] == size
            and x.flags.aligned
            else np.require(vector(f"{self.name}: {name}", x, size, e), np.float64, "A")
            for (name, size), x, e in zip(self.inputs, arrays, self._entries)
        ]
        shapes = {a.shape[:-1] for a in rows} - {()}
        if len(shapes) < 2:
            return rows, shapes.pop() if shapes else ()
        try:
            return rows, np.broadcast_shapes(*shapes)
        except ValueError:
            called = {"tail": "t, parameters and other options"}
            got = ", ".join(
                f"{name} {a.shape}" if name not in called else f"{called[name]} {a.shape[:-1]}"
                for (name, _), a in zip(self.inputs, rows)
                if a.ndim > 1
            )
            raise ShapeError(
                f"{self.name}: shapes do not broadcast before their last dimension: {got}; give "
                "as many rows of each, or one"
            ) from None

    def _check_finite(
        self, rows: list[np.ndarray], batch: tuple[int, ...], results: list[np.ndarray]
    ) -> None:
        """Raise ShapeError if some watched argument is not finite in some state; the results there become
        NaN."""
        looked = [
            (self.inputs[w.place][0], rows[w.place], e)
            for w in self._watched
            if (e := self._entries[w.place]) is not None
        ]
        bad = np.zeros(batch, dtype=bool)
        for _, a, e in looked:
            bad |= unusable(a, e)
        if not bad.any():
            return
        where = tuple(map(int, np.argwhere(bad)[0])) if batch else ()
        for result in results:
            result[bad] = np.nan
        for name, a, e in looked:
            if text := complaint(np.broadcast_to(a, (*batch, a.shape[-1]))[where], e):
                raise ShapeError(
                    f"{self.name}: {name}: {text}{place(where, bad)}",
                    results[0] if len(results) == 1 else tuple(results),
                )

    def _targets(self, out: Any, batch: tuple[int, ...]) -> list[np.ndarray]:
        targets = list(out) if isinstance(out, tuple) else [out]
        wanted = self.outputs if self.refuse is None else self.outputs[:-1]
        if len(targets) != len(wanted):
            raise ShapeError(f"{self.name}: out: expected {len(wanted)} arrays, got {len(targets)}")
        for (name, size), target in zip(wanted, targets):
            shape = (*batch, size)
            if not isinstance(target, np.ndarray):
                raise ShapeError(f"{self.name}: out {name}: expected an array, got {type(target).__name__}")
            if target.shape != shape:
                raise ShapeError(f"{self.name}: out {name}: expected {shape}, got {target.shape}")
            if not target.flags.writeable:
                raise ShapeError(f"{self.name}: out {name}: the array is read-only")
            if target.dtype.kind != "f":
                raise ShapeError(
                    f"{self.name}: out {name}: expected floating-point numbers, got {target.dtype}"
                )
        return targets

    def _run(
        self, rows: list[np.ndarray], results: list[np.ndarray], states: int, asked: int | None, lanes: bool
    ) -> bool:
        """Fill results (states, size) from rows (states, size), or (size,) for one row for all. Returns
        whether all watched inputs are certainly finite.
        """
        count = threads.thread_count(asked) if asked is not None else 0
        if self._use_casadi():
            self._run_casadi(rows, results, states, self.wide)
            return False
        W = jit.lane_width() if lanes and states >= SIMD_FROM else 1
        loop = self._loops.get(W)
        if loop is None and _sparing.get() and self._is_cheaper_interpreted(W, states):
            self._run_casadi(rows, results, states, self.build if W == 1 else self.wide)
            return False
        loop = loop or self._compile(W)
        if asked is None and (count := 1 + states * self.report.operations // THREAD_WORK) > 1:
            count = min(count, threads.thread_count())
        blocks = -(-states // W)
        count = min(count, blocks)
        before = loop.spoiled
        if count == 1:
            loop(rows, results)
        else:
            cuts = [blocks * k // count * W for k in range(count)] + [states]
            parts = [slice(a, b) for a, b in itertools.pairwise(cuts)]
            threads.run(
                [
                    partial(loop, [x if x.ndim == 1 else x[part] for x in rows], [y[part] for y in results])
                    for part in parts
                ]
            )
        return loop.spoiled == before

    # -- making machine code

    def builtin(
        self, slow: Any = None, last: np.ndarray | None = None, like: Callable[..., Any] | None = None
    ) -> Callable[..., Any] | None:
        """The builtin over the scalar kernel, if that exists; with the last input fixed, if it is given."""
        if 1 not in self._loops or not structures.works():
            return None
        library = self._loops[1].library
        if last is None:
            return make_builtin(library, "call", self.name, self)
        names = self.direct.names if self.direct else ()
        return make_builtin(library, "direct", self.name, slow, last, like, names)

    def _key(self, W: int) -> str:
        ins, outs = [size for _, size in self.inputs], [size for _, size in self.outputs]
        entries = f"status={self.refuse is not None} {self.direct} {self._watched}"
        return f"{self.name}\n{ins} -> {outs}\nW={W} contract={self.contract} {entries}\n{self.key}"

    def _load(self, W: int) -> InnerLoop | None:
        """The loop of a kernel from the cache, if it has one."""
        start = time.perf_counter()

        def load(code: bytes, facts: Mapping[str, Any]) -> tuple[InnerLoop, int] | None:
            if facts.get("asked"):  # by a process that did not compile it
                return None
            return self._loop(code, facts), int(facts["operations"])

        found = cache.loaded(self._key(W), load)
        if found is not None:
            self._take(W, *found, start, True)
        return self._loops.get(W)

    def _loop(self, code: bytes, facts: Mapping[str, Any]) -> InnerLoop:
        ins, outs = [size for _, size in self.inputs], [size for _, size in self.outputs]
        library = jit.Library(code, numbers=self.data, needs=facts.get("data"))
        return InnerLoop(library, "loop", self.name, ins, outs)

    def _take(self, W: int, loop: InnerLoop, operations: int, start: float, cached: bool) -> None:
        old = self.report
        self.report = replace(
            old,
            load=old.load + time.perf_counter() - start,
            kernels=(*old.kernels, W),
            from_cache=(*old.from_cache, cached),
            operations=operations,
        )
        self._loops[W] = loop
        if len(self._loops) == 2:
            self._function = None

    def _compile(self, W: int) -> InnerLoop:
        with _compiling:
            if W in self._loops:  # another thread was faster
                return self._loops[W]
            if (loop := self._load(W)) is not None:
                return loop
            ins, outs = [size for _, size in self.inputs], [size for _, size in self.outputs]
            with notice.compiling(self.name):
                code, facts = self._machine_code(W, ins, outs)
            cache.store(self._key(W), code, facts)
            start = time.perf_counter()
            loop = self._loop(code, facts)
            self._take(W, loop, int(facts["operations"]), start, False)
            return loop

    def _is_cheaper_interpreted(self, W: int, states: int) -> bool:
        """Whether the total time of CasADi's evaluator, this call included, is less than that of compiling.
        False if machine code exists, or if another process has used this function too."""
        with _compiling:
            if W in self._loops:
                return False
            if W not in self._asked:
                self._asked.add(W)
                if cache.fetch(self._key(W)) is not None:
                    return False
                cache.store(self._key(W), b"", {"asked": True})
                self._asked.add(-W)  # by this process
            if -W not in self._asked:
                return False
            f = self._expressions(self.build if W == 1 else self.wide)
            calls, written = effort(f)
            self._interpreted += calls * _CALL + states * f.n_instructions() * _OPERATION
            return self._interpreted <= _COMPILED + written * _COMPILED_OPERATION

    def _machine_code(self, W: int, ins: list[int], outs: list[int]) -> tuple[bytes, dict[str, Any]]:
        f = self._expressions(self.build if W == 1 else self.wide)
        start = time.perf_counter()
        module = Module(W, self.contract)
        module.derived = DerivedData()
        from condyle.native.straight.kernel_writer import add_kernel  # not where code comes from the cache

        work = add_kernel(module, f, "kernel")
        add_loop(module, "loop", "kernel", ins, outs, work, self._watched)
        if W == 1:
            given = "kernel", ins, outs, work
            options: dict[str, Any] = {"status": self.refuse is not None, "watched": self._watched}
            add_call(module, "call", *given, **options)
            if self.direct:
                add_call(module, "direct", *given, **options, direct=self.direct)
        emitted = time.perf_counter()
        code = module.compile()
        old = self.report
        self.report = replace(
            old, emit=old.emit + emitted - start, compile=old.compile + time.perf_counter() - emitted
        )
        return code, {"operations": f.n_instructions(), "data": module.needs}

    def _expressions(self, build: Callable[[], KernelFunction]) -> KernelFunction:
        """The result of `build`, checked, made dense and expanded to scalars."""
        if self._function is not None and self._built is build:
            return self._function
        start = time.perf_counter()
        with lookup_context():
            f = build()
        if isinstance(f, ca.Function):
            f = self._dense(f)
        elif not hasattr(f, "emit"):
            raise NativeError(f"{self.name}: build() returned {type(f).__name__}, expected a casadi.Function")
        else:
            sizes = [[size for _, size in side] for side in (self.inputs, self.outputs)]
            if [f.inputs, f.outputs] != sizes:
                raise NativeError(
                    f"{self.name}: build() made {f.inputs} -> {f.outputs}, expected {sizes[0]} -> {sizes[1]}"
                )
        self.report = replace(self.report, build=self.report.build + time.perf_counter() - start)
        self._function, self._built = f, build
        return f

    def _dense(self, f: ca.Function) -> ca.Function:
        """The function, checked and expanded to scalars, with dense arguments and results."""
        for word, args, shapes in (
            ("input", self.inputs, [f.size_in(k) for k in range(f.n_in())]),
            ("output", self.outputs, [f.size_out(k) for k in range(f.n_out())]),
        ):
            if len(args) != len(shapes):
                raise NativeError(
                    f"{self.name}: build() made {len(shapes)} {word}s, expected {len(args)}: {args}"
                )
            for (name, size), shape in zip(args, shapes):
                if shape != (size, 1) and not (size == 0 and 0 in shape):
                    raise NativeError(
                        f"{self.name}: build() made {word} {name} of shape {shape}, expected {(size, 1)}"
                    )
        if not f.is_a("SXFunction"):
            f = f.expand()
        sparsities = [*map(f.sparsity_in, range(f.n_in())), *map(f.sparsity_out, range(f.n_out()))]
        if not all(sparsity.is_dense() for sparsity in sparsities):
            arguments = [ca.SX.sym(f"i{k}", *f.size_in(k)) for k in range(f.n_in())]
            f = function(f.name(), arguments, [ca.densify(y) for y in f.call(arguments)])
        return f

    # -- CasADi's evaluator

    def _use_casadi(self) -> bool:
        if self._casadi is None:
            self._casadi = settings.evaluator() == "casadi"
        return self._casadi

    def _run_casadi(
        self,
        rows: list[np.ndarray],
        results: list[np.ndarray],
        states: int,
        build: Callable[[], KernelFunction],
    ) -> None:
        with _compiling:
            f = self._expressions(build)
            arguments = [np.broadcast_to(a, (states, a.shape[-1])).T for a in rows]
            with evaluated_at(self.data):
                values = evaluate(f, *arguments, states=states)
        for result, value in zip(results, values):
            if result.size:
                result[...] = value.T


def _flat(a: np.ndarray, batch: tuple[int, ...], states: int) -> np.ndarray:
    """(..., size) as (states, size), or as (size,) for one row for all."""
    if a.ndim == 1:
        return a
    size = a.shape[-1]
    if a.shape[:-1] == batch:
        return a if a.ndim == 2 else a.reshape(states, size)
    return np.broadcast_to(a, (*batch, size)).reshape(states, size)


def _usable(target: np.ndarray, rows: list[np.ndarray]) -> bool:
    """True if native code may write straight into the array."""
    flags = target.flags
    return (
        target.dtype == np.float64
        and target.dtype.isnative
        and flags.c_contiguous
        and flags.aligned
        and not any(np.may_share_memory(target, a) for a in rows)
    )
