"""One problem in OpenSim Moco, in a process of its own: prints processor seconds, iterations and objective.

python -m benchmarks.opensim_moco PROBLEM FOLDER ITERATIONS      (ITERATIONS = 0: until it converges)
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def tracking(osim: Any, inputs: Path, muscles: bool) -> Any:
    """Walking, gait10dof18musc, by torques or by muscles with rigid tendons."""
    track, model = osim.MocoTrack(), osim.ModelProcessor(str(inputs / "walk_gait1018_subject01.osim"))
    if muscles:
        for operator in (
            osim.ModOpIgnoreTendonCompliance(),
            osim.ModOpReplaceMusclesWithDeGrooteFregly2016(),
            osim.ModOpIgnorePassiveFiberForcesDGF(),
            osim.ModOpScaleActiveFiberForceCurveWidthDGF(1.5),
        ):
            model.append(operator)
    else:
        model.append(osim.ModOpRemoveMuscles())
    model.append(osim.ModOpAddReserves(100))
    model.append(osim.ModOpAddExternalLoads(str(inputs / "walk_gait1018_subject01_grf.xml")))
    track.setModel(model)
    table = osim.TableProcessor(str(inputs / "walk_gait1018_state_reference.mot"))
    table.append(osim.TabOpLowPassFilter(6))
    track.setStatesReference(table)
    track.set_states_global_tracking_weight(10.0)
    track.set_track_reference_position_derivatives(True)
    track.set_initial_time(0.5)
    track.set_final_time(1.0)
    return track.initialize()


def walking(osim: Any, inputs: Path) -> Any:
    """Two-dimensional walking, 18 muscles and contact: tracking without periodicity, for its time per iteration."""
    track = osim.MocoTrack()
    table = osim.TableProcessor(str(inputs / "referenceCoordinates.sto"))
    table.append(osim.TabOpLowPassFilter(6))
    track.setModel(osim.ModelProcessor(str(inputs / "2D_gait.osim")))
    track.setStatesReference(table)
    track.set_allow_unused_references(True)
    track.set_track_reference_position_derivatives(True)
    track.set_apply_tracked_states_to_guess(True)
    track.set_initial_time(0.0)
    track.set_final_time(0.470089)
    study = track.initialize()
    osim.MocoCasADiSolver.safeDownCast(study.updSolver()).set_num_mesh_intervals(50)
    return study


def main(problem: str, folder: str, iterations: int) -> None:
    os.environ["OPENSIM_MOCO_PARALLEL"] = "0"
    import opensim as osim

    osim.Logger.setLevelString("off")
    root = Path(folder).resolve()
    os.chdir(tempfile.mkdtemp())
    if problem.startswith("gait10"):
        study = tracking(osim, root / "inputs", problem.endswith("muscle"))
    elif problem == "walk2d_track":
        study = walking(osim, root / "inputs")
    else:
        place = "walk2d_predict_from_prototype" if problem == "walk2d_predict" else problem
        for name in ("inputs", "walk2d_predict_prototype.sto"):  # where the file looks for them
            os.symlink(root / name, name)
        os.makedirs("moco/problem")
        os.chdir("moco/problem")
        study = osim.MocoStudy(str(root / "moco" / place / "problem.omoco"))
    solver = osim.MocoCasADiSolver.safeDownCast(study.updSolver())
    solver.set_verbosity(0)
    if problem.startswith("gait10") or problem == "walk2d_track":
        solver.set_optim_constraint_tolerance(1e-4)
        solver.set_optim_convergence_tolerance(1e-4)
        solver.resetProblem(study.updProblem())
    if iterations:
        solver.set_optim_max_iterations(iterations)
    start = time.process_time()
    solution = study.solve()
    seconds = time.process_time() - start
    done = bool(solution.success())
    if not done:
        solution.unseal()
    found = {"seconds": seconds, "iterations": solution.getNumIterations(), "done": done}
    print("FOUND " + json.dumps({**found, "objective": solution.getObjective()}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
