"""Description: bodies, forces and constraints by name, and what follows from them alone. A System adds the
answers."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, Self

import numpy as np

from condyle.arguments import answered
from condyle.arrays import Array, Vector
from condyle.constraints.base import Constraint
from condyle.constraints.solve.equations import row_slices
from condyle.contact.groups import pairs
from condyle.contact.law import ContactLaw, HuntCrossley
from condyle.contact.surfaces import Surface
from condyle.errors import DescriptionError, FrozenError, UnknownNameError
from condyle.forces.base import Force, check_states, state_variables
from condyle.forces.gravity import Gravity
from condyle.forces.path import PathLaw
from condyle.measures import Measure
from condyle.mobilizers import Mobilizer
from condyle.model.model import equation_names
from condyle.muscles import Muscle
from condyle.presentation import Display, cut, page
from condyle.shapes import Shape
from condyle.spatial import Transform
from condyle.system.compiled import Compiled
from condyle.system.listing import blocks
from condyle.system.locks import known
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Discrete
from condyle.tree import attached
from condyle.tree.attached import Geometry, Marker
from condyle.tree.body import Body, Coordinate
from condyle.tree.check import check_inertia
from condyle.tree.prescribed import Prescribed
from condyle.tree.tree import Tree


class Description(Display):
    """What a System is made of, until it is frozen; then what is compiled from it, an object of its own.

    Args:
        gravity: acceleration of free fall in ground [m/s^2], shape (3,).

    Attributes:
        notes: what of the file that it was read from is not understood, one Note each; else empty.
        about: name, credits and publications of the model in that file, by these words.
        groups: groups of forces in that file: names of members, by name.
    """

    plumbing = frozenset({"compiled"})

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
        self._thaw()
        law = gravity if isinstance(gravity, Gravity) else Gravity(gravity)
        self._tree.register(law.parameters())
        # bodies it excludes are looked up when the system freezes
        self._forces["gravity"] = law

    def _thaw(self) -> None:
        self._frozen: str | None = None
        self._compiled: Compiled | None = None

    def _named(self, name: str) -> str:
        known = {*self.coordinates, *self.speeds} if "_tree" in vars(self) else ()
        return f"a value of a State: system.state()[{name!r}]" if name in known else ""

    # ---- describing ----------------------------------------------------------------------------------------

    @answered({"X_FM": "frames are X_PF= on the parent and X_BM= on the body",
               "I": "it is inertia=", "density": "give mass= and inertia="}, skip=1)
    def add_body(self, name: str, parent: Body | str = "ground", mobilizer: Mobilizer | None = None,
                 X_PF: Transform | Numbers | None = None, X_BM: Transform | Numbers | None = None,
                 mass: Number = 0.0, com: Numbers = (0.0, 0.0, 0.0), inertia: Numbers = (0.0, 0.0, 0.0),
                 coordinates: Iterable[str | Coordinate] | str | None = None,
                 motion: Prescribed | None = None, joint: str | None = None,
                 any_inertia: bool = False) -> Body:
        """Add a body and the mobilizer that joins it to its parent.

        Args:
            name: unique among bodies.
            parent: a body of this system, or its name.
            mobilizer: what the body may do, such as `cd.Pin()`.
            X_PF: frame F on the parent: a Transform, a 3-vector (translation) or None.
            X_BM: frame M on the body, given in the same ways.
            mass: [kg].
            com: mass centre in the body's frame [m], shape (3,).
            inertia: about com, in the body's axes [kg m^2]: 3, 6 (xx yy zz xy xz yz) or 3 x 3.
            coordinates: names or `cd.Coordinate`s, one per coordinate. By default the body's name, with a
                suffix where there are several; names given with the mobilizer are kept where they are free.
            motion: how the mobilizer moves, if that is known beforehand: `cd.Prescribed(position=f)`.
            joint: name of the joint, for tables of joint reactions; the body's by default.
            any_inertia: take an inertia that no real body has (a moment above the sum of the two others), and
                none at all where the mobilizer moves nothing else, as models of other programs do.
        """
        if self._frozen:
            raise FrozenError(f"body {name!r} cannot be added: the system is in use since {self._frozen}; "
                              "add bodies before, or to system.copy()")
        if isinstance(joint, Mobilizer):
            raise DescriptionError(f"body {name!r}: joint= is the name of the joint, got {joint!r}; it is "
                                   "mobilizer=, such as cd.Pin()")
        if mobilizer is None:
            wrong = f"{parent!r} is where the parent belongs. " if isinstance(parent, Mobilizer) else ""
            raise DescriptionError(f"body {name!r}: which mobilizer? {wrong}For example mobilizer=cd.Pin(), "
                                   "or cd.Weld() for none")
        if motion is not None and (name in self._forces or name in self._constraints):
            raise DescriptionError(f"body {name!r}: a motion is switched by the name of its body, but this "
                                   f"one is a {self._kind(name)}'s; rename one")
        return self._tree.add(name, parent, mobilizer, X_PF, X_BM, mass, com, inertia, coordinates, motion,
                              joint, any_inertia)

    @answered(skip=1)
    def add_force(self, name: str, force: Force, enabled: bool = True) -> None:
        """Add a force law under a name, such as cd.forces.TwoPointSpring(...). With enabled=False it does not
        act unless a state, or `disabled=` of an operator, says so."""
        if isinstance(force, Force) and isinstance(name, str):
            force = force.named(name)
        self._admit("force", name, force, Force, "cd.forces.Gravity(...)")
        self._forces[name] = force
        self._switch(name, enabled)

    @answered({"material": "it belongs to the surfaces: cd.contact.Sphere(body, centre, radius, material)"},
              skip=1)
    def add_contact(self, name: str, a: Surface | Iterable[Surface],
                    b: Surface | Iterable[Surface] | None = None, law: type[HuntCrossley] = HuntCrossley,
                    **options: Any) -> tuple[str, ...]:
        """Let surfaces touch: a pair, a group against a group, or a group within itself.

        Each pair becomes a force. One pair has the name itself; of several each is NAME.A.B, or NAME.B where
        a is one surface, with the surfaces' names, or their places where they have none. Left out are pairs
        on one body and pairs that share a clique.

        Args:
            name: unique among forces and constraints.
            a: a surface, or several.
            b: a surface, or several; None: those of a among each other.
            law: cd.contact.HuntCrossley, or cd.contact.OpenSimHuntCrossley.
            options: of the law, such as smooth=1e-5.

        Returns:
            names of the forces.
        """
        made = pairs(name, a, b, law, options)
        for pair, force in made.items():
            self.add_force(pair, force)
        return tuple(made)

    @answered(skip=1)
    def add_constraint(self, name: str, constraint: Constraint, enabled: bool = True) -> None:
        """Add a constraint under a name, such as cd.constraints.Rod(...). Names of forces and constraints are
        unique. With enabled=False it holds only where a state, or `disabled=` of an operator, says so."""
        self._admit("constraint", name, constraint, Constraint, "cd.constraints.Rod(...)")
        self._constraints[name] = constraint
        self._switch(name, enabled)

    def _switch(self, name: str, enabled: bool) -> None:
        """Keep whether something acts in default states."""
        if not isinstance(enabled, bool):
            raise DescriptionError(f"{name!r}: enabled: expected True or False, got {enabled!r}")
        self._off = self._off if enabled else self._off | {name}

    @answered(skip=1)
    def add_measure(self, name: str, measure: Measure) -> None:
        """Add a measure under a name, such as cd.measures.Maximum(lambda s: s.u("knee")). It acts on nothing;
        runs have it."""
        self._admit("measure", name, measure, Measure, "cd.measures.Maximum(...)")
        self._check_recorded("measure", [name])
        self._tree.register(measure.variables(name))
        self._measures[name] = measure

    @answered(skip=1)
    def add_discrete(self, name: str, default: float) -> None:
        """Add a discrete variable that no law needs, for witnesses and actions: a counter, what an event
        remembers.

        Laws bring theirs along: `s.discrete(name, default)` in a function, or `cd.Discrete(name, default)`
        for a number.
        """
        if self._frozen:
            raise FrozenError(f"discrete variable {name!r} cannot be added: the system is in use since "
                              f"{self._frozen}; add it before, or to system.copy()")
        self._tree.register([Discrete(name, default)])

    @answered({"location": "it is station=", "parent": "it is body="}, skip=1)
    def add_marker(self, name: str, body: Body | str, station: Vector, fixed: bool = False) -> Marker:
        """Add a named point of a body, which cameras see. It changes no dynamics: a system in use takes it
        too.

        Args:
            name: unique among markers.
            body: a body of this system, or its name; ground too.
            station: its place in the body's frame [m], shape (3,).
            fixed: its place on the body is known well: what fits models to markers leaves it.
        """
        if not isinstance(name, str) or not name.strip():
            raise DescriptionError(f"a marker's name is a non-empty string, got {name!r}")
        if name in self._markers:
            raise DescriptionError(f"marker {name!r} exists already; names are unique")
        self._markers[name] = attached.marker(name, self._on(f"marker {name!r}", body), station, fixed)
        return self._markers[name]

    @answered({"colour": "it is color=", "X_FS": "it is X_BS=", "transparency": "it is opacity="}, skip=1)
    def add_geometry(self, body: Body | str, shape: Shape, X_BS: Transform | Numbers | None = None,
                     color: Any = None, opacity: float = 1.0, name: str | None = None) -> Geometry:
        """Draw a shape on a body. It changes no dynamics: a system in use takes it too.

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

    def _admit(self, kind: str, name: str, law: Any, wanted: type[Any], example: str) -> None:
        """Check a force or constraint that is to be added, and take in its Parameters."""
        if self._frozen:
            raise FrozenError(f"{kind} {name!r} cannot be added: the system is in use since {self._frozen}; "
                              f"add {kind}s before, or to system.copy()")
        if not isinstance(name, str) or not name:
            hint = "; the name comes first" if isinstance(name, (Force, Constraint)) else ""
            raise DescriptionError(f"a {kind}'s name is a non-empty string, got {name!r}{hint}")
        if any(name in known for known in (self._forces, self._constraints, self._measures, self.motions)):
            raise DescriptionError(f"{self._kind(name)} {name!r} exists already; names are unique")
        if not isinstance(law, wanted) or (isinstance(law, Measure) and kind == "force"):
            hint = "; write brackets and its numbers after it" if isinstance(law, type) else ""
            if isinstance(law, (Force, Constraint)):
                is_other = "constraint" if isinstance(law, Constraint) else "force"
                room = "measure" if isinstance(law, Measure) else is_other
                hint = f"; it goes to system.add_{room}"
            if callable(law) and not hint:
                made = {"force": "cd.forces.Custom", "constraint": "cd.constraints.Holonomic",
                        "measure": "cd.measures.Maximum"}
                function = getattr(law, "__name__", "<lambda>").replace("<lambda>", "lambda s: ...")
                hint = f"; a function of your own becomes one by {made[kind]}({function})"
            raise DescriptionError(f"{kind} {name!r}: expected a {kind} such as {example}, got {law!r}{hint}")
        try:
            law.check(self._tree)
        except UnknownNameError as error:
            error.within(f"{kind} {name!r}")
            raise
        self._tree.register(law.parameters())

    def _check_recorded(self, what: str, names: Iterable[str]) -> None:
        """Runs have these by their names, which nothing else that runs have may share."""
        others = {"coordinate": self.coordinates, "speed": self.speeds}
        if what == "measure":
            others["discrete variable"] = self.discrete
        for name in names:
            for kind, taken in others.items():
                if name in taken and not (what == "measure" and kind == "discrete variable"
                                          and name in self._measures):
                    raise DescriptionError(f"{what} {name!r}: a {kind} has this name, and runs have both by "
                                           f"their names; give one another, such as {name + '_value'!r}")

    def _kind(self, name: str) -> str:
        rooms: dict[str, Mapping[str, Any]] = {"force": self._forces, "constraint": self._constraints,
                                               "measure": self._measures}
        return next((kind for kind, room in rooms.items() if name in room), "prescribed motion of body")

    def _laws(self) -> list[Force | Constraint]:
        return [*self._forces.values(), *self._constraints.values(), *self._measures.values()]

    @property
    def _moving(self) -> dict[str, Force]:
        """What has auxiliary states: forces, and measures that are integrated."""
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
        return self._tree.speeds

    @property
    def forces(self) -> tuple[str, ...]:
        return tuple(self._forces)

    @property
    def paths(self) -> tuple[str, ...]:
        """Names of the forces that run along a path."""
        return tuple(name for name, force in self._forces.items() if isinstance(force, PathLaw))

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the forces that are muscles."""
        return tuple(name for name, force in self._forces.items() if isinstance(force, Muscle))

    @property
    def contacts(self) -> tuple[str, ...]:
        """Names of the forces that are contacts."""
        return tuple(name for name, force in self._forces.items() if isinstance(force, ContactLaw))

    @property
    def constraints(self) -> tuple[str, ...]:
        return tuple(self._constraints)

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measures."""
        return tuple(self._measures)

    @property
    def markers(self) -> tuple[str, ...]:
        """Names of the markers."""
        return tuple(self._markers)

    @property
    def geometry(self) -> tuple[Geometry, ...]:
        """What is drawn on bodies: name, body, shape, X_BS, color, opacity."""
        return tuple(self._geometry.values())

    @property
    def motions(self) -> tuple[str, ...]:
        """Names of the bodies whose motion is prescribed."""
        return tuple(b.name for b in self._tree.driven)

    @property
    def equations(self) -> int:
        """Number of constraint equations m, which is the number of multipliers."""
        return sum(c.size for c in self._constraints.values())

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
        """Names of the auxiliary states z that forces bring, as "muscle.activation", then those of
        measures."""
        return tuple(name for name, _ in state_variables(self._moving))

    def body(self, which: Body | str) -> Body:
        """The body of that name.

        Raises:
            UnknownNameError: there is none.
        """
        return self._tree.body(which)

    def force(self, name: str) -> Force:
        """The force of that name, as it was added: `system.force("spring").stiffness`."""
        known("force", (name,), self.forces)
        return self._forces[name]

    def constraint(self, name: str) -> Constraint:
        """The constraint of that name, as it was added."""
        known("constraint", (name,), self.constraints)
        return self._constraints[name]

    def measure(self, name: str) -> Measure:
        """The measure of that name, as it was added."""
        known("measure", (name,), self.measures)
        return self._measures[name]

    def marker(self, name: str) -> Marker:
        """The marker of that name: its body, its station [m] and whether it is fixed."""
        known("marker", (name,), self.markers)
        return self._markers[name]

    def default(self, variable: str) -> Array:
        """Default values of q, u, z, inputs, discrete or parameters, in the order of their names."""
        if variable == "q":
            return self._tree.defaults()
        if variable == "u":
            return self._tree.default_speeds()
        if variable == "z":
            return np.array([value for _, value in state_variables(self._moving)], dtype=float)
        return {"inputs": self._tree.inputs, "discrete": self._tree.discrete,
                "parameters": self._tree.parameters}[variable].defaults

    def names(self, variable: str) -> tuple[str, ...]:
        """Names of the entries of q, u, z, inputs, discrete or parameters."""
        return {"q": self.coordinates, "u": self.speeds, "z": self.state_variables, "inputs": self.inputs,
                "discrete": self.discrete, "parameters": self.parameters}[variable]

    def defaults(self) -> tuple[Array, Array]:
        """Default q (nq,) and u (nu,)."""
        return self._tree.defaults(), self._tree.default_speeds()

    def describe(self) -> str:
        """Everything that it is made of, for reading: bodies with masses, frames, coordinates with defaults
        and ranges, speeds, parameters, inputs, discrete variables, auxiliary states, forces, constraints,
        motions, measures."""
        return ("\n\n".join([repr(self),
                             *(block.text() for block in blocks(self, self._forces, self._constraints))]))

    def __repr__(self) -> str:
        names = f": {cut(b.name for b in self.bodies)};" if self.bodies else ","
        bodies = "1 body" if len(self.bodies) == 1 else f"{len(self.bodies)} bodies"
        count = len(self.muscles)
        muscles = f", {count} muscle{'s' * (count > 1)}" if count else ""
        frozen = ", frozen" if self._frozen else ""
        return f"System({bodies}{names} nq={self.nq}, nu={self.nu}{muscles}{frozen})"

    def _repr_html_(self) -> str:
        return page(repr(self), *blocks(self, self._forces, self._constraints))

    def copy(self, *, bodies: Mapping[str, Mapping[str, Any]] | None = None,
             forces: Mapping[str, Force | None] | None = None,
             constraints: Mapping[str, Constraint | None] | None = None,
             markers: Mapping[str, Vector | None] | None = None,
             geometry: Mapping[str, Geometry | None] | None = None) -> Self:
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
        parts: Any = ((other._forces, forces, "force", Force), (other._constraints, constraints, "constraint",
                                                                Constraint))
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
                law = law.named(name) if isinstance(law, Force) else law
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
        other._tree, other._forces, other._constraints = (self._tree.copy(), dict(self._forces),
                                                          dict(self._constraints))
        other._measures = dict(self._measures)
        other._markers, other._geometry = dict(self._markers), dict(self._geometry)
        other.notes, other.about, other._off = self.notes, dict(self.about), self._off
        other.groups = dict(self.groups)
        return other

    def __getstate__(self) -> dict[str, Any]:
        self._freeze("pickling")
        return {"tree": self._tree, "forces": self._forces, "constraints": self._constraints,
                "measures": self._measures, "markers": self._markers, "geometry": self._geometry,
                "notes": self.notes, "about": self.about, "off": self._off, "groups": self.groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._tree, self._forces, self._constraints = state["tree"], state["forces"], state["constraints"]
        self._measures, self._markers, self._geometry = (state[name] for name in ("measures", "markers",
                                                                                  "geometry"))
        self.notes, self.about, self._off = state["notes"], state["about"], state["off"]
        self.groups = state["groups"]
        self._thaw()
        self._freeze("unpickling")

    def _freeze(self, why: str) -> Compiled:
        """From here on nothing changes: check what only the whole can show, and give it what is compiled from
        it."""
        if self._compiled is None:
            for law in self._laws():
                law.check(self._tree)
            self._check_recorded("measure", self._measures)
            self._check_recorded("discrete variable", self.discrete)
            check_states(self._moving, [name for name, m in self._measures.items() if m.history])
            check_inertia(self._tree)
            self._compiled = Compiled(self._tree, self._moving, self._constraints, self._off)
            self._frozen = f"{why} at {_user_line()}"
        return self._compiled

    @property
    def compiled(self) -> Compiled:
        """What is compiled from it: model, kernels, programs; freezes it."""
        return self._compiled or self._freeze("compiling")

    def equation_names(self) -> list[tuple[str, str]]:
        """Name and level of each constraint equation, in their order: the constraint's name, with [k] if it
        has several."""
        return equation_names(self._constraints)

    def multiplier_rows(self, constraint: str) -> slice:
        """Where a constraint's equations are among all m, and its multipliers in `multipliers`."""
        known("constraint", (constraint,), self.constraints)
        return row_slices(self._constraints)[constraint]


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
