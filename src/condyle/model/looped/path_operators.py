"""Lengths, speeds and moment arms of paths in the looped layout.

All paths whose spans can be rows are in tables (path_rows.py); the others are one straight line. For moment
arms each span has a row per body B with speeds that it crosses: some of the bodies that it touches are at
or beyond B, others are not. With W_i, the wrench of a unit tension of the span on body i, and hinge axes
H_k of B,

    R_k -= H_k . (sum of W_i over bodies at or beyond B)                                                   (1)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.constraints.solve.equations import UnitWrenches
from condyle.dynamics.inertia import inner
from condyle.dynamics.row import RowField
from condyle.forces.path import PathLaw
from condyle.laws.described import sx
from condyle.model.looped.draft import Draft, KernelDraft, RowKind, StraightLine
from condyle.model.looped.passes import at_rest
from condyle.model.looped.path_kinds import PathKind, is_row, kinds_among
from condyle.model.looped.path_rows import LawFields, LawKernel, PathRows, SpanFields
from condyle.model.looped.tables import Looped, NewRows
from condyle.model.model import Model
from condyle.muscles import Muscle


def place_bodies(looped: Looped, moving: bool) -> None:
    """The pass that gives bodies their poses, and their velocities if they move."""

    def prepare(d: Draft) -> None:
        d.kinematics(moving, positions=True)

    looped.outward(prepare, at_rest)


class AllPaths:
    """The rows of all paths of a model, created after the pass that computes poses.

    Attributes:
        rows: rows of the paths whose spans are rows; None if there are none.
        loose: rows of the other paths, by name.
    """

    def __init__(self, looped: Looped, moving: bool) -> None:
        self.looped, model = looped, looped.model
        place_bodies(looped, moving)
        laws = [(i, law) for i, law in enumerate(model.forces.values()) if isinstance(law, PathLaw)]
        number = {i: n for n, (i, _) in enumerate(laws)}
        tabled = [(i, law) for i, law in laws if is_row(model, law)]
        self.rows = PathRows(looped, [PathKind(tabled[0][1], tuple(tabled), (), (), ())]) if tabled else None
        others = [i for i, law in laws if not is_row(model, law)]
        self._type, first, rows, names = (
            looped.fresh_type,
            len(looped.types),
            NewRows(looped),
            [*model.forces],
        )
        self.loose = {names[i]: rows.add("loose") for i in others}
        rows.finish()
        self.numbers = np.zeros(len(looped.types), dtype=np.int64)  # number of the path, by row
        if self.rows is not None:
            self.numbers[self.rows.rows] = [number[i] for i, _ in tabled]
            self.rows.lengths(moving)
        self.numbers[first:] = [number[i] for i in others]

    def line(self, field: Any, value: Any) -> None:
        """Write a field of the rows of the other paths: value(view, path)."""
        line = StraightLine(self.looped)
        view = line.symbols.view(line.kin)
        for name, row in self.loose.items():
            line.save(row, field, value(view, self.looped.model.paths[name]))
        line.write()

    def report(self, field: Any, result: str) -> None:
        """Write a field of all paths as a result."""
        self.looped.windows["of_path"] = result, self.numbers
        types = [*(self.rows.types[:1].tolist() if self.rows else ()), *([self._type] if self.loose else ())]
        kernels = {t: KernelDraft(self.looped) for t in types}
        for d in kernels.values():
            d.writes["of_path"] = LawFields(d, "me")[field]
        self.looped.extra_pass(kernels)


def path_lengths(looped: Looped) -> None:
    paths = AllPaths(looped, moving=False)
    paths.line(LawFields.L, lambda view, path: path.length.at(view))
    paths.report(LawFields.L, "L")


def path_speeds(looped: Looped) -> None:
    paths = AllPaths(looped, moving=True)
    paths.line(LawFields.v, lambda view, path: path.length.rate(view))
    paths.report(LawFields.v, "Ldot")


def moment_arms(looped: Looped) -> None:
    _write_arms(looped, AllPaths(looped, moving=False))


def path_geometry(looped: Looped) -> None:
    paths = AllPaths(looped, moving=False)
    paths.line(LawFields.L, lambda view, path: path.length.at(view))
    paths.report(LawFields.L, "L")
    _write_arms(looped, paths)


def unit_tensions(looped: Looped) -> None:
    names = list(looped.model.controlled_paths)
    known = KnownLengths(looped, controlled_kinds(looped.model))
    known.write(dict.fromkeys(("active", "passive", "isometric"), names), tensions_at_one)


def muscle_reports(looped: Looped) -> None:
    known = KnownLengths(looped, reporting_kinds(looped.model), moving=True)
    known.write({"report": looped.model.muscles}, reported)


def imbalances(looped: Looped) -> None:
    known = KnownLengths(looped, elastic_kinds(looped.model), moving=True)
    known.write({"imbalance": elastic(looped.model)}, imbalance)


class KnownLengths:
    """Laws along paths whose lengths and rates are arguments. Laws of one class are rows of a table, for
    paths of any kind.

    Args:
        kinds: kinds of the laws.
        moving: whether they may depend on more than their numbers and lengths: then functions of time and of
            the state are evaluated first.
    """

    def __init__(self, looped: Looped, kinds: list[PathKind], moving: bool = False) -> None:
        if signals := moving and any(kind.signals for kind in kinds):
            place_bodies(looped, moving)
        self.looped, self.rows = looped, PathRows(looped, kinds, known=True)
        forces, places = list(looped.model.forces), list(looped.model.paths)
        self.laws = [forces[i] for kind in kinds for i, _ in kind.members]
        at = [places.index(name) for name in self.laws]
        for window, argument in (("given_L", "L"), ("given_v", "Ldot")):
            looped.window(window, argument, self.rows.first_law, at)

        def begin(kind: PathKind, d: LawKernel, law: PathLaw, view: Any) -> None:
            d.me.L, d.me.v = d.read("given_L", 1), d.read("given_v", 1)

        self.rows.law_pass(begin)
        if signals:
            self.rows.write_signals()

    def write(self, results: dict[str, Sequence[str]], value: Callable[[Any, Any], Sequence[SX]]) -> None:
        """Write results with a number, or a row of numbers, per law. results: the names of its laws for
        each result. value(law, view): one value for each result."""

        def write(kind: PathKind, d: LawKernel, law: PathLaw, view: Any) -> None:
            for result, x in zip(results, value(law, view), strict=True):
                d.writes[f"known_{result}"] = ca.densify(x)

        sizes = dict(self.looped.results)
        for result, names in results.items():
            each = sizes[result] // len(names)
            at = [each * list(names).index(name) for name in self.laws]
            self.looped.window(f"known_{result}", result, self.rows.first_law, at)
        self.rows.law_pass(write)


def controlled_kinds(model: Model) -> list[PathKind]:
    """Tables of all laws with an activation or control; none if some law does not fit a table."""
    return _known_kinds(model, model.controlled_paths, tensions_at_one)


def reporting_kinds(model: Model) -> list[PathKind]:
    """The same for muscles and their reported quantities."""
    return _known_kinds(model, model.muscles, reported)


def elastic_kinds(model: Model) -> list[PathKind]:
    """The same for muscles with elastic tendons and their equilibrium."""
    return _known_kinds(model, elastic(model), imbalance)


def _known_kinds(model: Model, names: Collection[str], value: Any) -> list[PathKind]:
    kinds = kinds_among(model, names, 1, value)
    return kinds if sum(len(kind.members) for kind in kinds) == len(names) else []


def elastic(model: Model) -> list[str]:
    """Names of the muscles with elastic tendons."""
    return [name for name in model.muscles if getattr(model.forces[name], "tendon", "") == "elastic"]


def reported(muscle: Any, view: Any) -> tuple[SX]:
    """All reported quantities of a muscle."""
    return (ca.vertcat(*(x for _, x in muscle.report(view).values())),)


def imbalance(muscle: Any, view: Any) -> tuple[SX]:
    """For an elastic tendon: the imbalance r of its fiber, dr/dl_M, bounds of l_M, and the tendon's state.
    The view gives the fiber's length in place of the tendon's state."""
    l_M = muscle.tendon_state(view)
    f_T, r = muscle.imbalance(view, l_M)
    slope, state = ca.jacobian(r, l_M), muscle.tendon_state_at(l_M, f_T)
    return (ca.vertcat(r, slope, *muscle.bounds(view), state),)


def tensions_at_one(law: Any, view: Any) -> tuple[SX, SX, SX]:
    """For a path with an activation or control: its tension at activation 1 with a rigid tendon, its
    passive tension, and its tension at activation 1 independent of the fiber's length and velocity."""
    if isinstance(law, Muscle):
        return law.active_force(view, ca.SX(1)), law.passive_force(view), sx(law.max_isometric_force)
    return sx(law.optimal_force), ca.SX(0), sx(law.optimal_force)


def _write_arms(looped: Looped, paths: AllPaths) -> None:
    nu = looped.model.tree.nu
    looped.cleared = ("R",)

    def arms(view: Any, path: Any) -> SX:
        loads = UnitWrenches(view)
        path.length.load(view, ca.SX(-1), loads)
        return loads.on_speeds(1).T

    field = RowField[ca.SX](ca.SX.ones(nu, 1), name="arms")
    paths.line(field, arms)
    if paths.loose:
        looped.windows["all_arms"] = "R", nu * paths.numbers
        d = KernelDraft(looped)
        d.writes["all_arms"] = LawFields(d, "me")[field]
        looped.extra_pass({int(looped.types[next(iter(paths.loose.values()))]): d})
    if paths.rows is not None:
        _write_crossings(looped, paths.rows, paths.numbers)


class CrossingKernel(KernelDraft):
    """The kernel of a kind of spans, some of their ends, and a kind of bodies that they cross."""

    def __init__(self, looped: Looped, ends: int, kind: RowKind) -> None:
        super().__init__(looped, RowKind(None, kept=kind.kept))
        self.ends, self.crossed, self.span = ends, self.row("crossed"), SpanFields(self, "span")


def _write_crossings(looped: Looped, paths: PathRows, numbers: np.ndarray) -> None:
    """(1), over rows of spans and the bodies that they cross. numbers: number of each row's path."""
    tree, rows, starts, sides = looped.model.tree, NewRows(looped), list[int](), dict[int, dict[int, Any]]()
    for span, B, each in paths.crossed():
        row = rows.add(len(each), int(looped.types[B + 1]), span=span, crossed=B + 1)
        starts.append(tree.nu * numbers[looped.links["law"][span]] + tree.bodies[B].u.start)
        sides.setdefault(len(each), {})[row] = each
    rows.finish()
    for ends, known in sides.items():
        looped.constants[f"sides{ends}"] = table = np.zeros((len(looped.types), ends))
        table[list(known)] = list(known.values())
    looped.window("arms", "R", rows.first, starts)
    kernels = {}
    for (ends, kind), t in rows.types.items():
        d = kernels[t] = CrossingKernel(looped, ends, looped.kinds[kind])
        F = ca.reshape(d.span.W_0, 6, ends) @ d.read(f"constant.sides{ends}", ends)
        n = F[:3] + ca.cross(d.span.p_0 - d.crossed.p, F[3:])
        arms = ca.vertcat(*(inner(h, (n, F[3:])) for h in d.crossed.H))
        d.writes["arms"] = ca.densify(d.read("arms", arms.numel()) - arms)  # (1)
    looped.extra_pass(kernels)
