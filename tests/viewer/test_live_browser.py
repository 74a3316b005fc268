"""A live view in a real browser: sliders move it, it runs, and it obeys the hand."""

from __future__ import annotations

import socket
from typing import Any

import numpy as np
import pytest

import condyle as cd

pytest.importorskip("websockets", reason="needs websockets: pip install 'condyle[live]'")


def test_a_page_that_answers(browser: Any) -> None:
    system = cd.System()
    system.add_body(
        "arm",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.5, 0),
        mass=1,
        inertia=(0.1, 0.1, 0.1),
        coordinates=[cd.Coordinate("swing", range=(-2, 2))],
    )
    errors: list[str] = []
    with cd.live(system, open=False) as view:
        tab = browser.new_page(viewport={"width": 1000, "height": 600})
        tab.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda e: errors.append(str(e)))
        tab.goto(view.url)
        tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
        slider = tab.get_by_label("swing", exact=True)
        slider.fill("1")
        tab.locator("output", has_text="57.3°").wait_for(timeout=60_000)
        there, wanted = np.zeros(3), system.body_pose(np.array([1.0]), "arm").p
        for _ in range(600):
            there = tab.evaluate("condyle.figures[0].nodes[1].position.toArray()")
            if np.allclose(there, wanted, atol=1e-3):
                break
            tab.wait_for_timeout(100)
        np.testing.assert_allclose(there, wanted, rtol=0, atol=1e-3)  # a slider has 1000 steps
        tab.get_by_role("button", name="Save pose").click()
        tab.locator("#live .words", has_text="saved").wait_for(timeout=60_000)
        assert view.saved[-1]["swing"] == pytest.approx(1.0, abs=4e-3)
        tab.get_by_role("button", name="Run").click()
        tab.locator(".facts", has_text="real-time factor").wait_for(timeout=60_000)
        x, y = tab.evaluate("condyle.screen('arm')")
        tab.mouse.move(x, y)
        tab.mouse.down()
        tab.mouse.move(x + 60, y, steps=5)
        tab.wait_for_timeout(200)
        tab.mouse.up()
        tab.get_by_role("button", name="Pause").click()
        tab.get_by_role("button", name="Run").wait_for(timeout=60_000)
        tab.get_by_role("button", name="Reset").click()
        tab.locator(".facts", has_text="t = 0.00 s").wait_for(timeout=60_000)
        tab.close()
    assert errors == []


def test_the_policy_of_the_page_lets_it_talk_to_its_server(browser: Any) -> None:
    """By whichever address it is reached; `view.url` is one of them."""
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(0.1, 0.1, 0.1))
    tab = browser.new_page(viewport={"width": 80, "height": 60})
    for host, by in [("127.0.0.1", "localhost"), ("0.0.0.0", "")] + [("::1", "")] * ipv6():
        with cd.live(system, open=False, host=host) as view:
            tab.goto(view.url.replace(host, by) if by else view.url)
            tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
    tab.close()


def ipv6() -> bool:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True
