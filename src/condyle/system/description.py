"""Description: bodies, forces and constraints are added by name. A System adds the answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.constraints.base import Constraint
from condyle.constraints.unilateral import RigidContact
from condyle.contact.groups import pairs
from condyle.contact.hunt_crossley import ContactLaw, HuntCrossley
from condyle.contact.surfaces import ContactSurface
from condyle.errors import DescriptionError, FrozenError, UnknownNameError
from condyle.forces.base import Force
from condyle.measures import Measure
from condyle.mobilizers import Mobilizer
from condyle.plausible import ask, of_body
from condyle.presentation import cut, page
from condyle.spatial import Transform
from condyle.system.copies import Copies
from condyle.system.listing import blocks
from condyle.trace import Number, Numbers
from condyle.trace.parameter import Discrete
from condyle.tree.body import Body, Coordinate
from condyle.tree.prescribed import Prescribed


class Description(Copies):
    """What a System is made of, until it is frozen; then what is compiled from it, an object of its own."""

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
            mobilizer: what the body may do, such as `cd.Pin()`.
            X_PF: frame F on the parent: a Transform, a 3-vector (translation) or None.
            X_BM: frame M on the body, given in the same ways.
            mass: [kg].
            com: mass center in the body's frame [m], shape (3,).
            inertia: about com, in the body's axes [kg m^2]: 3, 6 (xx yy zz xy xz yz) or 3 x 3.
            coordinates: names or `cd.Coordinate`s, one per coordinate. By default the body's name, with a
                suffix where there are several; names given with the mobilizer are kept where they are free.
            motion: how the mobilizer moves, if that is known beforehand: `cd.Prescribed(position=f)`.
            joint: name of the joint, for tables of joint reactions; the body's by default.
            any_inertia: take an inertia that no real body has (a moment above the sum of the two others), and
                none at all where the mobilizer moves nothing else, as models of other programs do.
            follows: a body, added before, whose coordinates move this one too: the mobilizer takes all of
                them, and the body has none of its own. `cd.Coupled` makes such mobilizers.
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
        """Add a force law under a name, such as cd.forces.TwoPointSpring(...). With enabled=False it does not
        act unless a state, or `disabled=` of an operator, says so."""
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
        law: type[ContactLaw] = HuntCrossley,
        **options: Any,
    ) -> tuple[str, ...]:
        """Let surfaces touch: a pair, a group against a group, or a group within itself.

        Each pair becomes a force, or a constraint where the material of both is cd.contact.Rigid. One pair
        has the name itself; of several each is NAME.A.B, or NAME.B where a is one surface, with the surfaces'
        names, or their places where they have none. Left out are pairs on one body and pairs that share a
        clique.

        Args:
            name: unique among forces and constraints.
            a: a surface, or several.
            b: a surface, or several; None: those of a among each other.
            law: cd.contact.HuntCrossley, or cd.contact.OpenSimHuntCrossley; meshes take
                cd.contact.ElasticFoundation by themselves, or cd.contact.OpenSimElasticFoundation.
            options: of the law, such as smooth=1e-5.

        Returns:
            names of the forces or constraints.
        """
        made = pairs(name, a, b, law, options, RigidContact)
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
        unique. With enabled=False it holds only where a state, or `disabled=` of an operator, says so."""
        if isinstance(constraint, Constraint) and isinstance(name, str):
            constraint = constraint.named(name)
        self._admit("constraint", name, constraint, Constraint, "cd.constraints.Rod(...)")
        self._constraints[name] = constraint
        self._switch(name, enabled)

    def _switch(self, name: str, enabled: bool) -> None:
        """Keep whether something acts in default states."""
        if not isinstance(enabled, bool):
            raise DescriptionError(f"{name!r}: enabled: expected True or False, got {enabled!r}")
        self._off = self._off if enabled else self._off | {name}

    @with_call_hints(skip=1)
    def add_measure(self, name: str, measure: Measure) -> None:
        """Add a measure under a name, such as cd.measures.Maximum(lambda s: s.u("knee")). It acts on nothing;
        runs have it."""
        self._admit("measure", name, measure, Measure, "cd.measures.Maximum(...)")
        self._check_recorded("measure", [name])
        self._tree.register(measure.variables(name))
        self._measures[name] = measure

    @with_call_hints(skip=1)
    def add_discrete(self, name: str, default: float) -> None:
        """Add a discrete variable that no law needs, for witnesses and actions: a counter, what an event
        remembers.

        Laws bring theirs along: `s.discrete(name, default)` in a function, or `cd.Discrete(name, default)`
        for a number.
        """
        if self._frozen:
            raise FrozenError(
                f"discrete variable {name!r} cannot be added: the system is in use since "
                f"{self._frozen}; add it before, or to system.copy()"
            )
        self._tree.register([Discrete(name, default)])

    def _admit(self, kind: str, name: str, law: Any, wanted: type[Any], example: str) -> None:
        """Check a force or constraint that is to be added, and take in its Parameters."""
        self._check_new(kind, name, law, wanted, example)
        self._tree.register(law.parameters())

    def _check_new(self, kind: str, name: str, law: Any, wanted: Any, example: str) -> None:
        """Check a force or constraint that is to be added."""
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
        if not isinstance(law, wanted) or (isinstance(law, Measure) and kind == "force"):
            hint = "; write brackets and its numbers after it" if isinstance(law, type) else ""
            if isinstance(law, (Force, Constraint)):
                is_other = "constraint" if isinstance(law, Constraint) else "force"
                room = "measure" if isinstance(law, Measure) else is_other
                hint = f"; it goes to system.add_{room}"
            if isinstance(law, ContactSurface):
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
        """Everything that it is made of, for reading: bodies with masses, frames, coordinates with defaults
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
