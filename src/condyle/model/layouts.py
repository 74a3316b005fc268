"""Choice of an operator's layout: straight-line code for the entire tree, or kernels over tables.

CasADi simplifies straight-line code most, but compiling takes 40 microseconds per operation, and for one
state a processor must fetch every instruction once. Loops compile quickly at any size. Measured for forward
dynamics of 30 pins: one state takes 2.9 microseconds by loops and 3.4 by a straight line, a state in four
lanes (AVX2) 0.86 and 1.04. With eight lanes (AVX-512) the straight line was faster, 0.6 against 0.9, before
loops became walks (native/loops/pass_order.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import condyle.settings as settings
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.model.operators.costs import LONGEST, LONGEST_FOR_ONE, Estimate, jacobian_cost
from condyle.model.operators.record import ByColumns
from condyle.native.machine.jit import lane_width

if TYPE_CHECKING:
    from condyle.model.looped.implicit_fronts import NewtonFronts
    from condyle.model.looped.tables import Looped
    from condyle.native.loops.linear import Matrix
    from condyle.native.loops.sweep import TableSweep

LONGEST_FOR_FOUR = 12_000
"""Operations of the longest straight line for four lanes or fewer, for which the processor fetches twice as
many instructions as for eight."""
GRADIENT = 1.65
"""Length of the gradient of forward dynamics, as a multiple of forward dynamics."""


def prefers_loops(
    model: Model,
    name: str = "forward_dynamics",
    body: int | None = None,
    lanes: bool = False,
    longer: float = 1.0,
) -> bool:
    """Whether an operator is looped, which is so if straight-line code would be long and loops much
    shorter. `longer`: cost of the looped code as a multiple of the operator's.

    The environment variable CONDYLE_LAYOUT is unrolled, looped or auto, the default.
    """
    wish, operator = settings.layout(), OPERATORS[name]
    if wish == "unrolled" or operator.looped is None or model.reaction_laws:
        return False

    def find() -> list[float] | None:
        found = operator.cost.estimate(operator, model, body)
        return None if found is None else _numbers(found)

    known = model.notes.get(f"cost of {name} {body}", find)
    estimate = None if known is None else Estimate(*known)
    return estimate is not None and (wish == "looped" or _loops_win(estimate, lanes, longer))


def prefers_looped_jacobian(model: Model, lanes: bool = False) -> bool:
    """The same for the Jacobian of forward dynamics, if both layouts are possible."""
    if model.tree.shares or model.reaction_laws:
        return False
    if (wish := settings.layout()) != "auto":
        return wish == "looped"
    known = model.notes.get("cost of jacobian", lambda: _numbers(jacobian_cost(model)))
    return _loops_win(Estimate(*known), lanes)


def _numbers(cost: Estimate) -> list[float]:
    return [float(x) for x in (cost.line, cost.least, cost.loops, cost.limit)]


FEWEST_FOR_NEWTON = 24
"""Minimum number of speeds for solving the equations of implicit steps along the tree."""
FEWEST_FOR_MATRIX = 40
"""Minimum number of coordinates, speeds and auxiliary states for a matrix over the speeds alone."""


PAIR = 100
"""Approximate products needed to make one entry of the matrix over the speeds."""


def newton_layout(model: Model) -> str:
    """How implicit steps solve their equations: along the "tree", by "fronts" along the tree where muscles and
    constraints couple speeds, as a "matrix" over the speeds, or "": as a matrix of all states.
    """
    wish = settings.layout()
    return (
        "" if wish == "unrolled" else model.notes.get(f"newton {wish}", lambda: _newton_layout(model, wish))
    )


def _newton_layout(model: Model, wish: str) -> str:
    from condyle.model.looped.implicit import has_looped_newton
    from condyle.model.looped.implicit_matrix import has_newton_matrix

    small = model.tree.nu < FEWEST_FOR_NEWTON
    if not (small and wish == "auto") and has_looped_newton(model):
        return "tree"
    states = model.tree.nq + model.tree.nu + model.nz
    if not (wish == "looped" or states >= FEWEST_FOR_MATRIX) or not has_newton_matrix(model):
        return ""
    plan = build_newton_fronts(model).plan
    return "fronts" if wish == "looped" or plan.cost() < plan.n**3 / 3 + PAIR * plan.n**2 else "matrix"


def _loops_win(estimate: Estimate, lanes: bool, longer: float = 1.0) -> bool:
    """Whether loops are faster, or straight-line code would take too long to compile."""
    limit = estimate.limit * longer or (LONGEST_FOR_FOUR if lanes and lane_width() <= 4 else LONGEST)
    long = estimate.line * longer > limit
    quicker = not lanes and estimate.line > max(LONGEST_FOR_ONE / longer, estimate.loops)
    return estimate.line > estimate.least and (long or quicker)


def _sweep(
    model: Model,
    arguments: Sequence[str],
    results: Sequence[tuple[str, int]],
    write: Callable[[Looped], None],
    **sizes: int,
) -> TableSweep:
    """A Looped with these arguments and results. `sizes` has those of arguments that no operator has."""
    from condyle.model.looped.tables import Looped

    known = model.sizes() | sizes
    looped = Looped(model, [(name, known[name]) for name in arguments], results)
    write(looped)
    return looped.rows()


def build_looped(model: Model, name: str, body: int | None = None) -> TableSweep | Matrix:
    """An operator in the looped layout."""
    operator = OPERATORS[name]
    loops, results = operator.looped, operator.outputs(model)
    assert loops is not None, name
    if not isinstance(loops, ByColumns):
        return _sweep(model, operator.arguments, results, loops)
    from condyle.native.loops.linear import Matrix

    column = [(loops.result, results[0][1] // model.tree.nu)]
    write = loops.passes if body is None else partial(loops.passes, body=body)
    return Matrix(
        _sweep(model, (*loops.takes.split(), "tail"), column, write),
        1,
        symmetric=loops.symmetric,
        offset=loops.offset,
    )


def build_looped_rates(model: Model, short: float) -> TableSweep:
    """Forward dynamics for runs in the looped layout, which also returns whether constraints are delicate,
    and rates of auxiliary states. short: tolerance of runs, multipliers.py (8).
    """
    from condyle.model.looped import constrained, passes

    operator = OPERATORS["forward_dynamics"]
    results = operator.outputs(model)
    rates = [("zdot", model.nz)] if model.nz else []
    if not model.constraints:
        return _sweep(model, operator.arguments, [*results, *rates], passes.forward_dynamics)
    write = partial(constrained.accelerations, short=short)
    return _sweep(model, operator.arguments, [*results, ("delicate", 1), *rates], write)


def build_looped_changes(model: Model, name: str, columns: int) -> TableSweep:
    """position_change or velocity_change in the looped layout, for errors and for some directions: (q, u,
    weights, along, tail)
    -> du, and whether constraints are delicate and p, or what is left of v."""
    from condyle.model.looped import constrained

    nu = model.tree.nu
    if name == "position_change":
        write, more = constrained.position_changes, [("delicate", 1), ("p", model.equations("position"))]
    else:
        write, more = constrained.velocity_changes, [("left", model.equations("position", "velocity"))]
    arguments = ("q", "u", "weights", "along", "tail")
    return _sweep(model, arguments, [("du", columns * nu), *more], write, along=(columns - 1) * nu)


def build_looped_gradient(model: Model, wrt: Sequence[str]) -> TableSweep:
    """The vjp of forward dynamics with respect to some of q, u, tau and z in the looped layout."""
    from condyle.model.looped.gradient import forward_gradient

    nu = model.tree.nu
    results = [*((f"d_{name}", model.nz if name == "z" else nu) for name in wrt), ("status", 1)]
    return _sweep(model, ("q", "u", "tau", "cotangent", "tail"), results, forward_gradient, cotangent=nu)


def build_looped_newton(model: Model) -> tuple[TableSweep, TableSweep]:
    """Factors and solutions of implicit steps: model/looped/implicit.py."""
    from condyle.model.looped import implicit

    return implicit.build_looped_newton(model)


def build_newton_fronts(model: Model) -> NewtonFronts:
    """The same along the tree: model/looped/implicit_fronts.py."""
    from condyle.model.looped import implicit_fronts

    return implicit_fronts.NewtonFronts.of_model(model)


def build_newton_matrix(model: Model) -> TableSweep:
    """The parts of the matrix over the speeds for implicit steps: model/looped/implicit_matrix.py."""
    from condyle.model.looped import implicit_matrix

    return implicit_matrix.build_newton_matrix(model)
