"""A scene as a matplotlib figure, without a browser: triangles and muscles, sorted by depth and painted."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.records import dataclass
from condyle.viewer.page import ViewOptions, coarser, things
from condyle.viewer.scene import Drawn, Scene

REST, FULL, PLAIN, LIGAMENT, LIGHT, HEAVY = (
    np.array([int(c[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    for c in ("#3f6fc4", "#d8231c", "#b23a35", "#c8a94a", "#ffd75e", "#8e0b3a")
)
FINE = 260
"""Triangles of a shape."""
ROOM = 1.16
"""Width of a picture over the width of its content."""


@dataclass
class Camera:
    """A camera that sees a whole scene from a side, as in the page.

    Attributes:
        target: the point in the middle [m].
        axes: right, up and toward the viewer, as rows, shape (3, 3).
        distance: from the target [m].
        zoom: pixels of half the height, over the tangent of half the angle of view.
    """

    target: Array
    axes: Array
    distance: float
    zoom: float

    @classmethod
    def of(cls, scene: Scene, look: ViewOptions, size: tuple[int, int]) -> Camera:
        up = scene.up
        front = np.array([0.0, 1, 0]) if abs(up[0]) > 0.5 else np.array([1.0, 0, 0])
        side = np.cross(front, up)
        z = look.toward(front, side, up)
        x = np.cross(up, z)
        x /= np.linalg.norm(x)
        axes = np.stack([x, np.cross(z, x), z])
        target = (scene.low + scene.high) / 2
        tall = np.tan(np.radians(18))
        wide = tall * size[0] / size[1]
        distance = 0.0
        for _ in range(4):  # from the middle of the box to the picture's
            seen = (scene.outermost - target) @ axes.T
            need = seen[:, 2] + ROOM * np.maximum(np.abs(seen[:, 0]) / wide, np.abs(seen[:, 1]) / tall)
            distance = max(float(need.max()), 0.2 * scene.size)
            flat = seen[:, :2] / (distance - seen[:, 2:])
            target = target + distance * (flat.min(axis=0) + flat.max(axis=0)) / 2 @ axes[:2]
        return cls(target, axes, distance / look.zoom, size[1] / 2 / tall)

    def project(self, points: Array) -> tuple[Array, Array]:
        """Points (..., 3) as pixels from the middle (..., 2), and their distance from the viewer (...)."""
        seen = (points - self.target) @ self.axes.T
        depth = np.maximum(self.distance - seen[..., 2], 1e-6 * self.distance)
        return self.zoom * seen[..., :2] / depth[..., None], depth


@dataclass
class Paint:
    """Polygons with colors and depths, to be painted from behind."""

    corners: list[Array] = field(default_factory=list)
    colors: list[Array] = field(default_factory=list)
    depths: list[Array] = field(default_factory=list)

    def add(self, corners: Array, colors: Array, depths: Array) -> None:
        self.corners += list(corners)
        self.colors.append(np.broadcast_to(colors, (len(corners), 4)))
        self.depths.append(depths)

    def sorted(self) -> tuple[list[Array], Array]:
        if not self.corners:
            return [], np.zeros((0, 4))
        order = np.argsort(-np.concatenate(self.depths), kind="stable")
        return [self.corners[i] for i in order], np.concatenate(self.colors)[order]


def figure_of(
    scene: Scene,
    frame: int = 0,
    look: ViewOptions | None = None,
    size: tuple[int, int] = (1280, 720),
    dark: bool = False,
    transparent: bool = False,
) -> Any:
    """A matplotlib Figure of one frame of the first layer, and of the others at the same time."""
    from matplotlib.collections import LineCollection, PolyCollection
    from matplotlib.figure import Figure

    look = look or ViewOptions()
    kinds, names = look.named(scene)
    camera = Camera.of(scene, look, size)
    figure = Figure(
        figsize=(size[0] / 100, size[1] / 100),
        dpi=100,
        facecolor="none" if transparent else "#1c232b" if dark else "#f6f8f9",
    )
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-size[0] / 2, size[0] / 2), ylim=(-size[1] / 2, size[1] / 2))
    axes.axis("off")
    t = scene.layers[0].t[frame]
    if not transparent:
        grid = LineCollection(_grid(scene, camera), colors="#7f93a8", linewidths=0.6, alpha=0.45)
        axes.add_collection(grid)
    paint, lines = Paint(), []
    for k, d in enumerate(scene.layers):
        i = frame if k == 0 else int(np.clip(np.searchsorted(d.t, t - d.shift + 1e-9) - 1, 0, len(d.t) - 1))
        i = _last_good(d, i)
        _bodies(paint, d, i, camera, 0.4 if k else 1.0)
        _paths(paint, scene, d, i, camera, 0.4 if k else 1.0)
        _marks(paint, scene, d, i, camera)
        lines += _links(d, i, camera)
    corners, colors = paint.sorted()
    # a thin edge of the same color closes the seams between neighbors of opaque shapes
    edges = np.where(colors[:, 3:] >= 1, colors, 0.0)
    axes.add_collection(PolyCollection(corners, facecolors=colors, edgecolors=edges, linewidths=0.4))
    axes.add_collection(LineCollection(lines, colors="#8a6fc0", linewidths=1.0))
    if look.labels:
        d, i = scene.layers[0], _last_good(scene.layers[0], frame)
        ink, back = ("#e9eef3", "#2a333d") if dark else ("#1d2833", "#fdfdfc")
        box = {"facecolor": back, "edgecolor": "none", "alpha": 0.78, "pad": 1.5}
        for kind, name, place in things(d, i):
            if (kind in kinds or name in names) and np.isfinite(place).all():
                (x, y), _ = camera.project(place + d.offset)
                axes.text(x + 8, y, name.replace("_", " "), color=ink, fontsize=9, va="center", bbox=box)
    return figure


def _last_good(d: Drawn, frame: int) -> int:
    """That frame, or the nearest before it (else after it) that has numbers."""
    good = np.flatnonzero(np.isfinite(d.p).reshape(len(d.t), -1).all(axis=1))
    before = good[good <= frame]
    return int(before[-1] if len(before) else good[0])


def _grid(scene: Scene, camera: Camera) -> list[Array]:
    up = scene.up
    a = np.array([0.0, 1, 0]) if abs(up[0]) > 0.5 else np.array([1.0, 0, 0])
    b = np.cross(a, up)
    spacing = 10 ** np.floor(np.log10(scene.size)) * 0.5
    count = int(np.ceil(1.5 * scene.size / spacing))
    middle = camera.target
    origin = np.round(middle @ a / spacing) * spacing * a + np.round(middle @ b / spacing) * spacing * b
    origin = origin + scene.floor * up
    steps = spacing * np.arange(-count, count + 1)
    ends = np.array([steps[0], steps[-1]])
    lines = [origin + s * across + np.outer(ends, along) for along, across in ((a, b), (b, a)) for s in steps]
    return [camera.project(line)[0] for line in lines]


def _bodies(paint: Paint, d: Drawn, frame: int, camera: Camera, see: float) -> None:
    light = np.array([0.25, 0.75, 0.6])
    light = light / np.linalg.norm(light)
    for part in d.parts:
        if part.kind in d.hidden:
            continue
        vertices, triangles = part.shape.surface()
        if not len(triangles):
            continue
        if len(triangles) > FINE:
            vertices, triangles = coarser(vertices, triangles, FINE)
        own = vertices @ part.X_BS.R.T + part.X_BS.p
        world = own @ d.R[frame, part.body].T + d.p[frame, part.body] + d.offset
        corners = world[triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        eye = camera.target + camera.distance * camera.axes[2]
        front = np.einsum("ni,ni->n", normal, eye - corners.mean(axis=1)) > 0
        flat, depth = camera.project(corners[front])
        shade = 0.5 + 0.5 * np.clip(normal[front] @ (light @ camera.axes), 0, 1)
        rgb = np.array([int(part.color[k : k + 2], 16) / 255 for k in (1, 3, 5)])
        colors = np.concatenate([shade[:, None] * rgb, np.full((len(shade), 1), part.opacity * see)], axis=1)
        paint.add(flat, np.clip(colors, 0, 1), depth.mean(axis=1))


def _paths(paint: Paint, scene: Scene, d: Drawn, frame: int, camera: Camera, see: float) -> None:
    strongest = max((line.strength for line in d.lines), default=0.0) or 1.0
    for k, line in enumerate(d.lines):
        points = d.points(line, frame)
        if not np.isfinite(points).all():
            continue
        value = np.nan if d.paint is None else d.paint[frame, k]
        rgb = LIGAMENT if not line.muscle else PLAIN if np.isnan(value) else REST + value * (FULL - REST)
        width = 0.35 + np.sqrt(line.strength / strongest) if scene.strength else 1.0
        radius = 0.011 * scene.size * width
        flat, depth = camera.project(points)
        step = np.diff(flat, axis=0)
        length = np.linalg.norm(step, axis=1)
        keep = length > 1e-9
        across = np.stack([-step[keep, 1], step[keep, 0]], axis=1) / length[keep, None]
        half = camera.zoom * radius / depth
        a, b = flat[:-1][keep], flat[1:][keep]
        ha, hb = half[:-1][keep, None] * across, half[1:][keep, None] * across
        middle = (depth[:-1] + depth[1:])[keep] / 2 - radius
        paint.add(np.stack([a - ha, b - hb, b + hb, a + ha], axis=1), np.array([*rgb, see]), middle)


def _marks(paint: Paint, scene: Scene, d: Drawn, frame: int, camera: Camera) -> None:
    turn = np.linspace(0, 2 * np.pi, 13)[:-1]
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    places = [
        (np.array(d.R[frame, body] @ station + d.p[frame, body] + d.offset), (0.88, 0.34, 0.61, 1.0))
        for _, body, station in d.markers
    ]
    if d.measured is not None:
        places += [
            (p + d.offset, (0.18, 0.62, 0.94, 1.0))
            for p in d.measured.positions[frame]
            if np.isfinite(p).all()
        ]
    for place, color in places:
        flat, depth = camera.project(place)
        paint.add(
            flat + camera.zoom * 0.012 * scene.size / depth * ring[None],
            np.array(color),
            np.array([depth - 0.02 * scene.size]),
        )
    for patch in d.patches:
        middle, axes = patch.points[frame] + d.offset, patch.axes[frame]
        if np.isfinite(middle).all() and axes.any():
            flat, depth = camera.project(middle + np.stack([np.cos(turn), np.sin(turn)], -1) @ axes)
            paint.add(flat[None], np.array([1.0, 0.48, 0.1, 0.8]), np.array([depth.min() - scene.size]))
    for found in d.pressures:
        part = np.minimum(found.values[frame] / (scene.pressure or 1.0), 1.0)
        on = np.flatnonzero(part > 0)
        world = found.corners[on] @ d.R[frame, found.body].T + d.p[frame, found.body] + d.offset
        flat, depth = camera.project(world)
        rgb = LIGHT + part[on, None] * (HEAVY - LIGHT)
        paint.add(
            flat,
            np.concatenate([rgb, np.full((len(on), 1), 0.9)], axis=1),
            depth.min(axis=1) - scene.size if len(on) else np.zeros(0),
        )
    for arrow in d.arrows:
        x = arrow.at(d.t[frame : frame + 1])[0]
        if np.isfinite(x).all() and x[3:].any():
            tail = x[:3] + d.offset
            (a, b), depth = camera.project(np.stack([tail, tail + scene.arrow_scale * x[3:]]))
            along = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
            across = np.array([-along[1], along[0]])
            w = camera.zoom * 0.008 * scene.size / float(depth.mean())
            neck = b - min(8 * w, float(np.linalg.norm(b - a))) * along
            corners = np.stack(
                [
                    a - w * across,
                    neck - w * across,
                    neck - 3 * w * across,
                    b,
                    neck + 3 * w * across,
                    neck + w * across,
                    a + w * across,
                ]
            )
            paint.add(corners[None], np.array([0.18, 0.66, 0.31, 1.0]), np.array([depth.mean()]))


def _links(d: Drawn, frame: int, camera: Camera) -> list[Array]:
    out = []
    for link in d.links:
        ends = [
            d.R[frame, body] @ station + d.p[frame, body] + d.offset
            for body, station in ((link.a, link.p_a), (link.b, link.p_b))
        ]
        out.append(camera.project(np.array(ends))[0])
    return out
