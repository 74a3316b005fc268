"""Paths of muscles and ligaments: points, and surfaces that they wrap over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

import condyle.paths as paths
from condyle.functions import Constant, Polynomial
from condyle.opensim.element import Element
from condyle.opensim.functions import function, in_body, of_several
from condyle.opensim.geometry import FRAMES
from condyle.opensim.reading import Reading
from condyle.opensim.table import Class, Field, Number, Properties, Vector, reads, write, writes
from condyle.opensim.writing import Writing, Xml, alike, angles, xml
from condyle.paths.points import FARTHEST, METHODS
from condyle.paths.wrap_surfaces import QUADRANTS
from condyle.trace import Traced
from condyle.tree import scales

EDGE = 1e-5
"""A ConditionalPathPoint is active this far beyond its range [rad, m]."""
FAR = 1e6
"""Length that is written for a cylinder without ends [m]."""


class PathField(Field):
    """The path of a force: a GeometryPath, or a FunctionBasedPath in the property `path`."""

    def parse(self, reading: Reading, element: Element) -> paths.Path:
        found = reading.object(element, "path") or reading.property(element, "GeometryPath")
        if found is None:
            raise reading.error(element, "it has no path")
        if not reading.reads(found):
            raise reading.unsupported(
                found, "this kind of path is not read; GeometryPath and FunctionBasedPath are"
            )
        return reading.read(found)  # type: ignore[no-any-return]

    def write(self, thing: Any, to: Writing) -> Properties:
        made = write(thing.path, to.at(f"path of {to.owner!r}"), "path")
        assert made is not None
        return {"GeometryPath": made} if made.tag == "GeometryPath" else {"path": [made]}


PATH = PathField("path")


# ---- points, and wraps between them ----------------------------------------------------------------------


@reads("GeometryPath")
def geometry_path(reading: Reading, element: Element) -> paths.Path:
    elements = reading.objects(element, "PathPointSet")
    points = [reading.read(e) for e in elements]
    for k in (0, -1):
        if points and isinstance(points[k], paths.ConditionalPoint):
            reading.remark(
                elements[k],
                "is an end of its path, and is always active; in OpenSim a path may "
                "begin with the next point",
            )
            points[k] = paths.Point(points[k].body, points[k].p)
    wraps = [reading.read(e) for e in reading.objects(element, "PathWrapSet")]
    return paths.Path(points, [wrap for x in wraps if (wrap := _between(x, len(points))) is not None])


def _between(read: tuple[paths.Wrap, tuple[int, int]] | None, count: int) -> paths.Wrap | None:
    """The wrap between the points that it is limited to: 1-based in files, less than 1 means an end."""
    if read is None:
        return None
    wrap, (first, last) = read
    low, high = max(first, 1) - 1, (last if 1 <= last <= count else count) - 1
    return wrap if (low, high) == (0, count - 1) else replace(wrap, between=(low, high))


@writes(paths.Path)
def _(path: paths.Path, to: Writing) -> Xml:
    """A GeometryPath; its surfaces become wrap objects of their bodies, once for all paths."""
    points = []
    for i, point in enumerate(path.points):
        at = to.part(f"point {i}")
        if (made := write(point, at, f"{to.owner}-P{i + 1}")) is None:
            at.refuse(f"OpenSim has no point like {point!r}")
        else:
            points.append(made)
    wraps = [
        xml(
            "PathWrap",
            f"pathwrap_{k}",
            wrap_object=_wrap_object(w, to),
            method=w.method,
            range=tuple(i + 1 for i in w.between or (-2, -2)),
        )
        for k, w in enumerate(path.wraps)
    ]
    made = xml("GeometryPath")
    for kind, objects in (("PathPointSet", points), ("PathWrapSet", wraps)):
        made.append(xml(kind, objects=objects))
    return made


def _place(reading: Reading, element: Element) -> tuple[str, Any]:
    """Body and station of a point."""
    body, X = reading.frame(element, "parent_frame")
    return body, X @ np.array(reading.vector(element, "location"))


@reads("PathPoint")
def path_point(reading: Reading, element: Element) -> paths.Point:
    return paths.Point(*_place(reading, element))


def _plain_point(p: Any, to: Writing, kind: str, **more: Any) -> Xml:
    return xml(kind, socket_parent_frame=to.place(p.body), location=to.number(p.p), **more)


@writes(paths.Point, when=lambda p: type(p) is paths.Point)
def _(p: paths.Point, to: Writing) -> Xml:
    return _plain_point(p, to, "PathPoint")


@reads("ConditionalPathPoint")
def conditional_path_point(reading: Reading, element: Element) -> paths.ConditionalPoint:
    body, p = _place(reading, element)
    low, high = reading.numbers(element, "range", (0.0, 0.0), 2)
    if low - EDGE > high + EDGE:
        reading.remark(
            element, f"its range {low:g} to {high:g} is empty; the path never goes through it, as in OpenSim"
        )
        low, high = -np.inf, -np.inf
    coordinate = _coordinate(reading, element, "coordinate")
    if unit(reading, coordinate) == "rad":  # -999 to 999 means always
        low, high = -np.inf if low < -FARTHEST else low, np.inf if high > FARTHEST else high
    return paths.ConditionalPoint(body, p, coordinate, (low - EDGE, high + EDGE))


@writes(paths.ConditionalPoint)
def _(p: paths.ConditionalPoint, to: Writing) -> Xml:
    return _plain_point(
        p,
        to,
        "ConditionalPathPoint",
        socket_coordinate=to.coordinate(p.coordinate),
        range=(_inward(p.range[0], EDGE), _inward(p.range[1], -EDGE)),
    )


def _inward(end: float, edge: float) -> float:
    """An end of the range in the file: OpenSim's ranges are wider by an edge, which the reader adds."""
    near = end + edge
    return next(
        (x for x in (near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)) if x - edge == end), near
    )


def unit(reading: Reading, coordinate: str) -> str:
    """Unit of a coordinate."""
    return units(reading.system)[coordinate]


def units(system: Any) -> dict[str, str]:
    """Units of coordinates, {name: unit}."""
    bodies = system._tree.bodies
    return dict(zip((c.name for b in bodies for c in b.coordinates), scales.units(bodies)[0], strict=True))


def _coordinate(reading: Reading, element: Element, socket: str) -> str:
    found = reading.connected(element, socket)
    return reading.coordinate(element, reading.components.path(found))


@reads("MovingPathPoint")
def moving_path_point(reading: Reading, element: Element) -> paths.Point:
    body, X = reading.frame(element, "parent_frame")
    functions: list[Any] = []
    names: list[str | None] = []
    ranges: dict[str | None, Any] = {}
    for axis in "xyz":
        function = reading.function(element, f"{axis}_location", 0.0)
        coordinate: Element | None = reading.connected(element, f"{axis}_coordinate", None)
        if coordinate is None and not isinstance(function, (float, Constant)):
            raise reading.error(element, f"{axis}_coordinate is missing")
        functions.append(function.value if isinstance(function, Constant) else function)
        names.append(None if coordinate is None else _coordinate(reading, element, f"{axis}_coordinate"))
        if coordinate is not None:
            ranges[names[-1]] = reading.numbers(coordinate, "range", (-10.0, 10.0), 2, finite=False)
    if not ranges or all(isinstance(f, float) for f in functions):
        return paths.Point(body, X @ np.array(functions, dtype=float))
    if not np.array_equal(X.R, np.eye(3)) and len(ranges) > 1:
        raise reading.unsupported(
            element,
            "a point that moves with several coordinates on a turned frame is not read; give it on the body",
        )
    known = [name or next(iter(ranges)) for name in names]
    return paths.MovingPoint(
        body, list(in_body(X.R, X.p, functions)), known, [ranges[name] for name in known]
    )


@writes(paths.MovingPoint)
def _(p: paths.MovingPoint, to: Writing) -> Xml:
    sockets = {f"socket_{x}_coordinate": to.coordinate(c) for x, c in zip("xyz", p.coordinate, strict=True)}
    given = {c.name: c.range for b in to.system.bodies for c in b.coordinates}
    for f, c, own in zip(p.p, p.coordinate, p.range or (None,) * 3, strict=True):
        if own and not isinstance(f, float) and tuple(own) != tuple(given.get(c) or (-np.inf, np.inf)):
            to.refuse(
                f"it moves with {c!r} in the range {own}; OpenSim's moves in that of the "
                f"coordinate, {given.get(c)}: make them equal, cd.Coordinate({c!r}, range=...)"
            )
    places = {}
    for x, f in zip("xyz", p.p, strict=True):
        if isinstance(f, Traced):
            to.refuse("a Python function of a coordinate; give one of cd.functions")
            f = 0.0
        places[f"{x}_location"] = function(f, to)
    return xml("MovingPathPoint", socket_parent_frame=to.place(p.body), **sockets, **places)


# ---- paths that are functions of coordinates ---------------------------------------------------------------


@reads("FunctionBasedPath")
def function_based_path(reading: Reading, element: Element) -> paths.FunctionPath:
    given = reading.words(element, "coordinate_paths")
    length = reading.function(element, "length_function")
    if length is None or not given:
        raise reading.error(element, "expected <length_function> and <coordinate_paths>")
    names = tuple(reading.coordinate(element, name) for name in given)
    arms = [reading.read(e) for e in reading.objects(element, "moment_arm_functions")]
    speed = reading.function(element, "lengthening_speed_function")
    for what, given_function, count in (
        ("length_function", length, len(names)),
        *(("moment_arm_functions", f, len(names)) for f in arms),
        ("lengthening_speed_function", speed, 2 * len(names)),
    ):
        if given_function is not None and given_function.variables not in (count, None):
            raise reading.error(
                element,
                f"{what}: expected a function of {count} variables, got one of {given_function.variables}",
            )
    if arms and len(arms) != len(names):
        raise reading.error(
            element,
            f"expected {len(names)} moment_arm_functions, one per coordinate, or none, got {len(arms)}",
        )
    path = paths.FunctionPath(length, names)
    _compare_derivatives(reading, element, path, arms, speed)
    return path


@writes(paths.FunctionPath)
def _(path: paths.FunctionPath, to: Writing) -> Xml:
    """Moment arms and speed are not written; OpenSim computes them as derivatives of the length too."""
    several = isinstance(path.function, Polynomial) and path.function.variables != 1
    return xml(
        "FunctionBasedPath",
        length_function=[(of_several if several else function)(path.function, to)],
        coordinate_paths=" ".join(to.coordinate(name) for name in path.coordinates),
    )


SAMPLES = 64
"""Poses at which functions of a FunctionBasedPath are compared."""
ALIKE = 1e-9
"""[m, m/s] Tolerance of the comparison, with coefficients of 17 digits."""


def _compare_derivatives(
    reading: Reading, element: Element, path: paths.FunctionPath, arms: list[Any], speed: Any
) -> None:
    """Moment arms and speed are derivatives of the length here; a note reports differences from the file."""
    every = {c.name: c for b in reading.system._tree.bodies for c in b.coordinates}
    rng = np.random.default_rng(0)
    q, u = np.empty((2, len(path.coordinates), SAMPLES))
    for k, name in enumerate(path.coordinates):
        low, high = every[name].range or (-1.0, 1.0)
        q[k] = rng.uniform(max(low, -3.0), min(high, 3.0), SAMPLES)
        u[k] = rng.normal(size=SAMPLES)
    slopes = [
        np.asarray(path.function.derivative(q, np.eye(len(q), dtype=int)[k].tolist())) for k in range(len(q))
    ]
    off = max(
        (float(np.abs(f(*q) + slope).max()) for f, slope in zip(arms, slopes, strict=False)), default=0.0
    )
    if not off < ALIKE:
        reading.remark(
            element,
            "its moment_arm_functions are not the derivatives of its length, by up to "
            f"{off:.2g} m; here moment arms are those derivatives",
        )
    if speed is not None:
        off = float(np.abs(speed(*q, *u) - sum(s * v for s, v in zip(slopes, u, strict=True))).max())
        if not off < ALIKE:
            reading.remark(
                element,
                "its lengthening_speed_function is not the rate of its length, by up to "
                f"{off:.2g} m/s at speeds of about 1; here it is that rate",
            )


# ---- surfaces ----------------------------------------------------------------------------------------------


@reads("PathWrap")
def path_wrap(reading: Reading, element: Element) -> tuple[paths.Wrap, tuple[int, int]] | None:
    method = reading.text(element, "method", "hybrid").lower()
    if method not in METHODS:
        reading.remark(element, f"its method {method!r} is not known; it is hybrid, as in OpenSim")
        method = METHODS[0]
    first, last = (int(x) for x in reading.numbers(element, "range", (-1.0, -1.0), 2))
    name = reading.text(element, "wrap_object", "")
    found = wrap_objects(reading).get(name)
    if found is None:
        raise reading.error(element, f"no wrap object is called {name!r}")
    if not reading.boolean(found, "active", True):
        return None
    surface = reading.read(found)
    frame = next(e for e in found.ancestors() if e.tag in FRAMES)
    body, X = reading.placed(frame, element)
    X_BS = X @ reading.pose(found, "xyz_body_rotation")
    return paths.Wrap(surface, body, X_BS, None, name, method=method), (first, last)


def wrap_objects(reading: Reading) -> dict[str, Element]:
    """Elements of wrap objects, {name: first element}; those that no path uses have no effect."""
    if reading not in _WRAPS:
        _WRAPS[reading] = {}
        for holder in reading.model.descendants("WrapObjectSet"):
            for element in reading.objects(holder.parent or holder, "WrapObjectSet"):
                _WRAPS[reading].setdefault(element.name, element)
                reading.skip(element, *(child.tag for child in element.children))
    return _WRAPS[reading]


_WRAPS: WeakKeyDictionary[Reading, dict[str, Element]] = WeakKeyDictionary()


def _wrap_object(w: paths.Wrap, to: Writing) -> str:
    """The name of the wrap object; it is created unless an earlier path had the same."""
    R, p = to.frame(w.X_BS)
    surface = write(w.surface, to)
    if surface is None:
        to.refuse(f"OpenSim has no surface like {w.surface!r}")
        return ""
    made = xml(surface.tag, xyz_body_rotation=angles(R), translation=p)
    made.extend(surface)
    for name, other in to.wraps[w.body].items():
        if alike(made, other):
            return name
    wanted = name = w.name or f"{w.body}_wrap"
    taken = {n for objects in to.wraps.values() for n in objects}
    count = 1
    while name in taken:  # OpenSim searches for this name on all bodies
        count, name = count + 1, f"{wanted}_{count + 1}"
    made.set("name", to.part(f"wrap {name!r}").name(name))
    to.wraps[w.body][name] = made
    return name


class QuadrantField(Field):
    """The half of a surface that a path passes over: one of QUADRANTS, or all."""

    def parse(self, reading: Reading, element: Element) -> str:
        given = reading.text(element, self.tag, "all")
        word = given.lower().removeprefix("+")
        if word not in ("all", *QUADRANTS):
            raise reading.error(element, f"quadrant: expected all, x, +x, -x, y, .., got {given!r}")
        return word

    def write(self, surface: Any, to: Writing) -> Properties:
        given = surface.quadrant
        if isinstance(given, str):
            return {self.tag: given}
        direction = np.asarray(to.number(given), dtype=float)
        direction = direction / np.linalg.norm(direction)
        for word, axis in QUADRANTS.items():
            if np.allclose(direction, axis, atol=1e-12):
                return {self.tag: word}
        to.refuse(f"the quadrant of {surface!r} is a direction; OpenSim has axes: x, -x, .., -z, all")
        return {self.tag: "all"}


class Length(Number):
    """Length of a cylinder, which may be infinite."""

    def format(self, value: Any, to: Writing) -> Any:
        length = to.number(value)
        return FAR if np.isinf(length) else length


QUADRANT = QuadrantField("quadrant")
Class("WrapCylinder", paths.Cylinder, (QUADRANT, Number("radius", 1.0), Length("length", 1.0)))
Class("WrapSphere", paths.Sphere, (QUADRANT, Number("radius", 0.05)))
Class("WrapEllipsoid", paths.Ellipsoid, (QUADRANT, Vector("dimensions", (0.05,) * 3, "radii")))
Class("WrapTorus", paths.Torus, (QUADRANT, Number("inner_radius", 0.01), Number("outer_radius", 0.05)))
