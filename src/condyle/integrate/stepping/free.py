"""A run of many free bodies: what its native program (step.py) reads, and who may come near whom meanwhile.

Each body may travel so far until lists are made anew (its budget); pairs are listed whose gap is at most what
both may travel, and the room around them.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from condyle.errors import DescriptionError
from condyle.integrate.stepping.crowd import Crowd, Listed
from condyle.integrate.stepping.nearest import NARROW
from condyle.integrate.stepping.rows import carried
from condyle.integrate.stepping.step import BODY, CONTACT, POSE, build
from condyle.mobilizers import Free, Translation
from condyle.model.model import description
from condyle.native.programs.kept import Made, kept
from condyle.spatial.quaternions import rotation_from_quaternion
from condyle.system.state import State
from condyle.system.system import System

if TYPE_CHECKING:
    from condyle.integrate.stepping.method import TimeStepping

ROOM = 0.01
"""Share of a radius within which surfaces count as near, beside what they may travel in a step."""
BUDGET = 0.1
"""Share of a radius that a body may travel with the same lists, or
STEPS: as far as it goes in so many steps, if that is more."""
STEPS = 10


class FreeBodies:
    """Surfaces among each other, on bodies that are free or only translate.

    Args:
        start: where they are.
        surfaces: see TimeStepping.
        method: whose numbers a run takes.
    """

    def __init__(self, start: State, surfaces: Iterable[Any], method: TimeStepping) -> None:
        system = start.system
        _check(system)
        self.start, self.system, self.method = start, system, method
        self.crowd = crowd = Crowd(system, surfaces)
        self.count = count = len(system.bodies)
        values = dict(zip(system.parameters, start.parameters, strict=True))
        mass = [b.mass_properties_at(values) for b in system.bodies]
        if (bad := next((b.name for b, m in zip(system.bodies, mass, strict=True) if m.mass <= 0), None)):
            raise DescriptionError(f"TimeStepping: body {bad!r} has no mass")
        self.turns = np.array([b.u.stop - b.u.start == 6 for b in system.bodies], dtype=bool)
        size, self.far = np.zeros(count), np.zeros(count + 1)
        some = crowd.body[:crowd.balls]
        np.maximum.at(size, some[some >= 0], crowd.radius[some >= 0])
        np.maximum.at(self.far, some, np.linalg.norm(crowd.centre, axis=1))
        for box, half, p in zip(crowd.boxes, crowd.core + crowd.edge[:, None], crowd.p_BS, strict=True):
            if box.body != "ground":
                at = system.body(box.body).index
                size[at] = max(size[at], float(half.min()))
                self.far[at] = max(self.far[at], float(np.linalg.norm(p) + np.linalg.norm(half)))
        self.size = np.append(size, 0.0)
        self.room = ROOM * self.size
        table = np.zeros((count + 1, BODY))
        table[:-1, 0] = [1 / m.mass for m in mass]
        table[:-1, 1:4] = [np.ravel(m.com) for m in mass]
        inertia = np.array([m.inertia for m in mass]).reshape(-1, 3, 3)
        inverse = np.zeros_like(inertia)
        inverse[self.turns] = np.linalg.inv(inertia[self.turns])
        for first, X in ((4, inertia), (10, inverse)):
            table[:-1, first:first + 6] = X[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
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
        crowd = self.crowd
        balls = np.column_stack([crowd.body[:crowd.balls] % (n + 1), crowd.centre, crowd.radius])
        self.streams: dict[str, np.ndarray] = self.tables | {
            "bodies": table, "poses": poses, "inertias": rows(7), "reaches": rows(2), "budgets": rows(1),
            "balls": balls, "centres": np.zeros((len(balls), 3)),
            **{name: rows(6) for name in ("U_before", "U_free", "U", "plastic", "shift")}}
        y, f = ws["y"], ws["f"]
        if self.turns.all():
            self.streams |= {"Q": y[:nq].reshape(-1, 7), "V": y[nq:nq + nu].reshape(-1, 6),
                             "A": f[nq:nq + nu].reshape(-1, 6)}
        else:
            padded, places = _places(system)
            one, two, three = 7 * n, 13 * n, 19 * n
            self.streams |= {"Q": padded[:one].reshape(-1, 7), "V": padded[one:two].reshape(-1, 6),
                             "A": padded[two:three].reshape(-1, 6), "padded": padded[:, None],
                             "y_flat": y[:, None], "f_flat": f[:, None], "places": places,
                             "rates": places[nq:] + [0, 6 * n]}
        self.counts = {"n_bodies": n, "n_balls": len(balls), "most_sweeps": int(self.method.sweeps)}
        if not self.turns.all():
            self.counts |= {"moved": nq + nu, "rated": nu}
        if len(y) > nq + nu:
            self.streams |= {"z": y[nq + nu:, None], "zdot": f[nq + nu:, None]}
            self.counts["auxiliaries"] = len(y) - nq - nu
        self.keys = np.zeros(0, int)
        self.lists: dict[str, Listed] = {}

    def go(self, t_final: float, step: float, count: int, report: Callable[[float], object] | None,
           started: Callable[[float], object]) -> bool:
        """Take all steps; whether all of it is finite. What is done so far, after an interrupt too, is
        `kept`.

        Args:
            report: is told the share that is done.
            started: is told the least gap at the start.
        """
        m, ws, start = self.method, self.ws, self.start
        ws["y"] = np.concatenate([start.q, start.u, start.z])
        ws["p"] = start.tail[self.system.compiled.model.tail["inputs"].start:]
        soft = m.stiffness is not None
        for name, value in {"t_0": start.t, "t_final": t_final, "step": step, "count": count,
                            "every": int(m.every), "k": 0, "row": 1, "total": 0,
                            "tolerance": m.tolerance, "sweeps": int(m.sweeps), "soft": soft,
                            "stiffness": m.stiffness or 0.0, "damping": m.damping,
                            "correction": m.correction, "slop": m.slop}.items():
            ws[name] = value
        kept = 2 + count // int(m.every)
        self.T, self.Y = np.empty((kept, 1)), np.empty((kept, len(ws["y"])))
        self.T[0], self.Y[0] = start.t, ws["y"]
        self.streams |= {"T": self.T, "Y": self.Y}
        told = (lambda ws: report(ws["k"][0] / count)) if report is not None else None
        by_hand = len(self.crowd.boxes) > 1                  # two boxes are looked at in Python
        self._listed(step)
        while ws["k"][0] < count and not ws["bad"][0]:
            first = ws["k"][0] == 0
            ws["until"] = ws["k"][0] + 1 if by_hand or first else count
            if by_hand:
                self._boxes(step)
            self.program.run(ws, self.streams, self.counts | {"limit": count + 1}, progress=told)
            if first and ws["k"][0]:
                started(float(ws["least"][0]))
            if ws["stale"][0]:
                self._listed(step)
            elif told is not None:
                told(ws)
        return not ws["bad"][0]

    @property
    def rebounds(self) -> bool:
        """Whether some surface has a restitution."""
        return bool(self.crowd.e.any())

    @property
    def steps(self) -> int:
        return int(self.ws["k"][0]) + int(self.ws["bad"][0])

    @property
    def sweeps(self) -> int:
        return int(self.ws["total"][0])

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (m,) and rows (m, n) until now."""
        rows = int(self.ws["row"][0])
        return self.T[:rows, 0], self.Y[:rows]

    def _listed(self, step: float) -> None:
        """List who may come near whom, until a body has used up its budget."""
        streams = self.streams
        if not self.turns.all():                             # before the first step
            padded, y = streams["padded"], streams["y_flat"]
            source, target = streams["places"].astype(int).T
            padded[target] = y[source]
        travel = self._travel(step)
        budget = 2 * travel + np.maximum(BUDGET * np.maximum(self.size, self.far / 10), STEPS * travel)
        budget[-1] = 0.0
        streams["budgets"][:, 0], streams["reaches"][:, 1] = budget, 0.0
        poses = self._poses(streams["Q"])
        given = {"given": self.lists["given"]} if self.lists else {}    # of boxes: impulses are kept
        self.lists = self.crowd.near(*poses, self.room + budget) | given
        for kind in self.lists:
            self._take(kind)
        self._carried()

    def _take(self, kind: str) -> None:
        rows = self.lists[kind].rows
        rows[:, :2] %= self.count + 1                        # ground is the last
        self.streams[kind], self.counts[f"n_{kind}"] = rows, len(rows)

    def _boxes(self, step: float) -> None:
        """Contacts of two boxes, which are given."""
        reach = self.room + 2 * self._travel(step)
        self.lists["given"] = self.crowd.two_boxes(*self._poses(self.streams["Q"]), reach)
        self._take("given")
        self._carried()

    def _travel(self, step: float) -> np.ndarray:
        """How far surfaces of each body, and of ground, go in a step [m]."""
        v = self.streams["V"]
        speed = np.linalg.norm(v[:, 3:], axis=1) + np.linalg.norm(v[:, :3], axis=1) * self.far[:-1]
        return np.append(step * speed, 0.0)

    def _carried(self) -> None:
        """Impulses of the last step for the pairs that were listed then."""
        keys = np.concatenate([self.lists[kind].key for kind in NARROW])
        W = np.zeros((len(keys) + 1, 3))
        if len(self.keys):
            W[:-1] = carried(self.keys, self.streams["W"], keys)
        self.keys, m = keys, len(keys) + 1
        self.counts["capacity"] = m
        self.streams |= {"W": W, "contacts": np.zeros((m, CONTACT)), "impulses": np.zeros((m, 3)),
                         "again": np.zeros((m, 3))}

    def _poses(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R_GB (n + 1, 3, 3) and origins (n + 1, 3) of all bodies and of ground, the last."""
        R = np.tile(np.eye(3), (self.count + 1, 1, 1))
        R[:-1] = rotation_from_quaternion(q[:, :4])
        return R, np.append(q[:, 4:], np.zeros((1, 3)), axis=0)


def _check(system: System) -> None:
    """Refuse bodies that are not free."""
    for body in system.bodies:
        plain = (np.array_equal(X.R, np.eye(3)) and not np.any(X.p) for X in (body.X_PF, body.X_BM))
        kind = type(body.mobilizer)
        if (kind not in (Free, Translation) or body.parent is None or not body.parent.is_ground
                or not all(plain) or body.q.stop - body.q.start not in (3, 7)):
            raise DescriptionError(f"TimeStepping: among: body {body.name!r} is on {body.mobilizer!r}; "
                                   "all bodies need cd.Free() or cd.Translation() on ground, at their "
                                   "origins. Contacts of other systems are system.add_contact(...)")
    if system.constraints:
        raise DescriptionError(f"TimeStepping: among: the system has the constraint "
                               f"{system.constraints[0]!r}; with constraints contacts are "
                               "system.add_contact(...)")


def _places(system: System) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of bodies as if all were free, and where those that there are come from."""
    n = len(system.bodies)
    padded, places = np.zeros(19 * n), np.zeros((system.nq + system.nu, 2))
    padded[:7 * n:7] = 1.0
    for b in system.bodies:
        for x, offset, size, first in ((b.q, 0, 7, 0), (b.u, system.nq, 6, 7 * n)):
            k = np.arange(x.start, x.stop)
            places[offset + k, 0] = offset + k
            places[offset + k, 1] = first + size * (b.index + 1) - (x.stop - k)
    return padded, places


def _program(system: System, gathers: bool) -> Made:
    key = ("time stepping", gathers)
    if key not in system.compiled.programs:
        text = f"time stepping {gathers}\n{description(system.compiled.model)}"
        system.compiled.programs[key] = kept(text, lambda: build(system, gathers))
    return system.compiled.programs[key]
