"""Tables of published numbers as text, and the numbers that muscles of several models share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from condyle.errors import DescriptionError
from condyle.muscles import Muscle

THELEN: dict[str, Any] = {
    "max_contraction_velocity": 10.0,
    "activation_time_constant": 0.01,
    "deactivation_time_constant": 0.04,
    "minimum_activation": 0.01,
    "default_activation": 0.05,
    "FmaxTendonStrain": 0.033,
    "FmaxMuscleStrain": 0.6,
    "KshapeActive": 0.5,
    "KshapePassive": 4.0,
    "Af": 0.3,
    "Flen": 1.8,
    "fv_linear_extrap_threshold": 0.95,
}
"""Curves and dynamics of all muscles of arm26 and leg6dof9musc; shapes are Thelen's."""


def rows_of_text(table: str) -> list[list[Any]]:
    """Lines of words and numbers: numbers become floats."""
    return [[_value(cell) for cell in line.split()] for line in table.strip().splitlines()]


def _value(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def known_by(muscle: type[Muscle], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some numbers that a class of muscles takes: shapes of Thelen's curves are for his alone."""
    if not (isinstance(muscle, type) and issubclass(muscle, Muscle)):
        raise DescriptionError(
            f"muscle: expected a class such as cd.muscles.Thelen2003, or None for no muscles, got {muscle!r}"
        )
    names = {f.name for f in fields(muscle)}
    return {name: value for name, value in numbers.items() if name in names}
