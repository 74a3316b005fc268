"""Pictures and movies without a screen: by matplotlib always, by the browser where there is one."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import condyle as cd
from condyle.integrate.trajectory import Trajectory
from condyle.viewer import Arrows
from condyle.viewer.drawing import Camera
from condyle.viewer.page import ViewOptions
from condyle.viewer.pictures import chromium
from condyle.viewer.shown import scene_of

SMALL = (240, 160)


def pixels(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), dtype=int)


def test_matplotlib_draws_what_moves(
    tmp_path: Path, arm: cd.System, bending: cd.Table, activity: cd.Table
) -> None:
    given: dict[str, Any] = {"motion": bending, "color": activity, "size": SMALL, "renderer": "matplotlib"}
    first, last = (pixels(cd.picture(arm, tmp_path / f"{t}.png", t=t, **given)) for t in (0.0, 1.0))
    assert first.shape == (160, 240, 3)
    assert (np.abs(first - last).sum(axis=2) > 60).sum() > 50  # the forearm is elsewhere
    again = pixels(cd.picture(arm, tmp_path / "again.png", t=0.0, **given))
    assert np.array_equal(first, again)
    dark = pixels(cd.picture(arm, tmp_path / "dark.png", t=0.0, dark=True, **given))
    assert dark[0, 0].sum() < 200 < first[0, 0].sum()


def test_everything_is_drawn(tmp_path: Path, swing: Trajectory) -> None:
    """Markers, arrows, springs and a second motion each change the picture."""
    t = np.linspace(0, 2, 11)
    tip = swing.station_position("lower", (0.1, -0.3, 0.05), t=t).values
    push = Arrows("push", t, tip, np.tile([10.0, 0, 0], (11, 1)))
    seen = type("Seen", (), {"time": t, "names": ["tip"], "positions": tip[:, None]})
    given: dict[str, Any] = {"t": 1.0, "size": SMALL, "renderer": "matplotlib"}
    shown = [
        pixels(cd.picture(swing, tmp_path / f"{k}.png", **given, **more))
        for k, more in enumerate(
            [{}, {"arrows": push}, {"markers": seen}, {"compare": swing[:3]}, {"view": "top"}]
        )
    ]
    assert all((a != b).any() for i, a in enumerate(shown) for b in shown[:i])


@pytest.mark.skipif(chromium() is None, reason="no chromium or no playwright")
@pytest.mark.parametrize("view", ["side", "any"])
def test_two_renderers_draw_the_same(tmp_path: Path, swing: Trajectory, view: str) -> None:
    """What is colored, which grid and shadows are not, covers the same pixels in the browser and by
    matplotlib, which share no line of code; 0.7: edges of thin things, and lights differ."""
    colored = []
    for renderer in ("browser", "matplotlib"):
        image = pixels(
            cd.picture(
                swing, tmp_path / f"{renderer}.png", t=0.6, view=view, size=(480, 320), renderer=renderer
            )
        )
        colored.append(np.ptp(image, axis=2) > 40)
    both, either = (colored[0] & colored[1]).sum(), (colored[0] | colored[1]).sum()
    assert either > 1500 and both > 0.7 * either


def test_svg(tmp_path: Path, swing: Trajectory) -> None:
    text = cd.picture(swing, tmp_path / "a.svg", t=1.0, size=SMALL).read_text(encoding="utf-8")
    assert text.startswith("<?xml") and len(text) < 1e6


def test_all_is_in_view(swing: Trajectory) -> None:
    """Every corner of every shape, in all frames; and the picture is not much larger than they need."""
    scene = scene_of(swing)
    d = scene.layers[0]
    own = [
        (part.body, part.shape.surface()[0] @ part.X_BS.R.T + part.X_BS.p)
        for part in d.parts
        if part.kind != "inertias"
    ]  # hidden at first
    corners = np.concatenate(
        [(np.einsum("tij,nj->tni", d.R[:, b], x) + d.p[:, b, None]).reshape(-1, 3) for b, x in own if len(x)]
    )
    for view in ("any", "front", "side", "top"):
        flat, _ = Camera.of(scene, ViewOptions(view), SMALL).project(corners)
        share = np.abs(flat / (np.array(SMALL) / 2)).max(axis=0)
        assert share.max() <= 1 and share.max() > 0.7, view  # boxes around shapes are what is fitted


def test_movies(tmp_path: Path, swing: Trajectory) -> None:
    given: dict[str, Any] = {"rate": 2.0, "size": SMALL, "renderer": "matplotlib"}
    for name in ("a.gif", "a.webp"):
        with Image.open(swing.movie(tmp_path / name, **given)) as made:
            assert made.n_frames == 5 and made.size == SMALL  # 0, 0.5, ... 2 s
    first = cd.movie(swing, tmp_path / "b.png", speed=2.0, **given)
    assert first.name == "b_0000.png"
    assert sorted(p.name for p in tmp_path.glob("b_*")) == ["b_0000.png", "b_0001.png", "b_0002.png"]
    pytest.importorskip("imageio_ffmpeg")
    path = swing.movie(tmp_path / "c.mp4", **given)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_curves_beside_the_scene(tmp_path: Path, swing: Trajectory) -> None:
    """They take the right of the picture, and the scene keeps the left."""
    if chromium() is None:
        pytest.skip("no chromium and playwright on this machine: apt-get install chromium")
    given: dict[str, Any] = {"t": 1.0, "size": (900, 300)}
    alone, beside = (
        pixels(cd.picture(swing, tmp_path / "a.png", plot=plot, **given))
        for plot in (None, [swing.system.coordinates[0]])
    )
    colored = [(np.ptp(image[:, 600:], axis=2) > 60).sum() for image in (alone, beside)]
    assert colored[1] > 300 > colored[0]  # the curve and its cursor


def test_the_browser_draws_the_same_pose(tmp_path: Path, swing: Trajectory) -> None:
    """Loosely: what differs from the ground covers the same part of the picture."""
    if chromium() is None:
        pytest.skip("no chromium and playwright on this machine: apt-get install chromium")
    masks = []
    for how in ("browser", "matplotlib"):
        image = pixels(cd.picture(swing, tmp_path / f"{how}.png", t=1.0, size=(480, 320), renderer=how))
        teal = (image[..., 1] - image[..., 0] > 40) & (image[..., 2] - image[..., 0] > 40)
        masks.append(teal)
    both = (masks[0] & masks[1]).sum() / (masks[0] | masks[1]).sum()
    assert masks[0].sum() > 300 and both > 0.6  # the box is teal; lights differ at its edges


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s, p: cd.picture(s, p / "a.jpg"), "ends in .png or .svg"),
        (lambda s, p: cd.movie(s, p / "a.avi"), "ends in .mp4, .gif, .webp or .png"),
        (lambda s, p: cd.movie(s, p / "a.gif", rate=0), "rate: expected a number above zero"),
        (lambda s, p: cd.picture(s, p / "a.png", size=(0, 1)), "from 16 to 8192"),
        (lambda s, p: cd.picture(s, p / "a.png", view="back", renderer="matplotlib"), "expected one of any"),
        (lambda s, p: cd.picture(s, p / "a.png", renderer="gpu"), "renderer: expected one of"),
        (lambda s, p: cd.picture(s, p / "a.png", t="now"), "expected a time"),
        (lambda s, p: cd.picture(s, p / "a.svg", t=50), "t = 50 s: the motion goes from 0 to"),
        (lambda s, p: cd.picture(p / "a.svg", s), r"cd\.picture\(motion, path\), got Trajectory"),
        (lambda s, p: cd.movie(s, p / "a.gif", fps=3), "it is rate="),
        (lambda s, p: cd.picture(s, p / "a.png", plot=["x"], renderer="matplotlib"), "need the browser"),
    ],
)
def test_mistakes_are_told(call: Any, words: str, tmp_path: Path, swing: Trajectory) -> None:
    with pytest.raises(cd.errors.DescriptionError, match=words):
        call(swing, tmp_path)
    assert not list(tmp_path.iterdir())


def test_pictures_where_a_loop_runs(tmp_path: Path, swing: Trajectory) -> None:
    """As in a notebook. In a thread, since the browser of other tests has a loop in this one."""
    if chromium() is None:
        pytest.skip("no chromium and playwright on this machine: apt-get install chromium")

    async def cell() -> Path:
        return cd.picture(swing, tmp_path / "cell.png", size=(320, 240), renderer="browser")

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(lambda: asyncio.run(cell())).result().stat().st_size > 1000


def test_where_the_camera_is(tmp_path: Path, swing: Trajectory) -> None:
    """Angles of the standard views give these views; zoom brings it nearer; both renderers agree."""
    scene = scene_of(swing)
    for view, azimuth, elevation in (("front", 0, 0), ("side", 90, 0), ("top", 180, 90)):
        named, turned = (
            Camera.of(scene, look, SMALL)
            for look in (ViewOptions(view), ViewOptions("any", azimuth, elevation))
        )
        # the camera above stands 0.001 before the zenith, or 0.05 degrees
        np.testing.assert_allclose(turned.axes[2], named.axes[2], atol=2e-3)
    whole, near = (Camera.of(scene, ViewOptions("side", zoom=zoom), SMALL).distance for zoom in (1.0, 2.0))
    assert near == pytest.approx(whole / 2)
    same = [
        pixels(cd.picture(swing, tmp_path / "a.png", size=SMALL, renderer="matplotlib", **look))
        for look in ({"view": "side"}, {"azimuth": 90.0, "elevation": 0.0})
    ]
    assert np.abs(same[0] - same[1]).max() == 0
    for wrong, words in (
        ({"azimuth": 400.0}, "azimuth: expected a number from -360 to 360"),
        ({"elevation": 91}, "elevation"),
        ({"zoom": 0}, "zoom: expected a number from 0.01 to 100, got 0"),
        ({"zoom": None}, "zoom"),
        ({"labels": "uper"}, "did you mean 'upper'"),
        ({"labels": True}, r"names of kinds \(bodies, .* got True"),
    ):
        with pytest.raises(cd.errors.CondyleError, match=words):
            cd.picture(swing, tmp_path / "b.png", size=SMALL, renderer="matplotlib", **wrong)


def alpha(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image.convert("RGBA"))[..., 3]


@pytest.mark.parametrize("renderer", ["matplotlib", "browser"])
def test_nothing_behind_and_names(renderer: str, tmp_path: Path, swing: Trajectory) -> None:
    if renderer == "browser" and chromium() is None:
        pytest.skip("no chromium or no playwright on this machine")
    given: dict[str, Any] = {"size": SMALL, "renderer": renderer, "azimuth": 60.0, "elevation": 10.0}
    clear = alpha(cd.picture(swing, tmp_path / "a.png", transparent=True, **given))
    assert clear[0, 0] == 0 and clear.max() == 255 and 0.005 < (clear > 0).mean() < 0.6
    full = cd.picture(swing, tmp_path / "b.png", **given)
    assert alpha(full).min() == 255
    named = cd.picture(swing, tmp_path / "c.png", labels=["bodies", "tip"], **given)
    assert (pixels(full) != pixels(named)).any()
