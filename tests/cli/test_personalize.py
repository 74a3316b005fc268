"""`condyle personalize`: files of a subject from files of a lab."""

import os

import condyle as cd
from tests.cli.process import condyle_here


def test_files(tmp_path):
    subject = cd.models.synthetic_subject()
    cd.write_osim(subject.generic, tmp_path / "generic.osim")
    subject.static.save(tmp_path / "static.trc")
    subject.walk.save(tmp_path / "walk.trc")
    done = condyle_here(
        "personalize",
        "generic.osim",
        "walk.trc",
        "--static",
        "static.trc",
        "--mass",
        "68",
        "--output",
        "subject",
        cwd=tmp_path,
        CONDYLE_CACHE_DIR=os.environ["CONDYLE_CACHE_DIR"],
    )
    assert done.returncode == 0, done.stderr
    made = {p.name for p in (tmp_path / "subject").iterdir()}
    assert made == {"subject.osim", "walk.mot", "sizes.csv", "offsets.csv", "masses.csv", "report.txt"}
    person = cd.read_osim(tmp_path / "subject" / "subject.osim")
    assert abs(sum(b.mass for b in person.bodies) - 68) < 1e-6


def test_loads_are_given_one_by_one(tmp_path):
    done = condyle_here("personalize", "a.osim", "a.trc", "--loads", "a.xml", "b.xml", cwd=tmp_path)
    assert done.returncode != 0 and "--loads a.xml --loads b.xml" in done.stderr
