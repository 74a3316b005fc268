"""Accelerations and multipliers of those constraints that hold, at some states of a run. Steps and events ask for the
same numbers: where these are one straight line, both use one kernel."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from condyle.integrate.interrupts.path_jumps import Branches
from condyle.integrate.steps import stacked, unstacked
from condyle.model.layouts import prefers_loops
from condyle.model.model import Model
from condyle.model.operators import OPERATORS
from condyle.native.calls.native_function import SIMD_FROM, NativeFunction
from condyle.native.programs.slice_function import SharedKernel
from condyle.native.straight.kernel_function import KernelFunction
from condyle.system.state import State
from condyle.system.system import System
from condyle.tree.tree import Tree


def in_few(f: NativeFunction, *given: np.ndarray) -> list[np.ndarray]:
    """Results of f for some rows, by its kernel for one state: that for lanes is not worth compiling."""
    parts = [
        f.fast(*(x[i : i + SIMD_FROM - 1] for x in given)) for i in range(0, len(given[0]), SIMD_FROM - 1)
    ]
    each = [p if isinstance(p, tuple) else (p,) for p in parts]
    return [np.concatenate(column) for column in zip(*each, strict=True)]


def contact_rates(system: System, model: Model) -> SharedKernel | None:
    """f of a system with constraints that act one way, for its steps and for what is asked at events, where it is
    one straight line: (t, y, p) -> ydot, whether constraints are delicate, udot, lambda, and the status of
    these. Else None. model: the system's, or that as machine code sees it."""
    jumps = Branches.of_system(system, model) is not None
    if not model.unilateral or jumps or prefers_loops(model) or prefers_loops(model, lanes=True):
        return None
    n, nu, m = model.tree.nq + model.tree.nu + model.nz, model.tree.nu, model.equations()
    sizes = [1, n, model.tail_size - model.tail["inputs"].start], [n, 1, nu, m, 1]
    make = partial(_contact_rates, model)
    key = "contact rates", model.stored is not None
    return system.compiled.remembered(key, lambda: SharedKernel(make, "contact_rates", *sizes))


def _contact_rates(model: Model) -> KernelFunction:
    # not where machine code comes from the cache
    import casadi as ca

    from condyle.constraints.solve.multipliers import SHORT, constrained, with_unmet
    from condyle.model.operators.rates import qdot, zdot
    from condyle.model.right_hand_side import Rates
    from condyle.model.symbols import Symbols
    from condyle.native.tables.staged import build_function

    s = Symbols(model, plain=True)
    inputs = [s.t, ca.vertcat(s["q"], s["u"], s.z), s["tail"][model.tail["inputs"].start :]]
    s.follow_motions()
    kin = s.kinematics()
    udot, status = s.free_accelerations(kin, ca.SX.zeros(model.tree.nu))
    found = constrained(s.rows(kin), udot, s.lock, SHORT)
    status = with_unmet(status, model.tree, found.unmet)
    rates = Rates(*qdot(s), found.udot, status, zdot(s))
    results = [rates.ydot, found.delicate, found.udot, found.lambda_, status]
    return build_function("rhs", inputs, results)


class HeldAccelerations:
    """udot and lambda of those constraints that hold: by the kernel of the steps, where that is one straight
    line, else by an operator."""

    def __init__(self, system: System) -> None:
        compiled, model = system.compiled, system.compiled.model.code
        self.model, self.rates = compiled.model, contact_rates(system, model)
        rates = self.rates
        if rates is None:
            self.function = compiled.function("held_accelerations")
            return
        names = "ydot", "delicate", "udot", "lambda_", "status"
        label = OPERATORS["held_accelerations"].label
        refuse = compiled.refusal(OPERATORS["held_accelerations"], label)
        self.function = compiled.remembered(
            "held accelerations",
            lambda: NativeFunction(
                label,
                lambda: rates,
                key=f"contact rates\n{model.description}",
                data=model.data,
                inputs=list(zip(("t", "y", "p"), rates.inputs, strict=True)),
                outputs=list(zip(names, rates.outputs, strict=True)),
                refuse=partial(_refuse, refuse, compiled.model.tree),
            ),
        )

    def __call__(self, t: np.ndarray, y: np.ndarray, tail: np.ndarray) -> list[np.ndarray]:
        """udot (m, nu) and lambda (m, k) at times t (m,) and y (m, n)."""
        return in_few(self.function, *self._given(t, y, tail))[-2:]

    def at(self, state: State, tail: np.ndarray) -> list[np.ndarray]:
        """The same of one state."""
        given = self._given(np.array([state.t]), stacked(state)[None], tail)
        return list(self.function(*(x[0] for x in given)))[-2:]

    def _given(self, t: np.ndarray, y: np.ndarray, tail: np.ndarray) -> tuple[np.ndarray, ...]:
        if self.rates is None:
            q, u, tails = unstacked(self.model, tail, t, y)
            return q, u, np.zeros_like(u), tails
        return t[:, None], y, np.tile(tail[self.model.tail["inputs"].start :], (len(t), 1))


def _refuse(
    refuse: Callable[..., None], tree: Tree, given: tuple[Any, ...], results: list[np.ndarray], status: Any
) -> None:
    """Calls refuse((q, u, tau, tail), results, status)."""
    t, y, p = (np.broadcast_to(x, (*status.shape[:-1], x.shape[-1])) for x in given)
    q, u, z = np.split(y, [tree.nq, tree.nq + tree.nu], axis=-1)
    refuse((q, u, np.zeros_like(u), np.concatenate([t, z, p], axis=-1)), results[2:], status)
