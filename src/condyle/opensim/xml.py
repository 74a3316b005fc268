"""Elements of the XML that OpenSim 4 reads: classes with properties, numbers with all their digits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element, SubElement

import numpy as np

VERSION = "40600"
FORBIDDEN = frozenset("\\/*+ \t\n\r")
"""Characters that OpenSim does not take in names."""


def element(kind: str, name: str | None = None, /, **properties: Any) -> Element:
    """An object of a class of OpenSim: `element("Body", "thigh", mass=7.0)`.

    Args:
        kind: the class.
        name: its attribute name.
        properties: numbers, truths, text, sequences of these; an Element or a list of them; None is left out.
    """
    made = Element(kind, {} if name is None else {"name": name})
    for key, value in properties.items():
        if value is not None:
            append(made, key, value)
    return made


def append(parent: Element, key: str, value: Any) -> Element:
    """A property more of an object."""
    child = SubElement(parent, key)
    if isinstance(value, Element):
        child.append(value)
    elif isinstance(value, list) and all(isinstance(x, Element) for x in value):
        child.extend(value)
    else:
        child.text = text(value)
    return child


def text(value: Any) -> str:
    """A property as text; numbers read back to the last digit."""
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        value = float(value) + 0.0  # no -0.0
        return {"inf": "Inf", "-inf": "-Inf", "nan": "NaN"}.get(repr(float(value)), repr(float(value)))
    return " ".join(map(text, value.tolist() if isinstance(value, np.ndarray) else value))


def whole_set(
    kind: str, objects: Sequence[Element], groups: Mapping[str, Sequence[str]] | None = None
) -> Element:
    """A set of a model, such as its BodySet, with groups of names."""
    made = [element("ObjectGroup", name, members=" ".join(of)) for name, of in (groups or {}).items()]
    return element(kind, kind.lower(), objects=list(objects), groups=made or None)
