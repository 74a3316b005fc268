"""Factorization for the linear systems of IPOPT.

IPOPT spends most of its time in one linear system per iteration, K dx = r with

    K = [[W + Sigma + delta_w 1, J'], [J, -delta_c 1]]                                                     (1)

Its C interface accepts no linear solver, but its library has a function that sets the functions of the solver
"ma27": start, analyze, factor and solve, here from `condyle.nlp.fronts`. No code of HSL is used. IPOPT itself
refines solutions, checks residuals, and requests larger pivot thresholds if these are large; if that does not
help it fails, and `condyle.nlp.ipopt` restarts it with MUMPS. Factorization stops as soon as a matrix has
more than m negative eigenvalues: IPOPT then increases delta_w.
"""

from __future__ import annotations

import ctypes as C
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

import condyle.settings as settings
from condyle.arrays import Array
from condyle.nlp.front_tree import tree
from condyle.nlp.fronts import Factors

NAME = "condyle"
"""Its name among IPOPT's options: {"linear_solver": "condyle"}, the default, or "mumps"."""
OPTIONS: dict[str, str | int | float] = {
    "linear_solver": "ma27",
    "linear_system_scaling": "none",
    "ma27_pivtol": 1e-6,
    "ma27_pivtolmax": 0.1,
}
"""IPOPT's options for it: name, and the pivot thresholds used for MUMPS."""
_SET = (
    "_ZN5Ipopt20Ma27TSolverInterface12SetFunctionsE"
    "PFvPiS1_PKiS3_S1_S1_S1_S1_S1_S1_S1_PdS1_S4_EPFvS1_S1_S3_S3_S4_S1_S1_S1_S1_S1_S1_S1_S1_S4_S1_E"
    "PFvS1_S4_S1_S1_S1_S4_S1_S4_S1_S1_S1_S1_EPFvS1_S4_E"
)
"""The function's mangled name in the library, for all compilers but Microsoft's."""
_I, _D = C.POINTER(C.c_int), C.POINTER(C.c_double)
_SINGULAR, _FAILED = 3, -1
_WORD, _RANK, _ROOM, _NEGATIVE = 0, 1, slice(4, 6), 14
"""Indices in the functions' reports: status; rank; memory requested from IPOPT (none); number of negative
eigenvalues.
"""


class KKTSystems:
    """The systems (1) of one run of IPOPT.

    Args:
        most: allowed number of negative eigenvalues of K.

    Attributes:
        error: the exception raised.
        doubtful: whether IPOPT requested a larger threshold because of large residuals.
        factored: number of matrices.
        solved: number of systems.
    """

    def __init__(self, most: int) -> None:
        self.most, self.factored, self.solved, self.doubtful = most, 0, 0, False
        self.error: BaseException | None = None

    def analyze(self, n: int, rows: Any, columns: Any) -> None:
        self.factors = Factors(tree(n, rows, columns))

    def factor(self, values: Array, threshold: float) -> tuple[int, int]:
        """Number of negative eigenvalues, and rank deficiency."""
        self.factored += 1
        self.doubtful |= threshold > OPTIONS["ma27_pivtol"]  # type: ignore[operator]
        done = self.factors.factor(values, threshold, self.most)
        return self.factors.negative, self.factors.zero if done else 0

    def solve(self, b: Array) -> Array:
        self.solved += 1
        return self.factors.solve(b)


_here = threading.local()
_lock, _users = threading.Lock(), [0]


def available(library: Any) -> bool:
    """Whether this IPOPT accepts the functions, and compilation is enabled."""
    return hasattr(library, _SET) and settings.evaluator() == "native"


@contextmanager
def inside(library: Any, most: int) -> Iterator[KKTSystems]:
    """While active, "ma27" of IPOPT in this thread is this solver. Runs may be nested."""
    outer = getattr(_here, "linear", None)
    _here.linear = linear = KKTSystems(most)
    with _lock:
        _users[0] += 1
        getattr(library, _SET)(*(C.cast(f, C.c_void_p) for f in _functions()))
    try:
        yield linear
    finally:
        with _lock:
            _users[0] -= 1
            if not _users[0]:
                getattr(library, _SET)(*[C.c_void_p()] * 4)
        _here.linear = outer


def _array(pointer: Any, size: int) -> Any:
    return np.ctypeslib.as_array(pointer, (size,))


def _analyze(
    N: Any, NZ: Any, IRN: Any, ICN: Any, IW: Any, LIW: Any, IKEEP: Any, IW1: Any, NSTEPS: Any, IFLAG: Any, ICNTL: Any,
    CNTL: Any, INFO: Any, OPS: Any,
) -> None:  # fmt: skip
    info, k = _array(INFO, 20), NZ[0]
    info[:] = 0
    info[_ROOM] = max(k, 1), 1
    NSTEPS[0] = 1
    try:
        _here.linear.analyze(N[0], _array(IRN, k) - 1, _array(ICN, k) - 1)
    except BaseException as error:
        _here.linear.error, info[_WORD] = error, _FAILED


def _factor(
    N: Any, NZ: Any, IRN: Any, ICN: Any, A: Any, LA: Any, IW: Any, LIW: Any, IKEEP: Any, NSTEPS: Any, MAXFRT: Any,
    IW1: Any, ICNTL: Any, CNTL: Any, INFO: Any,
) -> None:  # fmt: skip
    info = _array(INFO, 20)
    info[:] = 0
    MAXFRT[0] = 1
    try:
        info[_NEGATIVE], missing = _here.linear.factor(_array(A, NZ[0]), CNTL[0])
        if missing:
            info[_WORD], info[_RANK] = _SINGULAR, N[0] - missing
    except BaseException as error:
        _here.linear.error, info[_WORD] = error, _FAILED


def _solve(
    N: Any, A: Any, LA: Any, IW: Any, LIW: Any, W: Any, MAXFRT: Any, RHS: Any, IW1: Any, NSTEPS: Any, ICNTL: Any,
    INFO: Any,
) -> None:  # fmt: skip
    b = _array(RHS, N[0])
    _array(INFO, 20)[:] = 0
    try:
        b[:] = _here.linear.solve(b)
    except BaseException as error:
        _here.linear.error, b[:] = error, np.nan


@cache
def _functions() -> list[Any]:
    """Analyze, factor, solve and start, in the order and with the arguments of IPOPT's interface to MA27."""
    return [
        C.CFUNCTYPE(None, *[_I] * 11, _D, _I, _D)(_analyze),
        C.CFUNCTYPE(None, *[_I] * 4, _D, *[_I] * 8, _D, _I)(_factor),
        C.CFUNCTYPE(None, _I, _D, *[_I] * 3, _D, _I, _D, *[_I] * 4)(_solve),
        C.CFUNCTYPE(None, _I, _D)(lambda ICNTL, CNTL: None),
    ]
