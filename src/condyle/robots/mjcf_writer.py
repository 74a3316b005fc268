"""cd.write_mjcf: the tree of a System as a model file of MuJoCo."""

from __future__ import annotations

import os
from pathlib import Path
from xml.etree.ElementTree import Element as Xml
from xml.etree.ElementTree import SubElement

import numpy as np

import condyle.forces as forces
import condyle.shapes as shapes
from condyle.arguments import with_call_hints
from condyle.errors import DescriptionError
from condyle.mobilizers import Ball, Free, Pin
from condyle.robots.joint_sequence import sequence
from condyle.robots.urdf import numbers_text, write_robot
from condyle.spatial import Transform, quaternion_from_rotation
from condyle.system.system import System
from condyle.trace.parameter import numbers_at
from condyle.tree.attached import Geometry
from condyle.tree.body import Body


@with_call_hints()
def write_mjcf(system: System, path: str | os.PathLike[str], *, name: str = "", strict: bool = False) -> None:
    """Write the tree of a System as a model file of MuJoCo: bodies, joints, inertias, ranges, springs, dampers,
    rotors, motors, markers, shapes.

    Joints become hinges and slides of the same coordinates, balls and free joints; others (splines) raise an
    error. Forces and constraints without a counterpart are left out, and listed in one warning: muscles,
    contact, couplers. Parameters have their defaults. Coordinates of a ball or free joint rotate with the
    frame M if that is rotated on its body.

    Args:
        system: the system.
        path: the file, written atomically.
        name: of the model; by default that of the file.
        strict: raise an error for elements that would be left out.

    Raises:
        DescriptionError: a joint that MuJoCo does not have; or, if strict, elements that would be left out.
    """
    write_robot("write_mjcf", _MJCFWriter, system, Path(path), name, strict)


class _MJCFWriter:
    def __init__(self, system: System, name: str) -> None:
        self.system, self.lost = system, list[str]()
        self.root = Xml("mujoco", {"model": name})
        SubElement(self.root, "compiler", {"angle": "radian", "autolimits": "true"})
        self.option = SubElement(self.root, "option", {"gravity": "0 0 0"})
        self.assets = SubElement(self.root, "asset")
        world = SubElement(self.root, "worldbody")
        self.actuators = SubElement(self.root, "actuator")
        self.joint: dict[str, dict[str, float]] = {}
        self._sort_forces()
        for body in system.bodies:
            if body.follows is not None and not self._rotor(body):
                self.lost.append(f"body {body.name!r}, which follows {body.follows.name!r}")
            if body.motion is not None:
                self.lost.append(f"the prescribed motion of {body.name!r}")
        for constraint in system.constraints:
            self.lost.append(f"constraint {constraint!r} ({type(system.constraint(constraint)).__name__})")
        self.parts = {-1: world}
        self.waiting: dict[int, list[tuple[Body, Transform]]] = {}
        self.seen = {g.body for g in system.geometry} | {system.marker(m).body for m in system.markers}
        for body in system.bodies:
            if body.follows is None:
                self._add(body)
        for geometry in system.geometry:
            self._draw(geometry)
        for marker in system.markers:
            at = system.marker(marker)
            SubElement(self._part(at.body), "site", {"name": marker, "pos": numbers_text(at.station)})
        for section in (self.assets, self.actuators):
            if len(section) == 0:
                self.root.remove(section)

    def _sort_forces(self) -> None:
        for name in self.system.forces:
            force = self.system.force(name)
            match force:
                case forces.Gravity():
                    self.option.set("gravity", numbers_text(numbers_at(force.acceleration)))
                    continue
                case forces.MobilitySpring() if force.speed is None and "stiffness" not in self.joint.get(
                    force.coordinate, ()
                ):
                    found = self.joint.setdefault(force.coordinate, {})
                    found["stiffness"] = float(numbers_at(force.stiffness))
                    found["springref"] = float(numbers_at(force.rest))
                    found["damping"] = found.get("damping", 0.0) + float(numbers_at(force.damping))
                    continue
                case forces.MobilityDamper() if force.coordinate in self.system.coordinates:
                    found = self.joint.setdefault(force.coordinate, {})
                    found["damping"] = found.get("damping", 0.0) + float(numbers_at(force.damping))
                    continue
                case forces.CoordinateActuator() if force.coordinate in self.system.coordinates:
                    motor = {"name": name, "joint": force.coordinate}
                    motor["gear"] = repr(float(numbers_at(force.optimal_force)))
                    if np.isfinite(force.min_control) and np.isfinite(force.max_control):
                        motor["ctrlrange"] = numbers_text((force.min_control, force.max_control))
                    SubElement(self.actuators, "motor", motor)
                    continue
            self.lost.append(f"force {name!r} ({type(force).__name__})")

    def _rotor(self, body: Body) -> bool:
        """Whether a body is the rotor of a motor, which is a joint's armature."""
        leader, masses = body.follows, body.mass_properties
        if leader is None or leader.mobilizer.nu != 1 or body.parent is None or not body.parent.is_ground:
            return False
        if not isinstance(body.mobilizer, Pin) or masses.com.any():
            return False
        axis = np.asarray(body.mobilizer.axis, dtype=float)
        found = self.joint.setdefault(leader.coordinates[0].name, {})
        found["armature"] = found.get("armature", 0.0) + float(axis @ masses.inertia @ axis)
        return True

    def _part(self, body: str) -> Xml:
        return self.parts[-1 if body == "ground" else self.system.body(body).index]

    def _is_frame(self, b: Body) -> bool:
        """Whether a body without mass is only there to carry one other: its joints become that one's."""
        children = [c for c in self.system.bodies if c.parent is b]
        simple = not isinstance(b.mobilizer, (Ball, Free)) and b.mobilizer.nu > 0
        return b.mass_properties.mass == 0 and simple and len(children) == 1 and b.name not in self.seen

    def _add(self, b: Body) -> None:
        """A body with its joints, after those of the bodies without mass that carry it. Each joint acts about
        the frame M of its body, which is X_BJ on this one where all coordinates are zero."""
        parent = b.parent
        if parent is not None and parent.follows is not None:
            raise DescriptionError(
                f"write_mjcf: {b.name!r} hangs on {parent.name!r}, which follows another body"
            )
        at = -1 if parent is None else parent.index
        X_BP = b.X_BM @ b.X_PF.inverse()
        carried = [(c, X_BP @ X) for c, X in self.waiting.get(at, ())]
        carried.append((b, b.X_BM))
        if self._is_frame(b):
            self.waiting[b.index] = carried
            return
        first, X_BJ = carried[0]
        X_0 = first.X_PF @ X_BJ.inverse()
        outside = -1 if first.parent is None else first.parent.index
        part = self.parts[b.index] = SubElement(
            self.parts[outside],
            "body",
            {
                "name": b.name,
                "pos": numbers_text(X_0.p),
                "quat": numbers_text(quaternion_from_rotation(X_0.R)),
            },
        )
        for one, X_BJ in carried:
            self._add_joints(part, one, X_BJ, outside == -1 and len(carried) == 1)
        masses = b.mass_properties
        if masses.mass > 0:
            I = masses.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            given = {
                "pos": numbers_text(masses.com),
                "mass": repr(masses.mass),
                "fullinertia": numbers_text(I),
            }
            SubElement(part, "inertial", given)

    def _add_joints(self, part: Xml, b: Body, X_BJ: Transform, outermost: bool) -> None:
        pos = numbers_text(X_BJ.p)
        if isinstance(b.mobilizer, Free) and b.mobilizer.nq == 7 and outermost:
            SubElement(part, "freejoint", {"name": b.joint})
            return
        if isinstance(b.mobilizer, Ball) and b.mobilizer.nq == 4:
            SubElement(part, "joint", {"name": b.joint, "type": "ball", "pos": pos})
            return
        for step in sequence(b.mobilizer, f"body {b.name!r}"):
            coordinate = b.coordinates[step.coordinate]
            joint = {
                "name": coordinate.name,
                "type": "hinge" if step.turns else "slide",
                "axis": numbers_text(X_BJ.R @ step.axis),
            }
            if step.turns:
                joint["pos"] = pos
            if step.offset:
                joint["ref"] = repr(-step.offset)
            if coordinate.range is not None and np.isfinite(coordinate.range).all():
                joint["range"] = numbers_text(coordinate.range)
            for key, value in self.joint.pop(coordinate.name, {}).items():
                joint[key] = repr(value)
            SubElement(part, "joint", joint)

    def _draw(self, geometry: Geometry) -> None:
        match shape := geometry.shape:
            case shapes.Sphere():
                kind, size = "sphere", [shape.radius]
            case shapes.Ellipsoid():
                kind, size = "ellipsoid", list(shape.radii)
            case shapes.Box():
                kind, size = "box", list(shape.half_lengths)
            case shapes.Cylinder() | shapes.Capsule():
                kind = "cylinder" if isinstance(shape, shapes.Cylinder) else "capsule"
                size = [shape.radius, shape.half_length]
            case shapes.Mesh(path=str(path)) if path.endswith((".obj", ".stl")):
                kind, size = "mesh", []
                asset = {
                    "name": geometry.name,
                    "file": os.path.abspath(path),
                    "scale": numbers_text(shape.scale),
                }
                SubElement(self.assets, "mesh", asset)
            case _:
                self.lost.append(f"geometry {geometry.name!r} ({type(shape).__name__})")
                return
        X: Transform = geometry.X_BS
        geom = {"type": kind, "pos": numbers_text(X.p), "quat": numbers_text(quaternion_from_rotation(X.R))}
        if size:
            geom["size"] = numbers_text(size)
        else:
            geom["mesh"] = geometry.name
        SubElement(
            self._part(geometry.body), "geom", geom | {"contype": "0", "conaffinity": "0", "mass": "0"}
        )
