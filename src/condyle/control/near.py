"""Views of a few bodies in which their last common ancestor is fixed. Lengths of paths and their rates are
then functions of the few coordinates between these bodies.
"""

from __future__ import annotations

from collections.abc import Iterable

from condyle.dynamics.kinematics import kinematics
from condyle.dynamics.view import TreeView
from condyle.model.symbols import Symbols


class NearViews:
    """Views of some bodies, each created once."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._views: dict[tuple[int, ...], TreeView] = {}

    def of(self, bodies: Iterable[str]) -> TreeView:
        """The view in which the last common ancestor of bodies is ground."""
        s, tree = self.symbols, self.symbols.model.tree
        paths = [[] if (b := tree.body(name)).is_ground else tree.path(b.index) for name in bodies]
        shared = [B for B in paths[0] if all(B in path for path in paths)] if paths else []
        wanted = {B for path in paths for B in path} - set(shared)
        only = tuple(B for B in tree.base_to_tip if B in wanted)
        key = (shared[-1] if shared else -1, *only)
        if key not in self._views:
            base = shared[-1] if shared else None
            kin = kinematics(tree, s.placed, s.t, s["q"], s["u"], only, base)
            view = self._views[key] = TreeView(tree, kin, s.t, s["q"], s["u"])
            view.plain, view.straight, view.smooth = s.plain, s.straight, True
        return self._views[key]
