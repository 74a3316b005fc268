"""The table of OpenSim's classes: one row reads and writes a class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import condyle as cd
from condyle.opensim import table
from condyle.opensim.forces import COORDINATE
from condyle.opensim.table import Class, Number, Vector
from tests.opensim.files import pendulum


class Swivel(cd.Pin):
    """A joint of our own."""


class Drag(cd.forces.MobilityDamper):
    """A force of our own."""


@pytest.fixture(autouse=True)
def same_table_afterward() -> Iterator[None]:
    """Rows of a test vanish with it."""
    tables = (table.READERS, table.WRITERS, table.CLASSES)
    before = [dict(t) for t in tables]
    yield
    for t, old in zip(tables, before, strict=True):
        t.clear()
        t.update(old)  # type: ignore[arg-type]


def test_a_row_reads_and_writes_a_force(tmp_path):
    Class("DragForce", Drag, (COORDINATE, Number("drag", 0.25, "damping")))
    more = """<ForceSet><objects>
        <DragForce name="slow"><coordinate>hinge_coord_0</coordinate><drag>0.5</drag></DragForce>
        <DragForce name="usual"><coordinate>hinge_coord_0</coordinate></DragForce></objects></ForceSet>"""
    (tmp_path / "model.osim").write_text(pendulum(more=more))
    system = cd.read_osim(tmp_path / "model.osim", strict=True)
    assert [(type(f), f.damping) for f in map(system.force, ("slow", "usual"))] == [(Drag, 0.5), (Drag, 0.25)]
    cd.write_osim(system, tmp_path / "again.osim")
    assert "<drag>0.5</drag>" in (tmp_path / "again.osim").read_text()
    again = cd.read_osim(tmp_path / "again.osim", strict=True)
    udot = [s.forward_dynamics([0.3], [0.7]) for s in (system, again)]
    np.testing.assert_array_equal(*udot)


def test_a_row_reads_and_writes_a_joint(tmp_path):
    Class("SwivelJoint", Swivel, (Vector("axis"),))
    (tmp_path / "model.osim").write_text(pendulum("SwivelJoint", inside="<axis>0 1 0</axis>"))
    system = cd.read_osim(tmp_path / "model.osim", strict=True)
    assert isinstance(system.bodies[0].mobilizer, Swivel)
    cd.write_osim(system, tmp_path / "again.osim")
    assert "<SwivelJoint" in (tmp_path / "again.osim").read_text()
    again = cd.read_osim(tmp_path / "again.osim", strict=True)
    np.testing.assert_array_equal(system.body_pose([0.4], "rod").R, again.body_pose([0.4], "rod").R)


def test_a_class_has_one_row():
    with pytest.raises(TypeError, match="PinJoint has a reader already"):
        Class("PinJoint", Swivel)


def test_what_is_in_no_row_is_refused(tmp_path):
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1, inertia=(1, 1, 1))
    system.add_force("all", cd.forces.GlobalDamper(1.0))
    with pytest.raises(cd.errors.DescriptionError, match=r"force 'all': OpenSim has no force like .*Global"):
        cd.write_osim(system, tmp_path / "model.osim")


def test_a_field_without_parse_says_what_it_needs(tmp_path):
    Class("DragForce", Drag, (COORDINATE, table.Field("damping")))
    more = "<ForceSet><objects><DragForce><coordinate>hinge_coord_0</coordinate></DragForce></objects></ForceSet>"
    (tmp_path / "model.osim").write_text(pendulum(more=more))
    with pytest.raises(NotImplementedError, match=r"Field needs a method parse"):
        cd.read_osim(tmp_path / "model.osim")
