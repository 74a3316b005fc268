"""`cd.show`: a system, a state or a motion in the browser, as one file."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import is_number, is_whole, real
from condyle.errors import DescriptionError, ShapeError
from condyle.native.machine.notice import announced
from condyle.system.system import System
from condyle.table import Table, is_frame
from condyle.viewer.layer import MOST, layers
from condyle.viewer.page import Page, ViewOptions
from condyle.viewer.scene import Scene, draw, scene


@with_call_hints(
    {
        "table": "it is motion=",
        "filename": "it is path=",
        "muscles": "it is color=",
        "loads": "they are arrows=",
        "external_loads": "they are arrows=",
        "forces": "they are arrows=, of muscles color=",
    }
)
@announced
def show(
    what: object,
    path: str | Path | None = None,
    *,
    motion: object = None,
    compare: object = None,
    names: Sequence[str] | None = None,
    offset: ArrayLike | None = None,
    later: float = 0.0,
    color: object = "activation",
    strength: bool = False,
    markers: Table | None = None,
    arrows: object = (),
    plots: Table | Sequence[Table] = (),
    plot: list[str] | None = None,
    title: str | None = None,
    frames: int = MOST,
    play: bool = True,
    view: str = "any",
    open: bool | None = None,
) -> Page:
    """Show something in the browser: one HTML file that needs no network, with timeline, plots and picking.

    With a path the file is written there. Without one a notebook shows the result inline; elsewhere a
    temporary file is opened in the browser, if there is a screen.

    Args:
        what: a System, a State, a Trajectory, a Motion, Frames, or an Ensemble (twelve members are shown).
        path: of the file, ending in .html.
        motion: of a System: a Table of coordinates over time (`cd.read_table("walk.mot")`), or an object with
            its states.
        compare: a second motion, pale, over the first: as `what`, or a Table of coordinates; or a list of
            several.
        names: of the motions in lists and plots, the first one and those to compare:
            ["before", "after"].
        offset: of the second motion in ground [m], shape (3,); zero by default. Each further one is moved by
            the same amount again. The page can move them too.
        later: delay of the second motion [s], negative for earlier. The page can change it.
        color: of muscles: "activation" or "force", of a run; or a Table with a column per muscle, or the
            result of `cd.static_optimization`; None for one color.
        strength: whether the width of muscles shows their strength.
        markers: measured ones, from `cd.read_markers`; lines join them to the model's markers of the same
            names.
        arrows: forces: `condyle.viewer.Arrows` or `cd.ExternalLoad`, one or a list.
        plots: Tables whose columns can be plotted too, one or a list.
        plot: names of the columns that are plotted at first.
        title: of the page.
        frames: largest number; more are thinned, with a note.
        play: whether to start playing.
        view: at first: "any", "front", "side" or "top".
        open: whether to open it in the browser; by default if there is a screen and no path.

    Returns:
        a Page: `.html` is the text, `.save(path)` writes it.

    Raises:
        DescriptionError: an object that cannot be shown.
    """
    page = Page(
        scene_of(
            what,
            motion=motion,
            compare=compare,
            names=names,
            offset=offset,
            later=later,
            color=color,
            strength=strength,
            markers=markers,
            arrows=arrows,
            plots=plots,
            title=title,
            frames=frames,
        ),
        play=play,
        look=ViewOptions(view),
        plot=plot,
    )
    if path is not None:
        page.save(path)
    elif open is not False and not in_notebook() and (open or has_screen()):
        folder = Path(tempfile.mkdtemp(prefix="condyle-"))
        page.save(folder / "scene.html")
    if page.path is not None and (open or (open is None and path is None and has_screen())):
        webbrowser.open(page.path.absolute().as_uri())
    return page


@with_call_hints(
    {"fps": "it is rate=, pictures per second", "frame": "it is t=, a time [s]"},
    name="show",
)
def scene_of(
    what: object,
    *,
    motion: object = None,
    compare: object = None,
    names: Sequence[str] | None = None,
    offset: ArrayLike | None = None,
    later: float = 0.0,
    color: object = "activation",
    strength: bool = False,
    markers: Table | None = None,
    arrows: object = (),
    plots: Table | Sequence[Table] = (),
    title: str | None = None,
    frames: int = MOST,
) -> Scene:
    """The scene that `show` and `picture` draw."""
    if not is_whole(frames, 1):
        raise DescriptionError(f"show: frames: expected a whole number above zero, got {frames!r}")
    first = layers(what, motion, frames)
    shift = (0.0, 0.0, 0.0) if offset is None else tuple(real("show: offset", offset).ravel())
    if len(shift) != 3:
        raise ShapeError(f"show: offset: expected three numbers [m], got {offset!r}")
    if not is_number(later):
        raise DescriptionError(f"show: later: expected a number [s], got {later!r}")
    drawn, paint = draw(first[0], color, markers, arrows, plots)
    out = [drawn, *(draw(layer, color)[0] for layer in first[1:])]
    if compare is not None:
        for k, one in enumerate(compare if isinstance(compare, (list, tuple)) else [compare], 1):
            table = isinstance(one, Table) or is_frame(one)
            others = (
                layers(first[0].system, one, frames, "other") if table else layers(one, None, frames, "other")
            )
            for layer in others:
                moved = tuple(k * x for x in shift)
                out.append(draw(layer, color if isinstance(color, str) else None, offset=moved)[0])
                out[-1].shift = float(later)
    elif later:
        raise DescriptionError("show: later: it shifts a second motion in time: give that as compare=")
    elif offset is not None and len(out) > 1:
        for k, d in enumerate(out):
            d.offset = tuple(k * x for x in shift)  # type: ignore[assignment]
    if names is not None:
        given = [names] if isinstance(names, str) else list(names)
        if len(given) != len(out) or not all(isinstance(name, str) for name in given):
            raise DescriptionError(
                f"show: names: expected one text for each of {len(out)} motions, the first one and those of "
                f"compare=, got {names!r}"
            )
        for d, name in zip(out, given, strict=True):
            d.name = name
    for k, d in enumerate(out):  # names in lists differ
        if k and d.name in [other.name for other in out[:k]]:
            d.name = f"{d.name} {k + 1}"
    return scene(out, title or titled(first[0].system), paint, first[0].system, strength)


def titled(system: System) -> str:
    """The title of a page without one: the model's name, else those of its bodies."""
    if own := system.about.get("name", ""):
        return str(own)
    names = [b.name for b in system.bodies] or ["a system"]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} more bodies"


def in_notebook() -> bool:
    """Whether results are shown as HTML."""
    ipython: Any = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def has_screen() -> bool:
    """Whether a browser would be seen: never in tests and on build servers."""
    if any(name in os.environ for name in ("CI", "PYTEST_CURRENT_TEST")) or "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
