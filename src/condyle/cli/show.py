"""`condyle show`: a model, or a motion of it, in the browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import condyle as cd
from condyle.cli.analyze import check_angles, read_motion
from condyle.cli.output import first_unused
from condyle.cli.systems import system_of
from condyle.cli.terminal import Bar, say
from condyle.errors import CondyleError
from condyle.table import distinct
from condyle.viewer.shown import has_screen


def show(
    model: str,
    motion: Path | None,
    output: Path | None,
    degrees: bool | None,
    force: bool,
    open_: bool,
    beside: Mapping[str, Any] | None = None,
    picture: Path | None = None,
    movie: Path | None = None,
    view: str = "any",
    geometry: Sequence[Path] = (),
) -> None:
    """Write the scene and open it, or write a picture or a movie of it.

    Args:
        model: see `systems.system_of`.
        motion: coordinates over time.
        output: the file; None is the first unused of NAME.html, NAME-2.html, ...
        degrees: whether angles of the motion are in degrees; None asks the file.
        force: overwrite what is there.
        open_: in the browser, where there is a screen.
        beside: further files to show: markers, loads, color, compare (a list).
        picture: file of a picture.
        movie: file of a movie.
        view: direction of view.
        geometry: folders with meshes.
    """
    for option, path in (("output", output), ("picture", picture), ("movie", movie)):
        if path is not None and path.exists() and not force:
            raise CondyleError(
                f"--{option} {str(path)!r}: exists already; choose another file, or overwrite it by --force"
            )
    given = {name: value for name, value in (beside or {}).items() if value}
    if motion is None and (given.keys() - {"color"} or movie):
        wanted = ", ".join(f"--{name}" for name in (*given, *(["movie"] if movie else [])))
        raise CondyleError(f"{wanted}: needs a motion: condyle show {model} MOTION.mot ...")
    notes: list[str] = []
    with Bar(3 + bool(picture) + bool(movie)) as bar:
        bar.show(f"reading {model}")
        system = system_of(model, geometry)
        bar.done = 1

        def table_of(file: Path) -> cd.Table:
            bar.show(f"reading {file}")
            table, odd = read_motion(file, degrees)
            check_angles(system, table, file)
            notes.extend(odd)
            return table

        options: dict[str, Any] = {"view": view}
        if motion is not None:
            options["motion"] = table_of(motion)
        if "compare" in given:
            options["compare"] = [table_of(file) for file in given["compare"]]
            options["names"] = distinct([file.stem for file in (motion, *given["compare"]) if file])
        if "markers" in given:
            options["markers"] = cd.read_markers(given["markers"])
        if "loads" in given:
            options["arrows"] = cd.read_external_loads(given["loads"])
        if "color" in given:
            options["color"] = cd.read_table(given["color"])
        stem = Path(model.partition(":")[0]).stem
        name = system.about.get("name") or stem
        title = name if motion is None else f"{name} moves as in {motion.name}"
        bar.done = 2
        made: list[str] = []
        for path, write in ((picture, cd.picture), (movie, cd.movie)):
            if path is not None:
                bar.show(f"drawing {path}")
                file = write(system, path, title=title, **options)
                made.append(f"{file}: {file.stat().st_size / 1e6:.2g} MB")
                bar.done += 1
        page = None
        if not made or output is not None:
            path = output or first_unused(Path(f"{stem if motion is None else motion.stem}.html"))
            bar.show(f"drawing {path}")
            page = cd.show(system, path, title=title, open=open_ and has_screen(), **options)
            made.append(
                f"{path}: {len(page.html) / 1e6:.1f} MB, {len(page.scene.layers[0].t)} frames. Any browser "
                "opens it; it needs nothing else."
            )
    for note in [*notes, *(page.scene.layers[0].notes if page else [])]:
        say("note", note)
    for text in made:
        say("", text)
