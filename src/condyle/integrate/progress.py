"""Progress bars: by rich in a terminal, by IPython's own display in a notebook, where rich would need
ipywidgets."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from condyle.errors import DescriptionError
from condyle.native.machine import notice

Report = Callable[[float], object]

PATIENCE = 2.0
"""[s] of compiling after which a user without a progress bar gets a message."""
EVERY = 0.1
"""[s] between two pictures in a notebook: each is a message to the browser."""


def check_progress(who: str, progress: Any) -> None:
    """Raise an error if it is neither a truth value nor a function."""
    if not isinstance(progress, bool) and progress is not None and not callable(progress):
        raise DescriptionError(
            f"{who}: progress: expected True for a bar, False, or a function of the share "
            f"done, from 0 to 1, got {progress!r}"
        )


def reported(title: str, progress: Any) -> tuple[Report | None, Callable[[], object]]:
    """The function that takes the share done, if any, and what to call at the end. True makes a bar; without
    one, a message is printed if compiling takes long."""
    check_progress(title, progress)
    if progress is True:
        return shown(title)
    return (progress, lambda: None) if progress else (None, _told(title))


def _told(title: str) -> Callable[[], object]:
    """Print once, in a terminal or a notebook, that compiling takes longer than PATIENCE; until the returned
    function is called."""
    if not (sys.stderr is not None and sys.stderr.isatty()) and not in_notebook():
        return lambda: None
    busy, timers = [""], list[threading.Timer]()

    def tell() -> None:
        if busy[0]:
            sys.stderr.write(
                f"{title}: compiling machine code for this system. It is kept: the next run "
                "begins at once. progress=True shows a bar\n"
            )
            sys.stderr.flush()

    def listen(what: str) -> None:
        busy[0] = what
        if what and not timers:
            timers.append(threading.Timer(PATIENCE, tell))
            timers[0].daemon = True
            timers[0].start()

    deaf = notice.listen(listen)

    def stop() -> None:
        deaf()
        for timer in timers:
            timer.cancel()

    return stop


def shown(title: str) -> tuple[Report, Callable[[], object]]:
    """A progress bar: call the first with the share done, the second at the end. It says what is compiled,
    where that is not known from an earlier run."""
    if in_notebook():
        return _in_notebook(title)
    from rich.progress import Progress

    bar: Any = Progress(transient=True)
    task = bar.add_task(title, total=1.0)
    bar.start()
    deaf = notice.listen(lambda what: bar.update(task, description=_titled(title, what)))
    return lambda share: bar.update(task, completed=share), lambda: (deaf(), bar.stop())


def _titled(title: str, what: str) -> str:
    """Names that a user does not know are left out of the title."""
    return f"{title}: compiling {what}".removesuffix(f" {title}") if what else title


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this: its shell is a ZMQInteractiveShell, or made from one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return any(c.__name__ == "ZMQInteractiveShell" for c in type(shell).__mro__)


def _in_notebook(title: str) -> tuple[Report, Callable[[], object]]:
    from IPython.display import display  # type: ignore[import-not-found,import-untyped,unused-ignore]

    def picture(share: float, what: str = "") -> dict[str, str]:
        text = f"{_titled(title, what)} {100 * share:.0f} %"
        return {"text/plain": text, "text/html": f'<progress value="{share:.4f}" max="1"></progress> {text}'}

    handle: Any = display(picture(0.0), raw=True, display_id=True)
    last, done = [time.perf_counter()], [0.0]

    def report(share: float) -> None:
        done[0] = share
        if (now := time.perf_counter()) - last[0] >= EVERY:
            last[0] = now
            handle.update(picture(share), raw=True)

    deaf = notice.listen(lambda what: handle.update(picture(done[0], what), raw=True))
    return report, lambda: (deaf(), handle.update({"text/plain": "", "text/html": ""}, raw=True))
