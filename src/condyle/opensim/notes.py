"""What was not understood in a file, and what follows from that."""

from __future__ import annotations

from collections.abc import Sequence

from condyle.errors import warn
from condyle.records import dataclass


@dataclass(frozen=True)
class Note:
    """Something in a file that a System does not have, or has otherwise.

    Attributes:
        file: name of the file.
        line: where it is.
        element: class and name there, such as "Probe 'work'".
        effect: what follows for the System.
    """

    file: str
    line: int
    element: str
    effect: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.element}: {self.effect}"


SHOWN = 12


def listed(notes: Sequence[Note]) -> str:
    """Notes for reading, one per line; equal effects once, with the first place and how many there are."""
    alike: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        alike.setdefault((note.element.partition(" ")[0], note.effect), []).append(note)
    lines = [str(group[0]) + (f" ({len(group)} times)" if len(group) > 1 else "") for group in alike.values()]
    more = [f"... and {len(lines) - SHOWN} more in system.notes"] if len(lines) > SHOWN else []
    return "\n".join(lines[:SHOWN] + more)


def warn_of(notes: Sequence[Note], file: str) -> None:
    """One warning for all notes of a file."""
    if notes:
        warn(f"{file}: what to know of this file (system.notes has all):\n{listed(notes)}")
