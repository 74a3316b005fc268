"""Paths of components in a model, as sockets give them: /jointset/knee/knee_angle, ../../bodyset/femur."""

from __future__ import annotations

import difflib

from condyle.opensim.element import Element


def is_absent(text: str) -> bool:
    """Whether a socket or a name says that there is nothing."""
    return text.strip() in ("", "Unassigned")


class Components:
    """All named elements of a model by their paths, where sets count as levels."""

    def __init__(self, model: Element) -> None:
        self._paths: dict[str, Element] = {"": model}
        self._path_of: dict[Element, str] = {model: ""}
        self._named: dict[str, list[Element]] = {}
        for child in model.children:
            self.add(child)

    def add(self, element: Element) -> None:
        """Take in an element and all inside it."""
        around = next((e for e in element.ancestors() if e in self._path_of), None)
        waiting = [(element, self._path_of[around] if around is not None else "")]
        while waiting:
            element, above = waiting.pop()
            level = element.name or (element.tag.lower() if element.tag.endswith("Set") else "")
            path = f"{above}/{level}" if level else above
            if level:
                if path in self._paths and not element.tag.endswith("Set"):
                    path = self._free(path)
                self._paths.setdefault(path, element)
                if not above and element.tag.endswith("Set"):
                    self._paths.setdefault("/" + element.tag.lower(), element)
                self._path_of[element] = path
                self._named.setdefault(level, []).append(element)
            waiting += [(child, path) for child in reversed(element.children)]

    def _free(self, path: str) -> str:
        """The path of the second component of a name, whose parts are its own: OpenSim appends _0, _1, ..."""
        k = 0
        while f"{path}_{k}" in self._paths:
            k += 1
        return f"{path}_{k}"

    def path(self, element: Element) -> str:
        """Where an element is, such as /bodyset/femur."""
        return self._path_of[element]

    def find(self, text: str, owner: Element, *classes: str) -> Element | None:
        """The element at a path, absolute or from its owner; else the only one of that name, or the first of
        these classes."""
        text = text.strip()
        if (found := self._paths.get(self._absolute(text, owner))) is not None and (
            not classes or found.tag in classes
        ):
            return found
        last = text.rpartition("/")[2]
        alike = self._named.get(last) or self._named.get("".join(last.split()), [])
        alike = (
            [e for e in alike if e.tag in classes]
            if classes
            else [e for e in alike if e.tag in ("Body", "Ground", "PhysicalOffsetFrame", "Coordinate")]
        )
        if len(alike) == 1 or (alike and classes):
            return alike[0]
        # several frames of one name: the body is meant
        bodies = [e for e in alike if e.tag in ("Body", "Ground")]
        return bodies[0] if len(bodies) == 1 else None

    def _absolute(self, text: str, owner: Element) -> str:
        if text.startswith("/"):
            return text.rstrip("/")
        while owner not in self._path_of and owner.parent is not None:
            owner = owner.parent
        levels = self._path_of.get(owner, "").split("/")[1:]
        for part in text.split("/"):
            if part == "..":
                levels = levels[:-1]
            elif part not in ("", "."):
                levels = [*levels, part]
        return "".join("/" + level for level in levels)

    def near(self, text: str) -> str:
        """Names that are almost this one, for messages."""
        close = difflib.get_close_matches(text.rpartition("/")[2], self._named, n=3, cutoff=0.6)
        return "did you mean " + " or ".join(map(repr, close)) if close else ""
