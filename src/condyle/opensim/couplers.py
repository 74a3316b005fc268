"""Joints some of whose coordinates follow others.

Reading with couplers="joints": coordinates that only a CoordinateCouplerConstraint drives become part of their joints.

A joint some of whose coordinates follow its others is a `cd.Coupled` of fewer coordinates. A joint all of
whose coordinates follow those of another joint is a `cd.Coupled` of that one's coordinates, and its body
follows the other body. Couplers that fit neither case remain constraints, and are noted. Written, such joints
have all their coordinates, and CoordinateCouplerConstraints give those that follow.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import Any

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.functions import Function, Scaled
from condyle.mobilizers import Coupled, Mobilizer, has_rates
from condyle.opensim.constraints import coupler
from condyle.opensim.element import Element
from condyle.opensim.functions import joint_function
from condyle.opensim.joints import Joint, forward
from condyle.opensim.reading import Reading
from condyle.opensim.writing import Writing, Xml, joint_name, xml
from condyle.records import dataclass
from condyle.tree.body import Body, Coordinate

LONG = 10_000
"""Length above which a text cannot be a name."""
WAYS = ("constraints", "joints")
"""Options of read_osim for couplers."""


@dataclass(frozen=True)
class Coupler:
    """A CoordinateCouplerConstraint: dependent = function(independent...), elements of coordinates."""

    element: Element
    independent: tuple[Element, ...]
    dependent: Element
    function: Function


@dataclass
class CoupledJoint:
    """A joint with its couplers.

    Attributes:
        joint: the joint as it is in the file.
        couplers: those that give coordinates of it.
        leader: the joint whose coordinates all of these follow; None if they follow its own.
    """

    joint: Joint
    couplers: list[Coupler] = field(default_factory=list)
    leader: Joint | None = None

    def free(self) -> tuple[Element, ...]:
        """Its remaining coordinates."""
        given = {c.dependent for c in self.couplers}
        return tuple(e for e in self.joint.coordinates if e not in given)

    def mobilizer(self, of: Sequence[Element], units: Sequence[str]) -> Mobilizer:
        """Its motion as a function of some coordinates with these units."""
        own, given = self.joint.mobilizer, {c.dependent: c for c in self.couplers}
        if not given:
            return own
        names = {e: e.name or f"coordinate{k}" for k, e in enumerate(of)}
        laws: list[Any] = [
            names[e] if e not in given else (given[e].function, tuple(names[i] for i in given[e].independent))
            for e in self.joint.coordinates
        ]
        return Coupled(
            own,
            tuple(names.values()),
            tuple(laws),
            units=tuple(units),
            own=tuple(e.name or "" for e in self.joint.coordinates),
        )


def coupled_joints(reading: Reading, joints: Iterable[Joint]) -> dict[Joint, CoupledJoint]:
    """Joints of the tree with their couplers; couplers that become part of joints are not read again."""
    joints = list(joints)
    home = {e: joint for joint in joints for e in joint.coordinates}
    found = _couplers(reading)
    users = _users(reading, found)
    out = {joint: CoupledJoint(joint) for joint in joints}
    for joint in joints:
        mine = [c for c in found if home.get(c.dependent) is joint]
        fine = [c for c in mine if not _objection(reading, c, found, home, users)]
        free = [e for e in joint.coordinates if e not in {c.dependent for c in fine}]
        inside = [c for c in fine if all(home[i] is joint for i in c.independent)]
        if inside and all(i in free for c in inside for i in c.independent):
            out[joint].couplers = inside
        elif not free and len(leaders := {home[i] for c in fine for i in c.independent}) == 1:
            out[joint].couplers, out[joint].leader = fine, leaders.pop()
    for each in out.values():  # a joint that follows cannot lead
        if each.leader is not None and (
            out[each.leader].leader is not None or not _led(each, out[each.leader])
        ):
            each.couplers, each.leader = [], None
    taken = {c.element for each in out.values() for c in each.couplers}
    for c in found:
        if c.element in taken:
            reading.names[c.element] = c.element.name  # it is read
            reading.use_all(c.element)
        else:
            reading.remark(
                c.element,
                "remains a constraint: "
                + (
                    _objection(reading, c, found, home, users)
                    or "its coordinate follows several joints, or one "
                    "that follows another, or its joint has coordinates of its own beside it"
                ),
            )
    return out


def _led(each: CoupledJoint, leader: CoupledJoint) -> bool:
    """Whether all coordinates that a joint follows remain with its leader."""
    return all(i in leader.free() for c in each.couplers for i in c.independent)


def _couplers(reading: Reading) -> list[Coupler]:
    """All couplers that are enforced and complete; the reader of constraints reports errors of the others."""
    out = []
    for e in reading.objects(reading.model, "ConstraintSet"):
        if e.tag != "CoordinateCouplerConstraint" or not reading.boolean(e, "isEnforced", True):
            continue
        find = lambda word, of=e: reading.components.find(word, of, "Coordinate")
        names = [find(word) for word in reading.words(e, "independent_coordinate_names")]
        dependent = find(reading.text(e, "dependent_coordinate_name"))
        function = reading.function(e, "coupled_coordinates_function")
        if (
            function is None
            or dependent is None
            or not names
            or None in names
            or function.variables not in (None, len(names))
        ):
            continue
        factor = reading.number(e, "scale_factor", 1.0)
        out.append(
            Coupler(
                e,
                tuple(names),  # type: ignore[arg-type]
                dependent,
                function if factor == 1.0 else Scaled(function, factor),
            )
        )
    return out


def _objection(
    reading: Reading,
    c: Coupler,
    found: Sequence[Coupler],
    home: dict[Element, Joint],
    users: dict[str, list[Element]],
) -> str:
    """Why a coordinate cannot be part of its joint; empty if it can."""
    name = c.dependent.name
    if any(e not in home for e in (c.dependent, *c.independent)):
        return "its joint closes a loop, or moves nothing"
    if sum(other.dependent is c.dependent for other in found) > 1:
        return f"another constraint gives {name!r} too"
    for e in (c.dependent, *c.independent):
        if not has_rates(home[e].mobilizer):
            return f"the joint of {e.name!r} has speeds that are not the rates of its coordinates"
    for state in ("locked", "prescribed"):
        if reading.boolean(c.dependent, state, False):
            return f"{name!r} is {state} as well"
    joint = next((e for e in c.dependent.ancestors() if e.tag.endswith("Joint")), None)
    own = {*c.element.descendants(), *(joint.descendants() if joint is not None else ())}
    if (word := next((e for e in users.get(name, ()) if e not in own), None)) is not None:
        user = next((e for e in word.ancestors() if e.name), word)
        return f"{user.title} needs the coordinate {name!r}"
    return ""


def _users(reading: Reading, found: Sequence[Coupler]) -> dict[str, list[Element]]:
    """Elements whose text names coordinates that couplers give; long lists of numbers are skipped."""
    out: dict[str, list[Element]] = {c.dependent.name: [] for c in found}
    for e in reading.model.descendants() if out else ():
        if e.text and not e.children and len(e.text) < LONG:
            for name in {word.rpartition("/")[2] for word in e.text.replace(",", " ").split()} & out.keys():
                out[name].append(e)
    return out


def check_way(couplers: str) -> None:
    """Raise an error for an unknown option."""
    if couplers not in WAYS:
        raise DescriptionError(f"read_osim: couplers: expected 'constraints' or 'joints', got {couplers!r}")


# ---- writing -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Uncoupled:
    """A body whose joint has all coordinates that a file needs, and the couplers that give some of them."""

    body: Body
    couplers: list[Xml]


def uncoupled(b: Body, to: Writing) -> Uncoupled:
    """A body as a file has it. If several bodies share a coordinate, it is in the joint of the first that has
    it unchanged; the others have their own coordinates, which couplers give."""
    led = [x for x in to.system.bodies if x.follows is b]
    inner, turned = forward(b.mobilizer)
    if not isinstance(inner, Coupled) and b.follows is None and not led:
        return Uncoupled(b, [])
    owner = b.follows or b
    names = tuple(c.name for c in owner.coordinates)
    owners = _owners(owner, to)
    to.homes |= {name: joint_name(x) for name, x in owners.items() if x is b and b is not owner}
    values: Sequence[float] | Array = [
        float(d if c.default is None else c.default)
        for c, d in zip(owner.coordinates, owner.mobilizer.default_q(), strict=True)
    ]
    laws: tuple[Any, ...] = names
    traced: tuple[Any, ...] = (None,) * len(names)
    own: Sequence[str] = tuple(f"{b.name}_{x}" for x in inner.coordinate_names)
    called, mobilizer = dict[str, str](), inner
    if isinstance(inner, Coupled):
        laws, traced, own, mobilizer = inner.functions, inner.laws, inner.own, inner.mobilizer
        called, values = dict(zip(inner.coordinates, names, strict=True)), inner.coupled(values)
    coordinates, couplers = list[Coordinate](), list[Xml]()
    for k, f in enumerate(laws):
        itself = called.get(f, f) if isinstance(f, str) else None
        if itself is not None and owners.get(itself) is b:
            coordinates.append(owner.coordinates[names.index(itself)])
            continue
        name = _free(own[k], b, to)
        coordinates.append(Coordinate(name, float(values[k])))
        of: tuple[str, ...]
        if itself is not None:
            of, function = (itself,), xml("LinearFunction", coefficients=(1.0, 0.0))
        else:
            at = to.at(f"body {b.name!r}: {b.mobilizer!r}: functions[{k}]")
            of, function = joint_function(f, traced[k], tuple(called), names, at)
        if not of:  # a constant
            coordinates[-1] = replace(coordinates[-1], locked=True)
            continue
        couplers.append(coupler(function, list(of), name))
        couplers[-1].set("name", f"{name}_coupler")
    for c in owner.coordinates if owner is b else ():
        if owners.get(c.name) is None:
            to.refuse(
                f"coordinate {c.name!r}: it only moves joints through functions; OpenSim's coordinates "
                "belong to a joint with that coordinate itself"
            )
    if b.motion is not None and mobilizer is not inner:
        to.refuse(
            f"body {b.name!r}: its motion is prescribed, and {b.mobilizer!r} has coordinates that "
            "follow; prescribe them by cd.constraints.PrescribedMotion"
        )
    return Uncoupled(
        replace(
            b,
            mobilizer=mobilizer.reversed() if turned else mobilizer,
            coordinates=tuple(coordinates),
            follows=None,
            motion=b.motion if mobilizer is inner else None,
        ),
        couplers,
    )


def _owners(owner: Body, to: Writing) -> dict[str, Body]:
    """For each coordinate of a body, the body whose joint has it unchanged: itself, or one that follows
    it."""
    out: dict[str, Body] = {}
    for b in (owner, *(x for x in to.system.bodies if x.follows is owner)):
        inner, _ = forward(b.mobilizer)
        for j, c in enumerate(owner.coordinates):
            if not isinstance(inner, Coupled) or j in inner.itself().values():
                out.setdefault(c.name, b)
    return out


def _free(name: str, b: Body, to: Writing) -> str:
    """A name for a coordinate that no other has."""
    taken = {c.name for x in to.system.bodies for c in x.coordinates} | to.coupled
    name = name or b.name
    if name in taken:
        name, k = f"{b.name}_{name}", 2
        while name in taken:
            name, k = f"{b.name}_{name}{k}", k + 1
    to.coupled.add(name)
    return name
