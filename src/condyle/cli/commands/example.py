"""`condyle example`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from condyle.cli.app import Force, app


@app.command()
def example(
    folder: Annotated[Path, typer.Argument(show_default=False, help="Where to write; a new folder.")],
    force: Force = False,
) -> None:
    """Write a subject with a recording, to try everything on: .osim, .trc, .mot and setup files, and a .c3d if
    ezc3d is installed.

    For example: `condyle example try` and then `condyle run try/scale.xml try/ik.xml try/id.xml`
    """
    from condyle.cli.example import write

    names = write(folder, force)
    print(f"{folder}: {', '.join(names)}")
