"""Numbers that users' functions of the state give, for many instants at once: witnesses of events,
measures."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from condyle.errors import UnknownNameError
from condyle.laws.ask import answers
from condyle.laws.leaf import Leaf
from condyle.model.model import description
from condyle.model.symbols import Symbols
from condyle.native.calls.native_function import NativeFunction
from condyle.native.tables.staged import Staged, build_function
from condyle.system.system import System
from condyle.trace import Traced


class Scalars:
    """Traced functions of one number each as one kernel.

    Args:
        laws: how errors call each, the function and what it asks.
    """

    def __init__(self, system: System, laws: Sequence[tuple[str, Traced, tuple[Leaf, ...]]]) -> None:
        self._laws, self._model = laws, system.compiled.model
        tree = self._model.tree
        known = (*tree.parameters.names, *tree.inputs.names, *tree.discrete.names)
        for what, law, asks in laws:
            for p in [*(p for ask in asks for p in ask.parameters()), *law.outside]:
                name = getattr(p, "name", "")
                if name not in known:
                    raise UnknownNameError("parameter", name, known, f"{what} cannot bring one of its own")
            for ask in asks:
                ask.check(tree, what)
        key = "\n".join(f"{[ask.text for ask in asks]} {law.text}" for _, law, asks in laws)
        sizes = self._model.sizes()
        self._function = NativeFunction(
            "scalars",
            self._build,
            key=f"scalars {key}\n{description(self._model)}",
            inputs=[(name, sizes[name]) for name in ("q", "u", "tail")],
            outputs=[("g", len(laws))],
        )

    def _build(self) -> ca.Function | Staged:
        s = Symbols(self._model)
        view = s.view(s.kinematics())
        values = [law.apply(*answers(asks, view)) for _, law, asks in self._laws]
        return build_function("scalars", [s["q"], s["u"], s["tail"]], [ca.vertcat(*values)])

    def __call__(self, t: np.ndarray, y: np.ndarray, tail: np.ndarray) -> np.ndarray:
        """Values (m, functions) at times t (m,) and q, u, z side by side (m, n), all else from tails (k,) or
        (m, k)."""
        model = self._model
        nq, n = model.tree.nq, model.tree.nq + model.tree.nu
        tails = np.empty((len(t), model.tail_size))
        tails[...] = tail
        tails[:, model.tail["t"]], tails[:, model.tail["z"]] = t[:, None], y[:, n:]
        if not len(t):
            return np.empty((0, len(self._laws)))
        return self._function.fast(np.ascontiguousarray(y[:, :nq]), np.ascontiguousarray(y[:, nq:n]), tails)
