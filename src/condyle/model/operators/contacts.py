"""Where contacts are and what they exert: records."""
from __future__ import annotations

from collections.abc import Callable, Iterator

import casadi as ca

from condyle.contact.hertz import patch
from condyle.contact.law import ContactLaw, Forces
from condyle.contact.touch import Touch
from condyle.model.flat import column, rows
from condyle.model.operators.columns import WRENCH, Columns, fixed, xyz
from condyle.model.operators.record import Operator, Stage
from condyle.model.symbols import Symbols


def _touches(s: Symbols) -> Iterator[tuple[ContactLaw, Touch]]:
    view = s.view(s.kinematics(moving=False))
    for _, force in s.laws(view):
        if isinstance(force, ContactLaw):
            yield force, force.touch(view)


def _forces(s: Symbols) -> Iterator[tuple[ca.SX, ContactLaw, Forces]]:
    view = s.view(s.kinematics())
    for enabled, force in s.laws(view):
        if isinstance(force, ContactLaw):
            yield enabled, force, force.forces(view)


def _at(quantity: Callable[[ContactLaw, Touch], ca.SX]) -> Callable[[Symbols], list[ca.SX]]:
    """A quantity of each contact's position."""
    return lambda s: [column(quantity(law, where) for law, where in _touches(s))]


def _of(quantity: Callable[[Forces], ca.SX], exerted: bool = True) -> Callable[[Symbols], list[ca.SX]]:
    """A quantity of what each contact exerts, zero of those that are disabled."""
    def expressions(s: Symbols) -> list[ca.SX]:
        return [column(ca.if_else(on, quantity(done), 0) if exerted else quantity(done)
                       for on, _, done in _forces(s))]
    return expressions


def _wrenches(s: Symbols) -> list[ca.SX]:
    view, out = s.view(s.kinematics()), []
    for on, law, done in _forces(s):
        for surface, sign in zip(law.surfaces(), (-1, 1), strict=True):
            arm = done.P - view.station_position(surface.body, ca.SX(3, 1))
            wrench = sign * ca.vertcat(ca.cross(arm, done.f) + done.m, done.f)
            out.append(ca.if_else(on, wrench, 0).T)
    return [rows(ca.vertcat(ca.SX(0, 6), *out))]


def _springs(s: Symbols) -> list[ca.SX]:
    """What the springs of all meshes need, one side after the other."""
    view = s.view(s.kinematics())
    return [column(side.numbers(view)[2] for _, force in s.laws(view) if isinstance(force, ContactLaw)
                   for side in getattr(force, "sides", ()))]


def _each(*columns: str) -> Columns:
    """Columns of `fixed` after each contact's name."""
    mine = fixed(*columns)
    return lambda model, given: [(f"{name}_{c}", unit) for name in model.contacts
                                 for c, unit in mine(model, given)]


def _on_bodies(model, given):  # type: ignore[no-untyped-def]
    return [(f"{name}_{surface.body}_{c}", unit) for name, law in model.contacts.items()
            for surface in law.surfaces() for c, unit in fixed(*WRENCH)(model, given)]


OPERATORS = (
    Operator("contact_depths", Stage.POSITION, "q", results={"x": "contacts"}, direct=True,
             expressions=_at(lambda law, where: where.x), columns=_each("depth [m]")),
    Operator("contact_points", Stage.POSITION, "q", results={"P": "contacts 3"},
             expressions=_at(lambda law, where: where.at(law.share)), columns=_each(*xyz("p", "m"))),
    Operator("contact_normals", Stage.POSITION, "q", results={"n": "contacts 3"},
             expressions=_at(lambda law, where: where.n), columns=_each(*xyz("n", ""))),
    Operator("contact_patches", Stage.POSITION, "q", results={"axes": "contacts 2"},
             expressions=_at(lambda law, where: patch(where)), columns=_each("major [m]", "minor [m]")),
    Operator("contact_slips", Stage.VELOCITY, "q u", results={"v_t": "contacts 3"},
             reads="joints forces", expressions=_of(lambda done: done.v_t, exerted=False),
             columns=_each(*xyz("v", "m/s"))),
    Operator("contact_forces", Stage.FORCE, "q u", results={"f": "contacts 3"},
             reads="joints forces", expressions=_of(lambda done: done.f), columns=_each(*xyz("f", "N"))),
    Operator("contact_losses", Stage.FORCE, "q u", results={"lost": "contacts"}, direct=True,
             reads="joints forces", expressions=_of(lambda done: done.lost), columns=_each("lost [W]")),
    Operator("contact_springs", Stage.FORCE, "q u", results={"p": "springs"}, reads="joints forces",
             expressions=_springs, differentiable=False, serves="contact_pressures"),
    Operator("contact_wrenches", Stage.FORCE, "q u", results={"F": "contacts 2 6"},
             reads="joints forces", expressions=_wrenches, columns=_on_bodies),
)
