"""`condyle describe`."""

from __future__ import annotations

from condyle.cli.app import ModelName, app


@app.command()
def describe(model: ModelName) -> None:
    """Print what a model is made of: bodies, coordinates with ranges, muscles, markers, notes of its reader.

    `condyle show` draws it in the browser; `condyle live` lets you move it.
    """
    from condyle.cli.describe import describe as description

    print(description(model))
