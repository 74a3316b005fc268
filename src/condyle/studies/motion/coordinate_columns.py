"""The columns of a Table that are coordinates of a system, and their units."""

from __future__ import annotations

import math

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, warn
from condyle.mobilizers import Coupled
from condyle.presentation import cut
from condyle.system.system import System
from condyle.table import Table, si
from condyle.tree import scales

CONTRADICTED = 0.02
"""[rad, m] Constraints that move a coordinate further than this contradict it; measurement errors are
smaller.
"""
LARGEST = float(np.finfo(float).max)
MANY = 3
"""Angles are in degrees if at least this many, and half of all, are more than a turn away from zero."""
SMALL = 0.5
"""Angles that move by more than this, within pi, are probably radians."""
FAR = 200.0
"""[m] Lengths without a unit that are larger are probably in millimeters."""
LOOKS = 20
"""Frames at which columns of followers are compared."""
FOLLOWS = 1e-3
"""Tolerance of this comparison [rad, m]: files are rounded, and constraints hold only to their accuracy."""


class CoordinateColumns:
    """The coordinates in a Table. `find` caches it for Tables with the same names and units.

    Attributes:
        known: names, units and `degrees` of the Table.
        places: the coordinates' places in q.
        columns: their columns.
        names: of these columns.
        coordinates: their own names.
        units: of the coordinates.
        factors: factors from the units of the columns to these, shape (n,).
        ranges: plausible ranges: of angles with a turn added at both ends; up to `FAR` for lengths without a
            unit; unlimited for others; shape (2, n).
        rotating: places, among these columns, of angles.
        angles: their places in q.
        turned: places, among these columns, of angles in degrees.
        unsaid: the same for angles without a unit, which are taken as radians.
        bare: names of angles without any unit.
        missing: places of coordinates that the Table does not have.
        ignored: names of columns that are not coordinates.
        followers: bodies that follow others but have columns of their own in the Table.
    """

    def __init__(self, system: System, table: Table) -> None:
        self.known = table.names, table.units, table.degrees
        own: dict[str, int] = {}
        for j, name in enumerate(table.names):  # OpenSim's: /jointset/knee/knee_angle/value
            path, _, last = name.rpartition("/")
            if last == "value" and path:
                own[path.rpartition("/")[2]] = j
        own |= {name: j for j, name in enumerate(table.names)}
        self.places = [k for k, name in enumerate(system.coordinates) if name in own]
        self.missing = [k for k in range(system.nq) if k not in self.places]
        self.coordinates = [system.coordinates[k] for k in self.places]
        columns, units = [own[name] for name in self.coordinates], scales.units(system.bodies)[0]
        self.columns = np.array(columns, dtype=np.intp)
        self.names = [table.names[j] for j in columns]
        self.units = [units[k] for k in self.places]
        said = [table.units[j] for j in columns]
        factors = [_factor(table, j, unit) for j, unit in zip(columns, self.units, strict=True)]
        self.factors = np.array(factors, dtype=float)
        limits = {c.name: c.range for body in system.bodies for c in body.coordinates if c.range}
        turn = 2 * math.pi
        ranges = [
            (limits[name][0] - turn, limits[name][1] + turn)
            if unit == "rad" and name in limits
            else (-FAR, FAR)
            if unit == "m" and not text
            else (-LARGEST, LARGEST)
            for name, unit, text in zip(self.coordinates, self.units, said, strict=True)
        ]
        self.ranges = np.array(ranges, dtype=float).reshape(-1, 2).T.copy()
        rotating = [k for k, unit in enumerate(self.units) if unit == "rad"]
        self.rotating = np.array(rotating, dtype=np.intp)
        self.angles = np.array([self.places[k] for k in rotating], dtype=np.intp)
        self.turned = [k for k, factor in enumerate(factors) if factor == math.pi / 180]
        self.unsaid = [k for k in rotating if factors[k] == 1 and not said[k]]
        self.bare = [self.names[k] for k in rotating if not said[k] and table.degrees is None]
        self.ignored = tuple(name for j, name in enumerate(table.names) if j not in columns)
        left = {_own(name) for name in self.ignored}
        self.followers = [
            b for b in system.bodies if isinstance(b.mobilizer, Coupled) and left & set(b.mobilizer.own)
        ]

    @classmethod
    def find(cls, system: System, table: Table) -> CoordinateColumns:
        """The coordinates of a system in a table.

        Raises:
            DescriptionError: an invalid unit for a coordinate.
        """
        programs = system.compiled.programs
        last: CoordinateColumns | None = programs.get("columns")
        if last is None or last.known != (table.names, table.units, table.degrees):
            last = programs["columns"] = cls(system, table)
        return last

    def read(self, table: Table, t: Array) -> tuple[Array, Array, Array, bool]:
        """The coordinates, shape (m, n), least and largest value of each, shape (n,), and whether these are
        within the ranges.

        Raises:
            ShapeError: a number that is not finite.
        """
        x = table.values.take(self.columns, axis=1)
        x *= self.factors
        least, most = x.min(axis=0), x.max(axis=0)
        inside = bool(((least >= self.ranges[0]) & (most <= self.ranges[1])).all())
        if not inside and not np.isfinite(x).all():  # NaN is in no range
            for name, column in zip(self.names, x.T, strict=True):
                if not np.isfinite(column).all():
                    i = int(np.argmin(np.isfinite(column)))
                    raise ShapeError(
                        f"motion: {name!r} is {column[i]} at t = {t[i]:g} s (row {i}): fill the "
                        "gap, or cut the table there: table[a:b]"
                    )
        return x, least, most, inside

    def warn_of_degrees(self) -> None:
        """Warn if angles without a unit are read as radians."""
        if bare := self.bare:
            warn(
                f"motion: nothing says whether {', '.join(bare[:3])}{', ...' * (len(bare) > 3)} "
                f"{'is' if len(bare) == 1 else 'are'} in degrees; taken as radians. Say it: "
                "cd.read_table(path, degrees=False), or table.with_units(degrees=False)"
            )

    def warn_of_range(self, least: Array, most: Array, inside: bool) -> bool:
        """Warn about angles that are whole turns outside the coordinate's range: most likely degrees.
        Returns whether angles that were read as radians are likely degrees.

        Args:
            least: value of each coordinate, shape (n,).
            most: largest value of each, shape (n,).
            inside: whether all are within the ranges.
        """
        turn = 2 * math.pi
        if not inside:  # others are probably outside for the same reason
            low, high = self.ranges
            k = int(np.argmax((least < low) | (most > high)))
            far = least[k] if low[k] - least[k] > most[k] - high[k] else most[k]
            if self.units[k] == "m":
                warn(
                    f"motion: {self.names[k]!r} has no unit and goes to {far:.4g} m: are these millimeters? "
                    f"Say it: table.with_units({{{self.names[k]!r}: 'mm', ...}}), or 'm'"
                )
                return False
            self._warn_of_wrong_unit(
                k,
                f"{self.coordinates[k]!r} goes to {far:.4g} rad, its range is "
                f"{low[k] + turn:.4g} to {high[k] - turn:.4g} rad",
            )
            return True
        if len(self.unsaid) >= MANY:
            far = np.maximum(-least[self.unsaid], most[self.unsaid])
            if (count := int((far > turn).sum())) >= max(MANY, len(far) / 2):
                self._warn_of_wrong_unit(
                    self.unsaid[0], f"{count} of {len(far)} angles go beyond a turn, to {far.max():.4g} rad"
                )
                return True
        turned, limit = self.turned, math.radians(math.pi)
        if len(turned) > 1 and not any(most.item(k) >= limit or least.item(k) <= -limit for k in turned):
            least, most = least[turned], most[turned]
            far, moved = math.degrees(max(-least.min(), most.max())), math.degrees((most - least).max())
            if moved > SMALL:
                warn(
                    f"motion: the table is in degrees, and all {len(least)} angles stay within "
                    f"{far:.2g} degrees; if they are radians, say so: degrees=False"
                )
        return False

    def _warn_of_wrong_unit(self, k: int, why: str) -> None:
        own = k not in self.unsaid
        said = (
            "says radians"
            if own
            else "says radians (inDegrees=no)"
            if self.known[2] is False
            else "does not say it, and was taken as radians"
        )
        what = f"{{{self.names[k]!r}: 'deg', ...}}" if own else "degrees=True"
        warn(
            f"motion: {why}: the table is likely in degrees, but it {said}. If so, say it: "
            f"table.with_units({what}), or cd.read_table(path, degrees=True)"
        )

    def warn_of_constraints(self, system: System, table: Table, moved: Array) -> None:
        """Warn where constraints moved coordinates, by `moved`, shape (m, n), further than measurement errors
        explain."""
        i, k = np.unravel_index(int(np.argmax(abs(moved))), moved.shape)
        if abs(moved[i, k]) > CONTRADICTED:
            warn(
                f"motion: the table contradicts the constraints ({cut(system.constraints)}): at t = "
                f"{table.time[i]:g} s they move {system.coordinates[self.places[k]]!r} by {moved[i, k]:.2g} "
                f"{self.units[k]}. Where a coordinate follows another, as that of a patella, leave its "
                "column out: the constraint gives it",
                RuntimeWarning,
            )

    def warn_of_followers(self, system: System, table: Table, q: Array) -> None:
        """Warn about unread columns of dependent coordinates that contradict the coordinates they follow.
        Some frames are compared.

        Args:
            q: coordinates of all frames, shape (m, nq).
        """
        if not self.followers:
            return
        left = {_own(name): j for j, name in enumerate(table.names) if name in self.ignored}
        some = np.unique(np.linspace(0, len(q) - 1, LOOKS).astype(int))
        for body in self.followers:
            m = body.mobilizer
            assert isinstance(m, Coupled)
            follow = np.array([m.coupled(x) for x in q[some, body.q]])
            for k, name in enumerate(m.own):
                if name not in left or name in system.coordinates:
                    continue
                unit = m.mobilizer.units[k]
                off = np.abs(table.values[some, left[name]] * _factor(table, left[name], unit) - follow[:, k])
                if not off.max() <= FOLLOWS:
                    i = int(np.argmax(np.where(np.isfinite(off), off, np.inf)))
                    warn(
                        f"motion: {table.names[left[name]]!r} is not read: {name!r} of body "
                        f"{body.name!r} follows {', '.join(m.coordinates)}, and is "
                        f"{follow[i, k]:.4g} {unit} at t = {table.time[some[i]]:g} s, "
                        f"{off[i]:.2g} {unit} from the table's. Read the model by couplers="
                        "'constraints' if the column is to count"
                    )


def _own(column: str) -> str:
    """The name of a coordinate: OpenSim's columns are /jointset/knee/knee_angle/value."""
    return column.removesuffix("/value").rpartition("/")[2]


def _factor(table: Table, column: int, unit: str) -> float:
    """The factor from the unit of a column to that of a coordinate."""
    said, name = table.units[column], table.names[column]
    if not said:
        return math.pi / 180 if unit == "rad" and table.degrees else 1.0
    found, wanted = si(said), si(unit)
    if (
        said != unit
        and (found is None or wanted is None or found[1] != wanted[1])
        and not (unit == "1" and said in ("rad", "m"))
    ):  # a coordinate that turns and slides
        raise DescriptionError(
            f"motion: column {name!r} is in {said!r}; this coordinate has the unit {unit}"
            + (", or 'deg'" if unit == "rad" else ", 'cm' or 'mm'" if unit == "m" else "")
        )
    if found and found == (1.0, "rad") and table.degrees:
        raise DescriptionError(
            f"motion: column {name!r} has the unit rad, but the table says degrees=True; which is right?"
        )
    return 1.0 if said == unit or found is None or wanted is None else found[0] / wanted[0]
