"""All numbers of a System that scaling may change, by the names of live_scale.numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle as cd
from condyle.mobilizers.traced import motion_at
from tests.opensim.live_scale import Q


def numbers(system: cd.System) -> dict[str, Any]:
    out: dict[str, Any] = {}
    state = system.copy().state()
    for b in system.bodies:
        m = b.mass_properties
        out[f"{b.name} mass"], out[f"{b.name} com"] = m.mass, m.com
        I = m.inertia
        out[f"{b.name} inertia"] = np.array([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        out[f"{b.name} parent"], out[f"{b.name} child"] = b.X_PF.p, b.X_BM.p
        if isinstance(b.mobilizer, cd.FunctionBased):
            out[f"{b.name} functions"] = np.array(
                [
                    np.ravel(
                        motion_at(b.mobilizer, 0.0, np.full(b.mobilizer.nq, q), np.zeros(b.mobilizer.nu)).p
                    )
                    for q in Q
                ]
            )
    for name in system.muscles:
        law: Any = system.force(name)
        out[f"{name} lengths"] = np.array([law.optimal_fiber_length, law.tendon_slack_length])
        out[f"{name} begins"] = law.default_fiber_length
        places = [
            np.array(p.p)
            if not isinstance(p, cd.paths.MovingPoint)
            else np.array(
                [
                    f if isinstance(f, float) else f(state.q[system.coordinates.index(c)])
                    for f, c in zip(p.p, p.coordinate, strict=True)
                ]
            )
            for p in law.path.points
        ]
        out[f"{name} points"] = np.array(places)
        for w in law.path.wraps:
            out[f"wrap {w.name} place"], own = w.X_BS.p, w.surface
            keys = ("radius", "length", "inner_radius", "outer_radius", "radii")
            out[f"wrap {w.name} size"] = np.hstack([getattr(own, key) for key in keys if hasattr(own, key)])
    for name in system.markers:
        out[f"marker {name}"] = np.array(system.marker(name).station)
    return out
