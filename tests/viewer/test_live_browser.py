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
        typed = tab.get_by_label("swing, value in degrees")
        assert float(typed.input_value()) == pytest.approx(57.3, abs=0.2)
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
        tab.locator("#curves figure").first.wait_for(timeout=60_000)  # curves while it runs
        grew = "condyle.plots.layers[0].recording.frames > 5"
        for _ in range(300):
            if tab.evaluate(grew):
                break
            tab.wait_for_timeout(100)
        assert tab.evaluate(grew) and tab.evaluate("condyle.plots.plots.get('swing').data[0].y().length") > 5

        # a drag turns the picture, unless the body is picked: then it is pulled
        sent = "(() => { const s = live.socket, send = s.send.bind(s); window.sent = [];"
        tab.evaluate(sent + " s.send = (m) => { window.sent.push(JSON.parse(m).do); send(m); }; })()")

        def drag() -> None:
            x, y = tab.evaluate("condyle.screen('arm')")
            tab.mouse.move(x, y)
            tab.mouse.down()
            tab.mouse.move(x + 60, y, steps=5)
            tab.wait_for_timeout(100)
            tab.mouse.up()

        seen = tab.evaluate("condyle.stage.camera.position.toArray()")
        drag()
        assert "grab" not in tab.evaluate("sent")
        assert tab.evaluate("condyle.stage.camera.position.toArray()") != seen
        tab.evaluate("condyle.pick({figure: condyle.figures[0], kind: 'bodies', name: 'arm'})")
        for _ in range(10):  # it swings: the pointer may miss it
            drag()
            if "grab" in tab.evaluate("sent"):
                break
        assert "grab" in tab.evaluate("sent") and "release" in tab.evaluate("sent")
        tab.get_by_role("button", name="Pause").click()
        tab.get_by_role("button", name="Run").wait_for(timeout=60_000)

        # a value that is typed, and a lock
        typed.fill("30")
        typed.press("Enter")
        for _ in range(300):
            if abs(tab.evaluate("live.q[0]") - np.pi / 6) < 1e-3:
                break
            tab.wait_for_timeout(100)
        assert tab.evaluate("live.q[0]") == pytest.approx(np.pi / 6, abs=1e-3)
        lock = tab.get_by_role("button", name="lock swing")
        lock.click()
        tab.locator(".lock[aria-pressed=true]").wait_for(timeout=60_000)
        lock.click()
        tab.locator(".lock[aria-pressed=false]").wait_for(timeout=60_000)

        # cut off, it comes back with its pose
        typed.blur()
        tab.evaluate("live.socket.close()")
        tab.wait_for_selector("html[data-live=closed]", state="attached", timeout=60_000)
        tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
        for _ in range(300):
            if abs(tab.evaluate("live.q[0]") - np.pi / 6) < 1e-3:
                break
            tab.wait_for_timeout(100)
        assert tab.evaluate("live.q[0]") == pytest.approx(np.pi / 6, abs=1e-3)
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


def test_what_nothing_holds_is_told(browser: Any) -> None:
    """With three buttons: hold it, add a floor, follow."""
    system = cd.System()
    system.add_body("pelvis", mobilizer=cd.Planar(), mass=5, inertia=(0.1, 0.1, 0.1))
    with cd.live(system, open=False) as view:
        tab = browser.new_page(viewport={"width": 1000, "height": 600})
        tab.goto(view.url)
        tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
        note = tab.locator("#live .loose")
        assert "Nothing holds pelvis" in note.inner_text()
        tab.get_by_role("button", name="Follow", exact=True).click()
        assert tab.evaluate("condyle.stage.follow !== null") and not note.is_visible()
        tab.reload()
        tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
        tab.get_by_role("button", name="Hold the pelvis").click()
        note.wait_for(state="hidden", timeout=60_000)
        assert tab.locator(".lock[aria-pressed=true]").count() == 3
        tab.reload()
        tab.get_by_role("button", name="Add a floor").click()
        tab.wait_for_url("**/floor/", timeout=60_000)
        tab.wait_for_selector("html[data-live=open]", state="attached", timeout=60_000)
        assert not note.is_visible() and tab.get_by_label("Contact surfaces", exact=True).is_visible()
        tab.close()
