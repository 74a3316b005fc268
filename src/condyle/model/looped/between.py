"""Force laws of a looped tree: one straight line between two passes, over the fields of the rows that it asks
for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

import casadi as ca

from condyle.dynamics.kinematics import Kinematics
from condyle.dynamics.view import Loads
from condyle.model.looped.draft import COMMON, packed, unpacked
from condyle.model.looped.tables import Looped
from condyle.model.symbols import Symbols


class OnDemand(dict[int, Any]):
    """Values of bodies, or speeds, that are made when first asked for."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, key: int) -> Any:
        self[key] = value = self._make(key)
        return value


class StraightLine:
    """A straight line between passes over the fields of rows: what force laws need, as symbols made when
    asked for."""

    def __init__(self, looped: Looped) -> None:
        self.looped, model = looped, looped.model
        self.symbols = Symbols(model)
        names = [name for name, _ in looped.arguments if name in self.symbols.arguments]
        self.reads: dict[Any, ca.SX] = {
            name: self.symbols[name] for name in names if self.symbols[name].numel()
        }
        self.owner = {
            k: (b.index, k - b.u.start) for b in model.tree.owners for k in range(b.u.start, b.u.stop)
        }
        ask = lambda name: OnDemand(lambda B: self.read(B, name))
        self.kin = Kinematics(
            model.placed, R_GM=ask("R"), p_GM=ask("p"), p_PM=ask("r"), V_GM=ask("V"), H=ask("H")
        )

    def read(self, B: int, name: str) -> Any:
        """A field of a body; -1 is ground."""
        kind = self.looped.kinds[self.looped.types[B + 1]]
        like = COMMON[name] if name in COMMON else kind.kept[name]
        place = B + 1, name
        if place not in self.reads:
            self.reads[place] = ca.SX.sym(f"{name}{B}", packed(like).numel())
        return unpacked(like, self.reads[place])

    def total(self, name: str, size: int) -> ca.SX:
        """A sum over all bodies."""
        return self.reads.setdefault((0, name), ca.SX.sym(name, size))

    def laws(self) -> Iterator[Any]:
        """Enabled flag and law of each force, with the view that shows it its state variables."""
        view = self.symbols.view(self.kin)
        for enabled, force in self.symbols.laws(view):
            yield enabled, force, view

    def loads(self, gravity: bool = True, without: Collection[int] = ()) -> Loads:
        """What all forces exert but some, by their places; with `gravity`, what it takes back from bodies
        that it leaves alone."""
        loads = Loads(self.symbols.view(self.kin))
        for i, (enabled, force) in enumerate(self.symbols.laws(loads.view)):
            if i not in without and (i or gravity):
                loads.enabled = enabled
                force.apply(loads.view, loads)
        return loads

    def write(self, writes: dict[Any, ca.SX]) -> None:
        self.looped.line(self.reads, writes)
