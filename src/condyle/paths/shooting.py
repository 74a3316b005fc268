"""Geodesics over any smooth surface f(x) = 0, f < 0 inside, with one unknown: the direction in which the path
leaves A. ruggiero2020 (22)-(25) integrate the same geodesic as the motion of a particle, from both ends, with
four unknowns.

Half-planes about an axis k through A, one for each angle phi. In each, one line from A touches the surface:

    P = A + rho e(phi, theta),     f(P) = 0,     grad f(P) . e = 0                                         (1)

From P on the geodesic is integrated, with n = grad f / |grad f|, the Hessian H of f and the Jacobi fields a,
r of segment.py (3):

    x'' = -(x' H x' / |grad f|^2) grad f,     a'' = -K a,   r'' = -K r,   K = grad f adj(H) grad f / |grad
    f|^4  (2)

until B comes in sight, (B - x) . n = 0. There B is off to the side by Y = (B - x) . b, b = t x n. A turn of e
by domega about n moves the path at B by M12 domega across, so that Newton's method on Y(phi) = 0 is

    domega = Y / M12,     dphi = domega / (sin(theta) J),     J = d . b - (d . n)(e_theta . b) / (e_theta . n)
    (3)

with d the direction across the half-plane. On the circle of all phi the sign of Y gives the direction to a
shorter path: the search follows it until the sign changes, which it must, and then bisects. Hence it needs no
good start. With |M12| it finds shortest paths, with the sign of M12 the nearest stationary one (a quadrant
may force a path to a saddle of length).

If B is close to the surface, it never comes in sight of paths that pass at a distance. The height of B over
the surface is then measured along the circle of curvature across the path, and if that fails, Y is measured
where the path comes closest to B.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.native.solvers.solver import Solver
from condyle.native.tables.lookup import look_up
from condyle.paths.segment import ROW, Columns, Segment, chosen, cross, dot, norm, straight, unit
from condyle.records import dataclass
from condyle.spatial.algebra import all_of, any_of

AIMED = 1e-8
"""Change of theta [rad] at which (1) is solved: the remaining error is its square."""
FOUND = 1e-9
"""Change of phi [rad] at which the search ends; first-order corrections leave its square."""
TURN, ROUNDS = 0.5, 600
"""Longest step in phi [rad]; largest number of steps of integration in all shots."""
TOLERANCE = 1e-10
"""Difference of the extrapolations of orders 6 and 8 over the size at which a step of (2) is accepted."""
FLAT = 1e-9
"""Curvatures and arcs over the size that count as zero."""
LOOKS = 12
"""Samples of a segment in the search for its deepest point."""
SEQUENCE = (2, 4, 6, 8)
"""Steps of the midpoint rule that are extrapolated: order 8."""


@dataclass(frozen=True, eq=False)
class Level:
    """A function whose zeros define a surface.

    Args:
        f: f(x, numbers) of columns of SX, negative inside.
        count: number of values that describe the surface.
    """

    f: Callable[[ca.SX, ca.SX], ca.SX]
    count: int = 0

    @cached_property
    def function(self) -> ca.Function:
        """x (3,), numbers -> f, gradient (3,), Hessian (3, 3)."""
        x, c = ca.SX.sym("x", 3), ca.SX.sym("c", self.count)
        f = self.f(x, c)
        H, g = ca.hessian(f, x)
        return ca.Function("level", [x, c], [f, ca.densify(g), ca.densify(H)], {"cse": True})

    def at(self, x: SX, numbers: SX) -> tuple[SX, SX, SX]:
        f, g, H = self.function.call([x, numbers], True, False)
        return f, g, H

    def value(self, x: SX, numbers: SX) -> SX:
        return self.at(x, numbers)[0]

    def geodesic(self, P: Array, e_in: Array, arc: Array, s: Array, numbers: Any = ()) -> Array:
        """Points of arcs of this length [m], shape (n, 1, 1), from P along e_in, shapes (n, 1, 3), at shares
        s from 0 to 1, shape (m, 1): by Heun's method, projected onto the surface; shape (n, m, 3)."""
        x, t = P[:, 0].T, e_in[:, 0].T
        points, steps = [x], 8
        for share in np.repeat(np.diff(s[:, 0]) / steps, steps):
            h = share * arc[:, 0, 0]
            first = self._bend(x, t, numbers)
            last = self._bend(x + h * t, t + h * first, numbers)
            x, t = x + h * (t + h / 6 * (2 * first + last)), t + h / 2 * (first + last)
            f, g, _ = (np.asarray(v) for v in self.function(x, numbers))
            gg = (g * g).sum(0)
            x, t = x - f / gg * g, t - (g * t).sum(0) / gg * g
            t = t / np.linalg.norm(t, axis=0)
            points.append(x)
        return np.stack(points[::steps], axis=1).transpose(2, 1, 0)

    def _bend(self, x: Array, t: Array, numbers: Any) -> Array:
        """x'' of (2), all shapes (3, n)."""
        _, g, H = (np.asarray(v) for v in self.function(x, numbers))
        tHt = np.einsum("in,inj,jn->n", t, H.reshape(3, -1, 3), t)
        return -tHt / (g * g).sum(0) * g

    def deepest(self, A: SX, B: SX, numbers: SX) -> SX:
        """The point of a segment AB with the least f; between two samples f has at most one minimum."""
        d = B - A
        best, least = ca.SX(0.5), ca.SX(np.inf)
        for i in range(LOOKS):
            at = (i + 0.5) / LOOKS
            f = self.value(A + at * d, numbers)
            best, least = ca.if_else(f < least, at, best), ca.fmin(f, least)
        s = best
        for _ in range(4):
            _, g, H = self.at(A + s * d, numbers)
            bend = dot(d, H @ d)
            s = s - ca.if_else(bend > 0, dot(g, d) / ca.if_else(bend > 0, bend, 1), 0)
            s = ca.fmin(ca.fmax(s, ca.fmax(best - 1 / LOOKS, 0)), ca.fmin(best + 1 / LOOKS, 1))
        return A + s * d


@dataclass(frozen=True, eq=False)
class Start:
    """Where a search begins.

    Attributes:
        kind: NONE, WRAPPED or MANDATORY.
        k: the axis of the half-planes, a unit vector from A into the surface.
        d: the half-plane at phi = 0, a unit vector across k.
        theta: near the point that it touches [rad].
        rho: its distance from A [m].
        forced: 1 if the path must be the nearest stationary one instead of the shortest.
        size: of the surface [m].
        sense: 1 or -1, the direction around the surface; 0 if there is no choice.
    """

    kind: ca.SX
    k: ca.SX
    d: ca.SX
    theta: ca.SX
    rho: ca.SX
    forced: ca.SX
    size: ca.SX
    sense: ca.SX

    COLUMNS: ClassVar = Columns(kind=1, k=3, d=3, theta=1, rho=1, forced=1, size=1, sense=1)
    WIDTH: ClassVar = 12

    @property
    def column(self) -> SX:
        return self.COLUMNS.join(vars(self))

    @classmethod
    def from_column(cls, x: SX) -> Start:
        return cls(**cls.COLUMNS.split(x))


@dataclass(frozen=True, eq=False)
class Ray:
    """The line (1) from A, and its derivatives by phi and theta."""

    e: ca.SX
    across: ca.SX
    up: ca.SX

    @staticmethod
    def at(start: Start, phi: SX, theta: SX) -> Ray:
        g = cross(start.k, start.d)
        d, across = ca.cos(phi) * start.d + ca.sin(phi) * g, ca.cos(phi) * g - ca.sin(phi) * start.d
        c, s = ca.cos(theta), ca.sin(theta)
        return Ray(c * start.k + s * d, across, c * d - s * start.k)

    def turn(self, n: SX, theta: SX) -> SX:
        """domega / dphi of (3)."""
        b = cross(self.e, n)
        return ca.sin(theta) * (dot(self.across, b) - dot(self.across, n) * dot(self.up, b) / dot(self.up, n))


class Shooting:
    """Two solvers: of p = (A, B, numbers, quadrant), a start with (1) solved; of p and that row, the
    geodesic.

    Args:
        name: an identifier.
        level: the surface.
        start: p -> Start.
        right: p, Start, P, e_in, Q, length of the arc -> whether a geodesic is of the required kind.
    """

    def __init__(
        self,
        name: str,
        level: Level,
        start: Callable[[SX], Start],
        right: Callable[..., SX] = lambda *_: ca.SX(1),
    ) -> None:
        self.name, self.level, self.begin, self.right = name, level, start, right
        self.needs = 6 + level.count + 3
        names = "phi low high sign theta rho aiming y s h longest cap seen dphi same bend shots"
        self.state = Columns(**dict.fromkeys(names.split(), 1) | {"y": 10})

    def numbers(self, p: SX) -> SX:
        return p[6 : 6 + self.level.count]

    # ---- (1) -----------------------------------------------------------------------------------------------

    def aim(self, p: SX, start: Start, phi: SX, theta: SX, rho: SX) -> tuple[SX, SX, SX, SX]:
        """One step of Newton's method on (1): theta, rho, whether it was small, and the sign of G if known.

        Along a ray f has a least value G(theta); sqrt(f(A) - G) is nearly linear in theta, also close to the
        surface, where G itself is a parabola (for ellipsoids it is linear in grad f(A) . e)."""
        A, ray = p[:3], Ray.at(start, phi, theta)
        f_A, g_A, _ = self.level.at(A, self.numbers(p))
        f_A = ca.fmax(f_A, 0)
        f, g, H = self.level.at(A + rho * ray.e, self.numbers(p))
        slope, w, He = dot(g, ray.e), dot(g, ray.up), H @ ray.e
        bend = ca.fmax(dot(ray.e, He), 1e-6 * norm(g) / rho)
        forward = any_of(dot(g_A, ray.e) < 0, slope < rho * bend / 2)  # else f grows along the ray
        shift = ca.if_else(forward, ca.fmax(ca.fmin(-slope / bend, rho / 4), -rho / 2), -slope / bend)
        lowest, w = rho + shift, w + shift * dot(ray.up, He)  # where f is least along the ray
        along = -(w + lowest * dot(ray.up, He)) / bend  # d lowest / d theta
        G, G_theta = f + shift * (slope + bend * shift / 2), lowest * w
        root = ca.sqrt(ca.fmax(f_A - G, 0))
        newton = 2 * root * (root - ca.sqrt(f_A)) / ca.if_else(G_theta > 0, G_theta, 1)
        known = all_of(G_theta > 0, f_A > G, forward)
        back = (ca.sqrt(2 * f_A / bend) - lowest) / ca.if_else(along < 0, along, -1)
        down = any_of(G > 0, ca.logic_not(forward))
        guess = ca.if_else(forward, ca.if_else(down, -0.1, 0.3), ca.if_else(along < 0, back, -0.1))
        sure = any_of(ca.fabs(shift) < 0.2 * rho, f < 0, ca.logic_not(forward))
        dtheta = ca.if_else(sure, _clip(ca.if_else(known, newton, guess), 0.4), 0)
        drho = ca.if_else(forward, shift + _clip(along * dtheta, 0.5 * lowest), 0)
        theta = ca.fmin(ca.fmax(theta + dtheta, theta / 4), (theta + np.pi) / 2)
        good = all_of(known, sure, ca.fabs(dtheta) < AIMED, ca.fabs(drho) < 1e-4 * rho)
        missed = all_of(down, any_of(ca.fabs(shift) < 0.01 * rho, ca.logic_not(forward)))
        side = ca.if_else(f < 0, -1, ca.if_else(missed, 1, 0))
        return theta, rho + drho, good, side

    def aiming(self) -> Solver:
        def start(p: SX) -> tuple[SX, SX]:
            first = self.begin(p)
            return ca.vertcat(first.column, 0, np.pi), first.kind != 0

        def step(p: SX, x: SX) -> tuple[SX, SX]:
            first, low, high = Start.from_column(x), x[Start.WIDTH], x[Start.WIDTH + 1]
            theta, rho, good, side = self.aim(p, first, ca.SX(0), first.theta, first.rho)
            low, high = ca.if_else(side < 0, first.theta, low), ca.if_else(side > 0, first.theta, high)
            outside = all_of(any_of(theta <= low, theta >= high), ca.logic_not(good))
            theta = ca.if_else(outside, (low + high) / 2, theta)
            return ca.vertcat(x[:7], theta, rho, x[9 : Start.WIDTH], low, high), ca.logic_not(good)

        def finish(p: SX, x: SX) -> SX:
            first = Start.from_column(x)
            _, g, H = self.level.at(
                p[:3] + first.rho * Ray.at(first, ca.SX(0), first.theta).e, self.numbers(p)
            )
            return ca.vertcat(x[:10], ca.fmin(first.size, norm(g) / norm(ca.vec(H))), first.sense)

        return Solver.trace(f"{self.name}_start", self.needs, start, step, finish, 80)

    # ---- (2) -----------------------------------------------------------------------------------------------

    def rates(self, y: SX, numbers: SX) -> SX:
        t, (_, g, H) = y[3:6], self.level.at(y[:3], numbers)
        gg = dot(g, g)
        adj = ca.horzcat(cross(H[:, 1], H[:, 2]), cross(H[:, 2], H[:, 0]), cross(H[:, 0], H[:, 1]))
        K = dot(g, adj @ g) / (gg * gg)
        return ca.vertcat(t, -(dot(t, H @ t) / gg) * g, y[7], -K * y[6], y[9], -K * y[8])

    def advance(self, y: SX, h: SX, numbers: SX) -> tuple[SX, SX]:
        """y after a step h of (2), and the error of the extrapolation before the last [m]."""
        first = self.rates(y, numbers)
        table: list[ca.SX] = []
        before: list[ca.SX] = []
        for j, n in enumerate(SEQUENCE):
            u, v = y, y + (h / n) * first
            for _ in range(n - 1):
                u, v = v, u + (2 * h / n) * self.rates(v, numbers)
            table = [v]
            for k in range(j):
                table.append(table[k] + (table[k] - before[k]) / ((n / SEQUENCE[j - k - 1]) ** 2 - 1))
            before = table
        new, error = table[-1], norm((table[-1] - table[-2])[:3])
        f, g, _ = self.level.at(new[:3], numbers)
        up = unit(g)
        x, t = new[:3] - (f / norm(g)) * up, unit(new[3:6] - dot(new[3:6], up) * up)
        return ca.vertcat(x, t, new[6:]), error

    # ---- (3) -----------------------------------------------------------------------------------------------

    def first(self, p: SX) -> tuple[SX, SX]:
        start = Start.from_column(p[self.needs :])
        x = {"low": -1e300, "high": 1e300, "theta": start.theta, "rho": start.rho, "aiming": 1, "bend": 1e300}
        return self.state.join(x | {"longest": start.size / 4}), start.kind != 0

    def step(self, p: SX, x: SX) -> tuple[SX, SX]:
        s, start, c = self.state.split(x), Start.from_column(p[self.needs :]), self.numbers(p)
        A, B, phi, size = p[:3], p[3:6], s["phi"], start.size
        theta, rho, aimed = s["theta"], s["rho"], ca.SX(0)
        for _ in range(3):
            theta, rho, aimed = self.aim(p, start, phi, theta, rho)[:3]
        aiming = s["aiming"]
        theta, rho = ca.if_else(aiming, theta, s["theta"]), ca.if_else(aiming, rho, s["rho"])
        ray = Ray.at(start, phi, theta)

        new, error = self.advance(s["y"], s["h"], c)
        fine = error <= TOLERANCE * size
        factor = ca.fmin(ca.fmax(0.8 * (TOLERANCE * size / ca.fmax(error, 1e-300)) ** (1 / 7), 0.2), 2)
        reached = ca.fabs(s["h"]) >= s["longest"]
        longest = ca.if_else(
            all_of(fine, ca.logic_not(reached)), s["longest"], ca.fmin(ca.fabs(s["h"]) * factor, size)
        )
        longest = ca.if_else(aiming, size / 4, longest)
        began = ca.vertcat(A + rho * ray.e, ray.e, 1, 0, 0, 1)
        y = ca.if_else(aiming, began, ca.if_else(fine, new, s["y"]))
        done = ca.if_else(aiming, 0, ca.if_else(fine, s["s"] + s["h"], s["s"]))

        _, g, H = self.level.at(y[:3], c)
        n = unit(g)
        t = unit(y[3:6] - dot(y[3:6], n) * n)
        y = ca.vertcat(y[:3], t, y[6:])
        b = cross(t, n)
        Ht, Hb = H @ t / norm(g), H @ b / norm(g)
        k_t, tau, k_b = dot(t, Ht), dot(b, Ht), ca.fmax(dot(b, Hb), 0)
        r = B - y[:3]
        X, Y, Z = dot(r, t), dot(r, b), dot(r, n)

        # distance until B is in sight: the height of B is a parabola in s
        above = 1 + k_b * Z
        q = ca.fmin(k_b * Y * Y, 0.25 / ca.fmax(k_b, 1e-300))
        height = Z + ca.if_else(above > 0.5, q / (ca.sqrt(above * above + k_b * q) + above), 0)
        rise = k_t * X + tau * Y
        front = -ca.fabs(Y) - ca.fabs(X) < Z  # B is not on the other side of the surface
        fall = ca.fmax(k_t, 0) * ca.fmax(1 + k_t * Z, 0.1)
        before = ca.if_else(aiming, 0, s["seen"])  # 1: B is ahead, 2: B was passed unseen
        passed = all_of(X < 0, height < 0, front)
        seen = ca.if_else(before == 0, all_of(X > 0, front), ca.if_else(passed, 2, before))
        D = rise * rise + 2 * height * fall
        sight = -2 * height / (rise + ca.sqrt(ca.fmax(D, 0)))
        away = all_of(height < 0, any_of(D < 0, rise <= 0, seen == 2))
        want = ca.if_else(away, ca.if_else(seen, X / ca.fmax(1 + k_t * Z, 0.1), longest), sight)
        want = ca.if_else(front, want, longest)
        turned = all_of(want * s["h"] < 0, ca.logic_not(aiming))
        cap = ca.if_else(aiming, 1e300, ca.if_else(turned, ca.fmin(s["cap"], ca.fabs(s["h"]) / 2), s["cap"]))
        h = _clip(want, ca.fmin(longest, cap))
        near = ca.if_else(away, 1e-4 * size, 1e-6 * ca.fabs(X) + 1e-2 * ca.fabs(Y))
        settled = all_of(any_of(fine, aiming), ca.fabs(h) <= near)
        settled = all_of(settled, ca.if_else(aiming, aimed, 1))
        settled = all_of(settled, any_of(ca.logic_not(away), seen))

        # Newton's method on Y, between values of phi with shorter paths to the right and to the left
        M12 = y[6] * rho + y[8] + X * (y[7] * rho + y[9])
        _, g_P, _ = self.level.at(A + rho * ray.e, c)
        sign = ca.if_else(start.forced, ca.if_else(s["sign"] != 0, s["sign"], ca.if_else(M12 < 0, -1, 1)), 1)
        turn = ray.turn(unit(g_P), theta)
        newton = sign * Y / (ca.fmax(ca.fabs(M12), 1e-9 * rho) * turn)
        uphill = sign * M12 < 0  # the zero of Y is behind, a minimum of L ahead
        low, high = ca.if_else(newton > 0, phi, s["low"]), ca.if_else(newton > 0, s["high"], phi)
        same = ca.if_else(newton * s["dphi"] > 0, s["same"] + 1, 0)  # slow from one side: further, or halve
        onward = phi + _clip(newton * ca.if_else(same > 2, 4, 1), TURN)
        onward = ca.if_else(uphill, phi + ca.if_else(newton > 0, TURN, -TURN), onward)
        between = all_of(high - low < 10, same > 4)
        onward = ca.if_else(any_of(between, onward <= low, onward >= high), (low + high) / 2, onward)
        enough = ca.if_else(s["shots"] > 12, 100 * FOUND, FOUND)  # rounding, close to conjugate points
        small = any_of(ca.fabs(newton) < enough, ca.fabs(newton * turn) < 1e-12)
        small = all_of(ca.fabs(want) <= near, small)
        found = all_of(settled, small, ca.logic_not(any_of(away, uphill)))
        again = all_of(settled, ca.logic_not(found))

        after = {
            "phi": ca.if_else(again, onward, phi),
            "low": ca.if_else(settled, low, s["low"]),
            "high": ca.if_else(settled, high, s["high"]),
            "sign": ca.if_else(settled, sign, s["sign"]),
            "theta": theta,
            "rho": rho,
            "aiming": any_of(again, all_of(aiming, ca.logic_not(aimed))),
            "y": y,
            "s": done,
            "h": h,
            "longest": longest,
            "cap": cap,
            "seen": seen,
            "dphi": ca.if_else(settled, newton, s["dphi"]),
            "same": ca.if_else(settled, same, s["same"]),
            "bend": ca.if_else(aiming, k_t, ca.fmin(s["bend"], k_t)),
            "shots": s["shots"] + settled,
        }
        return self.state.join(after), ca.logic_not(found)

    def finish(self, p: SX, x: SX) -> SX:
        """kind, the segment, its ends, shots. NaN if the surface is hollow below the path, which would leave
        it, if B is in sight from the start, or if the straight parts pass through another hill of the
        surface."""
        s, start, c = self.state.split(x), Start.from_column(p[self.needs :]), self.numbers(p)
        A, B, rho, y, h = p[:3], p[3:6], s["rho"], s["y"], s["h"]
        ray = Ray.at(start, s["phi"], s["theta"])
        _, g, _ = self.level.at(A + rho * ray.e, c)
        n_P = unit(g)
        e_in = unit(ray.e - dot(ray.e, n_P) * n_P)
        turn = s["dphi"] * ray.turn(n_P, s["theta"])
        b_P = cross(e_in, n_P)
        P, e_in = A + rho * (e_in + turn * b_P), unit(e_in + turn * b_P)
        _, g, H = self.level.at(y[:3], c)
        t, n_Q = y[3:6], unit(g)
        b = cross(t, n_Q)
        k_t = dot(t, H @ t) / norm(g)
        Q = y[:3] + h * t + turn * (y[6] * rho + y[8]) * b - (h * h * k_t / 2) * n_Q
        t = unit(t - h * k_t * n_Q + turn * (y[7] * rho + y[9]) * b)
        _, g, H = self.level.at(Q, c)
        n_Q = unit(g)
        late = -dot(B - Q, n_Q) / (
            dot(t, H @ (B - Q)) / norm(g)
        )  # change by the turn of the distance until B is in sight
        Q, n_Q = Q + late * t, unit(n_Q + late * (H @ t) / norm(g))
        l2 = norm(B - Q)
        e_out = (B - Q) / l2
        n_Q = unit(n_Q - dot(n_Q, e_out) * e_out)
        a, r, a1, r1 = y[6] + h * y[7], y[8] + h * y[9], y[7], y[9]
        M11, M12, M22 = a + l2 * a1, a * rho + r + l2 * (a1 * rho + r1), r1 + rho * a1
        over = Segment(
            rho + s["s"] + h + late + l2,
            e_in,
            e_out,
            n_P,
            n_Q,
            ca.vertcat(M11, M22, 1) / M12,
            ca.vertcat(1 / rho, 1 / l2, 0),
            P,
            Q,
            ca.SX(1),
        )
        segment = chosen(start.kind, over, straight(A, B))
        bad = any_of(s["bend"] * start.size < -FLAT, s["s"] + h < -FLAT * start.size)
        bad = any_of(bad, ca.logic_not(self.right(p, start, P, e_in, Q, s["s"] + h + late)))
        for X, Y in ((A, P), (Q, B)):
            f, g, _ = self.level.at(self.level.deepest(X, Y, c), c)
            bad = any_of(bad, f < -FLAT * norm(g) * start.size)
        return ca.vertcat(
            start.kind, ca.if_else(all_of(start.kind, bad), np.nan, segment.row), A, B, s["shots"]
        )

    def search(self) -> Solver:
        return Solver.trace(self.name, self.needs + Start.WIDTH, self.first, self.step, self.finish, ROUNDS)

    @cached_property
    def solvers(self) -> tuple[Solver, Solver]:
        return self.aiming(), self.search()

    def row(self, p: SX) -> SX:
        """kind, the segment, its ends; all NaN if no geodesic was found.

        The search begins at the end that comes first by z, x, y, and only if it fails at the other: a path
        has one length, whatever its direction."""
        A, B = p[:3], p[3:6]
        later = ca.SX(0)
        for i in (1, 0, 2):
            later = ca.if_else(A[i] == B[i], later, A[i] < B[i])
        first, last = ca.if_else(later, B, A), ca.if_else(later, A, B)
        found = self.once(ca.vertcat(first, last, p[6:]))
        there = found[1] < np.inf  # else NaN
        back = self.once(ca.vertcat(last, ca.if_else(there, last, first), p[6:]))
        found = ca.if_else(there, found, reverse(back))
        return ca.if_else(later, reverse(found), found)

    def once(self, p: SX) -> SX:
        """The row of p, searched for from its first end."""
        aiming, search = self.solvers
        return look_up(search, ca.vertcat(p, look_up(aiming, p)[:-1]))[: 1 + ROW + 6]


def reverse(row: SX) -> SX:
    """The row of the same path in the direction from B to A."""
    s = Segment.from_row(row[1:])
    back = Segment(
        s.L, -s.e_out, -s.e_in, s.n_Q, s.n_P, s.across[[1, 0, 2]], s.along[[1, 0, 2]], s.Q, s.P, s.wrapped
    )
    return ca.vertcat(row[0], back.row, row[-3:], row[-6:-3])


def _clip(x: SX, most: SX | float) -> SX:
    return ca.fmin(ca.fmax(x, -most), most)
