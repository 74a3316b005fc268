"""Page: a scene as one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import condyle.files as files
import condyle.shapes as shapes
from condyle.arrays import Array, is_number
from condyle.errors import DescriptionError, UnknownNameError
from condyle.records import assign, dataclass
from condyle.spatial import quaternion_from_rotation
from condyle.table import Table
from condyle.viewer import encode
from condyle.viewer.drawn_elements import ShapeOnBody
from condyle.viewer.scene import Drawn, Scene, reach

CLIENT = Path(__file__).parent / "client"
INLINE = 2.4e6
"""Largest number of letters of a page inside a notebook: Jupyter's server passes 3 MB at once."""
LENGTH, TURN, PAINT, COLUMN = 1e-4, 5e-5, 1 / 255, 1 / 8192
"""Resolution of stored values: of places [m] in a scene of a meter or more; of quaternions; of colors; of a
column, over its range."""
TRIANGLES = 30_000
"""Largest number of triangles of a mesh; meshes with more are coarsened."""
VIEWS = ("any", "front", "side", "top")
"""Initial views of the camera."""


@dataclass(frozen=True)
class ViewOptions:
    """Direction of view of a scene, and its labels.

    Attributes:
        view: "any", "front", "side" or "top": the direction, unless angles are given.
        azimuth: of the camera about the vertical [degrees]: 0 from the front, 90 from the side (the right),
            180 from behind; None: that of the view.
        elevation: of the camera above level [degrees], from -90 to 90; None: that of the view.
        zoom: 1 sees all, 2 is twice as near.
        labels: kinds of things (see LABELED) or names of single things to be labeled.
    """

    view: str = "any"
    azimuth: float | None = None
    elevation: float | None = None
    zoom: float = 1.0
    labels: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.view not in VIEWS:
            raise DescriptionError(f"view: expected one of {', '.join(VIEWS)}, got {self.view!r}")
        for name, low, high in (("azimuth", -360, 360), ("elevation", -90, 90), ("zoom", 0.01, 100)):
            x: Any = getattr(self, name)
            if x is None and name != "zoom":
                continue
            if not is_number(x, low, high):
                unit = "" if name == "zoom" else " [degrees]"
                raise DescriptionError(f"{name}: expected a number from {low} to {high}{unit}, got {x!r}")
            object.__setattr__(self, name, float(x))
        given: Any = self.labels
        if not isinstance(given, (str, list, tuple, set)):
            raise DescriptionError(
                f"labels: expected names of kinds ({', '.join(LABELED)}) or of single things, got {given!r}"
            )
        assign(self, labels=(given,) if isinstance(given, str) else tuple(given))

    def named(self, scene: Scene) -> tuple[list[str], list[str]]:
        """Kinds whose names are all shown, and further single names.

        Raises:
            UnknownNameError: a label that is neither a kind nor a name of the scene.
        """
        kinds = [x for x in self.labels if x in LABELED]
        names = [x for x in self.labels if x not in LABELED]
        known = [name for d in scene.layers for _, name, _ in things(d, 0)] if names else []
        if unknown := [x for x in names if x not in known]:
            raise UnknownNameError("label", unknown[0], [*LABELED, *dict.fromkeys(known)], "labels")
        return kinds, names

    def toward(self, front: Array, side: Array, up: Array) -> Array:
        """Unit vector from the scene to the camera."""
        z = {"front": front, "side": side, "top": up - 1e-3 * front, "any": side + 0.75 * front + 0.42 * up}
        d = z[self.view] / np.linalg.norm(z[self.view])
        if self.azimuth is None and self.elevation is None:
            return d
        a = np.arctan2(d @ side, d @ front) if self.azimuth is None else np.radians(self.azimuth)
        level = np.degrees(np.arcsin(np.clip(d @ up, -1, 1))) if self.elevation is None else self.elevation
        e = np.radians(np.clip(level, -89.95, 89.95))
        return np.cos(e) * (np.cos(a) * front + np.sin(a) * side) + np.sin(e) * up


LABELED = ("bodies", "joints", "muscles", "markers", "forces")
"""Kinds of things that can be labeled."""


def things(d: Drawn, frame: int) -> Iterator[tuple[str, str, Array]]:
    """Kind, name and middle in ground [m] of things that can be labeled, at one frame."""
    seen = set()
    for part in d.parts:
        if part.kind in ("bodies", "joints") and (part.kind, part.name) not in seen:
            seen.add((part.kind, part.name))
            own = [p for p in d.parts if (p.kind, p.name) == (part.kind, part.name)]
            corners = [p.shape.surface()[0] for p in own]
            middles = [
                p.X_BS.p + p.X_BS.R @ ((x.min(axis=0) + x.max(axis=0)) / 2 if len(x) else np.zeros(3))
                for p, x in zip(own, corners, strict=True)
            ]
            yield (
                part.kind,
                part.name,
                d.R[frame, part.body] @ np.mean(middles, axis=0) + d.p[frame, part.body],
            )
    for line in d.lines:
        points = d.points(line, frame) - d.offset
        yield "muscles", line.name, points[len(points) // 2]
    for name, body, station in d.markers:
        yield "markers", name, d.R[frame, body] @ station + d.p[frame, body]
    for arrow in d.arrows:
        x = arrow.at(d.t[frame : frame + 1])[0]
        yield "forces", arrow.name, x[:3] if np.abs(np.nan_to_num(x[3:])).any() else np.full(3, np.nan)


PLOTTED = 3
"""Columns that are plotted at first."""


class Page:
    """A scene as one HTML file, from `cd.show`. A notebook shows it inline.

    Attributes:
        scene: the drawn scene.
        path: of the written file, if any.
    """

    def __init__(self, scene: Scene, **options: Any) -> None:
        self.scene, self.options = scene, options
        self.path: Path | None = None
        self._html: str | None = None

    @property
    def html(self) -> str:
        """The whole file."""
        if self._html is None:
            self._html = page_of(self.scene, **self.options)
        return self._html

    def save(self, path: str | Path) -> Path:
        """Write it; returns the path.

        Args:
            path: ends in .html.
        """
        if not isinstance(path, (str, Path)):
            raise DescriptionError(
                f"show: path: expected the path of a file, 'walk.html', got "
                f"{type(path).__name__}" + ("; a motion is motion=..." if isinstance(path, Table) else "")
            )
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise DescriptionError(
                f"show: {str(path)!r}: a page ends in .html; cd.picture makes .png and "
                ".svg, trajectory.movie makes .mp4 and .gif"
            )
        with files.atomic_write(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        self.path = path
        return path

    def inline(self, most: float = INLINE, height: int = 520) -> str:
        """An element that shows the page inside another one, a notebook or a report. Long motions are
        thinned.

        Args:
            most: letters.
            height: [pixels].
        """
        stride, text = 1, ""
        for stride in (1, 2, 3, 5, 8, 12, 20, 40, 80, 160, 1000):
            text = self.html if stride == 1 else page_of(thinned(self.scene, stride), **self.options)
            if len(text) <= most:
                break
        name = html.escape(self.scene.title, quote=True)
        return (
            f'<iframe title="{name}" sandbox="allow-scripts allow-downloads" allow="fullscreen" loading="lazy" srcdoc="'
            f'{html.escape(text, quote=True)}" style="width:100%;height:{height}px;border:0;'
            'border-radius:8px"></iframe>'
        )

    def _repr_html_(self) -> str:
        return self.inline()

    def __repr__(self) -> str:
        first = self.scene.layers[0]
        where = f", {str(self.path)!r}" if self.path else ""
        size = [
            f"{n} {noun if n == 1 else plural}"
            for n, noun, plural in (
                (len(first.t), "frame", "frames"),
                (len(first.bodies) - 1, "body", "bodies"),
            )
        ]
        return f"Page({self.scene.title!r}: {', '.join(size)}{where})"


def thinned(scene: Scene, stride: int) -> Scene:
    """The scene with every stride-th frame, and a note about it."""
    layers = []
    for d in scene.layers:
        i = slice(None, None, stride)
        lines = [replace(line, points=line.points[i]) for line in d.lines]
        patches = [replace(patch, points=patch.points[i], axes=patch.axes[i]) for patch in d.patches]
        maps = [replace(p, values=p.values[i]) for p in d.pressures]
        measured = d.measured and replace(d.measured, positions=d.measured.positions[i])
        note = f"{len(d.t[i])} of {len(d.t)} frames are shown, so that the page stays small."
        layers.append(
            replace(
                d,
                t=d.t[i],
                R=d.R[i],
                p=d.p[i],
                lines=lines,
                columns=d.columns[i],
                paint=None if d.paint is None else d.paint[i],
                measured=measured,
                patches=patches,
                pressures=maps,
                notes=[*d.notes, note] if len(d.t) > 1 else d.notes,
            )
        )
    return replace(scene, layers=layers)


@cache
def _client(name: str) -> str:
    return (CLIENT / name).read_text(encoding="utf-8")


def digest() -> str:
    """Digest of the client's sources; the first line of the bundle has the digest of the sources from which
    it was built."""
    names = sorted(p.name for p in CLIENT.glob("*.js") if p.name != "bundle.js") + ["package.json"]
    return hashlib.sha256(b"".join((CLIENT / name).read_bytes() for name in names)).hexdigest()


def page_of(
    scene: Scene,
    *,
    play: bool = True,
    look: ViewOptions | None = None,
    panels: bool = True,
    plot: list[str] | None = None,
    bare: bool = False,
    live: dict[str, Any] | None = None,
) -> str:
    """The whole file; `live` has the controls of a page whose states come from a server."""
    look = look or ViewOptions()
    kinds, own_names = look.named(scene)
    head = _head(scene) | ({"live": live} if live else {})
    blocks: list[str] = []
    notes: list[str] = []
    meshes: list[dict[str, Any]] = []
    known: dict[int, int] = {}
    for i, d in enumerate(scene.layers):
        layer, own = _layer(scene, d, i, meshes, known, notes)
        head["layers"].append(layer)
        blocks += own
        notes += [n if len(scene.layers) == 1 else f"{d.name}: {n}" for n in d.notes]
    names = [c["name"] for c in head["layers"][0]["columns"]]
    if unknown := [name for name in plot or () if name not in names]:
        raise UnknownNameError("column", unknown[0], names, "show: plot")
    head |= {
        "meshes": meshes,
        "notes": list(dict.fromkeys(notes)),
        "play": play,
        "view": look.view,
        "camera": {"azimuth": look.azimuth, "elevation": look.elevation, "zoom": look.zoom},
        "labels": {"kinds": kinds, "names": own_names} if look.labels else None,
        "panels": panels,
        "bare": bare,
        "plotted": _plotted(scene.layers[0]) if plot is None else list(plot),
    }
    from condyle import __version__

    values = {
        "VERSION": __version__,
        "TITLE": html.escape(scene.title, quote=True),
        "STYLE": _client("style.css").strip(),
        "BLOCKS": encode.json_block("head", head) + "".join(blocks),
        "SCRIPT": _client("bundle.js").replace("</script", "<\\/script").strip(),
    }
    return re.sub(r"%([A-Z]+)%", lambda found: values[found[1]], _client("page.html"))


def _head(scene: Scene) -> dict[str, Any]:
    label, unit, high = scene.paint
    first = scene.layers[0]
    near = max(reach(d) for d in scene.layers)
    middle = (scene.low + scene.high) / 2
    good = first.p[np.isfinite(first.p).reshape(len(first.t), -1).all(axis=1), 1:]
    # the camera follows systems that walk away; a pendulum gets no farther than sqrt(8) of its length. It
    # does not follow a small thing that moves about, such as a ball in a bowl, whose way matters
    level = good - (good @ scene.up)[..., None] * scene.up
    goes = False
    if good.size:
        wide = np.linalg.norm(np.ptp(level, axis=0), axis=1)
        away = np.linalg.norm(level[-1] - level[0], axis=1)
        goes = bool(wide.min() > 3 * near and (scene.size < 6 * near or (away > 0.8 * wide).all()))
        if len(first.bodies) == 2:  # a single body is shown with its surroundings
            near = float(np.clip(0.4 * scene.size, near, 5 * near))
    return {
        "title": scene.title,
        "up": scene.up.tolist(),
        "floor": scene.floor,
        "middle": middle.tolist(),
        "outermost": np.round(scene.outermost, 5 - int(np.log10(scene.size))).tolist(),
        "size": near if goes else scene.size,
        "near": near if goes else scene.size,
        "follow": goes,
        "paint": {"label": label, "unit": unit, "high": high},
        "arrow_scale": scene.arrow_scale * (near / scene.size if goes and len(first.bodies) == 2 else 1.0),
        "pressure": scene.pressure,
        "layers": [],
    }


def _plotted(d: Drawn) -> list[str]:
    """The coordinate of each joint that moves most; then the other moving ones, in order."""
    if len(d.t) < 2:
        return []
    with np.errstate(invalid="ignore"):
        span = np.nanmax(d.columns.values, axis=0, initial=-np.inf) - np.nanmin(
            d.columns.values, axis=0, initial=np.inf
        )
    quaternion = re.compile(r".*_q[wxyz]")  # not readable for a person
    moves = [k for k, name in enumerate(d.columns.names) if span[k] > 0 and not quaternion.fullmatch(name)]
    most: dict[str, int] = {}
    for k in (k for k in moves if d.arranged.groups[k] == "Joints"):
        if span[k] > span[most.setdefault(d.owners[k], k)]:
            most[d.owners[k]] = k
    return [d.columns.names[k] for k in dict.fromkeys([*most.values(), *moves])][:PLOTTED]


def _layer(
    scene: Scene, d: Drawn, i: int, meshes: list[dict[str, Any]], known: dict[int, int], notes: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """A layer's part of the head, and its blocks."""
    m = len(d.t)
    strongest = max((line.strength for line in d.lines), default=0.0) or 1.0
    layer = {
        "name": d.name,
        "frames": m,
        "bodies": d.bodies,
        "offset": list(d.offset),
        "shift": d.shift,
        "ghost": i > 0,
        "hidden": [*d.hidden, "frames"],
        "parts": [_part(part, meshes, known, notes) for part in d.parts],
        "lines": [
            {
                "name": n.name,
                "muscle": n.muscle,
                "bodies": n.bodies,
                "on": list(n.on),
                "strength": n.strength,
                "width": 0.35 + np.sqrt(n.strength / strongest) if scene.strength else 1.0,
            }
            for n in d.lines
        ],
        "points": sum(len(n.bodies) for n in d.lines),
        "painted": d.paint is not None,
        "links": [vars(link) for link in d.links],
        "markers": [{"name": name, "body": body, "station": station} for name, body, station in d.markers],
        "measured": d.measured.names if d.measured else [],
        "arrows": [{"name": a.name, "unit": a.unit, "kind": a.kind} for a in d.arrows],
        "patches": [patch.name for patch in d.patches],
        "pressures": [
            {
                "name": p.name,
                "body": p.body,
                "faces": len(p.corners),
                "mesh": _mesh(p.corners.reshape(-1, 3), np.arange(3 * len(p.corners))),
            }
            for p in d.pressures
        ],
        "columns": [
            {"name": name, "unit": "" if unit == "1" else unit, "of": of, "group": group}
            for name, unit, of, group in zip(
                d.columns.names, d.columns.units, d.owners, d.arranged.groups, strict=True
            )
        ],
    }
    length = LENGTH * min(scene.size, 1.0)
    poses = np.concatenate([d.p, d.quaternions()], axis=2).reshape(m, -1)
    groups: list[tuple[str, Array, Any]] = [
        ("poses", poses, np.tile([length] * 3 + [TURN] * 4, len(d.bodies)))
    ]
    if d.lines:
        groups.append(("points", np.concatenate([n.points.reshape(m, -1) for n in d.lines], axis=1), length))
    if d.paint is not None:
        groups.append(("paint", d.paint, PAINT))
    if d.measured is not None:
        groups.append(("measured", d.measured.positions.reshape(m, -1), length))
    if d.arrows:
        x = np.stack([a.at(d.t) for a in d.arrows], axis=1)
        largest = float(np.nanmax(np.abs(x[..., 3:]), initial=1e-9))
        groups.append(
            ("arrows", x.reshape(m, -1), np.tile([length] * 3 + [largest / 4000] * 3, len(d.arrows)))
        )
    if d.patches:
        groups.append(
            ("patches", np.concatenate([patch.numbers for patch in d.patches], axis=1), 0.1 * length)
        )
    if d.pressures:
        part = np.concatenate([p.values for p in d.pressures], axis=1) / scene.pressure
        groups.append(("pressures", np.minimum(part, 1.0), PAINT))
    if d.columns.names:
        values = d.columns.values
        with np.errstate(invalid="ignore"):
            span = np.nanmax(values, axis=0, initial=-1e300) - np.nanmin(values, axis=0, initial=1e300)
        groups.append(("columns", values, np.where(span > 0, COLUMN * span, 1.0)))
    blocks = [encode.block(f"layer{i}-time", np.asarray(d.t, dtype="<f8").tobytes())]
    blocks += [encode.block(f"layer{i}-{name}", encode.channels(x, quantum)) for name, x, quantum in groups]
    return layer, blocks


# ---- shapes ------------------------------------------------------------------------------------------------


def _part(
    part: ShapeOnBody, meshes: list[dict[str, Any]], known: dict[int, int], notes: list[str]
) -> dict[str, Any]:
    s: Any = part.shape
    out: dict[str, Any] = {
        "kind": part.kind,
        "name": part.name,
        "body": part.body,
        "color": part.color,
        "opacity": part.opacity,
        "p": part.X_BS.p.tolist(),
        "q": quaternion_from_rotation(part.X_BS.R)[[1, 2, 3, 0]].tolist(),
    }
    if isinstance(s, shapes.Sphere):
        return out | {"shape": "sphere", "size": [s.radius]}
    if isinstance(s, shapes.Ellipsoid):
        return out | {"shape": "sphere", "size": list(s.radii)}
    if isinstance(s, shapes.Box):
        return out | {"shape": "box", "size": list(s.half_lengths)}
    if isinstance(s, (shapes.Cylinder, shapes.Capsule)):
        return out | {"shape": type(s).__name__.lower(), "size": [s.radius, s.half_length]}
    if isinstance(s, shapes.Frame):
        return out | {"shape": "frame", "size": [s.length]}
    if isinstance(s, shapes.Line):
        return out | {"shape": "line", "size": np.ravel(s.points).tolist()}
    if id(s) not in known:
        vertices, triangles = s.surface()
        if len(triangles) > TRIANGLES:
            vertices, triangles = coarser(vertices, triangles, TRIANGLES)
            notes.append(f"The mesh {part.name!r} is drawn with {len(triangles)} triangles.")
        known[id(s)] = len(meshes)
        meshes.append(_mesh(vertices, triangles))
    return out | {"shape": "mesh", "size": [], "mesh": known[id(s)]}


def _mesh(vertices: Array, triangles: np.ndarray) -> dict[str, Any]:
    """Places as 16 bits within a box, corners as differences."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    step = np.maximum((high - low) / 65535, 1e-12)
    codes = np.rint((vertices - low) / step).astype("<u2")
    corners = np.diff(triangles.ravel(), prepend=0).astype("<i4")
    return {
        "low": low.tolist(),
        "step": step.tolist(),
        "vertices": base64.b64encode(codes.tobytes()).decode(),
        "triangles": base64.b64encode(corners.tobytes()).decode(),
    }


def coarser(vertices: Array, triangles: np.ndarray, most: int) -> tuple[Array, np.ndarray]:
    """A mesh of at most that many triangles: vertices in one cell of a grid are merged at their mean."""
    low = vertices.min(axis=0)
    cell = float((vertices.max(axis=0) - low).max()) / 400
    while True:
        key = np.floor((vertices - low) / cell).astype(np.int64) @ [1, 1 << 20, 1 << 40]
        _, inverse = np.unique(key, return_inverse=True)
        count = np.bincount(inverse)
        places = np.stack([np.bincount(inverse, weights=x) / count for x in vertices.T], axis=1)
        corners = inverse[triangles]
        a, b, c = corners.T
        corners = corners[(a != b) & (b != c) & (c != a)]
        if len(corners) <= most:
            return places, corners
        cell *= 1.25
