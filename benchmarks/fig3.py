"""Processor time against accuracy, sherman2011 Fig. 3: `python -m benchmarks.fig3 --help`.

Twenty seconds of `chains.py` by Merson's method at accuracies 1e-2 to 1e-7. The number of steps of a method
of order 4 should be in proportion to accuracy^(-1/4); the exponents are fitted by least squares in
logarithms, over 1e-3 to 1e-7. Evaluations are counted and free of noise; the processor time is the least of
some runs, accuracies in turn.

`python -m benchmarks.fig3 --plot docs/img/fig3.png` makes the figure of docs/theory/integrators.md.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import condyle as cd
from benchmarks import chains
from benchmarks.report import Claim, Report, Time, machine
from benchmarks.timing import Clock

SECONDS = 20.0
ACCURACIES = 10.0 ** -np.arange(2, 8)
FITTED = slice(1, None)  # 1e-3 to 1e-7


def exponent(values: Any) -> float:
    """Slope of log(values) over log(accuracy)."""
    return float(np.polyfit(np.log(ACCURACIES[FITTED]), np.log(np.asarray(values)[FITTED]), 1)[0])


def measure(system: Any, start: Any, repeat: int) -> dict[str, list[float]]:
    """At each accuracy: steps, rejections, evaluations, processor time [s], and the error at the end [rad,
    rms]."""
    exact = cd.simulate(system, start, SECONDS, accuracy=1e-10, integrator="dormand-prince").q[-1]
    found: dict[str, list[float]] = {key: [] for key in ("steps", "rejections", "evaluations", "error")}
    seconds = np.full(len(ACCURACIES), np.inf)
    for k in range(repeat):
        for i, accuracy in enumerate(ACCURACIES):
            with Clock() as clock:
                traj = cd.simulate(system, start, SECONDS, accuracy=accuracy)
            seconds[i] = min(seconds[i], clock.cpu)
            if not k:
                for key in ("steps", "rejections", "evaluations"):
                    found[key].append(getattr(traj.statistics, key))
                found["error"].append(float(np.sqrt(np.mean((traj.q[-1] - exact) ** 2))))
    return found | {"seconds": seconds.tolist()}


def plot(found: dict[str, list[float]], path: str) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, left = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    seconds = np.array(found["seconds"])
    scale = np.exp(np.mean(np.log(seconds[FITTED] * ACCURACIES[FITTED] ** 0.25)))
    left.loglog(
        ACCURACIES, seconds, "o", color="C0", label=f"processor time, exponent {exponent(seconds):.3f}"
    )
    left.loglog(ACCURACIES, scale * ACCURACIES**-0.25, color="C3", label=f"{scale:.2g} accuracy$^{{-1/4}}$")
    left.invert_xaxis()
    left.set_xlabel("accuracy")
    left.set_ylabel("processor time for 20 s of motion [s]")
    left.set_title(
        f"{chains.CHAINS} chains of {chains.BODIES} pins on an oscillating base, Merson", fontsize="medium"
    )
    left.grid(alpha=0.3, which="both")
    left.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.fig3", description="Processor time against accuracy."
    )
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a look, not a measurement")
    parser.add_argument("--json", metavar="FILE", help="also write the numbers here")
    parser.add_argument("--plot", metavar="FILE", help="also draw them")
    options = parser.parse_args()
    system, start = chains.system()
    report = Report(machine(), {"seconds": SECONDS, "accuracies": ACCURACIES.tolist(), "method": "merson"})
    found = measure(system, start, 2 if options.quick else 15)
    report.settings |= {"found": found}
    bodies = len(system.bodies)
    for i, accuracy in enumerate(ACCURACIES):
        report.times.append(
            Time(
                f"accuracy {accuracy:.0e}",
                bodies,
                f"{found['steps'][i]} steps, {found['rejections'][i]} rejected, error "
                f"{found['error'][i]:.1e}",
                found["seconds"][i],
            )
        )
    for what, key in (("processor time", "seconds"), ("evaluations", "evaluations"), ("steps", "steps")):
        value = exponent(found[key])
        report.claims.append(
            Claim(16, f"exponent of {what}, off -1/4 by", bodies, abs(value + 0.25), "<=", 0.03, "")
        )
        report.notes.append(f"exponent of {what} over 1e-3 to 1e-7: {value:.4f}")
    report.print()
    if options.plot:
        plot(found, options.plot)
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
