"""Measures: quantities recorded during a run, computed by a user's function of the state, like Simbody's
Measures.

    system.add_measure("work", cd.measures.Integral(lambda s: s.input("torque", 0.0) * s.u("knee")))
    system.add_measure("peak", cd.measures.Maximum(lambda s: s.station_position("foot", p)[1]))
    traj.measure("work"), traj["peak_time"], traj.table()

The functions are those of laws (condyle.laws.ask): traced once, run as machine code. With g(s) the number, a
run from t_0 has

    Integral         z + integral of g dt, an auxiliary state z, within the accuracy of the run            (1)
    Maximum          max of g from t_0 on, between steps too, and when it was first reached                (2)
    Delay            g at t - delay, or at the start of the run if that is earlier                       (3)
    SampleAndHold    g when it was last sampled, a discrete variable                                       (4)

Laws may use (1) by s.z(name) and (4) by s.discrete(name). (2) and (3) are computed after the run: laws cannot
use them, since delay differential equations are not supported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np

from condyle.arguments import missing
from condyle.arrays import SX
from condyle.errors import DescriptionError, TraceError
from condyle.forces.user import UserForce
from condyle.laws.ask import AskedState, answers, traced_law
from condyle.laws.described import name as checked_name
from condyle.laws.described import quantity
from condyle.laws.view import Loads, View
from condyle.records import assign, dataclass
from condyle.trace.parameter import Discrete, Parameter

__all__ = ["Delay", "Integral", "Maximum", "Measure", "Minimum", "SampleAndHold"]

INITIAL = quantity("", plain=True)


@dataclass(frozen=True, eq=False, repr=False)
class Measure(UserForce):
    """A law without loads: a number g(s).

    Attributes:
        history: it is computed after the run.
    """

    history: ClassVar[bool] = False
    exerts: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        law, asks = traced_law(self.function, self.what, self._one)
        assign(self, law=law, asks=asks)

    def _one(self, value: Any) -> list[Any]:
        if value is None or isinstance(value, (str, Mapping, AskedState)) or np.ndim(value):
            raise TraceError(
                f"{self.what}: returned {value!r}; expected one number"
                + ("; is a return statement missing?" if value is None else "")
            )
        return [value]

    def apply(self, s: View, loads: Loads) -> None:
        """Nothing."""

    def value(self, s: View) -> SX:
        """g."""
        return self.law.apply(*answers(self.asks, s))

    def columns(self, name: str) -> tuple[str, ...]:
        """Names of its columns in a run's table."""
        return (name,)

    def variables(self, name: str) -> list[Parameter]:
        """Variables that it adds to the system."""
        return []


@dataclass(frozen=True, eq=False, repr=False)
class Integral(Measure):
    """The integral of g over time (1). It is an auxiliary state, NAME among `system.state_variables`, and may
    run backward; `disabled=[NAME]` stops it. Laws use it by s.z(NAME).

    Args:
        function: g(s), as of `cd.forces.Custom`.
        initial: its value in a new State.
    """

    initial: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        assign(self, initial=INITIAL.take(self.initial, "Integral: initial"))
        super().__post_init__()

    @property
    def states(self) -> tuple[tuple[str, float], ...]:  # type: ignore[override]
        return (("", self.initial),)

    def rates(self, s: View) -> list[SX]:
        return [self.value(s)]

    def description(self) -> str:
        return f"{super().description()} from {self.initial!r}"


@dataclass(frozen=True, eq=False, repr=False)
class Maximum(Measure):
    """The largest g of the run so far (2), and the time at which it was first reached, NAME_time. It is
    located between steps by the method's polynomial. Backward in time, "so far" means from the later times
    on.

    Args:
        function: g(s), as of `cd.forces.Custom`; the largest size is that of abs(g).
    """

    history: ClassVar[bool] = True
    sign: ClassVar[float] = 1.0

    def columns(self, name: str) -> tuple[str, ...]:
        return name, f"{name}_time"


class Minimum(Maximum):
    """The smallest g of the run so far: as Maximum."""

    sign: ClassVar[float] = -1.0


@dataclass(frozen=True, eq=False, repr=False)
class Delay(Measure):
    """g at t - delay (3); where the run does not reach back so far, g at its earliest time.

    Args:
        function: g(s), as of `cd.forces.Custom`.
        delay: [s], zero or more.
    """

    delay: float = 0.0

    history: ClassVar[bool] = True

    def __post_init__(self) -> None:
        assign(self, delay=quantity("s", lowest=0.0, plain=True).take(self.delay, "Delay: delay"))
        super().__post_init__()


@dataclass(frozen=True, eq=False, repr=False)
class SampleAndHold(Measure):
    """g when it was last sampled (4): a discrete variable, NAME among `system.discrete`, used in laws by
    s.discrete(NAME). Such runs must go forward in time.

    Args:
        function: g(s), as of `cd.forces.Custom`.
        period: it is sampled at all multiples [s], including the start of a run if that is one, before other
            timed events; a run that starts between continues with the value of its state.
        event: instead of a period, the name of an Event; it is sampled before its action. initial: its value
            in a new State.
    """

    period: float | None = None
    event: str = field(default="", kw_only=True)
    initial: float = field(default=0.0, kw_only=True)

    def __post_init__(self) -> None:
        if (self.period is None) == (not self.event):
            raise DescriptionError("SampleAndHold: give a period [s], or event= the name of an Event")
        if self.period is None:
            checked_name(self.event, "SampleAndHold: event")
        else:
            positive = quantity("s", lowest=0.0, positive=True, plain=True)
            assign(self, period=positive.take(self.period, "SampleAndHold: period"))
        assign(self, initial=INITIAL.take(self.initial, "SampleAndHold: initial"))
        super().__post_init__()

    def variables(self, name: str) -> list[Parameter]:
        return [Discrete(name, self.initial)]

    def next_time(self, t: float) -> float:
        """The first multiple of the period after t [s]."""
        assert self.period is not None
        return float((np.floor(t / self.period) + 1) * self.period)


_ELSEWHERE = {
    "Max": "Maximum",
    "Min": "Minimum",
    "MaxAbs": "Maximum of abs(...)",
    "MinAbs": "Minimum of abs(...)",
    "Extreme": "Maximum or Minimum",
    "Integrate": "Integral",
    "Sample": "SampleAndHold",
}
"""What other libraries call it."""


def __getattr__(name: str) -> object:
    raise missing("cd.measures", name, __all__, _ELSEWHERE)
