"""`condyle run`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import app


@app.command()
def run(
    setups: Annotated[
        list[Path],
        typer.Argument(
            metavar="SETUP.xml...",
            show_default=False,
            help="Setup files of OpenSim's tools, run as they are.",
        ),
    ],
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            show_default=False,
            help="How many files run at once; all cores if not given.",
        ),
    ] = None,
) -> None:
    """Run setup files of OpenSim, and write the files that OpenSim writes.

    Paths in a setup file are relative to its folder. The report lists what to check: errors of markers,
    residuals and reserves beyond OpenSim's guidelines. A file that fails does not stop the others, but sets
    the exit code to 1.

    For example: `condyle run */Setup_ID.xml`
    """
    from condyle.cli.run import begin

    begin(setups, jobs)
