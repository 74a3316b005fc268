"""A module of LLVM IR: functions, tables, and external declarations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from condyle.errors import NativeError
from condyle.native.ir.builder import Builder
from condyle.native.ir.values import VOID, Lanes
from condyle.native.machine import data, elf, jit, notes
from condyle.native.machine.data import Recipe

_LINE = 64  # bytes of a cache line
_LONG = 4096
"""A table of at least this many bytes becomes an object file of its own: as text, a million bytes take half
a second."""


class Module:
    """An IR module for W lanes.

    Args:
        W: lanes.
        contract: allow fused multiply-add; no other fast-math.
        lines: whether long straight lines become machine code directly, without LLVM.

    Attributes:
        derived: values computed from data when the code is loaded; None in code that is linked to several
            modules, where this is not possible.
    """

    def __init__(self, W: int = 1, contract: bool = True, lines: bool = True) -> None:
        self.lanes, self.contract, self.lines = Lanes(W), contract, lines
        self._parts: list[str] = []
        self._declared: dict[str, str] = {}
        self._defined: dict[str, int] = {}
        self._linked: dict[str, Callable[[], bytes]] = {}
        self._tables: dict[str, np.ndarray] = {}
        self._needed: Recipe = {}
        self.derived: data.DerivedData | None = None
        self._other_lanes: dict[int, Module] = {}

    def with_lanes(self, W: int) -> Module:
        """The part of this module for W lanes. Functions of this module may call its functions."""
        if W not in self._other_lanes:
            self._other_lanes[W] = Module(W, self.contract, self.lines)
            self._other_lanes[W].derived = self.derived
        return self._other_lanes[W]

    def add(self, text: str) -> None:
        """Append a definition."""
        self._parts.append(text)

    @contextmanager
    def function(self, name: str, arguments: Sequence[str], **options: Any) -> Iterator[Builder]:
        """Define the function `@name` with arguments of these types, written inside `with`. For options see
        Builder."""
        builder = Builder(self, name, arguments, **options)
        yield builder
        builder.close()

    def declare(self, name: str, result: str, arguments: Sequence[str]) -> None:
        """Declare an external function; repeated declarations are ignored."""
        self._declared[name] = f"declare {result} @{name}({', '.join(arguments)}) nounwind"

    def table(self, name: str, values: np.ndarray) -> str:
        """Add a constant array, in C order; returns its name, which may differ: long ones are object files
        named by their content. An array of objects holds DataPlaces of data too (machine/data.py).
        """
        if values.dtype == object and any(isinstance(x, data.DataPlace) for x in values.ravel()):
            name = f"{data.TABLE}{name}"
            self._tables[name] = values
            self._declared[name] = f"@{name} = external constant [{values.size} x double], align {_LINE}"
            return name
        values = values.astype(float) if values.dtype == object else values
        held = np.ascontiguousarray(values).tobytes()
        if len(held) >= _LONG and (machine := jit.elf_machine()):
            name = f"data.{hashlib.sha256(held).hexdigest()[:32]}"
            self._declared[name] = f"@{name} = external constant [{len(held)} x i8], align {_LINE}"
            self._linked[name] = lambda: elf.data_object(machine, name, held, _LINE)
            return name
        text = "\\" + held.hex("\\") if held else ""
        self.add(f'@{name} = private constant [{len(held)} x i8] c"{text}", align {_LINE}')
        return name

    def variable(self, name: str, size: int) -> str:
        """Memory of `size` bytes that begins as zero; returns its name."""
        self.add(f"@{name} = internal global [{size} x i8] zeroinitializer, align {_LINE}")
        return name

    def note(self) -> str:
        """Declare the word of notes.py; returns its name."""
        self._declared[notes.SYMBOL] = f"@{notes.SYMBOL} = external global i64"
        return notes.SYMBOL

    def data(self) -> str:
        """Declare the numbers outside of the code (machine/data.py); returns their name."""
        self._declared[data.SYMBOL] = f"@{data.SYMBOL} = external constant [0 x double], align 8"
        return data.SYMBOL

    def define(self, name: str, write: Callable[[str], int | None]) -> str:
        """Call write(name) to add a definition, once in this module; returns the name. `work` gives its
        return value.
        """
        if name not in self._defined:
            self._defined[name] = write(name) or 0
        return name

    def work(self, name: str) -> int:
        """Blocks of W doubles that the `work` argument of a definition must hold."""
        return self._defined[name]

    def link(self, name: str, arguments: Sequence[str], make: Callable[[], bytes]) -> None:
        """Use a function without a result that another object file defines; make() gives that file."""
        if name in self._linked:
            raise NativeError(f"two functions named {name!r} are linked: give them names of their own")
        self.declare(name, VOID, arguments)
        self._linked[name] = make

    def attach(self, name: str, make: Callable[[], bytes]) -> None:
        """The same for a function that only linked ones call."""
        self._linked[name] = make

    def objects(self) -> list[bytes]:
        """The object files that this module needs besides its own."""
        return [make() for make in self._all("_linked").values()]

    def need(self, needs: Recipe) -> None:
        """Add the data that a linked function needs."""
        self._needed |= needs

    @property
    def needs(self) -> Recipe:
        """The data that a loader must prepare for this code."""
        return data.recipe(self._all("_tables"), self.derived) | self._all("_needed")

    def compile(self) -> bytes:
        """Machine code, including all linked object files."""
        return jit.join([jit.compile_ir(self.text()), *self.objects()])

    def include(self, other: Module) -> None:
        """Include the contents of another module, perhaps for other lanes; names must differ."""
        self._parts += other._parts
        self._declared.update(other._declared)
        self._linked.update(other._linked)
        self._tables.update(other._tables)
        self._needed.update(other._needed)

    def text(self) -> str:
        parts = dict.fromkeys(part for each in (self, *self._other_lanes.values()) for part in each._parts)
        return "\n".join([*parts, *self._all("_declared").values()])

    def _all(self, what: str) -> dict[str, Any]:
        """All declarations or links of this module and of its parts for other lanes."""
        return {
            name: x for each in (self, *self._other_lanes.values()) for name, x in getattr(each, what).items()
        }
