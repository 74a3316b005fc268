"""pandas DataFrames and the units of their columns; pandas is optional."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError
from condyle.presentation import cut

if TYPE_CHECKING:
    from condyle.table.table import Table


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas DataFrame, without importing pandas."""
    return all(hasattr(type(value), name) for name in ("iloc", "attrs", "columns"))


class UnitsOf(dict[str, str]):
    """{column: unit} of a Table, for the `attrs` of a DataFrame. pandas passes them on to whatever it
    computes from the frame; the original numbers show for which columns the units still hold.

    Args:
        table: whose units.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(zip(table.names, table.units, strict=True))
        self.degrees, self.values_of = (
            table.degrees,
            dict(zip(table.names, table.values.T.copy(), strict=True)),
        )

    def __deepcopy__(self, memo: Any) -> UnitsOf:
        return self  # pandas copies attrs with every step

    def __reduce__(self) -> Any:
        return _units_of, (dict(self), self.degrees, self.values_of)

    def unit(self, name: str, values: Array) -> str | None:
        """Unit of a column of a frame, shape (m,): that of the Table's column with the same numbers, under
        any name. None if the column of this name had other numbers, or if several columns could be meant.
        """
        same = [n for n in self if (np.isin(values, self.values_of[n]) | np.isnan(values)).all()]
        if name in same or (same and name not in self and len({self[n] for n in same}) == 1):
            return self[name if name in same else same[0]]
        return None if same or name in self or self.degrees else ""


def with_kept_units(table: Table, kept: Any, named: Collection[str], degrees: bool | None) -> Table:
    """The Table of a frame with the units that `Table.to_pandas` gave it.

    Args:
        table: with the units that are known from elsewhere.
        kept: value of `attrs["units"]` of the frame.
        named: columns whose units a user has given.
        degrees: whether angles without a unit are in degrees, as given by the user.

    Raises:
        DescriptionError: columns whose numbers have changed since.
    """
    open_ = [k for k, unit in enumerate(table.units) if not unit and table.names[k] not in named]
    if not isinstance(kept, Mapping):
        return table
    if not isinstance(kept, UnitsOf) and not any(kept.get(table.names[k]) for k in open_):
        return table
    hint = "Say their units now, '' for none: cd.Table.from_pandas(frame, units={"
    if not isinstance(kept, UnitsOf):
        raise DescriptionError(
            "Table.from_pandas: units in attrs are kept while numbers change, and nothing "
            f"shows whether these are still the same. {hint}{str(dict(kept))[1:-1]}}})"
        )
    found = {table.names[k]: kept.unit(table.names[k], table.values[:, k]) for k in open_}
    said = degrees is not None or kept.degrees is None  # columns that had no unit
    changed = [
        name
        for name, unit in found.items()
        if unit is None and not (said and not kept.get(name)) and not (name not in kept and not kept.degrees)
    ]
    if changed:
        was = f"[{kept[changed[0]]}]" if kept.get(changed[0]) else f"degrees={kept.degrees}"
        raise DescriptionError(
            f"Table.from_pandas: the numbers of {cut(changed)} are not those that "
            f"to_pandas() gave as {was}. {hint}{changed[0]!r}: '...'}})"
        )
    if degrees is None and "" in found.values():
        table.degrees = kept.degrees
    return table.with_units({name: unit or "" for name, unit in found.items()})


def _units_of(units: dict[str, str], degrees: bool | None, values_of: dict[str, Array]) -> UnitsOf:
    """Of a pickle."""
    out = UnitsOf.__new__(UnitsOf)
    out.update(units)
    out.degrees, out.values_of = degrees, values_of
    return out
