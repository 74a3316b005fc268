"""A model's contacts are read and written by a process that has loaded nothing else: rows register themselves."""

import sys

from tests.process import output

CODE = """
import condyle as cd
system = cd.System()
system.add_body("foot", mobilizer=cd.Slider("y"), mass=1.0, com=(0, 0, 0), inertia=(1, 1, 1))
touch = cd.contact.SmoothSphereHalfSpace("ground", (0, 1, 0), 0.0, "foot", (0, 0, 0), 0.03, 3e6, 2.0, 0.8, 0.8, 0.5, 0.2)
system.add_force("heel", touch)
cd.write_osim(system, {path!r})
"""


def test_contacts_of_a_fresh_process(tmp_path):
    path = str(tmp_path / "foot.osim")
    output(sys.executable, "-c", CODE.format(path=path))
    read = f"import condyle as cd; print(list(cd.read_osim({path!r}).forces))"
    assert "heel" in output(sys.executable, "-c", read)
