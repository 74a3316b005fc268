"""cd.gradient: the gradient of a number that depends on a run.

    J = c(r_1, r_2, ...),    r_k = sum_i w_i g_k(t_i, y_i, p)                                              (1)
    dJ = sum_k c_k sum_i w_i (g_k,y dy_i + g_k,p dp)                                                       (2)

The function c is traced. Its arguments r_k are values of laws or operators g_k at times t_i: the end, other
times, or, for an integral, the Gauss points of every step with their weights. (2) is one vjp of the run at
all these times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import CondyleError, DescriptionError, TraceError
from condyle.integrate.adjoint.gradients import DEFAULT, RunDerivatives, derivatives_of
from condyle.integrate.adjoint.saltation import StateSlopes
from condyle.integrate.steps import unstacked
from condyle.integrate.trajectory import Trajectory
from condyle.laws.ask import AskedState, traced_law
from condyle.records import dataclass
from condyle.system.derivatives import derivable
from condyle.trace import Symbol, to_sx

POINTS, SHARES = np.polynomial.legendre.leggauss(3)
"""Gauss points of a step, order 6."""
Asked = Callable[[AskedState], object] | str


@dataclass(frozen=True, eq=False)
class Request:
    """r_k of (1): the quantity, its times (m,) and weights (m,)."""

    what: Asked
    body: tuple[str, ...]
    of: Callable[[Any], Any] | None
    times: np.ndarray
    weights: np.ndarray
    symbols: ca.SX
    at_end: bool


class AskedRun:
    """The argument of a cost. Laws are functions of s with the accessors of force laws
    (`s.q("knee")`, `s.station_position("hand", p)`); operators are given as names, followed by the body if
    they take one: `run.end("reactions", "shank")[4]`.
    """

    def __init__(self, traj: Trajectory) -> None:
        self._traj, self._requests = traj, list[Request]()

    @property
    def t_end(self) -> float:
        """The last time [s]."""
        return float(self._traj.t[-1])

    def end(self, what: Asked, *body: str) -> Any:
        """A law or an operator at the end of the run: a number, or an array."""
        return self._asked(what, body, None, np.array([self.t_end]), np.ones(1), at_end=True)

    def at(self, t: float, what: Asked, *body: str) -> Any:
        """The same at a time [s]."""
        self._traj.at(t)
        return self._asked(what, body, None, np.array([float(t)]), np.ones(1))

    def integral(self, what: Asked, *body: str, of: Callable[[Any], Any] | None = None) -> Any:
        """The integral over the run of a law, or of a function `of` an operator's numbers:
        run.integral("reactions", "shank", of=lambda F: F @ F)."""
        traj = self._traj
        if traj.ending is not None:
            raise DescriptionError(
                "gradient: an event ends this run, so the end of the integral moves. Add cd.measures.Integral to the system "
                "and use run.end(lambda s: s.z(name))"
            )
        h, middle = np.diff(traj.t), (traj.t[:-1] + traj.t[1:]) / 2
        some = h != 0
        times = (middle[some, None] + h[some, None] / 2 * POINTS).ravel()
        return self._asked(what, body, of, times, (h[some, None] / 2 * SHARES).ravel())

    def _asked(
        self,
        what: Asked,
        body: Sequence[str],
        of: Any,
        times: np.ndarray,
        weights: np.ndarray,
        at_end: bool = False,
    ) -> Any:
        size, shape = _size(self._traj, what, tuple(body))
        if of is not None:
            x = np.array([Symbol(ca.SX.sym("x")) for _ in range(size)], dtype=object)
            shape = np.shape(of(x.reshape(shape)))
            size = int(np.prod(shape))
        symbols = ca.SX.sym("r", size)
        self._requests.append(Request(what, tuple(body), of, times, weights, symbols, at_end))
        out = np.array([Symbol(e) for e in ca.vertsplit(symbols)], dtype=object).reshape(shape)
        return out if shape else out.item()


def _size(traj: Trajectory, what: Asked, body: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    if isinstance(what, str):
        derivable(what)
        value = np.asarray(_operator(traj, what, body, traj.t[-1:], np.array([len(traj) - 1]))[0])
        return value[0].size, value[0].shape
    shapes: list[tuple[int, ...]] = []
    _law(what, shapes)
    return int(np.prod(shapes[0])), shapes[0]


def _law(what: Any, shapes: list[tuple[int, ...]]) -> Any:
    def flat(result: Any) -> list[Any]:
        if result is None:
            raise TraceError("gradient: a law of the cost returned None; expected numbers")
        shapes.append(np.shape(result))
        return list(np.ravel(np.asarray(result, dtype=object)))

    return ("gradient", *traced_law(what, "gradient", flat))


def _arguments(
    traj: Trajectory, what: str, times: np.ndarray, k: np.ndarray
) -> tuple[list[str], list[Any], dict[str, Any]]:
    """Names and values of an operator's arguments at times (m,) in pieces k (m,), all after one change; its options."""
    y, like = traj.at(times), traj._state(int(k[0]), float(times[0]), traj.y[int(k[0])])
    nq, nu = traj.start.q.size, traj.start.u.size
    q, u, z = y[:, :nq], y[:, nq : nq + nu], y[:, nq + nu :]
    options = {"t": times, "z": z} | {
        name: getattr(like, name) for name in ("inputs", "discrete", "parameters", "disabled", "locked")
    }
    names = [name for name, _ in derivable(what).inputs(traj.system.compiled.model)[:-1]]
    values: dict[str, Any] = {"q": q, "u": u, "tau": np.zeros_like(u)}
    if "udot" in names:
        values["udot"] = traj.system.forward_dynamics(q, u, **options)
    if unknown := [name for name in names if name not in values]:
        raise DescriptionError(
            f"gradient: the operator {what!r} needs {', '.join(unknown)}, which a run does not provide; use a law instead"
        )
    return names, [values[name] for name in names], options


def _operator(
    traj: Trajectory, what: str, body: tuple[str, ...], times: np.ndarray, k: np.ndarray
) -> tuple[Any, list[str], list[Any], dict[str, Any]]:
    """Values (m, ...) of an operator, and its arguments."""
    names, arguments, options = _arguments(traj, what, times, k)
    per_body = derivable(what).per_body
    given = [*arguments, *body] if per_body != "kernel" else [arguments[0], *body, *arguments[1:]]
    value = reduce(getattr, what.split("."), traj.system)(*given, **options)  # type: ignore[operator]
    if hasattr(value, "R"):
        value = np.concatenate([value.R.reshape(len(times), 9), value.p], axis=1)
    elif isinstance(value, tuple):
        value = np.stack([np.asarray(x) for x in value], axis=1)
    return value, names, given, options


class RunGradient(dict[str, NDArray[np.float64]]):
    """Gradients by variable. `value` is the cost itself."""

    value: float


def gradient(
    cost: Callable[[AskedRun], object], traj: Trajectory, wrt: str | Sequence[str] = DEFAULT
) -> RunGradient:
    """The gradient of a number that depends on a run with respect to its start, parameters and inputs. It
    takes a few times as long as the run.

        cost = lambda run: run.integral(lambda s: s.u("knee") ** 2) + run.end(lambda s: s.q("knee")) ** 2
        g = cd.gradient(cost, traj, wrt="parameters")
        g.value, g["parameters"]

    Args:
        cost: cost(run) -> one number, computed from run.end, run.at and run.integral of laws or names of
            operators; measures are run.end(lambda s: s.z(name)).
        traj: the run.
        wrt: "q", "u", "z" at the start, "parameters", "inputs": see `Trajectory.jacobian`.

    Raises:
        TraceError: the cost or a law cannot be traced.
        DescriptionError: a run that has no derivative.
    """
    if not isinstance(traj, Trajectory):
        raise DescriptionError(
            f"gradient: expected a run as cd.simulate returns it, got {type(traj).__name__}"
        )
    run, asked = derivatives_of("gradient", traj), AskedRun(traj)
    names = run.names(wrt, ("q", "u", "z", "inputs", "parameters"))
    if not callable(cost):
        raise DescriptionError(f"gradient: cost: expected a function of the run, got {cost!r}")
    try:
        result = cost(asked)
        total = to_sx(result)
    except CondyleError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise TraceError(
            f"gradient: the cost cannot be traced ({error}); use run.end, run.at and run.integral, and combine "
            "their results with +, *, np.sin, np.where ..."
        ) from error
    if not isinstance(total, ca.SX) or total.numel() != 1:
        raise TraceError(f"gradient: the cost returned {result!r}; expected one number")
    requests = asked._requests
    symbols = [r.symbols for r in requests]
    c = ca.Function("cost", symbols, [total, *(ca.densify(ca.gradient(total, s)) for s in symbols)])
    parts = [_Part(run, r) for r in requests]
    found = c.call([part.value for part in parts])
    moves = traj.ending is not None
    y, p = np.zeros(run.n), np.zeros(len(run.wanted))
    for ends in (True, False):
        mine = [
            part.seeds(np.array(x).ravel())
            for part, x in zip(parts, found[1:], strict=True)
            if (part.request.at_end and moves) == ends
        ]
        if mine:
            times, w = np.concatenate([t for t, _, _ in mine]), np.concatenate([w for _, w, _ in mine])
            d, m = run.reverse(w, times, to_end=ends)
            y, p = y + d, p + m + sum(direct for _, _, direct in mine)
    out = RunGradient()
    for name in names:
        d, dp = run.directions(name)
        out[name] = d @ y + dp @ p
    out.value = float(found[0])
    return out


class _Part:
    """A request evaluated: its value, and its derivatives at its times."""

    def __init__(self, run: RunDerivatives, request: Request) -> None:
        self.run, self.request, traj = run, request, run.traj
        times = request.times
        k = np.clip(traj.row(times), 0, len(traj) - 1)
        self.k = np.full(len(k), len(traj) - 1) if request.at_end else k
        which = traj._which(self.k)
        size = request.symbols.numel()
        self.value, self.calls = np.zeros(size), list[tuple[np.ndarray, Any]]()
        for one in np.unique(which):
            here = np.flatnonzero(which == one)
            values, back = self._evaluated(times[here], self.k[here])
            self.value += request.weights[here] @ values
            self.calls.append((here, back))

    def _evaluated(
        self, t: np.ndarray, k: np.ndarray
    ) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
        """Values (m, size), and the function from their weights (m, size) to y^ (m, n) and p^ (p',)."""
        run, r = self.run, self.request
        if isinstance(r.what, str):
            return self._of_operator(t, k)
        law, traj = StateSlopes(run, [_law(r.what, [])]), run.traj
        g, dg = law.function(*unstacked(run.model, traj.tails(k), t, traj.at(t)))
        if r.of is not None:
            raise DescriptionError("gradient: of= is for operators; compute inside of the law instead")
        dg = dg.reshape(len(t), law.size, law.width)[:, :, 1:]

        def back(w: Array) -> tuple[Array, Array]:
            x = np.einsum("ms,msn->mn", w, dg)
            return x[:, : run.n], x[:, run.n :].sum(axis=0)

        return np.asarray(g).reshape(len(t), law.size), back

    def _of_operator(
        self, t: np.ndarray, k: np.ndarray
    ) -> tuple[Array, Callable[[Array], tuple[Array, Array]]]:
        run, r = self.run, self.request
        name, traj, system = str(r.what), run.traj, run.system
        value, names, given, options = _operator(traj, name, r.body, t, k)
        flat, slope = np.asarray(value).reshape(len(t), -1), None
        if r.of is not None:
            x = ca.SX.sym("x", flat.shape[1])
            array = np.array([Symbol(e) for e in ca.vertsplit(x)], dtype=object).reshape(np.shape(value)[1:])
            y = ca.vertcat(*(to_sx(e) for e in np.ravel(np.asarray(r.of(array), dtype=object))))
            f = ca.Function("of", [x], [y, ca.densify(ca.jacobian(y, x))])
            found = [f(row) for row in flat]
            slope = np.array([np.array(J) for _, J in found])
            out = np.array([np.array(v).ravel() for v, _ in found])
        else:
            out = flat

        def back(w: Array) -> tuple[Array, Array]:
            w = w if slope is None else np.einsum("ms,msk->mk", w, slope)
            wrt = [x for x in names if x in ("q", "u", "udot")] + ["z", "inputs", "parameters"]
            g = system.vjp(name, *given, cotangent=w, wrt=tuple(wrt), **options)
            if "udot" in g:
                more = system.vjp(
                    "forward_dynamics",
                    *given[:2],
                    cotangent=g["udot"],
                    wrt=("q", "u", "z", "inputs", "parameters"),
                    **options,
                )
                g = {x: g.get(x, 0) + more[x] for x in more}
            nq, nu = run.nq, run.nu
            y, p = np.zeros((len(t), run.n)), np.zeros(len(run.wanted))
            states = traj.at(t)
            for i in range(len(t)):
                q = np.tile(states[i, :nq], (nu, 1))
                N = (
                    np.asarray(system.compiled.function("qdot")(q, np.eye(nu), traj.tails(k[[i]])[0]))
                    .reshape(nu, -1)
                    .T
                )
                y[i, :nq] = np.linalg.pinv(N).T @ g["q"][i]
            y[:, nq : nq + nu], y[:, nq + nu :] = g.get("u", 0.0), g["z"]
            p[run.parts["inputs"]], p[run.parts["parameters"]] = (
                g["inputs"].sum(axis=0),
                g["parameters"].sum(axis=0),
            )
            return y, p

        return out, back

    def seeds(self, c: Array) -> tuple[np.ndarray, Array, Array]:
        """Times (m,), weights of y there (m, n), and p^ (p',) of c . r."""
        r = self.request
        w, p = np.zeros((len(r.times), self.run.n)), np.zeros(len(self.run.wanted))
        for here, back in self.calls:
            w[here], direct = back(r.weights[here, None] * c)
            p += direct
        return r.times, w, p
