"""Muscles along paths. `cd.muscles.Thelen2003(path, ...)` is a force law."""
from condyle.muscles.curves import Curve, PythonCurve
from condyle.muscles.degroote2016 import (
    DeGroote2016,
    DeGrooteActiveForceLength,
    DeGrooteForceVelocity,
    DeGrootePassiveForceLength,
    DeGrooteTendonForceLength,
)
from condyle.muscles.hill import Hill
from condyle.muscles.millard2012 import (
    Millard2012,
    MillardActiveForceLength,
    MillardForceVelocity,
    MillardPassiveForceLength,
    MillardTendonForceLength,
)
from condyle.muscles.muscle import Muscle
from condyle.muscles.thelen2003 import (
    Thelen2003,
    ThelenActiveForceLength,
    ThelenForceVelocity,
    ThelenPassiveForceLength,
    ThelenTendonForceLength,
)

__all__ = [
    "Curve", "DeGroote2016", "DeGrooteActiveForceLength", "DeGrooteForceVelocity",
    "DeGrootePassiveForceLength", "DeGrooteTendonForceLength", "Hill", "Millard2012",
    "MillardActiveForceLength", "MillardForceVelocity", "MillardPassiveForceLength",
    "MillardTendonForceLength", "Muscle", "PythonCurve", "Thelen2003", "ThelenActiveForceLength",
    "ThelenForceVelocity", "ThelenPassiveForceLength", "ThelenTendonForceLength"]
