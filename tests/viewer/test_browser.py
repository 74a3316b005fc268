"""Pages in a real browser: they load without errors or requests, move, are picked and plotted, obey keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.viewer import Arrows

Opened = Callable[..., Any]


def picture(tab: Any) -> str:
    return hashlib.sha256(tab.locator("#scene").screenshot()).hexdigest()


def test_a_motion(opened: Opened, arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    tab = opened(cd.show(arm, motion=bending, color=activity, title="an elbow", open=False))
    assert tab.title() == "an elbow" and tab.locator("h1").text_content() == "an elbow"

    # frames differ, and the same frame looks the same
    pictures = []
    for frame in (0, 30, 50, 0):
        tab.evaluate("f => condyle.draw(f)", frame)
        pictures.append(picture(tab))
    assert len(set(pictures)) == 3 and pictures[0] == pictures[3]

    # poses in the page are those of the system
    tab.evaluate("condyle.draw(30)")
    X = arm.body_pose(bending.values[30], "r_ulna_radius_hand")
    there = tab.evaluate("condyle.figures[0].nodes[2].position.toArray()")
    assert np.allclose(there, X.p, atol=1e-4)  # steps of 0.1 mm
    ends = tab.evaluate("Array.from(condyle.figures[0].tubes.world.slice(0, 3))")
    assert np.allclose(ends, arm.path_points(bending.values[30])[arm.paths[0]][0], atol=2e-4)

    # keys and timeline
    tab.evaluate("condyle.show(0)")
    tab.keyboard.press("ArrowRight")
    assert tab.evaluate("condyle.state.frame") == 1
    tab.keyboard.press("Shift+ArrowRight")
    assert tab.evaluate("condyle.state.frame") == 11
    tab.keyboard.press("End")
    assert tab.evaluate("condyle.state.frame") == 50 and tab.locator("#clock").text_content() == "1.00 s"
    tab.locator("#timeline").fill("20")
    assert tab.evaluate("condyle.state.frame") == 20
    assert "frame 21 of 51" in tab.locator("#timeline").get_attribute("aria-valuetext")
    tab.keyboard.press("Home")
    tab.keyboard.press("Space")
    for _ in range(300):  # a busy machine draws few pictures
        if tab.evaluate("condyle.state.frame") > 0:
            break
        tab.wait_for_timeout(50)
    tab.keyboard.press("Space")
    assert tab.evaluate("condyle.state.frame") > 0 and not tab.evaluate("condyle.state.playing")

    # views and theme
    before = tab.evaluate("condyle.stage.camera.position.toArray()")
    tab.get_by_role("button", name="Top").click()
    after = tab.evaluate("condyle.stage.camera.position.toArray()")
    assert not np.allclose(before, after) and after[1] > 0.5
    tab.keyboard.press("1")
    dark = tab.evaluate("document.documentElement.dataset.theme")
    tab.keyboard.press("d")
    assert {dark, tab.evaluate("document.documentElement.dataset.theme")} == {"dark", "light"}


def test_picking_and_plots(opened: Opened, arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    tab = opened(cd.show(arm, motion=bending, color=activity, plot=["r_elbow_flex"], open=False))
    tab.evaluate("condyle.draw(30)")
    middle = """(name) => { const f = condyle.figures[0], k = f.layer.lines.findIndex((l) => l.name === name);
        const p = f.tubes.plan[k], K = f.tubes.sides, o = [0, 0, 0];
        const first = 3 * K * (p.ring + (p.rings >> 1));
        for (let i = 0; i < 3 * K; i++) o[i % 3] += f.tubes.attributes[0].array[first + i] / K;
        return condyle.stage.screen(condyle.stage.camera.position.clone().fromArray(o)); }"""
    x, y = tab.evaluate(middle, "TRIlong")
    tab.keyboard.press("b")  # bones do not hide it
    tab.mouse.click(x, y)
    assert tab.locator("#card-name").text_content() in arm.muscles
    tab.evaluate("condyle.pick({figure: condyle.figures[0], kind: 'muscles', name: 'TRIlong'})")
    shown = float(tab.locator("#card-values output").first.text_content())
    assert shown == pytest.approx(activity["TRIlong"][30], abs=1e-3)  # columns keep 1/8192 of their range
    assert "muscle" in tab.locator("#card-kind").text_content()

    # plots: chosen from the card and from the list; the cursor moves the timeline
    assert tab.locator("#curves figure").count() == 1
    tab.get_by_role("button", name="plot TRIlong.activation").click()
    assert tab.locator("#curves figure").count() == 2
    value = tab.locator("#curves figure output").nth(1)
    assert float(value.text_content()) == pytest.approx(activity["TRIlong"][30], abs=1e-3)
    box = tab.locator("#curves figure .cursor").first.bounding_box()
    tab.mouse.click(box["x"] + box["width"] - 5, box["y"] + 30)
    assert tab.evaluate("condyle.state.frame") == 50
    assert float(value.text_content()) == pytest.approx(activity["TRIlong"][50], abs=1e-3)
    tab.locator("#choose summary").click()
    tab.get_by_label("find a column to plot").fill("shoulder")
    tab.locator(".columns label:visible").first.click()
    assert tab.locator("#curves figure").count() == 3
    tab.get_by_role("button", name="remove the plot of r_elbow_flex").click()
    assert tab.locator("#curves figure").count() == 2
    tab.keyboard.press("Escape")
    assert not tab.locator("#card").is_visible()


def test_values_of_a_muscle(opened: Opened, arm: cd.System) -> None:
    """What the card of a picked muscle says, with its unit, beside the state of that time."""
    start = arm.equilibrate_muscles(arm.state(inputs=dict.fromkeys(arm.muscles, 0.3)))
    run = cd.simulate(arm, start, t_final=0.2)
    page = cd.show(run, open=False)
    tab = opened(page)
    tab.evaluate("condyle.draw(120)")
    tab.evaluate("condyle.pick({figure: condyle.figures[0], kind: 'muscles', name: 'BRA'})")
    texts = [row.split("\t")[:2] for row in tab.locator("#card-values tr").all_inner_texts()]
    said = {label: float(value) for label, value in texts}
    state = run(float(page.scene.layers[0].t[120]))
    length = state.path_lengths()[arm.paths.index("BRA")]
    assert said["length [m]"] == pytest.approx(length, rel=1e-3)  # four digits are shown
    assert said["fiber_length [m]"] == pytest.approx(state["BRA.fiber_length"], rel=1e-3)
    assert "tendon_force [N]" in said and "activation" in said


def test_show_and_hide(opened: Opened, swing: Trajectory) -> None:
    t = np.linspace(0, 2, 41)
    tip = swing.station_position("lower", (0.02, -0.3, 0.05), t=t).values
    seen = SimpleNamespace(time=t, names=["tip"], positions=tip[:, None])
    push = Arrows("push", t, tip, np.tile([10.0, 0, 0], (41, 1)))
    tab = opened(
        cd.show(swing, markers=seen, arrows=push, compare=swing[:20], offset=(0, 0, 0.3), open=False)
    )
    tab.evaluate("condyle.draw(20)")
    before = picture(tab)
    for name in (
        "Bodies",
        "Joints",
        "Forces",
        "Springs",
        "Model's markers",
        "Measured markers",
        "Marker errors",
    ):
        tab.get_by_label(name, exact=True).uncheck()
        tab.evaluate("condyle.draw(20)")
        after = picture(tab)
        assert after != before, name
        before = after
    tab.get_by_label("find a name in the list").fill("upper")
    assert tab.locator("#tree .item:visible", has_text="lower").count() == 0
    tab.get_by_label("distance between motions").fill("1")
    moved = tab.evaluate("condyle.figures.map((f) => f.root.position.toArray())")
    assert moved[0] == [0, 0, 0] and moved[1][2] == pytest.approx(0.3) and abs(moved[1][0]) > 0.1


def test_a_motion_later_in_time(opened: Opened, swing: Trajectory) -> None:
    """Given to cd.show and changed in the page: at time t the second motion is where it was at t - later."""
    tab = opened(cd.show(swing, compare=swing, later=0.5, plot=["upper"], open=False))
    angle = "(i) => condyle.figures[i].values.columns[0] * Math.PI / 180"
    tab.evaluate("condyle.seek(1.0)")
    assert tab.evaluate(angle, 0) == pytest.approx(swing(1.0)["upper"], abs=2e-3)  # a frame is 10 ms
    assert tab.evaluate(angle, 1) == pytest.approx(swing(0.5)["upper"], abs=2e-3)
    assert tab.evaluate("condyle.plots.end") == pytest.approx(2.5)
    tab.get_by_label("how much later the other motions are, in seconds").fill("-0.25")
    assert tab.evaluate(angle, 1) == pytest.approx(swing(1.25)["upper"], abs=2e-3)
    with pytest.raises(cd.errors.CondyleError, match="give that as compare="):
        cd.show(swing, later=0.5, open=False)


def test_coarse_and_fine(opened: Opened, arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    """Without a graphics processor a moving picture has few triangles and calls, and shows the same: corners
    of a bone in the crowd are where the bone's own mesh has them. At rest the picture is fine."""
    tab = opened(cd.show(arm, motion=bending, color=activity, open=False))
    if not tab.evaluate("condyle.stage.slow"):
        pytest.skip("this browser has a graphics processor")
    count = "(fine) => { condyle.stage.plain = false; condyle.stage.touch(); condyle.stage.draw(fine); "
    count += "const r = condyle.stage.renderer.info.render; return [r.triangles, r.calls]; }"
    tab.evaluate("condyle.show(30)")
    (coarse, calls), (fine, _) = tab.evaluate(count, False), tab.evaluate(count, True)
    assert calls <= 8 and 3 * coarse < fine
    middle = """(k) => { const f = condyle.figures[0], part = f.crowd.parts[k], o = [0, 0, 0]; f.form(false);
        const a = f.crowd.attributes[0].array; for (let i = 0; i < part.n; i++) for (let j = 0; j < 3; j++)
            o[j] += a[3 * (part.first + i) + j] / part.n;
        part.item.updateWorldMatrix(true, false); part.item.geometry.computeBoundingBox();
        const box = part.item.geometry.boundingBox.clone().applyMatrix4(part.item.matrixWorld);
        return [o, box.min.toArray(), box.max.toArray()]; }"""
    for k in tab.evaluate("condyle.figures[0].crowd.parts.flatMap((p, i) => p.item.visible ? [i] : [])"):
        inside, low, high = map(np.array, tab.evaluate(middle, k))
        assert (inside > low).all() and (inside < high).all()


def test_a_bad_frame_is_said(opened: Opened, arm: cd.System, bending: cd.Table) -> None:
    values = bending.values.copy()
    values[20] = np.nan
    table = cd.Table(bending.time, bending.names, values, bending.units)
    tab = opened(cd.show(arm, motion=table, open=False))
    hand, path = (
        "condyle.figures[0].nodes[2].position.toArray()",
        "Array.from(condyle.figures[0].tubes.world)",
    )
    tab.evaluate("condyle.draw(19)")
    good = tab.evaluate(hand), tab.evaluate(path)
    assert tab.locator("#bad").text_content() == ""
    tab.evaluate("condyle.draw(20)")
    assert "is not a number at 0.4 s; the last good pose is shown" in tab.locator("#bad").text_content()
    assert picture(tab) != "" and tab.locator("#notes").text_content().startswith("1 of 51 frames")
    assert "ground" not in tab.locator("#bad").text_content()
    tab.evaluate("condyle.draw(50)")  # from wherever one comes
    tab.evaluate("condyle.draw(20)")
    assert (tab.evaluate(hand), tab.evaluate(path)) == good


def test_the_page_may_ask_nobody(opened: Opened, swing: Trajectory) -> None:
    """The browser itself refuses: an offline machine would prove nothing."""
    tab = opened(cd.show(swing[0], open=False))
    refused = tab.evaluate("""() => new Promise((done) => {
        addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective));
        new Image().src = 'https://example.org/x.png'; setTimeout(() => done(null), 2000); })""")
    assert refused == "img-src"
    assert not tab.locator("#bar").is_visible()  # one pose has no timeline


def test_a_phone(opened: Opened, arm: cd.System, bending: cd.Table) -> None:
    tab = opened(cd.show(arm, motion=bending, open=False), 390, 780, has_touch=True, is_mobile=True)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert not tab.locator("#tree").is_visible() and tab.locator("#play").is_visible()
    tab.get_by_role("button", name="plots").tap()
    assert tab.locator("#plots").is_visible()
    tab.get_by_role("button", name="list of what is shown").tap()
    assert tab.locator("#tree").is_visible() and not tab.locator("#plots").is_visible()
    assert tab.locator("#scene").bounding_box()["height"] > 250
    small = tab.evaluate("""[...document.querySelectorAll('header button, #bar button')]
        .filter((b) => b.offsetParent && (b.offsetHeight < 36 || b.offsetWidth < 30)).map((b) => b.id)""")
    assert small == []


def test_everyone_can_use_it(opened: Opened, arm: cd.System, bending: cd.Table, activity: cd.Table) -> None:
    """Every control has a name; texts stand out by 4.5 : 1 in both themes; keys reach the controls."""
    tab = opened(cd.show(arm, motion=bending, color=activity, open=False))
    nameless = tab.evaluate("""[...document.querySelectorAll('button, input, select, canvas, nav, aside')]
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length
            || e.className === 'cursor'))
        .map((e) => e.outerHTML)""")
    assert nameless == []
    contrast = """() => { const rgb = (c) => { const g = document.createElement('canvas').getContext('2d');
        g.fillStyle = c; g.fillRect(0, 0, 1, 1); return [...g.getImageData(0, 0, 1, 1).data].slice(0, 3); };
        const light = (c) => rgb(c).map((x) => x / 255)
            .map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4)
            .reduce((s, x, i) => s + x * [0.2126, 0.7152, 0.0722][i], 0);
        const style = getComputedStyle(document.documentElement), v = (n) => style.getPropertyValue(n);
        const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05); };
        return ['--ink', '--soft', '--bad', '--accent'].map((n) => Math.min(
            ratio(v(n), v('--panel').slice(0, 7)), ratio(v(n), v('--back')))); }"""
    for dark in (False, True):
        tab.evaluate("(d) => condyle.theme(d)", dark)
        assert min(tab.evaluate(contrast)) >= 4.5  # WCAG 2 AA for small text
    reached = set()
    for _ in range(40):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id"))
    assert {"play", "timeline", "speed", "theme", "scene"} <= reached
    tab.evaluate("document.activeElement.blur()")  # in a field it is a letter
    tab.keyboard.press("?")
    assert tab.locator("#help").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator("#help").is_visible()


def test_pressure(opened: Opened) -> None:
    """Both triangles that touch are colored, and the scale has its unit."""
    from tests.viewer.test_contacts import brick

    tab = opened(cd.show(brick(), open=False))
    assert "Pa" in tab.locator("#pressure-high").text_content() and tab.locator("#pressure").is_visible()
    shown = tab.evaluate("Array.from(condyle.figures[0].pressures.maps[0].color.array)")
    assert len(shown) == 18 and max(abs(np.diff(np.reshape(shown, (6, 3)), axis=0).ravel())) < 0.02  # equal
    assert tab.evaluate("condyle.figures[0].kinds().pressures") == ["stand: brick"]


def test_select_center_isolate_names(
    opened: Opened, arm: cd.System, bending: cd.Table, activity: cd.Table
) -> None:
    """By keys, by the list and by the mouse."""
    tab = opened(cd.show(arm, motion=bending, color=activity, open=False))
    tab.evaluate("condyle.draw(30)")
    tab.locator("#scene").focus()
    tab.keyboard.press("n")
    first = tab.locator("#card-name").text_content()
    tab.keyboard.press("n")
    second = tab.locator("#card-name").text_content()
    assert first != second and "r_humerus" in (first, second)
    tab.keyboard.press("Shift+N")
    assert tab.locator("#card-name").text_content() == first

    # the list: names are buttons
    tab.get_by_label("Muscles, 6", exact=True).click()
    tab.get_by_role("button", name="BRA", exact=True).press("Enter")
    assert tab.locator("#card-name").text_content() == "BRA"
    assert tab.locator("#tree .item.picked").inner_text().strip() == "BRA"
    place = tab.evaluate("condyle.figures[0].where('muscles', 'BRA').toArray()")
    path = arm.path_points(bending.values[30])["BRA"]
    assert np.linalg.norm(np.array(place) - np.mean(path, axis=0)) < 0.1
    tab.keyboard.press("c")
    assert tab.evaluate("condyle.stage.controls.target.toArray()") == pytest.approx(place)

    # isolated: the muscle and its bones; then all as it was
    shown = (
        """(kind) => condyle.figures[0].kinds()[kind].filter((n) => condyle.figures[0].isShown(kind, n))"""
    )
    before = tab.evaluate(shown, "muscles"), tab.evaluate(shown, "bodies")
    tab.keyboard.press("i")
    assert tab.evaluate(shown, "muscles") == ["BRA"] and len(tab.evaluate(shown, "bodies")) >= 2
    assert tab.locator("#card-isolate").get_attribute("aria-pressed") == "true"
    tab.get_by_role("button", name="Isolate").click()
    assert (tab.evaluate(shown, "muscles"), tab.evaluate(shown, "bodies")) == before

    # names in the scene, each where its muscle is
    tab.locator("#scene").focus()
    tab.keyboard.press("t")
    tab.evaluate("condyle.draw(31)")
    texts = tab.locator("#labels span:visible").all_inner_texts()
    assert texts and set(texts) <= set(arm.muscles)
    box = tab.locator("#labels span:visible", has_text=texts[0]).bounding_box()
    x, y = tab.evaluate("(n) => condyle.stage.screen(condyle.figures[0].where('muscles', n))", texts[0])
    assert 0 < box["x"] - x < 20 and abs(box["y"] + box["height"] / 2 - y) < 3
    tab.get_by_role("button", name="show the names of muscles").click()
    assert tab.locator("#labels span").count() == 0

    # double click: what is below the pointer comes to the middle
    x, y = tab.evaluate("condyle.stage.screen(condyle.figures[0].where('bodies', 'r_humerus'))")
    point = tab.evaluate("([x, y]) => condyle.stage.pick(x, y, condyle.figures).point.toArray()", [x, y])
    tab.mouse.dblclick(x, y)
    assert tab.evaluate("condyle.stage.controls.target.toArray()") == pytest.approx(point, abs=0.01)  # pixels


def test_hover_and_zoom_in_plots(opened: Opened, swing: Trajectory) -> None:
    tab = opened(cd.show(swing, compare=swing, names=["one", "two"], plot=["upper"], open=False))
    assert tab.locator("#motions").inner_text().split() == ["one", "two"]
    box = tab.locator("#curves figure .cursor").bounding_box()
    left, right = box["x"] + 46, box["x"] + box["width"] - 8
    tab.mouse.move((left + right) / 2, box["y"] + 40)
    said = tab.locator("#curves .cursor span").inner_text()
    assert said.startswith("1 s: one ") and ", two " in said
    assert float(said.split("one ")[1].split(",")[0]) == pytest.approx(
        np.degrees(swing(1.0)["upper"]), abs=0.2
    )  # a frame is 10 ms
    assert tab.evaluate("condyle.state.frame") == 0  # reading is not moving
    tab.keyboard.down("Shift")
    tab.mouse.move(left + 0.25 * (right - left), box["y"] + 40)
    tab.mouse.down()
    tab.mouse.move(left + 0.5 * (right - left), box["y"] + 40, steps=3)
    tab.mouse.up()
    tab.keyboard.up("Shift")
    assert tab.evaluate("condyle.plots.zoomed") == pytest.approx([0.5, 1.0], abs=0.02)
    low, high = tab.evaluate("[condyle.plots.plots.get('upper').low, condyle.plots.plots.get('upper').high]")
    within = np.degrees([swing(t)["upper"] for t in np.linspace(0.5, 1, 51)])
    assert low == pytest.approx(within.min(), abs=0.5) and high == pytest.approx(within.max(), abs=0.5)
    tab.get_by_role("button", name="less of time").click()
    assert np.ptp(tab.evaluate("condyle.plots.zoomed")) == pytest.approx(0.3, abs=0.02)
    tab.locator("#curves figure .cursor").dblclick()
    assert tab.evaluate("condyle.plots.zoomed") is None


def test_files_from_the_page(opened: Opened, swing: Trajectory, tmp_path: Path) -> None:
    from PIL import Image

    tab = opened(cd.show(swing[:8], plot=["upper"], title="a swing", open=False))

    def saved(what: str) -> Any:
        tab.get_by_role("button", name="save", exact=True).click()
        with tab.expect_download(timeout=60_000) as found:
            tab.locator(f"[data-save={what}]").click()
        path = tmp_path / found.value.suggested_filename
        found.value.save_as(path)
        return path

    with Image.open(saved("picture")) as image:
        assert image.format == "PNG" and len(image.convert("RGB").getcolors(1 << 20)) > 50
    table = cd.read_table(saved("curves"))
    assert list(table.names) == ["upper"] and list(table.units) == ["deg"]
    expected = np.degrees([swing(t)["upper"] for t in table.time])
    np.testing.assert_allclose(table["upper"], expected, atol=2e-4 * np.ptp(expected))  # steps of 1/8192
    assert len(cd.read_table(saved("columns")).names) == 4
    movie = saved("movie")
    assert movie.stat().st_size > 500 and movie.suffix in (".webm", ".mp4")


def test_curves_and_pose_are_of_one_frame(opened: Opened, swing: Trajectory) -> None:
    """Without a graphics processor too: whenever a picture is drawn, the cursors are at its time."""
    tab = opened(cd.show(swing, plot=["upper"], open=False))
    apart = """() => new Promise((done) => { let worst = 0, n = 0; const { stage, state, plots } = condyle;
        const plot = plots.plots.get('upper');
        const before = stage.ondraw; stage.ondraw = () => { before();
            const x = +/translateX\\(([-0-9.e]+)px/.exec(plot.line.style.transform)[1];
            worst = Math.max(worst, Math.abs(x - plots.x(state.t, plot.width)));
            if (++n > 8) { stage.ondraw = before; condyle.play(false); done([worst, n]); } };
        condyle.play(true); })"""
    worst, count = tab.evaluate(apart)
    assert count > 8 and worst < 1e-2  # pixels


def test_a_browser_without_webgl(browser: Any, swing: Trajectory, tmp_path: Path) -> None:
    """It has no picture, and says so; curves and values are there."""
    page = cd.show(swing, tmp_path / "page.html", plot=["upper"])
    assert page.path is not None
    tab = browser.new_page()
    script = "const own = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
    script += "function (kind, ...rest) { return kind === '2d' ? own.call(this, kind, ...rest) : null; }"
    tab.add_init_script(script)
    tab.goto(page.path.as_uri() + "#still")
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=60_000)
    assert "has no WebGL" in tab.locator("#notes summary").inner_text()
    tab.evaluate("condyle.seek(1.0)")
    said = float(tab.locator("#curves output").inner_text())
    assert said == pytest.approx(np.degrees(swing(1.0)["upper"]), abs=0.2)  # a frame is 10 ms
    tab.close()
