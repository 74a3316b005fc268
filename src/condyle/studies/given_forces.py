"""Forces that a user gives over time: tensions of muscles and other paths, forces of actuators, by their
names; and generalised forces, by the names of speeds."""
from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, ShapeError, UnknownNameError
from condyle.forces.actuators import Actuator
from condyle.forces.path import PathLaw
from condyle.presentation import cut
from condyle.studies.motion import Motion
from condyle.system.system import System
from condyle.table import Table, is_frame

SAME_TIME = 1e-6
"""Times count as equal if they differ by less than this part of the shortest step."""


def given_forces(motion: Motion, forces: Any) -> tuple[dict[str, Array], dict[str, Array]]:
    """Forces of paths and actuators by their names, and generalised forces by speed, each of shape (m,).

    Columns with other names are left out with a warning; every muscle must have one. NaN stays: such a frame
    has no answer.

    Args:
        motion: where the forces act.
        forces: a Table of tensions [N], forces of actuators [N, N m] and generalised forces, or None.

    Raises:
        UnknownNameError: a muscle without a column.
    """
    if forces is None:
        return {}, {}
    if is_frame(forces):
        forces = Table.from_pandas(forces)
    if not isinstance(forces, Table):
        hint = "; give its .forces" if hasattr(forces, "forces") else ""
        raise DescriptionError("forces: expected a Table with a column per muscle [N], got "
                               f"{type(forces).__name__}{hint}")
    system: System = motion.system
    muscles, speeds_of, columns = system.muscles, system.speeds, set(forces.names)
    for name in muscles:
        if name not in columns:
            raise UnknownNameError("column", name, forces.names, "forces: every muscle needs a column [N]; "
                                                                 "one that does not pull is a column of "
                                                                 "zeros")
    known = at_times("forces", forces, motion.t)
    acting = {name: None for name, law in system._forces.items() if isinstance(law, (PathLaw, Actuator))}
    tensions = {name: known[:, k] for k, name in enumerate(forces.names) if name in acting}
    speeds = {name: known[:, k] for k, name in enumerate(forces.names)
              if name in speeds_of and name not in tensions}
    refuse_units("forces", forces, dict.fromkeys((*tensions, *speeds), ("N", "N m")))
    if tensions or speeds:
        warn_of_others("forces", forces, (*acting, *speeds_of))
        own = set(muscles)
        if not any(unit for name, unit in zip(forces.names, forces.units, strict=True) if name in own):
            _warn_of_activations([tensions[name] for name in muscles])
    else:
        raise UnknownNameError("column", forces.names[0] if forces.names else "", (*acting, *speeds_of),
                               "forces: columns go by the names of muscles, other paths and actuators")
    return tensions, speeds


def refuse_units(what: str, table: Table, wanted: Mapping[str, Sequence[str]]) -> None:
    """Raise an error if a column has a unit that is none of those wanted, by its name."""
    for name, unit in zip(table.names, table.units, strict=True):
        if unit and unit not in wanted.get(name, (unit,)):
            raise DescriptionError(f"{what}: column {name!r} is in {unit!r}; expected "
                                   f"{' or '.join(map(repr, wanted[name]))}: convert it")


def warn_of_others(what: str, table: Table, known: Sequence[str]) -> None:
    """Warn of columns that are left out because nothing has their names."""
    own = set(known)
    others = [name for name in table.names if name not in own]
    if others:
        near = difflib.get_close_matches(others[0], [n for n in known if n not in table.names], n=1)
        hint = f"; is {others[0]!r} {near[0]!r}?" if near else ""
        warnings.warn(f"{what}: columns were left out, because nothing in the system has their names: "
                      f"{cut(others)}{hint}", stacklevel=5)


def _warn_of_activations(tensions: list[Array]) -> None:
    """Warn of tensions without units, (m,) of each muscle, that look like activations."""
    if 0 < np.fmax.reduce(tensions, axis=None, initial=0.0) <= 1:
        warnings.warn("forces: no muscle pulls by more than 1 N: are these activations? Tensions are "
                      "cd.static_optimization(...).forces", stacklevel=5)


def at_times(what: str, table: Table, t: Array) -> Array:
    """The values of a Table at other times, shape (m, columns): linear between its rows, as in OpenSim."""
    near = SAME_TIME * np.diff(t).min(initial=1.0)
    if len(table) == len(t) and abs(table.time - t).max(initial=0.0) <= near:
        return table.values
    if not len(table) or not (np.diff(table.time) > 0).all():
        raise ShapeError(f"{what}: the Table needs rows whose times increase")
    first, last = table.time[0], table.time[-1]
    step = (last - first) / max(len(table) - 1, 1)
    if t[0] < first - step / 2 or t[-1] > last + step / 2:
        raise ShapeError(f"{what}: known from {first:g} to {last:g} s, the motion goes from {t[0]:g} to "
                         f"{t[-1]:g} s; cut it: motion[a:b]")
    return np.stack([np.interp(t, table.time, x) for x in table.values.T], axis=1)
