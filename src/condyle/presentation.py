"""Display at a prompt and in a notebook: short texts, small tables as text and HTML, names for completion.
HTML is escaped and self-contained.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from condyle.arguments import american, missing
from condyle.records import dataclass

NAMES = 6
"""Names that a repr shows."""
ROWS, COLUMNS = 10, 8
"""So many rows and columns of a longer or wider table are shown."""
LINES = 30
"""So many rows of a block are shown in HTML."""


def number(x: float) -> str:
    """Six digits; no minus before a zero."""
    return f"{float(x) + 0.0:.6g}"


def numbers(values: Iterable[float]) -> str:
    return ", ".join(map(number, values))


def brief(value: Any, most: int = 6) -> str:
    """A value, or the shape of an array of many numbers."""
    shape = getattr(value, "shape", (len(value),) if isinstance(value, (tuple, list)) else ())
    if math.prod(shape) > most:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(brief(v, most) for v in value)})"
    return repr(value.tolist() if hasattr(value, "tolist") else value)


def cut(items: Iterable[str], most: int = NAMES, sep: str = ", ") -> str:
    """The first items, and the number left out, if more than one."""
    items = list(items)
    more = len(items) - most
    return sep.join(items if more <= 1 else [*items[:most], f"... {more} more"])


def distinct(names: Sequence[str]) -> list[str]:
    """The names; those that occur twice get a number at their end, so that they can be columns of one
    Table."""
    out: list[str] = []
    taken = {"time"}
    for name in names:
        k, new = 1, name
        while new in taken:
            k, new = k + 1, f"{name} {k + 1}"
        out.append(new)
        taken.add(new)
    return out


def span(t: Any) -> str:
    """First and last of times (m,), as words."""
    return f" from {number(t[0])} to {number(t[-1])} s" if len(t) else ""


class Display:
    """Base class of public objects: completion of public names, and HTML in notebooks."""

    __slots__ = ()
    plumbing: ClassVar[frozenset[str]] = frozenset()  # public in Python, but not for users
    elsewhere: ClassVar[dict[str, str]] = {}  # what is not here, and where it is

    def __dir__(self) -> list[str]:
        hidden = self.plumbing | {"plumbing", "elsewhere", "call_hints", "other_names"}
        return [name for name in super().__dir__() if not name.startswith("_") and name not in hidden]

    def _named(self, name: str) -> str:
        """Hint for a name that is not an attribute, such as a coordinate; empty if none."""
        return ""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):
                return object.__getattribute__(self, name)  # a property failed: its own error says why
            kind = type(self).__name__
            if name.startswith("_"):
                raise AttributeError(f"{kind!r} object has no attribute {name!r}")
            spelled = american(name)
            there = self.elsewhere.get(name) or self._named(name) or self.elsewhere.get(spelled)
            there = there or self._named(spelled)
            known = [n for n in dir(type(self)) if not n.startswith("_") and n not in self.plumbing]
            raise missing(
                f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}", name, known, {name: there} if there else {}
            )


@dataclass(frozen=True)
class Block:
    """A table of texts under a title, with or without a head."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self, most: int | None = None) -> list[str]:
        """Head and rows, without the title; with `most`, of so many letters where that can be: cells of the widest
        columns break between words."""
        rows = [tuple(self.head), *map(tuple, self.rows)] if self.head else list(map(tuple, self.rows))
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        if most is None or sum(width) + 2 * len(width) - 2 <= most:
            return [_justified(row, width) for row in rows]
        least = [
            max(len(word) for c in column for word in c.split() or [""]) for column in zip(*rows, strict=True)
        ]
        for _ in range(sum(width) + 2 * len(width) - 2 - most):
            k = max(range(len(width)), key=lambda k: width[k] if width[k] > least[k] else -1)
            width[k] = max(width[k] - 1, least[k])
        from textwrap import wrap

        broken = [[wrap(c, w) for c, w in zip(row, width, strict=True)] for row in rows]
        return [_justified(part, width) for cells in broken for part in zip_longest(*cells, fillvalue="")]

    def text(self) -> str:
        lines = self.lines()
        return "\n".join([self.title, *(f"  {line}" for line in lines)] if self.title else lines)

    def html(self) -> str:
        most = len(self.rows) if len(self.rows) <= LINES else LINES
        rows = [_row("td", r) for r in self.rows[:most]]
        if most < len(self.rows):
            rows.append(
                f"<tr><td colspan={max(1, len(self.head))}>... {len(self.rows) - most} more</td></tr>"
            )
        caption = f'<caption style="text-align:left">{escape(self.title)}</caption>' if self.title else ""
        head = f"<thead>{_row('th', self.head)}</thead>" if self.head else ""
        return f"<table>{caption}{head}<tbody>{''.join(rows)}</tbody></table>"


def _justified(cells: Sequence[str], width: Sequence[int]) -> str:
    return "  ".join(c.ljust(w) for c, w in zip(cells, width, strict=True)).rstrip()


def _row(cell: str, texts: Sequence[str]) -> str:
    return "<tr>" + "".join(f"<{cell}>{escape(text)}</{cell}>" for text in texts) + "</tr>"


def escape(text: str) -> str:
    """Escaped text for HTML."""
    import html  # 1 ms, of which a terminal has no use

    return html.escape(text)


class ShowsBlocks(Display):
    """Base class of objects that a notebook shows as repr and tables."""

    __slots__ = ()

    def _blocks(self) -> Iterable[Block]:
        raise TypeError(f"{type(self).__name__} does not say what it shows: it needs a method _blocks()")

    def _repr_html_(self) -> str:
        return page(repr(self), *self._blocks())


def page(title: str, *blocks: Block) -> str:
    """A line and tables below it, as HTML. Tables after the first are collapsed."""
    parts = [f"<div><strong>{escape(title)}</strong></div>"]
    for k, block in enumerate(blocks):
        bare = Block("", block.head, block.rows).html()
        parts.append(
            block.html() if not k else f"<details><summary>{escape(block.title)}</summary>{bare}</details>"
        )
    return "".join(parts)


def rows_of(titles: Sequence[str], *parts: Any) -> Block:
    """The first and last rows, and the first columns, of arrays (m,) and (m, k) side by side under their
    titles."""
    m, n = len(parts[0]), len(titles)
    wide = n > COLUMNS + 1
    shown = COLUMNS if wide else n
    chosen = list(range(m)) if m <= ROWS else [*range(ROWS // 2), *range(m - ROWS // 2, m)]
    few = [part[chosen] for part in parts]
    rows = [
        [*map(number, [x for part in few for x in part[k : k + 1].reshape(-1)][:shown]), *["..."] * wide]
        for k in range(len(chosen))
    ]
    if len(chosen) < m:
        rows.insert(ROWS // 2, ["..."] * (shown + wide))
    return Block("", [*titles[:shown], *[f"... {n - shown} more"] * wide], rows)
