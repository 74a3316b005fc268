"""Which layout an operator has: one straight line for the whole tree, or kernels over tables.

The straight line is what CasADi simplifies most, but compiling takes 40 microseconds per operation, and for
one state a processor must fetch every instruction of it once. Loops compile at once at any size. Measured for
forward dynamics of 30 pins: one state takes 2.9 microseconds by loops and 3.4 by a straight line, a state in
four lanes (AVX2) 0.86 and 1.04. With eight lanes (AVX-512) the straight line was quicker, before loops became
walks (native/loops/schedule.py): 0.6 against 0.9.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

import condyle.settings as settings
from condyle.forces.path import PathLaw
from condyle.mobilizers import motion_size
from condyle.model.looped import passes
from condyle.model.looped.constrained import LEVELS, accelerations, position_changes, velocity_changes
from condyle.model.looped.gradient import forward_gradient
from condyle.model.looped.law_rows import OPERATIONS, law_kinds
from condyle.model.looped.path_laws import LAW, is_row, operations, path_kinds, span_size
from condyle.model.looped.path_operators import controlled_kinds
from condyle.model.looped.tables import Looped
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.model.operators.record import ByColumns
from condyle.native.loops.linear import Matrix
from condyle.native.loops.sweep import Sweep
from condyle.native.machine.jit import lane_width


def _rows(
    model: Model,
    arguments: Sequence[str],
    results: Sequence[tuple[str, int]],
    write: Callable[[Looped], None],
) -> Sweep:
    sizes = {**model.sizes(), "cotangent": model.tree.nu}
    looped = Looped(model, [(name, sizes[name]) for name in arguments], results)
    write(looped)
    return looped.rows()


def build_looped(model: Model, name: str, body: int | None = None) -> Sweep | Matrix:
    """An operator in the looped layout."""
    operator = OPERATORS[name]
    loops, results = operator.looped, operator.outputs(model)
    assert loops is not None, name
    if not isinstance(loops, ByColumns):
        return _rows(model, operator.arguments, results, loops)
    column = [(loops.result, results[0][1] // model.tree.nu)]
    write = loops.passes if body is None else partial(loops.passes, body=body)
    return Matrix(
        _rows(model, (*loops.takes.split(), "tail"), column, write),
        1,
        symmetric=loops.symmetric,
        offset=loops.offset,
    )


def build_looped_rates(model: Model, short: float) -> Sweep:
    """Forward dynamics as runs take it in the looped layout: with constraints, whether these are delicate is
    a result too, and with auxiliary states their rates are, the last.
    short: what runs let pass there, multipliers.py (8)."""
    operator = OPERATORS["forward_dynamics"]
    results = operator.outputs(model)
    rates = [("zdot", model.nz)] if model.nz else []
    if not model.constraints:
        return _rows(model, operator.arguments, [*results, *rates], passes.forward_dynamics)
    return _rows(
        model, operator.arguments, [*results, ("delicate", 1), *rates], partial(accelerations, short=short)
    )


def build_looped_changes(model: Model, name: str, columns: int) -> Sweep:
    """position_change or velocity_change in the looped layout, for errors and for some directions: (q, u,
    weights, along, tail)
    -> du, and whether constraints are delicate and p, or what is left of v."""
    nu = model.tree.nu
    sizes = {**model.sizes(), "along": (columns - 1) * nu}
    more = {
        "position_change": [("delicate", 1), ("p", model.equations("position"))],
        "velocity_change": [("left", model.equations("position", "velocity"))],
    }
    looped = Looped(
        model,
        [(x, sizes[x]) for x in ("q", "u", "weights", "along", "tail")],
        [("du", columns * nu), *more[name]],
    )
    (position_changes if name == "position_change" else velocity_changes)(looped)
    return looped.rows()


def build_looped_gradient(model: Model, wrt: Sequence[str]) -> Sweep:
    """The vjp of forward dynamics with respect to some of q, u, tau and z in the looped layout."""
    sizes = {"z": model.nz}
    results = [*((f"d_{name}", sizes.get(name, model.tree.nu)) for name in wrt), ("status", 1)]
    return _rows(model, ("q", "u", "tau", "cotangent", "tail"), results, forward_gradient)


LONGEST = 22_000
"""Operations of a straight line beyond which loops are preferred: about a second of compiling."""
LONGEST_FOR_ONE = 5_500
"""The same where one state is asked for, if loops are quicker then."""
LONGEST_FOR_FOUR = 12_000
"""The same for four lanes or fewer, for which the processor fetches twice the instructions that it fetches
for eight."""
UNTURNED = 0.35
"""Share of the operations that remain of a body whose frames are not turned against each other."""
LOOPED_BODY, LOOPED_SPEED = 300, 150
"""What a body takes by loops, in operations of a straight line that take as long (30 pins: 2.5 us against 3.3
of 17,400)."""


GRADIENT = 1.65
"""How many times as long as forward dynamics its gradient is."""


def prefers_loops(
    model: Model,
    name: str = "forward_dynamics",
    body: int | None = None,
    lanes: bool = False,
    longer: float = 1.0,
) -> bool:
    """Whether an operator is looped: where a straight line would be long, and loops a good deal shorter.
    `longer`: what is looped takes so many times as long as the operator.

    The environment variable CONDYLE_LAYOUT says unrolled, looped or auto, the default.
    """
    wish = settings.layout()
    loops = OPERATORS[name].looped
    if wish == "unrolled" or loops is None:
        return False
    if model.has_friction and name in ("forward_dynamics", "multipliers", "held_accelerations"):
        return False  # Y is not symmetric: multipliers.py
    if name in ("path_lengths", "path_speeds", "moment_arms", "path_geometry"):
        return bool(model.paths) and (wish == "looped" or _paths_size(model) > LONGEST_FOR_ONE)
    if name == "unit_tensions":
        kinds = controlled_kinds(model)
        return bool(kinds) and (wish == "looped" or LAW * len(model.controlled_paths) > LONGEST_FOR_ONE)
    if name == "ydot" and model.constraints:
        return False
    constrained = name in LEVELS and bool(model.constraints)
    if constrained and model.tree.shares:  # visits.py goes along articulated bodies
        return False
    if (
        name in LEVELS
        and not (model.equations(*LEVELS[name]) and model.tree.nu)
        and (constrained or name != "forward_dynamics")
    ):
        return False
    if isinstance(loops, ByColumns):
        return (wish == "looped" or _size(model, name, body) > LONGEST) and model.tree.nu > 0
    if wish == "looped":
        return True
    keys = [p.key for p in model.patterns]
    mobilizers = dict(zip(keys, (b.mobilizer for b in model.tree.bodies), strict=True))
    cost = {key: motion_size(mobilizer) + 350 + 200 * mobilizer.nu for key, mobilizer in mobilizers.items()}
    # Frames that are not turned leave zeros and ones that fold: about a third of the operations remain.
    turned = [not (_is_identity(b.X_PF.R) and _is_identity(b.X_BM.R)) for b in model.tree.bodies]
    total = sum(cost[key] * (1.0 if t else UNTURNED) for key, t in zip(keys, turned, strict=True))
    laws, one_of_each = _laws_size(model) if "forces" in OPERATORS[name].reads else (0, 0)
    total += laws
    by_loops = laws + sum(LOOPED_BODY + LOOPED_SPEED * b.mobilizer.nu for b in model.tree.bodies)
    total += _constraints_size(model) if constrained else 0
    if total <= 2 * (sum(cost.values()) + one_of_each):
        return False
    if constrained:
        return total > LONGEST
    longest = LONGEST_FOR_FOUR if lanes and lane_width() <= 4 else LONGEST
    return total * longer > longest or (not lanes and total > max(LONGEST_FOR_ONE / longer, by_loops))


def _laws_size(model: Model) -> tuple[int, int]:
    """Operations, about, of the laws that may be rows of tables, and of one law of each kind."""
    if model not in _LAWS:  # every operator asks
        kinds, paths = law_kinds(model), path_kinds(model)
        along, one = operations(paths)
        _LAWS[model] = (
            OPERATIONS * sum(len(kind.members) for kind in kinds) + along,
            OPERATIONS * len(kinds) + one,
        )
    return _LAWS[model]


_LAWS: WeakKeyDictionary[Model, tuple[int, int]] = WeakKeyDictionary()


def _paths_size(model: Model) -> int:
    """Operations, about, of the paths that are rows of tables."""
    laws = [law for law in model.forces.values() if isinstance(law, PathLaw) and is_row(model, law)]
    return sum(span_size(span) for law in laws for span in law.path.length.spans)


def prefers_looped_jacobian(model: Model, lanes: bool = False) -> bool:
    """The same for the Jacobian of forward dynamics, where both are possible. Measured for one state and for
    lanes: 7 pins take 2.9 and 0.96 us by loops, 2.7 and 0.87 in a straight line; 30 pins 12.2 and 7.3, 12.7
    and 8.3."""
    if model.tree.shares:
        return False
    if (wish := settings.layout()) != "auto":
        return wish == "looped"
    speeds, before = _speeds_before(model)
    size = lambda m: motion_size(m) + 500 + 750 * m.nu
    types = dict(zip((p.key for p in model.patterns), (b.mobilizer for b in model.tree.bodies), strict=True))
    along, one = operations(path_kinds(model))
    total = sum(size(b.mobilizer) for b in model.tree.bodies) + 65 * int((speeds * before).sum())
    total, least = total + ALONG_PATHS * along, sum(map(size, types.values())) + ALONG_PATHS * one
    return total > max(1.5 * least, LONGEST if lanes else LONGEST_FOR_ONE)


ALONG_PATHS = 3
"""How many times as many operations laws along paths have in the Jacobian."""


def _is_identity(R: np.ndarray) -> bool:
    return bool((R == _IDENTITY).all())


_IDENTITY = np.eye(3)


def _constraints_size(model: Model) -> int:
    """Operations, about, of the mass matrix, its factors and one solution per equation as a straight line."""
    speeds, before = _speeds_before(model)
    # an equation is about one of them, or two
    bases = sum(model.tree.parent(B) is None for B in model.tree.base_to_tip)
    return int(
        100 * len(speeds) + (10 + 4 * model.equations() * min(1.0, 2 / bases)) * (speeds * before).sum()
    )


def _size(model: Model, name: str, body: int | None) -> int:
    """Operations, about, of a matrix as a straight line."""
    tree = model.tree
    if body is not None:
        return sum(150 + 30 * tree.bodies[B].mobilizer.nu for B in tree.path(body))
    speeds, before = _speeds_before(model)
    if name == "mass_matrix":
        return int(300 * len(speeds) + (25 * speeds * before).sum())
    return int(150 * len(speeds) + 15 * before.sum())


def _speeds_before(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The number of speeds of each body, and of it and its ancestors."""
    tree = model.tree
    speeds, before = (
        np.array([b.mobilizer.nu for b in tree.bodies]),
        np.zeros(len(tree.bodies), dtype=np.int64),
    )
    for B in tree.base_to_tip:
        P = tree.parent(B)
        before[B] = speeds[B] + (0 if P is None else before[P])
    return speeds, before
