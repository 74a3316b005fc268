"""Files of the field, read as they are."""
from condyle.io.tables import read_table

__all__ = ["read_table"]
