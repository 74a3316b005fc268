"""Model: the input of all operators."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.forces.base import Force, state_variables
from condyle.forces.gravity import Gravity
from condyle.loading import if_loaded
from condyle.mobilizers import Mobilizer, Pattern, pattern
from condyle.mobilizers.traced import traced
from condyle.model.instance import ParameterCheck
from condyle.native.machine.cache import Notes
from condyle.native.machine.data import NONE
from condyle.tree.body import Body
from condyle.tree.body_constants import BodyConstants, ConstantsTable, layout, tabulated
from condyle.tree.scales import length
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.constraints.base import Constraint
    from condyle.constraints.unilateral import RigidContact, Unilateral
    from condyle.contact.elastic_foundation import ElasticFoundation
    from condyle.contact.hunt_crossley import ContactLaw
    from condyle.forces.actuators import Actuator
    from condyle.forces.path import PathLaw
    from condyle.model.stored import StoredBody
    from condyle.muscles import Muscle
    from condyle.paths import Path


def _instances(things: Mapping[str, Any], *classes: tuple[str, str]) -> dict[str, Any]:
    """Elements of some classes, each given by module and name. A module that is not loaded has no
    instances, so this test does not load it.
    """
    known = tuple(cls for where in classes if (cls := if_loaded(*where)))
    return {name: thing for name, thing in things.items() if isinstance(thing, known)}


class Model:
    """A model: the tree, its forces by name, gravity first, and its constraints by name."""

    data: Array = NONE
    """Numbers that machine code reads from outside."""
    stored: list[StoredBody] | None = None
    """Constants of bodies that are data; None if they are part of the code."""

    def __init__(
        self, tree: Tree, forces: Mapping[str, Force], constraints: Mapping[str, Constraint] | None = None
    ) -> None:
        self.tree, self.forces, self.constraints = tree, dict(forces), dict(constraints or {})
        self.nz = sum(len(f.states) for f in self.forces.values())
        gravity = self.forces["gravity"]
        assert isinstance(gravity, Gravity)
        self.gravity = gravity

    @property
    def unit_length(self) -> float | SX:
        """The unit for position errors [m]: the system's length (tree/scales.py), at most 1."""
        return min(1.0, length(self.tree.bodies))

    @cached_property
    def code(self) -> Model:
        """The model from which code is made: this one, or a copy whose masses, lengths and strengths are
        data (stored.py)."""
        from condyle.model.stored import StoredModel, is_storable

        return StoredModel(self) if is_storable(self) else self

    @cached_property
    def description(self) -> str:
        """Text that determines every operator: equal text, equal machine code."""
        return _description(self)

    @cached_property
    def notes(self) -> Notes:
        """Cached facts derived from the model's expressions."""
        return Notes(self.description)

    @cached_property
    def path_laws(self) -> dict[str, PathLaw]:
        """Forces along paths, by name."""
        return _instances(self.forces, ("condyle.forces.path", "PathLaw"))

    @cached_property
    def paths(self) -> dict[str, Path]:
        """The paths of forces, by the forces' names."""
        return {name: force.path for name, force in self.path_laws.items()}

    @cached_property
    def muscle_laws(self) -> dict[str, Muscle]:
        """Forces that are muscles, by name."""
        return _instances(self.forces, ("condyle.muscles.muscle", "Muscle"))

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the forces that are muscles."""
        return tuple(self.muscle_laws)

    @cached_property
    def contacts(self) -> dict[str, ContactLaw]:
        """Compliant contacts, by name."""
        return _instances(self.forces, ("condyle.contact.hunt_crossley", "ContactLaw"))

    @cached_property
    def foundations(self) -> dict[str, ElasticFoundation]:
        """Compliant contacts with meshes."""
        return _instances(self.contacts, ("condyle.contact.elastic_foundation", "ElasticFoundation"))

    @cached_property
    def rigid_contacts(self) -> dict[str, RigidContact]:
        """Rigid contacts, by name."""
        return _instances(self.constraints, ("condyle.constraints.unilateral.contact", "RigidContact"))

    @cached_property
    def all_contacts(self) -> dict[str, ContactLaw | RigidContact]:
        """Compliant, then rigid contacts: the order of all reports."""
        return {**self.contacts, **self.rigid_contacts}

    @cached_property
    def unilateral(self) -> dict[str, Unilateral]:
        """Unilateral constraints, by name."""
        return _instances(self.constraints, ("condyle.constraints.unilateral.base", "Unilateral"))

    @cached_property
    def reaction_laws(self) -> dict[str, tuple[str, ...]]:
        """Forces that depend on joint reactions, by name, and the bodies of these joints."""
        return {name: bodies for name, force in self.forces.items() if (bodies := force.reactions)}

    @cached_property
    def has_friction(self) -> bool:
        """Whether a unilateral constraint has friction."""
        return any(c.has_friction for c in self.unilateral.values())

    @cached_property
    def reported(self) -> dict[str, str]:
        """Units of the reported quantities of muscles, by name."""
        from condyle.model.symbols import Symbols  # which imports this file

        s = Symbols(self)
        view = s.view(s.kinematics())
        for _ in s.laws(view):
            if (muscle := self.muscle_laws.get(view.law)) is not None:
                return {name: unit for name, (unit, _) in muscle.report(view).items()}
        return {}

    @cached_property
    def controlled_paths(self) -> dict[str, PathLaw]:
        """Muscles and actuators along paths, by name."""
        actuators = ("condyle.forces.actuators", "PathActuator")
        return _instances(self.forces, ("condyle.muscles.muscle", "Muscle"), actuators)

    @cached_property
    def actuators(self) -> dict[str, Actuator]:
        """All other actuators, by name."""
        found = _instances(self.forces, ("condyle.forces.actuators", "Actuator"))
        return {name: force for name, force in found.items() if name not in self.controlled_paths}

    @cached_property
    def over_surfaces(self) -> bool:
        """Whether some path over a surface, or a contact, is found by iteration, which may fail."""
        return any(path.wraps for path in self.paths.values()) or any(
            contact.solved for contact in self.contacts.values()
        )

    @cached_property
    def leaves_out(self) -> bool:
        """Whether some path may have to skip surfaces (paths/multiple_wraps.py)."""
        return any(len(path.wraps) > 1 for path in self.paths.values())

    @cached_property
    def tabulated(self) -> ConstantsTable:
        return tabulated(layout(self.tree))

    @property
    def placed(self) -> list[BodyConstants]:
        return self.tabulated.placed

    def row(self, B: int, name: str) -> list[Any]:
        """A constant of a body as a row of a table: its numbers column by column, with DataPlaces for
        data."""
        if self.stored is not None:
            return self.stored[B].row(name)
        value = getattr(self.placed[B], name)
        return np.ravel(np.hstack(value) if name == "I" else value, order="F").tolist()  # type: ignore[no-any-return]

    def varies(self, body: str, *names: str) -> bool:
        """Whether some constants of a body depend on Parameters."""
        B = self.tree.body(body).index
        return (
            self.stored is None
            and B >= 0
            and any(isinstance(getattr(self.placed[B], name), ca.SX) for name in names)
        )

    @property
    def table(self) -> tuple[SX, SX]:
        """Symbols, and their expressions in parameters; empty without parameters."""
        if not len(self.tree.parameters):
            return ca.SX(0, 1), ca.SX(0, 1)
        return self.tabulated.symbols, self.tabulated.meanings

    @cached_property
    def parameter_check(self) -> ParameterCheck:
        """Checks of parameter values."""
        return ParameterCheck(self)

    @cached_property
    def mobilizers(self) -> list[str]:
        """The description of each body's mobilizer."""
        known = {id(b.mobilizer): b.mobilizer for b in self.tree.bodies}
        texts = {key: mobilizer.description() for key, mobilizer in known.items()}
        return [texts[id(b.mobilizer)] for b in self.tree.bodies]

    @cached_property
    def moved_by_time(self) -> list[Body]:
        """Bodies whose joint moves with time: Vt of mobilizers/base.py (2) is nonzero."""

        def moves(m: Mobilizer) -> bool:
            return any(traced(m).function.nnz_out(k) for k in (4, 5))  # w_t, v_t

        known = {text: b.mobilizer for b, text in zip(self.tree.bodies, self.mobilizers, strict=True)}
        timed = {text for text, mobilizer in known.items() if moves(mobilizer)}
        return [b for b, text in zip(self.tree.bodies, self.mobilizers, strict=True) if text in timed]

    @cached_property
    def patterns(self) -> list[Pattern]:
        """The equations of each body's mobilizer, without their numbers."""
        known = dict(zip(self.mobilizers, (b.mobilizer for b in self.tree.bodies), strict=True))
        found = {text: pattern(mobilizer) for text, mobilizer in known.items()}
        return [found[text] for text in self.mobilizers]

    @cached_property
    def exerting_forces(self) -> tuple[str, ...]:
        """Names of the forces that exert loads. Measures, which exert none, come after them."""
        return tuple(name for name, force in self.forces.items() if force.exerts)

    @property
    def switches(self) -> tuple[str, ...]:
        """Names that can be disabled: forces, constraints, and bodies with prescribed motion."""
        return *self.forces, *self.constraints, *(b.name for b in self.tree.driven)

    @cached_property
    def tail(self) -> dict[str, slice]:
        """The slice of each part of the tail."""
        sizes = {
            "t": 1,
            "z": self.nz,
            "inputs": len(self.tree.inputs),
            "discrete": len(self.tree.discrete),
            "enabled": len(self.switches),
            "lock": self.tree.nu,
            "held": self.tree.nu,
            "parameters": len(self.tree.parameters),
            "table": self.table[0].numel(),
        }
        out, start = {}, 0
        for name, n in sizes.items():
            out[name], start = slice(start, start + n), start + n
        return out

    @property
    def instance(self) -> slice:
        """Location of parameters and table in the tail: the results of the INSTANCE kernel."""
        return slice(self.tail["parameters"].start, self.tail["table"].stop)

    @property
    def tail_size(self) -> int:
        return self.tail["table"].stop

    def equations(self, *levels: str) -> int:
        """Number of constraint equations, of all or some levels."""
        return sum(
            part.size
            for c in self.constraints.values()
            for part in c.parts
            if not levels or part.level in levels
        )

    @property
    def state_variables(self) -> tuple[str, ...]:
        """Names of the auxiliary states z of forces."""
        return tuple(name for name, _ in state_variables(self.forces))

    def equation_names(self) -> list[tuple[str, str]]:
        """Name and level of each constraint equation, in their order."""
        return equation_names(self.constraints)

    def equation_units(self) -> list[str]:
        """Unit of each constraint equation, at position level; "" if unknown."""
        return [unit for c in self.constraints.values() for unit in c.measures(self.tree)]

    def reaction_rows(self, constraint: str) -> dict[str, int]:
        """The rows of constraints.reactions that belong to a constraint, by body."""
        names = list(self.constraints)
        start = sum(len(self.constraints[name].bodies) for name in names[: names.index(constraint)])
        return {body: start + i for i, body in enumerate(self.constraints[constraint].bodies)}

    def sizes(self) -> dict[str, int]:
        nq, nu = self.tree.nq, self.tree.nu
        return {
            "q": nq,
            "qdot": nq,
            "qddot": nq,
            "u": nu,
            "tau": nu,
            "udot": nu,
            "f": nu,
            "weights": nu,
            "station": 3,
            "tail": self.tail_size,
            "parameters": len(self.tree.parameters),
            "lambda_": self.equations(),
            "L": len(self.paths),
            "Ldot": len(self.paths),
        }


def equation_names(constraints: Mapping[str, Constraint]) -> list[tuple[str, str]]:
    """Name and level of each constraint equation, in their order: the constraint's name, with [k] if it has
    several."""
    return [
        (name if c.size == 1 else f"{name}[{k}]", level)
        for name, c in constraints.items()
        for k, level in enumerate(part.level for part in c.parts for _ in range(part.size))
    ]


def description(model: Model) -> str:
    """Text that determines every operator: equal text, equal machine code."""
    return model.description


def _description(model: Model) -> str:
    stored = model.stored

    def number(body: Any, name: str, value: Any) -> str:
        if name in body.symbolic:
            return f"{[p.name for p in body.symbolic[name].parameters]} {body.symbolic[name].text}"
        return repr(np.asarray(value).tolist())

    lines = [f"{model.tree.parameters.names} {model.tree.inputs.names} {model.tree.discrete.names}"]
    kinds = {text: k for k, text in enumerate(dict.fromkeys(model.mobilizers))}
    for b, kind in zip(model.tree.bodies, model.mobilizers, strict=True):
        m = b.mass_properties
        values = {
            "R_PF": b.X_PF.R,
            "p_PF": b.X_PF.p,
            "R_BM": b.X_BM.R,
            "p_BM": b.X_BM.p,
            "mass": m.mass,
            "com": m.com,
            "inertia": m.inertia,
        }
        if stored is None:
            numbers = " ".join(number(b, name, value) for name, value in values.items())
        else:
            numbers = stored[b.index].text
        prescribed = f" motion {b.motion.description()}" if b.motion else ""
        prescribed += f" follows {b.follows.index}" if b.follows is not None else ""
        lines.append(
            f"{b.name} {model.tree.parent(b.index)} {b.speeds} mobilizer {kinds[kind]} {numbers}{prescribed}"
        )
    laws = [f"{name}: {force.description()} {force.code()}" for name, force in model.forces.items()]
    laws += [f"constraint {name}: {c.description()} {c.code()}" for name, c in model.constraints.items()]
    return "\n".join([*lines, *kinds, *laws])
