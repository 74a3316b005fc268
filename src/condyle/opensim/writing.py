"""What all parts of `write_osim` share: numbers at the values of Parameters, names, and what OpenSim does not
have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from condyle.contact.triangles import Triangles
from condyle.opensim.xml import FORBIDDEN
from condyle.spatial import euler_from_rotation, rotation_from_euler
from condyle.system.system import System
from condyle.trace import Symbol
from condyle.trace.parameter import Expression, Input, Parameter
from condyle.tree.body import Body


class Writing:
    """One system on its way to a file.

    Args:
        system: what is written.
        parameters: values of Parameters by name; None: they are refused.
        path: where the file will be.

    Attributes:
        refused: what OpenSim does not have, in words, in the order of the system.
        wraps: wrap objects of each body, by its name, made by the paths that go over them.
        contacts: contact geometry by name, made by the forces whose surfaces it is.
        meshes: surfaces that touch, by the names of their files beside the model.
        controls: actuators whose control is a function of time, with the function.
        coupled: names of coordinates that only the file has, since couplers give them.
        held: constraints that are a lock, or a prescribed function, of a coordinate in the file.
        homes: joints of coordinates that are in another than that of the body which has them.
    """

    def __init__(
        self, system: System, parameters: Mapping[str, float] | None = None, path: Path = Path("model.osim")
    ) -> None:
        self.system, self.parameters, self.path = system, parameters, path
        self.refused: list[str] = []
        self.wraps: dict[str, dict[str, Element]] = {
            b: {} for b in ("ground", *(b.name for b in system.bodies))
        }
        self.contacts: dict[str, Element] = {}
        self.meshes: dict[str, Triangles] = {}
        self.controls: dict[str, Element] = {}
        self.coupled: set[str] = set()
        self.held: set[str] = set()
        self.homes: dict[str, str] = {}

    def refuse(self, what: str) -> None:
        """Say that something cannot be written, once."""
        if what not in self.refused:
            self.refused.append(what)

    def name(self, name: str, what: str) -> str:
        """A name that OpenSim takes."""
        if bad := sorted(FORBIDDEN & set(name)):
            self.refuse(f"{what}: names in OpenSim do not have {', '.join(map(repr, bad))}; rename it")
        return name

    def number(self, value: Any, where: str) -> Any:
        """A float, or an array, of what a law or a body keeps; Parameters have their values."""
        if isinstance(value, Symbol):
            value = Expression(value.sx, where)
        if isinstance(value, Expression):
            self.known(value.parameters, where)
            flat = value.at(self.parameters)
            return float(flat.item()) if flat.size == 1 else flat[:, 0] if flat.shape[1] == 1 else flat
        if isinstance(value, tuple):
            return np.array([self.number(x, where) for x in value])
        return value

    def known(self, parameters: Any, where: str) -> None:
        """Refuse what has no value in a file: Parameters, unless values are given, and Inputs."""
        for p in parameters:
            if isinstance(p, Input) or not isinstance(p, Parameter):
                self.refuse(f"{where}: it depends on {p!r}, and numbers of OpenSim do not change")
            elif self.parameters is None:
                self.refuse(
                    f"{where}: it depends on {p!r}; parameters={{}} writes Parameters at their defaults, "
                    f"parameters={{{p.name!r}: ...}} at other values"
                )

    def frame(self, X: Any, where: str) -> tuple[Any, Any]:
        """R and p of a kept frame as numbers."""
        R, p = (self.number(part, where) for part in X)
        return np.reshape(R, (3, 3)), np.asarray(p)

    def of_body(self, body: Body, quantity: str) -> Any:
        """R_PF, p_PF, R_BM, p_BM, mass, com or inertia of a body as numbers."""
        m = body.mass_properties
        plain = {
            "R_PF": body.X_PF.R,
            "p_PF": body.X_PF.p,
            "R_BM": body.X_BM.R,
            "p_BM": body.X_BM.p,
            "mass": float(m.mass),
            "com": m.com,
            "inertia": m.inertia,
        }[quantity]
        if quantity not in body.symbolic:
            return plain
        return self.number(body.symbolic[quantity], f"body {body.name!r}: {quantity}")

    def place(self, body: str) -> str:
        """The path of a body in the model."""
        return "/ground" if body == "ground" else f"/bodyset/{body}"

    def coordinate(self, name: str) -> str:
        """The path of a coordinate in the model."""
        for body in self.system.bodies:
            if name in [c.name for c in body.coordinates]:
                return f"/jointset/{self.homes.get(name, joint_name(body))}/{name}"
        raise KeyError(name)

    def speed(self, name: str) -> str:
        """The coordinate of the file whose speed, or which itself, has this name."""
        from condyle.opensim.writer_joints import coordinates

        for body in self.system.bodies:
            if name in [c.name for c in body.coordinates]:
                return name
            if name in body.speeds:
                return coordinates(body, self)[body.speeds.index(name)].name
        raise KeyError(name)


DIGITS = 15
"""Decimals of angles [rad] and of planes [m]: rotations and normals have no more."""
ROUNDS = 10


def settled(write: Callable[[Any], Any], read: Callable[[Any], Any], value: Any) -> Any:
    """What is written of a value, so that reading and writing it again gives the same numbers, to the last
    digit. They differ from write(value) by rounding."""
    written = [tuple(np.ravel(write(value)).tolist())]
    for _ in range(ROUNDS):
        again = tuple(np.ravel(write(read(np.array(written[-1])))).tolist())
        if again in written:  # the same, or some that follow each other
            return np.array(min(written[written.index(again) :]))
        written.append(again)
    return np.array(written[-1])


def angles(R: Any) -> Any:
    """Body-fixed x-y-z angles of a rotation [rad], shape (3,)."""
    return settled(lambda R: np.round(euler_from_rotation(R), DIGITS), rotation_from_euler, R)


def joint_name(body: Body) -> str:
    """What the joint of a body is called in the file."""
    return body.joint if body.joint and body.joint != body.name else f"{body.name}_joint"
