"""Elements of an XML file with their lines, parsed safely: no entities, nothing fetched,
sizes and depths limited; and Components, the paths by which sockets name them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from condyle.errors import DescriptionError
from condyle.files import existing

MOST_BYTES = 200_000_000
"""Largest file: a hundred times the largest known models."""
DEEPEST = 200
"""Elements inside each other; models have about twenty."""
MOST_ELEMENTS = 5_000_000


class Element:
    """One element of a file: tag, attributes, text (that of all its parts, without comments), children.

    Attributes:
        line: where it begins; rewritten elements have the line of their older form.
        file: name of the file.
        parent: the element around it, None for the first.
    """

    __slots__ = ("attributes", "children", "file", "line", "parent", "tag", "text")

    def __init__(
        self,
        tag: str,
        attributes: dict[str, str] | None = None,
        text: str = "",
        *,
        line: int = 0,
        file: str = "",
        parent: Element | None = None,
    ) -> None:
        self.tag, self.attributes, self.text = tag, attributes or {}, text
        self.line, self.file, self.parent = line, file, parent
        self.children: list[Element] = []

    @property
    def name(self) -> str:
        """Its attribute "name", without white space around it."""
        return self.attributes.get("name", "").strip()

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.file}:{self.line}"

    @property
    def title(self) -> str:
        """Tag and name, for messages."""
        return f"{self.tag} {self.name!r}" if self.name else self.tag

    def child(self, tag: str) -> Element | None:
        """The first child of this tag, or None."""
        for element in self.children:
            if element.tag == tag:
                return element
        return None

    def descendants(self, *tags: str) -> list[Element]:
        """All elements of these tags inside, at any depth, and itself; all there are without tags."""
        found: list[Element] = []
        waiting = [self]
        while waiting:
            element = waiting.pop()
            if not tags or element.tag in tags:
                found.append(element)
            if element.children:
                waiting.extend(reversed(element.children))
        return found

    def ancestors(self) -> Iterator[Element]:
        """What is around it, from inside to outside."""
        element = self.parent
        while element is not None:
            yield element
            element = element.parent

    def add(self, tag: str, text: str = "", name: str = "", at: int | None = None) -> Element:
        """A new child, with the line of this element."""
        element = Element(tag, {"name": name} if name else {}, text, line=self.line, file=self.file)
        return self.take(element, at)

    def take(self, element: Element, at: int | None = None) -> Element:
        """Move an element here; the last child unless `at` is given."""
        element.remove()
        element.parent = self
        self.children.insert(len(self.children) if at is None else at, element)
        return element

    def remove(self) -> None:
        """Take it away from its parent."""
        if self.parent is not None:
            self.parent.children = [x for x in self.parent.children if x is not self]
            self.parent = None

    def __repr__(self) -> str:
        return f"<{self.title} at {self.place}>"


def read_elements(path: Path) -> Element:
    """The outermost element of an XML file.

    Raises:
        DescriptionError: not XML, too large, too deep, or with entities.
        FileNotFoundError: no such file.
    """
    size = existing(path).stat().st_size
    if size > MOST_BYTES:
        raise DescriptionError(
            f"{path.name}: {size / 1e6:.0f} MB; a file of at most {MOST_BYTES / 1e6:.0f} MB is read"
        )
    return parse(path.read_bytes(), path.name)


def parse(data: bytes, file: str) -> Element:
    """The outermost element of XML text; `file` is its name in messages."""
    text = _decoded(data)
    try:
        return _parsed(text, file)
    except expat.ExpatError as first:
        error = first
        # OpenSim's parser takes "--" inside comments and "&" that begins nothing (Smith & Thelen), which XML
        # does not allow; lines stay where they are
        plain = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
        plain = _AMPERSAND.sub("&amp;", plain)
        try:
            if plain != text:
                return _parsed(plain, file)
        except expat.ExpatError as again:
            error = again
        raise DescriptionError(
            f"{file}:{error.lineno}: this is not XML, or it was cut off: "
            f"{expat.ErrorString(error.code)} (column {error.offset + 1})"
        ) from None


_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_AMPERSAND = re.compile(r"&(?![A-Za-z_:][\w.:-]*;|#\d+;|#x[0-9A-Fa-f]+;)")
_ENCODING = re.compile(rb"""^[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


def _decoded(data: bytes) -> str:
    """Text of a file in whatever it says, else UTF-8, else as old Windows programs write."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    stated = _ENCODING.match(data)
    for encoding in (*((stated[1].decode(),) if stated else ()), "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, UnicodeError, ValueError):
            continue
    return data.decode("cp1252", errors="replace")


def _parsed(text: str, file: str) -> Element:
    parser = expat.ParserCreate(encoding="utf-8")
    parser.buffer_text = True
    first: list[Element] = []
    around: list[Element] = []
    pieces: list[list[str]] = []
    count = 0

    def refuse(what: str) -> None:
        raise DescriptionError(
            f"{file}:{parser.CurrentLineNumber}: {what}; write what they stand for, as plain XML"
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if len(around) >= DEEPEST or count > MOST_ELEMENTS:
            raise DescriptionError(
                f"{file}:{parser.CurrentLineNumber}: "
                + (
                    f"more than {DEEPEST} elements inside each other"
                    if len(around) >= DEEPEST
                    else f"more than {MOST_ELEMENTS} elements"
                )
                + "; this is not a model"
            )
        element = Element(
            tag, attributes, line=parser.CurrentLineNumber, file=file, parent=around[-1] if around else None
        )
        (around[-1].children if around else first).append(element)
        around.append(element)
        pieces.append([])

    def end(tag: str) -> None:
        around.pop().text = "".join(pieces.pop()).strip()

    def words(characters: str) -> None:
        pieces[-1].append(characters)

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, words
    parser.EntityDeclHandler = lambda name, *_: refuse(
        f"the DOCTYPE declares the entity {name!r}; entities are not read"
    )
    parser.SkippedEntityHandler = lambda name, _: refuse(
        f"the entity {name!r} is not known; entities are not read"
    )
    parser.Parse(
        re.sub(r"^\s*<\?xml[^>]*\?>", lambda m: "\n" * m[0].count("\n"), text, count=1).encode(
            "utf-8", errors="replace"
        ),
        True,
    )
    return first[0]


# ---- paths of components, as sockets give them: /jointset/knee/knee_angle ----------------------------------


def is_absent(text: str) -> bool:
    """Whether a socket or a name is empty."""
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
        """Add an element and everything inside it."""
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
        """The path of an element, such as /bodyset/femur."""
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
        """Names similar to this one, for messages."""
        close = difflib.get_close_matches(text.rpartition("/")[2], self._named, n=3, cutoff=0.6)
        return "did you mean " + " or ".join(map(repr, close)) if close else ""
