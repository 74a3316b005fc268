"""Prescribed motion of a mobilizer, with coordinates, speeds or accelerations as functions:
docs/theory/motion.md.

    position level        q = f(t),           u with N u = qdot,       udot = du/dt                        (1)
    velocity level        u = f(t, q),        udot = f_t + f_q N u                                         (2)
    acceleration level    udot = f(t, q, u)                                                                (3)

q and u are the mobilizer's own. Rates come by automatic differentiation.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from condyle.arguments import ExplainsCalls
from condyle.arrays import SX, Array, Entries, bare, by_label, real
from condyle.errors import DescriptionError
from condyle.functions.base import Function
from condyle.mobilizers import Mobilizer, motion
from condyle.mobilizers.constants import text
from condyle.native.tables.lookup import Closure
from condyle.presentation import brief
from condyle.records import dataclass
from condyle.trace import DEFAULTED, Number, Symbol, Traced, trace
from condyle.trace.parameter import Input, Parameter

LEVELS = ("position", "velocity", "acceleration")
TOLERANCE = 1e-9
"""Largest part of qdot that no speed gives, relative to the largest; rounding is far below."""

Driven: TypeAlias = Number | Callable[..., object] | tuple[ArrayLike, ArrayLike]
"""A prescribed value: a number, a function, or (times, values)."""
Driving: TypeAlias = Driven | Sequence[Driven | None]
"""One for all coordinates, or one for each; None leaves a coordinate free."""


@dataclass(frozen=True, eq=False, repr=False)
class Prescribed(ExplainsCalls):
    """The motion of a mobilizer, independent of forces: `add_body(..., motion=cd.Prescribed(position=f))`, at
    one level.

    Args:
        position: q = f(t) [rad, m], t in seconds. A quaternion is normalized.
        velocity: u = f(t), or f(t, *q) of the mobilizer's own coordinates [rad/s, m/s].
        acceleration: udot = f(t), or f(t, *q, *u) [rad/s^2, m/s^2].

    f returns one value for each coordinate (or speed): a number if there is one, else a sequence. A sequence
    of functions, `cd.Spline`s, numbers and Parameters, one for each coordinate (or speed), also works; None
    leaves one free. Functions are traced once: use NumPy. Their time derivatives are exact: q = f(t) must be
    twice differentiable. Measured values can replace a function or an entry as a pair (times, values), shapes
    (n,) and (n,), or (n, coordinates) for all at once: the natural cubic spline through them,
    `cd.Spline(times, values)`.
    """

    position: Driving | None = None
    velocity: Driving | None = None
    acceleration: Driving | None = None

    def __post_init__(self) -> None:
        given = [level for level in LEVELS if getattr(self, level) is not None]
        if len(given) != 1:
            raise DescriptionError(
                "Prescribed: expected one of position=, velocity= and acceleration=, got "
                f"{given or 'none'}; the others follow from it"
            )

    def __repr__(self) -> str:
        return f"Prescribed({self.level}={brief(getattr(self, self.level))})"

    @property
    def level(self) -> str:
        return next(level for level in LEVELS if getattr(self, level) is not None)

    def of(
        self, mobilizer: Mobilizer, what: str, coordinates: Sequence[str], speeds: Sequence[str]
    ) -> Driver:
        """The motion of one mobilizer, whose coordinates and speeds have these names, its functions
        traced."""
        level, given = self.level, getattr(self, self.level)
        names = mobilizer.coordinate_names if level == "position" else mobilizer.speed_names
        if not names:
            raise DescriptionError(
                f"{what}: {mobilizer!r} has no coordinates that could be prescribed; leave motion= out"
            )
        arguments = [
            "t",
            *(mobilizer.coordinate_names if level != "position" else ()),
            *(mobilizer.speed_names if level == "acceleration" else ()),
        ]
        what = f"{what}: {level} of its motion"
        from condyle.functions.splines import is_series, measured

        laws: list[Traced | None]
        if is_series(given):
            noun, own = ("coordinate", coordinates) if level == "position" else ("speed", speeds)
            given = [(given[0], y) for y in _columns(given, Entries(noun, tuple(own)), what)]
        kept: tuple[Any, ...]
        if callable(given):
            laws = [_traced(given, arguments, what, (len(names),))]
            kept = (given,)
        else:
            each: Iterable[tuple[int, Any]] = enumerate(_entries(given, names, what))
            each = [(i, measured(f, f"{what}[{i}]") if is_series(f) else f) for i, f in each]
            kept = tuple(f for _, f in each)
            laws = [None if f is None else _traced(f, arguments, f"{what}[{i}]", ()) for i, f in each]
            if all(law is None for law in laws):
                raise DescriptionError(f"{what}: every entry is None; leave motion= out, or give a function")
        driver = Driver(mobilizer, level, tuple(laws), kept)
        driver.check(what)
        return driver


def _columns(series: Any, entries: Entries, what: str) -> Array:
    """Values of a pair (times, values) by coordinates, or speeds, shape (coordinates, n)."""
    names, given = (
        entries.names,
        by_label(what, series[1], entries) if len(entries.names) > 1 else bare(series[1]),
    )
    times, values = real(what, series[0]), real(what, given)
    values = values[:, None] if values.ndim == 1 else values
    if values.shape != (len(times), len(names)):
        shape = f"({len(times)}, {len(names)})"
        raise DescriptionError(
            f"{what}: (times, values): expected values of shape {shape} for {len(times)} "
            f"times and the coordinates {tuple(names)}, got shape {np.shape(series[1])}"
        )
    return values.T


def _entries(given: Any, names: Sequence[str], what: str) -> list[Any]:
    alone = isinstance(given, (Symbol, int, float, np.number))
    entries = [given] if alone else list(given) if isinstance(given, (list, tuple, np.ndarray)) else []
    if len(entries) != len(names):
        got = f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else repr(given)
        hint = "; measured values need their times: (times, values)" if isinstance(given, np.ndarray) else ""
        raise DescriptionError(
            f"{what}: expected a function of t, or {len(names)} of them for "
            f"{tuple(names)}, None where one is free, got {got}{hint}"
        )
    return entries


def _traced(function: Any, arguments: Sequence[str], what: str, shape: tuple[int, ...]) -> Traced:
    """A function of t, or of all arguments, as a function of all arguments; a number is constant."""
    ranges = [(0.0, 1.0)] + [(-1.0, 1.0)] * (len(arguments) - 1)
    if not callable(function):
        constant = (lambda *_: function) if isinstance(function, Symbol) else function
        return trace(constant, arguments, what=what, outputs=shape, ranges=ranges)
    count = _required(function, len(arguments))
    if count not in (1, len(arguments)):
        raise DescriptionError(
            f"{what}: {function!r} takes {count} arguments; expected t alone, or ({', '.join(arguments)})"
        )

    def law(*x: Any) -> Any:
        result = function(*x[:count])
        return [result] if shape == (1,) and np.ndim(result) == 0 else result

    return trace(law, arguments, what=what, outputs=shape, ranges=ranges, source=function)


def _required(function: Any, all_of_them: int) -> int:
    """How many arguments a function is called with: those without defaults, or all if it takes any number."""
    if isinstance(function, Function):
        return function.variables or all_of_them
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return all_of_them
    return sum(
        p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters
    )


@dataclass(frozen=True, eq=False)
class Driver:
    """A prescribed motion of one mobilizer. Its q and u are the mobilizer's own, indices count within them.

    Attributes:
        laws: one for all coordinates (or speeds) together, or one each; None is free.
        given: what they were made of; pickles have functions of `cd.functions` and numbers alone.
    """

    mobilizer: Mobilizer
    level: str
    laws: tuple[Traced | None, ...]
    given: tuple[Any, ...] = ()

    @cached_property
    def _chosen(self) -> list[int]:
        """Coordinates, or speeds, that the laws give."""
        if len(self.laws) == 1 and self.laws[0] is not None:
            return list(range(self.laws[0].function.numel_out(0)))
        return [i for i, law in enumerate(self.laws) if law is not None]

    @cached_property
    def parts(self) -> list[tuple[list[int], list[int]]]:
        """Coordinates and speeds that belong together through N: one and one where qdot = u."""
        pattern = ca.sparsify(self.mobilizer.N(ca.SX.sym("q", self.mobilizer.nq))).sparsity()
        parts: list[tuple[list[int], list[int]]] = [([i], []) for i in range(self.mobilizer.nq)]
        for j in range(self.mobilizer.nu):
            mine = [p for p in parts if any(pattern.has_nz(i, j) for i in p[0])]
            parts = [p for p in parts if p not in mine]
            parts.append(
                (sorted(i for p in mine for i in p[0]), sorted([j, *(k for p in mine for k in p[1])]))
            )
        return sorted(parts)

    @cached_property
    def coordinates(self) -> tuple[int, ...]:
        """Coordinates that are prescribed."""
        return tuple(self._chosen) if self.level == "position" else ()

    @cached_property
    def speeds(self) -> tuple[int, ...]:
        """Speeds that are prescribed, with their accelerations."""
        if self.level != "position":
            return tuple(self._chosen)
        return tuple(sorted(j for rows, columns in self.parts if rows[0] in self._chosen for j in columns))

    @property
    def given_speeds(self) -> tuple[int, ...]:
        """Speeds that are prescribed themselves: none at acceleration level."""
        return () if self.level == "acceleration" else self.speeds

    def _values(self, t: SX, q: SX, u: SX) -> list[SX]:
        arguments = [
            t,
            *(ca.vertsplit(q) if self.level != "position" else ()),
            *(ca.vertsplit(u) if self.level == "acceleration" else ()),
        ]
        return [x for law in self.laws if law is not None for x in ca.vertsplit(law.apply(*arguments))]

    @cached_property
    def closure(self) -> Closure:
        """t, q, u -> prescribed coordinates; prescribed speeds; their accelerations. The first two are empty,
        or shorter, at lower levels: speeds at acceleration level are not prescribed themselves."""
        m = self.mobilizer
        t, q, u = ca.SX.sym("t"), ca.SX.sym("q", m.nq), ca.SX.sym("u", m.nu)
        values = ca.vertcat(*self._values(t, q, u))
        none = ca.SX(0, 1)
        if self.level == "position":
            q_p = self._normalized(values)
            u_p = self._speeds(t, q_p)
            outputs = [q_p, u_p, ca.jacobian(u_p, t)]  # (1)
        elif self.level == "velocity":
            rate = motion(m, t, q, u).qdot
            outputs = [none, values, ca.jtimes(values, ca.vertcat(t, q), ca.vertcat(1, rate))]  # (2)
        else:
            outputs = [none, none, values]  # (3)
        return Closure("prescribed", [t, q, u], [ca.densify(x) for x in outputs])

    @cached_property
    def varies(self) -> bool:
        """Whether the accelerations depend on q or u, and not on t alone."""
        return any(self.closure.function.jac_sparsity(2, k).nnz() for k in (1, 2))

    def _normalized(self, values: SX) -> SX:
        """Prescribed coordinates with unit quaternions."""
        out = ca.SX(values)
        for rows, columns in self.parts:
            if len(rows) == 4 and len(columns) < 4 and rows[0] in self._chosen:
                at = [self._chosen.index(i) for i in rows]
                out[at] = values[at] / ca.norm_2(values[at])
        return out

    def _speeds(self, t: SX, q_p: SX) -> SX:
        """u of N u = qdot (1), part by part."""
        q = ca.SX(self.mobilizer.nq, 1)
        q[list(self._chosen)] = q_p
        N, qdot = self.mobilizer.N(q), ca.jacobian(q, t)
        found: dict[int, ca.SX] = {}
        for rows, columns in self.parts:
            if rows[0] not in self._chosen:
                continue
            own, rate = ca.sparsify(N[rows, columns]), ca.densify(qdot[rows])
            if len(rows) == len(columns):
                u = rate if own.is_eye() else ca.solve(ca.densify(own), rate)
            else:
                u = 4 * (own.T @ rate)  # N' N = 1/4 for a unit quaternion
            found.update(zip(columns, ca.vertsplit(u), strict=True))
        return ca.vertcat(ca.SX(0, 1), *(found[j] for j in sorted(found)))

    def check(self, what: str) -> None:
        """Refuse what cannot be: a part of a quaternion, an orientation that its speeds cannot follow, an
        Input that moves."""
        names, m = self.mobilizer.coordinate_names, self.mobilizer
        for p in self.parameters():
            if isinstance(p, Input) and self.level != "acceleration":
                raise DescriptionError(
                    f"{what}: contains {p!r}, but nothing says how fast an input changes; "
                    "use a cd.Parameter or a function of t, or prescribe acceleration="
                )
        for rows, columns in self.parts if self.level == "position" else ():
            mine = [i for i in rows if i in self._chosen]
            if not mine or len(rows) == len(columns) == 1:
                continue
            if mine != rows:
                missing = [names[i] for i in rows if i not in mine]
                raise DescriptionError(
                    f"{what}: {tuple(names[i] for i in rows)} move together; {missing} "
                    "must be given too, or use velocity="
                )
            free = ca.SX.sym("q", m.nq)
            others = ca.vertcat(ca.SX(0, 1), *(free[i] for i in range(m.nq) if i not in self._chosen))
            if others.numel() and ca.depends_on(m.N(free)[rows, columns], others):
                raise DescriptionError(
                    f"{what}: N of {m!r} depends on all coordinates; prescribe all of them, or velocity="
                )
            if len(columns) not in (len(rows), 3) or (len(rows) != len(columns) and len(rows) != 4):
                raise DescriptionError(
                    f"{what}: the {len(columns)} speeds of {m!r} cannot follow all "
                    f"{len(rows)} coordinates {tuple(names[i] for i in rows)}; prescribe "
                    "velocity= instead"
                )
        rng = np.random.default_rng(0)
        for t in rng.uniform(0.0, 1.0, 4):
            values = self.at(t, m.random_q(rng), np.zeros(m.nu))
            if np.isfinite(np.concatenate(values)).all():
                return
        raise DescriptionError(
            f"{what}: it, or its derivative with respect to time, is NaN or infinite at "
            f"all points tried, such as t = {t:.6g} s; expected finite values"
        )

    def at(self, t: float, q: Any, u: Any, parameters: dict[str, float] | None = None) -> list[Array]:
        """Prescribed coordinates, speeds and accelerations as numbers."""
        symbols = [DEFAULTED[s.element_hash()] for s in ca.vertsplit(self.closure.outside)]
        values = [(parameters or {}).get(p.name, p.default) for p in symbols]  # type: ignore[attr-defined]
        return [x[:, 0] for x in self.closure.at(t, q, u, outside=values)]

    def parameters(self) -> list[Parameter]:
        return [p for law in self.laws if law is not None for p in law.outside]  # type: ignore[misc]

    def description(self) -> str:
        """Text that determines the motion, its mobilizer apart."""
        return f"{self.level} {text(self.laws)}"

    def __getstate__(self) -> dict[str, Any]:
        plain = tuple(f if isinstance(f, (Function, Symbol, int, float)) else None for f in self.given)
        return {"mobilizer": self.mobilizer, "level": self.level, "laws": self.laws, "given": plain}

    def __repr__(self) -> str:
        return f"Prescribed({self.level}=...)"
