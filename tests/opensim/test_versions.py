"""Files of older versions, class defaults, objects in other files, and functions: numbers and layouts."""

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_model import about_model
from benchmarks.opensim_process import OpenSimProcess
from tests.opensim.files import model, pendulum

JOINT = """<Joint><{tag} name="{name}"><parent_body>{parent}</parent_body>
<location_in_parent>0.123456789 -0.3 0.1</location_in_parent>
<orientation_in_parent>0.1 0.2 0.3333333333</orientation_in_parent>
<location>0.05 0.1 0</location><orientation>0 0.1 0</orientation>
<CoordinateSet name=""><objects>{coordinates}</objects><groups/></CoordinateSet>
<reverse>{back}</reverse>{more}</{tag}></Joint>"""
BODY = """<Body name="{name}"><mass>1.23456789</mass><mass_center>0.01 -0.23456789 0</mass_center>
<inertia_xx>0.123456789</inertia_xx><inertia_yy>0.2</inertia_yy><inertia_zz>0.15</inertia_zz>
<inertia_xy>0.001</inertia_xy>{joint}<VisibleObject name=""><GeometrySet><objects><DisplayGeometry>
<geometry_file>bone.vtp</geometry_file><transform>0.1 0 0 0 1 0</transform>
<scale_factors>2 1 1</scale_factors>
</DisplayGeometry></objects></GeometrySet><scale_factors>1 3 1</scale_factors></VisibleObject></Body>"""
SPATIAL = """<SpatialTransform>
<TransformAxis name="rotation1"><coordinates>knee</coordinates><axis>0 0 1</axis>
<function><LinearFunction><coefficients>1 0</coefficients></LinearFunction></function></TransformAxis>
<TransformAxis name="rotation2"><coordinates/><axis>0 1 0</axis></TransformAxis>
<TransformAxis name="rotation3"><coordinates/><axis>1 0 0</axis></TransformAxis>
<TransformAxis name="translation2"><coordinates>knee</coordinates><axis>0 1 0</axis><function><natCubicSpline>
<x>-1 0 1 2</x><y>0 0.1 0.05 0.2</y></natCubicSpline></function></TransformAxis></SpatialTransform>"""


def old(version):
    names = "<Coordinate name='{}'><motion_type>rotational</motion_type></Coordinate>".format
    hip = JOINT.format(
        tag="PinJoint", name="hip", parent="ground", more="", coordinates=names("hip"), back="false"
    )
    knee = JOINT.format(
        tag="CustomJoint",
        name="knee_joint",
        parent="thigh",
        coordinates=names("knee"),
        back="false",
        more=SPATIAL,
    )
    ankle = JOINT.format(
        tag="PinJoint", name="ankle", parent="shank", more="", coordinates=names("ankle"), back="true"
    )
    thigh, shank, foot = (
        BODY.format(name=name, joint=joint)
        for name, joint in (("thigh", hip), ("shank", knee), ("foot", ankle))
    )
    return model(
        f"""<BodySet name=""><objects><Body name="ground"><mass>0</mass></Body>{thigh}{shank}{foot}
</objects></BodySet><ConstraintSet><objects><PointConstraint name="pinned">
<isDisabled>true</isDisabled><body_1>ground</body_1>
<body_2>foot</body_2><location_body_1>0 0 0</location_body_1><location_body_2>0 -0.1 0</location_body_2>
</PointConstraint></objects></ConstraintSet><MarkerSet><objects><Marker name="heel"><body>foot</body>
<location>0.1 0 0</location><fixed>true</fixed></Marker></objects></MarkerSet>""",
        version,
    )


def read(folder, text, **options):
    path = folder / "small.osim"
    path.write_text(text)
    return cd.read_osim(path, **options)


@pytest.mark.parametrize("version", [10905, 20001, 20303, 30000])
def test_old_layouts(tmp_path, version):
    system = read(tmp_path, old(version), strict=True)
    assert [b.name for b in system.bodies] == ["thigh", "shank", "foot"]
    assert [b.joint for b in system.bodies] == ["hip", "knee_joint", "ankle"]
    assert system.coordinates == ("hip", "knee", "ankle")
    body = system.body("thigh")
    assert body.mass == 1.23456789
    # as OpenSim rewrites them: six digits are left
    assert body.mass_properties.inertia[0, 0] == 0.123457
    assert body.X_PF.p[0] == 0.123457
    assert system.state().disabled == {"pinned"}
    marker = system.marker("heel")
    assert (marker.body, marker.station, marker.fixed) == ("foot", (0.1, 0, 0), True)
    shown = {g.name: g for g in system.geometry}["thigh_geom_1"]
    assert shown.shape.scale == (2, 3, 1)
    np.testing.assert_allclose(shown.X_BS.p, (0, 1, 0), atol=1e-15)  # rounding of angles and back


@pytest.mark.peers
@pytest.mark.parametrize("version", [10905, 20303, 30000])
def test_old_layouts_in_opensim(tmp_path, version):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    system = read(tmp_path, old(version))
    rng = np.random.default_rng(1)
    q, u, udot = rng.uniform(-0.8, 0.8, (3, 2, 3))
    process = OpenSimProcess(str(tmp_path / "small.osim"), about_model)
    theirs = process.ask("mechanics", list(system.coordinates), q, u, udot)
    tau = system.inverse_dynamics(q, u, udot)
    assert np.abs(tau - theirs["tau"]).max() < 1e-13 * np.abs(tau).max()  # rounding of three bodies
    for name, X in theirs["poses"].items():
        assert np.abs(system.body_pose(q, name).p - X[..., 3]).max() < 1e-14


def test_defaults_of_a_class_and_objects_in_other_files(tmp_path):
    (tmp_path / "forces.xml").write_text("""<OpenSimDocument Version="40600"><ForceSet><objects>
<SpringGeneralizedForce name="spring"><coordinate>angle</coordinate></SpringGeneralizedForce>
</objects></ForceSet></OpenSimDocument>""")
    text = pendulum(
        inside="<coordinates><Coordinate name='angle'/></coordinates>",
        more="<ForceSet file='forces.xml'/><defaults><SpringGeneralizedForce>"
        "<stiffness>7</stiffness><rest_length>0.1</rest_length><viscosity>0</viscosity></SpringGeneralizedForce>"
        "<Coordinate><default_value>0.25</default_value></Coordinate></defaults>",
    )
    system = read(tmp_path, text, strict=True)
    assert system.default("q") == [0.25]
    system.add_body("counted", mobilizer=cd.Weld())
    with_it, without = (
        system.forward_dynamics(*system.defaults(), disabled=off) for off in ((), ("spring",))
    )
    force = system.mass_matrix(system.defaults()[0])[0, 0] * (with_it - without)
    np.testing.assert_allclose(force, -7 * (0.25 - 0.1), rtol=1e-12)  # rounding of accelerations
    with pytest.warns(UserWarning, match="'gone.xml' is not in the model's folder"):
        read(tmp_path, text.replace("forces.xml", "gone.xml"))


# facts of OpenSim 4.6: what it gives at some of -1, .3, 2.7, 4.2, 8
POINTS = "<x>0 1 2.5 3 5</x><y>0 2 1 -1 3</y>"
MORE = "<x>0 1 2.5 3 5 6 7</x><y>0 2 1 -1 3 2 0.5</y>"
FUNCTIONS = [
    (
        f"<SimmSpline>{POINTS}</SimmSpline>",
        {-1: -2.45771144278607, 0.3: 0.708719402985075, 6.5: 21.1791044776119},
    ),
    (f"<PiecewiseLinearFunction>{POINTS}</PiecewiseLinearFunction>", {-1: -2, 0.3: 0.6, 6.5: 6}),
    (
        f"<GCVSpline><half_order>2</half_order>{MORE}</GCVSpline>",
        {-1: -2.24582971748144, 4.2: 0.761008967312708},
    ),
    (f"<GCVSpline><half_order>3</half_order>{MORE}</GCVSpline>", {-1: -1.3919984217719, 8: 1.28267818727343}),
    (f"<GCVSpline><half_order>1</half_order>{MORE}</GCVSpline>", {-1: 0, 0.3: 0.6, 8: 0.5}),
    ("<PolynomialFunction><coefficients>2 3 4</coefficients></PolynomialFunction>", {0.3: 5.08}),
    (
        "<Sine><amplitude>2</amplitude><omega>3</omega><phase>.5</phase><offset>1</offset></Sine>",
        {0.3: 2.97089945997692},
    ),
    (
        "<StepFunction><transition_start_time>1</transition_start_time><transition_end_time>3"
        "</transition_end_time><start_value>10</start_value><end_value>20</end_value></StepFunction>",
        {1.5: 11.03515625, 2.7: 19.73388125},
    ),
    (
        "<MultiplierFunction><scale>3</scale><function><Constant><value>2</value></Constant></function>"
        "</MultiplierFunction>",
        {0.3: 6},
    ),
]


@pytest.mark.parametrize(("text", "values"), FUNCTIONS)
def test_functions_prescribe(tmp_path, text, values):
    """Read as prescribed functions of time, which default states follow."""
    angle = (
        "<coordinates><Coordinate name='angle'><prescribed>true</prescribed><prescribed_function>"
        f"{text}</prescribed_function></Coordinate></coordinates>"
    )
    system = read(tmp_path, pendulum(inside=angle), strict=True)
    for t, value in values.items():
        # digits of the facts; a quintic beyond its points loses some
        np.testing.assert_allclose(system.state(t=t).q, value, rtol=1e-12, atol=1e-13)
