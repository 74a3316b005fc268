"""Units of coordinates and speeds come from mobilizers, not from names."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import Mobilizer, RelativeMotion, motion
from condyle.mobilizers.constants import coordinate_units, speed_units
from condyle.spatial import rotation_z
from condyle.tree import scales
from tests.mobilizers.every import BUILT_IN, EVERY

SHIFT = lambda x: (np.eye(3), (x, 0, 0))
TURN = lambda x: (rotation_z(x), (x, 0, 0))


@pytest.mark.parametrize("name", [n for n in BUILT_IN if not n.startswith("Spline")])  # the user's own
def test_stated_units_are_those_of_the_equations(name):
    mobilizer = EVERY[name]
    q = ca.SX.sym("q", mobilizer.nq)
    _, _, *hinge = motion(mobilizer, ca.SX.sym("t"), q, ca.SX.sym("u", mobilizer.nu))[:4]
    hinge.append(mobilizer.N(q))
    assert coordinate_units(*hinge, mobilizer.quaternions) == mobilizer.units
    assert speed_units(*hinge, mobilizer.units) == mobilizer.speed_units


@pytest.mark.parametrize(
    ("mobilizer", "units", "speeds"),
    [
        (cd.compose(cd.Slider(), cd.Ball()), ("m", "1", "1", "1", "1"), ("m/s", "rad/s", "rad/s", "rad/s")),
        (
            cd.compose(cd.Slider(), cd.Ball()).reversed(),
            ("m", "1", "1", "1", "1"),
            ("m/s", "rad/s", "rad/s", "rad/s"),
        ),
        (cd.Custom("knee", TURN, N=lambda x: [[2.0]], speeds=("valgus",)), ("rad",), ("rad/s",)),
        (cd.Custom("x", SHIFT, N=lambda x: [[2.0]], speeds=("omega",)), ("m",), ("m/s",)),
        (cd.Custom("x", SHIFT), ("m",), ("m/s",)),
        (cd.Custom("x", SHIFT, units="mm"), ("mm",), ("mm/s",)),
        (
            cd.FunctionBased(("x", "y"), translations=(lambda x, y: x, lambda x, y: y * y, None)),
            ("m", "m"),
            ("m/s", "m/s"),
        ),
        (
            cd.FunctionBased(
                ("a", "y"),
                angles=(None, None, lambda a, y: a),
                translations=(lambda a, y: a, lambda a, y: y, None),
            ),
            ("rad", "m"),
            ("rad/s", "m/s"),
        ),
        (
            cd.FunctionBased("a", angles=(None, None, lambda a: np.deg2rad(a)), units="deg"),
            ("deg",),
            ("deg/s",),
        ),
    ],
)
def test_units_of_joints_that_users_make(mobilizer, units, speeds):
    assert (mobilizer.units, mobilizer.speed_units) == (units, speeds)


def test_weights_and_tables_follow_the_units():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body(
        "a", mobilizer=cd.compose(cd.Slider(), cd.Ball()), X_BM=(0, 2, 0), mass=1, inertia=(1, 1, 1)
    )
    q, u = scales.weights(system.bodies)
    # a length of the system is 2 m; quaternions count twice
    np.testing.assert_array_equal(q, [0.5, 2, 2, 2, 2])
    np.testing.assert_array_equal(u, [0.05, 0.1, 0.1, 0.1])
    table = cd.simulate(system, system.state(), 0.01).table()
    assert table.units == (*["m", "1", "1", "1", "1"], "m/s", *["rad/s"] * 3)


def test_degrees_and_millimeters_weigh_as_radians_and_meters_do():
    system = cd.System()
    system.add_body(
        "a",
        mobilizer=cd.FunctionBased("a", angles=(None, None, lambda a: np.deg2rad(a)), units="deg"),
        mass=1,
        inertia=(1, 1, 1),
    )
    system.add_body(
        "b",
        "a",
        cd.Custom("x", lambda x: (np.eye(3), (x / 1000, 0, 0)), units="mm"),
        mass=1,
        inertia=(1, 1, 1),
    )
    q, u = scales.weights(system.bodies)
    np.testing.assert_allclose(q, [np.pi / 180, 1e-3], rtol=1e-15)
    np.testing.assert_allclose(u, 0.1 * q, rtol=1e-15)


def quaternion_joint(**stated: object) -> Mobilizer:
    class Mine(Mobilizer):
        coordinate_names, speed_names = ("qw", "qx", "qy", "qz"), ("wx", "wy", "wz")

        def motion(self, t, q, u):
            return cd.Ball().motion(t, q, u)

        def N(self, q):
            return cd.Ball().N(q)

        def default_q(self):
            return np.array([1.0, 0, 0, 0])

    for name, value in stated.items():
        setattr(Mine, name, value)
    return Mine()


def test_quaternions_are_stated_not_guessed_from_names():
    system = cd.System()
    with pytest.raises(cd.errors.DescriptionError, match=r"quaternions = \(slice\(0, 4\),\)"):
        system.add_body("a", mobilizer=quaternion_joint(), mass=1, inertia=(1, 1, 1))
    mine = quaternion_joint(quaternions=(slice(0, 4),))
    assert (mine.units, mine.speed_units) == (("1",) * 4, ("rad/s",) * 3)
    system.add_body("a", mobilizer=mine, mass=1, inertia=(1, 1, 1))
    np.testing.assert_array_equal(system.compiled.normalized(np.array([2.0, 0, 0, 0])), [1, 0, 0, 0])


def test_a_custom_quaternion():
    from condyle.spatial import rotation_from_quaternion

    names = ("qw", "qx", "qy", "qz")

    def pose(*q):
        size = sum(x * x for x in q) ** 0.5
        return rotation_from_quaternion([x / size for x in q]), (0, 0, 0)

    N = lambda w, x, y, z: np.array([[-x, -y, -z], [w, z, -y], [-z, w, x], [y, -x, w]]) * 0.5
    with pytest.raises(cd.errors.DescriptionError, match=r"quaternions=\(0,\)"):
        cd.Custom(names, pose, N=N, default=(1, 0, 0, 0))
    joint = cd.Custom(names, pose, N=N, default=(1, 0, 0, 0), quaternions=(0,), speeds=("wx", "wy", "wz"))
    assert joint.quaternions == (slice(0, 4),)
    assert joint.speed_units == ("rad/s",) * 3
    with pytest.raises(cd.errors.DescriptionError, match="length must be 1"):
        cd.Custom(names, pose, N=N, default=(2, 0, 0, 0), quaternions=(0,))
    with pytest.raises(cd.errors.DescriptionError, match="ascending"):
        cd.Custom(names, pose, N=N, default=(1, 0, 0, 0), quaternions=(2,))


def test_units_of_a_class_of_ones_own():
    class Lift(Mobilizer):
        coordinate_names = speed_names = ("height",)

        def motion(self, t, q, u):
            return RelativeMotion(
                R=ca.SX.eye(3), p=ca.vertcat(0, 0, q), H_w=ca.SX(3, 1), H_v=ca.SX([0, 0, 1])
            )

    assert (Lift().units, Lift().speed_units) == (("m",), ("m/s",))
    wrong = Lift()
    wrong.units = ("m", "m")
    with pytest.raises(cd.errors.DescriptionError, match="units must be one for each of coordinate_names"):
        cd.System().add_body("a", mobilizer=wrong, mass=1, inertia=(1, 1, 1))
