"""`cd.fit_parameters`: Parameters of a system from measurements, by least squares with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import with_call_hints
from condyle.arrays import Array
from condyle.errors import CondyleError, DescriptionError, UnknownNameError, check_name
from condyle.native.machine.notice import announced
from condyle.status import Outcome, Status
from condyle.studies.fitting.base import Evaluated, Prepared, Residuals
from condyle.studies.fitting.result import ParameterFit, judge
from condyle.system.checked_arguments import check_system
from condyle.system.system import System

WEIGHTS = (1.0, 1e3, 1e6, 1e8)
"""Weights of the joints between pieces of runs, in successive fits."""
OwnFunction = Callable[[dict[str, float]], ArrayLike | tuple[ArrayLike, ArrayLike]]
"""A user's function from values by name to residuals, or to residuals and their Jacobian."""
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")


@with_call_hints({"x0": "it is start={'mass': 8.0}", "wrt": "it is parameters=[...]"})
@announced
def fit_parameters(
    system: System,
    residuals: Residuals | OwnFunction | Sequence[Residuals | OwnFunction],
    parameters: Sequence[str] | str,
    *,
    bounds: Mapping[str, tuple[float | None, float | None]] | None = None,
    start: Mapping[str, float] | None = None,
    loss: str = "linear",
    tolerance: float = 1e-12,
    iterations: int = 200,
) -> ParameterFit:
    """Masses, lengths, attachment points, stiffness, slack lengths from measured forces, motions or markers:
    the Parameters that minimize the sum of squares of all residuals.

        swing = cd.residuals.Run(recording, state, sigma=0.01)
        fit = cd.fit_parameters(system, swing, ["mass", "stiffness"], bounds={"mass": (0, None)})
        fit.values, fit.standard_errors, fit.covariance, fit.directions

    Args:
        system: with Parameters: `cd.Parameter`s, or numbers turned into them
            (`system.copy(parameters=["*.mass"])`).
        residuals: one or several of `cd.residuals`; or functions of {name: value} that return residuals, or
            residuals and their Jacobian (m, parameters). Without a Jacobian, finite differences are used.
        parameters: names of the Parameters to fit; the others keep their defaults.
        bounds: (low, high) by name; None where there is no bound.
        start: initial values, by name; by default those of the Parameters.
        loss: "linear" for least squares; "soft_l1", "huber", "cauchy" or "arctan" for measurements with
            outliers (scipy.optimize.least_squares).
        tolerance: the fit ends when cost or values change by less than this fraction.
        iterations: largest number of iterations.

    Raises:
        UnknownNameError: a Parameter that the system does not have.
        DescriptionError: residuals that cannot be evaluated at the start; fewer of them than Parameters.
    """
    check_system("fit_parameters", system)
    if callable(parameters) or isinstance(parameters, Residuals):
        raise DescriptionError(
            f"fit_parameters: parameters: expected names, got {parameters!r}; it is fit_parameters(system, residuals, "
            "parameters)"
        )
    if bounds is not None and not isinstance(bounds, Mapping):
        raise DescriptionError(
            f"fit_parameters: bounds: expected a dict, as {{'mass': (0, None)}}, got {bounds!r}"
        )
    names = [parameters] if isinstance(parameters, str) else list(parameters)
    for name in [*names, *(bounds or {}), *(start or {})]:
        if name not in system.parameters:
            where = "" if system.parameters else "it has none: system.copy(parameters=['*.mass']) makes some"
            raise UnknownNameError("parameter", name, system.parameters, where)
    if not names or len(set(names)) < len(names):
        raise DescriptionError(f"fit_parameters: parameters: expected different names, got {parameters!r}")
    check_name("loss", loss, LOSSES)
    given = residuals if isinstance(residuals, (list, tuple)) else [residuals]
    prepared = [_prepared(system, r, names) for r in given]
    problem = _Problem(system, names, prepared, dict(start or {}))
    low, high = problem.limits(bounds or {})
    x, outcome, evaluations = problem.solve(low, high, loss, tolerance, iterations)
    found, near = problem.at(x), 1e-9 * np.maximum(np.abs(x), 1e-3)
    return judge(
        names,
        x,
        found,
        problem.unknowns,
        (x <= low + near) | (x >= high - near),
        all(p.absolute for p in prepared),
        outcome,
        evaluations,
    )


def _prepared(system: System, residual: Any, names: list[str]) -> Prepared:
    if isinstance(residual, Residuals):
        return residual.prepare(system)
    if callable(residual):
        return _Own(system, residual, names)
    raise DescriptionError(
        f"fit_parameters: residuals: expected one of cd.residuals, such as cd.residuals.Run(recording, "
        f"state), or a function of {{name: value}}, got a {type(residual).__name__}"
    )


class _Own(Prepared):
    """A user's function of the fitted Parameters."""

    absolute = False

    def __init__(self, system: System, function: OwnFunction, names: list[str]) -> None:
        self.function, self.names = function, names
        self.places = [system.parameters.index(n) for n in names]
        self.label = getattr(function, "__name__", "function")

    def _call(self, x: Array) -> tuple[Array, Array | None]:
        result: Any = self.function(dict(zip(self.names, x.tolist(), strict=True)))
        r, J = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        try:
            r = np.ravel(np.asarray(r, dtype=float))
            J = None if J is None else np.asarray(J, dtype=float).reshape(len(r), len(self.names))
        except (TypeError, ValueError) as error:
            raise DescriptionError(
                f"fit_parameters: {self.label} gives residuals (m,), or these and their Jacobian "
                f"(m, {len(self.names)}): {error}"
            ) from None
        return r, J

    def evaluate(self, p: Array, x: Array, weight: float) -> Evaluated:
        at = p[self.places]
        r, J = self._call(at)
        if J is None:  # central differences
            steps = 6e-6 * np.maximum(np.abs(at), 1e-3)
            moved = [(self._call(at + e)[0], self._call(at - e)[0]) for e in np.diag(steps)]
            J = np.stack([(a - b) / (2 * h) for (a, b), h in zip(moved, steps, strict=True)], axis=1)
        whole = np.zeros((len(r), len(p)))
        whole[:, self.places] = J
        return Evaluated(r, whole, np.zeros((len(r), 0)), np.zeros(len(r), dtype=bool))


class _Problem:
    """All residuals as one function of Parameters and other unknowns side by side, x."""

    def __init__(
        self, system: System, names: list[str], parts: list[Prepared], start: dict[str, float]
    ) -> None:
        self.system, self.names, self.parts = system, names, parts
        self.p = np.array(system.state(parameters=start).parameters)
        self.places = [system.parameters.index(n) for n in names]
        self.x = np.concatenate([self.p[self.places], *(part.guess for part in parts)])
        self.unknowns = [n for part in parts for n in part.unknowns]
        self.weight = 1.0
        self._last: tuple[tuple[bytes, float], Evaluated] | None = None

    def limits(self, bounds: Mapping[str, Any]) -> tuple[Array, Array]:
        low, high = np.full(len(self.x), -np.inf), np.full(len(self.x), np.inf)
        for name, value in bounds.items():
            if name not in self.names:
                raise DescriptionError(
                    f"fit_parameters: bounds: {name!r} is not fitted; parameters={self.names}"
                )
            k = self.names.index(name)
            try:
                a, b = value
                low[k] = -np.inf if a is None else float(a)
                high[k] = np.inf if b is None else float(b)
            except (TypeError, ValueError):
                raise DescriptionError(
                    f"fit_parameters: bounds of {name!r}: expected (low, high), got {value!r}"
                ) from None
            if not low[k] < high[k] or not low[k] <= self.x[k] <= high[k]:
                raise DescriptionError(
                    f"fit_parameters: bounds of {name!r}: expected low < high with the start {self.x[k]:g} "
                    f"between them, got {value!r}; start={{{name!r}: ...}} gives another start"
                )
        return low, high

    def at(self, x: Array) -> Evaluated:
        """Residuals and derivatives by x."""
        key = (x.tobytes(), self.weight)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        p, start, found = self.p.copy(), len(self.names), []
        p[self.places] = x[:start]
        for part in self.parts:
            stop = start + len(part.guess)
            e = part.evaluate(p, x[start:stop], self.weight)
            J = np.zeros((len(e.r), len(x)))
            J[:, : len(self.names)] = e.by_parameters[:, self.places]
            J[:, start:stop] = e.by_unknowns
            found.append(Evaluated(e.r, J, e.by_unknowns[:, :0], e.joints))
            start = stop
        out = Evaluated(
            np.concatenate([e.r for e in found]),
            np.concatenate([e.by_parameters for e in found]),
            np.zeros((0, 0)),
            np.concatenate([e.joints for e in found]),
        )
        self._last = (key, out)
        return out

    def solve(
        self, low: Array, high: Array, loss: str, tolerance: float, iterations: int
    ) -> tuple[Array, Outcome, int]:
        from scipy.optimize import least_squares

        first = self.at(self.x)
        m = int((~first.joints).sum())
        if not np.isfinite(first.r).all() or not np.isfinite(first.by_parameters).all():
            raise DescriptionError(
                "fit_parameters: residuals at the start are not finite; give another start="
            )
        if m + int(first.joints.sum()) < len(self.x):
            raise DescriptionError(
                f"fit_parameters: {m} measurements cannot determine {len(self.names)} Parameters"
                + (f" and {len(self.unknowns)} other unknowns" if self.unknowns else "")
            )

        def r(x: Array) -> Array:
            try:
                return self.at(x).r
            except (CondyleError, FloatingPointError):  # such values are rejected
                return np.full(len(first.r), np.nan)

        x, evaluations = self.x, 0
        for weight in WEIGHTS if any(part.has_joints for part in self.parts) else WEIGHTS[:1]:
            self.weight = weight
            found = least_squares(
                r,
                np.clip(x, low, high),
                lambda x: self.at(x).by_parameters,
                bounds=(low, high),
                x_scale="jac",
                loss=loss,
                ftol=tolerance,
                xtol=tolerance,
                gtol=1e-15,
                max_nfev=iterations,
            )
            x, evaluations = found.x, evaluations + int(found.nfev)
        if found.status > 0:
            return x, Outcome(Status.FINISHED), evaluations
        return (
            x,
            Outcome(
                Status.STILL_IMPROVING,
                f"still improving after {iterations} evaluations; give more iterations=",
            ),
            evaluations,
        )
