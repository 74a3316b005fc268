"""The code of a user's class as text, for keys of caches: a class that changed must not find its old machine
code."""

from __future__ import annotations

import hashlib
from types import CodeType, ModuleType
from typing import Any

from condyle.laws.described import _value

LEFT_OUT = frozenset(
    {
        "__init__",
        "__post_init__",
        "__new__",
        "__repr__",
        "__eq__",
        "__hash__",
        "__setattr__",
        "__delattr__",
        "__getstate__",
        "__setstate__",
        "__reduce__",
        "__replace__",
    }
)
"""Methods that make objects and show them: what these hold is described with them."""
KNOWN = frozenset({"condyle", "numpy", "casadi", "math", "scipy", "dataclasses", "typing"})
"""Packages whose functions do not change from run to run without their version."""


def class_code(cls: type) -> str:
    """A digest of the methods and attributes of a class, and of what the methods use.

    Returns:
        Text; empty for classes of this package, whose sources are part of every key.
    """
    parts: list[str] = []
    for base in cls.__mro__:
        if base is object or base.__module__.split(".")[0] in ("condyle", "abc", "typing"):
            continue
        for name, member in sorted(vars(base).items()):
            function = _function(member)
            if function is not None and name not in LEFT_OUT:
                parts += _lines(name, function)
            elif function is None and not name.startswith(("__", "_abc_")):
                parts.append(f"{name} = {_value(member)}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest() if parts else ""


def _function(member: Any) -> Any:
    """What a method, a property or a class method calls; None for what is no function."""
    for attribute in ("fget", "func", "__func__"):
        member = getattr(member, attribute, None) or member
    return member if isinstance(getattr(member, "__code__", None), CodeType) else None


def _lines(name: str, function: Any) -> list[str]:
    """A function's code, and the values of the names that it uses."""
    code = function.__code__
    used = {n: function.__globals__[n] for n in code.co_names if n in function.__globals__}
    used |= {
        n: cell.cell_contents for n, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
    }
    for module in [
        m for m in used.values() if isinstance(m, ModuleType) and m.__name__.split(".")[0] not in KNOWN
    ]:
        used |= {f"{module.__name__}.{n}": getattr(module, n) for n in code.co_names if hasattr(module, n)}
    return [
        f"{name} {code.co_code!r} {code.co_consts!r} {code.co_names!r}",
        *(f"{n} = {_value(v)}" for n, v in used.items()),
    ]
