"""`condyle convert` and `condyle describe` as a user runs them."""

from __future__ import annotations

import os

import numpy as np
import pytest

import condyle as cd
from condyle.cli.convert import convert
from condyle.cli.systems import start_of
from tests.cli.process import condyle_here
from tests.opensim.files import pendulum
from tests.opensim.setup.small import PIN

CACHE = {"CONDYLE_CACHE_DIR": os.environ.get("CONDYLE_CACHE_DIR", "")}


def test_tables_and_markers_are_converted(tmp_path):
    t = np.arange(5) / 10
    cd.Table(t, ["knee"], t[:, None] / 3, degrees=False).save(tmp_path / "a.mot")
    markers = cd.Markers(t, ["RASI"], np.stack([t, t / 7, t + 1], axis=1)[:, None])
    markers.save(tmp_path / "a.trc")
    for source, target in (("a.mot", "b.npz"), ("b.npz", "c.sto"), ("a.trc", "d.csv"), ("d.csv", "e.trc")):
        done = condyle_here("convert", source, target, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(cd.read_table(tmp_path / "c.sto")["knee"], t / 3)
    np.testing.assert_array_equal(cd.read_markers(tmp_path / "e.trc").positions, markers.positions)
    again = condyle_here("convert", "a.mot", "b.npz", cwd=tmp_path)
    assert again.returncode == 1 and "--force" in again.stderr
    turned = condyle_here("convert", "a.trc", "f.trc", "--vertical", "z", cwd=tmp_path)
    assert turned.returncode == 0
    np.testing.assert_array_equal(cd.read_markers(tmp_path / "f.trc")["RASI"][:, 1], t + 1)
    assert condyle_here("convert", "none.mot", "x.csv", cwd=tmp_path).returncode == 1


def test_converted_files_mean_the_same(tmp_path):
    """Millimeters and kilonewtons become SI where the format has no units; what it cannot say is noted."""

    def done(source, target, degrees=None, units=None):
        return convert(tmp_path / source, tmp_path / target, units, None, degrees, True)

    t = np.arange(4) / 10
    (tmp_path / "plate.csv").write_text("time,p_x (mm),f [kN],m [N mm]\n0,1.5,2,3\n1,2.5,3,4\n")
    assert "note" not in done("plate.csv", "plate.mot")
    np.testing.assert_array_equal(cd.read_table(tmp_path / "plate.mot").values[0], [0.0015, 2000, 0.003])
    cd.Table(t, ["knee"], 10 * t[:, None]).save(tmp_path / "bare.csv")
    assert "nothing says whether knee are in degrees" in done("bare.csv", "bare.mot")
    assert "inDegrees" not in (tmp_path / "bare.mot").read_text()
    assert "note" not in done("bare.csv", "bare.mot", degrees=True)
    assert cd.read_table(tmp_path / "bare.mot").degrees is True
    assert "angles are in degrees, which a .csv says in the titles" in done("bare.mot", "again.csv")
    cd.Table(t, ["grf"], t[:, None], ["%BW"]).save(tmp_path / "share.csv")
    assert "no [%BW]: grf is written without a unit" in done("share.csv", "share.sto")


def test_a_model_is_converted_to_the_newest_version(tmp_path):
    (tmp_path / "old.osim").write_text(pendulum(inside=PIN))
    done = condyle_here("convert", "old.osim", "new.osim", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    old, new = (cd.read_osim(tmp_path / f"{n}.osim") for n in ("old", "new"))
    np.testing.assert_allclose(new.body_pose([0.7], "rod").p, old.body_pose([0.7], "rod").p, atol=1e-12)
    refused = condyle_here("convert", "old.osim", "new.csv", cwd=tmp_path)
    assert refused.returncode == 1 and "converted to .osim" in refused.stderr


def test_markers_are_no_model(tmp_path):
    cd.Markers([0.0, 0.1], ["RASI"], np.zeros((2, 1, 3))).save(tmp_path / "walk.trc")
    with pytest.raises(cd.errors.DescriptionError, match=r"a \.trc cannot become a model"):
        convert(tmp_path / "walk.trc", tmp_path / "walk.osim", None, None, None, False)
    with pytest.raises(
        cd.errors.DescriptionError, match=r"walk\.trc: expected a Python file or an \.osim file"
    ):
        start_of(tmp_path / "walk.trc")


def test_a_model_is_shown(tmp_path):
    (tmp_path / "rod.osim").write_text(pendulum(inside=PIN))
    done = condyle_here("describe", "rod.osim", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "small: 1 bodies of 2 kg, 1 coordinates" in done.stdout
    assert "angle  5.72958  -171.887  171.887  deg" in done.stdout
    arm = condyle_here("describe", "arm26", cwd=tmp_path)
    lines = [line.split() for line in arm.stdout.splitlines()]
    assert ["BIClong", "Thelen2003", "624.3", "0.1157", "0.2723"] in lines
    missing = condyle_here("describe", "none.osim", cwd=tmp_path)
    assert missing.returncode == 1 and "no such file; is it rod.osim?" in missing.stderr


def test_a_model_of_opensim_is_analyzed_and_simulated(tmp_path):
    (tmp_path / "rod.osim").write_text(pendulum(inside=PIN))
    t = np.arange(20) / 20
    cd.Table(t, ["angle"], t[:, None] ** 2, ["rad"]).save(tmp_path / "swing.csv")
    done = condyle_here("analyze", "rod.osim", "swing.csv", cwd=tmp_path, **CACHE)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "swing-analysis" / "moments.csv").is_file()
    done = condyle_here("simulate", "rod.osim", "0.1", cwd=tmp_path, **CACHE)
    assert done.returncode == 0, done.stderr
    assert cd.read_table(tmp_path / "motion.csv").time[-1] == 0.1
