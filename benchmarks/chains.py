"""The system of sherman2011, Fig. 3: eleven chains of twenty pins, turned at random, below a common base that
oscillates.

The chains hang at rest at q = 0, with light damping; all pins start with small random speeds, so that the
motion is not chaotic. The base slides on a spring and is so heavy that the chains do not disturb its harmonic
motion. 221 bodies, 221 coordinates. The paper gives no numbers beyond that; these are our own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.trees import GRAVITY, random_inertia, random_rotation

CHAINS, BODIES = 11, 20
LENGTH = 0.1  # [m] of a body
DAMPING = 0.1  # [N m s/rad]
BASE, PERIOD, AMPLITUDE = 1e5, 1.5, 0.1  # [kg], [s], [m]
SPEED = 0.5  # [rad/s], largest of a pin at the start


def system(chains: int = CHAINS, bodies: int = BODIES, seed: int = 0) -> tuple[Any, Any]:
    """The System and its State at the start."""
    import condyle as cd

    rng = np.random.default_rng(seed)
    made = cd.System(gravity=GRAVITY)
    made.add_body("base", mobilizer=cd.Slider(), mass=BASE, inertia=(4e4, 4e4, 4e4))
    made.add_force("drive", cd.forces.MobilitySpring("base", BASE * (2 * np.pi / PERIOD) ** 2, 0.0))
    for c in range(chains):
        parent = "base"
        for i in range(bodies):
            name = f"chain{c}_{i}"
            R = random_rotation(rng)  # of F and M alike: bodies stand upright at q = 0
            made.add_body(
                name,
                parent,
                cd.Pin(),
                X_PF=cd.Transform(R, (0, -LENGTH, 0)),
                X_BM=cd.Transform(R),
                mass=rng.uniform(0.5, 2.0),
                com=(0, -LENGTH / 2, 0),
                inertia=random_inertia(rng),
            )
            made.add_force(f"damper of {name}", cd.forces.MobilityDamper(name, DAMPING))
            parent = name
    u = rng.uniform(-SPEED, SPEED, made.nu)
    u[0] = 0.0
    return made, made.state(q={"base": AMPLITUDE}, u=u)
