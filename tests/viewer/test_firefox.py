"""Pages in Firefox, where it is installed: they load, move, are picked and plotted, and a live one answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import condyle as cd
from tests.viewer import firefox

pytest.importorskip("websockets", reason="needs websockets: pip install 'condyle[live]'")
pytestmark = pytest.mark.skipif(
    firefox.firefox() is None, reason="no Firefox: apt-get install firefox-esr xvfb"
)

READY = "document.documentElement.dataset.ready === 'yes'"


@pytest.fixture(scope="module")
def tab() -> Iterator[firefox.Tab]:
    with firefox.started() as tab:
        yield tab


def test_a_motion(
    tab: firefox.Tab, arm: cd.System, bending: cd.Table, activity: cd.Table, tmp_path: Path
) -> None:
    path = tmp_path / "elbow.html"
    cd.show(arm, path, motion=bending, color=activity, plot=["r_elbow_flex"])
    tab.goto(path.as_uri() + "#still&plain")
    tab.wait(READY)
    pictures = []
    for frame in (0, 30):
        tab.evaluate(f"condyle.draw({frame})")
        there = tab.evaluate("condyle.figures[0].nodes[2].position.toArray()")
        wanted = arm.body_pose(bending.values[frame], "r_ulna_radius_hand").p
        assert np.allclose(there, wanted, atol=1e-4)  # steps of 0.1 mm
        pictures.append(tab.picture())
    assert tab.evaluate("condyle.stage.blind") or pictures[0] != pictures[1]

    # keys, picking, the timeline, curves
    tab.evaluate("condyle.show(0), document.getElementById('scene').focus()")
    tab.press("\ue014")  # the right arrow
    assert tab.evaluate("condyle.state.frame") == 1
    x, y = tab.evaluate("condyle.stage.screen(condyle.figures[0].where('bodies', 'r_humerus'))")
    tab.click(x, y)
    assert tab.evaluate("document.getElementById('card-name').textContent") in (*arm.muscles, "r_humerus")
    tab.press("n")
    assert tab.evaluate("document.getElementById('card').hidden") is False
    tab.evaluate("condyle.seek(0.5)")
    value = tab.evaluate("document.querySelector('#curves output').textContent")
    assert float(value) == pytest.approx(np.degrees(bending["r_elbow_flex"][25]), abs=0.05)
    box = tab.evaluate("document.querySelector('#curves .cursor').getBoundingClientRect().toJSON()")
    tab.click(box["x"] + box["width"] - 5, box["y"] + 30)
    assert tab.evaluate("condyle.state.frame") == 50
    assert tab.evaluate("condyle.saves && document.querySelector('[data-save=picture]') !== null")
    assert [text for text in tab.said if "WebGL" not in text] == []


def test_a_live_page(tab: firefox.Tab) -> None:
    system = cd.System()
    swing = [cd.Coordinate("swing", range=(-2, 2))]
    system.add_body(
        "arm", mobilizer=cd.Pin(), X_BM=(0, 0.5, 0), mass=1, inertia=(0.1, 0.1, 0.1), coordinates=swing
    )
    with cd.live(system, open=False) as view:
        tab.goto(view.url)
        tab.wait("document.documentElement.dataset.live === 'open'")
        tab.evaluate("live.send({do: 'pose', name: 'swing', value: 1})")
        tab.wait("Math.abs((live.q?.[0] ?? 0) - 1) < 1e-6")
        wanted = system.body_pose(np.array([1.0]), "arm").p.tolist()
        tab.wait(
            f"condyle.figures[0].nodes[1].position.toArray().every((x, i) => Math.abs(x - {wanted}[i]) < 1e-3)"
        )
        tab.evaluate("document.querySelector('#live .first').click()")
        tab.wait("live.playing && live.history.frames > 3")


def test_faults(tab: firefox.Tab, swing: Any, tmp_path: Path) -> None:
    """axe-core in Firefox too."""
    from tests import axe

    text = axe.source()
    path = tmp_path / "swing.html"
    cd.show(swing, path)
    tab.goto(path.as_uri() + "#still&plain")
    tab.wait(READY)
    tab.evaluate(f"(() => {{ {text}; return 0; }})()")
    found = tab.evaluate("axe.run(document).then((r) => r.violations.map((v) => [v.impact, v.id]))")
    assert [v for v in found if v[0] in axe.WORST] == []
