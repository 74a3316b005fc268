"""Short goals: duration, user functions, periodic movements and their mean speed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arrays import SX
from condyle.control.dynamics import Dynamics
from condyle.control.goals.base import Condition, MovementGoal, names_of
from condyle.control.point import MovementPoint
from condyle.errors import DescriptionError, TraceError, check_name, check_names
from condyle.laws.ask import AskedMotion, AskedState, traced_law
from condyle.laws.leaves import Leaf
from condyle.records import assign, dataclass
from condyle.trace import Traced


@dataclass(frozen=True, eq=False)
class Duration(MovementGoal):
    """The movement should be short: its duration [s]."""

    @property
    def nonlinear(self) -> bool:
        return True

    def value(self, integral: SX, start: SX, end: SX, duration: SX) -> SX:
        return duration


def _flat(result: Any) -> list[Any]:
    return list(np.ravel(np.array(result, dtype=object)))


@dataclass(frozen=True, eq=False, repr=False)
class _OfFunction(MovementGoal):
    """A goal from a user's function of the state, traced as laws are."""

    function: Callable[[AskedState], object]
    low: ArrayLike = -np.inf
    high: ArrayLike = np.inf
    law: Traced = field(init=False, repr=False)
    asks: tuple[Leaf, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        called = getattr(self.function, "__name__", type(self.function).__name__)
        what = f"{type(self).__name__}({'lambda' if called == '<lambda>' else called})"
        assign(self, name=self.name or what)
        super().__post_init__()
        law, asks = traced_law(self.function, what, _flat, AskedMotion)
        assign(self, law=law, asks=asks)

    def __repr__(self) -> str:
        """With limits, if any."""
        limits = [f"{n}={x!r}" for n in ("low", "high") if np.any(np.isfinite(x := getattr(self, n)))]
        return ", ".join([f"goals.{self.name}", *limits])

    @property
    def limits(self) -> tuple[ArrayLike, ArrayLike]:
        return self.low, self.high

    def check(self, dynamics: Dynamics) -> None:
        for ask in self.asks:
            ask.check(dynamics.tree, self.name)

    def code(self, dynamics: Dynamics) -> str:
        return f"{type(self).__name__} {[ask.text for ask in self.asks]} {self.law.text}"

    def _one(self, p: MovementPoint) -> SX:
        found = p.apply(self.law, self.asks)
        if found.numel() != 1:
            raise TraceError(f"{self.name}: expected one number, got {found.numel()}")
        return found


@dataclass(frozen=True, eq=False, repr=False)
class Integral(_OfFunction):
    """The integral over time of a function of the state.

    Args:
        function: f(s) -> one number. `s` has the accessors of force laws: s.q("knee"), s.u("knee"),
            s.station_position("foot", p), s.input("soleus_r") for a control, s.z("soleus_r.activation"), s.t.
        low: the minimum of the integral, if it is required.
        high: the greatest.
    """

    def integrand(self, p: MovementPoint) -> SX:
        return self._one(p)


@dataclass(frozen=True, eq=False, repr=False)
class Final(_OfFunction):
    """A function of the last state: one number if it is minimized, one or more if it is required.

    Args:
        function: f(s) -> a number or several, see `Integral`.
        low: the minimum, if it is required.
        high: the greatest.
    """

    def at_end(self, p: MovementPoint) -> SX:
        return p.apply(self.law, self.asks)


@dataclass(frozen=True, eq=False, repr=False)
class Initial(_OfFunction):
    """A function of the first state: see `Final`."""

    def at_start(self, p: MovementPoint) -> SX:
        return p.apply(self.law, self.asks)


@dataclass(frozen=True, eq=False, repr=False)
class Path(_OfFunction):
    """A function of the state must be between low and high at every point.

    Args:
        function: f(s) -> a number or several, see `Integral`.
        low: one number or one for each.
        high: one number or one for each.
    """

    def path(self, p: MovementPoint) -> SX:
        return p.apply(self.law, self.asks)


@dataclass(frozen=True, eq=False)
class MeanSpeed(MovementGoal):
    """The displacement of a coordinate divided by the duration.

    Args:
        speed: [m/s, rad/s], or a pair (low, high).
        coordinate: its name; by default the first that only translates along x, such as pelvis_tx.
    """

    speed: float | tuple[float, float]
    coordinate: str = ""

    def moving(self, dynamics: Dynamics) -> str:
        """The coordinate that moves."""
        if self.coordinate:
            check_name("coordinate", self.coordinate, dynamics.system.coordinates, "MeanSpeed")
            return self.coordinate
        found = [v.name for v in dynamics.states if v.kind == "coordinate" and v.unit == "m"]
        named = [name for name in found if name.endswith(("_tx", "_x"))] or found
        if not named:
            raise DescriptionError("MeanSpeed: the system has no coordinate in meters; give coordinate=")
        return named[0]

    def check(self, dynamics: Dynamics) -> None:
        self.moving(dynamics)

    def conditions(self, dynamics: Dynamics) -> Sequence[Condition]:
        name = self.moving(dynamics)
        low, high = np.broadcast_to(np.asarray(self.speed, float), 2).tolist()
        moved = [("end", name, 1.0), ("start", name, -1.0)]
        if low == high:
            return [Condition(moved, duration=-low, name=f"mean speed of {name}")]
        return [
            Condition(moved, 0.0, np.inf, duration=-low, name=f"least mean speed of {name}"),
            Condition(moved, -np.inf, 0.0, duration=-high, name=f"greatest mean speed of {name}"),
        ]


@dataclass(frozen=True, eq=False)
class Periodic(MovementGoal):
    """The last state equals the first one, or its mirror image.

    Args:
        mirror: suffixes of both sides, such as ("_r", "_l"): a variable of one side at the end equals that of
            the other side at the start. Suffixes may be inside names, as in soleus_r.activation.
        free: coordinates that are not periodic, such as pelvis_tx. By default that of MeanSpeed: the first
            that only translates along x.
        opposite: variables that change their sign, such as pelvis_tz or pelvis_list, in a mirror image; speeds
            of coordinates go with them.
        controls: True for controls too, or the names of some.
        states: all states.
    """

    mirror: tuple[str, str] | None = None
    free: Sequence[str] | None = None
    opposite: Sequence[str] = ()
    controls: bool | Sequence[str] = False
    states: bool = True

    def other(self, name: str, known: set[str]) -> str:
        """The name on the other side, or itself."""
        if self.mirror is None:
            return name
        a, b = self.mirror
        for one, two in ((a, b), (b, a)):
            for end in ("", "_speed", ".activation"):
                head = name.removesuffix(end) if end else name
                if (not end or name.endswith(end)) and head.endswith(one):
                    found = head[: len(head) - len(one)] + two + end
                    if found in known:
                        return found
            stem, dot, rest = name.partition(".")
            if (
                dot
                and stem.endswith(one)
                and (found := stem[: len(stem) - len(one)] + two + dot + rest) in known
            ):
                return found
        return name

    def conditions(self, dynamics: Dynamics) -> Sequence[Condition]:
        free = self.free
        if free is None:
            moving = [v.name for v in dynamics.states if v.kind == "coordinate" and v.unit == "m"]
            free = [name for name in moving if name.endswith("_tx")][:1]
        free, opposite = names_of(free, "Periodic: free"), names_of(self.opposite, "Periodic: opposite")
        inputs = tuple(v.name for v in dynamics.controls if v.kind == "control")
        every = isinstance(self.controls, bool)
        controls = inputs * bool(self.controls) if every else names_of(self.controls, "Periodic: controls")
        controls = tuple(f"{x}_control" if f"{x}_control" in inputs else x for x in controls)
        check_names("variable", (*free, *opposite, *controls), dynamics.index, "Periodic")
        chosen = [v for v in dynamics.states if self.states]
        chosen += [v for v in dynamics.controls if v.name in controls]
        known, turned = {v.name for v in chosen}, {*opposite, *(f"{name}_speed" for name in opposite)}
        return [
            Condition(
                [
                    ("end", v.name, 1.0),
                    ("start", self.other(v.name, known), 1.0 if v.name in turned else -1.0),
                ],
                name=f"{v.name} is periodic",
            )
            for v in chosen
            if v.name not in free
        ]
