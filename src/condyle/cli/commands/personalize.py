"""`condyle personalize`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import condyle
from condyle.cli.app import Force, Output, app


@app.command()
def personalize(
    model: Annotated[Path, typer.Argument(help="A generic model with markers: .osim.", show_default=False)],
    trials: Annotated[
        list[Path], typer.Argument(help="Recordings of markers: .trc, .c3d or tables.", show_default=False)
    ],
    static: Annotated[
        Path | None,
        typer.Option(metavar="FILE", show_default=False, help="A recording of the subject standing upright."),
    ] = None,
    loads: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.xml",
            show_default=False,
            help="Ground reactions of each trial, in order: OpenSim's ExternalLoads; may be repeated.",
        ),
    ] = None,
    marker_set: Annotated[
        Path | None,
        typer.Option(metavar="FILE.xml", show_default=False, help="An OpenSim MarkerSet to add."),
    ] = None,
    mass: Annotated[
        float | None, typer.Option(metavar="KG", show_default=False, help="Of the subject.")
    ] = None,
    height: Annotated[
        float | None, typer.Option(metavar="M", show_default=False, help="Of the subject.")
    ] = None,
    sizes: Annotated[str, typer.Option(help="Factors per segment: axes, bodies or whole.")] = "axes",
    asymmetric: Annotated[bool, typer.Option("--asymmetric", help="Left and right may differ.")] = False,
    output: Output = None,
    force: Force = False,
) -> None:
    """A model of a subject from recordings: sizes, places of markers, motions and, with forces, masses.

    Writes subject.osim, a .mot per trial, tables of sizes, offsets and masses, and report.txt.

    For example: `condyle personalize model.osim walk.trc --static static.trc --mass 72 --output subject`
    """
    print(
        f"Condyle {condyle.__version__}: {model} becomes the subject of {', '.join(map(str, trials))}",
        flush=True,
    )
    from condyle.cli.personalize import run

    given = {"mass": mass, "height": height, "sizes": sizes, "symmetric": not asymmetric}
    if not run(model, trials, static, loads, marker_set, given, output, force):
        raise typer.Exit(1)
