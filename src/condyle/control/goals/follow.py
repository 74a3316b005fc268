"""Follow measured movements: coordinates, markers, orientations of bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX, Array
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import MovementGoal, MovementPoints
from condyle.control.point import MovementPoint
from condyle.errors import DescriptionError, UnknownNameError
from condyle.fit.frames import Frames as AssembledFrames
from condyle.integrate.trajectory import Trajectory
from condyle.io.markers import Markers
from condyle.records import assign, dataclass
from condyle.spatial import rotation_from_quaternion
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.spline_rates import spline
from condyle.table import Table
from condyle.table.reshaped import without_jumps

Measured = Table | Markers | Motion | Trajectory | AssembledFrames | Mapping[str, Table]


@dataclass(frozen=True, eq=False)
class Follow(MovementGoal):
    """The movement should be close to a measured one:

        integral over time of  sum of weight |x - x measured|^2                                  (1)

    with x a variable, the position of a marker [m], or an orientation, by its angle [rad].

    Args:
        measured: a Table of coordinates and other variables by their names (columns of OpenSim's states too),
            a motion of `cd.inverse_kinematics`; markers of `cd.read_markers`, of which those that the system
            has are followed, even if some frames miss them; or {body: Table of its quaternion in ground,
            columns w, x, y, z}. It is interpolated by a natural spline of degree 5 (quaternions linearly).
        weights: by names of columns, markers or bodies; 1 for others, zero leaves one out.
        speeds: weight of rates of coordinates against those of the splines, in s^2 times the weight of the
            coordinate.
    """

    measured: Measured
    weights: Mapping[str, float] | None = None
    speeds: float = 0.0
    kind: str = field(init=False, repr=False, default="")

    def __post_init__(self) -> None:
        super().__post_init__()
        m: Any = motion_table(self.measured)
        assign(self, measured=m)
        if not isinstance(m, (Table, Markers)) and not (isinstance(m, Mapping) and m):
            raise DescriptionError(
                f"Follow: expected a Table, markers or {{body: Table of quaternions}}, got {m!r}"
            )
        if isinstance(m, Table):  # unwrap angles
            assign(self, measured=m.to_si()._with(values=without_jumps(m.to_si())))
        assign(
            self, kind="markers" if isinstance(m, Markers) else "table" if isinstance(m, Table) else "bodies"
        )
        for name, w in (self.weights or {}).items():
            if not 0 <= w < np.inf:
                raise DescriptionError(f"Follow: the weight of {name!r} must be 0 or more, got {w!r}")
        if not 0 <= self.speeds < np.inf:
            raise DescriptionError(f"Follow: speeds must be 0 or more, got {self.speeds!r}")

    def _weight(self, *names: str) -> float:
        given = self.weights or {}
        return float(next((given[name] for name in names if name in given), 1.0))

    def _followed(self, dynamics: Dynamics) -> dict[str, str]:
        """Variables to follow, with the names in the data: {variable, marker or body: column}."""
        m: Any = self.measured
        if self.kind == "table":
            known: Any = {*dynamics.index, *(dynamics.tree.coordinates[i] for i in dynamics.held_coordinates)}
            pairs = {variable_name(name, known): name for name in m.names}
        else:
            bodies = self.kind == "bodies"
            known = [b.name for b in dynamics.system.bodies] if bodies else dynamics.system.markers
            pairs = {name: name for name in m}
        out = {x: name for x, name in pairs.items() if x in known and self._weight(x, name) > 0}
        if self.kind == "bodies" and (odd := [x for x in m if x not in known]):
            raise UnknownNameError("body", odd[0], known, "Follow")
        if not out:
            what = "variable" if self.kind == "table" else "marker"
            names = list(m.names if self.kind == "table" else m)
            raise DescriptionError(
                f"Follow: none of the data is a {what} of this system: {', '.join(map(repr, names[:5]))}"
            )
        return out

    def check(self, dynamics: Dynamics) -> None:
        m: Any = self.measured
        known = {x for pair in self._followed(dynamics).items() for x in pair}
        known |= set(m.names if self.kind == "table" else m)
        for name in self.weights or ():
            if name not in known:
                raise UnknownNameError("column", name, sorted(known), "Follow: weights")

    def code(self, dynamics: Dynamics) -> str:
        where = []
        if self.kind == "markers":
            at = [dynamics.system.marker(name) for name in self._followed(dynamics)]
            where = [(marker.body, marker.station) for marker in at]
        return f"Follow 1 {self.kind} {list(self._followed(dynamics))} {self.speeds > 0} {where}"

    def data(self, frames: MovementPoints) -> Array:
        m: Any = self.measured
        followed, dynamics = self._followed(frames.dynamics), frames.dynamics
        columns: list[Array] = []
        if self.kind == "bodies":
            for x in followed:
                t, w = frames.clock(m[x].time, f"Follow: {x!r}"), self._weight(x)
                q = np.column_stack([np.interp(t, m[x].time, c) for c in _signs(m[x].values).T])
                columns += [np.full((len(t), 1), w), q / np.linalg.norm(q, axis=1)[:, None]]
            return np.concatenate(columns, axis=1)
        t = frames.clock(m.time, "Follow")
        if self.kind == "markers":
            for x in followed:
                p, w = np.asarray(m[x], float), self._weight(x)
                seen = np.isfinite(p).all(axis=1)
                if seen.sum() < 2:
                    raise DescriptionError(f"Follow: marker {x!r} is seen in {int(seen.sum())} frames")
                gap = np.interp(t, m.time, seen.astype(float)) < 1 - 1e-9
                values = spline(m.time[seen], p[seen], degree(int(seen.sum())))(
                    np.clip(t, *m.time[seen][[0, -1]])
                )
                columns += [np.where(gap, 0.0, w)[:, None], values]
            return np.concatenate(columns, axis=1)
        stretch = (m.time[-1] - m.time[0]) / (frames.times[-1] - frames.times[0]) if frames.free else 1.0
        for x, name in followed.items():
            w, values = self._weight(x, name), np.asarray(m[name], float)[:, None]
            if not np.isfinite(values).all():
                i = int(np.argmin(np.isfinite(values[:, 0])))
                raise DescriptionError(
                    f"Follow: {name!r} is {values[i, 0]} at t = {m.time[i]:g} s: fill the gap"
                )
            curve = spline(m.time, values, degree(len(values)))
            columns += [np.full((len(t), 1), w), curve(t)]
            if self._rate(dynamics, x):
                columns += [np.full((len(t), 1), w * self.speeds), curve(t, 1) * stretch]
        return np.concatenate(columns, axis=1)

    def _rate(self, dynamics: Dynamics, x: str) -> str:
        """The name of the speed followed with a coordinate."""
        if not self.speeds or x not in dynamics.tree.coordinates or f"{x}_speed" not in dynamics.index:
            return ""
        return f"{x}_speed"

    def integrand(self, p: MovementPoint) -> SX:
        total, k = ca.SX(0), 0
        for x in self._followed(p.dynamics):
            w = p.data[k]
            if self.kind == "markers":
                marker = p.dynamics.system.marker(x)
                at = p.view.station_position(marker.body, ca.DM(marker.station))
                total, k = total + w * ca.sumsqr(at - p.data[k + 1 : k + 4]), k + 4
            elif self.kind == "bodies":
                total, k = total + w * _angle2(p.view.rotation(x), p.data[k + 1 : k + 5]), k + 5
            else:
                total, k = total + w * (p[x] - p.data[k + 1]) ** 2, k + 2
                if rate := self._rate(p.dynamics, x):
                    total, k = total + p.data[k] * (p[rate] - p.data[k + 1]) ** 2, k + 2
        return total


def variable_name(column: str, known: Any) -> str:
    """The variable of a table's column: its name, or an OpenSim state (/jointset/knee/angle/value,
    /forceset/soleus/activation, /forceset/tau)."""
    if column in known or "/" not in column:
        return column
    parts = column.strip("/").split("/")
    head, last = parts[-2] if len(parts) > 1 else "", parts[-1]
    for name in {"value": (head,), "speed": (f"{head}_speed", head)}.get(last, (f"{head}.{last}", last)):
        if name in known:
            return name
    return column


def motion_table(motion: Any) -> Any:
    """Coordinates of a motion (an object with a system and q over time) as a Table; other objects unchanged."""
    if isinstance(motion, (Motion, Trajectory, AssembledFrames)):
        return Table(np.asarray(motion.t), list(motion.system.coordinates), np.asarray(motion.q))
    found = getattr(motion, "motion", None)
    return found if isinstance(found, Table) else motion


def degree(rows: int) -> int:
    """Degree of a natural spline through some rows."""
    return 5 if rows >= 6 else 3 if rows >= 4 else 1


def _signs(q: Array) -> Array:
    """Quaternions without jumps of sign."""
    flip = np.cumprod(np.where((q[1:] * q[:-1]).sum(axis=1) < 0, -1.0, 1.0))
    return q * np.concatenate([[1.0], flip])[:, None]


def _angle2(R: SX, q: SX) -> SX:
    """The squared angle between a rotation and a quaternion; near 180 degrees 4, where its slope ends.

    2 (1 - cos) is the angle squared to fourth order; with a third of (1 - cos)^2 to sixth.
    """
    c = 1 - (ca.trace(R.T @ rotation_from_quaternion(q)) - 1) / 2
    return 2 * c + c * c / 3
