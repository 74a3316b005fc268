"""Models of OpenSim, read by both: poses, mass matrices, Jacobians and inverse dynamics at random states."""

import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_model import STATION, about_model
from benchmarks.opensim_process import OpenSimProcess
from tests.opensim.files import reference

MODELS = ["gait10dof18musc_pipeline/subject01.osim", "opensim/Arm26/arm26.osim"]


@pytest.mark.peers
@pytest.mark.parametrize("name", MODELS)
def test_mechanics(name, evidence):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    path = reference(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # what is not read has no part in this
        system = cd.read_osim(path)
    rng = np.random.default_rng(7)
    q = system.default("q") + rng.uniform(-0.4, 0.4, (3, system.nq))
    u, udot = rng.normal(size=(2, 3, system.nu))
    theirs = OpenSimProcess(str(path), about_model).ask("mechanics", list(system.coordinates), q, u, udot)
    off = [f for f in system.forces if f != "gravity"]
    tau = system.inverse_dynamics(q, u, udot, disabled=off)
    # rounding along chains of ten bodies of 1 m
    for body, X in theirs["poses"].items():
        R, p = system.body_pose(q, body)
        assert np.abs(np.concatenate([R, p[..., None]], axis=-1) - X).max() < 1e-14
        assert np.abs(system.station_jacobian(q, body, STATION) - theirs["J"][body]).max() < 1e-14
    assert np.abs(system.mass_matrix(q) - theirs["M"]).max() < 1e-14 * np.abs(theirs["M"]).max()
    evidence(
        f"{path.stem}: inverse dynamics of the model file against OpenSim, relative",
        np.abs(tau - theirs["tau"]).max() / np.abs(theirs["tau"]).max(),
        1e-14,
    )
