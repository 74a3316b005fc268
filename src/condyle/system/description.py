"""Description of a System: named bodies, forces and constraints. It freezes at its first use, and can be
copied with changed parts, pickled and printed. System adds the operators."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Vector
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError, FrozenError, UnknownNameError
from condyle.forces.base import Force, check_states
from condyle.loading import if_loaded
from condyle.mobilizers import Mobilizer
from condyle.plausible import ask, of_body
from condyle.presentation import Block, cut, number, numbers, page
from condyle.spatial import Transform, log_so3
from condyle.system.compiled import Compiled
from condyle.system.parts import Attachments
from condyle.system.tails import known
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Discrete
from condyle.tree import scales
from condyle.tree.attached import Geometry
from condyle.tree.body import Body, Coordinate
from condyle.tree.prescribed import Prescribed

if TYPE_CHECKING:
    from condyle.contact.hunt_crossley import ContactLaw
    from condyle.contact.surfaces import ContactSurface
    from condyle.measures import Measure


class Copies(Attachments):
    """Freezing of a System at its first use, and copies of it."""

    def _freeze(self, why: str) -> Compiled:
        """Freeze: check the complete system, and create its compiled form."""
        if self._compiled is None:
            shared = self._shared
            self._compiled = self._code() if shared is None else shared.get(*self._own_parts(), self._code)
            self._frozen = f"{why} at {_user_line()}"
        return self._compiled

    def _code(self) -> Compiled:
        self._check_laws()
        self._check_recorded("measure", self._measures)
        self._check_recorded("discrete variable", self.discrete)
        check_states(self._moving, [name for name, m in self._measures.items() if m.history])
        self._check_reactions()
        compiled = Compiled(self._tree, self._moving, self._constraints, self._off)
        compiled.model.notes.get("speeds move inertia", self._check_inertia)
        return compiled

    def _own_parts(self) -> tuple[list[Any], tuple[Any, ...]]:
        """The immutable objects that machine code depends on, and further keys."""
        tree, rooms = self._tree, (self._forces, self._constraints, self._measures)
        names = (tree.parameters, tree.inputs, tree.discrete)
        parts = [
            *tree.bodies,
            *(law for room in rooms for law in room.values()),
            *(p for r in names for p in r),
        ]
        return parts, (*(tuple(room) for room in rooms), *(len(r) for r in names), self._off)

    def _check_reactions(self) -> None:
        """Raise an error if a law uses joint reactions in a system with unilateral constraints."""
        one_way = if_loaded("condyle.constraints.unilateral.base", "Unilateral")
        asking = [name for name, force in self._moving.items() if force.reactions]
        found = [name for name, c in self._constraints.items() if one_way and isinstance(c, one_way)]
        if asking and found:
            raise DescriptionError(
                f"force {asking[0]!r} asks for reactions of joints, but {found[0]!r} acts one way: what impacts and "
                "contacts that slide add to reactions is not solved for. Use a compliant contact, or leave one out"
            )

    def _check_laws(self) -> None:
        laws = self._laws()
        for law in laws:
            self._tree.check(law)
        self._tree.fitting = {id(law): law for law in laws}  # keep only these alive

    def _check_inertia(self) -> bool:
        """Raise an error for speeds that move no inertia."""

        from condyle.tree.massless import check_inertia

        if self._tree.checked < len(self._tree.bodies):
            check_inertia(self._tree)
            self._tree.checked = len(self._tree.bodies)
        return True

    @property
    def compiled(self) -> Compiled:
        """Its compiled form: model, kernels, programs; freezes it."""
        return self._compiled or self._freeze("compiling")

    def copy(
        self,
        *,
        bodies: Mapping[str, Mapping[str, object]] | None = None,
        forces: Mapping[str, Force | None] | None = None,
        constraints: Mapping[str, Constraint | None] | None = None,
        markers: Mapping[str, Vector | None] | None = None,
        geometry: Mapping[str, Geometry | None] | None = None,
        parameters: str | Iterable[str] | None = None,
    ) -> Self:
        """An unfrozen copy of the description, optionally with other parts.

        Args:
            bodies: {name: arguments of `add_body` that change}: mobilizer (with the same coordinates), X_PF,
                X_BM, mass, com, inertia.
            forces: replacements by name; None leaves one out.
            constraints: replacements by name; None leaves one out.
            markers: other stations [m], shape (3,); None leaves one out.
            geometry: replacements by name, as in `system.geometry`; None leaves one out.
            parameters: numbers that become Parameters with their values as defaults, by names and patterns:
                "thigh.mass", "*.com_x", "*.tendon_slack_length", "hamstrings.point_0_y"; "all" for every
                number (condyle.system.exposed lists the names).

        Raises:
            UnknownNameError: a name that the system does not have.
            DescriptionError: an invalid part.
        """
        if parameters is not None:
            from condyle.system.exposed import expose

            kept = self.copy(
                bodies=bodies, forces=forces, constraints=constraints, markers=markers, geometry=geometry
            )
            found, laws = expose(
                kept._tree.bodies, {"forces": kept._forces, "constraints": kept._constraints}, parameters
            )
            return kept.copy(bodies=found, forces=laws["forces"], constraints=laws["constraints"])
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
                        raise DescriptionError(
                            "gravity cannot be left out; cd.forces.Gravity((0, 0, 0)) is zero"
                        )
                    del room[name]
                    other._off -= {name}
                    continue
                if not isinstance(law, wanted):
                    raise DescriptionError(f"copy: {kind} {name!r}: expected a {kind}, got {law!r}")
                law = law.named(name)
                other._tree.check(law)
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
        other._shared = self._shared
        return other

    def __getstate__(self) -> dict[str, Any]:
        self._freeze("pickling")
        return self._parts()

    def _parts(self) -> dict[str, Any]:
        """All parts of the system, for pickles."""
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
        self._take(state)
        self._freeze("unpickling")

    @classmethod
    def _from_parts(cls, parts: dict[str, Any]) -> Self:
        """An unfrozen System of these parts."""
        made = object.__new__(cls)
        made._take(parts)
        return made

    def _take(self, state: dict[str, Any]) -> None:
        self._tree, self._forces, self._constraints = state["tree"], state["forces"], state["constraints"]
        self._measures, self._markers, self._geometry = (
            state[name] for name in ("measures", "markers", "geometry")
        )
        self.notes, self.about, self._off = state["notes"], state["about"], state["off"]
        self.groups, self._file_order = state["groups"], state["file_order"]
        self._thaw()


class Description(Copies):
    """The description of a System, and its compiled form once it is frozen."""

    @with_call_hints(
        {
            "X_FM": "frames are X_PF= on the parent and X_BM= on the body",
            "I": "it is inertia=",
            "density": "give mass= and inertia=",
        },
        skip=1,
    )
    def add_body(
        self,
        name: str,
        parent: Body | str = "ground",
        mobilizer: Mobilizer | None = None,
        X_PF: Transform | Numbers | None = None,
        X_BM: Transform | Numbers | None = None,
        mass: Number = 0.0,
        com: Numbers = (0.0, 0.0, 0.0),
        inertia: Numbers = (0.0, 0.0, 0.0),
        coordinates: Iterable[str | Coordinate] | str | None = None,
        motion: Prescribed | None = None,
        joint: str | None = None,
        any_inertia: bool = False,
        follows: Body | str | None = None,
    ) -> Body:
        """Add a body and the mobilizer that joins it to its parent.

        Args:
            name: unique among bodies.
            parent: a body of this system, or its name.
            mobilizer: its joint, such as `cd.Pin()`.
            X_PF: frame F on the parent: a Transform, a 3-vector (translation) or None.
            X_BM: frame M on the body, given in the same ways.
            mass: [kg].
            com: mass center in the body's frame [m], shape (3,).
            inertia: about com, in the body's axes [kg m^2]: 3, 6 (xx yy zz xy xz yz) or 3 x 3.
            coordinates: names or `cd.Coordinate`s, one per coordinate. By default the body's name, with a
                suffix if there are several; names given with the mobilizer are kept if they are not in use.
            motion: prescribed motion of the mobilizer: `cd.Prescribed(position=f)`.
            joint: name of the joint, for tables of joint reactions; the body's by default.
            any_inertia: accept impossible inertias (a moment above the sum of the two others) and missing
                ones, as in models of other programs.
            follows: a body, added before, whose coordinates also move this one: the mobilizer uses all of
                them, and the body has none of its own. `cd.Coupled` creates such mobilizers.
        """
        if self._frozen:
            raise FrozenError(
                f"body {name!r} cannot be added: the system is in use since {self._frozen}; "
                "add bodies before, or to system.copy()"
            )
        if isinstance(joint, Mobilizer):
            raise DescriptionError(
                f"body {name!r}: joint= is the name of the joint, got {joint!r}; it is "
                "mobilizer=, such as cd.Pin()"
            )
        if mobilizer is None:
            wrong = f"{parent!r} is where the parent belongs. " if isinstance(parent, Mobilizer) else ""
            raise DescriptionError(
                f"body {name!r}: which mobilizer? {wrong}For example mobilizer=cd.Pin(), "
                "or cd.Weld() for none"
            )
        if motion is not None and (name in self._forces or name in self._constraints):
            raise DescriptionError(
                f"body {name!r}: a motion is switched by the name of its body, but this "
                f"one is a {self._kind(name)}'s; rename one"
            )
        body = self._tree.add(
            name,
            parent,
            mobilizer,
            X_PF,
            X_BM,
            mass,
            com,
            inertia,
            coordinates,
            motion,
            joint,
            any_inertia,
            follows,
        )
        own = body.mass_properties
        lengths = {
            what: float(np.linalg.norm(p))
            for what, p in (("X_PF", body.X_PF.p), ("X_BM", body.X_BM.p), ("com", own.com))
        }
        for text in of_body(body.mass, own.inertia, lengths):
            ask(f"body {name!r}: {text}")
        return body

    @with_call_hints(skip=1)
    def add_force(self, name: str, force: Force, enabled: bool = True) -> None:
        """Add a force law under a name, such as cd.forces.TwoPointSpring(...). With enabled=False it acts
        only where a state, or `disabled=` of an operator, enables it."""
        if isinstance(force, Force) and isinstance(name, str):
            force = force.named(name)
        self._admit("force", name, force, Force, "cd.forces.Gravity(...)")
        for text in force.implausible():
            ask(f"force {name!r}: {text}")
        self._forces[name] = force
        self._switch(name, enabled)

    @with_call_hints(
        {"material": "it belongs to the surfaces: cd.contact.Sphere(body, center, radius, material)"}, skip=1
    )
    def add_contact(
        self,
        name: str,
        a: ContactSurface | Iterable[ContactSurface],
        b: ContactSurface | Iterable[ContactSurface] | None = None,
        law: type[ContactLaw] | None = None,
        **options: object,
    ) -> tuple[str, ...]:
        """Add contact of surfaces: a pair, a group against a group, or within a group.

        Each pair becomes a force, or a constraint where the material of both is cd.contact.Rigid. A single
        pair has this name; of several each is NAME.A.B, or NAME.B if a is one surface, with the surfaces'
        names or indices. Pairs on the same body and pairs that share a clique are left out.

        Args:
            name: unique among forces and constraints.
            a: a surface, or several.
            b: a surface, or several; None: those of a among each other.
            law: cd.contact.HuntCrossley by default, or cd.contact.OpenSimHuntCrossley; for meshes
                cd.contact.ElasticFoundation by default, or cd.contact.OpenSimElasticFoundation.
            options: of the law, such as smooth=1e-5.

        Returns:
            names of the forces or constraints.
        """
        from condyle.constraints.unilateral import RigidContact
        from condyle.contact.hunt_crossley import ContactLaw, HuntCrossley
        from condyle.contact.surface_groups import pairs

        made = pairs(name, a, b, law or HuntCrossley, options, RigidContact)
        two = lambda law: frozenset(
            (id(s.original), s.name if s.original is not s else "") for s in law.surfaces()
        )
        there = {
            two(law): known
            for known, law in (*self._forces.items(), *self._constraints.items())
            if isinstance(law, ContactLaw | RigidContact)
        }
        for pair, one in made.items():
            twice = there.get(two(one), pair)
            if twice != pair:
                raise DescriptionError(
                    f"add_contact {name!r}: these two surfaces touch already, as "
                    f"{twice!r}, and would push twice; leave one of them out"
                )
        for pair, one in made.items():  # all of them, or none
            self._check_new("contact", pair, one, (Force, Constraint), "")
        for pair, one in made.items():
            self.add_constraint(pair, one) if isinstance(one, Constraint) else self.add_force(pair, one)
        return tuple(made)

    @with_call_hints(skip=1)
    def add_constraint(self, name: str, constraint: Constraint, enabled: bool = True) -> None:
        """Add a constraint under a name, such as cd.constraints.Rod(...). Names of forces and constraints are
        unique. With enabled=False it holds only where a state, or `disabled=` of an operator, enables it."""
        if isinstance(constraint, Constraint) and isinstance(name, str):
            constraint = constraint.named(name)
        self._admit("constraint", name, constraint, Constraint, "cd.constraints.Rod(...)")
        self._constraints[name] = constraint
        self._switch(name, enabled)

    def _switch(self, name: str, enabled: bool) -> None:
        """Set whether an element acts in default states."""
        if not isinstance(enabled, bool):
            raise DescriptionError(f"{name!r}: enabled: expected True or False, got {enabled!r}")
        self._off = self._off if enabled else self._off | {name}

    @with_call_hints(skip=1)
    def add_measure(self, name: str, measure: Measure) -> None:
        """Add a measure under a name, such as cd.measures.Maximum(lambda s: s.u("knee")). It does not act on
        the system; runs record it."""
        from condyle.measures import Measure

        self._admit("measure", name, measure, Measure, "cd.measures.Maximum(...)")
        self._check_recorded("measure", [name])
        self._tree.register(measure.variables(name))
        self._measures[name] = measure

    @with_call_hints(skip=1)
    def add_discrete(self, name: str, default: float) -> None:
        """Add a discrete variable for witnesses and actions, such as a counter.

        Laws define their own: `s.discrete(name, default)` in a function, or `cd.Discrete(name, default)`
        for a number.
        """
        if self._frozen:
            raise FrozenError(
                f"discrete variable {name!r} cannot be added: the system is in use since "
                f"{self._frozen}; add it before, or to system.copy()"
            )
        self._tree.register([Discrete(name, default)])

    def _admit(self, kind: str, name: str, law: Any, wanted: type[Any], example: str) -> None:
        """Check a new force or constraint, and register its Parameters."""
        self._check_new(kind, name, law, wanted, example)
        self._tree.register(law.parameters())

    def _check_new(self, kind: str, name: str, law: Any, wanted: Any, example: str) -> None:
        """Check a new force or constraint."""
        if self._frozen:
            raise FrozenError(
                f"{kind} {name!r} cannot be added: the system is in use since {self._frozen}; "
                f"add {kind}s before, or to system.copy()"
            )
        if not isinstance(name, str) or not name:
            hint = "; the name comes first" if isinstance(name, (Force, Constraint)) else ""
            raise DescriptionError(f"a {kind}'s name is a non-empty string, got {name!r}{hint}")
        if any(name in known for known in (self._forces, self._constraints, self._measures, self.motions)):
            raise DescriptionError(f"{self._kind(name)} {name!r} exists already; names are unique")
        Measure, Touching = (
            if_loaded("condyle.measures", "Measure"),
            if_loaded("condyle.contact.surfaces", "ContactSurface"),
        )
        if not isinstance(law, wanted) or (isinstance(law, Measure) and kind == "force"):
            hint = "; write brackets and its numbers after it" if isinstance(law, type) else ""
            if isinstance(law, (Force, Constraint)):
                is_other = "constraint" if isinstance(law, Constraint) else "force"
                room = "measure" if isinstance(law, Measure) else is_other
                hint = f"; it goes to system.add_{room}"
            if isinstance(law, Touching):
                hint = "; two surfaces touch by system.add_contact(name, a, b)"
            if callable(law) and not hint:
                made = {
                    "force": "cd.forces.Custom",
                    "constraint": "cd.constraints.Holonomic",
                    "measure": "cd.measures.Maximum",
                }
                function = getattr(law, "__name__", "<lambda>").replace("<lambda>", "lambda s: ...")
                hint = f"; a function of your own becomes one by {made[kind]}({function})"
            raise DescriptionError(f"{kind} {name!r}: expected a {kind} such as {example}, got {law!r}{hint}")
        try:
            law.check(self._tree)
        except UnknownNameError as error:
            error.within(f"{kind} {name!r}")
            raise

    def describe(self) -> str:
        """A readable description: bodies with masses, frames, coordinates with defaults
        and ranges, speeds, parameters, inputs, discrete variables, auxiliary states, forces, constraints,
        motions, measures."""
        return "\n\n".join(
            [repr(self), *(block.text() for block in blocks(self, self._forces, self._constraints))]
        )

    def __repr__(self) -> str:
        names = f": {cut(b.name for b in self.bodies)};" if self.bodies else ","
        bodies = "1 body" if len(self.bodies) == 1 else f"{len(self.bodies)} bodies"
        parts = "".join(
            f", {len(some)} {what}{'s' * (len(some) > 1)}"
            for what, some in (("muscle", self._muscle_names()), ("contact", self._contact_names()))
            if some
        )
        frozen = ", frozen" if self._frozen else ""
        return f"System({bodies}{names} nq={self.nq}, nu={self.nu}{parts}{frozen})"

    def _repr_html_(self) -> str:
        return page(repr(self), *blocks(self, self._forces, self._constraints))


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
    """Cell numbers of IPython or a notebook by the file names of their code."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None and hasattr(ipython, "get_ipython") else None
    return getattr(getattr(shell, "compile", None), "_filename_map", {})


LAW, MOBILIZER = 100, 60
"""Largest lengths of their reprs."""


def blocks(system: Any, forces: Mapping[str, Any], constraints: Mapping[str, Any]) -> list[Block]:
    """Bodies, frames, coordinates, speeds and other parts; empty blocks are left out."""
    bodies = [b for b in system.bodies if b.parent is not None]
    q_units, u_units = scales.units(system.bodies)
    owner_q, owner_u = ([b.name for b in bodies for _ in range(n(b))] for n in (_nq, _nu))
    coordinates = [c for b in bodies for c in b.coordinates]
    driven = {j for b in bodies for j in b.prescribed_speeds}
    parameters, inputs, discrete, z = (
        [(name, number(x)) for name, x in zip(system._names(kind), system.default(kind), strict=True)]
        for kind in ("parameters", "inputs", "discrete", "z")
    )
    made = [
        Block(
            "bodies",
            ("body", "parent", "mobilizer", "mass [kg]", "coordinates"),
            [
                (
                    b.name,
                    b.parent.name,
                    _short(b.mobilizer, MOBILIZER),
                    number(b.mass) + _of(b, "mass"),
                    _coordinates(b),
                )
                for b in bodies
            ],
        ),
        Block(
            "mass centers and inertias",
            ("body", "com [m]", "inertia about it [kg m^2]: xx yy zz, xy xz yz"),
            [
                (
                    b.name,
                    f"({numbers(b.mass_properties.com)})" + _of(b, "com"),
                    _inertia(b) + _of(b, "inertia"),
                )
                for b in bodies
            ],
        ),
        Block(
            "frames",
            ("body", "X_PF: F on the parent", "X_BM: M on the body"),
            [
                (b.name, _place(b.X_PF) + _of(b, "R_PF", "p_PF"), _place(b.X_BM) + _of(b, "R_BM", "p_BM"))
                for b in bodies
            ],
        ),
        Block(
            "coordinates",
            ("coordinate", "body", "unit", "default", "range"),
            [
                (
                    c.name,
                    body,
                    unit,
                    number(x),
                    "-" if c.range is None else f"{number(c.range[0])} to {number(c.range[1])}",
                )
                for c, body, unit, x in zip(coordinates, owner_q, q_units, system.default("q"), strict=True)
            ],
        ),
        Block(
            "speeds",
            ("speed", "body", "unit", "moved by"),
            [
                (name, body, unit, "its motion" if j in driven else "forces")
                for j, (name, body, unit) in enumerate(zip(system.speeds, owner_u, u_units, strict=True))
            ],
        ),
        Block("parameters", ("parameter", "default"), parameters),
        Block("inputs", ("input", "default"), inputs),
        Block("discrete variables", ("variable", "default"), discrete),
        Block("auxiliary states z", ("state", "default"), z),
        Block("forces", (), [(f"force {name!r}: {_short(law)}",) for name, law in forces.items()]),
        Block(
            "constraints",
            (),
            [(f"constraint {name!r}: {_short(c)}, {_count(c)}",) for name, c in constraints.items()],
        ),
        Block(
            "measures",
            (),
            [(f"measure {name!r}: {_short(system.measure(name))}",) for name in system.measures],
        ),
        Block(
            "markers",
            ("marker", "body", "station [m]", "fixed"),
            [
                (m.name, m.body, f"({numbers(m.station)})", "yes" if m.fixed else "no")
                for m in map(system.marker, system.markers)
            ],
        ),
        Block(
            "geometry",
            ("geometry", "body", "shape"),
            [(g.name, g.body, _short(g.shape, MOBILIZER)) for g in system.geometry],
        ),
        Block(
            "motions",
            (),
            [(f"motion of {b.name!r}: {_short(b.motion)}",) for b in bodies if b.motion is not None],
        ),
    ]
    return [block for block in made if block.rows]


def _coordinates(b: Body) -> str:
    """Its coordinates, or those that it follows."""
    if b.follows is not None:
        return f"follows {b.follows.name}"
    return ", ".join(c.name for c in b.coordinates) or "-"


def _nq(b: Body) -> int:
    return len(b.coordinates)


def _nu(b: Body) -> int:
    return len(b.speeds)


def _short(law: Any, most: int = LAW) -> str:
    text = repr(law)
    return text if len(text) <= most else f"{text[: most - 4]} ..."


def _of(body: Body, *parts: str) -> str:
    """The Parameters that a number depends on."""
    names = dict.fromkeys(
        p.name for part in parts if part in body.symbolic for p in body.symbolic[part].parameters
    )
    return f" by {', '.join(names)}" if names else ""


def _inertia(b: Body) -> str:
    I = np.asarray(b.mass_properties.inertia, dtype=float)
    products = [I[0, 1], I[0, 2], I[1, 2]]
    return numbers(np.diag(I)) + (f", {numbers(products)}" if any(products) else "")


def _place(X: Transform) -> str:
    """Text of a transform: its translation and rotation."""
    R, p = (np.asarray(x, dtype=float) for x in X)
    parts = [f"p = ({numbers(p)})"] if p.any() else []
    turn = log_so3(R)
    angle = float(np.linalg.norm(turn))
    if angle > 0:
        parts.append(f"turned {number(angle)} rad about ({numbers(turn / angle)})")
    return ", ".join(parts) or "-"


def _count(constraint: Any) -> str:
    levels = "/".join(dict.fromkeys(part.level for part in constraint.parts))
    return f"{constraint.size} equation{'s' * (constraint.size != 1)} of {levels}"
