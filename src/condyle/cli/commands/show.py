"""`condyle show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import Degrees, Force, Geometry, ModelName, Open, app


@app.command()
def show(
    model: ModelName,
    motion: Annotated[
        Path | None,
        typer.Argument(help="Coordinates over time: .mot, .sto, .csv or .npz.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.html",
            show_default=False,
            help="Where the page goes; a new file if not given.",
        ),
    ] = None,
    markers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.trc", show_default=False, help="Measured markers beside the model's: .trc or .c3d."
        ),
    ] = None,
    loads: Annotated[
        Path | None,
        typer.Option(
            "--loads",
            "--external-loads",
            metavar="FILE.xml",
            show_default=False,
            help="Forces as arrows, such as ground reactions: OpenSim's ExternalLoads.",
        ),
    ] = None,
    color: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.sto",
            show_default=False,
            help="Colors of muscles: a table with a column per muscle, activations or forces.",
        ),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="MOTION",
            show_default=False,
            help="Another motion of the same model, pale, over the first; may be repeated.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.png", show_default=False, help="Write a picture, .png or .svg, instead of a page."
        ),
    ] = None,
    movie: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.mp4",
            show_default=False,
            help="Write a movie, .mp4, .gif, .webp or numbered .png, instead of a page.",
        ),
    ] = None,
    view: Annotated[
        str, typer.Option(metavar="NAME", help="Direction of view: any, front, side or top.")
    ] = "any",
    geometry: Geometry = None,
    degrees: Degrees = None,
    force: Force = False,
    open: Open = True,
) -> None:
    """Show a model, or a motion of it, in the browser: one page that needs no network, as cd.show in Python.

    `condyle live` moves the model with sliders; `condyle describe` prints its parts.

    For example: `condyle show arm26 elbow.mot`, or
    `condyle show subject.osim walk.mot --markers walk.trc --loads grf.xml --movie walk.mp4`
    """
    from condyle.cli.show import show as written

    beside = {"markers": markers, "loads": loads, "color": color, "compare": compare or []}
    written(model, motion, output, degrees, force, open, beside, picture, movie, view, geometry or ())
