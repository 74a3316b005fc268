"""A chain of 20 links between two hooks comes to rest: least potential energy on the
constraints, against the discrete catenary.

At rest the horizontal pull is the same in all links and the vertical one grows by a
link's weight from each to the next: tangents of the links' angles are evenly spaced. Two
numbers remain, which the distance of the hooks decides.
"""

import numpy as np
from scipy.optimize import fsolve

import condyle as cd

links, length, hook = 20, 0.1, (1.4, 0.3, 0.0)
chain = cd.System(gravity=(0, -9.81, 0))
for i in range(links):
    chain.add_body(
        f"link{i}",
        f"link{i - 1}" if i else "ground",
        cd.Pin(),
        X_PF=(length if i else 0, 0, 0),
        mass=0.05,
        com=(length / 2, 0, 0),
        inertia=(0, 0.05 * length**2 / 12, 0.05 * length**2 / 12),
    )
last = cd.constraints.Ball("ground", hook, f"link{links - 1}", (length, 0, 0))
chain.add_constraint("hook", last)

# a guess that does not meet the hook
sagging = chain.state(q=np.diff(np.linspace(-1.0, 1.2, links), prepend=0.0))
start = cd.assemble(chain, sagging)
rest = cd.relax(chain, start)
gap = np.abs(rest.constraints.errors()[0]).max()
print(
    f"energy from {start.energy()[1]:.4f} to {rest.energy()[1]:.4f} J; "
    f"hook met to {gap:.0e} m"
)


def ends(ab):
    angle = np.arctan(ab[0] + ab[1] * np.arange(links))
    return length * np.cos(angle).sum() - hook[0], length * np.sin(angle).sum() - hook[1]


a, b = fsolve(ends, (-1.0, 2 / links), xtol=1e-13)
error = np.abs(np.cumsum(rest.q) - np.arctan(a + b * np.arange(links))).max()
print(
    f"angles of the links off by {error:.0e} rad; "
    f"accelerations at rest below {np.abs(rest.udot).max():.0e} rad/s^2"
)
assert error < 1e-8
assert np.abs(rest.udot).max() < 1e-5
