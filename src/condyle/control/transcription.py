"""A problem on a mesh as a nonlinear program: unknowns z = (v at all points, T, parameters, values of goals)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array, vertcat
from condyle.collocation.assembly import Assembly, FunctionAtPoints, SparseEntries
from condyle.collocation.intervals import CollocationMesh
from condyle.collocation.point_functions import PointFunction
from condyle.collocation.terms import kinds
from condyle.control.goals.base import MovementGoal, MovementPoints
from condyle.control.problem import Problem
from condyle.errors import DescriptionError
from condyle.forces.base import state_variables
from condyle.native.machine import cache, notice
from condyle.native.tables.lookup import Context, current_context, lookup_context
from condyle.nlp import Bounds
from condyle.records import dataclass

NEWTON = 8
"""Number of Newton steps for finding algebraic variables between points."""


@dataclass(frozen=True, eq=False)
class Sizes:
    """Numbers of values of a goal's parts: integrand, path, start, end, value."""

    integrand: int
    path: int
    start: int
    end: int
    value: int


@dataclass(frozen=True, eq=False)
class _Expressions:
    y: Any
    d: Any
    F: Any
    start: Any
    end: Any
    shown: Any
    sizes: list[Sizes]
    context: Context
    pulls: list[tuple[Any, list[int], bool]]


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """A block of constraints, with names for messages.

    Attributes:
        start: index of the first constraint.
        names: name and unit, for one point or for all.
        points: the point of each block, or None.
    """

    start: int
    names: list[tuple[str, str]]
    points: Any = None

    @property
    def stop(self) -> int:
        return self.start + len(self.names) * (1 if self.points is None else len(self.points))


class ControlProgram:
    """A problem on a mesh.

    Args:
        problem: the problem.
        mesh: the mesh.
        hessian: whether second derivatives are needed.
        interpolated: whether controls at midpoints of hermite-simpson are means of their neighbors, as in
            Moco.
    """

    def __init__(
        self, problem: Problem, mesh: CollocationMesh, hessian: bool, interpolated: bool = True
    ) -> None:
        self.problem, self.mesh, self.dynamics = problem, mesh, problem.dynamics
        self.interpolated = interpolated and mesh.scheme.name == "hermite-simpson"
        dynamics = self.dynamics
        self.P, self.nv, self.nx = len(mesh.points), len(dynamics.variables), len(dynamics.states)
        self.goals = [goal for goal, _ in problem.minimized] + list(problem.required)
        self.count = len(problem.minimized)
        for goal in self.goals:
            goal.check(dynamics)
        if problem.free and (dynamics.compiled.timed.operators or any(_reads_time(g) for g in self.goals)):
            raise DescriptionError(
                "cd.Problem: the system or a goal depends on time, and the duration is free: fix it, with "
                "duration= or times="
            )
        T = sum(problem.duration) / 2
        self.times = problem.start_time + T * mesh.points
        frames = MovementPoints(mesh.points, self.times, problem.free, dynamics)
        self.data = [np.asarray(goal.data(frames), float) for goal in self.goals]
        for goal, x in zip(self.goals, self.data, strict=True):
            if x.shape[0] != self.P or not np.isfinite(x).all():
                raise DescriptionError(f"goal {goal.name!r}: its data are not finite at all points")
        self.shared = problem.free + len(problem.parameters)
        widths = [x.shape[1] for x in self.data]
        codes = [goal.code(dynamics) for goal in self.goals]
        self.key = (
            f"control\n{dynamics.compiled.key}\n{dynamics.text()}\nfree {problem.free} "
            f"{list(problem.parameters)}\n{widths} {self.count}\n" + "\n".join(codes)
        )
        self.sizes = self._sizes()
        self._functions(hessian)
        self._assemble()

    # ---- expressions ---------------------------------------------------------------------------------------

    @cached_property
    def _expressions(self) -> _Expressions:
        problem, dynamics = self.problem, self.dynamics
        with lookup_context():
            T = ca.SX.sym("T")
            point, v, numbers, xdot, r, pulled = dynamics.point(T)
            parameters = [
                dynamics.tree.parameters.symbols[dynamics.tree.parameters.names.index(name)]
                for name in problem.parameters
            ]
            own = [ca.SX.sym("data", x.shape[1]) for x in self.data]
            rows: dict[str, list[SX]] = {"path": [], "integrand": [], "start": [], "end": []}
            sizes = []
            for goal, data in zip(self.goals, own, strict=True):
                point.data = data
                found = {
                    "path": goal.path(point),
                    "integrand": goal.integrand(point),
                    "start": goal.at_start(point),
                    "end": goal.at_end(point),
                }
                got = {
                    k: ca.SX(0, 1) if x is None else ca.vec(ca.densify(ca.SX(x))) for k, x in found.items()
                }
                for kind, x in got.items():
                    rows[kind].append(x)
                n = {kind: x.numel() for kind, x in got.items()}
                parts = [ca.SX.sym(kind, n[kind]) for kind in ("integrand", "start", "end")]
                plain = any(x.numel() for x in parts) or goal.nonlinear
                value = ca.SX(goal.value(parts[0], parts[1], parts[2], T)).numel() if plain else 0
                sizes.append(Sizes(n["integrand"], n["path"], n["start"], n["end"], value))
            F = ca.vertcat(T * xdot, r, *rows["path"], *(T * x for x in rows["integrand"]))
            ends = vertcat(rows["start"]), vertcat(rows["end"])
            names = [name for name, _ in state_variables(dynamics.model.forces)]
            shown = vertcat(point.view.states[name] for name in names)
            F, start, end, shown, *each = dynamics.with_numbers(
                point.symbols, [F, *ends, shown, *(x for x, _, _ in pulled)]
            )
            pulls = [
                (x, [len(dynamics.states) + i for i in rows], known)
                for x, (_, rows, known) in zip(each, pulled, strict=True)
            ]
            y = ca.vertcat(v, *([T] if problem.free else []), *parameters)
            d = ca.vertcat(numbers, *([] if problem.free else [T]), *own)
            return _Expressions(y, d, F, start, end, shown, sizes, current_context(), pulls)

    def _sizes(self) -> list[Sizes]:
        key = f"sizes {self.key}"
        found = cache.loaded(key, lambda code, facts: [Sizes(*x) for x in facts["sizes"]])
        if found is None:
            with notice.compiling("control: equations"):
                found = self._expressions.sizes
            each = [[s.integrand, s.path, s.start, s.end, s.value] for s in found]
            cache.store(key, b"", {"sizes": each})
        return found

    def _made(self, part: str) -> Callable[[], Any]:
        """A function that builds a part of the expressions with their symbols when it is compiled."""

        def make() -> Any:
            e = self._expressions
            return e.y, e.d, getattr(e, part), e.context

        return make

    def _functions(self, hessian: bool) -> None:
        n = self.nv + self.shared
        d = self.dynamics.numbers(self.times[:1], {}).shape[1] + (not self.problem.free)
        d += sum(x.shape[1] for x in self.data)

        self.function = PointFunction("control", self.key, self._made("F"), n, d, hessian)

        self.pulls = kinds("control", self.key, self._made("pulls"), hessian) if self.dynamics.muscles else []
        self.ends = {
            part: PointFunction(f"control {part}", self.key, self._made(part), n, d, hessian)
            for part in ("start", "end")
            if any(getattr(s, part) for s in self.sizes)
        }
        self.outer = {
            k: self._outer(goal, s, hessian)
            for k, (goal, s) in enumerate(zip(self.goals, self.sizes, strict=True))
            if goal.nonlinear
        }

    def _outer(self, goal: MovementGoal, s: Sizes, hessian: bool) -> PointFunction:
        """`value` of a goal as a function of T (if it is free), integral, start and end."""
        T = ca.SX.sym("T")
        parts = [ca.SX.sym("x", n) for n in (s.integrand, s.start, s.end)]
        free = self.problem.free
        if not free and not any(x.numel() for x in parts):
            raise DescriptionError(
                f"goal {goal.name!r}: the duration is fixed, {self.problem.duration[0]:g} s; give cd.Problem "
                "duration=(low, high)"
            )
        y, d = ca.vertcat(*([T] if free else []), *parts), ca.SX(0, 1) if free else T
        value = ca.vec(ca.SX(goal.value(parts[0], parts[1], parts[2], T)))
        key = f"outer {free} {[x.numel() for x in parts]} {goal.code(self.dynamics)}"
        return PointFunction("value", key, lambda: (y, d, value, None), y.numel(), d.numel(), hessian)

    # ---- unknowns ------------------------------------------------------------------------------------------

    def split(self, z: Array) -> tuple[Array, float, Array]:
        """Variables (P, n), duration and parameters."""
        problem, m = self.problem, self.P * self.nv
        T = float(z[m]) if problem.free else problem.duration[0]
        return z[:m].reshape(self.P, self.nv), T, z[m + problem.free : m + self.shared]

    def numbers(self, fraction: Array | None = None) -> Array:
        """d of all points, or at fractions of the movement, shape (P, k)."""
        times, data = self.times, self.data
        if fraction is not None:
            times = self.problem.start_time + sum(self.problem.duration) / 2 * fraction
            frames = MovementPoints(fraction, times, self.problem.free, self.dynamics)
            data = [np.asarray(goal.data(frames), float) for goal in self.goals]
        own = self.dynamics.numbers(times, {})
        T = [] if self.problem.free else [np.full((len(times), 1), self.problem.duration[0])]
        return np.concatenate([own, *T, *data], axis=1)

    def system_states(self, x: Array) -> Array:
        """Auxiliary states of the system at all points, shape (P, nz)."""
        nz, dynamics = self.dynamics.model.nz, self.dynamics
        z = self.program.unknowns(x)
        V, first = (
            z[: self.P * self.nv].reshape(self.P, self.nv),
            len(dynamics.q_states) + len(dynamics.u_states),
        )
        out = V[:, first : first + nz].copy()
        if not any(dynamics.muscles[name].TENDON_STATE == "fiber_length" for name in dynamics.elastic):
            return out
        y = np.concatenate([V, np.tile(z[self.P * self.nv :][: self.shared], (self.P, 1))], axis=1)

        d = self.numbers()
        shown = PointFunction("states", self.key, self._made("shown"), y.shape[1], d.shape[1], False)
        return shown.values(y, d)

    def rates_at(self, V: Array, fraction: Array, z: Array) -> Array:
        """Rates of states over [0, 1], at variables V (m, n) between the points: algebraic variables are found
        by Newton's method, so that all residuals are zero there. Shape (m, nx)."""
        nx, start = self.nx, self.nx + len(self.dynamics.controls)
        y = np.concatenate([V, np.tile(z[self.P * self.nv :][: self.shared], (len(V), 1))], axis=1)
        y[:, [i for i, v in enumerate(self.dynamics.variables) if v.kind == "correction"]] = 0.0
        d, size = self.numbers(fraction), [x for _, _, x in self.dynamics.residuals]
        own, rows = np.arange(start, self.nv), self.dynamics.determining
        R = np.array(size)[rows]
        S = np.array([v.scale for v in self.dynamics.variables])[own]
        for _ in range(NEWTON):
            r, J = self._residuals(y, d, len(size), start)
            r, J = r[:, rows] / R, J[:, rows] * S / R[:, None]
            if len(rows) != len(own) or not np.abs(r).max(initial=0.0) > 1e-10:
                break
            y[:, own] -= S * np.linalg.solve(J, r[:, :, None])[:, :, 0]
        return self.function.values(y, d)[:, :nx]

    def _residuals(self, y: Array, d: Array, count: int, start: int) -> tuple[Array, Array]:
        """Residuals (m, count), including muscles, and their derivatives by algebraic variables."""
        nx, own = self.nx, self.nv - start
        F, entries = self.function.jacobians(y, d)
        r, J = F[:, nx : nx + count].copy(), np.zeros((len(y), count, self.nv + self.shared))
        i, j = self.function.pattern.jacobian
        chosen = np.flatnonzero((i >= nx) & (i < nx + count))
        J[:, i[chosen] - nx, j[chosen]] = entries[:, chosen]
        for kind in self.pulls:
            members = len(kind.rows)
            values, slopes = kind.function.jacobians(y[:, kind.y].reshape(len(y) * members, -1), kind.data(d))
            i, j = kind.function.pattern.jacobian
            every: Any = slice(None)
            np.add.at(r, (every, kind.rows - nx), values.reshape(len(y), *kind.rows.shape))
            where = (every, kind.rows[:, i] - nx, kind.y[:, j])
            np.add.at(J, where, slopes.reshape(len(y), members, -1))
        return r, J[:, :, start : start + own]

    def _assemble(self) -> None:
        problem, mesh, dynamics, P, nv, nx = self.problem, self.mesh, self.dynamics, self.P, self.nv, self.nx
        scheme, nF = mesh.scheme, self.function.size
        first = P * nv
        common = first + np.arange(self.shared)
        index = np.concatenate([np.arange(first).reshape(P, nv), np.tile(common, (P, 1))], axis=1)
        d = self.numbers()
        groups = [FunctionAtPoints(self.function, index, d)]
        at = {"points": 0}
        size = P * nF
        for part, function in self.ends.items():
            row = 0 if part == "start" else P - 1
            groups.append(FunctionAtPoints(function, index[row : row + 1], d[row : row + 1]))
            at[part], size = size, size + function.size
        for k, kind in enumerate(self.pulls):
            groups.append(
                FunctionAtPoints(kind.function, index[:, kind.y].reshape(-1, kind.y.shape[1]), kind.data(d))
            )
            at[f"pulls {k}"], size = size, size + P * kind.rows.size
        # values of goals that are not just sums are additional unknowns
        n = first + self.shared
        own: dict[int, Any] = {}
        for k, function in self.outer.items():
            s = self.sizes[k]
            own[k] = n + np.arange(s.integrand + s.start + s.end)
            n += len(own[k])
            y = np.concatenate([common[: int(problem.free)], own[k]])[None]
            fixed = np.zeros((1, 0)) if problem.free else np.array([[problem.duration[0]]])
            groups.append(FunctionAtPoints(function, y.astype(int), fixed))
            at[f"outer {k}"], size = size, size + function.size
        A, B = SparseEntries.empty(), SparseEntries.empty()
        self.rows: list[ConstraintRows] = []
        low: list[Array] = []
        high: list[Array] = []
        R: list[Array] = []
        m = 0

        def block(names: list[tuple[str, str]], points: Any, lo: Any, hi: Any, factor: Any) -> int:
            nonlocal m
            rows = ConstraintRows(m, names, points)
            self.rows.append(rows)
            count = rows.stop - m
            for target, x in ((low, lo), (high, hi), (R, factor)):
                each = np.asarray(x, float)
                target.append(np.tile(each, count // each.size) if each.ndim else np.full(count, each))
            m = rows.stop
            return rows.start

        S_v = np.array([v.scale for v in dynamics.variables])
        named = [(v.name, v.unit) for v in dynamics.variables]
        # collocation: schemes.py (1)
        N, L, states = mesh.intervals, scheme.steps, np.arange(nx)
        each = scheme.D.shape[0]
        points = (np.arange(N)[:, None] * L + np.arange(1, each + 1)).ravel()
        rated = [(f"rate of {a}", u) for a, u in named[:nx]]
        start = block(rated, points, 0.0, 0.0, 1 / S_v[:nx]) if nx else 0
        for i in range(each if nx else 0):
            row = start + ((np.arange(N) * each + i)[:, None] * nx + states)
            for j in range(L + 1):
                p = (np.arange(N) * L + j)[:, None]
                if scheme.D[i, j]:
                    A.add(row, p * nv + states, scheme.D[i, j])
                if scheme.W[i, j]:
                    B.add(row, p * nF + states, -mesh.h[:, None] * scheme.W[i, j])
        # residuals
        everywhere = np.arange(P)
        if dynamics.residuals:
            nr = len(dynamics.residuals)
            start = block(
                [(a, u) for a, u, _ in dynamics.residuals], everywhere, 0.0, 0.0,
                1 / np.array([x for _, _, x in dynamics.residuals]),
            )  # fmt: skip
            B.add(
                start + everywhere[:, None] * nr + np.arange(nr),
                everywhere[:, None] * nF + nx + np.arange(nr),
                1.0,
            )
            if dynamics.motion is not None and not scheme.collocates_start:
                # controls at the first point are those of the next, and cannot explain the motion there
                free = slice(0, len(dynamics.balanced))
                low[-1][free], high[-1][free] = -np.inf, np.inf
            for k, kind in enumerate(self.pulls):
                B.add(
                    start + everywhere[:, None, None] * nr + kind.rows - nx,
                    at[f"pulls {k}"] + np.arange(P * kind.rows.size).reshape(P, *kind.rows.shape),
                    1.0,
                )
        # controls that are determined by others
        c = nx + np.flatnonzero([v.kind == "control" for v in dynamics.controls])
        if len(c) and not scheme.collocates_start:
            start = block([named[k] for k in c], np.zeros(1, int), 0.0, 0.0, 1 / S_v[c])
            A.add(start + np.arange(len(c)), c, 1.0)
            A.add(start + np.arange(len(c)), nv + c, -1.0)
        if len(c) and self.interpolated:
            start = block([named[k] for k in c], np.arange(N) * L + 1, 0.0, 0.0, 1 / S_v[c])
            middle = start + np.arange(N)[:, None] * len(c) + np.arange(len(c))
            for j, x in ((0, -0.5), (1, 1.0), (2, -0.5)):
                A.add(middle, (np.arange(N) * L + j)[:, None] * nv + c, x)
        # goals
        a, b = np.zeros(n), np.zeros(size)
        place = nx + len(dynamics.residuals)
        paths, integrands = [], []
        for s in self.sizes:
            paths.append(place)
            place += s.path
        for s in self.sizes:
            integrands.append(place)
            place += s.integrand
        ends = {
            part: np.concatenate([[0], np.cumsum([getattr(s, part) for s in self.sizes])])
            for part in ("start", "end")
        }
        self.terms: list[tuple[str, float, list[tuple[Any, Any]]]] = []
        for k, (goal, s) in enumerate(zip(self.goals, self.sizes, strict=True)):
            parts: list[tuple[Any, Any]] = []  # columns of F with weights, one entry per number of the value
            pieces = []
            if s.integrand:
                pieces.append((everywhere[None] * nF + integrands[k], mesh.weights[None]))
            for part in ("start", "end"):
                if count := getattr(s, part):
                    columns = at[part] + ends[part][k] + np.arange(count)
                    pieces.append((columns[:, None], np.ones((count, 1))))
            if k in own:
                row0, used = None, 0
                for columns, weights in pieces:
                    count = len(columns)
                    row0 = block([(f"value of {goal.name}", "")] * count, None, 0.0, 0.0, 1.0)
                    A.add(row0 + np.arange(count), own[k][used : used + count], -1.0)
                    B.add(row0 + np.arange(count)[:, None], columns, weights)
                    used += count
                parts = [(at[f"outer {k}"] + np.arange(s.value), np.ones(s.value))]
                columns, weights = parts[0][0][:, None], parts[0][1][:, None]
                values = [(columns, weights)]
            else:
                values = pieces
            if k < self.count:
                weight = problem.minimized[k][1]
                if s.value != 1:
                    raise DescriptionError(
                        f"minimize: goal {goal.name!r} gives {s.value} numbers; what is minimized is one"
                        + ("" if s.value else ": is it a requirement? Use problem.require")
                    )
                for columns, weights in values:
                    np.add.at(b, columns.ravel(), weight * weights.ravel())
                self.terms.append((goal.name, weight, values))
                continue
            lo, hi = (np.asarray(x, float) for x in goal.limits)
            if s.path:
                unit = 1 / np.maximum(1.0, np.where(np.isfinite(lo), abs(lo), 0.0))
                start = block(
                    [(f"{goal.name}" + f"[{i}]" * (s.path > 1), "") for i in range(s.path)], everywhere,
                    np.broadcast_to(lo, s.path), np.broadcast_to(hi, s.path), np.broadcast_to(unit, s.path),
                )  # fmt: skip
                rows = start + everywhere[:, None] * s.path + np.arange(s.path)
                B.add(rows, everywhere[:, None] * nF + paths[k] + np.arange(s.path), 1.0)
            if s.value:
                start = block(
                    [(goal.name, "")] * s.value,
                    None,
                    np.broadcast_to(lo, s.value),
                    np.broadcast_to(hi, s.value),
                    1.0,
                )
                for columns, weights in values:
                    B.add(start + np.arange(s.value)[:, None], columns, weights)
            for condition in goal.conditions(dynamics):
                first_name = condition.terms[0][1]
                scale = dynamics.variables[dynamics.index[first_name]].scale
                lo_, hi_ = condition.low, condition.high
                if condition.duration and not problem.free:
                    shift = condition.duration * problem.duration[0]
                    lo_, hi_ = lo_ - shift, hi_ - shift
                start = block([(condition.name or goal.name, "")], None, lo_, hi_, 1 / scale)
                for where, name, x in condition.terms:
                    A.add(start, (P - 1 if where == "end" else 0) * nv + dynamics.index[name], x)
                if condition.duration and problem.free:
                    A.add(start, first, condition.duration)
        self.n, self.m = n, m
        self.own = own
        self.pulling = [(at[f"pulls {k}"], kind.rows.size) for k, kind in enumerate(self.pulls)]
        S = np.concatenate([
            np.tile(S_v, P),
            np.array([max(problem.duration)] * problem.free
                     + [max(abs(x) for x in ab) or 1.0 for ab in problem.parameters.values()]),
            np.ones(n - first - self.shared),
        ])  # fmt: skip
        self.low, self.high = np.concatenate([np.zeros(0), *low]), np.concatenate([np.zeros(0), *high])
        self.R = np.concatenate([np.zeros(0), *R])
        self.program = Assembly(n, groups, A.matrix((m, n)), B.matrix((m, size)), a, b, S, self.R)
        self.b = b

    # ---- bounds --------------------------------------------------------------------------------------------

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Bounds of all unknowns, shape (n,) each."""
        problem, dynamics, P, nv = self.problem, self.dynamics, self.P, self.nv
        low = np.tile([v.low for v in dynamics.variables], (P, 1))
        high = np.tile([v.high for v in dynamics.variables], (P, 1))
        still = [i for i, v in enumerate(dynamics.variables) if v.kind == "correction"]
        low[0, still] = high[0, still] = 0.0
        for name, given in problem.bounds.items():
            if name not in dynamics.index:
                raise DescriptionError(f"bound: {name!r} is locked or prescribed: it cannot have bounds")
            k = dynamics.index[name]
            if given.between:
                low[:, k], high[:, k] = given.between
            for row, x, when in ((0, given.start, "starts"), (P - 1, given.end, "ends")):
                if x is None:
                    continue
                a, b = low[row, k], high[row, k]
                if x[0] > b or x[1] < a:
                    raise DescriptionError(f"{name} must be in ({a:g}, {b:g}) and {when} at {x[0]:g}")
                low[row, k], high[row, k] = max(x[0], a), min(x[1], b)
        rest = self.n - P * nv
        more_low, more_high = np.full(rest, -np.inf), np.full(rest, np.inf)
        edges = [problem.duration] * problem.free + list(problem.parameters.values())
        for i, (a, b) in enumerate(edges):
            more_low[i], more_high[i] = a, b
        return np.concatenate([low.ravel(), more_low]), np.concatenate([high.ravel(), more_high])

    @property
    def point_box(self) -> tuple[Array, Array]:
        """Bounds of the variables at the points, (P, nv) each."""
        low, high = (x[: self.P * self.nv].reshape(self.P, self.nv) for x in self.box)
        return low, high

    @property
    def bounds(self) -> Bounds:
        """Bounds in the form for the solver."""
        low, high = self.box
        S = self.program.S
        return Bounds(low / S, high / S, self.R * self.low, self.R * self.high)

    def values(self, F: Array) -> dict[str, float]:
        """Terms of the objective by the names of their goals, from F."""
        out: dict[str, float] = {}
        for name, weight, parts in self.terms:
            label = name if name not in out else f"{name} {len(out) + 1}"
            out[label] = weight * float(sum((F[c] * w).sum() for c, w in parts))
        return out


def _reads_time(goal: MovementGoal) -> bool:
    return any(ask.level == "time" for ask in getattr(goal, "asks", ()))
