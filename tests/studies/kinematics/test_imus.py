"""Sensors of orientation: calibration and inverse kinematics on data whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import condyle as cd
from condyle.spatial import exp_so3, quaternion_from_rotation, rotation_x, rotation_y, rotation_z
from condyle.studies.kinematics import IMUs, calibrate_imus
from tests.studies.kinematics.walker import T, motion, walker

BODIES = ("pelvis", "thigh", "shank", "foot")
ROTATION = (-np.pi / 2, 0.0, 0.0)
"""The sensors' world has z up."""


def worn(system, q, heading, noise=0.0):
    """R_WS of sensors that sit askew on the bodies; that of the pelvis has z forward and level at q = 0."""
    rng = np.random.default_rng(5)
    R_BS = {f"{b}_imu": exp_so3(rng.normal(size=3)) for b in BODIES} | {"pelvis_imu": rotation_y(np.pi / 2)}
    W = rotation_y(-heading) @ rotation_x(ROTATION[0])  # R_GW
    out = {}
    for name, R in R_BS.items():
        error = exp_so3(rng.normal(scale=noise, size=(len(q), 3)) if noise else np.zeros((len(q), 3)))
        out[name] = W.T @ system.body_pose(q, name[:-4]).R @ R @ error
    return R_BS, out


def angles(system):
    return [k for k, name in enumerate(system.coordinates) if not name.startswith("pelvis_t")]


@pytest.mark.parametrize("heading", [0.0, 0.8, 3.0, -2.0])
def test_a_known_motion_comes_back(heading, evidence):
    system = walker()
    q = motion(system)
    R_BS, data = worn(system, q, heading)
    pose = system.state(q=q[0])
    still = {name: R[:1] for name, R in data.items()}
    imus = calibrate_imus(system, still, state=pose, rotation=ROTATION, base="pelvis_imu", axis="z")
    assert imus.heading == pytest.approx(-heading, abs=1e-12)
    for name, R in zip(imus.names, imus.R_BS, strict=True):
        np.testing.assert_allclose(R, R_BS[name], atol=1e-12)
    # of no importance: where the pelvis is
    result = cd.inverse_kinematics(system, orientations=data, imus=imus, t=T).check()
    evidence(
        "inverse kinematics of IMUs: a known motion comes back, whatever the heading [rad]",
        np.abs(result.motion.values - q)[:, angles(system)].max(),
        1e-9,
    )  # rounding; see test_markers
    assert np.nanmax(result.orientation_errors.values) < 1e-10
    assert (result.motion["pelvis_tx"] == 0).all()


def test_without_heading_the_model_walks_as_the_world_of_the_sensors():
    """As OpenSim's tool does: the pelvis is turned by the heading, joints are not."""
    system = walker()
    q = motion(system)
    data = worn(system, q, 0.8)[1]
    imus = calibrate_imus(
        system, data, state=system.state(q=q[0]), rotation=ROTATION, base="pelvis_imu", axis="z"
    )
    result = cd.inverse_kinematics(system, orientations=data, imus=replace(imus, heading=0.0), t=T)
    joints = [k for k, name in enumerate(system.coordinates) if not name.startswith("pelvis")]
    assert np.abs(result.motion.values - q)[:, joints].max() < 1e-9
    turned = system.body_pose(result.frames.q, "pelvis").R
    np.testing.assert_allclose(turned, rotation_y(0.8) @ system.body_pose(q, "pelvis").R, atol=1e-9)


def test_noise_weights_and_gaps():
    system = walker()
    q = motion(system)
    data = worn(system, q, 0.3, noise=0.02)[1]
    still = worn(system, q, 0.3)[1]
    imus = calibrate_imus(
        system,
        {k: R[:1] for k, R in still.items()},
        state=system.state(q=q[0]),
        rotation=ROTATION,
        base="pelvis_imu",
        axis="z",
    )
    data["foot_imu"][10:20] = np.nan
    data["shank_imu"][40:] = data["shank_imu"][40:] @ rotation_z(0.5)  # it slipped
    weights = {"shank_imu": np.where(T < 0.395, 1.0, 0.0)}
    words = r"ankle from 0\.1 to 0\.19 s, filled; knee, ankle from 0\.4 to 0\.59 s, NaN"
    with pytest.warns(RuntimeWarning, match=words):
        result = cd.inverse_kinematics(system, orientations=data, imus=imus, t=T, orientation_weights=weights)
    assert result.held == ("pelvis_tx", "pelvis_ty", "pelvis_tz")  # no sensor tells a place: no warning
    assert np.isnan(result.orientation_errors["shank_imu"][40:]).all()
    assert np.isnan(result.orientation_errors["foot_imu"][10:20]).all()
    hip = [system.coordinates.index(name) for name in ("hip_x", "hip_y", "hip_z")]
    # three angles from two sensors with 0.02 rad about each axis, more where the gimbal is tilted
    assert np.abs(result.motion.values - q)[:, hip].max() < 0.15
    # the objective, written out
    i = 5
    R = {b: system.body_pose(result.frames.q[i], b).R for b in BODIES}
    total = 0.0
    for name, R_BS in zip(imus.names, imus.R_BS, strict=True):
        C = (R[name[:-4]] @ R_BS).T @ imus.R_GW @ data[name][i]
        total += np.arccos((np.trace(C) - 1) / 2) ** 2
    assert result.cost[i] == pytest.approx(total / (2 * 4), rel=1e-9)  # arccos loses half the digits
    assert "sensors" in repr(result) and "worst sensors" in result.report()
    result.plot()


def test_tables_of_quaternions(tmp_path):
    """Files as OpenSim reads them: DataType=Quaternion; four digits are enough for a tenth of a degree."""
    system = walker()
    q = motion(system)
    data = worn(system, q, 0.4)[1]
    lines = [
        "DataRate=100.000000",
        "DataType=Quaternion",
        "version=3",
        "OpenSimVersion=4.1",
        "endheader",
        "\t".join(["time", *data]),
    ]
    flat = {name: quaternion_from_rotation(R) for name, R in data.items()}
    for i, t in enumerate(T):
        lines.append("\t".join([f"{t:.2f}", *(",".join(f"{x:.5f}" for x in flat[n][i]) for n in data)]))
    path = tmp_path / "walk_orientations.sto"
    path.write_text("\n".join(lines) + "\n")
    table = cd.read_table(path)
    imus = calibrate_imus(
        system, table, state=system.state(q=q[0]), rotation=ROTATION, base="pelvis_imu", axis="z"
    )
    result = cd.inverse_kinematics(system, orientations=table, imus=imus)
    assert np.abs(result.motion.values - q)[:, angles(system)].max() < 1e-3
    with_markers = cd.inverse_kinematics(
        system, {"foot0": np.zeros((60, 3))}, orientations=table, imus=imus, t=T
    )
    assert np.abs(with_markers.errors["foot0"]).max() < 1e-3  # the free pelvis carries it there


def test_a_mean_over_a_quiet_stance():
    system = walker()
    q = np.tile(motion(system)[:1], (60, 1))
    R_BS, data = worn(system, q, 0.0, noise=0.05)
    imus = calibrate_imus(system, data, state=system.state(q=q[0]), rotation=ROTATION, time=(0, 1), t=T)
    off = [np.linalg.norm(np.array(R - R_BS[name])) for name, R in zip(imus.names, imus.R_BS, strict=True)]
    assert max(off) < 0.05  # 0.05 sqrt(6/60), with room
    assert (np.abs(imus.spread - 0.05 * np.sqrt(3)) < 0.02).all()
    assert "pelvis_imu on pelvis" in repr(imus) and "<table>" in imus._repr_html_()


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"orientations": cd.Table([0.0], ["a"], [[1.0]])}, cd.errors.DescriptionError, "NAME_1 to NAME_4"),
        ({"orientations": "walk.sto"}, cd.errors.DescriptionError, r"cd\.read_table"),
        ({"orientations": {"foot_imu": [[2.0, 0, 0, 0]]}}, cd.errors.ShapeError, "length 2; expected 1"),
        ({"orientations": {"foot_imu": [[1.0, 0, 0]]}}, cd.errors.ShapeError, r"\(1, 4\)"),
        ({"orientations": {"foot_imu": [np.diag([1.0, 1, -1])]}}, cd.errors.ShapeError, "reflection"),
        ({"orientations": {"foot_imu": [[np.nan] * 4]}}, cd.errors.DescriptionError, "no orientation then"),
        ({"orientations": {"hand_imu": [[1.0, 0, 0, 0]]}}, cd.errors.UnknownNameError, "bodies="),
        ({"bodies": {"foot_imu": "hand"}}, cd.errors.UnknownNameError, "body 'hand'"),
        ({"bodies": {"hand_imu": "foot"}}, cd.errors.UnknownNameError, "sensor 'hand_imu'"),
        ({"base": "hand_imu"}, cd.errors.UnknownNameError, "did you mean"),
        ({"base": "foot_imu", "axis": "w"}, cd.errors.UnknownNameError, "axis 'w'"),
        ({"base": "foot_imu", "axis": "y"}, cd.errors.DescriptionError, "points up or down"),
        ({"rotation": (1, 2)}, cd.errors.ShapeError, "three angles"),
        ({"time": (3, 4)}, cd.errors.DescriptionError, "no rows between 3 and 4"),
        ({"time": 3}, cd.errors.ShapeError, "first and last"),
        ({"base_imu_label": "foot_imu"}, cd.errors.ArgumentError, "it is base="),
    ],
)
def test_refusals(change, error, words):
    system = walker()
    arguments = {"orientations": {"foot_imu": [[1.0, 0, 0, 0]]}} | change
    with pytest.raises(error, match=words):
        calibrate_imus(system, **arguments)


def test_refusals_of_kinematics():
    system = walker()
    data = {"foot_imu": np.tile([1.0, 0, 0, 0], (60, 1))}
    imus = calibrate_imus(system, data)
    with pytest.raises(cd.errors.DescriptionError, match="need times"):
        cd.inverse_kinematics(system, orientations=data, imus=imus)
    with pytest.raises(cd.errors.UnknownNameError, match="no sensor of the data"):
        cd.inverse_kinematics(system, orientations={"leg": data["foot_imu"]}, imus=imus, t=T)
    with pytest.raises(cd.errors.ShapeError, match="R_BS of shape"):
        IMUs(("a",), ("foot",), np.eye(3))
    with pytest.raises(cd.errors.DescriptionError, match="are for markers"):
        cd.inverse_kinematics(system, None, {"foot_imu": 1.0}, orientations=data, imus=imus, t=T)
    with pytest.raises(cd.errors.ShapeError, match="no sensor was measured"):
        cd.inverse_kinematics(system, orientations={"foot_imu": np.full((60, 4), np.nan)}, imus=imus, t=T)
