"""Ready systems from published numbers: `cd.models.arm26()`."""
from condyle.models.arm26 import arm26

__all__ = ["arm26"]
