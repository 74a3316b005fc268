"""Tells the documentation that the decorator of condyle.records is that of `dataclasses`: pages show the
arguments of these classes."""

from __future__ import annotations

from typing import Any

import griffe


class Dataclasses(griffe.Extension):
    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        for decorator in cls.decorators:
            value = decorator.value
            name = value.function if isinstance(value, griffe.ExprCall) else value
            if (
                isinstance(name, griffe.ExprName)
                and name.canonical_path == "condyle.records.dataclass"
            ):
                name.name, name.parent = "dataclasses.dataclass", None
                cls.labels.add("dataclass")
