"""Metabolic power of muscles against OpenSim's probes, and its smooth face."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.muscles.metabolics import Working
from condyle.studies.muscle_analysis import MuscleAnalysis

LINE = cd.paths.Path([("ground", (0, 0, 0)), ("block", (0, 0, 0))])
M = cd.muscles
MUSCLES = {
    "thelen": M.Thelen2003(LINE, 1000.0, 0.1, 0.2, 0.3),
    "millard": M.Millard2012(LINE, 1000.0, 0.1, 0.2, 0.3),
    "rigid": M.Millard2012(LINE, 1000.0, 0.1, 0.2, 0.3, tendon="rigid"),
    "degroote": M.DeGroote2016(LINE, 1000.0, 0.1, 0.2, 0.3, tendon="rigid"),
}
SLOW = {"thelen": 0.5, "millard": 0.35, "rigid": 0.8, "degroote": 0.6}
MODELS = {
    "umberger": M.Umberger2010(ratio_slow_twitch_fibers=SLOW),
    "umberger_plain": M.Umberger2010(
        ratio_slow_twitch_fibers=SLOW,
        use_Bhargava_recruitment_model=False,
        include_negative_mechanical_work=False,
    ),
    "bhargava": M.Bhargava2004(ratio_slow_twitch_fibers=SLOW),
    "bhargava_force": M.Bhargava2004(
        ratio_slow_twitch_fibers=SLOW,
        use_force_dependent_shortening_prop_constant=True,
        forbid_negative_total_power=False,
    ),
}


@pytest.fixture(scope="module")
def system() -> cd.System:
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("block", mobilizer=cd.Slider(), mass=7.0)
    for name, muscle in MUSCLES.items():
        system.add_force(name, muscle)
    return system


@pytest.fixture(scope="module")
def probes() -> dict[str, np.ndarray]:
    file = Path(__file__).parents[1] / "data" / "metabolics" / "probes.csv"
    names = file.read_text().splitlines()[0].split(",")
    return dict(zip(names, np.loadtxt(file, delimiter=",", skiprows=1).T, strict=True))


@pytest.fixture(scope="module")
def analysis(system, probes) -> MuscleAnalysis:
    """At the states of OpenSim's."""
    compiled, n = system.compiled, len(probes["x"])
    q, u = probes["x"][:, None], probes["u"][:, None]
    z = np.stack([probes[name] for name in system.state_variables], axis=1)
    tail = compiled.tails.make({"z": z, "inputs": {k: probes[f"{k}.excitation"] for k in MUSCLES}})
    L, Ldot = np.repeat(q, 4, axis=1), np.repeat(u, 4, axis=1)
    flat = compiled.function("muscle_reports")(q, u, L, Ldot, tail)
    reports = compiled.shaped("muscle_reports", flat)
    t, names = np.arange(n) * 1.0, list(MUSCLES)
    table = lambda values: cd.Table(t, names, values, [""] * 4)
    tables = {name: table(reports[:, :, k]) for k, name in enumerate(compiled.model.reported)}
    return MuscleAnalysis(table(L), table(Ldot), {}, tables)


@pytest.mark.parametrize("name", MODELS)
def test_probes_of_opensim(name, system, probes, analysis):
    """To the digits of the velocity of a fiber, which is the root of an equation."""
    power = cd.metabolic_power(system, analysis, MODELS[name])
    worst = 0.0
    for column in (*MUSCLES, "basal", "total"):
        theirs = probes[f"{name}:{column}"]
        worst = max(worst, np.abs((power[column] - theirs) / (1 + np.abs(theirs))).max())
    assert worst < 1e-8


@pytest.mark.parametrize("name", MODELS)
def test_the_smooth_face_is_near_and_has_no_kinks(name):
    """Its error is at most half of its widths times the slopes; its slope over v_M has no jump at 0."""
    model, muscle = MODELS[name], MUSCLES["degroote"]
    x = ca.SX.sym("x", 7)
    power = [model.power("degroote", muscle, Working(*ca.vertsplit(x)), smooth) for smooth in (False, True)]
    f = ca.Function("f", [x], [*power, *(ca.jacobian(p, x[3]) for p in power)])
    rng = np.random.default_rng(3)
    low, high = [0.02, 0.02, 0.6, -0.8, 0.2, 0, 0], [1, 1, 1.4, 0.8, 1, 1000, 300]
    rows = rng.uniform(low, high, (200, 7))
    rows[:, 4] = muscle.active_force_length(rows[:, 2])
    sharp, soft, *_ = (np.asarray(y) for y in f(rows.T))
    # 5 W/kg at most: 0.005 l_0 / s times 1000 N, and heats of 600 W/kg over lengths of 0.005 l_0
    assert 0 < np.abs(sharp - soft).max() < 5 * float(model.mass("degroote", muscle))
    jump = [f([0.5, 0.5, 0.9, v, 1, 500, 0])[3] for v in (-1e-7, 1e-7)]
    hard = [f([0.5, 0.5, 0.9, v, 1, 500, 0])[2] for v in (-1e-7, 1e-7)]
    assert abs(jump[1] - jump[0]) < 1e-3 * abs(hard[1] - hard[0])


def test_what_cannot_be(system, analysis):
    with pytest.raises(cd.errors.DescriptionError, match=r"ratio_slow_twitch_fibers of 'a' .* got 1.5"):
        M.Umberger2010(ratio_slow_twitch_fibers={"a": 1.5})
    with pytest.raises(cd.errors.DescriptionError, match="density must be above 0, got -1"):
        M.Bhargava2004(density=-1.0)
    with pytest.raises(cd.errors.DescriptionError, match="activations="):
        cd.metabolic_power(system, MuscleAnalysis(analysis.lengths, analysis.speeds, {}))
    with pytest.raises(cd.errors.UnknownNameError, match="every muscle needs one"):
        cd.metabolic_power(system, analysis, excitations=analysis["activation"][["thelen"]])
