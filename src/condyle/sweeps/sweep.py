"""`cd.sweep`: run a work for many members, locally or elsewhere, and store results as they arrive.

The result of a member depends on that member alone, so results do not depend on the executor, the chunks,
their order or the number of workers. The process that calls `cd.sweep` writes the store; workers only return
results.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from condyle.arrays import is_whole
from condyle.errors import DescriptionError
from condyle.integrate.progress import reported
from condyle.sweeps import jobs
from condyle.sweeps.digest import digest
from condyle.sweeps.dispatch import Dispatch
from condyle.sweeps.executors import DaskClient, Place, Pool
from condyle.sweeps.member_table import Member, Sample
from condyle.sweeps.result import Sweep
from condyle.sweeps.simulation import ChunkMeasures, Measure, Simulation
from condyle.sweeps.store import Store
from condyle.sweeps.summary import Nodes
from condyle.table import Table

if TYPE_CHECKING:
    pass


def sweep(
    work: Simulation | Callable[[Member], object] | Callable[[Table], object],
    members: Table,
    *,
    executor: str | Executor | DaskClient | Pool | None = None,
    store: str | Path | None = None,
    chunk: int | None = None,
    retries: int = 2,
    measures: Mapping[str, Measure] | None = None,
    batched: bool | None = None,
    reduce: bool = False,
    seed: int | None = None,
    progress: bool | Callable[[float], object] = False,
) -> Sweep:
    """Run a work for many members: locally, in processes, or on a cluster. Results do not depend on the
    executor, the order or the chunks. A failed member has a row with the reason. Ctrl-C returns the
    finished members; with a store, a second call continues where the first ended.

    Args:
        work: a `cd.Simulation`, which is fastest; or a function of a member (a dict of its quantities, with
            `index` and `random()`) that returns a number, text, array, Table, Trajectory, or a dict of these;
            or, with `batched`, a function of a Table of members that returns arrays with one row each. A
            Trajectory is kept as its Table.
        members: from `cd.members`, or a Table with one row per member.
        executor: None runs in this process; "processes" in one process per core; or an Executor like those of
            concurrent.futures (joblib's loky, MPI's), a Dask Client, or its address "tcp://...", used as
            given, or a pool with `apply_async` (multiprocessing's, Ray's).
        store: a folder for results, written as they arrive.
        chunk: members per task; automatic by default.
        retries: number of retries of a member that failed, or whose process died.
        measures: for a Simulation, by name: a variable, for its final value, a function of the Ensemble with
            one row per member, or a function of each Trajectory, if its argument is named traj. All variables
            at the end by default.
        batched: whether the function takes a Table; by default, whether its argument is called members.
        reduce: keep only a summary of the numbers (means, quantiles, histograms), computed on the workers, as
            `sweep.summary`.
        seed: seed of `member.random()`; that of the members by default.
        progress: True shows a bar with rate, time left and failures; a function is called with the share done.

    Raises:
        DescriptionError: invalid arguments; a store that holds another study.
    """
    table = _checked(members)
    for name, value, least in (("chunk", chunk, 1), ("retries", retries, 0)):
        if value is not None and not is_whole(value, least):
            raise DescriptionError(f"sweep: {name}: expected a whole number from {least} on, got {value!r}")
    seed = int(getattr(members, "seed", 0) if seed is None else seed)
    place = Place(executor)
    try:
        job, named = _job(work, measures, batched, 1 if place.remote else None)
        if reduce:
            job = jobs.Reduced(job, retries)
        kept = None
        if store is not None:
            manifest = {"name": named, "count": len(table), "seed": seed}
            manifest |= {
                "work": digest(work, dict(measures or {})),
                "members": digest(table),
                "reduce": reduce,
            }
            kept = Store(store, manifest, table)
        result = Sweep(members, kept)
        result._nodes = Nodes(len(table)) if reduce else None
        result._work, result._measures = work, measures
        try:
            dispatch = Dispatch(result, job, table, seed, place, kept, chunk, retries)
            report, stop = reported("sweep", progress)
            try:
                dispatch.go(report)
            finally:
                stop()
        finally:
            if kept is not None:
                with contextlib.suppress(OSError):
                    kept.log(f"ended: {result.status}")
                kept.close()
        return result
    finally:
        place.close()


def _checked(members: Any) -> Table:
    if not isinstance(members, Table) or not len(members):
        raise DescriptionError(
            f"sweep: members: expected a Table with rows, from cd.members, got {members!r}"
        )
    return Sample(members.names, members.values, members.units)


def _job(work: Any, measures: Any, batched: bool | None, threads: int | None) -> tuple[jobs.Job, str]:
    """The job of the workers, and its name."""
    if isinstance(work, Simulation):
        return ChunkMeasures(work, measures, threads), "Simulation"
    if measures is not None:
        raise DescriptionError(
            "sweep: measures= are for a cd.Simulation; a function returns what it measures"
        )
    if not callable(work):
        raise DescriptionError(
            f"sweep: work: expected a function of a member, or a cd.Simulation, got {work!r}"
        )
    name = getattr(work, "__qualname__", type(work).__name__)
    if batched is None:
        try:
            batched = next(iter(inspect.signature(work).parameters), "") == "members"
        except ValueError:
            batched = False
    return (jobs.ByChunk(work) if batched else jobs.OneByOne(work)), name
