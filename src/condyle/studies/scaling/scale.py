"""A model of one subject from a model of another: `cd.scale`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError, warn
from condyle.io.markers import Markers
from condyle.laws.factors import BodyFactors, grows, is_symbolic
from condyle.native.machine.notice import announced
from condyle.presentation import cut
from condyle.studies.kinematics.inverse_kinematics import inverse_kinematics
from condyle.studies.kinematics.result import InverseKinematics
from condyle.studies.scaling.bodies import changes
from condyle.studies.scaling.measurements import Measured, Measurement, frames, manual, measure
from condyle.studies.scaling.posture import Posture, without_forces
from condyle.studies.scaling.result import LENGTH_OF, Scaling
from condyle.system.checked_arguments import check_system
from condyle.system.system import System
from condyle.trace import to_sx
from condyle.trace.parameter import Expression, Parameter

ORDER = ("measurements", "manual")
BEYOND, HEAVY = 3.0, 20.0
"""Ratios of size and mass between subject and model that are implausible."""


@with_call_hints(
    {
        "trc": "read it: markers=cd.read_markers('static.trc')",
        "subject_mass": "it is mass=",
        "manual": "it is factors=",
        "scale_factors": "it is factors=",
    }
)
@announced
def scale(
    system: System,
    markers: Markers | None = None,
    measurements: Sequence[Measurement] = (),
    factors: Mapping[str, ArrayLike] | None = None,
    *,
    order: Iterable[str] = ORDER,
    mass: float | None = None,
    preserve_mass_distribution: bool = False,
    time: tuple[float, float] | None = None,
    place_markers: bool | None = None,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float] | None = None,
    coordinate_weights: float | Mapping[str, float] | None = None,
    pose_time: tuple[float, float] | None = None,
) -> Scaling:
    """A system with the size and mass of a subject, like the result of OpenSim's ScaleTool.

    Each body gets factors along its axes: the mean of measured over model distances of a Measurement's pairs
    of markers, in the default pose, or given numbers. Everything fixed to a body is scaled by them:
    frames of joints, translations of joints (by the factors of the parent, or of the child if the joint is
    reversed), mass center,
    mass and inertia, points and surfaces of paths, stations of forces and constraints, markers, geometry.
    Lengths of muscle fibers, tendons, ligaments and springs keep their share of the length of their path.
    Maximum isometric forces are not scaled. Then all masses are scaled to the subject's mass.

    With markers of a static pose, the coordinates that fit them best are found, and each marker of the
    model that is not fixed moves to its measured place.

    Args:
        system: the system to scale; it is not changed.
        markers: markers of a static trial, `cd.read_markers("static.trc")`.
        measurements: `Measurement("thigh", [("R.ASIS", "R.Knee")], ["femur_r"])`, ...,
            of `condyle.studies.scaling`.
        factors: of bodies that are not measured, or that should have other factors: {"torso": 1.05} or
            {"torso": (1, 1.1, 1)}. They may be Parameters, {"torso": cd.Parameter("size", 1.0)}: then one
            compiled system serves subjects of all sizes. Markers and geometry are where the Parameters'
            defaults bring them. Lengths of muscles become Parameters too, whose values for some sizes are
            `.parameters({"size": 1.1})`. Paths over ellipsoids or through moving points, and springs and rods
            between two points, must be left out before: `system.copy(forces={...: None})`.
        order: the order of measurements and factors; if both set a factor, the last one counts.
        mass: mass of the subject [kg]; None: as it results from the factors.
        preserve_mass_distribution: bodies keep their shares of the mass; else each grows with its volume.
        time: (start, end) of the frames to measure and average [s]; all by default.
        place_markers: find the pose and move the markers; by default if there are markers.
        weights: {marker: weight} in the pose; 1 by default.
        coordinates: values that coordinates of the pose should come near to [rad, m].
        coordinate_weights: their weights, one number or {coordinate: weight}.
        pose_time: (start, end) of the frames of the pose, if different.

    Returns:
        the Scaling: `.system`, not frozen, `.factors`, `.measurements`, marker errors, `.report()`.

    Raises:
        UnknownNameError: unknown markers or bodies.
        DescriptionError: an element that cannot be scaled, or not by Parameters, which the error names;
            distances of zero, factors that are not positive.
    """
    check_system("scale", system, "markers, measurements")
    if isinstance(measurements, Measurement):
        measurements = [measurements]
    order = _order(order)
    if markers is not None and not isinstance(markers, Markers):
        raise DescriptionError(
            f"scale: markers: expected cd.read_markers('static.trc'), got {repr(markers).splitlines()[0]}"
        )
    if markers is not None and not len(markers.time):
        raise DescriptionError(
            "scale: markers: there are no frames; does the cut lie outside of the recording?"
        )
    place = markers is not None if place_markers is None else bool(place_markers)
    if markers is None and (measurements or place):
        raise DescriptionError(
            "scale: measurements and places of markers need markers=cd.read_markers('static.trc')"
        )
    if not system.markers and (measurements or place):
        raise DescriptionError(
            "scale: the model has no markers to measure or to place; "
            "cd.read_osim(path, add='markers.xml') adds those of an OpenSim marker set, "
            "system.add_marker(name, body, station) one of yours"
        )
    if mass is not None and not (isinstance(mass, (int, float, np.number)) and 0 < mass < np.inf):
        raise DescriptionError(f"scale: mass: expected a number above 0 [kg], got {mass!r}")
    old = system.copy()
    start = cache(lambda: Posture(old))  # not needed if nothing is measured or scaled
    s, measured = _factors(
        old, start, markers, list(measurements), {} if factors is None else factors, order, time
    )
    at = {name: _numbers(x) for name, x in s.items()}
    _doubt(at, mass, sum(float(b.mass) for b in old.bodies if isinstance(b.mass, (int, float, np.number))))
    new, notes = _resized(old, start, s, mass, preserve_mass_distribution)
    pose = None
    if place:
        assert markers is not None
        new, pose, more = _placed(new, markers, time, pose_time, weights, coordinates, coordinate_weights)
        notes += more
    return Scaling(
        new.copy(),
        {b.name: tuple(map(float, at[b.name])) for b in old.bodies},
        tuple(measured),
        pose,
        tuple(notes),
        system,
    )


def _numbers(factors: Array) -> Array:
    """Factors as numbers, with Parameters at their defaults."""
    if not is_symbolic(factors):
        return factors
    return np.ravel(Expression(to_sx(factors), "scale: factors").at())


def _doubt(s: Mapping[str, Array], mass: float | None, before: float) -> None:
    """Warn about implausible sizes: percents, millimeters, grams, pounds."""
    for body, x in s.items():
        if min(x) <= 0:  # given numbers were checked before
            raise DescriptionError(
                f"scale: factors of {body!r}: Parameters need defaults that make them positive, such as 1; they are "
                f"{' '.join(f'{v:.4g}' for v in x)}"
            )
        if min(x) < 1 / BEYOND or max(x) > BEYOND:
            warn(
                f"scale: {body}: the factors {' '.join(f'{v:.4g}' for v in x)} are far from 1; a "
                "factor is 1.1, not 110, and markers are in meters"
            )
            break
    if mass is not None and before > 0 and not before / HEAVY < mass < HEAVY * before:
        warn(f"scale: mass: {mass:g} kg, but the model has {before:.4g} kg; is it in kg?")


def _order(order: Any) -> tuple[str, ...]:
    given = (order,) if isinstance(order, str) else tuple(order)
    if not set(given) <= set(ORDER) or len(set(given)) != len(given):
        raise DescriptionError(f"scale: order: expected some of 'measurements' and 'manual', got {order!r}")
    return given


def _factors(
    system: System,
    start: Callable[[], Posture],
    markers: Markers | None,
    measurements: list[Measurement],
    given: Mapping[str, Any],
    order: tuple[str, ...],
    time: Any,
) -> tuple[dict[str, Array], list[Measured]]:
    """Factors of all bodies, and the measurements."""
    s = {name: np.ones(3) for name in ("ground", *(b.name for b in system.bodies))}
    by_hand, measured = manual(system, given), []
    places = start().markers() if measurements else {}
    for step in order:
        if step == "manual":
            s |= by_hand
            continue
        for m in measurements:
            if not isinstance(m, Measurement):
                raise DescriptionError(
                    f"scale: measurements: expected Measurement(...) of condyle.studies.scaling, got {m!r}"
                )
            assert markers is not None
            found = measure(m, places, markers, frames(markers, time))
            measured += found
            factor = float(np.mean([x.factor for x in found]))
            for name, axes in _known(system, m).items():
                s[name] = np.array(
                    [factor if axis in axes else x for axis, x in zip("xyz", s[name], strict=True)]
                )
    return s, measured


def _known(system: System, m: Measurement) -> dict[str, str]:
    """Bodies of a measurement that the system has, and their axes; a warning names the others."""
    given: dict[str, str] = dict(m.bodies)  # type: ignore[arg-type]
    what = f"scale: measurement {m.name!r}"
    if "ground" in given:
        raise DescriptionError(f"{what}: ground has no size")
    names = [b.name for b in system.bodies]
    unknown = [name for name in given if name not in names]
    if unknown and len(unknown) == len(given):
        raise UnknownNameError("body", unknown[0], names, what)
    if unknown:
        warn(f"{what}: the system has no {', '.join(map(repr, unknown))}")
    return {name: axes for name, axes in given.items() if name in names}


def _resized(
    old: System, start: Callable[[], Posture], s: Mapping[str, Array], mass: float | None, keep: bool
) -> tuple[System, list[str]]:
    """The scaled system, and notes for the user."""
    if not any(grows(x) for x in s.values()):
        return old.copy(bodies=None if mass is None else changes(old, s, keep, mass)), []
    translations = {
        c.name: b.parent.name
        for b in old.bodies
        for c, unit in zip(b.coordinates, b.mobilizer.units, strict=True)
        if unit == "m" and b.parent is not None
    }
    notes: list[str] = []
    at = {name: _numbers(x) for name, x in s.items()}

    symbolic = any(map(is_symbolic, s.values()))
    if symbolic:
        lengths = [f"force {n!r}" for n in old.forces if _follows(old.force(n)) and n not in old.paths]
        lengths += [f"constraint {n!r}" for n in old.constraints if _follows(old.constraint(n))]
        if lengths:
            raise DescriptionError(
                f"scale: lengths of {cut(lengths)} follow the distance of two points, and the factors are "
                "Parameters: leave them out first, system.copy(forces={...: None}), or give numbers"
            )

    def scaled(kind: str, names: Iterable[str], get: Callable[[str], Any]) -> dict[str, Any]:
        """Elements that change, {name: element}."""
        out, factors, contacts = {}, BodyFactors(s, translations), set(old.contacts)
        refused: dict[str, str] = {}
        for name in names:
            what = f"{'contact' if name in contacts else kind} {name!r}"
            factors.notes.clear()
            try:
                new = get(name).scaled(factors)
            except DescriptionError as error:
                refused[name] = f"scale: {what}: {error}"
                if symbolic:  # name all of them
                    continue
                raise DescriptionError(refused[name]) from None
            notes.extend(what + note for note in factors.notes)
            if new is not get(name):
                out[name] = new
        if refused:
            raise DescriptionError(
                f"{next(iter(refused.values()))}. Parameters cannot be the factors of {cut(refused)}: give numbers, or "
                f"leave them out first, system.copy({kind}s={dict.fromkeys(refused)})"
            )
        return out

    forces = scaled("force", old.forces, old.force)
    constraints = scaled("constraint", old.constraints, old.constraint)
    grown = old.copy(bodies=changes(old, s, keep, mass))
    known, rooms = old._tree.fitting, ((old._forces, forces), (old._constraints, constraints))
    pairs = [
        (law, others.get(n, law)) for laws, others in rooms for n, law in laws.items() if id(law) in known
    ]
    grown._tree.fitting = {id(x): x for pair in pairs for x in pair}  # names are unchanged
    new = grown.copy(
        forces=forces,
        constraints=constraints,
        markers={n: np.array(m.station) * at[m.body] for n in old.markers for m in (old.marker(n),)},
        geometry={g.name: g.scaled(at[g.body]) for g in old.geometry},
    )
    if symbolic:
        if old.markers:
            notes.append("markers are where the defaults of the factors' Parameters bring them")
        follow = [n for n in old.paths if _follows(new.force(n))]
        if follow:
            notes.append("lengths of muscles are Parameters too: Scaling.parameters gives their values")
        paths: dict[str, Any] = {n: new.force(n) for n in follow}
        ratio = lambda n: Parameter(LENGTH_OF + n, 1.0)
        return new.copy(forces={n: law.in_proportion(ratio(n)) for n, law in paths.items()}), notes
    return _proportioned(old, start(), new), notes


def _follows(law: Any) -> bool:
    """Whether the lengths of a law scale with the length of its path."""
    return bool(getattr(law, "proportional", ()))


def _proportioned(old: System, start: Posture, new: System) -> System:
    """Scale lengths of fibers, tendons, ligaments and springs with the lengths of their paths, which may
    touch several scaled bodies. Rods, which affect the pose, are scaled before the pose is found."""
    rods = [n for n in old.constraints if _follows(old.constraint(n))]
    if rods:
        free = Posture(new.copy(), start.q)  # not assembled
        new = new.copy(
            constraints={
                n: new.constraint(n).in_proportion(_ratio(start, old.constraint(n), free, new.constraint(n)))
                for n in rods
            }
        )
    laws: dict[str, Any] = {n: new.force(n) for n in old.forces if _follows(new.force(n))}
    if not laws:
        return new
    now, paths = Posture(new), set(old.paths) & set(laws)
    before, after = (
        pose.lengths({n: system.force(n) for n in laws if n in paths})  # type: ignore[misc]
        for pose, system in ((start, old), (now, new))
    )
    forces = {}
    for n, law in laws.items():
        ratio = (
            (after[n] / before[n] if before[n] > 0 else 1.0)
            if n in after
            else _ratio(start, old.force(n), now, law)
        )
        forces[n] = law.in_proportion(float(ratio))
    out = new.copy()
    out._tree.fitting |= {id(law): law for law in forces.values()}
    return out.copy(forces=forces)


def _ratio(start: Posture, old: Any, now: Posture, new: Any) -> float:
    """The distance of a law's two points now, divided by their distance before."""
    before = _apart(start, old)
    return _apart(now, new) / before if before > 0 else 1.0


def _apart(pose: Posture, law: Any) -> float:
    """Distance of a law's two points [m]."""
    return float(np.linalg.norm(pose.point(law.a, law.p_a) - pose.point(law.b, law.p_b)))


def _placed(
    system: System,
    markers: Markers,
    time: Any,
    pose_time: Any,
    weights: Any,
    coordinates: Any,
    coordinate_weights: Any,
) -> tuple[System, InverseKinematics, list[str]]:
    """Move markers to their measured places in the pose that fits them best; returns notes for the user
    too."""
    pose_time = time if pose_time is None else pose_time
    rows = frames(markers, pose_time)
    mean = _mean(markers, _within(markers, pose_time))
    seen = [name for name in markers.names if name in system.markers]
    bare = without_forces(system)
    pose = inverse_kinematics(
        bare,
        {name: mean[name][None] for name in seen if np.isfinite(mean[name]).all()},
        weights,
        coordinates,
        coordinate_weights=coordinate_weights,
        t=[float(markers.time[rows.start])],
        accuracy=1e-10,
    )
    at, stations, notes = Posture(bare, pose.frames.q[0]), {}, list[str]()
    average = _average(markers, rows)
    for name in seen:
        m = system.marker(name)
        if m.fixed or not np.isfinite(average[name]).all():
            continue
        stations[name] = at.station(m.body, average[name])
    left = [name for name in system.markers if name not in markers.names]
    if left:
        notes.append(f"markers missing in the data keep their scaled positions: {', '.join(left)}")
    unknown = [name for name in markers.names if name not in system.markers]
    if unknown:
        notes.append(f"markers of the data that the model does not have: {', '.join(unknown)}")
    return system.copy(markers=stations), pose, notes


def _within(markers: Markers, time: Any) -> Any:
    """Rows with start <= t <= end, those of the pose, as in OpenSim."""
    if time is None:
        return np.ones(len(markers.time), dtype=bool)
    inside = (markers.time >= time[0]) & (markers.time <= time[1])
    rows = frames(markers, time)
    return inside if inside.any() else np.isin(np.arange(len(inside)), np.arange(rows.start, rows.stop))


def _mean(markers: Markers, rows: Any) -> dict[str, Array]:
    """Mean places; NaN where a marker is missing in one of the frames."""
    return {name: markers[name][rows].mean(axis=0) for name in markers.names}


def _average(markers: Markers, rows: slice) -> dict[str, Array]:
    """Mean places over the frames in which a marker was seen."""
    out = {}
    for name in markers.names:
        p = markers[name][rows]
        p = p[np.isfinite(p).all(axis=1)]
        out[name] = p.mean(axis=0) if len(p) else np.full(3, np.nan)
    return out
