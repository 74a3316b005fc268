"""Inverse kinematics of a human with 40 markers beside OpenSim's InverseKinematicsSolver: `python -m
benchmarks.assemble --help`.

The same markers, seen with 3 mm of noise, on the same tree: human.py with pins for knees, 13 bodies, 30
degrees of freedom. Both start at the first frame and follow. Time is processor time of one thread. Ours is
all of `cd.assemble_frames`, Python and residuals included; OpenSim's is track() alone. Residuals are compared
frame by frame: a quicker answer that fits worse does not count.
"""

from __future__ import annotations

import argparse
import time
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.opensim_ik import about_markers
from benchmarks.opensim_process import OpenSimProcess
from benchmarks.recording import Recording, recording
from benchmarks.report import Claim, Report, Time, machine

THEIRS = (1e-3, 1e-5, 1e-7)
"""Accuracies of OpenSim; 1e-5 is the default of its tool."""
OURS = (1e-3, 1e-6)


def own(system: Any, seen: Recording, start: Any, accuracy: float, rounds: int) -> tuple[float, Any]:
    """Least seconds per frame, and the frames."""
    import condyle as cd

    goals = [
        cd.goals.Station(body, station, seen.positions[:, i])
        for i, (_, body, station) in enumerate(seen.markers)
    ]
    frames, least = cd.assemble_frames(system, start, goals, t=seen.t, accuracy=accuracy), np.inf
    for _ in range(rounds):
        begin = time.thread_time()
        frames = cd.assemble_frames(system, start, goals, t=seen.t, accuracy=accuracy)
        assert np.isfinite(frames.rms).all()
        least = min(least, time.thread_time() - begin)
    return least / len(seen.t), frames


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.assemble", description="Markers followed beside OpenSim."
    )
    parser.add_argument("--frames", type=int, default=3000)
    parser.add_argument("--quick", action="store_true", help="fewer frames: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    options = parser.parse_args()
    frames, rounds = (300, 3) if options.quick else (options.frames, 10)
    system, seen, q = recording(frames)
    report, results = Report(machine(), vars(options)), {}
    for accuracy in OURS:
        seconds, found = own(system, seen, system.state(q=q[0]), accuracy, rounds)
        results[accuracy] = seconds, found.rms
        report.notes.append(
            f"Condyle at {accuracy:g}: {1 / seconds:,.0f} frames/s, "
            f"{found.iterations.mean():.1f} iterations, residual "
            f"{1e3 * found.rms.mean():.6f} mm"
        )
    finest = OURS[-1]
    base = results[finest][0]
    report.times += [Time("a frame", 13, f"Condyle at {a:g}", s, s / base) for a, (s, _) in results.items()]
    if find_spec("opensim") is None:
        report.notes.append("opensim is not installed (extra: peers)")
    else:
        process = OpenSimProcess(seen, about_markers)
        for accuracy in THEIRS:
            _, rms = process.ask("run", accuracy, True)
            seconds = min(process.ask("run", accuracy, False)[0] for _ in range(2)) / (frames - 1)
            report.times.append(Time("a frame", 13, f"OpenSim at {accuracy:g}", seconds, seconds / base))
            report.claims.append(
                Claim(14, f"OpenSim at {accuracy:g} / Condyle at {finest:g}", 13, seconds / base, ">=", 5.0)
            )
            report.claims.append(
                Claim(
                    14,
                    f"residual over OpenSim's at {accuracy:g}, worst frame",
                    13,
                    float((results[finest][1] / rms)[1:].max()),
                    "<=",
                    1 + 1e-9,
                )
            )
            report.notes.append(
                f"OpenSim at {accuracy:g}: {1 / seconds:,.0f} frames/s, residual {1e3 * rms.mean():.6f} mm"
            )
    report.print()
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
