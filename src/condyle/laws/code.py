"""The code of a user's class as text, for keys of caches: a class that changed must not find its old machine code."""
from __future__ import annotations

import hashlib
from collections.abc import Sequence

from condyle.laws.described import _value


def class_code(cls: type, names: Sequence[str] | None = None) -> str:
    """A digest of the methods of a class and of what they use.

    Args:
        cls: the class.
        names: of the methods to look at; all by default.

    Returns:
        Text; empty if all of these methods are of this package, whose sources are part of every key.
    """
    parts: list[str] = []
    for base in cls.__mro__:
        if base.__module__.startswith("condyle.") or base is object:
            continue
        for name, method in sorted(vars(base).items()):
            code = getattr(method, "__code__", None)
            if code is None or (names is not None and name not in names):
                continue
            used = {n: method.__globals__[n] for n in code.co_names if n in method.__globals__}
            used |= {n: cell.cell_contents for n, cell in zip(code.co_freevars, method.__closure__ or (), strict=True)}
            parts.append(f"{name} {code.co_code!r} {code.co_consts!r} {code.co_names!r}")
            parts += [f"{n} = {_value(v)}" for n, v in used.items()]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""
