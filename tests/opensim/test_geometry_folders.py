"""Where meshes of a model file are looked for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import condyle as cd
from condyle.opensim import geometry_folders

MODEL = """<OpenSimDocument Version="40600"><Model name="leg">
<Ground name="ground"><attached_geometry><Mesh name="femur"><mesh_file>{}</mesh_file></Mesh></attached_geometry></Ground>
</Model></OpenSimDocument>"""
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


@pytest.fixture(autouse=True)
def no_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever this machine has."""
    monkeypatch.setattr(geometry_folders, "INSTALLED", ())
    for name in ("CONDYLE_GEOMETRY", "OPENSIM_HOME"):
        monkeypatch.delenv(name, raising=False)
    geometry_folders._installed.cache_clear()


def written(tmp_path: Path, name: str = "femur.obj") -> Path:
    """A model in a folder of its own, two folders down."""
    folder = tmp_path / "study" / "subject"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "leg.osim"
    path.write_text(MODEL.format(name), encoding="utf-8")
    return path


def mesh(folder: Path, name: str = "femur.obj") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(TRIANGLE)
    return folder / name


def found(path: Path, **options: object) -> Path:
    (drawn,) = cd.read_osim(path, **options).geometry
    return Path(drawn.shape.path)


def test_places_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the last to the first: each that appears takes the place of those before."""
    path = written(tmp_path)
    assert found(path) == path.parent / "Geometry" / "femur.obj"  # where a person would put it
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setattr(geometry_folders, "INSTALLED", ("~/Documents/OpenSim/*/Geometry",))
    for version in ("4.4", "4.5"):
        newest = mesh(home / "Documents" / "OpenSim" / version / "Geometry")
        geometry_folders._installed.cache_clear()
    assert found(path) == newest
    other = mesh(tmp_path / "other")
    monkeypatch.setenv("CONDYLE_GEOMETRY", os.pathsep.join([str(tmp_path / "home"), str(other.parent)]))
    assert found(path) == other
    for place in (
        tmp_path / "Geometry",
        tmp_path / "study" / "Geometry",
        path.parent / "Geometry",
        path.parent,
    ):
        own = mesh(place)
        assert found(path) == own
    mine = mesh(tmp_path / "mine")
    assert found(path, geometry=[tmp_path / "other", tmp_path / "mine"]) == other
    assert found(path, geometry=str(tmp_path / "mine")) == mine
    assert found(path) == own  # what was kept of the model is not mixed up
    own.unlink()
    assert found(path) == path.parent / "Geometry" / "femur.obj"


def test_paths_of_another_machine(tmp_path: Path) -> None:
    mine = mesh(tmp_path / "mine")
    for name in ("C:\\OpenSim 4.1\\Geometry\\femur.obj", "/opt/lab/femur.obj", "../Geometry/femur.obj"):
        assert found(written(tmp_path, name), geometry=tmp_path / "mine") == mine
    sub = mesh(tmp_path / "mine" / "bones")
    assert found(written(tmp_path, "bones/femur.obj"), geometry=tmp_path / "mine") == sub


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_are_followed_where_the_folder_was_named(tmp_path: Path) -> None:
    target = mesh(tmp_path / "bones")
    path = written(tmp_path)
    for link in (path.parent / "Geometry", tmp_path / "study" / "Geometry"):
        link.symlink_to(tmp_path / "bones")
    with pytest.warns(UserWarning, match="not drawn"):
        assert cd.read_osim(path).geometry == ()
    assert found(path, geometry=path.parent / "Geometry").samefile(target)


def test_folders_that_do_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    for wrong in (tmp_path / "nothing", path, 3, [tmp_path, None]):
        with pytest.raises(cd.errors.DescriptionError, match="is not a folder"):
            cd.read_osim(path, geometry=wrong)  # type: ignore[arg-type]
    monkeypatch.setenv("CONDYLE_GEOMETRY", str(tmp_path / "nothing"))
    with pytest.raises(cd.errors.DescriptionError, match=r"CONDYLE_GEOMETRY.*folders that exist"):
        cd.read_osim(path)
