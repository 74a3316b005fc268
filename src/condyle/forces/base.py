"""Interface of force laws.

A law gets a `View` of the state (poses, velocities, q, u, t, z, inputs) and adds to `Loads`: forces and
torques on bodies, expressed in ground, and generalized forces on speeds. It does not depend on accelerations.
All values are CasADi SX.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, ClassVar, Self

import casadi as ca

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.laws.described import Described, class_code, state_named
from condyle.laws.factors import BodyFactors
from condyle.laws.leaves import StateVariable
from condyle.laws.view import Loads, View
from condyle.records import dataclass
from condyle.trace.parameter import Expression, Parameter
from condyle.tree.tree import Tree

if TYPE_CHECKING:
    from condyle.shapes import Drawing, Link


class Force(ExplainsCalls):
    """A force law. Immutable data plus equations.

    Attributes:
        group: gravity, passive, external, actuator or muscle.
        states: names of its auxiliary states z, with their defaults.
        exerts: whether it acts on the system; measures do not.
    """

    group: str = "passive"
    states: tuple[tuple[str, float], ...] = ()
    exerts: ClassVar[bool] = True

    def named(self, name: str) -> Force:
        """The law as stored in a System under a name, which is also that of its Input."""
        return self

    def check(self, tree: Tree) -> None:
        """Raise an error if a body or coordinate of the law does not exist."""

    def check_parameters(self, values: Mapping[str, float]) -> None:
        """Raise an error for invalid values of parameters."""

    def implausible(self) -> Iterable[str]:
        """Warnings about implausible numbers: `condyle.plausible`."""
        return ()

    def conditions(self) -> SX | None:
        """The same as a column of expressions, all nonzero for valid values. None: call `check_parameters`,
        as for classes that define only that.
        """
        return ca.SX(0, 1)

    def apply(self, s: View, loads: Loads) -> None:
        """Add the loads of the law."""
        raise TypeError(
            f"{type(self).__name__} does not say what it exerts: it needs a method apply(s, loads)"
        )

    @property
    def reactions(self) -> tuple[str, ...]:
        """Bodies whose joint reactions the law uses: `s.reaction`."""
        return ()

    def potential(self, s: View) -> SX | None:
        """Potential energy [J], or None for a force that has none."""
        return None

    def rates(self, s: View) -> list[SX]:
        """Time derivatives of its auxiliary states."""
        return []

    def parameters(self) -> Iterable[Parameter]:
        """Parameters and Inputs in its numbers."""
        return [p for v in vars(self).values() if isinstance(v, Expression) for p in v.parameters]

    def description(self) -> str:
        """Text that determines the equations."""
        fields = {
            k: (v.parameters, v.text) if isinstance(v, Expression) else v for k, v in vars(self).items()
        }
        return f"{type(self).__name__}({fields!r})"

    def scaled(self, factors: BodyFactors) -> Self:
        """The law on bodies of other sizes, for `cd.scale`. A law without this method is unchanged, and the
        report of `cd.scale` notes it.
        """
        factors.notes.append(" does not say how it scales: lengths in it are as they were")
        return self

    def drawn(self, size: float) -> Sequence[Drawing | Link]:
        """Shapes to draw; none by default.

        Args:
            size: of the scene [m], for shapes without a natural size.
        """
        return ()

    def code(self) -> str:
        """Further text that determines the equations: the code of a user's class, which may change; empty for
        built-in laws.
        """
        return class_code(type(self))


def state_variables(forces: Mapping[str, Force]) -> list[tuple[str, float]]:
    """Names of the auxiliary states z of some forces, FORCE.STATE, and their defaults, in order; for a
    measure only its name.
    """
    return [
        (f"{name}.{state}" if state else name, value)
        for name, force in forces.items()
        for state, value in force.states
    ]


def check_states(forces: Mapping[str, Force], afterward: Collection[str] = ()) -> None:
    """Raise an error if a law uses an auxiliary state that does not exist, or a measure that is evaluated
    after the run.
    """
    states = {name: ca.SX(value) for name, value in state_variables(forces)}
    for name, force in forces.items():
        for ask in getattr(force, "asks", ()):
            if isinstance(ask, StateVariable):
                if ask.name in afterward:
                    raise DescriptionError(
                        f"force {name!r}: asks for {ask.label}, but this measure is found "
                        "after the run, from its history: laws cannot depend on it. They "
                        "read integrals (s.z) and samples (s.discrete)"
                    )
                state_named(states, name, ask.name, f"force {name!r}")


GROUPS = ("gravity", "passive", "external", "actuator", "muscle")


@dataclass(frozen=True, eq=False, repr=False)
class Law(Described, Force):
    """A force law whose fields declare their roles.

    Attributes:
        tabular: it depends only on poses and velocities of its bodies, so many of them may be rows of one
            table.
    """

    tabular: ClassVar[bool] = False

    group: str = field(default="passive", kw_only=True)

    @property
    def form(self) -> Hashable:
        """What beside its class decides on the form of its equations: laws that differ in it are in different
        tables."""
        return ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.group not in GROUPS:
            raise DescriptionError(
                f"{type(self).__name__}: group must be one of {', '.join(GROUPS)}, got {self.group!r}"
            )
