"""Files of the field, read as they are."""

from condyle.io.c3d import Recording, read_c3d
from condyle.io.markers import Markers, read_markers
from condyle.io.tables import read_table

__all__ = ["Markers", "Recording", "read_c3d", "read_markers", "read_table"]
