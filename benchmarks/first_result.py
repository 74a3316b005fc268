"""Seconds until the first answer in a fresh process: `python -m benchmarks.first_result 30` prints them as
JSON.

Nothing but the clock is imported before condyle, so that its import time includes numpy, casadi and llvmlite,
and what a System needs, which is loaded when it is asked for.
"""

import sys
import time

present = set(sys.modules)
start = time.perf_counter()
from condyle import Pin, System  # noqa: E402, F401

import_seconds = time.perf_counter() - start
loaded = sorted(
    {name.partition(".")[0] for name in set(sys.modules) - present} - set(sys.stdlib_module_names)
)

import json  # noqa: E402

from benchmarks import trees  # noqa: E402


def main() -> None:
    tree = trees.random_tree(int(sys.argv[1]), states=2)
    begun, processor = time.perf_counter(), time.process_time()
    system = trees.condyle_system(tree)
    described = time.perf_counter()
    system.forward_dynamics(tree.q[0], tree.u[0], tree.tau[0])
    answered, processor = time.perf_counter(), time.process_time() - processor
    system.forward_dynamics(tree.q[1], tree.u[1], tree.tau[1])
    print(
        json.dumps(
            {
                "import": import_seconds,
                "describe": described - begun,
                "first call": answered - described,
                "second call": time.perf_counter() - answered,
                "processor": processor,
                "loaded": loaded,
            }
        )
    )


if __name__ == "__main__":
    main()
