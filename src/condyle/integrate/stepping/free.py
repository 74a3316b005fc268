"""A run of many free bodies: what its native program (step.py) reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.stepping.crowd import Crowd
from condyle.integrate.stepping.listed import ROOM, ListedRun, sizes_of
from condyle.integrate.stepping.step import BODY, POSE, build
from condyle.mobilizers import Free, Translation
from condyle.model.model import description
from condyle.native.programs.program import ProgramAndTables, cached_program
from condyle.spatial.quaternions import rotation_from_quaternion
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping


class FreeBodies(ListedRun):
    """Surfaces among each other, on bodies that are free or only translate.

    Args:
        start: where they are.
        method: whose surfaces and numbers it takes.
    """

    def __init__(self, start: State, method: TimeStepping) -> None:
        system = start.system
        super().__init__(start, method, Crowd(system, method.among))
        self.count = count = len(system.bodies)
        values = dict(zip(system.parameters, start.parameters, strict=True))
        mass = [b.mass_properties_at(values) for b in system.bodies]
        if bad := next((b.name for b, m in zip(system.bodies, mass, strict=True) if m.mass <= 0), None):
            raise DescriptionError(f"TimeStepping: body {bad!r} has no mass")
        self.turns = np.array([b.u.stop - b.u.start == 6 for b in system.bodies], dtype=bool)
        self.size, self.far = sizes_of(system, self.crowd)
        self.room = ROOM * self.size
        table = np.zeros((count + 1, BODY))
        table[:-1, 0] = [1 / m.mass for m in mass]
        table[:-1, 1:4] = [np.ravel(m.com) for m in mass]
        inertia = np.array([m.inertia for m in mass]).reshape(-1, 3, 3)
        inverse = np.zeros_like(inertia)
        inverse[self.turns] = np.linalg.inv(inertia[self.turns])
        for first, X in ((4, inertia), (10, inverse)):
            table[:-1, first : first + 6] = X[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        table[:, 16], table[:, 17] = self.far, self.room
        self.program, self.tables = _program(system, not self.turns.all())
        self.ws = self.program.workspace()
        self._bound(table)

    def _bound(self, table: np.ndarray) -> None:
        """Streams; of y and ydot they are the workspace itself."""
        system, ws, n = self.system, self.ws, self.count
        nq, nu = system.nq, system.nu
        rows = lambda size: np.zeros((n + 1, size))
        poses = rows(POSE)
        poses[-1, :9] = np.eye(3).ravel()
        self.streams = self.tables | {
            "bodies": table,
            "poses": poses,
            "inertias": rows(7),
            "reaches": rows(2),
            "budgets": rows(1),
            **{name: rows(6) for name in ("U_before", "U_free", "U", "plastic", "shift")},
        }
        y, f = ws["y"], ws["f"]
        if self.turns.all():
            self.streams |= {
                "Q": y[:nq].reshape(-1, 7),
                "V": y[nq : nq + nu].reshape(-1, 6),
                "A": f[nq : nq + nu].reshape(-1, 6),
            }
        else:
            padded, places = _places(system)
            one, two, three = 7 * n, 13 * n, 19 * n
            self.streams |= {
                "Q": padded[:one].reshape(-1, 7),
                "V": padded[one:two].reshape(-1, 6),
                "A": padded[two:three].reshape(-1, 6),
                "padded": padded[:, None],
                "y_flat": y[:, None],
                "f_flat": f[:, None],
                "places": places,
                "rates": places[nq:] + [0, 6 * n],
            }
        self.counts = {"most_sweeps": int(self.method.sweeps)}
        self._balls()
        if not self.turns.all():
            self.counts |= {"moved": nq + nu, "rated": nu}
        if len(y) > nq + nu:
            self.streams |= {"z": y[nq + nu :, None], "zdot": f[nq + nu :, None]}
            self.counts["auxiliaries"] = len(y) - nq - nu

    def _begin(self, step: float) -> None:
        self.ws["p"] = self.start.tail[self.system.compiled.model.tail["inputs"].start :]
        if not self.turns.all():  # before the first step
            padded, y = self.streams["padded"], self.streams["y_flat"]
            source, target = self.streams["places"].astype(int).T
            padded[target] = y[source]
        self._listed(step)

    @property
    def rebounds(self) -> bool:
        return bool(self.crowd.e.any())

    def _placed(self) -> tuple[np.ndarray, np.ndarray]:
        q = self.streams["Q"]
        R = np.tile(np.eye(3), (self.count + 1, 1, 1))
        R[:-1] = rotation_from_quaternion(q[:, :4])
        return R, np.append(q[:, 4:], np.zeros((1, 3)), axis=0)

    def _velocities(self) -> np.ndarray:
        return self.streams["V"]


def all_free(system: System) -> bool:
    """Whether all bodies are free, or only translate, and nothing but surfaces acts one way."""
    plain = lambda X: np.array_equal(X.R, np.eye(3)) and not np.any(X.p)
    return not system.constraints and all(
        type(b.mobilizer) in (Free, Translation)
        and b.parent is not None
        and b.parent.is_ground
        and plain(b.X_PF)
        and plain(b.X_BM)
        and b.q.stop - b.q.start in (3, 7)
        for b in system.bodies
    )


def _places(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of bodies as if all were free, and where those that there are come from."""
    n = len(system.bodies)
    padded, places = np.zeros(19 * n), np.zeros((system.nq + system.nu, 2))
    padded[: 7 * n : 7] = 1.0
    for b in system.bodies:
        for x, offset, size, first in ((b.q, 0, 7, 0), (b.u, system.nq, 6, 7 * n)):
            k = np.arange(x.start, x.stop)
            places[offset + k, 0] = offset + k
            places[offset + k, 1] = first + size * (b.index + 1) - (x.stop - k)
    return padded, places


def _program(system: System, gathers: bool) -> ProgramAndTables:
    key = ("time stepping", gathers)
    if key not in system.compiled.programs:
        text = f"time stepping {gathers}\n{description(system.compiled.model)}"
        system.compiled.programs[key] = cached_program(text, lambda: build(system, gathers))
    return system.compiled.programs[key]
