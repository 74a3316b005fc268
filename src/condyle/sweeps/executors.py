"""Where a sweep runs: locally, in processes, in any executor of concurrent.futures, on a Dask cluster, in a
pool.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Protocol

from condyle.errors import DescriptionError
from condyle.native.machine.threads import cores

BLAS_THREADS = "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"
"""The first is that of all libraries, unless another says otherwise."""


class _Worker(SpawnProcess):
    """A process whose linear algebra takes one thread unless the user sets another number: as many threads as
    cores in as many processes wait for each other, and 40 subjects took five times as long.
    """

    def start(self) -> None:
        names = () if BLAS_THREADS[0] in os.environ else BLAS_THREADS
        added = [name for name in names if name not in os.environ]
        os.environ.update(dict.fromkeys(added, "1"))  # NumPy reads it when it is loaded
        try:
            super().start()
        finally:
            for name in added:
                os.environ.pop(name, None)


class _Context(SpawnContext):
    Process = _Worker


class Here(Executor):
    """Runs a task when it is submitted, in this thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The future is done."""
        future: Future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Pool(Protocol):
    """Interface of pools: those of multiprocessing, Ray, joblib, multiprocess."""

    def apply_async(self, func: Any, args: Any, kwds: Any, callback: Any, error_callback: Any) -> object:
        """Run a function, and call back."""
        ...


class OfPool(Executor):
    """A pool as an executor."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._max_workers = getattr(pool, "_processes", None)

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        """The future is done when the pool calls back."""
        future: Future = Future()
        future.set_running_or_notify_cancel()
        self.pool.apply_async(fn, args, kwargs, future.set_result, future.set_exception)
        return future


class DaskClient(Protocol):
    """Interface of a Client of dask.distributed."""

    def get_executor(self, **options: bool) -> Executor:
        """An executor like those of concurrent.futures."""
        ...

    def nthreads(self) -> dict[str, int]:
        """Threads of each worker."""
        ...


class Place:
    """An executor, its number of concurrent tasks, and how to restart it after its processes died.

    Args:
        executor: as in `cd.sweep`.
    """

    def __init__(self, executor: Any) -> None:
        self.given, self.client, self.owned = executor, None, False
        self.remote = executor is not None
        self.workers = 1
        self.executor: Executor = Here()
        if executor is None:
            return
        if isinstance(executor, str) and "://" in executor:
            self.client, self.owned = _client(executor), True
        elif hasattr(executor, "get_executor") and hasattr(executor, "nthreads"):
            self.client = executor
        elif executor != "processes" and not hasattr(executor, "submit"):
            if not hasattr(executor, "apply_async"):
                raise DescriptionError(
                    "sweep: executor: expected None, 'processes', an executor of concurrent.futures, a Dask "
                    f"Client or its address such as 'tcp://10.0.0.1:8786', or a pool, got {executor!r}"
                )
            self.given = OfPool(executor)
        self.begin()

    def begin(self) -> bool:
        """Start the executor; returns whether a broken one can be restarted."""
        if self.client is not None:
            self.executor = self.client.get_executor(pure=False)
            self.workers = max(1, sum(self.client.nthreads().values()))
            return False
        if self.given == "processes":
            self.workers = cores()
            self.executor = ProcessPoolExecutor(self.workers, mp_context=_Context(), initializer=_worker)
            return True
        self.executor = self.given
        self.workers = getattr(self.given, "_max_workers", None) or cores()
        return False

    def count(self) -> int:
        """Current number of concurrent tasks: workers of a cluster come and go."""
        if self.client is not None:
            self.workers = max(1, sum(self.client.nthreads().values()))
        return self.workers

    def close(self) -> None:
        """Shut down the executor if it was started here."""
        if self.given == "processes":
            self.executor.shutdown(wait=True, cancel_futures=True)
        if self.owned and self.client is not None:
            self.client.close(timeout=2)


def _client(address: str) -> Any:
    try:
        from distributed import Client  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as error:
        raise ImportError(
            f"executor={address!r} needs dask.distributed: pip install 'condyle[cluster]'", name="distributed"
        ) from error
    return Client(address, set_as_default=False)


def _worker() -> None:
    """Initialize a worker process: only the parent handles Ctrl-C, and the worker ends if the parent is
    killed.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
