"""`condyle simulate` as a user runs it."""

from __future__ import annotations

import csv
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.cli.process import condyle, condyle_here

SIGNALED = """
import os, signal, condyle.cli.simulate, condyle.table
send = lambda: os.kill(os.getpid(), signal.{name})
save = condyle.table.Table.save
# a second one while it is written, and a third
condyle.table.Table.save = lambda *x: (send(), save(*x), send())
condyle.cli.simulate.shown = lambda title: (lambda share: send(), lambda: None)  # the first one while it runs
"""

LEG = """
import condyle as cd
system = cd.System(gravity=(0, -9.81, 0))
system.add_body("leg", mobilizer=cd.Pin(), X_BM=(0, 0.4, 0), mass=3.0, inertia=(0.05, 0.01, 0.05),
                coordinates="hip")
"""


def test_the_motion_is_that_of_the_library(tmp_path: Path) -> None:
    import condyle as cd

    (tmp_path / "leg.py").write_text(LEG + "state = system.state(q=[1.0])\n")
    done = condyle(
        "simulate", "leg.py", "0.5", "--accuracy", "1e-8", "--rate", "10", "--output", "leg.csv", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "finished" in done.stdout
    titles, *rows = csv.reader((tmp_path / "leg.csv").read_text().splitlines())
    assert titles == ["time [s]", "hip [rad]", "hip_speed [rad/s]"]
    names: dict[str, cd.System] = {}
    exec(LEG, names)
    t, q, _ = np.array(rows, dtype=float).T
    np.testing.assert_allclose(t, np.linspace(0, 0.5, 6), rtol=0, atol=1e-15)  # sums of tenths
    traj = cd.simulate(names["system"], names["system"].state(q=[1.0]), 0.5, accuracy=1e-8)
    np.testing.assert_array_equal(q, traj.at(t)[:, 0])


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (None, (), "no such file"),
        ("x = 1", (), "expected a cd.System under the name `system`, got None"),
        (LEG + "state = [1.0]", (), "`state` must be a State"),
        (LEG, ("--output", "leg.txt"), "ends in .csv"),
        (LEG, ("--rate", "0"), "--rate 0.0: expected a positive number"),
        (LEG, ("--integrator", "mersen"), "merson"),
        (LEG, ("--rate", "1e12"), "--rate 1e+12: 1e+12 rows in 1 s; at most 10,000,000"),
        ("raise RuntimeError('the file ran')", ("--output", "no/leg.csv"), "an existing folder"),
        (
            "raise RuntimeError('the file ran')",
            ("--output", "/proc/leg.csv"),
            "nothing can be written into /proc",
        ),
    ],
)
def test_mistakes_are_one_line(
    text: str | None, arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    if text is not None:
        (tmp_path / "leg.py").write_text(text)
    done = condyle_here("simulate", "leg.py", "1", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("*.csv"))


def test_a_run_that_stops_early_says_so_and_leaves_what_it_has(tmp_path: Path) -> None:
    law = "system.add_force('bad', cd.forces.Custom(lambda s: {'hip': 1 / (0.2 - s.t) ** 0.5}))\n"
    (tmp_path / "leg.py").write_text(LEG + law)
    done = condyle_here("simulate", "leg.py", "1", cwd=tmp_path)
    assert done.returncode == 1
    assert "stopped at t = 0." in done.stdout
    assert len((tmp_path / "motion.csv").read_text().splitlines()) > 2


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_what_was_computed_is_kept_however_often_the_run_is_told_to_end(name: str, tmp_path: Path) -> None:
    (tmp_path / "leg.py").write_text(LEG + "state = system.state(q=[1.0])\n" + SIGNALED.format(name=name))
    done = condyle("simulate", "leg.py", "1e7", cwd=tmp_path)
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert "leg.py: interrupted at t = " in done.stdout
    assert "Traceback" not in done.stderr
    rows = (tmp_path / "motion.csv").read_text().splitlines()
    assert len(rows) > 50
    assert rows[-1].split(",")[0][:8] in done.stdout


def test_nothing_is_overwritten_unless_told(tmp_path: Path) -> None:
    (tmp_path / "leg.py").write_text(LEG)
    (tmp_path / "motion.csv").write_text("mine")
    done = condyle_here("simulate", "leg.py", "0.1", cwd=tmp_path)
    assert done.returncode == 1
    assert "motion.csv: exists already" in done.stderr
    # what is wrong first
    assert "nope.py: no such file" in condyle_here("simulate", "nope.py", "0.1", cwd=tmp_path).stderr
    assert "--force" in done.stderr
    assert (tmp_path / "motion.csv").read_text() == "mine"
    assert condyle_here("simulate", "leg.py", "0.1", "--force", cwd=tmp_path).returncode == 0
    assert (tmp_path / "motion.csv").read_text().startswith("time")


def test_a_file_that_appears_during_the_run_stays_and_modules_beside_the_file_are_found(
    tmp_path: Path,
) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "parts.py").write_text(LEG)
    (tmp_path / "model" / "leg.py").write_text(
        "from parts import system\nopen('leg.csv', 'x').write('mine')\n"
    )
    done = condyle("simulate", "model/leg.py", "0.1", "--output", "leg.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "leg-2.csv" in done.stdout
    assert (tmp_path / "leg.csv").read_text() == "mine"
    assert (tmp_path / "leg-2.csv").read_text().startswith("time")


BALL = """
import condyle as cd
rubber = cd.contact.Material(1e5)
system = cd.System()
system.add_body("ball", mobilizer=cd.Translation(), mass=1.0)
system.add_contact("floor", cd.contact.HalfSpace("ground", (0, 1, 0), 0.0, rubber),
                   cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber))
state = system.state(q=[0, 0.06, 0])
cd.contact.Material(1e5, static_friction=0.5)
"""


def test_forces_of_contacts_are_a_second_table_and_warnings_one_line_each(tmp_path: Path) -> None:
    import condyle as cd

    (tmp_path / "ball.py").write_text(BALL)
    asked = ("simulate", "ball.py", "0.05", "--rate", "100", "--contact-forces", "forces.csv")
    done = condyle(*asked, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "finished; 1 body from t = 0 to " in done.stdout
    assert "wrote   motion.csv: " in done.stdout and "wrote   forces.csv: " in done.stdout
    motion, forces = (cd.read_table(tmp_path / name) for name in ("motion.csv", "forces.csv"))
    assert forces.names == ("floor_fx", "floor_fy", "floor_fz")
    np.testing.assert_array_equal(forces.time, motion.time)
    depth = np.maximum(0.1 - motion["ball_ty"], 0)
    hertz = 4 / 3 * 1e5 / 2**1.5 * 0.1**0.5 * depth**1.5
    np.testing.assert_allclose(forces["floor_fy"], hertz, rtol=1e-9)  # digits of the table
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(said) == 1
    assert said[0].startswith("condyle: warning: ball.py, line 9: Material: static_friction = 0.5 without")
    assert "forces.csv: exists already" in condyle_here(*asked, "--output", "new.csv", cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (
            LEG,
            "forces.csv",
            "--contact-forces forces.csv: leg.py has no contacts; system.add_contact makes them",
        ),
        (LEG, "motion.csv", "--contact-forces motion.csv: the motion goes there; choose another name"),
        (LEG, "forces.txt", "--contact-forces forces.txt: expected a file in an existing folder"),
    ],
)
def test_forces_of_contacts_need_contacts_and_a_file(
    text: str, name: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "leg.py").write_text(text)
    done = condyle_here("simulate", "leg.py", "1", "--contact-forces", name, cwd=tmp_path)
    assert done.returncode == 1
    assert words in done.stderr
    assert not list(tmp_path.glob("*.csv"))
