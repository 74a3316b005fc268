"""cd.inverse_dynamics: arm26 against OpenSim, external loads, what is left out."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.studies.arm import INNER, arm, motion, reference, table


def moments() -> np.ndarray:
    data = reference("inverse_dynamics_solver")
    return np.column_stack([data["r_shoulder_elev_moment"], data["r_elbow_flex_moment"]])


def test_arm26_against_opensim(evidence):
    tau = cd.inverse_dynamics(arm(), motion())
    assert tau.names == ("r_shoulder_elev", "r_elbow_flex")
    assert tau.units == ("N m", "N m")
    evidence(
        "inverse dynamics of arm26 against OpenSim's solver, analytic accelerations [N m]",
        abs(tau.values - moments()).max(),
        1e-9,  # both are exact recursions: rounding
        headline="moments",
    )


def test_muscles_are_left_out_and_it_says_so():
    tau = cd.inverse_dynamics(arm(), motion())
    assert tau.status == cd.Status.FINISHED
    assert "6 forces left out: TRIlong" in tau.status
    with_muscles = cd.inverse_dynamics(arm(), motion(), groups=("gravity", "muscle"))
    own = arm().inverse_dynamics(motion().q, motion().u, motion().udot)
    np.testing.assert_allclose(with_muscles.values, own, rtol=0, atol=1e-12)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'muscle'"):
        cd.inverse_dynamics(arm(), motion(), groups=("muscles",))


def test_splines_of_a_table():
    """The elbow's angle is a polynomial of degree 5, whose accelerations are exact in all rows, but for
    rounding over step^2. OpenSim's natural splines are off by 1e-5 inside, and by 2.727 - 2.684 in the last
    row."""
    tau = cd.inverse_dynamics(arm(), table())
    assert abs(tau.values - moments()).max() < 1e-9
    np.testing.assert_allclose(tau.values[[0, -1], [0, 1]], [0.0807, 2.7270], rtol=0, atol=1e-4)  # digits
    theirs = cd.inverse_dynamics(arm(), cd.Motion.of(arm(), table(), as_opensim=True))
    assert abs(theirs.values - moments())[INNER].max() < 1e-5
    np.testing.assert_allclose(theirs.values[-1, 1], 2.684, rtol=0, atol=1e-3)  # digits


def leg() -> cd.System:
    system = cd.System()
    system.add_body("pelvis", mobilizer=cd.Free(), mass=8, inertia=(0.1, 0.2, 0.3))
    system.add_body(
        "foot",
        "pelvis",
        cd.Pin(),
        X_PF=(0, -0.4, 0),
        X_BM=(0, 0.1, 0),
        mass=2,
        com=(0.02, 0, 0),
        inertia=(0.01, 0.02, 0.03),
    )
    return system


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")  # loads that carry no weight
def test_external_loads_act_as_time_series_do():
    """In ground, in the body and in another body; a point in each of them; two loads on one body."""
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 12)
    names = [a + x for a in "fpm" for x in "xyz"]
    loads = cd.Table(t, names, rng.normal(size=(12, 9)))
    f, p, m = loads.values.reshape(12, 3, 3).transpose(1, 0, 2)
    body = leg()
    moved = cd.Motion(body, t, *(rng.normal(size=(12, n)) for n in (body.nq, body.nu, body.nu)))
    X = {name: body.body_pose(moved.q, name) for name in ("ground", "foot", "pelvis")}
    J = {name: body.kinematics.frame_jacobian(moved.q, name, (0, 0, 0)) for name in ("foot", "pelvis")}
    turned = lambda name, x: np.einsum("...ij,...j->...i", X[name].R, x)
    for frame, point in (("ground", "ground"), ("foot", "foot"), ("pelvis", "ground"), ("ground", "pelvis")):
        load = cd.ExternalLoad("foot", loads, ("fx", "fy", "fz"), "p", "m", frame=frame, point_frame=point)
        tau = cd.inverse_dynamics(body, moved, [load, cd.ExternalLoad("pelvis", loads, torque="m")])
        arm = turned(point, p) + X[point].p - X["foot"].p
        F = np.concatenate([turned(frame, m) + np.cross(arm, turned(frame, f)), turned(frame, f)], axis=1)
        expected = body.inverse_dynamics(moved.q, moved.u, moved.udot)
        expected -= np.einsum("tij,ti->tj", J["foot"], F) + np.einsum("tij,ti->tj", J["pelvis"][:, :3], m)
        np.testing.assert_allclose(tau.values, expected, rtol=0, atol=1e-11)  # rounding of 100 N m
    assert tau.units == ("N m",) * 3 + ("N",) * 3 + ("N m",)
    free, load = cd.inverse_dynamics(body, moved).values, cd.ExternalLoad("foot", loads, torque="m")
    once = cd.inverse_dynamics(body, moved, load).values - free
    loads.values[:] *= 2  # between calls: it counts as it is
    twice = cd.inverse_dynamics(body, moved, load).values - free
    np.testing.assert_allclose(twice, 2 * once, rtol=0, atol=1e-11)


def test_what_a_load_gives_is_the_callers():
    """Its numbers may be changed and columns renamed: the next study has those of the Table."""
    system = cd.System()
    system.add_body("b", mobilizer=cd.Translation(), mass=1.0)
    t = np.linspace(0, 1, 11)
    moved = cd.Motion(system, t, np.zeros((11, 3)), np.zeros((11, 3)), np.zeros((11, 3)))
    table = cd.Table(t, ["fx", "fy", "fz", "gx", "gy", "gz"], np.tile([1.0, 2, 3, 4, 5, 6], (11, 1)))
    load = cd.ExternalLoad("b", table, force="f")
    force = load.acting(moved)[1]
    force += 10.0
    np.testing.assert_allclose(load.acting(moved)[1][0], [1, 2, 3])
    table.names = (*table.names[3:], *table.names[:3])
    np.testing.assert_allclose(load.acting(moved)[1][0], [4, 5, 6])


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")  # loads that carry no weight
@pytest.mark.parametrize("unknown", [np.nan, 0.0])
def test_points_that_do_not_matter(unknown):
    """Force plates know no point without a force: what they write there instead has no part in the moments,
    between the rows neither."""
    body, t, fine = leg(), np.linspace(0, 1, 41), np.linspace(0, 1, 81)
    rest = cd.Motion(body, fine, np.broadcast_to(body.defaults()[0], (81, body.nq)))
    f, zero = np.where(abs(t - 0.5) < 0.2, 700.0 * np.cos((t - 0.5) * 2.5 * np.pi), 0.0), 0 * t

    def moments(px):
        loads = cd.Table(
            t, [a + x for a in "fp" for x in "xyz"], np.column_stack([zero, f, zero, px, 0 * px, zero])
        )
        return cd.inverse_dynamics(body, rest, cd.ExternalLoad("foot", loads, force="f", point="p")).values

    np.testing.assert_allclose(
        moments(np.where(f > 0, 0.25, unknown)), moments(0 * t + 0.25), rtol=0, atol=1e-11
    )  # rounding of 200 N m


@pytest.mark.filterwarnings("ignore::condyle.errors.QualityWarning")  # loads that carry no weight
def test_wrong_loads_are_named():
    body, t = leg(), np.linspace(0, 1, 12)
    rest = cd.Motion(body, t, np.broadcast_to(body.defaults()[0], (12, body.nq)))
    loads = cd.Table(t, ["fx", "fy", "fz", "px", "py", "pz"], np.ones((12, 6)))
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'foot'"):
        cd.inverse_dynamics(body, rest, cd.ExternalLoad("food", loads, force="f"))
    with pytest.raises(cd.errors.DescriptionError, match="a load on ground has no effect"):
        cd.inverse_dynamics(body, rest, cd.ExternalLoad("ground", loads, force="f"))
    with pytest.raises(cd.errors.UnknownNameError, match="unknown column"):
        cd.ExternalLoad("foot", loads, force=("fx", "fy", "z"))
    with pytest.raises(cd.errors.DescriptionError, match="give force= or torque="):
        cd.ExternalLoad("foot", loads)
    with pytest.raises(cd.errors.ShapeError, match="loads are known from 0 to 0"):
        cd.inverse_dynamics(body, rest, cd.ExternalLoad("foot", loads[:6], force="f"))
    with pytest.raises(cd.errors.DescriptionError, match="make one of it and the names of its columns"):
        cd.inverse_dynamics(body, rest, loads)
    bad = loads.values.copy()
    bad[3, 4] = np.nan
    hurt = cd.Table(t, loads.names, bad)
    with pytest.raises(cd.errors.ShapeError, match="'py' is nan at t = 0"):
        cd.inverse_dynamics(body, rest, cd.ExternalLoad("foot", hurt, force="f", point="p"))
    bad[3, :3] = 0  # no force, no point: a foot in the air
    hurt = cd.Table(t, loads.names, bad)
    assert np.isfinite(cd.inverse_dynamics(body, rest, cd.ExternalLoad("foot", hurt, "f", "p")).values).all()


def test_forward_simulation_with_the_moments_returns_the_motion(evidence):
    """The moments of a recorded motion as time series of forces: the run from its first state goes along it.
    A spline through 101 moments is off by 1e-6 of them between."""
    t = np.linspace(0, 1, 101)
    system = cd.models.arm26(None)
    q = np.column_stack([0.3 * np.sin(3 * t), 0.8 - 0.7 * np.cos(2 * t)])
    u = np.column_stack([0.9 * np.cos(3 * t), 1.4 * np.sin(2 * t)])
    udot = np.column_stack([-2.7 * np.sin(3 * t), 2.8 * np.cos(2 * t)])
    tau = cd.inverse_dynamics(system, cd.Motion(system, t, q, u, udot))
    driven = cd.models.arm26(None)
    for name in driven.speeds:
        driven.add_force(f"moment at {name}", cd.forces.MobilityForce(name, (t, tau[name])))
    run = cd.simulate(driven, driven.state(q=q[0], u=u[0]), 1.0, accuracy=1e-9)
    evidence(
        "simulation of arm26 with the moments of inverse dynamics returns the motion [rad]",
        abs(run.at(t)[:, :2] - q).max(),
        1e-5,
    )


def test_columns_of_a_load_in_another_order_are_refused():
    """Force plates' files may have y, the vertical, first: three columns by their beginning would be mixed
    up."""
    names = ["vz", "vy", "vx", "px", "py", "pz"]
    table = cd.Table([0.0, 1.0], names, np.ones((2, 6)))
    with pytest.raises(cd.errors.DescriptionError, match="are in the order vz, vy, vx; give their names"):
        cd.ExternalLoad("foot", table, force="v", point="p")
    load = cd.ExternalLoad("foot", table, force=("vx", "vy", "vz"), point="p")
    assert load.force == ("vx", "vy", "vz") and load.point == ("px", "py", "pz")
