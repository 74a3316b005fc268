"""Numbers that may change without compiling again: Parameter (describes the system), Input (drives it) and
Discrete (its memory).

All are symbols: expressions such as `0.4 * cd.Parameter("height", 1.8)` are accepted wherever numbers are.
Equal names are the same parameter.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array
from condyle.errors import DescriptionError
from condyle.records import dataclass
from condyle.trace import DEFAULTED, Symbol, to_sx


@dataclass(frozen=True)
class Quantity:
    """Shape, unit and allowed values of numbers.

    Attributes:
        unit: such as "N/m".
        shape: () for one number.
        lowest: the smallest value.
        positive: values must be above the smallest value.
        infinite: ±inf is allowed.
        plain: Parameters are not allowed.
    """

    unit: str = ""
    shape: tuple[int, ...] = ()
    lowest: float = -math.inf
    positive: bool = False
    infinite: bool = False
    plain: bool = False

    def check(self, values: Any, what: str, shown: Any, at: str = "") -> None:
        """Raise DescriptionError unless the numbers are allowed.

        Args:
            values: the numbers, those of Parameters at their defaults.
            what: their owner, for the message.
            shown: the user's input.
            at: more text for the message.
        """
        if (
            type(values) is float
            and not self.shape
            and -math.inf < values < math.inf
            and (values > self.lowest if self.positive else values >= self.lowest)
        ):
            return  # the usual case, without arrays
        try:
            array = np.asarray(values)
        except ValueError:
            array = np.empty(0, dtype=object)
        good = array.dtype.kind in "fiu" and array.shape == self.shape and not np.isnan(array).any()
        good = good and (self.infinite or bool(np.isfinite(array).all()))
        if not (good and (array > self.lowest if self.positive else array >= self.lowest).all()):
            raise DescriptionError(f"{what}: expected {self.allowed}, got {shown!r}{at}")

    def conditions(self, x: SX) -> list[SX]:
        """The same for expressions: nonzero where `check` would pass."""
        entries = ca.vertsplit(ca.densify(ca.vec(x)))
        low = [v > self.lowest if self.positive else v >= self.lowest for v in entries]
        return low if self.infinite else low + [ca.fabs(v) < ca.inf for v in entries]

    @property
    def allowed(self) -> str:
        """Text for errors: "three finite numbers or cd.Parameters [m]"."""
        n = math.prod(self.shape)
        few = {1: "one", 3: "three", 6: "six"}.get(n, str(n))
        s = "s" if n > 1 else ""
        text = f"{few} {'' if self.infinite else 'finite '}number{s}" + (
            "" if self.plain else f" or cd.Parameter{s}"
        )
        text += f" [{self.unit}]" if self.unit else ""
        if self.lowest > -math.inf:
            text += f", {'above' if self.positive else 'at least'} {self.lowest:g}"
        return text


FINITE = Quantity()
POSITIVE = Quantity(lowest=0.0, positive=True)


_NODES: dict[tuple[type, str, float], ca.SX] = {}


class Parameter(ExplainsCalls, Symbol):
    """A number that describes the system, with a value in every State.

    Args:
        name: equal names mean the same parameter.
        default: its value unless a state or an operator call gives another.
    """

    __slots__ = ("default", "name")

    kind = "parameter"

    def __init__(self, name: str, default: float) -> None:
        if not isinstance(name, str) or not name:
            raise DescriptionError(f"a {self.kind}'s name is a non-empty string, got {name!r}")
        try:
            given: Any = default
            value = np.nan if isinstance(given, (str, bytes)) else float(given)
        except (TypeError, ValueError):
            value = np.nan
        if not np.isfinite(value):
            raise DescriptionError(f"{self.kind} {name!r}: its default is one finite number, got {default!r}")
        # One node per name and default: a symbol in an expression then identifies its parameter.
        sx = _NODES.setdefault((type(self), name, value), ca.SX.sym(name))
        super().__init__(sx)
        self.name, self.default = name, value
        DEFAULTED[sx.element_hash()] = self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.default!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self.default)


class Input(Parameter):
    """A signal from outside: an excitation, a motor's torque, a measured force. Otherwise like a Parameter."""

    __slots__ = ()

    kind = "input"


class Discrete(Parameter):
    """A discrete variable: a number that the system remembers and that actions of events change. Otherwise
    like a Parameter.

    It is constant between events; `state.replace(discrete={"gear": 2})` changes it, and runs record it over
    time.
    """

    __slots__ = ()

    kind = "discrete variable"


def parameters_in(sx: SX, what: str) -> list[Parameter]:
    """The Parameters and Inputs in an expression."""
    found = []
    for symbol in ca.symvar(sx):
        known = DEFAULTED.get(symbol.element_hash())
        if not isinstance(known, Parameter):
            raise DescriptionError(
                f"{what}: contains the symbol {symbol}, which is no cd.Parameter, cd.Input or cd.Discrete"
            )
        found.append(known)
    return found


def is_number_like(value: Any) -> bool:
    """Whether the value is or holds a Symbol or SX."""
    if isinstance(value, (Symbol, ca.SX)):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype == object and any(is_number_like(v) for v in value.flat)
    return isinstance(value, (list, tuple)) and any(is_number_like(v) for v in value)


def as_sx(value: Any) -> Any:
    """SX where a Symbol is inside, everything else as it is."""
    return to_sx(value) if is_number_like(value) else value


@functools.lru_cache(maxsize=4096)
def _function(text: str) -> ca.Function:
    return ca.Function.deserialize(text)


def numbers_at(kept: Any, values: Mapping[str, float] | None = None) -> Any:
    """A stored number, or several, with Parameters at their defaults or at given values."""
    if not isinstance(kept, Expression):
        return kept
    value = kept.at(values)
    return float(value.item()) if value.size == 1 else value


class Expression:
    """A matrix computed from Parameters and Inputs. Pickles, and its text determines it exactly.

    Attributes:
        parameters: Parameters and Inputs in it.
        sx: the expression.
        text: its serialized form; empty if it is a Parameter itself, as in the excitations of most muscles.
    """

    def __init__(self, sx: SX, what: str = "an expression") -> None:
        self.parameters = tuple(parameters_in(sx, what))
        self.text = (
            ""
            if sx.is_scalar() and sx.is_symbolic()
            else ca.Function("f", [p.sx for p in self.parameters], [ca.densify(sx)]).serialize()
        )

    @property
    def sx(self) -> SX:
        if not self.text:
            return ca.SX(self.parameters[0].sx)
        return ca.sparsify(_function(self.text).call([p.sx for p in self.parameters], True, False)[0])

    def at(self, values: Mapping[str, float] | None = None) -> Array:
        """Numbers at the defaults, or at the given values of some parameters. Shape of the matrix."""
        arguments = [(values or {}).get(p.name, p.default) for p in self.parameters]
        if not self.text:
            return np.full((1, 1), arguments[0], dtype=float)
        return np.array(_function(self.text).call(arguments)[0].full())


class Registry:
    """The parameters, or inputs, of one system in order of their first use."""

    def __init__(self, kind: str, items: Sequence[Parameter] = ()) -> None:
        self.kind, self._items = kind, {p.name: p for p in items}

    def add(self, parameter: Parameter) -> None:
        known = self._items.setdefault(parameter.name, parameter)
        if known.default != parameter.default:
            raise DescriptionError(
                f"{self.kind} {parameter.name!r} has the defaults {known.default:g} and "
                f"{parameter.default:g}; equal names are the same {self.kind}: give one "
                "default"
            )

    def __iter__(self) -> Any:
        return iter(self._items.values())

    def __len__(self) -> int:
        return len(self._items)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._items)

    @property
    def defaults(self) -> Array:
        return np.array([p.default for p in self])

    @property
    def symbols(self) -> SX:
        return ca.vertcat(ca.SX(0, 1), *(p.sx for p in self))

    def copy(self) -> Registry:
        return Registry(self.kind, list(self))
