"""Writes answers.pyi: the operators as methods of State, and of runs and frames, for editors and type
checkers.

Run `python -m condyle.system.stubs` after changing an operator's record; tests/system/test_state.py compares.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from condyle.model.operators import OPERATORS
from condyle.model.operators.record import OperatorRecord
from condyle.system.operators import METHODS
from condyle.system.operators.public import asked

PATH = Path(__file__).with_name("answers.pyi")

_HEAD = '''"""Operators as methods of one state and of many. Written by stubs.py: change their records."""
from numpy.typing import ArrayLike

from condyle.arrays import Array, Scalar, Vector
from condyle.spatial import Transform
from condyle.table import Table
from condyle.tree.body import Body
'''


def text() -> str:
    """All of answers.pyi."""
    records = [operator for operator in OPERATORS.values() if operator.public and operator.name != "qdot"]
    groups = dict.fromkeys(record.name.rpartition(".")[0] for record in records)
    classes = []
    for many, end in ((False, "OfState"), (True, "OfStates")):
        own = {
            group: [_method(r, many) for r in records if r.name.rpartition(".")[0] == group]
            for group in groups
        }
        flat = own.pop("")
        classes += [[f"class {group.title()}{end}:", *methods] for group, methods in own.items()]
        classes.append([f"class {end}:", *(f"    {g}: {g.title()}{end}" for g in own), *flat])
    return "\n".join([_HEAD, *("\n".join(lines) + "\n" for lines in classes)])


def _method(record: OperatorRecord, many: bool = False) -> str:
    parameters = [
        "self",
        *(
            f"{p.name}: {p.annotation}" + ("" if p.default is p.empty else f" = {p.default!r}")
            for p in asked(record)
        ),
    ]
    answer = (
        "Table"
        if many and record.columns is not None
        else inspect.signature(METHODS[record.name]).return_annotation
    )
    start, end = f"    def {record.name.rpartition('.')[2]}(", f") -> {answer}: ..."
    all_of_them = [*parameters, *["*, t: ArrayLike | None = ..."] * many]
    line = f"{start}{', '.join(all_of_them)}{end}"
    if len(line) <= 110:
        return line
    half = len(all_of_them) - 1
    return f"{start}{', '.join(all_of_them[:half])},\n{' ' * len(start)}{', '.join(all_of_them[half:])}{end}"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
