"""Muscles along paths. `cd.muscles.Thelen2003(path, ...)` is a force law."""

from condyle.arguments import missing, spoken
from condyle.muscles.curves import Curve, PythonCurve
from condyle.muscles.degroote2016 import (
    DeGroote2016,
    DeGrooteActiveForceLength,
    DeGrooteForceVelocity,
    DeGrootePassiveForceLength,
    DeGrooteTendonForceLength,
)
from condyle.muscles.delp1990 import Delp1990
from condyle.muscles.hill import Hill
from condyle.muscles.millard2012 import (
    Millard2012,
    MillardActiveForceLength,
    MillardForceVelocity,
    MillardPassiveForceLength,
    MillardTendonForceLength,
)
from condyle.muscles.muscle import Muscle
from condyle.muscles.rigid_tendon import RigidTendon
from condyle.muscles.schutte1993 import Schutte1993, SchutteForceVelocity
from condyle.muscles.thelen2003 import (
    Thelen2003,
    ThelenActiveForceLength,
    ThelenForceVelocity,
    ThelenPassiveForceLength,
    ThelenTendonForceLength,
)

__all__ = [
    "Curve",
    "DeGroote2016",
    "DeGrooteActiveForceLength",
    "DeGrooteForceVelocity",
    "DeGrootePassiveForceLength",
    "DeGrooteTendonForceLength",
    "Delp1990",
    "Hill",
    "Millard2012",
    "MillardActiveForceLength",
    "MillardForceVelocity",
    "MillardPassiveForceLength",
    "MillardTendonForceLength",
    "Muscle",
    "PythonCurve",
    "RigidTendon",
    "Schutte1993",
    "SchutteForceVelocity",
    "Thelen2003",
    "ThelenActiveForceLength",
    "ThelenForceVelocity",
    "ThelenPassiveForceLength",
    "ThelenTendonForceLength",
]

spoken(DeGroote2016, Delp1990, Hill, Millard2012, PythonCurve, RigidTendon, Schutte1993, Thelen2003)

_ELSEWHERE = {
    "Thelen": "Thelen2003",
    "Thelen2003Muscle": "Thelen2003",
    "Millard": "Millard2012",
    "Millard2012Equilibrium": "Millard2012",
    "Millard2012EquilibriumMuscle": "Millard2012",
    "DeGroote": "DeGroote2016",
    "DeGrooteFregly2016": "DeGroote2016",
    "DeGrooteFregly2016Muscle": "DeGroote2016",
    "RigidTendonMuscle": "RigidTendon",
    "Schutte1993Muscle": "Schutte1993",
    "Delp1990Muscle": "Delp1990",
    "PathActuator": "cd.forces.PathActuator",
    "Ligament": "cd.forces.Ligament",
}
"""What OpenSim calls it."""


def __getattr__(name: str) -> object:
    raise missing("cd.muscles", name, __all__, _ELSEWHERE)
