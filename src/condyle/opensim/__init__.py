"""OpenSim's model files.

    document.py    a file of any version as elements in today's layout (versions.py), parsed (element.py)
    reading.py     Reading: what readers ask of a file; errors with lines; notes on what is not understood
    model.py       read_osim: all of it together
    writing.py     Writing: what writers share; what OpenSim does not have (xml.py: elements and their text)
    writer.py      write_osim: all of it together, from writer_joints.py, writer_forces.py, ...

**To read one more class of OpenSim**, write one function in the file of its family (forces.py, muscles.py,
...), and import that file in model.py:

    @reads("CoordinateLimitForce")
    def coordinate_limit(reading, element):
        name = reading.coordinate(element, reading.text(element, "coordinate"))
        stiffness = reading.number(element, "upper_stiffness", 1.0)
        reading.system.add_force(reading.free_name(element, "force"), ...)

`Reading` answers `text`, `words`, `number`, `numbers`, `boolean` of a property, `object` and `objects` in it,
`function` (a cd.functions object), `frame` (name of a body, and the pose on it) and `connected` (an element)
of a socket, `coordinate` (a name). A default that is left out means that the property must be there. What a
reader does not ask for is noted as not understood: `skip` names what it need not ask for, `note` says what
it understood but cannot do. Defaults that files state for a class are answered like properties. Elements of
sets (ForceSet, ...) are read after all bodies; what a reader of such an element returns is not used. Objects
inside others (functions, paths) are read by `reading.read(element)`, which returns what their reader does.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from condyle.opensim.model import read_osim

if TYPE_CHECKING:
    from condyle.opensim.loads import read_external_loads
    from condyle.opensim.writer import write_osim

__all__ = ["read_external_loads", "read_osim", "write_osim"]

_LATER = {"read_external_loads": "condyle.opensim.loads", "write_osim": "condyle.opensim.writer"}


def __getattr__(name: str) -> object:
    """Those who read a model do not wait for what writes one, nor for recorded loads and their studies."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
