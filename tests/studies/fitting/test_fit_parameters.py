"""cd.fit_parameters: known Parameters come back, standard errors are those of the scatter, and what is not said is
named."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.studies.fitting.fit import _Problem

TRUE = {"mass": 8.5, "stiffness": 14.0, "damping": 0.7}
SOUGHT = list(TRUE)
NOISE = 0.005


def leg():
    """A shank that swings at the knee against a spring and a damper."""
    system = cd.System()
    system.add_body(
        "shank",
        mobilizer=cd.Pin(),
        X_BM=(0, 0.25, 0),
        mass=cd.Parameter("mass", 8.0),
        inertia=(0.12, 0.02, 0.12),
        coordinates="knee",
    )
    system.add_force("spring", cd.forces.MobilitySpring("knee", cd.Parameter("stiffness", 10.0), 0.2))
    system.add_force("damper", cd.forces.MobilityDamper("knee", cd.Parameter("damping", 0.5)))
    return system


@pytest.fixture(scope="module")
def swing():
    """System, start, times and the true swing."""
    system = leg()
    start, t = system.state(q=[1.0]), np.linspace(0, 2, 101)
    run = cd.simulate(system, start.replace(parameters=TRUE), 2.0, accuracy=1e-12)
    return system, start, t, run.at(t)


def recording(t, y, sigma=0.0, seed=0):
    noise = sigma * np.random.default_rng(seed).normal(size=(len(t), 1))
    return cd.Table(t, ["knee"], y[:, :1] + noise, ["rad"])


def check_derivatives(system, residual, names, x=None, tolerance=2e-7):
    """dr/dx against differences of order 4."""
    problem = _Problem(system, names, [residual.prepare(system)], {})
    x = problem.x.copy() if x is None else x
    J = problem.at(x).by_parameters
    for k in range(len(x)):
        h = 1e-3 * max(1.0, abs(x[k]))
        e = h * np.eye(len(x))[k]
        r = [problem.at(x + c * e).r for c in (1, -1, 2, -2)]
        difference = (8 * (r[0] - r[1]) - (r[2] - r[3])) / (12 * h)
        scale = np.abs(J[:, k]).max() + 1e-6
        assert np.abs(J[:, k] - difference).max() < tolerance * scale  # errors of differences of order 4


# ---- runs ----


def test_a_swing_gives_back_what_made_it(swing):
    """The newcomer's 8.4955 and 13.9955 are 8.5000 and 14.0000."""
    system, start, t, y = swing
    fit = cd.fit_parameters(system, cd.residuals.Run(recording(t, y), start), SOUGHT)
    for name, value in TRUE.items():
        assert fit.values[name] == pytest.approx(value, rel=1e-6)  # accuracy 1e-9 of the runs, times 1e3
    assert fit.status == "finished" and not fit.undetermined
    assert "mass" in fit._repr_html_() and fit.correlation.shape == (3, 3)


def test_derivatives_of_runs(swing):
    system, start, t, y = swing
    table = recording(t[::20], y[::20])
    check_derivatives(system, cd.residuals.Run(table, start, accuracy=1e-12), SOUGHT)
    free = cd.residuals.Run(table, start, free=["knee", "knee_speed"], accuracy=1e-12)
    check_derivatives(system, free, SOUGHT)
    check_derivatives(system, cd.residuals.Run(table, start, shots=2, accuracy=1e-12), SOUGHT)
    point = lambda s: s.station_position("shank", (0, -0.25, 0))[:2]
    places = cd.Table(t[::20], ["x", "y"], np.zeros((6, 2)))
    check_derivatives(
        system, cd.residuals.Run(places, start, function=point, accuracy=1e-12), SOUGHT, tolerance=1e-6
    )


def test_standard_errors_are_those_of_the_scatter(swing):
    system, start, t, y = swing
    fits = [
        cd.fit_parameters(
            system, cd.residuals.Run(recording(t, y, NOISE, seed), start, sigma=NOISE, accuracy=1e-7), SOUGHT
        )
        for seed in range(12)
    ]
    z = np.array([[(f.values[n] - TRUE[n]) / f.standard_errors[n] for n in SOUGHT] for f in fits])
    # three values of twelve fits, which depend on each other: 12 to 36 degrees of freedom around 1
    assert 0.5 < np.sqrt((z**2).mean()) < 1.6
    assert np.abs(z).max() < 4
    assert all(0.8 < f.noise < 1.2 for f in fits)  # 98 degrees of freedom: 7 % each
    estimated = cd.fit_parameters(system, cd.residuals.Run(recording(t, y, NOISE, 0), start), SOUGHT)
    assert estimated.noise == pytest.approx(NOISE, rel=0.2)
    for name in SOUGHT:
        expected = fits[0].standard_errors[name] * fits[0].noise
        assert estimated.standard_errors[name] == pytest.approx(expected, rel=1e-3)  # one runs at 1e-9


def test_several_shots_agree_with_one_and_reach_farther(swing):
    system, start, t, y = swing
    table = recording(t, y, NOISE)
    one = cd.fit_parameters(system, cd.residuals.Run(table, start, sigma=NOISE), SOUGHT)
    more = cd.fit_parameters(system, cd.residuals.Run(table, start, sigma=NOISE, shots=3), SOUGHT)
    for name in SOUGHT:
        assert more.values[name] == pytest.approx(one.values[name], rel=1e-5)
        assert more.standard_errors[name] == pytest.approx(one.standard_errors[name], rel=1e-3)
    assert more.joints < 1e-6 and len(more.unknowns) == 4


@pytest.mark.slow
def test_chaos_needs_shots():
    system = cd.System()
    rod = {"X_BM": (0, 0.5, 0), "inertia": (0.02,) * 3}
    system.add_body("a", mobilizer=cd.Pin(), mass=1.0, **rod)
    system.add_body("b", "a", cd.Pin(), X_PF=(0, -0.5, 0), mass=cd.Parameter("mass", 1.3), **rod)
    system.add_force("k", cd.forces.MobilitySpring("b", cd.Parameter("k", 0.6), 0.0))
    start, t = system.state(q=[2.5, 1.0]), np.linspace(0, 6, 241)
    run = cd.simulate(system, start.replace(parameters={"mass": 1.0, "k": 0.4}), 6.0, accuracy=1e-11)
    noise = 0.01 * np.random.default_rng(1).normal(size=(241, 2))
    table = cd.Table(t, ["a", "b"], run.at(t)[:, :2] + noise, ["rad"] * 2)
    one, many = (
        cd.fit_parameters(system, cd.residuals.Run(table, start, sigma=0.01, shots=n), ["mass", "k"])
        for n in (1, 6)
    )
    assert one.noise > 100 and one.quality.verdict == "fail"  # it is lost, and says so
    for name, value in (("mass", 1.0), ("k", 0.4)):
        assert abs(many.values[name] - value) < 4 * many.standard_errors[name]


# ---- known states ----


def test_forces_of_a_known_motion(swing):
    system, _, t, _ = swing
    motion = cd.Table(t, ["knee"], np.sin(3 * t)[:, None], ["rad"])
    there = cd.Motion.of(system, motion)
    moments = system.inverse_dynamics(there.q, there.u, there.udot, parameters=TRUE)
    table = cd.Table(t, ["knee"], moments, ["N m"])
    fit = cd.fit_parameters(system, cd.residuals.Forces(motion, table), SOUGHT)
    for name, value in TRUE.items():
        assert fit.values[name] == pytest.approx(value, rel=1e-9)  # a linear problem, to rounding
    wrong = cd.Table(t, ["hip"], moments, ["N m"])
    with pytest.raises(cd.errors.UnknownNameError, match="hip"):
        cd.fit_parameters(system, cd.residuals.Forces(motion, wrong), SOUGHT)


def test_operators_and_functions(swing):
    system, *_ = swing
    q, u, udot = np.random.default_rng(3).normal(size=(3, 20, 1))
    values = system.inverse_dynamics(q, u, udot, parameters=TRUE)
    values[3:6] = np.nan  # gaps
    residual = cd.residuals.Operator("inverse_dynamics", q, u, udot, values=values)
    check_derivatives(system, residual, SOUGHT)
    fit = cd.fit_parameters(system, residual, SOUGHT)
    assert len(fit.residuals) == 17
    assert fit.values == pytest.approx(TRUE, rel=1e-9)
    energy = system.energy(q, u, parameters=TRUE)
    fit = cd.fit_parameters(
        system, cd.residuals.Operator("energy", q, u, values=np.stack(energy, axis=-1)), ["mass", "stiffness"]
    )
    assert fit.values["stiffness"] == pytest.approx(14.0, rel=1e-9)
    law = cd.residuals.States(
        lambda s: s.parameter("mass", 8.0) * s.station_position("shank", (0, 0.1, 0))[0], q, values=0.1
    )
    check_derivatives(system, law, ["mass"])


def test_muscles_from_moment_arms_and_lengths():
    """Attachment points and slack lengths of the ready arm."""
    names = ["BRA.point_1_x", "BRA.point_1_y"]
    arm = cd.models.arm26(parameters=["BRA.point_1_*"])
    q = np.stack([np.zeros(30), np.linspace(0.2, 2.0, 30)], axis=1)
    true = {"BRA.point_1_x": -0.005, "BRA.point_1_y": -0.028}
    arms = np.full((30, 6, 2), np.nan)
    k = arm.paths.index("BRA")
    arms[:, k] = arm.moment_arms(q, parameters=true)[:, k]
    residual = cd.residuals.Operator("moment_arms", q, values=arms)
    fit = cd.fit_parameters(arm, residual, names)
    assert fit.values == pytest.approx(true, rel=1e-6)


# ---- markers ----


def planar_arm():
    system = cd.System()
    for name, parent, length in (("upper", "ground", "arm"), ("fore", "upper", "forearm")):
        place = (0, 0, 0) if parent == "ground" else (0, -cd.Parameter("arm", 0.3), 0)
        system.add_body(name, parent, cd.Pin(), X_PF=place, mass=1.0, inertia=(0.01,) * 3)
        end = cd.Parameter(length, 0.3 if length == "arm" else 0.25)
        system.add_force(
            f"{name}_end", cd.forces.TwoPointSpring("ground", (1, 0, 0), name, (0, -end, 0), 1.0, 0.1)
        )
    system.add_body("hand", "fore", cd.Weld(), X_PF=(0, -cd.Parameter("forearm", 0.25), 0), mass=0.1)
    system.add_marker("elbow", "fore", (0.02, 0, 0))
    for k, p in enumerate([(0.02, 0, 0), (0, -0.05, 0)]):
        system.add_marker(f"hand{k}", "hand", p)
    system.add_marker("shoulder", "upper", (0, -0.05, 0.02))
    return system


@pytest.mark.parametrize("known", [False, True])
def test_lengths_from_markers(known):
    system, true = planar_arm(), {"arm": 0.32, "forearm": 0.27}
    rng = np.random.default_rng(0)
    q = np.cumsum(rng.normal(size=(40, 2)) * 0.1, axis=0) + 0.5
    names = list(system.markers)
    places = np.stack(
        [
            (X := system.body_pose(q, (m := system.marker(n)).body, parameters=true)).p + X.R @ m.station
            for n in names
        ],
        axis=1,
    )
    seen = places.copy()
    seen[5, 1] = np.nan  # hidden
    markers = cd.Markers(np.arange(40) * 0.01, names, seen)
    residual = cd.residuals.Markers(markers, q if known else None)
    fit = cd.fit_parameters(system, residual, list(true))
    assert fit.values == pytest.approx(true, rel=1e-9)
    noisy = cd.Markers(markers.time, names, seen + 1e-3 * rng.normal(size=seen.shape))
    fit = cd.fit_parameters(system, cd.residuals.Markers(noisy, q if known else None, sigma=1e-3), list(true))
    for name, value in true.items():
        assert abs(fit.values[name] - value) < 4 * fit.standard_errors[name] < 4e-3


# ---- what is not said ----


def test_directions_that_nothing_says(swing):
    system, *_ = swing
    q = np.linspace(-1, 1, 20)[:, None]
    product = lambda s: s.parameter("mass", 8.0) * s.parameter("stiffness", 10.0) * s.q("knee")
    fit = cd.fit_parameters(system, cd.residuals.States(product, q, values=100 * q), ["mass", "stiffness"])
    assert np.isinf(fit.standard_errors["mass"])
    (lost,) = fit.undetermined
    assert str(lost) == (
        "the measurements do not determine this combination: mass by a factor and stiffness by its inverse"
    )
    assert str(lost) in str(fit) and fit.quality.verdict == "fail"
    alone = lambda s: s.parameter("mass", 8.0) * s.q("knee")
    fit = cd.fit_parameters(system, cd.residuals.States(alone, q, values=8.5 * q), ["mass", "damping"])
    assert fit.values["mass"] == pytest.approx(8.5) and np.isfinite(fit.standard_errors["mass"])
    assert "damping alone" in str(fit.directions[0])


def test_bounds_outliers_and_functions_of_ones_own(swing):
    system, start, t, y = swing
    table = recording(t, y, NOISE)
    run = cd.residuals.Run(table, start, sigma=NOISE)
    bound = cd.fit_parameters(system, run, SOUGHT, bounds={"mass": (None, 8.2), "damping": (0, None)})
    assert bound.values["mass"] == pytest.approx(8.2, abs=1e-6) and bound.at_bound == ("mass",)
    assert np.isnan(bound.standard_errors["mass"])
    spoiled = cd.Table(t, ["knee"], table.values + (np.arange(101) == 50)[:, None], ["rad"])
    robust = cd.fit_parameters(system, cd.residuals.Run(spoiled, start, sigma=NOISE), SOUGHT, loss="soft_l1")
    assert abs(robust.values["stiffness"] - 14) < 5 * robust.standard_errors["stiffness"]
    line = lambda p: (np.array([p["mass"] - 3.0, 2 * p["damping"]]), [[1.0, 0.0], [0.0, 2.0]])
    for own in (line, lambda p: line(p)[0]):
        fit = cd.fit_parameters(system, own, ["mass", "damping"])
        assert fit.values == pytest.approx({"mass": 3.0, "damping": 0.0}, abs=1e-9)


def test_bad_calls(swing):
    system, start, t, y = swing
    run = cd.residuals.Run(recording(t, y), start)
    with pytest.raises(cd.errors.UnknownNameError, match="mas"):
        cd.fit_parameters(system, run, ["mas"])
    with pytest.raises(cd.errors.UnknownNameError, match=r"copy\(parameters="):
        cd.fit_parameters(cd.models.arm26(muscle=None), run, ["mass"])
    with pytest.raises(cd.errors.DescriptionError, match="low < high"):
        cd.fit_parameters(system, run, ["mass"], bounds={"mass": (9, 10)})
    with pytest.raises(cd.errors.DescriptionError, match="bounds: expected a dict"):
        cd.fit_parameters(system, run, ["mass"], bounds=[(0, 1)])
    with pytest.raises(cd.errors.DescriptionError, match=r"it is fit_parameters\(system, residuals"):
        cd.fit_parameters(system, ["mass"], run)
    with pytest.raises(cd.errors.DescriptionError, match="is not fitted"):
        cd.fit_parameters(system, run, ["mass"], bounds={"damping": (0, 1)})
    with pytest.raises(cd.errors.DescriptionError, match=r"one of cd\.residuals"):
        cd.fit_parameters(system, 3, ["mass"])
    with pytest.raises(cd.errors.UnknownNameError, match="nee"):
        cd.fit_parameters(system, cd.residuals.Run(cd.Table(t, ["nee"], y[:, :1]), start), ["mass"])
    with pytest.raises(cd.errors.DescriptionError, match="shots"):
        cd.fit_parameters(system, cd.residuals.Run(recording(t, y), start, shots=0), ["mass"])
    with pytest.raises(cd.errors.DescriptionError, match="sigma"):
        cd.fit_parameters(system, cd.residuals.Run(recording(t, y), start, sigma=-1), ["mass"])
    with pytest.raises(cd.errors.DescriptionError, match="cannot determine"):
        cd.fit_parameters(system, lambda p: [p["mass"]], SOUGHT)
    values, one = np.full((1, 1), np.nan), np.zeros((1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="there is no measurement"):
        cd.fit_parameters(
            system, cd.residuals.Operator("inverse_dynamics", one, one, one, values=values), ["mass"]
        )


def test_numbers_of_models_become_parameters(tmp_path):
    arm, plain = cd.models.arm26(muscle=None, parameters="all"), cd.models.arm26(muscle=None)
    assert "r_humerus.mass" in arm.parameters
    q, u = np.array([0.3, 1.0]), np.array([0.5, -1.0])
    assert np.allclose(arm.forward_dynamics(q, u), plain.forward_dynamics(q, u), rtol=1e-13)  # rounding
    heavier = arm.mass_matrix(q, parameters={"r_humerus.mass": 3.0})
    changed = plain.copy(bodies={"r_humerus": {"mass": 3.0}}).mass_matrix(q)
    assert np.allclose(heavier, changed, rtol=1e-13)
    cd.write_osim(cd.models.arm26(), tmp_path / "arm.osim")
    wanted = ["*.mass", "BIClong.tendon_slack_length"]
    read = cd.read_osim(tmp_path / "arm.osim", parameters=wanted)
    assert set(read.parameters) == {"r_humerus.mass", "r_ulna_radius_hand.mass", wanted[1]}
    assert read.state().parameters[read.parameters.index(wanted[1])] == pytest.approx(0.2723)
    with pytest.raises(cd.errors.UnknownNameError, match="masse"):
        plain.copy(parameters=["*.masse"])
    with pytest.raises(cd.errors.DescriptionError, match=r"such as '\*\.mass'"):
        plain.copy(parameters=3)


def test_locked_coordinates_stay_in_frames_of_markers() -> None:
    """The arm is longer than the model's: a locked slider must not take what the length has to."""
    system = cd.System()
    length = cd.Parameter("length", 0.4)
    system.add_body("cart", mobilizer=cd.Slider(), mass=1.0, coordinates=(cd.Coordinate("x", locked=True),))
    system.add_body("arm", "cart", cd.Pin(), X_PF=(0.1, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    system.add_body("hand", "arm", cd.Weld(), X_PF=(length, 0, 0), mass=1.0)
    system.add_marker("m", "hand", (0, 0, 0))
    angles = np.linspace(-0.1, 0.1, 9)  # a short arc: the center is hardly seen
    seen = np.stack([0.1 + 0.5 * np.cos(angles), 0.5 * np.sin(angles), 0 * angles], axis=1)[:, None]
    markers = cd.Markers(np.arange(9) * 0.01, ["m"], seen)
    fit = cd.fit_parameters(system, cd.residuals.Markers(markers), ["length"])
    assert fit.values["length"] == pytest.approx(0.5, abs=1e-9)
