"""Simulation: a system's motion from a state, at a stated accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array, Vector, real
from condyle.constraints.sampled import warn_of_samples
from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.forces.gravity import free_fall
from condyle.integrate.ensemble import Ensemble, Members
from condyle.integrate.events import Event, Witnesses
from condyle.integrate.integrators import METHODS, Method
from condyle.integrate.interrupts.path_jumps import MOST
from condyle.integrate.manifold import faint, violations
from condyle.integrate.measure_history import history
from condyle.integrate.native import native
from condyle.integrate.progress import reported
from condyle.integrate.run import RunSettings, SimulationRun
from condyle.integrate.trajectory import Trajectory
from condyle.loading import if_loaded
from condyle.native.machine import notes
from condyle.native.machine.threads import thread_count
from condyle.plausible import ACROSS, ask, of_excitation
from condyle.presentation import cut, numbers
from condyle.system.checked_arguments import (
    BYTES_PER_EVENT,
    check_state,
    check_step,
    check_system,
    error_weights,
    number,
    seconds,
)
from condyle.system.operators.muscles import elastic_tendons
from condyle.system.state import State
from condyle.system.system import System
from condyle.trace.parameter import Expression
from condyle.tree import scales

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping
    from condyle.measures import SampleAndHold

ELSEWHERE = {
    "dt": "a fixed step is step=, the longest one max_step=; times of your own: traj.at(times)",
    "h": "a fixed step is step=, the longest one max_step=",
    "timestep": "a fixed step is step=, the longest one max_step=",
    "first_step": "the first step is found; the longest one is max_step=",
    "method": "it is integrator=, such as 'merson'; SciPy's names are known too",
    "rtol": "accuracy= is one number for all, such as 1e-6",
    "atol": "accuracy= is one number for all, such as 1e-6",
    "tol": "accuracy= is one number for all, such as 1e-6",
    "tolerance": "accuracy= is one number for all, such as 1e-6",
    "t_eval": "the motion at times of your own is traj.at(times) or traj.table(times); of many states "
    "keep=times",
    "t_span": "it goes from the state's t to t_final",
    "t_end": "the end is t_final",
    "duration": "the end is t_final [s]",
    "q0": "start from system.state(q=..., u=...)",
    "q": "start from system.state(q=..., u=...)",
    "u": "start from system.state(q=..., u=...)",
    "y0": "start from system.state(q=..., u=...)",
    "tau": "forces are part of the system: cd.forces.MobilityForce(speed, cd.Input('motor', 0.0)), for one",
    "dense_output": "traj(t) and traj.at(times) are always there",
    "parameters": "they belong to the state: system.state(parameters=...)",
    "inputs": "they belong to the state: system.state(inputs=...)",
}
"""Condyle's names for arguments of other libraries."""

SCIPY = {"RK45": "dormand-prince", "DOP853": "dormand-prince-8", "RK23": "rk3"}
"""The same methods under SciPy's names."""
IMPLICIT = ("radau", "bdf", "lsoda", "stiff", "implicit", "ida", "cvode")


@overload
def simulate(
    system: System,
    state: State,
    t_final: float,
    *,
    accuracy: float = 1e-3,
    integrator: str | Method | TimeStepping = "merson",
    step: float | None = None,
    max_step: float | None = None,
    events: Event | Sequence[Event] = (),
    weights: Vector | None = None,
    progress: bool | Callable[[float], object] = False,
    keep: str | ArrayLike | None = None,
) -> Trajectory: ...
@overload
def simulate(
    system: System,
    state: Sequence[State] | Mapping[str, ArrayLike],
    t_final: float,
    *,
    accuracy: float = 1e-3,
    integrator: str | Method = "merson",
    step: float | None = None,
    max_step: float | None = None,
    events: Event | Sequence[Event] = (),
    weights: Vector | None = None,
    progress: bool | Callable[[float], object] = False,
    keep: str | ArrayLike = "ends",
    threads: int | None = None,
) -> Ensemble: ...


@with_call_hints(ELSEWHERE)
def simulate(
    system: System,
    state: State | Sequence[State] | Mapping[str, ArrayLike],
    t_final: float,
    *,
    accuracy: float = 1e-3,
    integrator: str | Method | TimeStepping = "merson",
    step: float | None = None,
    max_step: float | None = None,
    events: Event | Sequence[Event] = (),
    weights: Vector | None = None,
    progress: bool | Callable[[float], object] = False,
    keep: str | ArrayLike | None = None,
    threads: int | None = None,
) -> Trajectory | Ensemble:
    """The motion from a state until t_final, or the motions from many states. A t_final before the state's t
    runs backward in time, from one state and without events: `traj.t` falls. Damped motions grow backward
    in time, and so do errors. Every step is projected, which keeps constraints to a tenth of the accuracy
    or better. The run can be interrupted (Ctrl-C): it returns the results until then. A run that
    cannot continue does not raise an error either: `traj.status` gives the reason, and what to try.

    Rigid contacts, stops and ropes (`system.constraints.unilateral`) open, close, stick and slide at events
    that the run finds automatically: `traj.events` names them, and `traj.impacts` has the effects of
    impacts. The run determines which of them are closed at the start. Rigid surfaces that overlap at the
    start raise an error.

    If a wrap surface makes the length of a path jump, a step ends: `traj.jumps` and a warning give the
    size, and the run restarts just after. With many states, those that jump run once more, one at a time;
    `ens.jumps` has the jumps of each. A warning says when coordinates leave the domains of their
    mobilizers; with many states only the kept rows are checked. Another names motions, forces and
    excitations that are given by samples which end before the run does.

    Args:
        system: the system that moves.
        state: a State. For an Ensemble many: a sequence of States, or a mapping of what `system.state` takes,
            with one more leading dimension: {"q": array (N, nq), "parameters": {"mass": array (N,)}}.
                Missing values have their defaults.
        t_final: the end [s].
        accuracy: one number for all, about the number of digits: 1e-3 is three (sherman2011 (5), (6)). Errors
            are relative to a unit: 1 rad, one length of the system, and these in 0.1 s for speeds.
        integrator: "merson" (default), "dormand-prince", "dormand-prince-8", "fehlberg", "rk3", "rk2",
            "verlet"; "rodas" for stiff systems, "rodas5p" for these at accuracies below 1e-4, "rkc" with
            muscles if a few digits are enough; with `step` only: "rk4", "semi-explicit-euler", "euler".
            `cd.integrators.TimeStepping` for many rigid contacts. SciPy's "RK45", "DOP853" and "RK23" are
            "dormand-prince", "dormand-prince-8" and "rk3". Or a user-defined method: see `cd.integrators`.
        step: fixed step [s] instead of error control.
        max_step: longest step [s].
        events: see Event; those of witnesses first, then those set in time, each in the order given. With
            many states each has its own instants, and runs by itself in one of several threads; actions are
            called one at a time.
        weights: weights of the errors in q, u, z, shape (nq + nu + nz,), instead of those that follow from
            the units.
        progress: True shows a bar; a function is called a few times per second with the share of time or
            members done.
        keep: with many states, what to keep of each motion: "ends", "steps", or times [s], shape (T,), that
            all pass. With one state every step is kept by default; for a run of millions of steps without
            events, keep times: it runs from one to the next, and derivatives run each piece again.
        threads: with many states, how many to use; all cores by default.

    Returns:
        The Trajectory of one state, the Ensemble of many.

    Raises:
        CondyleError: invalid arguments, or a state that violates constraints.
    """
    check_system("simulate", system)
    if isinstance(integrator, if_loaded("condyle.integrate.stepping.method", "TimeStepping")):
        others: dict[str, Any] = {"max_step": max_step, "events": events, "keep": keep, "threads": threads}
        for name, value in others.items():
            if value is not None and not (name == "events" and not np.size(value)):
                raise DescriptionError(
                    f"simulate: {name}= is not for TimeStepping, which has fixed steps, one "
                    "state and no events; check the Trajectory afterward"
                )
        return _stepped(system, state, t_final, integrator, step, weights, progress)
    alone = isinstance(state, State)
    start = Members.from_states(system, [state] if alone else state)
    method = _method(integrator)
    t_final = number(
        "simulate: t_final",
        t_final,
        "one time [s], the end; traj.at(times) has the motion at times of your own",
    )
    accuracy = number("simulate: accuracy", accuracy, "one number such as 1e-3")
    first, latest = float(start.t.min()), float(start.t.max())
    if not np.isfinite(t_final) or (t_final <= latest and not alone):
        many = f" and after the state's t = {latest:g} s: of many states none runs backward in time"
        raise DescriptionError(f"simulate: t_final = {t_final} s must be finite{'' if alone else many}")
    if not 1e-13 <= accuracy < 1:
        raise DescriptionError(
            f"simulate: accuracy = {accuracy!r} must be between 1e-13 and 1; 1e-3 is three digits"
        )
    if not method.adaptive and step is None:
        raise DescriptionError(
            f"simulate: {method.name} has no error estimate: give a fixed step=..., or use 'merson'"
        )
    for name, value in (("step", step), ("max_step", max_step)):
        if value is not None:
            seconds(f"simulate: {name}", value)
    n = system.nq + system.nu + system.compiled.model.nz
    if not n:
        raise DescriptionError(
            "simulate: nothing moves here: no body has a coordinate and no force has states"
        )
    w = error_weights("simulate", system, weights)
    wanted = _events(events)
    steps = isinstance(keep, str) and keep == "steps"
    every_step = steps or (alone and keep is None)
    row = 8 * (2 * n + 1) * len(start) * every_step
    for name, value, size in (
        ("step", step, row),
        ("max_step", max_step, row),
        *((f"Event({e.name}): every", e.every, BYTES_PER_EVENT) for e in wanted),
    ):
        check_step(f"simulate: {name}", value, min(first, t_final), max(first, t_final), size)
    if alone and threads is not None:
        raise DescriptionError("simulate: threads= is for many states; a run of one takes one step at a time")
    happening = [*(e.name for e in wanted), *_samples(system, wanted), *system.constraints.unilateral]
    if happening and t_final < latest:
        raise DescriptionError(
            f"simulate: t_final = {t_final:g} s is before the state's t = {latest:g} s, "
            f"and events, such as {happening[0]!r}, do not happen backward in time: what "
            "an action did cannot be undone. Omit events=, disable contacts and stops (disabled=[...] of "
            "system.state), and run the pieces between them"
        )
    shortest = float(np.abs(t_final - start.t).min())
    if step is not None and shortest and step > shortest * (1 + 1e-9):
        warn(
            f"simulate: step = {step:g} s is longer than the run of {shortest:g} s, which is one shorter step"
        )
    _check_start(system, start, accuracy)
    report, stop = reported("simulate", progress)
    settings = RunSettings(
        float(t_final), accuracy, w, step, max_step, wanted, scales.TIME_SCALE * accuracy, report
    )
    try:
        found: Trajectory | Ensemble
        if alone and not every_step:
            from condyle.integrate.kept_times import run_in_pieces

            if happening or history(system):
                raise DescriptionError(
                    f"simulate: keep= of one state is for runs without events, and {[*happening, *history(system)][0]!r} "
                    "asks for all steps; leave keep= out, and take traj.at(times)"
                )
            times = _times(keep, start, float(t_final))
            assert times is not None
            found = run_in_pieces(start[0], native(system, method), method, settings, times)
            last = float(found.t[-1])
        elif alone:
            found = SimulationRun(start[0], *native(system, method), method, settings).go()
            last = float(found.t[-1])
        else:
            from condyle.integrate.ensemble_run import EachRun, EnsembleRun

            times, last = _times(keep, start, float(t_final)), float(t_final)
            if happening:
                settings.witnesses = Witnesses(system, wanted)
                runs: EachRun | EnsembleRun = EachRun(start, *native(system, method), method, settings, times)
            else:
                program = native(system, method, "times" if times is not None else "steps")
                runs = EnsembleRun(start, *program, method, settings, times)
            found = runs.go(thread_count(threads))
        _warn_of_jumps(found)
        _warn_of_left_out(system, found)
        _warn_of_domains(system, found)
        warn_of_samples("simulate", system, first, last, start.tail[0])
        return found
    finally:
        stop()


def _stepped(
    system: System,
    state: Any,
    t_final: float,
    method: TimeStepping,
    step: float | None,
    weights: Vector | None,
    progress: bool | Callable[[float], object],
) -> Trajectory:
    """A run by time stepping."""
    check_state("simulate", system, state)
    if step is None or not 0 < number("simulate: step", step, "a positive number [s]") < np.inf:
        raise DescriptionError(
            f"simulate: TimeStepping needs a fixed step [s], such as step=1e-3, got {step!r}"
        )
    end = number("simulate: t_final", t_final, "one time [s], the end")
    if not state.t < end < np.inf:
        raise DescriptionError(
            f"simulate: t_final = {end:g} s must be after the state's t = {state.t:g} s: "
            "contacts do not run backward in time"
        )
    row = 8 * (system.nq + system.nu + len(state.z)) // max(1, int(method.every))
    check_step("simulate: step", step, state.t, end, row)
    report, stop = reported("simulate", progress)
    try:
        traj = method.run(state, end, step, error_weights("simulate", system, weights), report)
        warn_of_samples("simulate", system, state.t, float(traj.t[-1]), state.tail)
        return traj
    finally:
        stop()


def _events(events: Any) -> list[Event]:
    """Events, one or several."""
    wanted = list(events) if isinstance(events, Iterable) and not isinstance(events, str) else [events]
    for e in wanted:
        if not isinstance(e, Event):
            raise DescriptionError(
                f"simulate: events must be cd.Event, such as cd.Event(lambda s: s.q('knee')), got {e!r}"
            )
    return wanted


def _samples(system: System, events: list[Event]) -> dict[str, SampleAndHold]:
    """The samples of a system; samples that wait for an event must have one."""
    if not system.measures:
        return {}
    from condyle.integrate.interrupts.samples import check_samples, samples

    check_samples(system, [e.name for e in events])
    return samples(system)


def _check_start(system: System, start: Members, accuracy: float) -> None:
    """Raise an error or warn about states that a run cannot start from."""
    if system.constraints:
        _check_constraints(system, start, accuracy)
    if system.muscles:
        _check_tendons(system, start)
        _ask_about_excitations(system, start)
    if system.contacts:
        from condyle.studies.deep_contacts import warn_of_deep_contacts

        warn_of_deep_contacts(system, start)
        _ask_about_floors(system)


def _check_tendons(system: System, start: Members) -> None:
    """Warn about elastic tendons with default states: their fibers then move at once, and fast."""
    programs = system.compiled.programs
    if "tendons" not in programs:
        names, at = elastic_tendons(system.compiled.model.forces)
        programs["tendons"] = names, at, system.default("z")[at]
    tendons, at, default = programs["tendons"]
    unset = (start.y[:, system.nq + system.nu :][:, at] == default).all(axis=0) if at else ()
    if names := [name for name, same in zip(tendons, unset, strict=True) if same]:
        some = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if names[6:] else "")
        warn(
            f"simulate: elastic tendons of {some} have their default states, in which "
            "they do not balance their fibers; start from system.equilibrate_muscles(state)"
        )


def _ask_about_excitations(system: System, start: Members) -> None:
    """Warn about excitations outside of 0 to 1 at the start."""
    at = {name: k for k, name in enumerate(system.inputs, system.compiled.model.tail["inputs"].start)}
    driven = [at[name] for name in system.muscles if name in at]
    for text in of_excitation(start.tail[..., driven]) if driven else ():
        ask(f"simulate: inputs of muscles: {text}")


def _ask_about_floors(system: System) -> None:
    """Warn once about floors that carry nothing."""
    if "floors" in system.compiled.programs:
        return
    system.compiled.programs["floors"] = True
    from condyle.contact import HalfSpace

    g = free_fall(system._forces)
    planes = [
        x
        for law in system.compiled.model.contacts.values()
        for x in law.surfaces()
        if isinstance(x, HalfSpace) and x.body == "ground"
    ]
    floors = [np.asarray(x.normal) for x in planes if not isinstance(x.normal, Expression)]
    free = any(body.mobilizer.speed_units.count("m/s") == 3 for body in system.bodies)
    if (
        floors
        and g.any()
        and free
        and all(abs(n @ g) < ACROSS * np.linalg.norm(g) * np.linalg.norm(n) for n in floors)
    ):
        ask(
            f"simulate: gravity acts along ({numbers(g)}), across the only plane of ground, whose normal "
            f"is ({numbers(floors[0])}): it carries nothing. Is another axis up?"
        )


def _warn_of_left_out(system: System, found: Trajectory | Ensemble) -> None:
    """Warn about paths that omit a surface."""
    if notes.is_set():
        from condyle.system.failures import report_left_out_frames

        for traj in [found] if isinstance(found, Trajectory) else found:
            notes.put()  # it is not known which member set it
            tails = traj.tails(np.arange(len(traj)))
            if report_left_out_frames(system.compiled, "simulate", traj.t, traj.q, tails):
                return


def _warn_of_jumps(found: Trajectory | Ensemble) -> None:
    """Warn about path lengths that jump by a rule: the jump is not physical, and its forces create
    energy."""
    each = (found.jumps,) if isinstance(found, Trajectory) else found.jumps
    jumps = [j for of_one in each for j in of_one]
    if not jumps:
        return
    worst, more = max(jumps, key=lambda j: abs(j.size)), len(jumps) - 1
    others = f", and {more} more" if more else ""
    others += " (later ones are not searched for)" if max(map(len, each)) >= MOST else ""
    gained = max((sum({j.t: j.energy for j in of_one}.values()) for of_one in each), key=abs)
    which, where = ("", "traj.jumps")
    if not isinstance(found, Trajectory):
        which = f" in {sum(map(bool, each))} of {len(each)} members, at most"
        where = "ens.jumps"
    warn(
        f"simulate: a rule makes the length of a path jump{which}: {worst}{others}; the potential "
        f"energy changes by {gained:.3g} J. The run continues just after; {where} has them all. Move "
        "the surface or the points, or choose another quadrant, so that the path lifts off where "
        "it touches"
    )


def _warn_of_domains(system: System, found: Trajectory | Ensemble) -> None:
    """Warn about coordinates that leave the domain of their mobilizer: its motion continues there, but was
    not measured."""
    programs = system.compiled.programs
    if "domains" not in programs:
        owners = [body for body in system.bodies if body.follows is None]
        programs["domains"] = np.array([d for body in owners for d in body.mobilizer.domains]).reshape(-1, 2)
    domains = programs["domains"]
    if np.isinf(domains).all():
        return
    if isinstance(found, Trajectory):
        t, q, member = found.t, found.q, np.zeros(len(found.t), dtype=np.intp)
    else:
        t, q, member = found.every_row()
    left = []
    for k in np.flatnonzero(np.isfinite(domains).any(axis=1)):
        x, (low, high) = q[:, k], domains[k]
        slack = 1e-9 * (high - low) if np.isfinite(high - low) else 0.0
        outside = np.flatnonzero((x < low - slack) | (x > high + slack))
        if not outside.size:
            continue
        i, furthest = outside[0], x[outside[np.argmax(np.maximum(low - x, x - high)[outside])]]
        name = f"{system.coordinates[k]!r} leaves its domain from {low:g} to {high:g}"
        if isinstance(found, Trajectory):
            before, end = max(i - 1, 0), low if x[i] < low else high
            share = (end - x[before]) / (x[i] - x[before]) if before < i else 0.0
            time = t[before] + share * (t[i] - t[before])
            left.append(f"{name} at t = {time:.6g} s and reaches {furthest:.6g}")
        else:
            count = len(np.unique(member[outside]))
            left.append(
                f"{name} in {count} of {len(found)} members, the first is member {member[i]}, and "
                f"reaches {furthest:.6g}"
            )
    if left:
        warn(
            f"simulate: {cut(left, 3, '; ')}. Beyond its ends a measured joint continues as its "
            "class defines; stop it by a force, or an Event at the end"
        )


def _method(integrator: Any) -> Method:
    """A method, given as an object or by its name in Condyle or SciPy."""
    if isinstance(integrator, Method):
        return integrator
    if isinstance(integrator, str) and (found := METHODS.get(SCIPY.get(integrator, integrator))):
        return found
    from condyle.integrate.stepping.method import TimeStepping

    if isinstance(integrator, type) and issubclass(integrator, Method | TimeStepping):
        raise DescriptionError(
            f"simulate: integrator is the class {integrator.__name__}; write brackets and "
            "its numbers after it, or give the name of a method, such as 'merson'"
        )
    hint = (
        "for stiff systems use 'rodas'"
        if str(integrator).lower() in IMPLICIT
        else "time stepping is cd.integrators.TimeStepping(...)"
        if "step" in str(integrator).lower()
        else ""
    )
    raise UnknownNameError("integrator", integrator, METHODS, hint)


def _times(keep: Any, members: Members, t_final: float) -> Array | None:
    """Times to keep, ascending; None for every step."""
    if isinstance(keep, str) and keep not in ("ends", "steps"):
        raise UnknownNameError("keep", keep, ("ends", "steps"), "or an array of times [s]")
    if keep is None or isinstance(keep, str):
        return None if keep == "steps" else np.empty(0)
    try:
        times = np.unique(real("keep", keep))
    except (TypeError, ValueError):
        raise DescriptionError(f"simulate: keep = {keep!r}: expected 'ends', 'steps' or times [s]") from None
    first = float(members.t.min())
    if not (np.isfinite(times) & (times >= first) & (times <= t_final)).all():
        raise DescriptionError(
            f"simulate: keep: times must be between {first:g} and {t_final:g} s, got {keep!r}"
        )
    return times


def _check_constraints(system: System, members: Members, accuracy: float) -> None:
    """Check that a run starts on its constraints; the step loop keeps it on them."""
    nq, nu = system.nq, system.nu
    for i, wrong in violations(
        system, members.y[:, :nq], members.y[:, nq : nq + nu], members.tail, accuracy
    ).items():
        who = "the state" if len(members) == 1 else f"member {i}"
        raise DescriptionError(
            f"simulate: {who} violates constraints by more than the accuracy "
            f"{accuracy:g}: {wrong}; start from q, u = system.project(state.q, state.u), "
            "or from cd.assemble(system, state)"
        )
    if weak := faint(system, members.y[0, :nq], members.tail[0]):
        warn(
            f"simulate: {', '.join(weak)} changes a million times less with the speeds than other "
            "constraints do, and may be taken for none in one loop with them: multiply the "
            "equation"
        )
