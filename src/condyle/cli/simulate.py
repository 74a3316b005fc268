"""Simulation of a system from a Python file, for the command line."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path
from time import perf_counter
from types import FrameType

import numpy as np

from condyle.arrays import Array
from condyle.cli.systems import beside, check_file, start_of
from condyle.cli.terminal import say
from condyle.errors import DescriptionError
from condyle.integrate.progress import shown
from condyle.integrate.trajectory import Trajectory
from condyle.status import Status
from condyle.studies.simulate import simulate
from condyle.system.state import State

MOST_ROWS = 10_000_000
"""Largest number of rows of a table: some gigabytes of text."""


def simulate_file(
    file: Path,
    t_final: float,
    out: Path,
    accuracy: float,
    integrator: str,
    rate: float | None,
    force: bool = False,
    contact_forces: Path | None = None,
) -> int:
    """Simulate with a progress bar and save the motion, also if it ended early.

    Args:
        file: Python with a `system`, and a `state` to start from.
        t_final: [s].
        out: a .csv, written whole or not at all.
        accuracy: of `cd.simulate`.
        integrator: its name, as of `cd.simulate`.
        rate: rows per second of the table; None is one for each step.
        force: overwrite what is there.
        contact_forces: a .csv for the forces of contacts too, at the same times.

    Returns:
        the exit code: 0 if it finished, 1 if it stopped, 128 + n after signal n.
    """
    check_file(file)
    _check_target("--output", out, force)
    if contact_forces is not None:
        _check_target("--contact-forces", contact_forces, force)
        if contact_forces.resolve() == out.resolve():
            raise DescriptionError(
                f"--contact-forces {contact_forces}: the motion goes there; choose another name"
            )
    if rate is not None and not (np.isfinite(rate) and rate > 0):
        raise DescriptionError(f"--rate {rate}: expected a positive number, rows per second")
    with beside(file):  # its functions may import when they are called
        state = start_of(file)
        _check_rows(rate, t_final - state.t)
        if contact_forces is not None and not state.system.contacts:
            raise DescriptionError(
                f"--contact-forces {contact_forces}: {file} has no contacts; system.add_contact makes them"
            )
        begin = perf_counter()
        with Signals() as signals:
            traj = _run(state, t_final, accuracy, integrator, signals)
            signals.keep()
            seconds = perf_counter() - begin
            times = _times(traj, rate)
            tables = {out: traj.table(times)}
            if contact_forces is not None:
                tables[contact_forces] = traj.contacts.forces(t=times)
            written = [path if force else _free(path) for path in tables]
            for path, table in zip(written, tables.values(), strict=True):
                table.save(path)
    interrupted = traj.status == Status.INTERRUPTED
    status = f"interrupted at t = {traj.t[-1]:.9g} s" if interrupted else traj.status
    count, steps = len(state.system.bodies), len(traj.t) - 1
    say(
        "",
        f"{file}: {status}; {count} {'body' if count == 1 else 'bodies'} from t = {traj.t[0]:g} to {traj.t[-1]:.6g} s in "
        f"{steps} steps of {integrator} at accuracy {accuracy:g}, {seconds:.2f} s",
    )
    for path, table in zip(written, tables.values(), strict=True):
        say("wrote", f"{path}: {len(table)} rows, {len(table.names)} columns")
    return 128 + (signals.number or signal.SIGINT) if interrupted else int(not traj.finished)


class Signals:
    """Ctrl-C and requests to end (SIGTERM, SIGHUP). Before `keep` they interrupt as usual; after it they are
    only recorded, and the run ends at the next check of `number`: so no results are lost, however many
    come."""

    def __init__(self) -> None:
        self.number, self._old = 0, {}  # type: ignore[var-annotated]

    def __enter__(self) -> Signals:
        return self

    def keep(self) -> None:
        """From now on, there are results to save."""
        for name in ("SIGINT", "SIGTERM", "SIGHUP") if not self._old else ():
            number = getattr(signal, name, None)
            # signals that the caller ignores stay ignored
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                self._old[number] = signal.signal(number, self._remember)

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self.number = self.number or number

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)


def _run(state: State, t_final: float, accuracy: float, integrator: str, signals: Signals) -> Trajectory:
    report, stop = shown("simulate")

    def watch(share: float) -> None:
        signals.keep()
        if signals.number:
            raise KeyboardInterrupt
        report(share)

    try:
        return simulate(
            state.system, state, t_final, accuracy=accuracy, integrator=integrator, progress=watch
        )
    finally:
        stop()


def _check_target(option: str, out: Path, force: bool) -> None:
    """Whether a table can be written, before anything runs."""
    if out.suffix != ".csv" or not out.parent.is_dir():
        raise DescriptionError(
            f"{option} {out}: expected a file in an existing folder whose name ends in .csv"
        )
    if out.is_dir():
        raise DescriptionError(f"{option} {out}: is a folder; expected a file whose name ends in .csv")
    if not force and os.path.lexists(out):
        raise DescriptionError(
            f"{option} {out}: exists already; choose another name, or overwrite it by --force"
        )
    try:
        descriptor, temporary = tempfile.mkstemp(".new", out.stem, out.parent)
    except OSError as error:
        raise DescriptionError(
            f"{option} {out}: nothing can be written into {out.parent.resolve()}: {error.strerror}"
        ) from None
    os.close(descriptor)
    os.unlink(temporary)


def _check_rows(rate: float | None, span: float) -> None:
    if rate is not None and rate * span > MOST_ROWS:
        raise DescriptionError(
            f"--rate {rate:g}: {rate * span:.3g} rows in {span:g} s; at most "
            f"{MOST_ROWS:,} are written, so --rate {MOST_ROWS / span:.3g} or less"
        )


def _times(traj: Trajectory, rate: float | None) -> Array | None:
    """Times at a rate per second, and the end."""
    if rate is None:
        return None
    first, last = float(traj.t[0]), float(traj.t[-1])
    times = first + np.arange(int((last - first) * rate) + 1) / rate
    return np.append(times[times < last - 1e-9 / rate], last)


def _free(out: Path) -> Path:
    """The same name, or with a number if a file of this name has appeared since the run began."""
    free, k = out, 2
    while os.path.lexists(free):
        free, k = out.with_stem(f"{out.stem}-{k}"), k + 1
    return free
