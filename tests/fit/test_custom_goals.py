"""Goals that users write: the same as ours where both exist, least squares by SciPy where not."""
from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import least_squares

import condyle as cd

SOLID = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
P = (0.1, -0.4, 0.05)


@pytest.fixture(scope="module")
def system():
    system = cd.System()
    system.add_body("hip", mobilizer=cd.Ball(), **SOLID)
    system.add_body("shank", "hip", cd.Pin(), X_PF=(0, -0.4, 0), coordinates="knee", inertia=(1, 1, 1),
                    mass=cd.Parameter("m", 1.0))
    return system


def test_the_same_as_our_own(system):
    state, target = system.state(q={"knee": 0.3}), np.array([0.3, -0.6, 0.2])
    ours = cd.assemble(system, state, [cd.goals.Station("shank", P, target), cd.goals.Coordinate("knee", 0.5, weight=0.1)])
    mine = cd.assemble(system, state, [cd.goals.Custom(lambda s: s.station_position("shank", P), target),
                                       cd.goals.Custom(lambda s: s.q("knee"), 0.5, weight=0.1)])
    assert_allclose(mine.q, ours.q, rtol=0, atol=1e-7)


def test_against_scipy(system):
    """Not linear, two results, one of them missed; SciPy searches along rotation vectors from the start."""
    state = system.state(q={"knee": 0.3})

    def wish(s):
        x, y, z = s.station_position("shank", P)
        return [x * y + 0.3 * np.sin(s.q("knee")), z - 2 * x + s.parameter("m")]

    def residuals(v):
        q = system.compiled.normalised(state.q + system.qdot(state.q, v))
        x, y, z = system.station_position(q, "shank", P)
        return [x * y + 0.3 * np.sin(q[4]), z - 2 * x + 1.0]

    goal = cd.goals.Custom(wish, name="wish")
    found = cd.assemble(system, state, goal)
    x, y, z = found.station_position("shank", P)
    cost = (x * y + 0.3 * np.sin(found["knee"])) ** 2 + (z - 2 * x + 1.0) ** 2
    assert cost <= 2 * least_squares(residuals, np.zeros(4), xtol=1e-12, ftol=1e-12).cost + 1e-12


def test_frames_residuals_and_pickles(system):
    t = np.linspace(0, 1, 7)
    twice = cd.goals.Custom(lambda s: s.q("knee") * 2, np.sin(t), name="twice")
    frames = cd.assemble_frames(system, system.state(), [twice], t=t)
    assert_allclose(frames.q[:, 4], np.sin(t) / 2, rtol=0, atol=1e-6)
    assert frames.names == ("twice",) and frames.residuals.max() < 1e-6
    torn = cd.goals.Custom(lambda s: [s.q("knee"), s.q("knee")], [0.0, 1.0])
    missed = cd.assemble_frames(system, system.state(), [torn], t=t[:2])
    assert_allclose(missed.residuals, np.sqrt(0.5), rtol=1e-6)
    again = pickle.loads(pickle.dumps(cd.goals.Custom(lambda s: s.q("knee"), 0.2)))
    assert_allclose(cd.assemble(system, system.state(), again)["knee"], 0.2, rtol=0, atol=1e-7)


def test_refusals(system):
    state = system.state()
    with pytest.raises(cd.CondyleError, match="knee"):
        cd.assemble(system, state, cd.goals.Custom(lambda s: s.q("nkee")))
    with pytest.raises(cd.DescriptionError, match=r"goals\.Custom\(lambda\).*velocit"):
        cd.goals.Custom(lambda s: s.u("knee"))
    with pytest.raises(cd.DescriptionError, match="parameter 'k', which the system does not have"):
        cd.assemble(system, state, cd.goals.Custom(lambda s: s.q("knee") - s.parameter("k", 2.0)))
    with pytest.raises(cd.ShapeError, match=r"value has shape \(3,\)"):
        cd.goals.Custom(lambda s: [s.q("knee"), s.t], [1.0, 2.0, 3.0])
