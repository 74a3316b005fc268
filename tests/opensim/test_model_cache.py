"""Models that were read before: never another one's, never an old one's, whatever happens to the cache."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import random
import re
import weakref
from dataclasses import replace
from pathlib import Path

import pytest

import condyle as cd
from condyle.model.model import description
from condyle.native.machine import cache
from condyle.opensim import constraints, model_cache
from tests.process import finish, output, start


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty cache, and a model beside a mesh that does not exist yet."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(model_cache, "_held", {})
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Pin(), X_BM=(0, 0.2, 0), mass=7, inertia=(0.1, 0.02, 0.1))
    system.add_body("shank", "thigh", cd.Pin(), X_PF=(0, -0.2, 0), mass=3, inertia=(0.1, 0.02, 0.1))
    system.add_geometry("thigh", cd.shapes.Mesh(str(tmp_path / "femur.obj")))
    path = cd.paths.Path([("ground", (0.1, 0, 0)), ("shank", (0, -0.1, 0))])
    system.add_force("rope", cd.muscles.Thelen2003(path, 800.0, 0.1, 0.2, 0.0))
    cd.write_osim(system, tmp_path / "leg.osim")
    return tmp_path


def entries() -> int:
    return cache.info().entries


def forget() -> None:
    """As a new process would begin."""
    model_cache._held.clear()


def test_a_kept_description_is_nobody_elses(folder):
    """It comes with the law from the disk, and what is made of that law has its own."""
    first = cd.read_osim(folder / "leg.osim").force("rope")
    forget()
    rope = cd.read_osim(folder / "leg.osim").force("rope")
    assert vars(rope)["_description"] == first.description()
    for other in (copy.copy(rope), pickle.loads(pickle.dumps(rope))):
        assert "_description" not in vars(other)
    stronger = replace(rope, max_isometric_force=900.0)
    assert "900.0" in stronger.description() != rope.description()


def test_a_kept_model_is_the_model(folder):
    first = cd.read_osim(folder / "leg.osim")
    assert entries() == 1
    held = cd.read_osim(folder / "leg.osim")  # from this process
    forget()
    stored = cd.read_osim(folder / "leg.osim")  # from the disk
    for other in (held, stored):
        assert other is not first
        assert description(other.compiled.model) == description(first.compiled.model)
        assert (other.notes, other.about, other.markers) == (first.notes, first.about, first.markers)
        assert repr(other) == repr(first)
    fresh = cd.read_osim(folder / "leg.osim")
    fresh.add_body("foot", "shank", cd.Weld(), mass=1.0)  # free to change, and nobody else's
    assert [b.name for b in cd.read_osim(folder / "leg.osim").bodies] == ["thigh", "shank"]
    cd.write_osim(stored, folder / "again.osim")
    cd.write_osim(first, folder / "same.osim")
    assert (folder / "again.osim").read_text() == (folder / "same.osim").read_text().replace("same", "again")


def test_a_stored_coupler_scales_and_is_written(folder):
    """Its function is stored with it: the translation that it gives grows with the body."""
    system = cd.read_osim(folder / "leg.osim")
    system.add_body("patella", "thigh", cd.Slider(axis="x"), mass=0.1, inertia=(1e-4, 1e-4, 1e-4))
    line = constraints.Coupling(cd.functions.Linear(0.05, 0.1), 0.5)
    system.add_constraint("rides", cd.constraints.CoordinateCoupler(line, ("shank", "patella")))
    cd.write_osim(system, folder / "knee.osim")
    written = []
    for name in ("fresh.osim", "stored.osim"):
        forget()
        scaled = cd.scale(cd.read_osim(folder / "knee.osim"), factors={"thigh": 2.0, "patella": 2.0})
        assert not scaled.notes
        cd.write_osim(scaled.system, folder / name)
        written.append((folder / name).read_text().replace("stored", "fresh"))
    assert written[0] == written[1]
    assert re.search(r"<scale_factor>1(\.0)?<", written[0])


def test_stored_curves_are_written(folder):
    """A muscle with a curve that is one of cd.functions."""
    system = cd.read_osim(folder / "leg.osim")
    curve = cd.functions.Spline([0.4, 0.9, 1.1, 1.6], [0.0, 1.0, 0.9, 0.1])
    path = cd.paths.Path([("ground", (0.1, 0, 0)), ("shank", (0, -0.1, 0))])
    system.add_force(
        "stiff", cd.muscles.RigidTendon(path, 800.0, 0.1, 0.2, 0.0, active_force_length_curve=curve)
    )
    cd.write_osim(system, folder / "stiff.osim")
    cd.read_osim(folder / "stiff.osim")
    forget()
    cd.write_osim(cd.read_osim(folder / "stiff.osim"), folder / "again.osim")
    assert (folder / "again.osim").read_text() == (folder / "stiff.osim").read_text().replace(
        "stiff.", "again."
    )


@pytest.mark.parametrize("process", ["this", "new"])
def test_a_file_that_is_edited_in_place_is_read_anew(folder, process):
    """Size, times and name stay: the content decides."""
    path = folder / "leg.osim"
    mass = lambda: cd.read_osim(path).body("shank").mass
    assert mass() == 3.0
    facts = path.stat()
    path.write_text(path.read_text().replace("<mass>3", "<mass>4"))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert path.stat().st_size == facts.st_size
    if process == "new":
        forget()
    assert mass() == 4.0


def test_what_was_looked_at_counts(folder):
    """A mesh that appears, and a file inside a file."""
    path = folder / "leg.osim"
    shown = lambda: Path(cd.read_osim(path).geometry[0].shape.path)
    assert shown() == folder / "Geometry" / "femur.obj"
    (folder / "femur.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert shown() == folder / "femur.obj"
    forget()
    (folder / "femur.obj").unlink()
    assert shown() == folder / "Geometry" / "femur.obj"
    part = folder / "markers.xml"
    part.write_text(
        '<OpenSimDocument Version="40600"><MarkerSet><objects><Marker name="m"><socket_parent_frame>/bodyset/shank'
        "</socket_parent_frame><location>0 1 0</location></Marker></objects></MarkerSet></OpenSimDocument>"
    )
    own = re.compile(r"<MarkerSet name=.*?</MarkerSet>", re.DOTALL)
    path.write_text(own.sub('<MarkerSet file="markers.xml" />', path.read_text()))
    place = lambda: cd.read_osim(path).marker("m").station[1]
    assert place() == 1.0
    part.write_text(part.read_text().replace("0 1 0", "0 2 0"))
    assert place() == 2.0


def test_models_that_warn_warn_each_time(folder):
    path = folder / "leg.osim"
    path.write_text(path.read_text().replace("<mass>3", "<mass>3000"))
    for _ in range(2):
        with pytest.warns(UserWarning, match="shank"):
            cd.read_osim(path)
        forget()


RUN = """
import sys, numpy as np, condyle as cd
system = cd.read_osim(sys.argv[1])
run = cd.simulate(system, system.equilibrate_muscles(system.state(q=[0.3, -0.4])), 0.2, accuracy=1e-6)
table = cd.Table(run.t, system.coordinates, run.q, degrees=False)
found = cd.inverse_dynamics(system, cd.Motion.of(system, run))
lengths = system.path_lengths(np.repeat(run.q[:1], 40, axis=0))
leg = cd.read_osim(sys.argv[1])
for k, place in enumerate(((0.1, 0.2, 0.05), (0.1, -0.2, 0.05), (0.1, 0, -0.05))):
    leg.add_marker(f"thigh{k}", "thigh", place)
    leg.add_marker(f"shank{k}", "shank", place)
ends, roll = [("ground", (0.05, 0.1, 0)), ("shank", (0.03, -0.05, 0))], cd.paths.Cylinder(0.02, 0.1)
path = cd.paths.Path(ends, [cd.paths.Wrap(roll, "thigh", (0, -0.2, 0))])
leg.add_force("over", cd.muscles.Thelen2003(path, 1000.0, 0.1, 0.25))
still = np.array([[np.ravel(leg.copy().station_position([0.1, -0.3], m.body, m.station)) for m in map(leg.marker, leg.markers)]])
scaled = cd.scale(leg, cd.Markers([0.0], leg.markers, 1.02 * still), factors={"thigh": 1.1, "shank": 1.05})
numbers = [run.q[-1] @ [1.0, 2.0], np.abs(found.values).sum(), lengths.sum(), scaled.system.force("over").optimal_fiber_length]
print(*(repr(float(x)) for x in [*numbers, *scaled.system.marker("shank0").station]))
print(system.compiled.function("forward_dynamics").report.cached)
"""


def test_bytes_flipped_in_entries_of_every_kind(folder):
    """Whatever one entry or all of them hold: the same numbers, and whole entries afterward."""
    run = lambda: output("-W", "error", "-c", RUN, str(folder / "leg.osim")).splitlines()
    expected, cached = run()
    assert run() == [expected, "True"] and cached == "False"
    paths = sorted((folder / "cache").glob("*.code"))
    # a parsed model, kernels, a program, notes, what models share, expressions and nodes that Python runs
    assert len(paths) >= 12
    rng = random.Random(5)
    for harm in ("flip", "cut", "swap"):
        paths = [path for path in paths if path.exists()]  # notes are kept again only if they took a while
        for k, path in enumerate(paths):
            data = bytearray(path.read_bytes())
            if harm == "flip":
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            elif harm == "cut":
                del data[rng.randrange(len(data)) :]
            else:  # an entry that is whole, and another's
                data = bytearray(paths[k - 1].read_bytes())
            path.write_bytes(data)
        assert run()[0] == expected
        assert run() == [expected, "True"]


def test_entries_that_check_and_do_not_fit(folder):
    """A right checksum over something else, as from another version: made anew, without a word."""
    path = folder / "leg.osim"
    cd.read_osim(path)
    key = model_cache._key(path, (), "constraints")
    for code, facts in (
        (b"not a pickle", {"parts": 12, "looked": []}),
        (b"", {}),
        (b"cos\nsystem\n.", {"parts": 12, "looked": [["x"]]}),
    ):
        forget()
        assert cache.store(key, code, facts)
        assert cd.read_osim(path).body("shank").mass == 3.0
        forget()
        assert model_cache._find(key) is not None


def test_two_processes_fill_one_entry(folder):
    crowd = [start("-c", RUN, str(folder / "leg.osim")) for _ in range(2)]
    done = [finish(process) for process in crowd]
    assert [d.returncode for d in done] == [0, 0], [d.stderr for d in done]
    assert len({d.stdout.splitlines()[0] for d in done}) == 1
    assert output("-c", RUN, str(folder / "leg.osim")).splitlines()[1] == "True"
    assert not list((folder / "cache").glob("*.new"))


def test_a_directory_that_cannot_be_written(folder):
    """Read anew each time, and one line says so."""
    (folder / "cache").write_text("in the way")
    with pytest.warns(RuntimeWarning, match="made anew in every process"):
        assert cd.read_osim(folder / "leg.osim").body("shank").mass == 3.0
    forget()
    assert cd.read_osim(folder / "leg.osim").body("shank").mass == 3.0  # a second warning would be an error


def test_copies_with_the_same_parts_share_their_code(folder):
    path = folder / "leg.osim"
    first, second = cd.read_osim(path), cd.read_osim(path)
    assert second is not first
    assert second.compiled is first.compiled
    for system in (first, second):
        rest = cd.Table([0.0, 0.1, 0.2, 0.3], system.coordinates, [[0.0, 0.1]] * 4, degrees=False)
        assert cd.Motion.of(system, rest).system is system
    others = {
        "a body": second.copy(bodies={"shank": {"mass": 4.0}}),
        "a force": second.copy(forces={"rope": replace(second.force("rope"), max_isometric_force=900.0)}),
        "less": second.copy(forces={"rope": None}),
    }
    more = cd.read_osim(path)
    more.add_force("spring", cd.forces.MobilitySpring(more.coordinates[0], 3.0, 0.0))
    off = cd.read_osim(path)
    off.add_force("spring", cd.forces.MobilitySpring(off.coordinates[0], 3.0, 0.0), enabled=False)
    found = {name: system.compiled for name, system in (others | {"more": more, "off": off}).items()}
    assert first.compiled not in found.values()
    assert len(set(map(id, found.values()))) == len(found)
    q, u = [0.3, 0.2], [0.0, 0.0]
    udot = lambda system: system.forward_dynamics(q, u).tolist()
    assert udot(off) == udot(first)
    assert all(udot(system) != udot(first) for system in (others["a body"], others["less"], more))


def test_shared_code_goes_with_the_model(folder):
    system = cd.read_osim(folder / "leg.osim")
    code = weakref.ref(system.compiled)
    del system
    gc.collect()
    assert code() is not None  # for the next reader
    forget()
    gc.collect()
    assert code() is None
