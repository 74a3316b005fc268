"""`condyle describe`."""

from __future__ import annotations

from condyle.cli.app import ModelName, app


@app.command()
def describe(model: ModelName) -> None:
    """Print the parts of a model: bodies, coordinates with ranges, muscles, markers, notes of its reader.

    `condyle show` draws it in the browser; `condyle live` moves it with sliders.
    """
    from condyle.cli.describe import describe as description

    print(description(model))
