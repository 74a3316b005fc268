"""The motions that `simulate.py` times: what moves, from which state, for how long, and where it is at the
end.

References are our own runs at 1e-12 by the method of order 8, or closed forms; tests/verification holds these
against published and other programs' numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import chains
from benchmarks.plain import Array, Model, plain
from benchmarks.trees import condyle_system, random_tree


@dataclass(frozen=True)
class Motion:
    """A system that moves until t_final [s].   lines: see plain.plain.   tree: nothing closes loops."""

    name: str
    system: Any
    start: Any
    t_final: float
    lines: tuple[tuple[Any, ...], ...] = ()

    @property
    def bodies(self) -> int:
        return len(self.system.bodies)

    @property
    def tree(self) -> bool:
        return not self.system.constraints

    def plain(self) -> Model:
        return plain(self.name, self.system, self.start.q, self.start.u, self.lines)

    def exact(self) -> Array:
        """q at the end."""
        import condyle as cd

        # order 8 takes long to compile there
        method = "dormand-prince" if self.bodies > 100 else "dormand-prince-8"
        traj = cd.simulate(self.system, self.start, self.t_final, accuracy=1e-12, integrator=method)
        if not traj.finished:
            raise RuntimeError(f"{self.name}: {traj.status}")
        return traj.q[-1]


def tree_of_30() -> Motion:
    tree = random_tree(30, states=1)
    system = condyle_system(tree)
    return Motion("tree of 30", system, system.state(q=tree.q[0], u=tree.u[0]), 2.0)


def eleven_chains() -> Motion:
    return Motion("11 chains, 221", *chains.system(), 5.0)


def four_bars(N: int) -> Motion:
    """N windows that swing below, from rest. Through flat, where all loops lose rank, OpenSim folds them."""
    from tests.verification import mechanisms

    system = mechanisms.four_bars(N)
    q, u = mechanisms.four_bars_state(N, 2.2, 0.0)
    return Motion(f"{N} four-bars", system, system.state(q=q, u=u), 10.0)


def bricard() -> Motion:
    """OpenSim closes it by a point and by another of the hinge's axis on a line: five equations, as ours."""
    from tests.verification.mechanisms import CORNER
    from tests.verification.mechanisms import bricard as made

    system = made()
    line = ("ground", CORNER[5], (1, 0, 0), "r4", CORNER[5] - CORNER[4] + (1, 0, 0))
    return Motion("Bricard", system, system.state(), 10.0, (line,))


def andrews() -> Motion:
    from tests.verification import mechanisms

    system = mechanisms.andrews()
    return Motion("Andrews", system, system.state(q=mechanisms.ANDREWS_START), 0.05)


MOTIONS: dict[str, Callable[[], Motion]] = {
    "tree": tree_of_30,
    "chains": eleven_chains,
    "four-bar": lambda: four_bars(2),
    "four-bars": lambda: four_bars(10),
    "bricard": bricard,
    "andrews": andrews,
}
