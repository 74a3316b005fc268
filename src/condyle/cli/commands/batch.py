"""`condyle batch`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import app


@app.command()
def batch(
    study: Annotated[
        Path,
        typer.Argument(
            show_default=False, help="A table of trials, STUDY.csv, or a folder with setup files of OpenSim."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="DIR", help="Folder for results; an existing one is continued."
        ),
    ] = Path("results"),
    executor: Annotated[
        str,
        typer.Option(
            metavar="WHERE",
            help="processes: all cores here; here: one; tcp://HOST:PORT: a Dask scheduler, whose workers see the "
            "same files.",
        ),
    ] = "processes",
    lowpass: Annotated[
        float, typer.Option(metavar="HZ", min=0, help="Filter coordinates at this frequency; 0 for none.")
    ] = 6.0,
    reserves: Annotated[
        float, typer.Option(metavar="FORCE", min=0, help="Optimal force of reserve actuators [N m, N].")
    ] = 1.0,
    retries: Annotated[
        int, typer.Option(min=0, help="Number of repeated attempts for trials whose process died.")
    ] = 2,
    status: Annotated[bool, typer.Option("--status", help="Only show the progress.")] = False,
) -> None:
    """All trials of all subjects: scale, inverse kinematics and dynamics, muscle forces, joint loads.

    The table has a row per trial and the columns subject, trial (markers or coordinates), model, mass, static, loads,
    and where needed scale (OpenSim's setup file of scaling), start, end, name. Files are relative to it;
    values of a subject's first row hold for the others. One page shows the quality of every trial, worst
    first. After a crash or Ctrl-C the same command continues.

    For example: `condyle batch study.csv --output results`
    """
    from condyle.cli import batch as work

    if status:
        work.status(output)
    elif not work.run(study, output, executor, lowpass or None, reserves, retries):
        raise typer.Exit(1)
