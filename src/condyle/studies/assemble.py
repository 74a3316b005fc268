"""`cd.assemble` and `cd.assemble_frames`: configurations that satisfy all position constraints and come near
to goals."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array, real
from condyle.errors import DescriptionError, ShapeError, check_name, warn
from condyle.fit.frames import Frames, frame_count
from condyle.fit.goals import Coordinate, Goal
from condyle.fit.layout import BEFORE, INFO, OWN, STAY, Layout, has_loops
from condyle.fit.missed_goals import check_missed_goals
from condyle.fit.observability import NormalMatrices
from condyle.integrate.progress import check_progress, reported
from condyle.loading import if_loaded
from condyle.mobilizers import Mobilizer, motion_at
from condyle.model.model import Model, description
from condyle.native.machine import lapack
from condyle.native.programs.program import Program, ProgramAndTables, cached_program
from condyle.native.tables.expression_cache import cached
from condyle.studies.motion.coordinate_rates import coordinates_of_speeds
from condyle.system.checked_arguments import check_state, number
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.fit.gauss_newton import FitLoop
    from condyle.native.programs.interpreted import Interpreted

TIGHTER = 1e-2
"""Constraints hold to this part of the accuracy."""
TIGHTEST = 1e-12
"""Tightest tolerance of constraints: sums over a long chain of bodies have no more digits."""

VIOLATED = 1e-6
"""Fraction of the system's length by which a pose may violate unilateral constraints."""

SINGLE = 16
"""Number of single frames that are solved without machine code."""

PLACES = 8
"""Random poses at which the Jacobian of a joint is evaluated."""

Limits = bool | Mapping[str, tuple[float, float]]


@with_call_hints()
def assemble(
    system: System,
    state: State,
    goals: Goal | Sequence[Goal] = (),
    *,
    locked: Iterable[str] = (),
    limits: Limits = False,
    accuracy: float = 1e-8,
) -> State:
    """The configuration near a state that satisfies all enabled position constraints and comes nearest to the
    goals; then the nearest speeds that satisfy the velocity constraints.

    Coordinates that neither goals nor constraints depend on keep their values. The result is a local optimum:
    a good start matters. A RuntimeWarning is raised if the constraints hold but the goals were still
    improving when the method gave up, as at singular positions; if it stopped far from the goals where they
    have no slope but no minimum either, as for a pendulum that points straight away from its target; and if
    stations or their targets are far larger than the system, as if they were in millimeters.

    Args:
        system: to assemble.
        state: start of the search.
        goals: targets: `cd.goals.Station`, `Orientation`, `Distance`, `Coordinate`, `Custom`, or a
            user-defined Goal. Without goals the nearest configuration is found: the least sum of squares of
            changes, with the weights of `system.project`.
        locked: names of speeds that do not take part; those that are locked in the state or prescribed by
            motions do not either.
        limits: True keeps coordinates in their `cd.Coordinate(range=...)`; a mapping from name to (low, high)
            [rad, m] sets them. Coordinates of spline joints stay in their domains in any case, unless the
            mapping has other limits for them: {"knee": (-np.inf, np.inf)} has none. Stops
                (`cd.constraints.Stop`) are kept in any case; a warning names rigid contacts and ropes that
                the result violates.
        accuracy: the last change of a coordinate is at most this [rad, m]; constraints hold to a hundredth of
            it.

    Returns:
        The State, with q and u changed.

    Raises:
        ConstraintError: no configuration nearby satisfies the constraints. It lists the violated ones, with
            amounts.
        CondyleError: invalid arguments.
    """
    check_state("assemble", system, state)
    wanted = checked("assemble", system, goals)
    if any(g.frames is not None for g in wanted):
        raise ShapeError(
            "assemble: a goal has targets for several frames; use cd.assemble_frames, or give "
            "one frame's target"
        )
    for g in wanted:
        if np.isnan(g.target).any():
            raise ShapeError(f"assemble: the target of goal {g.name!r} is NaN; leave the goal out")
    locks = {**state.locked, **system.compiled.tails.levels(locked)}
    run = lambda start, goals, t: _run(system, start, goals, locks, limits, accuracy, t, None)
    q, u = state.q, state.u
    tolerance = _tolerance(accuracy)
    left = None if wanted else _stands(state, limits, locks, tolerance)
    if left is None:
        frames = run(state, wanted or _stay(state), np.array([state.t])).check()
        frames = check_missed_goals("assemble", frames, run) if wanted else frames
        if frames.failures and wanted:
            warn(f"assemble: {frames.failures[0]}", RuntimeWarning)
        q = frames.q[0]
    if system.constraints and (left is None or left > tolerance or system.nq != system.nu):
        q, u = system.project(
            q,
            u,
            tolerance=tolerance,
            t=state.t,
            z=state.z,
            inputs=state.inputs,
            discrete=state.discrete,
            parameters=state.parameters,
            locked=locks,
            disabled=state.disabled,
        )
    warn_of_violated("assemble", state, q)
    return state.replace(q=q, u=u)


@with_call_hints(
    {"times": "times are t=", "markers": "give goals: [cd.goals.Station(body, station, positions), ...]"}
)
def assemble_frames(
    system: System,
    state: State,
    goals: Goal | Sequence[Goal],
    *,
    t: ArrayLike | None = None,
    locked: Iterable[str] = (),
    limits: Limits = False,
    accuracy: float = 1e-6,
    progress: bool | Callable[[float], object] = False,
) -> Frames:
    """Configurations that follow goals from frame to frame, each found from the last: inverse kinematics.

    All frames are one native run. New targets, weights and stations do not compile anything; goals on other
    bodies do. A frame whose constraints cannot be met is named in `Frames.failures`, and the next one starts
    from the last good one. The run can be interrupted (Ctrl-C): it returns the frames until then. The frame
    that misses its goals most is solved again: `failures` lists it if it could come nearer from another
    start. A warning is raised if stations or targets are far larger than the system, as if they were in
    millimeters.

    Args:
        system: to assemble.
        state: start of the first frame.
        goals: targets of shape (T, ...), or of one frame for all. NaN: not measured in this frame. A
            coordinate that no goal and no constraint depends on keeps its value from frame to frame.
        t: times [s], shape (T,). Without them there are no speeds, and nothing in the system may depend on
            time.
        locked: names of speeds that do not take part, as in `assemble`.
        limits: of coordinates, as in `assemble`.
        accuracy: the last change of a coordinate is at most this [rad, m]; constraints hold to a hundredth of
            it.
        progress: True shows a bar; a function is called a few times per second with the share of frames done.

    Returns:
        The Frames, also where some failed: see `Frames.status`.

    Raises:
        CondyleError: invalid arguments.
    """
    check_state("assemble_frames", system, state)
    wanted = checked("assemble_frames", system, goals)
    if not wanted:
        raise DescriptionError("assemble_frames: no goals to follow; give some, or use cd.assemble")
    try:
        times = None if t is None else np.array(real("t", t))
    except (TypeError, ValueError):
        raise ShapeError(f"assemble_frames: t must be finite numbers [s] of shape (T,), got {t!r}") from None
    if times is not None and (times.ndim != 1 or not np.isfinite(times).all()):
        raise ShapeError(
            "assemble_frames: t must be finite numbers [s] of shape (T,), got shape "
            f"{times.shape}{', not all of them finite' if times.ndim == 1 else ''}"
        )
    check_progress("assemble_frames", progress)
    T = frame_count(wanted, times)
    if not any(g.weights(T).any() for g in wanted):
        raise ShapeError(
            "assemble_frames: no goal has a target and a weight in any frame: all are NaN or zero"
        )
    clock = times is not None
    if times is None and T > 1:
        system.compiled.timed.check(
            "assemble_frames", "position_change", [np.empty((T, system.nq))], state.disabled
        )
    times = np.arange(float(T)) if times is None else times
    locks = {**state.locked, **system.compiled.tails.levels(locked)}
    frames = follow("assemble_frames", state, wanted, times, locks, limits, accuracy, progress)
    warn_of_violated("assemble_frames", state, frames.q)
    return replace(frames, clock=clock)


def follow(
    who: str,
    state: State,
    goals: tuple[Goal, ...],
    t: Array,
    locked: dict[str, Any],
    limits: Limits,
    accuracy: float,
    progress: bool | Callable[[float], object],
    normal: NormalMatrices | None = None,
) -> Frames:
    """Frames that follow goals, which were checked before, from a state on. `who` names the caller in
    warnings. The matrices of some frames are written to `normal`."""

    def run(
        start: State,
        goals: tuple[Goal, ...],
        t: Array,
        report: Any = None,
        normal: NormalMatrices | None = None,
    ) -> Frames:
        return _run(start.system, start, goals, locked, limits, accuracy, t, report, normal)

    report, stop = reported(who.replace("_", " "), progress)
    try:
        return check_missed_goals(who, run(state, goals, t, report, normal), run)
    finally:
        stop()


def follow_each(
    state: State,
    goals: tuple[Goal, ...],
    t: Array,
    limits: Limits,
    accuracy: float,
    q: Array,
    normal: NormalMatrices | None = None,
) -> Frames:
    """Frames that follow goals, each from its own start q (T, nq); with `normal` they do not move, and their
    matrices are written to it."""
    return _run(state.system, state, goals, dict(state.locked), limits, accuracy, t, None, normal, q)


def checked(who: str, system: System, goals: Any) -> tuple[Goal, ...]:
    """The goals, one or many, that a system can have."""
    wanted = (
        tuple(goals) if isinstance(goals, Iterable) and not isinstance(goals, (str, Mapping)) else (goals,)
    )
    for g in wanted:
        if not isinstance(g, Goal):
            hint = (
                "; write brackets and its numbers after it"
                if isinstance(g, type)
                else "; a function of your own becomes one by cd.goals.Custom(lambda s: ...)"
                if callable(g)
                else ""
            )
            raise DescriptionError(f"{who}: goals are cd.goals.Station(...) and the like, got {g!r}{hint}")
        g.check(system.compiled.model.tree)
    return wanted


def _stands(state: State, limits: Limits, locked: dict[str, Any], tolerance: float) -> float | None:
    """The largest error of its speeds where a state satisfies the constraints of positions and is within its limits:
    then its coordinates are the nearest themselves. None where they are not."""
    system = state.system
    if not system.constraints or not system.nu or system.compiled.moves or locked != state.locked:
        return None
    rate_of = coordinates_of_speeds(system)
    low, high = _stopped(state, *_limits(system, limits, rate_of), rate_of)
    inside = (low <= state.q) & (state.q <= high)
    errors = system.compiled.seldom("constraints.errors")
    p, v = errors(state.q, state.u, state.tail)
    return float(np.abs(v).max(initial=0.0)) if inside.all() and (np.abs(p) <= tolerance).all() else None


def _stay(state: State) -> tuple[Goal, ...]:
    """Goals that hold every coordinate, with the weights of projection."""
    weights = scales.weights(state.system.bodies)[0]
    return tuple(
        Coordinate(*each, weight=w**2)
        for *each, w in zip(state.system.coordinates, state.q, weights, strict=True)
    )


def _tolerance(accuracy: float) -> float:
    """Tolerance of the constraints."""
    if not 1e-12 <= number("assemble: accuracy", accuracy, "a number from 1e-12 to 0.1 [rad, m]") <= 0.1:
        raise DescriptionError(f"assemble: accuracy = {accuracy!r} must be between 1e-12 and 0.1 [rad, m]")
    return max(TIGHTER * accuracy, TIGHTEST)


def _run(
    system: System,
    state: State,
    goals: tuple[Goal, ...],
    locked: dict[str, Any],
    limits: Limits,
    accuracy: float,
    t: Array,
    report: Callable[[float], object] | None,
    normal: NormalMatrices | None = None,
    starts: Array | None = None,
) -> Frames:
    """The native run for all frames: see `follow` and `follow_each`."""
    tolerance = _tolerance(accuracy)
    if not system.nu:
        raise DescriptionError("assemble: nothing moves here: no body has a coordinate")
    tree, start = (
        system.compiled.model.tree,
        (state if locked == state.locked else state.replace(locked=locked)),
    )
    layout = Layout.from_goals(tree, goals)
    rate_of = coordinates_of_speeds(system)
    low, high = _stopped(state, *_limits(system, limits, rate_of), rate_of)
    T = len(t)
    program, tables = _program(system, layout, rate_of, T)
    ws: Any = program.workspace()
    of, held = np.array(rate_of), system.compiled.tails.held(start.tail)
    # outside of its limits too
    low[of[held & (of >= 0)]], high[of[held & (of >= 0)]] = -np.inf, np.inf
    q0 = np.clip(start.q, low, high)
    at_end = (q0 >= high).astype(float) - (q0 <= low)
    given: dict[str, Any] = {"q": q0, "tail": start.tail, "low": low, "high": high}
    given |= {"active": np.where(of >= 0, at_end[of], 0.0), "accuracy": accuracy, "tolerance": tolerance}
    for name, value in given.items():
        ws[name][:] = value
    q, info = np.zeros((T, system.nq)) if starts is None else np.array(starts), np.empty((T, len(INFO)))
    rows, normal = layout.rows(t), normal or NormalMatrices(np.zeros(0, dtype=np.intp))
    rows[normal.frames, 2] = np.arange(1, len(normal.frames) + 1)
    rows[:, 3] = BEFORE if starts is None else STAY if len(normal.frames) else OWN
    streams = {
        "ROW": rows,
        "Q": q,
        "INFO": info,
        **tables,
        **normal.streams(system.nu, system.compiled.model.equations("position")),
    }
    # nothing remains of a single frame
    with contextlib.suppress(*[KeyboardInterrupt] * (T > 1)), lapack.one_thread():
        program.run(
            ws, streams, {"frames": T}, progress=report and (lambda ws: report(float(ws["frame"][0]) / T))
        )
    done = int(ws["frame"][0])
    for array in (q, info, t):
        array.flags.writeable = False
    return Frames(start, goals, t[:done], q[:done], info[:done], layout.weights(rows[:done]), tolerance, T)


def _stopped(state: State, low: Array, high: Array, rate_of: Sequence[int]) -> tuple[Array, Array]:
    """The bounds, also within the stops of coordinates (cd.constraints.Stop)."""
    system = state.system
    values = dict(zip(system.parameters, state.parameters, strict=True))
    for name in system.constraints.unilateral:
        stop = system.constraint(name)
        if (
            isinstance(stop, if_loaded("condyle.constraints.unilateral.limits", "Stop"))
            and name not in state.disabled
        ):
            i, end = system.coordinates.index(stop.coordinate), stop.end(values)
            if i in rate_of and stop.lower is None:
                high[i] = min(high[i], end)
            elif i in rate_of:
                low[i] = max(low[i], end)
    if (bad := np.flatnonzero(low > high)).size:
        i = int(bad[0])
        raise DescriptionError(
            f"assemble: coordinate {system.coordinates[i]!r} must be at least {low[i]:g} "
            f"and at most {high[i]:g}, by its limits and stops: no value satisfies both"
        )
    return low, high


def warn_of_violated(who: str, state: State, q: Array) -> None:
    """Warn of rigid contacts, stops and ropes that poses q (..., nq) violate: nothing keeps them here."""
    system = state.system
    if not system.constraints.unilateral:
        return
    from condyle.integrate.rigid.held_accelerations import in_few

    q = np.atleast_2d(q)
    gap = in_few(
        system.compiled.function("unilateral_rows"),
        q,
        np.zeros((len(q), system.nu)),
        np.tile(state.tail, (len(q), 1)),
    )[0]
    gap[:, [name in state.disabled for name in system.constraints.unilateral]] = 0.0
    deepest = np.nan_to_num(np.fmin.reduce(gap, axis=0))  # of the poses where it is known
    allowed, i = VIOLATED * max(1.0, system.compiled.length), int(np.argmin(deepest))
    if deepest[i] < -allowed:
        some = int((deepest < -allowed).sum()) - 1
        warn(
            f"{who}: the pose violates {system.constraints.unilateral[i]!r} by {-deepest[i]:.3g} [m, rad]"
            f"{f', and {some} more' * bool(some)}: rigid contacts and ropes, and stops of locked "
            "coordinates, are not kept here. Give a goal or limits that keep clear of it, or close "
            f"it in the state: discrete={{{f'{system.constraints.unilateral[i]}.closed'!r}: 1}}",
            RuntimeWarning,
        )


def _limits(system: System, limits: Limits, rate_of: Sequence[int]) -> tuple[Array, Array]:
    """Lowest and highest coordinates, infinite where there is no limit."""
    low, high = np.full(system.nq, -np.inf), np.full(system.nq, np.inf)
    for body in (b for b in system.bodies if b.follows is None):
        for bound in body.mobilizer.bounds:
            low[body.q.start + bound.coordinate], high[body.q.start + bound.coordinate] = (
                bound.low,
                bound.high,
            )
    if limits is False:
        return low, high
    if limits is not True and not isinstance(limits, Mapping):
        raise DescriptionError(
            f"limits: expected True, or a mapping such as {{'knee': (-2.1, 0.1)}}, got {limits!r}"
        )
    ranges = {c.name: c.range for b in system.bodies for c in b.coordinates if c.range is not None}
    for name, ends in (ranges if limits is True else limits).items():
        check_name("coordinate", name, system.coordinates, "limits")
        i = system.coordinates.index(name)
        if i not in rate_of:
            raise DescriptionError(
                f"limits: coordinate {name!r} has no speed of its own (qdot = N(q) u) and cannot be limited"
            )
        expected = "(low, high) with low < high [rad, m]"
        if np.shape(ends) != (2,) or not ends[0] < ends[1]:
            raise DescriptionError(f"limits: {name!r}: expected {expected}, got {ends!r}")
        first, last = (
            end if end in (-np.inf, np.inf) else number(f"limits: {name!r}", end, expected) for end in ends
        )
        if limits is True:  # a range narrows the domain, a limit replaces it
            first, last = max(first, low[i]), min(last, high[i])
        low[i], high[i] = first, last
    return low, high


def _turning(system: System) -> dict[int, float]:
    """Speeds that turn bodies, and by how much at most per unit of their coordinate [rad]: 1 in rad/s; joints
    with coordinates of another unit, as spline joints have, are evaluated at some random poses."""
    out = {k: 1.0 for k, unit in enumerate(scales.units(system.bodies)[1]) if unit == "rad/s"}
    known: dict[Mobilizer, Array] = {}
    for body in (b for b in system.bodies if b.follows is None):
        m = body.mobilizer
        if not set(m.speed_units) <= {"rad/s", "m/s"}:
            if m not in known:
                rng = np.random.default_rng(0)
                H_w = [motion_at(m, 0.0, m.random_q(rng), np.zeros(m.nu)).H_w for _ in range(PLACES)]
                known[m] = np.linalg.norm([np.reshape(H, (3, m.nu)) for H in H_w], axis=1).max(axis=0)
            out |= {
                body.u.start + j: float(f"{x:.2g}")
                for j, x in enumerate(known[m])
                if m.speed_units[j] not in ("rad/s", "m/s") and x > 0
            }
    return out


def _program(
    system: System, layout: Layout, rate_of: tuple[int, ...], frames: int
) -> tuple[Program | Interpreted, dict[str, Array]]:
    """The solver for a number of frames of a system with a layout of goals, cached with the system and on
    disk: machine code, or for the first single frames, to avoid compiling, a loop in Python."""
    compiled, key = system.compiled, ("assemble", layout)
    turning = compiled.remembered("turning", lambda: _turning(system))

    def text(model: Model) -> str:
        return f"assemble {layout} {turning} {has_loops(model, layout)}\n{description(model)}"

    def loop(model: Model) -> FitLoop:
        from condyle.fit.gauss_newton import FitLoop
        from condyle.fit.kernels import expressions

        f = expressions(model, layout)
        return FitLoop(f, system.nq, model.tail_size, layout.size, rate_of, turning)

    def compile_loop() -> ProgramAndTables:
        model = compiled.model.code

        def make() -> ProgramAndTables:
            made = loop(model)
            return made.program(), made.tables

        return cached_program(text(model), make, model.data)

    def interpret_loop() -> tuple[Interpreted, dict[str, Array]]:
        def make(model: Model) -> tuple[Interpreted, dict[str, Array]] | None:
            made = loop(model)
            program = made.interpreted()
            return None if model.data.size and program.has_composites else (program, made.tables)

        for model in (compiled.model.code, compiled.model):
            if (found := cached(text(model), partial(make, model))) is not None:
                program, tables = found
                return program.of(model.data), tables
        raise AssertionError("a model without data has a loop")

    single = compiled.remembered(("single", layout), lambda: itertools.count())
    if (
        frames == 1
        and key not in compiled.programs
        and not has_loops(compiled.model.code, layout)
        and next(single) < SINGLE
    ):
        return compiled.remembered(("few", layout), interpret_loop)
    return compiled.remembered(key, compile_loop)
