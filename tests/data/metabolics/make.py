"""Metabolic power of muscles by OpenSim's probes at random states: writes probes.csv beside it.

Run it with an interpreter that has opensim 4.6: python tests/data/metabolics/make.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import opensim as osim

KINDS = {
    "thelen": osim.Thelen2003Muscle,
    "millard": osim.Millard2012EquilibriumMuscle,
    "rigid": osim.Millard2012EquilibriumMuscle,
    "degroote": osim.DeGrooteFregly2016Muscle,
}
PROBES = {
    "umberger": (osim.Umberger2010MuscleMetabolicsProbe, {}),
    "umberger_plain": (
        osim.Umberger2010MuscleMetabolicsProbe,
        {"use_Bhargava_recruitment_model": False, "include_negative_mechanical_work": False},
    ),
    "bhargava": (osim.Bhargava2004MuscleMetabolicsProbe, {}),
    "bhargava_force": (
        osim.Bhargava2004MuscleMetabolicsProbe,
        {"use_force_dependent_shortening_prop_constant": True, "forbid_negative_total_power": False},
    ),
}
SLOW = {"thelen": 0.5, "millard": 0.35, "rigid": 0.8, "degroote": 0.6}


def made() -> osim.Model:
    model = osim.Model()
    model.set_gravity(osim.Vec3(0))
    block = osim.Body("block", 7.0, osim.Vec3(0), osim.Inertia(1))
    model.addBody(block)
    joint = osim.SliderJoint("slider", model.getGround(), block)
    joint.updCoordinate().setName("x")
    model.addJoint(joint)
    for name, kind in KINDS.items():
        muscle = kind()
        muscle.setName(name)
        muscle.set_max_isometric_force(1000.0)
        muscle.set_optimal_fiber_length(0.1)
        muscle.set_tendon_slack_length(0.2)
        muscle.set_pennation_angle_at_optimal(0.3)
        if name in ("rigid", "degroote"):
            muscle.set_ignore_tendon_compliance(True)
        muscle.addNewPathPoint("a", model.getGround(), osim.Vec3(0))
        muscle.addNewPathPoint("b", block, osim.Vec3(0))
        model.addForce(muscle)
    for label, (kind, options) in PROBES.items():
        probe = kind(True, True, True, True) if "umb" in label else kind(True, True, True, True, True)
        probe.setName(label)
        probe.set_report_total_metabolics_only(False)
        for option, value in options.items():
            getattr(probe, f"set_{option}")(value)
        model.addProbe(probe)
        for name in KINDS:
            if "umb" in label:
                probe.addMuscle(name, SLOW[name])
            else:
                probe.addMuscle(name, SLOW[name], 40.0, 133.0, 74.0, 111.0)
    return model


def main(states: int = 60, seed: int = 28) -> None:
    model, rng = made(), np.random.default_rng(seed)
    state, rows = model.initSystem(), []
    for _ in range(states):
        x, u = rng.uniform(0.24, 0.35), rng.uniform(-0.8, 0.8)
        values = {"x": x, "u": u}
        model.setStateVariableValue(state, "/jointset/slider/x/value", x)
        model.setStateVariableValue(state, "/jointset/slider/x/speed", u)
        for name in KINDS:
            values[f"{name}.excitation"], values[f"{name}.activation"] = rng.uniform(0.02, 1, 2)
            model.setStateVariableValue(state, f"/forceset/{name}/activation", values[f"{name}.activation"])
        for name in ("thelen", "millard"):  # tendons of strains from 0 to 5 %
            along = x - 0.2 * (1 + rng.uniform(0.0, 0.05))
            values[f"{name}.fiber_length"] = np.hypot(max(along, 0.05), 0.1 * np.sin(0.3))
            model.setStateVariableValue(
                state, f"/forceset/{name}/fiber_length", values[f"{name}.fiber_length"]
            )
        model.realizeVelocity(state)
        controls = osim.Vector(4, 0.0)
        for k in range(4):
            controls.set(k, values[f"{model.getMuscles().get(k).getName()}.excitation"])
        model.setControls(state, controls)
        model.realizeReport(state)
        for k, label in enumerate(PROBES):
            out = model.getProbeSet().get(k).getProbeOutputs(state)
            names = ["total", "basal", *KINDS]
            values |= {f"{label}:{name}": out.get(i) for i, name in enumerate(names)}
        rows.append(values)
    lines = [",".join(rows[0]), *(",".join(f"{v:.17g}" for v in row.values()) for row in rows)]
    Path(__file__).with_name("probes.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
