"""IPOPT (Wachter and Biegler 2006) by its C interface, from the library in CasADi's wheel.

IPOPT's barrier starts from mu = 0.1 and pushes the guess away from its bounds: started at its own solution it
takes 22 iterations. A warm start (`WARM`) with the multipliers takes 4.

`condyle.nlp.kkt` factors its linear systems, two to four times as fast as MUMPS, which is the reference
(options={"linear_solver": "mumps"}) and the fallback if a run fails.
"""

from __future__ import annotations

import ctypes as C
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from condyle.arrays import Array
from condyle.errors import DescriptionError, NativeError
from condyle.nlp import Bounds, Iterate, Iteration, NonlinearProgram, NonlinearSolution, Watch, kkt

Option = str | int | float

STATUS = {
    0: ("solved", "Solve_Succeeded"),
    1: ("acceptable", "Solved_To_Acceptable_Level"),
    2: ("infeasible", "Infeasible_Problem_Detected"),
    3: ("failed", "Search_Direction_Becomes_Too_Small"),
    4: ("failed", "Diverging_Iterates"),
    5: ("stopped", "User_Requested_Stop"),
    6: ("solved", "Feasible_Point_Found"),
    -1: ("iterations", "Maximum_Iterations_Exceeded"),
    -2: ("failed", "Restoration_Failed"),
    -3: ("failed", "Error_In_Step_Computation"),
    -4: ("stopped", "Maximum_CpuTime_Exceeded"),
    -5: ("stopped", "Maximum_WallTime_Exceeded"),
    -10: ("overdetermined", "Not_Enough_Degrees_Of_Freedom"),
    -11: ("failed", "Invalid_Problem_Definition"),
    -13: ("not finite", "Invalid_Number_Detected"),
    -100: ("failed", "Unrecoverable_Exception"),
    -101: ("failed", "NonIpopt_Exception_Thrown"),
    -102: ("failed", "Insufficient_Memory"),
    -199: ("failed", "Internal_Error"),
}
"""IPOPT's return codes: our status, its text."""
REFUSED = -12
"""Its return code for invalid options."""

WARM: dict[str, Option] = {
    "warm_start_init_point": "yes",
    "mu_init": 1e-9,
    "warm_start_bound_push": 1e-12,
    "warm_start_bound_frac": 1e-12,
    "warm_start_slack_bound_push": 1e-12,
    "warm_start_slack_bound_frac": 1e-12,
    "warm_start_mult_bound_push": 1e-12,
}

MUMPS: dict[str, Option] = {"linear_solver": "mumps", "mumps_permuting_scaling": 0}
"""No permutation that puts large entries on the diagonal. Tracking with torques
takes 40 % less so, other problems of benchmarks/control.py as long or up to 12 % less. Other orders than its own choice
(mumps_pivot_order) are slower on some."""

_D, _I, _P = C.POINTER(C.c_double), C.POINTER(C.c_int), C.c_void_p
_VALUE = C.CFUNCTYPE(C.c_bool, C.c_int, _D, C.c_bool, _D, _P)
_CONSTRAINTS = C.CFUNCTYPE(C.c_bool, C.c_int, _D, C.c_bool, C.c_int, _D, _P)
_JACOBIAN = C.CFUNCTYPE(C.c_bool, C.c_int, _D, C.c_bool, C.c_int, C.c_int, _I, _I, _D, _P)
_HESSIAN = C.CFUNCTYPE(
    C.c_bool, C.c_int, _D, C.c_bool, C.c_double, C.c_int, _D, C.c_bool, C.c_int, _I, _I, _D, _P
)
_STEP = C.CFUNCTYPE(C.c_bool, C.c_int, C.c_int, *[C.c_double] * 8, C.c_int, _P)


@cache
def library() -> Any:
    """IPOPT's library."""
    folder, name = (
        Path(ca.__file__).parent,
        "libipopt.3.dylib" if sys.platform == "darwin" else "libipopt.so.3",
    )
    path = next((p for p in (folder / name, *sorted(folder.glob("libipopt*")), *sorted(folder.glob("ipopt*.dll")))
                 if p.exists()), None)  # fmt: skip
    if path is None:
        raise NativeError(f"IPOPT's library is not in {str(folder)!r}; install the wheel of casadi")
    lib = C.CDLL(str(path))
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "CreateIpoptProblem": (
            _P,
            [C.c_int, _D, _D, C.c_int, _D, _D, C.c_int, C.c_int, C.c_int]
            + [_VALUE, _CONSTRAINTS, _VALUE, _JACOBIAN, _HESSIAN],
        ),
        "AddIpoptStrOption": (C.c_bool, [_P, C.c_char_p, C.c_char_p]),
        "AddIpoptNumOption": (C.c_bool, [_P, C.c_char_p, C.c_double]),
        "AddIpoptIntOption": (C.c_bool, [_P, C.c_char_p, C.c_int]),
        "FreeIpoptProblem": (None, [_P]),
        "IpoptSolve": (C.c_int, [_P, _D, _D, _D, _D, _D, _D, _P]),
        "SetIntermediateCallback": (C.c_bool, [_P, _STEP]),
        "GetIpoptCurrentIterate": (C.c_bool, [_P, C.c_bool, C.c_int, _D, _D, _D, C.c_int, _D, _D]),
    }
    for function, (result, arguments) in signatures.items():
        getattr(lib, function).restype, getattr(lib, function).argtypes = result, arguments
    return lib


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """While active, Ctrl-C sets a flag, which the returned function reads; a second one interrupts."""
    pressed = [False]
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)

    def press(number: int, frame: Any) -> None:
        if pressed[0] and callable(before):
            before(number, frame)
        pressed[0] = True

    signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed[0]
    finally:
        signal.signal(signal.SIGINT, before)


class _Callbacks:
    """Callbacks of IPOPT; an exception stops it and is raised at the end."""

    def __init__(self, program: NonlinearProgram) -> None:
        self.program, self.error = program, None
        self.seconds = dict.fromkeys(("objective", "gradient", "constraints", "jacobian", "hessian"), 0.0)

    def run(self, name: str, compute: Callable[[], Any], out: Any) -> bool:
        start = time.process_time()
        try:
            value = compute()
            out[:] = value
            return bool(np.isfinite(value).all())
        except BaseException as error:
            self.error = error  # type: ignore[assignment]
            return False
        finally:
            self.seconds[name] += time.process_time() - start

    def value(self, n: int, x: Any, new: bool, out: Any, _: Any) -> bool:
        return self.run("objective", lambda: self.program.objective(_array(x, n)), _array(out, 1))

    def gradient(self, n: int, x: Any, new: bool, out: Any, _: Any) -> bool:
        return self.run("gradient", lambda: self.program.gradient(_array(x, n)), _array(out, n))

    def constraints(self, n: int, x: Any, new: bool, m: int, out: Any, _: Any) -> bool:
        return self.run("constraints", lambda: self.program.constraints(_array(x, n)), _array(out, m))

    def jacobian(
        self, n: int, x: Any, new: bool, m: int, k: int, rows: Any, cols: Any, out: Any, _: Any
    ) -> bool:
        if not out:
            _array(rows, k)[:], _array(cols, k)[:] = self.program.jacobian_rows, self.program.jacobian_columns
            return True
        return self.run("jacobian", lambda: self.program.jacobian(_array(x, n)), _array(out, k))

    def hessian(
        self, n: int, x: Any, new: bool, sigma: float, m: int, lam: Any, new_l: bool, k: int, rows: Any, cols: Any,
        out: Any, _: Any,
    ) -> bool:  # fmt: skip
        if not out:
            _array(rows, k)[:], _array(cols, k)[:] = self.program.hessian_rows, self.program.hessian_columns
            return True
        return self.run(
            "hessian", lambda: self.program.hessian(_array(x, n), sigma, _array(lam, m)), _array(out, k)
        )


def _array(pointer: Any, size: int) -> Any:
    return np.ctypeslib.as_array(pointer, (size,)) if size else np.zeros(0)


def solve(
    program: NonlinearProgram,
    bounds: Bounds,
    x: Array,
    options: Mapping[str, Option] | None = None,
    *,
    lambda_: Array | None = None,
    lower: Array | None = None,
    upper: Array | None = None,
    watch: Watch | None = None,
) -> NonlinearSolution:
    """Solve a program from x.

    Args:
        options: IPOPT's, by their names; "linear_solver" may be "condyle", the default, too.
        lambda_: multipliers to start from, with WARM among the options.
        lower: multipliers of lower bounds to start from.
        upper: multipliers of upper bounds to start from.
        watch: called at each iteration; may stop the solver.
    """
    given = dict(options or {})
    start = time.process_time()
    if given.get("linear_solver", kkt.NAME) != kkt.NAME:
        return _solve(program, bounds, x, MUMPS | given, lambda_, lower, upper, watch)
    given.pop("linear_solver", None)
    found, doubtful = None, False
    if kkt.available(library()):
        # without the test of inertia more negative eigenvalues are no reason to stop
        with kkt.inside(
            library(), program.m if "neg_curv_test_tol" not in given else program.n + program.m
        ) as own:
            found = _solve(program, bounds, x, kkt.OPTIONS | given, lambda_, lower, upper, watch)
        if own.error is not None:
            raise own.error
        doubtful = found.status in ("failed", "not finite") or (found.status == "infeasible" and own.doubtful)
    if found is None or doubtful:
        second = _solve(program, bounds, x, MUMPS | given, lambda_, lower, upper, watch)
        found = second if found is None or second.status not in ("failed", "not finite") else found
    return replace(found, seconds=time.process_time() - start)


def _solve(
    program: NonlinearProgram,
    bounds: Bounds,
    x: Array,
    options: Mapping[str, Option],
    lambda_: Array | None,
    lower: Array | None,
    upper: Array | None,
    watch: Watch | None,
) -> NonlinearSolution:
    lib, n, m = library(), program.n, program.m
    called, history, start = _Callbacks(program), list[Iteration](), time.process_time()

    def pointer(a: Array) -> Any:
        return a.ctypes.data_as(_D)

    edges = [np.ascontiguousarray(a, float) for a in (bounds.x_low, bounds.x_high, bounds.low, bounds.high)]
    functions = (
        _VALUE(called.value),
        _CONSTRAINTS(called.constraints),
        _VALUE(called.gradient),
        _JACOBIAN(called.jacobian),
        _HESSIAN(called.hessian),
    )
    entries = len(program.jacobian_rows), len(program.hessian_rows)
    low, high, g_low, g_high = map(pointer, edges)
    problem = lib.CreateIpoptProblem(n, low, high, m, g_low, g_high, *entries, 0, *functions)
    if not problem:
        raise NativeError("IPOPT refused the problem")

    def current() -> Iterate:
        x, lower, upper, c, lam = (np.empty(k) for k in (n, n, n, m, m))
        lib.GetIpoptCurrentIterate(
            problem, False, n, *map(pointer, (x, lower, upper)), m, *map(pointer, (c, lam))
        )
        return Iterate(x, lam, lower, upper)

    def step(mode: int, k: int, f: float, primal: float, dual: float, mu: float, *rest: Any) -> bool:
        history.append(Iteration(k, f, primal, dual, time.process_time() - start, mu))
        try:
            return called.error is None and not stop() and (watch is None or watch(history[-1], current))
        except BaseException as error:
            called.error = error  # type: ignore[assignment]
            return False

    seen = _STEP(step)
    try:
        for name, value in {"sb": "yes", "print_level": 0, **options}.items():
            if isinstance(value, bool) or not isinstance(value, (str, int, float, np.integer, np.floating)):
                raise DescriptionError(f"IPOPT's option {name!r}: expected a number or a word, got {value!r}")
            kind = (
                "Str" if isinstance(value, str) else "Int" if isinstance(value, (int, np.integer)) else "Num"
            )
            kept = value.encode() if isinstance(value, str) else value
            if not getattr(lib, f"AddIpopt{kind}Option")(problem, name.encode(), kept):
                raise DescriptionError(f"IPOPT has no option {name!r} that can be {value!r}")
        lib.SetIntermediateCallback(problem, seen)
        out = np.array(x, float)
        given = [np.zeros(m) if lambda_ is None else np.array(lambda_, float)]
        given += [np.zeros(n) if a is None else np.array(a, float) for a in (lower, upper)]
        c, f = np.zeros(m), np.zeros(1)
        with interruptible() as stop:
            code = lib.IpoptSolve(problem, *map(pointer, (out, c, f, *given)), None)
    finally:
        lib.FreeIpoptProblem(problem)
    if called.error is not None:
        raise called.error
    if code == REFUSED:
        raise DescriptionError(
            f"IPOPT refuses its options {dict(options)}: is a linear_solver among them whose library is not installed?"
        )
    status, said = STATUS.get(code, ("failed", str(code)))
    return NonlinearSolution(
        out, float(f[0]), c, given[0],
        given[1],
        given[2], status, said, history[-1].number if history else 0, history,
        time.process_time() - start, called.seconds,
    )  # fmt: skip
