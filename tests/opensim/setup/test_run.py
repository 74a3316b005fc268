"""Setup files of OpenSim, as the command `condyle run` runs them."""

from __future__ import annotations

import os
import re
import warnings

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.setup import run_setup
from condyle.opensim.setup.run import needs
from tests.cli.process import condyle, condyle_here
from tests.opensim.files import copied, reference
from tests.opensim.setup.small import document, written

ID = document(
    "InverseDynamicsTool",
    """<results_directory>out</results_directory>
<time_range>0.2 0.81</time_range><forces_to_exclude>Muscles</forces_to_exclude>
<external_loads_file>loads.xml</external_loads_file><coordinates_file>motion.mot</coordinates_file>
<lowpass_cutoff_frequency_for_coordinates>-1</lowpass_cutoff_frequency_for_coordinates>
<output_gen_force_file>id.sto</output_gen_force_file>""",
)
CACHE = {"CONDYLE_CACHE_DIR": os.environ.get("CONDYLE_CACHE_DIR", "")}


def test_inverse_dynamics(tmp_path):
    """What the study gives, with OpenSim's ends, in OpenSim's file."""
    motion = written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    steps: list[str] = []
    report = run_setup(tmp_path / "id.xml", steps.append)
    assert report.files == [tmp_path / "out" / "id.sto"]
    assert steps == ["model model.osim", "motion", "external loads", "inverse dynamics"]
    text = (tmp_path / "out" / "id.sto").read_text().splitlines()
    assert text[:7] == [
        "Inverse Dynamics Generalized Forces",
        "version=1",
        "nRows=25",
        "nColumns=2",
        "inDegrees=no",
        "endheader",
        "time\tangle_moment",
    ]
    assert text[7].startswith("      0.20000000\t") and len(text[7].split("\t")[1]) == 16
    table = cd.read_table(tmp_path / "out" / "id.sto")
    system = cd.read_osim(tmp_path / "model.osim")
    load = cd.ExternalLoad("rod", cd.read_table(tmp_path / "loads.mot"), "force_v", "force_p", "torque_")
    expected = cd.inverse_dynamics(system, cd.Motion.of(system, motion, as_opensim=True), load)[8:33]
    np.testing.assert_allclose(table.time, expected.time, atol=1e-8)
    np.testing.assert_allclose(table["angle_moment"], expected["angle"], atol=1e-8)  # printed digits


@pytest.mark.parametrize(
    ("folder", "setup", "file"),
    [("gait10dof18musc_pipeline", "ID/walk_Setup_ID.xml", "ID/Results/subject01_walk_ID.sto")],
)
def test_a_walking_trial(tmp_path, evidence, folder, setup, file):
    """The file that OpenSim 4.6 wrote of the same setup: same rows, same columns in the same order."""
    copied(reference(folder), tmp_path / "trial")
    stored = cd.read_table(tmp_path / "trial" / file)
    run_setup(tmp_path / "trial" / setup)
    found = cd.read_table(tmp_path / "trial" / file)
    assert found.names == stored.names
    np.testing.assert_array_equal(found.time, stored.time)
    error = np.abs(found.values - stored.values).max()
    evidence(
        "file of an inverse-dynamics setup against OpenSim's, gait10dof18musc walking [N m, N]", error, 2e-8
    )
    assert error < 2e-8  # two units of the last printed digit


def test_tools_that_are_missing_are_named(tmp_path):
    for tool, words in (
        ("RRATool", "residual reduction"),
        ("CMCTool", "computed muscle control"),
        ("MocoFrameOrientation", "no tool that runs here"),
        ("CMC_TaskSet", "a CMC_TaskSet is part of the setup of a tool"),
    ):
        (tmp_path / "a.xml").write_text(document(tool, ""))
        with pytest.raises(cd.errors.DescriptionError, match=f"{tool}.*{words}"):
            run_setup(tmp_path / "a.xml")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("motion.mot", "motoin.mot"), "no file 'motoin.mot'.*is it motion.mot"),
        (("<coordinates_file>motion.mot", "<coordinates_file>"), "names no file; it needs a table of coord"),
        (("Muscles<", "knee_spring<"), "knee_spring: the model has no such force or group"),
        (("model.osim", "none.osim"), "no file 'none.osim'"),
        (
            ("<coordinates_file>motion.mot", "<coordinates_file>loads.mot"),
            "id.xml.*no coordinate of the model",
        ),
        (
            ("<results_directory>out", "<results_directory>model.osim/out"),
            "results_directory>.*cannot be made",
        ),
        (("0.2 0.81", "0.8 0.2"), "has no frame of the motion, which goes from 0 to 1 s"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, change, words):
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID.replace(*change))
    with pytest.raises(cd.errors.CondyleError, match=words):
        run_setup(tmp_path / "id.xml")


@pytest.mark.parametrize(
    ("tag", "body"),
    [
        ("applied_to_body", "rod"),
        ("force_expressed_in_body", "ground"),
        ("point_expressed_in_body", "ground"),
    ],
)
def test_loads_on_a_body_that_there_is_not(tmp_path, tag, body):
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    loads = tmp_path / "loads.xml"
    loads.write_text(loads.read_text().replace(f"<{tag}>{body}<", f"<{tag}>rodd<"))
    with pytest.raises(cd.errors.UnknownNameError, match=rf"did you mean 'rod'\?.*<{tag}> of loads\.xml"):
        run_setup(tmp_path / "id.xml")


def test_loads_that_end_long_before_the_motion(tmp_path):
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    loads = cd.read_table(tmp_path / "loads.mot")
    loads[:12].save(tmp_path / "loads.mot")
    said = r"loads\.xml: rod_push is known from 0 to 0\.275 s, and the motion goes from 0\.2 to 0\.8 s"
    with pytest.raises(cd.errors.CondyleError, match=said):
        run_setup(tmp_path / "id.xml")


def test_tables_without_rows(tmp_path):
    """A recording that was cut off after its header is named; it was an IndexError."""
    for name, words in (
        ("motion.mot", "motion.mot: it has no rows"),
        ("loads.mot", "'rod': its table has no rows"),
    ):
        written(tmp_path)
        (tmp_path / "id.xml").write_text(ID)
        lines = (tmp_path / name).read_text().splitlines()
        first = lines.index("endheader")
        (tmp_path / name).write_text("\n".join(lines[: first + 2]) + "\n")
        with pytest.raises(cd.errors.CondyleError, match=re.escape(words)):
            run_setup(tmp_path / "id.xml")
    empty = cd.Markers(np.zeros(0), ["a", "b"], np.zeros((0, 2, 3)))
    empty.save(tmp_path / "static.trc")
    ik = "<marker_file>static.trc</marker_file><output_motion_file>ik.mot</output_motion_file>"
    scaler = "<ModelScaler><marker_file>static.trc</marker_file></ModelScaler>"
    maker = "<GenericModelMaker><model_file>model.osim</model_file></GenericModelMaker>"
    for tool, inside in (("InverseKinematicsTool", ik), ("ScaleTool", maker + scaler)):
        (tmp_path / "setup.xml").write_text(document(tool, inside))
        with pytest.raises(cd.errors.CondyleError, match=r"static\.trc: it has no frames"):
            run_setup(tmp_path / "setup.xml")


def test_a_folder_in_the_place_of_a_result(tmp_path):
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    (tmp_path / "out" / "id.sto").mkdir(parents=True)
    with pytest.raises(cd.errors.DescriptionError, match=r"id\.sto' cannot be written: it is a folder"):
        run_setup(tmp_path / "id.xml")


def test_points_that_jump_to_zero_are_told_of(tmp_path):
    """OpenSim's splines go through such zeros: its moments near them differ."""
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    assert not [line for line in run_setup(tmp_path / "id.xml").notes if "points of" in line]
    loads = cd.read_table(tmp_path / "loads.mot")
    values = loads.values.copy()
    values[20:25] = 0.0
    cd.Table(loads.time, loads.names, values, degrees=False).save(tmp_path / "loads.mot")
    told = [line for line in run_setup(tmp_path / "id.xml").notes if "points of" in line]
    assert "loads.xml: points of rod_push are zero or missing where there is no force" in told[0]


def test_a_filter_above_what_the_rows_show_and_degrees_unsaid(tmp_path):
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID.replace(">-1<", ">600<"))
    motion = tmp_path / "motion.mot"
    motion.write_text(motion.read_text().replace("inDegrees=yes\n", ""))
    report = run_setup(tmp_path / "id.xml")
    assert any("is 600 Hz, but motion.mot has 40 rows per second" in line for line in report.check)
    assert any("Write inDegrees=yes or no into its header" in line for line in report.notes)


SPRINGS = """<ForceSet><objects>{}</objects><groups><ObjectGroup name="springs"><members>one two</members>
</ObjectGroup></groups></ForceSet>""".format(
    "".join(
        f"""<SpringGeneralizedForce name="{name}"><coordinate>angle</coordinate><stiffness>{k}</stiffness>
    <rest_length>0</rest_length><viscosity>0</viscosity></SpringGeneralizedForce>"""
        for name, k in (("one", 2), ("two", 3), ("three", 4))
    )
)


@pytest.mark.parametrize(
    ("excluded", "stiffness"), [("Muscles", 9), ("Muscles two", 6), ("springs", 4), ("ALL", 0)]
)
def test_forces_that_are_left_out(tmp_path, excluded, stiffness):
    """Moments against springs: what is named, alone or by its group, exerts nothing."""
    motion = written(tmp_path, SPRINGS)
    (tmp_path / "id.xml").write_text(ID.replace("Muscles", excluded))
    run_setup(tmp_path / "id.xml")
    found = cd.read_table(tmp_path / "out" / "id.sto")["angle_moment"]
    (tmp_path / "id.xml").write_text(ID.replace("Muscles", "ALL"))
    run_setup(tmp_path / "id.xml")
    none = cd.read_table(tmp_path / "out" / "id.sto")["angle_moment"]
    angle = np.radians(motion["angle"][8:33])
    np.testing.assert_allclose(found - none, stiffness * angle, atol=2e-8)  # printed digits of both


def test_a_file_without_a_document_around_the_tool(tmp_path):
    """As OpenSim 1 wrote them, and 4.6 still reads them."""
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID.partition(">")[2].removesuffix("</OpenSimDocument>"))
    assert [p.name for p in run_setup(tmp_path / "id.xml").files] == ["id.sto"]


def test_markers_that_are_lost_or_called_otherwise(tmp_path):
    """What makes angles wrong is to be checked, with advice for a file."""
    markers = "".join(
        f"""<Marker name="{name}"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
        <location>{place}</location></Marker>"""
        for name, place in (("top", "0 0 0.1"), ("tip", "0 -1 0"))
    )
    written(tmp_path, f"<MarkerSet><objects>{markers}</objects></MarkerSet>")
    tasks = "".join(f'<IKMarkerTask name="{n}"><weight>1</weight></IKMarkerTask>' for n in ("top", "tip"))
    (tmp_path / "ik.xml").write_text(
        document(
            "InverseKinematicsTool",
            f"""<marker_file>walk.trc</marker_file>
<output_motion_file>ik.mot</output_motion_file><IKTaskSet><objects>{tasks}</objects></IKTaskSet>""",
        )
    )
    seen = np.tile([[0.0, 0.0, 0.1], [0.1, -1.0, 0.0]], (4, 1, 1))
    cd.Markers([0.0, 0.1, 0.2, 0.3], ["top", "Tip"], seen).save(tmp_path / "walk.trc")
    check = " ".join(run_setup(tmp_path / "ik.xml").check)
    assert "'Tip' for 'tip'; rename them in the file" in check and "names=" not in check
    seen[2, 1] = 0.0
    cd.Markers([0.0, 0.1, 0.2, 0.3], ["top", "tip"], seen).save(tmp_path / "walk.trc")
    check = " ".join(run_setup(tmp_path / "ik.xml").check)
    assert "tip is at exactly (0, 0, 0) in 1 frames" in check and "leave their cells empty" in check


def test_markers_without_weight_are_reported(tmp_path):
    """OpenSim has markers whose task has the weight zero in its files of errors and places, and follows them
    not; those whose task does not apply are in neither."""
    places = {"top": "0 0 0.1", "tip": "0 -1 0", "side": "0.1 -0.5 0", "off": "0 -0.3 0"}
    markers = "".join(
        f"""<Marker name="{name}"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
        <location>{place}</location></Marker>"""
        for name, place in places.items()
    )
    written(tmp_path, f"<MarkerSet><objects>{markers}</objects></MarkerSet>")
    tasks = "".join(
        f'<IKMarkerTask name="{n}"><apply>{a}</apply><weight>{w}</weight></IKMarkerTask>'
        for n, a, w in (("top", "true", 1), ("tip", "true", 1), ("side", "true", 0), ("off", "false", 1))
    )
    (tmp_path / "ik.xml").write_text(
        document(
            "InverseKinematicsTool",
            f"""<marker_file>walk.trc</marker_file>
<report_marker_locations>true</report_marker_locations><output_motion_file>ik.mot</output_motion_file>
<IKTaskSet><objects>{tasks}</objects></IKTaskSet>""",
        )
    )
    system = cd.read_osim(tmp_path / "model.osim")
    X = system.body_pose([0.3], "rod")
    names = ["side", "off", "tip", "top"]
    seen = np.array([X.R @ system.marker(n).station + X.p for n in names])
    seen[:2] += 0.03, 0, 0.04
    cd.Markers([0.0, 0.1], names, np.array([seen, seen])).save(tmp_path / "walk.trc")
    run_setup(tmp_path / "ik.xml")
    errors = cd.read_table(tmp_path / "small_ik_marker_errors.sto")
    np.testing.assert_allclose(errors["marker_error_max"], 0.05, atol=1e-6)  # digits that are written
    np.testing.assert_allclose(errors["marker_error_RMS"], 0.05 / np.sqrt(3), atol=1e-6)
    found = cd.read_table(tmp_path / "small_ik_model_marker_locations.sto")
    assert found.names == tuple(f"{n}_t{axis}" for n in ("side", "tip", "top") for axis in "xyz")
    np.testing.assert_allclose(found.values[0, :3], seen[0] - [0.03, 0, 0.04], atol=1e-6)


def test_the_command(tmp_path):
    """One file fails, the others do not; the exit code says so."""
    written(tmp_path)
    (tmp_path / "id.xml").write_text(ID)
    (tmp_path / "rra.xml").write_text(document("RRATool", ""))
    done = condyle_here("run", "id.xml", "rra.xml", "--jobs", "1", cwd=tmp_path, **CACHE)
    assert done.returncode == 1
    assert "wrote   out/id.sto" in done.stdout and "1 of 2 done; failed: rra.xml" in done.stdout
    assert "FAILED  rra.xml: RRATool" in done.stderr
    assert condyle_here("run", "id.xml", cwd=tmp_path, **CACHE).returncode == 0


FIRST = document(
    "AnalyzeTool",
    """<results_directory>out</results_directory>
<coordinates_file>motion.mot</coordinates_file><AnalysisSet><objects><Kinematics name="K"/></objects>
</AnalysisSet>""",
    name="first",
)


def test_several_files_at_once(tmp_path):
    """One that reads what another one writes waits for it."""
    written(tmp_path)
    (tmp_path / "a.xml").write_text(ID.replace("id.sto", "a.sto"))
    (tmp_path / "first.xml").write_text(FIRST)
    (tmp_path / "b.xml").write_text(ID.replace("id.sto", "b.sto").replace("motion.mot", "out/first_K_q.sto"))
    done = condyle(
        "run", "a.xml", "none.xml", "first.xml", "b.xml", "a.xml", "--jobs", "2", cwd=tmp_path, **CACHE
    )
    assert done.returncode == 1, done.stdout
    assert "a.xml: inverse dynamics" in done.stdout and "[4/4]" in done.stdout  # steps as they begin
    assert "3 of 4 done; failed: none.xml" in done.stdout
    a, b = (cd.read_table(tmp_path / "out" / f"{name}.sto") for name in "ab")
    np.testing.assert_allclose(a.values, b.values, atol=1e-4)  # the file has 8 decimals of degrees


def test_what_files_need(tmp_path):
    """Of those before it; it is not run if that one fails."""
    written(tmp_path)
    (tmp_path / "first.xml").write_text(FIRST.replace("motion.mot", "lost.mot"))
    (tmp_path / "second.xml").write_text(ID.replace("motion.mot", "out/first_K_q.sto"))
    one, two = tmp_path / "first.xml", tmp_path / "second.xml"
    assert needs([one, two]) == ({one: [], two: [one]}, {one: [], two: []})
    assert needs([two, one]) == (
        {two: [], one: []},
        {two: [f"it reads first_K_q.sto, which {one} writes: give that file first"], one: []},
    )
    done = condyle_here("run", "first.xml", "second.xml", "--jobs", "1", cwd=tmp_path, **CACHE)
    assert "there is no file 'lost.mot'" in done.stderr
    assert "not run: it needs the output of first.xml, which failed" in done.stderr


def test_files_in_reverse_order(tmp_path):
    """What is not there yet is named with the file that writes it; also where an old one was read."""
    written(tmp_path)
    (tmp_path / "first.xml").write_text(FIRST)
    (tmp_path / "second.xml").write_text(ID.replace("motion.mot", "out/first_K_q.sto"))
    wrong = "second.xml", "first.xml"
    done = condyle_here("run", *wrong, "--jobs", "1", cwd=tmp_path, **CACHE)
    assert re.search(
        r"FAILED  .*first_K_q.sto.*; it reads first_K_q.sto, which first.xml writes: give that ", done.stderr
    )
    assert "1 of 2 done" in done.stdout
    done = condyle_here("run", *wrong, "--jobs", "1", cwd=tmp_path, **CACHE)
    assert "CHECK   it reads first_K_q.sto, which first.xml writes: give that file first" in done.stdout


def test_whatever_is_raised_the_next_file_runs(tmp_path, monkeypatch):
    """Warnings come before the failure, also of an error that nobody foresaw."""
    written(tmp_path)
    (tmp_path / "a.xml").write_text(ID)
    (tmp_path / "b.xml").write_text(FIRST)

    def broken(*_, **__):
        warnings.warn("angles look like degrees: they are in degrees", stacklevel=1)
        raise AssertionError

    monkeypatch.setattr("condyle.opensim.setup.inverse_dynamics_tool.inverse_dynamics", broken)
    done = condyle_here("run", "a.xml", "b.xml", "--jobs", "1", cwd=tmp_path, **CACHE)
    assert "CHECK   angles look like degrees" in done.stdout and "1 of 2 done; failed: a.xml" in done.stdout
    assert re.search(r"FAILED  AssertionError \(in test_run.py, line \d+\). This is unexpected", done.stderr)


def test_padding_of_the_filter_is_called_so(tmp_path):
    """Without a time range the tool writes half as many rows before and after the recorded ones."""
    written(tmp_path)
    text = ID.replace(">-1<", ">6<").replace("<time_range>0.2 0.81</time_range>", "")
    (tmp_path / "id.xml").write_text(text.replace("<external_loads_file>loads.xml</external_loads_file>", ""))
    report = run_setup(tmp_path / "id.xml")
    line = next(line for line in report.check if "are padding of the filter" in line)
    before, after = map(int, re.match(r"(\d+) rows? before 0 s and (\d+) after 1 s", line).groups())
    rows = len(cd.read_table(report.files[0]))
    assert before == after and rows == before + 41 + after
    (tmp_path / "id.xml").write_text(ID.replace(">-1<", ">6<").replace("0.2 0.81", "7 8"))
    with pytest.raises(cd.errors.DescriptionError, match="no frame of the motion, which goes from 0 to 1 s"):
        run_setup(tmp_path / "id.xml")
