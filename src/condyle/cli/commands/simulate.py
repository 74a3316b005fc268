"""`condyle simulate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import Force, app


@app.command()
def simulate(
    file: Annotated[
        Path,
        typer.Argument(
            help="Python that makes a `system`, and a `state` to start from; or a model of OpenSim, .osim."
        ),
    ],
    t_final: Annotated[float, typer.Argument(help="Final time, in seconds.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.csv", help="File for the motion.")
    ] = Path("motion.csv"),
    force: Force = False,
    accuracy: Annotated[float, typer.Option(help="1e-3 is three digits.")] = 1e-3,
    integrator: Annotated[str, typer.Option(help="See the guide, Simulate.")] = "merson",
    rate: Annotated[
        float | None,
        typer.Option(help="Rows per second; if not given, a row for each step.", show_default=False),
    ] = None,
    contact_forces: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            show_default=False,
            help="File for forces of contacts: fx, fy, fz of each, in newtons.",
        ),
    ] = None,
) -> None:
    """Simulate a system of a Python file, or a model of OpenSim, and write its motion as a table.

    Ctrl-C, or a request to end, ends the run and writes the motion until then.
    """
    from condyle.cli.simulate import simulate_file

    code = simulate_file(file, t_final, output, accuracy, integrator, rate, force, contact_forces)
    if code:
        raise typer.Exit(code)
