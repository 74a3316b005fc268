"""External loads from OpenSim's files: an .xml that says which columns of a table act on which body."""
from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from condyle.errors import DescriptionError
from condyle.io import read_table
from condyle.studies.external_load import ExternalLoad


def read_loads(path: Path) -> list[ExternalLoad]:
    """The loads of an OpenSim file of ExternalLoads, such as ground reactions.

    Args:
        path: an .xml file. Its data file is looked for beside it.
    """
    if path.suffix != ".xml":
        raise DescriptionError(f"--external-loads {path}: expected OpenSim's .xml of ExternalLoads, which "
                               "names the table of forces and the bodies that they act on")
    if not path.is_file():
        raise DescriptionError(f"--external-loads {path}: no such file")
    try:
        root = ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise DescriptionError(f"{path}: not well-formed XML: {error}") from None
    forces = [f for f in root.iter("ExternalForce") if _text(f, "isDisabled") != "true"
              and _text(f, "appliesForce") != "false"]
    data = next((e.text.strip() for e in root.iter("datafile") if e.text and e.text.strip()), "")
    if not forces or not data:
        missing = "<ExternalForce> that is not disabled" if not forces else "<datafile>"
        raise DescriptionError(f"{path}: no {missing} in it; is it a file of ExternalLoads?")
    table = read_table(path.parent / data, degrees=False)   # forces and places: no angles in it
    return [ExternalLoad(_text(f, "applied_to_body"), table,
                         force=_text(f, "force_identifier") or None,
                         point=_text(f, "point_identifier") or None,
                         torque=_text(f, "torque_identifier") or None,
                         frame=_text(f, "force_expressed_in_body") or "ground",
                         point_frame=_text(f, "point_expressed_in_body") or "ground") for f in forces]


def _text(element: ElementTree.Element, tag: str) -> str:
    found = element.findtext(tag)
    text = (found or "").strip()
    return "" if text in ("", "Unassigned") else text.rpartition("/")[2]
