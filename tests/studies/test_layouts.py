"""Studies of systems with many muscles run in loops over tables, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.model.test_path_rows import in_both, muscled, states


@pytest.mark.filterwarnings("ignore:muscle_analysis")  # frames are random: paths do slip
def test_studies_in_both_layouts(monkeypatch):
    def call(system):
        q, u, _ = states(system)
        moved = cd.Motion(system, np.arange(len(q)) / 10, q, u, u)
        ones = np.ones((len(q), len(system.muscles)))
        tensions, activations = (cd.Table(moved.t, system.muscles, x * ones) for x in (50.0, 0.3))
        analysis = cd.muscle_analysis(system, moved, activations)
        return {
            "reactions": cd.joint_reactions(system, moved, tensions).values,
            "lengths": analysis.lengths.values,
            "arms": analysis.moment_arms["b1"].values,
            "speeds": analysis.speeds.values - system.path_speeds(q, u) + 1,
            "forces": analysis["tendon_force"].values,
        }

    in_both(monkeypatch, muscled, call)
