"""Operators of a System, as methods by topic. A State has them too, without the
leading arrays.

All broadcast over leading dimensions (...) and take the keyword `Options`. q, u, udot, tau, f are arrays
(..., n) in the order of their names, or labeled: mappings, Tables, pandas objects (condyle.arrays). All
must be finite. Frames, units and signs: spatial vectors angular first, in ground; M udot + coriolis_forces =
tau + gravity_forces + applied_forces + constraints.forces + motion_forces.
"""

from condyle.system.operators.bodies import BodyOperators
from condyle.system.operators.constraints import Constraints
from condyle.system.operators.contacts import Contacts
from condyle.system.operators.dynamics import DynamicsOperators
from condyle.system.operators.kinematics import KinematicsOperators
from condyle.system.operators.muscles import MuscleOperators, Muscles
from condyle.system.operators.paths import PathOperators
from condyle.system.operators.public import METHODS, OPTIONS, Options

__all__ = [
    "METHODS",
    "OPTIONS",
    "BodyOperators",
    "Constraints",
    "Contacts",
    "DynamicsOperators",
    "KinematicsOperators",
    "MuscleOperators",
    "Muscles",
    "Options",
    "PathOperators",
]
