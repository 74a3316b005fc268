"""Writes answers.pyi: the operators as methods of State, and of runs and frames, for editors and type checkers.

`python -m condyle.system.stubs` after an operator's record has changed; tests/system/test_state.py compares.
"""
from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from condyle.system.operators import Operations, asked

PATH = Path(__file__).with_name("answers.pyi")

_HEAD = '''"""Operators as methods of one state and of many. Written by stubs.py: change the operators' records."""
from typing import Any

from condyle.spatial import Transform
from condyle.system.operators import Array
from condyle.table import Table
from condyle.tree.body import Body
'''


def text() -> str:
    """All of answers.pyi."""
    records = {name: method for name, method in vars(Operations).items() if hasattr(method, "arrays") and name != "qdot"}
    one = ["class OfState:", *(_method(name, record) for name, record in records.items())]
    many = ["class OfStates:", *(_method(name, record, many=True) for name, record in records.items())]
    return "\n".join([_HEAD, "\n".join(one) + "\n", "\n".join(many) + "\n"])


def _method(name: str, record: Any, many: bool = False) -> str:
    parameters = ["self", *(f"{p.name}: {p.annotation}" + ("" if p.default is p.empty else f" = {p.default!r}")
                            for p in asked(record))]
    answer = "Table" if many and record.gives is not None else inspect.signature(record).return_annotation
    start, end = f"    def {name}(", f") -> {answer}: ..."
    all_of_them = [*parameters, *["*, t: Any = ..."] * many]
    line = f"{start}{', '.join(all_of_them)}{end}"
    if len(line) <= 110:
        return line
    return f"{start}{', '.join(all_of_them[:3])},\n{' ' * len(start)}{', '.join(all_of_them[3:])}{end}"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
