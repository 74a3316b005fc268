"""Elastic foundation: contact of meshes, with a spring at each triangle. docs/theory/contact.md (48)-(56b),
sherman2011 section 5.2 and appendix A.1.

    K_i = E_i / h_i,   s = K_o / (K_m + K_o),   K = s K_m,   c* = s c_m + (1 - s) c_o                     (48)

of the mesh, m, and the other surface, o. Everything is in the frame of the mesh. Triangles are rows of a
table; a tree skips those that cannot touch: native/searches/tree_sum.py. Derivatives are sums of those of
(53), (54) over the same triangles.

Springs are on the body of a mesh, m, and press against the other surface, o. For the centroid y of a triangle
of area A, with x and n of (44), n pointing out of the other surface:

    P = y + s x n                                                                                         (49)
    f_e = w K A x where x > 0, else 0;   w = 1, or 1/2 of two meshes, whose springs both act              (50)
    f_n = f_e max(1 + c* xdot, 0),   xdot = -n . v,   v: velocity of m on o at P                          (51)
    friction on m = -mu(|v_t|) f_n v_t / |v_t|,   v_t = v + xdot n                                        (52)
    force on m = sum of f = f_n n + friction,   moment about the origin of its frame: sum of P x f        (53)
    stored V = sum of f_e x / 2,   lost = sum of (f_n - f_e) xdot - friction . v_t >= 0                   (54)
    center of pressure = sum of f_n P / sum of f_n                                                        (55)
    pressure = f_n / (w A)                                                                                (56)

Smooth springs have, with z = x / d and the normal distribution Phi(z), phi = Phi', in place of max(x, 0) and
of max(x, 0)^2 / 2, zero from z = -9 on,

    x_s = x Phi + d phi,   V / (w K A) = ((x^2 + d^2) Phi + x d phi) / 2                                 (56a)
    with t = -z > 6: Phi = phi / (t + k),  k = 1 / (t + l),  l = 2 / (t + 3 / (t + 4 / (t + ..))),
    x_s = d phi k / (t + k),   V / (w K A) = d^2 phi k l / (2 (t + k))                                   (56b)

(56b) is Laplace's fraction, whose terms do not cancel. (19), (11) replace (51), (9).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import field
from functools import lru_cache
from typing import Annotated, Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.contact.closest_points import check_surfaces, check_yielding
from condyle.contact.hunt_crossley import (
    ContactLaw,
    PairForces,
    across,
    damped,
    hollars,
    relative_velocity,
    smoothed,
    stribeck,
    warn_of_smooth,
)
from condyle.contact.materials import MaterialPair, losses
from condyle.contact.mesh import Mesh
from condyle.contact.point_depth import Near, PointDepth, numbers_of, point_depth
from condyle.contact.surfaces import BodyPose, ContactSurface, SurfacePose, Touch
from condyle.contact.triangles import Triangles
from condyle.errors import DescriptionError
from condyle.laws.described import Role, quantity, sx
from condyle.laws.view import Loads, View
from condyle.native.searches.tree_minimum import TreeMinimum
from condyle.native.searches.tree_sum import TreeSum
from condyle.native.tables.lookup import look_up, look_up_with_slopes
from condyle.records import assign, dataclass
from condyle.trace import Numbers

LAYER = 9
"""Numbers of a layer: K w, s, c*, three of friction, transition speed; K; d."""
REACH = 9.0
"""Smooth springs are zero where x <= -REACH d: 1e-20 of d there."""
TAIL, LAST = 6.0, 10
"""t above which (56b) is used, and its last number."""
Curve = Callable[[ca.SX, MaterialPair], ca.SX]


@dataclass(frozen=True)
class Springs:
    """The surface that springs press against, and their law.

    Attributes:
        where: the other surface.
        curve: of friction; `smoothed` makes springs smooth.
    """

    where: PointDepth
    curve: Curve

    @property
    def smooth(self) -> bool:
        return self.curve is smoothed

    def reach(self, d: SX) -> SX:
        """How far above the surface they act [m]."""
        return REACH * d if self.smooth else ca.SX(0)

    def touching(self, x: SX, d: SX, terms: SX) -> SX:
        """Terms where springs act; keeps NaN."""
        return ca.if_else(x <= -self.reach(d), 0, terms)

    def pressed_depth(self, x: SX, d: SX) -> tuple[SX, SX, SX]:
        """Depth, its integral and its slope where springs act: x, x^2 / 2 and 1, or (56a), (56b)."""
        return smooth_depth(x, d) if self.smooth else (x, x * x / 2, ca.SX(1))

    def spring(self, given: SX, layer: SX, item: SX) -> tuple[SX, SX, SX, SX]:
        """x, n, P and f_e of (49), (50); item = y, A."""
        x, n = self.where.close(given, item[:3], self.reach(layer[8]))
        return x, n, item[:3] + layer[1] * x * n, layer[0] * item[3] * self.pressed_depth(x, layer[8])[0]

    def normal_force(self, f_e: SX, n: SX, v: SX, c: SX) -> tuple[SX, SX]:
        """xdot and f_n of (51)."""
        xdot = -ca.dot(n, v)
        return xdot, f_e * damped(1 + c * xdot, self.smooth)

    def moving(self, p: SX) -> tuple[SX, SX, SX, SX]:
        """Numbers of the other surface, w and v of the mesh relative to it, layer: p of the functions below
        except `stored`."""
        g = self.where.size
        return p[:g], p[g : g + 3], p[g + 3 : g + 6], p[g + 6 :]

    # sums over triangles, by name; `pressure` is that of one triangle

    def exerted(self, p: SX, item: SX) -> SX:
        """Moment and force of (53), and power lost of (54)."""
        given, w, v, layer = self.moving(p)
        m = MaterialPair(*ca.vertsplit(layer[:7]))
        x, n, P, f_e = self.spring(given, layer, item)
        v_P = v + ca.cross(w, P)
        xdot, f_n = self.normal_force(f_e, n, v_P, m.c)
        v_t = v_P + xdot * n
        f_t = -f_n * self.curve(ca.dot(v_t, v_t), m) * v_t  # (52)
        f = f_n * n + f_t  # (53)
        lost = (f_n - f_e) * xdot - ca.dot(f_t, v_t)  # (54)
        return self.touching(x, layer[8], ca.vertcat(ca.cross(P, f), f, lost))

    def pressed(self, p: SX, item: SX) -> SX:
        """f_n n, f_n P and f_n of (55)."""
        given, w, v, layer = self.moving(p)
        x, n, P, f_e = self.spring(given, layer, item)
        _, f_n = self.normal_force(f_e, n, v + ca.cross(w, P), layer[2])
        return self.touching(x, layer[8], ca.vertcat(f_n * n, f_n * P, f_n))

    def pressure(self, p: SX, item: SX) -> SX:
        """(56)."""
        given, w, v, layer = self.moving(p)
        x, n, P, _ = self.spring(given, layer, item)
        elastic = layer[7] * self.pressed_depth(x, layer[8])[0]
        return self.touching(x, layer[8], self.normal_force(elastic, n, v + ca.cross(w, P), layer[2])[1])

    def stored(self, p: SX, item: SX) -> SX:
        """V of (54), f_e n, f_e P, f_e and the area in contact, A Phi if springs are smooth, of p = numbers
        of the other surface, layer."""
        g = self.where.size
        x, n, P, f_e = self.spring(p[:g], p[g:], item)
        _, V, share = self.pressed_depth(x, p[-1])
        return self.touching(x, p[-1], ca.vertcat(p[g] * item[3] * V, f_e * n, f_e * P, f_e, item[3] * share))


def smooth_depth(x: SX, d: SX) -> tuple[SX, SX, SX]:
    """x_s, its integral and its slope Phi: (56a), (56b)."""
    z = x / d
    phi = ca.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    Phi = (1 + ca.erf(z / math.sqrt(2))) / 2
    far = z < -TAIL
    t = ca.if_else(far, -z, TAIL)
    el = 0 * t
    for k in range(LAST, 1, -1):
        el = k / (t + el)
    kay = 1 / (t + el)
    near = x * Phi + d * phi, ((x * x + d * d) * Phi + x * d * phi) / 2, Phi  # (56a)
    tail = d * phi * kay / (t + kay), d * d * phi * el * kay / (2 * (t + kay)), phi / (t + kay)  # (56b)
    x_s, V, slope = (ca.if_else(far, b, a) for a, b in zip(near, tail, strict=True))
    return x_s, V, slope


MATERIAL = LAYER - 1
"""Numbers of a layer that come from the materials: all except the depth of smoothing."""

# all triangles


def _near(springs: Springs, ask: Near) -> Callable[[SX, SX], SX]:
    """Whether a ball of centroids may touch: its center is nearer than its radius plus the reach of
    springs."""
    size = springs.where.size
    return lambda p, ball: ask(p[:size], ball[:3], ball[3] + springs.reach(p[-1]))


def _tables(mesh: Triangles) -> tuple[np.ndarray, np.ndarray]:
    """Balls of the branches, and centroids and areas of the faces; faces without area pad incomplete
    blocks."""
    items = mesh.tree.blocks(np.column_stack([mesh.centroids, mesh.areas]))
    items[:, 3] = np.where(mesh.tree.order < 0, 0.0, items[:, 3])
    return mesh.balls, items


@lru_cache(maxsize=256)
def _sum(
    which: str, mesh: Triangles, springs: Springs, needs: int, columns: tuple[int, ...] | None
) -> TreeSum:
    """The sum of terms, or of their slopes by some elements of p."""
    term = getattr(springs, which)

    def slopes(p: SX, item: SX) -> SX:
        return ca.vec(ca.densify(ca.jacobian(term(p, item), p)[:, list(columns or ())]))

    name, f = (f"foundation_{which}", term) if columns is None else (f"foundation_{which}_slopes", slopes)
    where = springs.where
    return TreeSum.trace(
        name,
        needs,
        mesh.tree,
        _near(springs, where.reach),
        f,
        *_tables(mesh),
        where.quick and _near(springs, where.quick),
    )


def _summed(which: str, mesh: Triangles, springs: Springs, p: SX) -> SX:
    """A sum with derivatives by all elements of p that are not constant."""
    p = ca.densify(p)
    columns = tuple(k for k in range(p.numel()) if not p[k].is_constant())
    values, slopes = (_sum(which, mesh, springs, p.numel(), some) for some in (None, columns))
    return look_up_with_slopes(values, slopes, p, columns)


@lru_cache(maxsize=64)
def _deepest(mesh: Triangles, where: PointDepth) -> TreeMinimum:
    """Numbers of the other surface -> centroid, area and number of the face that is deepest in it."""
    nodes, _ = _tables(mesh)
    nodes = nodes.copy()
    nodes[:, 3] = np.where(np.isinf(nodes[:, 3]), np.nan, nodes[:, 3])
    items = np.column_stack([mesh.centroids, mesh.areas])
    g = where.size
    return TreeMinimum.trace(
        "deepest_triangle",
        g + 1,
        mesh.tree,
        lambda p, ball: -(where.above(p[:g], ball[:3]) + ball[3]),
        lambda p, item: -where.where(p[:g], item[:3])[0],
        nodes,
        mesh.tree.blocks(items),
        np.column_stack([items, np.arange(len(items))]),
    )


@dataclass(frozen=True)
class Side:
    """The springs of one mesh, and the surface that they press against.

    Attributes:
        mesh: of the springs.
        other: the other surface.
        sign: 1 where the mesh is the contact's first surface, else -1.
        layer: LAYER numbers.
        curve: of friction; `smoothed` makes springs smooth.
    """

    mesh: Mesh
    other: ContactSurface
    sign: int
    layer: ca.SX
    curve: Curve

    @property
    def where(self) -> PointDepth:
        return point_depth(self.other)

    @property
    def springs(self) -> Springs:
        return Springs(self.where, self.curve)

    def placed(self, mesh: SurfacePose, other: SurfacePose) -> tuple[SX, SX, SX]:
        """Rotation and origin of the mesh's frame in ground, and the other surface's numbers in it."""
        R, p = self.mesh.frame(mesh)
        return R, p, numbers_of(self.other, other, R, p)

    def motion(self, s: View, R: SX, p: SX) -> SX:
        """Angular velocity of the mesh relative to the other surface, and velocity at its origin, in its
        frame."""
        mesh, other = self.mesh.body, self.other.body
        w = s.angular_velocity(mesh) - s.angular_velocity(other)
        return ca.vertcat(R.T @ w, R.T @ relative_velocity(s, other, mesh, p))

    def numbers(self, s: View) -> tuple[SX, SX, SX]:
        """Rotation and origin of the mesh's frame in ground, and the input of its springs."""
        R, p, given = self.placed(BodyPose(s, self.mesh.body), BodyPose(s, self.other.body))
        return R, p, ca.vertcat(given, self.motion(s, R, p), self.layer)

    @property
    def size(self) -> int:
        """Of `numbers`."""
        return self.where.size + 6 + LAYER

    def moving(self, s: View, *which: str) -> tuple[SX, ...]:
        """Rotation and origin of the mesh's frame in ground, and sums of (53)-(55)."""
        R, p, given = self.numbers(s)
        return R, p, *(_summed(w, self.mesh.triangles, self.springs, given) for w in which)

    def stored(self, mesh: SurfacePose, other: SurfacePose) -> tuple[SX, SX, SX]:
        """Rotation, origin and sums that depend on positions alone."""
        R, p, given = self.placed(mesh, other)
        return R, p, _summed("stored", self.mesh.triangles, self.springs, ca.vertcat(given, self.layer))

    def deepest(self, mesh: SurfacePose, other: SurfacePose) -> Touch:
        """Closest points at the deepest or nearest face, from the contact's first surface to its second."""
        R, p, given = self.placed(mesh, other)
        face = look_up(_deepest(self.mesh.triangles, self.where), ca.vertcat(given, ca.inf))
        x, n = self.where.where(given, face[:3])
        n_G, y = -(R @ n), p + R @ face[:3]
        out = Touch(x, n_G, y, ca.SX(1), None, True)
        return out if self.sign > 0 else out.flipped


def sides(a: ContactSurface, b: ContactSurface, layers: tuple[SX, SX], curve: Curve) -> list[Side]:
    """The sides of those surfaces that are meshes."""
    both = (
        Side(a, b, 1, layers[0], curve) if isinstance(a, Mesh) else None,
        Side(b, a, -1, layers[1], curve) if isinstance(b, Mesh) else None,
    )
    return [side for side in both if side is not None]


def deepest(a: ContactSurface, A: SurfacePose, b: ContactSurface, B: SurfacePose) -> Touch:
    """Deepest points of two surfaces, at least one a mesh, from a to b: at a centroid of a mesh."""
    none = ca.SX(LAYER, 1)
    found = [
        side.deepest(*((A, B) if side.sign > 0 else (B, A))) for side in sides(a, b, (none, none), stribeck)
    ]
    if len(found) == 1:
        return found[0]
    first, other = found
    least = ca.logic_not(other.x > first.x)
    choose = lambda name: ca.if_else(least, getattr(first, name), getattr(other, name))
    return Touch(choose("x"), choose("n"), choose("Q"), ca.SX(1), None, True)


# the law


@dataclass(frozen=True, eq=False, repr=False)
class ElasticFoundation(ContactLaw):
    """Contact of a mesh with another surface, or of two meshes: a spring at the centroid of each triangle,
    with its own dissipation and Stribeck friction. sherman2011 section 5.2.

        f_n = K A x max(1 + c* xdot, 0),   x: depth of the centroid in the other surface                 (51)
        friction = mu(slip) f_n                                                                          (52)

    K is the modulus over the thickness of both layers in series; the layer of a surface that is not a mesh
    counts as thick as the mesh's. Of two meshes the springs of both act, each with half its area. Friction is
    across the line from the centroid to the nearest point.

    Neighboring triangles are independent: the pressure is that of a Winkler foundation, not of an elastic
    body. The slope of the force jumps where a triangle begins to touch; with `smooth` it does not, and
    springs act slightly earlier.

    Args:
        a: one surface.
        b: the other, on another body. At least one is a cd.contact.Mesh.
        smooth: a depth d [m]; 0 is the exact law. Depths max(x, 0) become x Phi(x/d) + d phi(x/d), with the
            normal distribution, at most 0.4 d more; nothing acts beyond 9 d. Of two meshes the force keeps
            its jumps where the nearest triangle changes.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ElasticFoundationForce",)

    a: Annotated[ContactSurface, Role(kind="part")]
    b: Annotated[ContactSurface, Role(kind="part")]
    smooth: Annotated[float, quantity("m", lowest=0.0, plain=True)] = field(default=0.0, kw_only=True)
    layers: Annotated[Numbers, quantity("", 2 * MATERIAL)] = field(
        init=False, repr=False, default=(1.0,) * (2 * MATERIAL)
    )
    soft: bool = field(init=False, repr=False, default=False)

    tabular: ClassVar[bool] = False
    curve: ClassVar[Any] = staticmethod(stribeck)

    def __post_init__(self) -> None:
        what = type(self).__name__
        check_foundation(self.a, self.b, what)
        check_yielding(self.a, self.b, what)
        layers = ca.vertcat(self._layer(self.a, self.b), self._layer(self.b, self.a))
        assign(self, layers=layers)
        super().__post_init__()
        assign(self, soft=self.smooth != 0)
        warn_of_smooth(self.a, self.b, self.smooth, what, REACH)

    @property
    def weight(self) -> float:
        """w of (50)."""
        return 0.5 if isinstance(self.a, Mesh) and isinstance(self.b, Mesh) else 1.0

    def _layer(self, mesh: Any, other: Any) -> SX:
        """Numbers of (48) for the springs of a mesh; empty if it is not a mesh."""
        if not isinstance(mesh, Mesh):
            return ca.SX(MATERIAL, 1)
        m: Any = mesh.material
        o: Any = other.material
        thickness = other.thickness if isinstance(other, Mesh) else mesh.thickness
        K_m, K_o = sx(m.modulus) / sx(mesh.thickness), sx(o.modulus) / sx(thickness)
        s = K_o / (K_m + K_o)  # (48)
        return ca.vertcat(self.weight * s * K_m, s, losses(m, o, s), s * K_m)

    @property
    def form(self) -> Hashable:
        return self.a.form, self.b.form, self.soft

    def __repr__(self) -> str:
        a, b = (f"{type(s).__name__} on {s.body!r}" for s in (self.a, self.b))
        return f"{type(self).__name__}({a}, {b}{f', smooth={self.smooth!r}' if self.soft else ''})"

    def surfaces(self) -> tuple[ContactSurface, ContactSurface]:
        return self.a, self.b

    @property
    def sides(self) -> list[Side]:
        """Its meshes."""
        kept, d = ca.densify(sx(self.layers)), sx(self.smooth) if self.soft else 0
        layers = ca.vertcat(kept[:MATERIAL], d), ca.vertcat(kept[MATERIAL:], d)
        return sides(self.a, self.b, layers, smoothed if self.soft else self.curve)

    @property
    def solved(self) -> bool:
        return any(side.where.solved for side in self.sides)

    def touch(self, s: View) -> Touch:
        """The depth is that of the deepest triangle. Where triangles touch, the normal is the mean of theirs
        and the point their center, weighted with the elastic forces, and the patch a circle of their area."""
        poses = BodyPose(s, self.a.body), BodyPose(s, self.b.body)
        far = deepest(self.a, poses[0], self.b, poses[1])
        n, P, total, area = ca.SX(3, 1), ca.SX(3, 1), ca.SX(0), ca.SX(0)
        for side in self.sides:
            R, p, found = side.stored(*(poses if side.sign > 0 else poses[::-1]))
            n -= side.sign * R @ found[1:4]
            P += found[7] * p + R @ found[4:7]
            total, area = total + found[7], area + self.weight * found[8]
        some = total > 0
        length = ca.norm_2(ca.if_else(some, n, 1))
        n = ca.if_else(some, n / length, far.n)
        P = ca.if_else(some, P / ca.if_else(some, total, 1), far.at(self.share))
        x = far.x
        R = area / (np.pi * ca.if_else(x > 0, x, 1))
        return Touch(x, n, P + self.share * x * n, R, None, True)

    def apply(self, s: View, loads: Loads) -> None:
        for side in self.sides:
            R, p, found = side.moving(s, "exerted")
            m, f = R @ found[:3], R @ found[3:6]
            for body, sign in ((side.mesh.body, 1), (side.other.body, -1)):
                arm = p - s.station_position(body, ca.SX(3, 1))
                loads.add_force(body, ca.SX(3, 1), sign * f)
                loads.add_torque(body, sign * (m + ca.cross(arm, f)))

    def forces(self, s: View) -> PairForces:
        f, moment, lost, total = ca.SX(3, 1), ca.SX(3, 1), ca.SX(0), ca.SX(0)
        n, P = ca.SX(3, 1), ca.SX(3, 1)
        for side in self.sides:
            R, p, found, pressed = side.moving(s, "exerted", "pressed")
            mine = -side.sign * R @ found[3:6]  # on b
            f, moment = f + mine, moment + ca.cross(p, mine) - side.sign * R @ found[:3]
            lost, total = lost + found[6], total + pressed[6]
            n, P = n - side.sign * R @ pressed[:3], P + pressed[6] * p + R @ pressed[3:6]
        some = total > 0
        n = ca.if_else(some, n / ca.norm_2(ca.if_else(some, n, 1)), 0)
        P = ca.if_else(some, P / ca.if_else(some, total, 1), s.station_position(self.a.body, ca.SX(3, 1)))
        v = relative_velocity(s, self.a.body, self.b.body, P)
        f_n = ca.dot(n, f)
        where = Touch(ca.SX(0), n, P, ca.SX(1))
        f_t, moment = f - f_n * n, moment - ca.cross(P, f)
        return PairForces(where, P, v, across(n, v), total, f_n, f_t, moment, lost, f)

    def potential(self, s: View) -> SX:
        poses = BodyPose(s, self.a.body), BodyPose(s, self.b.body)
        each = [side.stored(*(poses if side.sign > 0 else poses[::-1])) for side in self.sides]
        return sum((found[0] for _, _, found in each), ca.SX(0))


def check_foundation(a: ContactSurface, b: ContactSurface, what: str) -> None:
    """Raise DescriptionError if these surfaces have no elastic foundation."""
    check_surfaces(a, b, what, "Mesh")
    if not isinstance(a, Mesh) and not isinstance(b, Mesh):
        raise DescriptionError(
            f"{what}: {type(a).__name__} and {type(b).__name__}: at least one must be a "
            "cd.contact.Mesh; other surfaces use cd.contact.HuntCrossley"
        )
    for mesh, other in ((a, b), (b, a)):
        if isinstance(mesh, Mesh):
            try:
                point_depth(other)
            except DescriptionError as error:
                raise DescriptionError(f"{what}: {error}") from None


class OpenSimElasticFoundation(ElasticFoundation):
    """OpenSim's ElasticFoundationForce for one pair of surfaces: `ElasticFoundation` with the curve of
    friction of `OpenSimHuntCrossley`, and with the numbers of the mesh alone: the other surface counts as
    rigid, whatever its material.

    OpenSim's stiffness [Pa/m] is the modulus of the material over the thickness of the mesh: a thickness of
    1 m makes them equal. Of two meshes the springs of both act, each with its own numbers and half its area.

    Args:
        a: one surface.
        b: the other, on another body. At least one is a cd.contact.Mesh.
        smooth: as ElasticFoundation; OpenSim has none.
        group: its kind: gravity, passive, external, actuator or muscle.
    """

    other_names = ("ElasticFoundationForce",)

    curve: ClassVar[Any] = staticmethod(hollars)

    def _layer(self, mesh: Any, other: Any) -> SX:
        if not isinstance(mesh, Mesh):
            return ca.SX(MATERIAL, 1)
        m: Any = mesh.material
        K = sx(m.modulus) / sx(mesh.thickness)
        return ca.vertcat(
            self.weight * K,
            1,
            sx(m.dissipation),
            sx(m.static_friction),
            sx(m.dynamic_friction),
            sx(m.viscous_friction),
            sx(m.transition_speed),
            K,
        )
