"""Step-size control: the length of an attempt, whether it is accepted, and the length of the next.

    err = rms(w e) / (accuracy / 250) <= 1,  h <- h min(5, max(0.1, 0.9 err^(-1/p)))  p = method.estimate  (1)

(sherman2011 (6)); a step may add a 250th of the accuracy, so that the sum over many steps stays near the
accuracy.

If a step is rejected twice, the estimate has not shrunk as h^p: the step contains a kink, such as that of a
stop. There the estimate shrinks as h^2, underestimates the error by the factor `blind` of the method, and is
zero for some positions of the kink in the step, which new attempts can hit by chance. So, until the time at
which the last rejected step would have ended: err <= 1 / blind, steps at most double, and are shortened by
err^(-1/2). In smooth motion steps are hardly ever rejected twice, so these rules cost nothing there. Methods
whose `blind` is 1 do not need them.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.integrate.integrators import Method
from condyle.integrate.steps import FAILED
from condyle.native.programs.nodes import Kernel, summed

SHARE = 1 / 250
"""One step may add this part of the accuracy: 250 steps whose errors all have one sign, and that nothing
damps or amplifies, add up to the accuracy, 2500 to ten times as much."""
SMALLEST_STEP = 1e-13
"""A run ends when steps would have to be smaller than this fraction of the time reached or of one second."""
JUDGED = "h h_try t err fixed size rejected evaluations doubt refused way"
"""Slices that the verdict on a step depends on; `size` is that of y_next, finite or not."""


def squares(error: str, sizes: dict[str, int]) -> Kernel:
    """The slice `error.squares` <- sum (w e)^2."""
    sizes[f"{error}.squares"] = 1
    return summed(
        lambda w, e: (w * e) ** 2, ["weights", error], f"{error}.squares", sizes, sizes[error], "squares"
    )


def weighed(n: int, accuracy: SX, *squares: SX) -> SX:
    """The error of a step (1 is the largest allowed) from sum (w e)^2 of n elements; with a second estimate,
    as in integrators.Explicit.
    """
    err, *other = (ca.sqrt(x / max(n, 1)) / (SHARE * accuracy) for x in squares)
    return err**2 / ca.sqrt(err**2 + 0.01 * other[0] ** 2 + 1e-300) if other else err


def size(of: str, out: str, sizes: dict[str, int]) -> Kernel:
    """The slice `out` <- sum |x|: whether x is finite."""
    return summed(ca.fabs, [of], out, sizes, sizes[of], "size")


def plan(t: SX, h: SX, h_max: SX, way: SX, *ends: SX) -> tuple[SX, SX]:
    """h_try and t_next of an attempt that does not pass the end of the run or a knot."""
    end = ends[0] if len(ends) == 1 else way * ca.fmin(*(way * x for x in ends))
    left = way * (end - t)
    h = ca.fmin(h, h_max)
    t_next = ca.if_else(left <= h * (1 + 1e-9), end, t + way * h)
    return t_next - t, t_next  # not h: where t is large, t + h rounds


def blame(weights: SX, error: SX) -> SX:
    """Index of the largest error in y."""
    share = ca.fabs(weights * error)
    largest, worst = ca.SX(-1), ca.SX(0)
    for i in range(error.numel()):
        worst = ca.if_else(share[i] > largest, i, worst)
        largest = ca.fmax(largest, share[i])
    return worst


def small(h: SX, t: SX) -> SX:
    """Whether a step is below the shortest that is tried."""
    return h < SMALLEST_STEP * ca.fmax(1, ca.fabs(t))


class StepControl:
    """The verdicts on a step, as expressions.

    Args:
        method: of the step.
        timed: whether the run has knots: error estimates across a jump are ignored (knots.py).
        evaluations: of f in an attempt.
    """

    def __init__(self, method: Method, timed: bool, evaluations: int) -> None:
        self.method, self.timed, self.evaluations = method, timed, evaluations

    def judge(self, s: Any) -> tuple[SX, ...]:
        """After an attempt: accept, h, code, rejected, evaluations, doubt, refused; from the slices JUDGED."""
        h, t, err, fixed, way = s.h, s.t, s.err, s.fixed, s.way
        t_next, h_try, blind = t + s.h_try, way * s.h_try, self.method.blind
        finite, doubtful = s.size + err < np.inf, way * t < way * s.doubt
        if self.timed:
            err = ca.if_else(small(h_try, t), 0, err)
        recurs = s.refused if blind > 1 else ca.SX(0)
        rough = ca.logic_and(recurs, ca.logic_not(err <= 1))
        err = ca.fmax(err, 1e-10) * ca.if_else(ca.logic_or(doubtful, rough), blind, 1)
        fine = ca.logic_and(ca.logic_and(finite, h_try > 0), ca.logic_or(fixed, err <= 1))
        root = ca.if_else(
            ca.logic_and(recurs, ca.logic_not(fine)),
            1 / ca.sqrt(err),
            err ** (-1 / (s.order + 1 if self.method.varies else max(self.method.estimate, 1))),
        )
        grow = ca.fmin(ca.if_else(doubtful, 2, 5), ca.fmax(0.1, 0.9 * root))  # (1)
        cut = h_try < h * (1 - 1e-9)  # a step cut short at the end does not determine the next
        longer = ca.fmax(h_try * (1 if self.method.varies else grow), ca.if_else(cut, h, 0))
        h_next = ca.if_else(fine, longer, h_try * ca.if_else(finite, ca.fmin(grow, 0.9), 0.25))
        h_next = ca.if_else(fixed, h, h_next)
        failed = ca.logic_and(ca.logic_not(fine), ca.logic_or(small(h_next, t), fixed))
        return (
            fine,
            h_next,
            ca.if_else(failed, FAILED, 0),
            s.rejected + 1 - fine,
            s.evaluations + self.evaluations,
            ca.if_else(rough, t_next, s.doubt),
            ca.if_else(fine, 0, s.refused + 1),
        )

    @staticmethod
    def land(h: SX, h_try: SX, t: SX, fixed: SX, size: SX, rejected: SX) -> tuple[SX, ...]:
        """After f, of a given size, at the new point: accept, h, code, rejected. If f is not finite, a step
        of another length is tried.
        """
        fine = size < np.inf
        h_next = ca.if_else(ca.logic_or(fine, fixed), h, 0.25 * ca.fabs(h_try))
        failed = ca.logic_and(ca.logic_not(fine), ca.logic_or(small(h_next, t), fixed))
        return fine, h_next, ca.if_else(failed, FAILED, 0), rejected + 1 - fine
