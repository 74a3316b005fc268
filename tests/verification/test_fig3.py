"""sherman2011, Fig. 3: the work of a method of order 4 grows as accuracy^(-1/4). Counted, not timed.

`benchmarks/fig3.py` has the whole system and the processor time; here are three of its eleven chains.
"""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from benchmarks import chains, fig3

pytestmark = pytest.mark.filterwarnings("ignore::condyle.errors.PlausibilityWarning")  # numbers at the edge


def evaluations(system, start, t_final):
    return [cd.simulate(system, start, t_final, accuracy=a).statistics.evaluations for a in fig3.ACCURACIES]


def test_work_against_accuracy(evidence):
    """Off -1/4 by little, and no chaos: the error follows the accuracy."""
    system, start = chains.system(chains=3)
    found = fig3.measure(system, start, repeat=1)
    evidence(
        "Fig. 3 of sherman2011: exponent of evaluations over accuracy, off -1/4",
        abs(fig3.exponent(found["evaluations"]) + 0.25),
        0.03,
    )
    assert (np.array(found["error"]) < 10 * fig3.ACCURACIES).all()


def test_linear_motion_is_the_exception():
    """Merson's estimate is of order 5 where f is linear, of order 4 elsewhere: -1/5 instead of -1/4."""
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("mass", mobilizer=cd.Slider(), mass=1.0, inertia=(1.0, 1.0, 1.0))
    system.add_force("spring", cd.forces.MobilitySpring("mass", 40.0, 0.0))
    exponent = fig3.exponent(evaluations(system, system.state(q=[0.5]), 50.0))
    assert abs(exponent + 0.2) < 0.005  # whole steps, a few thousand of them
