"""`condyle convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import Force, app


@app.command()
def convert(
    source: Annotated[
        Path,
        typer.Argument(
            show_default=False,
            help="A table: .mot, .sto, .csv, .tsv, .npz; markers: .trc, .c3d; or a model: .osim.",
        ),
    ],
    target: Annotated[Path, typer.Argument(show_default=False, help="Its ending determines the format.")],
    units: Annotated[
        str | None,
        typer.Option(
            metavar="m|cm|mm",
            show_default=False,
            help="Of the markers' positions in the file; by default from the file.",
        ),
    ] = None,
    vertical: Annotated[
        str | None,
        typer.Option(
            metavar="x|y|z", show_default=False, help="The axis of markers that points up; it becomes y."
        ),
    ] = None,
    degrees: Annotated[
        bool | None,
        typer.Option(
            "--degrees/--radians",
            show_default=False,
            help="Of a table's angles in the file; by default from the file.",
        ),
    ] = None,
    force: Force = False,
) -> None:
    """Convert tables, markers and models between formats.

    For example: `condyle convert walk.c3d walk.trc --vertical z`
    """
    from condyle.cli.convert import convert as converted

    print(converted(source, target, units, vertical, degrees, force))
