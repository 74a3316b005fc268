"""What each version of OpenSim's files wrote otherwise, rewritten step by step into the layout of 4.6."""
from __future__ import annotations

from collections.abc import Callable

from condyle.opensim.element import Element

OLDEST, NEWEST = 10901, 40600

STEPS: list[tuple[int, Callable[[Element], None]]] = []
"""(version, function): files below the version have the older form, which the function rewrites in place."""


def upgrade(root: Element, version: int, until: int = NEWEST) -> None:
    """Rewrite everything inside an element from the layout of one version to that of another."""
    for below, step in STEPS:
        if version < below <= until:
            step(root)
