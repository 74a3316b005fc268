"""Inverse kinematics of recorded trials per frame, beside OpenSim's InverseKinematicsSolver.

    python -m benchmarks.kinematics FOLDER       with gait10dof18musc_pipeline and opensim in it
    python -m benchmarks.kinematics FOLDER --rounds 5

Both read the same .osim and .trc files with the tasks of the same setup file; constraints are exact.
OpenSim's time is that of track() of all frames but the first, at its default accuracy 1e-5 and at 1e-9,
without making the solver. Ours is that of cd.inverse_kinematics with all frames minus that with two, errors
of markers included, with one thread; what a call takes whatever the frames is printed beside it, and how many
times as long OpenSim's frames take as a whole call of ours. Processor time, the least of some rounds that
take turns. How far the two are apart is printed too.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.opensim_kinematics import Trial, about_kinematics, trial_of
from benchmarks.opensim_process import OpenSimProcess

TRIALS = {
    "gait10dof18musc": (
        "gait10dof18musc_pipeline",
        "IK/walk_Setup_IK.xml",
        "subject01.osim",
        "ExperimentalData/subject01_walk.trc",
    ),
    "gait2354": (
        "opensim/Gait2354_Simbody",
        "pipeline/subject01_Setup_IK.xml",
        "subject01_simbody.osim",
        "pipeline/subject01_walk1.trc",
    ),
    "leg39": ("opensim/Leg39", "leg39_swing_IK_Setup.xml", "leg39.osim", "leg39_swing.trc"),
}


def trial(folder: Path, name: str) -> Trial:
    """One of the recorded trials in a reference folder."""
    place, setup, model, markers = TRIALS[name]
    return trial_of(folder / place / setup, folder / place / model, folder / place / markers)


def problem(given: Trial) -> tuple[Any, Any, dict[str, Any]]:
    """System, markers and the other arguments of cd.inverse_kinematics."""
    import condyle as cd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is not read moves nothing here
        system = cd.read_osim(given.model)
    markers = cd.read_markers(given.markers)
    weights = {name: given.weights.get(name, 0.0) for name in markers.names if name in system.markers}
    default = dict(zip(system.coordinates, system.state().q, strict=True))
    values = {
        name: default[name] if value is None else value for name, (value, _) in given.coordinates.items()
    }
    options = {"coordinates": values, "coordinate_weights": {n: w for n, (_, w) in given.coordinates.items()}}
    return system, markers, {"weights": weights, **(options if values else {})}


def objective(result: Any, q: Any) -> Any:
    """What is made least, at other coordinates q (T, nq): OpenSim's objective written out."""
    tasks, system = result.tasks, result.system
    m = tasks.markers
    places = np.stack(
        [
            system.station_position(q, body, station)
            for body, station in zip(m.bodies, m.stations, strict=True)
        ],
        axis=1,
    )
    square = np.where(m.weights > 0, ((places - np.nan_to_num(m.positions)) ** 2).sum(axis=2), 0.0)
    out = (m.weights * square).sum(axis=1) / (2 * m.weights.sum(axis=1))
    for name, (value, weight) in tasks.coordinates.items():
        out = out + weight * (q[:, system.coordinates.index(name)] - value) ** 2 / 2
    return out


def in_order(result: Any, theirs: dict[str, Any]) -> Any:
    """OpenSim's coordinates in the order of the system, (T, nq)."""
    return theirs["q"][:, [theirs["names"].index(name) for name in result.system.coordinates]]


def main() -> None:
    os.environ.setdefault("CONDYLE_THREADS", "1")
    import condyle as cd

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for name in TRIALS:
        run = trial(given.folder, name)
        system, markers, options = problem(run)
        first = time.perf_counter()
        result = cd.inverse_kinematics(system, markers, **options)
        first = time.perf_counter() - first
        process = OpenSimProcess(run, about_kinematics) if importlib.util.find_spec("opensim") else None
        least, theirs, answers = {len(markers): np.inf, 2: np.inf}, {1e-5: np.inf, 1e-9: np.inf}, {}
        for _ in range(given.rounds):
            for accuracy in theirs if process else ():
                answers[accuracy] = process.ask("run", accuracy)
                theirs[accuracy] = min(theirs[accuracy], answers[accuracy]["seconds"] / (len(markers) - 1))
            for frames in 10 * list(least):
                some = markers[:frames]
                start = time.process_time()
                cd.inverse_kinematics(system, some, **options)
                least[frames] = min(least[frames], time.process_time() - start)
        mine = (least[len(markers)] - least[2]) / (len(markers) - 2)
        print(
            f"{name:16} condyle {1e6 * mine:6.1f} us a frame and {1e3 * least[2]:.1f} ms a call; the first "
            f"call {first:.1f} s; {result.frames.iterations.mean():.1f} iterations"
        )
        for accuracy, answer in answers.items():
            q, whole = in_order(result, answer), theirs[accuracy] * (len(markers) - 1) / least[len(markers)]
            above = (result.cost - objective(result, q)).max()
            print(
                f"{'':16} OpenSim {1e6 * theirs[accuracy]:6.0f} at {accuracy:.0e}: "
                f"{theirs[accuracy] / mine:.0f} times, {whole:.0f} over a whole call of "
                "ours; coordinates differ by "
                f"{np.abs(q - result.frames.q).max():.1e}, our objective minus theirs {above:.1e} at most"
            )


if __name__ == "__main__":
    main()
