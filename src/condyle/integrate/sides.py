"""On which side of zero a witness is, and when it changes sides.

A witness g counts to be on the side of its sign, with two exceptions.

*Turned.* An event is found just after the sign has changed, and an action may turn the witness round there,
as a bounce does: g is past zero by a little, and comes back. It counts to be on the side that it comes back
to (`near`) at once, and it changes sides if it goes further than where the action left it (`level`):

    side = near  while  near (g - level) >= 0,  until  near g > 0;    then side = sign(g)                  (1)

so that no excursion is too short or too low to be seen. An action turns a witness if afterward its rate no
longer leads away from zero; if it still does, the witness passes, and comes again only after it was back.

*Held.* Where constraints or locks hold a witness at a value, rounding changes its sign, nothing else. It is
held if its gradient by q, u, z, t is a combination of those of the equations that hold; then it changes no
sides.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from condyle.integrate.events import Event
from condyle.system.state import State

CHANGE = 1e-6
"""For derivatives by differences [rad, m or s]. Their errors are near 1e-9 of the gradient."""
HELD = 1e-4
"""A gradient is a combination of others if less than this part of it is left. That is far above the errors of
differences."""
NEAR_ZERO = 0.1
"""A turning point that is predicted nearer to zero than this part of the spread of three looks is looked
at."""
ROUNDS = 3
"""How often an interval is divided again where a witness may turn near zero, and where it stops being a
number."""


class Sides:
    """Sides of some witnesses, by (1).

    Attributes:
        near: 1 or -1 for those that an action turned and that are not back yet, else 0.
        level: where it left them.
    """

    def __init__(self, count: int) -> None:
        self.near, self.level = np.zeros(count), np.zeros(count)

    def turn(self, j: int, near: float, g: float) -> None:
        self.near[j], self.level[j] = near, g

    def plain(self, j: int) -> None:
        self.near[j] = 0.0

    def of(self, j: int, g: np.ndarray) -> np.ndarray:
        """Sides at values (m,) that follow each other: 1, 0 or -1."""
        near, sides = self.near[j], np.sign(g)
        if near:
            back = np.flatnonzero(near * g > 0)
            away = slice(back[0] if len(back) else None)
            sides[away] = np.where(near * (g[away] - self.level[j]) >= 0, near, -near)
        return sides

    def all(self, g: np.ndarray) -> np.ndarray:
        """Sides at values (m, count)."""
        return np.stack([self.of(j, g[:, j]) for j in range(g.shape[1])], axis=1)

    def settle(self, g: np.ndarray) -> None:
        """These values (m, count) were seen: those that are back are as all others."""
        self.near[(self.near * g > 0).any(axis=0)] = 0.0


def isolate(
    g: Callable[[np.ndarray], np.ndarray],
    sides: Callable[[np.ndarray], np.ndarray],
    event: Event,
    before: float,
    low: float,
    high: float,
    window: float,
) -> tuple[float, float]:
    """The first change of sides between two times, narrowed to at most a window: 16 looks at once per
    round."""
    while high - low > window:
        t = np.linspace(low, high, 17)
        side = sides(g(t))
        side[0] = before
        found = np.flatnonzero(event.happens(side[:-1], side[1:]))
        if not len(found) or t[1] <= low:
            break
        low, high, before = float(t[found[0]]), float(t[found[0] + 1]), side[found[0]]
    return low, high


def slope(g: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> float:
    """The mean slope of a witness between two times."""
    a, b = g(np.array([low, high]))
    return float(b - a) / max(high - low, float(np.spacing(abs(high))))


def turning_points(t: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Times between looks (m,) where a witness (m, count) may have been at zero and back: there the parabola
    through three looks of one sign turns, near zero or beyond."""
    a, b, c = t[:-2, None], t[1:-1, None], t[2:, None]
    ga, gb, gc = g[:-2], g[1:-1], g[2:]
    with np.errstate(all="ignore"):
        first = (gb - ga) / (b - a)
        second = ((gc - gb) / (c - b) - first) / (c - a)
        when = (a + b) / 2 - first / (2 * second)
        lowest = ga + first * (when - a) + second * (when - a) * (when - b)
        sign = np.sign(ga)
        size = np.abs(np.stack([ga, gb, gc]))
        found = (
            (sign != 0)
            & (np.sign(gb) == sign)
            & (np.sign(gc) == sign)
            & (sign * second > 0)
            & (when > a)
            & (when < c)
            & (sign * lowest <= NEAR_ZERO * (size.max(axis=0) - size.min(axis=0)))
        )
    return np.setdiff1d(when[found], t)


def last_numbers(t: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Times (15,) between the last look before a witness is no number and that one; none if all are
    numbers."""
    unknown = np.flatnonzero(np.isnan(g).any(axis=1))
    return (
        np.setdiff1d(np.linspace(t[unknown[0] - 1], t[unknown[0]], 17), t)
        if len(unknown) and unknown[0]
        else t[:0]
    )


def is_held(state: State, f: np.ndarray, g: Callable[[State, np.ndarray, np.ndarray], np.ndarray]) -> bool:
    """Whether constraints, locks and motions hold a witness where it is.

    Args:
        f: ydot there.
        g: (state, t, y) -> values (m,) at times (m,) and y (m, n), all else as in the state.
    """
    system, nq, nu = state.system, state.q.size, state.u.size
    held = np.flatnonzero(system.compiled.tails.held(state.tail))
    if not system.constraints and not len(held):
        return False
    y = np.concatenate([state.q, state.u, state.z])
    n = 2 * nu + state.z.size + 1  # changes of q along each speed, of u, of z, of t
    steps = np.zeros((n, y.size))
    steps[:nu, :nq] = system.compiled.function("qdot")(np.tile(state.q, (nu, 1)), np.eye(nu), state.tail)
    steps[nu : n - 1, nq:] = np.eye(n - 1 - nu)
    later = np.zeros(n)
    later[-1] = 1.0
    ys = np.concatenate([y + CHANGE * steps, y - CHANGE * steps])
    ts = np.concatenate([state.t + CHANGE * later, state.t - CHANGE * later])
    values = g(state, ts, ys)
    gradient = (values[:n] - values[n:]) / (2 * CHANGE)
    size = np.linalg.norm(gradient)
    # no direction changes it here: nothing can be said
    if not size > CHANGE:
        return False
    rows = []
    if system.constraints:
        tails, where = np.repeat(state.tail[None], 2 * n, axis=0), system.compiled.model.tail
        tails[:, where["t"]], tails[:, where["z"]] = ts[:, None], ys[:, nq + nu :]
        q, u = np.ascontiguousarray(ys[:, :nq]), np.ascontiguousarray(ys[:, nq : nq + nu])
        errors = np.concatenate(system.compiled.function("constraint_errors")(q, u, tails), axis=1)
        rows.append((errors[:n] - errors[n:]).T / (2 * CHANGE))
    for j in held:  # q and u there are functions of time alone
        rows.append(np.zeros((2, n)))
        rows[-1][[0, 1], [j, nu + j]] = 1.0
        rows[-1][:, -1] = -state.u[j], -f[nq + j]
    known = np.concatenate(rows)
    left = gradient - known.T @ np.linalg.lstsq(known.T, gradient, rcond=HELD**2)[0]
    return bool(np.linalg.norm(left) <= HELD * size)
