"""What runs on a worker: a work, unpickled once in each process, and some members of a study."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from condyle.errors import DescriptionError
from condyle.records import dataclass
from condyle.sweeps.parts import Part, joined, of_results
from condyle.sweeps.sample import Member
from condyle.table import Table


class Job(Protocol):
    """A work that answers for some members at once."""

    def answer(self, members: Table, seed: int) -> Part:
        """What comes of members, whose numbers are `members.time`."""
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
                of_results([i], [found])  # it can be kept
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


_loaded: dict[bytes, Job] = {}
"""The last job of this process: its machine code stays."""


def run(job: bytes, members: Table, seed: int) -> Part:
    """On a worker: what comes of some members."""
    if job not in _loaded:
        _loaded.clear()
        _loaded[job] = pickle.loads(job)
    return _loaded[job].answer(members, seed)
