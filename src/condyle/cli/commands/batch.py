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
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder for results; the same one goes on.")
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
        int, typer.Option(min=0, help="How often trials whose process died are tried again.")
    ] = 2,
    status: Annotated[bool, typer.Option("--status", help="Only say how far it has come.")] = False,
) -> None:
    """All trials of all subjects: scale, inverse kinematics and dynamics, muscle forces, joint loads.

    The table has a row per trial and the columns subject, trial (markers or coordinates), model, mass, static, loads,
    and where needed scale (OpenSim's setup file of scaling), start, end, name. Files are relative to it; what a
    subject's first row says holds for the others. One page shows the quality of every trial, worst first. After a
    crash or Ctrl-C the same command goes on.

    For example: `condyle batch study.csv --output results`
    """
    from condyle.cli import batch as work

    if status:
        work.status(output)
    elif not work.run(study, output, executor, lowpass or None, reserves, retries):
        raise typer.Exit(1)
