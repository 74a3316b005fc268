"""Base classes of the residuals of `cd.fit_parameters`, with derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import Array, real
from condyle.dynamics import rates
from condyle.errors import DescriptionError, ShapeError
from condyle.integrate.events import StateFunctions
from condyle.laws.ask import AskedState, answers, traced_law
from condyle.model.flat import rows
from condyle.model.symbols import Symbols
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.system.system import System


@dataclass(frozen=True, eq=False)
class Evaluated:
    """Residuals at some values.

    Attributes:
        r: (model - measured) / sigma, shape (m,).
        by_parameters: dr/dp for all Parameters of the system, shape (m, p).
        by_unknowns: by the residual's own unknowns, shape (m, k).
        joints: whether each r joins two pieces of a run instead of comparing a measurement, shape (m,).
    """

    r: Array
    by_parameters: Array
    by_unknowns: Array
    joints: np.ndarray


class Residuals(ABC):
    """A comparison of a model with measurements."""

    what = ""

    @abstractmethod
    def prepare(self, system: System) -> Prepared:
        """The residuals prepared for a system, after checks."""


class Prepared(ABC):
    """A residual of one system.

    Attributes:
        label: its name in messages.
        unknowns: names of further unknowns, such as states at the start of a run.
        guess: initial values of the unknowns, shape (k,).
        absolute: whether the noise of the measurements is known.
        titles: the meaning of its numbers, in order, without repetition.
    """

    label: str
    unknowns: tuple[str, ...] = ()
    guess: Array = np.empty(0)
    absolute: bool
    has_joints = False

    @abstractmethod
    def evaluate(self, p: Array, x: Array, weight: float) -> Evaluated:
        """Evaluate at Parameters p (all of the system) and unknowns x. weight: weight of the joints."""


def spread(what: str, sigma: Any, shape: tuple[int, ...], names: Sequence[str] = ()) -> Array:
    """Standard deviations in the shape of the measurements."""
    if isinstance(sigma, Mapping):
        for name in sigma:
            if name not in names:
                raise DescriptionError(f"{what}: sigma: {name!r} is none of {', '.join(names)}")
        sigma = [sigma.get(name, 1.0) for name in names]
    array = real(f"{what}: sigma", 1.0 if sigma is None else sigma, "numbers above zero")
    if not (array > 0).all() or not np.isfinite(array).all():
        raise DescriptionError(f"{what}: sigma: expected standard deviations above zero, got {sigma!r}")
    try:
        return np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(f"{what}: sigma of shape {array.shape} does not fit measurements {shape}") from None


class StateJacobians(StateFunctions):
    """A traced function of the state with its derivatives by q (along the manifold), u, z and parameters."""

    label = "state_jacobians"

    def __init__(self, system: System, function: Callable[[AskedState], object], what: str) -> None:
        law, asks = traced_law(function, what, lambda x: list(np.ravel(np.array(x, dtype=object))))
        model = system.compiled.model
        self.widths = [model.tree.nu, model.tree.nu, model.tail["z"].stop - model.tail["z"].start]
        self.widths.append(len(model.tree.parameters))
        super().__init__(system, [(what, law, asks)])

    def _outputs(self) -> list[tuple[str, int]]:
        return [("g", self.size)] + [(f"J_{k}", self.size * n) for k, n in enumerate(self.widths) if n]

    def _build(self) -> ca.Function | Staged:
        s = Symbols(self.model, direct=True)
        view = s.view(s.kinematics())
        ((_, law, asks),) = self.laws
        g = ca.densify(law.apply(*answers(asks, view)))
        N = rates.matrix(self.model.tree, s.t, s["q"])
        J = [ca.jacobian(g, s["q"]) @ N, *(ca.jacobian(g, x) for x in (s["u"], s.z, s["parameters"]))]
        found = [rows(ca.densify(x)) for x, n in zip(J, self.widths, strict=True) if n]
        return build_function(self.label, [s["q"], s["u"], s["tail"]], [g, *found])

    def all_of(self, q: Array, u: Array, tail: Array) -> tuple[Array, list[Array]]:
        """g (m, size), and its derivatives (m, size, n) by q, u, z, parameters."""
        found = self.function.fast(q, u, tail)
        g, *J = found if isinstance(found, tuple) else (found,)
        each = iter(J)
        return g, [
            next(each).reshape(len(g), self.size, n) if n else np.zeros((len(g), self.size, 0))
            for n in self.widths
        ]


def values_of(what: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Measurements in the shape of the model's values; NaN is a gap."""
    array = real(f"{what}: values", values, "measured numbers, NaN where there are none")
    try:
        array = np.broadcast_to(array, shape)
    except ValueError:
        raise ShapeError(f"{what}: values of shape {array.shape}; the model gives {shape}") from None
    if np.isinf(array).any():
        raise DescriptionError(f"{what}: values: infinite numbers cannot be measured")
    if np.isnan(array).all():
        raise DescriptionError(f"{what}: values: there is no measurement")
    return array


def pack(
    model: Array, measured: Array, sigma: Array, J: Array, by: Array | None = None, joints: Any = None
) -> Evaluated:
    """Residuals of the measurements, without gaps (NaN)."""
    there = ~np.isnan(measured)
    r = ((model - measured) / sigma)[there]
    by_p = (J / sigma[..., None])[there]
    by_x = np.zeros((len(r), 0)) if by is None else (by / sigma[..., None])[there]
    return Evaluated(r, by_p, by_x, np.zeros(len(r), dtype=bool) if joints is None else joints)
