"""Muscles along paths. `cd.muscles.Thelen2003(path, ...)` is a force law."""
from condyle.muscles.muscle import Muscle
from condyle.muscles.thelen2003 import Thelen2003

__all__ = ["Muscle", "Thelen2003"]
