"""Where contacts are and what they exert: records."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import casadi as ca

from condyle.constraints.solve.equations import row_slices
from condyle.constraints.unilateral import RigidContact
from condyle.contact.elastic_foundation import ElasticFoundation
from condyle.contact.hertz import patch
from condyle.contact.hunt_crossley import ContactLaw, Forces
from condyle.contact.surfaces import Touch
from condyle.dynamics.view import View
from condyle.laws.described import sx
from condyle.model.flat import column, rows
from condyle.model.operators.columns import WRENCH, Columns, fixed, xyz
from condyle.model.operators.constraints import solved_multipliers
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols


def _touches(s: Symbols) -> Iterator[tuple[ContactLaw | None, Touch]]:
    """Where each is, with the law of those that yield."""
    view = s.view(s.kinematics(moving=False))
    for _, force in s.laws(view):
        if isinstance(force, ContactLaw):
            yield force, force.touch(view)
    for c in s.model.rigid_contacts.values():
        yield None, _rigid_touch(c.places[0].at(view))


def _rigid_touch(x: ca.SX) -> Touch:
    """From depth, normal and point of unilateral/contact.py, Touching."""
    return Touch(x[0], x[1:4], x[4:7] + x[0] / 2 * x[1:4], ca.SX.nan())


def _forces(s: Symbols, lambda_: ca.SX) -> Iterator[tuple[ca.SX, ContactLaw | RigidContact, Forces]]:
    """What each exerts; lambda_: of all constraint equations."""
    view = s.view(s.kinematics())
    for enabled, force in s.laws(view):
        if isinstance(force, ContactLaw):
            yield enabled, force, force.forces(view)
    slices, first = row_slices(s.model.constraints), len(s.model.forces)
    for k, (name, c) in enumerate(s.model.constraints.items()):
        if isinstance(c, RigidContact):
            yield s.enabled[first + k], c, _rigid_forces(c, view, lambda_[slices[name]])


def _rigid_forces(c: RigidContact, view: View, lambda_: ca.SX) -> Forces:
    """docs/theory/rigid_contact.md (23) from its multipliers, which are zero where it is open."""
    x = [leaf.at(view) for leaf in c.moving]
    where, slip, f_t, none = _rigid_touch(x[0]), c.slip(x), ca.SX(3, 1), ca.SX(3, 1)
    if c.has_friction:
        t_1, t_2 = c.across(x)
        slides = -sx(c.friction) * lambda_[0] * c.direction(x)
        f_t = ca.if_else(c.sliding(), slides, 0) - t_1 * lambda_[1] - t_2 * lambda_[2]
    lost = ca.if_else(c.sliding(), ca.fmax(-ca.dot(f_t, slip), 0), 0) if c.has_friction else ca.SX(0)
    return Forces(where, x[0][4:7], slip, slip, lambda_[0], lambda_[0], f_t, none, lost)


def _lambda(s: Symbols) -> list[ca.SX]:
    """Of all equations, with the status: solved for where rigid contacts ask for it."""
    if s.model.rigid_contacts:
        return solved_multipliers(s, ca.SX(s.model.tree.nu, 1))
    return [ca.SX(s.model.equations(), 1), ca.SX(0)]


def _at(quantity: Callable[[ContactLaw | None, Touch], ca.SX]) -> Callable[[Symbols], list[ca.SX]]:
    """A quantity of each contact's position."""
    return lambda s: [column(quantity(law, where) for law, where in _touches(s))]


def _slips(s: Symbols) -> list[ca.SX]:
    return [column(done.v_t for _, _, done in _forces(s, ca.SX(s.model.equations(), 1)))]


def _of(quantity: Callable[[Forces], ca.SX]) -> Callable[[Symbols], list[ca.SX]]:
    """A quantity of what each contact exerts, zero of those that are disabled; and the status."""

    def expressions(s: Symbols) -> list[ca.SX]:
        lambda_, status = _lambda(s)
        return [column(ca.if_else(on, quantity(done), 0) for on, _, done in _forces(s, lambda_)), status]

    return expressions


def _wrenches(s: Symbols) -> list[ca.SX]:
    view, out = s.view(s.kinematics()), []
    lambda_, status = _lambda(s)
    for on, law, done in _forces(s, lambda_):
        for surface, sign in zip(law.surfaces(), (-1, 1), strict=True):
            arm = done.P - view.station_position(surface.body, ca.SX(3, 1))
            wrench = sign * ca.vertcat(ca.cross(arm, done.f) + done.m, done.f)
            out.append(ca.if_else(on, wrench, 0).T)
    return [rows(ca.vertcat(ca.SX(0, 6), *out)), status]


def _springs(s: Symbols) -> list[ca.SX]:
    """What the springs of all meshes need, one side after the other."""
    view = s.view(s.kinematics())
    return [
        column(
            side.numbers(view)[2]
            for _, force in s.laws(view)
            if isinstance(force, ContactLaw)
            for side in getattr(force, "sides", ())
        )
    ]


def _energies(s: Symbols) -> list[ca.SX]:
    """What the springs of each contact of meshes store [J], zero of those that are disabled."""
    view = s.view(s.kinematics(moving=False))
    return [
        column(
            ca.if_else(on, force.potential(view), 0)
            for on, force in s.laws(view)
            if isinstance(force, ElasticFoundation)
        )
    ]


def _each(*columns: str) -> Columns:
    """Columns of `fixed` after each contact's name."""
    mine = fixed(*columns)
    return lambda model, given: [
        (f"{name}_{c}", unit) for name in model.all_contacts for c, unit in mine(model, given)
    ]


def _on_bodies(model, given):  # type: ignore[no-untyped-def]
    return [
        (f"{name}_{surface.body}_{c}", unit)
        for name, law in model.all_contacts.items()
        for surface in law.surfaces()
        for c, unit in fixed(*WRENCH)(model, given)
    ]


def _of_group(model, given):  # type: ignore[no-untyped-def]
    return [(f"{given['group']}_{c}", unit) for c, unit in fixed(*xyz("p", "m"))(model, given)]


READS = "joints forces constraints motions"
"""Of what contacts exert: rigid ones push by multipliers."""

OPERATORS = (
    Operator(
        "contacts.depths",
        Stage.POSITION,
        "q",
        results={"x": "contacts"},
        direct=True,
        expressions=_at(lambda law, where: where.x),
        columns=_each("depth [m]"),
    ),
    Operator(
        "contacts.points",
        Stage.POSITION,
        "q",
        results={"P": "contacts 3"},
        expressions=_at(lambda law, where: where.at(ca.SX(0.5) if law is None else law.share)),
        columns=_each(*xyz("p", "m")),
    ),
    Operator(
        "contacts.normals",
        Stage.POSITION,
        "q",
        results={"n": "contacts 3"},
        expressions=_at(lambda law, where: where.n),
        columns=_each(*xyz("n", "")),
    ),
    Operator(
        "contacts.patches",
        Stage.POSITION,
        "q",
        results={"axes": "contacts 2"},
        expressions=_at(lambda law, where: ca.SX(2, 1) if law is None else patch(where)),
        columns=_each("major [m]", "minor [m]"),
    ),
    Operator(
        "contacts.slips",
        Stage.VELOCITY,
        "q u",
        results={"v_t": "contacts 3"},
        reads="joints forces constraints",
        expressions=_slips,
        columns=_each(*xyz("v", "m/s")),
    ),
    Operator(
        "contacts.forces",
        Stage.ACCELERATION,
        "q u",
        results={"f": "contacts 3"},
        status="accelerations",
        reads=READS,
        expressions=_of(lambda done: done.f),
        columns=_each(*xyz("f", "N")),
    ),
    Operator(
        "contacts.losses",
        Stage.ACCELERATION,
        "q u",
        results={"lost": "contacts"},
        direct=True,
        status="accelerations",
        reads=READS,
        expressions=_of(lambda done: done.lost),
        columns=_each("lost [W]"),
    ),
    Operator(
        "contact_springs",
        Stage.FORCE,
        "q u",
        results={"p": "springs"},
        reads="joints forces",
        expressions=_springs,
        differentiable=False,
        serves="contacts.pressures",
    ),
    Operator("contacts.pressures", Stage.FORCE, "q u"),
    Operator(
        "foundation_energies",
        Stage.FORCE,
        takes="q",
        results={"V": "foundations"},
        serves="simulate",
        reads="joints forces",
        expressions=_energies,
        differentiable=False,
        watched=False,
    ),
    Operator(
        "contacts.wrenches",
        Stage.ACCELERATION,
        "q u",
        results={"F": "contacts 2 6"},
        status="accelerations",
        reads=READS,
        expressions=_wrenches,
        columns=_on_bodies,
    ),
    Operator(
        "contact_centers",
        Stage.ACCELERATION,
        "q u",
        results={"fP": "contacts 4"},
        status="accelerations",
        reads=READS,
        expressions=_of(lambda done: ca.vertcat(done.f_n * done.P, done.f_n)),
        differentiable=False,
        serves="contacts.center_of_pressure",
    ),
    Operator("contacts.center_of_pressure", Stage.ACCELERATION, "q u", columns=_of_group),
)
