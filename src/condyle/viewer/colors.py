"""Columns over time in readable units, and colors of muscles, for a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, UnknownNameError
from condyle.presentation import cut
from condyle.records import dataclass
from condyle.system.system import System
from condyle.table import Table, distinct, is_frame
from condyle.tree.body import Body
from condyle.viewer import marks, paths
from condyle.viewer.layer import Layer

PAINTS = {"activation": "", "force": "N"}
"""Quantities for colors of muscles, with units."""
DEGREES = {"rad": "deg", "rad/s": "deg/s", "rad/s^2": "deg/s^2"}
"""Units in which angles are shown."""
GROUPS = ("Joints", "Base", "Given", "Muscles", "Forces", "Marker errors", "Contacts", "Speeds", "States")
"""Lists of columns, in their order; the base carries everything else: its position and rotation in ground."""


def arranged(system: System, names: Sequence[str], units: Sequence[str], sources: Sequence[str]) -> Arranged:
    """Order and units of columns: joints before the place of the base, speeds late, angles in degrees.

    Args:
        names: of the columns.
        units: theirs.
        sources: the list of each, of GROUPS; "" for variables of the states.
    """
    group: dict[str, str] = {}
    place: dict[str, int] = {}
    for body in _by_chains(system):
        place |= {c.name: len(place) + k for k, c in enumerate(body.coordinates)}
        kinds = set(body.mobilizer.units)
        base = body.parent is not None and body.parent.is_ground and "m" in kinds and len(kinds) > 1
        group |= {c.name: "Base" if base else "Joints" for c in body.coordinates}
        group |= {s: "Speeds" for s in body.speeds if s not in group}
    found = [
        source or group.get(name) or ("Speeds" if name.removesuffix("_speed") in group else "States")
        for name, source in zip(names, sources, strict=True)
    ]
    order = sorted(range(len(names)), key=lambda k: (GROUPS.index(found[k]), place.get(names[k], 0)))
    factors = np.array([180 / np.pi if units[k] in DEGREES else 1.0 for k in order])
    return Arranged(
        order, [found[k] for k in order], [DEGREES.get(units[k], units[k]) for k in order], factors
    )


def _by_chains(system: System) -> list[Body]:
    """Bodies, each before its children, and one complete leg before the other."""
    carried: dict[str, list[Body]] = {}
    for body in system.bodies:
        carried.setdefault(body.parent.name if body.parent else "", []).append(body)
    out, left = [], [*reversed(carried.get("ground", []))]
    while left:
        out.append(body := left.pop())
        left += reversed(carried.get(body.name, []))
    return out


@dataclass(frozen=True, eq=False)
class Arranged:
    """Columns in the order of a page.

    Attributes:
        order: numbers of the columns.
        groups: the list of each, of GROUPS.
        units: of each.
        factors: from the unit that it had, shape (columns,).
    """

    order: list[int]
    groups: list[str]
    units: list[str]
    factors: Array

    def values(self, x: Array) -> Array:
        """Values (m, columns) in that order and in these units."""
        out: Array = x[:, self.order] * self.factors
        return out


def columns_of(layer: Layer) -> tuple[Table, list[str]]:
    """Known quantities over time, and the owner of each column."""
    table, system = layer.table, layer.system
    owner = {c.name: b.name for b in system.bodies for c in b.coordinates}
    owner |= {s: b.name for b in system.bodies for s in b.speeds if s not in owner}
    owners = [
        owner.get(name) or owner.get(name.removesuffix("_speed")) or name.rpartition(".")[0] or name
        for name in table.names
    ]
    units = [
        "m" if name.endswith(".fiber_length") else unit
        for name, unit in zip(table.names, table.units, strict=True)
    ]
    return Table(table.time, table.names, table.values, units), owners


def with_columns(
    table: Table, owners: list[str], other: Table, whose: list[str] | None, t: Array, what: str = "plots"
) -> tuple[Table, list[str]]:
    """A Table with the columns of another, at its times, linear between rows, none outside of them."""
    if is_frame(other):
        other = Table.from_pandas(other)
    if not isinstance(other, Table):
        raise DescriptionError(f"show: plots: expected Tables, got {type(other).__name__}")
    marks.warn_of_times(what, other.time, t)
    if np.array_equal(other.time, t):
        values = other.values
    else:
        values = np.stack(
            [np.interp(t, other.time, x, left=np.nan, right=np.nan) for x in other.values.T]
            or [np.zeros(len(t))],
            axis=1,
        )[:, : len(other.names)]
    names = distinct([*table.names, *other.names])
    return (
        Table(
            table.time, names, np.concatenate([table.values, values], axis=1), [*table.units, *other.units]
        ),
        [*owners, *(whose or owners_of(other))],
    )


def owners_of(table: Table) -> list[str]:
    """Owners of columns: OpenSim's and our names begin with them."""
    return [name.rpartition(".")[0] or name for name in table.names]


def paint_of(
    layer: Layer, lines: list[paths.PathLine], color: Any
) -> tuple[tuple[str, str, float], Array | None, list[tuple[Table, list[str]]]]:
    """Colors of muscles: label, unit and greatest value; values from 0 to 1, shape (m, lines); and related
    columns."""
    lengths = _lengths(layer)
    if not layer.system.muscles:
        return ("", "", 1.0), None, lengths
    forces: list[tuple[Table, list[str]]] = []
    if hasattr(color, "activations"):
        forces = _forces(layer, getattr(color, "forces", None))
        color = color.activations
    if is_frame(color):
        color = Table.from_pandas(color)
    if isinstance(color, Table):
        paint, values, more = _painted(layer, lines, color)
        return paint, values, more + forces + lengths
    if color is None:
        return ("", "", 1.0), None, lengths
    if not isinstance(color, str) or color not in PAINTS:
        raise UnknownNameError(
            "quantity to color muscles by",
            color,
            PAINTS,
            "or give a Table with a column per muscle, or the result of cd.static_optimization",
        )
    if not layer.known:
        return ("", "", 1.0), None, lengths
    system, batch, own = layer.system, layer.batch, list(layer.system.muscles)
    known = [f"{n}.activation" for n in own]
    if color == "activation" and len(layer.t) == 1 and set(known) <= set(layer.table.names):
        # one pose: forces would take longer to compile than the rest of the picture
        values = layer.table[known].values
        return (color, PAINTS[color], 1.0), _over_lines(layer, lines, own, values), lengths
    L, Ldot = batch.kernel("path_lengths"), batch.kernel("path_speeds")
    reported = list(system.compiled.model.reported)
    reports = system.compiled.shaped(
        "muscle_reports",
        system.compiled.function("muscle_reports").fast(
            batch.array("q"), batch.array("u"), L, Ldot, batch.tail
        ),
    )
    force = Table(
        layer.t,
        [f"{n}.tendon_force" for n in own],
        reports[:, :, reported.index("tendon_force")],
        ["N"] * len(own),
    )
    activation = Table(layer.t, known, reports[:, :, reported.index("activation")])
    more = [(force, own), *lengths]
    have = set(layer.table.names)
    if not set(activation.names) <= have:
        more.insert(0, (activation, own))
    values = activation.values if color == "activation" else force.values
    largest = 1.0 if color == "activation" else float(np.nanmax(values, initial=1e-9))
    return (color, PAINTS[color], largest), _over_lines(layer, lines, own, values / largest), more


def _lengths(layer: Layer) -> list[tuple[Table, list[str]]]:
    """Lengths of all paths, as columns; NaN in frames that cannot be drawn."""
    names = list(layer.system.paths)
    if not names:
        return []
    L = layer.batch.kernel("path_lengths")
    if layer.good is not None:
        L = np.where(layer.good[:, None], L, np.nan)
    return [(Table(layer.t, [f"{name}.length" for name in names], L, ["m"] * len(names)), names)]


def _forces(layer: Layer, forces: Any) -> list[tuple[Table, list[str]]]:
    """Forces of muscles from static optimization, with their activations."""
    own = [name for name in layer.system.muscles if isinstance(forces, Table) and name in forces.names]
    if not own:
        return []
    part = forces[own]
    return [(Table(part.time, [f"{name}.force" for name in own], part.values, ["N"] * len(own)), own)]


def _painted(
    layer: Layer, lines: list[paths.PathLine], table: Table
) -> tuple[tuple[str, str, float], Array | None, list[tuple[Table, list[str]]]]:
    """Colors from a Table with a column per muscle."""
    names = [name for name in layer.system.paths if name in table.names]
    if not names:
        raise DescriptionError(
            f"show: color: no column of the Table has the name of a muscle; muscles: "
            f"{cut(layer.system.muscles)}; columns: {cut(table.names)}"
        )
    unit = table.units[table.names.index(names[0])]
    part = table[names]
    label = "force" if unit == "N" else "activation" if not unit else "value"
    part = Table(part.time, [f"{name}.{label}" for name in names], part.values, part.units)
    none = Table(layer.t, [], np.zeros((len(layer.t), 0)))
    joined, _ = with_columns(none, [], part, names, layer.t, "color")
    finite = joined.values[np.isfinite(joined.values)]
    largest = max(float(finite.max(initial=0.0)), 1e-9)
    if label == "activation" and largest <= 1.0 + 1e-6:
        largest = 1.0
    return (
        (label, unit, largest),
        _over_lines(layer, lines, names, joined.values / largest),
        [(joined, names)],
    )


def _over_lines(layer: Layer, lines: list[paths.PathLine], names: list[str], values: Array) -> Array:
    """Values (m, names) as values of all lines, NaN for others."""
    out = np.full((len(layer.t), len(lines)), np.nan)
    at = {line.name: k for k, line in enumerate(lines)}
    drawn = [k for k, name in enumerate(names) if name in at]  # paths without places are not
    out[:, [at[names[k]] for k in drawn]] = np.clip(values[:, drawn], 0, 1)
    return out
