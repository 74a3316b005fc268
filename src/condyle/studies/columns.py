"""Which columns of a Table are the coordinates of a system, in which units."""
from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError
from condyle.mobilizers import Coupled
from condyle.system.system import System
from condyle.table import Table
from condyle.tree import scales

_FACTORS = {"rad": {"deg": math.pi / 180, "degrees": math.pi / 180, "°": math.pi / 180, "rad": 1.0},
            "m": {"m": 1.0, "cm": 1e-2, "mm": 1e-3}}


SMALL = 0.5
"""Angles that move by more than this, and stay within pi, look like radians."""
LOOKS = 20
"""Frames at which columns of followers are compared."""
FOLLOWS = 1e-3
"""By how much these may differ [rad, m]: files are rounded, and constraints hold to an accuracy."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The coordinates in a Table. For Tables with the same names and units it is made once.

    Attributes:
        known: names, units and `degrees` of the Table.
        places: the coordinates' places in q.
        columns: their columns.
        names: of these columns.
        coordinates: their own names.
        units: of the coordinates.
        factors: from the units of the columns to those, shape (n, 1).
        ranges: what angles may be, a turn added at both ends; no limits for others; shape (2, n).
        bare: names of the angles of which nothing says in which unit they are.
        missing: places of coordinates that the Table does not have.
        ignored: names of columns that are no coordinates.
    """

    known: tuple[tuple[str, ...], tuple[str, ...], bool | None]
    places: list[int]
    columns: list[int]
    names: list[str]
    coordinates: list[str]
    units: list[str]
    factors: Array
    ranges: Array
    bare: list[str]
    missing: list[int]
    ignored: tuple[str, ...]

    @classmethod
    def of(cls, system: System, table: Table) -> Columns:
        """Those of a table.

        Raises:
            DescriptionError: a unit that a coordinate cannot have.
        """
        key, programs = (table.names, table.units, table.degrees), system.compiled.programs
        last: Columns | None = programs.get("columns")
        if last is None or last.known != key:
            last = programs["columns"] = cls._found(system, table)
        return last

    @classmethod
    def _found(cls, system: System, table: Table) -> Columns:
        known: dict[str, int] = {}
        for j, name in enumerate(table.names):              # OpenSim's: /jointset/knee/knee_angle/value
            path, _, last = name.rpartition("/")
            if last == "value" and path:
                known[path.rpartition("/")[2]] = j
        known |= {name: j for j, name in enumerate(table.names)}
        places = [k for k, name in enumerate(system.coordinates) if name in known]
        coordinates = [system.coordinates[k] for k in places]
        columns, units = [known[name] for name in coordinates], scales.units(system.bodies)[0]
        units = [units[k] for k in places]
        limits = {c.name: c.range for body in system.bodies for c in body.coordinates if c.range}
        turn = 2 * math.pi
        ranges = [(limits[name][0] - turn, limits[name][1] + turn) if unit == "rad" and name in limits
                  else (-math.inf, math.inf) for name, unit in zip(coordinates, units, strict=True)]
        return cls((table.names, table.units, table.degrees), places, columns,
                   [table.names[j] for j in columns], coordinates, units,
                   np.array([[_factor(table, j, unit)] for j, unit in zip(columns, units, strict=True)]
                            ).reshape(-1, 1), np.array(ranges, dtype=float).reshape(-1, 2).T,
                   [table.names[j] for j, unit in zip(columns, units, strict=True)
                    if unit == "rad" and not table.units[j] and table.degrees is None],
                   [k for k in range(system.nq) if k not in places],
                   tuple(name for j, name in enumerate(table.names) if j not in columns))

    def read(self, table: Table, t: Array) -> tuple[Array, Array, Array]:
        """The coordinates, shape (m, n), and least and largest value of each, shape (n,).

        Raises:
            ShapeError: a number that is not finite.
        """
        rows = table.values.T[self.columns]                 # a row per coordinate, in one piece
        rows *= self.factors
        least, most = rows.min(axis=1), rows.max(axis=1)
        if not math.isfinite(least.sum() + most.sum()):
            for name, x in zip(self.names, rows, strict=True):
                if not np.isfinite(x).all():
                    i = int(np.argmin(np.isfinite(x)))
                    raise ShapeError(f"motion: {name!r} is {x[i]} at t = {t[i]:g} s (row {i}): fill the gap, "
                                     "or cut the table there: table[a:b]")
        return np.ascontiguousarray(rows.T), least, most

    def warn_of_degrees(self) -> None:
        """Warn if angles are taken for radians because nothing says what they are."""
        if bare := self.bare:
            warnings.warn(f"motion: nothing says whether {', '.join(bare[:3])}{', ...' * (len(bare) > 3)} "
                          f"{'is' if len(bare) == 1 else 'are'} in degrees; taken as radians. Say so: "
                          "cd.read_table(path, degrees=False), or cd.Table(..., degrees=False)",
                          stacklevel=5)

    def warn_of_range(self, least: Array, most: Array) -> None:
        """Warn of angles that are turns away from what the coordinate's range allows: degrees, most likely.

        Args:
            least: value of each coordinate, shape (n,).
            most: likewise.
        """
        low, high = self.ranges
        if (out := (least < low) | (most > high)).any():    # others are likely so for the same reason
            k, turn = int(np.argmax(out)), 2 * math.pi
            far = least[k] if low[k] - least[k] > most[k] - high[k] else most[k]
            warnings.warn(f"motion: {self.coordinates[k]!r} goes to {far:.4g} rad, its range is "
                          f"{low[k] + turn:.4g} to {high[k] - turn:.4g} rad; if the table is in degrees, say "
                          "so: degrees=True, or the unit 'deg'", stacklevel=6)
            return
        turned = self.factors[:, 0] == math.pi / 180
        if turned.sum() > 2:
            least, most = least[turned], most[turned]
            far, moved = math.degrees(max(-least.min(), most.max())), math.degrees((most - least).max())
            if far < math.pi and moved > SMALL:
                warnings.warn(f"motion: the table is in degrees, and all {len(least)} angles stay within "
                              f"{far:.2g} degrees; if they are radians, say so: degrees=False", stacklevel=6)

    def warn_of_followers(self, system: System, table: Table, q: Array) -> None:
        """Warn of columns of coordinates that follow others, which are not read, where they say something
        else than what follows: some frames are looked at.

        Args:
            q: coordinates of all frames, shape (m, nq).
        """
        left = {name.removesuffix("/value").rpartition("/")[2]: j for j, name in enumerate(table.names)
                if name in self.ignored}
        some = np.unique(np.linspace(0, len(q) - 1, LOOKS).astype(int))
        for body in system.bodies if left else ():
            m = body.mobilizer
            if not isinstance(m, Coupled) or not left.keys() & set(m.own):
                continue
            follow = np.array([m.coupled(x) for x in q[some, body.q]])
            for k, name in enumerate(m.own):
                if name not in left or name in system.coordinates:
                    continue
                unit = m.mobilizer.units[k]
                off = np.abs(table.values[some, left[name]] * _factor(table, left[name], unit) - follow[:, k])
                if not off.max() <= FOLLOWS:
                    i = int(np.argmax(np.where(np.isfinite(off), off, np.inf)))
                    warnings.warn(f"motion: {table.names[left[name]]!r} is not read: {name!r} of body "
                                  f"{body.name!r} follows {', '.join(m.coordinates)}, and is "
                                  f"{follow[i, k]:.4g} {unit} at t = {table.time[some[i]]:g} s, "
                                  f"{off[i]:.2g} {unit} from the table's. Read the model by couplers="
                                  "'constraints' if the column is to count", stacklevel=5)


def _factor(table: Table, column: int, unit: str) -> float:
    """From the unit of a column to a coordinate's."""
    said, name = table.units[column], table.names[column]
    if not said:
        return math.pi / 180 if unit == "rad" and table.degrees else 1.0
    factors = _FACTORS.get(unit, {unit: 1.0})
    if said not in factors:
        raise DescriptionError(f"motion: column {name!r} is in {said!r}; this coordinate has the unit "
                               f"{unit}: expected {' or '.join(repr(u) for u in factors)}")
    if said == "rad" and table.degrees:
        raise DescriptionError(f"motion: column {name!r} has the unit rad, but the table says degrees=True; "
                               "which is right?")
    return factors[said]
