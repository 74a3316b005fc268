"""Reading: the System that is being made, and what readers of elements ask of a file.

Each question names an element and one of its properties; errors name file, line and element. What no reader
asked for is noted at the end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from condyle.errors import CondyleError, DescriptionError
from condyle.functions.base import Function
from condyle.opensim.document import Document, Note
from condyle.opensim.element import Components, Element, is_absent
from condyle.opensim.table import READERS, REQUIRED
from condyle.spatial import Transform, rotation_from_euler
from condyle.system.system import System


class Malformed(DescriptionError):
    """A violation of the file format, with its line."""


DISPLAY = frozenset(
    {
        "FrameGeometry",
        "Appearance",
        "VisibleObject",
        "ModelVisualPreferences",
        "ModelDisplayHints",
        "display_preference",
        "length_units",
        "force_units",
        "author",
        "authors",
    }
)
"""Properties that change no number."""

OBSOLETE = {
    "Thelen2003Muscle": {
        "Vmax",
        "Vmax0",
        "damping",
        "muscle_model",
        "activation1",
        "activation2",
        "time_scale",
    },
    "Millard2012EquilibriumMuscle": {
        "FmaxTendonStrain",
        "FmaxMuscleStrain",
        "KshapeActive",
        "KshapePassive",
        "Af",
        "Flen",
        "MuscleFirstOrderActivationDynamicModel",
        "MuscleSecondOrderActivationDynamicModel",
    },
    "MovingPathPoint": {"location"},
    "Schutte1993Muscle": {"force_velocity_curve"},
}
"""Properties of old versions, by class, that OpenSim 4.6 does not read."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z", re.ASCII)
_SPECIAL = re.compile(r"[+-]?(inf|infinity|nan|1\.#(inf|qnan|ind)(00|0)?)\Z", re.ASCII | re.IGNORECASE)
"""Infinity and NaN, also as programs on Windows wrote them."""
_BRACKETS = str.maketrans(dict.fromkeys(",()[]~", " "))
"""Characters that Simbody writes around and between the numbers of a vector: ~[0, 1, 0]."""


class Reading:
    """A file that is being read, and the result so far.

    Attributes:
        document: the file.
        system: the System under construction.
        names: names in the System, by element: bodies, coordinates, forces, ...
        notes: on unsupported elements.
        controls: controllers of actuators and the functions of time that they give, by actuator.
    """

    def __init__(self, document: Document, system: System) -> None:
        self.document, self.system, self.model = document, system, document.object
        self.names: dict[Element, str] = {}
        self.notes: list[Note] = document.notes
        self.controls: dict[str, tuple[Element, Function]] = {}
        self._asked: set[Element] = {document.object}
        self._frames: dict[Element, tuple[str, Transform]] = {}

    @property
    def components(self) -> Components:
        """All named elements of the file by their paths."""
        return self.document.components

    # ---- access to a file -------------------------------------------------------------------------

    def property(self, element: Element, name: str) -> Element | None:
        """The element of a property, or that of the defaults of its class, or None."""
        found = None
        for child in element.children:
            if child.tag == name:
                if found is None:
                    found = child
                elif child not in self._asked:
                    self.note(child, "stated twice; the first one is read, as in OpenSim")
        if found is None and (prototype := self.document.defaults.get(element.tag)) not in (None, element):
            assert prototype is not None
            found = prototype.child(name)
        if found is not None:
            self._asked.add(found)
        return found

    def text(self, element: Element, name: str, default: str = REQUIRED) -> str:
        """The words of a property."""
        found = self.property(element, name)
        if found is not None and (found.text or default is REQUIRED or default == ""):
            return found.text
        return self._default(element, name, default)

    def words(self, element: Element, name: str) -> list[str]:
        """The words of a property, one by one; none if the file does not give it."""
        return self.text(element, name, "").replace(",", " ").split()

    def number(self, element: Element, name: str, default: float = REQUIRED, finite: bool = True) -> float:
        """The number of a property."""
        found = self.property(element, name)
        if found is None or not found.text:
            return self._default(element, name, default)
        if "," in found.text:
            raise self.error(found, f"expected one number with a decimal point, got {found.text!r}")
        return self._numbers(found, 1, finite)[0]

    def numbers(
        self,
        element: Element,
        name: str,
        default: Sequence[float] = REQUIRED,
        count: int | None = None,
        finite: bool = True,
    ) -> tuple[float, ...]:
        """The numbers of a property: `count` of them, or as many as there are."""
        found = self.property(element, name)
        if found is None or (count and not found.text):
            return self._default(element, name, default)
        return self._numbers(found, count, finite)

    def vector(self, element: Element, name: str) -> tuple[float, ...]:
        """Three numbers; zeros by default."""
        return self.numbers(element, name, (0.0,) * 3, 3)

    def boolean(self, element: Element, name: str, default: bool = REQUIRED) -> bool:
        """Whether a property is true."""
        found = self.property(element, name)
        if found is None or not found.text:
            return self._default(element, name, default)
        value = {"true": True, "1": True, "false": False, "0": False}.get(found.text.lower())
        if value is None:
            raise self.error(found, f"expected true or false, got {found.text!r}")
        return value

    def objects(self, element: Element, name: str) -> list[Element]:
        """Elements of the objects that a property lists: those of "components", or "objects" of a set."""
        found = self.property(element, name)
        if found is None:
            return []
        if name.endswith("Set"):
            self._groups(found)
            inner = found.child("objects")
            found = found if inner is None else inner
            self._asked.add(found)
        objects = [child for child in found.children if child.tag != "groups"]
        self._asked.update(objects)
        return objects

    def _groups(self, found: Element) -> None:
        """Store the groups of a set: names, and the names of their members."""
        named = found.child("groups") if found.tag == "ForceSet" else None
        for group in named.descendants("ObjectGroup") if named is not None else ():
            members = group.child("members")
            if group.name and members is not None:
                self.system.groups[group.name] = tuple(members.text.replace(",", " ").split())
        self.skip(found, "groups")

    def object(self, element: Element, name: str) -> Element | None:
        """The element of the one object of a property: <function><Constant>..., or <Constant
        name="function">..., or None."""
        found = self.property(element, name)
        if found is None:
            found = next((child for child in element.children if child.name == name and child.children), None)
            if found is not None:
                self._asked.add(found)
            return found
        if not found.children:
            return None
        self._asked.update(found.children[:1])
        return found.children[0]

    def use(self, element: Element) -> None:
        """Mark an element without its own reader as used."""
        self._asked.add(element)
        self.skip(element, *DISPLAY)

    def use_all(self, element: Element) -> None:
        """Mark an element and everything in it as used."""
        self._asked.update(element.descendants())

    def skip(self, element: Element, *names: str) -> None:
        """Mark properties that a reader knows and does not need as used."""
        for child in element.children:
            if child.tag in names:
                self._asked.update(child.descendants())

    def _default(self, element: Element, name: str, default: Any) -> Any:
        if default is REQUIRED:
            raise self.error(element, f"<{name}> is missing, and must be given")
        return default

    def _numbers(self, element: Element, count: int | None, finite: bool) -> tuple[float, ...]:
        words = element.text.translate(_BRACKETS).split()
        values = tuple(self._number(element, word) for word in words[:count])
        if count is not None and len(values) < count:
            raise self.error(
                element, f"expected {count} number{'s' * (count > 1)}, got {element.text[:60]!r}"
            )
        if count is not None and len(words) > count:
            self.note(element, f"{len(words)} values; the first {count} are read, as in OpenSim")
        if finite and not all(map(math.isfinite, values)):
            raise self.error(element, f"expected finite numbers, got {element.text[:60]!r}")
        return values

    def _number(self, element: Element, word: str) -> float:
        if _NUMBER.match(word):
            return float(word)
        if not _SPECIAL.match(word):
            raise self.error(element, f"expected a number, got {word[:40]!r}")
        size = math.inf if "inf" in word.lower() else math.nan
        return -size if word.startswith("-") else size

    # ---- objects of elements ---------------------------------------------------------------------------

    def read(self, element: Element) -> Any:
        """The object that the reader of its class creates from an element.

        Raises:
            DescriptionError: there is no reader; check with `reads` first.
        """
        if element.tag not in READERS:
            raise self.unsupported(element, "is not known")
        self.use(element)
        try:
            return READERS[element.tag](self, element)
        except Malformed:
            raise
        except CondyleError as error:
            if f"{element.file}:" in str(error):
                raise
            raise self.unsupported(element, str(error)) from None

    def reads(self, element: Element) -> bool:
        """Whether its class has a reader."""
        return element.tag in READERS

    def function(self, element: Element, name: str, default: Any = None) -> Function | Any:
        """The function that a property holds, or the default."""
        found = self.object(element, name)
        return default if found is None else self.read(found)

    def connected(self, element: Element, socket: str, default: Any = REQUIRED) -> Element:
        """The element that a socket, such as "parent_frame", is connected to."""
        found = self.property(element, f"socket_{socket}")
        if found is None or is_absent(found.text):
            return self._default(element, f"socket_{socket}", default)
        other = self.components.find(found.text, element)
        if other is None:
            near = self.components.near(found.text)
            raise self.error(found, f"nothing is called {found.text!r}" + (f"; {near}?" if near else ""))
        return other

    def frame(self, element: Element, socket: str) -> tuple[str, Transform]:
        """Body and pose on it of the frame that a socket is connected to."""
        return self.placed(self.connected(element, socket), element)

    def placed(self, frame: Element, asker: Element) -> tuple[str, Transform]:
        """Body under a frame, and the pose of the frame on it."""
        body, X = self.base(frame, asker)
        return self.names.get(body, body.name), X

    def base(self, frame: Element, asker: Element) -> tuple[Element, Transform]:
        """Element of the body under a frame, and the pose of the frame on it."""
        X, seen = Transform(), {frame}
        while frame.tag not in ("Body", "Ground"):
            self.use(frame)
            if frame.tag == "StationDefinedFrame":
                body, X_BF = self._by_stations(frame)
                return body, X_BF @ X
            if frame.tag not in ("PhysicalOffsetFrame", "OffsetFrame"):
                raise self.error(asker, f"{frame.title} is not a frame on a body")
            X = self.pose(frame) @ X
            frame = self.connected(frame, "parent")
            if frame in seen:
                raise self.error(frame, "frames stand on each other in a circle")
            seen.add(frame)
        if self.names and frame not in self.names:  # there are none where no System is made of it
            raise self.error(frame, "is neither in the BodySet nor in the components of the model")
        return frame, X

    def _by_stations(self, frame: Element) -> tuple[Element, Transform]:
        """Body under a StationDefinedFrame, and its pose: one axis from a to b, one normal to a, b and c."""
        bodies, places = [], []
        for name in ("point_a", "point_b", "point_c", "origin_point"):
            station = self.connected(frame, name)
            self.use(station)
            body, X = self.base(self.connected(station, "parent_frame"), frame)
            bodies.append(body)
            places.append(X @ self.vector(station, "location"))
        a, b, c, origin = places
        along, normal = b - a, np.cross(b - a, c - a)
        if any(body is not bodies[0] for body in bodies) or not normal.any():
            raise self.error(frame, "its points must be on one body, and not on one line")
        (i, first), (j, second) = (
            self._direction(frame, name, usual) for name, usual in (("ab_axis", "+x"), ("ab_x_ac_axis", "+y"))
        )
        if i == j:
            raise self.error(frame, "ab_axis and ab_x_ac_axis must be different axes")
        R = np.zeros((3, 3))
        R[:, i] = first * along / np.linalg.norm(along)
        R[:, j] = second * normal / np.linalg.norm(normal)
        k = 3 - i - j
        R[:, k] = np.cross(R[:, (k + 1) % 3], R[:, (k + 2) % 3])
        return bodies[0], Transform(R, origin)

    def _direction(self, frame: Element, name: str, usual: str) -> tuple[int, float]:
        text = self.text(frame, name, usual).lower()
        axis = text.lstrip("+-")
        if axis not in ("x", "y", "z") or len(text) > 2:
            raise self.error(frame, f"{name}: expected an axis such as +x, got {text!r}")
        return "xyz".index(axis), -1.0 if text.startswith("-") else 1.0

    def pose(self, element: Element, turn: str = "orientation", place: str = "translation") -> Transform:
        """Pose by body-fixed x-y-z angles and a place, as an offset frame has it on its parent."""
        R = rotation_from_euler(np.array(self.vector(element, turn)), "xyz")
        return Transform(R, self.vector(element, place))

    def coordinate(self, element: Element, given: str) -> str:
        """Name of the coordinate that an element gives by name or path.

        Raises:
            Malformed: there is none.
            DescriptionError: its joint does not use it.
        """
        found = self.components.find(given, element, "Coordinate")
        if found is not None and found not in self.names:
            raise DescriptionError(f"its coordinate {found.name!r} moves nothing, and is left out")
        if found is None:
            near = self.components.near(given)
            raise self.error(element, f"there is no coordinate {given!r}" + (f"; {near}?" if near else ""))
        return self.names[found]

    def free_name(self, element: Element, kind: str) -> str:
        """A name for a force or constraint: its own, unless another has it."""
        taken = {*self.system.forces, *self.system.constraints, *self.system.measures, *self.system.motions}
        name = own = element.name or element.tag.lower()
        if name in taken:
            name = own + "_" + kind
            k = 0
            while name in taken:
                k, name = k + 1, f"{own}_{kind}_{k}"
            self.note(element, f"another force or constraint has this name; it is called {name!r}")
        self.names[element] = name
        return name

    def numbered(self, element: Element, name: str, taken: Collection[str], kind: str) -> str:
        """A name for a body or marker: its own, or with a number if another has it."""
        if name in taken:
            k = 0
            while f"{name}_{k}" in taken:
                k += 1
            self.remark(element, f"another {kind} has this name; it is called '{name}_{k}', as in OpenSim")
            name = f"{name}_{k}"
        self.names[element] = name
        return name

    # ---- errors and notes
    # -------------------------------------------------------------------------------------

    def error(self, element: Element, what: str) -> Malformed:
        """An error with file and line."""
        owner = element.parent
        title = (
            element.title
            if element.name or owner is None or not owner.name
            else (f"{owner.title}: {element.tag}")
        )
        return Malformed(f"{element.place}: {title}: {what}")

    def unsupported(self, element: Element, what: str) -> DescriptionError:
        """An error with file and line, for valid elements that are not supported."""
        return DescriptionError(str(self.error(element, what)))

    def note(self, element: Element, effect: str) -> None:
        """Record an unsupported element and the effect; everything inside it counts as used."""
        self.remark(element, effect)
        self.use_all(element)

    def remark(self, element: Element, effect: str) -> None:
        """Record a note on an element whose properties are still to be read."""
        self.notes.append(Note(element.file, element.line, self._title(element), effect))

    @staticmethod
    def _title(element: Element) -> str:
        if element.name:
            return element.title
        owner = next((e for e in element.ancestors() if e.name), None)
        return f"{element.tag} of {owner.title}" if owner is not None else element.tag

    def use_frames(self, model: Element) -> None:
        """Mark elements without readers as used: frames and stations, which other elements read."""
        for frame in model.descendants(
            "PhysicalOffsetFrame", "OffsetFrame", "StationDefinedFrame", "Station"
        ):
            self.use(frame)
            self.skip(
                frame,
                "socket_parent",
                "translation",
                "orientation",
                "socket_parent_frame",
                "location",
                "socket_point_a",
                "socket_point_b",
                "socket_point_c",
                "socket_origin_point",
                "ab_axis",
                "ab_x_ac_axis",
            )
            self.names.setdefault(frame, frame.name)

    def keep_credits(self) -> None:
        """Store the credits of the model."""
        self.system.about = {
            "name": self.model.name,
            **{
                name: text
                for name in ("credits", "publications")
                if (text := self.text(self.model, name, "")) and not is_absent(text)
            },
        }

    def note_unasked(self) -> None:
        """Note every property that no reader used."""
        waiting = [self.model]
        while waiting:
            element = waiting.pop()
            for child in element.children:
                if child in self._asked:
                    waiting.append(child)
                elif (child.text or child.children) and child.tag not in (
                    DISPLAY | OBSOLETE.get(element.tag, set())
                ):
                    self.note(child, "is not known, and has no effect")
        self.notes.sort(key=lambda note: (note.file, note.line))
