"""`condyle demo`."""

from __future__ import annotations

import typer

import condyle
from condyle.cli.app import Force, Format, Open, Output, Tables, app


@app.command()
def demo(output: Output = None, format: Tables = Format.csv, force: Force = False, open: Open = True) -> None:
    """Bend an elbow by 90 degrees in a second: joint moments, muscle forces, joint loads, beside OpenSim's.

    The study of Ruggiero and Sicilia (2020) on the arm with six muscles, arm26. Writes its tables and one
    report that any browser opens.
    """
    print(
        f"Condyle {condyle.__version__}: an elbow bends, from motion to muscle forces and joint loads",
        flush=True,
    )
    from condyle.cli.demo import run

    if not run(output, format.value, force, open):
        raise typer.Exit(1)
