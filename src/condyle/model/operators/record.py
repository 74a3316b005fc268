"""OperatorRecord: the definition of one operator.

Native code and its layout, the methods of System, State and runs, names and units in Tables, derivatives,
casadi.Functions, error messages and documentation all use the record. To add an operator, write its record in
one of the modules beside this one and its public line, a method with its signature, in
condyle.system.operators.

The kernel of an operator takes some of q, u, tau, udot, f, station and, last, the *tail*: the other variables
of a state in one vector

    tail = [t, z, inputs, discrete, enabled (0/1 per force, then per constraint, then per motion), lock (0 or
    infinity per speed),
            held (acceleration per locked speed, else 0), parameters, table]

so that one compiled program serves all times, all parameters and all sets of locks and of disabled forces,
constraints and motions. The INSTANCE kernel computes the table from the parameters and returns both.
Matrices are flattened row by row.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from condyle.model.model import Model
from condyle.model.operators.columns import Columns
from condyle.model.operators.costs import LayoutCost, PassCost
from condyle.records import dataclass

if TYPE_CHECKING:
    from condyle.model.looped.tables import Looped
    from condyle.model.symbols import Symbols
    from condyle.native.tables.staged import Staged


class Stage(enum.IntEnum):
    """Stage of a computation. Changing a variable invalidates its stage and all later ones."""

    TOPOLOGY = 0
    MODEL = 1
    INSTANCE = 2
    TIME = 3
    POSITION = 4
    VELOCITY = 5
    FORCE = 6
    ACCELERATION = 7


@dataclass(frozen=True)
class ByColumns:
    """The loops of a matrix: the passes of an operator that is linear in its second argument run once per
    column.

    Args:
        passes: writes the passes; also takes the body, if the matrix is that of a body.
        takes: arguments of the passes before the tail.
        result: name of their result.
        symmetric: whether the matrix is symmetric.
        offset: whether the passes add a constant to the matrix times the argument, which is subtracted.
    """

    passes: Callable[..., None]
    takes: str
    result: str
    symmetric: bool = False
    offset: bool = False


def _no_kernel(s: Symbols) -> list[ca.SX]:
    raise NotImplementedError("this operator is written with others")


@dataclass(frozen=True, eq=False)
class OperatorRecord:
    """One operator, or one kernel that another operator needs.

    Args:
        name: name of the public method.
        stage: stage of its results; a State discards them when a variable of this stage or an earlier one
            changes.
        state: its first arguments, which a State has: some of q, u, udot.
        expressions: returns the results from Symbols, flat, with the status last if there is one. None if the
            method combines other operators.
        takes: all arguments of the expressions before the tail; by default those of `state`.
        results: names and shapes for one state: words of `DIMENSIONS` and numbers, as {"M": "nu nu"}.
        columns: names and units of the results, for Tables; None for matrices or poses.
        status: meaning of a nonzero status: "rank" (a mobilizer has lost rank), "accelerations" (the same,
            or constraints are violated), "rates" (coordinates cannot follow the speeds), "parameters"
            (invalid parameters). "" if the expressions have no status.
        reads: elements through which it may depend on time: "joints", "forces", "constraints", "motions".
        per_body: "row" if the method returns a row of the result for one body, "kernel" if each body has its
            own kernel.
        ground: the row of ground, if it is nonzero.
        looped: its passes in the looped layout, if any (condyle.model.looped.passes). cost: cost of both
            layouts; layouts.py chooses between them.
        direct: whether the method returns the kernel's only result unchanged; after the first call a
            builtin replaces the method.
        differentiable: whether jvp, vjp, jacobian and casadi support it, which needs expressions and a
            method.
        serves: the operator that this kernel is part of, if it has no method of its own.
        watched: whether the kernel receives arrays from the user, which must be finite. plain: whether the
            expressions need no derivatives of laws (Symbols).
    """

    name: str
    stage: Stage
    state: str = ""
    expressions: Callable[..., list[ca.SX]] = _no_kernel
    takes: str | None = None
    results: Mapping[str, str] = field(default_factory=dict)
    columns: Columns | None = None
    status: str = ""
    reads: str = "joints"
    per_body: str = ""
    ground: tuple[float, ...] = ()
    looped: Callable[[Looped], None] | ByColumns | None = None
    cost: LayoutCost = PassCost()
    direct: bool = False
    differentiable: bool = True
    serves: str = ""
    watched: bool = True
    plain: bool = False

    @cached_property
    def arrays(self) -> tuple[str, ...]:
        """Names of the arguments that a State provides."""
        return tuple(self.state.split())

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """Names of the kernel's arguments, the tail last."""
        names = tuple((self.state if self.takes is None else self.takes).split())
        return names if "parameters" in names else (*names, "tail")

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.serves or self.name

    @property
    def on_paths(self) -> bool:
        """Whether it depends on paths or contacts."""
        return self.arguments[0] == "q" and ("forces" in self.reads or self.name in PATHS + CONTACTS)

    @property
    def has_status(self) -> bool:
        return bool(self.status)

    @property
    def public(self) -> bool:
        """Whether it is a method of System."""
        return not self.serves

    @property
    def derivable(self) -> bool:
        """Whether jvp, vjp, jacobian and casadi support it."""
        return self.public and self.differentiable and self.expressions is not _no_kernel

    @property
    def may_end(self) -> bool:
        """Whether its last argument before the tail may be left out, which then is zero."""
        return self.direct and len(self.arguments) > 2 and self.arguments[-2] == "tau"

    def inputs(self, model: Model) -> list[tuple[str, int]]:
        """Names and sizes of the kernel's arguments."""
        sizes = model.sizes()
        return [(name, sizes[name]) for name in self.arguments]

    def shapes(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Shapes of the results for one state."""
        return {
            name: tuple(int(word) if word.isdigit() else DIMENSIONS[word](model) for word in shape.split())
            for name, shape in self.results.items()
        }

    def outputs(self, model: Model) -> list[tuple[str, int]]:
        """Names and sizes of the kernel's results, the status last."""
        sizes = [(name, math.prod(shape)) for name, shape in self.shapes(model).items()]
        return [*sizes, ("status", 1)] if self.status else sizes

    def row(self, model: Model, body: int) -> slice:
        """Slice of the row of one body in a flat result."""
        n = math.prod(next(iter(self.shapes(model).values()))[1:])
        return slice(n * body, n * body + n)

    def build(self, model: Model, name: str, **which: Any) -> ca.Function | Staged:
        """The kernel as a Function of its arguments."""
        from condyle.model.symbols import Symbols
        from condyle.native.tables.staged import build_function

        s = Symbols(model, plain=self.plain)
        results = self.expressions(s, **which)
        # laws along paths use the same quantities repeatedly
        short = name.rpartition(".")[2]  # names of casadi.Functions have no dots
        return build_function(
            short, [s[a] for a in self.arguments], ca.cse(results) if model.paths else results
        )


PATHS = ("path_lengths", "path_speeds", "moment_arms", "path_points")
"""Operators that need only paths."""
CONTACTS = ("contacts.depths", "contacts.points", "contacts.normals", "contacts.patches")
"""Operators of contact positions."""


def _path_numbers(model: Model) -> int:
    """Size of the result of path_points."""
    if not model.paths:
        return 0
    from condyle.paths.path import numbers

    return sum(map(numbers, model.paths.values()))


DIMENSIONS: dict[str, Callable[[Model], int]] = {
    "nq": lambda model: model.tree.nq,
    "nu": lambda model: model.tree.nu,
    "nz": lambda model: model.nz,
    "ny": lambda model: model.tree.nq + model.tree.nu + model.nz,
    "bodies": lambda model: len(model.tree.bodies),
    "forces": lambda model: len(model.exerting_forces),
    "constraints": lambda model: len(model.constraints),
    "m": lambda model: model.equations(),
    "m_p": lambda model: model.equations("position"),
    "m_v": lambda model: model.equations("position", "velocity"),
    "wrenches": lambda model: sum(len(c.bodies) for c in model.constraints.values()),
    "instance": lambda model: model.instance.stop - model.instance.start,
    "paths": lambda model: len(model.paths),
    "path_numbers": _path_numbers,
    "controlled_paths": lambda model: len(model.controlled_paths),
    "actuators": lambda model: len(model.actuators),
    "muscles": lambda model: len(model.muscles),
    "tendons": lambda model: sum(
        getattr(model.forces[name], "tendon", "") == "elastic" for name in model.muscles
    ),
    "contacts": lambda model: len(model.all_contacts),
    "foundations": lambda model: len(model.foundations),
    "springs": lambda model: sum(
        side.size for law in model.contacts.values() for side in getattr(law, "sides", ())
    ),
    "unilateral": lambda model: len(model.unilateral),
    "reported": lambda model: len(model.reported),
}
"""Words for the dimensions of results."""
