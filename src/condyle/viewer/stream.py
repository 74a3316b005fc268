"""Stream: states as messages, numbers in the order in which the page keeps them (client/numbers.js)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.forces.gravity import free_fall
from condyle.paths import Ellipsoid, Surface
from condyle.paths.path import Path, numbers
from condyle.paths.span import TOUCHED
from condyle.system.state import State
from condyle.viewer.layer import Layer, layers, of_state
from condyle.viewer.paths import ALONG
from condyle.viewer.scene import LONGEST, Drawn, Scene, draw, moving, reach, scene

ALONG_ARC = np.linspace(0.0, 1.0, ALONG)


class StateStream:
    """States of one system, one message each: t, then poses, points of paths, paint, columns,
    arrows and patches.

    Paths are in ground here: the body of a point of an arc may change from state to state.

    Args:
        state: the first one.
        color: of muscles.
    """

    def __init__(self, state: State, color: str = "activation") -> None:
        self.system, self.color = state.system, color
        layer = layers(state)[0]
        drawn, self.paint = draw(layer, color, live=True)
        self.named = layer.table.names, layer.table.units
        self.polygons = Polygons(self.system.compiled.model.paths.values())
        points = self.polygons.split(self.polygons.of(layer))
        lines = [
            replace(line, bodies=[0] * x.shape[1], points=x)
            for line, x in zip(drawn.lines, points, strict=True)
        ]
        self.drawn: Drawn = replace(drawn, lines=lines)

    def scene(self, title: str) -> Scene:
        """The first picture."""
        out = scene([self.drawn], title, self.paint, self.system)
        weight = sum(b.mass for b in self.system.bodies) * float(
            np.linalg.norm(free_fall(self.system._forces))
        )
        if self.drawn.arrows and weight > 0:  # forces of the first state are not typical
            out.arrow_scale = LONGEST * min(out.size, reach(self.drawn)) / weight
        return out

    def message(self, state: State) -> bytes:
        """Float32 numbers of a state."""
        layer = of_state(state, "state", self.named)
        d, columns = moving(layer, self.drawn, self.color)
        poses = np.concatenate([d.p, d.quaternions()], axis=2)
        parts = [
            [state.t],
            poses.ravel(),
            self.polygons.of(layer).ravel(),
            np.full(len(d.lines), np.nan) if d.paint is None else d.paint.ravel(),
            columns.ravel(),
            *(a.at(d.t).ravel() for a in d.arrows),
            *(patch.numbers.ravel() for patch in d.patches),
        ]
        return np.concatenate(parts).astype("<f4").tobytes()


class Polygons:
    """The polygons of all paths of a system at one state, at once: active points and touched surfaces, in
    order, then the last point again.

    Args:
        paths: of the model.
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        at, X, active, place = 0, [], [], []
        touched: list[tuple[int, int]] = []
        owner: list[int] = []
        groups: dict[Any, tuple[Surface, list[int]]] = {}
        self.sizes: list[int] = []
        for k, path in enumerate(path for path in paths if path.points):
            n = len(path.points)
            wraps = [w for span in path.length.spans for w in span.wraps]
            X += [at + 3 * i for i in range(n)]
            active += [at + 3 * n + i for i in range(n)]
            place += [float(i) for i in range(n)]
            owner += [k] * n
            for i, wrap in enumerate(wraps):
                form = type(wrap.surface)
                # only ellipsoids read the numbers of a surface
                key = form if form.along is not Ellipsoid.along else id(wrap.surface)
                groups.setdefault(key, (wrap.surface, []))[1].append(len(touched))
                touched.append((k, at + 4 * n + TOUCHED * i))
            self.sizes.append(n + ALONG * len(wraps))
            at += numbers(path)
        self.X = np.array(X, dtype=int)[:, None] + np.arange(3)
        self.active, self.place = np.array(active, dtype=int), np.array(place)
        self.touched = np.array([t for _, t in touched], dtype=int)[:, None] + np.arange(TOUCHED)
        self.owner = np.array([*owner, *np.repeat([k for k, _ in touched], ALONG)], dtype=int)
        self.groups = [(surface, np.array(rows)) for surface, rows in groups.values()]
        self.start = np.cumsum(self.sizes, dtype=int) - np.array(self.sizes, dtype=int)
        self.row = np.arange(len(self.owner)) - np.repeat(self.start, self.sizes)

    def of(self, layer: Layer) -> Array:
        """In ground [m], shape (points of all, 3)."""
        if not self.sizes:
            return np.zeros((0, 3))
        flat = layer.batch.kernel("path_points")[0]
        wraps = flat[self.touched]
        on = wraps[:, 0] != 0
        arcs = np.zeros((len(wraps), ALONG, 3))
        for surface, rows in self.groups:
            rows = rows[on[rows]]
            if len(rows):
                w = wraps[rows]
                P, Q, e_in, e_out = (w[:, None, i : i + 3] for i in (2, 5, 8, 11))
                own = surface.along(P, Q, e_in, e_out, w[:, None, 14:15], ALONG_ARC[:, None])
                arcs[rows] = w[:, None, 24:27] + own @ w[:, 15:24].reshape(-1, 3, 3)
        there = np.concatenate([flat[self.active] != 0, np.repeat(on, ALONG)])
        place = np.concatenate([self.place, np.repeat(wraps[:, 1] + 1 / 128, ALONG)])
        order = np.lexsort((place, ~there, self.owner))  # missing points come last in their path
        count = np.bincount(self.owner[there], minlength=len(self.sizes))
        shown = np.minimum(self.row, np.repeat(count, self.sizes) - 1) + np.repeat(self.start, self.sizes)
        points: Array = np.concatenate([flat[self.X], arcs.reshape(-1, 3)])[order[shown]]
        return points

    def split(self, points: Array) -> list[Array]:
        """One array (1, n, 3) per path."""
        return [x[None] for x in np.split(points, self.start[1:])] if self.sizes else []
