"""Runs of which some times are kept, and their derivatives, piece by piece."""

import pickle

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, ShapeError


@pytest.fixture(scope="module")
def top() -> cd.System:
    system = cd.System()
    system.add_body(
        "a", mobilizer=cd.Ball(), X_BM=(0, 0.3, 0), mass=cd.Parameter("m", 2.0), inertia=(0.1, 0.05, 0.1)
    )
    series = cd.forces.TimeSeries([0.0, 0.3, 0.6, 1.0], [0.0, 1.0, -1.0, 0.5])
    system.add_force("push", cd.forces.MobilityForce("a_wx", series))
    return system


def test_pieces_are_one_run(top: cd.System) -> None:
    """With fixed steps that the pieces share: the same numbers as those of the whole run."""
    state, T, rng = top.state(u=[0.3, 1.0, -0.5]), [0.25, 0.5, 1.0], np.random.default_rng(0)
    how = {"step": 1 / 64, "integrator": "dormand-prince"}
    kept, whole = cd.simulate(top, state, 1.0, keep=[0.25, 0.5], **how), cd.simulate(top, state, 1.0, **how)
    np.testing.assert_array_equal(kept.t, [0.0, *T])
    np.testing.assert_array_equal(kept.y, whole.at([0.0, *T]))
    assert kept.statistics.steps == whole.statistics.steps == 64
    close = {"rtol": 1e-11, "atol": 1e-13}  # rounding: blocks of other steps
    for t in (None, T, 0.5):
        J, other = kept.jacobian(t=t), whole.jacobian(t=t)
        w = rng.normal(size=(*np.shape(t if t is not None else 0.0), 7))
        wrt = ("q", "u", "parameters", "inputs")
        g, expected = kept.vjp(w, t=t, wrt=wrt), whole.vjp(w, t=t, wrt=wrt)
        assert "inputs.push" in g
        for found, right in ((J, other), (g, expected)):
            for name in right:
                np.testing.assert_allclose(found[name], right[name], **close)
        v = {"u": [1.0, 2.0, 3.0], "parameters": {"m": 1.0}}
        np.testing.assert_allclose(kept.jvp(v, t=t), whole.jvp(v, t=t), **close)
    cost = lambda run: run.end(lambda s: s.u("a_wx")) ** 2 + run.at(0.5, lambda s: s.u("a_wy"))
    found, right = (cd.gradient(cost, traj)["parameters"] for traj in (kept, whole))
    np.testing.assert_allclose(found, right, **close)
    again = pickle.loads(pickle.dumps(kept))
    np.testing.assert_array_equal(again.vjp(w, wrt="u")["u"], kept.vjp(w, wrt="u")["u"])


def test_pieces_with_error_control(top: cd.System) -> None:
    """Each piece chooses its steps; derivatives are those of the motion to the accuracy."""
    state = top.state(u=[0.3, 1.0, -0.5])
    kept = cd.simulate(top, state, 1.0, accuracy=1e-9, keep="ends")
    J = cd.simulate(top, state, 1.0, accuracy=1e-9).jacobian(wrt="u")["u"]
    np.testing.assert_allclose(kept.jacobian(wrt="u")["u"], J, atol=1e-7)


def test_what_pieces_do_not_know(top: cd.System) -> None:
    state = top.state(u=[0.3, 1.0, -0.5])
    kept = cd.simulate(top, state, 1.0, keep=[0.5])
    with pytest.raises(ShapeError, match="not among the 3 times that were kept"):
        kept.jacobian(t=0.3)
    with pytest.raises(DescriptionError, match="this trajectory skips rows"):
        kept[::2].jacobian()
    with pytest.raises(DescriptionError, match="runs without events, and 'stop'"):
        cd.simulate(top, state, 1.0, keep=[0.5], events=cd.Event(lambda s: s.u("a_wx"), name="stop"))
    with pytest.raises(DescriptionError, match="threads= is for many states"):
        cd.simulate(top, state, 1.0, threads=2)
    with pytest.raises(DescriptionError, match="times must be between 0 and 1 s"):
        cd.simulate(top, state, 1.0, keep=[2.0])
