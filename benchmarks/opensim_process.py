"""OpenSim in a process of its own: its wheel brings a libcasadi that cannot be loaded beside the one Condyle
uses.

Both libraries answer to the name libcasadi.so.3.7, so whichever comes second fails to import. The process
takes turns with its parent: it works only while the parent waits, and it times itself.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from itertools import cycle
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from benchmarks.timing import Clock
from benchmarks.trees import Array, Tree, opensim_model

Answers = dict[str, Callable[..., Any]]


class OpenSimProcess:
    """A model in OpenSim. The process starts with the first question and ends with this object.

    Args:
        model: what the questions are about, sent over once.
        questions: a function, importable there, that returns what answers each question; by default those
            about a Tree.
    """

    def __init__(self, model: Any, questions: Callable[[], Answers] | None = None) -> None:
        self.model, self.questions = model, questions or about_trees
        self.connection: Connection | None = None

    def ask(self, question: str, *details: Any, patience: float | None = None) -> Any:
        """The answer, e.g. to "udot" or "seconds"; an error over there is raised here.

        After `patience` seconds without an answer the process is ended and TimeoutError raised; the next
        question starts another.
        """
        if self.connection is None:
            self.connection, far_end = multiprocessing.Pipe()
            self.process = multiprocessing.get_context("spawn").Process(
                target=serve, args=(far_end,), daemon=True
            )
            self.process.start()
            far_end.close()
            # not an argument: start() would hang if the process died
            self.connection.send((self.model, self.questions))
        try:
            self.connection.send((question, details))
            if patience is not None and not self.connection.poll(patience):
                self.process.kill()
                self.connection = None
                raise TimeoutError(f"OpenSim, asked for {question}, gave no answer in {patience:g} s")
            answer = self.connection.recv()
        except (EOFError, ConnectionError):
            raise RuntimeError(
                "the OpenSim process ended without an answer; its own error is printed above"
            ) from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def serve(connection: Connection) -> None:
    """Answer questions about the model that comes first, until the other end is gone."""
    model, make = connection.recv()
    questions = make()
    while True:
        try:
            question, details = connection.recv()
        except EOFError:
            return
        try:
            connection.send(questions[question](model, *details))
        except Exception as error:
            connection.send(RuntimeError(f"OpenSim, asked for {question}: {error}"))


def about_trees() -> Answers:
    return {"udot": accelerations, "seconds": Stopwatch()}


def accelerations(tree: Tree) -> Array:
    """udot of all states, shape (states, n), with tau through an actuator a coordinate."""
    import opensim as osim

    create = osim.Vector.createFromMat
    model, state, order = opensim_model(tree, efforts=True)
    udot = np.empty_like(tree.q)
    for i, (q, u, tau) in enumerate(zip(tree.q, tree.u, tree.tau)):
        state.setQ(create(q[order]))
        state.setU(create(u[order]))
        model.realizeVelocity(state)
        model.setControls(state, create(tau))
        model.realizeAcceleration(state)
        udot[i, order] = state.getUDot().to_numpy()
    return udot


class Stopwatch:
    """Time to realize the acceleration of the next few states, without tau. The model is made at the first
    call."""

    def __init__(self) -> None:
        self.made: Any = None

    def __call__(self, tree: Tree, calls: int) -> tuple[float, bool]:
        if self.made is None:
            import opensim as osim

            model, state, order = opensim_model(tree)
            create = osim.Vector.createFromMat
            self.made = (
                model,
                state,
                cycle([(create(q[order]), create(u[order])) for q, u in zip(tree.q, tree.u)]),
            )
        model, state, states = self.made
        part = [next(states) for _ in range(calls)]
        with Clock() as clock:
            for q, u in part:
                state.setQ(q)
                state.setU(u)
                model.realizeAcceleration(state)
        return clock.seconds, clock.quiet
