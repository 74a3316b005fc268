"""Paths without points: a length that is a function of coordinates, such as a fit of a path over surfaces.

L = f(q),    Ldot = sum of f_k qdot_k,    moment arms -f_k                                             (1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Self

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.errors import DescriptionError
from condyle.functions import Function
from condyle.functions.base import exact
from condyle.laws.factors import BodyFactors
from condyle.laws.leaves import Composed, CoordinateValue, Leaf
from condyle.laws.view import View
from condyle.paths.path import Path
from condyle.paths.points import Wrap
from condyle.paths.span import Span
from condyle.records import dataclass
from condyle.trace import Traced, trace
from condyle.trace.parameter import Parameter
from condyle.tree.tree import Tree


@dataclass(frozen=True, eq=False, repr=False)
class FunctionPath(Path):
    """A path whose length is a function of coordinates, as OpenSim's FunctionBasedPath. It acts on these
    coordinates alone, by moment arms -dL/dq, and is not drawn, because it has no points.

    Args:
        function: the length [m], with one argument per coordinate [rad, m], in their order: a function such
            as `cd.functions.Polynomial`, or a user's formula without Parameters.
        coordinates: their names; a single name needs no tuple.
    """

    other_names = ("FunctionBasedPath",)

    points: tuple[Any, ...] = field(default=(), init=False, repr=False)
    wraps: tuple[Wrap, ...] = field(default=(), init=False, repr=False)
    function: Any
    coordinates: Any

    def __post_init__(self) -> None:
        if not isinstance(self.coordinates, Iterable):
            raise DescriptionError(
                "FunctionPath: expected a function and then names of coordinates, got "
                f"{self.coordinates!r} for coordinates"
            )
        names = (self.coordinates,) if isinstance(self.coordinates, str) else tuple(self.coordinates)
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            raise DescriptionError(
                f"FunctionPath: coordinates: expected names, each once, got {self.coordinates!r}"
            )
        object.__setattr__(self, "coordinates", names)
        object.__setattr__(self, "function", _kept(self.function, names))

    def check(self, tree: Tree) -> None:
        self.length.check(tree, "FunctionPath")

    def scaled(self, factors: BodyFactors) -> Self:
        """Not scaled, as in OpenSim: its function is of coordinates."""
        return self

    def parameters(self) -> list[Parameter]:
        return []

    def check_parameters(self, values: Mapping[str, float]) -> None:
        pass

    def conditions(self) -> SX:
        return ca.SX(0, 1)

    @cached_property
    def length(self) -> FunctionLength:  # type: ignore[override]
        return FunctionLength(self.function, self.coordinates)

    def description(self) -> str:
        return f"FunctionPath({self.coordinates}, {self.length.serial})"

    def __getstate__(self) -> dict[str, Any]:
        return {"points": (), "wraps": (), "function": self.function, "coordinates": self.coordinates}


@dataclass(frozen=True, eq=False)
class FunctionLength(Composed):
    """A function of coordinates [m]: (1).

    Attributes:
        spans: none.
    """

    function: Any
    names: tuple[str, ...]

    spans: tuple[Span, ...] = ()

    @property
    def label(self) -> str:
        return f"length of a path that depends on {', '.join(self.names)}"

    @cached_property
    def serial(self) -> str:
        """Text that determines the function."""
        own = self.function.serial if isinstance(self.function, Traced) else exact(self.function)
        if own is None:
            q = [ca.SX.sym(f"q{k}") for k in range(len(self.names))]
            own = ca.Function("L", q, [self.expression(*q)]).serialize()
        return str(own)

    @cached_property
    def text(self) -> str:  # type: ignore[override]
        return f"{self.label} {self.serial}"

    @property
    def parts(self) -> list[Leaf]:
        return [CoordinateValue(name) for name in self.names]

    def expression(self, *y: SX) -> SX:
        f = self.function
        return ca.SX(f.apply(*y) if isinstance(f, Traced) else f(*y))

    def ranges(self, rng: np.random.Generator) -> list[tuple[float, float]]:
        return [(0.1, 0.5)]

    def touched(self, s: View) -> SX:
        """Data for drawing: none, since it has no points."""
        return ca.SX(0, 1)


def _kept(f: Any, names: tuple[str, ...]) -> Any:
    """A function of this package or a user's function, as a FunctionPath keeps it."""
    if isinstance(f, Function) and not f.uses_parameters:
        if f.variables not in (len(names), None):
            raise DescriptionError(
                f"FunctionPath: {f!r} is a function of {f.variables} variable(s); there "
                f"are {len(names)} coordinates: {', '.join(names)}"
            )
        return f
    law = trace(f, names, what="FunctionPath: function", outputs=())
    if law.outside or law.tables:
        raise DescriptionError(
            "FunctionPath: function holds Parameters or splines; expected a formula of "
            f"{', '.join(names)} with numbers, or a function such as cd.functions.SimmSpline itself"
        )
    return law
