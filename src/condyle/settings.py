"""Settings: the environment variables of Condyle, all read here, at each use, so that a program may change
them.

    CONDYLE_LAYOUT      auto (default), looped or unrolled: how operators are laid out (model/layouts.py)
    CONDYLE_EVALUATOR   native (default) or casadi: what evaluates the operators
    CONDYLE_THREADS     threads of a batch; all cores by default
    CONDYLE_LANES       states per SIMD kernel: 1, 2, 4, 8 or 16; what fits this processor by default
    CONDYLE_OPTIMIZE    effort of the compiler, 0 to 3: 1 by default; 0 compiles in a quarter of the time
    CONDYLE_CACHE       on (default) or off: whether machine code is kept on disk
    CONDYLE_CACHE_DIR   where; the user's directory for caches by default
    CONDYLE_CACHE_MB    how much [megabytes], 512 by default
    CONDYLE_GEOMETRY    folders with meshes of bones, as in PATH: search path for meshes of model files
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from condyle.errors import DescriptionError

LANES = (1, 2, 4, 8, 16)


def _text(name: str) -> str:
    return os.environ.get(name, "").strip()


def _refusal(name: str, text: str, expected: str) -> DescriptionError:
    return DescriptionError(f"{name}={text}: expected {expected}")


def _choice(name: str, choices: Sequence[str]) -> str:
    """One of some words; the first by default."""
    text = _text(name) or choices[0]
    if text not in choices:
        raise _refusal(name, text, f"{', '.join(choices[:-1])} or {choices[-1]}")
    return text


def layout() -> str:
    """auto, looped or unrolled."""
    return _choice("CONDYLE_LAYOUT", ("auto", "looped", "unrolled"))


def evaluator() -> str:
    """native or casadi."""
    return _choice("CONDYLE_EVALUATOR", ("native", "casadi"))


def threads() -> int | None:
    """Threads of a batch; None where it is left to the machine."""
    text = _text("CONDYLE_THREADS")
    if text and not (text.isdecimal() and int(text) >= 1):
        raise _refusal("CONDYLE_THREADS", text, "a whole number from 1 on; unset it to use every core")
    return int(text) if text else None


def lanes() -> int | None:
    """States per SIMD kernel; None where it is left to the machine."""
    text = _text("CONDYLE_LANES")
    if text and text not in map(str, LANES):
        raise _refusal(
            "CONDYLE_LANES",
            text,
            f"one of {', '.join(map(str, LANES))}; unset it for the width of this processor",
        )
    return int(text) if text else None


def optimization() -> int:
    """LLVM's level of code generation, 0 to 3."""
    return int(_choice("CONDYLE_OPTIMIZE", ("1", "0", "2", "3")))


def cache_is_on() -> bool:
    """Whether machine code is kept on disk."""
    return _choice("CONDYLE_CACHE", ("on", "off")) == "on"


def cache_limit() -> int:
    """How much is kept [bytes]."""
    text = _text("CONDYLE_CACHE_MB") or "512"
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise _refusal("CONDYLE_CACHE_MB", text, "a number of megabytes from 0 on")
    return int(limit * 1e6)


def geometry() -> tuple[Path, ...]:
    """Folders with meshes."""
    folders = [
        Path(part).expanduser().absolute() for part in _text("CONDYLE_GEOMETRY").split(os.pathsep) if part
    ]
    for folder in folders:
        if not folder.is_dir():
            raise _refusal(
                "CONDYLE_GEOMETRY", str(folder), f"folders that exist, with {os.pathsep!r} between them"
            )
    return tuple(folders)


def cache_directory() -> Path | None:
    """Where machine code is kept; None where no user is at home."""
    if given := os.environ.get("CONDYLE_CACHE_DIR"):
        return Path(given).absolute()
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base, "condyle")
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "condyle"
