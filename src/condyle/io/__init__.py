"""Readers and writers of the file formats of biomechanics."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condyle.io.c3d import Recording, read_c3d
    from condyle.io.markers import Markers, read_markers
    from condyle.io.tables import read_table

__all__ = ["Markers", "Recording", "read_c3d", "read_markers", "read_table"]
_HOMES = {"Recording": "c3d", "read_c3d": "c3d", "read_table": "tables"}


def __getattr__(name: str) -> object:
    """Import a reader when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"condyle.io.{_HOMES.get(name, 'markers')}"), name)
