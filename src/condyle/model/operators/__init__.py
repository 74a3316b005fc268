"""The operators of a system: one record each."""

from __future__ import annotations

from condyle.model.operators import (
    actuators,
    bodies,
    constraints,
    contacts,
    dynamics,
    muscles,
    paths,
    rates,
    reports,
    unilateral,
)
from condyle.model.operators.record import Operator

OPERATORS: dict[str, Operator] = {
    operator.name: operator
    for topic in (
        rates,
        dynamics,
        constraints,
        bodies,
        paths,
        actuators,
        muscles,
        contacts,
        unilateral,
        reports,
    )
    for operator in topic.OPERATORS
}
"""Records by name, those of kernels that other operators need among them."""
