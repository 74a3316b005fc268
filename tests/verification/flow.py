"""Motion of a system for tests: scipy's DOP853 around the operators."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp


def motion(system, q, u, times, **options):
    """q (n, nq) and u (n, nu) at the given times, from t = times[0]. Local errors 1e-12 relative, 1e-13
    absolute."""
    nq = system.nq
    rate = lambda t, y: np.concatenate(
        [system.qdot(y[:nq], y[nq:]), system.forward_dynamics(y[:nq], y[nq:], **options)]
    )
    solved = solve_ivp(
        rate,
        (times[0], times[-1]),
        np.concatenate([q, u]),
        method="DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-13,
    )
    assert solved.success, solved.message
    return solved.y.T[:, :nq], solved.y.T[:, nq:]
