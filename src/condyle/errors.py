"""Errors: one base class; subclasses carry the data of their message. And warnings."""

from __future__ import annotations

import difflib
import sys
import traceback
import warnings
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from condyle.status import Status

__all__ = [
    "ArgumentError",
    "CondyleError",
    "ConstraintError",
    "ContactError",
    "ConvergenceError",
    "DescriptionError",
    "FrozenError",
    "MissingFileError",
    "NativeError",
    "PathError",
    "PlausibilityWarning",
    "QualityError",
    "QualityWarning",
    "ShapeError",
    "SingularError",
    "TraceError",
    "UnknownNameError",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name.startswith("__"):  # each import asks for __path__
            raise AttributeError(name)
        near = difflib.get_close_matches(name, __all__, n=3, cutoff=0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise AttributeError(f"cd.errors has no {name!r}{hint}")


class CondyleError(Exception):
    """Base class of Condyle's errors."""


class DescriptionError(CondyleError, ValueError):
    """A system was described with an invalid value. The message names the value, its place and what is
    allowed."""


class ArgumentError(DescriptionError, TypeError):
    """A call with unknown or missing arguments. The message lists the known ones."""


class MissingFileError(CondyleError, FileNotFoundError):
    """A file that does not exist. Has `filename`, and `near`, similar names in the same folder."""

    def __init__(self, message: str, filename: str = "", near: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.message, self.filename, self.near = message, filename, list(near)

    def __str__(self) -> str:
        return self.message


class FrozenError(CondyleError, RuntimeError):
    """A change to a system that is already in use."""


class ShapeError(CondyleError, ValueError):
    """An array argument of the wrong shape or kind, or not finite.

    Has `result` if numbers were not finite: the result with NaN for these states; else None.
    """

    def __init__(self, message: str = "", result: object = None) -> None:
        super().__init__(message)
        self.result = result


class SingularError(CondyleError, ArithmeticError):
    """A mobilizer is singular at some coordinates: it has lost a direction of motion, or qdot is infinite.

    Has `body`, `speed`, `q` of its mobilizer, and `result` with NaN for the singular states.
    """

    status: ClassVar[Status] = Status.SINGULAR

    def __init__(self, message: str, body: str, speed: str, q: object, result: object) -> None:
        super().__init__(message)
        self.body, self.speed, self.q, self.result = body, speed, q, result


class ConstraintError(CondyleError, ArithmeticError):
    """Constraints that cannot be satisfied.

    Has `violated`, amounts by equation; `nearest`, the best q or u found, if there was a search; and `result`
    of an operator, with NaN for states without a solution.
    """

    status: ClassVar[Status] = Status.CONSTRAINTS

    def __init__(
        self, message: str, violated: dict[str, float], nearest: object, result: object = None
    ) -> None:
        super().__init__(message)
        self.violated, self.nearest, self.result = violated, nearest, result


class PathError(CondyleError, ArithmeticError):
    """A path that was not found over its surfaces at some pose.

    Has `path`, the name of its force; `surfaces`, names of its surfaces; `q`; and `result` with NaN for
    states without a solution.
    """

    status: ClassVar[Status] = Status.PATH

    def __init__(
        self, message: str, path: str, surfaces: tuple[str, ...], q: object, result: object = None
    ) -> None:
        super().__init__(message)
        self.path, self.surfaces, self.q, self.result = path, surfaces, q, result


class ContactError(CondyleError, ArithmeticError):
    """A contact whose closest points are not found at some pose.

    Has `contact`, its name; its `surfaces`; `q`; and `result` with NaN for states without a solution.
    """

    status: ClassVar[Status] = Status.CONTACT

    def __init__(
        self, message: str, contact: str, surfaces: tuple[str, ...], q: object, result: object = None
    ) -> None:
        super().__init__(message)
        self.contact, self.surfaces, self.q, self.result = contact, surfaces, q, result


class ConvergenceError(CondyleError, ArithmeticError):
    """An iteration that did not converge. Has `nearest`, the best q found, and `status`, the reason."""

    def __init__(self, message: str, nearest: object, status: Status = Status.REJECTED) -> None:
        super().__init__(message)
        self.nearest, self.status = nearest, status


class TraceError(CondyleError, TypeError):
    """A user function that cannot become machine code."""


class NativeError(CondyleError, RuntimeError):
    """Machine code could not be generated or run."""


class UnknownNameError(CondyleError, KeyError):
    """A name that does not exist. Has `name`, `kind` and the similar names `near`."""

    def __init__(self, kind: str, name: object, known: Iterable[str], hint: str = "") -> None:
        known = list(known)
        near = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
        self.kind, self.name, self.near = kind, name, near
        message = f"unknown {kind} {name!r}"
        if near:
            message += "; did you mean " + " or ".join(repr(n) for n in near) + "?"
        elif known:
            shown = ", ".join(repr(n) for n in known[:12]) + (", ..." if len(known) > 12 else "")
            message += f"; known: {shown}"
        else:
            message += "; there are none"
        self.message = message + (f" ({hint})" if hint else "")
        super().__init__(self.message)

    def _render_traceback_(self) -> list[str]:
        """One-line display in a notebook for errors in a cell. If this raises, as for errors in functions
        called by cells, IPython shows the full traceback.
        """
        frames = [
            (frame.f_globals.get("__name__", ""), frame.f_code.co_name, line)
            for frame, line in traceback.walk_tb(self.__traceback__)
        ]
        _, name, line = [f for f in frames if f[0].partition(".")[0] != "condyle"][-1]
        if name != "<module>":
            raise NotImplementedError
        return [f"{type(self).__name__}: line {line}: {self}"]

    def within(self, where: str) -> None:
        """Put the place before the message."""
        self.message = f"{where}: {self.message}"

    def __str__(self) -> str:
        return self.message


def check_names(kind: str, names: Iterable[Any], known: Collection[Any], hint: str = "") -> None:
    """Raise UnknownNameError for the first of these names that is not known."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known, hint)


def check_name(kind: str, name: object, known: Collection[Any], hint: str = "") -> None:
    """Raise UnknownNameError for a name that is not known."""
    check_names(kind, (name,), known, hint)


class QualityError(CondyleError, ArithmeticError):
    """A result far above its guidelines: `result.check()`. Has `quality`, its table."""

    def __init__(self, message: str, quality: object = None) -> None:
        super().__init__(message)
        self.quality = quality


class QualityWarning(RuntimeWarning):
    """A result is so far above a guideline that an input is probably wrong; `result.quality` says more."""


class PlausibilityWarning(UserWarning):
    """A number that is possible but implausible: its unit or sign is probably wrong."""


_warned = 0


def warned() -> int:
    """Number of warnings in this process, shown or not."""
    return _warned


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line, the nearest one outside of this package.

    Args:
        message: the text.
        category: RuntimeWarning for a result that may not be right; UserWarning otherwise.
    """
    global _warned
    _warned += 1
    level, frame = 1, sys._getframe()
    ours = ("condyle", "contextlib")  # which is between decorated functions and users
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
