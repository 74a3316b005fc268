"""Table: named columns over time, with units."""

from condyle.presentation import distinct
from condyle.table.dataframes import is_frame
from condyle.table.rows import NUMBERED, TIME, disorder, rows_in, seconds
from condyle.table.table import Table, after_events, save_all
from condyle.table.titles import split_label, split_title, titles
from condyle.table.units import LENGTHS, scaled, si

__all__ = [
    "LENGTHS",
    "NUMBERED",
    "TIME",
    "Table",
    "after_events",
    "disorder",
    "distinct",
    "is_frame",
    "rows_in",
    "save_all",
    "scaled",
    "seconds",
    "si",
    "split_label",
    "split_title",
    "titles",
]
