"""Joints from measurements: frames of two bones, marker clusters, fits of mobilizers to them."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.studies.joints.marker_clusters import marker_positions as marker_positions

__all__, __getattr__ = family(__name__)
