"""The examples as scenes: `python docs/scenes.py FOLDER [NAME ...]` runs them and writes a page each;
`python docs/scenes.py --thumbnails [NAME ...]` writes docs/img/thumbnails/NAME.webp of them too, as Chromium shows them.

The documentation's gallery has them all: building it makes those that are older than their example, which
takes a minute or two the first time. CONDYLE_SCENES names the ones to make, or is `off`.
"""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import condyle as cd
from condyle.control.answer import Answer
from condyle.fit.frames import Frames
from condyle.integrate.ensemble import Ensemble
from condyle.integrate.trajectory import Trajectory
from condyle.viewer import Page

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
VIEWER = Path(cd.__file__).parent / "viewer"
SHOWN = (Trajectory, Frames, cd.Motion, Ensemble, cd.State, cd.System)
"""What is shown of an example: the first kind that it has, and of several the one with most bodies, then the
longest motion."""
MOTIONS: dict[str, Callable[[Any], tuple[cd.System, Any]]] = {
    "fitted_knee": lambda v: (v.systems["smooth"], v.at),
    "protein": lambda v: (v.found.system, v.q),
    "functions": lambda v: (v.leg, np.linspace(-2, 0, 100)[:, None]),
}
"""Systems and coordinates over time where an example has them apart."""
STARTS: dict[str, Callable[[Any], tuple[cd.State, float]]] = {
    "pendulum": lambda v: (v.pendulum.state(q=[2.0, 0.5]), 10.0),
    "springs": lambda v: (v.state, 2.0),
    "hanging_chain": lambda v: (v.start, 3.0),
    "scapula": lambda v: (v.b, 0.3),
    "second_opinion": lambda v: (v.state, 1.5),
}
"""Where motions begin, and how long they are [s], of examples that ask for numbers at one time."""
MORE: dict[str, Callable[[Any], dict[str, Any]]] = {
    "reactions": lambda v: {
        "what": v.system,
        "motion": v.motion,
        "plots": [v.moment, v.tension],
    },
    "static_optimization": lambda v: {
        "what": v.arm,
        "motion": v.motion,
        "color": v.found,
    },
    "subjects": lambda v: {"what": v.subject.system, "motion": v.subject.motion},
    "screw": lambda v: {"what": v.runs[0], "compare": v.runs[1], "offset": (0.15, 0, 0)},
}
"""Arguments of cd.show where an example has more to show than one thing."""
FRAMES = 300
"""Of a scene, so that a page stays below a megabyte."""


def main(folder: str, *names: str) -> None:
    out = Path(folder).absolute()
    out.mkdir(parents=True, exist_ok=True)
    known = {path.stem: path for path in sorted(EXAMPLES.glob("*.py"))}
    for name in names or known:
        made(known[name], out)


def thumbnails(*names: str) -> None:
    """Small pictures of the scenes, for the first part of the gallery."""
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from condyle.viewer.pictures import FLAGS, chromium

    out, scenes = (
        EXAMPLES.parent / "docs" / "img" / "thumbnails",
        EXAMPLES.parent / ".scenes",
    )
    out.mkdir(parents=True, exist_ok=True)
    scenes.mkdir(exist_ok=True)
    known = {path.stem: path for path in sorted(EXAMPLES.glob("*.py"))}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        tab = browser.new_context(viewport={"width": 640, "height": 470}).new_page()
        for name in names or known:
            tab.goto(made(known[name], scenes).as_uri() + "#still")
            tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
            tab.add_style_tag(content="#notes, #compass, #legend, #bad { display: none }")
            tab.evaluate(
                "condyle.panel('things', false); condyle.panel('plots', false);"
                "condyle.draw(Math.floor(0.35 * condyle.head.layers[0].frames))"
            )
            tab.wait_for_timeout(200)
            picture = Image.open(io.BytesIO(tab.locator("#stage").screenshot()))
            picture.convert("RGB").resize((320, 190)).save(
                out / f"{name}.webp", quality=80, method=6
            )
        browser.close()


def made(example: Path, folder: Path) -> Path:
    """The page of an example, which is run unless its page is newer than it and the viewer."""
    page = folder / f"{example.stem}.html"
    newest = max(
        path.stat().st_mtime for path in (example, *VIEWER.rglob("*.[hjp][tsy]*"))
    )
    if not page.exists() or page.stat().st_mtime < newest:
        with (
            tempfile.TemporaryDirectory() as empty,
            contextlib.chdir(empty),
            warnings.catch_warnings(action="ignore"),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            variables = runpy.run_path(str(example))
        scene(variables, example.stem).save(page)
    return page


def scene(variables: dict[str, Any], name: str) -> Page:
    """What an example has to show."""
    v, options = (
        SimpleNamespace(**variables),
        {"title": name, "play": False, "frames": FRAMES, "open": False},
    )
    if name in MORE:
        return cd.show(**MORE[name](v), **options)
    if name in STARTS:
        state, seconds = STARTS[name](v)
        return cd.show(cd.simulate(state.system, state, state.t + seconds), **options)
    if name in MOTIONS:
        system, q = MOTIONS[name](v)
        times = np.linspace(0, 2, len(q))
        return cd.show(
            system,
            motion=cd.Table(times, system.coordinates, q, degrees=False),
            **options,
        )
    answers = [x for x in variables.values() if isinstance(x, Answer)]
    if answers:
        last = answers[-1]
        return cd.show(last.program.problem.system, motion=last.motion, **options)
    for kind in SHOWN:
        found = [v for v in variables.values() if isinstance(v, kind)]
        if found:
            best = max(
                found,
                key=lambda v: (
                    len(getattr(v, "system", v).bodies),
                    len(v) if hasattr(v, "__len__") else 0,
                ),
            )
            return cd.show(best, **options)
    raise SystemExit(
        f"{name}: this example has nothing to show: no run, motion, state or system"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--thumbnails"]:
        thumbnails(*sys.argv[2:])
    else:
        main(*(sys.argv[1:] or ["scenes"]))
