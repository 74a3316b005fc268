"""Derivatives of ensembles are those of their members, and bad input is refused."""

import numpy as np
import pytest

import condyle as cd
from condyle.errors import DescriptionError, ShapeError, UnknownNameError

N = 9  # more than there are lanes


@pytest.fixture(scope="module")
def system() -> cd.System:
    system = cd.System()
    system.add_body(
        "a", mobilizer=cd.Ball(), X_BM=(0, 0.4, 0), mass=cd.Parameter("m", 2.0), inertia=(0.3, 0.4, 0.5)
    )
    return system


def test_members(system: cd.System) -> None:
    rng = np.random.default_rng(0)
    start = {"u": rng.normal(size=(N, 3)), "parameters": {"m": 1 + rng.random(N)}}
    ens = cd.simulate(system, start, 0.5, accuracy=1e-6, keep="steps")
    for t in (None, [0.1, 0.5, 0.3]):
        J = ens.jacobian(t=t)
        w = rng.normal(size=(N, *(() if t is None else np.shape(t)), 7))
        g = ens.vjp(w, t=t)
        for i in range(N):
            one = ens[i].jacobian(t=t)
            for name, x in one.items():
                np.testing.assert_allclose(
                    J[name][i], x, rtol=1e-12, atol=1e-14
                )  # by matrices, and along directions
                expected = np.tensordot(w[i], x, axes=w[i].ndim)
                np.testing.assert_allclose(g[name][i], expected, rtol=0, atol=1e-12)  # rounding
    v = {"u": [1.0, 2.0, 3.0], "parameters": {"m": 1.0}}
    J = ens.jacobian()
    np.testing.assert_allclose(ens.jvp(v), J["u"] @ v["u"] + J["parameters"][..., 0], rtol=0, atol=1e-13)


def test_members_with_events() -> None:
    ball = cd.System()
    ball.add_body("ball", mobilizer=cd.Slider(axis="y"), mass=1.0)
    bounce = cd.Event(lambda s: s.q("ball"), action=lambda s: s.replace(u=-0.8 * s.u))
    ens = cd.simulate(ball, {"q": [[1.0], [2.0]]}, 1.0, accuracy=1e-8, events=bounce, keep="steps")
    J, g = ens.jacobian(), ens.vjp(np.ones((2, 2)))
    for i in range(2):
        np.testing.assert_array_equal(J["q"][i], ens[i].jacobian()["q"])
    np.testing.assert_allclose(g["q"], J["q"].sum(axis=1), rtol=1e-12)


def test_bad_input(system: cd.System) -> None:
    ens = cd.simulate(system, {"u": np.ones((2, 3))}, 0.1)
    with pytest.raises(DescriptionError, match="keep='steps'"):
        ens.jacobian()
    kept = cd.simulate(system, {"u": np.ones((2, 3))}, 0.1, keep="steps")
    with pytest.raises(ShapeError, match="members first"):
        kept.vjp(np.ones(7))
    with pytest.raises(UnknownNameError, match="parameters"):
        kept.vjp(np.ones((2, 7)), wrt="parameter")
    traj = cd.simulate(system, system.state(), 0.1)
    with pytest.raises(UnknownNameError, match="did you mean 'parameters'"):
        traj.jacobian(wrt=("q", "parameter"))
    with pytest.raises(ShapeError, match=r"u: expected 3 finite numbers.*got 'x'"):
        traj.jvp({"u": "x"})
    with pytest.raises(DescriptionError, match=r"jvp: parameters: m"):
        traj.jvp({"parameters": {"m": "heavy"}})
    with pytest.raises(DescriptionError, match="each variable once"):
        traj.jacobian(wrt=("q", "q"))
    with pytest.raises(ShapeError, match=r"shape \(7,\)"):
        traj.vjp(np.ones(6))
    with pytest.raises(ShapeError, match="one for each of"):
        traj.jvp({"parameters": [1.0, 2.0]})
    with pytest.raises(DescriptionError, match="directions by variable"):
        traj.jvp([1.0])  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="the trajectory goes from 0"):
        traj.vjp(np.ones(7), t=0.2)
    with pytest.raises(DescriptionError, match="this trajectory skips rows"):
        traj[::2].jacobian()
    broken = cd.System()
    broken.add_body("a", mobilizer=cd.Slider(), mass=1.0)
    broken.add_force("f", cd.forces.Custom(lambda s: {"a": s.q("a") / (s.t - 0.05)}))
    failed = cd.simulate(broken, broken.state(q=[1.0]), 0.1, accuracy=1e-8)
    if not failed.finished:
        with pytest.raises(DescriptionError, match=r"did not reach its end|stopped early"):
            failed.vjp(np.ones(2))


def test_words_before_memory_is_gone(system: cd.System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jacobians that this machine could not hold."""
    import condyle.system.checked_arguments as given

    ens = cd.simulate(system, {"u": np.ones((3, 3))}, 0.1, keep="steps")
    monkeypatch.setattr(given, "_memory", lambda: 1e4)
    t = np.linspace(0, 0.1, 20)
    with pytest.raises(DescriptionError, match=r"7 columns at 20 times: that takes .* fewer times"):
        ens[0].jacobian(t=t)
    with pytest.raises(
        DescriptionError, match=r"7 columns of 3 members at 20 times: that takes .*\(ens\[i:j\]\)"
    ):
        ens.jacobian(t=t)
    assert ens[0].vjp(np.ones(7))["u"].shape == (3,)
