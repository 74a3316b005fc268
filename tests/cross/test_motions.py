"""The motions that benchmarks/simulate.py times, in OpenSim and MuJoCo: the same model, and the same place at
the end."""

from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks import motions
from benchmarks.opensim_manager import about_motion
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.plain import mujoco_model

# What OpenSim's Merson leaves at 1e-8 (Andrews turns at 1e3 rad/s); another model would be off by more than
# 1e-2.
AT_THE_END = {"tree": 1e-5, "four-bar": 1e-5, "bricard": 1e-5, "andrews": 1e-4}


@pytest.mark.peers
@pytest.mark.parametrize("name", AT_THE_END)
def test_opensim_moves_alike(name, evidence):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    motion = motions.MOTIONS[name]()
    process, own = OpenSimProcess(motion.plain(), about_motion), motion.start.udot
    # Two stable solves of well-conditioned mass matrices; Andrews' bodies are small and its accelerations
    # 1e4.
    assert np.abs(process.ask("udot") - own).max() < 1e-11 * np.abs(own).max()
    _, q = process.ask("run", "Merson", 1e-8, motion.t_final)
    evidence(
        f"{motion.name}: where OpenSim's Manager ends at 1e-8 [rad, rms]",
        np.sqrt(np.mean((q - motion.exact()) ** 2)),
        AT_THE_END[name],
        headline="loops",
    )


@pytest.mark.peers
@pytest.mark.parametrize("name", ["tree", "chains"])
def test_mujoco_has_the_same_model(name):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra: peers)")
    motion = motions.MOTIONS[name]()
    plain, own = motion.plain(), motion.start.udot
    model = mujoco_model(plain)
    data = mujoco.MjData(model)
    data.qpos, data.qvel = plain.q, plain.u
    mujoco.mj_forward(model, data)
    # as test_peers.py
    np.testing.assert_allclose(data.qacc, own, rtol=0, atol=1e-10 * np.abs(own).max())
