"""DataFrames of pandas, which need not be installed, and the units of their columns."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError

if TYPE_CHECKING:
    from condyle.table.table import Table


def is_frame(value: Any) -> bool:
    """Whether a value is a pandas DataFrame, which need not be installed."""
    return all(hasattr(type(value), name) for name in ("iloc", "attrs", "columns"))


class UnitsOf(dict[str, str]):
    """Units of the columns of a Table by name, for the `attrs` of a DataFrame. pandas hands them on to what
    it computes from the frame; the numbers that they are units of tell which columns have them still.

    Args:
        table: whose units.
    """

    def __init__(self, table: Table) -> None:
        super().__init__(zip(table.names, table.units, strict=True))
        self.degrees, self.values_of = table.degrees, dict(zip(table.names, table.values.T.copy(),
                                                               strict=True))

    def __deepcopy__(self, memo: Any) -> UnitsOf:
        return self                                         # pandas copies attrs with every step

    def __reduce__(self) -> Any:
        return _units_of, (dict(self), self.degrees, self.values_of)

    def unit(self, name: str, values: Array, degrees: bool | None) -> str:
        """That of a column of a frame: of the one with these numbers in the Table.

        Args:
            name: in the frame.
            values: shape (m,).
            degrees: what the caller says of angles without a unit.
        """
        own = [name] if name in self else []
        same = [n for n in [*own, *self] if (np.isin(values, self.values_of[n]) | np.isnan(values)).all()]
        if same and (same[0] == name or len({self[n] for n in same}) == 1):
            return self[same[0]]
        if same or (own and (self[name] or (self.degrees is not None and degrees is None))):
            was = f"in [{self[name]}]" if own and self[name] else "with degrees=" + str(self.degrees)
            why = (f"its numbers are not those that to_pandas() gave it {was}" if own else
                   f"its numbers are those of columns with the units {sorted({self[n] for n in same})}")
            raise DescriptionError(f"Table.from_pandas: column {name!r}: {why}. Say what they are now: "
                                   f"cd.Table.from_pandas(frame, units={{{name!r}: 'rad'}}), or units='' for "
                                   "none")
        return ""


def _units_of(units: dict[str, str], degrees: bool | None, values_of: dict[str, Array]) -> UnitsOf:
    """Of a pickle."""
    out = UnitsOf.__new__(UnitsOf)
    out.update(units)
    out.degrees, out.values_of = degrees, values_of
    return out
