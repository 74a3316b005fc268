"""The spring at one triangle of a mesh: docs/theory/contact.md (49)-(56b), sherman2011 section 5.2.

Springs are on the body of a mesh, m, and press against the other surface, o. For the centroid y of a triangle
of area A, with x and n of (44), n out of the other surface:

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

of which (56b) is Laplace's fraction, whose differences do not cancel; (19), (11) in place of (51), (9).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import casadi as ca

from condyle.contact.friction import smoothed
from condyle.contact.inside import Seen
from condyle.contact.law import damped
from condyle.contact.material import Combined
from condyle.records import dataclass

LAYER = 9
"""Numbers of a layer: K w, s, c*, three of friction, transition speed; K; d."""
REACH = 9.0
"""Smooth springs are zero where x <= -REACH d: 1e-20 of d there."""
TAIL, LAST = 6.0, 10
"""t from which on (56b) counts, and its last number."""
Curve = Callable[[ca.SX, Combined], ca.SX]
Term = Callable[[ca.SX, ca.SX], ca.SX]


@dataclass(frozen=True)
class Springs:
    """What springs press against, and how.

    Attributes:
        where: the other surface.
        curve: of friction; `smoothed` makes springs smooth.
    """

    where: Seen
    curve: Curve

    @property
    def smooth(self) -> bool:
        return self.curve is smoothed

    def reach(self, d: ca.SX) -> ca.SX:
        """How far above the surface they act [m]."""
        return REACH * d if self.smooth else ca.SX(0)

    def touching(self, x: ca.SX, d: ca.SX, terms: ca.SX) -> ca.SX:
        """Terms where springs act; NaN stays."""
        return ca.if_else(x <= -self.reach(d), 0, terms)

    def pressed(self, x: ca.SX, d: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Depth, its integral and its slope where springs act: x, x^2 / 2 and 1, or (56a), (56b)."""
        return smooth_depth(x, d) if self.smooth else (x, x * x / 2, ca.SX(1))

    def spring(self, given: ca.SX, layer: ca.SX, item: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """x, n, P and f_e of (49), (50); item = y, A."""
        x, n = self.where.close(given, item[:3], self.reach(layer[8]))
        return x, n, item[:3] + layer[1] * x * n, layer[0] * item[3] * self.pressed(x, layer[8])[0]

    def normal_force(self, f_e: ca.SX, n: ca.SX, v: ca.SX, c: ca.SX) -> tuple[ca.SX, ca.SX]:
        """xdot and f_n of (51)."""
        xdot = -ca.dot(n, v)
        return xdot, f_e * damped(1 + c * xdot, self.smooth)

    def moving(self, p: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Numbers of the other, w and v of the mesh on it, layer."""
        g = self.where.size
        return p[:g], p[g : g + 3], p[g + 3 : g + 6], p[g + 6 :]


def smooth_depth(x: ca.SX, d: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
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


def exerted(s: Springs) -> Term:
    """Moment and force of (53), and power lost of (54): of p = numbers of the other, w and v of the mesh on
    it, layer."""

    def term(p: ca.SX, item: ca.SX) -> ca.SX:
        given, w, v, layer = s.moving(p)
        m = Combined(*ca.vertsplit(layer[:7]))
        x, n, P, f_e = s.spring(given, layer, item)
        v_P = v + ca.cross(w, P)
        xdot, f_n = s.normal_force(f_e, n, v_P, m.c)
        v_t = v_P + xdot * n
        f_t = -f_n * s.curve(ca.dot(v_t, v_t), m) * v_t  # (52)
        f = f_n * n + f_t  # (53)
        lost = (f_n - f_e) * xdot - ca.dot(f_t, v_t)  # (54)
        return s.touching(x, layer[8], ca.vertcat(ca.cross(P, f), f, lost))

    return term


def pressed(s: Springs) -> Term:
    """f_n n, f_n P and f_n of (55), of the same p."""

    def term(p: ca.SX, item: ca.SX) -> ca.SX:
        given, w, v, layer = s.moving(p)
        x, n, P, f_e = s.spring(given, layer, item)
        _, f_n = s.normal_force(f_e, n, v + ca.cross(w, P), layer[2])
        return s.touching(x, layer[8], ca.vertcat(f_n * n, f_n * P, f_n))

    return term


def pressure(s: Springs) -> Term:
    """(56), of the same p."""

    def term(p: ca.SX, item: ca.SX) -> ca.SX:
        given, w, v, layer = s.moving(p)
        x, n, P, _ = s.spring(given, layer, item)
        elastic = layer[7] * s.pressed(x, layer[8])[0]
        return s.touching(x, layer[8], s.normal_force(elastic, n, v + ca.cross(w, P), layer[2])[1])

    return term


def stored(s: Springs) -> Term:
    """V of (54), f_e n, f_e P, f_e and the area that touches, A Phi where springs are smooth: of p = numbers
    of the other, layer."""

    def term(p: ca.SX, item: ca.SX) -> ca.SX:
        g = s.where.size
        x, n, P, f_e = s.spring(p[:g], p[g:], item)
        _, V, share = s.pressed(x, p[-1])
        V = p[g] * item[3] * V
        return s.touching(x, p[-1], ca.vertcat(V, f_e * n, f_e * P, f_e, item[3] * share))

    return term


TERMS: dict[str, Callable[[Springs], Term]] = {"exerted": exerted, "pressed": pressed, "stored": stored}
"""What is summed over triangles, by name."""
