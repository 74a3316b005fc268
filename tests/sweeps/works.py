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
