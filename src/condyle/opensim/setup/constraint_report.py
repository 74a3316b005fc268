"""Forces of constraints for ForceReporter, in OpenSim's columns.

OpenSim writes what stands on the left of M udot + G' lambda = f: the opposite of what acts on the bodies and
coordinates. Of each body of a constraint: force, and moment about the body's origin, in the axes of the
nearest body that all of them stand on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.arrays import Array
from condyle.opensim.element import Element
from condyle.opensim.reading import Reading
from condyle.system.states import Batch
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.opensim.setup.trial import Trial

ENDS = {
    "PointConstraint": ("body_1", "body_2"),
    "ConstantDistanceConstraint": ("body_1", "body_2"),
    "PointOnLineConstraint": ("line_body", "follower_body"),
    "WeldConstraint": ("frame1", "frame2"),
}
"""Sockets of the bodies that a constraint joins, in the order of its columns."""
AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")


def constraint_columns(trial: Trial, element: Element) -> list[tuple[str, Array]]:
    """Columns of every constraint that is enforced; what is left out is said."""
    reading, system = Reading(trial.setup.model, System()), trial.system
    off = system.state().disabled
    found = [
        e
        for e in [
            *reading.objects(reading.model, "ConstraintSet"),
            *reading.objects(reading.model, "components"),
        ]
        if e.tag in ENDS or e.tag == "CoordinateCouplerConstraint"
    ]
    columns: list[tuple[str, Array]] = []
    left, batch = [], trial.under({})
    for constraint in found:
        name = constraint.name
        if not reading.boolean(constraint, "isEnforced", True) or name in off:
            continue
        if name not in system.constraints:
            left.append(constraint.title)
        elif constraint.tag in ENDS:
            columns += _on_bodies(reading, constraint, batch)
        else:
            columns += _on_coordinates(reading, constraint, batch)
    if left:
        trial.setup.report.check.append(f"{element.title}: forces not in the file: {', '.join(left)}")
    return columns


def _on_bodies(reading: Reading, constraint: Element, batch: Batch) -> list[tuple[str, Array]]:
    system, name = batch.system, constraint.name
    bodies = [
        reading.base(reading.connected(constraint, end), constraint)[0].name or "ground"
        for end in ENDS[constraint.tag]
    ]
    found = batch.ask("constraints.reactions", (name,), {})  # moment, force
    p = {body: batch.ask("body_pose", (body,), {}).p for body in found}
    force = -np.sum([F[:, 3:] for F in found.values()], axis=0)
    moment = -np.sum([F[:, :3] + np.cross(p[body], F[:, 3:]) for body, F in found.items()], axis=0)
    found["ground"] = np.concatenate([moment, force], axis=1)
    base = _common(system, bodies)
    R = np.eye(3)[None] if base == "ground" else batch.ask("body_pose", (base,), {}).R
    out = []
    for body in bodies:
        turned = [
            -np.einsum("tji,tj->ti", np.broadcast_to(R, (len(batch.t), 3, 3)), found[body][:, part])
            for part in (slice(3, 6), slice(0, 3))
        ]
        out += [
            (f"{name}_{body}_{axis}", x)
            for axis, x in zip(AXES, np.concatenate(turned, axis=1).T, strict=True)
        ]
    return out


def _common(system: System, bodies: list[str]) -> str:
    """The nearest body that all of them stand on, or are."""
    chains = []
    for name in bodies:
        chain, body = [], None if name == "ground" else system.body(name)
        while body is not None and not body.is_ground:
            chain.append(body.name)
            body = body.parent
        chains.append(chain)
    return next((name for name in chains[0] if all(name in chain for chain in chains)), "ground")


def _on_coordinates(reading: Reading, constraint: Element, batch: Batch) -> list[tuple[str, Array]]:
    """Generalized forces on all speeds of the joints that a coupler joins."""
    system, tree = batch.system, batch.system._tree
    names = [
        reading.components.find(word, constraint, "Coordinate")
        for word in (
            *reading.words(constraint, "independent_coordinate_names"),
            reading.text(constraint, "dependent_coordinate_name"),
        )
    ]
    of = {c.name: body.index for body in system.bodies for c in body.coordinates}
    joints = dict.fromkeys(of[e.name] for e in names if e is not None)
    rows = system.constraints.rows(constraint.name)
    G = batch.ask("constraints.jacobian", (), {})[:, rows]
    f = np.einsum("tij,ti->tj", G, batch.ask("multipliers", (), {})[:, rows])
    at = [k for joint in joints for k in tree.speeds_of(joint)]
    return [(f"{constraint.name}_mobility_F{k}", f[:, i]) for k, i in enumerate(at)]
