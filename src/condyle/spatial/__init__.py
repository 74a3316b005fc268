"""Rotations, transforms, spatial vectors, inertia and SE(3), for numbers and symbols alike.

Numbers are NumPy arrays with any leading batch dimensions, R (..., 3, 3) and p (..., 3); symbols are CasADi
SX. Spatial vectors have their angular part first. Quaternions are (w, x, y, z). Radians, meters, kilograms.
"""

from condyle.spatial.algebra import too_large
from condyle.spatial.exponential import exp_se3, exp_so3, log_se3, log_so3
from condyle.spatial.mass_properties import MassProperties, possible_masses
from condyle.spatial.metric import Metric
from condyle.spatial.quaternions import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_multiply,
    quaternion_rate_inverse,
    quaternion_rate_matrix,
    rotation_from_quaternion,
)
from condyle.spatial.rotations import (
    euler_from_rotation,
    rotation_about,
    rotation_from_euler,
    rotation_x,
    rotation_y,
    rotation_z,
    skew,
)
from condyle.spatial.transform import Transform, adjoint, shift_force, shift_motion

__all__ = [
    "MassProperties",
    "Metric",
    "Transform",
    "adjoint",
    "euler_from_rotation",
    "exp_se3",
    "exp_so3",
    "log_se3",
    "log_so3",
    "possible_masses",
    "quaternion_conjugate",
    "quaternion_from_rotation",
    "quaternion_multiply",
    "quaternion_rate_inverse",
    "quaternion_rate_matrix",
    "rotation_about",
    "rotation_from_euler",
    "rotation_from_quaternion",
    "rotation_x",
    "rotation_y",
    "rotation_z",
    "shift_force",
    "shift_motion",
    "skew",
    "too_large",
]
