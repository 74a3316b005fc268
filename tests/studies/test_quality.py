"""Results know how good they are: mistakes of a walk's study fail, the walk as it should be does not warn."""

from functools import cache

import numpy as np
import pytest

import condyle as cd
from condyle.muscles.muscle import fibers, saturation
from condyle.studies.external_load import LoadWrenches
from condyle.studies.kinematics.result import LARGEST, RMS, marker_checks
from condyle.studies.residual_forces import floating_bases, residual_quality
from tests.studies.arm import arm


@cache
def subject():
    return cd.models.synthetic_subject(duration=0.6, noise=0.0, placement=0.0)


@cache
def motion():
    """Exact, so that nothing is left over."""
    own = subject()
    return cd.Motion(own.system, own.motion.time, own.motion.values, own.u, own.udot)


def loads(factor=1.0, bodies="rl", plates="rl"):
    table = subject().ground_reactions
    force = [table.units[k] == "N" for k in range(len(table.names))]
    scaled = cd.Table(table.time, table.names, np.where(force, factor, 1.0) * table.values, table.units)
    return [
        cd.ExternalLoad(f"foot_{b}", scaled, f"{p}_force", f"{p}_point")
        for b, p in zip(bodies, plates, strict=True)
    ]


def test_a_walk_as_it_should_be():
    """Ground reactions that fit the motion to rounding: nothing is left over, and nothing warns."""
    moments = cd.inverse_dynamics(subject().system, motion(), loads())
    quality = moments.check().quality
    assert quality.verdict == "ok" and quality["peak residual force on pelvis"].value < 1e-6
    assert quality["peak residual force"].guideline == pytest.approx(
        0.05 * np.linalg.norm(sum(load.table[list(load.force)].values for load in loads()), axis=1).max()
    )
    assert "quality" not in repr(moments).splitlines()[0]


MISTAKES = {
    "no force plates": (None, 667, "loads of 0 N carry a weight of 667 N"),
    "flipped": ({"factor": -1}, 1300, "do loads point the wrong way"),
    "in body weights": ({"factor": 1 / 667}, 667, "carry a weight of 667 N: are loads missing, or not in N"),
    "one plate": ({"bodies": "r", "plates": "r"}, 600, "is a plate missing"),
}
"""Options of `loads`, the least residual force [N], and what is said."""


@pytest.mark.parametrize("what", MISTAKES)
def test_loads_that_do_not_carry_the_body(what):
    options, least, words = MISTAKES[what]
    given = None if options is None else loads(**options)
    for study in (cd.inverse_dynamics, cd.joint_reactions):
        with pytest.warns(cd.errors.QualityWarning, match=words) as told:
            found = study(subject().system, motion(), external_loads=given)
        assert len(told) == 1
        assert found.quality["peak residual force on pelvis"].value > least
        with pytest.raises(cd.errors.QualityError, match="peak residual force on pelvis"):
            found.check()
        assert "quality fail: peak residual force" in repr(found)


def test_locked_speeds_have_no_residuals():
    """What acts where the pelvis is locked is a reaction, as of a seat that carries it."""
    own = subject()
    pelvis = own.system.body("pelvis")
    state = own.system.state(locked=own.system.speeds[pelvis.u])
    held = cd.Motion(own.system, own.motion.time, own.motion.values, own.u, own.udot, state=state)
    assert cd.inverse_dynamics(own.system, held).check().quality.verdict == "ok"


def test_residuals_of_frames_without_an_answer():
    """One frame of NaN does not hide how large they are in the others."""
    tau = np.zeros((len(motion()), subject().system.nu))
    tau[:, floating_bases(subject().system)[0].forces] = 1e4
    tau[3] = np.nan
    with pytest.warns(cd.errors.QualityWarning, match="peak residual force on pelvis: 14142 N"):
        quality = residual_quality("test", motion(), tau, LoadWrenches())
    assert quality["peak residual force"].value == pytest.approx(1e4 * np.sqrt(2))
    assert quality["RMS residual moment"].value == 0
    assert quality["frames that failed"].value == 1


def test_exchanged_feet():
    """All forces together are as they should be, so nothing is left over at the pelvis: the lines of action
    pass the other feet."""
    with pytest.warns(
        cd.errors.QualityWarning, match="distance of the load on foot_. .* nearer.*of two sides exch"
    ):
        moments = cd.inverse_dynamics(subject().system, motion(), loads(bodies="lr"))
    assert moments.quality["peak residual force"].verdict == "ok"
    assert moments.quality["distance of the load on foot_l"].verdict == "fail"


def test_no_residuals_of_what_does_not_float():
    """An arm on ground; a machine whose actuators carry it; one body alone."""
    moved = cd.Table(np.linspace(0, 1, 11), arm().coordinates, np.zeros((11, 2)), ["rad", "rad"])
    assert not any("residual" in check.what for check in cd.inverse_dynamics(arm(), moved).quality)
    gantry = cd.System()
    gantry.add_body("cart", mobilizer=cd.Translation(), mass=2, inertia=(0.1, 0.1, 0.1))
    gantry.add_body("arm", "cart", mobilizer=cd.Pin(), X_BM=(0, 0.3, 0), mass=1, inertia=(0.1, 0.1, 0.1))
    assert [base.body for base in floating_bases(gantry.copy())] == ["cart"]
    for k, name in enumerate(gantry.speeds[:3]):
        gantry.add_force(f"motor {k}", cd.forces.CoordinateActuator(name, 100.0))
    assert not floating_bases(gantry)


def test_static_optimization_that_lives_on_reserves():
    system = subject().system
    good = cd.static_optimization(system, motion()[::10], loads(), reserves=10.0).check()
    assert good.quality["largest reserve against its joint moment"].verdict == "ok"
    with pytest.warns(
        cd.errors.QualityWarning, match="peak residual force on pelvis: .* are loads missing"
    ) as told:
        bad = cd.static_optimization(system, motion()[::10], reserves=10.0)
    assert len(told) == 1 and not bad.failures
    with pytest.raises(cd.errors.QualityError):
        bad.check()
    with pytest.warns(
        cd.errors.QualityWarning, match="largest reserve against its joint moment: .* lower optimal"
    ):
        cd.static_optimization(system, motion()[::10], loads(), reserves=1e6)


def test_markers_far_from_the_model():
    system, walk = subject().system, subject().walk
    result = cd.inverse_kinematics(system, walk[::20]).check()
    assert result.quality.verdict == "ok" and result.quality["frames that failed"].value == 0
    errors = result.errors
    for rms, verdict in ((0.019, "ok"), (0.021, "check"), (0.1, "fail")):
        table = cd.Table(errors.time, errors.names, np.full(errors.values.shape, rms), errors.units)
        assert next(iter(marker_checks(table, RMS, LARGEST))).verdict == verdict


def test_fibers_and_saturated_muscles():
    full = next(iter(saturation(["a", "b", "c"], np.array([[1.0, 0.2, np.nan], [0.5, 0.2, 0.3]]))))
    assert (full.value, full.verdict, full.where) == (1, "check", "a in 50 % of the frames")
    long = next(iter(fibers(["a", "b", "c"], np.array([[1.0, 0.4, np.nan], [1.6, 1.2, 0.6]]))))
    assert (long.value, long.verdict, long.where) == (2, "check", "a 1.6, b 0.4")


def test_every_result_has_one():
    rigid = arm()
    assert cd.simulate(rigid, rigid.state(), 1e-3).check().quality.checks
    t = np.linspace(0, 1, 5)
    moved = cd.Table(t, rigid.coordinates, np.full((5, 2), 0.4), ["rad", "rad"])
    muscles = cd.static_optimization(rigid, moved, reserves=1.0)
    for result in (
        muscles,
        cd.muscle_analysis(rigid, moved, muscles.activations),
        cd.induced_accelerations(rigid, moved, muscles.forces),
        cd.scale(rigid, factors={"r_humerus": 1.1}),
    ):
        assert result.quality.checks and result.check() is result
        assert "quality" in result._repr_html_()
