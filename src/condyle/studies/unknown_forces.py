"""The unknown forces of a static optimization: muscles, actuators and reserves, and their directions.

With R the moment arms of the paths, F the tension of each at an activation or control of 1, F_P its passive
tension, B the generalized forces of other actuators at a control of 1, f_0 the optimal forces of reserves on
the speeds e_k, and tau from inverse dynamics,

    R' (F a + F_P) + B' c + sum_k f_0 r_k e_k - G' lambda = tau                    ruggiero2020 (29)-(33)  (1)

Constraints G and held speeds supply the forces outside of the free directions N, G N = 0:

    A x = b,   x = (a, c, r),   A = N' [R' diag(F), B', f_0 e_k],   b = N' (tau - R' F_P)                  (2)

N has a column per independent speed, in which this speed is 1 and the other independent speeds are 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from condyle.arrays import Array
from condyle.errors import DescriptionError, check_name, check_names
from condyle.forces.actuators import CoordinateActuator, TorqueActuator
from condyle.laws.described import speed_named
from condyle.model.operators.columns import generalized_forces
from condyle.muscles import Muscle
from condyle.studies.motion.motion import Motion
from condyle.studies.path_slips import warn_of_path_slips
from condyle.system.checked_arguments import number
from condyle.trace.parameter import Expression

WHO = "static_optimization"
DEPENDENT = 1e-3
"""The choice of dependent speeds is kept while the constraints determine them at least this well, compared
with the frame of the choice."""
RANK = 1e-9
"""Singular values of G below this part of the largest count as zero."""


class UnknownForces:
    """The variables x of (2): activations of muscles, controls of actuators, reserves.

    Args:
        motion: all frames.
        physiology: whether tensions depend on length and velocity.
        passive: whether passive tensions act.
        reserves: optimal forces, one for all free speeds, by coordinate or speed, or None.

    Attributes:
        muscles: names of the muscles.
        others: names of the actuators, those along paths first.
        reserves: places in u of the speeds with a reserve.
        units: units of the forces of muscles and actuators.
        strength: force per unit of each variable, shape (m, n).
        added: passive tension of each path, shape (m, paths).
        columns: effect of a unit of each variable on the speeds, shape (m, nu, n).
        passive: generalized forces of the passive tensions, shape (m, nu).
        lengths: lengths of the paths of muscles and actuators [m], shape (m, paths).
    """

    def __init__(
        self, motion: Motion, physiology: bool, passive: bool, reserves: float | Mapping[str, float] | None
    ) -> None:
        self.system = system = motion.system
        self.motion, self.model = motion, system.compiled.model
        model = self.model
        self.values = dict(zip(system.parameters, motion.tail[0, model.tail["parameters"]], strict=True))
        off = np.flatnonzero((motion.tail[:, model.tail["enabled"]] == 0).any(axis=0))
        enabled = set(model.switches) - {model.switches[k] for k in off}
        laws = {name: law for name, law in model.controlled_paths.items() if name in enabled}
        self.muscles = tuple(name for name, law in laws.items() if isinstance(law, Muscle))
        paths = (*self.muscles, *(name for name in laws if name not in self.muscles))
        turning = tuple(name for name in model.actuators if name in enabled)
        self.others = paths[len(self.muscles) :] + turning
        optimal = self._reserves(reserves)
        self.reserves = list(optimal)
        if not (self.muscles or self.others or self.reserves):
            raise DescriptionError(
                f"{WHO}: the system has no muscle or actuator that is enabled; add some, or give reserves=1.0"
            )
        self.units = ["N"] * len(paths) + [self._unit(name) for name in turning]
        m, nu = len(motion), system.nu
        tension, self.added, arms = self._paths(paths, physiology, passive)
        others = np.zeros((m, 0, nu))
        if turning:
            places = [list(model.actuators).index(name) for name in turning]
            others = system._run("unit_loads", (motion.q,), {"state": motion._batch()})[:, places]
        sizes = [self._value(model.actuators[name], "optimal_force") for name in turning]
        reserve = np.zeros((m, len(optimal), nu))
        reserve[:, range(len(optimal)), self.reserves] = list(optimal.values())
        fixed = np.broadcast_to([*sizes, *optimal.values()], (m, len(sizes) + len(optimal)))
        self.strength = np.concatenate([tension, fixed], axis=1)
        self.columns = np.empty((m, nu, self.strength.shape[1]))
        n, k = len(paths), len(paths) + len(turning)
        np.multiply(np.swapaxes(arms, 1, 2), tension[:, None], out=self.columns[..., :n])
        self.columns[..., n:k], self.columns[..., k:] = (np.swapaxes(x, 1, 2) for x in (others, reserve))
        self.passive = (self.added[:, None] @ arms)[:, 0]

    def _paths(self, names: tuple[str, ...], physiology: bool, passive: bool) -> tuple[Array, Array, Array]:
        """Tensions at an activation of 1, and passive tensions, shape (m, n), and moment arms, shape (m, n,
        nu)."""
        system, model, batch, m = self.system, self.model, self.motion._batch(), len(self.motion)
        self.lengths = np.zeros((m, 0))
        if not names:
            return np.zeros((m, 0)), np.zeros((m, 0)), np.zeros((m, 0, system.nu))
        L, arms = system._run("path_geometry", (self.motion.q,), {"state": batch})
        Ldot = (
            batch.kernel("path_speeds") if model.moved_by_time else -(arms @ self.motion.u[..., None])[..., 0]
        )
        active, slack, isometric = system._run("unit_tensions", (self.motion.q, L, Ldot), {"state": batch})
        warn_of_path_slips(WHO, self.motion, L, Ldot, arms)
        own, every = (
            [list(known).index(name) for name in names] for known in (model.controlled_paths, model.paths)
        )
        tension = np.maximum(active, 0) if physiology else isometric
        self.lengths = _chosen(L, every)
        return _chosen(tension, own), _chosen(slack, own) * passive, _chosen(arms, every)

    def fiber_lengths(self) -> Array:
        """Fiber lengths of the muscles with rigid tendons, in optimal lengths, shape (m, muscles)."""
        laws = [self.system.force(name) for name in self.muscles]
        l_0, l_S, alpha = (
            np.array([self._value(law, field) for law in laws])
            for field in ("optimal_fiber_length", "tendon_slack_length", "pennation_angle")
        )
        along = np.maximum(self.lengths[:, : len(laws)] - l_S, 0.0)
        return np.hypot(along, l_0 * np.sin(alpha)) / l_0  # muscles/muscle.py (1), (5)

    def _reserves(self, given: float | Mapping[str, float] | None) -> dict[int, float]:
        """Optimal forces by the places of the speeds."""
        if given is None:
            return {}
        system = self.system
        if not isinstance(given, Mapping):
            free = np.flatnonzero(~system.compiled.tails.held(self.motion.tail).any(axis=0))
            return dict.fromkeys(free.tolist(), self._optimal("reserves", given))
        where = f"reserves of {WHO}"
        return {
            system.speeds.index(speed_named(self.model.tree, name, where)): self._optimal(
                f"reserves[{name!r}]", value
            )
            for name, value in given.items()
        }

    def _optimal(self, what: str, value: Any) -> float:
        force = number(f"{WHO}: {what}", value, "an optimal force [N m, N]")
        if not 0 < force < math.inf:
            raise DescriptionError(f"{WHO}: {what}: an optimal force must be above 0, got {force:g}")
        return force

    def _unit(self, name: str) -> str:
        law = self.model.actuators[name]
        if isinstance(law, CoordinateActuator):
            speed = speed_named(self.model.tree, law.coordinate, name)
            return dict(generalized_forces(self.model, {}))[speed]
        return "N m" if isinstance(law, TorqueActuator) else "N"

    def _value(self, law: Any, field: str) -> float:
        """A number of a law at the motion's parameters."""
        value = getattr(law, field)
        return float(value.at(self.values).item()) if isinstance(value, Expression) else float(value)

    # ---- bounds and weights --------------------------------------------------------------------------------

    def bounds(self, a_min: Any, a_max: Any) -> tuple[Array, Array]:
        """Lower and upper bounds of the variables, shape (n,) each."""
        laws: list[Any] = [self.system.force(name) for name in self.muscles]
        own = [
            self._value(law, "minimum_activation") if law.min_control is None else law.min_control
            for law in laws
        ]
        low = self._each("a_min", a_min, own)
        high = self._each("a_max", a_max, [law.max_control for law in laws])
        for name, least, most in zip(self.muscles, low, high, strict=True):
            if not 0 <= least <= most < math.inf:
                raise DescriptionError(
                    f"{WHO}: {name!r}: expected 0 <= a_min <= a_max, got a_min = "
                    f"{least:g} and a_max = {most:g}"
                )
        others: list[Any] = [self.system.force(name) for name in self.others]
        free = [math.inf] * len(self.reserves)
        return (
            np.array([*low, *(law.min_control for law in others), *(-x for x in free)]),
            np.array([*high, *(law.max_control for law in others), *free]),
        )

    def _each(self, what: str, given: Any, own: list[float]) -> list[float]:
        """A number for each muscle: its own, one for all, or from {muscle: number}."""
        if given is None:
            return own
        if not isinstance(given, Mapping):
            return [number(f"{WHO}: {what}", given, "a number, or one by the name of each muscle")] * len(own)
        check_names("muscle", given, self.muscles, f"{what} of {WHO}")
        return [
            number(f"{WHO}: {what}[{name!r}]", given.get(name, x), "a number")
            for name, x in zip(self.muscles, own, strict=True)
        ]

    def weights(self, given: Mapping[str, float] | None) -> Array:
        """Weights of the variables, shape (n,)."""
        speeds = [self.system.speeds[k] for k in self.reserves]
        names = [*self.muscles, *self.others, *speeds]
        out = np.ones(len(names))
        for name, value in (given or {}).items():
            if name not in names and name in self.system.coordinates:
                name = speed_named(self.model.tree, name, f"weights of {WHO}")
            check_name("muscle, actuator or reserve", name, names, f"weights of {WHO}")
            w = number(f"{WHO}: weights[{name!r}]", value, "a number above 0")
            if not 0 < w < math.inf:
                raise DescriptionError(f"{WHO}: weights[{name!r}] must be above 0, got {w:g}")
            out[names.index(name)] = w
        return out


def _chosen(x: Array, columns: list[int]) -> Array:
    """Some columns of x (m, n, ...), without a copy if they are all."""
    return x if columns == list(range(x.shape[1])) else x[:, columns]


def directions(
    motion: Motion, frames: NDArray[np.intp]
) -> Iterator[tuple[NDArray[np.intp], list[int], Array | None]]:
    """Yields frames with the same independent speeds, these speeds, and N of (2), shape (frames, nu,
    independent); N is None without constraints, if all other speeds are zero."""
    system = motion.system
    free = np.flatnonzero(~system.compiled.tails.held(motion.tail).any(axis=0))
    if not system.constraints:
        yield frames, free.tolist(), None
        return
    every = motion._batch().ask("constraints.jacobian", (), {})[..., free]
    while len(frames):
        G = every[frames]
        dependent = _dependent(G[0])
        independent = [k for k in range(len(free)) if k not in dependent]
        D, I = G[..., dependent], G[..., independent]
        X = -np.linalg.pinv(D, rcond=RANK) @ I
        least = np.linalg.svd(D, compute_uv=False).min(axis=1, initial=np.inf)
        left, size = (np.abs(x).max(axis=(1, 2), initial=0.0) for x in (D @ X + I, G))
        good = (least >= DEPENDENT * least[0]) & (left <= RANK * size)
        good[0] = True
        N = np.zeros((int(good.sum()), system.nu, len(independent)))
        N[:, free[independent], range(len(independent))] = 1.0
        N[:, free[dependent]] = X[good]
        yield frames[good], free[independent].tolist(), N
        frames = frames[~good]


def _dependent(G: Array) -> list[int]:
    """Columns of G that determine the others, as many as its rank."""
    from scipy.linalg import qr

    R, order = qr(G, mode="r", pivoting=True)
    sizes = np.abs(np.diagonal(R))
    return sorted(order[: int(np.sum(sizes > RANK * max(sizes.max(initial=0.0), 1e-300)))].tolist())
