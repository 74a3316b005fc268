"""Compiled form of a System: its model, native functions and programs, each created on first use.

A System creates one of these when it freezes. It owns all machine code of the system, which is freed with the
System.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from condyle.arrays import POINT, Array, Entries, check_finite, plain, vector
from condyle.constraints.base import Constraint
from condyle.errors import DescriptionError, ShapeError
from condyle.forces.base import Force, state_variables
from condyle.loading import Deferred
from condyle.model.layouts import build_looped, prefers_loops
from condyle.model.model import Model, description, equation_names
from condyle.model.operators import OPERATORS
from condyle.model.operators.columns import generalized_forces
from condyle.model.operators.record import OperatorRecord
from condyle.native.calls.native_function import NativeFunction
from condyle.native.fastcall.builtin import DirectCall
from condyle.native.machine import notes
from condyle.native.straight.kernel_function import KernelFunction, evaluate
from condyle.native.tables.expression_cache import cached
from condyle.system.tails import Tails, resting
from condyle.tree import scales
from condyle.tree.tree import Tree

T = TypeVar("T")

if TYPE_CHECKING:
    from condyle.constraints.solve.projection import ProjectionProblem
    from condyle.model.time import TimeReader
    from condyle.system import failures
else:  # loaded when a result fails
    failures = Deferred("condyle.system.failures")

FEW = 200
"""CasADi evaluates rarely used operators this many times before they are compiled."""
SMALL = 1000
"""Array size up to which a dot product with itself is the fastest check for NaN. For many, BLAS would wake
other threads, which then keep a core busy."""


class Compiled:
    """Machine code of one system, and its data.

    Attributes:
        model: the source of the expressions (condyle.model).
        key: text that identifies the model in the cache.
        entries: names and defaults of vectors, by the names of the operators' arguments.
        tails: builds the last argument of the kernels from the keyword options.
        functions: native functions by operator and further keys. programs: native programs by key.
            evaluations: number of calls of each kernel by States.
        quaternions: places of unit quaternions in q.
        plain: for q and u, functions that tell whether a vector needs no further checks.
        no_tau: zeros, shape (nu,), read-only.
        moves: whether some motion is prescribed.
        forward_dynamics: its native function.
        udot_key: key of accelerations without tau in States.
        length: see scales.py [m].
        weights: defaults for errors in q, u, z: scales.py.
    """

    def __init__(
        self,
        tree: Tree,
        forces: Mapping[str, Force],
        constraints: Mapping[str, Constraint],
        off: frozenset[str] = frozenset(),
    ) -> None:
        self.model = model = Model(tree, forces, constraints)
        self.key = description(model)
        self.functions: dict[Any, NativeFunction] = {}
        self.left_out_was_told = False  # failures.report_left_out
        self._shapes: dict[str, list[tuple[int, ...]] | None] = {}
        self.direct: dict[Any, Callable[..., Any]] = {}
        self.programs: dict[Any, Any] = {}
        self.evaluations: Counter[str] = Counter()
        self._asked: Counter[str] = Counter()
        self.no_tau = np.zeros(tree.nu)
        self.no_tau.flags.writeable = False
        self.entries = _entries(model)
        self.tails = Tails(model, self.entries, self.function("instance"), off)
        self.quaternions = tuple(tree.quaternions)
        self.plain = {"q": plain(tree.nq, self.quaternions), "u": plain(tree.nu)}
        self.moves = bool(tree.driven)
        self.udot_key = ("forward_dynamics", None, "q", "u", self.no_tau.tobytes())

    @cached_property
    def forward_dynamics(self) -> NativeFunction:
        return self.function("forward_dynamics")

    @cached_property
    def length(self) -> float:
        return scales.length(self.model.tree.bodies)

    @cached_property
    def weights(self) -> np.ndarray:
        usual = np.concatenate([*scales.weights(self.model.tree.bodies), np.ones(self.model.nz)])
        usual.flags.writeable = False
        return usual

    @cached_property
    def generalized_forces(self) -> dict[str, str]:
        """Units of generalized forces, by speed."""
        return dict(generalized_forces(self.model, {}))

    @cached_property
    def ydot_in_parts(self) -> bool:
        """Whether rates of q, u and z have separate kernels: with constraints there are loops for
        accelerations, but not for all rates together.
        """
        return bool(self.model.constraints) and prefers_loops(self.model)

    def remembered(self, key: Any, make: Callable[[], T]) -> T:
        """Result of `make`, computed once per key, for studies."""
        if key not in self.programs:
            self.programs[key] = make()
        found: T = self.programs[key]
        return found

    # ---- functions -----------------------------------------------------------------------------------------

    def function(self, name: str, body: str | None = None) -> NativeFunction:
        """The native function of an operator (condyle.model.operators), of one body if `body` is given."""
        key = (name, body)
        if key not in self.functions:
            operator, model = OPERATORS[name], self.model.code
            static = {} if body is None else {"body": model.tree.body(body).index}
            looped = [prefers_loops(model, name, lanes=lanes, **static) for lanes in (False, True)]
            one, many = (
                partial(build_looped if loops else operator.build, model, name, **static) for loops in looped
            )
            shapes = list(operator.shapes(model).values())
            self._shapes[name] = None if all(len(shape) == 1 for shape in shapes) else shapes
            self.functions[key] = NativeFunction(
                operator.label,
                one,
                wide=one if looped[0] == looped[1] else many,
                key=f"{name} {static} looped: {looped}\n{model.description}",
                data=model.data,
                inputs=operator.inputs(model),
                outputs=operator.outputs(model),
                direct=DirectCall(
                    optional=operator.may_end,
                    options=tuple(self.tails.parts),
                    finite=self._looked_at(name),
                    noted=self.model.leaves_out and operator.on_paths,
                )
                if operator.direct
                else None,
                refuse=self.refusal(operator, operator.label),
                entries=self.entries if operator.watched else {},
            )
        return self.functions[key]

    def seldom(self, name: str) -> Callable[..., Any]:
        """An operator with flat results, for jobs that call it a few times: CasADi evaluates it at one
        state. Machine code is used for many states, after `FEW` calls, if it exists already, and if the
        status is nonzero."""
        function, operator = self.function(name), OPERATORS[name]

        def make() -> KernelFunction:
            return operator.build(self.model, name)

        def call(*arrays: Array) -> Any:
            self._asked[name] += 1
            one = all(np.ndim(a) == 1 for a in arrays)
            if one and not function.report.kernels and self._asked[name] <= FEW:
                f = self.remembered(("expressions", name), lambda: cached(f"{name}\n{self.key}", make))
                found = [x[:, 0] for x in evaluate(f, *(np.asarray(a, dtype=float)[:, None] for a in arrays))]
                if not (operator.status and found.pop().any()):
                    return found[0] if len(found) == 1 else tuple(found)
            return function(*arrays)

        return call

    def shaped(self, name: str, result: Any) -> Any:
        """Results of an operator's native function, reshaped from (..., n) to (..., *shape)."""
        shapes = self._shapes[name]
        if shapes is None:
            return result
        if type(result) is not tuple:
            return _reshaped(result, shapes[0])
        return tuple(map(_reshaped, result, shapes))

    def found(self, name: str, arguments: tuple[Any, ...], tail: Any, result: Any) -> Any:
        """A result, after errors or warnings about paths and contacts that were not found (failures.py)."""
        if self._looked_at(name):
            parts = result if type(result) is tuple else (result,)
            if any(np.isnan(x).any() for x in parts):
                failures.report_unfound_reactions(self, name, arguments, tail)
                failures.report_unsolved(self, OPERATORS[name].label, arguments[0], np.asarray(tail), result)
            if notes.is_set():
                failures.report_left_out(self, OPERATORS[name].label, arguments[0], np.asarray(tail))
        return result

    def _looked_at(self, name: str) -> bool:
        """Whether NaN in a result may mean that a path was not found."""
        return bool(self.model.over_surfaces or self.model.reaction_laws) and OPERATORS[name].on_paths

    def refusal(self, operator: OperatorRecord, label: str, tail: int = -1) -> Any:
        """Handler of a nonzero status of an operator's kernel; None if it has no status.

        Args:
            operator: its record.
            label: its name in messages.
            tail: index of the tail among the kernel's arguments.
        """
        match operator.status:
            case "":
                return None
            case "parameters":
                return self.model.parameter_check.refuse
            case "accelerations" if self.model.constraints or self.model.reaction_laws:
                return partial(failures.refuse_accelerations, self.model, label, tail)
            case "rates":
                return partial(failures.refuse_rates, self.model.tree, label)
        return partial(failures.refuse_singular, self.model.tree, label)

    def shortcut(self, name: str, method: Callable[..., Any]) -> Callable[..., Any] | None:
        """A builtin that replaces an operator's method: one state goes directly to the kernel, with checked
        t, z, inputs and parameters; other calls go to the method. None until there is machine code.
        """
        function, one = self.function(name), self.tails.one
        count, free, zeros = len(function.inputs) - 1, OPERATORS[name].may_end, self.no_tau
        timed = name in self.timed.operators

        def call(*arguments: Any, **options: Any) -> Any:
            if options and not (timed and options.get("t") is None) and (tail := one(options)) is not None:
                try:
                    if len(arguments) == count:
                        return function.fast(*arguments, tail)
                    if free and len(arguments) == count - 1:
                        return function.fast(*arguments, zeros, tail)
                except (TypeError, ShapeError):
                    pass  # the method explains the bad call
            return method(*arguments, **options)

        def looked_at(*arguments: Any, **options: Any) -> Any:
            """Call the method to explain a NaN."""
            result = call(*arguments, **options)
            x = result if type(result) is np.ndarray and result.ndim == 1 else np.ravel(result)
            total = x.dot(x) if x.size < SMALL else x.sum()
            return result if total == total and not notes.is_set() else method(*arguments, **options)

        return function.direct(looked_at if self._looked_at(name) else call, self.tails.default, method)

    @cached_property
    def timed(self) -> TimeDependence:
        """Time-dependent elements of the system."""
        return TimeDependence(self.model)

    def check_time(self, what: str, name: str, arrays: tuple[Any, ...], options: Mapping[str, Any]) -> None:
        """Raise an error for many states without t if the operator depends on time."""
        timed = self.timed
        if name in timed.operators and options.get("t") is None:
            timed.check(what, name, arrays, options.get("disabled"))

    def tail(self, **options: Any) -> Array:
        """The tail (..., n) of the keyword options."""
        return self.tails.make(options)

    # ---- vectors and states --------------------------------------------------------------------------------

    def vector(self, name: str, value: Any, what: str = "") -> Array:
        """The user's q, u, udot, tau, ... as a checked, finite array (..., n); labels are matched if there
        are any.
        """
        entries, what = self.entries[name], f"{what}: {name}" if what else name
        array = vector(what, value, len(entries.names), entries)
        check_finite(what, array, entries)
        return array

    def normalized(self, y: Array) -> Array:
        """q, or q with more after it, (..., n), with quaternions of unit length, in place."""
        for part in self.quaternions:
            y[..., part] /= np.linalg.norm(y[..., part], axis=-1, keepdims=True)
        return y

    def prescribed(self, q: Array, u: Array, tail: Array, locked: Any = None) -> tuple[Array, Array]:
        """q (..., nq) and u (..., nu) with values prescribed by enabled motions, and u = 0 where `locked` (by
        default that of the coordinates) is at position level.
        """
        if self.model.tree.driven:
            q, u = self.function("prescribed").fast(q, u, tail)
        if still := resting(self.model.tree.speeds, self.tails.locked if locked is None else locked):
            u = u.copy()
            u[..., still] = 0.0
        return q, u

    def followed(self, y: Array, t: Array, tail: Array) -> Array:
        """q, u, z side by side (m, n) at times t (m,) with prescribed values; the rest of the tail is
        unchanged, (k,) or (m, k).
        """
        tree = self.model.tree
        if not tree.driven:
            return y
        tails = np.empty((len(t), tail.shape[-1]))
        tails[...] = tail
        tails[:, self.model.tail["t"]] = t[:, None]
        n = tree.nq + tree.nu
        q, u = self.prescribed(y[:, : tree.nq], y[:, tree.nq : n], tails, ())
        return np.concatenate([q, u, y[:, n:]], axis=1)

    def projection(self, tail: Array, weights: Array) -> ProjectionProblem:
        """Functions for projection of states with a tail (..., n)."""
        names = "constraints.errors", "position_change", "velocity_change", "qdot"
        errors, nearer, slower, rates = map(self.seldom, names)
        rows, undefined = self._equations
        from condyle.constraints.solve.projection import ProjectionProblem

        return ProjectionProblem(
            errors=lambda q, u: errors(q, u, tail),
            nearer=lambda q, u: _steps(nearer(q, u, weights, tail)),
            slower=lambda q, u: _steps(slower(q, u, weights, tail)),
            step=lambda q, du: self.normalized(q + rates(q, du, tail)),
            rows=rows,
            undefined=undefined,
        )

    @cached_property
    def _equations(self) -> tuple[tuple[tuple[str, str], ...], dict[str, str]]:
        """Level and label of each equation, and the text on where it is undefined; cached, since rigid
        contacts need it at every event."""
        named = equation_names(self.model.constraints)
        return tuple((level, name) for name, level in named), {
            label: c.undefined
            for name, c in self.model.constraints.items()
            for label in ([name] if c.size == 1 else [f"{name}[{k}]" for k in range(c.size)])
        }


class SharedCode:
    """Compiled code of a System and its last few copies: copies with the same parts share it.

    A cached model file has one, which lives as long as the cached model.
    """

    MOST = 8

    def __init__(self) -> None:
        self._held: dict[tuple[Any, ...], tuple[list[Any], Compiled]] = {}

    def get(self, parts: list[Any], more: tuple[Any, ...], make: Callable[[], Compiled]) -> Compiled:
        """Compiled code of these objects and further keys, created if missing."""
        key = (*map(id, parts), more)
        found = self._held.pop(key, None) or (parts, make())  # keep the parts alive, so that ids stay unique
        while len(self._held) >= self.MOST:
            self._held.pop(next(iter(self._held)), None)
        self._held[key] = found
        return found[1]


def _entries(model: Model) -> dict[str, Entries]:
    """Entries of vectors, by the names of the operators' arguments."""
    tree = model.tree
    turned = tuple(
        (b.name, slice(b.q.start + part.start, b.q.start + part.stop))
        for b in tree.owners
        for part in b.mobilizer.quaternions
    )
    speed = Entries("speed", tree.speeds, np.zeros(tree.nu))
    rows = Entries(
        "equation", tuple(name for name, _ in equation_names(model.constraints)), np.zeros(model.equations())
    )
    kept = state_variables(model.forces)
    own = {
        "q": Entries("coordinate", tree.coordinates, tree.defaults(), turned),
        "z": Entries(
            "state variable", tuple(name for name, _ in kept), np.array([x for _, x in kept], dtype=float)
        ),
        "inputs": Entries("input", tree.inputs.names, tree.inputs.defaults),
        "discrete": Entries("discrete variable", tree.discrete.names, tree.discrete.defaults),
        "parameters": Entries("parameter", tree.parameters.names, tree.parameters.defaults),
    }
    rate = Entries("coordinate", tree.coordinates, np.zeros(tree.nq))
    known = {
        **own,
        "u": Entries("speed", tree.speeds, tree.default_speeds()),
        **dict.fromkeys(("udot", "tau", "f"), speed),
        "qdot": rate,
        "qddot": rate,
        "lambda_": rows,
        "station": POINT,
    }
    moved = {
        "q": speed,
        "t": Entries("time", ("t",)),
        **{name: e for name, e in known.items() if name != "q"},
    }
    return known | {
        f"d_{name}": Entries(e.noun, e.names, np.zeros(len(e.names))) for name, e in moved.items()
    }


def _reshaped(result: Array, shape: tuple[int, ...]) -> Any:
    """A flat result (..., n) in its shape; numbers of one state as such."""
    if len(shape) == 1:
        return result
    return result.reshape(result.shape[:-1] + shape) if shape else result[..., 0][()]


def _steps(du: Array) -> Array:
    """Newton steps (..., nu), zero where a step is not finite."""
    return np.where(np.isfinite(du).all(axis=-1, keepdims=True), du, 0.0)


class TimeDependence:
    """Time-dependent elements for each operator: text for errors, and the name for disabling, if any."""

    def __init__(self, model: Model) -> None:
        found = model.code.notes.get("reads time", lambda: _readers(model))
        self.sources = {
            name: [(words, switch) for what in operator.reads.split() for words, switch in found[what]]
            for name, operator in OPERATORS.items()
        }
        self.operators = frozenset(name for name, found in self.sources.items() if found)

    def check(self, what: str, operator: str, arrays: Iterable[Any], disabled: Any) -> None:
        """Raise an error for many states without t if something enabled depends on time."""
        off = (disabled,) if isinstance(disabled, str) else tuple(disabled or ())
        acting = [words for words, name in self.sources[operator] if not name or name not in off]
        if acting and (shape := next((np.shape(a) for a in arrays if _rank(a) > 1), None)) is not None:
            more = f" and {len(acting) - 1} more depend" if len(acting) > 1 else " depends"
            raise DescriptionError(
                f"{what}: {acting[0]}{more} on time, and there are many states, {shape}: "
                "give t=, one number or one per state [s]"
            )


def _readers(model: Model) -> dict[str, list[list[str]]]:
    from condyle.model.time import time_readers

    found: dict[str, list[list[str]]] = {kind: [] for kind in ("joints", "forces", "constraints", "motions")}
    for reader in time_readers(model, stored=True):
        if _reads(reader) and (source := [reader.words, reader.switch]) not in found[reader.kind]:
            found[reader.kind].append(source)
    return found


def _rank(array: Any) -> int:
    return (
        array.ndim
        if hasattr(array, "ndim")
        else np.ndim(array)
        if not hasattr(array, "keys")
        else max((np.ndim(v) + 1 for v in array.values()), default=1)
    )


def _reads(reader: TimeReader) -> bool:
    """Whether an element reads the time: joints know it; constraints and motions that may read it count as
    reading it."""
    if reader.kind == "joints":
        return reader.body is not None and reader.body.mobilizer.uses_time
    return reader.kind != "forces" or reader.reads()
