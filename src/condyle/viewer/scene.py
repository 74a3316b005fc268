"""Scene: everything that is drawn, as numbers over frames, for pages, pictures and movies."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces.gravity import free_fall
from condyle.records import dataclass
from condyle.shapes import Mesh
from condyle.spatial import quaternion_from_rotation
from condyle.system.system import System
from condyle.table import Table, distinct, is_frame
from condyle.tree import scales
from condyle.viewer import contacts, marks, paths
from condyle.viewer.bodies import parts
from condyle.viewer.colors import Arranged, arranged, columns_of, owners_of, paint_of, with_columns
from condyle.viewer.contacts import Pressure, pressures, usual
from condyle.viewer.drawn_elements import LinkOfBodies, ShapeOnBody, body_numbers, floor, shapes_and_links
from condyle.viewer.layer import Layer, surfaces

SAMPLED = 200
"""Number of frames that determine the size of a scene."""
LONGEST = 0.6
"""Length of a typical arrow, over the size of the moving bodies."""
USUAL = 0.95
"""Quantile of the sizes of arrows that counts as typical."""


@dataclass(eq=False)
class Drawn:
    """A layer as numbers over its frames.

    Attributes:
        name: in lists.
        t: [s], shape (m,).
        bodies: their names, ground first.
        R: orientations in ground, shape (m, B, 3, 3).
        p: origins in ground [m], shape (m, B, 3).
        parts: shapes on bodies.
        lines: paths of forces.
        paint: colors of muscles from 0 to 1, shape (m, lines); None for one color.
        links: lines between stations.
        markers: of the model: name, number of the body, station.
        measured: measured markers.
        arrows: forces.
        patches: contact areas.
        pressures: on meshes that touch.
        columns: quantities that can be plotted and read.
        owners: the body, path or coordinate of each column.
        arranged: order and units of the columns.
        offset: of everything in ground [m].
        shift: of everything in time [s].
        notes: sentences for the viewer.
        level: height of a floor that bodies touch [m], if there is one.
        hidden: kinds of shapes that are not shown at first.
    """

    name: str
    t: Array
    bodies: list[str]
    R: Array
    p: Array
    parts: list[ShapeOnBody]
    lines: list[paths.PathLine]
    paint: Array | None
    links: list[LinkOfBodies]
    markers: list[tuple[str, int, tuple[float, float, float]]]
    measured: marks.MeasuredMarkers | None
    arrows: list[marks.Arrows]
    patches: list[contacts.Patch]
    columns: Table
    owners: list[str]
    arranged: Arranged
    offset: tuple[float, float, float]
    notes: list[str] = field(default_factory=list)
    shift: float = 0.0
    pressures: list[Pressure] = field(default_factory=list)
    level: float | None = None
    hidden: tuple[str, ...] = ("inertias", "surfaces")

    def quaternions(self) -> Array:
        """Of all bodies, (w, x, y, z), shape (m, B, 4), without jumps of sign."""
        with np.errstate(invalid="ignore"):
            q = quaternion_from_rotation(self.R)
        sign = np.sign(np.nan_to_num((q[1:] * q[:-1]).sum(axis=-1), nan=1.0))
        q[1:] *= np.cumprod(np.where(sign == 0, 1, sign), axis=0)[..., None]
        return q

    def points(self, line: paths.PathLine, frame: int) -> Array:
        """A path in ground at one frame [m], shape (n, 3)."""
        own = np.einsum("nij,nj->ni", self.R[frame, line.bodies], line.points[frame])
        return own + self.p[frame, line.bodies] + self.offset


@dataclass(eq=False)
class Scene:
    """Layers, and their common properties.

    Attributes:
        title: of the page.
        layers: at least one.
        up: unit vector, against gravity.
        low: lowest corner of all frames [m], shape (3,).
        high: highest corner [m], shape (3,).
        paint: colors of muscles: label, unit, value at 1.
        strength: whether the width of muscles shows their strength.
        arrow_scale: length of an arrow per unit [m].
        level: height of a floor that bodies touch [m], if there is one.
        pressure: pressure on meshes with the darkest color [Pa]; 0 without any.
        outermost: points that must be in view [m], shape (k, 3); none: the box's corners.
    """

    title: str
    layers: list[Drawn]
    up: Array
    low: Array
    high: Array
    paint: tuple[str, str, float]
    strength: bool
    arrow_scale: float
    level: float | None = None
    pressure: float = 0.0
    outermost: Array = field(default_factory=lambda: np.zeros((0, 3)))

    def __post_init__(self) -> None:
        if not len(self.outermost):
            self.outermost = _box(self.low, self.high)

    @property
    def size(self) -> float:
        """Half the diagonal of the box around all frames [m]."""
        return float(np.linalg.norm(self.high - self.low)) / 2 or 1.0

    @property
    def floor(self) -> float:
        """Height of the grid: that of a floor, else zero, unless that is in the middle of the scene or far
        from it."""
        if self.level is not None:
            return self.level
        axis = int(np.argmax(np.abs(self.up)))
        low = self.low[axis] if self.up[axis] > 0 else -self.high[axis]
        return 0.0 if -0.03 * self.size <= low <= 0.5 * self.size else float(low)


def draw(
    layer: Layer,
    color: str | Table | Any,
    markers: Any = None,
    arrows: Any = (),
    plots: Any = (),
    offset: Any = (0.0, 0.0, 0.0),
    live: bool = False,
) -> tuple[Drawn, tuple[str, str, float]]:
    """A layer as numbers, and the colors of its muscles; a live one has no map of pressure."""
    system, batch, m = layer.system, layer.batch, len(layer.t)
    R, p = poses(layer)
    lines = paths.lines(batch, R, p)
    if layer.good is not None:
        for x in (R[:, 1:], p[:, 1:], *(line.points for line in lines)):
            x[~layer.good] = np.nan
    patches, pushes, touched = contacts.touching(layer, R)
    maps = [] if live else pressures(layer)
    mapped = {found.contact for found in maps}  # a map says more than an ellipse
    patches = [patch for patch in patches if patch.name not in mapped]
    if layer.good is not None:
        for patch in patches:
            patch.points[~layer.good] = np.nan
    columns, owners = columns_of(layer)
    paint, values, more = paint_of(layer, lines, color)
    sources = [""] * len(owners)
    tables: list[tuple[Any, list[str] | None, str]] = [(table, whose, "Muscles") for table, whose in more]
    tables += [(touched, owners_of(touched), "Contacts")] if touched is not None else []
    if maps:
        peaks = Table(
            layer.t,
            distinct([f"{p.name}.pressure" for p in maps]),
            np.stack([p.values.max(axis=1) for p in maps], axis=1),
            ["Pa"] * len(maps),
        )
        tables.append((peaks, [p.name for p in maps], "Contacts"))
    seen = None if markers is None else marks.measured(markers, layer.t)
    given = marks.arrows(arrows, layer)
    tables += [(table, whose, "Forces") for table, whose in marks.columns_of_arrows(given, layer.t)]
    number = body_numbers(system)
    own = [system.marker(name) for name in system.markers]
    places = {k.name: R[:, number[k.body]] @ k.station + p[:, number[k.body]] for k in own}
    tables += [(table, whose, "Marker errors") for table, whose in marks.errors(seen, places, layer.t)]
    alone = isinstance(plots, Table) or is_frame(plots)
    tables += [(table, None, "Given") for table in ([plots] if alone else plots)]
    for table, whose, source in tables:
        columns, owners = with_columns(columns, owners, table, whose, layer.t)
        sources += [source] * (len(owners) - len(sources))
    shown = arranged(system, columns.names, columns.units, sources)
    columns = Table(
        layer.t, [columns.names[k] for k in shown.order], shown.values(columns.values), shown.units
    )
    owners = [owners[k] for k in shown.order]
    reach = scales.reach(system.bodies) or 1.0
    touching = [surface for _, surface in surfaces(layer)]
    bodies, said = parts(system, touching)
    up = up_of(system)
    shapes, links = shapes_and_links(layer, reach, max(reach, _apart(p)), max(reach, 1.2 * _way(p)), up)
    drawn = Drawn(
        layer.name,
        layer.t,
        ["ground", *(b.name for b in system.bodies)],
        R,
        p,
        [*bodies, *shapes],
        lines,
        values,
        links,
        [(k.name, number[k.body], k.station) for k in own],
        seen,
        [*given, *pushes],
        patches,
        columns,
        owners,
        shown,
        tuple(map(float, offset)),  # type: ignore[arg-type]
        [*layer.notes, *said],
        pressures=maps,
        level=floor(touching, up),
    )
    looks = {part.body for part in bodies if part.kind == "bodies" and isinstance(part.shape, Mesh)}
    if 2 * len(looks) > len(system.bodies):  # bones say more than their joints
        drawn.hidden += ("joints",)
    bad = ~np.isfinite(p).reshape(m, -1).all(axis=1)
    if bad.all():
        raise DescriptionError("show: no frame can be drawn: every pose has a number that is not finite")
    if bad.any():
        drawn.notes.append(
            f"{int(bad.sum())} of {m} frames cannot be drawn, the first at t = "
            f"{layer.t[np.argmax(bad)]:.4g} s: not a number. The last good pose is shown."
        )
    return drawn, paint


def _way(p: Array) -> float:
    """Largest distance of bodies from ground's origin [m]."""
    return float(np.nanmax(np.linalg.norm(p, axis=-1), initial=0.0))


def _apart(p: Array) -> float:
    """Half the diagonal of the box around all bodies, the least of all frames [m]."""
    return float(np.nanmin(np.linalg.norm(np.ptp(p, axis=1), axis=-1), initial=np.inf)) / 2


def poses(layer: Layer) -> tuple[Array, Array]:
    """Orientations (m, B, 3, 3) and origins (m, B, 3) of ground and all bodies in ground."""
    X, m = layer.batch.kernel("body_pose"), len(layer.t)
    R = np.concatenate([np.broadcast_to(np.eye(3), (m, 1, 3, 3)), X[..., :9].reshape(m, -1, 3, 3)], axis=1)
    return R, np.concatenate([np.zeros((m, 1, 3)), X[..., 9:]], axis=1)


def moving(layer: Layer, drawn: Drawn, color: str) -> tuple[Drawn, Array]:
    """Values that change from state to state besides paths: poses, colors, arrows and patches; and the values
    of the columns, shape (m, columns)."""
    R, p = poses(layer)
    patches, arrows, touched = contacts.touching(layer, R)
    _, paint, more = paint_of(layer, drawn.lines, color)
    tables = [layer.table, *(table for table, _ in more), *([touched] if touched is not None else [])]
    values = drawn.arranged.values(np.concatenate([table.values for table in tables], axis=1))
    return replace(drawn, t=layer.t, R=R, p=p, paint=paint, arrows=arrows, patches=patches), values


def scene(
    drawn: list[Drawn], title: str, paint: tuple[str, str, float], system: System, strength: bool = False
) -> Scene:
    """A scene around its layers."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    largest, outer = 0.0, []
    for d in drawn:
        i = np.unique(np.linspace(0, len(d.t) - 1, min(len(d.t), SAMPLED)).astype(int))
        points = [_corners(d, i)]
        for line in d.lines:
            own = np.einsum("tnij,tnj->tni", d.R[i][:, line.bodies], line.points[i])
            points.append((own + d.p[i][:, line.bodies]).reshape(-1, 3))
        if d.measured is not None:
            points.append(d.measured.positions[i].reshape(-1, 3))
        points += [a.at(d.t[i])[:, :3] for a in d.arrows]
        ends = [end for link in d.links for end in ((link.a, link.p_a), (link.b, link.p_b))]
        stations = [*ends, *((body, station) for _, body, station in d.markers)]
        if stations:
            on, at = np.array([body for body, _ in stations]), np.array([station for _, station in stations])
            points.append((np.einsum("tnij,nj->tni", d.R[i][:, on], at) + d.p[i][:, on]).reshape(-1, 3))
        all_points = np.concatenate(points) + d.offset
        all_points = all_points[np.isfinite(all_points).all(axis=1)]
        if len(all_points):
            low, high = np.minimum(low, all_points.min(axis=0)), np.maximum(high, all_points.max(axis=0))
            outer.append(_outermost(all_points))
        for a in d.arrows:
            largest = max(largest, _usual(np.linalg.norm(a.vectors, axis=1)))
    if not np.isfinite(low).all():
        low, high = np.full(3, -0.5), np.full(3, 0.5)
    up = up_of(system)
    out = Scene(
        title,
        drawn,
        up,
        low,
        high,
        paint,
        strength,
        0.0,
        drawn[0].level,
        usual([p for d in drawn for p in d.pressures]),
        _outermost(np.concatenate(outer)) if outer else np.zeros((0, 3)),
    )
    # in a walk the size of the person, not of the way; a single body is small relative to its way
    near = out.size if len(drawn[0].bodies) == 2 else min(out.size, max(reach(d) for d in drawn))
    lengths = all(a.unit == "m" for d in drawn for a in d.arrows)  # which are drawn as long as they are
    out.arrow_scale = LONGEST * near / largest if largest > 0 and not lengths else 1.0
    out.outermost = _outermost(np.concatenate([out.outermost, *(_tips(d, out) for d in drawn)]))
    return out


def reach(d: Drawn) -> float:
    """Radius of a ball around the bodies of one pose, of all frames the largest [m]."""
    p = d.p[:, 1:]
    if not p.shape[1]:
        return 0.5
    with np.errstate(invalid="ignore"):
        far = np.linalg.norm(p - p.mean(axis=1, keepdims=True), axis=2).max(axis=1)
    own = 0.0
    for part in d.parts:
        if part.body and part.kind != "surfaces" and not part.wide:
            vertices = part.shape.surface()[0]
            if len(vertices):
                places = vertices @ part.X_BS.R.T + part.X_BS.p
                own = max(own, float(np.linalg.norm(places, axis=1).max()))
    return float(np.nanmax(far, initial=0.0)) + own or 0.5


def _tips(d: Drawn, scene: Scene) -> Array:
    """Tips of arrows that are at most twice as long as usual, in ground [m], shape (k, 3)."""
    i = np.unique(np.linspace(0, len(d.t) - 1, min(len(d.t), SAMPLED)).astype(int))
    found = [np.zeros((0, 3))]
    for arrows in d.arrows:
        at = arrows.at(d.t[i])
        long = scene.arrow_scale * np.linalg.norm(at[:, 3:], axis=1)
        tips = at[:, :3] + scene.arrow_scale * at[:, 3:] + d.offset
        some = (long > 0) & (long <= 2 * LONGEST * scene.size) & np.isfinite(tips).all(axis=1)
        found.append(tips[some])
    return np.concatenate(found)


def _usual(sizes: Array) -> float:
    """The 95 % quantile of sizes: a short blow does not make all others small."""
    sizes = sizes[np.isfinite(sizes) & (sizes > 0)]
    return float(np.quantile(sizes, USUAL)) if len(sizes) else 0.0


def _corners(d: Drawn, frames: Array) -> Array:
    """Corners of the boxes around all shapes, in ground [m], shape (k, 3)."""
    out = [d.p[frames][:, 1:].reshape(-1, 3)]
    for part in d.parts:
        if part.wide or part.kind in d.hidden:  # unbounded, or hidden at first
            continue
        vertices = part.shape.surface()[0]
        vertices = vertices if len(vertices) else np.asarray(getattr(part.shape, "points", np.zeros((1, 3))))
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        own = _box(low, high) @ part.X_BS.R.T + part.X_BS.p
        R, p = d.R[frames, part.body], d.p[frames, part.body]
        out.append((np.einsum("tij,nj->tni", R, own) + p[:, None]).reshape(-1, 3))
    return np.concatenate(out)


def _box(low: Array, high: Array) -> Array:
    """The eight corners of a box, shape (8, 3)."""
    return np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T


def _outermost(points: Array) -> Array:
    """The points that are farthest in one of 98 directions."""
    n = np.array(np.meshgrid(*[np.linspace(-1, 1, 5)] * 3)).reshape(3, -1).T
    n = n[np.abs(n).max(axis=1) == 1]
    return points[np.unique(np.argmax(points @ n.T, axis=0))]


def up_of(system: System) -> Array:
    """The axis nearest to the direction against free fall; y without gravity."""
    g = free_fall(system._forces)
    if not g.any():
        return np.array([0.0, 1.0, 0.0])
    out = np.zeros(3)
    axis = int(np.argmax(np.abs(g)))
    out[axis] = -np.sign(g[axis])
    return out
