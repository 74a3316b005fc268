"""Each engine as cases to time: one state a call from Python, and many states by the engine's own batch call.

A case goes through the tree's states a few at a time, the next few at each run. A short run finds the quiet
moments of a busy machine; a long one never does, and the slowest engine would look slower than it is.

Before the clock starts: models, data, arrays split into contiguous rows, OpenSim's own vectors. Inside it: a
new q, u and tau at every call. Where an engine can be called in several ways, each is a case and the fastest
one counts, so that a peer is never slow by our choice. A case is named "engine: way".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np

from benchmarks import trees
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.timing import Case
from benchmarks.trees import Array, Tree

State = tuple[Array, Array, Array]
# states that a peer gets at once where Condyle gets ten times as many: runs of similar length
PEER_BATCH = 1000


def states_of(tree: Tree) -> list[State]:
    """(q, u, tau) of each state, each a contiguous array of its own."""
    return [(q.copy(), u.copy(), tau.copy()) for q, u, tau in zip(tree.q, tree.u, tree.tau)]


def parts_of(states: list[Any], count: int) -> Iterator[list[Any]]:
    """`count` states at a time, for ever."""
    return cycle([states[i : i + count] for i in range(0, len(states) - count + 1, count)])


class Condyle:
    """System.forward_dynamics, with arrays of shape (n,) and (states, n)."""

    def __init__(self, tree: Tree, mobilizer: Any = None) -> None:
        self.tree = tree
        self.system = trees.condyle_system(tree, mobilizer)

    def udot(self) -> Array:
        """Of the tree's first state."""
        return self.system.forward_dynamics(self.tree.q[0], self.tree.u[0], self.tree.tau[0])

    def one_state(self, calls: int) -> dict[str, Case]:
        """Called as a user calls it, by its name: after the first call the name stands for a native
        builtin."""
        parts, system = parts_of(states_of(self.tree), calls), self.system

        def run() -> None:
            for q, u, tau in next(parts):
                system.forward_dynamics(q, u, tau)

        return {"condyle: forward_dynamics": Case(run, calls)}

    def batch(self, threads: int) -> dict[str, Case]:
        tree, forward_dynamics = self.tree, self.system.forward_dynamics
        return {
            "condyle: forward_dynamics": Case(
                lambda: forward_dynamics(tree.q, tree.u, tree.tau, threads=threads), len(tree.q), threads
            )
        }


class Pinocchio:
    """pinocchio.aba in both of its conventions, and abaInParallel where the build has OpenMP."""

    def __init__(self, tree: Tree) -> None:
        import pinocchio as pin

        self.pin, self.tree = pin, tree
        self.model = trees.pinocchio_model(tree)
        self.data = self.model.createData()

    def udot(self) -> Array:
        return self.pin.aba(self.model, self.data, self.tree.q[0], self.tree.u[0], self.tree.tau[0]).copy()

    def one_state(self, calls: int) -> dict[str, Case]:
        parts = parts_of(states_of(self.tree), calls)
        aba, model, data, world = self.pin.aba, self.model, self.data, self.pin.Convention.WORLD

        def run() -> None:
            for q, u, tau in next(parts):
                aba(model, data, q, u, tau)

        def run_world() -> None:
            for q, u, tau in next(parts):
                aba(model, data, q, u, tau, world)

        return {
            "pinocchio: aba in a loop": Case(run, calls),
            "pinocchio: aba in a loop, world convention": Case(run_world, calls),
        }

    def batch(self, threads: int) -> dict[str, Case]:
        pin, tree = self.pin, self.tree
        cases = self.one_state(PEER_BATCH) if threads == 1 else {}
        if getattr(pin, "WITH_OPENMP", False):
            pool = pin.ModelPool(self.model, threads)
            q, u, tau = (np.asfortranarray(a[:PEER_BATCH].T) for a in (tree.q, tree.u, tree.tau))
            udot = np.empty_like(q)
            cases["pinocchio: abaInParallel"] = Case(
                lambda: pin.abaInParallel(threads, pool, q, u, tau, udot), PEER_BATCH, threads
            )
        return cases


class MuJoCo:
    """mujoco.mj_forward, and mujoco.rollout: one step from each state, which is mj_forward and an
    addition."""

    def __init__(self, tree: Tree) -> None:
        import mujoco

        self.mujoco, self.tree = mujoco, tree
        self.model = trees.mujoco_model(tree)
        self.data = mujoco.MjData(self.model)

    def udot(self) -> Array:
        self.write(self.data, 0)
        self.mujoco.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def write(self, data: Any, i: int) -> None:
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = self.tree.q[i], self.tree.u[i], self.tree.tau[i]

    def one_state(self, calls: int) -> dict[str, Case]:
        """With q, u and tau written at each call, and from one MjData a state into which they were written
        before."""
        parts = parts_of(states_of(self.tree), calls)
        mj_forward, model, data = self.mujoco.mj_forward, self.model, self.data
        qpos, qvel, qfrc_applied = data.qpos, data.qvel, data.qfrc_applied
        written = [self.mujoco.MjData(model) for _ in self.tree.q]
        for i, each in enumerate(written):
            self.write(each, i)
        written_parts = parts_of(written, calls)

        def run() -> None:
            for q, u, tau in next(parts):
                qpos[:] = q
                qvel[:] = u
                qfrc_applied[:] = tau
                mj_forward(model, data)

        def run_written() -> None:
            for each in next(written_parts):
                mj_forward(model, each)

        return {
            "mujoco: mj_forward": Case(run, calls),
            "mujoco: mj_forward, state written before": Case(run_written, calls),
        }

    def batch(self, threads: int) -> dict[str, Case]:
        from mujoco.rollout import Rollout

        tree, n = self.tree, PEER_BATCH
        pool = Rollout(nthread=0 if threads == 1 else threads)
        data = [self.mujoco.MjData(self.model) for _ in range(threads)]
        models = [self.model] * n
        initial = np.hstack([np.zeros((n, 1)), tree.q[:n], tree.u[:n]])
        control = np.ascontiguousarray(tree.tau[:n, None, :])
        spec = int(self.mujoco.mjtState.mjSTATE_QFRC_APPLIED)
        state, sensors = np.empty((n, 1, initial.shape[1])), np.empty((n, 1, 0))
        return {
            "mujoco: rollout": Case(
                lambda: pool.rollout(
                    models,
                    data,
                    initial,
                    control,
                    control_spec=spec,
                    nstep=1,
                    skip_checks=True,
                    state=state,
                    sensordata=sensors,
                ),
                n,
                threads,
            )
        }


class OpenSim:
    """setQ, setU and realizeAcceleration in a process of its own, which takes its turn and times itself.

    Without tau: OpenSim would need an actuator a coordinate, which slows it.
    """

    def __init__(self, tree: Tree) -> None:
        self.process = OpenSimProcess(tree)

    def udot(self) -> Array:
        return self.process.ask("udot")[0]

    def one_state(self, calls: int) -> dict[str, Case]:
        return {
            "opensim: realizeAcceleration, no tau": Case(
                lambda: self.process.ask("seconds", calls), calls, elsewhere=True
            )
        }

    def batch(self, threads: int) -> dict[str, Case]:
        """OpenSim has no batch call."""
        return {}


PEERS: dict[str, type[Any]] = {"pinocchio": Pinocchio, "mujoco": MuJoCo, "opensim": OpenSim}
