"""Forces and muscles of model files against live OpenSim 4.6, at random states within the ranges of
coordinates.

What differs, and why:
- paths over ellipsoids and cylinders, to 0.3 mm in length: OpenSim's are planar or nearly helical curves,
ours
  geodesics; speeds to 6 mm/s, since OpenSim's leave out how points of touch move;
- paths over two surfaces, to 5 mm: OpenSim takes places of an earlier step (wrapping.md);
- fibers of slack muscles without pennation: at least a hundredth of l_0 here, 0 there;
- Millard's curves to 1e-9: tables of polynomials here, Bezier curves solved to 1e-10 there.
"""

import warnings
from importlib.util import find_spec

import numpy as np
import pytest

from tests.opensim.files import reference
from tests.opensim.parity_forces import compare, equilibrium

EXACT = {
    "opensim/Gait2354_Simbody/gait2354_simbody.osim": 1e-12,
    "gait10dof18musc_pipeline/subject01.osim": 1e-9,
}
"""Models without surfaces, and how near forces come, over F_0: Thelen's curves are formulas, Millard's
tables."""


def laws(found) -> float:
    """Tensions over F_0 and velocities of fibers over v_max l_0, at OpenSim's own lengths: ours minus
    theirs."""
    system = found["system"]
    muscles = [system.force(name) for name in system.muscles]
    F_0 = [m.max_isometric_force for m in muscles]
    fastest = [m.max_contraction_velocity * m.optimal_fiber_length for m in muscles]
    return max(
        float(np.nanmax(np.abs(found["tension"][1]) / F_0)),
        float(np.nanmax(np.abs(found["fiber"][1]) / fastest)),
    )


@pytest.fixture(autouse=True)
def opensim():
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")


@pytest.mark.peers
@pytest.mark.parametrize("name", EXACT)
def test_models_without_surfaces(name, evidence):
    path = reference(name)
    found = compare(path, 2)
    for what in ("length", "speed"):
        # rounding of paths of 1 m, of speeds of 10 m/s
        assert np.abs(found[what][1]).max() < 1e-13
    assert laws(found) < EXACT[name]
    for force, (d, _) in found["alone"].items():
        F_0 = found["system"].force(force).max_isometric_force
        assert np.abs(d).max() < EXACT[name] * F_0, force  # arms are below 1 m
    _, d, expected = found["udot"]
    evidence(
        f"{path.stem}: accelerations with all muscles of the model file against OpenSim, relative",
        np.abs(d).max() / np.abs(expected).max(),
        EXACT[name],
    )


@pytest.mark.peers
@pytest.mark.parametrize(
    "name",
    [
        "opensim/Arm26/arm26.osim",
        pytest.param("opensim/Rajagopal/Rajagopal2016.osim", marks=pytest.mark.slow),
    ],
)
def test_models_with_surfaces(name, evidence):
    """Muscles at OpenSim's own lengths are as there; lengths over one surface are never longer than
    OpenSim's."""
    path = reference(name)
    found = compare(path, 2)
    assert laws(found) < 1e-9  # Millard's curves, see above
    names, d = found["length"]
    system = found["system"]
    wraps = np.array([len(system.force(n).path.wraps) for n in names])
    assert np.abs(d[:, wraps == 0]).max(initial=0.0) < 1e-13
    evidence(
        f"{path.stem}: lengths of paths over one surface against OpenSim's approximate curves [m]",
        np.abs(d[:, wraps == 1]).max(initial=0.0),
        3e-4,
    )
    assert np.abs(d).max() < 5.3e-3  # two surfaces: OpenSim's stale places


@pytest.mark.peers
@pytest.mark.parametrize("name", ["gait10dof18musc_pipeline/subject01.osim"])
def test_fibers_in_equilibrium(name, evidence):
    path = reference(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # slack muscles
        found = equilibrium(path, 2)
    off = [np.nanmax(np.abs(ours - theirs)) for ours, theirs in found.values()]
    # OpenSim stops where forces differ by 1e-8 of F_0
    evidence(f"{path.stem}: fibers in equilibrium against OpenSim [m]", float(np.max(off)), 1e-8)


@pytest.mark.peers
@pytest.mark.parametrize(
    "name", ["opensim/BouncingBlock/bouncing_block.osim", "opensim/WalkerModel/WalkerModel.osim"]
)
def test_springs_bushings_limits_and_contact(name):
    found = compare(reference(name), 3)
    for force, (d, expected) in found["alone"].items():
        assert np.abs(d).max() < 1e-12 * max(np.abs(expected).max(), 1.0), force  # rounding of stiff springs
    _, d, expected = found["udot"]
    assert np.abs(d).max() < 1e-12 * np.abs(expected).max()
