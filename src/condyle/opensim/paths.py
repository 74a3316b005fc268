"""Paths of muscles and ligaments: points, and surfaces that they wrap over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from condyle.errors import DescriptionError
from condyle.functions import Constant
from condyle.opensim.element import Element
from condyle.opensim.functions import in_body
from condyle.opensim.geometry import FRAMES
from condyle.opensim.reading import Reading
from condyle.opensim.registry import reads
from condyle.paths import (
    ConditionalPoint,
    Cylinder,
    Ellipsoid,
    FunctionPath,
    MovingPoint,
    Path,
    Point,
    Sphere,
    Surface,
    Torus,
    Wrap,
)
from condyle.paths.points import FARTHEST, METHODS
from condyle.spatial import Transform, rotation_from_euler
from condyle.tree import scales

EDGE = 1e-5
"""A ConditionalPathPoint is active this far beyond its range [rad, m]."""
QUADRANTS = {
    "all": "all",
    **{sign + axis: sign.replace("+", "") + axis for sign in ("", "+", "-") for axis in "xyz"},
}


def path(reading: Reading, element: Element) -> Path:
    """The path of a force."""
    found = reading.object(element, "path") or reading.property(element, "GeometryPath")
    if found is None:
        raise reading.error(element, "it has no path")
    if not reading.reads(found):
        raise DescriptionError(
            str(reading.error(found, "this kind of path is not read; GeometryPath and FunctionBasedPath are"))
        )
    return reading.read(found)  # type: ignore[no-any-return]


@reads("GeometryPath")
def geometry_path(reading: Reading, element: Element) -> Path:
    points = reading.objects(element, "PathPointSet")
    kept = [reading.read(e) for e in points]
    for k in (0, -1):
        if kept and isinstance(kept[k], ConditionalPoint):
            reading.remark(
                points[k],
                "is an end of its path, and is always active; in OpenSim a path may "
                "begin with the next point",
            )
            kept[k] = Point(kept[k].body, kept[k].p)
    wraps = [reading.read(e) for e in reading.objects(element, "PathWrapSet")]
    return Path(kept, [wrap for made in wraps if (wrap := _between(made, len(kept))) is not None])


@reads("FunctionBasedPath")
def function_based_path(reading: Reading, element: Element) -> FunctionPath:
    given = reading.words(element, "coordinate_paths")
    length = reading.function(element, "length_function")
    if length is None or not given:
        raise reading.error(element, "expected <length_function> and <coordinate_paths>")
    names = tuple(reading.coordinate(element, name) for name in given)
    arms = [reading.read(e) for e in reading.objects(element, "moment_arm_functions")]
    speed = reading.function(element, "lengthening_speed_function")
    for what, function, count in (
        ("length_function", length, len(names)),
        *(("moment_arm_functions", f, len(names)) for f in arms),
        ("lengthening_speed_function", speed, 2 * len(names)),
    ):
        if function is not None and function.variables not in (count, None):
            raise reading.error(
                element, f"{what}: expected a function of {count} variables, got one of {function.variables}"
            )
    if arms and len(arms) != len(names):
        raise reading.error(
            element,
            f"expected {len(names)} moment_arm_functions, one per coordinate, or none, got {len(arms)}",
        )
    path = FunctionPath(length, names)
    _compare_derivatives(reading, element, path, arms, speed)
    return path


SAMPLES = 64
"""Poses at which functions of a FunctionBasedPath are compared."""
ALIKE = 1e-9
"""[m, m/s] They differ by less where they are derivatives, with coefficients of 17 digits."""


def _compare_derivatives(
    reading: Reading, element: Element, path: FunctionPath, arms: list[Any], speed: Any
) -> None:
    """Moment arms and speed are those of the length here; a note says where a file's are others."""
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


def _between(made: tuple[Wrap, tuple[int, int]] | None, count: int) -> Wrap | None:
    """The wrap between the points that it is limited to: 1-based in files, less than 1 means an end."""
    if made is None:
        return None
    wrap, (first, last) = made
    low, high = max(first, 1) - 1, (last if 1 <= last <= count else count) - 1
    if (low, high) == (0, count - 1):
        return wrap
    return replace(wrap, between=(low, high))


@reads("PathPoint")
def path_point(reading: Reading, element: Element) -> Point:
    body, X = reading.frame(element, "parent_frame")
    return Point(body, X @ np.array(reading.numbers(element, "location", (0.0,) * 3, 3)))


@reads("ConditionalPathPoint")
def conditional_path_point(reading: Reading, element: Element) -> Point:
    body, X = reading.frame(element, "parent_frame")
    low, high = reading.numbers(element, "range", (0.0, 0.0), 2)
    p = X @ np.array(reading.numbers(element, "location", (0.0,) * 3, 3))
    if low - EDGE > high + EDGE:
        reading.remark(
            element, f"its range {low:g} to {high:g} is empty; the path never goes through it, as in OpenSim"
        )
        low, high = -np.inf, -np.inf
    coordinate = _coordinate(reading, element, "coordinate")
    if unit(reading, coordinate) == "rad":  # -999 to 999 means always
        low, high = -np.inf if low < -FARTHEST else low, np.inf if high > FARTHEST else high
    return ConditionalPoint(body, p, coordinate, (low - EDGE, high + EDGE))


def unit(reading: Reading, coordinate: str) -> str:
    """Unit of a coordinate."""
    tree = reading.system._tree
    names = [c.name for b in tree.bodies for c in b.coordinates]
    return scales.units(tree.bodies)[0][names.index(coordinate)]


@reads("MovingPathPoint")
def moving_path_point(reading: Reading, element: Element) -> Point:
    body, X = reading.frame(element, "parent_frame")
    functions: list[Any] = []
    names: list[str | None] = []
    ranges: list[Any] = []
    for axis in "xyz":
        function = reading.function(element, f"{axis}_location", 0.0)
        coordinate: Element | None = reading.connected(element, f"{axis}_coordinate", None)
        if coordinate is None and not isinstance(function, (float, Constant)):
            raise reading.error(element, f"{axis}_coordinate is missing")
        functions.append(function.value if isinstance(function, Constant) else function)
        names.append(None if coordinate is None else _coordinate(reading, element, f"{axis}_coordinate"))
        ranges.append(
            None
            if coordinate is None
            else reading.numbers(coordinate, "range", (-10.0, 10.0), 2, finite=False)
        )
    known = [name for name in names if name is not None]
    if not known or all(isinstance(f, float) for f in functions):
        return Point(body, X @ np.array(functions, dtype=float))
    if not np.array_equal(X.R, np.eye(3)) and len(set(known)) > 1:
        raise DescriptionError(
            str(
                reading.error(
                    element,
                    "a point that moves with several coordinates on a "
                    "turned frame is not read; give it on the body",
                )
            )
        )
    functions = list(in_body(X.R, X.p, functions))
    ranges_by = dict(zip(names, ranges, strict=True))
    return MovingPoint(
        body, functions, [name or known[0] for name in names], [ranges_by[name or known[0]] for name in names]
    )


def _coordinate(reading: Reading, element: Element, socket: str) -> str:
    found = reading.connected(element, socket)
    return reading.coordinate(element, reading.components.path(found))


# ---- Surfaces ----------------------------------------------------------------------------------------------


@reads("PathWrap")
def path_wrap(reading: Reading, element: Element) -> tuple[Wrap, tuple[int, int]] | None:
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
    R = rotation_from_euler(np.array(reading.numbers(found, "xyz_body_rotation", (0.0,) * 3, 3)), "xyz")
    X_BS = X @ Transform(R, reading.numbers(found, "translation", (0.0,) * 3, 3))
    return Wrap(surface, body, X_BS, None, name, method=method), (first, last)


def wrap_objects(reading: Reading) -> dict[str, Element]:
    """Elements of wrap objects by name, the first of each; those that no path uses change nothing."""
    if reading not in _WRAPS:
        _WRAPS[reading] = {}
        for holder in reading.model.every("WrapObjectSet"):
            for element in reading.objects(holder.parent or holder, "WrapObjectSet"):
                _WRAPS[reading].setdefault(element.name, element)
                reading.skip(element, *(child.tag for child in element.children))
    return _WRAPS[reading]


_WRAPS: WeakKeyDictionary[Reading, dict[str, Element]] = WeakKeyDictionary()


def _quadrant(reading: Reading, element: Element) -> str:
    given = reading.text(element, "quadrant", "all")
    if given.lower() not in QUADRANTS:
        raise reading.error(element, f"quadrant: expected all, x, +x, -x, y, .., got {given!r}")
    return QUADRANTS[given.lower()]


def _surface(tag: str, make: Any) -> None:
    @reads(tag)
    def reader(reading: Reading, element: Element) -> Surface:
        return make(reading, element, _quadrant(reading, element))  # type: ignore[no-any-return]


_surface(
    "WrapCylinder",
    lambda reading, element, quadrant: Cylinder(
        reading.number(element, "radius", 1.0), reading.number(element, "length", 1.0), quadrant=quadrant
    ),
)
_surface(
    "WrapSphere",
    lambda reading, element, quadrant: Sphere(reading.number(element, "radius", 0.05), quadrant=quadrant),
)
_surface(
    "WrapEllipsoid",
    lambda reading, element, quadrant: Ellipsoid(
        reading.numbers(element, "dimensions", (0.05,) * 3, 3), quadrant=quadrant
    ),
)
_surface(
    "WrapTorus",
    lambda reading, element, quadrant: Torus(
        reading.number(element, "inner_radius", 0.01),
        reading.number(element, "outer_radius", 0.05),
        quadrant=quadrant,
    ),
)
