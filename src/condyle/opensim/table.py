"""The table of OpenSim's classes: each class is one row, from which both reader and writer follow.

    Class(
        "PointToPointSpring",                              # OpenSim's name
        cd.forces.TwoPointSpring,                          # our class
        (
            BodyField("socket_body1", key="a"),            # a property, and the name of our argument
            BodyField("socket_body2", key="b"),
            Vector("point1", key="p_a"),
            Vector("point2", key="p_b"),
            Number("stiffness", 1.0),                      # OpenSim's default; the name is the same here
            Number("rest_length", 0.0),
        ),
    )

**To add a class of OpenSim, write one such row**, in the file of its family (forces.py, joints.py, ...) or in
your own: it registers itself when it is created, and read_osim and write_osim know it from then on. The class
it makes decides where it goes: a Force joins the forces of the System, a Constraint its constraints, a
Mobilizer is a joint; others, such as functions, belong to the object whose property holds them.

Properties are written in the order of the fields. Kinds of fields are `Number`, `Vector`, `Flag`, `Choice`,
`Fixed`, `Several`, ... here, and FunctionField, PathField, BodyField, FramesField, ControlField, ... in the
files of the families. A new kind is a subclass of Field with two methods: `parse` returns the argument,
`format` the text. A class that is irregular in one direction has a function beside its row (`read=`,
`write=`, `check=`), or separate functions with the decorators `reads` and `writes`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condyle.opensim.element import Element
    from condyle.opensim.reading import Reading
    from condyle.opensim.writing import Writing, Xml

Arguments = dict[str, Any]
"""Arguments of an element's object, under our names."""
Properties = dict[str, Any]
"""Properties of an element, under OpenSim's names."""
Reader = Callable[["Reading", "Element"], Any]
Writer = Callable[[Any, "Writing"], "Xml"]
READERS: dict[str, Reader] = {}
"""Readers of elements, by class in OpenSim."""
WRITERS: dict[type, list[tuple[Callable[[Any], bool], Writer]]] = {}
"""Writers of objects, by class here; the first whose condition holds."""
CLASSES: dict[str, Class] = {}
"""Rows, by OpenSim's name."""
REQUIRED: Any = object()
"""Instead of a default: the file must give the property."""


def reads(*tags: str) -> Callable[[Reader], Reader]:
    """The function below reads elements of these classes: `@reads("SimmSpline", "NaturalCubicSpline")`."""

    def register(reader: Reader) -> Reader:
        for tag in tags:
            if tag in READERS:
                raise TypeError(f"{tag} has a reader already: {READERS[tag].__module__}")
            READERS[tag] = reader
        return reader

    return register


def writes(kind: type, when: Callable[[Any], bool] = lambda thing: True) -> Callable[[Writer], Writer]:
    """The function below writes objects of this class and its subclasses, those for which `when` holds."""

    def register(writer: Writer) -> Writer:
        WRITERS.setdefault(kind, []).append((when, writer))
        _writers.cache_clear()
        return writer

    return register


def write(thing: object, to: Writing, name: str | None = None) -> Xml | None:
    """An object as an element of OpenSim with this name; None if OpenSim has no such class."""
    kind: Any = type(thing)
    for when, writer in _writers(kind):
        if when(thing):
            made = writer(thing, to)
            if name is not None:
                made.set("name", name)
            return made
    return None


@functools.cache
def _writers(kind: type) -> list[tuple[Callable[[Any], bool], Writer]]:
    """Writers for objects of a class, its own first."""
    return [each for base in kind.__mro__ for each in WRITERS.get(base, ())]


class Field:
    """A property of a class of OpenSim, and the argument and attribute of ours that holds it.

    Args:
        tag: OpenSim's name of the property.
        default: OpenSim's value if a file does not give it.
        key: our name, if it differs.
    """

    def __init__(self, tag: str, default: Any = REQUIRED, key: str = "") -> None:
        self.tag, self.default, self.key = tag, default, key or tag

    def parse(self, reading: Reading, element: Element) -> Any:
        """The argument from an element."""
        raise NotImplementedError(f"{type(self).__name__} needs a method parse(reading, element)")

    def format(self, value: Any, to: Writing) -> Any:
        """The property as `writing.element` takes it."""
        return value

    def read(self, reading: Reading, element: Element) -> Arguments:
        """Arguments by our names."""
        return {self.key: self.parse(reading, element)}

    def write(self, thing: Any, to: Writing) -> Properties:
        """Properties by OpenSim's names."""
        return {self.tag: self.format(getattr(thing, self.key), to)}


class Number(Field):
    """A number; Parameters are written at their values."""

    def parse(self, reading: Reading, element: Element) -> Any:
        return reading.number(element, self.tag, self.default)

    def format(self, value: Any, to: Writing) -> Any:
        return to.number(value)


class Vector(Number):
    """Three numbers, or `count`; None for any count."""

    def __init__(
        self, tag: str, default: Any = (0.0, 0.0, 0.0), key: str = "", count: int | None = 3
    ) -> None:
        super().__init__(tag, default, key)
        self.count = count

    def parse(self, reading: Reading, element: Element) -> Any:
        return reading.numbers(element, self.tag, self.default, self.count)


class Flag(Field):
    """True or false."""

    def parse(self, reading: Reading, element: Element) -> Any:
        return reading.boolean(element, self.tag, self.default)


class Choice(Flag):
    """A flag of OpenSim that is one of two words here."""

    def __init__(self, tag: str, default: bool, key: str, yes: str, no: str) -> None:
        super().__init__(tag, default, key)
        self.yes, self.no = yes, no

    def parse(self, reading: Reading, element: Element) -> Any:
        return self.yes if super().parse(reading, element) else self.no

    def format(self, value: Any, to: Writing) -> Any:
        return value == self.yes


class Fixed(Field):
    """A property that is always written with the same value, and ignored when it is read."""

    def read(self, reading: Reading, element: Element) -> Arguments:
        reading.skip(element, self.tag)
        return {}

    def write(self, thing: Any, to: Writing) -> Properties:
        return {self.tag: self.default}


class WriteOnly(Field):
    """A field that is written, and ignored when it is read."""

    def __init__(self, field: Field) -> None:
        self.tag, self.field = field.tag, field

    def read(self, reading: Reading, element: Element) -> Arguments:
        reading.skip(element, self.tag)
        return {}

    def write(self, thing: Any, to: Writing) -> Properties:
        return self.field.write(thing, to)


class ReadOnly(Field):
    """A field that is read and not written."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def read(self, reading: Reading, element: Element) -> Arguments:
        return self.field.read(reading, element)

    def write(self, thing: Any, to: Writing) -> Properties:
        return {}


class Several(Field):
    """Properties that together are one sequence here."""

    def __init__(self, key: str, *fields: Field) -> None:
        self.key, self.fields = key, fields

    def parse(self, reading: Reading, element: Element) -> Any:
        return [field.parse(reading, element) for field in self.fields]

    def write(self, thing: Any, to: Writing) -> Properties:
        values = zip(self.fields, getattr(thing, self.key), strict=True)
        return {field.tag: field.format(value, to) for field, value in values}


class Class:
    """A class of OpenSim: one row of the table, which registers itself.

    Args:
        tag: OpenSim's name.
        made: our class, with arguments and attributes by the keys of the fields.
        fields: properties, in the order in which they are written.
        also: other names of the same class, which are read too.
        skip: properties that need not be read.
        arguments: arguments that are always the same.
        when: objects that are written as this class; all by default.
        read: `read(reading, element, arguments)` creates the object if `made(**arguments)` is not enough.
        write: `write(thing, to, properties)` returns the properties, changed.
        check: `check(thing, to)` refuses what OpenSim's class does not have, by `to.refuse`.
        register: False for parts that are read only as properties of others.
    """

    def __init__(
        self,
        tag: str,
        made: Callable[..., Any],
        fields: Sequence[Field] = (),
        *,
        also: Sequence[str] = (),
        skip: Sequence[str] = (),
        arguments: Arguments | None = None,
        when: Callable[[Any], bool] = lambda thing: True,
        read: Callable[[Reading, Element, Arguments], Any] | None = None,
        write: Callable[[Any, Writing, Properties], Properties] | None = None,
        check: Callable[[Any, Writing], None] | None = None,
        register: bool = True,
    ) -> None:
        self.tag, self.made, self.fields, self.skip = tag, made, tuple(fields), skip
        self.arguments, self._read, self._write, self._check = dict(arguments or {}), read, write, check
        if register:
            reads(tag, *also)(self.read)
            CLASSES[tag] = self
            if isinstance(made, type):
                writes(made, when)(self.write)

    def read(self, reading: Reading, element: Element) -> Any:
        """The object of an element."""
        arguments = dict(self.arguments)
        for field in self.fields:
            arguments |= field.read(reading, element)
        reading.skip(element, *self.skip)
        return self.made(**arguments) if self._read is None else self._read(reading, element, arguments)

    def write(self, thing: Any, to: Writing) -> Xml:
        """The element of an object, without a name."""
        if self._check is not None:
            self._check(thing, to)
        properties: Properties = {}
        for field in self.fields:
            properties |= field.write(thing, to)
        if self._write is not None:
            properties = self._write(thing, to, properties)
        from condyle.opensim.writing import xml  # not where models are only read

        return xml(self.tag, **properties)
