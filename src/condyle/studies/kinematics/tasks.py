"""What inverse kinematics follows: markers, sensors and coordinates with their weights, as goals.

With e_m the distance of a marker from its place on the model, phi_s the angle between a sensor and its place,
and w(t) the weights, a frame has the cost that OpenSim's tools have,

    sum_m w_m |e_m|^2 / (2 W_m)  +  sum_s w_s phi_s^2 / (2 W_s)  +  sum_c w_c (q_c - v_c)^2 / 2            (1)

where W_m and W_s are the sums of w_m and w_s over what was measured in that frame. So the first two terms are
weighted means: ten times the weights of all markers change nothing, and a coordinate of weight w_c is worth
as much as w_c markers that have all the weight. What is NaN was not measured: it has no weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.fit.configurations import Configurations
from condyle.fit.goals import Coordinate, Goal, Orientation, Station
from condyle.records import dataclass
from condyle.system.system import System

Rows = slice | NDArray[np.intp]
"""Which frames."""
ALL = slice(None)


@dataclass(frozen=True, eq=False)
class MarkerTasks:
    """Markers that a system has and that were measured, in the order of the data.

    Attributes:
        names: in the model.
        bodies: name of the body of each.
        stations: in the frame of the body [m], shape (n, 3).
        positions: measured, in ground [m], shape (T, n, 3); NaN where one was not seen.
        weights: shape (T, n), zero where one was not seen.
        not_measured: markers of the model that have no data.
        not_in_model: markers of the data that the model does not have.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    stations: Array
    positions: Array
    weights: Array
    not_measured: tuple[str, ...] = ()
    not_in_model: tuple[str, ...] = ()

    def goals(self, system: System, rows: Rows) -> list[Goal]:
        """Those of (1), for some frames. Markers on ground count in W; nothing can be done for them."""
        w, x = _shares(self.weights[rows]).T, self.positions[rows].transpose(1, 0, 2)
        ground = {body for body in set(self.bodies) if system.body(body).is_ground}
        return [
            Station.made(*given)
            for given in zip(self.bodies, self.stations, x, w, self.names, strict=True)
            if given[0] not in ground
        ]

    def places(self, at: Configurations) -> Array:
        """Where the model has them, shape (T, n, 3)."""
        return at.station_positions(self.bodies, self.stations)


@dataclass(frozen=True, eq=False)
class SensorTasks:
    """Sensors of orientation on bodies, in the order of the data.

    Attributes:
        names: of the sensors.
        bodies: name of the body of each.
        R_BS: their place on the bodies, shape (n, 3, 3).
        R_GS: measured, shape (T, n, 3, 3); NaN where one was not.
        weights: shape (T, n), zero where one was not measured.
        not_placed: sensors of the data that have no place.
    """

    names: tuple[str, ...]
    bodies: tuple[str, ...]
    R_BS: Array
    R_GS: Array
    weights: Array
    not_placed: tuple[str, ...] = ()

    def goals(self, rows: Rows) -> list[Goal]:
        """Those of (1), for some frames."""
        w = _shares(self.weights[rows])
        R_GB = self.R_GS[rows] @ np.swapaxes(self.R_BS, -1, -2)
        return [
            Orientation(body, R_GB[:, k], weight=w[:, k], name=name)
            for k, (name, body) in enumerate(zip(self.names, self.bodies, strict=True))
        ]

    def places(self, at: Configurations) -> Array:
        """R_GS of the model, shape (T, n, 3, 3)."""
        return np.stack(
            [at.rotation(body) @ R for body, R in zip(self.bodies, self.R_BS, strict=True)], axis=1
        )


@dataclass(frozen=True, eq=False)
class Tasks:
    """All that is followed.

    Attributes:
        system: whose markers, bodies and coordinates these are.
        t: times of the frames [s], shape (T,).
        markers: see there.
        sensors: see there.
        coordinates: value and weight of each frame by name, shapes (T,).
        others: goals that are added as they are.
    """

    system: System
    t: Array
    markers: MarkerTasks | None
    sensors: SensorTasks | None
    coordinates: Mapping[str, tuple[Array, Array]]
    others: Sequence[Goal] = ()

    def goals(self, rows: Rows = ALL) -> list[Goal]:
        """The goals whose cost is (1), for some frames."""
        out = self.markers.goals(self.system, rows) if self.markers is not None else []
        out += self.sensors.goals(rows) if self.sensors is not None else []
        out += [
            Coordinate(name, value[rows], weight=weight[rows], name=name)
            for name, (value, weight) in self.coordinates.items()
        ]
        here = np.arange(len(self.t))[rows]
        return out + [g if g.frames is None else _chosen(g, here) for g in self.others]

    @cached_property
    def measured(self) -> NDArray[np.int64]:
        """How many markers and sensors were measured in each frame, shape (T,)."""
        seen = np.zeros(len(self.t), dtype=np.int64)
        for part in (self.markers, self.sensors):
            if part is not None:
                seen += (part.weights > 0).sum(axis=1)
        return seen


def _shares(w: Array) -> Array:
    """w / W of each frame, zero where nothing was measured."""
    W = w.sum(axis=1, keepdims=True)
    return np.divide(w, W, out=np.zeros_like(w), where=W > 0)


def _chosen(goal: Goal, frames: NDArray[np.intp]) -> Goal:
    """A goal in some of its frames."""
    out, weight = goal.frame(0), np.asarray(goal.weight)
    if goal.target.ndim > len(goal.shape):
        out._set(**{goal.about: goal.target[frames]})
    if weight.ndim:
        out._set(weight=weight[frames])
    return out
