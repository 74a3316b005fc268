"""Records of positions and forces of contacts, and of unilateral constraints for solvers of impacts and
contact forces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import casadi as ca

from condyle.arrays import SX
from condyle.laws.described import sx
from condyle.model.flat import column, rows
from condyle.model.operators.columns import WRENCH, Columns, fixed, xyz
from condyle.model.operators.constraints import solved_multipliers
from condyle.model.operators.record import OperatorRecord, Stage
from condyle.model.operators.rooms import equations, hertz, hunt_crossley, surfaces

if TYPE_CHECKING:
    from condyle.constraints.unilateral import RigidContact
    from condyle.dynamics.view import TreeView
    from condyle.model.symbols import Symbols


def _touches(s: Symbols) -> Iterator[tuple[hunt_crossley.ContactLaw | None, surfaces.Touch]]:
    """Positions of all contacts, with the laws of compliant ones."""
    view = s.view(s.kinematics(moving=False))
    for _ in s.laws(view):
        if (contact := s.model.contacts.get(view.law)) is not None:
            yield contact, contact.touch(view)
    for c in s.model.rigid_contacts.values():
        yield None, _rigid_touch(c.places[0].at(view))


def _rigid_touch(x: SX) -> surfaces.Touch:
    """A Touch from depth, normal and point of Touching in unilateral/contact.py."""
    return surfaces.Touch(x[0], x[1:4], x[4:7] + x[0] / 2 * x[1:4], ca.SX.nan())


def _forces(
    s: Symbols, lambda_: SX
) -> Iterator[tuple[SX, hunt_crossley.ContactLaw | RigidContact, hunt_crossley.PairForces]]:
    """Forces of each contact. lambda_: multipliers of all constraint equations."""
    view = s.view(s.kinematics())
    for enabled, _ in s.laws(view):
        if (contact := s.model.contacts.get(view.law)) is not None:
            yield enabled, contact, contact.forces(view)
    slices, first = equations.row_slices(s.model.constraints), len(s.model.forces)
    for k, name in enumerate(s.model.constraints):
        if (c := s.model.rigid_contacts.get(name)) is not None:
            yield s.enabled[first + k], c, _rigid_forces(c, view, lambda_[slices[name]])


def _rigid_forces(c: RigidContact, view: TreeView, lambda_: SX) -> hunt_crossley.PairForces:
    """docs/theory/rigid_contact.md (23) from the contact's multipliers, which are zero while it is open."""
    x = [leaf.at(view) for leaf in c.moving]
    where, slip, f_t, none = _rigid_touch(x[0]), c.slip(x), ca.SX(3, 1), ca.SX(3, 1)
    if c.has_friction:
        t_1, t_2 = c.across(x)
        slides = -sx(c.friction) * lambda_[0] * c.direction(x)
        f_t = ca.if_else(c.sliding(), slides, 0) - t_1 * lambda_[1] - t_2 * lambda_[2]
    lost = ca.if_else(c.sliding(), ca.fmax(-ca.dot(f_t, slip), 0), 0) if c.has_friction else ca.SX(0)
    f = lambda_[0] * where.n + f_t
    return hunt_crossley.PairForces(where, x[0][4:7], slip, slip, lambda_[0], lambda_[0], f_t, none, lost, f)


def _lambda(s: Symbols) -> list[SX]:
    """Multipliers of all equations, with the status; computed only if there are rigid contacts."""
    if s.model.rigid_contacts:
        return solved_multipliers(s, ca.SX(s.model.tree.nu, 1))
    return [ca.SX(s.model.equations(), 1), ca.SX(0)]


def _at(
    quantity: Callable[[hunt_crossley.ContactLaw | None, surfaces.Touch], SX],
) -> Callable[[Symbols], list[SX]]:
    """A quantity of each contact's position."""
    return lambda s: [column(quantity(contact, where) for contact, where in _touches(s))]


def _slips(s: Symbols) -> list[SX]:
    return [column(done.v_t for _, _, done in _forces(s, ca.SX(s.model.equations(), 1)))]


def _of(quantity: Callable[[hunt_crossley.PairForces], SX]) -> Callable[[Symbols], list[SX]]:
    """A quantity of each contact's force, zero if disabled; and the status."""

    def expressions(s: Symbols) -> list[SX]:
        lambda_, status = _lambda(s)
        return [column(ca.if_else(on, quantity(done), 0) for on, _, done in _forces(s, lambda_)), status]

    return expressions


def _wrenches(s: Symbols) -> list[SX]:
    view, out = s.view(s.kinematics()), []
    lambda_, status = _lambda(s)
    for on, contact, done in _forces(s, lambda_):
        for surface, sign in zip(contact.surfaces(), (-1, 1), strict=True):
            arm = done.P - view.station_position(surface.body, ca.SX(3, 1))
            wrench = sign * ca.vertcat(ca.cross(arm, done.f) + done.m, done.f)
            out.append(ca.if_else(on, wrench, 0).T)
    return [rows(ca.vertcat(ca.SX(0, 6), *out)), status]


def _springs(s: Symbols) -> list[SX]:
    """Inputs of the springs of all meshes, one side after the other."""
    view = s.view(s.kinematics())
    return [
        column(
            side.numbers(view)[2]
            for _, force in s.laws(view)
            if view.law in s.model.contacts
            for side in getattr(force, "sides", ())
        )
    ]


def _energies(s: Symbols) -> list[SX]:
    """Energy stored in the springs of each mesh contact [J], zero if disabled."""
    view = s.view(s.kinematics(moving=False))
    return [
        column(
            ca.if_else(on, foundation.potential(view), 0)
            for on, _ in s.laws(view)
            if (foundation := s.model.foundations.get(view.law)) is not None
        )
    ]


def _unilateral_rows(s: Symbols) -> list[SX]:
    """docs/theory/rigid_contact.md (2)-(4) of each unilateral constraint, closed or open; without friction
    the rows of slip are zero."""
    view, nu = s.view(s.kinematics()), s.model.tree.nu
    gap, rate, slip, G, bias, numbers = [], [], [], [], [], []
    for name, c in s.model.unilateral.items():
        mine = equations.ConstraintEquations({name: c.holding()}, view, ca.SX.ones(1))
        p, v = mine.errors()
        a, J, n = mine.bias(), mine.jacobian(), v.numel()
        gap.append(-p)
        rate.append(-v[0])
        slip.append(ca.vertcat(v[1:, :], ca.SX(3 - n, 1)))
        G.append(rows(ca.vertcat(-J[0, :], J[1:, :], ca.SX(3 - n, nu))))
        bias.append(ca.vertcat(-a[0], a[1:, :], ca.SX(3 - n, 1)))
        numbers.append(ca.horzcat(sx(c.restitution), sx(getattr(c, "friction", 0.0))))
    made = ca.vertcat(ca.SX(0, 2), *numbers)
    return [
        ca.densify(x)
        for x in (column(gap), column(rate), column(slip), column(G), column(bias), made[:, 0], made[:, 1])
    ]


def _tangents(s: Symbols) -> list[SX]:
    """t_1 and t_2 of (4) of each unilateral constraint, row by row; zero without friction."""
    view = s.view(s.kinematics(moving=False))
    out: list[ca.SX] = []
    for name in s.model.unilateral:
        c = s.model.rigid_contacts.get(name)
        t = ca.SX(3, 1), ca.SX(3, 1)
        if c is not None and c.has_friction:
            t = c.across([leaf.at(view) for leaf in c.places])
        out += t
    return [ca.densify(column(out))]


def _each(*columns: str) -> Columns:
    """The columns of `fixed` prefixed with each contact's name."""
    mine = fixed(*columns)
    return lambda model, given: [
        (f"{name}_{c}", unit) for name in model.all_contacts for c, unit in mine(model, given)
    ]


def _on_bodies(model, given):  # type: ignore[no-untyped-def]
    return [
        (f"{name}_{surface.body}_{c}", unit)
        for name, contact in model.all_contacts.items()
        for surface in contact.surfaces()
        for c, unit in fixed(*WRENCH)(model, given)
    ]


def _of_group(model, given):  # type: ignore[no-untyped-def]
    return [(f"{given['group']}_{c}", unit) for c, unit in fixed(*xyz("p", "m"))(model, given)]


READS = "joints forces constraints motions"
"""What contact forces read: rigid contacts depend on multipliers."""

OPERATORS = (
    OperatorRecord(
        "contacts.depths",
        Stage.POSITION,
        "q",
        results={"x": "contacts"},
        direct=True,
        expressions=_at(lambda contact, where: where.x),
        columns=_each("depth [m]"),
    ),
    OperatorRecord(
        "contacts.points",
        Stage.POSITION,
        "q",
        results={"P": "contacts 3"},
        expressions=_at(lambda contact, where: where.at(ca.SX(0.5) if contact is None else contact.share)),
        columns=_each(*xyz("p", "m")),
    ),
    OperatorRecord(
        "contacts.normals",
        Stage.POSITION,
        "q",
        results={"n": "contacts 3"},
        expressions=_at(lambda contact, where: where.n),
        columns=_each(*xyz("n", "")),
    ),
    OperatorRecord(
        "contacts.patches",
        Stage.POSITION,
        "q",
        results={"axes": "contacts 2"},
        expressions=_at(lambda contact, where: ca.SX(2, 1) if contact is None else hertz.patch(where)),
        columns=_each("major [m]", "minor [m]"),
    ),
    OperatorRecord(
        "contacts.slips",
        Stage.VELOCITY,
        "q u",
        results={"v_t": "contacts 3"},
        reads="joints forces constraints",
        expressions=_slips,
        columns=_each(*xyz("v", "m/s")),
    ),
    OperatorRecord(
        "contacts.forces",
        Stage.ACCELERATION,
        "q u",
        results={"f": "contacts 3"},
        status="accelerations",
        reads=READS,
        expressions=_of(lambda done: done.f),
        columns=_each(*xyz("f", "N")),
    ),
    OperatorRecord(
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
    OperatorRecord(
        "contact_springs",
        Stage.FORCE,
        "q u",
        results={"p": "springs"},
        reads="joints forces",
        expressions=_springs,
        serves="contacts.pressures",
    ),
    OperatorRecord("contacts.pressures", Stage.FORCE, "q u"),
    OperatorRecord(
        "foundation_energies",
        Stage.FORCE,
        takes="q",
        results={"V": "foundations"},
        serves="simulate",
        reads="joints forces",
        expressions=_energies,
        watched=False,
    ),
    OperatorRecord(
        "contacts.wrenches",
        Stage.ACCELERATION,
        "q u",
        results={"F": "contacts 2 6"},
        status="accelerations",
        reads=READS,
        expressions=_wrenches,
        columns=_on_bodies,
    ),
    OperatorRecord(
        "contact_centers",
        Stage.ACCELERATION,
        "q u",
        results={"fP": "contacts 4"},
        status="accelerations",
        reads=READS,
        expressions=_of(lambda done: ca.vertcat(done.f_n * done.P, done.f_n)),
        serves="contacts.center_of_pressure",
    ),
    OperatorRecord("contacts.center_of_pressure", Stage.ACCELERATION, "q u", columns=_of_group),
    OperatorRecord(
        "unilateral_rows",
        Stage.VELOCITY,
        takes="q u",
        results={
            "gap": "unilateral",
            "rate": "unilateral",
            "slip": "unilateral 2",
            "G": "unilateral 3 nu",
            "bias": "unilateral 3",
            "restitution": "unilateral",
            "friction": "unilateral",
        },
        reads="joints constraints",
        serves="simulate",
        expressions=_unilateral_rows,
        watched=False,
    ),
    OperatorRecord(
        "unilateral_tangents",
        Stage.POSITION,
        takes="q u",
        results={"T": "unilateral 2 3"},
        reads="joints constraints",
        serves="simulate",
        expressions=_tangents,
        watched=False,
    ),
)
