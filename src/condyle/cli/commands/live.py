"""`condyle live`."""

from __future__ import annotations

from condyle.cli.app import Geometry, ModelName, Open, app


@app.command()
def live(model: ModelName, geometry: Geometry = None, open: Open = True) -> None:
    """Serve a page with sliders in which a model can be moved, run and pulled at, as cd.live in Python.

    Ctrl-C ends it.
    """
    import condyle as cd
    from condyle.cli.systems import system_of
    from condyle.viewer.shown import has_screen

    with cd.live(system_of(model, geometry or ()), open=open and has_screen()) as served:
        print(f"{model}: {served.url}\nCtrl-C ends it.", flush=True)
        served.wait()
