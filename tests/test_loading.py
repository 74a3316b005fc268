"""OpenSim and CasADi in one process: what their wheels do to each other is said in words. Packages made here
stand for them."""

from __future__ import annotations

import pytest

from tests.process import output, run

# As the loader of Linux says it of opensim 4.6 and casadi 3.8, in either order.
OPENSIM_SECOND = "libosimMoco.so: undefined symbol: _ZN6casadi2MX6binaryExRKS0_S2_"
CASADI_SECOND = "_casadi.so: undefined symbol: _ZN6casadi13GlobalOptions21copy_elision_min_sizeE"


@pytest.fixture
def packages(tmp_path_factory):
    """packages(name=code, ...): an environment in which these packages come first. Each call makes a folder:
    bytecode of a file that is written again within a second may be taken for that of the new one."""

    def make(**code: str) -> dict[str, str]:
        folder = tmp_path_factory.mktemp("packages")
        for name, text in code.items():
            package = folder.joinpath(*name.split("."))
            package.mkdir()
            (package / "__init__.py").write_text(text)
        return {"PYTHONPATH": str(folder)}

    return make


def test_opensim_after_condyle(packages):
    path = packages(opensim=f"raise ImportError({OPENSIM_SECOND!r})")
    failed = run("-c", "import condyle, opensim", environment=path)
    assert failed.returncode == 1
    assert OPENSIM_SECOND in failed.stderr  # the cause is shown too
    said = failed.stderr.splitlines()[-1]
    assert said.startswith("ImportError: opensim cannot be imported after condyle: ")
    assert "a process of its own" in said


def test_condyle_after_opensim(packages):
    path = packages(opensim="", casadi=f"raise ImportError({CASADI_SECOND!r})")
    failed = run("-c", "import opensim, condyle", environment=path)
    assert failed.returncode == 1
    assert CASADI_SECOND in failed.stderr
    said = failed.stderr.splitlines()[-1]
    assert said.startswith("ImportError: condyle cannot be imported after opensim: ")
    assert "a process of its own" in said


def test_a_casadi_that_fails_alone_is_not_blamed_on_opensim(packages):
    failed = run("-c", "import condyle", environment=packages(casadi=f"raise ImportError({CASADI_SECOND!r})"))
    assert failed.stderr.splitlines()[-1] == f"ImportError: {CASADI_SECOND}"


def test_an_opensim_that_can_be_imported_is(packages):
    """As where both share one library. Other errors of its import stay what they are, and so does its
    absence."""
    path = packages(
        **{
            "opensim": "from opensim.part import number\nhere = __file__, __spec__.name",
            "opensim.part": "number = 4.6",
        }
    )
    said = output(
        "-c",
        "import condyle, opensim, importlib; importlib.reload(opensim); "
        "print(opensim.number, opensim.here[1])",
        environment=path,
    )
    assert said.split() == ["4.6", "opensim"]
    path = packages(**{"opensim": "import opensim.part", "opensim.part": "import numpi"})
    failed = run("-c", "import condyle, opensim", environment=path)
    assert failed.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'numpi'"


def test_without_opensim_nothing_changes():
    script = """
import sys, condyle, importlib
importlib.reload(condyle.loading)
assert sum(type(finder).__module__ == "condyle.loading" for finder in sys.meta_path) == 1
sys.modules["opensim"] = None                               # as if it were not installed
try:
    import opensim
except ModuleNotFoundError as error:
    print(error.name)
"""
    assert output("-c", script).split() == ["opensim"]
