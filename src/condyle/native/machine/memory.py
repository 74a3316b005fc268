"""Estimates of the memory that LLVM needs and of the memory that is available: LLVM ends the process if an
allocation fails.

If a limit is near, a separate process compiles (`apart`): it has its own address space, and if it is killed,
this process continues and raises an error.
"""

from __future__ import annotations

import contextlib
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from condyle.errors import NativeError

MEGABYTE = 1_000_000
# Measured on x86-64 over modules of 40 kB to 9 MB: LLVM takes 15 to 75 bytes for each character of what it
# compiles at the same time, up to 5 for each character of the whole text, and 10 MB besides. A second
# thread takes 190 MB of addresses and uses few of them. These bounds are 2 to 3 times the measured values.
ALONE, ADDRESSES = 32 * MEGABYTE, 250 * MEGABYTE
BYTES_OF_CHARACTER, BYTES_OF_WHOLE = 120, 10
BYTES_OF_OBJECT = 4  # to load one byte of machine code
# by name of the controller: folder, files with limit and use, and the part of the use that can be reclaimed
CONTAINERS = {
    "": ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    "memory": (
        "/sys/fs/cgroup/memory",
        "memory.limit_in_bytes",
        "memory.usage_in_bytes",
        "total_inactive_file",
    ),
}

_CHILD = """
import struct, sys
try:
    open("/proc/self/oom_score_adj", "w").write("1000")
except OSError:
    pass
import llvmlite.binding as llvm
triple, cpu, features, level, *sizes = sys.argv[1:]
llvm.initialize_native_target(), llvm.initialize_native_asmprinter()
machine = llvm.Target.from_triple(triple).create_target_machine(
    cpu=cpu, features=features, opt=int(level), reloc="pic", codemodel="default")
for size in sizes:
    module = llvm.parse_assembly(sys.stdin.buffer.read(int(size)).decode(), llvm.create_context())
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    data = machine.emit_object(module)
    sys.stdout.buffer.write(struct.pack("<Q", len(data)) + data)
    del module, data
"""


def is_near(texts: Sequence[str], threads: int) -> bool:
    """Whether compiling these modules on this many threads comes near a limit."""
    whole, longest = sum(map(len, texts)), sorted(map(len, texts))[-threads:]
    memory = ALONE + BYTES_OF_CHARACTER * sum(longest) + BYTES_OF_WHOLE * whole
    limits = _limits_of_process() if whole < MEGABYTE else _limits()
    return any(left < memory + ADDRESSES * (threads - 1) * limited for left, _, limited in limits)


def check_room(objects: Sequence[bytes]) -> None:
    """Raise NativeError if there is not enough memory to load machine code."""
    size = sum(map(len, objects))
    for left, what, _ in _limits_of_process():
        if left < BYTES_OF_OBJECT * size + 4 * MEGABYTE:
            raise NativeError(
                f"{size / 1e6:.1f} MB of machine code cannot be loaded: "
                f"{max(left, 0) / 1e6:.0f} MB are left of {what}; raise the limit, or free "
                "memory"
            )


def compiled_apart(texts: Sequence[str], host: tuple[str, str, str], level: int) -> list[bytes]:
    """Object file of each module, compiled in a process of its own; raises NativeError if that process has
    too little memory."""
    try:
        import subprocess

        data = [text.encode() for text in texts]
        done = subprocess.run(
            [sys.executable, "-c", _CHILD, *host, str(level), *(str(len(d)) for d in data)],
            input=b"".join(data),
            capture_output=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        said = done.stderr.decode(errors="replace").strip().splitlines()
        ended = said[-1] if said else f"status {done.returncode}"
        if not done.returncode:
            out, objects = memoryview(done.stdout), []
            while out:
                size = struct.unpack_from("<Q", out)[0]
                objects.append(bytes(out[8 : 8 + size]))
                out = out[8 + size :]
            return objects
    except (MemoryError, OSError, ImportError) as error:
        ended = repr(error)
    left, what, _ = min(_limits(), default=(0, "all memory", False))
    raise NativeError(
        f"LLVM needs more memory than there is to compile {sum(map(len, texts)) / 1e6:.1f} MB "
        f"of code: {max(left, 0) / 1e6:.0f} MB are left of {what}, and a process of its own "
        f"ended with {ended!r}; raise the limit, set CONDYLE_LAYOUT=looped, whose code hardly "
        "grows with the bodies, or CONDYLE_EVALUATOR=casadi, which compiles nothing"
    )


def _limits() -> Iterator[tuple[int, str, bool]]:
    """For each limit: bytes left, its name, and whether it limits addresses."""
    yield from _limits_of_process()
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            yield 1024 * int(line.split()[1]), "the memory of this machine", False
    for line in _lines("/proc/self/cgroup"):
        _, kind, path = line.split(":", 2)
        if kind in CONTAINERS:
            root, limit, used, cached = CONTAINERS[kind]
            for folder in {Path(root + path), Path(root)}:  # a container sees one of the two
                with contextlib.suppress(OSError, ValueError):
                    most = int((folder / limit).read_text())  # "max" if there is no limit
                    cache = dict(x.split() for x in _lines(folder / "memory.stat")).get(cached, "0")
                    left = most - int((folder / used).read_text()) + int(cache)
                    yield left, f"{most / 1e6:.0f} MB for this container (cgroup)", False


def _limits_of_process() -> Iterator[tuple[int, str, bool]]:
    """The same for the limits of this process that make allocations fail."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        used = [int(x) * resource.getpagesize() for x in Path("/proc/self/statm").read_text().split()]
        for limit, part, what in (
            (resource.RLIMIT_AS, used[0], "addresses (ulimit -v)"),
            (resource.RLIMIT_DATA, used[5], "data (ulimit -d)"),
        ):
            most = resource.getrlimit(limit)[0]
            if most != resource.RLIM_INFINITY:
                yield most - part, f"{most / 1e6:.0f} MB of {what}", True


def _lines(path: str | Path) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []
