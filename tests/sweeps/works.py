"""Works that other processes can import."""

import os
import signal
import time
from pathlib import Path

import numpy as np


def square(member):
    return {"y": member["a"] ** 2 + member.random().normal(), "path": np.array([member["a"], member["b"]])}


def ishigami(members):
    a, b, c = (members[name] for name in "abc")
    return {"y": np.sin(a) + 7 * np.sin(b) ** 2 + 0.1 * c**4 * np.sin(a)}


def ran(member, folder):
    """Leaves a letter in a file each time that a member runs."""
    time.sleep(0.02)
    with open(Path(folder) / str(member.index), "a") as file:
        file.write("x")
    return square(member)


def deadly(member, folder):
    """Its process dies: of member 3 always, of member 5 the first time."""
    mark = Path(folder) / "died"
    if member.index == 3 or (member.index == 5 and not mark.exists()):
        mark.touch() if member.index == 5 else None
        os.kill(os.getpid(), signal.SIGKILL)
    return square(member)


def odd(member):
    """Fails for every seventh member; of others some values are far from each other."""
    if member.index % 7 == 3:
        raise ValueError("seven")
    return {"y": member["a"] * 10 ** (10 * member["b"]), "z": float(member.index)}


def compiled(member):
    """A number that takes machine code of its own, and how many entries this process had to compile."""
    import condyle as cd
    from condyle.native.machine import cache

    system = cd.System()
    system.add_body("a", mobilizer=cd.Pin(), mass=1.2345, inertia=(0.1, 0.2, 0.3), com=(0.1, 0.2, 0.4567))
    value = system.forward_dynamics([member["a"]], [0.0])[0]
    return {"value": value, "misses": cache.info().misses}


def blas_threads(member):
    """Threads of linear algebra that this process asks for."""
    return {
        "n": float(os.environ.get("OPENBLAS_NUM_THREADS", "nan")),
        "m": float(os.environ.get("MKL_NUM_THREADS", "nan")),
    }
