"""Complementarity: which contacts push, stick and slide. docs/theory/rigid_contact.md (11)-(15).

Contacts: v = W lambda + b, three rows each (normal, two tangents), and for each

    v_n >= 0,   lambda_n >= 0,   v_n lambda_n = 0                                                         (11)
    |lambda_t| <= mu (lambda_n + c),   lambda_t = -mu (lambda_n + c) v_t / |v_t| where v_t != 0           (12)

or lambda_t = -mu lambda_n d with a given direction d, for one that slides already. c >= 0 is an additional
given impulse. First all contacts are assumed to stick: the lambda of least norm, if it satisfies (11), (12).
Else the cone becomes a pyramid of N sides (two in a plane, where that is exact), with lambda_t = D beta
(Stewart and Trinkle 1996):

    A = [W_nn  W_nD  0;  W_Dn  W_DD  E;  mu  -E'  0],   b = [b_n;  b_D;  mu c]                            (13)

and Newton's method continues from its solution to that of the cone, with known sticking and sliding contacts:

    stick: v = 0;     slide: v_n = 0,  lambda_t + mu (lambda_n + c) v_t / |v_t| = 0                       (14)

If that fails, in units in which each contact's response to itself is one, (11) and (12) are projections,

    lambda_n = max(lambda_n - v_n, 0),  lambda_t = the point nearest to lambda_t - v_t that (12) allows (14a)

solved by Newton's method with a line search from many starts.

Independent groups of contacts are separate problems:

    W_ij = 0 for i, j of two groups                                                                       (15)

The linear complementarity problem (13), and any other,

    w = A z + b,   w >= 0,   z >= 0,   w . z = 0                                                          (10)

is solved by Lemke's method, with the lexicographic rule: it ends at a solution or at a ray, which means that
there is none if A is copositive-plus, as in impacts. No maintained package fits: SciPy has none, and QP
solvers (daqp) need a symmetric A, which friction violates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from condyle.records import dataclass


def lemke(A: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """z of (10), or None where Lemke's method ends at a ray, or takes more than 50 (n + 10) pivots.

    Args:
        A: shape (n, n).
        b: shape (n,).
    """
    n = len(b)
    if not n or (b >= 0).all():
        return np.zeros(n)
    # rows: basic variables. Columns: w (n), z (n), z0, right-hand side; the w columns hold the inverse basis
    T = np.hstack([np.eye(n), -A, -np.ones((n, 1)), b[:, None]])
    basis = list(range(n))

    def leaving(entering: int, allowed: np.ndarray) -> int | None:
        """The row whose variable reaches zero first; the lexicographic least of equal ones."""
        rows = allowed
        for column in (2 * n + 1, *range(n)):
            ratio = T[rows, column] / T[rows, entering]
            rows = rows[ratio <= ratio.min() + 1e-12 * max(1.0, abs(ratio.min()))]
            if len(rows) == 1:
                break
        first = [r for r in rows if basis[r] == 2 * n]  # z0 leaves as soon as it may
        return int(first[0] if first else rows[0])

    def pivot(row: int, column: int) -> int:
        T[row] /= T[row, column]
        others = T[:, column].copy()
        others[row] = 0.0
        np.subtract(T, np.outer(others, T[row]), out=T)
        out, basis[row] = basis[row], column
        return out

    order = np.lexsort((np.arange(n), b))
    out = pivot(int(order[0]), 2 * n)
    size = max(1.0, float(np.abs(A).max()))
    for _ in range(50 * (n + 10)):
        entering = out + n if out < n else out - n
        allowed = np.flatnonzero(T[:, entering] > 1e-11 * size)
        if not len(allowed):
            return None  # a ray
        row = leaving(entering, allowed)
        assert row is not None
        out = pivot(row, entering)
        if out == 2 * n:
            z = np.zeros(2 * n + 1)
            z[basis] = np.maximum(T[:, -1], 0.0)
            return z[n : 2 * n]
    return None


SIDES = 8
"""N of (13)."""
TOLERANCE = 1e-9
"""Share of the problem's size by which (11) and (12) may be off."""
NEWTON = 30
"""Steps of (14)."""
BESIDE = (0.0, 1e-10, 1e-8, 1e-7)
"""Shares of b by which it is moved where Lemke's method finds nothing."""
APART = 1e-13
"""Share of what contacts do to themselves below which they do nothing to each other."""
STARTS, ROUGH = (30, 300), 1e-3
"""Starts of the last resort; the second number is for an error above ROUGH where none slides already: there
is an answer then."""
DESCENT, SWEEPS, SHARES = 60, 100, (1.0, 0.3, 0.03)
"""Newton's steps from each, sweeps for the first of them, shares of v in (14a)."""
RIDGE = 1e-10
"""Share of its diagonal that is added to W for Lemke's method, which redundant contacts would lead astray."""


def groups(W: np.ndarray) -> list[np.ndarray]:
    """Contacts that act on each other, through others too, (15); W is (3 k, 3 k). Separate groups keep the
    accuracy of light bodies beside heavy ones.
    """
    k = len(W) // 3
    own = np.sqrt(np.maximum(np.diag(W), 0.0))
    linked = (np.abs(W) > APART * np.outer(own, own)).reshape(k, 3, k, 3).any(axis=(1, 3))
    linked |= linked.T | np.eye(k, dtype=bool)
    left, out = np.ones(k, bool), []
    while left.any():
        some = np.zeros(k, bool)
        some[np.argmax(left)] = True
        while (more := linked[some].any(axis=0)).sum() > some.sum():
            some = more
        left &= ~some
        out.append(np.flatnonzero(some))
    return out


@dataclass(frozen=True)
class ComplementarityAnswer:
    """What contacts do.

    Attributes:
        lambda_: forces or impulses, shape (k, 3).
        v: accelerations or velocities with them, shape (k, 3).
        error: how far (11), (12) are off, over the size of the problem.
    """

    lambda_: np.ndarray
    v: np.ndarray
    error: float


@dataclass(frozen=True)
class ContactProblem:
    """(11), (12) for k contacts.

    Args:
        W: shape (3 k, 3 k).
        b: v without forces, shape (3 k,).
        mu: friction, shape (k,).
        directions: d of those that slide already, shape (2,); None for the others.
        c: what pushes anyway, shape (k,); contained in b.
    """

    W: np.ndarray
    b: np.ndarray
    mu: np.ndarray
    directions: Sequence[np.ndarray | None]
    c: np.ndarray

    @property
    def k(self) -> int:
        return len(self.mu)

    def part(self, some: np.ndarray) -> ContactProblem:
        """That of some of the contacts, the others doing nothing."""
        rows = (3 * some[:, None] + np.arange(3)).ravel()
        return ContactProblem(
            self.W[np.ix_(rows, rows)],
            self.b[rows],
            self.mu[some],
            [self.directions[i] for i in some],
            self.c[some],
        )

    @property
    def cones(self) -> list[int]:
        """Contacts whose friction is free in (12)."""
        return [i for i in range(self.k) if self.mu[i] > 0 and self.directions[i] is None]

    def pushing(self) -> np.ndarray:
        """What a unit of each normal force is with the friction of those that slide already, (3 k, k)."""
        F = np.zeros((3 * self.k, self.k))
        for i, d in enumerate(self.directions):
            F[3 * i, i] = 1.0
            if d is not None:
                F[3 * i + 1 : 3 * i + 3, i] = -self.mu[i] * d
        return F

    def own(self) -> np.ndarray:
        """Response of each gap to its own normal force, friction included, over that without: (k,)."""
        full, F = np.einsum("ij,ji->i", self.W[::3], self.pushing()), np.diag(self.W)[::3]
        return np.where(F > 0, full / np.where(F > 0, F, 1.0), 1.0)

    def answer(self, lambda_: np.ndarray) -> ComplementarityAnswer:
        """With the error of some forces (3 k,)."""
        lam, v = lambda_.reshape(-1, 3), (self.W @ lambda_ + self.b).reshape(-1, 3)
        size_v = max(float(np.abs(self.b).max(initial=0.0)), 1e-300)
        # a contact's own: beside those of heavy bodies any force of a light one would be small
        own = np.diag(self.W).reshape(-1, 3).max(axis=1, initial=0.0)
        size_l = np.maximum(np.abs(lam).max(axis=1, initial=1e-300), size_v / np.where(own > 0, own, np.inf))
        bad = [
            0.0,
            *(-lam[:, 0] / size_l),
            *(-v[:, 0] / size_v),
            *(np.minimum(np.abs(lam[:, 0]) / size_l, np.abs(v[:, 0]) / size_v)),
        ]
        for i in range(self.k):
            d, reach = self.directions[i], self.mu[i] * (lam[i, 0] + self.c[i])
            if d is not None:
                bad.append(float(np.abs(lam[i, 1:] + self.mu[i] * lam[i, 0] * d).max()) / size_l[i])
                continue
            bad.append((float(np.hypot(*lam[i, 1:])) - reach) / size_l[i])
            slip = float(np.hypot(*v[i, 1:]))
            if slip > TOLERANCE * size_v and self.mu[i] > 0:
                off = lam[i, 1:] + reach * v[i, 1:] / slip
                bad.append(float(np.abs(off).max()) / size_l[i] * min(1.0, slip / (1e-3 * size_v)))
        return ComplementarityAnswer(lam, v, max(bad))

    def solve(self) -> ComplementarityAnswer | None:
        """The answer, or None where there is none, or none is found."""
        best: ComplementarityAnswer | None = None
        for way in (lambda _: self._all_hold(), lambda _: self._pyramid(), self._projected):
            found = way(best)
            if found is not None and (best is None or found.error < best.error):
                best = found
            if best is not None and best.error <= TOLERANCE:
                return best
        return best if best is not None and best.error <= 1e-2 else None

    def shared(self, found: ComplementarityAnswer) -> ComplementarityAnswer:
        """The same velocities by forces of least norm: those of Lemke's method are few, where more contacts
        touch than can be told apart. Who slips slides that way. Runs have these forces too: a contact that
        has more than its cone allows, though others could take it, is at the edge of its cone, as if it slid.
        If there is no such answer, what was given."""
        size = max(float(np.abs(self.b).max(initial=0.0)), 1e-300)
        slip = np.hypot(*found.v[:, 1:].T)
        ways = [
            d if d is not None else v[1:] / s if s > 1e-7 * size and mu > 0 else None
            for d, v, s, mu in zip(self.directions, found.v, slip, self.mu, strict=True)
        ]
        parts = (found.v[:, 0] > 1e-7 * size) & (found.lambda_[:, 0] * np.diag(self.W)[::3] <= 1e-9 * size)
        if self.c.any() or parts.all():
            return found
        stay = np.flatnonzero(~parts)
        for _ in range(self.k):
            lam = np.zeros((self.k, 3))
            lam[stay] = replace(self, directions=ways).part(stay)._all_hold().lambda_
            made = self.answer(lam.ravel())
            if made.error <= max(TOLERANCE, found.error):
                return made
            beyond = np.array(
                [
                    np.hypot(*x[1:]) - mu * x[0] if d is None else 0.0
                    for d, x, mu in zip(ways, lam, self.mu, strict=True)
                ]
            )
            worst = int(np.argmax(beyond))
            if not beyond[worst] > 0:
                break
            ways[worst] = -lam[worst, 1:] / np.hypot(*lam[worst, 1:])
        return found

    def _all_hold(self) -> ComplementarityAnswer:
        """Nothing opens and nothing slips but what slides already."""
        rows = np.array(
            [
                r
                for i in range(self.k)
                for r in ((3 * i, 3 * i + 1, 3 * i + 2) if i in self.cones else (3 * i,))
            ],
            dtype=int,
        )
        F = self.pushing()
        P = np.zeros((3 * self.k, len(rows)))
        for column, r in enumerate(rows):
            P[:, column] = F[:, r // 3] if r % 3 == 0 else np.eye(3 * self.k)[r]
        A = self.W[rows] @ P
        scale = 1 / np.sqrt(
            np.maximum(np.abs(np.diag(A)), 1e-12 * max(np.abs(np.diag(A)).max(initial=0.0), 1e-300))
        )
        x = np.linalg.lstsq(scale[:, None] * A * scale, -scale * self.b[rows], rcond=1e-11)[0]
        return self.answer(P @ (scale * x))

    def _pyramid(self) -> ComplementarityAnswer | None:
        """(13), then (14)."""
        k, cones, F = self.k, self.cones, self.pushing()
        planar = np.diag(self.W).reshape(-1, 3)
        D: list[np.ndarray] = []  # directions of each cone, (3 k, N)
        for i in cones:
            flat = planar[i, 1:] <= 1e-12 * max(planar[i].max(), 1e-300)
            angles = (
                [0, np.pi]
                if flat[1]
                else [np.pi / 2, -np.pi / 2]
                if flat[0]
                else np.arange(SIDES) * 2 * np.pi / SIDES
            )
            mine = np.zeros((3 * k, len(angles)))
            mine[3 * i + 1], mine[3 * i + 2] = np.cos(angles), np.sin(angles)
            D.append(mine)
        all_D = np.hstack([np.zeros((3 * k, 0)), *D])
        E = np.zeros((all_D.shape[1], len(cones)))
        start = 0
        for j, mine in enumerate(D):
            E[start : start + mine.shape[1], j] = 1.0
            start += mine.shape[1]
        N = np.eye(3 * k)[::3]
        mu = np.zeros((len(cones), k))
        mu[np.arange(len(cones)), cones] = self.mu[cones]
        # each contact in units in which it answers itself by one, of which (11), (12) know nothing
        own = planar.max(axis=1)
        unit = 1 / np.sqrt(np.where(own > 0, own, max(float(own.max(initial=0.0)), 1e-300)))
        each = np.repeat(unit, 3)
        W, b_all = each[:, None] * self.W * each + RIDGE * np.eye(3 * k), each * self.b
        A = np.block(
            [
                [N @ W @ F, N @ W @ all_D, np.zeros((k, len(cones)))],
                [all_D.T @ W @ F, all_D.T @ W @ all_D, E],
                [mu, -E.T, np.zeros((len(cones), len(cones)))],
            ]
        )
        b = np.concatenate([b_all[::3], all_D.T @ b_all, mu @ (self.c / unit)])
        s = max(float(np.abs(b).max(initial=0.0)), 1e-300)
        scaled = b / s
        scaled[np.abs(scaled) < 1e-13] = 0.0
        # ties that rounding breaks the wrong way are others a little beside; (14) takes that back
        uneven = 0.5 + 0.5 * np.cos(1 + 2.4 * np.arange(len(b)))
        z = next((z for beside in BESIDE if (z := lemke(A, scaled + beside * uneven)) is not None), None)
        if z is None:
            return None
        lambda_ = s * each * (F @ z[:k] + all_D @ z[k : k + all_D.shape[1]])
        rough = self.answer(lambda_)
        exact = self._newton(rough)
        return exact if exact.error < rough.error else rough

    def _projected(self, rough: ComplementarityAnswer | None) -> ComplementarityAnswer | None:
        """(14a) by Newton's method with a line search, from several starts: where pivots or modes fail."""
        k = self.k
        own = np.diag(self.W).reshape(-1, 3).max(axis=1, initial=0.0)
        unit = 1 / np.sqrt(np.where(own > 0, own, max(float(own.max(initial=0.0)), 1e-300)))
        each, size = np.repeat(unit, 3), max(float(np.abs(np.repeat(unit, 3) * self.b).max()), 1e-300)
        to = each * size  # lambda = to x: each answers itself by one
        made = replace(self, W=each[:, None] * self.W * each, b=each * self.b / size, c=self.c / to[::3])
        rng, best = np.random.default_rng(0), rough
        first = [made._swept(), np.zeros(3 * k)]
        first += [] if rough is None else [rough.lambda_.ravel() / to]
        for i in range(STARTS[all(d is None for d in self.directions)]):
            if i < len(first):
                x = first[i]
            else:  # light bodies between heavy ones: many decades
                x = rng.standard_normal((k, 3)) * 10.0 ** rng.uniform(0, 3, (k, 1))
                x[:, 0] = np.abs(x[:, 0])
            share = SHARES[i % len(SHARES)]  # (14a) holds with any share of v
            found = self.answer(to * replace(made, W=share * made.W, b=share * made.b)._descended(x.ravel()))
            if best is None or found.error < best.error:
                best = found
            if best.error <= (TOLERANCE if i + 1 < STARTS[0] else ROUGH):
                break
        return best

    def _swept(self) -> np.ndarray:
        """Each contact by itself, again and again (Gauss and Seidel)."""
        x, W, own = np.zeros(3 * self.k), self.W, np.maximum(np.diag(self.W), 1e-300)
        for _ in range(SWEEPS):
            for i, way in enumerate(self.directions):
                n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
                x[n] = max(x[n] - (W[n] @ x + self.b[n]) / own[n], 0.0)
                if way is not None or not self.mu[i]:
                    x[t] = 0.0 if way is None else -self.mu[i] * x[n] * way
                    continue
                x[t] -= (W[t] @ x + self.b[t]) / own[t].max()
                x[t] *= min(1.0, self.mu[i] * (x[n] + self.c[i]) / max(float(np.hypot(*x[t])), 1e-300))
        return x

    def _descended(self, x: np.ndarray) -> np.ndarray:
        """Newton's steps for (14a) from x, as far as they bring it down."""
        steps = 0.5 ** np.arange(12)
        r = self._off(x[None])[0]
        off = float(np.linalg.norm(r))
        for _ in range(DESCENT):
            if off <= 1e-15:
                break
            J = self._slopes(x)
            for damping in (0.0, 1e-6, 1e-3):
                A = np.vstack([J, np.sqrt(damping * off) * np.eye(len(x))]) if damping else J
                more = np.linalg.lstsq(A, np.append(-r, np.zeros(len(A) - len(r))), rcond=1e-13)[0]
                tried = x + steps[:, None] * more
                left = self._off(tried)
                down = np.linalg.norm(left, axis=1) < (1 - 1e-4 * steps) * off
                if down.any():
                    break
            else:
                break
            x, r = tried[down.argmax()], left[down.argmax()]
            off = float(np.linalg.norm(r))
        return x

    def _given(self) -> tuple[np.ndarray, np.ndarray]:
        """Contacts whose friction has no direction to find, shape (k,), and friction over push there, (k, 2)."""
        known = [np.zeros(2) if not mu else way for mu, way in zip(self.mu, self.directions, strict=True)]
        return np.array([way is not None for way in known], bool), np.array(
            [np.zeros(2) if way is None else mu * way for mu, way in zip(self.mu, known, strict=True)]
        ).reshape(-1, 2)

    def _off(self, x: np.ndarray) -> np.ndarray:
        """What (14a) is off by at several x, shapes (n, 3 k)."""
        r = x.reshape(-1, self.k, 3).copy()
        v, (known, way) = (x @ self.W.T + self.b).reshape(r.shape), self._given()
        rub = r[..., 1:] - v[..., 1:]
        push = np.maximum(r[..., 0] - v[..., 0], 0.0)
        reach, length = self.mu * (push + self.c), np.hypot(rub[..., 0], rub[..., 1])
        slides = (length > reach)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.where(slides, r[..., 1:] - (reach / length)[..., None] * rub, v[..., 1:])
        r[..., 1:] = np.where(known[:, None], r[..., 1:] + r[..., :1] * way, found)
        r[..., 0] -= push
        return r.reshape(x.shape)

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        """Derivatives of `_off` at one x, shape (3 k, 3 k)."""
        v, one, J = self.W @ x + self.b, np.eye(len(x)), np.zeros((len(x), len(x)))
        for i, (mu, known, way) in enumerate(zip(self.mu, *self._given(), strict=True)):
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            push = max(x[n] - v[n], 0.0)
            d_push = one[n] - self.W[n] if push else 0 * one[n]
            J[n] = one[n] - d_push
            if known:
                J[t] = one[t] + np.outer(way, one[n])
                continue
            rub, reach = x[t] - v[t], mu * (push + self.c[i])
            length = float(np.hypot(*rub))
            if length <= reach:
                J[t] = self.W[t]
                continue
            d = rub / length
            across = reach / length * (np.eye(2) - np.outer(d, d))
            J[t] = one[t] - mu * np.outer(d, d_push) - across @ (one[t] - self.W[t])
        return J

    def _newton(self, rough: ComplementarityAnswer) -> ComplementarityAnswer:
        """(14), from an answer for the pyramid."""
        lam, k = rough.lambda_.ravel().copy(), self.k
        size_v = max(float(np.abs(self.b).max(initial=0.0)), 1e-300)
        F, best = self.pushing(), rough
        # in units of velocity: a light body's force is small beside a heavy one's
        active = (rough.lambda_[:, 0] + self.c) * np.diag(self.W)[::3] > TOLERANCE * size_v
        slides = [i for i in self.cones if active[i] and np.hypot(*rough.v[i, 1:]) > 1e-7 * size_v]
        for _ in range(NEWTON):
            v = self.W @ lam + self.b
            r, J = np.zeros(3 * k), np.zeros((3 * k, 3 * k))
            for i in range(k):
                n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
                pushes = active[i] and (rough.lambda_[i, 0] > 0 or self.c[i] == 0)
                if pushes:
                    r[n], J[n] = v[n], self.W[n]
                else:
                    r[n], J[n, n] = lam[n], 1.0
                if i in slides:
                    speed = max(float(np.hypot(*v[t])), 1e-300)
                    d, reach = v[t] / speed, self.mu[i] * (lam[n] + self.c[i])
                    r[t] = lam[t] + reach * d  # (14)
                    J[t] = reach * (np.eye(2) - np.outer(d, d)) / speed @ self.W[t]
                    J[t, n] += self.mu[i] * d
                    J[t, t] += np.eye(2)
                elif i in self.cones and active[i]:
                    r[t], J[t] = v[t], self.W[t]
                else:
                    r[t] = lam[t] - F[t, i] * lam[n]
                    J[t, t] += np.eye(2)
                    J[t, n] -= F[t, i]
            rows = np.maximum(np.abs(J).max(axis=1), 1e-300)
            step = np.linalg.lstsq(J / rows[:, None], -r / rows, rcond=1e-12)[0]
            lam = lam + step
            found = self.answer(lam)
            best = found if found.error < best.error else best
            if best.error <= 1e-14 or not np.isfinite(lam).all():
                break
            if np.abs(step).max() <= 1e-15 * max(np.abs(lam).max(), 1e-300):
                break
        return best
