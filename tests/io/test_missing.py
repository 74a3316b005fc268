"""Missing files: errors suggest names that are like theirs."""

from __future__ import annotations

import pickle

import pytest

import condyle as cd


@pytest.mark.parametrize(
    ("read", "name", "there"),
    [
        (cd.read_osim, "subject1.osim", "subject01.osim"),
        (cd.read_table, "walk.mot", "walk1.mot"),
        (cd.read_table, "walk.npz", "walk1.npz"),
        (cd.read_markers, "static.trc", "statics.trc"),
        (cd.read_markers, "static.c3d", "statics.c3d"),
        (cd.read_c3d, "static.c3d", "statics.c3d"),
        (cd.read_external_loads, "grf.xml", "grf1.xml"),
    ],
)
def test_what_is_not_there(tmp_path, read, name, there):
    (tmp_path / there).write_text("")
    with pytest.raises(FileNotFoundError) as caught:
        read(tmp_path / name)
    error = caught.value
    assert isinstance(error, cd.errors.CondyleError) and error.filename == str(tmp_path / name)
    assert str(error) == f"there is no file {name!r} in {str(tmp_path)!r}; is it {there!r}?"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        read(tmp_path / "none" / name)
