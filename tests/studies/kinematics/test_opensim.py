"""Recorded trials, followed by Condyle and by OpenSim: one objective, two optimizers. Sensors by OpenSim's
IMUPlacer and IMUInverseKinematicsTool."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

import condyle as cd
from benchmarks.kinematics import TRIALS, in_order, objective, problem, trial
from benchmarks.opensim_kinematics import about_kinematics
from benchmarks.opensim_process import OpenSimProcess
from condyle.spatial import quaternion_from_rotation
from condyle.studies.kinematics import calibrate_imus
from tests.opensim.files import reference
from tests.studies.kinematics.test_imus import ROTATION, worn
from tests.studies.kinematics.walker import motion, walker

STORED = "gait10dof18musc_pipeline/IK/subject01_walk_IK_acc1e-9_si.csv"


def solved(name):
    folder = reference(TRIALS[name][0])
    for _ in TRIALS[name][0].split("/"):
        folder = folder.parent
    run = trial(folder, name)
    system, markers, options = problem(run)
    return run, cd.inverse_kinematics(system, markers, **options)


def test_stored_walk_of_gait10dof18musc(evidence):
    """OpenSim 4.6's tool at accuracy 1e-9; its file has eight digits, and its marker errors too."""
    stored = reference(STORED)
    result = solved("gait10dof18musc")[1].check()
    with open(stored, encoding="utf-8") as file:
        names = file.readline().strip().split(",")[1:]
    q = np.loadtxt(stored, delimiter=",", skiprows=1)[:, 1:]
    there = in_order(result, {"names": names, "q": q})
    # the tool's file has degrees with eight decimals; its accuracy leaves the rest
    evidence(
        "inverse kinematics of a walk, gait10dof18musc, against OpenSim's tool at 1e-9 [rad, m]",
        np.abs(result.motion.values - there).max(),
        3e-5,
    )
    assert (result.cost <= objective(result, there) + 1e-15).all()  # rounding of sums of 6e-4
    errors = np.loadtxt(stored.with_name("ik_marker_errors_acc1e-9.sto"), skiprows=7)
    np.testing.assert_allclose(result.totals.values, errors[:, 1:], atol=2e-7)  # eight decimals of degrees, m


@pytest.mark.peers
@pytest.mark.parametrize("name", ["gait2354", "leg39"])
def test_live(name, evidence):
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    run, result = solved(name)
    result.check()
    process = OpenSimProcess(run, about_kinematics)
    for accuracy in (1e-5, 1e-9):
        theirs = in_order(result, process.ask("run", accuracy, patience=120))
        # its constraints hold to a tenth of its accuracy: what it gains there is that, times multipliers
        allowed = 1e-15 if not result.system.constraints else 1e-2 * accuracy
        assert (result.cost <= objective(result, theirs) + allowed).all()
    # its own accuracy: two runs of it at 1e-8 and 1e-9 are as far apart
    evidence(
        f"inverse kinematics of {name}'s recorded trial against OpenSim's solver at 1e-9 [rad, m]",
        np.abs(result.motion.values - theirs).max(),
        3e-5,
    )


def written(path, t, orientations):
    """A file of quaternions as OpenSim reads them."""
    flat = {name: quaternion_from_rotation(R) for name, R in orientations.items()}
    lines = [
        "DataRate=100.000000",
        "DataType=Quaternion",
        "version=3",
        "OpenSimVersion=4.6",
        "endheader",
        "\t".join(["time", *flat]),
    ]
    for i, x in enumerate(t):
        cells = (",".join(f"{c:.15f}" for c in flat[name][i]) for name in flat)
        lines.append("\t".join([f"{x:.2f}", *cells]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.peers
def test_sensors_live(tmp_path, evidence):
    """Places of sensors and angles of joints; OpenSim's model walks where the sensors' world points, ours
    where the calibration says, unless its heading is taken away."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    system = walker()
    q = motion(system)[:20]
    q[0, :3] = 0.0  # the axis of the pelvis' sensor is level
    data = worn(system, q, 0.7)[1]
    cd.write_osim(posed(system, q[0]), tmp_path / "walker.osim")
    written(tmp_path / "still.sto", [0.0], {name: R[:1] for name, R in data.items()})
    written(tmp_path / "walk.sto", np.arange(20) / 100, data)
    theirs = OpenSimProcess(str(tmp_path), about_kinematics).ask(
        "sensors", "walker.osim", "still.sto", "walk.sto", "pelvis_imu", "z", ROTATION, patience=120
    )
    imus = calibrate_imus(
        system,
        cd.read_table(tmp_path / "still.sto"),
        state=system.state(q=q[0]),
        rotation=ROTATION,
        base="pelvis_imu",
        axis="z",
    )
    places = np.stack([theirs["places"][name] for name in imus.names])
    # rounding of rotation matrices from quaternions of fifteen decimals
    evidence(
        "calibration of IMUs against OpenSim's IMUPlacer: rotation matrices",
        np.abs(imus.R_BS - places).max(),
        1e-13,
    )
    result = cd.inverse_kinematics(
        system,
        orientations=cd.read_table(tmp_path / "walk.sto"),
        imus=replace(imus, heading=0.0),
        state=system.state(q=q[0]),
    )
    values = dict(zip(theirs["names"], theirs["values"].T, strict=True))
    joints = ("hip_x", "hip_y", "hip_z", "knee", "ankle")
    off = [np.abs(np.radians(values[name][-20:]) - result.motion[name]).max() for name in joints]
    # its tool stops at the accuracy 1e-4, which leaves angles of this size
    evidence("inverse kinematics of IMUs against OpenSim's tool, which stops at 1e-4 [rad]", max(off), 5e-3)


def posed(system, q):
    """The same system with other default values of its coordinates."""
    out = cd.System()
    for body in system.bodies:
        named = [cd.Coordinate(c.name, float(x)) for c, x in zip(body.coordinates, q[body.q], strict=True)]
        m = body.mass_properties
        out.add_body(
            body.name,
            body.parent.name,
            body.mobilizer,
            X_PF=body.X_PF,
            X_BM=body.X_BM,
            mass=body.mass,
            com=m.com,
            inertia=m.inertia,
            coordinates=named,
        )
    return out
