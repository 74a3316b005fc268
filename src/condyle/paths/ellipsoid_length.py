"""Geodesics over an ellipsoid by least length in a few modes, without trigonometry for each point.

In scaled space (ellipsoid_ends.py) the curve, s in [0, 1], before it is normalized to |y| = 1, is

    y(s) = (1-s)^2 p + 2 s (1-s) m + s^2 q + (sum_k tau_k B_k(s)) w,     B_k = s (1-s) P_k(2s-1)           (1)

with p(phi) on the silhouette of A and q(psi) on that of B, so that the path is tangent along the normal at
both ends. m is the middle of the start, w the pole about which it turns. With tau = 0 it is an exact circle
of any arc below 2 pi.

    L(z) = |A - P| + int |x'| ds + |B - Q|,     z = (phi, psi, tau_1 .. tau_K),     Gauss points           (2)

The gradient g of the discrete L is exact. The Hessian is that of length at a geodesic, its second variation,
with eta_k = b . dx/dz_k and the Gauss curvature Kg = det(W) / |grad f|^4, W = diag(1/radii^2), f = (x' W x -
1) / 2:

    H_kl = int (eta_k' eta_l' / |x'| - Kg eta_k eta_l |x'|) ds
           + eta_k(0) eta_l(0) / l1 + eta_k(1) eta_l(1) / l2                                               (3)

The terms omitted in (3) are proportional to g, so that Newton's method stays quadratic at a quarter of the
operations. Only phi moves P and only psi moves Q: the last 2 x 2 block of the elimination gives alpha_A,
alpha_B and gamma of segment.py (2).

If modes become large, or the search takes long, it continues in a new chart through the middle of the present
curve: this makes nearly antipodal ends converge.

The merit is L, and pivots count by their size, so that each step descends. A path that a quadrant forces to
the longer side may be a saddle of length: this search does not find it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.native.solvers.solver import Solver
from condyle.paths.cylinder_sphere import NONE
from condyle.paths.ellipsoid_ends import EllipsoidEnds
from condyle.paths.segment import ROW, Columns, Segment, chosen, cross, dot, inverse, norm, straight, unit
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of

MODES = 5
STEP, BACK, CONVERGED, ROUNDS = 0.6, 0.35, 2e-6, 40
"""Longest step in z; factor after a step without progress; |dz| at which to stop, which leaves |dz|^2 in z
and |dz|^3 in L; largest number of steps."""
LARGE, LATE = 0.5, 16
"""Modes above which the chart is renewed, up to this step; at this step it is always renewed. A chord near
the center begins with its ends far from their final places: the middle must follow them."""
KINK = 5e-11
"""1 - cos of an angle between the line and the curve, where they meet, above which the modes do not suffice:
of 1e-5, which leaves 1e-10 in L. P moves along the silhouette only, so that stationary lengths with a kink
exist."""
ROUGH, CLOSE, FAR = 1e-3, 0.02, 0.3
"""|dz| at which a resumed search leaves the rest for the next time; above which, after some steps, it
restarts; above which it restarts at once."""
WIDE = 0.3
"""Cosine of the arc in scaled space below which the Gauss points do not suffice."""


@dataclass(frozen=True, eq=False)
class Chart:
    """The frame of (1): middle m, pole w, and the centers of the silhouettes of both ends."""

    m: ca.SX
    w: ca.SX
    centers: ca.SX

    @property
    def column(self) -> SX:
        return ca.vertcat(self.m, self.w, self.centers)

    @staticmethod
    def from_column(column: SX) -> Chart:
        return Chart(column[:3], column[3:6], column[6:])

    def turned(self, tips: SX, by: SX) -> SX:
        """p, dp/dphi, q, dq/dpsi, shape (12,), after both have turned along their silhouettes: by so much up to its
        cube."""
        out = []
        for i, center in enumerate(ca.vertsplit(self.centers, 3)):
            r, t = tips[6 * i : 6 * i + 3] - center, tips[6 * i + 3 : 6 * i + 6]
            square = by[i] * by[i] / 4  # of tan(angle / 2)
            per = inverse(1 + square)
            c, s = per * (1 - square), per * by[i]
            out += [center + c * r + s * t, c * t - s * r]
        return ca.vertcat(*out)

    def renewed(self, tips: SX, offset: SX) -> SX:
        """m and w of the chart through the middle of a curve with this offset along w, shape (6,)."""
        p, q = tips[:3], tips[6:9]
        m = unit(p / 4 + self.m / 2 + q / 4 + offset * self.w)
        return ca.vertcat(m, unit(cross(m, q - p)))


class CurveLength:
    """(2) with its gradient and Hessian (3), for K modes: a sum over Gauss points, and the terms of the ends.

    Attributes:
        size: of z.
        table: a row per Gauss point: its weight; factors of p, q and w in dy/dz; their derivatives by s;
            those of m in (1); the two highest Legendre polynomials.
        ripple: share of |x'| in these, n - 1 and n - 2 of n points, above which the points do not suffice: what they do
            not show begins at 2 n, where it is about the square of this.
    """

    def __init__(self, modes: int, points: int, ripple: float) -> None:
        self.modes, self.size, self.ripple = modes, 2 + modes, ripple
        x, weights = np.polynomial.legendre.leggauss(points)
        s, basis = (x + 1) / 2, [np.polynomial.legendre.Legendre.basis(k) for k in range(modes)]
        B = [s * (1 - s) * f(x) for f in basis]
        D = [(1 - 2 * s) * f(x) + 2 * s * (1 - s) * f.deriv()(x) for f in basis]
        factors = [(1 - s) ** 2, s * s, *B, -2 * (1 - s), 2 * s, *D, 2 * s * (1 - s), 2 - 4 * s]
        highest = [np.polynomial.legendre.Legendre.basis(points - k)(x) for k in (1, 2)]
        self.table = np.stack([weights / 2, *factors, *highest], axis=1)
        self.middle = np.array([f(0) / 4 for f in basis])

    def term(self, tau: SX, chart: Chart, tips: SX, a: SX, per: SX, c: SX) -> SX:
        """Terms of a Gauss point: L, g (n,), rows of the lower half of H, L by the highest polynomials. per: 1/radii."""
        n = self.size
        p, p1, q, q1 = (tips[3 * k : 3 * k + 3] for k in range(4))
        weight, by, bd = c[0], c[1 : 1 + n], c[1 + n : 1 + 2 * n]
        in_y, in_d, *highest = ca.vertsplit(c[1 + 2 * n :])
        y = by[0] * p + in_y * chart.m + by[1] * q + dot(by[2:], tau) * chart.w  # (1)
        d = bd[0] * p + in_d * chart.m + bd[1] * q + dot(bd[2:], tau) * chart.w
        point = CurvePoint.from_slope(y, d, a, per)
        x = [point.along(v, weight) for v in (p1, q1, chart.w)]
        x = [*x[:2], *[x[2]] * self.modes]  # dy/dz are these, by factors of s
        eta = [by[i] * x[i][0] for i in range(n)]
        eta1 = [by[i] * x[i][1] + bd[i] * x[i][0] for i in range(n)]
        g = [by[i] * x[i][2] + bd[i] * x[i][3] for i in range(n)]
        turned, bent = (
            [f * e for e in etas] for f, etas in zip(point.factors(weight), (eta1, eta), strict=True)
        )
        H = [turned[i] * eta1[j] + bent[i] * eta[j] for i in range(n) for j in range(i + 1)]  # (3)
        length = weight * point.F
        return ca.vertcat(length, *g, *H, *(length * f for f in highest))

    def suffice(self, total: SX) -> SX:
        """Whether the points do."""
        return ca.norm_1(total[-2:]) * (2 * len(self.table) - 1) < self.ripple * total[0]

    def assembled(self, total: SX, ends: EllipsoidEnds, tips: SX) -> tuple[SX, SX, SX]:
        """L, g (n,), H (n, n) of the sum and of both ends."""
        n, a = self.size, ends.radii
        L, g, H = total[0], total[1 : 1 + n], ca.SX(n, n)
        for i in range(n):
            for j in range(i + 1):
                H[i, j] = H[j, i] = total[1 + n + i * (i + 1) // 2 + j]
        for i, X in enumerate((ends.A, ends.B)):
            r, t = a * tips[6 * i : 6 * i + 3] - X, a * tips[6 * i + 3 : 6 * i + 6]
            l = norm(r)
            slope = dot(r, t) / l
            L, g[i], H[i, i] = L + l, g[i] + slope, H[i, i] + (dot(t, t) - slope * slope) / l
        return L, g, H

    def direction(self, y: SX, end: int, tau: SX, chart: Chart, a: SX) -> SX:
        """The unit tangent of the curve (1) at its start y = p, end = 0, or at its end y = q, end = 1."""
        slopes = ca.DM([-1.0 if end else (-1.0) ** k for k in range(self.modes)])
        d = (2 - 4 * end) * (chart.m - y) + dot(slopes, tau) * chart.w
        return unit(a * (d - dot(d, y) * y))


@dataclass(frozen=True, eq=False)
class CurvePoint:
    """A point of the curve y(s), normalized: x = radii y/|y|, x' = i1^3 v, t = v/|v|, b = t x n.

    Only products with vectors are formed, and one division: in lanes it takes as long as twenty products.

    Attributes:
        y, d: y and y'.
        F: |x'|.
        per_F: 1/|x'|.
        at, ab: v and b by the radii, b not of unit length.
        i1, i2: 1/|y| and its square.
        k: y . d / |y|^2.
        per_v: 1/|v|.
        per_b: factor of b.
        Kg: Gauss curvature.
    """

    y: ca.SX
    d: ca.SX
    F: ca.SX
    per_F: ca.SX
    at: ca.SX
    ab: ca.SX
    i1: ca.SX
    i2: ca.SX
    k: ca.SX
    per_v: ca.SX
    per_b: ca.SX
    Kg: ca.SX

    @staticmethod
    def from_slope(y: SX, d: SX, a: SX, per: SX) -> CurvePoint:
        """At y and y' = d. a: radii; per: 1/radii."""
        yy, yd, h = dot(y, y), dot(y, d), per * y
        v = a * (yy * d - yd * y)
        root, size, long = ca.sqrt(yy), ca.sqrt(dot(h, h)), norm(v)
        one = inverse(root * size * long)
        per_v, per_h = one * root * size, one * root * long
        i1 = one * size * long
        i2 = i1 * i1
        curved = per[0] * per[1] * per[2] * yy * per_h * per_h
        return CurvePoint(
            y,
            d,
            long * i1 * i2,
            per_v * root * yy,
            a * v,
            a * cross(v, h),
            i1,
            i2,
            yd * i2,
            per_v,
            per_v * per_h,
            curved * curved,
        )

    @cached_property
    def _products(self) -> tuple[SX, ...]:
        """at, ab and ab . d / |y|^2, from y and d."""
        return dot(self.at, self.y) * self.i2, dot(self.ab, self.y) * self.i2, dot(self.ab, self.d) * self.i2

    def along(self, v: SX, weight: SX) -> tuple[SX, ...]:
        """Where dy = by v and dd = bd v: eta = by x0, eta' = by x1 + bd x0, weight dF = by x2 + bd x3; eta
        without the factor i1 per_b. b' is along the normal: it has no share in eta'."""
        k, (c, e, f) = self.k, self._products
        yv, dv, av, bv = (dot(part, v) for part in (self.y, self.d, self.at, self.ab))
        slope = weight * self.i1 * self.per_v
        across = bv - e * yv
        outward = 2 * k * c * slope - weight * self.F * self.i2
        return (
            across,
            (2 * k * e - f) * yv - e * dv - k * across,
            outward * yv - slope * (k * av + c * dv),
            slope * (av - c * yv),
        )

    def factors(self, weight: SX) -> tuple[SX, SX]:
        """Factors of eta' eta' and eta eta in (3)."""
        square = weight * (self.i1 * self.per_b) ** 2
        return square * self.per_F, -square * self.Kg * self.F


def _across_short(l1: SX, arc: SX, l2: SX, y: SX, a: SX) -> SX:
    """alpha_A, alpha_B, gamma of segment.py (3) over a short arc: a = 1, r = arc, a' = -Kg arc."""
    bend = -arc / (dot(y / a, y / a) * a[0] * a[1] * a[2]) ** 2
    return ca.vertcat(1 + l2 * bend, 1 + l1 * bend, 1) / (l1 + arc + l2 + l1 * l2 * bend)


def eliminate(H: SX, g: SX) -> tuple[SX, SX]:
    """-H^-1 g by L |D| L', tau first, then phi, psi. And 1/d_phi, 1/d_psi, l_psi,phi."""
    n = g.numel()
    order = [*range(2, n), 0, 1]
    l, u, per = np.zeros((n, n), dtype=object), np.zeros((n, n), dtype=object), [ca.SX(0)] * n  # u = l d
    floor = 1e-9 * sum((ca.fabs(H[i, i]) for i in range(n)), ca.SX(0)) / n
    for j in range(n):
        pivot = H[order[j], order[j]] - sum((u[j, k] * l[j, k] for k in range(j)), ca.SX(0))
        per[j] = inverse(ca.fmax(ca.fabs(pivot), floor))
        for i in range(j + 1, n):
            u[i, j] = H[order[i], order[j]] - sum((u[i, k] * l[j, k] for k in range(j)), ca.SX(0))
            l[i, j] = u[i, j] * per[j]
    x = [-g[order[i]] for i in range(n)]
    for i in range(n):
        x[i] = x[i] - sum((l[i, k] * x[k] for k in range(i)), ca.SX(0))
    x = [x[i] * per[i] for i in range(n)]
    for i in reversed(range(n)):
        x[i] = x[i] - sum((l[k, i] * x[k] for k in range(i + 1, n)), ca.SX(0))
    dz = [x[order.index(i)] for i in range(n)]
    return ca.vertcat(*dz), ca.vertcat(per[n - 2], per[n - 1], l[n - 1, n - 2])


class LeastLength:
    """start, step and finish of a Solver: Newton's method on (2) for p of `EllipsoidEnds`.

    Its row: kind, segment, A, B, `more`; the last of this is what `Resumed` goes on from.

    Attributes:
        more: whether the segment was found, rounds; whether the side is forced; half of the arc [m]; half, P and Q
            of the start; p and q of (1). Then, beyond `width`, m, w and tau.
    """

    more: ClassVar = Columns(found=1, count=1, forced=1, half=1, first_half=1, P=3, Q=3, p=3, q=3)
    needs, width = 12, 1 + ROW + 6 + more.ends[-1]

    def __init__(self, length: CurveLength, wide: float = WIDE) -> None:
        self.length, self.wide = length, wide
        n = length.size
        self.state = Columns(
            tau=n - 2,
            before=n - 2,
            turn=2,
            merit=1,
            L=1,
            left=1,
            count=1,
            pivots=3,
            even=1,
            tips=12,
            chart=12,
            active=1,
            forced=1,
            start=7,
            per=3,
        )

    def idle(self, p: SX) -> tuple[SX, SX]:
        """A straight path, and whether the path may wrap."""
        ends = EllipsoidEnds(p)
        row = ca.vertcat(NONE, straight(*ends.given).row, *ends.given, 1)
        row = ca.vertcat(row, ca.SX.zeros(self.width - row.numel() + Resumed.memory - 6))
        return row, ends.kind != NONE

    def start(self, p: SX) -> tuple[SX, SX]:
        ends = EllipsoidEnds(p)
        begin, active = ends.start(), ends.kind != NONE
        x = self.state.join(
            self.placed(ends, begin.P, begin.Q, begin.m, begin.w)
            | {
                "left": 1e300,
                "pivots": ca.SX([1, 1, 0]),
                "active": active,
                "forced": begin.forced,
                "start": [begin.half, begin.P, begin.Q],
            }
        )
        return x, all_of(active, ca.logic_not(any_of(begin.forced, begin.short)))

    def placed(self, ends: EllipsoidEnds, P: SX, Q: SX, m: SX, w: SX) -> dict[str, Any]:
        """The parts of the state where a curve from P to Q begins."""
        A, B = ends.silhouettes
        return {
            "merit": 1e300,
            "per": ends.per,
            "tips": [*A.nearest(P), *B.nearest(Q)],
            "chart": [m, w, A.center, B.center],
        }

    def term(self, p: SX, x: SX, c: SX) -> SX:
        s = self.state.split(x)
        return self.length.term(
            s["tau"], Chart.from_column(s["chart"]), s["tips"], EllipsoidEnds(p).radii, s["per"], c
        )

    def step(self, p: SX, x: SX, total: SX) -> tuple[SX, SX]:
        s = self.state.split(x)
        tau, before, count = s["tau"], s["before"], s["count"]
        L, g, H = self.length.assembled(total, EllipsoidEnds(p), s["tips"])
        dz, pivots = eliminate(H, g)
        size = ca.sqrt(dot(dz, dz))  # NaN of a search that is lost
        worse, good = s["merit"] * (1 + 1e-13) < L, size <= CONVERGED
        dz *= ca.fmin(1, STEP / size)
        following = ca.if_else(worse, before + BACK * (tau - before), tau + dz[2:])
        done = all_of(good, ca.logic_not(worse))
        large = all_of(ca.norm_inf(following) > LARGE, count < LATE)
        renew = any_of(large, all_of(ca.logic_not(done), count == LATE))
        chart = Chart.from_column(s["chart"])
        tips = chart.turned(s["tips"], ca.if_else(worse, (BACK - 1) * s["turn"], dz[:2]))
        new = chart.renewed(tips, dot(ca.DM(self.length.middle), following))
        after = s | {
            "tau": ca.if_else(renew, 0, following),
            "before": ca.if_else(worse, before, tau),
            "turn": ca.if_else(worse, BACK * s["turn"], dz[:2]),
            "merit": ca.if_else(renew, 1e300, ca.if_else(worse, s["merit"], L)),
            "L": ca.if_else(worse, s["L"], L + ca.if_else(good, dot(g, dz) / 2, 0)),
            "left": ca.if_else(worse, s["left"], size),
            "count": count + 1,
            "pivots": pivots,
            "even": self.length.suffice(total),
            "tips": tips,
            "chart": [ca.if_else(renew, new, s["chart"][:6]), s["chart"][6:]],
        }
        return self.state.join(after), all_of(any_of(renew, ca.logic_not(done)), count < ROUNDS - 1)

    def found(self, p: SX, s: dict[str, SX]) -> tuple[Segment, SX, SX]:
        """The segment over the surface, whether no step was needed, and whether the modes suffice."""
        ends, chart = EllipsoidEnds(p), Chart.from_column(s["chart"])
        a, (by_phi, by_psi, l) = ends.radii, ca.vertsplit(s["pivots"])
        y_P, y_P1, y_Q, y_Q1 = (s["tips"][3 * k : 3 * k + 3] for k in range(4))
        P, Q = a * y_P, a * y_Q
        l1, l2 = norm(P - ends.A), norm(ends.B - Q)
        by1, by2 = inverse(l1), inverse(l2)
        e_in, e_out = by1 * (P - ends.A), by2 * (ends.B - Q)
        n_P, n_Q = unit(s["per"] * y_P), unit(s["per"] * y_Q)
        h_P, h_Q = by1 * dot(cross(e_in, n_P), a * y_P1), by2 * dot(cross(e_out, n_Q), a * y_Q1)
        across = ca.vertcat(
            by1 - h_P * h_P * (by_phi + l * l * by_psi), by2 - h_Q * h_Q * by_psi, -h_P * h_Q * l * by_psi
        )
        short = all_of(s["count"] == 0, ca.logic_not(s["forced"]))
        across = ca.if_else(short, _across_short(l1, norm(P - Q), l2, y_P, a), across)
        L = ca.if_else(short, l1 + norm(P - Q) + l2, s["L"])
        over = Segment(L, e_in, e_out, n_P, n_Q, across, ca.vertcat(by1, by2, 0), P, Q, ca.SX(1))
        ways = s["tau"], chart, a
        smooth = ca.fmin(
            dot(e_in, self.length.direction(y_P, 0, *ways)), dot(e_out, self.length.direction(y_Q, 1, *ways))
        )
        return over, short, all_of(smooth > 1 - KINK, dot(y_P, y_Q) > self.wide, s["even"])

    def memory_of(self, s: dict[str, SX]) -> SX:
        """p, q, m, w, tau."""
        return ca.vertcat(s["tips"][:3], s["tips"][6:9], s["chart"][:6], s["tau"])

    def finish(self, p: SX, x: SX) -> SX:
        s, ends = self.state.split(x), EllipsoidEnds(p)
        over, short, suffices = self.found(p, s)
        active, found = s["active"], any_of(short, all_of(s["left"] <= CONVERGED, suffices))
        arc = over.L - norm(over.P - ends.A) - norm(ends.B - over.Q)
        half = ca.if_else(s["forced"], s["start"][0], ca.fmax(arc, norm(over.P - over.Q)) / 2)
        return ca.vertcat(
            ends.kind,
            chosen(active, over, straight(*ends.given)).row,
            *ends.given,
            ca.if_else(active, found, 1),
            s["count"],
            s["forced"],
            half,
            s["start"],
            self.memory_of(s),
        )

    def solver(self, name: str) -> Solver:
        return Solver.trace(
            name,
            self.needs,
            self.start,
            self.step,
            self.finish,
            ROUNDS,
            term=self.term,
            table=self.length.table,
            idle=self.idle,
        )


class Finer(LeastLength):
    """On in more modes from a search whose own do not suffice, of p and all that its row says. Forced ones are not for
    it. Its row: the first `width` numbers of that of the first search."""

    needs = 12 + LeastLength.width + 6 + MODES

    def given(self, p: SX) -> dict[str, SX]:
        """What the first search says beside its segment."""
        return self.more.split(p[12 + self.width - self.more.ends[-1] :])

    def idle(self, p: SX) -> tuple[SX, SX]:
        known = self.given(p)
        return p[12 : 12 + self.width], ca.logic_not(any_of(known["found"], known["forced"]))

    def start(self, p: SX) -> tuple[SX, SX]:
        known, (m, w) = self.given(p), ca.vertsplit(p[12 + self.width : 18 + self.width], 3)
        tau = ca.vertcat(p[18 + self.width :], ca.SX.zeros(self.length.modes - MODES))
        begin = {
            "tau": tau,
            "before": tau,
            "active": 1,
            "start": [known["first_half"], known["P"], known["Q"]],
        }
        return self.state.join(self.placed(EllipsoidEnds(p), known["p"], known["q"], m, w) | begin), ca.SX(1)

    def finish(self, p: SX, x: SX) -> SX:
        return super().finish(p, x)[: self.width]


class Resumed(LeastLength):
    """Continues from the result for ends nearby: of p, its memory and whether to run. Newton's method is
    quadratic even if the ends move between its steps: a step or two, until |dz| is below ROUGH, are enough;
    with 2 it runs to the end.

    Its row: kind, segment, A, B, |dz| of the step, whether it may be resumed, memory.
    """

    memory = 12 + MODES
    needs = 12 + memory + 1

    def idle(self, p: SX) -> tuple[SX, SX]:
        return ca.SX.zeros(1 + ROW + 6 + 2 + self.memory), p[-1]

    def start(self, p: SX) -> tuple[SX, SX]:
        ends, (y_P, y_Q, m, w) = EllipsoidEnds(p), (p[12 + 3 * k : 15 + 3 * k] for k in range(4))
        parts = self.placed(ends, y_P, y_Q, m, w) | {"tau": p[24:-1], "before": p[24:-1]}
        return self.state.join(parts), ca.SX(1)

    def step(self, p: SX, x: SX, total: SX) -> tuple[SX, SX]:
        after = super().step(p, x, total)[0]
        s = self.state.split(after)
        enough = ca.if_else(p[-1] > 1, CONVERGED, ROUGH)
        return after, all_of(s["left"] > enough, s["left"] < FAR, s["count"] < 4)

    def finish(self, p: SX, x: SX) -> SX:
        s, ends = self.state.split(x), EllipsoidEnds(p)
        over, _, suffices = self.found(p, s)
        good, active = any_of(suffices, s["left"] > CONVERGED), ends.kind != NONE
        good = all_of(good, active, s["left"] < CLOSE)
        row = chosen(active, over, straight(*ends.given)).row
        left = ca.if_else(active, ca.if_else(good, s["left"], 1), 0)
        return ca.vertcat(ends.kind, row, *ends.given, left, good, self.memory_of(s))
