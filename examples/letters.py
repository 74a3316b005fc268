"""A chain of letters that slide on each other's outlines, from a pin at the top.

Figure 5(c) of lee2008. One-sided: one point of each letter slides on the letter above.
Two-sided: both outlines slide, a curve times a reversed curve, without a body between. Such
a joint loses rank where the curvatures of the two outlines cancel, as a bay does with a bow
of its size; convex outlines have no bays, and the chain swings on for as long as one likes.
"""

import numpy as np
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

import condyle as cd

TURNED = cd.Transform(cd.spatial.rotation_z(np.pi))


def outline(letter, convex, n=64):
    """Frames clockwise around a letter, from its top: x along the outline, y outwards."""
    edge = TextPath((0, 0), letter, 0.1, FontProperties(weight="bold")).to_polygons()[0]
    edge = edge[[*(hull := ConvexHull(edge).vertices), hull[0]]] if convex else edge
    way = np.append(0, np.cumsum(np.linalg.norm(np.diff(edge, axis=0), axis=1)))
    s = np.linspace(0, way[-1], 8 * n, endpoint=False)
    p = np.stack([np.interp(s, way, x) for x in (*edge.T, 0 * way)], 1)
    p = gaussian_filter1d(p - p.mean(0), 24, axis=0, mode="wrap")  # corners are rounded
    p = p if np.cross(p, np.roll(p, -1, 0))[:, 2].sum() < 0 else p[::-1]
    p = np.roll(p, -np.argmax(p[:, 1]), axis=0)
    x = (np.roll(p, -1, 0) - np.roll(p, 1, 0))[::8]
    x /= np.linalg.norm(x, axis=1)[:, None]
    up = [0.0, 0.0, 1.0]
    return cd.Transform(np.stack([x, np.cross(up, x), 0 * x + up], 2), p[::8])


def chain(letters, two_sided, convex=False):
    system, parent, above = cd.System(), "ground", None
    for k, letter in enumerate(letters):
        curve = cd.SplineCurve(frames := outline(letter, convex), closed=True)
        joint, X_BM = above or cd.Pin(), curve.pose(0.0) @ TURNED  # at its top
        if above and two_sided:
            below = cd.SplineCurve(frames @ TURNED, closed=True).reversed()
            joint, X_BM = cd.compose(above, below), (0, 0, 0)
        system.add_body(
            f"{k}{letter}",
            parent,
            joint,
            X_BM=X_BM,
            mass=0.05,
            inertia=(2e-5, 2e-5, 4e-5),
        )
        parent, above = f"{k}{letter}", curve
    return system


one, two = chain("CONDYLES", two_sided=False), chain("CONDYLES", two_sided=True)
fixed = [name for name in two.coordinates if name.endswith("q2")]
half = {name: 0.45 for name in two.coordinates[1:] if name not in fixed}
a, b = one.state(q=[0, *half.values()]), two.state(q=half)
held = dict(zip(two.speeds, b.replace(locked=fixed).udot))  # is the one-sided chain
np.testing.assert_allclose([held[n] for n in ("0C", *half)], a.udot, rtol=1e-9)
for state in (a, b):
    run = cd.simulate(state.system, state, t_final=0.2, accuracy=1e-6)
    off = np.ptp(np.add(*state.system.energy(run.q, run.u)))
    print(f"{run.q.shape[1]} coordinates, {len(run)} steps: energy within {off:.0e} J")
    assert off < 1e-4

round_ = chain("CONDYLES", two_sided=True, convex=True)
run = cd.simulate(round_, round_.state(q=half), t_final=2.0, accuracy=1e-4)
off = np.ptp(np.add(*round_.energy(run.q, run.u)))
print(
    f"convex, two-sided: {run.t[-1]:g} s in {len(run)} steps, energy within {off:.0e} J"
)
assert run.finished
assert off < 1e-3
