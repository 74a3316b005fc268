"""Meshes that touch, written as .osim with files of their own."""

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_process import OpenSimProcess
from condyle.spatial import exp_so3
from tests.contact.meshes import box, icosphere
from tests.opensim.live import about_files
from tests.opensim.test_write import accelerations
from tests.opensim.written import states

HIGH = {
    "ball_tx": 0.01,
    "ball_ty": 0.095,
    "ball_tz": 0.02,
    "block_tx": 0.02,
    "block_ty": 0.28,
    "block_tz": 0.03,
    "block_rx": 0.1,
    "block_ry": 0.2,
    "block_rz": -0.1,
}
"""Where the bodies of `meshes` touch: the ball the floor and a stud, the block the ball [m, rad]."""


def meshes() -> cd.System:
    """A ball and a block of triangles, a floor and a round stud in it."""
    contact, s = cd.contact, cd.System()
    for name in ("ball", "block"):
        s.add_body(name, mobilizer=cd.Free("euler"), mass=1.3, com=(0.01, 0, 0.02), inertia=(0.1, 0.2, 0.15))
    soft, hard = (contact.Material(k, c, 0.8, 0.5, 0.1, 0.05) for k, c in ((1e7, 0.4), (6e5, 0.2)))
    ball = contact.Mesh(
        "ball",
        cd.Transform(exp_so3((0.3, -0.2, 0.5)), (0.01, 0, 0.02)),
        icosphere(2, 0.1),
        1.0,
        soft,
        name="skin",
    )
    block = contact.Mesh("block", None, box(0.1), 0.1, hard)
    floor = contact.HalfSpace("ground", (0.1, 1, 0.2), 0.01, soft, name="floor")
    stud = contact.Sphere("ground", (0, -0.02, 0), 0.05, soft, name="stud")
    for name, other in (("floor", floor), ("stud", stud), ("pile", block)):
        s.add_force(name, contact.OpenSimElasticFoundation(other, ball))
    return s


def placed(system):
    """Three states in contact, and the same as OpenSim is told them."""
    q, u, _, told = states(system, 3, 0)
    for k, one in enumerate(told):
        for name, place in HIGH.items():
            q[k, system.coordinates.index(name)] = place + 0.002 * k
            one["coordinates"][name] = (place + 0.002 * k, one["coordinates"][name][1])
    return q, u, told


@pytest.mark.peers
@pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed (extra: peers)")
def test_meshes_in_opensim(evidence, tmp_path):
    system = meshes()
    cd.write_osim(system, tmp_path / "pile.osim")
    assert {p.name for p in tmp_path.iterdir()} == {"pile.osim", "pile_skin.obj", "pile_pile.obj"}
    q, u, told = placed(system)
    udot = system.forward_dynamics(q, u)
    for name in system.forces:  # each has a part that is seen
        assert np.abs(system.forward_dynamics(q, u, disabled=[name]) - udot).max() > 5.0, name
    answers = OpenSimProcess(None, about_files).ask("states", str(tmp_path / "pile.osim"), told)
    # rounding times the stiffness of contact
    evidence(
        "written for OpenSim, contact of meshes: accelerations, relative",
        np.abs(accelerations(answers, told) - udot).max() / np.abs(udot).max(),
        1e-11,
    )


def test_meshes_come_back(tmp_path):
    system = meshes()
    cd.write_osim(system, tmp_path / "pile.osim")
    again = cd.read_osim(tmp_path / "pile.osim", strict=True)
    assert again.forces == system.forces
    q, u, _ = placed(system)
    np.testing.assert_allclose(
        again.forward_dynamics(q, u), system.forward_dynamics(q, u), rtol=1e-9, atol=1e-9
    )  # rounding of angles, times the stiffness
    mine, read = (s.force("floor").b.triangles for s in (system, again))
    np.testing.assert_array_equal(mine.corners, read.corners)  # every digit


def test_meshes_that_cannot_be_written(tmp_path):
    contact, s = cd.contact, cd.System()
    s.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    s.add_body("other", mobilizer=cd.Free(), mass=1.0, inertia=(1, 1, 1))
    slow, fast = contact.Material(1e6), contact.Material(1e6, transition_speed=0.3)
    ball = contact.Mesh("ball", None, icosphere(1, 0.1), 0.01, slow)
    floor = contact.HalfSpace("ground", (0, 1, 0), 0, slow)
    s.add_force("ours", contact.ElasticFoundation(floor, ball))
    s.add_force("soft", contact.OpenSimElasticFoundation(floor, ball, smooth=1e-4))
    s.add_force(
        "two",
        contact.OpenSimElasticFoundation(contact.Mesh("other", None, icosphere(1, 0.1), 0.01, fast), ball),
    )
    with pytest.raises(cd.errors.DescriptionError) as refused:
        cd.write_osim(s, tmp_path / "no.osim")
    for words in (
        "force 'ours'",
        "cd.contact.OpenSimElasticFoundation",
        "force 'soft'",
        "has no smooth",
        "force 'two': transition speeds of its meshes are 0.3 and",
    ):
        assert words in str(refused.value), words
    assert list(tmp_path.iterdir()) == []
