"""`cd.inverse_kinematics`: the motion of a system that follows measured markers, sensors and coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, warn
from condyle.fit.frames import Frames, frame_count
from condyle.fit.goals import Goal
from condyle.fit.missed_goals import BEYOND, FAR, reach
from condyle.fit.observability import NormalMatrices
from condyle.integrate.progress import check_progress
from condyle.io.markers import Markers
from condyle.presentation import cut
from condyle.studies.assemble import Limits, checked, follow, follow_each
from condyle.studies.kinematics.determined import determine, samples
from condyle.studies.kinematics.imus import IMUs, sensor_tasks
from condyle.studies.kinematics.result import RMS, InverseKinematics, gap_text, sums
from condyle.studies.kinematics.start import better_start, lies_along, solved_again
from condyle.studies.kinematics.swaps import find_swaps
from condyle.studies.kinematics.tasks import (
    ALL,
    WHO,
    Rows,
    Tasks,
    coordinate_tasks,
    marker_tasks,
)
from condyle.studies.motion.motion import _default
from condyle.system.checked_arguments import check_state, check_system, number
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales

Weights = Mapping[str, ArrayLike] | Table
WORST, FEW, MOST = 4, 2, 0.75
"""Number of markers that a warning names; and, alternatively, this few markers if they cause this part of
all squared errors."""


@with_call_hints(
    {
        "marker_weights": "they are weights=",
        "tasks": "markers have weights=, coordinates get values by coordinates=",
        "imu": "it is imus=",
        "times": "times are t=",
        "constraint_weight": "constraints hold exactly",
        "marker_names": "it is names=",
    }
)
def inverse_kinematics(
    system: System,
    markers: Markers | Mapping[str, ArrayLike] | None = None,
    weights: Weights | None = None,
    coordinates: Mapping[str, ArrayLike] | Table | None = None,
    *,
    coordinate_weights: float | Weights | None = None,
    orientations: Table | Mapping[str, ArrayLike] | None = None,
    imus: IMUs | None = None,
    orientation_weights: Weights | None = None,
    names: Mapping[str, str] | None = None,
    stations: Mapping[str, ArrayLike] | None = None,
    goals: Sequence[Goal] = (),
    t: ArrayLike | None = None,
    state: State | None = None,
    locked: Iterable[str] = (),
    limits: Limits | None = None,
    fill_gaps: float = 0.1,
    accuracy: float = 1e-6,
    progress: bool | Callable[[float], object] = False,
) -> InverseKinematics:
    """Coordinates of a system over time that bring its markers nearest to measured ones, frame by frame.

    The objective function is that of OpenSim's tool: the weighted mean of squared distances of the markers
    seen in a frame, plus weighted squares of coordinates from their values, halved. Constraints hold;
    locked coordinates keep their values, prescribed ones follow their functions. All frames are one native
    run, and each starts from the one before. The first starts from the state or, if that ends far from the
    markers, from that pose moved to them as a whole.

    Args:
        system: with markers: `system.add_marker(name, body, station)`.
        markers: the result of `cd.read_markers`, or {name: positions (T, 3) [m]} with t=; NaN where a
            marker was not seen. Markers that both model and data have are used; `report()` names the
            others.
        weights: {marker: weight}, one number or one per frame, or a Table of weights over time, which is
            interpolated. 1 by default; zero leaves a marker out.
        coordinates: {coordinate: value} to approach [rad, m], one number or one per frame, or
            a Table of coordinates (between its rows: the natural spline of degree 5).
        coordinate_weights: their weights, one for all or as `weights`. A coordinate of weight 1 that is off
            by 1 rad costs as much as all markers off by 1 m.
        orientations: quaternions of sensors over time, as for `calibrate_imus`. Sensors are treated like
            markers, with their angle [rad] in place of the distance.
        imus: mounting of the sensors: `condyle.studies.kinematics.calibrate_imus(system, ...)`.
        orientation_weights: {sensor: weight}, as `weights`.
        names: markers of the data with other names in the model, {name in the data: name in the model}.
        stations: other places of markers on their bodies [m], {marker of the model: (3,)}. They are data of
            the machine code, so that one system can follow markers of several subjects, whose sizes are
            Parameters of the state.
        goals: more goals from `cd.goals`, with their own weights.
        t: times [s], shape (T,), if markers or orientations have none.
        state: the pose to start from, with its parameters and locks; `system.state()` by default.
        locked: names of speeds to hold fixed.
        limits: by default clamped coordinates, `cd.Coordinate(..., clamped=True)`, stay in their ranges;
            True limits all coordinates that have a range, False none; or {name: (low, high)}: see
            `cd.assemble`.
        fill_gaps: a coordinate that the markers and sensors of some frames do not determine, because those of
            a segment are missing or lie on one line, is interpolated over gaps of up to this length [s]. In
            longer gaps, and at the ends of the trial, it is NaN. Zero fills none; np.inf fills all, and keeps
            the value of the frame before at the ends. A coordinate that no measurement of the trial depends
            on keeps its value.
        accuracy: the last change of a coordinate is at most this [rad, m]; constraints hold to a hundredth
            of it.
        progress: True shows a bar; a function is called a few times per second with the share of frames done.

    Returns:
        the motion and the errors, also where some frames failed: see `status` and `report()`. Warnings name
        coordinates that some frames do not determine, and when; markers that look exchanged; and markers that
        are far off, with likely causes.

    Raises:
        UnknownNameError: names that neither the model nor the data has, or no marker in common.
        CondyleError: invalid arguments.
    """
    check_system(WHO, system, "markers")
    state = _default(system) if state is None else state
    check_state(WHO, system, state)
    check_progress(WHO, progress)
    longest = number(f"{WHO}: fill_gaps", fill_gaps, "the longest gap that is filled [s], zero or more")
    if not longest >= 0:
        raise DescriptionError(f"{WHO}: fill_gaps = {longest:g}: expected zero or more [s]")
    if markers is None and orientations is None:
        raise DescriptionError(
            f"{WHO}: nothing to follow; give markers= or orientations= with imus=; "
            "cd.assemble_frames follows other goals"
        )
    if markers is None and (weights is not None or names is not None):
        raise DescriptionError(
            f"{WHO}: weights= and names= are for markers, and markers= is missing; "
            "sensors have orientation_weights="
        )
    if orientations is None and (imus is not None or orientation_weights is not None):
        raise DescriptionError(f"{WHO}: imus= and orientation_weights= need orientations=")
    if coordinates is None and coordinate_weights is not None:
        raise DescriptionError(f"{WHO}: coordinate_weights= needs coordinates=, the values")
    time = found = sensed = None
    if markers is not None:
        time, found = marker_tasks(system, markers, t, weights, names, stations)
    if orientations is not None:
        time, sensed = sensor_tasks(system, orientations, imus, orientation_weights, t, time)
    assert time is not None
    values = coordinate_tasks(system, time, coordinates, coordinate_weights)
    others = checked(WHO, system, goals)
    frame_count(others, time)
    tasks = Tasks(system, time, found, sensed, values, others)

    within = _clamped(system) if limits is None else limits
    if locks := system.compiled.tails.levels(locked):
        state = state.replace(locked={**state.locked, **locks})
    start = state.replace(t=float(time[0]))
    result, solve, solve_each = follow_tasks(tasks, start, within, longest, accuracy, progress)
    vars(result)["swaps"] = find_swaps(
        result.frames, tasks, result._places, result._distances, solve, solve_each
    )
    _warn(result, start, longest)
    return result


def follow_tasks(
    tasks: Tasks,
    start: State,
    within: Limits,
    longest: float,
    accuracy: float = 1e-6,
    progress: bool | Callable[[float], object] = False,
) -> tuple[InverseKinematics, Any, Any]:
    """The result of `inverse_kinematics`, without warnings and exchanged markers; and functions that solve
    some frames, starting each from the one before, and each from its own pose.

    Args:
        tasks: the tasks to follow.
        start: the state from which the first frame starts.
        within: ranges of coordinates.
        longest: longest gap that is filled [s].
        accuracy: see `inverse_kinematics`.
        progress: see `inverse_kinematics`.
    """

    def solve(
        tasks: Tasks, start: State, rows: Rows, progress: Any = False, normal: NormalMatrices | None = None
    ) -> Frames:
        return follow(
            WHO,
            start,
            tuple(tasks.goals(rows)),
            tasks.t[rows],
            dict(start.locked),
            within,
            accuracy,
            progress,
            normal,
        )

    def solve_each(tasks: Tasks, rows: Rows, q: Array, normal: NormalMatrices | None = None) -> Frames:
        return follow_each(start, tuple(tasks.goals(rows)), tasks.t[rows], within, accuracy, q, normal)

    kinds, looked_at = samples(tasks)
    normal = NormalMatrices(looked_at)
    frames = solve(tasks, start, ALL, progress, normal)
    better = better_start(start, tasks, frames, solve)
    if better is not None:
        frames = solve(tasks, better.replace(t=start.t), ALL, progress, normal)
    frames = solved_again(frames, tasks, np.arange(len(frames)), solve_each)
    frames, determined = determine(frames, tasks, kinds, normal, longest, solve_each)
    return InverseKinematics(frames, tasks, *determined), solve, solve_each


def _clamped(system: System) -> Limits:
    """The ranges of clamped coordinates."""
    return {
        c.name: c.range
        for body in system.bodies
        for c in body.coordinates
        if c.clamped and c.range is not None
    } or False


def _warn(result: InverseKinematics, start: State, longest: float) -> None:
    if len(result.unseen):
        first = int(result.unseen[0])
        lost = int(result.missing[result.unseen].any(axis=1).sum())
        warn(
            f"{WHO}: nothing was measured in {len(result.unseen)} of {len(result)} frames, the "
            f"first frame {first} (t = {result.time[first]:.6g} s); coordinates are NaN in {lost} of them, "
            "and interpolated in the others",
            RuntimeWarning,
        )
    unseen = set(result.unseen.tolist())
    gaps = [gap for gap in result.gaps if not unseen.issuperset(range(gap.frames[0], gap.frames[1] + 1))]
    markers = result.tasks.markers
    strange = (
        ""
        if markers is None or not markers.not_in_model
        else (
            f". The model has no markers {cut(markers.not_in_model)}: names={{'name in the data': 'name in the "
            "model'} maps names"
        )
    )
    if gaps:
        warn(
            f"{WHO}: the measurements do not determine {gap_text(gaps)}. Gaps of up to fill_gaps = "
            f"{longest:g} s are filled, if frames before and after determine the coordinate. Fill those of "
            "the markers, give the coordinate a value with a small weight by coordinates=, or lock it; see "
            f"result.gaps{strange}",
            RuntimeWarning,
        )
    sensed = result.tasks.sensors is not None
    units = dict(zip(result.system.coordinates, scales.units(result.system.bodies)[0], strict=True))
    # orientation sensors give no lengths
    if held := [name for name in result.held if not (sensed and units[name] == "m")]:
        warn(
            f"{WHO}: no marker or sensor determines {cut(held)} in any frame: the initial value is kept. Lock "
            f"it by locked= if that is meant, or give a value by coordinates={strange if not gaps else ''}",
            RuntimeWarning,
        )
    if text := _far_off(result):
        warn(f"{WHO}: {text}", RuntimeWarning)
    elif _one_marker_fails(result):
        result.quality.warn()
    if axis := lies_along(start, result.tasks):
        warn(
            f"{WHO}: what points up in the model lies along {axis} in most frames. Does {axis} point up in "
            f"the data, cd.read_markers(path, vertical={axis!r})? Then gravity comes from the side here; "
            "if the subject lies down, ignore this warning",
            RuntimeWarning,
        )
    for swap in result.swaps:
        warn(f"{WHO}: {swap}", RuntimeWarning)


def _one_marker_fails(result: InverseKinematics) -> bool:
    """Whether a single marker is implausibly far off though the RMS of all is not."""
    verdicts = [c.verdict for c in result.quality if "marker error" in c.what]
    return not result.swaps and verdicts in (["ok", "fail"], ["check", "fail"])


def _far_off(result: InverseKinematics) -> str:
    """Text of a warning if markers are far from the model in frames without exchanged markers, else empty."""
    markers, size = result.tasks.markers, reach(result.system)
    if markers is None:
        return ""
    zero = (markers.positions[: len(result)] == 0).all(axis=2).any(axis=1)  # these have their own warning
    e = np.where(zero[:, None], np.nan, result._distances)
    e[[i for swap in result.swaps for i in swap.frames]] = np.nan
    rms = sums(e)[1]
    far = np.flatnonzero(rms > FAR * min(size or 1.0, 1.0))
    squares, seen = np.nansum(e[far] ** 2, axis=0), np.isfinite(e[far]).sum(axis=0)
    off = math.sqrt(squares.sum() / max(seen.sum(), 1))
    if not 0 < off < BEYOND * (size or np.inf):  # beyond it, a warning suggests millimeters
        return ""
    worst = np.argsort(-squares)[:WORST]
    names = [f"{markers.names[k]} {100 * math.sqrt(squares[k] / seen[k]):.0f} cm" for k in worst if seen[k]]
    alone = len(squares) > WORST and squares[worst[:FEW]].sum() > MOST * squares.sum()
    why = (
        f"{' and '.join(repr(markers.names[k]) for k in worst[:FEW])} cause most of it: are they named "
        "right, and where the model has them? weights={name: 0} leaves one out."
        if alone
        else "Is the model scaled to the subject? Are positions in meters, and does y point up in the data: "
        "cd.read_markers(path, vertical='z')? Are names right, markers where the model has them, "
        "coordinates= in radians?"
    )
    times = dict.fromkeys(f"{result.time[i]:.6g}" for i in (far[0], far[-1]))
    where = "" if len(far) == len(result) else f", {' to '.join(times)} s"
    return (
        f"markers are {100 * off:.0f} cm from the model in {len(far)} of {len(result)} frames{where} "
        f"(RMS; the guideline is {100 * RMS:.0f} cm), worst: {', '.join(names)}. {why} result.report() "
        "tells more"
    )
