"""OpenSim's model files.

    model.py       read_osim and write_osim: all of it together
    document.py    a file of any version as elements in today's layout (versions.py), parsed (element.py)
    table.py       one row per class of OpenSim, from which its reader and its writer follow; **to add a class
                   of OpenSim, write one row**, as explained there
    joints.py, forces.py, muscles.py, paths.py, functions.py, constraints.py, contact.py, controllers.py,
    geometry.py the rows, one file per family, with a function beside the row of an irregular class
    reading.py Reading: access to a file for rows; errors with lines; notes on unsupported elements writing.py
    Writing: helpers for rows; refusals of elements that OpenSim does not have

`Reading` answers `text`, `words`, `number`, `numbers`, `boolean` of a property, `object` and `objects` in it,
`function` (a cd.functions object), `frame` (name of a body, and the pose on it) and `connected` (an element)
of a socket, `coordinate` (a name). Without a default the property is required. Properties that no reader uses
are noted as not understood: `skip` names those that need not be read, `note` records what is understood but
not supported. Class defaults in a file count like properties. Elements of sets (ForceSet, ...) are read after
all bodies. Objects inside others (functions, paths) are read by `reading.read(element)`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from condyle.opensim.loads import read_external_loads
    from condyle.opensim.model import read_osim, write_osim

__all__ = ["read_external_loads", "read_osim", "write_osim"]


def __getattr__(name: str) -> object:
    """Reading a model does not load the studies of recorded loads, and a model from the cache loads no
    rows."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"condyle.opensim.{'loads' if 'loads' in name else 'model'}"), name)
