"""Events: changes at an instant, detected by a witness function or scheduled in time.

A witness g is evaluated a few times in each step. Where its sign changes, the interval is divided until it is
no longer than the window; the event happens at its end, just after the change. All events that changed sign
in that interval happen there, in the order in which they were given; each action receives the State that the
previous one returned. Events whose sign an action changed follow. For the sign of a witness after an
action see witnesses.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import casadi as ca
import numpy as np

from condyle.arguments import ExplainsCalls
from condyle.errors import DescriptionError, TraceError, UnknownNameError
from condyle.integrate.steps import replaced, unstacked
from condyle.laws.ask import AskedState, answers, check_function, traced_law
from condyle.laws.leaves import Leaf
from condyle.model.model import description
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import Staged, build_function
from condyle.records import dataclass
from condyle.system.checked_arguments import number, seconds
from condyle.system.state import State
from condyle.system.system import System
from condyle.trace import Traced, is_truth

if TYPE_CHECKING:
    from condyle.model.symbols import Symbols

DIRECTIONS = ("falling", "rising", "both")
Action = Callable[[State], State | None]


@dataclass(frozen=True, eq=False)
class Event(ExplainsCalls):
    """A change at an instant: when a witness changes sign, at given times, or periodically.

    Args:
        witness: g(s) -> one number, over the accessors of force laws (s.t, s.q("knee"),
            s.station_position("foot", p), ...); it runs as machine code. With traced=False it is called with
            a State at each look, for quantities that only Python or an operator can compute, such as reaction
            forces.
        direction: of the sign change: "falling", "rising" or "both".
        action: called with the State; returns the State from which the run continues (state.replace(u=...)),
            or None to change nothing. That State must satisfy its constraints within the accuracy (see
            `cd.assemble`); otherwise an error is raised.
        terminal: end the run there.
        window: tolerance of the instant [s]; by default accuracy x 0.1 s.
        at: times [s], after the start of the run.
        every: period [s], counted from the start (the start itself is not an event).
        traced: the witness is traced once and runs as machine code; if False, it is called with a State.
        name: for messages and `traj.events`; by default that of the function.
    """

    witness: Callable[[AskedState], object] | Callable[[State], object] | None = None
    direction: str = "falling"
    action: Action | None = None
    terminal: bool = False
    window: float | None = None
    at: Iterable[float] = ()
    every: float | None = None
    traced: bool = True
    name: str = ""
    law: Traced | None = field(init=False, default=None, repr=False)
    share: ClassVar[float] = 1.0
    """Fraction of the window to which the instant is narrowed."""
    resolves: ClassVar[bool] = False
    """Whether it is a transition of rigid contacts, which handle it."""
    asks: tuple[Leaf, ...] = field(init=False, default=(), repr=False)

    def __post_init__(self) -> None:
        given: Any = [self.at] if np.ndim(self.at) == 0 else self.at  # type: ignore[arg-type]
        times = tuple(sorted(number("Event: at", t, "times [s]") for t in given))
        object.__setattr__(self, "at", times)
        if (self.witness is not None) + bool(times) + (self.every is not None) != 1:
            raise DescriptionError("Event: give one of a witness function, at=[times] or every=period")
        if self.direction not in DIRECTIONS:
            raise UnknownNameError("direction", self.direction, DIRECTIONS)
        if not np.isfinite(times).all():
            raise DescriptionError(f"Event: at={times}: times must be finite [s]")
        for what in ("window", "every"):
            value = getattr(self, what)
            if value is not None:
                seconds(f"Event: {what}", value)
        if self.action is not None and not callable(self.action):
            raise DescriptionError(f"Event: action must be a function of a State, got {self.action!r}")
        if self.witness is not None and not callable(self.witness):
            raise DescriptionError(
                "Event: the witness must be a function, such as lambda s: s.q('knee'), "
                f"got {self.witness!r}; times are at=[...] or every=period"
            )
        if not self.name:
            own = getattr(self.witness, "__name__", "") or ("every" if self.every else "at")
            object.__setattr__(self, "name", "event" if own == "<lambda>" else own)
        if self.action is not None:
            check_function(self.action, f"Event({self.name}): action", "the State")
        if self.witness is not None and self.traced:
            law, asks = traced_law(self.witness, f"Event({self.name})", self._number)
            object.__setattr__(self, "law", law)
            object.__setattr__(self, "asks", asks)

    def _number(self, result: Any) -> list[Any]:
        if result is None or np.ndim(result) != 0:
            raise TraceError(f"Event({self.name}): the witness returned {result!r}; expected one number")
        return [result]

    @property
    def near(self) -> float:
        """The sign of the witness before the event, 1 or -1; 0 for either."""
        return {"falling": 1.0, "rising": -1.0, "both": 0.0}[self.direction]

    def next_time(self, t: float, start: float) -> float:
        """The first of its times after t; infinite if none follows."""
        if self.every is not None:
            return start + (np.floor((later(t) - start) / self.every) + 1) * self.every
        return next((x for x in self.at if x > later(t)), np.inf)

    def happens(self, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """Whether signs change in its direction, from 1 to 0 or -1, or from -1 to 0 or 1."""
        falls, rises = (before > 0) & (after <= 0), (before < 0) & (after >= 0)
        return (
            falls if self.direction == "falling" else rises if self.direction == "rising" else falls | rises
        )


def later(t: float) -> float:
    """Times up to this one count as the same instant as t: sums of periods round."""
    return t + 1e-12 * max(1.0, abs(t))


class Witnesses:
    """The witness functions of some events, for many instants at once."""

    def __init__(self, system: System, events: Sequence[Event]) -> None:
        self.events = [e for e in events if e.witness is not None]
        laws = [(f"Event({e.name})", e.law, e.asks) for e in self.events if e.law is not None]
        self._traced = StateFunctions(system, laws) if laws else None

    def __call__(self, like: State, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Values (m, events) at times t (m,) and y (m, n), all else as in a state."""
        out = np.empty((len(t), len(self.events)))
        if self._traced is not None:
            out[:, [e.law is not None for e in self.events]] = self._traced(t, y, like.tail)
        for j, e in enumerate(self.events):
            if e.law is None:
                witness: Any = e.witness
                out[:, j] = [_float(e, witness(replaced(like, t[i], y[i]))) for i in range(len(t))]
        return out

    def hidden(self, like: State, t: np.ndarray, y_at: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Times between checks t (m,) at which a change may have gone unnoticed; y_at gives y (n, ..)
        there."""
        return t[:0]


def _float(event: Event, value: Any) -> float:
    if np.ndim(value) != 0 or value is None or is_truth(value):
        hint = (
            "; a witness changes sign: return the difference instead of a comparison"
            if is_truth(value)
            else ""
        )
        raise DescriptionError(
            f"Event({event.name}): the witness returned {value!r}; expected one number{hint}"
        )
    return float(value)


class StateFunctions:
    """Traced functions of the state as one kernel, all their numbers side by side.

    Args:
        system: whose state it is.
        laws: of each, its name for errors, the function and what it depends on.
    """

    label = "state_functions"

    def __init__(self, system: System, laws: Sequence[tuple[str, Traced, tuple[Leaf, ...]]]) -> None:
        self.laws, self.model = tuple(laws), system.compiled.model
        tree = self.model.tree
        known = (*tree.parameters.names, *tree.inputs.names, *tree.discrete.names)
        for what, law, asks in laws:
            for p in [*(p for ask in asks for p in ask.parameters()), *law.outside]:
                name = getattr(p, "name", "")
                if name not in known:
                    raise UnknownNameError("parameter", name, known, f"{what} cannot bring one of its own")
            for ask in asks:
                ask.check(tree, what)
        key = "\n".join(f"{[ask.text for ask in asks]} {law.text}" for _, law, asks in laws)
        self.size, sizes = sum(int(np.prod(law.shape)) for _, law, _ in laws), self.model.sizes()
        self.function = NativeFunction(
            self.label,
            self._build,
            key=f"{self.label} {key}\n{description(self.model)}",
            inputs=[(name, sizes[name]) for name in ("q", "u", "tail")],
            outputs=self._outputs(),
        )

    def _outputs(self) -> list[tuple[str, int]]:
        return [("g", self.size)]

    def _results(self, s: Symbols) -> list[ca.SX]:
        view = s.view(s.kinematics())
        return [ca.vertcat(*(law.apply(*answers(asks, view)) for _, law, asks in self.laws))]

    def _symbols(self) -> Symbols:
        from condyle.model.symbols import Symbols

        return Symbols(self.model)

    def _build(self) -> ca.Function | Staged:
        s = self._symbols()
        return build_function(self.label, [s["q"], s["u"], s["tail"]], self._results(s))

    def __call__(self, t: np.ndarray, y: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Values (m, size) at times t (m,) and q, u, z side by side (m, n), all else from tails (k,) or
        (m, k)."""
        if not len(t):
            return np.empty((0, self.size))
        return self.function.fast(*unstacked(self.model, tail, t, y))
