"""A model scaled to the size of a subject."""

from typing import TYPE_CHECKING

from condyle.arguments import family

if TYPE_CHECKING:
    from condyle.studies.scaling.measurements import Measurement as Measurement

__all__, __getattr__ = family(__name__)
