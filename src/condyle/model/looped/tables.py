"""A tree as tables: one kernel per type of body, run over all bodies by native loops
(condyle.native.loops.sweep).

Row 0 is ground, row B + 1 is body B. Bodies are of one type if their mobilizers have the same equations up to
numbers (condyle.mobilizers.patterns), if the same of their numbers depend on Parameters, and if both or none
are driven by motions. Machine code grows with the number of types, not of bodies. The equations are those of
the unrolled layout, from the same functions, traced once per type over symbols that stand for the fields of a
row. (A type of its own for frames that are not turned, R_PF = 1, was measured: 2 % faster for one state, not
for many.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from condyle.mobilizers import NumberedMobilizer
from condyle.model.looped.draft import SIZES, Draft, Kind
from condyle.model.looped.law_rows import LawKind, law_kinds
from condyle.model.looped.path_laws import path_kinds
from condyle.model.looped.path_rows import PathRows
from condyle.model.model import Model
from condyle.native.loops.schedule import join_passes, share_levels
from condyle.native.loops.sweep import RowKernel, RowPass, StraightStep, Sweep

Write = Callable[[Draft], None]


class Looped:
    """A model as tables; passes over them are added one by one, and `rows` makes the whole.

    Args:
        model: what operators are made of.
        arguments: names and sizes of an operator's.
        results: the same.
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
        """Tables of constants, and the type of every row."""
        model, bodies = self.model, self.model.tree.bodies
        n = 1 + len(bodies)
        self.constants = {name: np.zeros((n, size)) for name, size in SIZES.items()}
        self.constants["number"] = np.zeros((n, 1))
        self.kinds, self.types = [Kind(None)], np.zeros(n, dtype=np.int64)
        found: dict[Any, list[int]] = {}
        for row, (body, pattern, placed) in enumerate(
            zip(bodies, model.patterns, model.placed, strict=True), start=1
        ):
            varying = tuple(name for name in SIZES if isinstance(getattr(placed, name), ca.SX))
            for name in SIZES:
                value = getattr(placed, name)
                if name not in varying:
                    self.constants[name][row] = (
                        np.hstack(value) if name == "I" else np.ravel(value, order="F")
                    )
            found.setdefault((pattern.key, varying, body.motion is not None), []).append(row)
            self.constants["number"][row] = body.u.start + 1
        for (_, varying, driven), rows in found.items():
            self.types[rows] = len(self.kinds)
            mobilizer = bodies[rows[0] - 1].mobilizer
            kind = Kind(mobilizer, varying, driven)
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
        """A pass base to tip: `write` for bodies, `ground` for row 0, which comes first."""
        self._pass(write, ground, backwards=False)

    def inward(self, write: Write, ground: Write) -> None:
        """A pass tip to base; ground comes last."""
        self._pass(write, ground, backwards=True)

    def _pass(self, write: Write, ground: Write, backwards: bool) -> None:
        drafts = [Draft(self, kind) for kind in self.kinds]
        for draft, each in zip(drafts, [ground] + [write] * (len(drafts) - 1), strict=True):
            each(draft)
        self._steps.append(RowPass([RowKernel(d.reads, d.writes) for d in drafts], backwards))

    def line(self, reads: Mapping[Any, ca.SX], writes: Mapping[Any, ca.SX]) -> None:
        if writes:
            self._steps.append(StraightStep(dict(reads), dict(writes)))

    def rows(self) -> Sweep:
        """Everything that is read is written, and nothing else."""
        steps = join_passes(_needed(self._steps, self.types, self.links), self.types, self.parents)
        if (short := share_levels(steps)) is not None:
            steps = short
            self._add_levels()
        return Sweep(
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
        """A row for each level of the tree, and links to a row's level and to its parent's."""
        n = len(self.types)
        depth = np.zeros(n, dtype=np.int64)
        for row in range(1, n):
            depth[row] = depth[self.parents[row]] + 1
        levels = int(depth.max()) + 1
        none = np.full(levels, -1)
        self.links = {name: np.concatenate([link, none]) for name, link in self.links.items()}
        self.links |= {
            "level": np.concatenate([n + depth, none]),
            "above": np.concatenate([n + depth[self.parents], none]),
        }
        self._add_rows(np.full(levels, self.fresh_type))

    def _add_rows(self, types: np.ndarray) -> None:
        """More rows of some types, on ground, with windows and constants that nobody reads."""
        more = len(types)
        self.types = np.concatenate([self.types, types])
        self.parents = np.concatenate([self.parents, np.zeros(more, dtype=np.int64)])
        self.windows = {
            name: (argument, np.concatenate([at, np.zeros(more, dtype=np.int64)]) if np.ndim(at) else at)
            for name, (argument, at) in self.windows.items()
        }
        self.constants = {
            name: np.concatenate([x, np.zeros((more, x.shape[1]))]) for name, x in self.constants.items()
        }

    # ---- laws that are rows

    @cached_property
    def law_kinds(self) -> list[LawKind]:
        """Laws in tables; asking for them gives them rows."""
        kinds = law_kinds(self.model)
        counts = [len(kind.members) for kind in kinds]
        if not kinds:
            return kinds
        bodies, first = len(self.types), np.cumsum([len(self.types), *counts])
        rows = {
            link: {
                int(first[k]) + i: int(row)
                for k, kind in enumerate(kinds)
                if link in kind.links
                for i, row in enumerate(kind.rows(self.model, link))
            }
            for kind in kinds
            for link in kind.links
        }
        self.add_rows(
            np.repeat(self.fresh_type + np.arange(len(kinds)), counts),
            np.zeros(sum(counts), dtype=np.int64),
            rows,
        )
        switches = np.array([i for kind in kinds for i, _ in kind.members])
        start = self.model.tail["enabled"].start
        self.windows["on"] = "tail", np.concatenate([np.zeros(bodies, dtype=np.int64), start + switches])
        states = np.cumsum([0, *(len(force.states) for force in self.model.forces.values())])[switches]
        for name, (argument, begin) in self.of_states("own_z", "own_zdot").items():
            self.windows[name] = argument, np.concatenate([np.zeros(bodies, dtype=np.int64), begin + states])
        for k, kind in enumerate(kinds):
            for name, x in kind.columns(self.model).items():
                self.constants[f"law{k}.{name}"] = np.zeros((len(self.types), x.shape[1]))
                self.constants[f"law{k}.{name}"][first[k] : first[k + 1]] = x
        return kinds

    def of_states(self, *names: str) -> dict[str, tuple[str, int]]:
        """Which argument or result holds auxiliary states ("..._z"), their rates ("..._zdot") or derivatives
        by them ("..._d_z"), and where they begin; without those that there are not."""
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
        """More rows, with the windows of the rows that they are `like`, and where their links lead, by
        row."""
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

    def extra_pass(self, kernels: Mapping[int, RowKernel], backwards: bool = False) -> None:
        """A pass over rows that are no bodies, by type."""
        if kernels:
            self._steps.append(RowPass([kernels.get(t) for t in range(1 + max(kernels))], backwards))

    def law_pass(
        self, add: Callable[[LawKind, Draft, Mapping[str, ca.SX]], dict[str, ca.SX]]
    ) -> frozenset[int]:
        """A pass of the laws in tables, in which add(kind, draft, numbers) says what one adds to which field
        of the rows of its bodies, by place; which laws these are."""
        kernels: list[RowKernel | None] = [None] * len(self.kinds)
        for k, kind in enumerate(self.law_kinds):
            d = Draft(self, Kind(None))
            sizes = {name: x.shape[1] for name, x in kind.columns(self.model).items()}
            column = {name: d.read(f"constant.law{k}.{name}", size) for name, size in sizes.items()}
            adds = add(kind, d, column)
            kernels.append(RowKernel(d.reads, d.writes, adds))
        if self.law_kinds:
            self._steps.append(RowPass(kernels))
        return frozenset(i for kind in self.law_kinds for i, _ in kind.members)

    @cached_property
    def path_rows(self) -> PathRows | None:
        """Laws along paths in tables; asking for them gives them rows."""
        self.law_kinds  # noqa: B018  these have the first types
        kinds = path_kinds(self.model)
        return PathRows(self, kinds) if kinds else None

    def draft(self) -> Draft:
        """A kernel of rows that are no bodies, to be written."""
        return Draft(self, Kind(None))

    @property
    def tabled(self) -> frozenset[int]:
        """Laws in tables, by their places among the forces."""
        return frozenset(i for kind in self.law_kinds for i, _ in kind.members) | (
            self.path_rows.members if self.path_rows else frozenset()
        )

    def apply_law_rows(self, into: str, sign: int, rates: bool = False) -> frozenset[int]:
        """Passes that add sign times the loads of the laws in tables to a field, and with `rates` write the
        rates of auxiliary states of those along paths; which laws these are."""
        self.law_pass(
            lambda kind, d, column: {
                f"{link}.{into}": ca.densify(ca.vertcat(sign * n, sign * f))
                for link, (n, f) in kind.loads(d, column).items()
            }
        )
        if (paths := self.path_rows) is not None:
            paths.lengths()
            paths.tensions(rates=rates)
            paths.push(into, sign)
        return self.tabled

    def law_rates(self, paths: bool = True) -> None:
        """Passes that write the rates of the auxiliary states of the laws in tables; those along `paths` may
        be known already."""
        if paths and self.path_rows is not None:
            self.path_rows.lengths()
            self.path_rows.tensions(forces=False, rates=True)

        def write(kind: LawKind, d: Draft, column: Mapping[str, ca.SX]) -> dict[str, ca.SX]:
            if kind.law.states:
                d.writes["own_zdot"] = ca.densify(kind.rates(d, column))
            return {}

        self.law_pass(write)


_PER_BODY = {"X_GB": 12, "V_GB": 6, "A_GB": 6, "F": 6, "C": 36}
_SIDE_BY_SIDE = ("du", "along")
"""One column of speeds after the other."""
_PER_SPEED = ("u", "weights", "g", "tau", "udot", "f", "Mf", "cotangent", "d_q", "d_u", "d_tau")


def _needed(
    steps: Sequence[RowPass | StraightStep], types: np.ndarray, links: Mapping[str, Any]
) -> list[RowPass | StraightStep]:
    """The steps without fields that nobody reads."""
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
