"""Which function reads which class of OpenSim: `@reads("PinJoint")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from condyle.opensim.element import Element
    from condyle.opensim.reading import Reading

Reader = Callable[["Reading", "Element"], Any]
READERS: dict[str, Reader] = {}


def reads(*classes: str) -> Callable[[Reader], Reader]:
    """The function below reads elements of these classes: `@reads("SimmSpline", "NaturalCubicSpline")`."""

    def register(reader: Reader) -> Reader:
        for name in classes:
            if name in READERS:
                raise TypeError(f"{name} has a reader already: {READERS[name].__module__}")
            READERS[name] = reader
        return reader

    return register
