"""Quantity: what numbers a description takes, of which any may be a Parameter. Checked one way, refused in
one wording."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np

from condyle.errors import DescriptionError
from condyle.records import dataclass


@dataclass(frozen=True)
class Quantity:
    """Numbers of one shape and unit, and which values they may have.

    Attributes:
        unit: such as "N/m".
        shape: () for one number.
        lowest: the smallest value.
        positive: the smallest value itself is too small.
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
            what: whose they are, for the message.
            shown: what the user wrote.
            at: what else the message says.
        """
        if (
            type(values) is float
            and not self.shape
            and -math.inf < values < math.inf
            and (values > self.lowest if self.positive else values >= self.lowest)
        ):
            return  # as a rule, and without arrays
        try:
            array = np.asarray(values)
        except ValueError:
            array = np.empty(0, dtype=object)
        good = array.dtype.kind in "fiu" and array.shape == self.shape and not np.isnan(array).any()
        good = good and (self.infinite or bool(np.isfinite(array).all()))
        if not (good and (array > self.lowest if self.positive else array >= self.lowest).all()):
            raise DescriptionError(f"{what}: expected {self.allowed}, got {shown!r}{at}")

    def conditions(self, x: ca.SX) -> list[ca.SX]:
        """The same for expressions: all not zero where `check` would pass."""
        entries = ca.vertsplit(ca.densify(ca.vec(x)))
        low = [v > self.lowest if self.positive else v >= self.lowest for v in entries]
        return low if self.infinite else low + [ca.fabs(v) < ca.inf for v in entries]

    @property
    def allowed(self) -> str:
        """In words: "three finite numbers or cd.Parameters [m]"."""
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
