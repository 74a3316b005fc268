"""IMUInverseKinematicsTool: what cd.inverse_kinematics gives, in OpenSim's files."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.setup import run_setup
from condyle.studies.kinematics import calibrate_imus
from tests.opensim.files import pendulum
from tests.opensim.setup.small import PIN, document

SENSOR = """<components><PhysicalOffsetFrame name="rod_imu"><socket_parent>..</socket_parent>
<translation>0 -0.2 0</translation><orientation>0.3 -0.2 0.5</orientation></PhysicalOffsetFrame>
</components>"""
ROTATIONS = (-0.4, 0.7, 0.2)
IMU = document(
    "IMUInverseKinematicsTool",
    f"""<results_directory>out</results_directory>
<time_range>0.1 0.5</time_range><orientations_file>walk.sto</orientations_file>
<sensor_to_opensim_rotations>{" ".join(map(str, ROTATIONS))}</sensor_to_opensim_rotations>""",
)


def rotation(axis, angle):
    """Rodrigues' formula, written here once more."""
    x, y, z = np.eye(3)["xyz".index(axis)]
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def quaternion(R):
    w = 0.5 * np.sqrt(1 + np.trace(R))
    return [w, *np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)]


def recorded(folder):
    """A pendulum, and what its sensor says in a turned world; returns times and angles [rad]."""
    (folder / "model.osim").write_text(pendulum(inside=PIN, body=SENSOR))
    t = np.arange(7) / 10
    angle = 0.5 * np.sin(3 * t)
    R_BS = rotation("x", 0.3) @ rotation("y", -0.2) @ rotation("z", 0.5)  # fixed to the body
    R_GW = rotation("z", ROTATIONS[2]) @ rotation("y", ROTATIONS[1]) @ rotation("x", ROTATIONS[0])
    q = [quaternion(R_GW.T @ rotation("z", 0.2 + a) @ R_BS) for a in angle]
    rows = "\n".join(
        f"{s!r}\t{','.join(repr(float(w)) for w in x)}" for s, x in zip(t.tolist(), q, strict=True)
    )
    (folder / "walk.sto").write_text(
        f"DataRate=10\nDataType=Quaternion\nversion=3\nOpenSimVersion=4.6\nendheader\ntime\trod_imu\n{rows}\n"
    )
    return t, angle


def test_a_pendulum(tmp_path, evidence):
    """The angles that the quaternions were made from come back."""
    t, angle = recorded(tmp_path)
    (tmp_path / "imu.xml").write_text(IMU)
    report = run_setup(tmp_path / "imu.xml")
    assert [p.name for p in report.files] == ["ik_walk.mot", "ik_walk_orientationErrors.sto"]
    motion = cd.read_table(tmp_path / "out" / "ik_walk.mot")
    assert motion.degrees and motion.names == ("angle",)
    np.testing.assert_allclose(motion.time, t[1:6], atol=1e-12)
    error = np.abs(motion["angle"] - np.degrees(angle[1:6])).max()
    evidence("angles from the setup of an IMU inverse kinematics, a pendulum [deg]", error, 1e-6)
    assert error < 1e-6  # accuracy 1e-6 rad, exact data
    errors = cd.read_table(tmp_path / "out" / "ik_walk_orientationErrors.sto", degrees=False)
    assert errors.names == ("rod_imu",) and np.abs(errors.values).max() < 1e-7


def test_as_the_study(tmp_path):
    """Sensors placed by calibrate_imus in the pose of a row follow the same motion."""
    _, angle = recorded(tmp_path)
    (tmp_path / "imu.xml").write_text(IMU)
    run_setup(tmp_path / "imu.xml")
    system = cd.read_osim(tmp_path / "model.osim")
    table = cd.read_table(tmp_path / "walk.sto")[1:6]
    imus = calibrate_imus(system, table, state=system.state(q=[angle[1]]), rotation=ROTATIONS)
    expected = cd.inverse_kinematics(system, orientations=table, imus=imus).motion
    found = cd.read_table(tmp_path / "out" / "ik_walk.mot")
    np.testing.assert_allclose(np.radians(found["angle"]), expected["angle"], atol=1e-8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("0.1 0.5", "2 3"), "has no row of the orientations, which go from 0 to 0.6 s"),
        (("walk.sto", "wolk.sto"), "no file 'wolk.sto'.*is it walk.sto"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, change, words):
    recorded(tmp_path)
    (tmp_path / "imu.xml").write_text(IMU.replace(*change))
    with pytest.raises(cd.errors.CondyleError, match=words):
        run_setup(tmp_path / "imu.xml")


def test_a_model_without_sensors(tmp_path):
    recorded(tmp_path)
    (tmp_path / "model.osim").write_text(pendulum(inside=PIN))
    (tmp_path / "imu.xml").write_text(IMU)
    with pytest.raises(cd.errors.DescriptionError, match=r"sensor \(rod_imu\).*calibrate_imus"):
        run_setup(tmp_path / "imu.xml")
