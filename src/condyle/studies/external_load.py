"""ExternalLoad: a measured force on a body over time, such as a ground reaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array, median
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, check_names, warn
from condyle.plausible import ask, of_times
from condyle.records import assign, dataclass
from condyle.studies.motion.motion import Motion
from condyle.studies.motion.spline_rates import spline
from condyle.table import Table, after_events
from condyle.tree.body import Body

LATE = 0.5
"""Fraction of its mean step by which a motion may begin before the loads or end after them, for rounded
times."""


_CYCLES = [0, 1, 2, 0, 1, 6, 7, 8, 6, 7, 3, 4, 5]
"""Force, torque, point in the layout of `_sampled`: products of vectors are then products of slices."""


@dataclass(frozen=True, eq=False)
class ExternalLoad(ExplainsCalls):
    """A measured force on a body over time, as OpenSim's ExternalForce: force, the point where it acts, and
    a free torque, each three columns of a Table.

        cd.ExternalLoad("calcn_r", grf, force="ground_force_v", point="ground_force_p",
                        torque="ground_torque_")

    Between its rows the Table is interpolated by natural cubic splines. If the force is zero the point does
    not matter and may be NaN or zero, as in files of force plates: it is then interpolated linearly between
    known points, so that the splines have no jump.

    Args:
        body: the body or its name.
        table: force [N], point [m], torque [N m] over time.
        force: names of its three columns, or the common beginning of three names, in their order.
        point: names, as for force; the body's origin by default.
        torque: names, as for force; no torque by default.
        frame: in which force and torque are expressed, "ground" or the name of a body.
        point_frame: in which the point is given, "ground" or the name of a body.
    """

    call_hints: ClassVar = {
        **dict.fromkeys(("force_frame", "force_expressed_in_body"), "it is frame="),
        "applied_to_body": "it is body=",
        "force_identifier": "it is force=",
        "point_identifier": "it is point=",
        "torque_identifier": "it is torque=",
        "point_expressed_in_body": "it is point_frame=",
    }

    body: Body | str
    table: Table
    force: str | Sequence[str] | None = None
    point: str | Sequence[str] | None = None
    torque: str | Sequence[str] | None = None
    frame: Body | str = "ground"
    point_frame: Body | str = "ground"

    def __post_init__(self) -> None:
        if not isinstance(self.table, Table):
            raise DescriptionError(
                "ExternalLoad: table: expected a cd.Table, got "
                f"{type(self.table).__name__}; a file is read by cd.read_table"
            )
        if not len(self.table):
            raise ShapeError(f"ExternalLoad on {self.body!r}: its table has no rows")
        assign(self, table=after_events(f"ExternalLoad on {self.body!r}", self.table))
        if self.force is None and self.torque is None:
            raise DescriptionError("ExternalLoad: give force= or torque=, the names of three columns")
        for what in ("force", "point", "torque"):
            if (given := getattr(self, what)) is not None:
                object.__setattr__(self, what, self._three(what, given))
        self._check_units()
        for text in of_times(self.table.time):
            ask(f"ExternalLoad on {self._name!r}: {text}")
        for name in (*(self.force or ()), *(self.torque or ())):
            x = self.table[name]
            if not np.isfinite(x).all():
                i = int(np.argmin(np.isfinite(x)))
                raise ShapeError(
                    f"ExternalLoad on {self._name!r}: {name!r} is {x[i]} at t = "
                    f"{self.table.time[i]:g} s: fill the gap, or write 0 if nothing acts"
                )

    @property
    def _name(self) -> str:
        return self.body if isinstance(self.body, str) else self.body.name

    def _check_units(self) -> None:
        """Units of the table, where given, must be SI: force plates often give points in millimeters."""
        for what, unit in (("force", "N"), ("point", "m"), ("torque", "N m")):
            for name in getattr(self, what) or ():
                said = self.table.units[self.table.names.index(name)]
                if said.replace("*", " ").replace(".", " ").replace("Nm", "N m") not in ("", unit):
                    raise DescriptionError(
                        f"ExternalLoad: {what}: column {name!r} is in {said!r}, expected {unit!r}: convert it"
                    )

    def _three(self, what: str, given: Any) -> tuple[str, ...]:
        names = self.table.names
        if isinstance(given, str):
            found = tuple(name for name in names if name.startswith(given))
            if len(found) != 3:
                if not found:
                    raise UnknownNameError(f"beginning of columns ({what} of an ExternalLoad)", given, names)
                raise DescriptionError(
                    f"ExternalLoad: {what}: three columns must begin with {given!r}, "
                    f"there are {len(found)}: {', '.join(found)}; give their names"
                )
            axes = "".join(name[-1].lower() for name in found)
            if axes != "xyz" and sorted(axes) == ["x", "y", "z"]:
                raise DescriptionError(
                    f"ExternalLoad: {what}: the columns that begin with {given!r} are in "
                    f"the order {', '.join(found)}; give their names, x, y, z"
                )
            return found
        given = tuple(given)
        check_names(f"column ({what} of an ExternalLoad)", given, names)
        if len(given) != 3:
            raise DescriptionError(f"ExternalLoad: {what}: expected the names of three columns, got {given}")
        return given

    def acting(self, motion: Motion) -> tuple[Array, Array, Array]:
        """Point [m], force [N] and torque [N m] in ground, shape (m, 3) each."""
        return self._in_ground(motion, _sampled((self,), motion)[:, 0].copy())  # which are the caller's

    def _in_ground(self, motion: Motion, x: Array) -> tuple[Array, Array, Array]:
        """Point, force and torque in ground from recorded values, shape (m, 13)."""
        name = system_body(motion, self.body)
        force, p, torque = x[:, :3], x[:, 5:8], x[:, 10:]
        if self.frame != "ground":
            R = motion._batch().ask("body_pose", (self.frame,), {}).R
            force, torque = (np.einsum("...ij,...j->...i", R, v) for v in (force, torque))
        if self.point is None:
            p = motion._batch().ask("body_pose", (name,), {}).p
        elif self.point_frame != "ground":
            X = motion._batch().ask("body_pose", (self.point_frame,), {})
            p = np.einsum("...ij,...j->...i", X.R, p) + X.p
        return p, force, torque

    @property
    def _all_in_ground(self) -> bool:
        return self.frame == "ground" and self.point is not None and self.point_frame == "ground"

    def _checked(self) -> Array:
        """Force, torque and point in the rows of the table, shape (rows, 9)."""
        time, x = self.table.time, np.zeros((len(self.table), 9))
        if not len(time) or not (np.diff(time) > 0).all():
            raise ShapeError(f"ExternalLoad on {self.body!r}: the table needs rows whose times increase")
        for k, columns in enumerate((self.force, self.torque, self.point)):
            if columns is None:
                continue
            own = self.table[list(columns)].values
            if columns is self.point:  # where there is no force, it does not matter
                still = (x[:, :3] == 0).all(axis=1)
                own = _bridged(time, own, still & (np.isnan(own).any(axis=1) | (own == 0).all(axis=1)))
                far = float(median(np.abs(own[~still]).max(axis=1))) if not still.all() else 0.0
                if far > 50:
                    warn(
                        f"ExternalLoad on {self.body!r}: its point {columns[0]!r} .. is {far:.0f} m away in "
                        "half of the rows or more; are points in meters? Divide millimeters by 1000"
                    )
            if not np.isfinite(own).all():
                i, j = np.argwhere(~np.isfinite(own))[0]
                raise ShapeError(
                    f"ExternalLoad on {self.body!r}: {columns[j]!r} is {own[i, j]} at t = {time[i]:g} s: "
                    "fill the gap, or write 0 forces where nothing acts"
                )
            x[:, 3 * k : 3 * k + 3] = own
        return x


@dataclass
class _Recorded:
    """Curves through the columns of a Table, valid while its numbers do not change.

    Attributes:
        numbers: times and values of the Table, as they are in memory (NaN is like any other), and names.
        curves: numbers in the rows of the Table and the curve through them, by the columns of some loads.
    """

    numbers: tuple[bytes, bytes, tuple[str, ...]]
    curves: dict[Any, tuple[Array, Any]]


_recorded: WeakKeyDictionary[Table, _Recorded] = WeakKeyDictionary()


def _sampled(loads: Sequence[ExternalLoad], motion: Motion) -> Array:
    """Values of several loads of one Table at the times of a motion, shape (m, loads, 13): force and point,
    each followed by its first two components again, then torque; zero for missing ones."""
    table, t = loads[0].table, motion.t
    time, known = table.time, _recorded.get(table)
    numbers = time.tobytes(), table.values.tobytes(), table.names
    if known is None or known.numbers != numbers:
        known = _recorded[table] = _Recorded(numbers, {})
    key = tuple([(load.force, load.point, load.torque) for load in loads])
    if key not in known.curves:
        x = np.stack([load._checked()[:, _CYCLES] for load in loads], axis=1)
        flat = x.reshape(len(time), -1)
        known.curves[key] = x, spline(time, flat, 3) if len(time) > 3 else None
    x, curve = known.curves[key]
    first, last, start, end = time.item(0), time.item(-1), t.item(0), t.item(-1)
    late = LATE * (last - first) / max(len(time) - 1, 1)
    if start < first - late or end > last + late:
        raise ShapeError(
            f"ExternalLoad on {loads[0].body!r}: loads are known from {first:g} to {last:g} s, "
            f"the motion goes from {start:g} to {end:g} s; cut it: motion[a:b]"
        )
    if len(t) == len(time) and (t == time).all():
        return x
    if start < first or end > last:
        t = np.clip(t, first, last)
    if curve is None:
        found = np.stack([np.interp(t, time, column) for column in x.reshape(len(time), -1).T], axis=1)
    else:
        found = curve(t)
    return found.reshape(len(t), len(loads), len(_CYCLES))  # type: ignore[no-any-return]


def _wrenches(x: Array) -> Array:
    """Moment about ground's origin and force [N m, N], (m, loads, 6), of loads in ground, (m, loads, 13)."""
    x = x.transpose(2, 1, 0).copy()  # all times of a component in one piece
    f, p, out = x[:5], x[5:10], np.empty((6, *x.shape[1:]))
    moment = np.multiply(p[1:4], f[2:5], out=out[:3])  # p x f
    moment -= p[2:5] * f[1:4]
    moment += x[10:]
    out[3:] = f[:3]
    return out.transpose(2, 1, 0)


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
        raise DescriptionError("ExternalLoad: a load on ground has no effect; name the body that it acts on")
    return found.name


class LoadWrenches(dict[str, Array]):
    """Wrenches about ground's origin, in ground [N m, N], shape (m, 6), by body.

    Attributes:
        given: the original loads.
    """

    given: Sequence[ExternalLoad] = ()


def loads_on(motion: Motion, external_loads: Any) -> LoadWrenches:
    """Wrenches of external loads on the bodies of a motion."""
    if external_loads is None:
        return LoadWrenches()
    several = isinstance(external_loads, Iterable) and not isinstance(external_loads, (Table, str, Mapping))
    given = list(external_loads) if several else [external_loads]
    names: list[str] = []
    by_table: dict[int, list[int]] = {}
    for load in given:
        if not isinstance(load, ExternalLoad):
            hint = " and the names of its columns" if isinstance(load, (Table, str)) else ""
            if str(load).lower().endswith(".xml"):
                hint = ": cd.read_external_loads(path) does for OpenSim's ExternalLoads"
            raise DescriptionError(
                "external_loads: expected cd.ExternalLoad(body, table, force=..., "
                f"point=..., torque=...), or several, got {type(load).__name__}; make one "
                f"of it{hint}"
            )
        by_table.setdefault(id(load.table), []).append(len(names))
        names.append(system_body(motion, load.body))
    wrenches: list[Any] = [None] * len(names)
    for places in by_table.values():
        loads = [given[k] for k in places]
        x = _sampled(loads, motion)
        W = _wrenches(x)
        for j, (k, load) in enumerate(zip(places, loads, strict=True)):
            if not load._all_in_ground:
                p, force, torque = load._in_ground(motion, x[:, j])
                turned = np.concatenate([force, force[:, :2], p, p[:, :2], torque], axis=1)
                W[:, j] = _wrenches(turned[:, None])[:, 0]
            wrenches[k] = W[:, j]
    out = LoadWrenches()
    out.given = given
    for name, W in zip(names, wrenches, strict=True):
        out[name] = out[name] + W if name in out else W
    return out


def stacked(by_name: dict[str, Array]) -> Array | None:
    """Arrays (m, ...) side by side, shape (m, n, ...); None for none."""
    return np.array([*by_name.values()]).swapaxes(0, 1) if by_name else None
