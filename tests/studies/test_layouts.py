"""Studies of systems with many muscles run in loops over tables, with the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
import condyle.settings as settings
from condyle.model.layouts import prefers_loops
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


def test_muscles_on_paths_of_known_lengths(monkeypatch):
    """Reports, unit tensions and imbalances are rows too, also of a path with Parameters, which is none, and
    of excitations that are functions of time, of the state or of nothing."""

    def make():
        system = muscled(5)
        over = cd.paths.Path([("ground", (0.05, 0, 0)), ("b0", (0.05, cd.Parameter("low", -0.25), 0))])
        excitations = lambda s: 0.3 + 0.1 * np.sin(s.t), lambda s: 0.5 + 0.1 * s.q("b1"), lambda s: 0.4
        for k, excitation in enumerate(excitations):
            muscle = cd.muscles.Thelen2003(over, 500 + k, 0.12, 0.2, 0.1, excitation=excitation)
            system.add_force(f"more{k}", muscle)
        return system

    def call(system):
        q, u, _ = states(system)
        compiled, given = system.compiled, system.state(t=0.4).tail
        model = compiled.model
        for name in ("imbalance", "muscle_reports", "unit_tensions"):
            wanted = settings.layout() == "looped"
            assert prefers_loops(model, name) is wanted
        L = np.asarray(compiled.function("path_lengths")(q, given))
        tail = np.repeat(given[None], len(q), axis=0)
        tail[:, model.tail["z"]] += 0.01 * np.arange(len(q))[:, None]
        active, passive, isometric = compiled.function("unit_tensions")(q, L, 0.1 * L, tail)
        return {
            "imbalance": compiled.function("imbalance")(q, u, L, 0.1 * L, tail),
            "reports": compiled.function("muscle_reports")(q, u, L, 0.1 * L, tail),
            "active": active,
            "passive": passive,
            "isometric": isometric,
            "equilibrium": system.muscles.equilibrium(q[0], t=0.4),
        }

    in_both(monkeypatch, make, call)
