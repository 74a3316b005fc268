"""Systems for the command line: a ready model by its name, or a system from a Python file."""

from __future__ import annotations

import contextlib
import difflib
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from condyle.errors import CondyleError, DescriptionError, UnknownNameError
from condyle.system.state import State
from condyle.system.system import System

OTHERS = (".trc", ".c3d", ".mot", ".sto", ".csv", ".npz", ".xml")
"""Files of the field that are not models."""


def system_of(given: str, geometry: Sequence[Path] = ()) -> System:
    """The System of a command.

    Args:
        given: the name of a ready model, a Python file, FILE.py:NAME for one of its variables, or a model
            file of OpenSim, .osim.
        geometry: folders with its meshes.
    """
    from condyle import models

    file, _, name = given.partition(".py:")
    if name:
        return _named(names_of(Path(f"{file}.py")), Path(f"{file}.py"), name)
    path = Path(given)
    if path.suffix.lower() == ".osim":
        return _osim(path, geometry)
    if path.suffix == ".py" or path.is_file():
        if path.suffix != ".py":
            raise DescriptionError(
                f"{given}: expected a Python file, an .osim file, or the name of a ready "
                f"model: {', '.join(models.READY)}"
            )
        return _only(names_of(path), path)
    if given not in models.READY and path.suffix:
        check_file(path)
    if given not in models.READY:
        raise UnknownNameError(
            "model",
            given,
            models.READY,
            "your own is a file: a model of OpenSim, "
            "such as leg.osim, or a Python file that makes "
            "a System, such as leg.py",
        )
    system = getattr(models, given)()
    assert isinstance(system, System)
    return system


def names_of(file: Path) -> dict[str, Any]:
    """The variables of a Python file after it is run.

    Raises:
        DescriptionError: there is no such file, or it raises an error: which, and in which of its lines.
    """
    check_file(file)
    with beside(file):
        try:
            return runpy.run_path(str(file))
        except SystemExit as error:
            raise DescriptionError(
                f"{file}: it exited (exit code {error.code}) before it created a System"
            ) from None
        except Exception as error:
            raise DescriptionError(f"{file}{_line(error, file)}: {_said(error)}") from error


def check_file(file: Path) -> None:
    """Refuse a file that does not exist."""
    if not file.is_file():
        there = (
            [p.name for p in file.parent.iterdir() if p.suffix in {file.suffix, ".osim", ".py"}]
            if file.parent.is_dir()
            else []
        )
        near = difflib.get_close_matches(file.name, there, n=2)
        similar = f"is it {' or '.join(str(file.parent / n) for n in near)}? Else " if near else ""
        raise DescriptionError(
            f"{file}: no such file; {similar}give a model file of OpenSim, or a "
            "Python file that makes `system = cd.System()` and adds bodies"
        )


def start_of(file: Path) -> State:
    """The State to start from: `state` of a file, or the default one of its `system` or of a model file."""
    if file.suffix.lower() == ".osim":
        return _osim(file).state()
    if file.suffix.lower() in OTHERS:
        raise DescriptionError(f"{file}: expected a Python file or an .osim file")
    names = names_of(file)
    system = names.get("system")
    if not isinstance(system, System):
        raise DescriptionError(f"{file}: expected a cd.System under the name `system`, got {system!r}")
    state = names.get("state")
    if state is None:
        return system.state()
    if not isinstance(state, State):
        raise DescriptionError(f"{file}: `state` must be a State, such as system.state(q=...), got {state!r}")
    return state


@contextlib.contextmanager
def beside(file: Path) -> Iterator[None]:
    """Allow imports from a file's folder, as Python does when it runs it."""
    folder = str(file.resolve().parent)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the file may have changed the path too
            sys.path.remove(folder)


def _only(names: dict[str, Any], file: Path) -> System:
    """`system`, or the only System."""
    found = {name: value for name, value in names.items() if isinstance(value, System)}
    if isinstance(names.get("system"), System):
        return found["system"]
    if not found:
        makers = [
            name
            for name, value in names.items()
            if callable(value)
            and not name.startswith("_")
            and getattr(value, "__module__", None) == names["__name__"]
        ]
        hint = f"; does {makers[0]}() create one? Then add system = {makers[0]}()" if makers else ""
        raise DescriptionError(
            f"{file}: it creates no cd.System{hint}; expected a variable such as system = cd.System()"
        )
    if len({id(value) for value in found.values()}) > 1:
        raise DescriptionError(
            f"{file}: it creates several Systems: {', '.join(found)}; call the intended "
            f"one `system`, or give {file}:{next(iter(found))}"
        )
    return next(iter(found.values()))


def _named(names: dict[str, Any], file: Path, name: str) -> System:
    found = [n for n, value in names.items() if isinstance(value, System)]
    if name not in names:
        raise UnknownNameError(f"variable of {file}", name, found, "Systems are listed")
    if name not in found:
        raise DescriptionError(f"{file}:{name}: expected a cd.System, got {names[name]!r}")
    return names[name]  # type: ignore[no-any-return]


def _osim(path: Path, geometry: Sequence[Path] = ()) -> System:
    """A model of OpenSim."""
    from condyle.opensim import read_osim

    check_file(path)
    return read_osim(path, geometry=geometry)


def _line(error: Exception, file: Path) -> str:
    """The last line of a file that an error went through."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f", line {error.lineno}"
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).name == file.name
    ]
    return f", line {lines[-1]}" if lines else ""


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, CondyleError) else f"{type(error).__name__}: {error}"
