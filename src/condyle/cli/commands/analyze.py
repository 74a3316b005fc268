"""`condyle analyze`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import condyle
from condyle.cli.app import Degrees, Force, Format, ModelName, Output, Tables, app


class Configuration(StrEnum):
    """Assumptions of static optimization."""

    isometric = "isometric"
    active = "active"
    passive = "passive"


@app.command()
def analyze(
    model: ModelName,
    motion: Annotated[
        Path, typer.Argument(help="Coordinates over time: .mot, .sto, .csv or .npz.", show_default=False)
    ],
    output: Output = None,
    external_loads: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.xml",
            show_default=False,
            help="Measured forces on bodies, such as ground reactions: OpenSim's ExternalLoads.",
        ),
    ] = None,
    configuration: Annotated[
        list[Configuration] | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="Of the muscles: isometric, active or passive, see above; may be repeated; all if not given.",
        ),
    ] = None,
    lowpass: Annotated[
        float | None,
        typer.Option(
            metavar="HZ",
            show_default=False,
            help="Filter the motion at this frequency; measured ones need it, 6 is usual for walking.",
        ),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            show_default=False,
            help="Another motion of the same model: both are in one report, curve by curve.",
        ),
    ] = None,
    compare_loads: Annotated[
        Path | None,
        typer.Option(metavar="FILE.xml", show_default=False, help="Measured forces of that one."),
    ] = None,
    degrees: Degrees = None,
    format: Tables = Format.csv,
    force: Force = False,
) -> None:
    """From a motion to joint moments, muscle lengths, muscle forces and joint loads.

    Muscle forces are those of the least sum of squared activations, in three configurations:

    - isometric: a muscle's force is its activation times its greatest force;
    - active: its activation times the force of its fibers at their length and velocity;
    - passive: the same, and stretched fibers pull passively.

    For example: `condyle analyze arm26 elbow.mot --output elbow`
    """
    print(f"Condyle {condyle.__version__}: {model} moves as in {motion}", flush=True)
    from condyle.cli.analyze import run

    chosen = [c.value for c in configuration] if configuration else None
    given = (model, motion, output, external_loads, chosen, lowpass, degrees, format.value, force)
    if not run(*given, compare, compare_loads):
        raise typer.Exit(1)
