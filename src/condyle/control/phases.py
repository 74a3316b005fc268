"""Phases: consecutive problems with linking conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from condyle.arguments import ExplainsCalls
from condyle.arrays import Array
from condyle.collocation.assembly import Assembly, FunctionAtPoints, SparseEntries
from condyle.control.problem import Problem
from condyle.control.transcription import ConstraintRows, ControlProgram
from condyle.errors import DescriptionError, check_name
from condyle.nlp import Bounds

Link = str | Mapping[str, str | tuple[str, float]]
"""Link of two phases: "states", or {variable of the next: variable of the one before, or (it, factor)}."""


class Phases(ExplainsCalls):
    """Consecutive problems that `cd.solve` solves together: stance and flight of a jump, strides.

        from condyle.control import Phases

        jump = Phases([push, flight])
        answer = cd.solve(jump, mesh=[20, 10])

    Objectives are summed. Parameters with the same name have one value. Each phase has its own system,
    bounds, goals and duration.

    Args:
        problems: the problems, in order.
        links: continuity of phases: "states" for all states with the same name, or
            {variable of the next phase: variable of the one before}, with (name, factor) for a multiple,
            such as -1 in a mirror image. One for all, or one for each transition.
        closed: the same from the end of the last phase to the start of the first, for cycles; None: open.

    Raises:
        DescriptionError: fewer than two problems, or links that do not fit.
    """

    def __init__(
        self,
        problems: Sequence[Problem],
        links: Link | Sequence[Link] = "states",
        *,
        closed: Link | None = None,
    ) -> None:
        self.problems = list(problems)
        if len(self.problems) < 2 or not all(isinstance(p, Problem) for p in self.problems):
            raise DescriptionError("Phases: expected two or more problems, Phases([first, second])")
        many = [links] * (len(self.problems) - 1) if isinstance(links, (str, Mapping)) else list(links)
        if len(many) != len(self.problems) - 1:
            raise DescriptionError(
                f"Phases: {len(self.problems)} problems meet in {len(self.problems) - 1} places, and there are "
                f"{len(many)} links"
            )
        self.links, self.closed = many, closed

    def pairs(self, programs: Sequence[ControlProgram]) -> list[tuple[int, int, str, str, float]]:
        """All links: phase that ends, phase that begins, their variables, factor."""
        out = []
        meets = [(k, k + 1, link) for k, link in enumerate(self.links)]
        if self.closed is not None:
            meets.append((len(programs) - 1, 0, self.closed))
        for one, two, link in meets:
            a, b = programs[one].dynamics, programs[two].dynamics
            if isinstance(link, str):
                if link != "states":
                    raise DescriptionError(f"Phases: expected 'states' or names of variables, got {link!r}")
                known = {v.name for v in a.states}
                link = {v.name: v.name for v in b.states if v.name in known}
            for after, value in link.items():
                before, factor = (value, 1.0) if isinstance(value, str) else value
                for name, dynamics in ((after, b), (before, a)):
                    check_name("variable", name, dynamics.index, "Phases: links")
                out.append((one, two, before, after, float(factor)))
        return out


class JoinedProgram:
    """Combined program of all phases.

    Attributes:
        parts: one per phase.
        program: all of them, with their links.
        first: where the unknowns of each phase begin.
        row: where the constraints of each phase begin.
    """

    def __init__(self, phases: Phases, parts: Sequence[ControlProgram]) -> None:
        self.phases, self.parts = phases, list(parts)
        each = [p.program for p in parts]
        self.first = np.concatenate([[0], np.cumsum([p.n for p in parts])]).astype(int)
        self.row = np.concatenate([[0], np.cumsum([p.m for p in parts])]).astype(int)
        n, m0 = int(self.first[-1]), int(self.row[-1])
        groups = [
            FunctionAtPoints(g.function, g.index + start, g.data)
            for p, start in zip(each, self.first, strict=False)
            for g in p.groups
        ]
        A, names, scale = SparseEntries.empty(), list[tuple[str, str]](), list[float]()
        for one, two, before, after, factor in phases.pairs(parts):
            a, b = parts[one], parts[two]
            A.add(len(names), self.first[two] + b.dynamics.index[after], 1.0)
            A.add(len(names), self.first[one] + (a.P - 1) * a.nv + a.dynamics.index[before], -factor)
            v = b.dynamics.variables[b.dynamics.index[after]]
            names.append((f"link of {after} from phase {one + 1} to {two + 1}", v.unit))
            scale.append(1 / v.scale)
        owners: dict[str, int] = {}
        for k, p in enumerate(parts):
            for j, name in enumerate(p.problem.parameters):
                at = int(self.first[k]) + p.P * p.nv + int(p.problem.free) + j
                if name in owners:
                    A.add(len(names), [at, owners[name]], [1.0, -1.0])
                    names.append((f"one value of {name}", ""))
                    scale.append(1 / float(p.program.S[at - int(self.first[k])]))
                owners.setdefault(name, at)
        linked = A.matrix((len(names), n))
        size = sum(p.B.shape[1] for p in each)
        self.links = ConstraintRows(m0, names) if names else None
        zero = np.zeros(len(names))
        self.low = np.concatenate([*(p.low for p in parts), zero])
        self.high = np.concatenate([*(p.high for p in parts), zero])
        self.R = np.concatenate([*(p.R for p in parts), scale])
        self.program = Assembly(
            n,
            groups,
            sparse.vstack([sparse.block_diag([p.A for p in each]), linked]).tocsr(),
            sparse.vstack([_blocks(parts, size), sparse.csr_matrix((len(names), size))]).tocsr(),
            np.concatenate([p.a for p in each]),
            np.concatenate([p.b for p in each]),
            np.concatenate([p.S for p in each]),
            self.R,
        )
        self.n, self.m = n, m0 + len(names)

    @property
    def bounds(self) -> Bounds:
        """Bounds in the form for the solver."""
        low, high = (np.concatenate([p.box[i] for p in self.parts]) for i in (0, 1))
        S = self.program.S
        return Bounds(low / S, high / S, self.R * self.low, self.R * self.high)

    def part(self, x: Array, k: int) -> Array:
        """Unknowns of a phase."""
        return x[self.first[k] : self.first[k + 1]]


def _blocks(parts: Sequence[ControlProgram], size: int) -> sparse.csr_matrix:
    made = sparse.block_diag([p.program.B for p in parts]).tocsr()
    assert made.shape[1] == size
    return made
