"""Numbers that machine code reads from outside: those of a model that its structure does not depend on. The same
code then serves all models that differ in these alone."""

from __future__ import annotations

import numpy as np

SYMBOL = "condyle.data"

NONE = np.zeros(0)
NONE.flags.writeable = False


def symbols(data: np.ndarray) -> dict[str, int]:
    """The address that code which reads them is linked to; whoever calls the code keeps the array alive."""
    return {SYMBOL: data.ctypes.data} if data.size else {}
