"""Compiling and loading: what is wrong is an error, never the death of the process."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from condyle.errors import DescriptionError, NativeError
from condyle.native.ir.module import Module
from condyle.native.machine import cache, elf, jit, linking, parallel
from tests.native.straight.kernels import Kernels
from tests.native.straight.test_kernel_writer import chain

GOOD = "define double @f(double %x) {\n%y = fadd double %x, 1.0\nret double %y\n}"
CALLS = (
    GOOD.replace("fadd double %x, 1.0", "call double @nowhere(double %x)")
    + "\ndeclare double @nowhere(double)"
)


def call(library: jit.Library, x: float) -> float:
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.address("f"))(x)


def test_code_that_is_no_code():
    with pytest.raises(NativeError, match="LLVM rejects"):
        jit.compile_ir("define double @f( {")


def test_short_code_is_compiled_once():
    """Whoever asks again, for another system, has the same bytes."""
    assert jit.compile_ir(GOOD) is jit.compile_ir("".join([*GOOD]))
    assert jit.compile_ir(GOOD) != jit.compile_ir(GOOD.replace("1.0", "2.0"))


def test_unknown_name():
    with pytest.raises(NativeError, match="'g'"):
        jit.Library(jit.compile_ir(GOOD)).address("g")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"garbage" * 100,
        lambda data: data[:100],
        lambda data: data[:-40],
        lambda data: data[:50],
        lambda data: data[:6] + b"\xff" * len(data),
        lambda data: b"\0" * len(data),
    ],
)
def test_torn_object(damage):
    with pytest.raises(NativeError, match="cannot be loaded"):
        jit.Library(damage(jit.compile_ir(GOOD)))


def test_function_that_exists_nowhere():
    data = jit.compile_ir(CALLS)
    with pytest.raises(NativeError, match="nowhere"):
        jit.Library(data)


def test_outside_function_by_address():
    double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 2 * x)
    library = jit.Library(
        jit.compile_ir(CALLS.replace("nowhere", "condyle_test_double")),
        symbols={"condyle_test_double": ctypes.cast(double, ctypes.c_void_p).value},
    )
    assert call(library, 3.0) == 6.0


def test_objects_find_each_other():
    other = jit.compile_ir(GOOD.replace("@f", "@nowhere"))
    assert call(jit.Library(jit.compile_ir(CALLS), other), 3.0) == 4.0


def test_lane_width_from_the_environment(monkeypatch):
    monkeypatch.delenv("CONDYLE_LANES", raising=False)
    assert jit.lane_width() in (2, 4, 8)
    monkeypatch.setenv("CONDYLE_LANES", " 4 ")
    assert jit.lane_width() == 4
    for wrong in ("3", "0", "-4", "four", "4.0", "32"):
        monkeypatch.setenv("CONDYLE_LANES", wrong)
        with pytest.raises(DescriptionError, match=rf"CONDYLE_LANES={wrong}.*1, 2, 4, 8, 16"):
            jit.lane_width()


def test_effort_from_the_environment(monkeypatch):
    """Other code, kept apart in the cache, that computes the same."""
    codes, places = [], []
    for level in ("0", "1"):
        monkeypatch.setenv("CONDYLE_OPTIMIZE", level)
        codes.append(jit.compile_ir(GOOD))
        places.append(cache._place("a"))
        assert call(jit.Library(codes[-1]), 3.0) == 4.0
    assert codes[0] != codes[1] and places[0] != places[1]
    monkeypatch.setenv("CONDYLE_OPTIMIZE", "4")
    with pytest.raises(DescriptionError, match="CONDYLE_OPTIMIZE=4: expected 1, 0, 2 or 3"):
        jit.compile_ir(GOOD)


@pytest.mark.parametrize("W", sorted({1, jit.lane_width()}))
@pytest.mark.parametrize("threads", ["1", "3"])
def test_long_modules_are_compiled_in_pieces(monkeypatch, W, threads):
    """The same bits, whether one thread compiles one module or several compile several."""
    f = chain(600)
    x = np.random.default_rng(8).normal(size=(W, 5))
    whole = Kernels([f, f], W, split=100)
    assert len(parallel.divide(whole.text)) == 1
    monkeypatch.setattr(parallel, "_CHUNK", 10_000)
    monkeypatch.setenv("CONDYLE_THREADS", threads)
    assert len(parallel.divide(whole.text)) > 3
    divided = Kernels([f, f], W, split=100)
    for i in (0, 1):
        for got, expected in zip(divided(i, x), whole(i, x)):
            np.testing.assert_array_equal(got, expected)


def test_joined_objects_that_are_torn():
    data = parallel.join(
        [jit.compile_ir(GOOD), jit.compile_ir(CALLS.replace("@f", "@h").replace("nowhere", "sin"))]
    )
    assert call(jit.Library(data), 1.0) == 2.0
    for torn in (data[:-1], data[:20], data[:18], data + b"\0"):
        with pytest.raises(NativeError, match="cannot be loaded"):
            jit.Library(torn)


TABLE = np.random.default_rng(0).normal(size=1000)


def reads_table(share: bool) -> Module:
    """f(x) is number x of TABLE; if it is to be shared, in a part of a module that can be compiled by
    itself."""
    module = Module()
    name = module.table("numbers", TABLE)
    with module.function("g", ["i64"], result="double", note=parallel.PART if share else "") as b:
        b.give(b.load(b.at(b.symbol(name), b.arguments[0])))
    with module.function("f", ["double"], result="double", internal=False) as b:
        b.give(b.call("g", b.convert("fptosi", b.arguments[0], "i64"), result="double"))
    return module


@pytest.mark.parametrize("as_text", [False, True])
def test_long_tables_are_object_files_of_their_own(as_text, monkeypatch):
    """Where we can write these, else text; both are the same numbers, also in modules that are divided."""
    if as_text:
        monkeypatch.setattr(jit, "elf_machine", lambda: 0)
    elif not jit.elf_machine():
        pytest.skip("object files of this system have another form than ELF, which is what we write")
    monkeypatch.setattr(parallel, "_CHUNK", 100)
    for share in (False, True):
        module = reads_table(share)
        assert (len(module.text()) > TABLE.nbytes) == as_text and len(module.objects()) == (not as_text)
        assert len(parallel.divide(module.text())) == 1 + share
        library = jit.Library(module.compile(), module.compile())  # twice, as two kernels have it
        assert [call(library, float(k)) for k in range(1000)] == TABLE.tolist()


def test_an_object_file_of_data_is_read_as_it_was_written():
    data = elf.data_object(62, "numbers", TABLE.tobytes(), 64)
    assert elf.symbols(data) == ({"numbers"}, set()) and TABLE.tobytes() in data
    for size in (10, 100, len(data) - 1):
        with pytest.raises(ValueError, match=r"torn|ends|begins"):
            elf.symbols(data[:size])


MEMORY = """
@count = internal global i64 0, align 64
declare double @sin(double)
define double @f(double %x) {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  %k = sitofp i64 %new to double
  %s = call double @sin(double %x)
  %y = fadd double %k, %s
  ret double %y
}
"""


@pytest.mark.parametrize("by", ["us", "LLVM"])
def test_who_links(by, monkeypatch):
    """Memory of its own for each library, functions of the process, and the same answers by either."""
    if by == "LLVM":

        def unknown(*arguments):
            raise linking.Unknown

        monkeypatch.setattr(linking, "Image", unknown)
    elif not jit.elf_machine():
        pytest.skip("only ELF for x86-64 is linked by us")
    data = jit.compile_ir(MEMORY)
    first, second = jit.Library(data), jit.Library(data)
    assert (first._image is None) == (by == "LLVM")
    expected = [k + np.sin(0.5) for k in (1, 2)]
    assert [call(first, 0.5) for _ in range(2)] == expected
    assert [call(second, 0.5) for _ in range(2)] == expected


@pytest.mark.skipif(not jit.elf_machine(), reason="only ELF for x86-64 is linked by us")
def test_what_is_not_known_is_left_to_llvm():
    """Memory of each thread, which nothing of ours has."""
    tables = elf.Tables(jit.compile_ir("@x = thread_local global i64 7\ndefine ptr @f() {\n ret ptr @x\n}"))
    with pytest.raises(linking.Unknown):
        linking.Image([tables], {})
