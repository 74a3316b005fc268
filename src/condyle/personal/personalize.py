"""`cd.personalize`: fit a model to a subject's recordings."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.io.markers import Markers
from condyle.native.machine.notice import announced
from condyle.opensim import read_external_loads, read_osim
from condyle.personal.anthropometry import generic_stature, role
from condyle.personal.dynamics import find_masses
from condyle.personal.followed import BETTER, MIRRORED, exchanged, follow, strays
from condyle.personal.landmarks import MarkerKinds, marker_kinds, who_is_who
from condyle.personal.loaded_system import loaded
from condyle.personal.marker_fit import UNSEEN, Fit, MarkerFit
from condyle.personal.plates import gravity_of
from condyle.personal.recordings import check_recordings, recordings
from condyle.personal.result import Person
from condyle.personal.sized_system import SizedSystem, prior_of, sized
from condyle.personal.skin import SkinFit
from condyle.presentation import cut
from condyle.studies.external_load import ExternalLoad
from condyle.studies.kinematics.inverse_kinematics import follow_tasks
from condyle.studies.kinematics.swaps import other_sides
from condyle.studies.kinematics.tasks import Tasks, marker_tasks
from condyle.studies.motion.motion import _default
from condyle.system.checked_arguments import flag
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales

Loads = str | Path | Sequence[ExternalLoad]
SIZES = ("whole", "bodies", "axes")
FRAMES, FEWEST, INDEPENDENT, STILL = 60, 6, 6.0, 2.0
"""Number of frames that determine the sizes, in all trials and at least per trial; weight of a trial and of a
static trial in independent observations.
"""
UPRIGHT = np.radians(5.0)
"""Standard deviation of joints of legs and trunk from the default pose in a static trial [rad]."""
STRANGER = 0.04
"""Allowed relative difference of the overall size of a trial from the others."""
NEAR = 0.01
"""Marker positions with a smaller standard deviation [m] count alike in the first search for poses."""
DOUBTFUL = 0.03
"""A marker that sits so far from its landmark [m], four standard deviations, is not on it."""
BENT = np.radians(20.0)
"""Joints start so far within their ranges [rad]: straight elbows may bend to either side."""
TALL, HEAVY = 0.1, 0.5
"""Logarithms of stature and mass: what is told may differ from what the sizes say by these."""
WIDE, FAR = 4.0, 0.4
"""Standard deviations of angles and lengths of coordinates without a range [rad, m]; for those with one it is
twice the range, just enough to hold coordinates that no marker determines.
"""


@with_call_hints(
    {
        "trial": "it is trials=",
        "weight": "it is mass= [kg]",
        "external_loads": "it is loads=",
        "grf": "it is loads=cd.read_external_loads('grf.xml')",
        "anatomical": "it is markers=",
    }
)
@announced
def personalize(
    model: System | str | Path,
    trials: Markers | str | Path | Sequence[Markers | str | Path],
    static: Markers | str | Path | None = None,
    loads: Loads | Sequence[Loads | None] | None = None,
    mass: float | None = None,
    height: float | None = None,
    markers: Sequence[str] | Mapping[str, str | float] | None = None,
    sizes: str = "axes",
    *,
    names: Mapping[str, str] | None = None,
    symmetric: bool = True,
    progress: Callable[[str], object] | None = None,
) -> Person:
    """Fit a model to a subject, from recordings of markers and optionally forces.

    Segment sizes, marker positions and poses are estimated together, with published priors of segment sizes
    and marker placement; then all frames are solved with these sizes. With `loads`, masses, mass centers and
    a slightly changed motion are estimated that minimize residual forces at the root.

    Args:
        model: a generic System with markers, or a file of one, .osim.
        trials: recordings of markers, or their files.
        static: a recording of the subject standing upright, like the model's default pose.
        loads: forces on the subject in each trial: `cd.read_external_loads("walk_grf.xml")`; None for trials
            without.
        mass: of the subject [kg]; by default that of the mean vertical force, else the model's.
        height: of the subject [m].
        markers: names of markers on bone landmarks, all others are of clusters; or {name: "anatomical",
            "tracking", "left out" or the standard deviation of its place [m]}. By default from the
            names, then from the `fixed` flags of the model; a warning asks if neither says.
        sizes: "axes": three factors per segment; "bodies": one; "whole": one for all.
        names: {name in the data: name in the model}, for names that differ by more than dots, spaces and
            capitals.
        symmetric: left and right have the same sizes.
        progress: called with a text at each stage.

    Returns:
        the Person: `.system`, `.motions`, `.sizes`, `.offsets`, `.masses`, `.errors`, `.residuals`, `.quality`,
        `.report()`, `.write("subject.osim")`.

    Raises:
        UnknownNameError: names that do not exist, or hardly any marker in common.
        DescriptionError: recordings that do not fit the model: millimeters taken for meters, a static trial
            without a standing subject, ...
    """
    say = progress or (lambda text: None)
    generic = read_osim(model) if isinstance(model, (str, Path)) else model
    if not isinstance(generic, System):
        raise DescriptionError(
            f"personalize: model: expected a System or the path of an .osim file, got {model!r}"
        )
    if sizes not in SIZES:
        raise DescriptionError(f"personalize: sizes: expected one of {', '.join(SIZES)}, got {sizes!r}")
    for label, value, low, high in (("mass", mass, 1.0, 500.0), ("height", height, 0.3, 3.0)):
        if value is not None and not (isinstance(value, (int, float, np.number)) and low < value < high):
            unit, hint = ("kg", "") if label == "mass" else ("m", "; 180 cm are 1.8")
            raise DescriptionError(
                f"personalize: {label}: expected a number between {low:g} and {high:g} [{unit}]{hint}, got {value!r}"
            )
    flag("personalize: symmetric", symmetric)
    if progress is not None and not callable(progress):
        raise DescriptionError(
            f"personalize: progress: expected a function that takes a text, such as print, got {progress!r}"
        )
    found = recordings(trials, static)
    who = who_is_who(generic, [r.markers for r in found], names)
    used = [n for n in generic.markers if n in who.called.values()]
    kinds = marker_kinds(generic, used, markers)
    used = [n for n in used if n in kinds.kinds]
    forces = _forces(loads, sum(not r.static for r in found))
    for load in chain.from_iterable(x or () for x in forces):
        generic.body(load.body)  # refuses loads on bodies of another model
    say("sizes")
    one = sized(generic, sizes, symmetric)
    if one.notes:
        warn(f"personalize: {cut(one.notes)}", RuntimeWarning)
    if any(forces):
        gravity_of(generic)
        loaded(one, symmetric)  # refuses models whose masses cannot be found
    elif mass is not None and not sum(float(b.mass) for b in generic.bodies) > 0:
        raise DescriptionError("personalize: mass: the model's bodies have none, so it cannot be shared out")
    check_recordings(one, found, who.called, used)
    prior = prior_of(generic, height, mass, sizes, symmetric)
    start = np.exp(prior.mean)
    state = _state(one, start)
    free = np.ones(one.system.nu, dtype=bool)
    for j, speed in enumerate(one.system.speeds):
        free[j] = speed not in state.locked
    for b in one.system.bodies:
        free[list(b.prescribed_speeds)] = False
    count = max(FEWEST, -(-FRAMES // max(1, sum(not x.static for x in found))))
    picks = [r.pick(count) for r in found]
    parts = [_rows(picks, k) for k in range(len(found))]
    y = [r.positions(used, who.called, rows) for r, rows in zip(found, picks, strict=True)]
    places = _places(one, used, start, np.zeros((len(used), 3)))
    weight = {n: (NEAR / (NEAR + kinds.sd[n])) ** 2 for n in used}
    limits = _limits(one.system, free)
    q = np.concatenate([_first_poses(one, state, limits, used, seen, places, weight) for seen in y])

    def problem(y: list[Array], static: list[bool], share: list[float]) -> MarkerFit:
        pose = [_pose_prior(one.system, still) for still in static]
        each = lambda k: np.concatenate([np.tile(p[k], (len(x), 1)) for p, x in zip(pose, y, strict=True)])
        per = np.concatenate([np.full(len(x), c / len(x)) for c, x in zip(share, y, strict=True)])
        return MarkerFit(
            one,
            used,
            np.concatenate(y),
            per,
            (prior.mean, prior.covariance),
            np.array([kinds.sd[n] for n in used]),
            (each(0), each(1) / np.sqrt(per)[:, None]),
            free,
            limits,
            per,
        )

    static_ones = [r.static for r in found]
    worth = [STILL if r.static else min(INDEPENDENT, len(rows)) for r, rows in zip(found, picks, strict=True)]
    fit = problem(y, static_ones, worth)
    renamed: dict[str, dict[str, str]] = {}

    def rename(k: int, swap: dict[str, str]) -> None:
        before = renamed.get(found[k].name, {})
        after = {a: swap.get(b, b) for a, b in before.items()}
        after |= {a: b for a, b in swap.items() if a not in before}
        renamed[found[k].name] = {a: b for a, b in after.items() if a != b}
        y[k] = _with_names(y[k], used, swap)
        q[parts[k]] = _first_poses(one, state, limits, used, y[k], places, weight)

    def misfit(seen: Array, poses: Array) -> float:
        part = problem([seen], [False], [1.0])
        e = part.errors(poses, prior.mean, np.zeros((len(used), 3)))[0]
        return float(np.sqrt((e**2).sum() / part.seen.sum()))

    # a body that looks backward: its pose is wrong everywhere, and single markers do not tell
    sides = {used[i]: used[j] for i, j in enumerate(other_sides(used)) if i != j}
    for k in range(len(found)):  # landmarks against the generic model, then all against the other recordings
        if sides and (off := misfit(y[k], q[parts[k]])) > MIRRORED:
            other = _with_names(y[k], used, sides)
            left = misfit(other, _first_poses(one, state, limits, used, other, places, weight))
            if left < min(BETTER * off, MIRRORED):
                rename(k, sides)
                fit = problem(y, static_ones, worth)
        swap = exchanged(fit, q, prior.mean, np.zeros((len(used), 3)), parts[k])
        if any(kinds.kinds[n] == "anatomical" for n in swap):
            rename(k, swap)
    fit = problem(y, static_ones, worth)
    result = fit.solve(q)
    for k, r in enumerate(found):
        if r.name not in renamed and (swap := exchanged(fit, result.q, result.theta, result.d, parts[k])):
            rename(k, swap)
    renamed = {name: x for name, x in renamed.items() if x}
    if renamed:
        told = "; ".join(f"{name}: {cut(f'{a} is {b}' for a, b in x.items())}" for name, x in renamed.items())
        warn(f"personalize: markers look exchanged, and are used by the other name: {told}", RuntimeWarning)
        fit = problem(y, static_ones, worth)
        result = fit.solve(q)
    lost: dict[str, list[str]] = {}
    for k, r in enumerate(found):
        if away := strays(fit, result, parts[k]):
            lost[r.name] = away
            y[k][:, [used.index(n) for n in away]] = np.nan
    if lost:
        told = "; ".join(f"{name}: {cut(x)}" for name, x in lost.items())
        warn(f"personalize: markers that the model cannot follow are left out: {told}", RuntimeWarning)
        fit = problem(y, static_ones, worth)
        result = fit.solve(q)
    strange: dict[str, float] = {}
    moving = [k for k, r in enumerate(found) if not r.static]
    while len(moving) > 2:
        sizes_of = {k: fit.alone(parts[k], result)[0] for k in moving}
        middle = float(np.median(list(sizes_of.values())))
        far = max(moving, key=lambda k: abs(sizes_of[k] - middle))
        if abs(sizes_of[far] - middle) < STRANGER:
            break
        strange[found[far].name] = sizes_of[far] - middle
        y[far] = np.full_like(y[far], np.nan)
        moving.remove(far)
        fit = problem(y, static_ones, worth)
        result = fit.solve(q)
    if strange:
        told = ", ".join(f"{name} ({100 * x:+.0f} %)" for name, x in strange.items())
        warn(
            f"personalize: {told}: sizes do not fit those of the other trials; is it another subject? It is followed "
            "with their sizes, but does not count for them",
            RuntimeWarning,
        )
    doubtful = _doubtful(result, used, kinds, markers)
    if doubtful:
        told = cut(f"{n} by {1e3 * x:.0f} mm" for n, x in doubtful.items())
        warn(
            f"personalize: markers are off the landmarks of their names: {told}. Their places count as those of "
            "clusters; does the model have these markers where you put them?",
            RuntimeWarning,
        )
        kinds = kinds.doubting(doubtful)
        fit = problem(y, static_ones, worth)
        result = fit.solve(q)
    result = SkinFit(
        fit, [r.markers.time[rows] for r, rows in zip(found, picks, strict=True)], static_ones
    ).solve(result)
    if not result.converged:
        warn(
            f"personalize: sizes were still changing after {result.iterations} steps; see .quality",
            RuntimeWarning,
        )
    _plausible(one, np.exp(result.theta), height, None if any(forces) else mass)
    say("motions")
    followed, wholes = [], []
    for k, r in enumerate(found):
        if r.static:
            continue
        seen = _with_names(r.positions(used, who.called, slice(None)), used, renamed.get(r.name, {}))
        seen[:, [used.index(n) for n in lost.get(r.name, [])]] = np.nan
        whole = problem([seen], [False], [float(len(seen))])
        whole.sd, whole.own, whole.together = result.sd / UNSEEN, fit.own, result.skin[0]
        t = r.markers.time
        wholes.append(whole)
        followed.append(follow(whole, result, t, t[picks[k]], result.q[parts[k]], r.name))
    masses = None
    if any(x is not None for x in forces):
        say("masses")
        times = [r.markers.time for r in found if not r.static]
        titles = [r.name for r in found if not r.static]
        masses = find_masses(one, wholes, result, titles, times, followed, forces, mass, symmetric)
        for k, dynamic in enumerate(masses.trials):
            if dynamic is not None:
                followed[k] = followed[k].changed(wholes[k], result, dynamic.rows, dynamic.q)
    person = Person(
        one, prior, kinds, who, found, picks, fit, result, followed, mass, renamed, lost, strange, masses
    )
    person.quality.warn()
    return person


def _plausible(one: SizedSystem, s: Array, height: float | None, mass: float | None) -> None:
    """Warn where markers contradict what the user says of the subject."""
    tall = generic_stature(one.system, one.parameters(s))
    if height is not None and tall is not None and abs(np.log(tall / height)) > TALL:
        warn(
            f"personalize: the legs are those of someone {tall:.2f} m tall, and height= says {height:.2f} m",
            RuntimeWarning,
        )
    grown = sum(float(b.mass) * float(np.prod(s[one.which[b.name]])) for b in one.generic.bodies)
    if mass is not None and abs(np.log(mass / grown)) > HEAVY:
        warn(
            f"personalize: a subject of this size has about {grown:.0f} kg, and mass= says {mass:.1f} kg; is it in kg?",
            RuntimeWarning,
        )


def _doubtful(fit: Fit, used: list[str], kinds: MarkerKinds, given: Any) -> dict[str, float]:
    """Markers on bone far from their places in the model [m], except those named by the user."""
    at = dict(zip(used, np.linalg.norm(fit.d, axis=1), strict=True))
    return {
        n: float(x)
        for n, x in at.items()
        if x > DOUBTFUL and kinds.kinds[n] == "anatomical" and n not in (given or ())
    }


def _with_names(y: Array, used: list[str], names: Mapping[str, str]) -> Array:
    """Positions (T, M, 3) with renamed markers."""
    out = y.copy()
    for a, b in names.items():
        out[:, used.index(b)] = y[:, used.index(a)]
    return out


def _forces(loads: Any, count: int) -> list[list[ExternalLoad] | None]:
    """Loads of each trial."""
    if loads is None:
        return [None] * count
    if not isinstance(loads, (str, Path, ExternalLoad, list, tuple)) or not loads:
        raise DescriptionError(
            "personalize: loads: expected cd.read_external_loads('grf.xml') of each trial, or None without, got "
            f"{repr(loads).splitlines()[0]}"
            + "; cd.ExternalLoad says which columns of a Table act on which body"
            * isinstance(loads, Table)
        )
    given: list[Any] = [*loads] if isinstance(loads, (list, tuple)) else [loads]
    if all(isinstance(x, ExternalLoad) for x in given):
        given = [loads]  # all of one trial
    if not count:
        raise DescriptionError(
            "personalize: loads: they act in trials, and there is only a static one; leave them out"
        )
    if len(given) != count:
        raise DescriptionError(
            f"personalize: loads: {len(given)} for {count} trial{'s' * (count != 1)}; give one per trial, None for those without"
        )
    out: list[list[ExternalLoad] | None] = []
    for x in given:
        if isinstance(x, (str, Path)):
            x = read_external_loads(x)
        x = [x] if isinstance(x, ExternalLoad) else x
        if x is not None and not (
            isinstance(x, (list, tuple)) and all(isinstance(load, ExternalLoad) for load in x)
        ):
            raise DescriptionError(
                f"personalize: loads: expected cd.read_external_loads('grf.xml') of each trial, got {repr(x).splitlines()[0]}"
            )
        out.append(list(x) if x else None)
    return out


def _rows(picks: list[Array], k: int) -> slice:
    before = sum(map(len, picks[:k]))
    return slice(before, before + len(picks[k]))


def _state(one: SizedSystem, s: Array) -> State:
    return _default(one.system).replace(parameters=one.parameters(s))


def _places(one: SizedSystem, used: list[str], s: Array, d: Array) -> dict[str, Array]:
    """Stations of markers on the subject [m]."""
    at = {n: one.generic.marker(n) for n in used}
    return {n: s[one.which[m.body]] * np.array(m.station) + d[k] for k, (n, m) in enumerate(at.items())}


def _first_poses(
    one: SizedSystem,
    state: State,
    limits: tuple[Array, Array],
    used: list[str],
    y: Array,
    places: dict[str, Array],
    weight: dict[str, float],
) -> Array:
    """Poses of the generic model at the prior's sizes, shape (T, nq)."""
    low, high = limits
    bend = np.where(np.isfinite(high - low), np.minimum(BENT, (high - low) / 4), 0.0)
    inside = np.clip(state.q, low + bend, high - bend)
    with warnings.catch_warnings(action="ignore"):
        there = {n: y[:, k] for k, n in enumerate(used) if np.isfinite(y[:, k]).any()}
        time, markers = marker_tasks(one.system, there, 0.1 * np.arange(len(y)), weight, None, places)
        tasks = Tasks(one.system, time, markers, None, {}, ())
        found = follow_tasks(tasks, state.replace(t=0.0, q=inside), _ranges(one.system) or False, np.inf)[0]
    q = found.motion[list(one.system.coordinates)].values
    return np.where(np.isfinite(q), q, one.system.defaults()[0])


def _ranges(system: System) -> dict[str, tuple[float, float]]:
    """Ranges of coordinates between bodies: without them a search may end a full turn away."""
    out = {}
    for b in system.bodies:
        if b.parent is None or b.parent.is_ground:
            continue
        for c in b.coordinates:
            if c.range is not None and np.isfinite(c.range).all() and c.range[0] < c.range[1]:
                out[c.name] = (float(c.range[0]), float(c.range[1]))
    return out


def _limits(system: System, free: Array) -> tuple[Array, Array]:
    """Least and largest angles of coordinates with a range, shapes (nq,); infinite for others, and for those that
    are held: they keep their values, wherever these are. free: which speeds take part."""
    low, high = np.full(system.nq, -np.inf), np.full(system.nq, np.inf)
    ranges, units = _ranges(system), scales.units(system.bodies)[0]
    for b in system.bodies:
        for j, (c, moves) in enumerate(zip(b.coordinates, free[b.u], strict=False), start=b.q.start):
            if c.name in ranges and units[j] == "rad" and moves:
                low[j], high[j] = ranges[c.name]
    return low, high


def _pose_prior(system: System, static: bool) -> tuple[Array, Array]:
    """Mean and standard deviation of coordinates, shapes (nq,); infinite for those of the root."""
    mean, sd = system.defaults()[0].copy(), np.full(system.nq, np.inf)
    upright = {"pelvis", "thigh", "shank", "foot", "trunk"}
    for b in system.bodies:
        if b.parent is None or b.parent.is_ground or b.mobilizer.quaternions:
            continue
        still = static and {role(b.name), role(b.parent.name)} <= upright
        for j, (c, unit) in enumerate(zip(b.coordinates, b.mobilizer.units, strict=True)):
            half = WIDE if unit == "rad" else FAR
            if c.range is not None and np.isfinite(c.range).all():
                half = max(2 * (c.range[1] - c.range[0]), 1e-3)
            sd[b.q.start + j] = UPRIGHT if still and unit == "rad" else half
    return mean, sd
