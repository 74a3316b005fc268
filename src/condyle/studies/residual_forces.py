"""ResidualForces: forces at a floating body that motion, masses and measured loads leave unexplained.

A body floats if its joint lets it translate relative to ground along at least two axes. Newton's law for it
and its descendants then gives the required external load. Any further load from inverse dynamics at this
joint is an error of motion, measured loads or masses: OpenSim calls it residual.

Guidelines are those of Hicks, Uchida, Seth, Rajagopal and Delp (2015), Is my model good enough?, J Biomech
Eng 137(2), 020905, and of OpenSim's page "Simulation with OpenSim - Best Practices": residual forces up to
5 % of the peak external force, RMS residual moments up to 1 % of the height of the mass center times it.
The height is computed as the distance from the common mass center to the farthest mass center of a body,
the feet of a standing subject, so that it does not vanish for a subject who is lying down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakSet

import numpy as np

from condyle.arrays import Array
from condyle.constraints.coordinates import CoordinateCoupler
from condyle.forces.actuators import Actuator
from condyle.forces.gravity import free_fall
from condyle.quality import Check, Quality
from condyle.records import dataclass
from condyle.studies.external_load import ExternalLoad, LoadWrenches
from condyle.studies.motion.motion import Motion
from condyle.system.system import System
from condyle.tree.body import Body

FORCE, MOMENT = 0.05, 0.01
"""Guidelines: peak residual force over the peak external force; RMS residual moment over this force times the
distance of the mass center from the farthest body."""
FORCE_FAILS, MOMENT_FAILS = 0.4, 0.1
"""Above these an input is wrong: filtered walks reach 0.15 and 0.02; forces are 0.9 without loads, 0.8 with
a missing plate, and 0.5 with loads applied twice; a center of pressure that is off by 10 cm gives a moment
of 0.1."""
SMALLEST = 1e-6
"""[m] Mass centers nearer to the common one have no lever arm."""
LOOKED = 12
"""Frames at which poses are evaluated."""
FITS = "motion, external loads and masses are inconsistent"


@dataclass(frozen=True, eq=False)
class FloatingBase:
    """A body that floats, with its descendants.

    Attributes:
        body: its name.
        forces: places of the speeds [m/s] of its joint in u.
        moments: places of its speeds [rad/s].
        carried: places of the body and its descendants among the bodies.
        depths: their depths in the tree.
        names: their names.
        masses: their masses [kg].
        mass_centers: their mass centers, in their frames [m], shape (n, 3).
        weight: their total weight [N].
    """

    body: str
    forces: list[int]
    moments: list[int]
    carried: list[int]
    depths: list[int]
    names: frozenset[str]
    masses: Array
    mass_centers: Array
    weight: float

    def without(self, held: Array) -> FloatingBase:
        """A mask of the speeds of the joint without locked ones, shape (nu,); loads at locked speeds are
        reactions."""
        forces, moments = ([k for k in part if not held[k]] for part in (self.forces, self.moments))
        return replace(self, forces=forces, moments=moments)


def floating_bases(system: System) -> list[FloatingBase]:
    """The bodies that float, cached; none if they may be supported by constraints, by rigid contacts, or by
    the actuators of a machine without muscles."""
    return system.compiled.remembered("floating bases", lambda: list(_floating_bases(system)))


def _floating_bases(system: System) -> Iterator[FloatingBase]:
    if system.constraints.unilateral or any(
        not isinstance(system.constraint(name), CoordinateCoupler) for name in system.constraints
    ):
        return
    if not system.muscles and any(isinstance(force, Actuator) for force in system._forces.values()):
        return
    g = free_fall(system._forces)
    for body in system.bodies:
        forces, moments = (
            [
                k
                for k, unit in zip(range(body.u.start, body.u.stop), body.mobilizer.speed_units)
                if unit == wanted
            ]
            for wanted in ("m/s", "rad/s")
        )
        carried = [(b, len(path)) for b in system.bodies if body in (path := _path(b))]
        if _path(body)[-1] is not body or len(forces) < 2 or len(carried) < 2 or body.motion is not None:
            continue
        masses = np.array([b.mass for b, _ in carried])
        yield FloatingBase(
            body.name,
            forces,
            moments,
            [b.index for b, _ in carried],
            [n for _, n in carried],
            frozenset(b.name for b, _ in carried),
            masses,
            np.array([b.mass_properties.com for b, _ in carried]).reshape(-1, 3),
            float(masses.sum() * np.linalg.norm(g)),
        )


def _path(body: Body) -> list[Body]:
    """The body and all bodies between it and ground."""
    out = [body]
    while out[-1].parent is not None and not out[-1].parent.is_ground:
        out.append(out[-1].parent)
    return out


class ResidualForces:
    """Residual forces of all floating bodies in a motion.

    Args:
        motion: the frames.
        tau: generalized forces that nothing known exerts [N, N m], shape (m, nu).
        loads: wrenches of the external loads.
        weighs: whether gravity acts.
    """

    def __init__(self, motion: Motion, tau: Array, loads: LoadWrenches, weighs: bool = True) -> None:
        self.motion, self.tau, self.loads, self.weighs = motion, tau, loads, weighs
        self.bases = floating_bases(motion.system)
        if self.bases and motion.start.locked:
            held = motion.system.compiled.tails.held(motion.start.tail)
            self.bases = [free for base in self.bases if len((free := base.without(held)).forces) > 1]

    def checks(self) -> Iterator[Check]:
        """Rows of a quality table."""
        for base in self.bases:
            yield from self._of(base)
        near = self.motion.end_rows
        if near.any():
            t, inside = self.motion.t, np.flatnonzero(~near)
            where = f"before {t[inside[0]]:g} s and after {t[inside[-1]]:g} s" if inside.size else "all"
            yield Check(
                "frames whose accelerations depend on the ends of the recording",
                int(near.sum()),
                f"of {len(t)}",
                where=where,
            )

    def suspicious(self) -> bool:
        """Whether a row may fail, judged by forces in about 15 microseconds; True if loads are used for the
        first time."""
        looked: WeakSet[ExternalLoad] = self.motion.system.compiled.remembered("loads looked at", WeakSet)
        new = [load for load in self.loads.given if load not in looked]
        looked.update(new)
        return bool(new) or any(
            _peak(self.tau[:, base.forces])[0] > FORCE_FAILS * base.weight * self.weighs
            for base in self.bases
        )

    def _sizes(self, base: FloatingBase) -> tuple[float, float]:
        """Peak external force and weight [N]."""
        own = [W for name, W in self.loads.items() if name in base.names]
        external = _peak(np.sum([W[:, 3:] for W in own], axis=0))[0] if own else 0.0
        return external, base.weight * self.weighs

    def _of(self, base: FloatingBase) -> Iterator[Check]:
        external, weight = self._sizes(base)
        size = max(external, weight)
        if not size > 0:
            return
        peak, i = _peak(self.tau[:, base.forces])
        advice = FITS
        if external < weight / 2:
            advice = (
                f"external loads of {external:.3g} N carry a weight of {weight:.3g} N: are loads "
                "missing, or not in N?"
            )
        elif peak > FORCE_FAILS * size:
            advice = (
                "do loads point the wrong way, is a plate missing, or is the motion not filtered (lowpass=6)?"
            )
        yield Check(
            f"peak residual force on {base.body}",
            peak,
            "N",
            FORCE * size,
            FORCE_FAILS * size,
            f"t = {self.motion.t[i]:.4g} s",
            advice,
        )
        rows, c = self._mass_centers(base)
        away = c - (base.masses @ c / base.masses.sum())[:, None]
        length = size * float(np.linalg.norm(away, axis=2).max(axis=1).mean())
        if base.moments and length > SMALLEST * size:
            M = self.tau[:, base.moments]
            known = ~np.isnan(M)
            rms = np.sqrt(np.where(known, M * M, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
            k = int(rms.argmax())
            yield Check(
                f"RMS residual moment on {base.body}",
                float(rms[k]),
                "N m",
                MOMENT * length,
                MOMENT_FAILS * length,
                self.motion.system.speeds[base.moments[k]],
                f"{FITS}. Points of loads are in meters, in ground",
            )
        for name in self.loads:
            if name in base.names:
                yield from self._near(base, name, rows, c)

    def _mass_centers(self, base: FloatingBase) -> tuple[list[int], Array]:
        """Some frames, and mass centers of the body and its descendants [m], shape (frames, n, 3)."""
        motion, compiled = self.motion, self.motion.system.compiled
        rows = [*range(0, len(motion), max(1, len(motion) // LOOKED))]
        tail = motion.tail[rows]
        X = compiled.shaped("body_pose", compiled.function("body_pose").fast(motion.q[rows], tail))
        X = X[:, base.carried]
        R = X[..., :9].reshape(*X.shape[:-1], 3, 3)
        return rows, (R @ base.mass_centers[..., None])[..., 0] + X[..., 9:]

    def _near(self, base: FloatingBase, name: str, rows: list[int], c: Array) -> Iterator[Check]:
        """Compare the distances of a load's line of action from its body and from other bodies at the same
        depth in the tree: a load of the left foot that was applied to the right one passes nearer to the
        left one."""
        bodies, W = self.motion.system.bodies, self.loads[name][rows]
        F, own = W[:, 3:], next(k for k, j in enumerate(base.carried) if bodies[j].name == name)
        alike = [k for k, depth in enumerate(base.depths) if depth == base.depths[own] and k != own]
        total = float(np.sqrt((F * F).sum(axis=1)).sum())
        if not alike or not total > 0:
            return
        M = W[:, None, :3] - np.cross(c, F[:, None])
        far = np.sqrt((M * M).sum(axis=2)).sum(axis=0) / total
        k = min(alike, key=lambda k: far[k])
        other = bodies[base.carried[k]].name
        yield Check(
            f"distance of the load on {name} from it",
            float(far[own]),
            "m",
            float(far[k]),
            where=f"{other} is {'nearer' if far[k] < far[own] else 'farther'}",
            advice=f"is this the load of {other}? Are the loads of two sides exchanged?",
        )


def _lost(tau: Array) -> Check:
    return Check(
        "frames that failed",
        int(np.isnan(tau).any(axis=1).sum()),
        f"of {len(tau)}",
        0.0,
        0.0,
        advice="see the status of the result",
    )


def _peak(f: Array) -> tuple[float, int]:
    """The largest length of vectors (m, n), and its frame; frames with NaN are ignored."""
    size = np.fmax(np.einsum("ij,ij->i", f, f), 0.0)
    i = int(size.argmax()) if len(size) else 0
    return float(np.sqrt(size[i])) if len(size) else 0.0, i


def residual_quality(
    who: str, motion: Motion, tau: Array, loads: LoadWrenches, weighs: bool = True
) -> Quality:
    """The quality of generalized forces (m, nu) that nothing known exerts; warns if it fails."""
    residuals = ResidualForces(motion, tau, loads, weighs)
    quality = Quality(lambda: [*residuals.checks(), _lost(tau)], who)
    if residuals.bases and residuals.suspicious():
        quality.warn()
    return quality
