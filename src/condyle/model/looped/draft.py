"""Draft: one kernel being written. Symbols stand for the fields of rows that it reads; it writes
expressions, packed into columns. StraightLine: the same for code between two passes, for all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.kinematics import BodyKinematics, Kinematics, step
from condyle.dynamics.row import BodyFields, RowField, RowFields
from condyle.dynamics.view import TreeLoads
from condyle.mobilizers import Mobilizer, sines_first
from condyle.model.symbols import Symbols
from condyle.native.loops.sweep import RowKernel
from condyle.records import dataclass
from condyle.tree.body_constants import LOWER, BodyConstants

if TYPE_CHECKING:
    from condyle.model.looped.tables import Looped

Structure = Any
"""An SX, or nested tuples and lists of them."""

SIZES = dict(zip((f.name for f in fields(BodyConstants)), (9, 3, 9, 3, 1, 3, 7), strict=True))
"""Size of each constant of a body; an inertia that depends on Parameters has len(LOWER)."""


def flat(structure: Structure) -> list[SX]:
    return [structure] if isinstance(structure, ca.SX) else [x for part in structure for x in flat(part)]


def packed(structure: Structure) -> SX:
    """All nonzeros of a structure as one column."""
    return ca.vertcat(ca.SX(0, 1), *(ca.vec(x.nz[:]) for x in flat(structure)))


def unpacked(structure: Structure, column: SX) -> Structure:
    """A structure like the given one, with these nonzeros."""
    start = 0

    def build(part: Structure) -> Structure:
        nonlocal start
        if isinstance(part, ca.SX):
            start += part.nnz()
            return ca.SX(part.sparsity(), column[start - part.nnz() : start])
        return type(part)(build(x) for x in part)

    return build(structure)


def dense(structure: Structure) -> Structure:
    return ca.densify(structure) if isinstance(structure, ca.SX) else type(structure)(map(dense, structure))


def _size(structure: Structure) -> int:
    return sum(x.nnz() for x in flat(structure))


def _loaded(field: RowField[Any], like: Structure, column: SX) -> Any:
    """The value of a field with this structure, from its nonzeros."""
    value = unpacked(like, column)
    return (ca.tril2symm(value[0]), value[1], ca.tril2symm(value[2])) if field.lower else value


def _saved(field: RowField[Any], like: Structure, value: Structure) -> SX:
    """The nonzeros of a field with this structure."""
    if field.lower:
        value = ca.tril(value[0]), value[1], ca.tril(value[2])
    return packed([ca.project(x, y.sparsity()) for x, y in zip(flat(value), flat(like), strict=True)])


@dataclass(eq=False)
class RowKind:
    """A type of row, and the structure of its fields.

    `numbers` are the symbols in its mobilizer for numbers of the rows, by the name of their table.
    """

    mobilizer: Mobilizer | None
    varying: tuple[str, ...] = ()
    driven: bool = False
    numbers: dict[str, ca.SX] = field(default_factory=dict)
    kept: dict[str, Structure] = field(default_factory=dict)


class KernelDraft:
    """One kernel being written: symbols for its inputs, expressions that it writes, and expressions that it
    adds to fields.
    """

    def __init__(self, looped: Looped, kind: RowKind | None = None) -> None:
        self.looped, self.kind = looped, RowKind(None) if kind is None else kind
        self.reads: dict[str, ca.SX] = {**looped.outside, **self.kind.numbers}
        self.writes: dict[str, ca.SX] = {}
        self.adds: dict[str, ca.SX] = {}
        self.root = BodyFields(self, "root")

    def finished(self) -> RowKernel:
        return RowKernel(self.reads, self.writes, self.adds)

    def read(self, place: str, size: int) -> SX:
        """A window of an argument, or a constant: "constant.NAME"."""
        if place not in self.reads:
            self.reads[place] = ca.SX.sym(place, size)
        return self.reads[place]

    def row(self, link: str) -> BodyFields:
        """The body that a link leads to."""
        return BodyFields(self, link)

    def like(self, field: RowField[Any]) -> Structure:
        """The structure of a field."""
        like = self.kind.kept[field.name] if field.like is None else field.like
        return like(self) if callable(like) else like

    def load(self, where: str, field: RowField[Any]) -> Any:
        like = self.like(field)
        return _loaded(field, like, self.read(f"{where}.{field.key(self)}", _size(like)))

    def save(self, where: str, field: RowField[Any], value: Structure) -> None:
        """Save a field for other kernels. Structural zeros are kept if only kernels of this row read it."""
        if field.like is None:
            self.kind.kept[field.name] = value
        place = f"{where}.{field.key(self)}"
        self.writes[place] = packed(value) if field.like is None else _saved(field, self.like(field), value)

    def add(self, row: RowFields, field: Any, value: Structure) -> None:
        """Add to a field of a row."""
        self.adds[f"{row.where}.{field.key(self)}"] = ca.densify(packed(dense(value)))


class Draft(KernelDraft):
    """The kernel of a type of body, being written."""

    def __init__(self, looped: Looped, kind: RowKind) -> None:
        super().__init__(looped, kind)
        self.me, self.parent = BodyFields(self, "me"), BodyFields(self, "parent")

    # ---- the arguments of operators, and the constants of a body

    @property
    def q(self) -> SX:
        return self.read("q", self.mobilizer.nq)

    @property
    def t(self) -> SX:
        return self.read("t", 1)

    @property
    def number(self) -> SX:
        """1 + the body's first speed."""
        return self.read("constant.number", 1)

    @property
    def gravity(self) -> SX:
        return self.read("enabled", 1) * self.looped.model.gravity.g

    def of_speeds(self, name: str) -> list[SX]:
        """The entries of u, tau, udot, f, lock or held for the speeds of this body."""
        n = self.mobilizer.nu
        return ca.vertsplit(self.read(name, n)) if n else []

    @property
    def mobilizer(self) -> Mobilizer:
        assert self.kind.mobilizer is not None
        return self.kind.mobilizer

    @cached_property
    def body(self) -> BodyConstants:
        return BodyConstants(*(self._constant(f.name) for f in fields(BodyConstants)))

    def _constant(self, name: str) -> Any:
        if name in self.kind.varying:  # the body's part of the table of Parameters
            sizes = {other: len(LOWER) if other == "I" else SIZES[other] for other in self.kind.varying}
            parts = ca.vertsplit(
                self.read("table", sum(sizes.values())), np.cumsum([0, *sizes.values()]).tolist()
            )
            values = parts[self.kind.varying.index(name)]
            if name == "I":
                return ca.tril2symm(ca.SX(ca.Sparsity.lower(3), values))
        else:
            values = self.read(f"constant.{name}", SIZES[name])
            if name == "I":
                return values[0], values[1:4], values[4:7]
        return ca.reshape(values, 3, 3) if SIZES[name] == 9 else values

    def kinematics(self, moving: bool, positions: bool = False, linear: bool = True) -> BodyKinematics:
        """The recursion of kinematics.py for this body, saved in fields. Without `linear`, for moving bodies
        only, velocities have only their angular part.
        """
        u = ca.vertcat(*self.of_speeds("u")) if moving else ca.SX(self.mobilizer.nu, 1)
        p_GP = self.parent.p if positions else ca.SX(3, 1)
        split = sines_first(self.mobilizer) if "sines" in self.kind.kept else None
        moved = None if split is None else split[1](self.t, self.q, u, self.me.sines)
        V_GP = None
        if moving:
            V_GP = self.parent.V if linear else (self.parent.w, ca.SX(3, 1))
        new = step(self.mobilizer, self.body, self.parent.R, p_GP, V_GP, self.t, self.q, u, moved)
        self.me.R = new.R_GM
        if positions:
            self.me.p = new.p_GM
        self.me.r = new.p_PM
        self.me.H = new.H
        if moving:
            if linear:
                self.me.V = new.V_GM
            else:
                self.me.w = new.V_GM[0]
                new.V_GM = new.V_GM[0], None
            self.me.c = new.c
        return new


class OnDemand(dict[int, Any]):
    """Values of bodies, or speeds, created on first use."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: int) -> Any:
        self[key] = value = self._make(key)
        return value


class StraightLine:
    """Straight-line code between passes over the fields of rows, with symbols created on demand for force
    laws. Rows are identified by numbers: 0 is ground, B + 1 is body B.
    """

    def __init__(self, looped: Looped) -> None:
        self.looped, model = looped, looped.model
        self.symbols = Symbols(model)
        names = [name for name, _ in looped.arguments if name in self.symbols.arguments]
        self.reads: dict[Any, ca.SX] = {
            name: self.symbols[name] for name in names if self.symbols[name].numel()
        }
        self.writes: dict[Any, ca.SX] = {}
        self.owner = {
            k: (b.index, k - b.u.start) for b in model.tree.owners for k in range(b.u.start, b.u.stop)
        }
        ask = lambda name: OnDemand(lambda B: getattr(self.body(B), name))
        self.kin = Kinematics(
            model.placed, R_GM=ask("R"), p_GM=ask("p"), p_PM=ask("r"), V_GM=ask("V"), H=ask("H")
        )

    def body(self, B: int) -> BodyFields:
        """Fields of body B; -1 is ground."""
        return BodyFields(self, B + 1)

    def _like(self, row: int, field: RowField[Any]) -> Structure:
        if field.like is not None:
            return field.like
        return self.looped.kinds[self.looped.types[row]].kept[field.name]

    def load(self, row: int, field: RowField[Any]) -> Any:
        like, place = self._like(row, field), (row, field.name)
        if place not in self.reads:
            self.reads[place] = ca.SX.sym(f"{field.name}{row - 1}", _size(like))
        return _loaded(field, like, self.reads[place])

    def save(self, row: int, field: RowField[Any], value: Structure) -> None:
        self.writes[row, field.name] = _saved(field, self._like(row, field), value)

    def laws(self) -> Iterator[Any]:
        """Enabled flag and law of each force, with the view that shows it its state variables."""
        view = self.symbols.view(self.kin)
        for enabled, force in self.symbols.laws(view):
            yield enabled, force, view

    def loads(self, gravity: bool = True, without: Collection[int] = ()) -> TreeLoads:
        """Loads of all forces except those `without`, given by index; with `gravity`, the correction for
        excluded bodies."""
        loads = TreeLoads(self.symbols.view(self.kin))
        for i, (enabled, force) in enumerate(self.symbols.laws(loads.view)):
            if i not in without and (i or gravity):
                loads.enabled = enabled
                force.apply(loads.view, loads)
        return loads

    def write(self, **results: SX) -> None:
        """Add the step that writes the fields, and these results of the operator."""
        writes, self.writes = self.writes, {}
        self.looped.line(self.reads, writes | results)
