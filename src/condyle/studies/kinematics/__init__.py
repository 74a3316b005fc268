"""Poses from markers and orientation sensors, frame by frame."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.studies.kinematics.imus import IMUs as IMUs
    from condyle.studies.kinematics.imus import calibrate_imus as calibrate_imus

__all__, __getattr__ = family(__name__)
