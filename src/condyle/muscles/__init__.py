"""Muscles along paths. `cd.muscles.Thelen2003(path, ...)` is a force law."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.muscles.curves import Curve as Curve
    from condyle.muscles.curves import PythonCurve as PythonCurve
    from condyle.muscles.degroote2016 import DeGroote2016 as DeGroote2016
    from condyle.muscles.degroote2016 import DeGrooteActiveForceLength as DeGrooteActiveForceLength
    from condyle.muscles.degroote2016 import DeGrooteForceVelocity as DeGrooteForceVelocity
    from condyle.muscles.degroote2016 import DeGrootePassiveForceLength as DeGrootePassiveForceLength
    from condyle.muscles.degroote2016 import DeGrooteTendonForceLength as DeGrooteTendonForceLength
    from condyle.muscles.hill import Hill as Hill
    from condyle.muscles.hill import RigidTendon as RigidTendon
    from condyle.muscles.metabolics import Bhargava2004 as Bhargava2004
    from condyle.muscles.metabolics import Metabolics as Metabolics
    from condyle.muscles.metabolics import Umberger2010 as Umberger2010
    from condyle.muscles.millard2012 import Millard2012 as Millard2012
    from condyle.muscles.millard2012 import MillardActiveForceLength as MillardActiveForceLength
    from condyle.muscles.millard2012 import MillardForceVelocity as MillardForceVelocity
    from condyle.muscles.millard2012 import MillardPassiveForceLength as MillardPassiveForceLength
    from condyle.muscles.millard2012 import MillardTendonForceLength as MillardTendonForceLength
    from condyle.muscles.muscle import Muscle as Muscle
    from condyle.muscles.simm import Delp1990 as Delp1990
    from condyle.muscles.simm import Schutte1993 as Schutte1993
    from condyle.muscles.simm import SchutteForceVelocity as SchutteForceVelocity
    from condyle.muscles.thelen2003 import Thelen2003 as Thelen2003
    from condyle.muscles.thelen2003 import ThelenActiveForceLength as ThelenActiveForceLength
    from condyle.muscles.thelen2003 import ThelenForceVelocity as ThelenForceVelocity
    from condyle.muscles.thelen2003 import ThelenPassiveForceLength as ThelenPassiveForceLength
    from condyle.muscles.thelen2003 import ThelenTendonForceLength as ThelenTendonForceLength

_ELSEWHERE = {
    "PathActuator": "cd.forces.PathActuator",
    "Ligament": "cd.forces.Ligament",
}
"""Hints for names of other libraries that have no class here."""

__all__, __getattr__ = family(__name__, _ELSEWHERE)
