"""qddot, N, Ndot and their inverses: by differences along the motion, and as inverses of each other, for
every mobilizer."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import condyle as cd
from tests.differences import DIFFERENCES
from tests.system.test_operators import ROUNDING, along, options
from tests.zoo import model


@pytest.fixture(autouse=True)
def _casadi(monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")


def test_qddot_is_the_rate_of_qdot():
    """By differences along the motion, second order included: qdot at moved q and u."""
    system, at = model()
    found = system.kinematics.qddot(at["q"], at["u"], at["udot"], **options(at))
    expected = along(at, lambda s, x: s.qdot(x["q"], x["u"], **options(x)))
    assert_allclose(found, expected, rtol=0, atol=DIFFERENCES)
    # Ndot u counts here
    assert np.abs(found - system.qdot(at["q"], at["udot"])).max() > 0.1


def test_N_and_its_rate():
    system, at = model()
    q, u, udot, o = at["q"], at["u"], at["udot"], options(at)
    N, Ndot = system.kinematics.N(q, **o), system.kinematics.Ndot(q, u, **o)
    assert_allclose(N @ u, system.qdot(q, u, **o), rtol=0, atol=ROUNDING)
    assert_allclose(N @ udot + Ndot @ u, system.kinematics.qddot(q, u, udot, **o), rtol=0, atol=ROUNDING)
    assert_allclose(
        Ndot, along(at, lambda s, x: s.kinematics.N(x["q"], **options(x))), rtol=0, atol=DIFFERENCES
    )


def test_inverses():
    """N^-1 N = 1; N N^-1 drops only what no speeds can do."""
    system, at = model()
    q, u, udot, o = at["q"], at["u"], at["udot"], options(at)
    assert_allclose(system.kinematics.u_from_qdot(q, system.qdot(q, u, **o), **o), u, rtol=0, atol=ROUNDING)
    assert_allclose(
        system.kinematics.udot_from_qddot(q, u, system.kinematics.qddot(q, u, udot, **o), **o),
        udot,
        rtol=0,
        atol=ROUNDING,
    )
    nearest = np.linalg.lstsq(system.kinematics.N(q, **o), at["qdot"])[0]
    assert_allclose(system.kinematics.u_from_qdot(q, at["qdot"], **o), nearest, rtol=0, atol=ROUNDING)


def rates_of_two(a, b):
    return [[1, 0.2 * np.sin(b)], [0.1 * a, 2 + np.cos(a)]]


@pytest.mark.parametrize(
    "mobilizer",
    [
        cd.Ball(coordinates="euler"),
        cd.Free(coordinates="euler").reversed(),
        cd.LineOrientation(),
        cd.FreeLine(),
        cd.Ellipsoid((0.2, 0.3, 0.4)).reversed(),
        cd.Weld(),
        cd.compose(cd.Ball(), cd.Slider()),
        cd.Custom(("a", "b"), lambda a, b: (np.eye(3), (a, b, a * b)), N=rates_of_two),
    ],
    ids=repr,
)
def test_inverses_of_each_family(mobilizer):
    """A quaternion that is not normalized, too."""
    system = cd.System()
    system.add_body("a", mobilizer=mobilizer, mass=1, inertia=(1, 1, 1))
    rng = np.random.default_rng(0)
    q = mobilizer.random_q(rng)
    for part in mobilizer.quaternions:
        q[part] *= 1.7
    u, udot = rng.normal(size=(2, system.nu))
    assert_allclose(system.kinematics.u_from_qdot(q, system.qdot(q, u)), u, rtol=0, atol=ROUNDING)
    assert_allclose(
        system.kinematics.udot_from_qddot(q, u, system.kinematics.qddot(q, u, udot)),
        udot,
        rtol=0,
        atol=ROUNDING,
    )
    assert system.kinematics.N(q).shape == (system.nq, system.nu)


def test_euler_angles_at_their_singularity():
    """u from qdot exists where qdot from u does not."""
    system = cd.System()
    system.add_body("a", mobilizer=cd.Ball(coordinates="euler"), mass=1, inertia=(1, 1, 1))
    q = [0.3, np.pi / 2, 0.1]
    assert_allclose(system.kinematics.u_from_qdot(q, [1.0, 0.0, 2.0]), [3.0, 0.0, 0.0], rtol=0, atol=ROUNDING)
    for ask in (
        lambda: system.kinematics.qddot(q, [0, 0, 1], [0, 0, 0]),
        lambda: system.kinematics.N(q),
        lambda: system.kinematics.Ndot(q, [0, 0, 1]),
        lambda: system.kinematics.udot_from_qddot(q, [0, 0, 1], [0, 0, 0]),
    ):
        with pytest.raises(cd.errors.SingularError, match="cannot follow its speeds"):
            ask()


def test_derivatives_by_qdot():
    system, at = model()
    J = system.jacobian("kinematics.u_from_qdot", at["q"], at["qdot"], wrt="qdot", **options(at))
    assert_allclose(
        J @ at["qdot"],
        system.kinematics.u_from_qdot(at["q"], at["qdot"], **options(at)),
        rtol=0,
        atol=ROUNDING,
    )
