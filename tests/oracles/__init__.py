"""Independent answers: random trees as plain data, and their mechanics in NumPy alone.

Nothing here uses Condyle's kinematics, dynamics, spatial algebra or automatic differentiation. Motion is a
path of 4 x 4 matrices with its first two derivatives; forces follow from Newton, Euler and d'Alembert with
dense Jacobians.
"""

from tests.oracles.joints import EVERY_KIND, KINDS, MIXED, Joint
from tests.oracles.mechanics import Mechanics
from tests.oracles.paths import Jet, Path, cross_matrix
from tests.oracles.trees import Part, Plan, random_plan, random_tree

__all__ = [
    "EVERY_KIND",
    "KINDS",
    "MIXED",
    "Jet",
    "Joint",
    "Mechanics",
    "Part",
    "Path",
    "Plan",
    "cross_matrix",
    "random_plan",
    "random_tree",
]
