"""What `import condyle` loads, and when the rest is loaded: tests of a quick start, none of its time."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import pytest

import condyle as cd
from condyle.system.operators import METHODS
from tests.opensim.files import reference
from tests.process import output

SOURCE = Path(cd.__file__)
LOADED = "import sys; print(*sorted(m for m in sys.modules if m.startswith('condyle')))"


def test_import_loads_no_room():
    """A program waits for what it uses."""
    assert output("-c", f"import condyle; {LOADED}").split() == ["condyle", "condyle.loading"]


@pytest.mark.parametrize(
    ("line", "rooms"),
    [
        (
            "cd.System().add_body('a', mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))",
            ("studies", "fit", "integrate", "io", "models", "opensim", "viewer", "maximal", "cli"),
        ),
        ("cd.read_table", ("native.tables", "mobilizers", "system", "studies", "opensim")),
        (
            "cd.simulate",
            (
                "opensim",
                "viewer",
                "maximal",
                "models",
                "cli",
                "studies.joints",
                "studies.scaling",
                "studies.kinematics",
            ),
        ),
        (
            "cd.read_osim",
            (
                "viewer",
                "models",
                "maximal",
                "cli",
                "opensim.setup",
                "studies",
                "fit",
                "integrate",
            ),
        ),
        ("cd.errors.CondyleError", ("native", "mobilizers", "system")),
    ],
)
def test_what_is_not_used_is_not_loaded(line, rooms):
    loaded = output("-c", f"import condyle as cd; {line}; {LOADED}").split()
    assert [m for m in loaded for room in rooms if f"{m}.".startswith(f"condyle.{room}.")] == []


def test_the_public_names_are_one_list():
    """The stub, which type checkers read, is the only one: each of its lines is a name that the package finds
    where it says."""
    lines = SOURCE.with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    imports = [line.split() for line in lines if line.startswith("from ")]
    assert sorted(words[5] for words in imports) == cd.__all__ == sorted(set(cd.__all__))
    for _, module, _, there, _, name in imports:
        source = importlib.import_module(f"condyle.{there}" if module == "condyle" else module)
        assert getattr(cd, name) is (source if module == "condyle" else getattr(source, there)), name
        assert vars(cd)[name] is getattr(cd, name)  # the next time it is found at once


def test_the_top_level_is_short():
    modules = [name for name in cd.__all__ if inspect.ismodule(getattr(cd, name))]
    assert len(cd.__all__) - len(modules) <= 99  # 72, and what control, sweeps, robots, subjects add


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("ArgumentError", "cd.errors.ArgumentError"),
        ("SimmSpline", "cd.functions.SimmSpline"),
        ("InverseKinematics", "condyle.studies.kinematics.result"),
        ("view", "cd.live"),
    ],
)
def test_a_name_that_moved_says_where_it_is(name, home):
    with pytest.raises(AttributeError, match=re.escape(home)):
        getattr(cd, name)


@pytest.mark.parametrize("name", cd._MOVED)
def test_what_few_programs_name_is_in_the_module_that_the_error_says(name):
    with pytest.raises(AttributeError, match="from condyle") as error:
        getattr(cd, name)
    found: dict[str, object] = {}
    exec(str(error.value).partition(": ")[2], found)
    assert name in found and name not in cd.__all__


def test_no_public_name_is_that_of_a_module():
    """`import condyle.x` binds x in condyle: a public name x that is no module would be lost."""
    modules = {path.stem for path in SOURCE.parent.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert not {name for name in modules & {*cd.__all__} if not inspect.ismodule(getattr(cd, name))}


def test_no_module_asks_the_package_for_names_while_it_is_loaded():
    """It might wait for the lock of another thread, which waits for this module: write
    `import condyle.shapes as shapes` instead of `from condyle import shapes`."""
    asking = [
        str(path)
        for path in SOURCE.parent.rglob("*.py")
        if path != SOURCE
        and re.search(r"^from condyle import", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert asking == []


def test_modules_are_attributes():
    said = output(
        "-c",
        "import condyle; print(condyle.native.__name__, condyle.goals.__name__, "
        "condyle.viewer.__name__, hasattr(condyle, 'nothing'), hasattr(condyle, '_nothing'))",
    )
    assert said.split() == ["condyle.native", "condyle.control.goals", "condyle.viewer", "False", "False"]
    script = "from condyle import *; import condyle; assert set(condyle.__all__) <= set(globals())"
    output("-W", "ignore", "-c", script)


def test_threads_that_ask_first_at_once():
    """Each asks for another name, in a process where none is loaded."""
    script = """
import sys, threading, condyle as cd
sys.setswitchinterval(1e-5)
names = cd.__all__[::5] + ["simulate", "System", "read_osim", "forces", "muscles", "contact", "System"]
start, found = threading.Barrier(len(names)), {}
def ask(name):
    start.wait()
    found[name] = getattr(cd, name)
threads = [threading.Thread(target=ask, args=(name,)) for name in names]
[t.start() for t in threads]; [t.join() for t in threads]
assert all(found[name] is getattr(cd, name) for name in names), set(names) - set(found)
"""
    for _ in range(2):
        output("-W", "error", "-c", script)


def test_a_first_result_does_not_load_what_it_does_not_use():
    """From a model's file to accelerations."""
    path = reference("opensim/Gait2354_Simbody/subject01_simbody.osim")
    loaded = output(
        "-W", "ignore", "-c", f"import condyle as cd; cd.read_osim({str(path)!r}).state().udot; {LOADED}"
    ).split()
    unused = ("viewer", "maximal", "models", "cli", "studies", "fit", "integrate")
    assert [m for m in loaded for room in unused if f"{m}.".startswith(f"condyle.{room}.")] == []


def test_what_comes_from_the_cache_needs_no_compiler():
    """A model that was read before, its kernels and programs: neither LLVM nor SciPy."""
    path = reference("opensim/Gait2354_Simbody/subject01_simbody.osim")
    script = (
        f"import condyle as cd; system = cd.read_osim({str(path)!r}); state = system.state(); state.udot; "
        "cd.assemble(system, state); import sys; "
        "print(*(m for m in sys.modules if m.partition('.')[0] in ('llvmlite', 'scipy')))"
    )
    output("-W", "ignore", "-c", script)
    assert output("-W", "ignore", "-c", script).split() == []


def test_a_pendulum_loads_few_rooms():
    """Its first acceleration from a warm cache: the rooms of contact, paths, muscles and loops stay closed."""
    script = (
        "import sys, condyle as cd; system = cd.System(); "
        "system.add_body('rod', mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1)); "
        "system.forward_dynamics(*system.defaults()); "
    )
    output("-c", script)  # fills the cache
    loaded = output("-c", script + LOADED).split()
    assert len(loaded) <= 120
    rooms = {"contact", "muscles", "paths", "io", "table", "integrate", "studies", "viewer", "opensim"}
    assert not {name.split(".")[1] for name in loaded if "." in name} & rooms


def test_a_system_has_few_public_names():
    """Each has an entry in docs/api/system.md: an attribute, a member, an operator, or a group of these."""
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    state = system.state()
    names = [*dir(system)]
    assert len(names) <= 85
    assert len(dir(state)) <= 60
    assert len(dir(cd.simulate(system, state, 0.01))) <= 70
    page = Path(__file__).parent.parent.joinpath("docs/api/system.md").read_text(encoding="utf-8")
    told = {*re.findall(r"\w+", page)} | {name.partition(".")[0] for name in METHODS}
    assert [name for name in names if name not in told] == []


@pytest.mark.parametrize(
    "package",
    ["constraints", "contact", "forces", "functions", "mobilizers", "muscles", "paths", "shapes"],
)
def test_a_family_loads_what_is_asked_for(package):
    """Its names come from its import lines, and each is what its module has. Notebooks complete them."""
    family = importlib.import_module(f"condyle.{package}")
    assert dir(family) == sorted(family.__all__)
    for name in family.__all__:
        thing = getattr(family, name)
        assert thing.__name__ == name and thing.__module__.startswith(f"condyle.{package}.")
