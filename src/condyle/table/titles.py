"""Titles of columns: names with units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from condyle.table.units import si


def titles(names: Sequence[str], units: Sequence[str]) -> list[str]:
    """Names with their units."""
    return [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]


def split_title(title: str) -> tuple[str, str]:
    """Name and unit of a title such as 'knee [rad]' or 'fy (kN)'; 'bar[1]' and 'fy (left)' are names."""
    match = re.fullmatch(r"(.*\S)(?:\s*\[(?!\d+\])|\s+\[(?=1\]))([^\[\]]*)\]", title)
    return (match[1], match[2]) if match else _known_unit(title, r"\(([^()]*)\)")


def split_label(label: str) -> tuple[str, str]:
    """The same for a label in OpenSim's files, which usually have no unit: only known units count."""
    name, unit = _known_unit(label, r"\[([^\[\]]*)\]")
    return (name, unit) if unit else _known_unit(label, r"\(([^()]*)\)")


def _known_unit(title: str, bracket: str) -> tuple[str, str]:
    match = re.fullmatch(rf"(.*\S)\s*{bracket}", title)
    known = match and match[2] not in ("1", "A") and si(match[2])  # which number things
    return (match[1], match[2]) if match and known else (title, "")


_OTHER = {"r": "l", "R": "L", "right": "left", "Right": "Left"}
_OTHER |= {other: one for one, other in _OTHER.items()}
_SIDE = re.compile(r"(?<![A-Za-z])(r|l|R|L|[Rr]ight|[Ll]eft)(?![A-Za-z])|^([RL])(?=[A-Z])")


def mirrored(name: str) -> str:
    """The name on the other side: knee_angle_r and knee_angle_l, r_force_y, R.Heel, RHEE and LHEE; others
    unchanged.
    """
    return _SIDE.sub(lambda m: _OTHER[m[0]], name, count=1)


def side(name: str) -> tuple[str, str]:
    """A name without its side, and the side: ("knee_angle", "right"); the name and "" if it has none."""
    found = _SIDE.search(name)
    if not found:
        return name, ""
    rest = re.sub(r"([_.: -])[_.: -]+", r"\1", name[: found.start()] + name[found.end() :]).strip("_.: -")
    return rest or name, {"r": "right", "l": "left"}[found[0][0].lower()]
