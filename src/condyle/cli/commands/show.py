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
    geometry: Geometry = None,
    degrees: Degrees = None,
    force: Force = False,
    open: Open = True,
) -> None:
    """Show a model, or a motion of it, in the browser: one page that needs no network, as cd.show in Python.

    `condyle live` lets you move the model; `condyle describe` prints what it is made of.

    For example: `condyle show arm26 elbow.mot`
    """
    from condyle.cli.show import show as written

    written(model, motion, output, degrees, force, open, geometry or ())
