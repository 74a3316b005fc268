"""The operators of a system: one record each."""

from __future__ import annotations

from condyle.model.operators import bodies, constraints, contacts, dynamics, forces, paths, rates
from condyle.model.operators.record import OperatorRecord

OPERATORS: dict[str, OperatorRecord] = {
    operator.name: operator
    for topic in (rates, dynamics, constraints, bodies, paths, forces, contacts)
    for operator in topic.OPERATORS
}
"""Records by name, including those of kernels that other operators need."""
