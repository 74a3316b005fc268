"""Force laws. One file a family."""
from condyle.forces.base import Force
from condyle.forces.gravity import Gravity

__all__ = ["Force", "Gravity"]
