"""Files of the field, read as they are."""
from condyle.io.markers import Markers, read_markers
from condyle.io.tables import read_table

__all__ = ["Markers", "read_markers", "read_table"]
