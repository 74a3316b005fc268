"""What is looked at of a static optimization: residuals, reserves, saturated muscles, fibers, failures."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from condyle.arrays import Array
from condyle.forces.actuators import CoordinateActuator
from condyle.muscles.checks import fibers, saturation
from condyle.quality import Check
from condyle.studies.actors import Actors
from condyle.studies.residuals import Residuals

RESERVE, RESERVE_FAILS = 10.0, 50.0
"""[%] Peak of a reserve against the peak moment of its joint: OpenSim's guideline; and from where on the
reserves rather than the muscles move the joint."""
FELT = 0.01
"""Reserves below this part of the largest moment of all joints do not count."""


class Recruitment:
    """What is looked at of a static optimization.

    Args:
        actors: who acts.
        tau: what they do together [N m, N], shape (m, nu).
        x: activations, controls and reserves found, shape (m, n).
        most: their upper bounds, shape (n,).
        residuals: of the same motion and loads.
        physiology: whether tensions depended on fiber lengths.
    """

    def __init__(
        self, actors: Actors, tau: Array, x: Array, most: Array, residuals: Residuals, physiology: bool
    ) -> None:
        self.actors, self.tau, self.x, self.most = actors, tau, x, most
        self.residuals, self.physiology = residuals, physiology

    def suspicious(self) -> bool:
        """Whether a row may fail: found quickly."""
        return self.residuals.suspicious() or any(check.verdict == "fail" for check in self._helped())

    def checks(self) -> Iterator[Check]:
        """Rows of a quality table."""
        names = self.actors.muscles
        yield from self.residuals.checks()
        yield from self._helped()
        if names:
            yield from saturation(names, self.x[:, : len(names)], self.most[: len(names)])
            if self.physiology:
                yield from fibers(names, self.actors.fiber_lengths())
        failed = int(np.isnan(self.x).any(axis=1).sum())
        yield Check("frames that failed", failed, f"of {len(self.x)}", 0.0, 0.0, advice="see result.failures")

    def _helped(self) -> Iterator[Check]:
        """The largest reserve and the largest actuator of a coordinate, each against the moment there, where
        muscles could act."""
        actors, m = self.actors, len(self.actors.muscles)
        first = m + len(actors.others)
        base = {k for b in self.residuals.bases for k in (*b.forces, *b.moments)}
        forces: list[Any] = [actors.system.force(name) for name in actors.others]
        motors = [m + k for k, law in enumerate(forces) if isinstance(law, CoordinateActuator)]
        reserves = [*range(first, self.x.shape[1])]
        if not len(self.x) or not (motors or reserves):
            return
        reached = np.abs(actors.columns[..., :m]).max(axis=(0, 2), initial=0.0) > 0
        need = np.fmax.reduce(np.abs(self.tau), axis=0, initial=0.0)
        kinds = np.array(list(actors.system.compiled.generalized_forces.values()))
        floor = FELT * np.array([need[kinds == kind].max() for kind in kinds])
        for noun, columns, limit in (("reserve", reserves, RESERVE_FAILS), ("actuator", motors, math.inf)):
            given = np.abs((actors.columns[..., columns] @ self.x[:, columns, None])[..., 0])
            most = np.fmax.reduce(given, axis=0, initial=0.0)
            speeds = [j for j in range(len(need)) if reached[j] and j not in base and most[j] > floor[j]]
            if not columns or not reached.any():
                continue
            if not speeds:
                yield Check(f"largest {noun} against its joint moment", 0.0, "%", RESERVE, limit)
                continue
            j = max(speeds, key=lambda j: most[j] / max(need[j], 1e-300))
            i = int(np.nanargmax(given[:, j]))
            yield Check(
                f"largest {noun} against its joint moment",
                100 * most[j] / max(need[j], 1e-300),
                "%",
                RESERVE,
                limit,
                f"{most[j]:.3g} {kinds[j]} at {actors.system.speeds[j]}, t = {actors.motion.t[i]:.4g} s",
                "muscles cannot exert what this motion takes: are muscles or loads missing, or "
                "fibers stretched far? Or the reserves are cheap: give them a lower optimal force",
            )
