"""Jobs on workers: the work, unpickled once per process, and some members of a study."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from condyle.errors import DescriptionError
from condyle.native.machine import cache
from condyle.records import dataclass
from condyle.sweeps.member_table import Member
from condyle.sweeps.parts import Part, joined, of_results
from condyle.sweeps.summary import BLOCK, node_of
from condyle.table import Table


class Job(Protocol):
    """A work that computes the results of several members at once."""

    def answer(self, members: Table, seed: int) -> Part:
        """Results of members, whose indices are `members.time`."""
        ...


@dataclass(frozen=True)
class OneByOne:
    """A function of one member."""

    work: Callable[[Member], Any]

    def answer(self, members: Table, seed: int) -> Part:
        index, results, failures = [], [], {}
        for row, number in zip(members.values.tolist(), members.time, strict=True):
            i = int(number)
            try:
                found = self.work(Member(dict(zip(members.names, row, strict=True)), i, seed))
                of_results([i], [found])  # check that it can be stored
            except Exception as error:
                failures[i] = reason(error)
            else:
                index.append(i)
                results.append(found)
        part = of_results(index, results)
        part.failures = failures
        return part


@dataclass(frozen=True)
class ByChunk:
    """A function of a Table of members, whose results have one row each."""

    work: Callable[[Table], Any]

    def answer(self, members: Table, seed: int) -> Part:
        try:
            return self._part(members)
        except Exception as error:
            if len(members) == 1:
                return Part(np.empty(0, np.int64), failures={int(members.time[0]): reason(error)})
        half = len(members) // 2
        return joined([self.answer(members[:half], seed), self.answer(members[half:], seed)])

    def _part(self, members: Table) -> Part:
        found = self.work(members)
        if isinstance(found, Part):
            return found
        if isinstance(found, Table):
            found = {name: found[name] for name in found}
        single = not isinstance(found, Mapping)
        columns = {"value": found} if single else found
        part = Part(members.time.astype(np.int64), arrays=[{} for _ in range(len(members))], single=single)
        for name, value in columns.items():
            array = np.asarray(value)
            if array.ndim < 1 or len(array) != len(members):
                raise DescriptionError(
                    f"sweep: the result {name!r} of {len(members)} members has shape {array.shape}; expected "
                    f"({len(members)}, ...), one row each"
                )
            if array.ndim == 1 and array.dtype.kind in "biuf":
                part.numbers[name] = array.astype(float)
            else:
                for each, row in zip(part.arrays, array, strict=True):
                    each[name] = np.asarray(row)
        return part


@dataclass(frozen=True)
class Reduced:
    """A job that returns only a summary from the worker. The members are complete blocks; failed members
    are retried here.
    """

    job: Job
    retries: int

    def answer(self, members: Table, seed: int) -> Part:
        part, left = self.job.answer(members, seed), members
        parts, attempts = [part], 1
        while part.failures and attempts <= self.retries:
            left = left._with(rows=np.flatnonzero(np.isin(left.time, list(part.failures))))
            parts[-1].failures = {}
            parts.append(part := self.job.answer(left, seed))
            attempts += 1
        found = joined(parts)
        first, blocks = int(members.time[0]) // BLOCK, -(-len(members) // BLOCK)
        level = (blocks - 1).bit_length()
        nodes = {(level, first >> level): node_of(found.index, found.numbers, first, blocks)}
        out = Part(np.empty(0, np.int64), failures=part.failures, nodes=nodes)
        out.attempts = dict.fromkeys(out.failures, attempts)
        return out


def reason(error: BaseException) -> str:
    """Why a member failed, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:500]


def dumped(job: Job) -> bytes:
    """A job for another process: functions of a program itself and lambdas need cloudpickle.

    Raises:
        DescriptionError: it cannot be pickled.
    """
    try:
        import cloudpickle as pickler  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        pickler = pickle
    try:
        return bytes(pickler.dumps(job))
    except Exception as error:
        raise DescriptionError(
            f"sweep: the work cannot go to another process ({reason(error)}): make it a function of a module, or "
            "install cloudpickle, which dask brings along"
        ) from None


# ---- on a worker -------------------------------------------------------------------------------------------


@dataclass
class Payload:
    """A job with its machine code, for workers of one kind."""

    job: bytes
    kind: str = ""
    code: dict[str, bytes] = field(default_factory=dict)


@dataclass
class Reply:
    """Reply of a worker.

    Attributes:
        part: results of the members; None if the worker does not have the job yet.
        kind: the kind of machine code that it can use.
        code: machine code that the worker had to compile or load itself.
        seconds: time taken.
    """

    part: Part | None
    kind: str = ""
    code: dict[str, bytes] = field(default_factory=dict)
    seconds: float = 0.0


_loaded: dict[str, Job] = {}
"""The last job of this process, by name: its machine code remains loaded."""


def run(name: str, payload: Payload | None, members: Table, seed: int) -> Reply:
    """Results of some members."""
    begin = time.perf_counter()
    if name in _loaded:
        return Reply(_loaded[name].answer(members, seed), seconds=time.perf_counter() - begin)
    kind = cache.kind()
    if payload is None:
        return Reply(None, kind)
    same = bool(kind) and payload.kind == kind
    if same:
        cache.take(payload.code)
    before = cache.used()
    with cache.first(name):  # one process of a machine compiles
        job = pickle.loads(payload.job)
        part = job.answer(members, seed)
    _loaded.clear()
    _loaded[name] = job
    code = {} if same and payload.code else cache.exported_entries(cache.used() - before)
    return Reply(part, kind, code, time.perf_counter() - begin)


def ready() -> str:
    """The kind of machine code that a worker can use; loads everything."""
    return cache.kind()
