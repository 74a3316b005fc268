"""Inverse kinematics of markers: known motions come back, and each frame is at the least of OpenSim's
objective."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import condyle as cd
from condyle.spatial import exp_so3
from tests.studies.kinematics.walker import T, motion, seen, walker


def objective(system, markers, q, i, weights=None, coordinates=None):
    """formats.md, section 8, written out: sum w |e|^2 / (2 W) + sum w (q - v)^2 / 2."""
    total = W = 0.0
    for k, name in enumerate(markers.names):
        w, x = (weights or {}).get(name, 1.0), markers.positions[i, k]
        if np.isfinite(x).all():
            m = system.marker(name)
            total += w * np.sum((system.station_position(q, m.body, m.station) - x) ** 2)
            W += w
    out = total / (2 * W)
    for name, (value, w) in (coordinates or {}).items():
        out += w * (q[system.coordinates.index(name)] - value) ** 2 / 2
    return out


@pytest.mark.parametrize("loop", [False, True])
def test_a_known_motion_comes_back(loop, evidence):
    system = walker(loop)
    q = motion(system)
    result = cd.inverse_kinematics(system, seen(system, q), accuracy=1e-9).check()
    assert result.motion.names == system.coordinates and result.motion.degrees is False
    # at a residual of zero Gauss-Newton squares the error: what is left is rounding of positions of 1 m over
    # arms of 0.1 m
    what = "a closed loop" if loop else "a tree"
    evidence(
        f"inverse kinematics: a known motion of {what} comes back [rad, m]",
        np.abs(result.motion.values - q).max(),
        1e-9,
    )
    assert np.nanmax(result.errors.values) < 1e-10


@pytest.mark.parametrize("loop", [False, True])
def test_frames_are_at_the_least_of_the_objective(loop):
    system = walker(loop)
    markers = seen(system, motion(system), noise=0.01)
    markers.positions[3:9, 2] = np.nan
    weights = {"pelvis1": 10.0, "foot2": 0.1}
    tasks = {"ankle": (0.2, 0.5)}
    result = cd.inverse_kinematics(
        system, markers, weights, {"ankle": 0.2}, coordinate_weights=0.5, accuracy=1e-9
    )
    for i in (0, 5):
        mine = objective(system, markers, result.frames.q[i], i, weights, tasks)
        assert result.cost[i] == pytest.approx(mine, rel=1e-12)  # two sums of the same terms
        if loop:
            continue
        other = minimize(
            lambda q: objective(system, markers, q, i, weights, tasks),  # noqa: B023
            result.frames.q[i] + 1e-3,
            method="BFGS",
            options={"gtol": 1e-9},
        )
        assert mine <= other.fun + 1e-14  # rounding of sums of 1e-4
        np.testing.assert_allclose(other.x, result.frames.q[i], atol=2e-5)  # BFGS by differences


def test_the_slope_vanishes_along_a_loop(evidence):
    system = walker(True)
    markers = seen(system, motion(system), noise=0.01)
    result = cd.inverse_kinematics(system, markers, accuracy=1e-9)
    worst = 0.0
    for i in (0, 30, 59):
        q = result.frames.q[i]
        G = system.constraints.jacobian(q, np.zeros(system.nu), "position")
        free = np.linalg.svd(G)[2][len(G) :]
        slope = [
            (objective(system, markers, q + h * d, i) - objective(system, markers, q - h * d, i)) / (2 * h)
            for d in free
            for h in (1e-5,)
        ]
        worst = max(worst, float(np.abs(slope).max()))
        assert np.abs(system.constraints.errors(q, np.zeros(system.nu))[0]).max() < 1e-10
    # central differences of 1e-5 of a cost of 1e-4 have this rounding
    evidence(
        "inverse kinematics of a closed loop with noise: slope of the objective along the constraints "
        "[m^2/rad]",
        worst,
        1e-9,
    )


def test_missing_markers_and_frames():
    system = walker()
    q = motion(system)
    markers = seen(system, q)
    markers.positions[10:20, 5] = np.nan
    markers.positions[30, 7, 1] = np.nan  # one number is enough
    markers.positions[40] = np.nan
    with pytest.warns(RuntimeWarning, match="1 of 60 frames, the first frame 40"):
        filled = cd.inverse_kinematics(system, markers).check()
    good = np.arange(60) != 40
    assert np.abs(filled.motion.values - q)[good].max() < 1e-9
    assert np.abs(filled.motion.values - q)[40].max() < 1e-4  # a cubic over 0.02 s of 0.8 Hz
    assert filled.filled[40].all() and not filled.filled[good].any()
    with pytest.warns(RuntimeWarning, match="NaN in 1 of them"):
        result = cd.inverse_kinematics(system, markers, fill_gaps=0.0)
    assert np.isnan(result.motion.values[40]).all()
    assert list(result.unseen) == [40] and list(result.failures) == [40]
    assert result.frame_status[40] == cd.Status.UNMEASURED and result.frame_status[39] == "finished"
    assert result.status == cd.Status.SOME_FAILED and "frame 40" in result.report()
    assert np.isnan(result.errors["thigh1"][10:20]).all() and np.isnan(result.totals.values[40]).all()
    with pytest.raises(cd.errors.ConvergenceError, match="nothing was measured"):
        result.check()


def test_weights_over_time():
    """A marker that is wrong in some frames does no harm without a weight there."""
    system = walker()
    q = motion(system)
    markers = seen(system, q)
    markers.positions[20:30, 9] += 0.1
    by_frame = cd.inverse_kinematics(system, markers, {"shank1": np.where((T >= 0.2) & (T < 0.3), 0.0, 1.0)})
    table = cd.Table([0, 0.19, 0.195, 0.295, 0.3, 1], ["shank1"], [[1], [1], [0], [0], [1], [1]])
    by_table = cd.inverse_kinematics(system, markers, table)
    for result in (by_frame, by_table):
        assert np.abs(result.motion.values - q).max() < 1e-9
        assert np.isnan(result.errors["shank1"][20:30]).all()
    assert np.abs(cd.inverse_kinematics(system, markers).motion.values - q).max() > 0.01


def test_all_weights_times_ten_change_nothing():
    system = walker()
    markers = seen(system, motion(system), noise=0.01)
    once = cd.inverse_kinematics(system, markers, None, {"ankle": 0.2})
    tenfold = cd.inverse_kinematics(system, markers, dict.fromkeys(markers.names, 10.0), {"ankle": 0.2})
    np.testing.assert_allclose(tenfold.motion.values, once.motion.values, atol=1e-6)  # the accuracy


def test_locked_prescribed_and_limited():
    system = walker().copy()
    q = motion(system)
    markers = seen(system, q)
    start = system.state(q={"ankle": 0.4})
    locked = cd.inverse_kinematics(system, markers, state=start, locked=["ankle"])
    assert (locked.motion["ankle"] == 0.4).all()
    in_state = cd.inverse_kinematics(system, markers, state=start.replace(locked=["ankle"]))
    np.testing.assert_array_equal(in_state.motion.values, locked.motion.values)
    bound = cd.inverse_kinematics(system, markers, limits={"knee": (-0.6, 0.1)})
    assert bound.motion["knee"].min() == -0.6 and (bound.motion["knee"] == -0.6).any()
    assert cd.inverse_kinematics(system, markers, limits=True).motion.values == pytest.approx(q, abs=1e-9)

    clamped = cd.System()
    clamped.add_body(
        "arm",
        mobilizer=cd.Pin(),
        mass=1,
        inertia=(1, 1, 1),
        coordinates=[cd.Coordinate("elbow", range=(0.0, 1.0), clamped=True)],
    )
    clamped.add_marker("tip", "arm", (0.2, 0, 0))
    up = {"tip": np.tile([0.0, 0.2, 0.0], (3, 1))}
    with pytest.warns(RuntimeWarning, match="11 cm from the model"):
        assert (cd.inverse_kinematics(clamped, up, t=[0, 1, 2]).motion["elbow"] == 1.0).all()
    free = cd.inverse_kinematics(clamped, up, t=[0, 1, 2], limits=False)
    np.testing.assert_allclose(free.motion["elbow"], np.pi / 2, atol=1e-9)

    driven = cd.System()
    driven.add_body(
        "arm", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1), motion=cd.Prescribed(lambda t: 0.5 * t)
    )
    driven.add_body("hand", "arm", cd.Pin(), X_PF=(0.3, 0, 0), mass=1, inertia=(1, 1, 1))
    driven.add_marker("tip", "hand", (0.2, 0, 0))
    places = np.tile([0.5, 0.0, 0.0], (60, 1))
    followed = cd.inverse_kinematics(driven, {"tip": places}, t=T)
    np.testing.assert_allclose(followed.motion["arm"], 0.5 * T, atol=1e-15)
    assert abs(followed.motion["hand"][-1]) > 0.1


def test_coordinate_tasks():
    system = walker()
    q = motion(system)
    markers = seen(system, q)[["pelvis0", "pelvis1", "pelvis2", "thigh0", "thigh1"]]
    k = system.coordinates.index("knee")
    by_array = cd.inverse_kinematics(system, markers, None, {"knee": q[:, k], "ankle": 0.1})
    np.testing.assert_allclose(by_array.motion["knee"], q[:, k], atol=1e-9)
    np.testing.assert_allclose(by_array.motion["ankle"], 0.1, atol=1e-9)
    finer = np.arange(-20, 160) / 200
    wave = 0.2 * np.sin(5 * finer)
    table = cd.Table(finer, ["knee"], np.degrees(wave)[:, None], ["deg"])
    by_table = cd.inverse_kinematics(system, markers, None, table, locked=["ankle"])
    np.testing.assert_allclose(by_table.motion["knee"], 0.2 * np.sin(5 * T), atol=1e-9)  # rows of both times
    shifted = cd.Table(finer + 0.0013, ["ankle", "knee"], np.stack([-wave, wave], axis=1), ["rad", "rad"])
    between = cd.inverse_kinematics(system, markers, None, shifted)
    np.testing.assert_allclose(between.motion["knee"], 0.2 * np.sin(5 * (T - 0.0013)), atol=1e-9)
    np.testing.assert_allclose(between.motion["ankle"], -between.motion["knee"], atol=1e-9)


def test_other_goals_take_part():
    system = walker()
    markers = seen(system, motion(system))[["pelvis0", "pelvis1", "pelvis2", "thigh0", "thigh1"]]
    level = cd.goals.Custom(
        lambda s: s.station_position("foot", (0, 0, 0))[1], -0.6 * np.ones(60), name="level"
    )
    result = cd.inverse_kinematics(system, markers, goals=level, locked=["ankle"])
    np.testing.assert_allclose(
        result.frames.station_position("foot", (0, 0, 0)).values[:, 1], -0.6, atol=1e-8
    )


@pytest.mark.parametrize(
    "turn", [(0, np.pi, 0), (np.pi, 0, 0), (0, 0, -np.pi / 2), (2.0, -1.0, 2.0), (0, 2.5, 0.3)]
)
def test_a_subject_that_looks_elsewhere(turn):
    """The start is half a turn away; the right pose is found, without whole turns."""
    system = walker()
    q = motion(system)
    here = seen(system, q, noise=0.003)
    R = exp_so3(np.array(turn))
    moved = cd.Markers(here.time, here.names, here.positions @ R.T + np.array([1.0, 2.0, -3.0]))
    result = cd.inverse_kinematics(system, moved)
    assert result.rms.max() < 0.008  # noise in three directions is 0.0052
    np.testing.assert_allclose(result.motion["knee"], q[:, system.coordinates.index("knee")], atol=0.05)


def test_errors_as_opensim_writes_them():
    system = walker()
    markers = seen(system, motion(system), noise=0.01)
    markers.positions[5, 3] = np.nan
    result = cd.inverse_kinematics(system, markers)
    model = result.marker_positions
    assert isinstance(model, cd.Markers) and model.names == markers.names
    e = np.linalg.norm(model.positions - markers.positions, axis=2)
    np.testing.assert_array_equal(result.errors.values, e)
    np.testing.assert_allclose(result.totals["total_squared_error"], np.nansum(e**2, axis=1), rtol=1e-14)
    np.testing.assert_allclose(
        result.totals["marker_error_RMS"], np.sqrt(np.nanmean(e**2, axis=1)), rtol=1e-14
    )
    np.testing.assert_array_equal(result.totals["marker_error_max"], np.nanmax(e, axis=1))
    p = system.station_position(result.frames.q, "foot", system.marker("foot0").station)
    np.testing.assert_allclose(model["foot0"], p, atol=1e-15)


def test_swapped_markers_are_named():
    system = walker()
    markers = seen(system, motion(system), noise=0.003)
    a, b = (markers.names.index(name) for name in ("thigh1", "shank2"))
    markers.positions[20:25, [a, b]] = markers.positions[20:25, [b, a]]
    with pytest.warns(RuntimeWarning, match=r"'thigh1' and 'shank2' look exchanged in 5 frames from 0\.2 to"):
        result = cd.inverse_kinematics(system, markers)
    assert result.swaps[0].frames == (20, 21, 22, 23, 24) and "exchanged" in result.report()


def test_results_do_not_depend_on_where_a_run_begins():
    """Frames may be split: each frame is at its own least, to the accuracy."""
    system = walker()
    markers = seen(system, motion(system), noise=0.01)
    whole = cd.inverse_kinematics(system, markers)
    parts = [cd.inverse_kinematics(system, markers[k : k + 20]) for k in (0, 20, 40)]
    apart = np.concatenate([part.motion.values for part in parts])
    # the last change is at most 1e-6, and each change is a fraction of the one before
    assert np.abs(apart - whole.motion.values).max() < 1e-6


def test_report_plot_and_repr(tmp_path):
    system = walker()
    markers = seen(system, motion(system), noise=0.01)
    markers = markers.renamed({"foot3": "R.toe"})
    result = cd.inverse_kinematics(system, markers)
    text = result.report()
    assert "markers of the model without data: foot3" in text
    assert "markers of the data that the model does not have: R.toe" in text
    assert "worst markers" in text and "OpenSim's guidelines" in text
    assert repr(result).startswith("InverseKinematics(60 frames from 0 to 0.59 s: 15 markers, RMS 1")
    assert "<table>" in result._repr_html_()
    assert len(result.plot().get_lines()) == 4  # two curves, two thresholds
    result.plot("knee", "ankle")
    result.plot("foot0")
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'knee'"):
        result.plot("kne")
    with pytest.raises(AttributeError, match=r"result\.motion\['knee'\]"):
        result.knee  # noqa: B018
    result.motion.save(tmp_path / "walk.mot")
    back = cd.read_table(tmp_path / "walk.mot")
    np.testing.assert_allclose(cd.Motion.of(system, back).q, result.motion.values, atol=1e-12)
    result.marker_positions.save(tmp_path / "model.trc")
    assert cd.read_markers(tmp_path / "model.trc").names == markers.names[:-1]


def test_names_are_matched():
    system = walker()
    q = motion(system)
    markers = seen(system, q)
    other = markers.renamed(lambda name: f"S01:{name.upper()}")
    with pytest.raises(
        cd.errors.UnknownNameError, match=r"no marker in common.*'S01:PELVIS0' 'pelvis0'.*names="
    ):
        cd.inverse_kinematics(system, other)
    names = {f"S01:{name.upper()}": name for name in system.markers}
    result = cd.inverse_kinematics(system, other, names=names)
    assert np.abs(result.motion.values - q).max() < 1e-9
    with pytest.warns(RuntimeWarning, match="'FOOT.0' for 'foot0'.*names="):
        cd.inverse_kinematics(system, markers.renamed({"foot0": "FOOT.0"}))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"markers": None}, cd.errors.DescriptionError, "nothing to follow"),
        ({"markers": "walk.trc"}, cd.errors.DescriptionError, r"cd\.read_markers"),
        ({"markers": {"foot0": np.zeros((60, 2))}}, cd.errors.ShapeError, r"\(T, 3\)"),
        ({"markers": {"foot0": np.zeros((60, 3))}}, cd.errors.DescriptionError, "need times"),
        ({"markers": {"foot0": np.zeros((60, 3))}, "t": T[::-1]}, cd.errors.ShapeError, "must increase"),
        (
            {"markers": {"foot0": np.zeros((60, 3)), "foot1": np.zeros((6, 3))}, "t": T},
            cd.errors.ShapeError,
            "different numbers of frames",
        ),
        (
            {"markers": {"foot0": np.full((60, 3), np.nan)}, "t": T},
            cd.errors.ShapeError,
            "no marker was seen",
        ),
        ({"markers": {"foot0": np.full((60, 3), np.inf)}, "t": T}, cd.errors.ShapeError, "infinite"),
        ({"t": T}, cd.errors.DescriptionError, "their own times"),
        ({"weights": {"foo0": 1.0}}, cd.errors.UnknownNameError, "did you mean 'foot0'"),
        ({"weights": {"foot0": -1.0}}, cd.errors.ShapeError, "zero or more"),
        ({"weights": {"foot0": np.ones(7)}}, cd.errors.ShapeError, "one number or 60"),
        ({"weights": [1, 2]}, cd.errors.DescriptionError, "expected weights such as"),
        (
            {"weights": cd.Table([0, 0.1], ["foot0"], [[1], [1]])},
            cd.errors.DescriptionError,
            "covers from 0 to 0.1 s",
        ),
        ({"coordinates": {"kne": 1.0}}, cd.errors.UnknownNameError, "did you mean 'knee'"),
        ({"coordinates": {"knee": [1.0, 2.0]}}, cd.errors.ShapeError, "one finite number or 60"),
        ({"coordinates": 3.0}, cd.errors.DescriptionError, "expected values such as"),
        (
            {"coordinates": {"knee": 0.1}, "coordinate_weights": {"kne": 1.0}},
            cd.errors.UnknownNameError,
            "knee",
        ),
        ({"coordinate_weights": 2.0}, cd.errors.DescriptionError, "needs coordinates="),
        ({"names": {"foot9": "foot0"}}, cd.errors.UnknownNameError, "marker of the data"),
        ({"names": {"foot0": "foot9"}}, cd.errors.UnknownNameError, "marker of the model"),
        ({"names": ["foot0"]}, cd.errors.DescriptionError, "name in the data"),
        ({"names": {"foot0": "foot1", "foot2": "foot1"}}, cd.errors.DescriptionError, "'foot1' twice"),
        (
            {"orientations": {"foot_imu": np.tile(np.eye(3), (60, 1, 1))}},
            cd.errors.DescriptionError,
            "calibrate_imus",
        ),
        ({"imus": 3}, cd.errors.DescriptionError, "need orientations="),
        ({"marker_weights": {}}, cd.errors.ArgumentError, "they are weights="),
    ],
)
def test_refusals(change, error, words):
    system = walker()
    arguments = {"markers": seen(system, motion(system))} | change
    with pytest.raises(error, match=words):
        cd.inverse_kinematics(system, **arguments)


def test_a_system_without_markers():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.UnknownNameError, match="add_marker"):
        cd.inverse_kinematics(system, {"tip": np.zeros((3, 3))}, t=[0, 1, 2])


def test_markers_in_millimeters_are_suspected():
    system = walker()
    markers = seen(system, motion(system))
    huge = cd.Markers(markers.time, markers.names, 1000 * markers.positions)
    with pytest.warns(RuntimeWarning, match="in meters"):
        cd.inverse_kinematics(system, huge)


def test_markers_on_ground_count_in_the_mean():
    system = cd.System()
    system.add_body("arm", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    system.add_marker("tip", "arm", (0.3, 0, 0))
    system.add_marker("wall", "ground", (1.0, 0, 0))
    data = {"tip": np.array([[0.0, 0.33, 0.0]]), "wall": np.array([[1.0, 0.03, 0.0]])}
    result = cd.inverse_kinematics(system, data, t=[0.0])
    assert result.motion["arm"][0] == pytest.approx(np.pi / 2, abs=1e-6)
    np.testing.assert_allclose(result.errors.values, [[0.03, 0.03]], atol=1e-12)
    system.add_marker("elbow", "arm", (0.1, 0, 0))  # a system in use takes more
    more = cd.inverse_kinematics(system, data | {"elbow": np.array([[0.0, 0.15, 0.0]])}, t=[0.0])
    np.testing.assert_allclose(more.errors.values, [[0.03, 0.03, 0.05]], atol=1e-12)


def test_another_axis_that_points_up_is_asked_about():
    """A free pelvis follows markers of a world that is turned: no error tells."""
    system = walker()
    q = 0.1 * motion(system, 5)
    upright = seen(system, q)
    cd.inverse_kinematics(system, upright)  # no warning
    z_up = cd.Markers(upright.time, upright.names, np.asarray(upright.positions)[..., [2, 0, 1]])
    with pytest.warns(RuntimeWarning, match=r"lies along z in most frames.*vertical='z'"):
        found = cd.inverse_kinematics(system, z_up)
    assert found.rms.max() < 1e-6  # it fits
    with pytest.warns(RuntimeWarning, match="lies along z"):
        cd.scale(system, z_up)
