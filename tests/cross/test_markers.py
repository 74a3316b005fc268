"""Markers on a human, followed by Condyle and by OpenSim's InverseKinematicsSolver: two optimizers, one
answer."""

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_ik import about_markers
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.recording import recording


@pytest.mark.peers
def test_residuals_of_opensim(evidence):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    system, seen, q = recording(40)
    goals = [
        cd.goals.Station(body, station, seen.positions[:, i])
        for i, (_, body, station) in enumerate(seen.markers)
    ]
    frames = cd.assemble_frames(system, system.state(q=q[0]), goals, t=seen.t, accuracy=1e-9)
    assert frames.status == "finished"
    _, rms = OpenSimProcess(seen, about_markers).ask("run", 1e-8, True)
    # At a minimum an error e of q costs e^2: OpenSim's 1e-8 leaves rounding of marker positions of meters,
    # 1e-10.
    evidence(
        "markers on a human followed: rms residuals against OpenSim's solver, 40 frames [m]",
        np.abs(frames.rms - rms).max(),
        1e-9,
    )
    assert (frames.rms <= rms + 1e-12).all()  # nothing fits better
