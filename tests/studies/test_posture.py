"""Poses and lengths of paths without machine code: those that the operators give."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from condyle.studies.scaling import posture
from condyle.studies.scaling.posture import Posture
from tests.opensim.files import reference

LIMB = [("ground", (0.05, 1.1, 0)), ("thigh", (0.04, -0.15, 0)), ("shank", (0.03, -0.05, 0))]


def limb(points, wraps=(), hip=0.3, knee=-0.8):
    """A leg in a bent default pose, and a rope along a path."""
    system = cd.System()
    hinge = lambda name, value: cd.Coordinate(name, value)
    system.add_body(
        "thigh",
        mobilizer=cd.Pin(),
        X_PF=(0, 1, 0),
        X_BM=(0, 0.2, 0),
        mass=7,
        inertia=(0.1, 0.02, 0.1),
        coordinates=hinge("hip", hip),
    )
    system.add_body(
        "shank",
        "thigh",
        cd.Pin(),
        X_PF=(0, -0.2, 0),
        mass=3,
        inertia=(0.05, 0.01, 0.05),
        coordinates=hinge("knee", knee),
    )
    system.add_force("rope", cd.muscles.Thelen2003(cd.paths.Path(points, wraps), 1000.0, 0.1, 0.25))
    system.add_marker("ankle", "shank", (0, -0.4, 0.05))
    return system


def roll(radius=0.03, **more):
    return cd.paths.Wrap(cd.paths.Cylinder(radius, 0.1, **more), "thigh", (0, -0.2, 0))


CURVE = cd.functions.SimmSpline([-2.0, -1.0, 0.0, 0.5], [0.03, 0.02, 0.05, 0.04])
PATHS = {
    "straight": (LIMB, ()),
    "over a cylinder": (LIMB, [roll()]),
    "not over it": (LIMB, [roll(quadrant="-x")]),
    "over two": (
        [LIMB[0], LIMB[2]],
        [roll(), cd.paths.Wrap(cd.paths.Cylinder(0.02, 0.1), "thigh", (0.02, 0.05, 0))],
    ),
    "a sphere": ([LIMB[0], LIMB[2]], [cd.paths.Wrap(cd.paths.Sphere(0.03), "thigh", (0, -0.2, 0))]),
    "an ellipsoid": (
        [LIMB[0], LIMB[2]],
        [cd.paths.Wrap(cd.paths.Ellipsoid((0.03, 0.04, 0.05)), "thigh", (0, -0.2, 0))],
    ),
    "points that come": (
        [
            LIMB[0],
            cd.paths.ConditionalPoint("thigh", (0.06, -0.18, 0), "knee", (-2.0, -0.5)),
            cd.paths.ConditionalPoint("thigh", (0.2, 0, 0), "knee", (0.0, 0.5)),
            LIMB[2],
        ],
        (),
    ),
    "points that move": (
        [LIMB[0], cd.paths.MovingPoint("shank", (CURVE, 0.01, lambda q: 0.1 * q), "knee", (-0.5, 0.5))],
        (),
    ),
}


@pytest.mark.parametrize("kind", PATHS)
def test_lengths_of_paths_of_every_kind(kind, monkeypatch):
    system = limb(*PATHS[kind])
    (expected,) = system.copy().path_lengths(system.defaults()[0])
    monkeypatch.setattr("condyle.native.machine.jit.compile_ir", None)
    monkeypatch.setenv("CONDYLE_CACHE", "off")
    found = Posture(system).lengths({"rope": system.force("rope")})
    assert found["rope"] == pytest.approx(expected, abs=1e-13)  # rounding; geodesics end at 1e-14


@pytest.mark.parametrize(
    "model",
    [
        "opensim/Rajagopal/Rajagopal2016.osim",
        "gait10dof18musc_pipeline/subject01.osim",
        "opensim/Gait2354_Simbody/pipeline/OutputReference/subject01_simbody_adjusted.osim",
    ],
)
def test_whole_models(model):
    """In the default pose, and in another one."""
    system = cd.read_osim(reference(model))
    laws = {n: system.force(n) for n in system.paths}
    at = system.copy()
    for q in (None, system.defaults()[0] + 0.1 * np.sin(np.arange(system.nq))):
        pose = Posture(system, q)
        np.testing.assert_allclose(list(pose.lengths(laws).values()), at.path_lengths(pose.q), atol=1e-13)
        for n in system.markers:
            m = system.marker(n)
            expected = np.ravel(at.station_position(pose.q, m.body, m.station))
            np.testing.assert_allclose(pose.markers()[n], expected, atol=1e-14)
            np.testing.assert_allclose(pose.station(m.body, expected), m.station, atol=1e-14)


def test_equations_serve_all_models_of_a_process_and_the_next(monkeypatch, tmp_path):
    """Numbers are not part of them."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("condyle.native.tables.expression_cache._held", {})
    made = []
    make = posture._length
    monkeypatch.setattr(posture, "_length", lambda span: made.append(1) or make(span))
    for radius in (0.02, 0.03, 0.04):
        system = limb(LIMB, [roll(radius)])
        Posture(system).lengths({"rope": system.force("rope")})
    assert len(made) == len({s.signature for s in system.force("rope").path.length.spans if s.wraps})


def test_the_operator_takes_over(monkeypatch):
    """Where a number of a path is a Parameter, and where a surface would be left out."""
    system = limb([LIMB[0], ("shank", (cd.Parameter("x", 0.03), -0.05, 0))])
    (expected,) = system.copy().path_lengths(system.defaults()[0])
    pose = Posture(system)
    monkeypatch.setattr(pose, "_lengths", None)  # nobody asks it
    assert pose.lengths({"rope": system.force("rope")})["rope"] == expected
    system = limb(LIMB)
    pose = Posture(system)
    monkeypatch.setattr(pose, "_lengths", lambda spans: np.full(len(spans), np.nan))
    (expected,) = system.copy().path_lengths(system.defaults()[0])
    assert pose.lengths({"rope": system.force("rope")})["rope"] == expected


def test_defaults_are_not_those_of_another_model(monkeypatch, tmp_path):
    """Models with equal equations may stand in another pose or have other values of Parameters."""
    monkeypatch.setenv("CONDYLE_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr("condyle.native.machine.cache._LONG_TO_FIND", 0.0)  # all is kept
    lengths = set()
    for hip, knee, shin, toe in (
        (0.3, -0.8, 0.4, 0.1),
        (0.3, -0.2, 0.4, 0.1),
        (0.3, -0.8, 0.5, 0.1),
        (0.3, -0.8, 0.4, 0.2),
    ):
        system = limb(LIMB, hip=hip, knee=knee)
        at = (cd.Parameter("toe", toe), -cd.Parameter("shin", shin), 0)
        system.add_body("foot", "shank", cd.Weld(), X_PF=at, mass=1, inertia=(0.01, 0.01, 0.01))
        path = cd.paths.Path([LIMB[0], ("foot", (0.02, -0.01, 0))])
        system.add_force("string", cd.muscles.Thelen2003(path, 1000.0, 0.1, 0.25))
        system.add_constraint(
            "bends", cd.constraints.CoordinateCoupler(lambda a, b: a + b / 2, ("hip", "knee"))
        )
        pose, state = Posture(system), system.copy().state()
        expected = cd.assemble(state.system, state)
        np.testing.assert_allclose(pose.q, expected.q, atol=1e-9)  # a tenth of the accuracy
        (length,) = pose.lengths({"string": system.force("string")}).values()
        assert length == pytest.approx(expected.path_lengths()[1], abs=1e-8)  # of poses
        lengths.add(round(length, 4))
    assert len(lengths) == 4
