"""Parts of a System: its bodies, forces, constraints and measures, and lookups by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

import condyle.shapes as shapes
from condyle.arguments import with_call_hints
from condyle.arrays import Array, Vector
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.forces.base import Force, state_variables
from condyle.forces.gravity import Gravity
from condyle.loading import if_loaded
from condyle.plausible import ask
from condyle.presentation import Display
from condyle.spatial import Transform
from condyle.system.compiled import Compiled, SharedCode
from condyle.system.tails import known
from condyle.trace import Numbers
from condyle.tree import attached
from condyle.tree.attached import Geometry, Marker
from condyle.tree.body import Body
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.measures import Measure

SET = frozenset({"notes", "about", "groups"})
"""Attributes of a System that may be set, by readers of files."""


class SpeedNames(tuple[str, ...]):
    """Names of speeds, a type that distinguishes them from names of coordinates, which are often the same."""

    __slots__ = ()


class Parts(Display):
    """The named parts of a System.

    Args:
        gravity: acceleration of free fall in ground [m/s^2], shape (3,).

    Attributes:
        notes: unknown parts of the file, one Note each; empty if the System was not read from a file.
        about: name, credits and publications of the model in that file, under these keys.
        groups: groups of forces in that file, {group: names of its forces}.
    """

    plumbing = frozenset({"compiled"})

    @with_call_hints(skip=1, name="System")
    def __init__(self, gravity: Gravity | Vector = (0.0, -9.81, 0.0)) -> None:
        self._tree = Tree()
        self._forces: dict[str, Force] = {}
        self._constraints: dict[str, Constraint] = {}
        self._measures: dict[str, Measure] = {}
        self._markers: dict[str, Marker] = {}
        self._geometry: dict[str, Geometry] = {}
        self._off: frozenset[str] = frozenset()
        self.notes: tuple[Any, ...] = ()
        self.about: dict[str, str] = {}
        self.groups: dict[str, tuple[str, ...]] = {}
        self._file_order: dict[str, tuple[str, ...]] = {}
        self._thaw()
        if isinstance(gravity, (str, os.PathLike)):
            raise DescriptionError(
                "System: gravity: expected three finite numbers or cd.Parameters [m/s^2], "
                f"got {str(gravity)!r}; a model file of OpenSim is read by "
                "cd.read_osim(path)"
            )
        given: Any = gravity
        law = gravity if isinstance(gravity, Gravity) else Gravity(given)
        for text in law.implausible():
            ask(f"System: {text}")
        self._tree.register(law.parameters())
        # bodies it excludes are looked up when the system freezes
        self._forces["gravity"] = law

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "gravity" or not (name.startswith("_") or name in SET or hasattr(type(self), name)):
            hint = (
                "its gravity is cd.System(gravity=...), or of a copy system.copy(forces={'gravity': "
                "cd.forces.Gravity(...)})"
                if name == "gravity"
                else "it is described by add_body, add_force, add_constraint and their like"
            )
            raise DescriptionError(f"System: {name!r} cannot be set; {hint}")
        super().__setattr__(name, value)

    def _thaw(self) -> None:
        self._frozen: str | None = None
        self._compiled: Compiled | None = None
        self._shared: SharedCode | None = None
        self._groups: dict[type, Any] = {}

    def _named(self, name: str) -> str:
        known = {*self.coordinates, *self.speeds} if "_tree" in vars(self) else ()
        return f"a value of a State: system.state()[{name!r}]" if name in known else ""

    def _check_recorded(self, what: str, names: Iterable[str]) -> None:
        """Check that names recorded by runs are unique."""
        others = {"coordinate": self.coordinates, "speed": self.speeds}
        if what == "measure":
            others["discrete variable"] = self.discrete
        for name in names:
            for kind, taken in others.items():
                if name in taken and not (
                    what == "measure" and kind == "discrete variable" and name in self._measures
                ):
                    raise DescriptionError(
                        f"{what} {name!r}: a {kind} has this name, and runs have both by "
                        f"their names; give one another, such as {name + '_value'!r}"
                    )

    def _kind(self, name: str) -> str:
        rooms: dict[str, Mapping[str, Any]] = {
            "force": self._forces,
            "constraint": self._constraints,
            "measure": self._measures,
        }
        return next((kind for kind, room in rooms.items() if name in room), "prescribed motion of body")

    def _laws(self) -> list[Force | Constraint]:
        return [*self._forces.values(), *self._constraints.values(), *self._measures.values()]

    @property
    def _moving(self) -> dict[str, Force]:
        """Elements with auxiliary states: forces, and integrated measures."""
        return self._forces | {name: m for name, m in self._measures.items() if m.states}

    @property
    def ground(self) -> Body:
        return self._tree.ground

    @property
    def bodies(self) -> tuple[Body, ...]:
        return tuple(self._tree.bodies)

    @property
    def nq(self) -> int:
        return self._tree.nq

    @property
    def nu(self) -> int:
        return self._tree.nu

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self._tree.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        return SpeedNames(self._tree.speeds)

    @property
    def forces(self) -> tuple[str, ...]:
        return tuple(self._forces)

    @property
    def paths(self) -> tuple[str, ...]:
        """Names of the forces that run along a path."""
        return tuple(
            name
            for name, force in self._forces.items()
            if isinstance(force, if_loaded("condyle.forces.path", "PathLaw"))
        )

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self._measures)

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the bodies whose motion is prescribed."""
        return tuple(b.name for b in self._tree.driven)

    @property
    def parameters(self) -> tuple[str, ...]:
        return self._tree.parameters.names

    @property
    def inputs(self) -> tuple[str, ...]:
        return self._tree.inputs.names

    @property
    def discrete(self) -> tuple[str, ...]:
        """Names of the discrete variables."""
        return self._tree.discrete.names

    @property
    def state_variables(self) -> tuple[str, ...]:
        """Names of the auxiliary states z of forces, such as "muscle.activation", then those of measures."""
        return tuple(name for name, _ in state_variables(self._moving))

    def _muscle_names(self) -> tuple[str, ...]:
        return tuple(
            name
            for name, force in self._forces.items()
            if isinstance(force, if_loaded("condyle.muscles.muscle", "Muscle"))
        )

    def _contact_names(self) -> tuple[str, ...]:
        return (
            *(
                name
                for name, force in self._forces.items()
                if isinstance(force, if_loaded("condyle.contact.hunt_crossley", "ContactLaw"))
            ),
            *(
                name
                for name, c in self._constraints.items()
                if isinstance(c, if_loaded("condyle.constraints.unilateral.contact", "RigidContact"))
            ),
        )

    def body(self, which: Body | str) -> Body:
        """The body of that name.

        Raises:
            UnknownNameError: there is no such body.
        """
        return self._tree.body(which)

    def force(self, name: str) -> Force:
        """The force of that name, as it was added: `system.force("spring").stiffness`."""
        known("force", (name,), self.forces)
        return self._forces[name]

    def constraint(self, name: str) -> Constraint:
        """The constraint of that name, as it was added."""
        known("constraint", (name,), tuple(self._constraints))
        return self._constraints[name]

    def measure(self, name: str) -> Measure:
        """The measure of that name, as it was added."""
        known("measure", (name,), self.measures)
        return self._measures[name]

    def default(self, variable: str) -> Array:
        """Default values of q, u, z, inputs, discrete or parameters, in the order of their names."""
        if variable == "q":
            return self._tree.defaults()
        if variable == "u":
            return self._tree.default_speeds()
        if variable == "z":
            return np.array([value for _, value in state_variables(self._moving)], dtype=float)
        return {
            "inputs": self._tree.inputs,
            "discrete": self._tree.discrete,
            "parameters": self._tree.parameters,
        }[variable].defaults

    def _names(self, variable: str) -> tuple[str, ...]:
        """Names of the entries of q, u, z, inputs, discrete or parameters."""
        return {
            "q": self.coordinates,
            "u": self.speeds,
            "z": self.state_variables,
            "inputs": self.inputs,
            "discrete": self.discrete,
            "parameters": self.parameters,
        }[variable]

    def defaults(self) -> tuple[Array, Array]:
        """Default q (nq,) and u (nu,)."""
        return self._tree.defaults(), self._tree.default_speeds()


FAR = 30.0
"""[m] Implausible distance of a marker from its body: such stations are in millimeters."""


class Attachments(Parts):
    """Markers and geometry of a System."""

    @with_call_hints({"location": "it is station=", "parent": "it is body="}, skip=1)
    def add_marker(self, name: str, body: Body | str, station: Vector, fixed: bool = False) -> Marker:
        """Add a marker, a named point of a body. It does not affect the dynamics, so a system in use accepts
        it too.

        Args:
            name: unique among markers.
            body: a body of this system, or its name; ground too.
            station: its position in the body's frame [m], shape (3,).
            fixed: its position is reliable: `cd.scale` does not move it.
        """
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a marker's name is a non-empty string, got {name!r}")
        if name in self._markers:
            raise DescriptionError(f"marker {name!r} exists already; names are unique")
        made = self._markers[name] = attached.marker(name, self._on(f"marker {name!r}", body), station, fixed)
        if made.body != "ground" and (far := max(map(abs, made.station))) > FAR:
            warn(
                f"marker {name!r} is {far:g} m away from {made.body!r}; is its station in meters? "
                "50 mm are 0.05"
            )
        return self._markers[name]

    @with_call_hints({"X_FS": "it is X_BS=", "transparency": "it is opacity="}, skip=1)
    def add_geometry(
        self,
        body: Body | str,
        shape: shapes.Shape,
        X_BS: Transform | Numbers | None = None,
        color: str | ArrayLike | None = None,
        opacity: float = 1.0,
        name: str | None = None,
    ) -> Geometry:
        """Draw a shape on a body. It does not affect the dynamics, so a system in use accepts it too.

        Args:
            body: a body of this system, or its name; ground too.
            shape: such as `cd.shapes.Sphere(0.02)`.
            X_BS: frame S of the shape on the body: a Transform, a 3-vector (translation) or None.
            color: a name as "teal", text as "#00897b" or three numbers from 0 to 1; by default the body's.
            opacity: from 0, invisible, to 1.
            name: unique among geometry; by default the body's name, with a number where there are several.
        """
        on = self._on("geometry", body)
        if name is None:
            count = 1
            while (name := on if count == 1 else f"{on} {count}") in self._geometry:
                count += 1
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a geometry's name is a non-empty string, got {name!r}")
        if name in self._geometry:
            raise DescriptionError(f"geometry {name!r} exists already; names are unique")
        self._geometry[name] = attached.geometry(name, on, shape, X_BS, color, opacity)
        return self._geometry[name]

    def _on(self, what: str, body: Body | str) -> str:
        try:
            return self._tree.body(body).name
        except UnknownNameError as error:
            error.within(what)
            raise

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers."""
        return tuple(self._markers)

    @property
    def geometry(self) -> tuple[Geometry, ...]:
        """Shapes drawn on bodies: name, body, shape, X_BS, color, opacity."""
        return tuple(self._geometry.values())

    def marker(self, name: str) -> Marker:
        """The marker of that name: its body, its station [m] and whether it is fixed."""
        found = self._markers.get(name) if isinstance(name, str) else None
        if found is None:
            raise UnknownNameError("marker", name, self.markers)
        return found
