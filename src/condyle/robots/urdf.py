"""cd.read_urdf and cd.write_urdf: a System from a robot's file of ROS, and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element as Xml
from xml.etree.ElementTree import ElementTree, SubElement, indent

import numpy as np

import condyle.constraints as constraints
import condyle.files as files
import condyle.forces as forces
import condyle.shapes as shapes
from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.mobilizers import Free, Mobilizer, Pin, Planar, Slider, Weld
from condyle.opensim.element import Element
from condyle.robots.joint_sequence import sequence
from condyle.robots.robot_file import RobotFile, Solid, Surface, resolved, rotation_to
from condyle.spatial import (
    MassProperties,
    Transform,
    euler_from_rotation,
    rotation_from_euler,
)
from condyle.system.system import System
from condyle.trace.parameter import numbers_at
from condyle.tree.attached import Geometry
from condyle.tree.body import Body, Coordinate


@with_call_hints()
def read_urdf(
    path: str | os.PathLike[str],
    *,
    base: str = "fixed",
    strict: bool = False,
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    contact: Surface | None = None,
    stops: bool = False,
) -> System:
    """A System from a robot's URDF file: links, joints, inertias, limits, damping, motors, shapes.

    Bodies have the names of links, coordinates those of joints. Every joint with an effort limit has a
    `cd.forces.CoordinateActuator` of the joint's name, with control from -1 to 1. Mimic joints are
    constraints. Unknown elements are listed in `system.notes`, with line and effect, and in one warning.

    Args:
        path: the file.
        base: "fixed": the root link is welded to ground; "free": it floats.
        strict: raise an error for unknown elements.
        gravity: [m/s^2], shape (3,); a URDF file has none of its own.
        packages: {name: folder} for meshes called package://NAME/...; by default the parent folders of the
            file are searched for NAME.
        contact: a `cd.contact.Material`, or `cd.contact.Rigid`, for contact of all collision shapes with a
            floor at z = 0. No contact by default.
        stops: limit joints to their ranges (`cd.constraints.Stop`). By default ranges do not limit motion.

    Returns:
        a System, not frozen: more may be added to it.

    Raises:
        DescriptionError: a file that cannot be read, with its line; or, if strict, unknown elements.
        FileNotFoundError: no such file.
    """
    if base not in ("fixed", "free"):
        raise DescriptionError(f'read_urdf: base is "fixed" or "free", got {base!r}')
    return _Urdf(path, base, gravity, packages, contact).finished(strict, stops)


class _Urdf(RobotFile):
    def __init__(
        self,
        path: str | os.PathLike[str],
        base: str,
        gravity: tuple[float, float, float],
        packages: Mapping[str, str | os.PathLike[str]] | None,
        contact: Surface | None,
    ) -> None:
        super().__init__(path, "robot", "URDF")
        self.packages = packages
        self.system = System(gravity=gravity)
        self.solids: list[Solid] = []
        self.colors = {m.name: c for m in self.root.children if m.tag == "material" and (c := _color(m))}
        self.links = self._named("link")
        self.joints = self._named("joint")
        self.unread(self.root, ("link", "joint", "material"))
        children: dict[str, list[Element]] = {name: [] for name in self.links}
        inboard: dict[str, Element] = {}
        for joint in self.joints.values():
            parent, child = (self._end(joint, tag) for tag in ("parent", "child"))
            if child in inboard:
                raise self.error(
                    joint,
                    f"link {child!r} has two parents, also by joint {inboard[child].name!r}; URDF has trees",
                )
            inboard[child] = joint
            children[parent].append(joint)
        roots = [name for name in self.links if name not in inboard]
        if len(roots) != 1:
            what = (
                "no root: its joints make a loop" if not roots else f"{len(roots)} roots: {', '.join(roots)}"
            )
            raise self.error(self.root, f"a robot is one tree; this one has {what}")
        self.names = {roots[0]: roots[0] if roots[0] != "ground" else "base"}
        self._add_link(roots[0], "ground", Free() if base == "free" else Weld(), Transform(), Transform())
        waiting = list(children[roots[0]])
        while waiting:
            joint = waiting.pop(0)
            self._add_joint(joint)
            waiting += children[self._end(joint, "child")]
        if len(self.names) != len(self.links):
            lost = sorted(set(self.links) - set(self.names))
            raise self.error(self.root, f"joints make a loop, so that nothing holds {', '.join(lost)}")
        for joint in self.joints.values():
            self._add_mimic(joint)
        if contact is not None:
            floor = Solid(self.root, "ground", None, Transform())
            self.add_contacts(contact, [floor], self.solids)

    def _named(self, tag: str) -> dict[str, Element]:
        found: dict[str, Element] = {}
        for element in self.root.children:
            if element.tag == tag:
                if not element.name:
                    raise self.error(element, "it has no name")
                if element.name in found:
                    raise self.error(element, f"the name is taken, in line {found[element.name].line}")
                found[element.name] = element
        return found

    def _end(self, joint: Element, tag: str) -> str:
        end = joint.child(tag)
        if end is None:
            raise self.error(joint, f"it has no <{tag}>")
        return self.one_of(end, "link", end.attributes.get("link"), self.links)

    def _pose(self, element: Element) -> Transform:
        origin = element.child("origin")
        if origin is None:
            return Transform()
        roll, pitch, yaw = self.numbers(origin, "rpy", 3, (0, 0, 0))
        return Transform(
            rotation_from_euler((yaw, pitch, roll), "zyx"), self.numbers(origin, "xyz", 3, (0, 0, 0))
        )

    def _masses(self, link: Element) -> MassProperties:
        inertial = link.child("inertial")
        if inertial is None:
            return MassProperties.of()
        mass = inertial.child("mass")
        m = 0.0 if mass is None else self.number(mass, "value")
        inertia = inertial.child("inertia")
        I = (
            [0.0] * 6
            if inertia is None
            else [self.number(inertia, key, 0.0) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")]
        )
        return self.mass_properties(inertial, m, np.array(I), self._pose(inertial))

    def _add_link(
        self,
        name: str,
        parent: str,
        mobilizer: Mobilizer,
        X_PF: Transform,
        X_BM: Transform,
        **options: object,
    ) -> None:
        link, body = self.links[name], self.names[name]
        self.unread(link, ("inertial", "visual", "collision"))
        self.add_body(link, body, parent, mobilizer, X_PF, X_BM, self._masses(link), **options)
        for child in link.children:
            if child.tag in ("visual", "collision") and (shape := self._shape(child)) is not None:
                X = self._pose(child)
                if child.tag == "visual":
                    material = child.child("material")
                    color = None if material is None else _color(material) or self.colors.get(material.name)
                    self.system.add_geometry(
                        body,
                        shape,
                        X,
                        color=None if color is None else color[:3],
                        opacity=1 if color is None else color[3],
                    )
                else:
                    self.solids.append(Solid(child, body, shape, X))

    def _shape(self, element: Element) -> shapes.Shape | None:
        geometry = element.child("geometry")
        for one in () if geometry is None else geometry.children:
            match one.tag:
                case "box":
                    return shapes.Box(self.numbers(one, "size", 3) / 2)  # type: ignore[arg-type]
                case "sphere":
                    return shapes.Sphere(self.number(one, "radius"))
                case "cylinder":
                    return shapes.Cylinder(self.number(one, "radius"), self.number(one, "length") / 2)
                case "capsule":
                    return shapes.Capsule(self.number(one, "radius"), self.number(one, "length") / 2)
                case "mesh":
                    path = resolved(one.attributes.get("filename", ""), [self.path.parent], self.packages)
                    try:
                        return shapes.Mesh(path, self.numbers(one, "scale", 3, (1, 1, 1)))
                    except DescriptionError as error:
                        self.note(one, f"{error}; it is not drawn")
                        return None
            self.note(one, f"<{one.tag}> is not read; it is not drawn, and nothing touches it")
        return None

    def _add_joint(self, joint: Element) -> None:
        parent, child = self._end(joint, "parent"), self._end(joint, "child")
        self.names[child] = child if child != "ground" else "ground_link"
        self.unread(
            joint,
            (
                "origin",
                "parent",
                "child",
                "axis",
                "limit",
                "dynamics",
                "mimic",
                "calibration",
                "safety_controller",
            ),
        )
        X, X_BM = self._pose(joint), Transform()
        given = joint.child("axis")
        axis = (
            np.array([1.0, 0.0, 0.0])
            if given is None
            else self.axis(given, self.numbers(given, "xyz", 3, (1, 0, 0)))
        )
        kind = joint.attributes.get("type", "")
        mobilizer: Mobilizer
        match kind:
            case "revolute" | "continuous":
                mobilizer = Pin(axis)
            case "prismatic":
                mobilizer = Slider(axis)
            case "fixed":
                mobilizer = Weld()
            case "floating":
                mobilizer = Free()
            case "planar":
                mobilizer, X_BM = Planar(), Transform(rotation_to(axis))
                X = X @ X_BM
            case _:
                raise self.error(
                    joint,
                    f"type={kind!r} is none of revolute, continuous, prismatic, fixed, floating, planar",
                )
        limit, coordinates = joint.child("limit"), None
        if mobilizer.nu == 1:
            low, high = (-np.inf, np.inf)
            if kind != "continuous" and limit is not None:
                low, high = (self.number(limit, key, 0.0) for key in ("lower", "upper"))
                if low > high:
                    raise self.error(limit, f"lower={low:g} is above upper={high:g}")
            coordinates = (
                Coordinate(joint.name, range=(low, high) if low < high and np.isfinite(high) else None),
            )
        self._add_link(
            child, self.names[parent], mobilizer, X, X_BM, coordinates=coordinates, joint=joint.name
        )
        dynamics = joint.child("dynamics")
        if mobilizer.nu != 1:
            if dynamics is not None:
                self.note(dynamics, "it does not act on a joint of several speeds")
            return
        if dynamics is not None:
            if (damping := self.number(dynamics, "damping", 0.0)) != 0.0:
                self.system.add_force(f"{joint.name}_damping", forces.MobilityDamper(joint.name, damping))
            if self.number(dynamics, "friction", 0.0) != 0.0:
                self.note(dynamics, "dry friction of a joint does not act")
        if limit is not None and (effort := self.number(limit, "effort", 0.0)) > 0.0:
            self.system.add_force(
                joint.name,
                forces.CoordinateActuator(joint.name, effort, min_control=-1.0, max_control=1.0),
            )

    def _add_mimic(self, joint: Element) -> None:
        mimic = joint.child("mimic")
        if mimic is None:
            return
        other = self.one_of(mimic, "joint", mimic.attributes.get("joint"), self.joints)
        for name in (joint.name, other):
            if name not in self.system.coordinates:
                raise self.error(mimic, f"joint {name!r} has no single coordinate; a mimic needs one")
        factor, offset = self.number(mimic, "multiplier", 1.0), self.number(mimic, "offset", 0.0)
        self.system.add_constraint(
            f"{joint.name}_mimic",
            constraints.CoordinateCoupler(lambda x, y: factor * x + offset - y, (other, joint.name)),
        )


def _color(material: Element) -> tuple[float, float, float, float] | None:
    color = material.child("color")
    try:
        r, g, b, a = (min(max(float(x), 0.0), 1.0) for x in color.attributes["rgba"].split())  # type: ignore[union-attr]
    except (AttributeError, KeyError, ValueError):
        return None
    return r, g, b, a


@with_call_hints()
def write_urdf(system: System, path: str | os.PathLike[str], *, name: str = "", strict: bool = False) -> None:
    """Write the tree of a System as a URDF file: bodies, joints, inertias, ranges, damping, motors, shapes.

    Ground is the link "world". Joints of several coordinates become hinges and slides one after the other with
    links of no mass between them; joints that are not hinges and slides (balls, splines) raise an error.
    Forces, constraints and markers without a counterpart are left out, and listed in one warning. Parameters
    have their defaults.

    Args:
        system: the system.
        path: the file, written atomically.
        name: of the robot; by default that of the file.
        strict: raise an error for elements that would be left out.

    Raises:
        DescriptionError: a joint that URDF does not have; or, if strict, elements that would be left out.
    """
    write_robot("write_urdf", _URDFWriter, system, Path(path), name, strict)


def write_robot(
    who: str, writer: Callable[[System, str], Any], system: System, path: Path, name: str, strict: bool
) -> None:
    """Write the file of a writer, which has its `root`, and what is `lost`: one warning lists that, or an error if
    strict."""
    files.check_target(path, who)
    made = writer(system, name or path.stem)
    if made.lost:
        text = f"{who}: the file does not have:\n" + "\n".join(made.lost)
        if strict:
            raise DescriptionError(text)
        warn(text)
    indent(made.root, "  ")
    with files.atomic_write(path, "wb") as file:
        ElementTree(made.root).write(file, encoding="UTF-8", xml_declaration=True)


def numbers_text(values: object) -> str:
    """Numbers that read back to the last digit."""
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(np.asarray(values, dtype=float)))


class _URDFWriter:
    def __init__(self, system: System, name: str) -> None:
        self.system, self.lost = system, list[str]()
        self.root = Xml("robot", {"name": name})
        taken = {b.name for b in system.bodies}
        if "world" in taken:
            raise DescriptionError(
                'write_urdf: the link of ground is "world", but a body has this name; rename it'
            )
        SubElement(self.root, "link", {"name": "world"})
        self.damping: dict[str, float] = {}
        self.effort: dict[str, float] = {}
        self._sort_forces()
        for marker in system.markers:
            self.lost.append(f"marker {marker!r}")
        for constraint in system.constraints:
            self.lost.append(f"constraint {constraint!r}")
        for body in system.bodies:
            if body.follows is not None:
                self.lost.append(f"body {body.name!r}, which follows {body.follows.name!r}")
                continue
            if body.motion is not None:
                self.lost.append(f"the prescribed motion of {body.name!r}")
            self._add(body)

    def _sort_forces(self) -> None:
        for name in self.system.forces:
            force = self.system.force(name)
            if isinstance(force, forces.MobilityDamper):
                c = float(numbers_at(force.damping))
                self.damping[force.coordinate] = self.damping.get(force.coordinate, 0.0) + c
            elif isinstance(force, forces.CoordinateActuator):
                bound = max(abs(force.min_control), abs(force.max_control))
                most = abs(float(numbers_at(force.optimal_force))) * (bound if np.isfinite(bound) else 1.0)
                self.effort[force.coordinate] = self.effort.get(force.coordinate, 0.0) + most
            elif not isinstance(force, forces.Gravity):
                self.lost.append(f"force {name!r} ({type(force).__name__})")

    def _link(self, name: str, masses: MassProperties | None = None) -> Xml:
        link = SubElement(self.root, "link", {"name": name})
        if masses is not None and masses.mass > 0:
            inertial = SubElement(link, "inertial")
            SubElement(inertial, "origin", {"xyz": numbers_text(masses.com), "rpy": "0 0 0"})
            SubElement(inertial, "mass", {"value": repr(masses.mass)})
            I = masses.inertia
            entries = {
                f"i{a}{b}": I["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")
            }
            SubElement(inertial, "inertia", {key: repr(float(value)) for key, value in entries.items()})
        return link

    def _joint(self, name: str, kind: str, parent: str, child: str, X: Transform) -> Xml:
        joint = SubElement(self.root, "joint", {"name": name, "type": kind})
        SubElement(joint, "parent", {"link": parent})
        SubElement(joint, "child", {"link": child})
        yaw, pitch, roll = euler_from_rotation(X.R, "zyx")
        SubElement(joint, "origin", {"xyz": numbers_text(X.p), "rpy": numbers_text((roll, pitch, yaw))})
        return joint

    def _add(self, b: Body) -> None:
        parent = "world" if b.parent is None or b.parent.index < 0 else b.parent.name
        X, X_MB = b.X_PF, b.X_BM.inverse()
        if isinstance(b.mobilizer, Free) and b.mobilizer.nq == 7:
            steps, floats = [], True
        else:
            steps, floats = sequence(b.mobilizer, f"body {b.name!r}"), False
        straight = np.array_equal(X_MB.p, np.zeros(3))
        last = len(steps) - 1
        for k, step in enumerate(steps):
            name = b.coordinates[step.coordinate].name
            X, axis = X @ step.by(step.offset), step.axis
            whole = k == last and straight
            if whole:  # the frame of the link is that of the body
                X, axis = X @ Transform(X_MB.R), X_MB.R.T @ axis
            child = b.name if whole else f"{b.name}_{name}_frame"
            if not whole:
                self._link(child)
            joint = self._joint(name, "revolute" if step.turns else "prismatic", parent, child, X)
            self._limited(joint, b.coordinates[step.coordinate], axis)
            parent, X = child, Transform()
        link = self._link(b.name, b.mass_properties)
        if floats or not steps or not straight:
            if floats and not straight:
                self._link(f"{b.name}_frame")
                self._joint(f"{b.name}_floating", "floating", parent, f"{b.name}_frame", X)
                parent, X, floats = f"{b.name}_frame", Transform(), False
            self._joint(
                b.joint if not steps else f"{b.name}_fixed",
                "floating" if floats else "fixed",
                parent,
                b.name,
                X @ X_MB,
            )
        for geometry in self.system.geometry:
            if geometry.body == b.name:
                self._draw(link, geometry)

    def _limited(self, joint: Xml, coordinate: Coordinate, axis: Array) -> None:
        SubElement(joint, "axis", {"xyz": numbers_text(axis)})
        name = coordinate.name
        low, high = coordinate.range or (-np.inf, np.inf)
        limit = {"effort": repr(self.effort.get(name, 0.0)), "velocity": "1e9"}
        if np.isfinite(low) and np.isfinite(high):
            limit |= {"lower": repr(float(low)), "upper": repr(float(high))}
        elif joint.get("type") == "revolute":
            joint.set("type", "continuous")
        else:
            limit |= {"lower": "-1e9", "upper": "1e9"}
        SubElement(joint, "limit", limit)
        if name in self.damping:
            SubElement(joint, "dynamics", {"damping": repr(self.damping[name])})

    def _draw(self, link: Xml, geometry: Geometry) -> None:
        match shape := geometry.shape:
            case shapes.Sphere():
                tag, size = "sphere", {"radius": repr(float(shape.radius))}
            case shapes.Box():
                tag, size = "box", {"size": numbers_text(2 * np.asarray(shape.half_lengths))}
            case shapes.Cylinder() | shapes.Capsule():
                tag = "cylinder" if isinstance(shape, shapes.Cylinder) else "capsule"
                size = {"radius": repr(float(shape.radius)), "length": repr(2 * float(shape.half_length))}
            case shapes.Mesh(path=str(path)):
                tag, size = "mesh", {"filename": path, "scale": numbers_text(shape.scale)}
            case _:
                self.lost.append(f"geometry {geometry.name!r} ({type(shape).__name__})")
                return
        visual = SubElement(link, "visual")
        yaw, pitch, roll = euler_from_rotation(geometry.X_BS.R, "zyx")
        SubElement(
            visual, "origin", {"xyz": numbers_text(geometry.X_BS.p), "rpy": numbers_text((roll, pitch, yaw))}
        )
        SubElement(SubElement(visual, "geometry"), tag, size)
