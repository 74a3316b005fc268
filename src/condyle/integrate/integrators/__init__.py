"""Integration methods, named or user-defined: `cd.simulate(..., integrator="rk3")`, or `integrator=method`.

A family of methods is one file here; a method is one object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condyle.arguments import missing
from condyle.integrate.integrators.base import Method
from condyle.integrate.integrators.bdf import BDF
from condyle.integrate.integrators.explicit import (
    DORMAND_PRINCE,
    DORMAND_PRINCE_8,
    EULER,
    FEHLBERG,
    MERSON,
    RK2,
    RK3,
    RK4,
    RKC,
    Explicit,
)
from condyle.integrate.integrators.rosenbrock import RODAS, RODAS5P, Rosenbrock
from condyle.integrate.integrators.symplectic import SemiExplicitEuler, Verlet

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

__all__ = ["BDF", "Explicit", "Method", "Rosenbrock", "TimeStepping"]

METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        EULER,
        SemiExplicitEuler(),
        Verlet(),
        RK2,
        RKC,
        RK3,
        RK4,
        MERSON,
        FEHLBERG,
        DORMAND_PRINCE,
        DORMAND_PRINCE_8,
        RODAS,
        RODAS5P,
        BDF(),
    )
}
"""Methods by the names that `cd.simulate(..., integrator=...)` accepts."""

_ELSEWHERE = {
    "Tableau": "Explicit",
    "RungeKutta": "Explicit",
    "Rodas": "Rosenbrock",
    "CPodes": "BDF",
    "NDF": "BDF",
}
"""Names in other libraries."""


def __getattr__(name: str) -> object:
    if name == "TimeStepping":  # it knows states and runs, which know methods
        from condyle.integrate.stepping.method import TimeStepping

        return TimeStepping
    raise missing("cd.integrators", name, __all__, _ELSEWHERE)
