"""One browser for all tests of pages, and a few motions to look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.viewer import Page


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Open a Page; at the end the page has said no error and asked nobody for anything."""
    contexts, errors, requests = [], [], []

    def open_(page: Page, width: int = 1000, height: int = 480, **options: Any) -> Any:
        path = page.save(tmp_path / f"page{len(contexts)}.html").absolute()
        context = browser.new_context(viewport={"width": width, "height": height}, offline=True, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
        tab.on("pageerror", lambda e: errors.append(str(e)))
        tab.on("request", lambda r: requests.append(r.url) if not r.url.startswith(("blob:", "data:")) else 0)
        tab.goto(path.as_uri() + "#still&plain")
        # not wait_for_function: that needs eval, which the page forbids
        tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
        assert {url.partition("#")[0] for url in requests} <= {p.as_uri() for p in tmp_path.glob("*.html")}
        return tab

    yield open_
    for context in contexts:
        context.close()
    assert not [e for e in errors if "GPU stall" not in e and "example.org" not in e]


@pytest.fixture(scope="session")
def arm() -> cd.System:
    return cd.models.arm26()


@pytest.fixture(scope="session")
def bending(arm: cd.System) -> cd.Table:
    """The elbow bends by 90 degrees."""
    t = np.linspace(0, 1, 51)
    angles = np.stack([0.2 * np.sin(6 * t), np.pi / 2 * (10 * t**3 - 15 * t**4 + 6 * t**5)], axis=1)
    return cd.Table(t, arm.coordinates, angles, ["rad", "rad"])


@pytest.fixture(scope="session")
def activity(arm: cd.System, bending: cd.Table) -> cd.Table:
    """Made-up activations."""
    a = 0.5 + 0.5 * np.sin(3 * bending.time[:, None] + np.arange(6))
    return cd.Table(bending.time, arm.muscles, a)


@pytest.fixture(scope="session")
def swing() -> Trajectory:
    """Two pendulums below each other, with a spring, a marker and a shape."""
    system = cd.System()
    system.add_body("upper", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1, inertia=(0.1, 0.01, 0.1))
    system.add_body(
        "lower",
        "upper",
        mobilizer=cd.Pin(),
        X_PF=(0, -0.5, 0),
        X_BM=(0, 0.3, 0),
        mass=1,
        inertia=(0.05, 0.01, 0.05),
    )
    system.add_force("tie", cd.forces.TwoPointSpring("ground", (0.6, 0, 0), "upper", (0, -0.5, 0), 5, 0.1))
    system.add_marker("tip", "lower", (0, -0.3, 0))
    system.add_geometry("lower", cd.shapes.Box((0.05, 0.3, 0.03)), color="teal")
    return cd.simulate(system, system.state(q={"upper": 1.0}), t_final=2.0)
