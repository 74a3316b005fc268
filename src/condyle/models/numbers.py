"""Numbers of muscles for classes of muscles that know some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from condyle.errors import DescriptionError
from condyle.muscles import Muscle


def known_by(muscle: type[Muscle], numbers: Mapping[str, Any]) -> dict[str, Any]:
    """Those of some numbers that a class of muscles takes: shapes of Thelen's curves are for his alone."""
    if not (isinstance(muscle, type) and issubclass(muscle, Muscle)):
        raise DescriptionError(
            f"muscle: expected a class such as cd.muscles.Thelen2003, or None for no muscles, got {muscle!r}"
        )
    names = {f.name for f in fields(muscle)}
    return {name: value for name, value in numbers.items() if name in names}
