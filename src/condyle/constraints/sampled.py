"""Sampled functions of time: motions, forces, excitations and constraints whose samples end before a run
does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.constraints.coordinates import PrescribedMotion
from condyle.errors import warn
from condyle.forces.external import TimeFunctions, TimeSeries
from condyle.functions.elementary import Scaled
from condyle.functions.splines import PiecewiseConstant, PiecewiseLinear, ThroughPoints
from condyle.muscles.activation import AskedExcitation
from condyle.plausible import ask, of_times
from condyle.presentation import cut
from condyle.records import dataclass

LATE = 0.5
"""Allowed gap at both ends, relative to the mean step, for rounded times."""
STEADY = 1e-6
"""Constant extrapolation is accepted if the last two values differ by less than this fraction of their range.
"""


def warn_of_samples(who: str, system: Any, first: float, last: float, tail: Array) -> None:
    """One warning of all functions of time whose samples do not reach from first to last [s]. Those that keep
    their last value, and had it for two samples, are left out.

    Args:
        system: a System.
        tail: of a state, which says what acts.
    """
    programs, model = system.compiled.programs, system.compiled.model
    if "samples" not in programs:
        programs["samples"] = [sampled for name, what, f in _all(system) if (sampled := _of(name, what, f))]
    if not programs["samples"]:
        return
    first, last = min(first, last), max(first, last)
    on = dict(zip(model.switches, tail[model.tail["enabled"]], strict=True))
    told = [text for s in programs["samples"] if on.get(s.name, True) and (text := s.ends(first, last))]
    for s in programs["samples"]:
        if on.get(s.name, True) and last - first < (step := s.step) and any(of_times(s.x)):
            ask(
                f"{who}: {s.what} has samples {step:g} s apart, but all of the time is {last - first:g} s: "
                "are its times in seconds? Divide milliseconds by 1000"
            )
    if told:
        warn(
            f"{who}: the time goes from {first:g} to {last:g} s, but {cut(told, 3, '; ')}. Give samples for "
            "all of it, or a function of t"
        )


@dataclass(frozen=True, eq=False)
class Sampled:
    """Samples y (n, k) at times x (n,) [s].

    Attributes:
        name: of the body, force or constraint.
        what: what a warning calls them.
        holds: whether the last value is held; else they are extrapolated linearly or as a polynomial.
            straight: extrapolated linearly: constant if the last two values are equal.
    """

    name: str
    what: str
    x: Array
    y: Array
    holds: bool
    straight: bool = False

    @property
    def step(self) -> float:
        """The shortest time between two of them [s]."""
        return float(np.diff(self.x).min(initial=np.inf))

    def ends(self, first: float, last: float) -> str:
        """How samples end before the time does; empty if they do not, or if that does not matter."""
        x, y, n = self.x, self.y, len(self.x)
        late = LATE * (x[-1] - x[0]) / max(n - 1, 1)
        same = STEADY * np.ptp(y, axis=0)
        sides = [
            side
            for beyond, side, a, b in (
                (first < x[0] - late, "before", 0, min(1, n - 1)),
                (last > x[-1] + late, "after", -1, max(-2, -n)),
            )
            if beyond and not ((self.holds or self.straight) and (np.abs(y[a] - y[b]) <= same).all())
        ]
        if not sides:
            return ""
        goes_on = "keeps its end value" if self.holds else "goes on with the slope of its end"
        when = f"{' and '.join(sides)} that"
        return f"{self.what} has samples from {x[0]:g} to {x[-1]:g} s, and {goes_on} {when}"


def _all(system: Any) -> Iterator[tuple[str, str, Any]]:
    """Names, what a warning calls them, and functions of time."""
    for body in system.bodies:
        if body.motion is None:
            continue
        names = [c.name for c in body.coordinates] if body.motion.level == "position" else body.speeds
        alone = len(body.motion.given) == 1
        for k, f in enumerate(body.motion.given):
            called = ", ".join(names) if alone else names[k]
            yield body.name, f"{body.motion.level} of {called!r}", f
    for name, law in system._forces.items():
        for field, value in vars(law).items():
            if isinstance(value, TimeSeries):
                yield name, f"{field} of {name!r}", value
            elif isinstance(value, AskedExcitation):
                yield name, f"{field} of {name!r}", value.given
            elif isinstance(value, TimeFunctions):
                for f in value.functions:
                    yield name, f"{field} of {name!r}", f.given
    for name, constraint in system._constraints.items():
        if isinstance(constraint, PrescribedMotion):
            yield name, repr(name), constraint.function


def _of(name: str, what: str, f: Any) -> Sampled | None:
    """The samples of a function; None if it has none."""
    while isinstance(f, Scaled):
        f = f.function
    if isinstance(f, TimeSeries):
        return Sampled(name, what, np.array(f.times), np.array(f.values), True)
    if isinstance(f, ThroughPoints) and all(isinstance(v, (int, float)) for v in f.y):
        y = np.array(f.y, dtype=float)[:, None]
        return Sampled(
            name, what, np.array(f.x), y, isinstance(f, PiecewiseConstant), isinstance(f, PiecewiseLinear)
        )
    return None
