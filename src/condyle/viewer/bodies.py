"""Appearance of bodies: the geometry of a System, or sticks between joints and ellipsoids of inertia."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

import condyle.shapes as shapes
from condyle.arrays import Array
from condyle.contact.surfaces import ContactSurface
from condyle.errors import DescriptionError
from condyle.spatial import Transform
from condyle.spatial.rotations import frame_along
from condyle.system.system import System
from condyle.tree import scales
from condyle.tree.body import Body
from condyle.viewer.drawn_elements import COLORS, ShapeOnBody, body_numbers
from condyle.viewer.joints import glyphs

BONE, INERTIA = "#e6dac4", "#7fa6bf"
IN_TURN = ("#5b8db8", "#d9a05b", "#6aa67c", "#c9736d", "#8f7fb5", "#a3936b", "#4f9ea3", "#b5799e")
"""Colors of bodies, in turn, if there are no muscles."""
COMPACT = 0.25
"""Largest ratio of the moment of inertia of a bob about its mass center to that of a stick of the drawn
length."""
WATER = 1000.0
"""Density of a ball that stands for a point mass [kg/m^3]."""


def parts(system: System, touching: Iterable[ContactSurface] = ()) -> tuple[list[ShapeOnBody], list[str]]:
    """All shapes on bodies, and notes on those that cannot be drawn. A body without any has sticks and its
    ellipsoid of inertia, transparent over contact surfaces."""
    number, reach = body_numbers(system), scales.reach(system.bodies) or 1.0
    geometry, errors = [], []
    for g in system.geometry:
        try:
            g.shape.surface()
            geometry.append(g)
        except DescriptionError as error:
            errors.append(str(error))
    own = {g.body for g in geometry}
    touching = list(touching)
    through = {surface.body for surface in touching}
    meshed = {surface.body for surface in touching if surface.by_points}
    through |= {b.parent.name for b in system.bodies if b.parent and b.mobilizer.drawn(reach)}
    color = {
        name: BONE if system.muscles or not i else IN_TURN[(i - 1) % len(IN_TURN)]
        for name, i in number.items()
    }
    out = [
        ShapeOnBody("bodies", g.name, number[g.body], g.shape, g.X_BS, g.color or color[g.body], g.opacity)
        for g in geometry
    ]
    centers = _joint_centers(system) if system.muscles and len(own) < len(system.bodies) else {}
    for body in system.bodies:
        if body.name not in own and (bones := _bones(system, body, centers)):
            out += bones
        elif body.name not in own:
            out += _sticks(system, body, reach, color[body.name])
            most = 0.03 * reach if system.muscles else np.inf
            seen = 0.4 if body.name in through else 1.0  # transparent, to show what touches it or moves on it
            bob = _compact(body) and body.name not in through and not system.muscles
            shown = (bool(_ends(system, body)) and not bob) or body.name in meshed
            out += _inertia(body, reach, shown, color[body.name], most, seen)
    out += _joints(system, reach)
    return out, _said(errors)


def painted(system: System, colors: Mapping[str, str]) -> System:
    """A copy whose bodies have other colors, "#rrggbb": their geometry, and the bones or sticks of bodies without."""
    drawn = [part for part in parts(system)[0] if part.kind == "bodies"]
    new = system.copy(geometry={g.name: None for g in system.geometry if g.body in colors})
    for part in drawn:
        body = system.bodies[part.body - 1].name if part.body else ""
        if body in colors:
            new.add_geometry(body, part.shape, part.X_BS, colors[body], part.opacity)
    return new


def _joints(system: System, reach: float) -> list[ShapeOnBody]:
    """Shapes of joints, on the parents: in the default pose, since their axes may move."""
    number, q, out = body_numbers(system), system.default("q"), []
    for body in system.bodies:
        if body.parent is not None:
            found = glyphs(body.mobilizer, q[body.q], 0.0, 1.45 * _thickness(system, body, reach))
            out += [
                ShapeOnBody(
                    "joints",
                    body.name,
                    number[body.parent.name],
                    d.shape,
                    body.X_PF @ d.X,
                    COLORS["joints"],
                    d.opacity,
                )
                for d in found
            ]
    return out


def _thickness(system: System, body: Body, reach: float) -> float:
    """Radius of the sticks of a body [m]."""
    start = np.asarray(body.X_BM.p)
    lengths = [0.08 * float(np.linalg.norm(end - start)) for end in _ends(system, body)]
    return min([(0.009 if system.muscles else 0.02) * reach, *lengths])


def _joint_centers(system: System) -> dict[str, Array]:
    """Centers of joints on the parents in the default pose, by names of bodies [m]: knees may move away from
    their frame F."""
    X = system.body_poses(system.state().q)
    out = {}
    for b in system.bodies:
        at = X.R[b.index] @ np.asarray(b.X_BM.p) + X.p[b.index]
        if b.parent is None or b.parent.index < 0:
            out[b.name] = at
        else:
            out[b.name] = X.R[b.parent.index].T @ (at - X.p[b.parent.index])
    return out


def _bones(system: System, body: Body, centers: Mapping[str, Array]) -> list[ShapeOnBody]:
    """Bones between the joints of a human body segment, recognized by name; none for other bodies."""
    from condyle.shapes.bones import BONES, bone, bones_of

    names = bones_of(body.name)
    if not names or not system.muscles:
        return []
    start, left = (
        np.asarray(body.X_BM.p),
        body.name.lower().startswith("l_") or body.name.lower().endswith("_l"),
    )
    carried = {b.name.lower(): centers[b.name] for b in system.bodies if b.parent is body}
    heads = [p for name, p in carried.items() if "patella" not in name]
    com, out = np.asarray(body.mass_properties.com, dtype=float), []

    def put(name: str, scale: float, X: Transform, mirrored: bool = left) -> None:
        out.append(ShapeOnBody("bodies", body.name, body.index + 1, bone(name, scale, mirrored), X, BONE))

    if names[0] == "pelvis":
        hips = [p for name, p in carried.items() if "femur" in name or "thigh" in name]
        if len(hips) == 1 and abs(hips[0][2]) > 0.02:  # a model of one leg
            hips.append(hips[0] * (1, 1, -1))
        if len(hips) != 2:
            return []
        put(
            "pelvis",
            float(np.linalg.norm(hips[0] - hips[1])) / 0.164,
            Transform(p=(hips[0] + hips[1]) / 2),
            False,
        )
        return out
    if names[0] == "thorax":
        arms = [
            p for name, p in carried.items() if "humerus" in name or "scapula" in name or "clavicle" in name
        ]
        height = float(arms[0][1] - start[1]) / 0.43 if arms else float(com[1] - start[1]) / 0.29
        scale = float(np.clip(height, 0.5, 1.6))
        X = Transform(p=start)
        put("thorax", scale, X, False)
        if not any("clavicle" in name or "scapula" in name for name in carried):
            put("clavicle", scale, X, False)
        if not any("head" in b.name.lower() or "skull" in b.name.lower() for b in system.bodies):
            put("skull", scale, Transform(p=start + scale * np.array([-0.01, 0.56, 0.0])), False)
        return out
    length, end = 1e-3 * BONES[names[0]][0], heads[0] if heads else None
    if length and names[0] != "foot":
        if end is None:
            end = start + (com - start) / (0.5 if len(names) > 1 else 0.43)
            end = start + (end - start) * (length / (length + 0.19 if len(names) > 1 else length))
        way = end - start
        size = float(np.linalg.norm(way))
        if size < 0.05:
            return []
        y = -way / size
        x = np.cross(y, [0, 0, 1])
        x /= np.linalg.norm(x)
        R = np.column_stack([x, y, np.cross(x, y)])
        put(names[0], size / length, Transform(R, start))
        for more in names[1:]:
            put(more, size / length, Transform(R, end))
        return out
    scale = float(np.linalg.norm(end - start)) / length if length and end is not None else 1.0
    if names[0] == "foot" and end is None:  # the whole foot below the ankle
        put("foot", 1.0, Transform(p=start + [-0.045, -0.06, 0]))
        put("toes", 1.0, Transform(p=start + [0.135, -0.06, 0]))
        return out
    put(names[0], float(np.clip(scale, 0.4, 2.0)), Transform(p=start))
    return out


def _said(errors: list[str]) -> list[str]:
    """Files that are missing, in one sentence."""
    if not errors:
        return []
    most = f"{len(errors)} shapes cannot be drawn; the first is: {errors[0]}" if errors[1:] else errors[0]
    return [
        f"{most}. Bodies without a shape are drawn with Condyle's bones, by their names, or sticks between their joints. "
        "Folders with meshes: geometry= of cd.read_osim, --geometry, or the variable CONDYLE_GEOMETRY."
    ]


def _ends(system: System, body: Body) -> list[Array]:
    """Ends of the sticks of a body: joints of bodies that it carries; else as far beyond its mass center as
    its joint is before it, or that center if a bob hangs there."""
    start = np.asarray(body.X_BM.p)
    ends = [np.asarray(b.X_PF.p) for b in system.bodies if b.parent is body]
    if not ends or all(np.linalg.norm(end - start) < 1e-9 for end in ends):
        ends = [(1 if _compact(body) else 2) * (np.asarray(body.mass_properties.com) - start) + start]
    return [end for end in ends if np.linalg.norm(end - start) > 1e-9]


def _compact(body: Body) -> bool:
    """Whether its mass is near its mass center, away from its joint: a bob, not a stick."""
    m = body.mass_properties
    d2 = float(((np.asarray(m.com) - np.asarray(body.X_BM.p)) ** 2).sum())
    return d2 > 0 and bool(np.trace(m.inertia) / 2 < COMPACT * float(m.mass) * d2 / 3)


def _sticks(system: System, body: Body, reach: float, color: str) -> list[ShapeOnBody]:
    start, radius = np.asarray(body.X_BM.p), _thickness(system, body, reach)
    return [
        ShapeOnBody("bodies", body.name, body.index + 1, *capsule(start, end, radius), color)
        for end in _ends(system, body)
    ]


def _inertia(
    body: Body, reach: float, sticks: bool, color: str, most: float, opacity: float
) -> list[ShapeOnBody]:
    """A solid ellipsoid with the inertia of the body; a ball of water for a point mass. If it represents the
    body it is not larger than `most` [m]."""
    m = body.mass_properties
    mass, com = float(m.mass), np.asarray(m.com, dtype=float)
    if not mass > 0:
        return (
            []
            if sticks
            else [
                ShapeOnBody(
                    "bodies", body.name, body.index + 1, shapes.Sphere(0.02 * reach), Transform(), color
                )
            ]
        )
    moments, R = np.linalg.eigh(np.asarray(m.inertia, dtype=float))
    if np.linalg.det(R) < 0:
        R = R * [1, 1, -1]
    radii = np.sqrt(np.maximum(2.5 / mass * (moments.sum() - 2 * moments), 0.0))  # I_x = m (b^2 + c^2) / 5
    if not radii.any():
        radii = np.full(3, min((3 * mass / (4 * np.pi * WATER)) ** (1 / 3), 0.1 * reach))
    radii = np.maximum(radii, 0.12 * radii.max())
    if not sticks:
        radii *= min(1.0, most / radii.max())
    return [
        ShapeOnBody(
            "inertias" if sticks else "bodies",
            body.name,
            body.index + 1,
            shapes.Ellipsoid(tuple(radii)),
            Transform(R, com),
            INERTIA if sticks else color,
            0.3 if sticks else opacity,
        )
    ]


def capsule(start: Array, end: Array, radius: float) -> tuple[shapes.Capsule, Transform]:
    """A capsule between two points that differ, and its place."""
    d = end - start
    half = float(np.linalg.norm(d)) / 2
    return shapes.Capsule(radius, half), Transform(frame_along(d), (start + end) / 2)
