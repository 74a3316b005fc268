"""What it took to make machine code."""

from __future__ import annotations

from condyle.records import dataclass


@dataclass(frozen=True)
class Report:
    """What it took to make the machine code of a function so far.

    Args:
        build: seconds building expressions.
        emit: seconds writing LLVM IR.
        compile: seconds in LLVM.
        load: seconds reading from the cache and linking.
        kernels: lanes of each kernel made, in order.
        from_cache: whether each came from the cache.
        operations: scalar operations for one state.
    """

    build: float = 0.0
    emit: float = 0.0
    compile: float = 0.0
    load: float = 0.0
    kernels: tuple[int, ...] = ()
    from_cache: tuple[bool, ...] = ()
    operations: int = 0

    @property
    def cached(self) -> bool:
        """True if there is machine code and all of it came from the cache."""
        return bool(self.kernels) and all(self.from_cache)

    @property
    def seconds(self) -> float:
        return self.build + self.emit + self.compile + self.load
