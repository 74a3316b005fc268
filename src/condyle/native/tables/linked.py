"""Machine code of row sources that do not depend on the model, such as solvers: compiled once, with its own
cache entry, and linked to every module that uses it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condyle.native.ir.module import Module
from condyle.native.ir.values import POINTER
from condyle.native.machine import cache

_compiled: dict[str, tuple[bytes, dict[str, Any]]] = {}
"""The sources last compiled in this process; the next model uses them again if the disk cache is off."""
_MOST = 32


def link_source(
    module: Module, name: str, text: str, write: Callable[[Module, str], int], lanes: int = 0
) -> str:
    """Link `void @symbol(ptr index, ptr row, ptr work)`, once to a module; returns the symbol. Machine code
    from the cache is used if possible; else write(new module, symbol) defines the function and returns the
    blocks of `work`.

    Args:
        name: prefix of the symbol.
        text: determines the source, the same in every process.
        lanes: lanes of the new module; those of `module` by default.
    """

    def link(symbol: str) -> int:
        key = f"{symbol}\n{text}"
        if (found := _compiled.get(key) or cache.fetch(key)) is not None:
            code, facts = found
            module.link(symbol, [POINTER] * 3, lambda: code)
            return int(facts["work"])
        own = Module(lanes or module.lanes.W, module.contract)
        work = write(own, symbol)
        module.link(symbol, [POINTER] * 3, lambda: _compile(key, own, work))
        return work

    return module.define(f"{name}.{module.lanes.W}{'' if module.contract else '.exact'}", link)


def _compile(key: str, module: Module, work: int) -> bytes:
    if key not in _compiled:
        while len(_compiled) >= _MOST:
            _compiled.pop(next(iter(_compiled)))
        _compiled[key] = module.compile(), {"work": work}
        cache.store(key, *_compiled[key])
    return _compiled[key][0]


class LinkedSource:
    """A row source that is linked."""

    def __repr__(self: Any) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.needs} -> {self.width}, {self.text[:16]})"
