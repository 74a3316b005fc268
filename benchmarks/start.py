"""How long programs take to start, beside others: processor seconds of fresh processes, from nothing to the
end of the process, the least of some in turns, from a full cache of machine code.

    python -m benchmarks.start                   about a minute
    python -m benchmarks.start --rounds 10
    python -m benchmarks.start --against FOLDER  another checkout of Condyle too, such as of the commit before
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GAIT2354 = Path(__file__).parents[2] / "shared/reference/opensim/Gait2354_Simbody/subject01_simbody.osim"
TREE = (
    "from benchmarks import trees; x = trees.random_tree(30, states=1); s = trees.condyle_system(x); "
    "s.forward_dynamics(x.q[0], x.u[0], x.tau[0])"
)


def ours(gait: Path) -> dict[str, list[str]]:
    """Our programs by what they do."""
    return {
        "import condyle": ["-c", "import condyle"],
        "condyle: a System of one body": [
            "-c",
            "import condyle as cd; cd.System().add_body('a', mobilizer=cd.Pin(), mass=1)",
        ],
        "condyle: first accelerations of 30 bodies": ["-c", TREE],
        "condyle: all public names": [
            "-c",
            "import condyle as cd; [getattr(cd, name) for name in cd.__all__]",
        ],
        "condyle --help": ["-m", "condyle", "--help"],
    } | (
        {}
        if not gait.exists()
        else {
            "condyle: gait2354 read": ["-c", f"import condyle as cd; cd.read_osim({str(gait)!r})"],
            "condyle: gait2354 read, first accelerations": [
                "-c",
                f"import condyle as cd; cd.read_osim({str(gait)!r}).state().udot",
            ],
        }
    )


def others(gait: Path) -> dict[str, list[str]]:
    """Programs of others; those that are not installed are left out."""
    read = f"import opensim; m = opensim.Model({str(gait)!r}); s = m.initSystem(); m.realizeAcceleration(s)"
    return {
        "python": ["-c", "pass"],
        **{
            f"import {name}": ["-c", f"import {name}"]
            for name in (
                "numpy",
                "casadi",
                "llvmlite.binding",
                "scipy.integrate",
                "pinocchio",
                "mujoco",
                "opensim",
            )
        },
    } | ({} if not gait.exists() else {"opensim: gait2354 read, first accelerations": ["-c", read]})


def seconds(words: list[str], root: Path, cache: str) -> float:
    """Of one process, user and system together; infinite if it fails."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment |= {
        "CONDYLE_CACHE_DIR": cache,
        "CONDYLE_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
    }
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *words], capture_output=True, env=environment, cwd=cache
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent if done.returncode == 0 else float("inf")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--against", type=Path, help="a folder with another checkout of Condyle")
    options.add_argument("--model", type=Path, default=GAIT2354, help="gait2354, if it is elsewhere")
    given = options.parse_args()
    roots = {"": ROOT} | ({"before: ": given.against.resolve()} if given.against else {})
    model = given.model.resolve()
    runs = {
        f"{label}{what}": (words, root)
        for label, root in roots.items()
        for what, words in ours(model).items()
    }
    runs |= {what: (words, ROOT) for what, words in others(model).items()}
    with tempfile.TemporaryDirectory() as caches:
        for root in roots.values():  # a cache for each: keys hold the sources
            Path(caches, root.name).mkdir()
        least = dict.fromkeys(runs, float("inf"))
        for turn in range(given.rounds + 1):
            for what, (words, root) in runs.items():
                spent = seconds(words, root, str(Path(caches, root.name)))
                if turn:  # the first fills caches and writes .pyc files
                    least[what] = min(least[what], spent)
    for what, spent in least.items():
        print(f"{what:55} " + (f"{spent:.3f} s" if spent < float("inf") else "-"))


if __name__ == "__main__":
    main()
