"""A tree as tables: one kernel per type of body, run over all bodies by native loops
(condyle.native.loops.sweep).

Row 0 is ground, row B + 1 is body B. Bodies are of one type if their mobilizers have the same equations up to
numbers (condyle.mobilizers.patterns), if the same of their numbers depend on Parameters, and if both or none
are driven by motions. Machine code grows with the number of types, not of bodies. The equations are those of
the unrolled layout, from the same functions, traced once per type over symbols that stand for the fields of a
row. (A separate type for unrotated frames, R_PF = 1, was 2 % faster for one state, but not for many.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import SX
from condyle.mobilizers import NumberedMobilizer
from condyle.model.looped.draft import SIZES, Draft, KernelDraft, RowKind
from condyle.model.looped.law_rows import LawKind, law_kinds
from condyle.model.looped.path_kinds import path_kinds
from condyle.model.looped.path_rows import PathRows
from condyle.model.model import Model
from condyle.native.loops.pass_order import join_passes, share_levels
from condyle.native.loops.sweep import RowKernel, RowPass, StraightStep, TableSweep

Write = Callable[[Draft], None]


class Looped:
    """A model as tables; passes are added one by one, and `rows` builds the sweep.

    Args:
        model: the model.
        arguments: names and sizes of the operator's arguments.
        results: names and sizes of its results.
    """

    def __init__(
        self, model: Model, arguments: Sequence[tuple[str, int]], results: Sequence[tuple[str, int]]
    ) -> None:
        self.model, self.arguments, self.results = model, arguments, results
        tree = model.tree
        part = model.tail
        self.outside = {
            name: registry.symbols
            for name, registry in (
                ("parameters", tree.parameters),
                ("inputs", tree.inputs),
                ("discrete", tree.discrete),
            )
            if len(registry)
        }
        self.parents = np.array([0, *(0 if b.parent is None else b.parent.index + 1 for b in tree.bodies)])
        q, u, bodies = (
            np.array([0, *x], dtype=np.int64)
            for x in ([b.q.start for b in tree.bodies], [b.u.start for b in tree.bodies], tree.base_to_tip)
        )
        self.windows: dict[str, tuple[str, Any]] = {
            name: ("tail", part[name].start) for name in ("t", "enabled", "parameters", "inputs", "discrete")
        }
        self.windows |= {name: ("tail", part[name].start + u) for name in ("lock", "held")}
        if len(tree.parameters):
            self.windows["table"] = (
                "tail",
                part["table"].start + np.array([0, *model.tabulated.starts], dtype=np.int64),
            )
        for name, size in (*arguments, *results):
            if name in ("q", "qdot"):
                self.windows[name] = name, q
            elif name in _PER_BODY:
                self.windows[name] = name, _PER_BODY[name] * bodies
            elif name in _SIDE_BY_SIDE:
                self.windows |= {
                    f"{name}{j}": (name, j * tree.nu + u) for j in range(size // max(tree.nu, 1))
                }
            elif name == "ydot":  # rates of q, u and z below each other
                self.windows |= {
                    "qdot": (name, q),
                    "udot": (name, tree.nq + u),
                    "zdot": (name, tree.nq + tree.nu),
                }
            elif name != "tail":
                self.windows[name] = name, u if name in _PER_SPEED else 0
        self._sort()
        self.links: dict[str, np.ndarray] = {}
        self.cleared: tuple[str, ...] = ()  # results that begin with zeros
        self._steps: list[RowPass | StraightStep] = []

    def _sort(self) -> None:
        """Make the tables of constants, and find the type of every row."""
        model, bodies = self.model, self.model.tree.bodies
        n = 1 + len(bodies)
        held = float if model.stored is None else object
        self.constants = {name: np.zeros((n, size), held) for name, size in SIZES.items()}
        self.constants["number"] = np.zeros((n, 1))
        self.kinds, self.types = [RowKind(None)], np.zeros(n, dtype=np.int64)
        found: dict[Any, list[int]] = {}
        for row, (body, pattern) in enumerate(zip(bodies, model.patterns, strict=True), start=1):
            varying = tuple(name for name in SIZES if model.varies(body.name, name))
            for name in SIZES:
                if name not in varying:
                    self.constants[name][row] = model.row(row - 1, name)
            found.setdefault((pattern.key, varying, body.motion is not None), []).append(row)
            self.constants["number"][row] = body.u.start + 1
        for (_, varying, driven), rows in found.items():
            self.types[rows] = len(self.kinds)
            mobilizer = bodies[rows[0] - 1].mobilizer
            kind = RowKind(mobilizer, varying, driven)
            if len({model.mobilizers[row - 1] for row in rows}) > 1:
                numbered = kind.mobilizer = NumberedMobilizer(
                    mobilizer, [model.patterns[row - 1] for row in rows]
                )
                name = f"numbers{len(self.kinds)}"
                self.constants[name] = np.zeros((n, numbered.table.shape[1]))
                self.constants[name][rows] = numbered.table
                kind.numbers[f"constant.{name}"] = numbered.symbols
            self.kinds.append(kind)

    # ---- steps

    def outward(self, write: Write, ground: Write) -> None:
        """Add a pass base to tip: `write` for bodies, `ground` for row 0, which comes first."""
        self._pass(write, ground, backwards=False)

    def inward(self, write: Write, ground: Write) -> None:
        """Add a pass tip to base; ground comes last."""
        self._pass(write, ground, backwards=True)

    def _pass(self, write: Write, ground: Write, backwards: bool) -> None:
        drafts = [Draft(self, kind) for kind in self.kinds]
        for draft, each in zip(drafts, [ground] + [write] * (len(drafts) - 1), strict=True):
            each(draft)
        self._steps.append(RowPass([d.finished() for d in drafts], backwards))

    def line(self, reads: Mapping[Any, SX], writes: Mapping[Any, SX]) -> None:
        if writes:
            self._steps.append(StraightStep(dict(reads), dict(writes)))

    def rows(self) -> TableSweep:
        """Build the sweep, without fields that are not read."""
        steps = join_passes(_needed(self._steps, self.types, self.links), self.types, self.parents)
        if (short := share_levels(steps)) is not None:
            steps = short
            self._add_levels()
        return TableSweep(
            self.types,
            self.parents,
            self.constants,
            self.windows,
            list(self.arguments),
            list(self.results),
            steps,
            self.links,
            self.cleared,
        )

    def _add_levels(self) -> None:
        """Add a row for each level of the tree, and links from each row to its level and to that of its
        parent."""
        n = len(self.types)
        depth = np.zeros(n, dtype=np.int64)
        for row in range(1, n):
            depth[row] = depth[self.parents[row]] + 1
        levels = int(depth.max()) + 1
        self.links |= {"level": n + depth, "above": n + depth[self.parents]}
        self.add_rows(np.full(levels, self.fresh_type), np.zeros(levels, dtype=np.int64), {})
        self.constants = {
            name: np.concatenate([x, np.zeros((levels, x.shape[1]))]) for name, x in self.constants.items()
        }

    # ---- laws that are rows

    @cached_property
    def law_kinds(self) -> list[LawKind]:
        """Laws in tables; the first use creates their rows."""
        kinds = law_kinds(self.model)
        if not kinds:
            return kinds
        rows, members = NewRows(self), [member for kind in kinds for member in kind.members]
        first = len(self.types)
        for k, kind in enumerate(kinds):
            reached = [kind.rows(self.model, link) for link in kind.links]
            for leads in zip(*reached, strict=True) if reached else [()] * len(kind.members):
                rows.add(k, **dict(zip(kind.links, map(int, leads), strict=True)))
        rows.finish()
        switches = np.array([i for i, _ in members])
        self.window("on", "tail", first, self.model.tail["enabled"].start + switches)
        states = np.cumsum([0, *(len(force.states) for force in self.model.forces.values())])[switches]
        for name, (argument, begin) in self.of_states("own_z", "own_zdot").items():
            self.window(name, argument, first, begin + states)
        for k, kind in enumerate(kinds):
            for name, x in kind.columns(self.model).items():
                self.constant(f"law{k}.{name}", first, x)
            first += len(kind.members)
        return kinds

    def of_states(self, *names: str) -> dict[str, tuple[str, int]]:
        """Names of arguments or results with auxiliary states ("..._z"), their rates ("..._zdot") or
        derivatives by them ("..._d_z"), and where they begin.
        """
        places: dict[str, tuple[str, int]] = {"z": ("tail", self.model.tail["z"].start), "d_z": ("d_z", 0)}
        if "zdot" in self.windows:
            places["zdot"] = self.windows["zdot"]
        given = dict((*self.arguments, *self.results))
        found = {name: places.get(name.partition("_")[2]) for name in names}
        return {name: place for name, place in found.items() if place is not None and place[0] in given}

    @property
    def fresh_type(self) -> int:
        """The first type that neither a row nor a kernel has yet."""
        kernels = (len(step.kernels) for step in self._steps if isinstance(step, RowPass))
        return max(len(self.kinds), 1 + int(self.types.max()), *kernels)

    def add_rows(self, types: np.ndarray, like: np.ndarray, links: Mapping[str, Mapping[int, int]]) -> None:
        """Add rows with the windows of the rows `like`. links: targets of their links, by row."""
        more = len(types)
        self.types = np.concatenate([self.types, types])
        self.parents = np.concatenate([self.parents, np.zeros(more, dtype=np.int64)])
        self.windows = {
            name: (argument, np.concatenate([at, at[like]]) if np.ndim(at) else at)
            for name, (argument, at) in self.windows.items()
        }
        self.links = {name: np.concatenate([link, np.full(more, -1)]) for name, link in self.links.items()}
        for name, leads in links.items():
            link = self.links.setdefault(name, np.full(len(self.types), -1))
            link[list(leads)] = list(leads.values())

    def extra_pass(self, kernels: Mapping[int, KernelDraft], backwards: bool = False) -> None:
        """Add a pass over rows other than bodies. kernels: by type."""
        if kernels:
            finished = {t: kernel.finished() for t, kernel in kernels.items()}
            self._steps.append(RowPass([finished.get(t) for t in range(1 + max(finished))], backwards))

    def window(self, name: str, argument: str, first: int, at: Any) -> None:
        """Set where rows from `first` on begin in an argument or result; other rows may have this window
        already."""
        places = np.zeros(len(self.types), dtype=np.int64)
        if name in self.windows:
            known = self.windows[name][1]
            places[: len(known)] = known
        places[first : first + len(at)] = at
        self.windows[name] = argument, places

    def constant(self, name: str, first: int, x: np.ndarray) -> None:
        """Set numbers of the rows from `first` on, shape (rows, size)."""
        self.constants[name] = table = np.zeros((len(self.types), x.shape[1]), x.dtype)
        table[first : first + len(x)] = x

    def law_pass(self, write: Callable[[LawKind, KernelDraft, Mapping[str, SX]], None]) -> None:
        """Add a pass over the laws in tables: write(kind, kernel, numbers)."""
        kernels = {}
        for k, kind in enumerate(self.law_kinds):
            d = KernelDraft(self)
            sizes = {name: x.shape[1] for name, x in kind.columns(self.model).items()}
            write(kind, d, {name: d.read(f"constant.law{k}.{name}", n) for name, n in sizes.items()})
            kernels[len(self.kinds) + k] = d
        self.extra_pass(kernels)

    @cached_property
    def path_rows(self) -> PathRows | None:
        """Laws along paths in tables; the first use creates their rows."""
        self.law_kinds  # noqa: B018  these have the first types
        kinds = path_kinds(self.model)
        return PathRows(self, kinds) if kinds else None

    @property
    def tabled(self) -> frozenset[int]:
        """Places among the forces of the laws in tables."""
        return frozenset(i for kind in self.law_kinds for i, _ in kind.members) | (
            self.path_rows.members if self.path_rows else frozenset()
        )

    def apply_law_rows(self, into: Any, sign: int, rates: bool = False) -> frozenset[int]:
        """Add passes that add sign times the loads of the laws in tables to a field of the bodies and, with
        `rates`, write the rates of auxiliary states of laws along paths; returns the places of these
        laws."""

        def push(kind: LawKind, d: KernelDraft, column: Mapping[str, SX]) -> None:
            for link, (n, f) in kind.loads(d, column).items():
                d.add(d.row(link), into, (sign * n, sign * f))

        self.law_pass(push)
        if (paths := self.path_rows) is not None:
            paths.lengths()
            paths.tensions(rates=rates)
            paths.push(into, sign)
        return self.tabled

    def law_rates(self, paths: bool = True) -> None:
        """Add passes that write the rates of the auxiliary states of the laws in tables; without `paths`,
        laws along paths are left out."""
        if paths and self.path_rows is not None:
            self.path_rows.lengths()
            self.path_rows.tensions(forces=False, rates=True)

        def write(kind: LawKind, d: KernelDraft, column: Mapping[str, SX]) -> None:
            if kind.law.states:
                d.writes["own_zdot"] = ca.densify(kind.rates(d, column))

        self.law_pass(write)


class NewRows:
    """Rows other than bodies, being added to a Looped.

    Attributes:
        types: types of rows, by their keys.
    """

    def __init__(self, looped: Looped) -> None:
        self.looped, self.first, self._fresh = looped, len(looped.types), looped.fresh_type
        self.types: dict[tuple[Any, ...], int] = {}
        self._types, self._like = list[int](), list[int]()
        self._links: dict[str, dict[int, int]] = {}

    def add(self, *key: Any, like: int = 0, **links: int) -> int:
        """Add a row of the type of this key, with the windows of the row `like`. links: targets of its
        links. Returns the row's number."""
        row = self.first + len(self._types)
        self._types.append(self.types.setdefault(key, self._fresh + len(self.types)))
        self._like.append(like)
        for name, to in links.items():
            self._links.setdefault(name, {})[row] = to
        return row

    def link(self, name: str, leads: Mapping[int, int]) -> None:
        """Set links of rows that exist already."""
        self._links.setdefault(name, {}).update(leads)

    def finish(self) -> None:
        types, like = (np.array(x, dtype=np.int64) for x in (self._types, self._like))
        self.looped.add_rows(types, like, self._links)


_PER_BODY = {"X_GB": 12, "V_GB": 6, "A_GB": 6, "F": 6, "C": 36}
_SIDE_BY_SIDE = ("du", "along")
"""Arguments and results with one column of speeds after the other."""
_PER_SPEED = ("u", "weights", "g", "tau", "udot", "f", "Mf", "cotangent", "d_q", "d_u", "d_tau")


def _needed(
    steps: Sequence[RowPass | StraightStep], types: np.ndarray, links: Mapping[str, Any]
) -> list[RowPass | StraightStep]:
    """The steps without unread fields."""
    used: set[tuple[Any, str]] = set()  # (type, field), or (None, field) for all types
    for s in steps:
        if isinstance(s, StraightStep):
            used |= {(types[p[0]], p[1]) for p in s.reads if isinstance(p, tuple)}
            continue
        for t, kernel in enumerate(s.kernels):
            for place in kernel.reads if kernel else ():
                where, _, name = place.partition(".")
                used.add(
                    ({"me": t, "parent": None, "root": types[0], **dict.fromkeys(links)}.get(where, t), name)
                )

    def keep(t: int, kernel: RowKernel | None) -> RowKernel | None:
        if kernel is None:
            return None
        writes = {
            place: x
            for place, x in kernel.writes.items()
            if not place.startswith("me.") or (t, place[3:]) in used or (None, place[3:]) in used
        }
        return RowKernel(kernel.reads, writes, kernel.adds) if writes or kernel.adds else None

    return [
        s
        if isinstance(s, StraightStep)
        else RowPass([keep(t, k) for t, k in enumerate(s.kernels)], s.backwards)
        for s in steps
    ]
