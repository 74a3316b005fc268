"""What commands say, in one style: marked lines that break between words, colors and bars where a person looks on.

Pipes, files and tests get whole lines without colors. NO_COLOR takes colors away, FORCE_COLOR gives them to all.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from time import perf_counter
from typing import Self, TextIO

import condyle.native.machine.notice as notice
from condyle.presentation import Block

COLORS = {
    "error": "1;31",
    "FAILED": "1;31",
    "fail": "1;31",
    "warning": "33",
    "CHECK": "1;33",
    "check": "1;33",
    "note": "36",
    "ok": "32",
    "wrote": "32",
    "quality": "1",
    "result": "1",
}
"""Colors of marks and of verdicts, as ANSI numbers."""
MARK = 8
"""Width of a mark, with the space after it."""
BAR = 24


def is_colored(stream: TextIO) -> bool:
    """Whether colors are used."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


def columns(stream: TextIO) -> int | None:
    """Width of lines; None if the output is not a terminal."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def painted(text: str, name: str, stream: TextIO) -> str:
    """Text in the color of a mark."""
    code = COLORS.get(name)
    return f"\x1b[{code}m{text}\x1b[0m" if code and is_colored(stream) else text


def wrapped(text: str, first: str, later: str, width: int | None) -> str:
    """Lines broken between words only, so that paths are not split."""
    if width is None:
        return first + text
    parts = [
        textwrap.fill(
            line,
            max(width, 40),
            initial_indent=first if not k else later,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
        or first
        for k, line in enumerate(text.splitlines() or [""])
    ]
    return "\n".join(parts)


def say(mark: str, text: str = "", stream: TextIO | None = None) -> None:
    """A line with a mark before it: `note`, `CHECK`, `FAILED`, `wrote`; without a mark plain words."""
    stream = stream or sys.stdout
    before = f"  {mark:<{MARK}}" if mark else ""
    out = wrapped(text, before, " " * len(before), columns(stream))
    if mark:
        out = out.replace(mark, painted(mark, mark, stream), 1)
    print(out, file=stream, flush=True)


def complain(kind: str, text: str) -> None:
    """An error or a warning of the command itself: `condyle: error: ...`."""
    before = f"condyle: {kind}: "
    out = wrapped(text, before, "  ", columns(sys.stderr))
    print(out.replace(before, painted(before, kind, sys.stderr), 1), file=sys.stderr, flush=True)


def say_table(block: Block, mark: str = "") -> None:
    """A table, its verdicts colored; cells break between words where the terminal is narrow."""
    stream = sys.stdout
    before = MARK + 2 if mark else 4
    width = columns(stream)
    if block.title:
        print(f"  {block.title}", file=stream)
    for k, line in enumerate(block.lines(None if width is None else max(width - before, 40))):
        lead = f"  {painted(f'{mark:<{MARK}}', mark, stream)}" if mark and not k else " " * before
        verdicts = re.sub(r"(?<=  )(ok|check|fail|note)(?=  |$)", lambda m: painted(m[1], m[1], stream), line)
        print(lead + (verdicts if k else painted(line, "quality", stream)), file=stream)
    stream.flush()


class Bar:
    """A line at the bottom of a terminal, inside a `with`: the progress, and the present step. Elsewhere
    nothing is drawn.

    Args:
        count: number of steps; 0 if unknown.
    """

    def __init__(self, count: int = 0) -> None:
        self.count, self.done, self.begin = count, 0, perf_counter()
        self.on = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._what, self._deaf = "", list[Callable[[], object]]()

    def __enter__(self) -> Self:
        if self.on:  # compilation is shown in the bar, not on a separate line
            self._deaf.append(
                notice.listen(
                    lambda made: self._draw(f"{self._what}: compiling {made}" if made else self._what)
                )
            )
        return self

    def __exit__(self, *_: object) -> None:
        while self._deaf:
            self._deaf.pop()()
        self.clear()

    def show(self, what: str) -> None:
        """Show the present step."""
        self._what = what
        self._draw(what)

    def _draw(self, what: str) -> None:
        if not self.on:
            return
        width = shutil.get_terminal_size().columns
        text = f" {perf_counter() - self.begin:5.1f} s  {what}"
        if self.count:
            full = round(BAR * self.done / self.count)
            text = f"  {'━' * full}{'╌' * (BAR - full)} {self.done}/{self.count}{text}"
        print(f"\r\x1b[2K{text[: width - 1]}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Remove it, before something else is printed."""
        if self.on:
            print("\r\x1b[2K", end="", file=sys.stderr, flush=True)
