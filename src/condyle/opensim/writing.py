"""Writing: common parts of `write_osim`: elements of XML with all digits of their numbers, numbers at the
values of Parameters, names, and refusals of elements that OpenSim does not have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element as Xml
from xml.etree.ElementTree import SubElement

import numpy as np

import condyle.files as files
from condyle.spatial import euler_from_rotation, rotation_from_euler
from condyle.system.system import System
from condyle.trace import Symbol
from condyle.trace.parameter import Expression, Input, Parameter
from condyle.tree.body import Body

if TYPE_CHECKING:
    from condyle.contact.triangles import Triangles

VERSION = "40600"
FORBIDDEN = frozenset("\\/*+ \t\n\r")
"""Characters that OpenSim does not allow in names."""


# ---- elements of XML ---------------------------------------------------------------------------------------


def xml(kind: str, name: str | None = None, /, **properties: Any) -> Xml:
    """An object of a class of OpenSim: `xml("Body", "thigh", mass=7.0)`.

    Args:
        kind: the class.
        name: its attribute name.
        properties: numbers, truths, text, sequences of these; an Xml or a list of them; None is left out.
    """
    made = Xml(kind, {} if name is None else {"name": name})
    for key, value in properties.items():
        if value is not None:
            append(made, key, value)
    return made


def append(parent: Xml, key: str, value: Any) -> None:
    """Append a property of an object; an Xml with this tag or name is the property itself."""
    if type(value) in _PLAIN:
        SubElement(parent, key).text = text(value)
        return
    if isinstance(value, Xml) and key in (value.tag, value.get("name")):
        parent.append(value)
        return
    child = SubElement(parent, key)
    if isinstance(value, Xml):
        child.append(value)
    elif isinstance(value, list) and all(isinstance(x, Xml) for x in value):
        child.extend(value)
    else:
        child.text = text(value)


_PLAIN = frozenset((str, float, tuple, bool, np.ndarray))
_SPECIAL = {"inf": "Inf", "-inf": "-Inf", "nan": "NaN"}


def text(value: Any) -> str:
    """A property as text; numbers read back to the last digit."""
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is float:
        word = repr(value + 0.0)  # no -0.0
        return _SPECIAL.get(word, word)
    if kind is np.ndarray or kind is list or kind is tuple:
        return " ".join([text(x) for x in (value.tolist() if kind is np.ndarray else value)])
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return text(float(value))
    return " ".join(map(text, value))


def object_set(kind: str, objects: Sequence[Xml], groups: Mapping[str, Sequence[str]] | None = None) -> Xml:
    """A set of a model, such as its BodySet, with groups of names."""
    listed = [xml("ObjectGroup", name, members=" ".join(of)) for name, of in (groups or {}).items()]
    return xml(kind, kind.lower(), objects=list(objects), groups=listed or None)


def alike(a: Xml, b: Xml) -> bool:
    """Whether two elements have the same class and properties; their names may differ."""
    return (a.tag, [(c.tag, c.text) for c in a]) == (b.tag, [(c.tag, c.text) for c in b])


def write_document(content: Xml, path: Path) -> None:
    """A file with one object, which appears when all of it is written."""
    document = Xml("OpenSimDocument", {"Version": VERSION})
    document.append(content)
    parts = ["<?xml version='1.0' encoding='UTF-8'?>\n"]
    _serialize(document, "\n", parts.append)
    with files.atomic_write(path, "wb") as file:
        file.write("".join(parts).encode("UTF-8"))


IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
IN_QUOTES = IN_TEXT | str.maketrans({'"': "&quot;", "\r": "&#13;", "\n": "&#10;", "\t": "&#09;"})


def _serialize(element: Xml, line: str, put: Callable[[str], None]) -> None:
    """An element as ElementTree writes it after `indent`, in a third of the time. `line` begins its line."""
    tag = head = element.tag
    for key, value in element.items():
        head += f' {key}="{value.translate(IN_QUOTES) if _odd(value) else value}"'
    if len(element):
        put(f"<{head}>")
        inside = line + "\t"
        for child in element:
            put(inside)
            _serialize(child, inside, put)
        put(f"{line}</{tag}>")
    elif text := element.text:
        put(f"<{head}>{text.translate(IN_TEXT) if _odd(text) else text}</{tag}>")
    else:
        put(f"<{head} />")


_odd = re.compile(r"[&<>\"\r\n\t]").search
"""Characters that may need escaping."""


# ---- one system --------------------------------------------------------------------------------------------


class Writing:
    """One system on its way to a file.

    Args:
        system: to write.
        parameters: {name: value} of Parameters; None: they raise an error.
        path: of the file.

    Attributes:
        where: name in messages of the object that is being written, such as "force 'spring'".
        owner: its name.
        coordinates: names of the coordinates of the joint that is being written.
        refused: messages on elements that OpenSim does not have, in the order of the system.
        wraps: wrap objects of each body, by its name, from the paths that go over them.
        contacts: {name: contact geometry}, from the forces with these surfaces.
        meshes: contact meshes, by the names of their files beside the model.
        controls: actuators whose control is a function of time, with the function.
        coupled: names of coordinates that only the file has, since couplers give them.
        held: constraints that are a lock, or a prescribed function, of a coordinate in the file.
        homes: joints of coordinates that are not in the joint of their body.
    """

    where, owner = "", ""
    coordinates: tuple[str, ...] = ()

    def __init__(
        self, system: System, parameters: Mapping[str, float] | None = None, path: Path = Path("model.osim")
    ) -> None:
        self.system, self.parameters, self.path = system, parameters, path
        self.refused: list[str] = []
        self.wraps: dict[str, dict[str, Xml]] = {b: {} for b in ("ground", *(b.name for b in system.bodies))}
        self.contacts: dict[str, Xml] = {}
        self.meshes: dict[str, Triangles] = {}
        self.controls: dict[str, Xml] = {}
        self.coupled: set[str] = set()
        self.held: set[str] = set()
        self.homes: dict[str, str] = {}

    def at(self, where: str, owner: str = "", coordinates: tuple[str, ...] = ()) -> Writing:
        """The same file, while another object is being written."""
        other = object.__new__(Writing)
        other.__dict__.update(self.__dict__)
        other.where, other.owner, other.coordinates = where, owner or self.owner, coordinates
        return other

    def part(self, label: str) -> Writing:
        """The same, while a part of the object is being written: "force 'spring': label"."""
        return self.at(f"{self.where}: {label}", self.owner, self.coordinates)

    def refuse(self, what: str) -> None:
        """Record once that something cannot be written."""
        what = f"{self.where}: {what}" if self.where else what
        if what not in self.refused:
            self.refused.append(what)

    def name(self, name: str) -> str:
        """A name that OpenSim takes."""
        if bad := sorted(FORBIDDEN & set(name)):
            self.refuse(f"names in OpenSim do not have {', '.join(map(repr, bad))}; rename it")
        return name

    def number(self, value: Any) -> Any:
        """A float, or an array, of a stored value of a law or a body; Parameters have their values."""
        if type(value) is float:
            return value
        if isinstance(value, Symbol):
            value = Expression(value.sx, self.where)
        if isinstance(value, Expression):
            self.known(value.parameters)
            flat = value.at(self.parameters)
            return float(flat.item()) if flat.size == 1 else flat[:, 0] if flat.shape[1] == 1 else flat
        if isinstance(value, tuple):
            plain = set(map(type, value)) == {float}
            return np.array(value if plain else [self.number(x) for x in value])
        return value

    def known(self, parameters: Any) -> None:
        """Refuse values that a file cannot hold: Parameters, unless values are given, and Inputs."""
        for p in parameters:
            if isinstance(p, Input) or not isinstance(p, Parameter):
                self.refuse(f"it depends on {p!r}, and numbers of OpenSim do not change")
            elif self.parameters is None:
                self.refuse(
                    f"it depends on {p!r}; parameters={{}} writes Parameters at their defaults, "
                    f"parameters={{{p.name!r}: ...}} at other values"
                )

    def frame(self, X: Any) -> tuple[Any, Any]:
        """R and p of a kept frame as numbers."""
        R, p = (self.number(part) for part in X)
        return np.reshape(R, (3, 3)), np.asarray(p)

    def offset(self, name: str, body: str, R: Any, p: Any, **more: Any) -> Xml:
        """A frame on a body."""
        return xml(
            "PhysicalOffsetFrame",
            name,
            socket_parent=body,
            translation=p,
            orientation=angles(R),
            **more,
        )

    def of_body(self, body: Body, quantity: str) -> Any:
        """R_PF, p_PF, R_BM, p_BM, mass, com or inertia of a body as numbers."""
        if quantity in body.symbolic:
            return self.at(f"body {body.name!r}: {quantity}").number(body.symbolic[quantity])
        part, _, frame = quantity.partition("_")
        owner = getattr(body, f"X_{frame}") if frame else body.mass_properties
        return float(owner.mass) if quantity == "mass" else getattr(owner, part)

    def place(self, body: str) -> str:
        """The path of a body in the model."""
        return "/ground" if body == "ground" else f"/bodyset/{body}"

    def coordinate(self, name: str) -> str:
        """The path of a coordinate in the model."""
        for body in self.system.bodies:
            if name in [c.name for c in body.coordinates]:
                return f"/jointset/{self.homes.get(name, joint_name(body))}/{name}"
        raise KeyError(name)


DIGITS = 15
"""Decimals of angles [rad] and of planes [m]: rotations and normals have no more."""
ROUNDS = 10
IDENTITY = np.eye(3)


def settled(write: Callable[[Any], Any], read: Callable[[Any], Any], value: Any) -> Any:
    """The written form of a value such that reading and writing it again gives the same numbers, to the last
    digit. It differs from write(value) by rounding."""
    written = [tuple(np.ravel(write(value)).tolist())]
    for _ in range(ROUNDS):
        again = tuple(np.ravel(write(read(np.array(written[-1])))).tolist())
        if again in written:  # a fixed point, or a cycle
            return np.array(min(written[written.index(again) :]))
        written.append(again)
    return np.array(written[-1])


def angles(R: Any) -> Any:
    """Body-fixed x-y-z angles of a rotation [rad], shape (3,)."""
    if np.array_equal(R, IDENTITY):
        return np.zeros(3)
    return settled(lambda R: np.round(euler_from_rotation(R), DIGITS), rotation_from_euler, R)


def joint_name(body: Body) -> str:
    """The name of a body's joint in the file."""
    return body.joint if body.joint and body.joint != body.name else f"{body.name}_joint"
