"""Copies: a description that is frozen and compiled, copied with other parts, pickled."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Self

from condyle.arrays import Vector
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError
from condyle.forces.base import Force, check_states
from condyle.system.attachments import Attachments
from condyle.system.compiled import Compiled
from condyle.system.locks import known
from condyle.tree.attached import Geometry
from condyle.tree.check import check_inertia


class Copies(Attachments):
    """How a System is frozen at its first use, and how others are made of it."""

    def _freeze(self, why: str) -> Compiled:
        """From here on nothing changes: check what only the whole can show, and give it what is compiled from
        it."""
        if self._compiled is None:
            for law in self._laws():
                law.check(self._tree)
            self._check_recorded("measure", self._measures)
            self._check_recorded("discrete variable", self.discrete)
            check_states(self._moving, [name for name, m in self._measures.items() if m.history])
            if self._tree.checked < len(self._tree.bodies):
                check_inertia(self._tree)
                self._tree.checked = len(self._tree.bodies)
            self._compiled = Compiled(self._tree, self._moving, self._constraints, self._off)
            self._frozen = f"{why} at {_user_line()}"
        return self._compiled

    @property
    def compiled(self) -> Compiled:
        """What is compiled from it: model, kernels, programs; freezes it."""
        return self._compiled or self._freeze("compiling")

    def copy(
        self,
        *,
        bodies: Mapping[str, Mapping[str, Any]] | None = None,
        forces: Mapping[str, Force | None] | None = None,
        constraints: Mapping[str, Constraint | None] | None = None,
        markers: Mapping[str, Vector | None] | None = None,
        geometry: Mapping[str, Geometry | None] | None = None,
    ) -> Self:
        """The same description, free to change; in it some parts may be others.

        Args:
            bodies: by name, arguments of `add_body` that change: mobilizer (with the same coordinates), X_PF,
                X_BM, mass, com, inertia.
            forces: others in place of those of that name; None leaves one out.
            constraints: likewise.
            markers: other stations [m], shape (3,); None leaves one out.
            geometry: likewise, as `system.geometry` has them.

        Raises:
            UnknownNameError: a name that the system does not have.
            DescriptionError: a part that cannot be.
        """
        other = self._copied()
        if bodies:
            other._tree = self._tree.replaced(bodies)
        parts: Any = (
            (other._forces, forces, "force", Force),
            (other._constraints, constraints, "constraint", Constraint),
        )
        for room, given, kind, wanted in parts:
            for name, law in (given or {}).items():
                known(kind, (name,), room)
                if law is None:
                    if name == "gravity":
                        raise DescriptionError("gravity stays; cd.forces.Gravity((0, 0, 0)) is none")
                    del room[name]
                    other._off -= {name}
                    continue
                if not isinstance(law, wanted):
                    raise DescriptionError(f"copy: {kind} {name!r}: expected a {kind}, got {law!r}")
                law = law.named(name)
                law.check(other._tree)
                other._tree.register(law.parameters())
                room[name] = law
        for name, station in (markers or {}).items():
            old = self.marker(name)
            del other._markers[name]
            if station is not None:
                other.add_marker(name, old.body, station, old.fixed)
        other._markers = {name: other._markers[name] for name in self._markers if name in other._markers}
        for name, shape in (geometry or {}).items():
            known("geometry", (name,), tuple(self._geometry))
            if shape is None:
                del other._geometry[name]
            else:
                other._geometry[name] = shape
        return other

    def _copied(self) -> Self:
        other = object.__new__(type(self))
        other._thaw()
        other._tree, other._forces, other._constraints = (
            self._tree.copy(),
            dict(self._forces),
            dict(self._constraints),
        )
        other._measures = dict(self._measures)
        other._markers, other._geometry = dict(self._markers), dict(self._geometry)
        other.notes, other.about, other._off = self.notes, dict(self.about), self._off
        other.groups, other._file_order = dict(self.groups), self._file_order
        return other

    def __getstate__(self) -> dict[str, Any]:
        self._freeze("pickling")
        return {
            "tree": self._tree,
            "forces": self._forces,
            "constraints": self._constraints,
            "measures": self._measures,
            "markers": self._markers,
            "geometry": self._geometry,
            "notes": self.notes,
            "about": self.about,
            "off": self._off,
            "groups": self.groups,
            "file_order": self._file_order,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._tree, self._forces, self._constraints = state["tree"], state["forces"], state["constraints"]
        self._measures, self._markers, self._geometry = (
            state[name] for name in ("measures", "markers", "geometry")
        )
        self.notes, self.about, self._off = state["notes"], state["about"], state["off"]
        self.groups, self._file_order = state["groups"], state["file_order"]
        self._thaw()
        self._freeze("unpickling")


def _user_line() -> str:
    """File and line of the nearest caller outside this package."""
    here = str(next(p for p in Path(__file__).parents if p.name == "condyle"))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    if frame is None:
        return "an unknown line"
    file = frame.f_code.co_filename
    cell = _cells().get(file)
    return f"{Path(file).name}:{frame.f_lineno}" if cell is None else f"In [{cell}], line {frame.f_lineno}"


def _cells() -> Mapping[str, int]:
    """Numbers of the cells of IPython or a notebook, by the file names that their code goes by."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {})
