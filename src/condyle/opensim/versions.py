"""What each version of OpenSim's files wrote otherwise, rewritten step by step into the layout of 4.6.

Where OpenSim itself loses digits when it rewrites (inertias below 30500, frames of joints below 30505: six
significant digits are left), the same digits are lost here, so that both have the same model.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from condyle.opensim.element import Element
from condyle.spatial import Transform, euler_from_rotation, rotation_from_euler

OLDEST, NEWEST = 10901, 40600

RENAMED = {
    "GeneralizedForce": "CoordinateActuator",
    "Schutte1993Muscle_Deprecated": "Schutte1993Muscle",
    "Delp1990Muscle_Deprecated": "Delp1990Muscle",
    "NaturalCubicSpline": "SimmSpline",
    "natCubicSpline": "SimmSpline",
    "MuscleWrap": "PathWrap",
    "MusclePoint": "PathPoint",
    "MuscleViaPoint": "ConditionalPathPoint",
    "MovingMusclePoint": "MovingPathPoint",
    "ActuatorSet": "ForceSet",
}
"""Classes that had other names, in files of any version."""


def upgrade(root: Element, version: int, until: int = NEWEST) -> None:
    """Rewrite everything inside an element from the layout of one version to that of another."""
    for element in root.descendants():
        element.tag = RENAMED.get(element.tag, element.tag)
    for below, step in STEPS:
        if version < below <= until:
            step(root)


# ---- one step per change, oldest first ---------------------------------------------------------------------


def transform_axis_sets(root: Element) -> None:
    """TransformAxisSet, whose axes say whether they rotate -> SpatialTransform."""
    for old in root.descendants("TransformAxisSet"):
        joint = old.parent
        if joint is None or joint.child("SpatialTransform") is not None:
            continue
        new = joint.add("SpatialTransform")
        counts = {"rotation": 0, "translation": 0}
        for axis in old.descendants("TransformAxis"):
            turns = axis.child("is_rotation")
            kind = "rotation" if turns is not None and turns.text.lower() == "true" else "translation"
            counts[kind] += 1
            rename(axis, "coordinate", "coordinates")
            axis.attributes["name"] = f"{kind}{counts[kind]}"
            new.take(axis)
        old.remove()


def point_and_torque_actuators(root: Element) -> None:
    """Force and Torque, which acted on body A by minus what they state -> PointActuator, TorqueActuator."""
    for tag, new, names in (
        ("Force", "PointActuator", {"body_B": "body", "point_B": "point", "direction_A": "direction"}),
        ("Torque", "TorqueActuator", {"body_A": "bodyB", "body_B": "bodyA", "direction_A": "axis"}),
    ):
        for old in root.descendants(tag, new):  # OpenSim turns those with the new name too
            old.tag = new
            for before, after in names.items():
                rename(old, before, after)
            for child in old.children:
                if child.tag in ("direction", "axis"):
                    child.text = " ".join(
                        word[1:] if word.startswith("-") else f"-{word}"
                        for word in child.text.replace(",", " ").split()
                    )
            if tag == "Force" and old.child("force_is_global") is None:
                old.add("force_is_global", "true")


def muscle_points(root: Element) -> None:
    """MusclePointSet and MuscleWrapSet, in a GeometryPath or not -> PathPointSet and PathWrapSet in one."""
    for muscle in matching(root, "*Muscle", "*Ligament"):
        sets = [e for e in muscle.children if e.tag in ("MusclePointSet", "MuscleWrapSet")]
        path = muscle.child("GeometryPath")
        if sets:
            path = path or muscle.add("GeometryPath")
            for element in sets:
                path.take(element)
        rename(muscle, "pennation_angle", "pennation_angle_at_optimal")
    for path in root.descendants("GeometryPath"):
        rename(path, "MusclePointSet", "PathPointSet")
        rename(path, "MuscleWrapSet", "PathWrapSet")


def inertias(root: Element) -> None:
    """inertia_xx, ... -> inertia."""
    parts = [f"inertia_{x}" for x in ("xx", "yy", "zz", "xy", "xz", "yz")]
    for body in root.descendants("Body"):
        if body.child("inertia") is not None:
            continue
        values = []
        for part, default in zip(parts, ("1", "1", "1", "0", "0", "0"), strict=True):
            found = body.child(part)
            values.append(default if found is None else rounded(found.text))
            if found is not None:
                found.remove()
        body.add("inertia", " ".join(values))


def names_without_space(root: Element) -> None:
    for element in root.descendants():
        if "name" in element.attributes:
            element.attributes["name"] = "".join(element.attributes["name"].split())


def joints_out_of_bodies(root: Element) -> None:
    """<Body><Joint><PinJoint> -> JointSet; the body called ground -> Ground."""
    for model in root.descendants("Model"):
        bodies = model.child("BodySet")
        holder = None if bodies is None else bodies.child("objects")
        if bodies is None or holder is None:
            continue
        joints = model.child("JointSet") or model.add("JointSet", at=model.children.index(bodies) + 1)
        objects = joints.child("objects") or joints.add("objects")
        for body in list(holder.children):
            wrapper = body.child("Joint")
            if body.name == "ground" and body.tag == "Body":
                ground = model.add("Ground", name="ground", at=0)
                ground.line = body.line
                for kept in ("geometry", "VisibleObject", "WrapObjectSet", "attached_geometry"):
                    if (found := body.child(kept)) is not None:
                        ground.take(found)
                body.remove()
            elif wrapper is not None:
                for joint in list(wrapper.children)[:1]:
                    parent = joint.child("parent_body")
                    joint.add("old_parent", "ground" if parent is None else parent.text)
                    joint.add("old_child", body.name)
                    if parent is not None:
                        parent.remove()
                    if not joint.name:
                        joint.attributes["name"] = joint.tag.lower()
                    objects.take(joint)
                wrapper.remove()
    for marker in root.descendants("Marker"):
        to_socket(marker, "body", "parent_frame")


def joint_frames(root: Element) -> None:
    """location_in_parent, ... -> offset frames that the joint owns."""
    for joint in matching(root, "*Joint"):
        if (connectors := joint.child("connectors")) is not None:
            for connector in list(connectors.children):
                side = connector.name.partition("_")[0]
                name = connector.child("connectee_name")
                if side in ("parent", "child") and name is not None:
                    joint.add(f"old_{side}", name.text.rpartition("/")[2])
                    connector.remove()
        for side in ("parent", "child"):
            body = joint.child(f"old_{side}")
            if body is None:
                continue
            place, turn = (joint.child(f"{what}_in_{side}") for what in ("location", "orientation"))
            offset_frame(joint, body.text, place, turn)
            joint.add(f"socket_{side}_frame", f"{body.text}_offset")
            for used in (body, place, turn):
                if used is not None:
                    used.remove()


def linked_frames(root: Element) -> None:
    """body_1, location_body_1, ... of bushings and welds -> sockets frame1, frame2."""
    for element in root.descendants(
        "WeldConstraint", "BushingForce", "FunctionBasedBushingForce", "ExpressionBasedBushingForce"
    ):
        for k in "12":
            body = element.child(f"body_{k}")
            if body is None:
                continue
            place, turn = (element.child(f"{what}_body_{k}") for what in ("location", "orientation"))
            if any(_not_zero(e) for e in (place, turn)):
                offset_frame(element, body.text, place, turn)
                element.add(f"socket_frame{k}", f"{body.text}_offset")
            else:
                element.add(f"socket_frame{k}", path_of_body(body.text))
            for used in (body, place, turn):
                if used is not None:
                    used.remove()


def geometry_components(root: Element) -> None:
    for geometry in root.descendants("geometry"):
        owner = geometry.parent
        if owner is not None and geometry.children:
            components = owner.child("components") or owner.add("components")
            for child in list(geometry.children):
                components.take(child)
            geometry.remove()


def coordinate_sets(root: Element) -> None:
    """CoordinateSet of a joint -> coordinates."""
    for joint in matching(root, "*Joint"):
        old = joint.child("CoordinateSet")
        if old is not None:
            objects = old.child("objects")
            if objects is not None and objects.children:
                objects.tag = "coordinates"
                joint.take(objects)
            old.remove()


def connectors(root: Element) -> None:
    """<connectors><Connector_T_ name="n"><connectee_name> -> socket_n."""
    for old in root.descendants("connectors"):
        owner = old.parent
        if owner is not None:
            for connector in old.children:
                name = connector.child("connectee_name")
                if name is not None and owner.child(f"socket_{connector.name}") is None:
                    owner.add(f"socket_{connector.name}", name.text)
            old.remove()


def connectees(root: Element) -> None:
    """connector_n_connectee_name, socket_n_connectee_name -> socket_n."""
    for element in root.descendants():
        if element.tag.startswith(("connector_", "socket_", "input_")):
            tag = element.tag.removesuffix("_connectee_name").removesuffix("_connectee_names")
            element.tag = "socket_" + tag.removeprefix("connector_") if tag.startswith("connector_") else tag


def switches(root: Element) -> None:
    """isDisabled -> what it is now called, negated."""
    for old in root.descendants("isDisabled"):
        owner = old.parent.tag if old.parent is not None else ""
        old.tag = (
            "isEnforced"
            if owner.endswith("Constraint")
            else "enabled"
            if owner.endswith(("Controller", "Probe", "ControlSet"))
            else "appliesForce"
        )
        old.text = "false" if old.text.lower() in ("true", "1") else "true"


def frame_sets(root: Element) -> None:
    for frames in root.descendants("FrameSet"):
        owner, objects = frames.parent, frames.child("objects")
        if owner is not None and objects is not None:
            components = owner.child("components") or owner.add("components")
            for child in list(objects.children):
                components.take(child)
            frames.remove()


def muscle_controls(root: Element) -> None:
    """min_control 0 and max_control 1 of muscles were defaults: now the default is the least activation."""
    for muscle in matching(root, "*Muscle"):
        for name, usual in (("min_control", 0.0), ("max_control", 1.0)):
            found = muscle.child(name)
            try:
                if found is not None and float(found.text) == usual:
                    found.remove()
            except ValueError:
                continue


def reversed_joints(root: Element) -> None:
    for joint in matching(root, "*Joint"):
        switch = joint.child("reverse")
        if switch is not None:
            frames = [joint.child(f"socket_{side}_frame") for side in ("parent", "child")]
            if switch.text.lower() in ("true", "1") and None not in frames:
                first, second = frames
                assert first is not None
                assert second is not None
                first.text, second.text = second.text, first.text
            switch.remove()
    for coordinate in root.descendants("Coordinate"):
        if (kind := coordinate.child("motion_type")) is not None:
            kind.remove()


def path_colors(root: Element) -> None:
    """default_color of paths, display_preference of wraps -> Appearance."""
    for path in root.descendants("GeometryPath"):
        color = path.child("default_color")
        if color is not None and path.child("Appearance") is None:
            path.add("Appearance").add("color", color.text)
            color.remove()


def path_names(root: Element) -> None:
    for path in root.descendants("GeometryPath"):
        path.attributes["name"] = "path"


# ---- shared by steps --------------------------------------------------------------------------------------


def matching(root: Element, *patterns: str) -> list[Element]:
    """Elements by their classes: "PathPoint"; "*Joint" ends so, and is not Joint itself; "Contact*" begins so,
    and is no set."""
    ends = tuple(p[1:] for p in patterns if p.startswith("*"))
    starts = tuple(p[:-1] for p in patterns if p.endswith("*"))
    return [
        e
        for e in root.descendants()
        if e.tag in patterns
        or (e.tag.endswith(ends) and e.tag not in ends)
        or (e.tag.startswith(starts) and not e.tag.endswith("Set"))
    ]


def renaming(*patterns: str, **names: str) -> Callable[[Element], None]:
    """A step that renames properties."""

    def step(root: Element) -> None:
        for element in matching(root, *patterns):
            for before, after in names.items():
                rename(element, before, after)

    return step


def connecting(*patterns: str, **names: str) -> Callable[[Element], None]:
    """A step that makes sockets of properties with names of bodies."""

    def step(root: Element) -> None:
        for element in matching(root, *patterns):
            for name, socket in names.items():
                to_socket(element, name, socket)

    return step


def rename(element: Element, before: str, after: str) -> None:
    """Rename a property, unless the new name exists."""
    found = element.child(before)
    if found is not None and element.child(after) is None:
        found.tag = after


def to_socket(element: Element, name: str, socket: str) -> None:
    """A property with the name of a body -> a socket with its path."""
    found = element.child(name)
    if found is not None and element.child(f"socket_{socket}") is None:
        found.tag, found.text = f"socket_{socket}", path_of_body(found.text)


def path_of_body(name: str) -> str:
    return "/ground" if name == "ground" else f"/bodyset/{name}"


def offset_frame(owner: Element, body: str, place: Element | None, turn: Element | None) -> None:
    """Add a frame `<body>_offset` that the owner owns."""
    frames = owner.child("frames") or owner.add("frames")
    frame = frames.add("PhysicalOffsetFrame", name=f"{body}_offset")
    frame.add("socket_parent", path_of_body(body))
    for tag, given in (("translation", place), ("orientation", turn)):
        new = frame.add(tag, "0 0 0" if given is None else rounded(given.text))
        new.line = owner.line if given is None else given.line


def rounded(text: str) -> str:
    """Numbers with the six significant digits that OpenSim keeps; other text is unchanged."""
    words = []
    for word in text.replace(",", " ").split():
        try:
            words.append(f"{float(word):g}")
        except ValueError:
            words.append(word)
    return " ".join(words)


def _not_zero(element: Element | None) -> bool:
    if element is None:
        return False
    try:
        return any(float(word) for word in element.text.replace(",", " ").split())
    except ValueError:
        return True


# ---- geometry before 30502: VisibleObject -> meshes on frames ----------------------------------------------


def geometry_files(root: Element) -> None:
    """VisibleObject/geometry_files, names of files -> attached_geometry."""
    for shown in root.descendants("VisibleObject"):
        body, files = shown.parent, shown.child("geometry_files")
        if body is None or files is None or body.tag not in ("Body", "Ground"):
            continue
        holder = body.child("attached_geometry") or body.add("attached_geometry")
        for k, name in enumerate(files.text.split()):
            _mesh(holder, f"{body.name}_geom_{k}", name, _numbers(shown, "scale_factors", 3, 1.0))
        files.remove()


def shown_objects(root: Element) -> None:
    """VisibleObject/GeometrySet/DisplayGeometry -> attached_geometry, on frames where they are moved."""
    for shown in root.descendants("VisibleObject"):
        body, objects = shown.parent, shown.child("GeometrySet")
        if body is None or body.tag not in ("Body", "Ground", "PhysicalOffsetFrame"):
            continue
        scale, X_outer = _numbers(shown, "scale_factors", 3, 1.0), _transform(shown)
        for k, old in enumerate(() if objects is None else objects.descendants("DisplayGeometry"), 1):
            X = X_outer @ _transform(old)
            holder = body.child("attached_geometry") or body.add("attached_geometry")
            if np.any(X.p) or not np.array_equal(X.R, np.eye(3)):
                components = body.child("components") or body.add("components")
                frame = components.add("PhysicalOffsetFrame", name=f"{body.name}_geom_frame_{k}")
                frame.add("socket_parent", "..")
                frame.add("translation", " ".join(f"{x:.17g}" for x in X.p))
                frame.add("orientation", " ".join(f"{x:.17g}" for x in euler_from_rotation(X.R, "xyz")))
                holder = frame.add("attached_geometry")
            file = old.child("geometry_file")
            mesh = _mesh(
                holder,
                f"{body.name}_geom_{k}",
                "" if file is None else file.text,
                scale * _numbers(old, "scale_factors", 3, 1.0),
            )
            mesh.line = old.line
            look = mesh.add("Appearance")
            for name in ("color", "opacity"):
                if (found := old.child(name)) is not None:
                    look.take(found)
        shown.remove()


def _mesh(holder: Element, name: str, file: str, scale: np.ndarray) -> Element:
    mesh = holder.add("Mesh", name=name)
    mesh.add("scale_factors", " ".join(f"{x:g}" for x in scale))
    mesh.add("mesh_file", file)
    return mesh


def _transform(element: Element) -> Transform:
    """Angles, then the place, of a property `transform`."""
    x = _numbers(element, "transform", 6, 0.0)
    return Transform(rotation_from_euler(x[:3], "xyz"), x[3:])


def _numbers(element: Element, name: str, count: int, default: float) -> np.ndarray:
    """Numbers for drawing; invalid ones have the default."""
    found = element.child(name)
    try:
        values = np.array([float(word) for word in found.text.replace(",", " ").split()] if found else [])
    except ValueError:
        values = np.empty(0)
    return values[:count] if len(values) >= count and np.isfinite(values).all() else np.full(count, default)


# ---- all steps ---------------------------------------------------------------------------------------------

POINTS = ("PathPoint", "ConditionalPathPoint", "MovingPathPoint")
STEPS: list[tuple[int, Callable[[Element], None]]] = [
    (10902, transform_axis_sets),
    (10905, point_and_torque_actuators),
    (20002, renaming("ConditionalPathPoint", coordinates="coordinate")),
    (20101, geometry_files),
    (20302, muscle_points),
    (30000, renaming("MovingPathPoint", **{f"{x.upper()}Attachment": f"{x}_location" for x in "xyz"})),
    (30500, inertias),
    (30500, names_without_space),
    (30500, connecting("PointConstraint", body_1="body_1", body_2="body_2")),
    (30500, connecting("ConstantDistanceConstraint", body_1="body_1", body_2="body_2")),
    (30500, connecting("PointOnLineConstraint", line_body="line_body", follower_body="follower_body")),
    (
        30500,
        connecting("RollingOnSurfaceConstraint", rolling_body="rolling_body", surface_body="surface_body"),
    ),
    (30500, connecting("PointToPointSpring", body1="body1", body2="body2")),
    (30500, renaming("*Joint", location="location_in_child", orientation="orientation_in_child")),
    (30501, joints_out_of_bodies),
    (30502, shown_objects),
    (30505, joint_frames),
    (30505, linked_frames),
    (30505, connecting(*POINTS, body="parent_frame")),
    (30505, renaming(*POINTS, **{f"{x}coordinate": f"socket_{x}coordinate" for x in ("", "x_", "y_", "z_")})),
    (30505, connecting("Contact*", body_name="frame")),
    (30506, geometry_components),
    (30506, connecting("PrescribedForce", body="frame")),
    (30507, coordinate_sets),
    (30508, connectors),
    (30509, switches),
    (30511, switches),
    (30512, frame_sets),
    (30513, muscle_controls),
    (30517, connectees),
    (30514, reversed_joints),
    (30516, path_colors),
    (40500, path_names),
    (40600, renaming("*Controller", actuator_list="socket_actuators")),
]
"""(version, function): files below the version have the older form, which the function rewrites in place."""
