"""Geodesics over an ellipsoid to rounding: two halves that meet in the middle.

Lengths are in units of the mean radius. With W = diag(1/radii^2) and G = |W x|^2, C = G t'Wt is constant
along a geodesic with unit tangent t (Joachimsthal). Hence one number, G^-2, drives the geodesic and the
Jacobi fields a, r of segment.py alike:

    y'' = -G(x)^-2 D y,    y = (x, a, r),    D = (C / radii^2, det W, det W)                               (1)

One step is a Taylor series of (1), whose coefficients follow from each other; its last ones say how long the
step may be. The halves begin at P(phi) and Q(psi) on the silhouettes of both ends, along the lines to these,
so that the path is smooth there whatever phi and psi are, and are equally long. With a gap d in place and a
kink f in direction across them, and K = l a + r, of either half,

    [K1  K2; K1' -K2'] (eta_1 dphi / l1, eta_2 dpsi / l2) = (d, f),    eta = b . dx/dphi                   (2)

is one step of Newton's method. Each half turns b about its own direction. The transfer matrix M of segment.py
(3) is the product of those of both halves.

`solvers` gives all stages: least length in five modes (ellipsoid_length.py), which suffices for the arcs of
anatomy, in eight where it does not, and these halves for the rest.
"""

from __future__ import annotations

from functools import cache
from typing import ClassVar

import casadi as ca

from condyle.arrays import SX
from condyle.native.solvers.solver import Solver
from condyle.paths.ellipsoid_ends import EllipsoidEnds, Silhouette, half_arc, middle, section
from condyle.paths.ellipsoid_length import MODES, CurveLength, Finer, LeastLength, Resumed
from condyle.paths.segment import ROW, Columns, Segment, cross, dot, norm, unit
from condyle.spatial.algebra import all_of, any_of

ORDER, ERROR = 12, 1e-12
"""Terms of a series; largest contribution of the last ones to a step."""
LONGEST, BACK, MET = 0.5, 0.35, 1e-6
"""Largest change in one step of (2); factor after a step without progress; change at which to stop, which
leaves its square."""
FARTHEST, ASTRAY, ROUNDS, STEPS = 6.0, 2.0, 20, 4000
"""Largest length of a half; factor by which a path that is forced to its side may become longer or shorter;
largest numbers of steps of (2) from one start, and of steps of (1) in all."""


MORE, WIDER = 8, -0.5
"""Modes of the stage between, and the cosine of the arc in scaled space below which its points do not suffice."""


def series(y: SX, v: SX, w: SX, D: SX, order: int) -> list[SX]:
    """Taylor coefficients of (1) for y, y' = v; w = 1/radii^2."""
    Y, g, G, u = [y, v], [w * y[:3], w * v[:3]], [], []
    for k in range(order - 1):
        half = sum((2 * dot(g[j], g[k - j]) for j in range((k + 1) // 2)), ca.SX(0))
        G.append(half + dot(g[k // 2], g[k // 2]) if k % 2 == 0 else half)
        if k == 0:
            per = 1 / G[0]
            u.append(per * per)
        else:  # k G0 u_k = sum (-2 j - (k - j)) G_j u_{k-j}
            u.append(-per / k * sum((float(k + j) * G[j] * u[k - j] for j in range(1, k + 1)), ca.SX(0)))
        total = sum((u[j] * Y[k - j] for j in range(k + 1)), ca.SX(0))
        Y.append(-D / ((k + 1) * (k + 2)) * total)
        g.append(w * Y[-1][:3])
    return Y


def advance(y: SX, v: SX, rest: SX, w: SX, D: SX) -> tuple[SX, SX, SX]:
    """One step of (1), at most `rest` long: y, v, and how much is left."""
    Y = series(y, v, w, D, ORDER)
    h = rest
    for k in (ORDER - 1, ORDER):
        h = ca.fmin(h, ca.exp(ca.log(ERROR / ca.fmax(ca.norm_inf(Y[k][:3]), 1e-30)) / k))
    y, v = Y[-1], ORDER * Y[-1]
    for k in reversed(range(ORDER)):
        y = y * h + Y[k]
        if k:
            v = v * h + k * Y[k]
    return y, v, ca.if_else(h < rest, rest - h, 0)


class Halves:
    """start, step and finish of a Solver: each step is one of (1), and at the end of the second half one of
    (2).

    Its input is p of ellipsoid_ends.py and the row of the search of least length. It begins where that search
    ended and, if this fails, where that search began, then without control of the residual. A path that is
    not forced to its side must be a shortest one: without conjugate points, K > 0 and M12 > 0. If none is found,
    the search restarts in the plane turned by a right angle about the chord, on its nearer and then on its farther
    side: the point that is closest to a chord near the center may lie beyond the end of the chord, and no path
    lies in its plane.
    """

    state: ClassVar = Columns(
        z=3,
        before=3,
        merit=1,
        second=1,
        rest=1,
        y=5,
        v=5,
        launch=3,
        least=1,
        first=13,
        fields=8,
        begin=3,
        turned=6,
        found=1,
        count=1,
        tries=1,
        active=1,
    )
    needs: ClassVar = 12 + LeastLength.width

    def idle(self, p: SX) -> tuple[SX, SX]:
        """The result of the first search, and whether it does not suffice."""
        return p[12 : 12 + 1 + ROW + 6 + 2], ca.logic_not(self.given(p)["found"])

    def given(self, p: SX) -> dict[str, SX]:
        """What the search of least length says beside its segment."""
        return LeastLength.more.split(p[self.needs - LeastLength.more.ends[-1] :])

    def start(self, p: SX) -> tuple[SX, SX]:
        A, B, a, size = _scaled(p)
        known, U, V = self.given(p), Silhouette.seen_from(A / a), Silhouette.seen_from(B / a)
        needed, half, phi = ca.logic_not(known["found"]), known["half"] / size, U.angle(known["p"])
        y, v, launch = _launch(U, phi, A, a)
        z = ca.vertcat(phi, V.angle(known["q"]), half)
        first = ca.vertcat(U.angle(known["P"]), V.angle(known["Q"]), known["first_half"] / size)
        begin = {
            "begin": first,
            "turned": self.turned(EllipsoidEnds(p), known["P"], U, V) / ca.vertcat(1, 1, size, 1, 1, size),
            "z": z,
            "before": z,
            "merit": 1e300,
            "rest": half,
            "y": y,
            "v": v,
            "launch": launch,
        }
        return self.state.join(begin | {"least": 1, "active": needed}), needed

    def turned(self, ends: EllipsoidEnds, P: SX, A: Silhouette, B: Silhouette) -> SX:
        """phi, psi and half of the length [m] in the plane across that through both ends and P, on either side."""
        U, V = ends.scaled
        chord = unit(V - U)
        side = unit(cross(chord, P - U))
        side *= ca.if_else(dot(side, U) < 0, -1, 1)
        out = []
        for c in (side, -side):
            P, Q = section(U, cross(c, chord), V)
            out += [A.angle(P), B.angle(Q), half_arc(P, middle(P, Q, c), Q, ends.radii)]
        return ca.vertcat(*out)

    def step(self, p: SX, x: SX) -> tuple[SX, SX]:
        s = self.state.split(x)
        A, B, a, _ = _scaled(p)
        w = 1 / (a * a)
        k = w[0] * w[1] * w[2]
        g = w * s["y"][:3]
        C = dot(g, g) * dot(w, s["v"][:3] ** 2)
        y, v, rest = advance(s["y"], s["v"], s["rest"], w, ca.vertcat(C * w, k, k))
        least = ca.fmin(s["least"], s["launch"][0] * y[3] + y[4])
        done, second = rest <= 0, s["second"]
        here = ca.vertcat(y, v, s["launch"])

        dz, merit, turn, fields = _meet(s["first"], here, w)
        change = ca.sqrt(dot(dz, dz))
        met = all_of(done, second)
        worse = all_of(merit > s["merit"], s["tries"] == 0)
        new = all_of(met, ca.logic_not(worse))
        onward = s["z"] + ca.fmin(1, LONGEST / change) * dz
        onward[2] = ca.fmin(ca.fmax(onward[2], s["z"][2] / 4), FARTHEST)
        z = ca.if_else(met, ca.if_else(worse, s["before"] + BACK * (s["z"] - s["before"]), onward), s["z"])
        forced = self.given(p)["forced"]
        shortest = any_of(forced, all_of(least > 0, turn > 0))
        longer = z[2] / s["begin"][2]
        astray = all_of(forced, any_of(longer < 1 / ASTRAY, longer > ASTRAY))
        near, count = all_of(new, change <= MET), s["count"] + met
        right = all_of(shortest, ca.logic_not(astray))
        found = all_of(near, right)
        lost = all_of(met, any_of(near, astray, count >= ROUNDS))
        lost = all_of(lost, ca.logic_not(found))
        tries = s["tries"] + lost
        again = all_of(lost, tries < ca.if_else(forced, 2, 4))
        another = ca.if_else(tries == 2, s["turned"][:3], s["turned"][3:])
        z = ca.if_else(again, ca.if_else(tries == 1, s["begin"], another), z)
        busy = ca.logic_not(any_of(found, all_of(lost, ca.logic_not(again))))

        U, V = Silhouette.seen_from(A / a), Silhouette.seen_from(B / a)
        to_B = ca.logic_not(second)
        circle = Silhouette.from_column(ca.if_else(to_B, V.column, U.column))
        y0, v0, launch = _launch(circle, ca.if_else(to_B, z[1], z[0]), ca.if_else(to_B, B, A), a)
        after = s | {
            "z": z,
            "before": ca.if_else(new, s["z"], s["before"]),
            "merit": ca.if_else(again, 1e300, ca.if_else(new, merit, s["merit"])),
            "second": ca.if_else(done, to_B, second),
            "rest": ca.if_else(done, z[2], rest),
            "y": ca.if_else(done, y0, y),
            "v": ca.if_else(done, v0, v),
            "launch": ca.if_else(done, launch, s["launch"]),
            "least": ca.if_else(met, 1, least),
            "first": ca.if_else(all_of(done, to_B), here, s["first"]),
            "fields": ca.if_else(new, fields, s["fields"]),
            "found": found,
            "count": ca.if_else(again, 0, count),
            "tries": tries,
        }
        return self.state.join(after), busy

    def finish(self, p: SX, x: SX) -> SX:
        """kind, the segment, its ends, whether it was found, steps of (2)."""
        s = self.state.split(x)
        A, B, a, size = _scaled(p)
        P, Q = Silhouette.seen_from(A / a).at(s["z"][0])[0], Silhouette.seen_from(B / a).at(s["z"][1])[0]
        n_P, n_Q, P, Q = unit(P / a), unit(Q / a), a * P, a * Q
        l1, l2 = norm(P - A), norm(B - Q)
        (a1, r1, a1_, r1_), (a2, r2, a2_, r2_) = (ca.vertsplit(s["fields"][i : i + 4]) for i in (0, 4))
        K1, K1_, K2, K2_ = a1 * l1 + r1, a1_ * l1 + r1_, a2 * l2 + r2, a2_ * l2 + r2_
        M11, M12, M22 = K2_ * a1 + K2 * a1_, K2_ * K1 + K2 * K1_, a2_ * K1 + a2 * K1_
        over = Segment(
            size * (l1 + 2 * s["z"][2] + l2),
            (P - A) / l1,
            (B - Q) / l2,
            n_P,
            n_Q,
            ca.vertcat(M11, M22, 1) / (size * M12),
            ca.vertcat(1 / l1, 1 / l2, 0) / size,
            size * P,
            size * Q,
            ca.SX(1),
        )
        mine = ca.vertcat(p[12], over.row, p[:6], s["found"], s["count"])
        return ca.if_else(s["active"], mine, p[12 : 12 + mine.numel()])

    def solver(self) -> Solver:
        return Solver.trace(
            "ellipsoid_halves", self.needs, self.start, self.step, self.finish, STEPS, idle=self.idle
        )


def _scaled(p: SX) -> tuple[SX, SX, SX, SX]:
    ends, size = EllipsoidEnds(p), ca.sum1(p[6:9]) / 3
    return ends.A / size, ends.B / size, ends.radii / size, size


def _launch(circle: Silhouette, phi: SX, A: SX, a: SX) -> tuple[SX, SX, SX]:
    """y and y' where a half begins; and l, eta, and e . dP/dphi."""
    y, y1 = circle.at(phi)
    P, dP = a * y, a * y1
    l = norm(P - A)
    e = (P - A) / l
    return (
        ca.vertcat(P, 1, 0),
        ca.vertcat(e, 0, 1),
        ca.vertcat(l, dot(cross(e, unit(y / a)), dP), dot(e, dP)),
    )


def _meet(first: SX, second: SX, w: SX) -> tuple[SX, SX, SX, SX]:
    """(2): dphi, dpsi, the increase of each half's length; the squared residual; M12 of the whole; the fields
    a, r, a', r' of both halves."""
    (X1, t1, l1, eta1, along1), (X2, t2, l2, eta2, along2) = (
        (h[:3], h[5:8], h[10], h[11], h[12]) for h in (first, second)
    )
    n = unit(w * (X1 + X2))
    b = unit(cross(t1 - t2, n))
    t = cross(n, b)
    gap = X2 - X1
    d, f = dot(gap, b), -dot(t1 + t2, b)
    (K1, K1_), (K2, K2_) = ((l * h[3] + h[4], l * h[8] + h[9]) for l, h in ((l1, first), (l2, second)))
    D = K1 * K2_ + K2 * K1_
    dphi, dpsi = l1 * (K2_ * d + K2 * f) / (D * eta1), l2 * (K1_ * d - K1 * f) / (D * eta2)
    dhalf = (dot(gap, t) - along1 * dphi - along2 * dpsi) / 2
    fields = ca.vertcat(first[3:5], first[8:10], second[3:5], second[8:10])
    return ca.vertcat(dphi, dpsi, dhalf), dot(gap, gap) + f * f, D, fields


__all__ = ["EllipsoidEnds", "solvers"]


@cache
def solvers() -> tuple[Solver, Solver, Solver, Solver]:
    """Four solvers: of p (ellipsoid_ends.py); of p and its row, which goes on in more modes where those of the first do
    not suffice; of p and the row of that, where these do not either; and steps on from the first, for ends that have
    moved a little."""
    length = CurveLength(MODES, 8, 2e-4)
    return (
        LeastLength(length).solver(f"ellipsoid{MODES}"),
        Finer(CurveLength(MORE, 12, 2e-5), WIDER).solver(f"ellipsoid{MORE}"),
        Halves().solver(),
        Resumed(length).solver("ellipsoid_resumed"),
    )
