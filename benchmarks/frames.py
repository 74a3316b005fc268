"""Pictures per second of a long motion, drawn without a graphics processor: the page of `cd.show` in Chromium
(SwiftShader), in a window of 1000 x 600.

    python -m benchmarks.frames --osim Rajagopal2016.osim
    python -m benchmarks.frames --frames 1000 --seconds 4

Without --osim: fourteen arms (cd.models.arm26) side by side, 84 muscles. The motion is made up: every
coordinate swings about its default by two sines whose periods have no common multiple, so that it compresses
no better than a recording does.

Printed: the size of the page; then, while it plays with its panels open, with them closed, and in the dark,
how many pictures there were in a second, and the processor time of the browser's processes for each, of the
page itself and of the process that draws and joins pictures; last, whether the targets are met: 15 MB for
10,000 frames of 80 muscles, and 30 pictures a second with panels closed, when the scene is largest.
A picture counts when it was drawn: reading a pixel at both ends of the interval waits for those that are
under way.

Beside it, in the same run and the same order, a page as one writes it in an afternoon with three.js: one
TubeGeometry of a smooth curve per muscle, made anew for each picture, one mesh per body, three.js's own
defaults (antialiasing, MeshStandardMaterial). It needs npm; without, it is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import condyle as cd
from benchmarks.real_time import arms
from condyle.tree import scales
from condyle.viewer import Page
from condyle.viewer.page import CLIENT
from condyle.viewer.pictures import chromium

MEGABYTES, PICTURES = 15.0, 30.0
"""Targets: of a page at most, and per second at least."""
PEER = "three.js, new tubes"
SIZE, RATE, PEER_FRAMES = (1000, 600), 100.0, 200
"""Of the window [pixels]; frames per second of the motion; frames that the peer's page has."""
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def motion(system: cd.System, frames: int) -> tuple[cd.Table, cd.Table]:
    """Coordinates and activations that swing."""
    t, rng, q0 = np.arange(frames) / RATE, np.random.default_rng(1), system.default("q")
    names, columns, units = [], [], []
    coordinates = [c for b in system.bodies for c in b.coordinates]
    for k, (c, unit) in enumerate(zip(coordinates, scales.units(system.bodies)[0], strict=True)):
        if unit not in ("rad", "m"):  # a patella's: what constraints determine
            continue
        w = sum(
            a * np.sin(2 * np.pi * f * t + p)
            for a, f, p in zip(
                (0.25, 0.2), rng.uniform((0.7, 1.1), (1.1, 2.4)), rng.uniform(0, 6, 2), strict=True
            )
        )
        low, high = c.range or (-np.inf, np.inf)
        low, high = max(low, q0[k] - 0.5), min(high, q0[k] + 0.5)
        names.append(c.name)
        units.append(unit)
        columns.append(0.5 * (low + high) + (high - low) * w if unit == "rad" else q0[k] + 0.05 * w)
    a = 0.5 + 0.5 * np.sin(
        2 * np.pi * rng.uniform(0.5, 1.5, len(system.muscles)) * t[:, None]
        + rng.uniform(0, 6, len(system.muscles))
    )
    return cd.Table(t, names, np.stack(columns, axis=1), units), cd.Table(t, system.muscles, a)


# ---- the peer ----------------------------------------------------------------------------------------------


def peer(page: Page, folder: Path) -> Path | None:
    """The same muscles, by three.js's own parts."""
    if shutil.which("npm") is None:
        return None
    shutil.copy(CLIENT / "package.json", folder)
    shutil.copy(Path(__file__).with_name("frames_peer.js"), folder / "peer.js")
    run: dict[str, Any] = {"cwd": folder, "check": True, "capture_output": True}
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"], **run)
    subprocess.run(
        [
            "npx",
            "--no-install",
            "esbuild",
            "peer.js",
            "--bundle",
            "--minify",
            "--format=esm",
            "--outfile=out.js",
        ],
        **run,
    )
    scene = page.scene
    d, frames = scene.layers[0], range(min(PEER_FRAMES, len(page.scene.layers[0].t)))
    middle = (scene.low + scene.high) / 2
    data = {
        "counts": [len(line.bodies) for line in d.lines],
        "points": [
            np.round(np.concatenate([d.points(line, f).ravel() for line in d.lines]), 4).tolist()
            for f in frames
        ],
        "poses": np.round(d.p[: len(frames)], 4).tolist(),
        "middle": middle.tolist(),
        "paint": np.round(np.nan_to_num(d.paint[: len(frames)]), 2).tolist()
        if d.paint is not None
        else [[1.0] * len(d.lines)] * len(frames),
        "eye": (middle + 2.4 * scene.size * np.array([0.55, 0.35, 0.75])).tolist(),
    }
    out = folder / "peer.html"
    out.write_text(
        "<!doctype html><style>body{margin:0}canvas{width:100vw;height:100vh}</style>"
        f'<canvas id="scene"></canvas><script type="application/json" id="data">{json.dumps(data)}'
        f'</script><script type="module">{(folder / "out.js").read_text()}</script>'
    )
    return out


# ---- the measure -------------------------------------------------------------------------------------------


def processor_time() -> dict[str, float]:
    """Of the browser's processes that this one started, by their type [s]: the page ("renderer"), what draws
    and joins pictures ("gpu-process"), the rest."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:  # it has ended
            continue
        fields = rest.split()
        stats[int(name.split()[0])] = int(fields[1]), (int(fields[11]) + int(fields[12])), "chrom" in name
    own = {os.getpid()}
    while more := {pid for pid, (parent, *_) in stats.items() if parent in own} - own:
        own |= more
    out = {"renderer": 0.0, "gpu-process": 0.0, "rest": 0.0}
    for pid in own:
        _, ticks, browser = stats.get(pid, (0, 0, False))
        if browser:
            try:
                line = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:  # it has ended
                continue
            kind = next((kind for kind in out if f"--type={kind}" in line), "rest")
            out[kind] += ticks / os.sysconf("SC_CLK_TCK")
    return out


DRAIN = """() => { const gl = document.getElementById('scene').getContext('webgl2');
gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); }"""


def measured(tab: Any, counter: str, seconds: float) -> tuple[float, dict[str, float]]:
    """Pictures per second, and the browser's processor time for each [ms], by type of process."""
    tab.evaluate(DRAIN)
    n0, w0, c0 = tab.evaluate(counter), time.perf_counter(), processor_time()
    tab.wait_for_timeout(1000 * seconds)
    tab.evaluate(DRAIN)
    n1, w1, c1 = tab.evaluate(counter), time.perf_counter(), processor_time()
    return (n1 - n0) / (w1 - w0), {kind: 1000 * (c1[kind] - c0[kind]) / max(n1 - n0, 1) for kind in c1}


CASES = {
    "panels open": "condyle.panel('things', true), condyle.panel('plots', true), condyle.theme(false)",
    "panels closed": "condyle.panel('things', false), condyle.panel('plots', false)",
    "closed, dark": "condyle.theme(true)",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--osim", help="a model file")
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each measure")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from playwright.sync_api import sync_playwright

    found = chromium()
    if found is None:
        raise SystemExit("no Chromium on this machine")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        system = cd.read_osim(options.osim) if options.osim else arms("rigid")(84).system
        table, activity = motion(system, options.frames)
        begin = time.process_time()
        page = cd.show(system, motion=table, color=activity, open=False, frames=options.frames)
        path = page.save(folder / "page.html").absolute()
        size = path.stat().st_size / 1e6
        print(
            f"{page!r}, {len(system.muscles)} muscles: {size:.2f} MB, written in "
            f"{time.process_time() - begin:.1f} s of processor time"
        )
        other = peer(page, folder)
        load = os.getloadavg()[0]
        print(
            f"window of {SIZE[0]} x {SIZE[1]}, {os.cpu_count()} cores, load {load:.1f}; pictures per "
            "second, ms of processor time for each"
        )
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)

            def tab_of(file: Path) -> Any:
                tab = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
                tab.goto(file.absolute().as_uri())
                tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
                tab.wait_for_timeout(1000)
                return tab

            best: dict[str, tuple[float, dict[str, float]]] = {}

            def kept(case: str, rate: float, cost: dict[str, float]) -> None:
                """The least processor time and the most pictures of all rounds: neighbors only add."""
                old = best.get(case, (0.0, cost))
                best[case] = max(old[0], rate), min(old[1], cost, key=lambda c: sum(c.values()))

            for _ in range(options.rounds):
                tab = tab_of(path)
                for case, change in CASES.items():
                    tab.evaluate(f"() => {{ {change}; condyle.play(true); }}")
                    tab.wait_for_timeout(700)
                    kept(case, *measured(tab, "condyle.stage.shown", options.seconds))
                tab.close()
                if other is not None:
                    tab = tab_of(other)
                    kept(PEER, *measured(tab, "peer.shown", options.seconds))
                    tab.close()
            browser.close()
        for case, (rate, cost) in best.items():
            total = sum(cost.values())
            ratio = (
                f"   {sum(best[PEER][1].values()) / total:5.2f} x less than {PEER}" if PEER in best else ""
            )
            print(
                f"  {case:22} {rate:6.1f} /s  {total:6.1f} ms (page {cost['renderer']:.1f}, drawing "
                f"{cost['gpu-process']:.1f}){ratio}"
            )
        rate = best["panels closed"][0]
        for what, value, met in (
            (f"at most {MEGABYTES:g} MB", f"{size:.2f} MB", size <= MEGABYTES),
            (f"at least {PICTURES:g} pictures/s", f"{rate:.1f} /s", rate >= PICTURES),
        ):
            print(f"target {what}: {value}, {'met' if met else 'NOT met'}")


if __name__ == "__main__":
    main()
