"""Segments of paths over one surface: what one costs, and how often and how exactly it is found.

    python -m benchmarks.paths                     costs, beside OpenSim's path over the same surface
    python -m benchmarks.paths --statistics        10,000 random paths per shape and class

A cost is that of the native kernel in a loop over states, one thread: one by one, and in SIMD lanes.
OpenSim's is that of one path length after a coordinate has moved; its arcs over ellipsoids are planar
sections where ours are geodesics. Statistics compare with the oracle of the tests, which integrates geodesics
in another way.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from typing import Any

import numpy as np

from benchmarks.timing import Case, Clock, interleaved

STATES, ROUNDS, OPENSIM_STATES = 512, 20, 200
LENGTH, POINTS = slice(1, 2), (slice(20, 23), slice(23, 26))
# From anatomy: TRIlong's cylinder, BIClong's ellipsoid, and how far their paths bend.
SURFACES: dict[str, dict[str, Any]] = {
    "cylinder": {"radius": 0.016, "length": 0.05},
    "sphere": {"radius": 0.02},
    "ellipsoid": {"radii": (0.025, 0.02, 0.02)},
}
START, END = np.array([-0.05, 0.012, 0.004]), np.array([0.045, 0.013, -0.006])
SHAPES = ((0.025, 0.02, 0.02), (0.035, 0.02, 0.02), (3.0, 2.0, 1.0))
_keys = itertools.count()


def moved(n: int = STATES) -> np.ndarray:
    """Where the end is: along y [m]."""
    return np.linspace(-0.004, 0.004, n)


def ends(n: int = STATES, off: float = 0.0) -> np.ndarray:
    """A and B, shape (n, 6); `off` the surface [m]."""
    B = END + moved(n)[:, None] * [0, 1, 0]
    return np.hstack([np.tile(START, (n, 1)), B]) + [0, off, 0, 0, off, 0]


def function(name: str, quadrant: str = "all", **sizes: Any) -> Any:
    """Ends (6,) -> the row of paths/wrap_surfaces.py."""
    import casadi as ca

    import condyle as cd
    from condyle.native.calls.native_function import NativeFunction
    from condyle.native.tables.staged import build_function

    x = ca.SX.sym("x", 6)
    row = getattr(cd.paths, name.capitalize())(**sizes, quadrant=quadrant).row(x[:3], x[3:])
    return NativeFunction(
        name,
        lambda: build_function(name, [x], [row]),
        key=f"benchmark {name} {next(_keys)}",
        inputs=[("x", 6)],
        outputs=[("row", row.numel())],
    )


def costs(opensim: bool) -> None:
    """Print microseconds per segment."""
    import condyle.native.calls.native_function as calls

    def one_by_one(f: Any, x: np.ndarray) -> None:
        kept, calls.SIMD_FROM = calls.SIMD_FROM, 10**9
        f(x, threads=1)
        calls.SIMD_FROM = kept

    cases: dict[str, Case] = {}
    peer = Peer() if opensim else None
    for name, sizes in SURFACES.items():
        f = function(name, **sizes)
        for what, x in (("", ends()), (" not wrapped", ends(off=0.1))):
            assert (f(x)[:, 0] != 0).all() == (not what)
            cases[f"{name}{what}, scalar"] = Case(lambda f=f, x=x: one_by_one(f, x), STATES)
            cases[f"{name}{what}, lane"] = Case(lambda f=f, x=x: f(x, threads=1), STATES)
        if peer:
            theirs, ours = peer.lengths(name), f(ends(OPENSIM_STATES))[:, LENGTH][:, 0]
            print(f"{name:10s} OpenSim's length minus ours: {np.abs(theirs - ours).max() * 1e3:.4f} mm")
            cases[f"{name}, OpenSim"] = Case(
                lambda name=name: peer.seconds(name), OPENSIM_STATES, elsewhere=True
            )
    times = interleaved(cases, ROUNDS)
    for name, timing in times.items():
        words = f"{name:34s}{timing.seconds * 1e6:9.3f} us"
        if peer and name.endswith("OpenSim"):
            lane, scalar = (
                timing.seconds / times[name.replace("OpenSim", how)].seconds for how in ("lane", "scalar")
            )
            words += f"   {scalar:.0f} x one by one, {lane:.0f} x in lanes"
        print(words + ("" if timing.sure else "   (never undisturbed)"))
    print(f"ellipsoid, not wrapped: {_ratio(times, 'ellipsoid'):.0f} x less than wrapped")


def _ratio(times: Any, name: str) -> float:
    return times[f"{name}, lane"].seconds / times[f"{name} not wrapped, lane"].seconds


def compile_time() -> None:
    """Print the processor time of a first ellipsoid, from an empty cache."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CONDYLE_CACHE_DIR"] = folder
        function("sphere", **SURFACES["sphere"])(ends())  # imports, and LLVM is loaded
        start = time.process_time()
        f = function("ellipsoid", **SURFACES["ellipsoid"])
        f(ends())
        f(ends()[0])
        seconds = time.process_time() - start
    print(f"a first ellipsoid, one by one and in lanes: {seconds:.2f} s of processor time to compile")


class Peer:
    """OpenSim's answers for each surface, from its own process."""

    def __init__(self) -> None:
        from benchmarks.opensim_process import OpenSimProcess

        self.process = OpenSimProcess(SURFACES, about_paths)

    def lengths(self, name: str) -> np.ndarray:
        return self.process.ask("lengths", name)

    def seconds(self, name: str) -> tuple[float, bool]:
        return self.process.ask("seconds", name)


class OpenSimPaths:
    """A path from ground to a slider along y, over one surface on ground."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def _model(self, surfaces: dict[str, dict[str, Any]], name: str) -> Any:
        import opensim as osim

        if name not in self.made:
            osim.Logger.setLevelString("error")
            sizes, model = surfaces[name], osim.Model()
            body = osim.Body("slider", 1, osim.Vec3(0), osim.Inertia(1, 1, 1))
            model.addBody(body)
            turned = osim.Vec3(0, 0, np.pi / 2)  # its x axis is our y
            model.addJoint(
                osim.SliderJoint(
                    "joint", model.getGround(), osim.Vec3(*END), turned, body, osim.Vec3(0), turned
                )
            )
            wrap = getattr(osim, f"Wrap{name.capitalize()}")()
            wrap.setName("surface")
            if name == "ellipsoid":
                wrap.set_dimensions(osim.Vec3(*sizes["radii"]))
            else:
                wrap.set_radius(sizes["radius"])
            if name == "cylinder":
                wrap.set_length(sizes["length"])
            model.getGround().addWrapObject(wrap)
            spring = osim.PathSpring("path", 0.01, 1.0, 0.0)
            spring.updGeometryPath().appendNewPathPoint("A", model.getGround(), osim.Vec3(*START))
            spring.updGeometryPath().appendNewPathPoint("B", body, osim.Vec3(0))
            spring.updGeometryPath().addPathWrap(wrap)
            model.addForce(spring)
            state = model.initSystem()
            self.made[name] = model, state, spring.getGeometryPath()
        return self.made[name]

    def _run(self, surfaces: dict[str, dict[str, Any]], name: str) -> list[float]:
        model, state, path = self._model(surfaces, name)
        q, found = state.updQ(), []
        for y in moved(OPENSIM_STATES):
            q[0] = float(y)
            state.updQ()  # what was computed for the last one is gone
            model.realizePosition(state)
            found.append(path.getLength(state))
        return found

    def lengths(self, surfaces: dict[str, dict[str, Any]], name: str) -> np.ndarray:
        return np.array(self._run(surfaces, name))

    def seconds(self, surfaces: dict[str, dict[str, Any]], name: str) -> tuple[float, bool]:
        with Clock() as clock:
            self._run(surfaces, name)
        return clock.seconds, clock.quiet


def about_paths() -> dict[str, Any]:
    paths = OpenSimPaths()
    return {"lengths": paths.lengths, "seconds": paths.seconds}


def statistics(count: int, compared: int) -> None:
    """Print a table in Markdown."""
    from tests.oracles.geodesics import CLASSES, random_ends, true_length

    print("| radii | class | found | length error / size: median | 99 % | largest | longer side: found |")
    print("|---|---|---|---|---|---|---|")
    rng = np.random.default_rng(1)
    for radii in SHAPES:
        f, size = function("ellipsoid", radii=radii), np.mean(radii)
        sides = [function("ellipsoid", quadrant, radii=radii) for quadrant in ("x", "-y", "z")]
        for kind in CLASSES:
            x = random_ends(kind, count, radii, rng)
            rows = f(x)
            found = ~np.isnan(rows[:, 1])
            some = np.flatnonzero(found)[:compared]
            A, B, L, (P, Q) = x[some, :3], x[some, 3:], rows[some, 1], (rows[some, s] for s in POINTS)
            arc = L - np.linalg.norm(P - A, axis=1) - np.linalg.norm(B - Q, axis=1)
            true, miss, on = true_length(A, B, radii, P, arc, 40 if max(radii) > 1 else 16)
            assert miss.max() < 1e-10 * size and on.min() > -1e-7 * size
            off = np.abs(L - true) / size
            forced = [side(x)[:, 1] for side in sides]
            other = np.concatenate([~np.isnan(y[~(np.abs(y - rows[:, 1]) < 1e-9 * size)]) for y in forced])
            shape, errors = " x ".join(f"{r:g}" for r in radii), [*np.percentile(off, (50, 99)), off.max()]
            print(
                f"| {shape} | {kind} | {found.mean():.4f} | {' | '.join(f'{e:.0e}' for e in errors)} | "
                f"{other.mean():.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--statistics", action="store_true")
    parser.add_argument("--count", type=int, default=10000, help="paths per shape and class")
    parser.add_argument("--compared", type=int, default=1000, help="how many of them with the oracle")
    parser.add_argument("--no-opensim", action="store_true")
    given = parser.parse_args()
    if given.statistics:
        statistics(given.count, given.compared)
    else:
        compile_time()
        costs(not given.no_opensim)
