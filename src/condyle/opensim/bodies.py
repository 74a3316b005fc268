"""Bodies, joints and coordinates: the tree of a System from a model's sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

import condyle.constraints as constraints
from condyle.errors import DescriptionError
from condyle.functions import Function
from condyle.mobilizers import Free, Mobilizer
from condyle.opensim.couplers import CoupledJoint, coupled_joints
from condyle.opensim.element import Element
from condyle.opensim.joints import Joint, coordinate_elements, read_joint
from condyle.opensim.reading import Reading
from condyle.records import dataclass
from condyle.spatial import MassProperties, Transform
from condyle.tree.body import Coordinate
from condyle.tree.prescribed import Prescribed
from condyle.tree.tree import locked_speeds


@dataclass(frozen=True)
class JointLink:
    """A joint between two bodies: frames F on the parent and M on the child."""

    element: Element
    parent: Element
    X_PF: Transform
    child: Element
    X_BM: Transform
    joint: Joint


def read_tree(reading: Reading, coupled: bool = False) -> None:
    """Add all bodies of a model to the System, parents before children, in Simbody's order. coupled: couplers
    become part of the joints."""
    ground = reading.model.child("Ground")
    assert ground is not None
    reading.use(ground)
    reading.names[ground] = "ground"
    bodies = _bodies(reading)
    masses = {body: _mass(reading, body) for body in bodies}
    links = [_link(reading, e) for e in joint_elements(reading)]
    # Simbody counts the coordinates of a CustomJoint before they exist: none
    edges = [
        Edge(x.parent, x.child, x.joint.mobilizer.nu > 0 and x.element.tag != "CustomJoint") for x in links
    ]
    graph = spanning(ground, bodies, edges, lambda node: masses[node].mass if node in masses else math.inf)
    for body in graph.free:
        reading.remark(body, "is joined to nothing; a free joint joins it to ground, as in OpenSim")
        links.append(_free(reading, ground, body))
    if graph.stuck is not None:
        raise reading.error(
            graph.stuck,
            "has no mass, and its joint ends with it, so that it has no motion; give it a mass, or weld it",
        )
    loops = [links[k] for k in graph.loops]
    split = [link.child for link in loops if link.element.tag not in ("WeldJoint", "FreeJoint")]
    shares = {body: _share(masses[body], 1 + split.count(body)) for body in masses}
    branches = [Branch(links[number], against) for number, against in graph.tree]
    made = coupled_joints(reading, [b.link.joint for b in branches]) if coupled else {}
    for branch, follows in _in_order(branches, made):
        _add(reading, branch, shares, made, follows)
    for link in loops:
        _close(reading, link, shares, split)
    joined = {b.joint: b.name for b in reading.system.bodies}
    reading.system._file_order = {
        "bodies": tuple(reading.names[e] for e in bodies),
        "joints": tuple(joined[name] for x in links if (name := reading.names[x.element]) in joined),
    }


def _bodies(reading: Reading) -> list[Element]:
    elements = [
        e
        for e in (*reading.objects(reading.model, "BodySet"), *reading.objects(reading.model, "components"))
        if e.tag == "Body"
    ]
    taken = {"ground"}
    for e in elements:
        taken.add(reading.numbered(e, e.name or "body", taken, "body"))
        reading.use(e)
    return elements


def _mass(reading: Reading, body: Element) -> MassProperties:
    mass = reading.number(body, "mass")
    inertia = reading.numbers(body, "inertia", (0.0,) * 6, 6)
    if mass == 0.0 and any(inertia):
        reading.remark(body, "has inertia without mass; its inertia is taken as zero, as in OpenSim")
        inertia = (0.0,) * 6
    arguments = mass, reading.vector(body, "mass_center"), inertia
    try:
        return MassProperties.of(*arguments)
    except DescriptionError as error:
        made = MassProperties.of(*arguments, possible=False)
        reading.remark(
            body, str(error).removeprefix("body: ").partition(";")[0] + "; it is used as it is, as in OpenSim"
        )
        return made


def _share(whole: MassProperties, parts: int) -> MassProperties:
    return MassProperties.of(whole.mass / parts, whole.com, whole.inertia / parts, possible=False)


def joint_elements(reading: Reading) -> list[Element]:
    """Elements of all joints, in the order of the file."""
    found = [
        *reading.objects(reading.model, "JointSet"),
        *(e for e in reading.objects(reading.model, "components") if e.tag.endswith("Joint")),
    ]
    for element in found:
        reading.names[element] = element.name or element.tag.lower()
    return found


def _link(reading: Reading, element: Element) -> JointLink:
    for frame in reading.objects(element, "frames"):
        reading.use(frame)
    (parent, X_PF), (child, X_BM) = (
        reading.base(reading.connected(element, socket), element)
        for socket in ("parent_frame", "child_frame")
    )
    if parent is child:
        raise reading.error(element, f"joins {parent.name!r} to itself")
    if not reading.reads(element):
        raise reading.error(element, "this joint is not read; without it the model would be another")
    joint = read_joint(reading, element)
    return JointLink(element, parent, X_PF @ joint.on_parent, child, X_BM @ joint.on_child, joint)


def _free(reading: Reading, ground: Element, body: Element) -> JointLink:
    element = reading.model.add("FreeJoint", name=f"free_{body.name}")
    reading.use(element)
    reading.names[element] = element.name
    mobilizer = Free(coordinates="euler")
    return JointLink(
        element,
        ground,
        Transform(),
        body,
        Transform(),
        Joint(mobilizer, coordinate_elements(reading, element, 6)),
    )


@dataclass(frozen=True, eq=False)
class Branch:
    """A joint of the tree, and whether it is reversed in it."""

    link: JointLink
    against: bool

    @property
    def ends(self) -> tuple[Element, Element]:
        """Elements of the inner and the outer body."""
        return (self.link.child, self.link.parent) if self.against else (self.link.parent, self.link.child)


def _in_order(
    branches: list[Branch], made: dict[Joint, CoupledJoint]
) -> Iterator[tuple[Branch, Branch | None]]:
    """Branches in the order in which their bodies are added, each with the one that it follows, if it does.

    The leading joint comes first, and its body has the coordinates, unless it comes after one that it leads:
    then the first of these has them.
    """
    waiting, owner = list(branches), dict[Joint, Branch]()
    while waiting:
        later = {b.ends[1] for b in waiting}
        ready = [b for b in waiting if b.ends[0] not in later]
        leader = {b: made[b.link.joint].leader if made else None for b in ready}
        chosen = next((b for b in ready if (x := leader[b]) is None or x in owner), ready[0])
        group = leader[chosen] or chosen.link.joint
        yield chosen, owner.get(group)
        owner.setdefault(group, chosen)
        waiting.remove(chosen)


def _add(
    reading: Reading,
    branch: Branch,
    shares: dict[Element, MassProperties],
    made: dict[Joint, CoupledJoint],
    follows: Branch | None,
) -> None:
    """Add the body that a joint of the tree carries."""
    link, (inner, outer) = branch.link, branch.ends
    mobilizer, of = link.joint.mobilizer, link.joint.coordinates
    if made:
        coupled = made[link.joint]
        whose = made[coupled.leader or link.joint]
        of, all_of = whose.free(), whose.joint
        unit = dict(zip(all_of.coordinates, all_of.mobilizer.units, strict=True))
        mobilizer = coupled.mobilizer(of, [unit[e] for e in of])
    X_inner, X_outer = (link.X_BM, link.X_PF) if branch.against else (link.X_PF, link.X_BM)
    body = {
        "name": reading.names[outer],
        "parent": reading.names[inner],
        "mobilizer": mobilizer.reversed() if branch.against else mobilizer,
        "X_PF": X_inner,
        "X_BM": X_outer,
    }
    leader = None if follows is None else reading.names[follows.ends[1]]
    _body(reading, link, body, shares[outer], of, leader)


def _body(
    reading: Reading,
    link: JointLink,
    body: dict[str, Any],
    mass: MassProperties,
    elements: Sequence[Element],
    follows: str | None = None,
) -> None:
    """Add a body, with the coordinates of these elements unless it follows another."""
    for e in link.joint.coordinates:
        if e not in elements:  # a coupler gives it
            reading.use_all(e)
    body |= {"mass": mass.mass, "com": mass.com, "inertia": mass.inertia}
    body |= {"joint": reading.names[link.element], "any_inertia": True}
    if follows is not None:
        reading.system.add_body(**body, follows=follows)
        return
    own, mobilizer = [_coordinate(reading, e) for e in elements], body["mobilizer"]
    held = _locked_apart(reading, mobilizer, own)
    motions = [_prescribed(reading, e, c) for e, c in zip(elements, own, strict=True)]
    apart = mobilizer.speed_names != mobilizer.coordinate_names and any(f is None for f in motions)
    together = any(f is not None for f in motions) and not apart
    motion = Prescribed(position=motions) if together else None
    reading.system.add_body(**body, coordinates=own, motion=motion)
    for name, value in held.items():
        reading.system.add_constraint(f"{name}_locked", constraints.ConstantCoordinate(name, value))
    for c, f in zip(own, motions, strict=True):
        if f is not None and not together:
            reading.system.add_constraint(f"{c.name}_prescribed", constraints.PrescribedMotion(f, c.name))


def _coordinate(reading: Reading, element: Element) -> Coordinate:
    reading.use(element)
    name = element.name or f"{element.parent.parent.name}_coord"  # type: ignore[union-attr]
    if name in reading.names.values() and name in {
        reading.names[e] for e in reading.names if e.tag == "Coordinate"
    }:
        joint = next(e for e in element.ancestors() if e.tag.endswith("Joint"))
        reading.remark(element, f"another coordinate has this name; it is called '{joint.name}_{name}'")
        name = f"{joint.name}_{name}"
    reading.names[element] = name
    reading.skip(element, "initial_value", "is_free_to_satisfy_constraints")
    low, high = reading.numbers(element, "range", (-10.0, 10.0), 2, finite=False)
    value, clamped = reading.number(element, "default_value", 0.0), reading.boolean(element, "clamped", False)
    if low > high:
        reading.remark(element, f"its range {low:g} to {high:g} is empty: it has none here")
    elif clamped and not low <= value <= high:
        reading.remark(
            element,
            f"is clamped, and its default_value {value:g} is outside of its range "
            f"{low:g} to {high:g}: OpenSim refuses such a model",
        )
    return Coordinate(
        name,
        value,
        (low, high) if low < high and math.isfinite(high - low) else None,
        clamped=clamped,
        locked=reading.boolean(element, "locked", False),
        speed=reading.number(element, "default_speed_value", 0.0),
    )


def _locked_apart(reading: Reading, mobilizer: Mobilizer, own: list[Coordinate]) -> dict[str, float]:
    """Locked angles of a ball whose other angles are free: their values, for constraints. Speeds cannot lock
    them, so they are unlocked."""
    try:
        locked_speeds(mobilizer, own, "")
        return {}
    except DescriptionError:
        held = {c.name: float(c.default or 0.0) for c in own if c.locked}
        own[:] = [Coordinate(c.name, c.default, c.range, c.clamped, speed=c.speed) for c in own]
        return held


def _prescribed(reading: Reading, element: Element, own: Coordinate) -> Function | None:
    """Function of time that prescribes a coordinate, if one does."""
    function = reading.function(element, "prescribed_function")
    if not reading.boolean(element, "prescribed", False) or own.locked:
        return None
    if function is None:
        reading.remark(element, "is prescribed without a function; it is free, as in OpenSim")
    return function  # type: ignore[no-any-return]


def _close(
    reading: Reading, link: JointLink, shares: dict[Element, MassProperties], split: list[Element]
) -> None:
    """A joint that closes a loop, as in OpenSim: a weld becomes a constraint, a free joint nothing, and
    others carry a part of the child that is welded to it."""
    element, system = link.element, reading.system
    parent, child = reading.names[link.parent], reading.names[link.child]
    if link.parent is link.child or (child == "ground" and element.tag not in ("WeldJoint", "FreeJoint")):
        raise reading.error(
            element,
            f"joins {parent} to {child}, and {parent} is already attached; OpenSim "
            "refuses it too. Exchange its frames, or remove it",
        )
    if element.tag == "FreeJoint":
        reading.note(element, "closes a loop, which it leaves free: it has no effect, as in OpenSim")
    elif element.tag == "WeldJoint":
        system.add_constraint(
            f"{reading.names[element]}_Loop", constraints.Weld(parent, link.X_PF, child, link.X_BM)
        )
    else:
        k = 0
        while (name := f"{child}_slave_{k}") in {b.name for b in system.bodies}:
            k += 1
        body = {
            "name": name,
            "parent": parent,
            "mobilizer": link.joint.mobilizer,
            "X_PF": link.X_PF,
            "X_BM": link.X_BM,
        }
        _body(reading, link, body, shares[link.child], link.joint.coordinates)
        system.add_constraint(f"{name}_weld", constraints.Weld(child, np.zeros(3), name, np.zeros(3)))


# ---- the tree ----------------------------------------------------------------------------------------------
#
# Which joints carry the tree of bodies, and which close loops: chosen like Simbody's graph maker, so that
# coordinates come in OpenSim's order and the same joints are reversed. Level by level from ground, joints in
# the order of the file: a joint joins a body that is not in the tree to one of the last level, in either
# sense. A body without mass is immediately followed by the heaviest that it carries. Bodies that are not
# joined to ground get a free joint to it. Remaining joints close loops.

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True)
class Edge(Generic[Node]):
    """A joint: `moves` says whether it has coordinates."""

    parent: Node
    child: Node
    moves: bool


@dataclass
class Spanning(Generic[Node]):
    """The result for all joints.

    Attributes:
        tree: (number of the joint, whether it is reversed), parents before children.
        loops: numbers of the joints that close loops.
        free: bodies that had to be joined to ground; their numbers follow those of the given joints.
        stuck: a body without mass at the end of a branch, if there is one.
    """

    tree: list[tuple[int, bool]]
    loops: list[int]
    free: list[Node]
    stuck: Node | None = None


def spanning(
    ground: Node, nodes: Sequence[Node], edges: Sequence[Edge[Node]], mass: Callable[[Node], float]
) -> Spanning[Node]:
    """The tree over all nodes."""
    edges = list(edges)
    result: Spanning[Node] = Spanning([], [], [])
    level: dict[Node, int] = {ground: 0}
    used: set[int] = set()

    def join(number: int) -> Node:
        edge = edges[number]
        against = edge.parent not in level
        inner, outer = (edge.child, edge.parent) if against else (edge.parent, edge.child)
        level[outer] = level[inner] + 1
        used.add(number)
        result.tree.append((number, against))
        return outer

    def heaviest(node: Node, against: bool) -> tuple[float, int] | None:
        """Mass and joint of the heaviest body that is next to a node and not in the tree."""
        best: tuple[float, int] | None = None
        for number, edge in enumerate(edges):
            near, far = (edge.child, edge.parent) if against else (edge.parent, edge.child)
            if near == node and number not in used and far not in level and mass(far) > (best or (0.0,))[0]:
                best = (mass(far), number)
        return best

    def extend(node: Node) -> None:
        """Continue from a body without mass until one with mass is joined."""
        while mass(node) == 0.0:
            found = heaviest(node, False) or heaviest(node, True)
            if found is None:
                result.stuck = node
                return
            node = join(found[1])

    def grow() -> None:
        depth = 1
        while True:
            for number, edge in enumerate(edges):
                inside = [node for node in (edge.parent, edge.child) if node in level]
                if number in used or len(inside) != 1 or level[inside[0]] != depth - 1:
                    continue
                outer = join(number)
                if edge.moves and mass(outer) == 0.0:
                    extend(outer)
            if depth > max(level.values()):
                return
            depth += 1

    def to_ground(node: Node) -> None:
        result.free.append(node)
        edges.append(Edge(ground, node, True))

    joined = {node for edge in edges for node in (edge.parent, edge.child)}
    for node in nodes:
        if node not in joined:
            to_ground(node)
    while True:
        grow()
        rest = [node for node in nodes if node not in level]
        if not rest:
            break
        children = {edge.child for edge in edges}
        parents_only = [node for node in rest if node not in children] or rest
        to_ground(max(parents_only, key=lambda node: sum(edge.parent == node for edge in edges)))
    result.loops = [number for number in range(len(edges)) if number not in used]
    return result
