"""What is compiled from a System: its model, native functions and programs, each made when it is first asked for.

A System describes and answers; it makes one of these when it freezes. All machine code of the system is kept here, so that
it goes when the System goes.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from condyle.arrays import POINT, Entries, check_finite, plain, vector
from condyle.constraints.base import Constraint
from condyle.constraints.solve.projection import Problem
from condyle.errors import ShapeError
from condyle.forces.base import Force, state_variables
from condyle.model.layouts import build_looped, prefers_loops
from condyle.model.model import Model, description
from condyle.model.operators import OPERATORS
from condyle.native.calls.function import NativeFunction
from condyle.system.locks import resting
from condyle.system.refusals import refuse_rates, refuse_singular
from condyle.system.tails import Tails
from condyle.system.timed import Timed
from condyle.system.unmet import refuse_accelerations
from condyle.tree.tree import Tree

DIRECT = frozenset({"forward_dynamics", "inverse_dynamics", "qdot", "zdot", "solve_mass_matrix", "multiply_mass_matrix",
                    "gravity_forces", "coriolis_forces", "applied_forces", "power"})
"""Operators that return a kernel's only result as it is: after their first call a builtin replaces the method."""
_RATES = ("qdot", "qddot", "udot_from_qddot", "N", "Ndot")
"""Kernels whose status says that coordinates cannot follow the speeds."""
_UNWATCHED = ("instance", "prescribed", "position_change", "velocity_change")
"""Kernels that no user calls by themselves: their arguments are checked before, or may fail in a search."""
_FREE = "tau"
"""The argument that may be left out, and is zero then."""


class Compiled:
    """Machine code of one system, and what it needs.

    Attributes:
        model: what the expressions are made from (condyle.model).
        key: text that identifies the model in the cache.
        entries: names and defaults of what users give as vectors, by the names of the operators' arguments.
        tails: makes the last argument of the kernels from the keyword options.
        functions: native functions by operator and what else identifies them.
        programs: native programs, by what identifies them.
        evaluations: how often States called each kernel.
        no_tau: zeros, shape (nu,), read-only.
        moves: whether some motion is prescribed.
        udot_key: by which States keep their accelerations without tau.
    """

    def __init__(self, tree: Tree, forces: Mapping[str, Force], constraints: Mapping[str, Constraint]) -> None:
        self.model = model = Model(tree, forces, constraints)
        self.key = description(model)
        self.functions: dict[Any, NativeFunction] = {}
        self.direct: dict[Any, Callable[..., Any]] = {}
        self.programs: dict[Any, Any] = {}
        self.evaluations: Counter[str] = Counter()
        self.no_tau = np.zeros(tree.nu)
        self.no_tau.flags.writeable = False
        self.entries = _entries(model)
        self.tails = Tails(model, self.entries, self.function("instance"))
        self._quaternions = tuple(tree.quaternions)
        self.moves = bool(tree.driven)
        self.udot_key = ("forward_dynamics", None, "q", "u", self.no_tau.tobytes())

    # ---- functions ----------------------------------------------------------------------------------------------------

    def function(self, name: str, body: str | None = None) -> NativeFunction:
        """The native function of an operator (condyle.model.operators), for one body where it is that body's."""
        key = (name, body)
        if key not in self.functions:
            operator, model = OPERATORS[name], self.model
            static = {} if body is None else {"body": model.tree.body(body).index}
            looped = [prefers_loops(model, name, lanes=lanes, **static) for lanes in (False, True)]
            one, many = (partial(build_looped if loops else operator.build, model, name, **static) for loops in looped)
            inputs = operator.inputs(model)
            self.functions[key] = NativeFunction(
                name, one, wide=one if looped[0] == looped[1] else many,
                key=f"{name} {static} looped: {looped}\n{self.key}",
                inputs=inputs, outputs=operator.outputs(model), direct=name in DIRECT, optional=_may_end(name, inputs),
                refuse=self.refusal(name, name), entries={} if name in _UNWATCHED else self.entries)
        return self.functions[key]

    def refusal(self, name: str, label: str, tail: int = -1) -> Any:
        """What a kernel that ends with an operator's status does where that is not zero; None if it has none.

        Args:
            name: of the operator.
            label: what messages call it.
            tail: which of the kernel's arguments is the tail.
        """
        if name == "instance":
            return self.model.possible.refuse
        if self.model.constraints and name in ("forward_dynamics", "multipliers"):
            return partial(refuse_accelerations, self.model, label, tail)
        refuse = refuse_rates if name in _RATES else refuse_singular
        return partial(refuse, self.model.tree, label) if OPERATORS[name].has_status else None

    def shortcut(self, name: str, method: Callable[..., Any]) -> Callable[..., Any] | None:
        """A builtin that replaces an operator's method: one state goes straight to the kernel, with t, z, inputs and parameters
        as numbers and vectors after one look at them; all else goes to the method. None until there is machine code."""
        function, one = self.function(name), self.tails.one
        count, free, zeros = len(function.inputs) - 1, _may_end(name, function.inputs), self.no_tau
        timed = name in self.timed.operators

        def call(*arguments: Any, **options: Any) -> Any:
            if free and len(arguments) == count - 1:
                given = (*arguments, zeros)
            else:
                given = arguments
            if options and len(given) == count and not (timed and options.get("t") is None):
                tail = one(options)
                if tail is not None:
                    try:
                        return function.fast(*given, tail)
                    except (TypeError, ShapeError):
                        pass                                # the method says it in the words of the call
            return method(*arguments, **options)

        return function.direct(call, self.tails.default, method)

    @cached_property
    def timed(self) -> Timed:
        """What of the system depends on time."""
        return Timed(self.model)

    def tail(self, **options: Any) -> np.ndarray:
        """The tail (..., n) of the keyword options."""
        return self.tails.make(options)

    # ---- vectors and states -------------------------------------------------------------------------------------------

    def vector(self, name: str, value: Any, what: str = "") -> np.ndarray:
        """What a user gave for q, u, udot, tau, ...: a checked array (..., n), finite, by label where there are labels."""
        entries, what = self.entries[name], f"{what}: {name}" if what else name
        array = vector(what, value, len(entries.names), entries)
        check_finite(what, array, entries)
        return array

    def plain(self, name: str, value: Any) -> bool:
        """Whether nothing is left to check of what a user gave for q or u of one state."""
        tree = self.model.tree
        return plain(value, tree.nq, self._quaternions) if name == "q" else plain(value, tree.nu)

    def normalised(self, y: np.ndarray) -> np.ndarray:
        """q, or q with more after it, (..., n), with quaternions of unit length, in place."""
        for part in self.model.tree.quaternions:
            y[..., part] /= np.linalg.norm(y[..., part], axis=-1, keepdims=True)
        return y

    def prescribed(self, q: np.ndarray, u: np.ndarray, tail: np.ndarray, locked: Any = None
                   ) -> tuple[np.ndarray, np.ndarray]:
        """q (..., nq) and u (..., nu) with what enabled motions prescribe, and u = 0 where `locked` says position."""
        if self.model.tree.driven:
            q, u = self.function("prescribed").fast(q, u, tail)
        if still := resting(self.model.tree.speeds, locked):
            u = u.copy()
            u[..., still] = 0.0
        return q, u

    def followed(self, y: np.ndarray, t: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """q, u, z side by side (m, n) at times t (m,) with what motions prescribe; the rest of the tail holds, (k,) or (m, k)."""
        tree = self.model.tree
        if not tree.driven:
            return y
        tails = np.empty((len(t), tail.shape[-1]))
        tails[...] = tail
        tails[:, self.model.tail["t"]] = t[:, None]
        n = tree.nq + tree.nu
        return np.concatenate([*self.prescribed(y[:, :tree.nq], y[:, tree.nq:n], tails), y[:, n:]], axis=1)

    def projection(self, tail: np.ndarray, weights: np.ndarray) -> Problem:
        """What projection needs of states with a tail (..., n)."""
        names = "constraint_errors", "position_change", "velocity_change", "qdot"
        errors, nearer, slower, rates = (self.function(name) for name in names)
        named = equation_names(self.model.constraints)
        return Problem(
            errors=lambda q, u: errors(q, u, tail), nearer=lambda q, u: _steps(nearer(q, u, weights, tail)),
            slower=lambda q, u: _steps(slower(q, u, weights, tail)), step=lambda q, du: self.normalised(q + rates(q, du, tail)),
            rows=tuple((level, name) for name, level in named),
            undefined={label: c.undefined for name, c in self.model.constraints.items()
                       for label in ([name] if c.size == 1 else [f"{name}[{k}]" for k in range(c.size)])})


def equation_names(constraints: Mapping[str, Constraint]) -> list[tuple[str, str]]:
    """Name and level of each constraint equation, in their order: the constraint's name, with [k] if it has several."""
    return [(name if c.size == 1 else f"{name}[{k}]", level) for name, c in constraints.items()
            for k, level in enumerate(part.level for part in c.parts for _ in range(part.size))]


def _may_end(name: str, inputs: Any) -> bool:
    """Whether an operator's last argument before the tail may be left out, and there is one before it."""
    return name in DIRECT and len(inputs) > 2 and inputs[-2][0] == _FREE


def _entries(model: Model) -> dict[str, Entries]:
    """What the vectors that users give contain, by the names of the operators' arguments."""
    tree = model.tree
    turned = tuple((b.name, slice(b.q.start + part.start, b.q.start + part.stop))
                   for b in tree.bodies for part in b.mobilizer.quaternions)
    speed = Entries("speed", tree.speeds, np.zeros(tree.nu))
    rows = Entries("equation", tuple(name for name, _ in equation_names(model.constraints)), np.zeros(model.equations()))
    kept = state_variables(model.forces)
    own = {"q": Entries("coordinate", tree.coordinates, tree.defaults(), turned),
           "z": Entries("state variable", tuple(name for name, _ in kept), np.array([x for _, x in kept], dtype=float)),
           "inputs": Entries("input", tree.inputs.names, tree.inputs.defaults),
           "discrete": Entries("discrete variable", tree.discrete.names, tree.discrete.defaults),
           "parameters": Entries("parameter", tree.parameters.names, tree.parameters.defaults)}
    rate = Entries("coordinate", tree.coordinates, np.zeros(tree.nq))
    known = {**own, **dict.fromkeys(("u", "udot", "tau", "f"), speed), "qdot": rate, "qddot": rate, "lambda_": rows,
             "station": POINT}
    moved = {"q": speed, "t": Entries("time", ("t",)), **{name: e for name, e in known.items() if name != "q"}}
    return known | {f"d_{name}": Entries(e.noun, e.names, np.zeros(len(e.names))) for name, e in moved.items()}


def _steps(du: np.ndarray) -> np.ndarray:
    """Newton steps (..., nu), none where there is none that is finite."""
    return np.where(np.isfinite(du).all(axis=-1, keepdims=True), du, 0.0)
