"""External loads for the command line: OpenSim's .xml of which columns of a table act on which body."""
from __future__ import annotations

from pathlib import Path

from condyle.errors import DescriptionError
from condyle.studies.external_load import ExternalLoad


def read_loads(path: Path) -> list[ExternalLoad]:
    """The loads of an OpenSim file of ExternalLoads, such as ground reactions.

    Args:
        path: an .xml file. Its data file is looked for beside it.
    """
    from condyle.opensim.setup.loads import read_loads as loads_in

    if path.suffix != ".xml":
        raise DescriptionError(f"--external-loads {path}: expected OpenSim's .xml of ExternalLoads, which "
                               "names the table of forces and the bodies that they act on")
    if not path.is_file():
        raise DescriptionError(f"--external-loads {path}: no such file")
    return loads_in(path)
