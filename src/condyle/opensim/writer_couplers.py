"""Joints whose coordinates follow others: all coordinates in the file, and CoordinateCouplerConstraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from condyle.mobilizers import Coupled, Mobilizer
from condyle.mobilizers.base import Reversed
from condyle.opensim.writer_functions import law
from condyle.opensim.writing import Writing, joint_name
from condyle.opensim.xml import element
from condyle.records import dataclass
from condyle.tree.body import Body, Coordinate


@dataclass(frozen=True)
class Uncoupled:
    """A body whose joint has all coordinates that a file needs, and the couplers that give some of them."""

    body: Body
    couplers: list[Element]


def uncoupled(b: Body, to: Writing) -> Uncoupled:
    """A body as a file has it. Where several bodies share a coordinate, it is in the joint of the first that
    has it as it is; the others have coordinates of their own, which couplers give."""
    led = [x for x in to.system.bodies if x.follows is b]
    inner, turned = _forward(b.mobilizer)
    if not isinstance(inner, Coupled) and b.follows is None and not led:
        return Uncoupled(b, [])
    owner = b.follows or b
    names = tuple(c.name for c in owner.coordinates)
    laws: tuple[Any, ...] = inner.functions if isinstance(inner, Coupled) else names
    called = dict(zip(inner.coordinates, names, strict=True)) if isinstance(inner, Coupled) else {}
    kept = _kept(owner, to)
    to.homes |= {name: joint_name(x) for name, x in kept.items() if x is b and b is not owner}
    traced = inner.laws if isinstance(inner, Coupled) else (None,) * len(names)
    own = inner.own if isinstance(inner, Coupled) else tuple(f"{b.name}_{x}" for x in inner.coordinate_names)
    values = [
        float(d if c.default is None else c.default)
        for c, d in zip(owner.coordinates, owner.mobilizer.default_q(), strict=True)
    ]
    defaults = inner.coupled(values) if isinstance(inner, Coupled) else values
    coordinates, couplers = list[Coordinate](), list[Element]()
    for k, f in enumerate(laws):
        itself = called.get(f, f) if isinstance(f, str) else None
        if itself is not None and kept.get(itself) is b:
            coordinates.append(owner.coordinates[names.index(itself)])
            continue
        name = _free(own[k], b, to)
        coordinates.append(Coordinate(name, float(defaults[k])))
        where = f"body {b.name!r}: {b.mobilizer!r}: functions[{k}]"
        of: tuple[str, ...]
        if itself is not None:
            of, function = (itself,), element("LinearFunction", coefficients=(1.0, 0.0))
        else:
            of, function = law(f, traced[k], tuple(called), names, to, where)
        if not of:  # a constant
            coordinates[-1] = replace(coordinates[-1], locked=True)
            continue
        couplers.append(
            element(
                "CoordinateCouplerConstraint",
                f"{name}_coupler",
                coupled_coordinates_function=function,
                independent_coordinate_names=" ".join(of),
                dependent_coordinate_name=name,
                scale_factor=1.0,
            )
        )
    for c in owner.coordinates if owner is b else ():
        if kept.get(c.name) is None:
            to.refuse(
                f"coordinate {c.name!r}: all that it moves are functions of it; OpenSim's coordinates "
                "belong to a joint of which they are one themselves"
            )
    mobilizer = inner.mobilizer if isinstance(inner, Coupled) else inner
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


def _forward(mobilizer: Mobilizer) -> tuple[Mobilizer, bool]:
    turned = False
    while isinstance(mobilizer, Reversed):
        mobilizer, turned = mobilizer.forward, not turned
    return mobilizer, turned


def _kept(owner: Body, to: Writing) -> dict[str, Body]:
    """By coordinate of a body, the body whose joint has it as it is: itself, or one that follows it."""
    out: dict[str, Body] = {}
    for b in (owner, *(x for x in to.system.bodies if x.follows is owner)):
        inner, _ = _forward(b.mobilizer)
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
