"""Forces given by a user over time: tensions of muscles and other paths and forces of actuators, by their
names; generalized forces, by the names of speeds."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, UnknownNameError, warn
from condyle.forces.actuators import Actuator
from condyle.forces.path import PathLaw
from condyle.plausible import ask, of_tensions
from condyle.presentation import cut
from condyle.studies.external_load import ExternalLoad
from condyle.studies.motion.motion import Motion
from condyle.system.system import System
from condyle.table import Table, is_frame

SAME_TIME = 1e-6
"""Times count as equal if they differ by less than this part of the shortest step."""


def prescribed_forces(motion: Motion, forces: Any) -> tuple[dict[str, Array], dict[str, Array]]:
    """Forces of paths and actuators by their names, and generalized forces by speed, each of shape (m,).

    Columns with other names are ignored with a warning; every muscle must have a column. NaN is kept: such
    frames have no result.

    Args:
        motion: the motion in which the forces act.
        forces: a Table of tensions [N], forces of actuators [N, N m] and generalized forces, or None.

    Raises:
        UnknownNameError: a muscle without a column.
    """
    if forces is None:
        return {}, {}
    if is_frame(forces):
        forces = Table.from_pandas(forces)
    if not isinstance(forces, Table):
        several = forces if isinstance(forces, (list, tuple)) else [forces]
        hint = (
            "; give its .forces"
            if hasattr(forces, "forces")
            else "; loads from outside are external_loads="
            if any(isinstance(x, ExternalLoad) for x in several)
            else "; read it with cd.read_table"
            if isinstance(forces, str)
            else ""
        )
        raise DescriptionError(
            f"forces: expected a Table with a column per muscle [N], got {type(forces).__name__}{hint}"
        )
    given = _ForceColumns.find(motion.system, forces)
    rows = at_times("forces", forces, motion.t).T.copy()  # each column is contiguous
    if given.unknown:
        warn_of_others("forces", forces, given.known)
    if given.bare:
        _warn_of_activations(rows[given.muscles])
    if given.muscles and np.fmin.reduce(rows[given.muscles], axis=None, initial=0.0) < 0:
        for name, x in zip(motion.system.muscles, rows[given.muscles], strict=True):
            for text in of_tensions(name, float(np.nanmin(x)), float(np.nanmax(x))):
                ask(f"forces: {text}")
    return (
        {name: rows[k] for name, k in given.tensions.items()},
        {name: rows[k] for name, k in given.speeds.items()},
    )


class _ForceColumns:
    """The meaning of the columns of a Table of forces, cached for Tables with the same names and units.

    Attributes:
        of_table: names and units of the Table.
        tensions: columns of paths and actuators, by their names.
        speeds: columns of generalized forces, by speed.
        muscles: columns of muscles.
        bare: whether no muscle has a unit.
        known: all names that a column may have.
        unknown: whether some columns have other names.
    """

    @classmethod
    def find(cls, system: System, forces: Table) -> _ForceColumns:
        """The columns of a table; raises the errors of `prescribed_forces`."""
        last: _ForceColumns | None = system.compiled.programs.get("columns of forces")
        if last is None or last.of_table != (forces.names, forces.units):
            last = system.compiled.programs["columns of forces"] = cls(system, forces)
        return last

    def __init__(self, system: System, forces: Table) -> None:
        self.of_table, place = (forces.names, forces.units), {name: k for k, name in enumerate(forces.names)}
        for name in system.muscles:
            if name not in place:
                raise UnknownNameError(
                    "column",
                    name,
                    forces.names,
                    "forces: every muscle needs a column [N]; use zeros for a muscle that does not pull",
                )
        acting = {name: None for name, law in system._forces.items() if isinstance(law, (PathLaw, Actuator))}
        self.tensions = {name: k for name, k in place.items() if name in acting}
        others = [name for name in place if name in system.speeds and name not in self.tensions]
        self.speeds = {name: place[name] for name in others}
        refuse_units("forces", forces, dict.fromkeys((*self.tensions, *others), ("N", "N m")))
        self.known = (*acting, *system.speeds)
        if not self.tensions and not others:
            raise UnknownNameError(
                "column",
                forces.names[0] if forces.names else "",
                self.known,
                "forces: columns are named after muscles, other paths and actuators",
            )
        self.muscles = [place[name] for name in system.muscles]
        self.bare = not any(forces.units[k] for k in self.muscles)
        self.unknown = len(self.tensions) + len(others) < len(forces.names)


def refuse_units(what: str, table: Table, wanted: Mapping[str, Sequence[str]]) -> None:
    """Raise an error that names the column if its unit is not among those wanted."""
    for name, unit in zip(table.names, table.units, strict=True):
        if unit and unit not in wanted.get(name, (unit,)):
            raise DescriptionError(
                f"{what}: column {name!r} is in {unit!r}; expected "
                f"{' or '.join(map(repr, wanted[name]))}: convert it"
            )


def warn_of_others(what: str, table: Table, known: Sequence[str]) -> None:
    """Warn about columns that match no name and are left out."""
    own = set(known)
    others = [name for name in table.names if name not in own]
    if others:
        near = difflib.get_close_matches(others[0], [n for n in known if n not in table.names], n=1)
        hint = f"; is {others[0]!r} {near[0]!r}?" if near else ""
        warn(
            f"{what}: columns were left out, because nothing in the system has their names: "
            f"{cut(others)}{hint}"
        )


def _warn_of_activations(tensions: Array) -> None:
    """Warn of tensions without units, (muscles, m), that look like activations."""
    if 0 < np.fmax.reduce(tensions, axis=None, initial=0.0) <= 1:
        warn(
            "forces: no muscle pulls by more than 1 N: are these activations? Tensions are "
            "cd.static_optimization(...).forces"
        )


def at_times(what: str, table: Table, t: Array) -> Array:
    """The values of a Table at other times, shape (m, columns): linear between its rows, as in OpenSim. If
    two of its rows have the same time, the last one counts, except that the first one counts for the first
    of two such times in t."""
    near = SAME_TIME * np.diff(t).min(initial=1.0)
    if len(table) == len(t) and abs(table.time - t).max(initial=0.0) <= near:
        return table.values
    if not len(table) or not (np.diff(table.time) >= 0).all():
        raise ShapeError(f"{what}: the Table needs rows whose times increase")
    first, last = table.time[0], table.time[-1]
    step = (last - first) / max(len(table) - 1, 1)
    if t[0] < first - step / 2 or t[-1] > last + step / 2:
        raise ShapeError(
            f"{what}: known from {first:g} to {last:g} s, the motion goes from {t[0]:g} to "
            f"{t[-1]:g} s; cut it: motion[a:b]"
        )
    out = np.stack([np.interp(t, table.time, x) for x in table.values.T], axis=1)
    before = np.flatnonzero(t[1:] == t[:-1])
    rows = np.searchsorted(table.time, t[before]).clip(max=len(table) - 1)
    known = table.time[rows] == t[before]
    out[before[known]] = table.values[rows[known]]
    return out
