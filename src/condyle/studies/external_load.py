"""ExternalLoad: a measured force on a body over time, such as a ground reaction."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.studies.motion import Motion
from condyle.studies.smoothing import spline
from condyle.table import Table
from condyle.tree.body import Body

LATE = 0.5
"""By this part of its mean step a motion may begin before the loads or end after them: rounded times."""


@dataclass(frozen=True, eq=False)
class ExternalLoad:
    """A measured force on a body over time, as OpenSim's ExternalForce: force, the point where it acts, and
    a free torque, each three columns of a Table.

        cd.ExternalLoad("calcn_r", grf, force="ground_force_v", point="ground_force_p",
                        torque="ground_torque_")

    Between its rows the Table is interpolated by natural cubic splines. Where the force is zero the point
    does not matter and may be NaN or zero, as force plates write it: it is then taken to go straight from the
    last known point to the next, so that the splines do not see a jump.

    Args:
        body: the body or its name.
        table: force [N], point [m], torque [N m] over time.
        force: names of its three columns, or what they begin with: the three columns that begin so, in
            their order.
        point: likewise; the body's origin by default.
        torque: likewise; none by default.
        frame: in which force and torque are expressed, "ground" or the name of a body.
        point_frame: in which the point is given, "ground" or the name of a body.
    """

    body: Body | str
    table: Table
    force: str | Sequence[str] | None = None
    point: str | Sequence[str] | None = None
    torque: str | Sequence[str] | None = None
    frame: Body | str = "ground"
    point_frame: Body | str = "ground"

    def __post_init__(self) -> None:
        if not isinstance(self.table, Table):
            raise DescriptionError("ExternalLoad: table: expected a cd.Table, got "
                                   f"{type(self.table).__name__}; a file is read by cd.read_table")
        if self.force is None and self.torque is None:
            raise DescriptionError("ExternalLoad: give force= or torque=, the names of three columns")
        for what in ("force", "point", "torque"):
            if (given := getattr(self, what)) is not None:
                object.__setattr__(self, what, self._three(what, given))
        self._check_units()

    def _check_units(self) -> None:
        """Where the table has units they are SI: force plates often give points in millimetres."""
        for what, unit in (("force", "N"), ("point", "m"), ("torque", "N m")):
            for name in getattr(self, what) or ():
                said = self.table.units[self.table.names.index(name)]
                if said.replace("*", " ").replace(".", " ").replace("Nm", "N m") not in ("", unit):
                    raise DescriptionError(f"ExternalLoad: {what}: column {name!r} is in {said!r}, expected "
                                           f"{unit!r}: convert it")

    def _three(self, what: str, given: Any) -> tuple[str, ...]:
        names = self.table.names
        if isinstance(given, str):
            found = tuple(name for name in names if name.startswith(given))
            if len(found) != 3:
                if not found:
                    raise UnknownNameError(f"beginning of columns ({what} of an ExternalLoad)", given, names)
                raise DescriptionError(f"ExternalLoad: {what}: three columns must begin with {given!r}, "
                                       f"there are {len(found)}: {', '.join(found)}; give their names")
            axes = "".join(name[-1].lower() for name in found)
            if axes != "xyz" and sorted(axes) == ["x", "y", "z"]:
                raise DescriptionError(f"ExternalLoad: {what}: the columns that begin with {given!r} are in "
                                       f"the order {', '.join(found)}; give their names, x, y, z")
            return found
        given = tuple(given)
        for name in given:
            if name not in names:
                raise UnknownNameError(f"column ({what} of an ExternalLoad)", name, names)
        if len(given) != 3:
            raise DescriptionError(f"ExternalLoad: {what}: expected the names of three columns, got {given}")
        return given

    def wrench(self, motion: Motion) -> Array:
        """Moment about ground's origin and force, in ground [N m, N], shape (m, 6)."""
        p, f, torque = self.acting(motion)
        out = np.empty((len(f), 6))
        out[:, :3] = torque
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):   # + p x f
            out[:, i] += p[:, j] * f[:, k] - p[:, k] * f[:, j]
        out[:, 3:] = f
        return out

    def acting(self, motion: Motion) -> tuple[Array, Array, Array]:
        """Point [m], force [N] and torque [N m] in ground, shape (m, 3) each."""
        name = system_body(motion, self.body)
        x = self._at(motion)
        force, torque, p = x[:, :3], x[:, 3:6], x[:, 6:]
        if self.frame != "ground":
            R = motion._batch().ask("body_pose", (self.frame,), {}).R
            force, torque = (np.einsum("...ij,...j->...i", R, v) for v in (force, torque))
        if self.point is None:
            p = motion._batch().ask("body_pose", (name,), {}).p
        elif self.point_frame != "ground":
            X = motion._batch().ask("body_pose", (self.point_frame,), {})
            p = np.einsum("...ij,...j->...i", X.R, p) + X.p
        return p, force, torque

    def _at(self, motion: Motion) -> Array:
        """Force, torque and point at the times of a motion, shape (m, 9); zero for what is not given."""
        time, values = self.table.time, self.table.values
        known = self.__dict__.get("_known")
        if known is None or not (np.array_equal(known[0], time) and np.array_equal(known[1], values)):
            x = self._checked()
            curve = spline(time, x, 3) if len(time) > 3 else None
            known = self.__dict__["_known"] = time.copy(), values.copy(), x, curve   # found once per table
        x, curve = known[2:]
        t, step = motion.t, (time[-1] - time[0]) / max(len(time) - 1, 1)
        if t[0] < time[0] - LATE * step or t[-1] > time[-1] + LATE * step:
            raise ShapeError(f"ExternalLoad on {self.body!r}: loads are known from {time[0]:g} to "
                             f"{time[-1]:g} s, the motion goes from {t[0]:g} to {t[-1]:g} s; cut it: "
                             "motion[a:b]")
        if np.array_equal(t, time):
            return x  # type: ignore[no-any-return]
        if t[0] < time[0] or t[-1] > time[-1]:
            t = np.clip(t, time[0], time[-1])
        if curve is None:
            return np.stack([np.interp(t, time, column) for column in x.T], axis=1)
        return curve(t)  # type: ignore[no-any-return]

    def _checked(self) -> Array:
        """Force, torque and point in the rows of the table, shape (rows, 9)."""
        time, x = self.table.time, np.zeros((len(self.table), 9))
        if not len(time) or not (np.diff(time) > 0).all():
            raise ShapeError(f"ExternalLoad on {self.body!r}: the table needs rows whose times increase")
        for k, columns in enumerate((self.force, self.torque, self.point)):
            if columns is None:
                continue
            own = self.table[list(columns)].values
            if columns is self.point:                       # where there is no force, it does not matter
                still = (x[:, :3] == 0).all(axis=1)
                own = _bridged(time, own, still & (np.isnan(own).any(axis=1) | (own == 0).all(axis=1)))
            if not np.isfinite(own).all():
                i, j = np.argwhere(~np.isfinite(own))[0]
                raise ShapeError(f"ExternalLoad on {self.body!r}: {columns[j]!r} is {own[i, j]} at t = "
                                 f"{time[i]:g} s")
            x[:, 3 * k:3 * k + 3] = own
        return x


def _bridged(time: Array, x: Array, gaps: NDArray[np.bool_]) -> Array:
    """x (m, 3) with some rows replaced: linear between the rows around them, constant beyond the others."""
    if gaps.all():
        return np.zeros_like(x)
    x = x.copy()
    for k in range(3):
        x[gaps, k] = np.interp(time[gaps], time[~gaps], x[~gaps, k])
    return x


def system_body(motion: Motion, body: Body | str) -> str:
    """The name of a body, which may not be ground."""
    found = motion.system.body(body)
    if found.is_ground:
        raise DescriptionError("ExternalLoad: a load on ground moves nothing; name the body that it acts on")
    return found.name


def loads_on(motion: Motion, external_loads: Any) -> dict[str, Array]:
    """Wrenches about ground's origin, in ground, shape (m, 6), by body."""
    if external_loads is None:
        return {}
    several = isinstance(external_loads, Iterable) and not isinstance(external_loads, (Table, str, Mapping))
    given = list(external_loads) if several else [external_loads]
    out: dict[str, Array] = {}
    for load in given:
        if not isinstance(load, ExternalLoad):
            hint = " and the names of its columns" if isinstance(load, (Table, str)) else ""
            if str(load).lower().endswith(".xml"):
                hint = ": cd.read_external_loads(path) does for OpenSim's ExternalLoads"
            raise DescriptionError("external_loads: expected cd.ExternalLoad(body, table, force=..., "
                                   f"point=..., torque=...), or several, got {type(load).__name__}; make one "
                                   f"of it{hint}")
        name = system_body(motion, load.body)
        out[name] = out.get(name, 0.0) + load.wrench(motion)
    return out


def stacked(by_name: dict[str, Array]) -> Array | None:
    """Arrays (m, ...) side by side, shape (m, n, ...); None for none."""
    return np.stack(list(by_name.values()), axis=1) if by_name else None
