"""Draft: one kernel being written. Symbols stand for the fields of a row that it reads; what it writes are
expressions, packed into columns."""

from __future__ import annotations

from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.dynamics.kinematics import BodyKinematics, step
from condyle.mobilizers import Mobilizer, sines_first
from condyle.records import dataclass
from condyle.tree.layout import LOWER, BodyConstants

if TYPE_CHECKING:
    from condyle.model.looped.tables import Looped

Structure = Any
"""An SX, or nested tuples and lists of them."""

PAIR = (ca.SX.ones(3, 1), ca.SX.ones(3, 1))
INERTIA = (ca.SX.ones(ca.Sparsity.lower(3)), ca.SX.ones(3, 3), ca.SX.ones(ca.Sparsity.lower(3)))
COMMON: dict[str, Structure] = {
    "R": ca.SX.ones(3, 3),
    "p": ca.SX.ones(3, 1),
    "w": ca.SX.ones(3, 1),
    "V": PAIR,
    "A": PAIR,
    "P": INERTIA,
    "z": PAIR,
    "F": PAIR,
    "X": PAIR,
    "z_f": PAIR,
    "Y": PAIR,
    "A_bar": PAIR,
    "w_bar": ca.SX.ones(3, 1),
    "v_bar": ca.SX.ones(3, 1),
    "T": PAIR,
}
"""Fields that other rows may read, dense: pose and velocity of M, acceleration, articulated or composite
inertia, bias force, force of the mobilizer, motion under some speeds; then what gradient.py needs."""

SIZES = dict(zip((f.name for f in fields(BodyConstants)), (9, 3, 9, 3, 1, 3, 7), strict=True))
"""How many numbers each constant of a body has; an inertia that depends on Parameters has len(LOWER)."""


def flat(structure: Structure) -> list[ca.SX]:
    return [structure] if isinstance(structure, ca.SX) else [x for part in structure for x in flat(part)]


def packed(structure: Structure) -> ca.SX:
    """All nonzeros of a structure as one column."""
    return ca.vertcat(ca.SX(0, 1), *(ca.vec(x.nz[:]) for x in flat(structure)))


def unpacked(structure: Structure, column: ca.SX) -> Structure:
    """A structure like the given one, with these nonzeros."""
    start = 0

    def build(part: Structure) -> Structure:
        nonlocal start
        if isinstance(part, ca.SX):
            start += part.nnz()
            return ca.SX(part.sparsity(), column[start - part.nnz() : start])
        return type(part)(build(x) for x in part)

    return build(structure)


def _packed_common(name: str, value: Structure) -> ca.SX:
    if name == "P":
        value = ca.tril(value[0]), value[1], ca.tril(value[2])
    return packed(
        [ca.project(x, like.sparsity()) for x, like in zip(flat(value), flat(COMMON[name]), strict=True)]
    )


@dataclass(eq=False)
class Kind:
    """A type of row, and the structure of what its kernels keep for each other.

    `numbers` are the symbols that stand in its mobilizer for numbers of the rows, by the name of their table.
    """

    mobilizer: Mobilizer | None
    varying: tuple[str, ...] = ()
    driven: bool = False
    numbers: dict[str, ca.SX] = field(default_factory=dict)
    kept: dict[str, Structure] = field(default_factory=dict)


class Draft:
    """One kernel being written: symbols for what it reads, expressions of what it writes."""

    def __init__(self, looped: Looped, kind: Kind) -> None:
        self.looped, self.kind = looped, kind
        self.reads: dict[str, ca.SX] = {**looped.outside, **kind.numbers}
        self.writes: dict[str, ca.SX] = {}

    def read(self, place: str, size: int) -> ca.SX:
        if place not in self.reads:
            self.reads[place] = ca.SX.sym(place, size)
        return self.reads[place]

    def get(self, where: str, name: str) -> Any:
        """A common field of me, the parent or the root."""
        value = unpacked(COMMON[name], self.read(f"{where}.{name}", packed(COMMON[name]).numel()))
        return (ca.tril2symm(value[0]), value[1], ca.tril2symm(value[2])) if name == "P" else value

    def put(self, where: str, name: str, value: Structure) -> None:
        self.writes[f"{where}.{name}"] = _packed_common(name, value)

    def keep(self, name: str, value: Structure) -> None:
        """Leave something for a later kernel of the same row; structural zeros stay so."""
        self.kind.kept[name] = value
        self.writes[f"me.{name}"] = packed(value)

    def kept(self, name: str) -> Any:
        like = self.kind.kept[name]
        return unpacked(like, self.read(f"me.{name}", packed(like).numel()))

    # ---- the arguments of operators, and the constants of a body

    @property
    def q(self) -> ca.SX:
        return self.read("q", self.mobilizer.nq)

    @property
    def t(self) -> ca.SX:
        return self.read("t", 1)

    @property
    def number(self) -> ca.SX:
        """1 + the body's first speed."""
        return self.read("constant.number", 1)

    @property
    def status(self) -> ca.SX:
        """What the operator reports so far, in row 0."""
        return self.read("root.status", 1)

    @status.setter
    def status(self, value: ca.SX) -> None:
        self.writes["root.status"] = value

    @property
    def gravity(self) -> ca.SX:
        return self.read("enabled", 1) * self.looped.model.gravity.g

    def of_speeds(self, name: str) -> list[ca.SX]:
        """The entries of u, tau, udot, f, lock or held for the speeds of this body."""
        n = self.mobilizer.nu
        return ca.vertsplit(self.read(name, n)) if n else []

    def add(self, name: str, values: ca.SX) -> None:
        """Add to a sum over all bodies, which is in row 0."""
        self.writes[f"root.{name}"] = self.read(f"root.{name}", values.numel()) + ca.densify(values)

    @property
    def mobilizer(self) -> Mobilizer:
        assert self.kind.mobilizer is not None
        return self.kind.mobilizer

    @cached_property
    def body(self) -> BodyConstants:
        return BodyConstants(*(self._constant(f.name) for f in fields(BodyConstants)))

    def _constant(self, name: str) -> Any:
        if name in self.kind.varying:  # the body's own part of the table of Parameters
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
        """The recursion of kinematics.py for this body, its results left for others. Without `linear`, which
        is only for bodies that move, velocities have their angular part alone."""
        u = ca.vertcat(*self.of_speeds("u")) if moving else ca.SX(self.mobilizer.nu, 1)
        p_GP = self.get("parent", "p") if positions else ca.SX(3, 1)
        split = sines_first(self.mobilizer) if "sines" in self.kind.kept else None
        moved = None if split is None else split[1](self.t, self.q, u, self.kept("sines"))
        V_GP = None
        if moving:
            V_GP = self.get("parent", "V") if linear else (self.get("parent", "w"), ca.SX(3, 1))
        new = step(self.mobilizer, self.body, self.get("parent", "R"), p_GP, V_GP, self.t, self.q, u, moved)
        self.put("me", "R", new.R_GM)
        if positions:
            self.put("me", "p", new.p_GM)
        self.keep("r", new.p_PM)
        self.keep("H", new.H)
        if moving:
            if linear:
                self.put("me", "V", new.V_GM)
            else:
                self.put("me", "w", new.V_GM[0])
                new.V_GM = new.V_GM[0], None
            self.keep("c", new.c)
        return new
