"""Load CasADi, and explain why it and OpenSim cannot be loaded together. And pause garbage collection.

The wheels of casadi and opensim each contain a different library named libcasadi.so.3.7 (libcasadi.dll on
Windows). The loader of the operating system uses the first for both, so that the second package lacks symbols
and its import fails. Loading both by force makes the solvers that CasADi loads later use the wrong library
and read garbage, as Moco did in a test. If both packages come from one build, as from conda, they share one
library.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from pkgutil import get_data
from types import ModuleType
from typing import Any

_REMEDY = (
    "the wheels of opensim and casadi bring two libraries of one name (libcasadi) that differ, and a "
    "process can hold one of them. Run the part that needs OpenSim as a process of its own, such as "
    "subprocess.run([sys.executable, 'opensim_part.py']), and pass numbers through files: see "
    '"Beside OpenSim" in the guide to errors'
)
STARTED = time.time()
"""Time when this process read the first source of this package."""
_SIGNS = ("casadi", "undefined symbol", "symbol not found", "dll load failed")


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection. Loaded objects stay alive, and scanning them repeatedly took a tenth of the
    time to a first result.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Deferred:
    """A lazily loaded module: its functions load it when they are called. For type checkers and editors,
    import the module itself under `if TYPE_CHECKING`.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *arguments, **named: getattr(import_module(self._name), name)(*arguments, **named)


def if_loaded(module: str, name: str) -> Any:
    """A class for isinstance, or () if its module is not loaded: then nothing is an instance of it."""
    return getattr(sys.modules.get(module), name, ())


def import_lines(package: str, file: str) -> dict[str, tuple[str, str]]:
    """Module and name of each line `from module import name as public` in a file of a package, by public
    name.
    """
    text = (get_data(package, file) or b"").decode()
    return {
        public: (module, name)
        for module, name, public in re.findall(r"^ *from (\S+) import (\w+) as (\w+)$", text, re.MULTILINE)
    }


def load_casadi() -> None:
    """Import CasADi. Raises an ImportError with an explanation if OpenSim's library is in its place."""
    try:
        import casadi  # noqa: F401
    except ImportError as error:
        if "opensim" in sys.modules and _of_the_loader(error):
            raise ImportError(f"condyle cannot be imported after opensim: {_REMEDY}") from error
        raise


def explain_opensim() -> None:
    """Explain a later failure of `import opensim` in the same way. It only checks the name of each import."""
    # drop our finder from an earlier load
    others = [finder for finder in sys.meta_path if type(finder).__module__ != __name__]
    sys.meta_path[:] = [_Finder(), *others]  # type: ignore[list-item]


class _Finder:
    """Finds opensim as usual, and watches its import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "opensim":
            return None
        for finder in sys.meta_path:
            spec = (
                finder.find_spec(name, path, target)
                if finder is not self and hasattr(finder, "find_spec")
                else None
            )
            if spec is not None:
                if spec.loader is not None:
                    watched = _watched(spec.loader.exec_module)
                    spec.loader.exec_module = watched  # type: ignore[assignment, method-assign]
                return spec
        return None


def _watched(execute: Callable[[ModuleType], None]) -> Callable[[ModuleType], None]:
    def exec_module(module: ModuleType) -> None:
        try:
            execute(module)
        except ImportError as error:
            if _of_the_loader(error):
                raise ImportError(f"opensim cannot be imported after condyle: {_REMEDY}") from error
            raise

    return exec_module


def _of_the_loader(error: ImportError) -> bool:
    """Whether a library was missing something, not a module."""
    return not isinstance(error, ModuleNotFoundError) and any(sign in str(error).lower() for sign in _SIGNS)


load_casadi()
explain_opensim()
