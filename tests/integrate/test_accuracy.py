"""One accuracy knob: what is asked for, and the error that there is at the end, on motions that are not chaotic."""
import functools

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import condyle as cd
from condyle.tree.scales import weights
from tests.integrate.motions import MOTIONS, G

ACCURACIES = 10.0 ** -np.arange(2, 10)
FEW = ["oscillator", "damped_and_driven", "double_pendulum", "free_top", "slider_crank"]
"""For Rodas, which takes long to compile."""


@functools.cache
def reference(name: str) -> cd.Trajectory:
    """By order 8 at 1e-13, which leaves 1e-11 at most: a hundredth of the smallest accuracy."""
    make, span = MOTIONS[name]
    start = make()
    exact = cd.simulate(start.system, start, span, accuracy=1e-13, integrator="dormand-prince-8")
    assert exact.finished, exact.status
    return exact


@pytest.mark.parametrize("method", ["merson", "dormand-prince", "dormand-prince-8", "rodas"])
def test_the_global_error_stays_within_ten_times_the_accuracy(method, evidence):
    """max |w (y - exact)| at all steps over the accuracy, w as in the norm: radians, lengths of the system, and in 0.1 s."""
    ratios = {}
    names = FEW if method == "rodas" else list(MOTIONS)
    for name in names:
        exact = reference(name)
        system, start = exact.start.system, exact.start
        w = np.concatenate(weights(system.bodies))
        for accuracy in ACCURACIES:
            traj = cd.simulate(system, start, exact.t[-1], accuracy=accuracy, integrator=method)
            assert traj.finished
            ratios[name, accuracy] = np.abs((traj.y - exact.at(traj.t)) * w).max() / accuracy
    for name in names:
        print(f"{name:20s}" + " ".join(f"{ratios[name, accuracy]:8.2g}" for accuracy in ACCURACIES))
    worst = max(ratios, key=lambda key: ratios[key])
    print(f"{method}: {ratios[worst]:.2g} at {worst}, {len(names)} motions")
    assert len(MOTIONS) >= 12
    claim = f"global error of {method} over the accuracy asked for, 1e-2 to 1e-9, worst of {len(names)} motions"
    evidence(claim, ratios[worst], 10, headline="accuracy")


def test_references_against_closed_forms():
    """Elliptic functions for the pendulum, a cosine for the oscillator: another way to three of the references."""
    for name, amplitude in (("small_swing", 0.1), ("large_swing", 2.6)):
        exact, k = reference(name), np.sin(amplitude / 2)
        sn, *_ = ellipj(ellipk(k * k) + np.sqrt(G) * exact.t, k * k)
        np.testing.assert_allclose(exact.q[:, 0], 2 * np.arcsin(k * sn), atol=1e-10, rtol=0)    # a tenth of the smallest accuracy
    exact = reference("oscillator")
    np.testing.assert_allclose(exact.q[:, 0], np.cos(10 * exact.t), atol=1e-10, rtol=0)
