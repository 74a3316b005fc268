"""RobotFile: common parts of the readers of URDF and MJCF."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np

import condyle.constraints as constraints
import condyle.contact as contact
import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.mobilizers import Mobilizer, Pin
from condyle.opensim.document import Note, list_notes, warn_of_notes
from condyle.opensim.element import Element, read_elements
from condyle.records import dataclass
from condyle.shapes import Shape
from condyle.spatial import MassProperties, Transform
from condyle.system.system import System

ROTOR_RADIUS = 1e3
"""Radius of gyration of the bodies that stand for rotors [m]: their masses are a millionth of their inertia."""

Surface: TypeAlias = "contact.Material | contact.Rigid"


@dataclass(frozen=True, eq=False)
class Solid:
    """A shape on a body of a file, for drawing, contact and mass.

    Attributes:
        element: where it is in the file.
        body: name of its body.
        shape: None for a plane.
        X_BS: its frame on the body.
    """

    element: Element
    body: str
    shape: Shape | None
    X_BS: Transform


class RobotFile:
    """An XML file of a robot, and the System that is made of it.

    Args:
        path: the file.
        root: tag of its outermost element.
        format_name: name of the format in messages.

    Attributes:
        system: the resulting System.
        notes: unknown elements, and differences of the System.
    """

    def __init__(self, path: str | os.PathLike[str], root: str, format_name: str) -> None:
        self.path = Path(path)
        self.root = read_elements(self.path)
        self.notes: list[Note] = []
        if self.root.tag != root:
            raise self.error(
                self.root, f"the file of a robot in {format_name} begins with <{root}>, not <{self.root.tag}>"
            )

    # ---- words ----

    def error(self, element: Element, text: str) -> DescriptionError:
        """An error at an element, with its line."""
        return DescriptionError(f"{element.place}: {element.title}: {text}")

    def note(self, element: Element, effect: str) -> None:
        """Record an element that is missing or different in the System."""
        self.notes.append(Note(element.file, element.line, element.title, effect))

    def unread(self, element: Element, known: Iterable[str]) -> None:
        """Note the children whose tags are not known here."""
        for child in element.children:
            if child.tag not in known:
                self.note(child, f"<{child.tag}> is not read; it has no effect")

    def finished(self, strict: bool, stops: bool) -> System:
        """The System with its notes, and one warning for all of them; an error if strict. stops: limit joints
        to their ranges.
        """
        if stops:
            for joint in [c for b in self.system.bodies for c in b.coordinates if c.range is not None]:
                assert joint.range is not None
                low, high = joint.range
                if math.isfinite(low):
                    self.system.add_constraint(f"{joint.name}_lower", constraints.Stop(joint.name, lower=low))
                if math.isfinite(high):
                    self.system.add_constraint(
                        f"{joint.name}_upper", constraints.Stop(joint.name, upper=high)
                    )
        if strict and self.notes:
            raise DescriptionError(
                f"{self.path.name}: read with strict=True, but this is not understood:\n{list_notes(self.notes)}"
            )
        self.system.notes = tuple(self.notes)
        warn_of_notes(self.notes, self.path.name)
        return self.system

    system: System

    # ---- attributes ----

    def numbers(
        self, element: Element, key: str, count: int, default: Sequence[float] | None = None
    ) -> Array:
        """An attribute of `count` finite numbers."""
        text = element.attributes.get(key)
        if text is None:
            if default is None:
                raise self.error(element, f"{key}={count} numbers is missing")
            return np.array(default, dtype=float)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError:
            raise self.error(element, f"{key}={text!r} is not {count} numbers") from None
        if len(values) != count or not np.isfinite(values).all():
            raise self.error(element, f"{key} is {count} finite numbers, got {text!r}")
        return values

    def number(self, element: Element, key: str, default: float | None = None) -> float:
        """An attribute of one finite number."""
        return float(self.numbers(element, key, 1, None if default is None else (default,))[0])

    def axis(self, element: Element, value: Array) -> Array:
        """A direction of length 1."""
        length = np.linalg.norm(value)
        if not length > 1e-12:
            raise self.error(element, f"axis {value.tolist()} has no direction")
        return value / length

    def one_of(self, element: Element, what: str, name: str | None, names: Iterable[str]) -> str:
        """A name that must be among others; similar names are suggested."""
        known = list(names)
        if name in known:
            return str(name)
        near = difflib.get_close_matches(str(name), known, n=3)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise self.error(element, f"there is no {what} {name!r}{hint}")

    # ---- what is added to the System ----

    def add_body(
        self,
        element: Element,
        name: str,
        parent: str,
        mobilizer: Mobilizer,
        X_PF: Transform,
        X_BM: Transform,
        masses: MassProperties,
        **options: object,
    ) -> None:
        """Add a body; a physically impossible inertia is kept, with a note."""
        try:
            MassProperties.of(masses.mass, masses.com, masses.inertia)
        except DescriptionError as error:
            what = str(error).removeprefix("body: ").partition(";")[0]
            self.note(element, f"{what}; it is used as it is")
        try:
            self.system.add_body(
                name,
                parent,
                mobilizer,
                X_PF=X_PF,
                X_BM=X_BM,
                mass=masses.mass,
                com=masses.com,
                inertia=masses.inertia,
                any_inertia=True,
                **options,  # type: ignore[arg-type]
            )
        except DescriptionError as error:
            raise self.error(element, str(error)) from None

    def mass_properties(self, element: Element, mass: float, inertia: Array, X: Transform) -> MassProperties:
        """Those of an element, about its own mass center, in the frame of its body."""
        if mass < 0:
            raise self.error(element, f"mass is {mass:g} kg; it must be zero or more")
        if mass == 0.0 and inertia.any():
            self.note(element, "has inertia without mass; its inertia is taken as zero")
            inertia = np.zeros(3)
        return MassProperties.of(mass, inertia=inertia, possible=False).transformed(X)

    def add_rotor(self, element: Element, body: str, mobilizer: Mobilizer, inertia: float) -> None:
        """Add a motor's rotor: a body on ground that follows the joint of `body`."""
        if inertia < 0.0:
            raise self.error(element, f"the inertia of a rotor is at least 0, got {inertia:g}")
        if inertia == 0.0:
            return
        if mobilizer.nu != 1:
            self.note(element, "the armature of a joint of several speeds has no effect")
            return
        self.system.add_body(
            f"{body}_rotor",
            "ground",
            Pin(),
            mass=inertia / ROTOR_RADIUS**2,
            inertia=(inertia / 2, inertia / 2, inertia),
            follows=body,
        )

    def add_contacts(self, material: Surface, floors: Sequence[Solid], solids: Sequence[Solid]) -> None:
        """Contact of all solids of bodies with the solids of ground. Solids of bodies pass through each other."""
        ground = [s for solid in floors for s in self._surfaces(solid, material)]
        moving = [s for solid in solids for s in self._surfaces(solid, material)]
        if ground and moving:
            self.system.add_contact("contact", ground, moving)

    def _surfaces(self, solid: Solid, material: Surface) -> list[contact.surfaces.ContactSurface]:
        X, shape, name = solid.X_BS, solid.shape, solid.element.name or None
        one = f"{solid.body}_{solid.element.line}" if name is None else name
        match shape:
            case None:
                n = X.R[:, 2]
                return [contact.HalfSpace(solid.body, n, float(n @ X.p), material, name=one)]
            case shapes.Sphere():
                return [contact.Sphere(solid.body, X.p, shape.radius, material, name=one)]
            case shapes.Capsule():
                ends = [X @ np.array([0.0, 0.0, sign * shape.half_length]) for sign in (-1, 1)]
                return [
                    contact.Sphere(solid.body, end, shape.radius, material, name=f"{one}_{k}")
                    for k, end in enumerate(ends)
                ]
            case shapes.Ellipsoid():
                return [contact.Ellipsoid(solid.body, X, shape.radii, material, name=one)]
            case shapes.Cylinder():
                return [
                    contact.Cylinder(solid.body, X, shape.radius, 2 * shape.half_length, material, name=one)
                ]
            case shapes.Box():
                return [contact.Box(solid.body, X, shape.half_lengths, material, name=one)]
        self.note(solid.element, "contact of this shape is not read; nothing touches it")
        return []


def rotation_to(direction: Array) -> Array:
    """The smallest rotation that turns z into a direction of length 1, shape (3, 3)."""
    x, y, z = direction
    if z < -1 + 1e-14:
        return np.diag([1.0, -1.0, -1.0])
    # R = I + [v]x + [v]x^2 / (1 + c), v = z cross direction = (-y, x, 0), c = z
    v = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    return np.eye(3) + v + v @ v / (1.0 + z)


def solid_masses(shape: Shape, mass: float | None, density: float) -> MassProperties | None:
    """Mass properties of a solid of even density, about its center; None for what has no volume."""
    center = np.zeros(3)
    match shape:
        case shapes.Sphere():
            volume = 4 / 3 * math.pi * shape.radius**3
            J = np.full(3, 0.4 * shape.radius**2)
        case shapes.Ellipsoid():
            a = np.asarray(shape.radii, dtype=float) ** 2
            volume = 4 / 3 * math.pi * float(np.sqrt(a.prod()))
            J = 0.2 * (a.sum() - a)
        case shapes.Box():
            a = np.asarray(shape.half_lengths, dtype=float) ** 2
            volume = 8 * float(np.sqrt(a.prod()))
            J = (a.sum() - a) / 3
        case shapes.Cylinder():
            r, h = shape.radius, shape.half_length
            volume = 2 * math.pi * r**2 * h
            across = r**2 / 4 + h**2 / 3
            J = np.array([across, across, r**2 / 2])
        case shapes.Capsule():
            r, h = shape.radius, shape.half_length
            tube, ball = 2 * math.pi * r**2 * h, 4 / 3 * math.pi * r**3
            volume = tube + ball
            # two half balls, whose mass centers are 3 r / 8 beyond the ends of the tube
            across = tube * (r**2 / 4 + h**2 / 3) + ball * (0.4 * r**2 + h**2 + 0.75 * h * r)
            J = np.array([across, across, tube * r**2 / 2 + ball * 0.4 * r**2]) / volume
        case shapes.Mesh():
            volume, center, about = _mesh_moments(*shape.surface())
            if not volume > 0.0:
                return None
            mass = density * volume if mass is None else mass
            return MassProperties.of(mass, center, mass / volume * about, possible=False)
        case _:
            return None
    mass = density * volume if mass is None else mass
    return MassProperties.of(mass, center, mass * J, possible=False)


def _mesh_moments(vertices: Array, triangles: np.ndarray) -> tuple[float, Array, Array]:
    """Volume, center and inertia about it of what a closed mesh encloses, at density 1: the sum over the
    tetrahedra between its triangles and the origin."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    v = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
    volume = float(v.sum())
    center = ((a + b + c) / 4 * v[:, None]).sum(0) / volume if volume else np.zeros(3)
    s = a + b + c
    # integral of x x' over a tetrahedron at the origin: v / 20 (a a' + b b' + c c' + s s')
    second = sum(np.einsum("i,ij,ik->jk", v, x, x) for x in (a, b, c, s)) / 20
    second = second - volume * np.outer(center, center)
    return volume, center, np.trace(second) * np.eye(3) - second


def total(parts: Sequence[MassProperties]) -> MassProperties:
    """Mass properties of several bodies that are one, all in the same frame."""
    mass = sum(p.mass for p in parts)
    if mass == 0.0:
        return MassProperties.of()
    com = sum(p.mass * p.com for p in parts) / mass
    inertia = np.zeros((3, 3))
    for p in parts:
        r = p.com - com
        inertia += p.inertia + p.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return MassProperties.of(mass, com, inertia, possible=False)


def resolved(
    name: str, folders: Sequence[Path], packages: Mapping[str, str | os.PathLike[str]] | None = None
) -> Path:
    """Where a mesh file is: `package://NAME/...` in the folder of that package, or in a parent folder of that
    name; `file://...`; else beside the file."""
    if name.startswith("package://"):
        package, _, rest = name.removeprefix("package://").partition("/")
        if packages and package in packages:
            return Path(packages[package]) / rest
        for parent in folders[0].absolute().parents:
            if parent.name == package or (parent / package).is_dir():
                return (parent if parent.name == package else parent / package) / rest
        return folders[0] / rest
    plain = Path(name.removeprefix("file://"))
    if plain.is_absolute():
        return plain
    return next((f / plain for f in folders if (f / plain).exists()), folders[0] / plain)
