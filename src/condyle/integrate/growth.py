"""How perturbations, such as the small errors of steps, grow along a run.

The run is cut into blocks of equal numbers of steps, at times t_0, t_1, ... A perturbation dy of the state at
t_i is P_ji dy at t_j. With the weights W of the errors and dy in a random one of the r directions in which
the state can move,

    g_ji = rms |W P_ji dy| / rms |W dy| = |W P_ji W^-1|_F / sqrt(r)                                        (1)

If each of N steps adds an error e, and n_i of them are in block i, their sum at t_j is at most
about

    sum_{i<j} n_i g_ji e = N e growth_j,    growth = max_j growth_j                                        (2)

g within a block is the mean of those at its ends. Directions are those of states that are perturbed in each
variable, and then taken to unit quaternions, to what motions prescribe, and to the constraints. P of a block is the
derivative of its steps along these (condyle.integrate.adjoint), all blocks side by side; for a method whose
steps have none it is found by differences: the block is simulated from these states. Across an event P is
assumed to be the identity.
"""

from __future__ import annotations

import itertools
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.errors import ConvergenceError, DescriptionError
from condyle.integrate.adjoint.gradients import RunDerivatives
from condyle.integrate.adjoint.program import carry
from condyle.integrate.adjoint.slopes import FORWARD
from condyle.integrate.adjoint.tasks import AdjointTasks
from condyle.integrate.ensemble import Members
from condyle.integrate.ensemble_run import EnsembleRun
from condyle.integrate.integrators import METHODS, Method
from condyle.integrate.manifold import Manifold
from condyle.integrate.native import native
from condyle.integrate.run import RunSettings
from condyle.integrate.steps import replaced, stacked
from condyle.native.machine.threads import thread_count
from condyle.records import dataclass
from condyle.status import Status
from condyle.system.checked_arguments import error_weights
from condyle.system.state import State
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.integrate.trajectory import Trajectory

BLOCKS = 24
"""Largest number of blocks of a run, events not counted. Growth within a block is not resolved; with 48
blocks the result seldom differs by a tenth."""
SIZE, ACCURACY = 1e-6, 1e-9
"""The size of the perturbations, and the accuracy of their motions: differences have three digits, and
perturbations stay small while they grow a thousandfold in a block."""
SMALLEST = 1e-3
"""A direction counts if projection leaves at least this part of the largest."""


@dataclass(frozen=True, eq=False, repr=False)
class Growth:
    """How perturbations grow along a run.

    Attributes:
        overall: ratio of the accumulated errors of all steps to their plain sum: 1 if errors only add up,
            less if they are damped. Expect an error of about the accuracy times this.
        t: times [s], shape (m,).
        factors: shape (m, m): factors[j, i] is the factor by which a perturbation at t[i] has grown at t[j],
            weighted as errors are, averaged over its directions. Zero for i > j.
    """

    overall: float
    t: np.ndarray
    factors: np.ndarray = field(repr=False)

    def __float__(self) -> float:
        return self.overall

    def __repr__(self) -> str:
        j, i = np.unravel_index(np.argmax(self.factors), self.factors.shape)
        return (
            f"Growth({self.overall:.3g}; at most {self.factors[j, i]:.3g}, from {self.t[i]:.4g} s to "
            f"{self.t[j]:.4g} s)"
        )


def growth(traj: Trajectory, weights: Any = None) -> Growth:
    """See Trajectory.growth."""
    t, w = traj.t, error_weights("growth", traj.system, weights)
    if not len(t):
        raise DescriptionError("growth: the trajectory has no rows")
    if not traj.rows.whole and (skipped := [e for e in traj.events if t[0] < e.t < t[-1]]):
        raise DescriptionError(
            f"growth: this trajectory skips rows, and event {skipped[0].name!r} "
            f"happened at t = {skipped[0].t:g} s among them; use the full trajectory, or "
            "a part of it as traj[i:j]"
        )
    if t[-1] < t[0]:
        raise DescriptionError(
            f"growth: this run goes backward in time, from {t[0]:g} to {t[-1]:g} s; run "
            "from its end forward: cd.simulate(system, traj[-1], traj.t[0])"
        )
    before = np.flatnonzero(np.diff(t) == 0)  # rows before an event
    even = np.linspace(0, len(t) - 1, min(BLOCKS, len(t) - 1) + 1).round().astype(int)
    rows = np.unique(np.concatenate([even, before, before + 1]))
    method = METHODS["rodas" if traj.rows.method.stiff else "dormand-prince"]
    pieces = [(int(a), int(b)) for a, b in itertools.pairwise(rows)]
    blocks: list[tuple[np.ndarray, int] | None]
    try:
        blocks = _blocks(traj, pieces, w)
    except DescriptionError:  # the method has no derivatives
        blocks = [_block(traj[a], float(t[b]), method, w) if t[b] > t[a] else None for a, b in pieces]
    factors = np.eye(len(rows))
    for i, first in enumerate(blocks):
        P, r = (None, 0) if first is None else first
        for j, block in enumerate(blocks[i:], i + 1):
            if P is not None and block is not None and j > i + 1:
                P = block[0] @ P
            factors[j, i] = 1.0 if P is None else np.linalg.norm(P) / np.sqrt(max(1, r))  # (1)
    for i in range(len(blocks) - 1, -1, -1):  # an event's row counts as the one after it
        if blocks[i] is None:
            factors[i + 1 :, i] = factors[i + 1 :, i + 1]
    steps = np.diff(rows) * np.array([block is not None for block in blocks])
    within = (factors[:, :-1] + factors[:, 1:]) / 2  # growth of errors made within a block
    sums = np.tril(within, -1) @ steps  # (2)
    return Growth(float(sums.max() / steps.sum()) if steps.any() else 1.0, t[rows], factors)


def _perturbed(start: State, w: np.ndarray) -> np.ndarray:
    """The state's y and those perturbed in each variable, on the manifold, (1 + k, n)."""
    system, manifold = start.system, Manifold.of_run(start.system, w, ACCURACY)
    y = manifold.nearest(system, start.tail, np.array([start.t]), stacked(start)[None])[0]
    changed = np.flatnonzero(w)
    Y = np.tile(y, (1 + len(changed), 1))
    Y[1 + np.arange(len(changed)), changed] += SIZE / w[changed]
    return manifold.nearest(system, start.tail, np.full(len(Y), start.t), Y)


def _along(V: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, int]:
    """W P W^-1 that maps the columns V to X, zero outside their span; and the dimension of the span."""
    U, s, Q = np.linalg.svd(V, full_matrices=False)
    r = int(np.sum(s > SMALLEST * s.max(initial=1.0)))
    return X @ (Q[:r].T / s[:r]) @ U[:, :r].T, r


def _blocks(
    traj: Trajectory, pieces: list[tuple[int, int]], w: np.ndarray
) -> list[tuple[np.ndarray, int] | None]:
    """_block of all that last, by the derivatives of their steps."""
    run, rows = RunDerivatives("growth", traj), traj.rows
    some = [i for i, (a, b) in enumerate(pieces) if traj.t[b] > traj.t[a]]
    if not some:
        return [None] * len(pieces)
    V = [(Y[1:] - Y[0]) / SIZE for Y in (_perturbed(traj[pieces[i][0]], w) for i in some)]
    count = [len(v) for v in V]
    first, last = (np.repeat([pieces[i][k] for i in some], count) for k in (0, 1))
    tasks = AdjointTasks(
        rows.t,
        rows.y,
        rows.f,
        first,
        last,
        traj._which(first),
        run.tails,
        Manifold.of_run(traj.system, w, ACCURACY),
    )
    d = np.concatenate(V)
    X = carry(traj.system, rows.method, FORWARD, tasks, d, np.zeros((len(d), 0)))[0] if len(d) else d
    out: list[tuple[np.ndarray, int] | None] = [None] * len(pieces)
    for i, v, x in zip(some, V, np.split(X, np.cumsum(count)[:-1]), strict=True):
        out[i] = _along(v.T * w[:, None], x.T * w[:, None])
    return out


def _block(start: State, t_end: float, method: Method, w: np.ndarray) -> tuple[np.ndarray, int]:
    """W P W^-1 from a state to a time, in all n variables, zero for directions in which they cannot move; and
    the number of directions in which they can.
    """
    system, Y = start.system, _perturbed(start, w)
    states = [replaced(start, start.t, x) for x in Y]
    settings = RunSettings(t_end, ACCURACY, w, None, None, (), scales.TIME_SCALE * ACCURACY, None)
    run = EnsembleRun(
        Members.from_states(system, states), *native(system, method, "times"), method, settings, np.empty(0)
    )
    ends = run.go(thread_count(None))
    for bad in (status for status in ends.status if status != Status.FINISHED):
        raise ConvergenceError(
            f"growth: a motion perturbed by {SIZE:g} at t = {start.t:g} s does not go on "
            f"as the run did: {bad}",
            None,
            bad.kind,
        )
    V, X = ((x[1:] - x[0]).T * w[:, None] / SIZE for x in (Y, ends.y_end))
    return _along(V, X)
