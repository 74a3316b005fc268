"""Progress bars: by rich in a terminal, by IPython's own display in a notebook, where rich would need
ipywidgets."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from condyle.errors import DescriptionError
from condyle.native.machine import notice
from condyle.native.machine.notice import in_notebook


class ProgressReport(Protocol):
    """A function of the fraction done, and a text to show."""

    def __call__(self, share: float, text: str = "") -> object:
        """Show it."""
        ...


EVERY = 0.1
"""[s] between two pictures in a notebook: each is a message to the browser."""


def check_progress(who: str, progress: Any) -> None:
    """Raise an error if it is neither a truth value nor a function."""
    if not isinstance(progress, bool) and progress is not None and not callable(progress):
        raise DescriptionError(
            f"{who}: progress: expected True for a bar, False, or a function of the share "
            f"done, from 0 to 1, got {progress!r}"
        )


def reported(title: str, progress: Any) -> tuple[ProgressReport, Callable[[], object]]:
    """The function of the fraction done, and the function to call at the end. True gives a bar; without one a line
    says how much is done, if it takes a while."""
    check_progress(title, progress)
    if progress is True:
        return shown(title)
    return (lambda share, text="": progress(share)) if progress else notice.Shares(title), lambda: None


def shown(title: str) -> tuple[ProgressReport, Callable[[], object]]:
    """A progress bar: call the first function with the fraction done, the second at the end. It shows what is
    compiled if it is not in the cache."""
    if in_notebook():
        return _in_notebook(title)
    from rich.progress import Progress

    bar: Any = Progress(transient=True)
    task = bar.add_task(title, total=1.0)
    bar.start()
    deaf = notice.listen(lambda what: bar.update(task, description=_titled(title, what)))

    def report(share: float, text: str = "") -> None:
        bar.update(task, completed=share, **({"description": f"{title}: {text}"} if text else {}))

    return report, lambda: (deaf(), bar.stop())


def _titled(title: str, what: str) -> str:
    """The title without names that users do not know."""
    return f"{title}: compiling {what}".removesuffix(f" {title}") if what else title


def _in_notebook(title: str) -> tuple[ProgressReport, Callable[[], object]]:
    from IPython.display import display  # type: ignore[import-not-found,import-untyped,unused-ignore]

    def picture(share: float, what: str = "", text: str = "") -> dict[str, str]:
        text = f"{_titled(title, what)} {100 * share:.0f} %{f': {text}' if text else ''}"
        return {"text/plain": text, "text/html": f'<progress value="{share:.4f}" max="1"></progress> {text}'}

    handle: Any = display(picture(0.0), raw=True, display_id=True)
    last, done = [time.perf_counter()], [0.0]

    def report(share: float, text: str = "") -> None:
        done[0] = share
        if (now := time.perf_counter()) - last[0] >= EVERY:
            last[0] = now
            handle.update(picture(share, text=text), raw=True)

    deaf = notice.listen(lambda what: handle.update(picture(done[0], what), raw=True))
    return report, lambda: (deaf(), handle.update({"text/plain": "", "text/html": ""}, raw=True))
