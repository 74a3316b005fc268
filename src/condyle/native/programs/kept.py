"""Programs that are made once: with the objects that use them, and on disk."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from condyle.native.machine import cache, notice
from condyle.native.programs.program import Program

Made = tuple[Program, dict[str, np.ndarray]]
"""A program and the tables that its runs need."""


def kept(key: str, make: Callable[[], Made]) -> Made:
    """The program of a key from the disk cache, or made and stored there. The key is text that determines
    it."""

    def load(code: bytes, facts: dict[str, Any]) -> Made:
        program = Program.unpack(code, facts["layout"])
        program.load()  # now, while it can still be made anew
        return program, {name: np.array(rows) for name, rows in facts["tables"].items()}

    if (found := cache.loaded(key, load)) is not None:
        return found
    with notice.compiling("the loop of steps"):
        program, tables = make()
        code, layout = program.pack()
    cache.store(
        key, code, {"layout": layout, "tables": {name: table.tolist() for name, table in tables.items()}}
    )
    return program, tables
