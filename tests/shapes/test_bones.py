"""Bones that are drawn where a model has no meshes."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.shapes.bones import BONES, bone, bones_of
from condyle.viewer.bodies import parts


@pytest.mark.parametrize("name", BONES)
def test_bones_are_closed_and_small(name):
    vertices, triangles = bone(name).surface()
    assert np.isfinite(vertices).all()
    assert len(triangles) < 9000
    # every edge of a tube but those of its tips is shared by two triangles; normals point outward: volume above 0
    p = vertices[triangles]
    volume = np.einsum("ni,ni->", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    assert volume > 0
    mirrored, turned = bone(name, mirrored=True).surface()
    np.testing.assert_allclose(mirrored * [1, 1, -1], vertices)
    q = mirrored[turned]
    assert np.einsum("ni,ni->", q[:, 0], np.cross(q[:, 1], q[:, 2])) / 6 == pytest.approx(volume)


def test_names_of_bodies():
    assert bones_of("femur_r") == ("femur",)
    assert bones_of("calcn_l") == ("foot",)
    assert bones_of("r_ulna_radius_hand") == ("ulna", "hand")
    assert bones_of("torso") == ("thorax",)
    assert bones_of("wheel") == ()
    with pytest.raises(cd.errors.UnknownNameError):
        bone("femu")


def test_they_lie_between_the_joints():
    """The femur's head is at the hip, its condyles at the knee, on both sides."""
    system = cd.models.synthetic_subject().system
    drawn, _ = parts(system)
    for side, sign in (("r", 1), ("l", -1)):
        (femur,) = [d for d in drawn if d.name == f"femur_{side}" and isinstance(d.shape, cd.shapes.Mesh)]
        knee = next(b for b in system.bodies if b.name == f"tibia_{side}").X_PF.p
        places = femur.shape.surface()[0] @ femur.X_BS.R.T + femur.X_BS.p
        assert np.linalg.norm(places, axis=1).min() < 0.03
        assert np.linalg.norm(places - knee, axis=1).min() < 0.03
        assert (sign * places[:, 2]).max() > 0.05  # the trochanter is outside
        assert abs(places[:, 1].min() - knee[1]) < 0.04


def test_other_bodies_have_sticks():
    system = cd.System()
    system.add_body("femur_r", mobilizer=cd.Pin(), mass=1, com=(0, -0.2, 0), inertia=(1, 1, 1))
    assert not any(isinstance(d.shape, cd.shapes.Mesh) for d in parts(system)[0])


def test_a_knee_that_moves_away_from_its_frame():
    """The femur reaches from hip to knee, and one hip is enough for a pelvis."""
    system = cd.models.leg6dof9musc()
    drawn = {part.name: part for part in parts(system)[0] if part.kind == "bodies"}
    state = system.state()
    knee = state.station_position("tibia_r", (0, 0, 0), relative_to="femur_r")
    femur = drawn["femur_r"].shape.surface()[0] @ drawn["femur_r"].X_BS.R.T
    assert knee[1] < -0.35 and abs(femur[:, 1].min() - knee[1]) < 0.04
    assert 0.2 < np.ptp(drawn["pelvis"].shape.surface()[0][:, 2]) < 0.35
