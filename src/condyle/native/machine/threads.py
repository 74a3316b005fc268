"""Threads for large batches. Created on first use, never inherited by a fork."""

from __future__ import annotations

import contextlib
import operator
import os
import sys
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import condyle.settings as settings
from condyle.errors import DescriptionError

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_forked = False


def cores() -> int:
    """Processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def thread_count(asked: int | None = None) -> int:
    """Number of threads for a batch: the argument, else CONDYLE_THREADS, else the number of cores.

    A forked process always uses one, and a worker of multiprocessing one unless its call requests more,
    because its siblings use the other cores.
    """
    if asked is not None:
        try:
            count = 0 if isinstance(asked, bool) else operator.index(asked)
        except TypeError:
            count = 0
        if count < 1:
            raise DescriptionError(f"threads: expected a whole number from 1 on, or None, got {asked!r}")
        return 1 if _forked else count
    wish = settings.threads()
    if _forked or _is_worker():
        return 1
    return wish or cores()


def _is_worker() -> bool:
    multiprocessing = sys.modules.get("multiprocessing")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def run(tasks: Sequence[Callable[[], None]]) -> None:
    """Run all tasks at once, the first in this thread. Returns, or raises the first error, when all have
    ended."""
    futures = submit(tasks[1:])
    try:
        for task in (tasks[0], *tasks[1 + len(futures) :]):
            task()
    finally:
        errors = [future.exception() for future in futures]
    for error in errors:
        if error is not None:
            raise error


def submit(tasks: Sequence[Callable[[], None]]) -> list[Future]:
    """Submit tasks to other threads. Tasks rejected because the interpreter is ending are not in the
    returned list."""
    global _pool, _pool_size
    futures: list[Future] = []
    with _lock, contextlib.suppress(RuntimeError):
        if _pool is None or _pool_size < len(tasks):
            if _pool is not None:
                _pool.shutdown(wait=False)
            _pool_size = max(len(tasks), cores() - 1)
            from concurrent.futures import ThreadPoolExecutor

            _pool = ThreadPoolExecutor(_pool_size, thread_name_prefix="condyle")
        for task in tasks:
            futures.append(_pool.submit(task))
    return futures


def _after_fork() -> None:
    """Forget the parent's threads, which do not exist in this process."""
    global _lock, _pool, _pool_size, _forked
    _lock, _pool, _pool_size, _forked = threading.Lock(), None, 0, True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
