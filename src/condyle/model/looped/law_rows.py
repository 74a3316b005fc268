"""Many laws of one kind as rows of a table: one kernel for all of them, with links to the rows of the
bodies that they act on.

A law is `tabular` if its equations depend only on poses and velocities of its bodies. Its fields then become
the columns of a table, its bodies become links, and its `apply` is traced once with symbols for these. Fields
of its parts (surfaces of a contact) are named PART/FIELD.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.dynamics.inertia import shift_motion
from condyle.dynamics.kinematics import Pair
from condyle.forces.base import Law
from condyle.laws.described import Datum, Described, Role
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.model.looped.draft import KernelDraft
    from condyle.model.model import Model

FEWEST = 8
"""Minimum number of laws of one kind for a table: fewer are as fast in straight-line code."""
OPERATIONS = 120
"""Approximate operations of one such law in straight-line code."""

cross = ca.cross


def entries(law: Described, within: str = "") -> Iterator[tuple[str, Role, Any]]:
    """Name, role and value of each field, including those of its parts."""
    for name, role in law.roles():
        value = getattr(law, name)
        if role.kind == "part":
            yield from entries(value, f"{within}{name}/")
        else:
            yield within + name, role, value


def at(law: Described, name: str) -> Any:
    """A field by its name; PART/FIELD for a field of a part."""
    return attrgetter(name.replace("/", "."))(law)


def numbers_of(law: Law) -> dict[str, tuple[tuple[int, ...], list[float]]] | None:
    """Shape and numbers of each field, column by column; None if some are not plain numbers."""
    out: dict[str, tuple[tuple[int, ...], list[float]]] = {}
    for name, role, value in entries(law):
        if role.kind == "frame":
            parts = (
                {f"{name}.R": value[0], f"{name}.p": value[1]}
                if isinstance(value, tuple)
                else {f"{name}.R": value.R, f"{name}.p": value.p}
            )
        elif role.kind == "quantity":
            parts = {name: value}
        else:
            continue
        for part, x in parts.items():
            if not isinstance(x, (float, tuple, np.ndarray)):
                return None
            array = np.asarray(x, dtype=float)
            out[part] = array.shape, np.ravel(array, order="F").tolist()
    return out


@dataclass(frozen=True, eq=False)
class LawKind:
    """Laws of one class, with plain numbers only.

    Attributes:
        law: one of them.
        members: the laws, with their places among the forces.
        turned: links that lead to some body whose frame M is rotated relative to its body frame.
    """

    law: Law
    members: tuple[tuple[int, Law], ...]
    turned: frozenset[str]

    @cached_property
    def links(self) -> tuple[str, ...]:
        """Fields that name bodies."""
        return tuple(name for name, role, _ in entries(self.law) if role.kind == "body")

    def columns(self, model: Model) -> dict[str, np.ndarray]:
        """Numbers of the laws and of the frames M of their bodies, by name, shape (members, size)."""
        each = [numbers_of(law) or {} for _, law in self.members]
        out = {name: np.array([numbers[name][1] for numbers in each]) for name in each[0]}
        for link in self.links:
            frames = [frame_of(model, at(law, link)) for _, law in self.members]
            out[f"{link}.p_MB"] = np.array([p for _, p in frames])
            if link in self.turned:
                out[f"{link}.R_MB"] = np.array([np.ravel(R, order="F") for R, _ in frames])
        return out

    def rows(self, model: Model, link: str) -> np.ndarray:
        """The row of the body that each law names."""
        return np.array([model.tree.body(at(law, link)).index + 1 for _, law in self.members])

    def loads(self, d: KernelDraft, column: Mapping[str, SX]) -> dict[str, Pair]:
        """Loads of a law on its bodies, by link."""
        twin, view = self.twin(column), RowView(d, column, self.law)
        loads = RowLoads(view)
        twin.apply(view, loads)  # type: ignore[arg-type]
        on = d.read("on", 1)
        return {link: (ca.if_else(on, n, 0), ca.if_else(on, f, 0)) for link, (n, f) in loads.bodies.items()}

    def rates(self, d: KernelDraft, column: Mapping[str, SX]) -> SX:
        """Rates of a law's auxiliary states."""
        found = self.twin(column).rates(RowView(d, column, self.law))  # type: ignore[arg-type]
        return ca.if_else(d.read("on", 1), ca.vertcat(*found), 0)

    def twin(self, column: Mapping[str, SX]) -> Law:
        """The law with symbols in place of its numbers and links in place of its bodies."""
        shapes = numbers_of(self.law) or {}
        data = {name: Datum(_shaped(column[name], shape)) for name, (shape, _) in shapes.items()}
        return _twin(self.law, data, "")


def changed(thing: Any, changes: Mapping[str, Any]) -> Any:
    """A copy of a record with some fields changed, without checks."""
    twin = object.__new__(type(thing))
    for f in fields(thing):
        object.__setattr__(twin, f.name, changes.get(f.name, getattr(thing, f.name)))
    return twin


def _twin(law: Any, data: Mapping[str, Datum], within: str) -> Any:
    """A law or a part of it with data in place of numbers, and links in place of bodies."""
    changes: dict[str, Any] = {}
    for field, role in law.roles():
        name = within + field
        if role.kind == "part":
            changes[field] = _twin(getattr(law, field), data, f"{name}/")
        elif role.kind == "frame":
            changes[field] = data.get(f"{name}.R"), data.get(f"{name}.p")
        elif role.kind != "folded":
            changes[field] = name if role.kind == "body" else data.get(name)
    return changed(law, changes)


def _shaped(column: SX, shape: tuple[int, ...]) -> SX:
    return ca.reshape(column, *shape) if len(shape) == 2 else column


def frame_of(model: Model, body: str) -> tuple[np.ndarray, np.ndarray]:
    """R_MB and p_MB of a body; the identity for ground."""
    B = model.tree.body(body).index
    if B < 0:
        return np.eye(3), np.zeros(3)
    return np.array(model.row(B, "R_MB")).reshape(3, 3, order="F"), np.array(model.row(B, "p_MB"))


def law_kinds(model: Model) -> list[LawKind]:
    """Kinds that become tables; all other laws remain a straight line."""
    varying = {b.name for b in model.tree.bodies if model.varies(b.name, "R_MB", "p_MB")}
    found: dict[Hashable, list[tuple[int, Law]]] = {}
    for i, law in enumerate(model.forces.values()):
        if (
            isinstance(law, Law)
            and law.tabular
            and numbers_of(law) is not None
            and not varying & {value for _, role, value in entries(law) if role.kind == "body"}
        ):
            key = type(law), tuple(name for name, _ in law.states), law.form
            found.setdefault(key, []).append((i, law))
    out = []
    for members in found.values():
        if len(members) >= FEWEST:
            kind = LawKind(members[0][1], tuple(members), frozenset())
            turned = {
                link
                for link in kind.links
                for _, law in members
                if not np.array_equal(frame_of(model, at(law, link))[0], np.eye(3))
            }
            out.append(LawKind(kind.law, kind.members, frozenset(turned)))
    return out


class PoseView:
    """Poses of bodies for an element in a table (laws.view.View): bodies are given by links, stations in
    their frames M."""

    smooth = False

    def __init__(self, d: KernelDraft) -> None:
        self.d, self.known = d, dict[str, ca.SX]()

    def rotation(self, link: str) -> SX:
        return self.d.row(link).R

    def from_M(self, link: str, p: Any) -> SX:
        return self.d.row(link).R @ ca.SX(p)

    def station_position(self, link: str, p: Any) -> SX:
        return self.d.row(link).p + self.from_M(link, p)


class RowView(PoseView):
    """The state for a law in a table: stations are in the bodies' frames; only the law's own auxiliary
    states are available."""

    def __init__(self, d: KernelDraft, column: Mapping[str, SX], law: Law) -> None:
        super().__init__(d)
        self.column, self.names = column, [name for name, _ in law.states]

    def state_variable(self, k: int) -> SX:
        return self.d.read("own_z", len(self.names))[k]

    def state_named(self, name: str) -> SX:
        return self.state_variable(self.names.index(name))

    def _R_MB(self, link: str) -> SX:
        name = f"{link}.R_MB"
        return ca.reshape(self.column[name], 3, 3) if name in self.column else ca.SX.eye(3)

    def rotation(self, link: str) -> SX:
        return self.d.row(link).R @ self._R_MB(link)

    def from_M(self, link: str, p: Any) -> SX:
        return super().from_M(link, self.column[f"{link}.p_MB"] + self._R_MB(link) @ ca.SX(p))

    def station_velocity(self, link: str, p: Any) -> SX:
        return shift_motion(self.d.row(link).V, self.from_M(link, p))[1]

    def angular_velocity(self, link: str) -> SX:
        return self.d.row(link).V[0]


class RowLoads:
    """Collects the law's loads: moments about M's origin and forces, by link."""

    def __init__(self, view: PoseView) -> None:
        self.view = view
        self.bodies: dict[str, Pair] = {}

    def _add(self, link: str, n: SX, f: SX) -> None:
        now = self.bodies.get(link, (ca.SX(3, 1), ca.SX(3, 1)))
        self.bodies[link] = now[0] + n, now[1] + f

    def add_force(self, link: str, p: Any, force: SX) -> None:
        self._add(link, cross(self.view.from_M(link, p), force), force)

    def add_torque(self, link: str, torque: SX) -> None:
        self._add(link, torque, ca.SX(3, 1))
