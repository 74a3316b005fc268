"""cd.read_mjcf: a System from a model file of MuJoCo.

Body, joint and geometry follow MuJoCo's rules: attributes come from default classes first, several joints of
one body act in the order of the file, each in the frame that those before it moved, and inertia follows from
the geometry unless <inertial> gives it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import condyle.constraints as constraints
import condyle.forces as forces
import condyle.shapes as shapes
from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.forces import Force
from condyle.mobilizers import Ball, Free, Mobilizer, Pin, Slider, Weld
from condyle.opensim.element import Element, read_elements
from condyle.records import dataclass
from condyle.robots.joint_sequence import Simple
from condyle.robots.robot_file import RobotFile, Solid, Surface, resolved, rotation_to, solid_masses, total
from condyle.spatial import (
    MassProperties,
    Transform,
    quaternion_from_rotation,
    rotation_about,
    rotation_from_euler,
    rotation_from_quaternion,
)
from condyle.system.system import System
from condyle.trace.parameter import Input
from condyle.tree.body import Coordinate

ACTUATORS = (
    "general",
    "motor",
    "position",
    "velocity",
    "damper",
    "intvelocity",
    "cylinder",
    "muscle",
    "adhesion",
)
SILENT = frozenset(
    {"camera", "light", "visual", "statistic", "size", "asset", "custom", "compiler", "default"}
)
"""Elements without effect on motion, or read elsewhere."""
DENSITY = 1000.0
"""Default density of geometry [kg/m^3]."""


@with_call_hints()
def read_mjcf(
    path: str | os.PathLike[str],
    *,
    strict: bool = False,
    contact: Surface | None = None,
    stops: bool = False,
) -> System:
    """A System from a model file of MuJoCo (MJCF): bodies, joints, inertias, limits, actuators, shapes.

    Names are those in the file. Coordinates of hinges and slides are MuJoCo's qpos; a free joint has its
    quaternion first, then its position, and its speeds are the angular and the linear velocity, both in
    ground. Armature, stiffness and damping of joints act; motors and servos are
    `cd.forces.CoordinateActuator`s with an Input of the actuator's name as control, and the springs and
    dampers of a servo. Sites are markers. Equality constraints connect, weld and joint are constraints.
    Unknown elements are listed in `system.notes`, with line and effect, and in one warning.

    Args:
        path: the file; files that it includes are read with it.
        strict: raise an error for unknown elements.
        contact: a `cd.contact.Material`, or `cd.contact.Rigid`, for contact between geometry of bodies and of
            the world, by Condyle's laws. No contact by default.
        stops: limit joints to their ranges (`cd.constraints.Stop`). By default ranges do not limit motion.

    Returns:
        a System, not frozen: more may be added to it.

    Raises:
        DescriptionError: a file that cannot be read, with its line; or, if strict, unknown elements.
        FileNotFoundError: no such file.
    """
    return _Mjcf(path, contact).finished(strict, stops)


@dataclass(frozen=True, eq=False)
class _Joint:
    element: Element
    name: str
    kind: str
    X: Transform
    axis: Array


class _Mjcf(RobotFile):
    def __init__(self, path: str | os.PathLike[str], contact: Surface | None) -> None:
        super().__init__(path, "mujoco", "MJCF")
        self._include(self.root, self.path.parent, {self.path.resolve()})
        self.compiler = {
            k: v for e in self.root.children if e.tag == "compiler" for k, v in e.attributes.items()
        }
        if self.compiler.get("coordinate", "local") != "local":
            raise self.error(self.root, 'coordinates are local; compiler coordinate="global" is not read')
        self.to_rad = math.radians(1.0) if self.compiler.get("angle", "degree") == "degree" else 1.0
        self.defaults: dict[str, dict[str, dict[str, str]]] = {"main": {}}
        for element in self.root.children:
            if element.tag == "default":
                self._read_defaults(element, self.defaults["main"], "main")
        options = {
            k: (e, v) for e in self.root.children if e.tag == "option" for k, v in e.attributes.items()
        }
        gravity = self.numbers(options["gravity"][0], "gravity", 3) if "gravity" in options else (0, 0, -9.81)
        for key in ("wind", "density", "viscosity", "magnetic"):
            if key in options and any(self.numbers(options[key][0], key, len(options[key][1].split()))):
                self.note(options[key][0], f"{key} does not act")
        self.system = System(gravity=tuple(float(x) for x in gravity))
        self.meshes = self._assets()
        self.solids: list[Solid] = []
        self.taken: dict[str, set[str]] = {"body": {"ground", "world"}, "joint": set(), "site": set()}
        self.joint_bodies: dict[str, tuple[_Joint, str]] = {}
        self.bodies = {"world": "ground"}
        self.tendons: dict[str, list[tuple[str, float]]] = {}
        for world in (e for e in self.root.children if e.tag == "worldbody"):
            self._read_inside(world, "ground", "main", Transform())
        for section in self.root.children:
            match section.tag:
                case "actuator":
                    for element in section.children:
                        self._read_actuator(element)
                case "equality":
                    for element in section.children:
                        self._read_equality(element)
                case "tendon":
                    for element in section.children:
                        self._read_tendon(element)
                case "contact" | "sensor" | "keyframe" | "extension" | "deformable":
                    for element in section.children:
                        self.note(
                            element, f"<{element.tag}> of <{section.tag}> is not read; it has no effect"
                        )
                case "worldbody" | "option":
                    pass
                case tag if tag not in SILENT:
                    self.note(section, f"<{tag}> is not read; it has no effect")
        if contact is not None:
            floors = [s for s in self.solids if s.body == "ground"]
            self.add_contacts(contact, floors, [s for s in self.solids if s.body != "ground"])

    # ---- files, classes, attributes ----

    def _include(self, element: Element, folder: Path, seen: set[Path]) -> None:
        """Put the children of included files in the place of <include>."""
        for child in list(element.children):
            if child.tag != "include":
                self._include(child, folder, seen)
                continue
            file = folder / child.attributes.get("file", "")
            if file.resolve() in seen:
                raise self.error(child, f"{file.name!r} is included twice, or includes itself")
            inside = read_elements(file)
            self._include(inside, folder, seen | {file.resolve()})
            place = element.children.index(child)
            for k, grandchild in enumerate(list(inside.children)):
                element.take(grandchild, place + 1 + k)
            child.remove()

    def _read_defaults(self, element: Element, inherited: dict[str, dict[str, str]], name: str) -> None:
        known = {tag: dict(attributes) for tag, attributes in inherited.items()}
        self.defaults[name] = known
        for child in element.children:
            if child.tag != "default":
                tag = "actuator" if child.tag in ACTUATORS else child.tag
                known.setdefault(tag, {}).update(child.attributes)
        for child in element.children:
            if child.tag == "default":
                self._read_defaults(child, known, child.attributes.get("class", ""))

    def _with_defaults(self, element: Element, around: str) -> Element:
        """The element with the attributes of its class."""
        name = element.attributes.get("class", around)
        self.one_of(element, "default class", name, self.defaults)
        tag = (
            "actuator" if element.tag in ACTUATORS else "joint" if element.tag == "freejoint" else element.tag
        )
        known = {} if element.tag == "freejoint" else self.defaults[name].get(tag, {})
        return Element(
            element.tag,
            known | element.attributes,
            line=element.line,
            file=element.file,
            parent=element.parent,
        )

    def _assets(self) -> dict[str, Element]:
        return {
            e.name or Path(e.attributes.get("file", "")).stem: self._with_defaults(e, "main")
            for asset in self.root.children
            if asset.tag == "asset"
            for e in asset.children
            if e.tag == "mesh"
        }

    def _unique(self, element: Element, kind: str, otherwise: str) -> str:
        name, taken = element.name, self.taken[kind]
        if name:
            if name in taken:
                raise self.error(element, f"the name of this {kind} is taken")
        else:
            name, k = otherwise, 1
            while name in taken:
                k += 1
                name = f"{otherwise}_{k}"
        taken.add(name)
        return name

    def _rotation(self, element: Element) -> Array:
        given = element.attributes
        if "quat" in given:
            q = self.numbers(element, "quat", 4)
            if not np.linalg.norm(q) > 1e-12:
                raise self.error(element, "quat is zero")
            return rotation_from_quaternion(q / np.linalg.norm(q))
        if "axisangle" in given:
            x = self.numbers(element, "axisangle", 4)
            return rotation_about(self.axis(element, x[:3]), x[3] * self.to_rad)
        if "euler" in given:
            angles, order = (
                self.numbers(element, "euler", 3) * self.to_rad,
                self.compiler.get("eulerseq", "xyz"),
            )
            if order == order.lower():
                return rotation_from_euler(angles, order)
            if order == order.upper():  # about fixed axes: the same, the other way around
                return rotation_from_euler(angles[::-1], order.lower()[::-1])
            raise self.error(element, f"eulerseq={order!r}: letters must be all small or all capital")
        if "xyaxes" in given:
            both = self.numbers(element, "xyaxes", 6)
            x = self.axis(element, both[:3])
            y = self.axis(element, both[3:] - (both[3:] @ x) * x)
            return np.stack([x, y, np.cross(x, y)], axis=1)
        if "zaxis" in given:
            return rotation_to(self.axis(element, self.numbers(element, "zaxis", 3)))
        return np.eye(3)

    def _pose(self, element: Element) -> Transform:
        return Transform(self._rotation(element), self.numbers(element, "pos", 3, (0, 0, 0)))

    # ---- the tree ----

    def _read_inside(self, element: Element, body: str, around: str, X: Transform) -> None:
        """Geometry and sites in a body, and its bodies; frames move what is inside them."""
        for raw in element.children:
            if raw.tag == "frame":
                self._read_inside(raw, body, raw.attributes.get("childclass", around), X @ self._pose(raw))
            elif raw.tag == "body":
                self._read_body(raw, body, raw.attributes.get("childclass", around), X)
            elif raw.tag == "geom":
                self._draw_geom(self._with_defaults(raw, around), body, X)
            elif raw.tag == "site":
                site = self._with_defaults(raw, around)
                name = self._unique(site, "site", f"{body}_site")
                self.system.add_marker(name, body, (X @ self._pose(site)).p, fixed=True)
            elif raw.tag in ("replicate", "composite", "flexcomp", "attach"):
                raise self.error(raw, f"<{raw.tag}> is not read; without it the model would be another")
            elif raw.tag not in ("inertial", "joint", "freejoint", "camera", "light"):
                self.note(raw, f"<{raw.tag}> is not read; it has no effect")

    def _read_body(self, element: Element, parent: str, around: str, X_PO: Transform) -> None:
        name = self._unique(element, "body", f"{parent}_body")
        self.bodies[name] = name
        X_PB = X_PO @ self._pose(element)
        if float(element.attributes.get("gravcomp", "0")) != 0.0:
            self.note(element, "gravcomp does not act")
        joints = [self._joint(raw, around, name) for raw in _joints(element)]
        free = [j for j in joints if j.kind == "free"]
        if free and (len(joints) > 1 or parent != "ground"):
            raise self.error(element, "a free joint is the only joint of a body of the world")
        masses = self._masses(element, around)
        inner, X_PF = parent, X_PB
        for k, joint in enumerate(joints):
            last = k == len(joints) - 1
            body = name if last else self._unique(Element("body"), "body", f"{name}_{joint.name}")
            self._add_jointed(joint, body, inner, X_PF, masses if last else MassProperties.of())
            inner, X_PF = body, Transform()
        if not joints:
            self.add_body(element, name, parent, Weld(), X_PF, Transform(), masses)
        self._read_inside(element, name, around, Transform())

    def _joint(self, raw: Element, around: str, body: str) -> _Joint:
        element = self._with_defaults(raw, around)
        kind = "free" if raw.tag == "freejoint" else element.attributes.get("type", "hinge")
        if kind not in ("hinge", "slide", "ball", "free"):
            raise self.error(element, f"type={kind!r} is none of hinge, slide, ball, free")
        name = self._unique(element, "joint", f"{body}_joint")
        axis = self.axis(element, self.numbers(element, "axis", 3, (0, 0, 1)))
        at = (
            Transform()
            if kind in ("free", "slide")
            else Transform(np.eye(3), self.numbers(element, "pos", 3, (0, 0, 0)))
        )
        return _Joint(element, name, kind, at, axis)

    def _add_jointed(
        self, joint: _Joint, body: str, parent: str, X_PB: Transform, masses: MassProperties
    ) -> None:
        e, name = joint.element, joint.name
        mobilizer: Mobilizer
        coordinates: list[Coordinate] | None = None
        X_PF = X_PB @ joint.X
        scale = self.to_rad if joint.kind == "hinge" else 1.0
        match joint.kind:
            case "free":
                mobilizer, X_PF = Free(), Transform()
                start = [*np.ravel(quaternion_from_rotation(X_PB.R)), *X_PB.p]
                names = [f"{name}_{c}" for c in mobilizer.coordinate_names]
                coordinates = [Coordinate(c, float(x)) for c, x in zip(names, start, strict=True)]
            case "ball":
                mobilizer = Ball()
                coordinates = [Coordinate(f"{name}_{c}") for c in mobilizer.coordinate_names]
            case _:
                mobilizer = Pin(joint.axis) if joint.kind == "hinge" else Slider(joint.axis)
                reference = self.number(e, "ref", 0.0) * scale
                X_PF = X_PF @ Simple(0, joint.axis, joint.kind == "hinge").by(-reference)
                coordinates = [Coordinate(name, reference, self._range(e, "range", "limited", scale))]
        self.add_body(e, body, parent, mobilizer, X_PF, joint.X, masses, coordinates=coordinates, joint=name)
        self.joint_bodies[name] = joint, body
        if joint.kind == "free" and e.tag == "freejoint":
            return
        self.add_rotor(e, body, mobilizer, self.number(e, "armature", 0.0))
        speeds = self.system.speeds[self.system.body(body).u]
        damping, stiffness = self.number(e, "damping", 0.0), self.number(e, "stiffness", 0.0)
        if self.number(e, "frictionloss", 0.0) != 0.0:
            self.note(e, "dry friction (frictionloss) of a joint does not act")
        if mobilizer.nu == 1:
            rest = self.number(e, "springref", 0.0) * scale
            if stiffness:
                self.system.add_force(f"{name}_spring", forces.MobilitySpring(name, stiffness, rest))
        elif stiffness:
            self.note(e, "stiffness of a joint of several speeds does not act")
        if damping:
            for k, speed in enumerate(speeds):
                label = f"{name}_damping" if len(speeds) == 1 else f"{name}_damping_{k}"
                self.system.add_force(label, forces.MobilityDamper(speed, damping))

    def _range(self, e: Element, key: str, flag: str, scale: float = 1.0) -> tuple[float, float] | None:
        limited = e.attributes.get(flag, "auto")
        if key not in e.attributes or limited == "false":
            return None
        if limited == "auto" and self.compiler.get("autolimits", "true") == "false":
            return None
        low, high = self.numbers(e, key, 2) * scale
        if low > high:
            raise self.error(e, f"{key}: {low:g} is above {high:g}")
        return (float(low), float(high)) if low < high else None

    # ---- masses and shapes ----

    def _masses(self, element: Element, around: str) -> MassProperties:
        source = self.compiler.get("inertiafromgeom", "auto")
        inertial = element.child("inertial")
        if inertial is not None and source != "true":
            masses = self._inertial(inertial)
        elif source == "false":
            masses = MassProperties.of()
        else:
            parts = [
                p
                for solid, e in self._geoms(element, around, Transform())
                if (p := self._geom_mass(solid, e))
            ]
            masses = total(parts)
        least, smallest = (float(self.compiler.get(k, "0")) for k in ("boundmass", "boundinertia"))
        if masses.mass < least or np.linalg.eigvalsh(masses.inertia)[0] < smallest:
            values, vectors = np.linalg.eigh(masses.inertia)
            bounded = vectors @ np.diag(np.maximum(values, smallest)) @ vectors.T
            masses = MassProperties.of(max(masses.mass, least), masses.com, bounded, possible=False)
        return masses

    def _inertial(self, e: Element) -> MassProperties:
        mass = self.number(e, "mass")
        inertia: Array
        if "fullinertia" in e.attributes:
            inertia = self.numbers(e, "fullinertia", 6)
        else:
            inertia = self.numbers(e, "diaginertia", 3, None if mass else (0, 0, 0))
        return self.mass_properties(e, mass, inertia, self._pose(e))

    def _geoms(self, element: Element, around: str, X: Transform) -> Iterator[tuple[Solid, Element]]:
        for raw in element.children:
            if raw.tag == "frame":
                yield from self._geoms(raw, raw.attributes.get("childclass", around), X @ self._pose(raw))
            elif raw.tag == "geom":
                e = self._with_defaults(raw, around)
                if (solid := self._solid(e, "", X)) is not None:
                    yield solid, e

    def _solid(self, e: Element, body: str, X: Transform) -> Solid | None:
        kind = e.attributes.get("type", "mesh" if "mesh" in e.attributes else "sphere")
        if kind in ("hfield", "sdf"):
            self.note(e, f"type={kind!r} is not read; it is not drawn, and nothing touches it")
            return None
        size = np.array([float(x) for x in e.attributes.get("size", "").split()])
        pose = self._pose(e)
        half: float | None = None
        if "fromto" in e.attributes:
            ends = self.numbers(e, "fromto", 6)
            vector = ends[:3] - ends[3:]
            half = float(np.linalg.norm(vector)) / 2
            pose = Transform(rotation_to(self.axis(e, vector)), (ends[:3] + ends[3:]) / 2)
        needed = {"sphere": 1, "capsule": 1 if half else 2, "cylinder": 1 if half else 2}.get(kind, 0)
        needed = (1 if half else 3) if kind in ("ellipsoid", "box") else needed
        if len(size) < needed or not (size[:needed] > 0).all():
            raise self.error(e, f"size of a {kind} is {needed} numbers above 0, got {size.tolist()}")
        shape: shapes.Shape | None
        match kind:
            case "plane":
                shape = None
            case "sphere":
                shape = shapes.Sphere(float(size[0]))
            case "capsule":
                shape = shapes.Capsule(float(size[0]), float(half or size[1]))
            case "cylinder":
                shape = shapes.Cylinder(float(size[0]), float(half or size[1]))
            case "ellipsoid" | "box":
                three = (*(size[:2] if len(size) > 1 else size[[0, 0]]), half) if half else size[:3]
                shape = (shapes.Ellipsoid if kind == "ellipsoid" else shapes.Box)(tuple(map(float, three)))  # type: ignore[arg-type]
            case "mesh":
                shape = self._mesh(e)
                if shape is None:
                    return None
            case _:
                raise self.error(e, f"type={kind!r} is no kind of geometry")
        return Solid(e, body, shape, X @ pose)

    def _mesh(self, e: Element) -> shapes.Mesh | None:
        asset = self.meshes[self.one_of(e, "mesh", e.attributes.get("mesh"), self.meshes)]
        scale = self.numbers(asset, "scale", 3, (1, 1, 1))
        if "vertex" in asset.attributes:
            self.note(asset, "a mesh of vertices in the file is not read; it is not drawn, and has no mass")
            return None
        folder = self.path.parent / self.compiler.get("meshdir", self.compiler.get("assetdir", ""))
        try:
            mesh = shapes.Mesh(resolved(asset.attributes.get("file", ""), [folder, self.path.parent]), scale)
            mesh.surface()
        except (DescriptionError, OSError) as error:
            self.note(asset, f"{error}; it is not drawn, and has no mass")
            return None
        return mesh

    def _geom_mass(self, solid: Solid, e: Element) -> MassProperties | None:
        if solid.shape is None:
            return None
        mass = self.number(e, "mass") if "mass" in e.attributes else None
        if e.attributes.get("shellinertia", "false") == "true":
            raise self.error(e, "shellinertia is not read; give the body an <inertial>")
        part = solid_masses(solid.shape, mass, self.number(e, "density", DENSITY))
        return None if part is None else part.transformed(solid.X_BS)

    def _draw_geom(self, e: Element, body: str, X: Transform) -> None:
        solid = self._solid(e, body, X)
        if solid is None:
            return
        if any(int(float(e.attributes.get(key, "1"))) for key in ("contype", "conaffinity")):
            self.solids.append(solid)
        if solid.shape is not None:
            rgba = self.numbers(e, "rgba", 4) if "rgba" in e.attributes else None
            self.system.add_geometry(
                body,
                solid.shape,
                solid.X_BS,
                color=None if rgba is None else np.clip(rgba[:3], 0, 1),
                opacity=1.0 if rgba is None else float(np.clip(rgba[3], 0, 1)),
            )

    # ---- constraints and actuators ----

    def _single(self, element: Element, name: str | None) -> str:
        """A joint of one coordinate, by its name."""
        found = self.one_of(element, "joint", name, self.joint_bodies)
        if self.joint_bodies[found][0].kind not in ("hinge", "slide"):
            raise self.error(element, f"joint {found!r} is no hinge or slide")
        return found

    def _read_equality(self, raw: Element) -> None:
        e = self._with_defaults(raw, "main")
        if e.attributes.get("active", "true") == "false":
            self.note(e, "it is not active, and left out")
            return
        name = e.name or f"{e.tag}_{e.line}"
        match e.tag:
            case "joint":
                follower = self._single(e, e.attributes.get("joint1"))
                a = np.zeros(5)
                given = e.attributes.get("polycoef", "0 1 0 0 0").split()
                a[: len(given)] = [float(x) for x in given]
                start = self.system.body(self.joint_bodies[follower][1]).coordinates[0].default or 0.0
                if "joint2" not in e.attributes:
                    value = start + float(a[0])
                    self.system.add_constraint(name, constraints.ConstantCoordinate(follower, value))
                    return
                leader = self._single(e, e.attributes["joint2"])
                zero = self.system.body(self.joint_bodies[leader][1]).coordinates[0].default or 0.0
                self.system.add_constraint(
                    name,
                    constraints.CoordinateCoupler(
                        lambda x, y: (
                            sum(c * (x - zero) ** k for k, c in enumerate(a.tolist()) if c) - (y - start)
                        ),
                        (leader, follower),
                    ),
                )
            case "connect" | "weld" if "body1" in e.attributes:
                one = self.bodies[self.one_of(e, "body", e.attributes["body1"], self.bodies)]
                two = self.bodies[self.one_of(e, "body", e.attributes.get("body2", "world"), self.bodies)]
                self._add_closure(e, name, one, two)
            case _:
                self.note(e, f"equality <{e.tag}> is not read; it does not hold")

    def _add_closure(self, e: Element, name: str, one: str, two: str) -> None:
        """Frames of two bodies that coincide where the model starts."""
        poses = self.system.copy()
        q, _ = poses.defaults()
        X_1, X_2 = (Transform() if b == "ground" else poses.body_pose(q, b) for b in (one, two))
        if e.tag == "connect":
            p = self.numbers(e, "anchor", 3)
            there = X_2.inverse() @ (X_1 @ p)
            self.system.add_constraint(name, constraints.Ball(one, p, two, there))
            return
        given = self.numbers(e, "relpose", 7, (0, 1, 0, 0, 0, 0, 0))
        if given[3:].any():  # the pose of body 2 in body 1
            X_12 = Transform(rotation_from_quaternion(given[3:] / np.linalg.norm(given[3:])), given[:3])
        else:
            X_12 = X_1.inverse() @ X_2
        self.system.add_constraint(name, constraints.Weld(one, X_12, two, Transform()))

    def _read_tendon(self, e: Element) -> None:
        name = e.name or f"tendon_{e.line}"
        if e.tag != "fixed":
            self.note(e, f"a {e.tag} tendon is not read; it does not act")
            return
        self.tendons[name] = [
            (self._single(c, c.attributes.get("joint")), self.number(c, "coef")) for c in e.children
        ]
        if any(float(e.attributes.get(k, "0").split()[0]) for k in ("stiffness", "damping", "frictionloss")):
            self.note(e, "springs, dampers and friction of a tendon do not act")

    def _read_actuator(self, raw: Element) -> None:
        """force = gain control + b0 + b1 length + b2 speed, on each joint times gear."""
        e = self._with_defaults(raw, "main")
        name = e.name or f"{e.tag}_{e.line}"
        moved = self._transmission(e)
        law = self._law(e)
        if moved is None or law is None:
            return
        gain, (b0, b1, b2) = law
        if len(moved) > 1 and (b0 or b1 or b2):
            self.note(e, "the feedback of a servo on several joints is not read; it does not act")
            return
        if "forcerange" in e.attributes:
            self.note(e, "forcerange does not limit its force")
        low, high = self._range(e, "ctrlrange", "ctrllimited") or (-math.inf, math.inf)
        for k, (speed, gear) in enumerate(moved):
            label = name if k == 0 else f"{name}_{k + 1}"
            self._add(
                e,
                label,
                forces.CoordinateActuator(
                    speed, gear * gain, control=Input(name, 0.0), min_control=low, max_control=high
                ),
            )
            if b1 > 0 or b2 > 0:
                self.note(e, "feedback that drives itself (biasprm above 0) is not read; it does not act")
                continue
            if b1:
                self._add(
                    e, f"{label}_spring", forces.MobilitySpring(speed, -b1 * gear**2, -b0 / (b1 * gear))
                )
            elif b0:
                self._add(e, f"{label}_bias", forces.MobilityForce(speed, gear * b0))
            if b2:
                self._add(e, f"{label}_damping", forces.MobilityDamper(speed, -b2 * gear**2))

    def _add(self, e: Element, name: str, force: Force) -> None:
        try:
            self.system.add_force(name, force)
        except DescriptionError as error:
            raise self.error(e, str(error)) from None

    def _transmission(self, e: Element) -> list[tuple[str, float]] | None:
        given = [float(x) for x in e.attributes.get("gear", "1").split()]
        if (name := e.attributes.get("joint")) is not None:
            joint, body = self.joint_bodies[self.one_of(e, "joint", name, self.joint_bodies)]
            if joint.kind in ("hinge", "slide"):
                return [(name, given[0])]
            if joint.kind == "free":  # MuJoCo's gear: force, then torque in ground
                speeds = self.system.speeds[self.system.body(body).u]
                gears = (given + [0.0] * 6)[:6]
                return [(s, g) for s, g in zip((*speeds[3:], *speeds[:3]), gears, strict=True) if g]
        elif (name := e.attributes.get("tendon")) in self.tendons:
            return [(joint_name, given[0] * c) for joint_name, c in self.tendons[str(name)]]
        self.note(
            e, "it acts on what is not read (a ball, a site, a body, a tendon in space); it does not act"
        )
        return None

    def _law(self, e: Element) -> tuple[float, tuple[float, float, float]] | None:
        def values(key: str, *default: float) -> list[float]:
            given = [float(x) for x in e.attributes.get(key, "").split()]
            return [*given, *default[len(given) :]]

        match e.tag:
            case "motor":
                return 1.0, (0.0, 0.0, 0.0)
            case "position":
                kp, kv = self.number(e, "kp", 1.0), self.number(e, "kv", 0.0)
                if "dampratio" in e.attributes or float(e.attributes.get("timeconst", "0")):
                    self.note(e, "dampratio and timeconst of a servo are not read; it does not act")
                    return None
                return kp, (0.0, -kp, -kv)
            case "velocity":
                kv = self.number(e, "kv", 1.0)
                return kv, (0.0, 0.0, -kv)
            case "general" if e.attributes.get("dyntype", "none") == "none":
                gain, bias = e.attributes.get("gaintype", "fixed"), e.attributes.get("biastype", "none")
                if gain == "fixed" and bias in ("none", "affine"):
                    b = values("biasprm", 0.0, 0.0, 0.0)[:3] if bias == "affine" else [0.0] * 3
                    return values("gainprm", 1.0)[0], (b[0], b[1], b[2])
        self.note(e, f"this {e.tag} is not read; it does not act")
        return None


def _joints(element: Element) -> Sequence[Element]:
    return [c for c in element.children if c.tag in ("joint", "freejoint")]
