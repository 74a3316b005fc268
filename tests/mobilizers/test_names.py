"""Parameters, names, units, defaults, texts and pickles of mobilizers."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import (
    Ball,
    BendStretch,
    CantileverFreeBeam,
    Custom,
    Ellipsoid,
    Free,
    FunctionBased,
    Pin,
    Screw,
    Slider,
    SphericalCoords,
    Translation,
    Universal,
    compose,
)
from condyle.mobilizers.traced import motion_at
from condyle.spatial import rotation_z
from tests.mobilizers.every import EVERY, RADII
from tests.mobilizers.poses import (
    evaluate,
    given,
    one_body,
    random_states,
)

KNEE = EVERY["Custom"]


# ---- Parameters ----


@pytest.mark.parametrize(
    "make",
    [
        lambda a: Screw(a),
        lambda a: Ellipsoid((a, 0.3, 0.2)),
        lambda a: Ellipsoid((a, 0.3, a), normal=True),
        lambda a: CantileverFreeBeam(a).reversed(),
        lambda a: SphericalCoords(azimuth_offset=a, zenith_offset=a),
        lambda a: compose(Screw(a), Slider("y")),
        lambda a: Ellipsoid((0.5 * a, 0.3, a + 0.1)),
        lambda a: Screw(1 / a).reversed(),
        lambda a: Custom("q", lambda q: (rotation_z(q), (a * q, np.sin(a * q), 0))),
    ],
    ids=[
        "Screw",
        "Ellipsoid",
        "normal",
        "beam",
        "SphericalCoords",
        "compose",
        "computed",
        "computed-reversed",
        "Custom",
    ],
)
def test_numbers_may_be_parameters(make, monkeypatch):
    """A Parameter at 0.7 is the number 0.7, whatever its default."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    mobilizer = make(cd.Parameter("size", 0.4))
    assert pickle.loads(pickle.dumps(mobilizer)) == mobilizer
    system, constant = one_body(mobilizer), one_body(make(0.7))
    assert system.parameters == ("size",)
    _, q, u, tau = random_states(mobilizer, 5, n=4)
    ours, known = (
        system.forward_dynamics(q, u, tau, parameters={"size": 0.7}),
        constant.forward_dynamics(q, u, tau),
    )
    # Constants fold in another order; accelerations reach 100.
    np.testing.assert_allclose(ours, known, rtol=1e-11, atol=1e-11)
    assert np.abs(ours - system.forward_dynamics(q, u, tau)).max() > 1e-3


def test_parameters_are_told_apart_by_name_and_default():
    """Equal text means equal machine code and equal defaults."""
    a, b, c = cd.Parameter("a", 0.4), cd.Parameter("b", 0.4), cd.Parameter("a", 0.4 + 1e-12)
    assert len({Screw(p).description() for p in (0.4, a, b, c, 2 * a, a * (2 + 1e-15), 2 * b, 2 * c)}) == 8
    assert (
        len({Custom("q", lambda q, p=p: (rotation_z(q), (p * q, 0, 0))).description() for p in (a, b, c)})
        == 3
    )
    assert Screw(cd.Parameter("a", 0.4)) == Screw(cd.Parameter("a", 0.4)) != Screw(cd.Parameter("a", 0.5))
    assert hash(Screw(cd.Parameter("a", 0.4))) == hash(Screw(cd.Parameter("a", 0.4)))


# ---- Names, defaults, identity ----


def test_every_mobilizer_is_listed():
    public = {name for name in cd.mobilizers.__all__ if name in dir(cd)} - {"Mobilizer", "read_mobilizer"}
    assert {name.partition("-")[0] for name in EVERY} == public


QUATERNION = ("qw", "qx", "qy", "qz")
NAMES = {
    "Weld": ((), (), ()),
    "Pin": (("angle",), ("angle",), ("rad",)),
    "Slider": (("shift",), ("shift",), ("m",)),
    "Screw": (("angle",), ("angle",), ("rad",)),
    "Universal": (("rx", "ry"), ("rx", "ry"), ("rad", "rad")),
    "Cylinder": (("rz", "tz"), ("rz", "tz"), ("rad", "m")),
    "BendStretch": (("bend", "stretch"), ("bend", "stretch"), ("rad", "m")),
    "Planar": (("rz", "tx", "ty"), ("rz", "tx", "ty"), ("rad", "m", "m")),
    "SphericalCoords": (
        ("azimuth", "zenith", "radius"),
        ("azimuth", "zenith", "radius"),
        ("rad", "rad", "m"),
    ),
    "LineOrientation": (QUATERNION, ("wx", "wy"), ("1",) * 4),
    "Gimbal": (("rx", "ry", "rz"), ("rx", "ry", "rz"), ("rad",) * 3),
    "Bushing": (
        ("rx", "ry", "rz", "tx", "ty", "tz"),
        ("rx", "ry", "rz", "tx", "ty", "tz"),
        ("rad",) * 3 + ("m",) * 3,
    ),
    "Ball": (QUATERNION, ("wx", "wy", "wz"), ("1",) * 4),
    "Ball-euler": (("rx", "ry", "rz"), ("wx", "wy", "wz"), ("rad",) * 3),
    "Translation": (("tx", "ty", "tz"), ("tx", "ty", "tz"), ("m",) * 3),
    "Free": ((*QUATERNION, "tx", "ty", "tz"), ("wx", "wy", "wz", "vx", "vy", "vz"), ("1",) * 4 + ("m",) * 3),
    "Free-euler": (
        ("rx", "ry", "rz", "tx", "ty", "tz"),
        ("wx", "wy", "wz", "vx", "vy", "vz"),
        ("rad",) * 3 + ("m",) * 3,
    ),
    "FreeLine": ((*QUATERNION, "tx", "ty", "tz"), ("wx", "wy", "vx", "vy", "vz"), ("1",) * 4 + ("m",) * 3),
    "Ellipsoid": (QUATERNION, ("wx", "wy", "wz"), ("1",) * 4),
    "CantileverFreeBeam": (("rx", "ry", "rz"), ("rx", "ry", "rz"), ("rad",) * 3),
    "FunctionBased": (("a",), ("a",), ("rad",)),
    "FunctionBased-two": (("a", "b"), ("a", "b"), ("rad", "rad")),
    "Custom": (("knee",), ("knee",), ("rad",)),
    "Custom-N": (("w", "x", "y", "z"), ("wx", "wy", "wz"), ("1",) * 4),
    "compose": (
        ("bend", "stretch", "shift", "angle"),
        ("bend", "stretch", "shift", "angle"),
        ("rad", "m", "m", "rad"),
    ),
}
OFFSET = {
    "FunctionBased": (0, 0.2, 0),
    "Ellipsoid": (0, 0, RADII[2]),
    "CantileverFreeBeam": (0, 0, 0.8),
    "Custom-N": (0.3, 0.2, 0.1),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_units_and_defaults(name):
    for m in (EVERY[name], EVERY[name].reversed()):
        assert (m.coordinate_names, m.speed_names, m.units) == NAMES[name]
    m = EVERY[name]
    np.testing.assert_array_equal(m.default_q(), [float(c in ("qw", "w")) for c in m.coordinate_names])
    R, p = motion_at(m, 0.0, m.default_q(), np.zeros(m.nu))[:2]
    np.testing.assert_array_equal(R, np.eye(3))
    np.testing.assert_array_equal(p[:, 0], OFFSET.get(name, (0, 0, 0)))


def test_composed_names_are_different():
    assert compose(Pin(), Pin("x"), Pin("y")).coordinate_names == ("angle", "angle2", "angle3")
    assert compose(Ball(), Translation()).speed_names == ("wx", "wy", "wz", "tx", "ty", "tz")


@pytest.mark.parametrize("name", EVERY)
def test_mobilizers_pickle_and_do_not_change(name):
    mobilizer = EVERY[name]
    again = pickle.loads(pickle.dumps(mobilizer))
    assert again == mobilizer and hash(again) == hash(mobilizer) and repr(again) == repr(mobilizer)
    t, q, u, _ = random_states(mobilizer, 0, n=2)
    for a, b in zip(evaluate(given, again, t, q, u), evaluate(given, mobilizer, t, q, u)):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(AttributeError):
        mobilizer.units = ("m",)
    assert mobilizer.reversed() != mobilizer
    assert mobilizer.reversed().reversed() is mobilizer


def test_descriptions_tell_mobilizers_apart():
    """Equal text means equal machine code: no two different joints may share it."""
    assert (
        FunctionBased("k", (lambda q: np.sin(q), None, None)).description()
        == FunctionBased("k", (lambda angle: np.sin(angle), None, None)).description()
    )
    joints = [
        *EVERY.values(),
        Screw(0.3 + 1e-16),
        Screw(0.3, axis="y"),
        Ellipsoid((0.7, 1.6, 1.1)),
        SphericalCoords(azimuth_offset=1e-12),
        SphericalCoords(zenith_offset=1e-12),
        SphericalCoords(negate_radial=True),
        CantileverFreeBeam(0.81),
        compose(Slider("z"), BendStretch(), Pin("x")),
        Pin("x"),
        Pin((1, 1e-9, 0)),
        Slider("z"),
        FunctionBased("k"),
        FunctionBased("k", (lambda q: q, None, None)),
        FunctionBased("k", (lambda q: q * (1 + 1e-15), None, None)),
        FunctionBased("k", (None, lambda q: q, None)),
        FunctionBased("k", translations=(lambda q: q, None, None)),
        FunctionBased("k", (lambda q: q, None, None), axes=("z", "y", "x")),
        FunctionBased("k", (lambda t, q: t, None, None), time=True),
    ]
    # 0.3 + 1e-16 is another double than 0.3.
    assert len({m.description() for j in joints for m in (j, j.reversed())}) == 2 * len(joints)


@pytest.mark.parametrize(
    ("mobilizer", "shown"),
    [
        (Screw(0.1), "Screw(pitch=0.1)"),
        (Screw(cd.Parameter("s", 0.1), "x"), "Screw(pitch=Parameter('s', 0.1), axis='x')"),
        (Universal(), "Universal()"),
        (Ball(), "Ball()"),
        (Ball("euler"), "Ball(coordinates='euler')"),
        (Ellipsoid((1, 2, 3)), "Ellipsoid(radii=(1.0, 2.0, 3.0))"),
        (KNEE, "Custom(knee)"),
        (SphericalCoords(radial_axis="x").reversed(), "SphericalCoords(radial_axis='x').reversed()"),
        (Pin(), "Pin()"),
        (Pin("x").reversed(), "Pin(axis='x').reversed()"),
        (Pin((1, 2, 2)), "Pin(axis=(0.3333, 0.6667, 0.6667))"),
        (Free(), "Free()"),
        (Free(coordinates="euler"), "Free(coordinates='euler')"),
        (cd.FunctionBased(("a", "b")), "FunctionBased(a, b)"),
        (cd.FunctionBased("a").reversed(), "FunctionBased(a).reversed()"),
        (compose(Pin(), Slider("y")), "compose(Pin(), Slider(axis='y'))"),
    ],
)
def test_reprs_are_short(mobilizer, shown):
    assert repr(mobilizer) == shown


def test_a_weld_composes_with_anything():
    """It has no coordinates; the equations of what follows it stay."""
    for both in (cd.compose(cd.Weld(), cd.Pin()), cd.compose(cd.Pin(), cd.Weld())):
        np.testing.assert_array_equal(
            motion_at(both, 0.0, [0.4], [1.0]).R, motion_at(cd.Pin(), 0.0, [0.4], [1.0]).R
        )
