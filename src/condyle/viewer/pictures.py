"""`cd.picture` and `cd.movie`: pictures and movies, made without a screen."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
from condyle.arguments import with_call_hints
from condyle.arrays import Array, is_number
from condyle.errors import CondyleError, DescriptionError
from condyle.viewer.drawing import figure_of
from condyle.viewer.page import Page, ViewOptions
from condyle.viewer.scene import Scene
from condyle.viewer.shown import scene_of

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ANIMATED = (".gif", ".webp")
RENDERERS = ("auto", "browser", "matplotlib")
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def chromium() -> str | None:
    """A browser that can draw without a screen, if it and playwright are installed."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return None
    return next((path for name in CHROMIUMS if (path := shutil.which(name))), None)


@with_call_hints({"frame": "it is t=, a time [s]"})
def picture(
    what: object,
    path: str | Path,
    *,
    t: float | None = None,
    size: tuple[int, int] = (1280, 720),
    view: str = "any",
    azimuth: float | None = None,
    elevation: float | None = None,
    zoom: float = 1.0,
    labels: str | Sequence[str] = (),
    transparent: bool = False,
    dark: bool = False,
    plot: list[str] | None = None,
    renderer: str = "auto",
    **options: object,
) -> Path:
    """Write one picture, without a screen.

    Args:
        what: as for `cd.show`.
        path: ends in .png or .svg.
        t: time [s]; the first frame by default.
        size: width and height [pixels].
        view: "any", "front", "side" or "top".
        azimuth: of the camera about the vertical [degrees]: 0 from the front, 90 from the right side, 180
            from behind; by default that of the view.
        elevation: of the camera above level [degrees], from -90 to 90; by default that of the view.
        zoom: 1 sees all, 2 is twice as near.
        labels: things that are labeled: "bodies", "joints", "muscles", "markers", "forces", or names of
            some of them.
        transparent: a transparent background, without a grid.
        dark: a dark background.
        plot: names of columns, of the motion or of `plots`, plotted beside the scene; needs the browser.
        renderer: "browser" draws as the page does, for .png, if Chromium and playwright are installed;
            "matplotlib" works everywhere; "auto" uses the browser if possible.
        options: more of `cd.show`, such as motion, color, markers, arrows, compare, offset.

    Returns:
        the path.

    Raises:
        DescriptionError: another ending, a renderer that is not installed, an object that cannot be shown.
    """
    path = _path("picture", path)
    if path.suffix.lower() not in (".png", ".svg"):
        raise DescriptionError(
            f"picture: {str(path)!r}: it ends in .png or .svg; cd.show makes .html, cd.movie .mp4 and .gif"
        )
    more: dict[str, Any] = options
    scene = scene_of(what, **more)
    frame = 0 if t is None else _frame(scene.layers[0].t, _time(t))
    look = ViewOptions(view, azimuth, elevation, zoom, labels)
    how = _renderer(renderer if path.suffix.lower() == ".png" or renderer == "browser" else "matplotlib")
    if path.suffix.lower() == ".svg":
        if how == "browser":
            raise DescriptionError("picture: browsers make no .svg; omit renderer")
        with files.atomic_write(path, "wb") as file:
            figure_of(scene, frame, look, _size(size), dark, transparent).savefig(file, format="svg")
        return path
    with _drawn(scene, [frame], look, _size(size), dark, how, plot, transparent) as pictures:
        for data in pictures:
            with files.atomic_write(path, "wb") as file:
                file.write(data)
    return path


@with_call_hints({"fps": "it is rate=, pictures per second"})
def movie(
    what: object,
    path: str | Path,
    *,
    rate: float = 25.0,
    speed: float = 1.0,
    size: tuple[int, int] = (1280, 720),
    view: str = "any",
    azimuth: float | None = None,
    elevation: float | None = None,
    zoom: float = 1.0,
    labels: str | Sequence[str] = (),
    dark: bool = False,
    plot: list[str] | None = None,
    renderer: str = "auto",
    **options: object,
) -> Path:
    """Write a movie, without a screen.

    Args:
        what: a motion, as for `cd.show`.
        path: ends in .mp4 (needs ffmpeg: `pip install "condyle[movies]"`), .gif, .webp (a third as large), or
            .png for pictures with numbers, NAME_0000.png, NAME_0001.png and on.
        rate: pictures per second.
        speed: 0.5 is half of real time.
        size: width and height [pixels], even numbers for .mp4.
        view: "any", "front", "side" or "top".
        azimuth: as for `cd.picture`, as are elevation, zoom and labels.
        elevation: [degrees].
        zoom: 2 is twice as near.
        labels: things that are labeled.
        dark: a dark background.
        plot: as for `cd.picture`: curves whose cursor moves with the scene.
        renderer: as for `cd.picture`.
        options: more of `cd.show`.

    Returns:
        the path; of the first picture if there are several.

    Raises:
        DescriptionError: another ending, ffmpeg is missing, an object that cannot be shown.
    """
    path = _path("movie", path)
    ending = path.suffix.lower()
    if ending not in (".mp4", *ANIMATED, ".png"):
        raise DescriptionError(f"movie: {str(path)!r}: it ends in .mp4, .gif, .webp or .png")
    for name, x in (("rate", rate), ("speed", speed)):
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not 0 < x < 1e4:
            raise DescriptionError(f"movie: {name}: expected a number above zero, got {x!r}")
    look = ViewOptions(view, azimuth, elevation, zoom, labels)
    ffmpeg = _ffmpeg() if ending == ".mp4" else ""
    more: dict[str, Any] = options
    scene = scene_of(what, **more)
    times = scene.layers[0].t
    count = max(1, round(float(times[-1] - times[0]) / speed * rate) + 1)
    wanted = times[0] + np.arange(count) * speed / rate
    frames = [int(i) for i in np.clip(np.searchsorted(times, wanted + 1e-9) - 1, 0, len(times) - 1)]
    with _drawn(scene, frames, look, _size(size), dark, _renderer(renderer), plot) as pictures:
        if ending == ".png":
            return _numbered(path, pictures)
        if ending in ANIMATED:
            return _animated(path, pictures, rate)
        return _mp4(path, pictures, rate, ffmpeg)


def _path(what: str, path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise DescriptionError(
            f"{what}: expected cd.{what}(motion, path), got {type(path).__name__} as the path"
        )
    return Path(path)


def _frame(times: Array, t: float) -> int:
    """The frame nearest to a time; a single pose is that of all times."""
    if len(times) > 1 and not times[0] - 1e-9 <= t <= times[-1] + 1e-9:
        raise DescriptionError(f"picture: t = {t:g} s: the motion goes from {times[0]:g} to {times[-1]:g} s")
    return int(np.argmin(np.abs(times - t)))


def _time(t: Any) -> float:
    if not is_number(t):
        raise DescriptionError(f"picture: t: expected a time [s], got {t!r}")
    return float(t)


def _size(size: Any) -> tuple[int, int]:
    try:
        width, height = (int(x) for x in size)
    except (TypeError, ValueError):
        width = height = 0
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise DescriptionError(f"size: expected width and height from 16 to 8192 pixels, got {size!r}")
    return width, height


def _renderer(name: str) -> str:
    if name not in RENDERERS:
        raise DescriptionError(f"renderer: expected one of {', '.join(RENDERERS)}, got {name!r}")
    if name == "browser" and chromium() is None:
        raise DescriptionError(
            "renderer: Chromium or playwright is missing: python -m pip install "
            "'condyle[browser]'; renderer='matplotlib' needs neither"
        )
    return ("browser" if chromium() else "matplotlib") if name == "auto" else name


@contextlib.contextmanager
def _drawn(
    scene: Scene,
    frames: list[int],
    look: ViewOptions,
    size: tuple[int, int],
    dark: bool,
    how: str,
    plot: list[str] | None = None,
    clear: bool = False,
) -> Iterator[Iterator[bytes]]:
    """PNG files of some frames, one after the other."""
    if how == "matplotlib":
        if plot:
            raise DescriptionError("plot: curves beside the scene need the browser: omit renderer or plot")
        yield (_png(figure_of(scene, frame, look, size, dark, clear)) for frame in frames)
        return
    # in a thread of its own: where a loop of asyncio runs, as in notebooks, Playwright refuses to work
    with tempfile.TemporaryDirectory(prefix="condyle-") as folder, ThreadPoolExecutor(1) as thread:
        page = Page(scene, play=False, look=look, panels=False, plot=plot or [], bare=True)
        path = page.save(Path(folder) / "page.html")
        tab, close = thread.submit(_opened, path, size, dark, bool(plot), clear).result()
        try:
            yield (thread.submit(_shot, tab, frame, clear).result() for frame in frames)
        finally:
            thread.submit(close).result()


def _opened(
    page: Path, size: tuple[int, int], dark: bool, curves: bool, clear: bool
) -> tuple[Any, Callable[[], None]]:
    """A page in a browser, and the function that closes both."""
    from playwright.sync_api import sync_playwright

    playwright = sync_playwright().start()
    try:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        tab = browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            offline=True,
            color_scheme="dark" if dark else "light",
        ).new_page()
        tab.goto(page.as_uri() + ("#still&clear" if clear else "#still"))
        tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        if curves:
            # the scene becomes narrower, and is drawn coarsely once before the first picture
            tab.evaluate(
                "condyle.panel('plots', true); new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
    except BaseException:
        playwright.stop()
        raise

    def close() -> None:
        browser.close()
        playwright.stop()

    return tab, close


def _shot(tab: Any, frame: int, clear: bool) -> bytes:
    tab.evaluate("(frame) => condyle.draw(frame)", frame)
    return bytes(tab.screenshot(omit_background=clear))


def _png(figure: Any) -> bytes:
    data = io.BytesIO()
    figure.savefig(data, format="png", facecolor=figure.get_facecolor())
    return data.getvalue()


def _numbered(path: Path, pictures: Iterator[bytes]) -> Path:
    first = None
    for k, data in enumerate(pictures):
        one = path.with_name(f"{path.stem}_{k:04d}.png")
        first = first or one
        with files.atomic_write(one, "wb") as file:
            file.write(data)
    assert first is not None
    return first


def _animated(path: Path, pictures: Iterator[bytes], rate: float) -> Path:
    from PIL import Image

    first, *rest = (Image.open(io.BytesIO(data)).convert("RGB") for data in pictures)
    options: dict[str, Any] = {"quality": 70, "method": 6}
    if path.suffix.lower() == ".gif":
        # one palette for all: parts that do not move are equal in each picture, and stored once
        few = first.quantize(128)
        first, rest, options = few, [p.quantize(palette=few, dither=Image.Dither.NONE) for p in rest], {}
    with files.atomic_write(path, "wb") as file:
        first.save(
            file,
            format=path.suffix[1:],
            save_all=True,
            append_images=rest,
            duration=max(20, round(1000 / rate)),
            loop=0,
            **options,
        )
    return path


def _ffmpeg() -> str:
    with contextlib.suppress(ImportError):
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    found = shutil.which("ffmpeg")
    if found is None:
        raise DescriptionError(
            "movie: .mp4 needs ffmpeg: python -m pip install 'condyle[movies]'; .gif and .png do not"
        )
    return found


def _mp4(path: Path, pictures: Iterator[bytes], rate: float, ffmpeg: str) -> Path:
    with tempfile.TemporaryDirectory(prefix="condyle-") as folder:
        _numbered(Path(folder) / "frame.png", pictures)
        made = Path(folder) / "movie.mp4"
        run = subprocess.run(
            [
                ffmpeg,
                "-y",
                "-loglevel",
                "error",
                "-framerate",
                str(rate),
                "-i",
                str(Path(folder) / "frame_%04d.png"),
                "-vf",
                "pad=ceil(iw/2)*2:ceil(ih/2)*2",
                "-pix_fmt",
                "yuv420p",
                str(made),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            raise CondyleError(f"movie: ffmpeg failed: {run.stderr.strip()[-300:]}")
        with files.atomic_write(path, "wb") as file:
            file.write(made.read_bytes())
    return path
