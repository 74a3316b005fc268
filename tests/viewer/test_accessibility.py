"""axe-core finds no serious fault on a scene, on a live page, or on the report of `condyle analyze`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from tests import axe
from tests.process import output

Asked = Callable[[str, str], list[str]]


@pytest.fixture
def asked(browser: Any) -> Iterator[Asked]:
    """Faults of the page at a URL, light and dark, after a script has opened what is closed."""
    text, contexts = axe.source(), []

    def ask(url: str, script: str) -> list[str]:
        found = []
        for scheme in ("light", "dark"):
            size = {"width": 1200, "height": 800}
            context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)
            contexts.append(context)
            tab = context.new_page()
            tab.goto(url)
            tab.wait_for_timeout(300)
            if script:
                tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
                tab.evaluate(script)
            found += [f"{scheme}: {fault}" for fault in axe.faults(tab, text)]
        return found

    yield ask
    for context in contexts:
        context.close()


OPEN = """() => { document.querySelectorAll('details').forEach((d) => { d.open = true; });
    const { figures } = condyle, names = figures[0].kinds().bodies;
    condyle.pick({ figure: figures[0], kind: 'bodies', name: names[0] }); }"""


def test_a_scene(asked: Asked, swing: Trajectory, tmp_path: Path) -> None:
    page = cd.show(swing, tmp_path / "swing.html", compare=swing, names=["one", "other"])
    assert page.path is not None
    assert asked(f"{page.path.as_uri()}#still&plain", OPEN) == []


def test_a_live_page(asked: Asked) -> None:
    pytest.importorskip("websockets", reason="needs websockets: pip install 'condyle[live]'")
    system = cd.System()
    system.add_body("pelvis", mobilizer=cd.Planar(), mass=5, inertia=(0.1, 0.1, 0.1))
    system.add_body("leg", "pelvis", cd.Pin(), mass=cd.Parameter("mass", 1.0), inertia=(0.1, 0.1, 0.1))
    with cd.live(system, open=False) as view:
        assert asked(view.url, OPEN) == []


def test_a_report(asked: Asked, tmp_path: Path) -> None:
    arm = cd.models.arm26()
    t = np.linspace(0, 1, 11)
    motion = cd.Table(t, arm.coordinates, np.stack([0 * t, t], axis=1), ["rad", "rad"])
    motion.save(tmp_path / "elbow.csv")
    output("-m", "condyle", "analyze", "arm26", "elbow.csv", "--output", "elbow", cwd=tmp_path)
    assert asked((tmp_path / "elbow" / "report.html").as_uri(), "") == []
