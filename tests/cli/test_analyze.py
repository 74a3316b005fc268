"""`condyle analyze` as a user runs it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.cli.demo import elbow
from tests.cli.process import condyle_here

ROD = """
import condyle as cd
system = cd.System(gravity=(0, -9.81, 0))
system.add_body("leg", mobilizer=cd.Pin(), X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05),
                coordinates="hip")
"""
MOTION = "time,hip [deg]\n" + "".join(f"{0.05 * k},{k * k / 10}\n" for k in range(20))


def analyze(*arguments: str, cwd: Path):
    return condyle_here("analyze", *arguments, cwd=cwd, CONDYLE_CACHE_DIR=os.environ["CONDYLE_CACHE_DIR"])


def test_a_ready_model_moves_as_in_the_demo(tmp_path: Path) -> None:
    """From a .mot in degrees; the library gives the same."""
    arm = cd.models.arm26()
    motion = elbow(arm)
    table = cd.Table(motion.t, arm.coordinates, np.degrees(motion.q), degrees=True)
    table.save(tmp_path / "elbow.mot")
    done = analyze("arm26", "elbow.mot", "--configuration", "active", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "elbow-analysis"
    assert "elbow-analysis/report.html" in done.stdout
    found = {p.stem: cd.read_table(p) for p in folder.glob("*.csv")}
    assert set(found) == {
        "kinematics",
        "moments",
        "powers",
        "lengths",
        "fibers",
        "moment_arms",
        "activations_active",
        "forces_active",
        "reserves_active",
        "reactions_active",
    }
    # numbers of a file are written to the last digit; degrees round once
    np.testing.assert_allclose(
        found["moments"].values, cd.inverse_dynamics(arm, table).values, rtol=0, atol=1e-9
    )
    expected = cd.static_optimization(arm, table, reserves=1.0)
    np.testing.assert_allclose(found["forces_active"].values, expected.forces.values, rtol=0, atol=1e-6)
    assert "Activations" in (folder / "report.html").read_text(encoding="utf-8")


def test_a_system_of_ones_own_without_muscles(tmp_path: Path) -> None:
    (tmp_path / "leg.py").write_text(ROD)
    (tmp_path / "swing.csv").write_text(MOTION)
    done = analyze("leg.py", "swing.csv", "--output", "out/here", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no muscles" in done.stdout
    assert {p.name for p in (tmp_path / "out" / "here").iterdir()} == {
        "report.html",
        "kinematics.csv",
        "moments.csv",
        "powers.csv",
        "reactions.csv",
    }
    again = analyze("leg.py", "swing.csv", "--output", "out/here", cwd=tmp_path)
    assert again.returncode == 1
    assert "--force" in again.stderr
    assert analyze("leg.py", "swing.csv", "--output", "out/here", "--force", cwd=tmp_path).returncode == 0


LOADS = """<OpenSimDocument Version="40600"><ExternalLoads><objects>
<ExternalForce name="push"><applied_to_body>leg</applied_to_body><force_identifier>f_</force_identifier>
<point_identifier>p_</point_identifier></ExternalForce></objects><datafile>push.mot</datafile></ExternalLoads>
</OpenSimDocument>"""


def test_what_a_reader_of_results_must_know(tmp_path: Path) -> None:
    """A muscle that slips to the other side of its surface, and that cannot do the work."""
    (tmp_path / "leg.py").write_text(
        ROD
        + """
surface = cd.paths.Wrap(cd.paths.Cylinder(0.035), "ground")
path = cd.paths.Path([("ground", (0.04, 0.3, 0)), ("leg", (0.03, 0.34, 0))], [surface])
system.add_force("vasti", cd.muscles.Thelen2003(path, 500, 0.09, 0.3))
"""
    )
    angles = "".join(f"{0.05 * k},{-6 * k}\n" for k in range(20))
    (tmp_path / "bend.csv").write_text("time,hip [deg]\n" + angles)
    done = analyze("leg.py", "bend.csv", "--configuration", "isometric", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The moment arm of vasti about hip leaps from 35 to -35 mm" in done.stdout
    assert re.search(r"largest reserve against its joint moment +[\d.]+ % +10 % +fail", done.stdout)
    page = (tmp_path / "bend-analysis" / "report.html").read_text(encoding="utf-8")
    assert "leaps from 35 to -35 mm" in page and "largest reserve against its joint moment" in page
    assert "Joint loads" in page and "<b>✕ fail</b>" in page  # the verdict is a word, not only a color
    assert page.index('id="verdicts"') < page.index("<iframe")


def test_external_loads(tmp_path: Path) -> None:
    """A push of 10 N along x, 0.3 m below the hip of a leg at rest that hangs down, takes -3 N m."""
    (tmp_path / "leg.py").write_text(ROD)
    t = np.linspace(0, 1, 11)
    cd.Table(t, ["hip"], np.zeros((11, 1)), ["rad"]).save(tmp_path / "rest.csv")
    push = np.tile([10.0, 0, 0, 0, -0.3, 0], (11, 1))
    names = ["f_x", "f_y", "f_z", "p_x", "p_y", "p_z"]
    cd.Table(t, names, push, ["N"] * 3 + ["m"] * 3).save(tmp_path / "push.mot")
    (tmp_path / "loads.xml").write_text(LOADS)
    done = analyze("leg.py", "rest.csv", "--external-loads", "loads.xml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    np.testing.assert_allclose(
        cd.read_table(tmp_path / "rest-analysis" / "moments.csv")["hip"], -3.0, atol=1e-12
    )


UNCLEAR = "r\nversion=1\nendheader\ntime\thip\n0\t0\n1\t1\n"
MISTAKES = {
    "unknown model": (("arm62", "swing.csv"), "unknown model 'arm62'; did you mean 'arm26'?"),
    "no file": (("lag.py", "swing.csv"), "lag.py: no such file; is it leg.py or"),
    "an osim file": (("arm.osim", "swing.csv"), "arm.osim: no such file; give a model file of OpenSim"),
    "a file that raises": (("bad.py", "swing.csv"), "bad.py, line 3: ZeroDivisionError: division by zero"),
    "one that Condyle refuses": (("odd.py", "swing.csv"), "odd.py, line 3: body 'leg'"),
    "one that exits": (("exit.py", "swing.csv"), "it exited (exit code 3)"),
    "no system": (("none.py", "swing.csv"), "it creates no cd.System; does make() create one?"),
    "several systems": (
        ("two.py", "swing.csv"),
        "several Systems: a, b; call the intended one `system`, or give two.py:a",
    ),
    "an unknown one of several": (("two.py:c", "swing.csv"), "known: 'a', 'b'"),
    "no motion": (("leg.py", "swign.csv"), "swign.csv: no such file; is it swing.csv?"),
    "a missing coordinate": (("leg.py", "knee.csv"), "the table has no column 'hip'"),
    "no unit": (("leg.py", "bare.csv"), "nothing says whether hip is in degrees; say --degrees or --radians"),
    "no inDegrees": (
        ("leg.py", "unclear.mot"),
        "no line inDegrees=yes or inDegrees=no; say --degrees or --radians",
    ),
    "other loads": (("leg.py", "swing.csv", "--external-loads", "swing.csv"), "expected OpenSim's .xml"),
    "empty loads": (("leg.py", "swing.csv", "--external-loads", "empty.xml"), "no <ExternalForce>"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes_are_one_line(case: str, tmp_path: Path) -> None:
    texts = {
        "leg.py": ROD,
        "bad.py": "import condyle as cd\nsystem = cd.System()\n1 / 0\n",
        "exit.py": "exit(3)\n",
        "odd.py": "import condyle as cd\nsystem = cd.System()\nsystem.add_body('leg', mass=-1)\n",
        "none.py": "import condyle as cd\ndef make():\n    return cd.System()\n",
        "two.py": "import condyle as cd\na, b = cd.System(), cd.System()\n",
        "swing.csv": MOTION,
        "knee.csv": MOTION.replace("hip", "knee"),
        "bare.csv": MOTION.replace(" [deg]", ""),
        "unclear.mot": UNCLEAR,
        "empty.xml": "<OpenSimDocument Version='40600'><ExternalLoads/></OpenSimDocument>",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    arguments, words = MISTAKES[case]
    done = analyze(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert {p.name for p in tmp_path.iterdir()} == set(texts)


def test_two_motions_are_one_report(tmp_path: Path) -> None:
    """The second moves twice as far; its tables are in a folder of its own."""
    (tmp_path / "leg.py").write_text(ROD)
    (tmp_path / "swing.csv").write_text(MOTION)
    (tmp_path / "far.csv").write_text(
        "time,hip [deg]\n" + "".join(f"{1 + 0.05 * k},{k * k / 5}\n" for k in range(20))
    )
    done = analyze("leg.py", "swing.csv", "--compare", "far.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / "swing-analysis"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "swing beside far" in page and (folder / "compared-far" / "moments.csv").is_file()
    # peaks of the angle [deg], their difference
    assert "hip, coordinate [deg]</th><td>36.1</td><td>72.2</td><td>36.1</td><td>" in page
    wrong = analyze("leg.py", "swing.csv", "--compare-loads", "push.xml", cwd=tmp_path)
    assert wrong.returncode != 0 and "--compare" in wrong.stderr
