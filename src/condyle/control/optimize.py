"""From a start to a solution: scaling of the objective, warm starts, checkpoints, progress.

Tolerances of interior point solvers are absolute: an objective of 1e-3 "converges" at ten times its minimum.
If the objective r f of a nearly feasible iterate is small, r becomes 1 / f and the solver continues from
there, with its multipliers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.collocation.assembly import Assembly
from condyle.errors import DescriptionError
from condyle.files import atomic_write
from condyle.native.machine import notice
from condyle.nlp import Bounds, Iterate, Iteration, NonlinearSolution, ipopt
from condyle.records import dataclass

SMALL, LEAST, NEAR = 0.1, 1e-9, 1e-3
"""Objectives between LEAST and SMALL are scaled to 1 once violation and optimality are below NEAR."""
STAGES = 4
LOST, MOST = ("infeasible", "failed", "not finite"), 300
"""Outcomes after which to try without second derivatives, and the number of iterations to try."""
AGAIN: dict[str, ipopt.Option] = {**ipopt.WARM, "mu_init": 0.1}
"""Options of IPOPT after rescaling the objective."""
EVERY = 20.0
"""Time between two checkpoints [s]."""
WIDTH = 80
"""Width of the progress line in characters."""


@dataclass(frozen=True, eq=False)
class SolveSettings:
    """How to solve: see `cd.solve`."""

    accuracy: float
    exact: bool
    iterations: int
    progress: bool | Callable[[Iteration], object]
    options: Mapping[str, ipopt.Option]
    checkpoint: Path | None


@dataclass(frozen=True, eq=False)
class Optimum:
    """A solution and its cost.

    Attributes:
        solution: x, multipliers and status.
        iterations: number of iterations of all stages.
        seconds: processor time [s].
        in_functions: processor time in functions at points [s].
        stages: number of times the solver was started.
    """

    solution: NonlinearSolution
    iterations: int
    seconds: float
    in_functions: float
    stages: int


def optimize(
    nlp: Assembly,
    bounds: Bounds,
    x: Array,
    warm: Iterate | None,
    text: str,
    settings: SolveSettings,
    free: bool = False,
) -> Optimum:
    """Solve from x, or from an iterate with multipliers of the objective r f. If exact second derivatives
    lead to an infeasible stationary point, try without them.

    Args:
        text: identifies the program in checkpoints.
        free: the duration is unknown: the barrier then starts higher, or movements shrink to nothing.
    """
    accuracy = settings.accuracy
    own: dict[str, Any] = {
        "tol": accuracy,
        "constr_viol_tol": accuracy,
        "acceptable_tol": accuracy if accuracy > 1e-6 else 1e2 * accuracy,
        "max_iter": int(settings.iterations),
        **({} if settings.exact else {"hessian_approximation": "limited-memory"}),
    }
    start = {"x": x}
    more: dict[str, ipopt.Option] = {"mu_init": 1.0} if free else {}
    if (kept := _resumed(settings.checkpoint, text, len(x), nlp.m)) is not None:
        nlp.scale_objective(kept[1])
        start, more = kept[0]._asdict(), ipopt.WARM | {"mu_init": kept[2]}
    elif warm is not None:
        start, more = warm._asdict(), ipopt.WARM
    found: list[NonlinearSolution] = []
    watch = _Watch(nlp, text, settings)
    for stage in range(STAGES):
        watch.small, watch.last = False, stage == STAGES - 1
        solution = ipopt.solve(nlp, bounds, options=own | more | dict(settings.options), watch=watch, **start)
        found.append(solution)
        if (
            stage == 0 and "warm_start_init_point" in more and solution.status not in ("solved", "stopped")
        ):  # cold, then
            start, more = {"x": x}, {"mu_init": 1.0} if free else {}
            continue
        size = abs(solution.objective)
        again = watch.small or (solution.status in ("solved", "acceptable") and size < SMALL)
        if not again or watch.last or size < LEAST * nlp.r:
            break
        factor = 1 / size
        nlp.scale_objective(nlp.r * factor)
        parts = {name: factor * getattr(solution, name) for name in ("lambda_", "lower", "upper")}
        start, more = {"x": solution.x, **parts}, AGAIN
    if solution.status in LOST and settings.exact and warm is None:
        watch.last, r = True, nlp.r
        nlp.scale_objective(1.0)
        limited: dict[str, Any] = {
            "hessian_approximation": "limited-memory",
            "max_iter": min(own["max_iter"], MOST),
        }
        second = ipopt.solve(nlp, bounds, x, own | limited | dict(settings.options), watch=watch)
        found.append(second)
        if second.status in ("solved", "acceptable", "stopped"):
            solution = second
        else:
            nlp.scale_objective(r)
    watch.done(solution)
    return Optimum(
        solution,
        sum(s.iterations for s in found),
        sum(s.seconds for s in found),
        sum(sum(s.in_callbacks.values()) for s in found),
        len(found),
    )


@contextmanager
def said(show: bool) -> Iterator[None]:
    """While active, the progress line shows what is compiled."""

    def say(what: str) -> None:
        sys.stderr.write(
            f"\r{f'compiling {what}, once for this problem':<{WIDTH}}" if what else f"\r{'':<{WIDTH}}\r"
        )
        sys.stderr.flush()

    stop = notice.listen(say) if show and notice.looked_at() else lambda: None
    try:
        yield
    finally:
        stop()


def kkt(nlp: Assembly, bounds: Bounds, s: NonlinearSolution) -> tuple[float, float]:
    """Largest residual of the conditions of optimality, over the size of the multipliers, and largest
    violation of a requirement or bound, both as the program is scaled."""
    if not np.isfinite(s.x).all():
        return np.nan, np.nan
    lam = np.zeros(nlp.n)
    np.add.at(lam, nlp.jacobian_columns, nlp.jacobian(s.x) * s.lambda_[nlp.jacobian_rows])
    slope = nlp.gradient(s.x) + lam - s.lower + s.upper
    size = max(1.0, float(np.abs(np.concatenate([s.lambda_, s.lower, s.upper, [0.0]])).max()) / 100)
    off = [np.zeros(1)]
    for x, low, high in ((nlp.constraints(s.x), bounds.low, bounds.high), (s.x, bounds.x_low, bounds.x_high)):
        off += [low - x, x - high]
    return float(np.abs(slope).max(initial=0.0)) / size, float(np.concatenate(off).max())


class _Watch:
    """Observer of iterations: progress line, checkpoints, and detection of small objectives."""

    def __init__(self, nlp: Assembly, text: str, settings: SolveSettings) -> None:
        self.nlp, self.text, self.settings = nlp, text, settings
        self.small, self.last, self.count, self.mu = False, False, 0, 0.1
        self.saved = self.begin = time.monotonic()

    def __call__(self, step: Iteration, iterate: Callable[[], Iterate]) -> bool:
        settings, self.count = self.settings, self.count + 1
        self.mu = step.mu
        if callable(settings.progress):
            settings.progress(step)
        elif settings.progress:
            line = f"{self.count:4d}  objective {step.objective / self.nlp.r:.6g}  violation {step.violation:.1e}  "
            line += f"optimality {step.optimality:.1e}  {time.monotonic() - self.begin:.1f} s"
            if notice.looked_at():
                sys.stderr.write(f"\r{line:<{WIDTH}}")
            elif not self.count & (self.count - 1):  # a file: lines 1, 2, 4, 8, ...
                sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
        if settings.checkpoint is not None and time.monotonic() - self.saved > EVERY:
            self.save(iterate(), self.mu)
        near = max(step.violation, step.optimality) < NEAR and step.number > 2
        size = abs(step.objective)
        self.small = not self.last and near and LEAST * self.nlp.r < size < SMALL
        return not self.small

    def save(self, iterate: Iterate, mu: float) -> None:
        assert self.settings.checkpoint is not None
        arrays = {"text": np.array(self.text), "r": self.nlp.r, "mu": mu, **iterate._asdict()}
        with atomic_write(self.settings.checkpoint) as file:
            np.savez(file, **arrays)
        self.saved = time.monotonic()

    def done(self, s: NonlinearSolution) -> None:
        if self.settings.progress is True and notice.looked_at():
            sys.stderr.write("\n")
        if self.settings.checkpoint is not None:
            self.save(Iterate(s.x, s.lambda_, s.lower, s.upper), 1e-9 if s.status == "solved" else self.mu)


def _resumed(path: Path | None, text: str, n: int, m: int) -> tuple[Iterate, float, float] | None:
    """The iterate, r and mu of a checkpoint, if there is one."""
    if path is None or not path.exists():
        return None
    try:
        with np.load(path) as kept:
            if str(kept["text"]) != text or len(kept["x"]) != n or len(kept["lambda_"]) != m:
                raise DescriptionError(
                    f"solve: checkpoint {str(path)!r} is of another problem, mesh or scheme; remove it or give "
                    "another name"
                )
            parts = [np.array(kept[name]) for name in Iterate._fields]
            return Iterate(*parts), float(kept["r"]), float(kept["mu"])
    except DescriptionError:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise DescriptionError(f"solve: checkpoint {str(path)!r} is not one: {error}") from None
