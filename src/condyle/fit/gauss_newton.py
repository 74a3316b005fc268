"""The native loop of assembly: a damped Gauss-Newton method with constraints, frame after frame, each
starting from the last.

At q, with cost c, gradient g and matrix H of kernels.py, errors p of the constraints, and their rows P,

    A = H + mu s + (fixed speeds: 1e12 s),     s = largest diagonal element of H                           (1)
    A d + P' lambda = -g,     P d = -p                                                                     (2)
    by  Z = A^-1 P',   Y = P Z + e,   d0 = -A^-1 g,   lambda = Y^-1 (p + P d0),   d = d0 - Z lambda        (3)
    q1 = q + N d,      then back to the constraints along their normals:  q2 = q1 - N Z Y^-1 p(q1)         (4)

e = max(1e-10, mu^2) of Y's largest diagonal element keeps Y regular where constraints are redundant; two
refinements of Y^-1 remove its effect elsewhere. H may be singular: with mu > 0 nothing moves in a direction
that affects no goal and no constraint. A step is taken if

    c + rho |p|   falls by 1e-4 of what (2) predicts, or grows by rounding                                 (5)

rho grows where needed for (2) to predict a decrease. After an accepted step mu falls to a tenth; otherwise it
grows sixteenfold, to 1e-3 at least. A frame ends when max |d| <= accuracy, or ten steps gain no more than
rounding, and max |p| <= the tolerance. Limits: a coordinate that a step would take beyond its limit stops
there, and its speed is fixed (1); it is free again when d of (2) points inwards, where d = (force against the
limit) / (1e12 s).

Where goals keep the constraints from being met, the goals are left out until the constraints hold,

    H = 1, g = 0, c = 0 in (1)-(5) until max |p| <= the tolerance                                        (6)

and included again from there, once; after a second failure the constraints alone decide.

Where residuals or multipliers are large, the curvature that H omits matters. After 8 iterations a matrix S is
added to A. It is updated from the change of the gradient of c + lambda' p over the last step s, y = H s + S
s, by the BFGS formula

    S <- S + y y' / (s' y) - B s s' B / (s' B s),     B = H + S                                            (7)

with Powell's damping of y, and S scaled down first where s' S s exceeds s' (y - H s). While the cost falls to
three tenths or less in a step, S is left out: Gauss-Newton then converges to a residual of zero, faster than
with S.

A row defines where its frame starts (layout.py): from the frame before, or from the pose in Q. H and P at the
end of some frames are written to NORMAL and ROWS, to find the coordinates that the goals determine
(observability.py).

Ends of a frame: FOUND; VIOLATED, constraints cannot be met nearby: the next frame starts from the last good
one; UNFINISHED, the constraints hold but goals were still improving. STATIONARY is found afterward, by
missed_goals.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from condyle.arrays import SX, vertcat
from condyle.fit.kernels import FitExpressions
from condyle.fit.layout import FLAT, FOUND, HEAD, INFO, STAY, UNFINISHED, VIOLATED
from condyle.native.programs.interpreted import Interpreted
from condyle.native.programs.nodes import Call, If, Ints, Node, Put, Scan, Stream, While, kernel
from condyle.native.programs.program import Program
from condyle.native.programs.slice_function import SliceFunction
from condyle.spatial.algebra import all_of, any_of

MU_FIRST = 1e-6
"""mu at the start of a frame."""
MU_LEAST = (1e-9, 1e-6)
"""Its least value, without and with constraints."""
MU_AGAIN = 1e-3
"""Its least value after a rejected step."""
MU_MOST = 1e4
"""The value at which the method gives up."""
MU_SMALL = 1e-4
"""Below this a short step means convergence rather than damping."""
FIXED = 1e12
"""The damping of speeds that do not move, over s (1)."""
LARGEST_TURN = 1.0
"""The largest rotation in a step [rad]: a longer step is scaled down, so that angles do not wind up."""
REGULAR, LEAST_REGULAR = 1e-10, 1e-14
"""e over the largest diagonal element of Y, with goals and (6) without."""
ROUNDING = 1e-14
"""A gain below this fraction of the terms of the cost is rounding."""
ITERATIONS, SLOW = 300, 8
"""Most iterations of a frame, and the number after which S is used (7)."""
FALLS = 0.3
"""S is not used if the cost falls to this fraction or less in a step: Gauss-Newton then converges to a zero
residual.
"""

_SCALARS = (
    "zero",
    "frame",
    "c",
    "c_t",
    "mu",
    "rho",
    "busy",
    "accept",
    "iterations",
    "code",
    "worst",
    "accuracy",
    "tolerance",
    "scale",
    "info",
    "refused",
    "goals",
    "tries",
    "slow",
    "size",
    "plus",
    "minus",
    "part",
    "flat",
    "place",
    "asked",
)
_CONTROLLED = "accept mu rho active busy code worst iterations goals tries flat"


def copy(source: str, target: str) -> Put:
    """target <- source: a slice is a table of one row."""
    return Put(source, target, "zero")


class FitLoop:
    """The loop as `nodes`, and the `tables` that it needs with the streams ROW, Q, INFO, NORMAL, ROWS.

    Input slices: q, tail, low, high (nq), accuracy, tolerance. Output: `frame`, the number of frames done. A
    slice with _t belongs to the trial configuration. `held` is 1 for speeds that are locked or prescribed.

    Args:
        f: the kernels.
        nq: number of coordinates.
        tail: size of the tail.
        row: size of a row.
        rate_of: the coordinate that each speed is the rate of, or -1.
        turning: speeds that turn bodies, and how fast at most [rad per unit of the coordinate].
    """

    def __init__(
        self,
        f: FitExpressions,
        nq: int,
        tail: int,
        row: int,
        rate_of: Sequence[int],
        turning: Mapping[int, float],
    ) -> None:
        self.n, self.m, self.rate_of, self.turning = len(rate_of), f.m, rate_of, dict(turning)
        n, m = self.n, self.m
        self.sizes = (
            dict.fromkeys(_SCALARS, 1)
            | dict.fromkeys(("q", "q_t", "q_good", "low", "high"), nq)
            | {"tail": tail}
        )
        self.sizes |= dict.fromkeys(
            ("g", "g_t", "diagonal", "d", "d_free", "d_back", "held", "active", "s", "y", "Bs", "Ss"), n
        )
        self.sizes |= dict.fromkeys(("H", "H_t", "A", "S"), n * n) | {"Y": m * m}
        self.sizes |= dict.fromkeys(("p", "p_t", "lambda", "e", "left"), m) | dict.fromkeys(
            ("P", "P_t", "Z"), m * n
        )
        self.streams = {
            "ROW": Stream(row),
            "Q": Stream(nq),
            "INFO": Stream(len(INFO)),
            "NORMAL": Stream(n * n),
        } | ({"ROWS": Stream(m * n)} if m else {})
        self.tables: dict[str, np.ndarray] = {}
        more = self.sizes, self.streams, self.tables
        self._evaluate, self._errors, self._step, self._prescribe = (
            SliceFunction(getattr(f, name), name, *more)
            for name in ("evaluate", "errors", "step", "prescribe")
        )
        keep = [Put("H", "NORMAL", "place"), *([Put("P", "ROWS", "place")] if m else [])]
        frame = [
            *self._begin(),
            While("busy", self._iterate(), ITERATIONS + 1),
            If("asked", keep),
            self._end(),
        ]
        self.nodes = Scan("frames", frame, ["ROW", "Q", "INFO"])

    def program(self) -> Program:
        """As machine code."""
        return Program(self.nodes, self.sizes, streams=self.streams, counts=("frames",))

    def interpreted(self) -> Interpreted:
        """Without: for a frame or two."""
        return Interpreted(self.nodes, self.sizes, self.streams)

    # ---- pieces --------------------------------------------------------------------------------------------

    def evaluate(self, t: str = "") -> list[Node]:
        """c, g, H, p, P at q, or all with _t."""
        return self._evaluate((f"q{t}", "tail", "ROW"), tuple(f"{x}{t}" for x in "cgHpP"))

    def step(self, q: str, d: str) -> list[Node]:
        """q_t <- q + N d, within the limits."""
        within = kernel(
            lambda q, low, high: ca.fmax(low, ca.fmin(high, q)), "q_t low high", "q_t", self.sizes, "within"
        )
        return [*self._step((q, d, "tail"), ("q_t",)), within]

    def times(self, transposed: bytes, factor: float, A: str, x: str, y: str, keep: float = 1.0) -> Call:
        """y <- keep y + factor A x, or A' x, for P' or Z of shape (n, m) by columns."""
        return Call("dgemv", (transposed, self.n, self.m, factor, A, self.n, x, 1, keep, y, 1))

    def solve(self, factor: str, x: str, columns: int = 1) -> Call:
        """x <- A^-1 x, or Y^-1 x."""
        n = self.n if factor == "A" else self.m
        return Call("dpotrs", (b"L", n, columns, factor, n, x, n, Ints("info")))

    def solve_rows(self, x: str) -> list[Node]:
        """x <- Y^-1 x by (Y + e)^-1 and two refinements: e serves redundant rows only."""
        out: list[Node] = [self.solve("Y", x), copy(x, "left")]
        for _ in range(2):
            out += [
                kernel(lambda e, left: e * left, "e left", "left", self.sizes, "left"),
                self.solve("Y", "left"),
                Call("daxpy", (self.m, 1.0, "left", 1, x, 1)),
            ]
        return out

    def free(self, d: SX, held: SX, active: SX) -> tuple[SX, SX]:
        """d without fixed speeds, shortened if necessary, and the fraction of its length."""
        d = ca.if_else(any_of(held, active != 0), 0, d)
        turn = vertcat(d[j] if rate == 1 else rate * d[j] for j, rate in self.turning.items())
        part = ca.fmin(1, LARGEST_TURN / ca.fmax(_largest(turn), 1e-300)) if self.turning else ca.SX(1)
        return part * d, part

    # ---- one iteration -------------------------------------------------------------------------------------

    def _iterate(self) -> list[Node]:
        names = (
            "c c_t p p_t g d d_free lambda mu rho q_t low high active accuracy tolerance scale "
            "iterations goals tries part refused flat"
        )
        control = kernel(self._control, names, _CONTROLLED, self.sizes, "control")
        slow = lambda k, goals, c, c_t: all_of(k >= SLOW, goals, c_t > FALLS * c)
        learn = kernel(slow, "iterations goals c c_t", "slow", self.sizes, "slow")
        taken = [copy(f"{x}_t", x) for x in ("q", "c", "g", "H", *(("p", "P") if self.m else ()))]
        free = kernel(self.free, "d held active", "d_free part", self.sizes, "free")
        return [
            *self._factor(),
            *self._direction(),
            free,
            *self.step("q", "d_free"),
            *self._back(),
            *self.evaluate("_t"),
            control,
            learn,
            If("accept", [If("slow", self._secant()), *taken]),
        ]

    def _factor(self) -> list[Node]:
        """A of (1), factored; d <- g."""
        n = self.n

        def damp(A: SX, mu: SX, held: SX, active: SX, goals: SX) -> SX:
            largest = ca.mmax(ca.vertcat(*(A[i * n + i] for i in range(n))))
            s = ca.if_else(all_of(goals, largest > 0), largest, 1)
            return 1 - goals + mu * s + ca.if_else(any_of(held, active != 0), FIXED * s, 0)  # (1), (6)

        return [
            copy("H", "A"),
            If("slow", Call("daxpy", (n * n, 1.0, "S", 1, "A", 1))),
            kernel(damp, "A mu held active goals", "diagonal", self.sizes, "damp"),
            Call("dscal", (n * n, "goals", "A", 1)),
            Call("daxpy", (n, 1.0, "diagonal", 1, "A", n + 1)),
            Call("dpotrf", (b"L", n, "A", n, Ints("refused"))),
            copy("g", "d"),
            Call("dscal", (n, "goals", "d", 1)),
        ]

    def _direction(self) -> list[Node]:
        """d and lambda of (2) from d = g, by (3)."""
        n, m = self.n, self.m
        negative = kernel(lambda d: -d, "d", "d", self.sizes, "negative")
        if not m:
            return [self.solve("A", "d"), negative]

        def regular(Y: SX, mu: SX, goals: SX) -> SX:
            largest = ca.mmax(ca.vertcat(*(Y[i * m + i] for i in range(m))))
            least = ca.if_else(goals, REGULAR, LEAST_REGULAR)
            return ca.fmax(least, mu * mu) * ca.if_else(largest > 0, largest, 1) * ca.SX.ones(m)

        return [
            copy("P", "Z"),
            self.solve("A", "Z", m),
            Call("dgemm", (b"T", b"N", m, m, n, 1.0, "P", n, "Z", n, 0.0, "Y", m)),
            kernel(regular, "Y mu goals", "e", self.sizes, "regular"),
            Call("daxpy", (m, 1.0, "e", 1, "Y", m + 1)),
            Call("dpotrf", (b"L", m, "Y", m, Ints("info"))),
            self.solve("A", "d"),
            negative,
            copy("p", "lambda"),
            self.times(b"T", 1.0, "P", "d", "lambda"),
            *self.solve_rows("lambda"),
            self.times(b"N", -1.0, "Z", "lambda", "d"),
        ]

    def _back(self) -> list[Node]:
        """(4)."""
        if not self.m:
            return []
        free = kernel(lambda *x: self.free(*x)[0], "d_back held active", "d_back", self.sizes, "back")
        return [
            *self._errors(("q_t", "tail"), ("p_t",)),
            *self.solve_rows("p_t"),
            self.times(b"N", -1.0, "Z", "p_t", "d_back", 0.0),
            free,
            *self.step("q_t", "d_back"),
        ]

    def _control(
        self,
        c: SX,
        c_t: SX,
        p: SX,
        p_t: SX,
        g: SX,
        d: SX,
        d_free: SX,
        lambda_: SX,
        mu: SX,
        rho: SX,
        q_t: SX,
        low: SX,
        high: SX,
        active: SX,
        accuracy: SX,
        tolerance: SX,
        scale: SX,
        iterations: SX,
        goals: SX,
        tries: SX,
        part: SX,
        refused: SX,
        flat: SX,
    ) -> tuple[SX, ...]:
        """Whether the step is taken, and the next action: the slices _CONTROLLED."""
        c, c_t, h, h_t = goals * c, goals * c_t, _norm(p), _norm(p_t)
        slope = goals * ca.dot(g, d_free) / part
        # change of c over part of d, by (2)
        model = part * slope + part * part / 2 * (ca.dot(p, lambda_) - slope)
        rho = ca.fmax(rho, ca.if_else(h > tolerance, 2 * model / (part * h), 0))
        rounding = ROUNDING * (scale + ca.fabs(c) + rho + 100 * _norm(lambda_))
        gain, hoped = c - c_t + rho * (h - h_t), part * rho * h - model
        finite = c_t + h_t + ca.sum1(ca.fabs(d)) < np.inf
        accept = all_of(refused == 0, finite, gain >= 1e-4 * hoped - rounding)  # (5)
        mu_next = ca.if_else(accept, ca.fmax(mu / 10, MU_LEAST[self.m > 0]), ca.fmax(16 * mu, MU_AGAIN))

        inwards = any_of(all_of(active > 0, d < 0), all_of(active < 0, d > 0))
        at_end = self._at_end(q_t, low, high)
        now = ca.if_else(inwards, 0, ca.if_else(active == 0, at_end, active))
        same = ca.sum1(ca.if_else(now != active, 1, 0)) == 0

        worst = ca.if_else(accept, _largest(p_t), _largest(p))
        holds, limit = worst <= tolerance, iterations + 1 >= ITERATIONS
        flat = ca.if_else(accept, ca.if_else(gain <= rounding, flat + 1, 0), flat)
        end = any_of(all_of(_largest(d_free) <= accuracy, mu <= MU_SMALL, same), flat >= FLAT)
        stuck = any_of(mu_next > MU_MOST, limit)
        found, restored = all_of(goals, end, holds), all_of(ca.logic_not(goals), holds)
        failed = all_of(any_of(end, stuck), ca.logic_not(holds))
        turn = all_of(ca.logic_not(limit), any_of(all_of(goals, failed), all_of(restored, tries < 2)))  # (6)
        code = ca.if_else(holds, ca.if_else(found, FOUND, UNFINISHED), VIOLATED)
        busy = any_of(turn, ca.logic_not(any_of(found, restored, failed, stuck)))
        return (
            accept,
            ca.if_else(turn, MU_FIRST, mu_next),
            ca.if_else(turn, 0, rho),
            ca.if_else(accept, now, active),
            busy,
            code,
            worst,
            iterations + 1,
            ca.if_else(turn, 1 - goals, goals),
            tries + turn,
            ca.if_else(turn, 0, flat),
        )

    def _secant(self) -> list[Node]:
        """S of (7) after a step that is taken."""
        n = self.n

        def update(s: SX, y: SX, Hs: SX, Ss: SX) -> tuple[SX, ...]:
            known, left = ca.fabs(ca.dot(s, Ss)), ca.fabs(ca.dot(s, y - Hs))
            size = ca.if_else(known > left, left / known, 1)
            Bs = Hs + size * Ss
            sBs, sy = ca.dot(s, Bs), ca.dot(s, y)
            share = ca.if_else(sy >= 0.2 * sBs, 1, 0.8 * sBs / (sBs - sy))
            y = share * y + (1 - share) * Bs
            usable = sBs > 1e-200
            return (
                y,
                Bs,
                ca.if_else(usable, size, 0),
                ca.if_else(usable, 1 / ca.dot(s, y), 0),
                ca.if_else(usable, -1 / sBs, 0),
            )

        along = kernel(
            lambda d, back, g, g_t: (d + back, g_t - g), "d_free d_back g g_t", "s y", self.sizes, "along"
        )
        loads = (
            [self.times(b"N", 1.0, "P_t", "lambda", "y"), self.times(b"N", -1.0, "P", "lambda", "y")]
            if self.m
            else []
        )
        product = lambda A, y: Call("dsymv", (b"L", n, 1.0, A, n, "s", 1, 0.0, y, 1))
        square = lambda factor, x: Call("dsyr", (b"L", n, factor, x, 1, "S", n))
        return [
            along,
            *loads,
            product("H_t", "Bs"),
            product("S", "Ss"),
            kernel(update, "s y Bs Ss", "y Bs size plus minus", self.sizes, "update"),
            Call("dscal", (n * n, "size", "S", 1)),
            square("plus", "y"),
            square("minus", "Bs"),
        ]  # (7)

    # ---- a frame -------------------------------------------------------------------------------------------

    def _seen(self) -> dict[str, int]:
        return self.sizes | {name: stream.size for name, stream in self.streams.items()}

    def _begin(self) -> list[Node]:
        names: dict[str, float] = dict.fromkeys(
            ("rho", "iterations", "tries", "slow", "flat", "worst", "code"), 0
        )
        names |= {"goals": 1, "mu": MU_FIRST}

        def begin(tail: SX, row: SX, q: SX, own: SX, active: SX, low: SX, high: SX) -> tuple[SX, ...]:
            t, scale, place, start = ca.vertsplit(row[:HEAD])
            there = start > 0  # the frame starts from its own pose
            q = ca.if_else(there, own, q)
            active = ca.if_else(there, self._at_end(q, low, high), active)
            return (
                ca.vertcat(t, tail[1:]),
                q,
                q,
                ca.SX(self.n, 1),
                active,
                scale,
                place - 1,
                place > 0,
                start < STAY,
                *map(ca.SX, names.values()),
            )

        return [
            kernel(
                begin,
                "tail ROW q Q active low high",
                ["tail", "q", "q_good", "d_free", "active", "scale", "place", "asked", "busy", *names],
                self._seen(),
                "begin",
            ),
            Call("dscal", (self.n**2, "slow", "S", 1)),
            *self._prescribe(("q", "d_free", "tail"), ("q", "held")),
            *self.step("q", "d_free"),
            copy("q_t", "q"),
            *self.evaluate(),
        ]

    def _at_end(self, q: SX, low: SX, high: SX) -> SX:
        """1 and -1 for speeds whose coordinate is at its upper and lower limit, shape (n,)."""
        return ca.vertcat(
            *(ca.SX(0) if i < 0 else (q[i] >= high[i]) - (q[i] <= low[i]) for i in self.rate_of)
        )

    def _end(self) -> Node:
        def end(
            q: SX,
            q_good: SX,
            code: SX,
            iterations: SX,
            c: SX,
            worst: SX,
            flat: SX,
            frame: SX,
        ) -> tuple[SX, ...]:
            return (
                q,
                ca.vertcat(code, iterations, c, worst, flat),
                ca.if_else(code == VIOLATED, q_good, q),
                frame + 1,
            )

        return kernel(
            end, "q q_good code iterations c worst flat frame", "Q INFO q frame", self._seen(), "end"
        )


def _norm(x: SX) -> SX:
    return ca.norm_2(x) if x.numel() else ca.SX(0)


def _largest(x: SX) -> SX:
    """max |x|."""
    return ca.mmax(ca.fabs(x)) if x.numel() else ca.SX(0)
