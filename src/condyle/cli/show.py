"""`condyle show`: a model, or a motion of it, in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import condyle as cd
from condyle.cli.analyze import check_angles, read_motion
from condyle.cli.output import first_unused
from condyle.cli.systems import system_of
from condyle.cli.terminal import Bar, say
from condyle.errors import CondyleError
from condyle.viewer.shown import has_screen


def show(
    model: str,
    motion: Path | None,
    output: Path | None,
    degrees: bool | None,
    force: bool,
    open_: bool,
    geometry: Sequence[Path] = (),
) -> None:
    """Write the scene and open it.

    Args:
        model: see `systems.system_of`.
        motion: coordinates over time.
        output: the file; None is the first unused of NAME.html, NAME-2.html, ...
        degrees: whether angles of the motion are in degrees; None asks the file.
        force: overwrite what is there.
        open_: in the browser, where there is a screen.
        geometry: folders with meshes.
    """
    if output is not None and output.exists() and not force:
        raise CondyleError(
            f"--output {str(output)!r}: exists already; choose another file, or overwrite it by --force"
        )
    with Bar(3) as bar:
        bar.show(f"reading {model}")
        system = system_of(model, geometry)
        table, notes = None, list[str]()
        bar.done = 1
        if motion is not None:
            bar.show(f"reading {motion}")
            table, notes = read_motion(motion, degrees)
            check_angles(system, table, motion)
        name = Path(model.partition(":")[0]).stem
        title = name if motion is None else f"{name} moves as in {motion.name}"
        path = output or first_unused(Path(f"{name if motion is None else motion.stem}.html"))
        bar.done = 2
        bar.show(f"drawing {path}")
        page = cd.show(system, path, motion=table, title=title, open=open_ and has_screen())
    for note in [*notes, *page.scene.layers[0].notes]:
        say("note", note)
    say(
        "",
        f"{path}: {len(page.html) / 1e6:.1f} MB, {len(page.scene.layers[0].t)} frames. Any browser opens "
        "it; it needs nothing else.",
    )
