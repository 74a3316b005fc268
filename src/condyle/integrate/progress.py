"""Progress bars: by rich in a terminal, by IPython's own display in a notebook, where rich would need
ipywidgets."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from condyle.errors import DescriptionError

Report = Callable[[float], object]

EVERY = 0.1
"""[s] between two pictures in a notebook: each is a message to the browser."""


def check_progress(who: str, progress: Any) -> None:
    """Refuse what is neither a truth value nor a function."""
    if not isinstance(progress, bool) and progress is not None and not callable(progress):
        raise DescriptionError(f"{who}: progress: expected True for a bar, False, or a function of the share "
                               f"done, from 0 to 1, got {progress!r}")


def shown(title: str) -> tuple[Report, Callable[[], object]]:
    """A progress bar: call the first with the share done, the second at the end."""
    if in_notebook():
        return _in_notebook(title)
    from rich.progress import Progress

    bar: Any = Progress(transient=True)
    task = bar.add_task(title, total=1.0)
    bar.start()
    return lambda share: bar.update(task, completed=share), bar.stop


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this: its shell is a ZMQInteractiveShell, or made from one."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return any(c.__name__ == "ZMQInteractiveShell" for c in type(shell).__mro__)


def _in_notebook(title: str) -> tuple[Report, Callable[[], object]]:
    from IPython.display import display  # type: ignore[import-not-found,import-untyped,unused-ignore]

    def picture(share: float) -> dict[str, str]:
        text = f"{title} {100 * share:.0f} %"
        return {"text/plain": text, "text/html": f'<progress value="{share:.4f}" max="1"></progress> {text}'}

    handle: Any = display(picture(0.0), raw=True, display_id=True)
    last = [time.perf_counter()]

    def report(share: float) -> None:
        if (now := time.perf_counter()) - last[0] >= EVERY:
            last[0] = now
            handle.update(picture(share), raw=True)

    return report, lambda: handle.update({"text/plain": "", "text/html": ""}, raw=True)
