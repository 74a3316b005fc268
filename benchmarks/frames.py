"""Pictures per second of a long motion, drawn without a graphics processor: the page of `cd.show` in Chromium
(SwiftShader), in a window of 1000 x 600.

    python -m benchmarks.frames --osim Rajagopal2016.osim
    python -m benchmarks.frames --frames 1000 --seconds 4

Without --osim: fourteen arms (cd.models.arm26) side by side, 84 muscles. The motion is made up: every
coordinate swings about its default by two sines whose periods have no common multiple, so that it compresses
no better than a recording does.

Printed: the size of the page; then, while it plays with its panels open, with them closed, and in the dark,
how many pictures there were in a second, and the processor time of all of the browser's processes for each.
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
from condyle.viewer.page import CLIENT
from condyle.viewer.pictures import chromium

SIZE, RATE, PEER_FRAMES = (1000, 600), 100.0, 200
"""Of the window [pixels]; frames per second of the motion; frames that the peer's page has."""
FLAGS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def motion(system: cd.System, frames: int) -> tuple[cd.Table, cd.Table]:
    """Coordinates and activations that swing."""
    t, rng, q0 = np.arange(frames) / RATE, np.random.default_rng(1), system.default("q")
    names, columns, units = [], [], []
    coordinates = [c for b in system.bodies for c in b.coordinates]
    for k, (c, unit) in enumerate(zip(coordinates, scales.units(system.bodies)[0], strict=True)):
        if unit not in ("rad", "m"):                         # a patella's: what constraints determine
            continue
        w = sum(a * np.sin(2 * np.pi * f * t + p) for a, f, p in
                zip((0.25, 0.2), rng.uniform((0.7, 1.1), (1.1, 2.4)), rng.uniform(0, 6, 2), strict=True))
        low, high = c.range or (-np.inf, np.inf)
        low, high = max(low, q0[k] - 0.5), min(high, q0[k] + 0.5)
        names.append(c.name)
        units.append(unit)
        columns.append(0.5 * (low + high) + (high - low) * w if unit == "rad" else q0[k] + 0.05 * w)
    a = 0.5 + 0.5 * np.sin(2 * np.pi * rng.uniform(0.5, 1.5, len(system.muscles)) * t[:, None]
                           + rng.uniform(0, 6, len(system.muscles)))
    return cd.Table(t, names, np.stack(columns, axis=1), units), cd.Table(t, system.muscles, a)


# ---- the peer ----------------------------------------------------------------------------------------------

def peer(page: cd.Page, folder: Path) -> Path | None:
    """The same muscles, by three.js's own parts."""
    if shutil.which("npm") is None:
        return None
    shutil.copy(CLIENT / "package.json", folder)
    shutil.copy(Path(__file__).with_name("frames_peer.js"), folder / "peer.js")
    run: dict[str, Any] = {"cwd": folder, "check": True, "capture_output": True}
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", "--silent"], **run)
    subprocess.run(["npx", "--no-install", "esbuild", "peer.js", "--bundle", "--minify", "--format=esm",
                    "--outfile=out.js"], **run)
    scene = page.scene
    d, frames = scene.layers[0], range(min(PEER_FRAMES, len(page.scene.layers[0].t)))
    middle = (scene.low + scene.high) / 2
    data = {"counts": [len(line.bodies) for line in d.lines],
            "points": [np.round(np.concatenate([d.points(line, f).ravel() for line in d.lines]), 4).tolist()
                       for f in frames],
            "poses": np.round(d.p[:len(frames)], 4).tolist(), "middle": middle.tolist(),
            "paint": np.round(np.nan_to_num(d.paint[:len(frames)]), 2).tolist() if d.paint is not None else
            [[1.0] * len(d.lines)] * len(frames),
            "eye": (middle + 2.4 * scene.size * np.array([0.55, 0.35, 0.75])).tolist()}
    out = folder / "peer.html"
    out.write_text('<!doctype html><style>body{margin:0}canvas{width:100vw;height:100vh}</style>'
                   f'<canvas id="scene"></canvas><script type="application/json" id="data">{json.dumps(data)}'
                   f'</script><script type="module">{(folder / "out.js").read_text()}</script>')
    return out


# ---- the measure -------------------------------------------------------------------------------------------

def processor_time() -> float:
    """Of all processes that this one started, and theirs [s]."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = path.read_text().rpartition(")")
        except OSError:                                      # it has ended
            continue
        fields = rest.split()
        stats[int(name.split()[0])] = int(fields[1]), (int(fields[11]) + int(fields[12])), "chrom" in name
    own = {os.getpid()}
    while more := {pid for pid, (parent, *_) in stats.items() if parent in own} - own:
        own |= more
    return sum(ticks for pid, (_, ticks, browser) in stats.items() if pid in own and browser) / os.sysconf(
        "SC_CLK_TCK")


DRAIN = """() => { const gl = document.getElementById('scene').getContext('webgl2');
gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4)); }"""


def measured(tab: Any, counter: str, seconds: float) -> tuple[float, float]:
    """Pictures per second, and the browser's processor time for each [ms]."""
    tab.evaluate(DRAIN)
    n0, w0, c0 = tab.evaluate(counter), time.perf_counter(), processor_time()
    tab.wait_for_timeout(1000 * seconds)
    tab.evaluate(DRAIN)
    n1, w1, c1 = tab.evaluate(counter), time.perf_counter(), processor_time()
    return (n1 - n0) / (w1 - w0), 1000 * (c1 - c0) / max(n1 - n0, 1)


CASES = {"panels open": "condyle.panel('things', true), condyle.panel('plots', true), condyle.theme(false)",
         "panels closed": "condyle.panel('things', false), condyle.panel('plots', false)",
         "closed, dark": "condyle.theme(true)"}


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
        print(f"{page!r}, {len(system.muscles)} muscles: {path.stat().st_size / 1e6:.2f} MB, written in "
              f"{time.process_time() - begin:.1f} s of processor time")
        other = peer(page, folder)
        load = os.getloadavg()[0]
        print(f"window of {SIZE[0]} x {SIZE[1]}, {os.cpu_count()} cores, load {load:.1f}; pictures per "
              "second, ms of processor time for each")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=found, args=FLAGS)

            def tab_of(file: Path) -> Any:
                tab = browser.new_page(viewport={"width": SIZE[0], "height": SIZE[1]})
                tab.goto(file.absolute().as_uri())
                tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
                tab.wait_for_timeout(1000)
                return tab

            best: dict[str, tuple[float, float]] = {}
            for _ in range(options.rounds):
                tab = tab_of(path)
                for case, change in CASES.items():
                    tab.evaluate(f"() => {{ {change}; condyle.play(true); }}")
                    tab.wait_for_timeout(700)
                    rate, cost = measured(tab, "condyle.stage.shown", options.seconds)
                    best[case] = max(best.get(case, (0, 0))[0], rate), min(best.get(case, (0, 1e9))[1], cost)
                tab.close()
                if other is not None:
                    tab = tab_of(other)
                    rate, cost = measured(tab, "peer.shown", options.seconds)
                    old = best.get("three.js, new tubes", (0, 1e9))
                    best["three.js, new tubes"] = max(old[0], rate), min(old[1], cost)
                    tab.close()
            browser.close()
        for case, (rate, cost) in best.items():
            ratio = "" if "three.js, new tubes" not in best else (
                f"   {best['three.js, new tubes'][1] / cost:5.2f} x less than three.js with new tubes")
            print(f"  {case:22} {rate:6.1f} /s  {cost:6.1f} ms{ratio}")


if __name__ == "__main__":
    main()
