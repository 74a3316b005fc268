"""Checked triangles of a closed surface: defects that can be repaired without loss are repaired with a
warning; others raise an error.

Normals at corners and edges are means of those of the faces, weighted with the angles that faces have there:
a point is inside if its difference to the nearest point of the surface points against the normal there
(Baerentzen and Aanaes 2005).
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.native.searches.search_tree import SearchTree
from condyle.records import dataclass

SAME = 1e-9
"""Relative distance below which corners are merged."""
MANY = 64
"""Largest number of corners by which a part is tested for lying within another."""
FLAT = 1e-12
"""Relative area below which faces count as having none."""
FOLDED = -0.9999
"""Cosine of the angle between neighbors, beyond which one lies on the other: within 0.8 degrees."""


@dataclass(frozen=True, eq=False, repr=False)
class Triangles:
    """A closed surface.

    Attributes:
        vertices: shape (n, 3) [m].
        faces: indices of vertices, shape (m, 3), counter-clockwise from outside.
        notes: sentences about what was repaired.
    """

    vertices: Array
    faces: np.ndarray
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def digest(self) -> str:
        data = repr((self.vertices.shape, self.faces.shape)).encode()
        return hashlib.sha256(
            data + self.vertices.tobytes() + self.faces.astype(np.int64).tobytes()
        ).hexdigest()

    def description(self) -> str:
        return f"Triangles({self.digest})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Triangles) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("vertices", "faces", "notes")}

    def __repr__(self) -> str:
        return f"{len(self.faces)} triangles"

    @cached_property
    def corners(self) -> Array:
        """Of the faces [m], shape (m, 3, 3)."""
        return self.vertices[self.faces]

    @cached_property
    def centroids(self) -> Array:
        """Of the faces [m], shape (m, 3)."""
        return self.corners.mean(axis=1)

    @cached_property
    def _crossed(self) -> Array:
        c = self.corners
        return np.cross(c[:, 1] - c[:, 0], c[:, 2] - c[:, 0])

    @cached_property
    def areas(self) -> Array:
        """Of the faces [m^2], shape (m,)."""
        return np.linalg.norm(self._crossed, axis=1) / 2

    @cached_property
    def normals(self) -> Array:
        """Of the faces, outwards, shape (m, 3)."""
        return self._crossed / (2 * self.areas[:, None])

    @cached_property
    def edge_normals(self) -> Array:
        """Sums of the normals on both sides of the edges from corner k to corner k + 1, shape (m, 3, 3)."""
        edges, which = np.unique(np.sort(_sides(self.faces), axis=1), axis=0, return_inverse=True)
        total = np.zeros((len(edges), 3))
        np.add.at(total, which.ravel(), np.repeat(self.normals, 3, axis=0))
        return total[which.ravel()].reshape(-1, 3, 3)

    @cached_property
    def corner_normals(self) -> Array:
        """Sums of normals weighted with angles, at the corners of the faces, shape (m, 3, 3)."""
        c = self.corners
        total = np.zeros_like(self.vertices)
        for k in range(3):
            u, v = c[:, (k + 1) % 3] - c[:, k], c[:, (k + 2) % 3] - c[:, k]
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), (u * v).sum(axis=1))
            np.add.at(total, self.faces[:, k], angle[:, None] * self.normals)
        return total[self.faces]

    @cached_property
    def volume(self) -> float:
        """Enclosed volume [m^3]."""
        return _volume(self.corners)

    @cached_property
    def tree(self) -> SearchTree:
        """A tree of the faces, at their centroids."""
        return SearchTree.from_points(self.centroids)

    @cached_property
    def balls(self) -> Array:
        """Centers and radii of balls that hold the centroids of the faces below each branch of the tree;
        radius -inf if there is no branch: Tree.nodes."""
        faces, starts = self.tree.branches()
        p, of = self.centroids[faces], _branch_of(faces, starts)
        center = (np.maximum.reduceat(p, starts) + np.minimum.reduceat(p, starts)) / 2
        radius = np.maximum.reduceat(np.linalg.norm(p - center[of], axis=1), starts)
        # a little larger: distances are rounded
        return self.tree.by_branch(
            np.column_stack([center, radius * (1 + 1e-9) + 1e-300]), np.array([0, 0, 0, -np.inf])
        )

    @cached_property
    def boxes(self) -> Array:
        """Axes, one after the other, and middles and halves of the sides along them, of boxes that hold the
        faces below each branch of the tree; halves of -inf if there is no branch: Tree.nodes. An axis is
        the mean normal of these faces, unless the box of the coordinate axes is smaller."""
        faces, starts = self.tree.branches()
        p, of, best = self.corners[faces], _branch_of(faces, starts), None
        for R in (np.broadcast_to(np.eye(3), (len(starts), 3, 3)), self._axes(faces, starts)):
            q = np.einsum("ick,ijk->icj", p, R[of])
            low = np.minimum.reduceat(q.min(axis=1), starts)
            high = np.maximum.reduceat(q.max(axis=1), starts)
            sides = high - low
            found = np.column_stack([R.reshape(-1, 9), (low + high) / 2, sides / 2])
            area = (sides * np.roll(sides, 1, axis=1)).sum(axis=1)
            best = (
                (area, found) if best is None else (area, np.where((area < best[0])[:, None], found, best[1]))
            )
        assert best is not None
        best[1][:, 12:] += 4e-15 * np.abs(self.vertices).max()  # coordinates along axes are rounded
        return self.tree.by_branch(best[1], np.append(np.zeros(12), np.full(3, -np.inf)))

    def _axes(self, faces: np.ndarray, starts: np.ndarray) -> Array:
        """Rotations, their rows: across the mean normal, along which corners are spread most, across both,
        the mean normal."""
        n = np.add.reduceat(self._crossed[faces], starts)
        length = np.linalg.norm(n, axis=1)[:, None]
        n = np.where(length > 0, n, (0, 0, 1)) / np.where(length > 0, length, 1)
        u = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
        u /= np.linalg.norm(u, axis=1)[:, None]
        v, of = np.cross(n, u), _branch_of(faces, starts)
        x, y = (np.einsum("ick,ik->ic", self.corners[faces], w[of]) for w in (u, v))
        mean = lambda z: np.add.reduceat(z.mean(axis=1), starts) / np.bincount(of)
        x, y = (z - mean(z)[of][:, None] for z in (x, y))
        turn = np.arctan2(2 * mean(x * y), mean(x * x) - mean(y * y))[:, None] / 2
        w = np.cos(turn) * u + np.sin(turn) * v
        return np.stack([w, np.cross(n, w), n], axis=1)


def _branch_of(faces: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The branch of each item of Tree.branches."""
    return np.repeat(np.arange(len(starts)), np.diff([*starts, len(faces)]))


def _sides(faces: np.ndarray) -> np.ndarray:
    """Edges of the faces with their directions, three a face, shape (3 m, 2)."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)


def _volume(corners: Array) -> float:
    about = corners.mean(axis=(0, 1))
    a, b, c = (corners[:, k] - about for k in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def checked(vertices: Array, faces: np.ndarray, what: str) -> Triangles:
    """A checked closed surface from the triangles of a file.

    Raises:
        DescriptionError: it is open, has edges of more than two faces, faces without area, or doubled sheets.
    """
    notes: list[str] = []
    size = float(np.ptp(vertices, axis=0).max()) if len(vertices) else 0.0
    if not size > 0 or not np.isfinite(size):
        raise DescriptionError(f"{what}: all corners are at one point, or not finite")
    # corners at equal places are one: files of .stl have three for each face
    _, first, same = np.unique(
        np.round((vertices - vertices.min(axis=0)) / (SAME * size)),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    rank = np.argsort(np.argsort(first))  # in the order of the file
    points, triangles = vertices[np.sort(first)], rank[same.ravel()][faces]
    thin = (triangles == np.roll(triangles, -1, axis=1)).any(axis=1)
    if thin.any():
        notes.append(f"{thin.sum()} faces with two corners at one point were left out")
        triangles = triangles[~thin]
    if not len(triangles):
        raise DescriptionError(
            f"{what}: no triangle has three corners at three places, in {size:.4g} m: is "
            "it (vertices, triangles), in this order, and no corner far from all others?"
        )
    triangles, doubled = _without_doubles(triangles, what)
    if doubled:
        notes.append(f"{doubled} duplicate faces were left out")
    used, triangles = np.unique(triangles, return_inverse=True)
    points, triangles = points[used], triangles.reshape(-1, 3)
    flat = (
        np.linalg.norm(np.cross(*(points[triangles[:, k]] - points[triangles[:, 0]] for k in (1, 2))), axis=1)
        < 2 * FLAT * size**2
    )
    if flat.any():
        k = int(np.flatnonzero(flat)[0])
        raise DescriptionError(
            f"{what}: {flat.sum()} faces have no area: their corners are on a line, the "
            f"first near {_at(points[triangles[k, 0]])}; remesh the surface there"
        )
    _check_closed(points, triangles, what)
    turned, count = _oriented(triangles)
    if len(np.unique(_sides(turned), axis=0)) != 3 * len(turned):
        raise DescriptionError(
            f"{what}: has only one side, like Klein's bottle: its faces cannot all face "
            "outwards; remesh the surface"
        )
    if count:
        notes.append(f"{count} faces were turned over: their neighbors face the other way")
    if _volume(points[turned]) < 0:
        turned = turned[:, ::-1]
        notes.append("all faces were turned over: they faced inwards")
    turned, parts, within, through = _facing_outwards(points, turned)
    if parts:
        notes.append(f"{parts} of several closed parts were turned over: their faces faced inwards")
    if within:
        notes.append(
            f"{within} of several closed parts were left out: they lie within another part, and "
            "are not hollows, whose faces would face inwards"
        )
        used, turned = np.unique(turned, return_inverse=True)
        points, turned = points[used], turned.reshape(-1, 3)
    if through is not None:
        notes.append(
            f"closed parts go through each other, near {_at(through)}: faces inside the other part "
            "count as surface too; merge the parts"
        )
    if not _volume(points[turned]) > FLAT * size**3:
        raise DescriptionError(f"{what}: has no volume: it is flat; give it two sides")
    folded = _folded(points, turned)
    if folded is not None:
        notes.append(
            f"faces are folded back on their neighbors near {_at(folded)}, and count twice, "
            "as after cutting polygons with hollow corners; remesh the surface"
        )
    if notes:
        warn(f"{what}: {'; '.join(notes)}")
    for array in (points, turned):
        array.flags.writeable = False
    return Triangles(np.ascontiguousarray(points), np.ascontiguousarray(turned), tuple(notes))


def _at(p: Array) -> str:
    return f"({', '.join(f'{x:.4g}' for x in p)}) m"


def _without_doubles(faces: np.ndarray, what: str) -> tuple[np.ndarray, int]:
    """Each face once."""
    _, first, which = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_inverse=True)
    if len(first) == len(faces):
        return faces, 0
    turned = lambda f: np.array([np.roll(row, -int(np.argmin(row))) for row in f])
    if (turned(faces) != turned(faces[first[which.ravel()]])).any():
        raise DescriptionError(
            f"{what}: some faces are doubled, back to back: a sheet without thickness "
            "has no inside; give it two sides"
        )
    return faces[np.sort(first)], len(faces) - len(first)


def _check_closed(points: Array, faces: np.ndarray, what: str) -> None:
    edges, count = np.unique(np.sort(_sides(faces), axis=1), axis=0, return_counts=True)
    for wrong, words in (
        (count == 1, "a face on one side only: the surface is open; close its holes"),
        (count > 2, "more than two faces; a surface has two at each edge"),
    ):
        if wrong.any():
            a, b = points[edges[wrong][0]]
            raise DescriptionError(
                f"{what}: {wrong.sum()} edges have {words}. The first goes from {_at(a)} to {_at(b)}"
            )


def _oriented(faces: np.ndarray) -> tuple[np.ndarray, int]:
    """Orient neighbors alike: each edge is traversed once in either direction. Of each connected part the
    smaller group of faces is turned; with their number."""
    sides = _sides(faces)
    if len(np.unique(sides, axis=0)) == len(sides):
        return faces, 0
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # two nodes a face, as it is and turned over: neighbors are joined where they then face the same way
    order = np.lexsort(np.sort(sides, axis=1).T).reshape(-1, 2)
    (f, g), n = (order // 3).T, len(faces)
    against = n * (sides[order[:, 0], 0] == sides[order[:, 1], 0])
    rows, columns = np.concatenate([f, f + n]), np.concatenate([g + against, g + n - against])
    joined = coo_array((np.ones(len(rows)), (rows, columns)), (2 * n, 2 * n))
    label = connected_components(joined, directed=False)[1].reshape(2, n)
    part, turn = label.min(axis=0), label[0] > label[1]
    turn ^= (2 * np.bincount(part, turn) > np.bincount(part))[part]
    return np.where(turn[:, None], faces[:, ::-1], faces), int(turn.sum())


def _folded(points: Array, faces: np.ndarray) -> Array | None:
    """A point of an edge whose two faces lie on each other, with opposite normals; None if there is none."""
    sides = _sides(faces)
    order = np.lexsort(np.sort(sides, axis=1).T).reshape(-1, 2)  # the two sides of each edge
    corners = points[faces]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    back = (n[order[:, 0] // 3] * n[order[:, 1] // 3]).sum(axis=1) < FOLDED
    return points[sides[order[np.argmax(back), 0]]].mean(axis=0) if back.any() else None


def _facing_outwards(points: Array, faces: np.ndarray) -> tuple[np.ndarray, int, int, Array | None]:
    """Orient separate parts outwards, except hollows: parts that face inwards within another part. Returns
    the faces, the number of turned parts, the number of removed parts, which face outwards within another,
    and a point where two parts go through each other, if any."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    a, b = _sides(faces).T
    count, label = connected_components(
        coo_array((np.ones(len(a)), (a, b)), (len(points), len(points))), directed=False
    )
    if count == 1:
        return faces, 0, 0, None
    part = label[faces[:, 0]]
    about = points - points.mean(axis=0)
    six = (about[faces[:, 0]] * np.cross(about[faces[:, 1]], about[faces[:, 2]])).sum(axis=1)
    inwards = np.bincount(part, six) < 0
    order = np.argsort(label, kind="stable")
    each = np.split(order, np.cumsum(np.bincount(label))[:-1])
    low, high = (np.array([f(points[some], axis=0) for some in each]) for f in (np.min, np.max))
    holders: list[list[int]] = [[] for _ in range(count)]
    through: Array | None = None
    for k in range(count):
        for other in np.flatnonzero((low < high[k]).all(axis=1) & (low[k] < high).all(axis=1)):
            if other != k:
                some = each[k][:: -(-len(each[k]) // MANY)]
                inside = _within(points[some], points[faces[part == other]])
                if inside.any() and not inside.all():
                    through = points[some[np.argmax(inside)]]
                elif inside.all():
                    holders[k].append(int(other))
    wrong = [k for k in np.flatnonzero(inwards) if not holders[k]]
    # within a solid, and in no hollow of it
    needless = [
        k
        for k in np.flatnonzero(~inwards)
        if sum(1 - 2 * int(inwards[o] and o not in wrong) for o in holders[k]) > 0
    ]
    faces = np.where(np.isin(part, wrong)[:, None], faces[:, ::-1], faces)
    return faces[~np.isin(part, needless)], len(wrong), len(needless), through


def _within(points: Array, corners: Array) -> np.ndarray:
    """Whether points are in a closed surface, by solid angles (van Oosterom and Strackee 1983)."""
    dot = lambda x, y: (x * y).sum(axis=1)

    def half(y: Array) -> float:
        a, b, c = (corners[:, k] - y for k in range(3))
        p, q, r = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        top = dot(a, np.cross(b, c))
        return float(np.arctan2(top, p * q * r + dot(a, b) * r + dot(b, c) * p + dot(c, a) * q).sum())

    # 2 pi inside, 0 outside, pi on a face
    return np.array([abs(half(y)) > 1.5 * np.pi for y in points])
