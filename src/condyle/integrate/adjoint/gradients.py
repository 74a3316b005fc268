"""Derivatives of the end of a run, or of states along it, as Trajectory.jacobian, jvp and vjp define them.

A run is a chain of steps and of changes between them (events). Each is differentiated where it was computed:

    y_k+1 = Phi(t_k, y_k, h_k, p)                                 steps, h_k held: tape.py                 (1)
    dy_0 = (N dtheta, du, dz),   dp = (dinputs, dparameters, d table/d parameters dparameters)            (2)

dq is along the manifold: dq = N(q) dtheta, so that q has nu directions at the start; the result is the
derivative of y itself, with all nq coordinates. At a time between two rows y is the polynomial of the step
there (integrators/base.py (1)), and it changes with that time by f.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.constraints.solve.multipliers import LINES, Multipliers
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name, warn
from condyle.integrate.adjoint.program import SeriesBars, carry
from condyle.integrate.adjoint.saltation import Changes
from condyle.integrate.adjoint.slopes import FORWARD, REVERSE, wanted
from condyle.integrate.adjoint.tasks import AdjointTasks
from condyle.integrate.integrators.base import Method
from condyle.integrate.kept_times import piece_of
from condyle.integrate.steps import unstacked
from condyle.model.symbols import Symbols
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.status import Status
from condyle.system.checked_arguments import check_memory, number
from condyle.system.derivatives import check_shares
from condyle.system.state import State
from condyle.system.system import System
from condyle.system.variables import variable_names

if TYPE_CHECKING:
    from condyle.integrate.trajectory import Trajectory

VARIABLES = ("q", "u", "z", "inputs", "parameters", "t")
"""Variables of derivatives of runs: the start, the values that hold during the run, and the time at which y
is taken."""
DEFAULT = ("q", "u", "z", "parameters")
REST = 1e-12
"""Rates of activations below this count as zero [1/s]: rounding."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps between two rows of a run."""

    first: int
    last: int


class RunDerivatives:
    """The derivatives of one run.

    Args:
        what: its name in errors.
        traj: the run.
    """

    def __init__(self, what: str, traj: Trajectory) -> None:
        self.what, self.traj, self.system, self.rows = what, traj, traj.system, traj.rows
        self.model = self.system.compiled.model
        self.nq, self.nu, self.n = self.system.nq, self.system.nu, traj.y.shape[1]
        self.by_p = True
        self.series: SeriesBars | None = None
        self._check()
        self.starts = [0, *(row for row, _ in traj.changes)]
        self.segments = [
            Steps(a, b - 1) for a, b in zip(self.starts, [*self.starts[1:], len(traj)], strict=True)
        ]

    def _check(self) -> None:
        traj, what = self.traj, self.what
        if not len(traj):
            raise DescriptionError(f"{what}: the trajectory has no rows")
        if not (traj.status == Status.FINISHED or traj.status == Status.EVENT):
            raise DescriptionError(
                f"{what}: this run stopped early, and the point at which it stopped has no derivative: {traj.status}. "
                f"Simulate again with a t_final before {traj.t[-1]:.6g} s"
            )
        method = traj.rows.method
        if not isinstance(method, Method):
            raise DescriptionError(
                f"{what}: steps of TimeStepping decide which contacts act and have no derivative; run with compliant contacts "
                "(cd.contact.Material, smooth=) and 'semi-explicit-euler', 'rodas5p' or 'dormand-prince'"
            )
        if method.varies:
            raise DescriptionError(
                f"{what}: {method.name!r} keeps differences of earlier steps, which have no derivative here; run with "
                "'rodas5p' for stiff systems, or with 'dormand-prince'"
            )
        if method.needs_jacobian and (self.model.over_surfaces or self._loops_over_constraints()):
            raise DescriptionError(
                f"{what}: steps of {method.name!r} contain the Jacobian, whose derivative is not known for paths over "
                "surfaces, contacts that are solved for, and more than twelve coupled equations of constraints; run with "
                "'dormand-prince', 'rkc' or 'verlet'"
            )
        if not traj.rows.whole and len(traj) > 1 and traj.again is None:
            raise DescriptionError(
                f"{what}: this trajectory skips rows; use the full run, or a part of it as traj[i:j]"
            )
        if len(traj.causes) != len(traj.changes):
            raise DescriptionError(f"{what}: the events of this run are unknown; simulate it again")

        if self.model.unilateral:
            rows = np.array([0, *(row for row, _ in traj.changes)])
            args = unstacked(self.model, traj.tails(rows), traj.t[rows], traj.y[rows])
            check_shares(self.system.compiled, what, "ydot", *args)
        self._warn_of_kinks()

    def _loops_over_constraints(self) -> bool:
        """Whether loops solve some constraints, because these are coupled with many others."""

        def find() -> bool:
            s = Symbols(self.model)
            return Multipliers(s.rows(s.kinematics()), s.lock).loops

        many = sum(c.size for c in self.model.constraints.values()) > LINES
        return many and self.system.compiled.remembered("loops over constraints", find)

    def _warn_of_kinks(self) -> None:
        """Warn about muscles whose activation starts at a kink of its rate, as Thelen's has where excitation
        equals activation."""
        if not self.system.muscles:
            return
        from condyle.muscles.muscle import Muscle

        names = variable_names(self.system)
        state = {n: names.index(f"{n}.activation") for n in self.system.muscles if f"{n}.activation" in names}
        plain = Muscle.activation_rate
        kinked = [n for n in state if getattr(type(self.system.force(n)), "activation_rate", None) is plain]
        rest = [n for n in kinked if abs(self.rows.f[0, state[n]]) <= REST]
        if rest:
            warn(
                f"{self.what}: {cut(rest, 3)}: the activation equals the excitation at the start, where its rate has another "
                "slope for rising than for falling activation; derivatives are those of falling. Start from another "
                "activation, or take cd.muscles.DeGroote2016, whose activation is smooth",
                RuntimeWarning,
            )

    # --- parts of p

    @cached_property
    def wanted(self) -> np.ndarray:
        return wanted(self.model)

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Where inputs, discrete variables, parameters and their table are in p'."""
        out, start = {}, 0
        for name in ("inputs", "discrete", "parameters", "table"):
            size = self.model.tail[name].stop - self.model.tail[name].start
            out[name], start = slice(start, start + size), start + size
        return out

    def table_slope(self, tail: np.ndarray) -> Array:
        """d table/d parameters, (table, parameters)."""

        def made() -> ca.Function:
            symbols, meanings = self.model.tree.parameters.symbols, self.model.table[1]
            return ca.Function("table", [symbols], [ca.densify(ca.jacobian(meanings, symbols))])

        slope = self.system.compiled.remembered("slope of the table", made)
        return np.array(slope(tail[self.model.tail["parameters"]]))

    def p_directions(self, wrt: str) -> Array:
        """p' of each direction of inputs or parameters, (directions, p')."""
        here = self.parts[wrt]
        out = np.zeros((here.stop - here.start, len(self.wanted)))
        out[:, here] = np.eye(here.stop - here.start)
        if wrt == "parameters" and self.parts["table"].stop > self.parts["table"].start:
            out[:, self.parts["table"]] = self.table_slope(self.traj.start.tail).T
        return out

    def N(self, state: State) -> Array:
        """qdot = N u, (nq, nu)."""
        q, nu = np.tile(state.q, (self.nu, 1)), self.nu
        return np.asarray(self.system.compiled.function("qdot")(q, np.eye(nu), state.tail)).reshape(nu, -1).T

    def y_directions(self, wrt: str) -> Array:
        """y' at the start of each direction of q, u or z, (directions, n): (2)."""
        nq, nu, n = self.nq, self.nu, self.n
        if wrt == "q":
            out = np.zeros((nu, n))
            out[:, :nq] = self.N(self.traj.start).T
            return out
        here = slice(nq, nq + nu) if wrt == "u" else slice(nq + nu, n)
        return np.eye(n)[here]

    def check_memory(self, names: Sequence[str], times: int, members: int = 1) -> None:
        """Raise an error if this machine cannot hold the derivatives of so many members at so many times."""
        count = {"q": self.nu, "u": self.nu, "z": self.n - self.nq - self.nu, "t": 1}
        count |= {name: part.stop - part.start for name, part in self.parts.items()}
        k = sum(count[name] for name in names)
        size = 8.0 * members * k * (self.n * (2 * times + 1) + len(self.wanted))
        many = f" of {members} members" * (members > 1)
        what = f"{self.what}: {k} columns{many} at {times} time{'s' * (times > 1)}"
        check_memory(
            what, size, "use fewer times, variables or members (ens[i:j]), or compute a gradient by vjp"
        )

    def directions(self, wrt: str) -> tuple[Array, Array]:
        """y' and p' of each direction of a variable."""
        if wrt in ("q", "u", "z"):
            dy = self.y_directions(wrt)
            return dy, np.zeros((len(dy), len(self.wanted)))
        if wrt == "t":
            return np.zeros((1, self.n)), np.zeros((1, len(self.wanted)))
        dp = self.p_directions(wrt)
        return np.zeros((len(dp), self.n)), dp

    def names(self, wrt: Any, allowed: Sequence[str] = VARIABLES) -> tuple[str, ...]:
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt) if isinstance(wrt, Iterable) else (wrt,)
        for name in names:
            if name not in allowed:
                raise UnknownNameError(
                    "variable of a run's derivative", str(name), allowed, f"{self.what}: wrt"
                )
        if len(set(names)) < len(names):
            raise DescriptionError(f"{self.what}: wrt: each variable once, got {wrt!r}")
        return names

    def times(self, t: Any) -> tuple[np.ndarray, tuple[int, ...]]:
        """Times (m,), in any order, and the shape that was given."""
        if t is None:
            return np.array([self.traj.t[-1]]), ()
        self.traj.at(t)  # raises an error for times outside the run
        given = np.asarray(t, dtype=float)
        return given.reshape(-1), given.shape

    # --- native

    def over(
        self, direction: str, d: Array, dp: Array, first: int, last: int, seeds: Array | None = None
    ) -> tuple[Array, Array]:
        """Tangents or cotangents d (m, n), dp (m, p') carried over the steps between two rows."""
        one = np.ones(len(d), int)
        which = self.traj._which(first) * one
        tasks = AdjointTasks(
            self.rows.t,
            self.rows.y,
            self.rows.f,
            first * one,
            last * one,
            which,
            self.tails,
            self.traj.manifold,
        )
        return self._carry(direction, tasks, d, dp, seeds)

    @property
    def tails(self) -> Array:
        return np.array([s.tail for s in (self.traj.start, *(state for _, state in self.traj.changes))])

    def _carry(
        self, direction: str, tasks: AdjointTasks, d: Array, dp: Array, seeds: Array | None = None
    ) -> tuple[Array, Array]:
        by_p = self.by_p if direction == REVERSE else bool(dp.any())
        series = self.series if direction == REVERSE else None
        return carry(self.system, self.rows.method, direction, tasks, d, dp, seeds, by_p, series)

    def between(
        self, direction: str, k: np.ndarray, t: np.ndarray, d: Array, dp: Array
    ) -> tuple[Array, Array]:
        """d, dp, each from a row k (m,) to a time t (m,) in the step after it, by the polynomial of that
        step."""
        inside = t != self.rows.t[k]
        if not inside.any():
            return d, dp
        some, d, dp = np.flatnonzero(inside), d.copy(), dp.copy()
        here, twice = 2 * np.arange(len(some)), np.repeat(k[some], 2)
        ends = np.array([self.rows.length(int(i)) for i in k[some]]) + self.rows.t[k[some]]
        times = np.column_stack([self.rows.t[k[some]], ends]).ravel()
        tasks = AdjointTasks(
            times,
            self.rows.y[twice],
            self.rows.f[twice],
            here,
            here + 1,
            self.traj._which(k[some]),
            self.tails,
            self.traj.manifold,
            x=np.repeat(t[some], 2),
        )
        d[some], dp[some] = self._carry(direction, tasks, d[some], dp[some])
        return d, dp

    # --- both directions

    @cached_property
    def changes(self) -> dict[int, Array]:
        """For each row with a change its matrix over (y, p'): saltation.py."""
        changes, last, ends = Changes(self), len(self.traj.changes) - 1, self.traj.ending is not None
        return {
            row: changes.matrix(cause, row, ends and i == last and row == len(self.traj) - 1)
            for i, ((row, _), cause) in enumerate(zip(self.traj.changes, self.traj.causes, strict=True))
        }

    @cached_property
    def ending(self) -> Array | None:
        """The matrix of an event that ended the run and changed nothing: the end moves."""
        traj = self.traj
        if traj.ending is None or (traj.changes and traj.changes[-1][0] == len(traj) - 1):
            return None
        return Changes(self).matrix(traj.ending, len(traj), ends=True)

    def forward(self, d: Array, dp: Array, times: np.ndarray, to_end: bool = False) -> Array:
        """y' (times, m, n) of tangents d (m, n) at the start and dp (m, p'). to_end: the end moves with the event
        that ended the run."""
        out, order, row = (
            np.empty((len(times), *d.shape)),
            np.argsort(self.traj._way * times, kind="stable"),
            0,
        )
        for i in order:
            k = min(int(self.traj.row(times[i])), len(self.traj) - 1)
            for c in (*(c for c in self.changes if row < c <= k), k):
                stop = c - 1 if c in self.changes and c > row else c
                if stop > row:
                    d, dp = self.over(FORWARD, d, dp, row, stop)
                if stop < c:
                    d, dp = self._mapped(self.changes[c], d, dp)
                row = c
            one = np.ones(len(d), int)
            out[i] = self.between(FORWARD, k * one, times[i] * one, d, dp)[0]
        if to_end and self.ending is not None:
            out[0] = self._mapped(self.ending, out[0], dp)[0]
        return out

    def _mapped(self, A: Array, d: Array, dp: Array) -> tuple[Array, Array]:
        x = np.hstack([d, dp]) @ A.T
        return np.ascontiguousarray(x[:, : self.n]), np.ascontiguousarray(x[:, self.n :])

    def reverse(self, w: Array, times: np.ndarray, to_end: bool = False) -> tuple[Array, Array]:
        """y^ (n,) at the start and p^ (p',), of the sum over times of w (times, n) . y."""
        seeds, mu = (
            np.zeros((k, x)) for k, x in ((len(self.traj), self.n), (len(self.starts), len(self.wanted)))
        )
        k, m = np.clip(self.traj.row(times), 0, len(self.traj) - 1), np.zeros((len(times), len(self.wanted)))
        if to_end and self.ending is not None:
            w, m = self._mapped(self.ending.T, w, m)
        w, m = self.between(REVERSE, k, times, np.ascontiguousarray(w), m)
        np.add.at(seeds, k, w)
        np.add.at(mu, self.traj._which(k), m)
        d, m = np.zeros((1, self.n)), np.zeros((1, mu.shape[1]))
        for i, part in reversed(list(enumerate(self.segments))):
            m = m + mu[i]
            mine = np.flatnonzero(seeds[part.first : part.last + 1].any(axis=1))
            last = part.last if d.any() else part.first + int(mine.max(initial=0))
            d = d + seeds[[last]]
            if last > part.first:
                lonely = not (mine < last - part.first).any()
                d, m = self.over(REVERSE, d, m, part.first, last, None if lonely else seeds)
            if i:
                d, m = self._mapped(self.changes[part.first].T, d, m)
        return d[0], m[0]

    def ydot(self, t: np.ndarray, y: Array, tails: Array) -> Array:
        """ydot at times t (m,) and y (m, n), (m, n)."""
        q, u, tails = unstacked(self.model, tails, t, y)
        found = self.system.compiled.function("ydot")(q, u, np.zeros_like(u), tails)
        return np.asarray(found[0] if isinstance(found, tuple) else found)

    def rates(self, times: np.ndarray) -> Array:
        """ydot at times (m,) of the run, (m, n)."""
        k = np.clip(self.traj.row(times), 0, len(self.traj) - 1)
        return self.ydot(times, self.traj.at(times), self.traj.tails(k))


class DerivativesInPieces(RunDerivatives):
    """The derivatives of a run of which only some times were kept (kept_times.py): its pieces are run again,
    one at a time."""

    def _piece(self, i: int) -> RunDerivatives:
        piece = RunDerivatives(self.what, piece_of(self.traj, i))
        piece.by_p, piece.series = self.by_p, self.series
        return piece

    def _warn_of_kinks(self) -> None:
        """Done by the first piece."""

    def forward(self, d: Array, dp: Array, times: np.ndarray, to_end: bool = False) -> Array:
        at, out = self.traj.row(times), np.empty((len(times), *d.shape))
        for i in range(int(at.max()) + 1):
            out[at == i] = d
            if i < at.max():
                piece = self._piece(i)
                d = piece.forward(d, dp, piece.traj.t[-1:])[0]
        return out

    def reverse(self, w: Array, times: np.ndarray, to_end: bool = False) -> tuple[Array, Array]:
        at, y, p = self.traj.row(times), np.zeros((1, self.n)), np.zeros(len(self.wanted))
        for i in reversed(range(int(at.max()) + 1)):
            if i < at.max():
                piece = self._piece(i)
                d, m = piece.reverse(y, piece.traj.t[-1:])
                y, p = d[None], p + m
            y = y + w[at == i].sum(axis=0)
        return y[0], p


def derivatives_of(what: str, traj: Trajectory) -> RunDerivatives:
    """The derivatives of a run."""
    return (RunDerivatives if traj.again is None else DerivativesInPieces)(what, traj)


def jacobian(traj: Trajectory, wrt: Any, t: Any) -> dict[str, Array]:
    """See Trajectory.jacobian."""
    run = derivatives_of("jacobian", traj)
    names, (times, shape) = run.names(wrt), run.times(t)
    run.check_memory(names, len(times))
    each = [run.directions(name) for name in names]
    d, dp = (np.concatenate([x[k] for x in each]) for k in (0, 1))
    dy = run.forward(d, dp, times, t is None) if len(d) else np.empty((len(times), 0, run.n))
    out, start = {}, 0
    for name, (mine, _) in zip(names, each, strict=True):
        out[name] = np.moveaxis(dy[:, start : start + len(mine)], 1, 2).reshape(*shape, run.n, len(mine))
        start += len(mine)
    if "t" in out:
        out["t"] = run.rates(times).reshape(*shape, run.n, 1)
    return out


def jvp(traj: Trajectory, tangents: Any, t: Any) -> Array:
    """See Trajectory.jvp."""
    run = derivatives_of("jvp", traj)
    names, (times, shape) = directed(run, tangents), run.times(t)
    d, dp = np.zeros((1, run.n)), np.zeros((1, len(run.wanted)))
    dt = 0.0
    for name in names:
        x, dx = run.directions(name), tangent_of(run.system, name, tangents[name])
        if name == "t":
            dt = float(dx[0])
            continue
        d, dp = d + dx @ x[0], dp + dx @ x[1]
    dy = run.forward(d, dp, times, t is None)[:, 0]
    if dt:
        dy = dy + dt * run.rates(times)
    return dy.reshape(*shape, run.n)


def vjp(traj: Trajectory, w: Any, t: Any, wrt: Any) -> dict[str, Array]:
    """See Trajectory.vjp."""
    run = derivatives_of("vjp", traj)
    names, (times, shape) = run.names(wrt), run.times(t)
    run.by_p = bool({"parameters", "inputs"} & set(names)) or bool(traj.changes)
    w = cotangent_of(run.system, w, shape, run.n)
    if "inputs" in names:
        run.series = SeriesBars("vjp", run.system, traj.rows.method)
    y, p = run.reverse(w.reshape(len(times), run.n), times, t is None)
    out = {}
    for name in names:
        if name == "t":
            out[name] = (w.reshape(len(times), run.n) * run.rates(times)).sum(axis=1).reshape(shape)
        else:
            d, dp = run.directions(name)
            out[name] = d @ y + dp @ p
    return out | (run.series.gradients if run.series is not None else {})


def directed(run: RunDerivatives, tangents: Any) -> tuple[str, ...]:
    """The variables of which directions are given."""
    if not isinstance(tangents, Mapping) or not tangents:
        raise DescriptionError(
            f"jvp: expected directions by variable, such as {{'parameters': dp}}, got {tangents!r}"
        )
    return run.names(list(tangents))


def tangent_of(system: System, name: str, given: Any) -> Array:
    """A direction (k,) of a variable, by name or in order."""
    model = system.compiled.model
    labels: Sequence[str] = {
        "q": system.speeds,
        "u": system.speeds,
        "z": system.state_variables,
        "inputs": model.tree.inputs.names,
        "parameters": model.tree.parameters.names,
        "t": ("t",),
    }[name]
    if isinstance(given, Mapping):
        out = np.zeros(len(labels))
        for key, value in given.items():
            check_name(f"direction of {name}", key, labels, "jvp")
            out[list(labels).index(key)] = number(f"jvp: {name}: {key}", value, "one finite number")
        given = out
    try:
        x = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError):
        x = np.empty((0, 0))
    if x.shape != (len(labels),) or not np.isfinite(x).all():
        raise ShapeError(
            f"jvp: {name}: expected {len(labels)} finite numbers, one for each of {list(labels)}, got {given!r}"
        )
    return x


def cotangent_of(system: System, w: Any, shape: tuple[int, ...], n: int) -> Array:
    """Weights (..., n) of y at the times."""
    try:
        x = np.asarray(w, dtype=float)
    except (TypeError, ValueError):
        raise ShapeError(f"vjp: w: expected numbers of shape {(*shape, n)}, got {w!r}") from None
    if x.shape != (*shape, n) or not np.isfinite(x).all():
        raise ShapeError(
            f"vjp: w: expected finite numbers of shape {(*shape, n)}, weights of y = "
            f"{', '.join(variable_names(system)[:6])}{', ...' * (n > 6)} at each time; got shape {x.shape}"
        )
    return x
