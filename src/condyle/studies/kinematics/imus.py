"""Orientation sensors (IMUs) on bodies: their mounting, from a known pose.

A sensor reports R_WS, its orientation in the sensors' world W, whose x, y or z axis is up and whose heading
is arbitrary. With the pose of the model in the calibration, R_GB,

    R_GW = R_heading R_rotation,     R_GS = R_GW R_WS,     R_BS = R_GB' R_GS                               (1)

R_rotation turns W until its vertical is that of ground. R_heading turns about the vertical until the axis of
one sensor that points forward, such as the z axis of one at the back of the pelvis, lies in the vertical
plane of the forward axis of its body: directions are compared in the horizontal plane.

OpenSim's IMUPlacer does the same with two differences. It uses the angle between the two axes themselves,
so that an axis that is not level gives a different heading; and its IMUInverseKinematicsTool leaves
R_heading out, so that the model walks in the direction of W. `dataclasses.replace(imus, heading=0.0)` does
that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from condyle.arguments import with_call_hints
from condyle.arrays import Array, gaps, real
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_name
from condyle.presentation import Block, Display, cut, page
from condyle.records import dataclass
from condyle.spatial import exp_so3, log_so3, rotation_from_quaternion, rotation_x, rotation_y, rotation_z
from condyle.studies.kinematics.tasks import SensorTasks, times, weights_over
from condyle.system.checked_arguments import check_state, check_system
from condyle.system.state import State
from condyle.system.system import System
from condyle.table import Table

UNIT = 1e-2
"""A quaternion whose length differs from 1 by more is not an orientation; files have only a few digits."""
LEVEL = 0.1
"""A unit vector gives a heading only if its horizontal part is longer than this."""
_PARTS = (("_1", "_2", "_3", "_4"), ("_w", "_x", "_y", "_z"), ("_q0", "_q1", "_q2", "_q3"))
_AXES = {
    f"{sign}{axis}": (-1.0 if sign == "-" else 1.0) * np.eye(3)[k]
    for sign in ("", "+", "-")
    for k, axis in enumerate("xyz")
}


@dataclass(frozen=True, eq=False, repr=False)
class IMUs(Display):
    """Mounting of orientation sensors on bodies; made by `calibrate_imus`, or from known orientations.

    Args:
        names: names of the sensors.
        bodies: the name of the body of each.
        R_BS: orientation of each in the frame of its body, shape (n, 3, 3).
        rotation: R that turns the sensors' world so that its vertical is that of ground, shape (3, 3).
        heading: angle of a rotation about the vertical that follows [rad].
        vertical: the direction that points up, in ground, shape (3,).
        spread: root mean square deviation of each sensor from its mean orientation in the calibration
            [rad], shape (n,).
    """

    names: Sequence[str]
    bodies: Sequence[str]
    R_BS: NDArray[np.float64]
    rotation: NDArray[np.float64] | Sequence[Sequence[float]] = (
        (1.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 0.0, 1.0),
    )
    heading: float = 0.0
    vertical: Sequence[float] = (0.0, 1.0, 0.0)
    spread: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(self.bodies) != n or np.shape(self.R_BS) != (n, 3, 3):
            raise ShapeError(
                f"IMUs: {n} names need as many bodies and R_BS of shape ({n}, 3, 3), got "
                f"{len(self.bodies)} and {np.shape(self.R_BS)}"
            )

    @property
    def R_GW(self) -> NDArray[np.float64]:
        """Orientation of the sensors' world in ground, shape (3, 3)."""
        up = np.asarray(self.vertical, dtype=float)
        return exp_so3(self.heading * up) @ np.asarray(self.rotation, dtype=float)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return (
            f"IMUs({cut(f'{a} on {b}' for a, b in zip(self.names, self.bodies, strict=True))}; heading "
            f"{np.degrees(self.heading):.4g} deg)"
        )

    def _repr_html_(self) -> str:
        angles = np.degrees(np.linalg.norm(log_so3(self.R_BS), axis=-1))
        rows = [(a, b, f"{x:.4g}") for a, b, x in zip(self.names, self.bodies, angles, strict=True)]
        return page(repr(self), Block("", ("sensor", "body", "turned by [deg]"), rows))


@with_call_hints(
    {
        "base_imu_label": "it is base=, the name of a sensor",
        "base_heading_axis": "it is axis=",
        "sensor_to_opensim_rotations": "it is rotation=",
        "pose": "the pose is state=",
    }
)
def calibrate_imus(
    system: System,
    orientations: Table | Mapping[str, ArrayLike],
    *,
    bodies: Mapping[str, str] | None = None,
    state: State | None = None,
    base: str | None = None,
    axis: str = "x",
    forward: str = "x",
    vertical: str = "y",
    rotation: ArrayLike = (0.0, 0.0, 0.0),
    time: tuple[float, float] | None = None,
    t: ArrayLike | None = None,
) -> IMUs:
    """Mounting of sensors on the bodies, from their orientations while the subject stands in a known pose.

    Args:
        system: the system with the bodies.
        orientations: unit quaternions (w, x, y, z) of the sensors in their world: a Table with columns
            NAME_1 to NAME_4 (or _w, _x, _y, _z), as `cd.read_table` gives of .sto files with
            DataType=Quaternion; or {name: (T, 4) or (T, 3, 3)}.
        bodies: {sensor: body}. By default a sensor is on the body of the same name, optionally with `_imu`
            at the end of the sensor's name; other sensors are left out.
        state: the pose; `system.state()` by default.
        base: a sensor whose axis gives the subject's heading; without it headings are used as measured.
        axis: the axis of that sensor that points forward: "x", "-z" ...
        forward: the axis of its body that points forward.
        vertical: the axis of ground that points up.
        rotation: angles [rad] about the fixed x, y and z axes, one after the other, that turn the sensors'
            world so that its vertical is that of ground: (-pi/2, 0, 0) where z is up. OpenSim calls it
            sensor_to_opensim_rotations.
        time: first and last time [s] of the rows to average; by default only the first row is used, as in
            OpenSim.
        t: times [s], shape (T,), needed if orientations are a mapping; otherwise rows are numbered.

    Returns:
        the argument `imus` of `cd.inverse_kinematics(system, orientations=..., imus=...)`.

    Raises:
        UnknownNameError: an unknown sensor, body or axis.
        DescriptionError: an axis without a heading, or no measurements.
    """
    check_system("calibrate_imus", system, "orientations")
    state = system.state() if state is None else state
    check_state("calibrate_imus", system, state)
    t, names, R_WS = sensor_data("calibrate_imus", orientations, t)
    on = _bodies(system, names, bodies)
    R = _mean(t, names, R_WS, time)
    angles = np.asarray(real("calibrate_imus: rotation", rotation))
    if angles.shape != (3,) or not np.isfinite(angles).all():
        raise ShapeError(f"calibrate_imus: rotation: expected three angles [rad], got {rotation!r}")
    turn = rotation_z(angles[2]) @ rotation_y(angles[1]) @ rotation_x(angles[0])
    for what, given in (("axis", axis), ("forward", forward), ("vertical", vertical)):
        check_name("axis", given, _AXES, f"calibrate_imus: {what}=")
    up, heading = _AXES[vertical], 0.0
    if base is not None:
        check_name("sensor", base, on, "calibrate_imus: base=")
        k = names.index(base)
        seen, wanted = turn @ R[k] @ _AXES[axis], state.body_pose(on[base]).R @ _AXES[forward]
        heading = _angle(base, axis, seen, wanted, up)
    R_GW = exp_so3(heading * up) @ turn
    chosen = [k for k, name in enumerate(names) if name in on]
    R_BS = np.stack([state.body_pose(on[names[k]]).R.T @ R_GW @ R[k] for k in chosen])  # (1)
    rows = _rows(t, time)
    spread = [
        float(np.sqrt(np.nanmean(np.sum(log_so3(R[k].T @ R_WS[rows, k]) ** 2, axis=-1)))) for k in chosen
    ]
    return IMUs(
        tuple(names[k] for k in chosen),
        tuple(on[names[k]] for k in chosen),
        R_BS,
        turn,
        heading,
        tuple(up),
        np.array(spread),
    )


def sensor_data(who: str, orientations: Any, t: Any) -> tuple[Array, tuple[str, ...], Array]:
    """Measured times (T,), names (n,) and R_WS (T, n, 3, 3), NaN where missing."""
    if isinstance(orientations, Table):
        time, given = orientations.time, {}
        for first in orientations.names:
            for ends in (ends for ends in _PARTS if first.endswith(ends[0])):
                name = first.removesuffix(ends[0])
                if all(name + end in orientations for end in ends):
                    given[name] = np.stack([orientations[name + end] for end in ends], axis=1)
        if not given:
            raise DescriptionError(
                f"{who}: orientations: no columns NAME_1 to NAME_4 (or _w, _x, _y, _z) of "
                f"quaternions in this Table; it has {cut(orientations.names)}"
            )
    elif isinstance(orientations, Mapping) and orientations:
        given = {str(k): np.asarray(real(f"{who}: sensor {k!r}", gaps(v))) for k, v in orientations.items()}
        time = np.arange(float(len(next(iter(given.values()))))) if t is None else t
    else:
        path = isinstance(orientations, str) or hasattr(orientations, "__fspath__")
        raise DescriptionError(
            f"{who}: orientations: expected a Table of quaternions or {{name: (T, 4) or "
            f"(T, 3, 3)}}, got {orientations!r}" + ("; read it with cd.read_table(path)" if path else "")
        )
    T = len(next(iter(given.values())))
    return (
        times(time, T),
        tuple(given),
        np.stack([_rotations(who, name, x, T) for name, x in given.items()], axis=1),
    )


def _rotations(who: str, name: str, x: Array, T: int) -> Array:
    """R (T, 3, 3) of quaternions (T, 4) or rotations (T, 3, 3), NaN where any number is missing."""
    if x.shape == (T, 3, 3):
        off = np.abs(np.nan_to_num(x @ np.swapaxes(x, -1, -2) - np.eye(3))).max()
        if off > UNIT or (np.linalg.det(np.nan_to_num(x)) < 0).any():
            raise ShapeError(
                f"{who}: sensor {name!r}: no rotations: R R' differs from 1 by {off:.3g}, or "
                "one is a reflection"
            )
        return np.where(np.isnan(x).any(axis=(1, 2), keepdims=True), np.nan, x)
    if x.shape != (T, 4):
        raise ShapeError(
            f"{who}: sensor {name!r}: expected quaternions ({T}, 4) or rotations ({T}, 3, 3), got {x.shape}"
        )
    length = np.linalg.norm(x, axis=1)
    bad = np.abs(length - 1) > UNIT  # False for NaN
    if bad.any() or np.isinf(x).any():
        i = int(np.argmax(bad | np.isinf(length)))
        raise ShapeError(
            f"{who}: sensor {name!r}: quaternion {x[i].tolist()} of row {i} has the length "
            f"{length[i]:.4g}; expected 1, in the order w, x, y, z"
        )
    missing = np.isnan(length)
    R = rotation_from_quaternion(np.where(missing[:, None], [1.0, 0, 0, 0], x / length[:, None]))
    return np.where(missing[:, None, None], np.nan, R)


def _bodies(system: System, names: Sequence[str], given: Mapping[str, str] | None) -> dict[str, str]:
    """The body of each sensor that has one."""
    moving = [b.name for b in system.bodies]
    if given is not None:
        for sensor, body in given.items():
            check_name("sensor", sensor, names, "calibrate_imus: bodies={sensor: body}")
            check_name("body", body, moving, "calibrate_imus: bodies={sensor: body}")
        return dict(given)
    out = {}
    for name in names:
        bare = name[:-4] if name.lower().endswith("_imu") else name
        if bare in moving:
            out[name] = bare
    if not out:
        raise UnknownNameError(
            "bodies of sensors",
            cut(names),
            moving,
            "a sensor is on the body whose name "
            "it has, perhaps with _imu at its end; else give bodies={sensor: body}",
        )
    return out


def _rows(t: Array, time: Any) -> NDArray[np.intp]:
    if time is None:
        return np.zeros(1, dtype=np.intp)
    if np.shape(time) != (2,) or not time[0] <= time[1]:
        raise ShapeError(f"calibrate_imus: time: expected first and last time [s], got {time!r}")
    rows = np.flatnonzero((t >= time[0]) & (t <= time[1]))
    if not rows.size:
        raise DescriptionError(
            f"calibrate_imus: no rows between {time[0]:g} and {time[1]:g} s; there are "
            f"some from {t[0]:g} to {t[-1]:g} s"
        )
    return rows


def _mean(t: Array, names: Sequence[str], R: Array, time: Any) -> Array:
    """The mean orientation of each sensor, (n, 3, 3): the rotation nearest to the sum over all rows."""

    from condyle.studies.joints.measured_frames import nearest_rotations

    rows = R[_rows(t, time)]
    none = np.isnan(rows).all(axis=(0, 2, 3))
    if none.any():
        raise DescriptionError(
            f"calibrate_imus: sensor {names[int(none.argmax())]!r} has no orientation "
            "then; give time=(first, last) where it has one, or leave it out"
        )
    return nearest_rotations(np.nansum(rows, axis=0))


def _angle(base: str, axis: str, seen: Array, wanted: Array, up: Array) -> float:
    """The rotation angle about up that gives one direction the heading of another."""
    a, b = seen - (seen @ up) * up, wanted - (wanted @ up) * up
    if np.linalg.norm(a) < LEVEL or np.linalg.norm(b) < LEVEL:
        which = f"axis {axis!r} of sensor {base!r}" if np.linalg.norm(a) < LEVEL else "its body's axis"
        raise DescriptionError(
            f"calibrate_imus: {which} points up or down and has no heading; name another "
            "by axis= or forward=, and see whether rotation= is right"
        )
    return float(np.arctan2(np.cross(a, b) @ up, a @ b))


def sensor_tasks(
    system: System, orientations: Any, imus: Any, weights: Any, times_given: Any, of_markers: Array | None
) -> tuple[Array, SensorTasks]:
    """Times (T,), and the sensors that were measured and are mounted, with their weights.

    Args:
        times_given: the user's times.
        of_markers: times of markers, if any, which must be the same.
    """
    who, own = "inverse_kinematics", isinstance(orientations, Table)
    clock = None if own else times_given if of_markers is None else of_markers
    t, names, R_WS = sensor_data(who, orientations, clock)
    if of_markers is not None and not np.array_equal(t, of_markers):
        raise DescriptionError(
            f"{who}: markers and orientations have different times; bring them to the same frames first"
        )
    if of_markers is None and times_given is None and not own:
        raise DescriptionError(f"{who}: orientations in a mapping need times: t=times [s], shape ({len(t)},)")
    if not isinstance(imus, IMUs):
        raise DescriptionError(
            "inverse_kinematics: orientations need the places of the sensors: "
            "imus=calibrate_imus(system, orientations), of condyle.studies.kinematics"
        )
    used = [k for k, name in enumerate(names) if name in imus.names]
    if not used:
        raise UnknownNameError(
            "sensors",
            cut(names),
            imus.names,
            "inverse_kinematics: no sensor of the data has a place in imus=",
        )
    given = weights_over(t, "orientation_weights", "sensor", weights, {*names, *imus.names})
    w = np.stack([np.broadcast_to(given.get(names[k], 1.0), t.shape) for k in used], axis=1)
    at = [imus.names.index(names[k]) for k in used]
    for k in at:
        system.body(imus.bodies[k])
    R_GS = imus.R_GW @ R_WS[:, used]
    w = np.where(np.isnan(R_GS).any(axis=(2, 3)), 0.0, w)
    if not w.any():
        raise ShapeError(
            "inverse_kinematics: no sensor was measured and has a weight in any frame: all are NaN or zero"
        )
    return t, SensorTasks(
        tuple(names[k] for k in used),
        tuple(imus.bodies[k] for k in at),
        imus.R_BS[at],
        R_GS,
        w,
        tuple(name for name in names if name not in imus.names),
    )
