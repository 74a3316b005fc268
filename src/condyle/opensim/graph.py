"""Which joints carry the tree of bodies, and which close loops: chosen as Simbody's graph maker chooses, so
that coordinates come in OpenSim's order and joints that go against the tree are the same ones.

Level by level from ground, joints in the order of the file: a joint joins a body that is not in the tree to
one of the last level, in either sense. A body without mass is followed at once by the heaviest that it
carries. What is not joined to ground is joined to it by a free joint. Joints that are left close loops.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from condyle.records import dataclass

Node = TypeVar("Node", bound=Hashable)


@dataclass(frozen=True)
class Edge(Generic[Node]):
    """A joint: `moves` says whether it has coordinates."""

    parent: Node
    child: Node
    moves: bool


@dataclass
class Spanning(Generic[Node]):
    """What became of the joints.

    Attributes:
        tree: (number of the joint, whether it goes against the tree), parents before children.
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
        """Go on from a body without mass until one with mass is joined."""
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
