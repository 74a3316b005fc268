"""Lengths, speeds and moment arms of paths in the looped layout.

All paths whose spans may be rows are (path_rows.py); the others are one straight line. For moment arms each
span has a row per body B with speeds that it crosses: some of the bodies that it touches are at or beyond B,
and some are not. With W_i, what a unit force on the span's length exerts on body i, and hinge axes H_k of B,

    R_k -= H_k . (sum of W_i over bodies at or beyond B)                                                   (1)
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from condyle.constraints.solve.equations import Wrenches
from condyle.dynamics.inertia import inner
from condyle.forces.path import PathLaw
from condyle.laws.described import sx
from condyle.model.looped.between import StraightLine
from condyle.model.looped.draft import Draft, packed, unpacked
from condyle.model.looped.passes import at_rest
from condyle.model.looped.path_laws import PathKind, is_row, kinds_among
from condyle.model.looped.path_rows import PathRows
from condyle.model.looped.tables import Looped
from condyle.model.model import Model
from condyle.muscles import Muscle
from condyle.native.loops.sweep import RowKernel


class AllPaths:
    """The rows of all paths of a model, made after the pass that gives bodies their poses.

    Attributes:
        rows: of the paths whose spans are rows; None if there are none.
        loose: rows of the other paths, by name.
    """

    def __init__(self, looped: Looped, moving: bool) -> None:
        self.looped, model = looped, looped.model

        def prepare(d: Draft) -> None:
            d.kinematics(moving, positions=True)

        looped.outward(prepare, at_rest)
        laws = [(i, law) for i, law in enumerate(model.forces.values()) if isinstance(law, PathLaw)]
        number = {i: n for n, (i, _) in enumerate(laws)}
        tabled = [(i, law) for i, law in laws if is_row(model, law)]
        self.rows = PathRows(looped, [PathKind(tabled[0][1], tuple(tabled), (), (), ())]) if tabled else None
        others = [i for i, law in laws if not is_row(model, law)]
        self._type, first = looped.fresh_type, len(looped.types)
        looped.add_rows(np.full(len(others), self._type), np.zeros(len(others), dtype=np.int64), {})
        names = list(model.forces)
        self.loose = {names[i]: first + k for k, i in enumerate(others)}
        self.numbers = np.zeros(len(looped.types), dtype=np.int64)  # of the paths, by row
        if self.rows is not None:
            self.numbers[self.rows.rows] = [number[i] for i, _ in tabled]
            self.rows.lengths(moving)
        self.numbers[first:] = [number[i] for i in others]

    def line(self, field: str, value: Any) -> None:
        """A field of the rows of the other paths: value(view, path)."""
        if self.loose:
            line = StraightLine(self.looped)
            view = line.symbols.view(line.kin)
            line.write(
                {
                    (row, field): ca.densify(value(view, self.looped.model.paths[name]))
                    for name, row in self.loose.items()
                }
            )

    def report(self, field: str, result: str) -> None:
        """A field of all paths as a result."""
        self.looped.windows["of_path"] = result, self.numbers
        types = [*(self.rows.types[:1].tolist() if self.rows else ()), *([self._type] if self.loose else ())]
        kernels = {}
        for t in types:
            d = self.looped.draft()
            d.writes["of_path"] = d.read(f"me.{field}", 1)
            kernels[t] = RowKernel(d.reads, d.writes)
        self.looped.extra_pass(kernels)


def path_lengths(looped: Looped) -> None:
    paths = AllPaths(looped, moving=False)
    paths.line("L", lambda view, path: path.length.at(view))
    paths.report("L", "L")


def path_speeds(looped: Looped) -> None:
    paths = AllPaths(looped, moving=True)
    paths.line("v", lambda view, path: path.length.rate(view))
    paths.report("v", "Ldot")


def moment_arms(looped: Looped) -> None:
    _write_arms(looped, AllPaths(looped, moving=False))


def path_geometry(looped: Looped) -> None:
    paths = AllPaths(looped, moving=False)
    paths.line("L", lambda view, path: path.length.at(view))
    paths.report("L", "L")
    _write_arms(looped, paths)


def unit_tensions(looped: Looped) -> None:
    """Laws of one class are rows of a table here too; their lengths and rates are arguments."""
    model = looped.model
    rows = PathRows(looped, controlled_kinds(model))
    places, names = list(model.paths), list(model.controlled_paths)
    forces = list(model.forces)
    laws = [forces[i] for kind in rows.kinds for i, _ in kind.members]
    for window, argument, among in (
        ("given_L", "L", places),
        ("given_v", "Ldot", places),
        *((f"unit_{r}", r, names) for r in ("active", "passive", "isometric")),
    ):
        at = np.zeros(len(looped.types), dtype=np.int64)
        at[rows.rows] = [among.index(name) for name in laws]
        looped.windows[window] = argument, at

    def begin(kind: PathKind, d: Draft, law: PathLaw, view: Any) -> None:
        d.writes |= {"me.L": d.read("given_L", 1), "me.v": d.read("given_v", 1)}

    def write(kind: PathKind, d: Draft, law: PathLaw, view: Any) -> None:
        for result, x in zip(("active", "passive", "isometric"), tensions_at_one(law, view), strict=True):
            d.writes[f"unit_{result}"] = ca.densify(x)

    rows.law_pass(begin)
    rows.law_pass(write)


def controlled_kinds(model: Model) -> list[PathKind]:
    """Tables of all laws with an activation or control; none if some of them fit in no table."""
    kinds = kinds_among(model, model.controlled_paths, 1)
    return kinds if sum(len(kind.members) for kind in kinds) == len(model.controlled_paths) else []


def tensions_at_one(law: Any, view: Any) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Of a path with an activation or control: its tension at 1 with a rigid tendon, its passive tension, and
    its tension at 1 without the fiber's length and velocity."""
    if isinstance(law, Muscle):
        return law.active_force(view, ca.SX(1)), law.passive_force(view), sx(law.max_isometric_force)
    return sx(law.optimal_force), ca.SX(0), sx(law.optimal_force)


def _write_arms(looped: Looped, paths: AllPaths) -> None:
    nu = looped.model.tree.nu
    looped.cleared = ("R",)

    def arms(view: Any, path: Any) -> ca.SX:
        loads = Wrenches(view)
        path.length.load(view, ca.SX(-1), loads)
        return loads.on_speeds(1).T

    paths.line("arms", arms)
    if paths.loose:
        looped.windows["all_arms"] = "R", nu * paths.numbers
        d = looped.draft()
        d.writes["all_arms"] = d.read("me.arms", nu)
        looped.extra_pass({int(looped.types[next(iter(paths.loose.values()))]): RowKernel(d.reads, d.writes)})
    if paths.rows is not None:
        _Crossings(looped, paths.rows).write(paths.numbers)


class _Crossings:
    """Rows of spans and the bodies that they cross."""

    def __init__(self, looped: Looped, rows: PathRows) -> None:
        self.looped, self.crossed = looped, list(rows.crossed())
        self.kinds: dict[tuple[int, int], int] = {}
        first, fresh, types = len(looped.types), looped.fresh_type, []
        for _, B, sides in self.crossed:
            key = len(sides), int(looped.types[B + 1])
            types.append(self.kinds.setdefault(key, fresh + len(self.kinds)))
        links = {
            "span": {first + k: row for k, (row, _, _) in enumerate(self.crossed)},
            "crossed": {first + k: B + 1 for k, (_, B, _) in enumerate(self.crossed)},
        }
        looped.add_rows(np.array(types, dtype=np.int64), np.zeros(len(types), dtype=np.int64), links)
        for ends in {len(sides) for _, _, sides in self.crossed}:
            looped.constants[f"sides{ends}"] = table = np.zeros((len(looped.types), ends))
            for k, (_, _, sides) in enumerate(self.crossed):
                if len(sides) == ends:
                    table[first + k] = sides
        self.first = first

    def write(self, paths: np.ndarray) -> None:
        """(1); paths: the number of each row's path."""
        looped, tree = self.looped, self.looped.model.tree
        law = looped.links.get("law")
        starts = np.zeros(len(looped.types), dtype=np.int64)
        for k, (row, B, _) in enumerate(self.crossed):
            assert law is not None
            starts[self.first + k] = tree.nu * paths[law[row]] + tree.bodies[B].u.start
        looped.windows["arms"] = "R", starts
        kernels = {}
        for (ends, kind), t in self.kinds.items():
            d = looped.draft()
            self._arms(d, ends, looped.kinds[kind].kept["H"])
            kernels[t] = RowKernel(d.reads, d.writes)
        looped.extra_pass(kernels)

    def _arms(self, d: Draft, ends: int, like: Any) -> None:
        sides, W = d.read(f"constant.sides{ends}", ends), d.read("span.W_0", 6 * ends)
        F = ca.reshape(W, 6, ends) @ sides
        n = F[:3] + ca.cross(d.read("span.p_0", 3) - d.read("crossed.p", 3), F[3:])
        H = unpacked(like, d.read("crossed.H", packed(like).numel()))
        arms = ca.vertcat(*(inner(h, (n, F[3:])) for h in H))
        d.writes["arms"] = ca.densify(d.read("arms", arms.numel()) - arms)  # (1)
