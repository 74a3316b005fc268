"""Stream: states as messages, numbers in the order in which the page keeps them (client/numbers.js)."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from condyle.arrays import Array
from condyle.paths import Wrap
from condyle.paths.drawing import numbers
from condyle.paths.path import Path
from condyle.paths.span import TOUCHED
from condyle.system.state import State
from condyle.viewer.layer import Layer, layers, of_state
from condyle.viewer.paths import ALONG
from condyle.viewer.scene import Drawn, Scene, draw, moving, scene

ALONG_ARC = np.linspace(0.0, 1.0, ALONG)


class Stream:
    """States of one system, one message each: t, then poses, points of paths, paint, columns,
    arrows and patches.

    Paths are in ground here: which body a point of an arc belongs to may change from state to state.

    Args:
        state: the first one.
        color: what muscles are coloured by.
    """

    def __init__(self, state: State, color: str = "activation") -> None:
        self.system, self.color = state.system, color
        layer = layers(state)[0]
        drawn, self.paint = draw(layer, color)
        self.named = layer.table.names, layer.table.units
        self.paths = [_Plan.of(path) for path in self.system.compiled.model.paths.values()]
        points = self._points(layer)
        lines = [replace(line, bodies=[0] * x.shape[1], points=x)
                 for line, x in zip(drawn.lines, points, strict=True)]
        self.drawn: Drawn = replace(drawn, lines=lines)

    def scene(self, title: str) -> Scene:
        """The first picture."""
        return scene([self.drawn], title, self.paint, self.system)

    def message(self, state: State) -> bytes:
        """Float32 numbers of a state."""
        layer = of_state(state, "state", self.named)
        d = moving(layer, self.drawn, self.color)
        poses = np.concatenate([d.p, d.quaternions()], axis=2)
        parts = [[state.t], poses.ravel(), *(x.ravel() for x in self._points(layer)),
                 np.full(len(d.lines), np.nan) if d.paint is None else d.paint.ravel(),
                 d.columns.values.ravel(), *(a.at(d.t).ravel() for a in d.arrows),
                 *(patch.numbers.ravel() for patch in d.patches)]
        return np.concatenate(parts).astype("<f4").tobytes()


    def _points(self, layer: Layer) -> list[Array]:
        """Polygons of all paths in ground [m], shape (1, n, 3) each."""
        if not self.paths:
            return []
        flat, at, out = layer.batch.kernel("path_points")[0], 0, []
        for plan in self.paths:
            out.append(_polygon(plan, flat[at:at + plan.count])[None])
            at += plan.count
        return out


@dataclass(frozen=True)
class _Plan:
    """A path: its points, its wraps, and how many numbers its kernel gives."""

    points: int
    wraps: tuple[Wrap, ...]
    count: int

    @classmethod
    def of(cls, path: Path) -> _Plan:
        wraps = tuple(w for span in path.length.spans for w in span.wraps)
        return cls(len(path.points), wraps, numbers(path))


def _polygon(plan: _Plan, touched: Array) -> Array:
    """The polygon of one state, shape (m, 3): what is touched and active, then its last point again."""
    n, wraps = plan.points, plan.wraps
    X, active, parts = touched[:3 * n].reshape(n, 3), touched[3 * n:4 * n] != 0, touched[4 * n:]
    out = np.empty((n + ALONG * len(wraps), 3))
    if not parts[::TOUCHED].any():                          # as a rule: no surface is touched
        known = X if active.all() else X[active]
        out[:len(known)], out[len(known):] = known, known[-1]
        return out
    pieces = [(float(i), X[i:i + 1]) for i in range(n) if active[i]]
    for k, wrap in enumerate(wraps):
        part = parts[TOUCHED * k:TOUCHED * (k + 1)]
        if part[0] != 0:
            P, Q, e_in, e_out = part[2:14].reshape(4, 1, 3)
            arc = wrap.surface.along(P, Q, e_in, e_out, part[14:15, None], ALONG_ARC[:, None])
            pieces.append((part[1] + 1 / 128, part[24:27] + arc @ part[15:24].reshape(3, 3)))
    pieces.sort(key=lambda piece: piece[0])
    known = np.concatenate([x for _, x in pieces])
    out[:len(known)], out[len(known):] = known, known[-1]
    return out
