"""Controls as functions of time, for simulation by `answer.replay`."""

from __future__ import annotations

import warnings
from copy import copy
from dataclasses import replace
from typing import Any

import casadi as ca

from condyle.arrays import SX, Array
from condyle.control.dynamics import driven_by
from condyle.errors import DescriptionError
from condyle.forces.external import TimeSeries
from condyle.forces.user import UserForce
from condyle.laws.leaves import GivenInput, Leaf
from condyle.laws.view import View
from condyle.records import assign, dataclass
from condyle.system.system import System


@dataclass(frozen=True, eq=False)
class PlayedInput(Leaf):
    """An input that is a function of time."""

    name: str
    series: TimeSeries

    level = "time"

    @property
    def label(self) -> str:
        return f"s.input({self.name!r}) {self.series.description()}"

    def value(self, s: View) -> SX:
        return ca.SX(self.series(s.t))


def played(system: System, times: Array, controls: Array) -> System:
    """The system with controls (m, inputs) at times (m,) as inputs, interpolated linearly.

    Raises:
        DescriptionError: an input that cannot be a function of time.
    """
    changed: dict[str, Any] = {}
    for k, name in enumerate(system.inputs):
        with warnings.catch_warnings():  # warnings about kinks, which are intended here
            warnings.simplefilter("ignore")
            series = TimeSeries(tuple(times), tuple(controls[:, k]), "linear")  # type: ignore[arg-type]
        count = len(changed)
        for force_name, given in system.compiled.model.forces.items():
            law: Any = changed.get(force_name, given)
            fields = {own: series for own, source in driven_by(law).items() if source == name}
            if fields:
                changed[force_name] = replace(law, **fields)
            elif isinstance(law, UserForce) and any(_is(ask, name) for ask in law.asks):
                other = copy(law)
                asks = tuple(PlayedInput(name, series) if _is(ask, name) else ask for ask in law.asks)
                assign(other, asks=asks)
                changed[force_name] = other
                count -= 1
        if len(changed) == count:
            raise DescriptionError(
                f"replay: the control {name!r} drives no actuator, no muscle and no function of a user"
            )
    return system.copy(forces=changed)


def _is(ask: Leaf, name: str) -> bool:
    return isinstance(ask, GivenInput) and ask.name == name
