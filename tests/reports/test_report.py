"""The report of `cd.analyze`: its parts, comparisons, and what it does in a browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.quality import Check, Quality
from condyle.reports.figures import svg
from condyle.reports.page import verdicts
from condyle.table.panels import Source, panels_of

SUBJECT = cd.models.synthetic_subject(duration=1.2)


def loads(scale: float = 1.0) -> list[cd.ExternalLoad]:
    ground = SUBJECT.ground_reactions
    forces = ground._with(values=ground.values * [scale if "force" in n else 1.0 for n in ground.names])
    return [cd.ExternalLoad(f"foot_{s}", forces, f"{s}_force_", f"{s}_point_") for s in "rl"]


def motion(rows: slice = slice(None)) -> cd.Motion:
    t = SUBJECT.motion.time[rows]
    return cd.Motion(SUBJECT.system, t, SUBJECT.motion.values[rows], SUBJECT.u[rows], SUBJECT.udot[rows])


@pytest.fixture(scope="module")
def found() -> Any:
    return cd.analyze(SUBJECT.system, motion(), loads(), configurations=["active", "passive"])


@pytest.fixture(scope="module")
def page(found: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "walk.html"
    found.report(path, title="A walk")
    return path


def test_an_analysis_has_what_its_studies_give(found: Any, tmp_path: Path) -> None:
    moments = cd.inverse_dynamics(SUBJECT.system, motion(), loads())
    np.testing.assert_array_equal(found["moments"].values, moments.values)
    np.testing.assert_array_equal(
        found["powers"].values, cd.joint_powers(SUBJECT.system, motion(), moments).values
    )
    grf = SUBJECT.ground_reactions
    np.testing.assert_allclose(found["ground_reactions"]["foot_r_fy"], grf["r_force_y"], atol=1e-9)
    assert found.quality.verdict in ("ok", "check") and len(found.qualities) == 3
    assert {p.stem for p in found.save(tmp_path, "csv")} == set(found.tables)
    assert "Analysis(" in repr(found)
    with pytest.raises(cd.errors.UnknownNameError, match="moments"):
        found["moment"]
    with pytest.raises(cd.errors.UnknownNameError, match="isometric"):
        cd.analyze(SUBJECT.system, motion(), configurations="isometrc")
    with pytest.raises(cd.errors.DescriptionError, match=r"got str; make one of it: cd.read_external_loads"):
        cd.analyze(SUBJECT.system, motion(), "grf.xml", configurations="active")
    with pytest.raises(cd.errors.DescriptionError, match="html"):
        found.report("walk.pdf")


def test_parts_are_in_order(page: Path, found: Any) -> None:
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"<h2[^>]*>(.*?)</h2>", text)
    assert [re.sub("<.*?>", "", h) for h in heads][1:] == [
        "The motion",
        "Joints",
        "Ground reactions",
        "Muscles and joint loads",
        "Muscle paths",
    ] + ["Notes"] * bool(found.notes)
    assert heads[0].startswith("<b>") and "checks" in heads[0]
    assert text.count('role="tab"') == 2 and 'class="still"' in text
    assert "hip_flexion +" in text and "soleus" in text
    assert len(text) < 5e6
    # nothing is fetched: addresses are those of the page itself
    assert not re.search(r'(src|href)="(?!#|data:)', re.sub(r'srcdoc="[^"]*"', "", text))


def test_verdicts_are_words() -> None:
    """Good, check and fail, each with a sign and a word; what to do once, though two results have it."""
    bad, odd, good = (
        Check("a", 9, "N", 1.0, advice="mend it"),
        Check("b", 1.5, "N", 1.0),
        Check("c", 0, "", 1.0),
    )
    text = verdicts({"one": Quality([bad, good]), "two": Quality([odd]), "three": Quality([good])})
    assert [text.count(f"<b>{word}</b>") for word in ("✕ fail", "! check", "✓ good")] == [3, 2, 1]
    assert "should not be used" in text and "2 of 4 checks" in text and text.count("mend it") == 1
    assert "All checks are within their guidelines (1 checks)" in verdicts({"x": Quality([good])})
    assert "✕ fail" in verdicts({"x": Quality([good])}, ["frame 3 was not solved"])
    assert "Nothing was checked" in verdicts({})


def test_small_numbers_beside_curves_keep_their_digits() -> None:
    """Places have two decimals, the words of an axis have all of theirs: 0.005 m is not 0.00."""
    t = np.linspace(0, 1, 5)
    arm = cd.Table(t, ["arm"], 0.0125 * t[:, None], ["m"])
    words = re.findall(r"<text[^>]*>([^<]*)</text>", svg(panels_of(Source(arm))[0], "moment arm"))
    assert {"0.000", "0.005", "0.010"} <= {*words}


def test_comparison(found: Any) -> None:
    """The other begins later and has fewer frames: both begin together, and differences are in a table."""
    other = cd.analyze(SUBJECT.system, motion(slice(20, 100)), loads(1.1), configurations=["active"])
    text = found.report(compare=other, labels=("before", "after <b>"))
    assert "<h2 id=" in text and "Differences" in text
    assert "before" in text and "after &lt;b&gt;" in text and "after <b>" not in text
    row = re.search(r"foot_r_fy, force \[N\]</th><td>([\d.]+)</td><td>([\d.]+)</td>", text)
    assert row is not None
    np.testing.assert_allclose(float(row[2]) / float(row[1]), 1.1, rtol=1e-3)  # four digits


def test_in_a_browser(page: Path, browser: Any) -> None:
    """One cursor; tabs; contents that stay; a phone's text can be read; print has a still picture."""
    context = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True)
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda e: errors.append(str(e)))
    tab.goto(page.as_uri())
    tab.locator("iframe").scroll_into_view_if_needed()
    frame = tab.frame_locator("iframe")
    frame.locator("html[data-ready]").wait_for(state="attached", timeout=60_000)
    tab.locator("#clock input").evaluate("(s) => { s.value = 0.6; s.dispatchEvent(new Event('input')); }")
    scene = tab.frames[1]
    scene.wait_for_function("Math.abs(condyle.state.t - 0.6) < 0.01")  # the message comes a moment later
    assert scene.evaluate("condyle.head.layers[0].arrows.length") == 2  # ground reactions
    scene.evaluate("condyle.seek(0.9)")
    tab.wait_for_function("document.querySelector('#clock output').textContent.startsWith('0.9')")
    at = "[...document.querySelectorAll('.cursor')].map((c) => c.getAttribute('transform'))"
    assert len(set(tab.evaluate(at))) == 1  # all panels have the same axes
    panels = tab.locator("[role=tabpanel]")
    assert panels.nth(0).is_visible() and not panels.nth(1).is_visible()
    tab.locator("[role=tab]").nth(0).press("ArrowRight")
    assert panels.nth(1).is_visible() and not panels.nth(0).is_visible()
    tab.evaluate("document.querySelector('#part3').scrollIntoView()")
    tab.wait_for_function("document.querySelector('nav [aria-current]').hash === '#part3'")
    assert tab.locator("nav").bounding_box()["y"] >= 0  # still there
    picture = tab.locator("svg[data-time]").nth(1).bounding_box()
    tab.mouse.move(picture["x"] + picture["width"] / 2, picture["y"] + picture["height"] / 2)
    assert not tab.locator(".still").is_visible()
    tab.emulate_media(media="print")
    assert tab.locator(".still").is_visible() and not tab.locator("iframe").is_visible()
    assert panels.nth(0).is_visible() and panels.nth(1).is_visible()
    tab.emulate_media(media="screen")
    tab.set_viewport_size({"width": 390, "height": 844})
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    sizes = "[...document.querySelectorAll('.panel svg text')].map((x) => x.getBoundingClientRect().height)"
    assert np.median([s for s in tab.evaluate(sizes) if s]) > 10  # [pixels]
    context.close()
    assert not errors
