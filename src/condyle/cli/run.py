"""`condyle run`: setup files of OpenSim's tools, in order or several at once."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import condyle
from condyle.cli.terminal import Bar, say, say_table
from condyle.errors import CondyleError
from condyle.native.machine.ctrl_c import patient
from condyle.opensim.setup import run_setup
from condyle.opensim.setup.run import needs
from condyle.opensim.setup.setup_file import Report

Needs = dict[Path, list[Path]]
"""Files that must be done before each."""
Later = dict[Path, list[str]]
"""Messages on files that each reads and a later one writes."""
SHOWN = 8
"""Number of notes of a file that are shown."""


def begin(setups: Sequence[Path], jobs: int | None) -> None:
    """The command: run setup files, and end with 1 if one fails."""
    print(f"Condyle {condyle.__version__}: {len(setups)} setup file{'s' * (len(setups) > 1)}", flush=True)
    if not run(setups, jobs):
        raise SystemExit(1)


def run(setups: Sequence[Path], jobs: int | None) -> bool:
    """Run setup files; one that fails does not stop the others. Returns True if none failed.

    Args:
        setups: the files.
        jobs: number that run at once; the number of cores if None.
    """
    setups = list(dict.fromkeys(setups))
    jobs = min(len(setups), jobs or os.cpu_count() or 1)
    needed, later = needs(setups)
    with patient():
        done = _one_by_one(setups, needed, later) if jobs <= 1 else _at_once(setups, needed, later, jobs)
    failed = [path for path, error in done.items() if error]
    if len(setups) > 1:
        print()
        say(
            "",
            f"{len(done) - len(failed)} of {len(setups)} done"
            + (f"; failed: {', '.join(map(str, failed))}" if failed else ""),
        )
    return not failed


def _one_by_one(setups: Sequence[Path], needed: Needs, later: Later) -> dict[Path, str]:
    """Errors, by file."""
    done: dict[Path, str] = {}
    bar = Bar(len(setups))
    for path in setups:
        begin = time.perf_counter()

        def tell(step: str, begin: float = begin) -> None:
            _tell(bar, begin, step)

        print(f"{path}", flush=True)
        lost = _lost(path, needed, done)
        with bar:
            report, done[path] = (None, lost) if lost else attempt(path, tell)
        bar.done += 1
        _show(report, done[path], later[path])
    return done


def _tell(bar: Bar, begin: float, step: str) -> None:
    """Report the start of a step: in the bar, or as a line without one."""
    if bar.on:
        bar.show(step)
    else:
        print(f"  {time.perf_counter() - begin:6.1f} s  {step}", flush=True)


def _lost(path: Path, needed: Needs, done: dict[Path, str]) -> str:
    """Why a file is not run: its input from another file does not exist."""
    failed = [str(other) for other in needed[path] if done.get(other)]
    return f"not run: it needs the output of {', '.join(failed)}, which failed" if failed else ""


def _at_once(setups: Sequence[Path], needed: Needs, later: Later, jobs: int) -> dict[Path, str]:
    """Run several at a time, each in its own process, and report their steps. A file that depends on another
    one waits for it."""
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from multiprocessing import get_context

    done: dict[Path, str] = {}
    os.environ.setdefault("CONDYLE_THREADS", str(max(1, (os.cpu_count() or 1) // jobs)))
    context = get_context("spawn")
    told = context.Queue()
    begin = time.perf_counter()

    bar = Bar(len(setups))

    def tell() -> None:
        for path, step in iter(told.get, None):
            _tell(bar, begin, f"{path}: {step}")

    def ended(path: Path, report: Report | None, error: str) -> None:
        done[path] = error
        bar.clear()
        bar.done = len(done)
        print(f"[{len(done)}/{len(setups)}] {path}", flush=True)
        _show(report, error, later[path])

    teller = Thread(target=tell, daemon=True)
    teller.start()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_listen, initargs=(told,))
    waiting = list(setups)
    running: dict[Any, Path] = {}
    try:
        while waiting or running:
            for path in [p for p in waiting if all(other in done for other in needed[p])]:
                waiting.remove(path)
                if lost := _lost(path, needed, done):
                    ended(path, None, lost)
                    continue
                with _deaf():
                    running[pool.submit(_attempt_told, path)] = path
            if not running:
                continue
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                path = running.pop(future)
                try:
                    report, error = future.result()
                except Exception as lost_process:  # the process has died
                    report, error = None, f"{type(lost_process).__name__}: {lost_process}"
                ended(path, report, error)
    except BaseException:  # Ctrl-C: start nothing else, and end running ones
        children = list((getattr(pool, "_processes", None) or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for child in children:
            child.terminate()
        left = [str(path) for path in setups if path not in done]
        print(
            f"\ninterrupted; not finished, and none of their files is half written: {', '.join(left)}",
            file=sys.stderr,
            flush=True,
        )
        raise
    finally:
        told.put(None)
        pool.shutdown(wait=True)
        teller.join(1.0)
    return done


@contextmanager
def _deaf() -> Iterator[None]:
    """Processes that start inside ignore Ctrl-C, which all receive: the first process ends them. Here it
    takes effect afterward."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_told: Any = None
"""Queue for reports of steps from a process."""


def _listen(told: Any) -> None:
    global _told
    _told = told
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be blocked


def _attempt_told(path: Path) -> tuple[Report | None, str]:
    return attempt(path, lambda step: _told.put((str(path), step)))


def attempt(path: Path, tell: object = None) -> tuple[Report | None, str]:
    """The report of a file, and its error: whatever is raised, the next file runs."""
    try:
        return (run_setup(path, tell) if callable(tell) else run_setup(path)), ""
    except Exception as error:
        return getattr(error, "report", None), words(error)


def words(error: Exception) -> str:
    """Text of an error; with its origin if it is unexpected."""
    if isinstance(error, (CondyleError, OSError)):
        return str(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    said = f": {error}" if str(error) else ""
    return (
        f"{type(error).__name__}{said} (in {Path(last.filename).name}, line {last.lineno}). This is "
        "unexpected: do CHECK and note above give the cause? If not, please report it"
    )


def _show(report: Report | None, error: str, later: Sequence[str]) -> None:
    """Print notes and checks, then the error."""
    if report is not None:
        for file in report.files:
            say("wrote", _short(file))
        for text in report.results:
            say("result", text)
        for quality in report.qualities:
            say_table(replace(quality.block, title=""), "quality")
        for text in [*report.check, *([] if error else later)]:
            say("CHECK", text)
        for text in report.notes[:SHOWN]:
            say("note", text)
        if len(report.notes) > SHOWN:
            say("note", f"... and {len(report.notes) - SHOWN} more; condyle describe MODEL has the model's")
    if error:
        say("FAILED", "; ".join([error, *later]), sys.stderr)


def _short(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except ValueError:
        return str(path)
