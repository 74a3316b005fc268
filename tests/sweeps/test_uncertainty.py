"""Bands of studies, factors of masses and muscles, local sensitivities beside sampled ones."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

import condyle as cd
from tests.sweeps import works
from tests.sweeps.test_sweep import pendulum  # noqa: F401 (a fixture)

T = np.linspace(0, 1, 11)


def line(member):
    return cd.Table(T, ["x", "y"], np.column_stack([member["a"] * T, member["b"] + 0 * T]), ["m", "s"])


def test_bands():
    members = cd.members({"a": (0, 2), "b": scipy.stats.norm(3, 1)}, n=512, seed=1)
    found = cd.uncertainty(line, members, quantiles=(0.1, 0.9))
    x = members["a"][:, None] * T
    np.testing.assert_allclose(found.mean["x"], x.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.std["x"], x.std(axis=0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(found.low["x"], np.quantile(x, 0.1, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.high["y"], 3 + 1.2816, atol=0.01)  # of even members
    assert found.mean.units == ("m", "s") and "512 members" in repr(found)
    shares = found.sensitivity("x", of=1.0)
    np.testing.assert_allclose(shares.first, [1, 0], atol=1e-6)
    axes = found.plot("x")
    assert len(axes.collections) == 1 and len(axes.lines) == 1
    with pytest.raises(AttributeError, match="found"):
        cd.uncertainty(lambda m: {"one": line(m)}, members[:4]).mean  # noqa: B018
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'one'"):
        cd.uncertainty(lambda m: {"one": line(m)}, members[:4])["on"]


def test_members_that_fail_are_left_out():
    members = cd.members({"a": (0, 2)}, n=64)

    def study(member):
        if member.index == 3:
            raise ValueError("no")
        return cd.Table(T, ["x"], member["a"] * T[:, None])

    found = cd.uncertainty(study, members, retries=0)
    assert [f.member for f in found.sweep.failures] == [3] and found.bands["value"].values.shape == (
        63,
        11,
        1,
    )
    np.testing.assert_allclose(found.sensitivity("x").first, [1.0], atol=1e-6)


@pytest.mark.parametrize(
    ("study", "options", "words"),
    [
        (lambda m: 1.0, {}, "no member finished: DescriptionError: uncertainty: expected a Table"),
        (
            lambda m: cd.Table(T[: 2 + m.index], ["x"], 0 * T[: 2 + m.index, None]),
            {},
            "other rows or columns",
        ),
        (line, {"quantiles": (0.9, 0.1)}, "two shares"),
        (5, {}, "expected a function of a member"),
    ],
)
def test_mistakes(study, options, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.uncertainty(study, cd.members({"a": (0, 1), "b": (0, 1)}, n=4), retries=0, **options)


@pytest.fixture(scope="module")
def arm():
    """An arm that bends its elbow with a load in its hand."""
    system = cd.models.arm26()
    t = np.linspace(0, 1, 21)
    angles = np.stack([0.2 * t, 1.2 * (10 * t**3 - 15 * t**4 + 6 * t**5) + 0.2], axis=1)
    return system, cd.Table(t, system.coordinates, angles, ["rad", "rad"])


def test_factors_are_those_of_another_model(arm):
    """One system with Parameters gives what systems with other numbers give."""
    system, motion = arm
    study = cd.MotionStudy(
        system, motion, reserves=1.0, results=("moments", "activations", "forces", "loads")
    )
    varied = {"mass": 1.1, "BIClong strength": 0.7, "TRIlong slack": 1.04, "BRA fiber": 0.95}
    members = cd.Table([0, 1], list(varied), [[1.0] * 4, list(varied.values())], over="member")
    found = cd.sweep(study, members)
    other = system.copy(
        bodies={
            b.name: {"mass": 1.1 * float(b.mass), "inertia": 1.1 * np.asarray(b.mass_properties.inertia)}
            for b in system.bodies
            if float(b.mass) > 0
        },
        forces={
            "BIClong": replace(f := system.force("BIClong"), max_isometric_force=0.7 * f.max_isometric_force),
            "TRIlong": replace(
                f := system.force("TRIlong"), tendon_slack_length=1.04 * f.tendon_slack_length
            ),
            "BRA": replace(f := system.force("BRA"), optimal_fiber_length=0.95 * f.optimal_fiber_length),
        },
    )
    for i, model in enumerate((system, other)):
        moments = cd.inverse_dynamics(model, motion)
        muscles = cd.static_optimization(model, motion, reserves=1.0)
        loads = cd.joint_reactions(model, motion, muscles.forces)
        for name, table in (("moments", moments), ("forces", muscles.forces), ("loads", loads)):
            # rounding through a program of weak muscles
            np.testing.assert_allclose(found[i][name].values, table.values, rtol=1e-7, atol=1e-7)
    assert np.abs(found[0]["forces"].values - found[1]["forces"].values).max() > 1
    with pytest.raises(cd.errors.DescriptionError, match="did you mean 'BRA slack'"):
        cd.uncertainty(study, cd.members({"BRA slak": (0.9, 1.1)}, n=2), retries=0)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'moments'"):
        cd.MotionStudy(system, motion, results=("moment",))


def test_markers_are_those_of_the_studys_own_copy(tmp_path):
    """Two copies of a model that was read from a file share what is compiled of them, but not their markers."""
    system = cd.models.arm26()
    system.add_marker("elbow", "r_humerus", (0, -0.29, 0))
    cd.write_osim(system, tmp_path / "arm.osim")
    here = cd.read_osim(tmp_path / "arm.osim")
    there = cd.read_osim(tmp_path / "arm.osim").copy(markers={"elbow": (0.1, 0.2, 0.3)})
    assert here.compiled is there.compiled
    t = np.linspace(0, 1, 3)
    for system in (here, there, here):
        study = cd.MotionStudy(system, cd.Table(t, ["r_elbow_flex"], t[:, None], ["rad"]))
        assert study.varied(("mass",)).marker("elbow").station == system.marker("elbow").station
        assert study.varied(("mass",)) is study.varied(("mass",))


def test_noise_is_each_members_own(arm):
    system, motion = arm
    study = cd.MotionStudy(system, motion, noise=0.001, results=("kinematics", "moments"))
    members = cd.members({"mass": scipy.stats.norm(1, 0.05)}, n=32, seed=4)
    found = cd.uncertainty(study, members)
    noise = np.random.default_rng((4, 7)).normal(scale=0.001, size=motion.values.shape)
    np.testing.assert_array_equal(found["kinematics"].values[7], motion.values + noise)
    again = cd.uncertainty(study, members, executor="processes", chunk=5)
    np.testing.assert_array_equal(found["moments"].values, again["moments"].values)
    assert 0.5e-3 < found["kinematics"].std["r_elbow_flex"].mean() < 1.5e-3  # 1/sqrt(2 * 32) of it


def test_sensitivity_to_all_muscle_strengths(arm):
    """Sampled shares beside those of differences at the mean."""
    system, motion = arm
    what = {f"{m} strength": scipy.stats.norm(1, 0.1) for m in system.muscles}
    study = cd.MotionStudy(system, motion, reserves=1.0, results=("loads",))
    found = cd.uncertainty(study, cd.members(what, n=256, seed=1))
    shares = found["loads"].sensitivity("r_ulna_radius_hand_fy", of=0.5)
    assert shares.estimator == "polynomial" and 0.9 < shares.first.sum() < 1.001
    ends = 1 + 1e-3 * np.concatenate([np.eye(6), -np.eye(6)])
    near = cd.uncertainty(study, cd.Table(np.arange(12), list(what), ends, over="member"))
    y = near["loads"]["r_ulna_radius_hand_fy"][:, 10].reshape(2, 6)
    linear = (y[0] - y[1]) ** 2 / ((y[0] - y[1]) ** 2).sum()
    np.testing.assert_allclose(shares.first, linear, atol=0.05)  # 10 % is not small


def test_exact_slopes_beside_sampled_shares(pendulum):  # noqa: F811
    what = {"mass": scipy.stats.norm(1, 0.01), "a": scipy.stats.norm(0.5, 0.01), "u.b": (-0.01, 0.01)}
    work = cd.Simulation(pendulum, pendulum.state(), 0.5, accuracy=1e-9)
    members = cd.members(what, n=256)
    found = cd.sweep(work, members, measures={"angle": "b"})
    shares = found.sensitivity("angle")
    np.testing.assert_allclose(shares.linear, shares.first, atol=0.01)  # the scatter of 256 members
    mean = members.values.mean(axis=0)
    for k, h in enumerate((1e-4, 1e-4, 1e-4)):
        ends = [mean + h * s * np.eye(3)[k] for s in (-1, 1)]
        two = cd.sweep(work, cd.Table([0, 1], members.names, ends, over="member"), measures={"angle": "b"})
        slope = (two["angle"][1] - two["angle"][0]) / (2 * h)
        np.testing.assert_allclose(shares.slope[k], slope, rtol=1e-4, atol=1e-6)  # h^2, accuracy / h
    assert (
        "slope" in repr(shares)
        and cd.sweep(works.ishigami, cd.members(dict.fromkeys("abc", (0, 1)), n=64)).local("y") == {}
    )


def test_a_store_knows_a_simulation(pendulum, tmp_path):  # noqa: F811
    members = cd.members({"a": (-1, 1)}, n=4)
    cd.sweep(cd.Simulation(pendulum, pendulum.state(), 0.1), members, store=tmp_path / "s")
    with pytest.raises(cd.errors.DescriptionError, match="different work"):
        cd.sweep(cd.Simulation(pendulum, pendulum.state(), 0.2), members, store=tmp_path / "s")
    start = pendulum.state(q={"b": 0.1})
    with pytest.raises(cd.errors.DescriptionError, match="different work"):
        cd.sweep(cd.Simulation(pendulum, start, 0.1), members, store=tmp_path / "s")
