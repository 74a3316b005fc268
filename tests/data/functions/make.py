"""Write opensim.json: values of OpenSim's functions, from the opensim package (4.6). Run by hand: python
make.py"""

import json
from pathlib import Path

import numpy as np
import opensim

AT = {
    "inside": (0.013, 0.37, 0.62, 0.98),
    "points": (0.0, 0.25, 0.5, 1.0),
    "outside": (-0.7, -0.01, 1.02, 2.3),
}


def through(kind, x, y, degree=None):
    f = kind()
    if degree:
        f.setDegree(degree)
    for a, b in zip(x, y, strict=True):
        f.addPoint(float(a), float(b))
    return f


def sampled(f, at, orders):
    def derivative(x, order):
        which = opensim.StdVectorInt()
        for _ in range(order):
            which.append(0)
        return f.calcDerivative(which, opensim.Vector(1, x)) if order else f.calcValue(opensim.Vector(1, x))

    return [[derivative(float(x), k) for x in at] for k in range(orders)]


cases = []
for seed, n in enumerate((2, 3, 4, 5, 8, 12)):
    rng = np.random.default_rng(seed)
    x = np.cumsum(rng.uniform(0.1, 1.0, n)) - 2
    y = rng.normal(size=n)
    span = x[-1] - x[0]
    at = np.concatenate([x[0] + span * np.array([s for group in AT.values() for s in group]), x])
    kinds = [
        ("SimmSpline", opensim.SimmSpline, None, 3),
        ("PiecewiseLinear", opensim.PiecewiseLinearFunction, None, 1),
    ]
    kinds += [("Spline", opensim.GCVSpline, k, 3) for k in (3, 5, 7) if n > k]
    for name, kind, degree, orders in kinds:
        f = through(kind, x, y, degree)
        cases.append(
            {
                "kind": name,
                "degree": degree,
                "x": x.tolist(),
                "y": y.tolist(),
                "at": at.tolist(),
                "values": sampled(f, at, orders),
            }
        )
document = {
    "source": f"opensim {opensim.GetVersion()}: SimmSpline, PiecewiseLinearFunction, GCVSpline "
    "(error variance 0)",
    "made by": "tests/data/functions/make.py",
    "values": "[order of derivative][at]",
    "cases": cases,
}
Path(__file__).with_name("opensim.json").write_text(json.dumps(document, indent=None) + "\n")
