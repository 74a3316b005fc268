"""Compile LLVM IR to machine code in this process, for this processor."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import condyle.settings as settings
from condyle.errors import NativeError
from condyle.native.machine import data, elf, linking, memory, notes, parallel
from condyle.native.machine.threads import thread_count

if TYPE_CHECKING:
    import llvmlite.binding as llvm
    import numpy as np


@functools.cache
def host() -> tuple[str, str, str]:
    """Triple, processor name and feature string of this machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def lane_width() -> int:
    """How many states a SIMD kernel holds: doubles in one vector register, 8, 4 or 2; CONDYLE_LANES
    overrides.

    Measured on a forward dynamics kernel with AVX-512: 8 lanes take 1.2 times as long as 4; 16 spill their
    registers.
    """
    return settings.lanes() or register_width()


@functools.cache
def register_width() -> int:
    """Doubles in one vector register."""
    return 8 if has("avx512f") else 4 if has("avx") else 2


@functools.cache
def permuted_lanes() -> int:
    """Lanes whose registers the processor can permute by the numbers in another register; 0 if none."""
    return 8 if has("avx512f") else 0


@functools.cache
def fuses() -> bool:
    """Whether the processor multiplies and adds with one rounding."""
    return platform.machine().lower() in ("aarch64", "arm64") or has("fma")


@functools.cache
def elf_machine() -> int:
    """The processor's number in ELF files; 0 if object files have another format, or if writing them for
    this processor is untested."""
    return 62 if sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32 else 0


@functools.cache
def _processor() -> tuple[str, frozenset[str]]:
    """Name and features of this processor, from Linux on x86-64, else from LLVM."""
    if elf_machine():
        try:
            lines = Path("/proc/cpuinfo").read_text().partition("\n\n")[0].splitlines()
        except OSError:
            lines = []
        said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
        if said.get("flags"):
            name = " ".join(said.get(key, "") for key in ("vendor_id", "cpu family", "model", "stepping"))
            return f"linux x86_64 {name}", frozenset(said["flags"].split())
    import llvmlite.binding as llvm

    return f"{host()[0]} {host()[1]}", frozenset(k for k, on in llvm.get_host_cpu_features().items() if on)


def has(feature: str) -> bool:
    """Whether the processor has a feature, such as avx512f."""
    return feature in _processor()[1]


@functools.cache
def versions() -> str:
    """Versions of the packages on which an object file depends, besides its source."""
    name, features = _processor()
    digest = hashlib.sha256(" ".join(sorted(features)).encode()).hexdigest()[:16]
    return f"{package('llvmlite')}; {name}; {digest}"


def _short(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]


@functools.cache
def package(name: str) -> str:
    """A package's version and the sizes of its libraries, read from its files, which is faster than
    importing it."""
    found = find_spec(name)
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    files = []
    for folder in folders:
        for place in (folder, os.path.join(folder, "binding")):
            if os.path.isdir(place):
                with os.scandir(place) as entries:
                    files += [
                        f"{e.name} {_short(e.path) if e.name == '_version.py' else e.stat().st_size}"
                        for e in entries
                        if e.name.startswith(_LIBRARIES)
                    ]
    return f"{name} {sorted(files)}"


_LIBRARIES = "_casadi.", "libcasadi.", "libllvmlite.", "llvmlite.", "_version.py"


def _target_machine(optimize: int) -> llvm.TargetMachine:
    import llvmlite.binding as llvm

    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=optimize, reloc="pic", codemodel="default"
    )


def compile_ir(text: str, optimize: int | None = None) -> bytes:
    """Object file of an IR module, or several joined in one, for `Library`.

    Code generation level 1 equals 3 on our straight lines; no IR passes are run. Level 0 takes a quarter of the
    time, but its code runs two to four times as long. By default the level is that of the settings.
    """
    host()
    return (_compile_once if len(text) < _SHORT else _compile)(
        text, settings.optimization() if optimize is None else optimize
    )


def _compile(text: str, optimize: int) -> bytes:
    texts = parallel.divide(text)
    threads = min(len(texts), thread_count())
    if memory.is_near(texts, threads):
        return parallel.join(memory.compiled_apart(texts, host(), optimize))
    return parallel.join(parallel.compile_all(texts, lambda: _target_machine(optimize), threads))


# Code that does not depend on the numbers of a system, such as the check of Parameters of a system without
# any, is the same text for many systems.
_compile_once = functools.lru_cache(maxsize=64)(_compile)
_SHORT = 50_000  # characters: 64 of them are 3 MB


def join(objects: Sequence[bytes]) -> bytes:
    """Object files as one string of bytes; each may be several that were joined before."""
    return parallel.join([single for data in objects for single in parallel.separate(data)])


_linking = threading.Lock()


class Library:
    """A loaded object file. Addresses stay valid for as long as this object lives.

    Args:
        objects: object files, linked together.
        symbols: addresses of outside functions by name (LAPACK, NumPy); libm and libc are found
            automatically.
        numbers: data that the code reads (data.py).
        needs: tables and derived numbers that the code needs of the data.
    """

    def __init__(
        self,
        *objects: bytes,
        symbols: Mapping[str, int] | None = None,
        numbers: np.ndarray = data.NONE,
        needs: data.Recipe | None = None,
    ) -> None:
        single = _separate(objects)
        outside, self._numbers = data.link(numbers, needs or {})
        symbols = {**(symbols or {}), **outside}
        files = _check(single, symbols)
        memory.check_room(single)
        self._image: linking.Image | None = None
        if elf_machine() and len(files) == len(single):
            try:
                self._image = linking.Image(files, symbols)
                return
            except linking.Unknown:  # LLVM may support it
                pass
        with _linking:  # symbols belong to the whole process until all places are filled in
            self._link(single, symbols)

    def _link(self, files: list[bytes], symbols: Mapping[str, int]) -> None:
        import llvmlite.binding as llvm

        host()
        for name, address in {**symbols, notes.SYMBOL: notes.address()}.items():
            llvm.add_symbol(name, address)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine(1))
        try:
            for each in files:
                self._engine.add_object_file(llvm.ObjectFileRef.from_data(each))
            self._engine.finalize_object()
        except RuntimeError as error:
            raise NativeError(f"an object file cannot be loaded: {error}") from error

    def address(self, name: str) -> int:
        """Address of a function; raises NativeError if the library does not have it."""
        if self._image is not None:
            address = self._image.addresses.get(name, 0)
        else:
            address = self._engine.get_function_address(name)
        if not address:
            raise NativeError(f"no function {name!r} in the compiled code")
        return address


def _separate(objects: tuple[bytes, ...]) -> list[bytes]:
    try:
        return list(
            dict.fromkeys(single for data in objects for single in parallel.separate(data))
        )  # each once
    except ValueError as error:
        raise NativeError(f"a string of object files cannot be loaded: {error}; compile it again") from None


def _check(objects: list[bytes], symbols: Mapping[str, int]) -> list[elf.Tables]:
    """Refuse object files that LLVM would load but that would crash or give wrong results: truncated files,
    missing or duplicate functions. Returns the tables of ELF files.
    """
    tables: list[elf.Tables] = []
    defined: set[str] = set()
    needed: set[str] = set()
    for file in objects:
        if file[:4] == b"\xcf\xfa\xed\xfe" or file[:2] in (b"\x64\x86", b"\x64\xaa"):
            continue  # Mach-O and COFF are not checked
        try:
            tables.append(elf.Tables(file))
        except ValueError as error:
            raise NativeError(
                f"an object file of {len(file)} bytes cannot be loaded: {error}; compile again"
            ) from None
        if twice := defined & tables[-1].defined:
            raise NativeError(
                f"two object files define {', '.join(sorted(twice))}, and calls would reach one of them by "
                "chance: give functions names of their own"
            )
        defined |= tables[-1].defined
        needed |= tables[-1].needed
    if missing := sorted(name for name in needed - defined - symbols.keys() if not _in_process(name)):
        raise NativeError(
            f"the compiled code calls functions that exist nowhere: {', '.join(missing)}; give "
            "their addresses in `symbols`"
        )
    return tables


@functools.cache
def _in_process(name: str) -> bool:
    """Whether a C function is loaded; loads the mathematical library if it is not."""
    if linking.process_address(name) or name == "_GLOBAL_OFFSET_TABLE_":
        return True
    if (known := sys.modules.get("llvmlite.binding")) is not None and known.address_of_symbol(name):
        return True
    from ctypes.util import find_library

    library = find_library("m")
    if library and hasattr(ctypes.CDLL(library, ctypes.RTLD_GLOBAL), name):
        linking.process_address.cache_clear()
        return True
    return False
