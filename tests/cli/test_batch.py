"""`condyle batch`: all trials of a study, resumed, with their quality, tables per subject and means."""

import csv
import shutil
import signal
import sys
import time

import numpy as np
import pytest

import condyle as cd
from condyle.cli import batch
from condyle.cli.batch_trials import on_shares
from tests import process
from tests.cli import batch_study


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """200 short trials of two subjects, and what came of them."""
    folder = tmp_path_factory.mktemp("study")
    path = batch_study.make(folder, 2, 100, frames=12)
    assert batch.run(path, folder / "results", "here", None, 10.0, 0)
    return path


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_results_are_those_of_the_functions(study):
    folder = study.parent
    subject, walk = folder / "S01/T000", folder / "S01/T007"
    from condyle.cli.batch_trials import measurements

    generic, static = cd.read_osim(folder / "generic.osim"), cd.read_markers(subject / "static.trc")
    system = cd.scale(generic, static, measurements(generic, static), mass=62.0).system
    assert len(measurements(generic, static)) == len(system.bodies)
    angles = cd.inverse_kinematics(system, cd.read_markers(walk / "walk.trc")).motion
    loads = cd.read_external_loads(walk / "ground_reactions.xml")
    with pytest.warns(cd.errors.QualityWarning):  # noise, and twelve frames
        moments = cd.inverse_dynamics(system, angles, loads)
    found = [row for row in rows_of(folder / "results/S01/moments-1.csv") if row["trial"] == "walk7"]
    for title, name in zip(moments.titles, moments.names, strict=True):
        got = [float(row[title]) for row in found]
        np.testing.assert_allclose(got, moments[name], rtol=1e-9, atol=1e-9)  # digits of the file


def test_quality_of_every_trial_worst_first(study):
    rows = rows_of(study.parent / "results/quality.csv")
    assert len(rows) == 200 and len({(r["subject"], r["trial"]) for r in rows}) == 200
    rank = {"fail": 0, "check": 1, "ok": 2, "note": 3}
    assert [rank[r["verdict"]] for r in rows] == sorted(rank[r["verdict"]] for r in rows)
    page = (study.parent / "results/summary.html").read_text("utf-8")
    assert page.count('<tr><th scope="row">S0') == 200 and "Joint loads: size of the force" in page
    assert page.index(f"{rows[0]['subject']}, {rows[0]['trial']}<") < page.index(
        f"{rows[-1]['subject']}, {rows[-1]['trial']}<"
    )


def test_means_over_groups(study):
    results = study.parent / "results"
    table = rows_of(results / "group/moments.csv")
    title = "knee_angle_r [N m]"
    mean = np.array([float(r[title]) for r in table if r["trial"] == "mean"])
    sd = np.array([float(r[title]) for r in table if r["trial"] == "sd"])
    each = []
    for subject in ("S00", "S01"):
        for part in ("moments-1", "moments-2"):
            rows = rows_of(results / subject / f"{part}.csv")
            trials = {r["trial"]: None for r in rows}
            curves = []
            for trial in trials:
                own = [r for r in rows if r["trial"] == trial]
                t, y = (np.array([float(r[k]) for r in own]) for k in ("time [s]", title))
                curves.append(on_shares(cd.Table(t, ["y"], y[:, None]))[:, 0])
            each.append(np.mean(curves, axis=0))
    np.testing.assert_allclose(mean, np.mean(each, axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(sd, np.std(each, axis=0, ddof=1), rtol=1e-7, atol=1e-9)


def test_parquet(study):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    import pandas

    frame = pandas.read_parquet(study.parent / "results/S00/forces-1.parquet")
    assert len(frame) == 50 * 12 and list(frame.columns[:2]) == ["trial", "time"]


def test_only_what_changed_runs_again(study, tmp_path, capsys):
    shutil.copytree(study.parent, tmp_path / "copy")
    path, output = tmp_path / "copy/study.csv", tmp_path / "copy/again"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *(line for line in lines if "/T000" in line or "/T001" in line)]))
    assert batch.run(path, output, "here", None, 10.0, 0)
    old = {file: file.stat().st_mtime_ns for file in output.glob("*/moments.csv")}
    walk = tmp_path / "copy/S01/T001/walk.trc"
    good = walk.read_text()
    walk.write_text("what is this?")
    assert not batch.run(path, output, "here", None, 10.0, 0)
    assert "S01, walk1: " in capsys.readouterr().err
    worst = rows_of(output / "quality.csv")[0]
    assert worst["trial"] == "walk1" and worst["verdict"] == "fail" and worst["failed"]
    assert len(rows_of(output / "S01/moments.csv")) == 12  # the other one
    walk.write_text(good)
    assert batch.run(path, output, "here", None, 10.0, 0)
    assert (output / "S00/moments.csv").stat().st_mtime_ns == old[output / "S00/moments.csv"]
    other = tmp_path / "copy/other.csv"
    other.write_text(path.read_text())
    with pytest.raises(cd.errors.DescriptionError, match=r"results of another study, 'study\.csv'"):
        batch.run(other, output, "here", None, 10.0, 0)


def test_a_batch_that_is_killed_goes_on(study, tmp_path, capsys):
    path, output = study, tmp_path / "results"
    command = ("batch", path, "--output", output, "--reserves", "10", "--lowpass", "0")
    child = process.start(sys.executable, "-m", "condyle", *command)
    end = time.monotonic() + 100
    while not [*output.glob("store/parts/*.npz")]:
        assert time.monotonic() < end and child.poll() is None
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    process.finish(child, 60)
    batch.status(output)
    assert "of 4 groups of trials done" in capsys.readouterr().out
    process.output("-m", "condyle", *command)
    log = (output / "store/log.txt").read_text()
    assert "began: 4 of 4" in log and log.count("began: ") == 2 and "ended: finished" in log
    for name in ("group/moments.csv", "group/loads.csv", "S01/forces-2.csv"):
        assert (output / name).read_text() == (study.parent / "results" / name).read_text()


def test_a_folder_of_setups(tmp_path, capsys):
    folder = tmp_path / "setups"
    folder.mkdir()
    (folder / "broken.xml").write_text(
        "<OpenSimDocument Version='40000'><InverseDynamicsTool name='x'><model_file>no.osim</model_file>"
        "</InverseDynamicsTool></OpenSimDocument>"
    )
    (folder / "loads.xml").write_text("<OpenSimDocument Version='40000'><ExternalLoads/></OpenSimDocument>")
    assert not batch.run(folder, tmp_path / "results", "here", None, 1.0, 0)
    assert "setups, broken.xml: " in capsys.readouterr().err
    assert "no.osim" in (tmp_path / "results/summary.html").read_text()
    (tmp_path / "empty").mkdir()
    with pytest.raises(cd.errors.DescriptionError, match="has no setup files"):
        batch.run(tmp_path / "empty", tmp_path / "r", "here", None, 1.0, 0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("subject,weight,trial\n", "unknown column 'weight'"),
        ("subject,mass\nA,70\n", "there is no column 'trial'"),
        ("subject,trial,model\n", "it contains no trials"),
        ("subject,trial,model\nA,walk.trc,arm26\n", "line 2: trial: there is no file 'walk.trc'"),
        ("subject,trial\nA,study.csv\n", "neither a model nor a setup file"),
        (
            "subject,trial,model,mass\nA,study.csv,arm26,heavy\n",
            "line 2: mass: expected a number, got 'heavy'",
        ),
        ("subject,trial,model,mass\nA,study.csv,arm26,-3\n", "a number above 0"),
        ("subject,trial,model\nA/B,study.csv,arm26\n", "a name that a folder can have"),
        ("subject,trial,model\nA,study.csv,arm26\nA,study.csv,\n", "line 3: 'A' has two trials 'study'"),
        (
            "subject,trial,model,mass\nA,study.csv,arm26,7\nA,x,arm26,8\n",
            "line 3: mass of 'A' is '8', and was",
        ),
    ],
)
def test_mistakes_in_a_study(tmp_path, text, words):
    path = tmp_path / "study.csv"
    path.write_text(text)
    with pytest.raises(cd.errors.CondyleError, match=words):
        batch.read_study(path, None, 1.0)


def test_status_of_nothing(tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match="holds no study"):
        batch.status(tmp_path)


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """Two folders with a model, a recording and the setup files of three tools."""
    from condyle.cli.example import write

    folder = tmp_path_factory.mktemp("examples")
    for name in ("s1", "s2"):
        write(folder / "study" / name, False, duration=0.5)
    return folder


def test_a_folder_of_setups_runs_in_the_order_that_its_files_need(examples):
    """Inverse kinematics reads the model that scaling writes, inverse dynamics the motion that the former writes."""
    assert batch.run(examples / "study", examples / "results", "here", None, 10.0, 0)
    assert len(rows_of(examples / "results/quality.csv")) == 6
    for name in ("s1", "s2"):
        found = cd.read_table(examples / "study" / name / "walk_ik.mot")
        truth = cd.read_table(examples / "study" / name / "truth.mot")
        assert np.abs(np.radians(found["knee_angle_r"]) - truth["knee_angle_r"]).max() < np.radians(5)
        assert (examples / "study" / name / "walk_id.sto").exists()


def test_subjects_are_scaled_by_a_setup_file(examples):
    """The column `scale`: the measurements of a ScaleTool, with the static trial of the row."""
    rows = ["subject,trial,scale,static,loads,model"]
    for name in ("s1", "s2"):
        files = ("walk.trc", "scale.xml", "static.trc", "ground_reactions.xml", "generic.osim")
        rows.append(",".join([name, *(f"study/{name}/{file}" for file in files)]))
    (examples / "study.csv").write_text("\n".join([*rows, ""]))
    assert batch.run(examples / "study.csv", examples / "scaled", "here", None, 10.0, 0)
    own = cd.run(examples / "study/s1/scale.xml").results[-1].system
    markers = cd.read_markers(examples / "study/s1/walk.trc")
    expected = cd.inverse_kinematics(own, markers).motion["knee_angle_r"]
    with open(examples / "scaled/s1/kinematics.csv", newline="", encoding="utf-8") as file:
        titles, *values = list(csv.reader(file))
    column = next(k for k, title in enumerate(titles) if title.startswith("knee_angle_r"))
    found = np.array([float(row[column]) for row in values])
    np.testing.assert_allclose(
        found, np.degrees(expected) if "deg" in titles[column] else expected, atol=1e-5
    )
