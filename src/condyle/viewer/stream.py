"""Stream: states as messages, numbers in the order in which the page keeps them (client/numbers.js)."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from condyle.arrays import Array
from condyle.paths.drawing import numbers
from condyle.paths.path import Path
from condyle.paths.span import TOUCHED
from condyle.system.state import State
from condyle.viewer.layer import Layer, layers
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
        points = _points(layer)
        lines = [replace(line, bodies=[0] * x.shape[1], points=x)
                 for line, x in zip(drawn.lines, points, strict=True)]
        self.drawn: Drawn = replace(drawn, lines=lines)

    def scene(self, title: str) -> Scene:
        """The first picture."""
        return scene([self.drawn], title, self.paint, self.system)

    def message(self, state: State) -> bytes:
        """Float32 numbers of a state."""
        layer = layers(state)[0]
        d = moving(layer, self.drawn, self.color)
        poses = np.concatenate([d.p, d.quaternions()], axis=2)
        parts = [[state.t], poses.ravel(), *(x.ravel() for x in _points(layer)),
                 np.full(len(d.lines), np.nan) if d.paint is None else d.paint.ravel(),
                 d.columns.values.ravel(), *(a.at(d.t).ravel() for a in d.arrows),
                 *(patch.numbers.ravel() for patch in d.patches)]
        return np.concatenate(parts).astype("<f4").tobytes()


def _points(layer: Layer) -> list[Array]:
    """Polygons of all paths in ground [m], shape (1, n, 3) each."""
    if not layer.system.paths:
        return []
    flat, at, out = layer.batch.kernel("path_points")[0], 0, []
    for path in layer.system.compiled.model.paths.values():
        count = numbers(path)
        out.append(_polygon(path, flat[at:at + count])[None])
        at += count
    return out


def _polygon(path: Path, touched: Array) -> Array:
    """The polygon of one state, shape (m, 3): what is touched and active, then its last point again."""
    n, wraps = len(path.points), [w for span in path.length.spans for w in span.wraps]
    X = touched[:3 * n].reshape(n, 3)
    pieces = [(float(i), X[i:i + 1]) for i in range(n) if touched[3 * n + i] != 0]
    for k, wrap in enumerate(wraps):
        part = touched[4 * n + TOUCHED * k:4 * n + TOUCHED * (k + 1)]
        if part[0] != 0:
            P, Q, e_in, e_out = part[2:14].reshape(4, 1, 3)
            arc = wrap.surface.along(P, Q, e_in, e_out, part[14:15, None], ALONG_ARC[:, None])
            pieces.append((part[1] + 1 / 128, part[24:27] + arc @ part[15:24].reshape(3, 3)))
    pieces.sort(key=lambda piece: piece[0])
    known = np.concatenate([x for _, x in pieces])
    return np.concatenate([known, np.repeat(known[-1:], n + ALONG * len(wraps) - len(known), axis=0)])
