"""LLVM ends the process when it gets no memory: near a limit another process compiles, and fails in its
place."""

from __future__ import annotations

import sys

import pytest

from condyle.errors import NativeError
from condyle.native.machine import jit, memory, notice
from tests.process import output

TEXT = """
define double @twice(double %x) {
  %y = fadd double %x, %x
  ret double %y
}
"""
LIMITED = """
import ctypes, resource, sys
import condyle as cd
from condyle.native.machine import jit
jit.Library(jit.compile_ir("define void @f() {\\n ret void\\n}"))        # what stays in memory
lines = "\\n".join(f"%x{k} = fmul double %x{k - 1}, %x{max(k - 9, 0)}" for k in range(1, 20_000))
text = f"define double @f(double %x0) {{\\n{lines}\\nret double %x19999\\n}}"
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (int(float(sys.argv[1]) * size) + 6_000_000,) * 2)
try:
    library = jit.Library(jit.compile_ir(text))
    print(ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.address("f"))(1.0))
except cd.errors.NativeError as error:
    print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("part", "said"), [(1.0, "1.0"), (0.1, "LLVM needs more memory than there is")])
def test_a_process_short_of_addresses(part, said):
    """At 6 MB more than it has, LLVM would end it: another process compiles. That has too little at a
    tenth."""
    assert output("-c", LIMITED, str(part)).startswith(said)


def test_code_compiled_apart_is_the_same():
    (data,) = memory.compiled_apart([TEXT], jit.host(), 1)
    assert data == jit.compile_ir(TEXT)


def test_the_error_names_what_is_compiled_the_limit_and_what_to_do(monkeypatch):
    """As where a limit ends the other process."""
    monkeypatch.setattr(memory, "_CHILD", "import sys; sys.exit('LLVM ERROR: out of memory')")
    monkeypatch.setattr(memory, "_limits_of_process", lambda: iter([(2_000_000, "9 MB of addresses", True)]))
    with (
        pytest.raises(
            NativeError,
            match=r"^udot: LLVM .* 2 MB are left of 9 MB of addresses.*"
            "LLVM ERROR: out of memory.*raise the limit, .*=looped.*=casadi",
        ),
        notice.compiling("udot"),
    ):
        jit.compile_ir(TEXT + "; another text than that which is known already")
    with pytest.raises(NativeError, match="cannot be loaded: 2 MB are left of 9 MB of addresses"):
        memory.check_room([b"x" * 1000])


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        (
            "0::/a",
            {
                "a/memory.max": "50000000",
                "a/memory.current": "20000000",
                "a/memory.stat": "inactive_file 5000000",
            },
        ),
        ("0::/a", {"memory.max": "50000000", "memory.current": "15000000"}),
        ("4:memory:/a", {"a/memory.limit_in_bytes": "50000000", "a/memory.usage_in_bytes": "15000000"}),
    ],
)
def test_limits_of_containers(kind, files, tmp_path, monkeypatch):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    controller = kind.split(":")[1]
    real, found = memory._lines, memory.CONTAINERS[controller]
    monkeypatch.setattr(memory, "CONTAINERS", {controller: (str(tmp_path), *found[1:])})
    monkeypatch.setattr(memory, "_lines", lambda path: [kind] if path == "/proc/self/cgroup" else real(path))
    (left,) = [left for left, what, _ in memory._limits() if "container" in what]
    assert left == 35_000_000
    assert memory.is_near(["x" * 1_000_000], 1)
    assert not memory.is_near(["x" * 1000], 1)  # not looked at for so little
