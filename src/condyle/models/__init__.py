"""Ready systems from published numbers: `cd.models.arm26()`, `cd.models.leg6dof9musc()`."""
from condyle.models.arm26 import arm26
from condyle.models.leg6dof9musc import leg6dof9musc

__all__ = ["arm26", "leg6dof9musc"]
