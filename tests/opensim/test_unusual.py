"""Classes that few files have: numbers are those of OpenSim 4.6, run once for these files."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import condyle as cd
from condyle.opensim.joints import _spatial
from condyle.spatial import rotation_from_euler
from tests.opensim.files import pendulum

ANGLE = '<coordinates><Coordinate name="angle"><range>-2 2</range></Coordinate></coordinates>'
X, Y = "-2 -1 0 1 2 3 4 5", "1 2 1.5 3 3.2 2.9 3.4 1"
AT = (-2.5, -1.3, 0.4, 3.7, 6.0)


def read(tmp_path, text: str, **options) -> cd.System:
    file = tmp_path / "model.osim"
    file.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return cd.read_osim(file, **options)


def with_force(function: str) -> str:
    """A pendulum with a force over time, the function in x."""
    zero = "<Constant><value>0</value></Constant>"
    return pendulum(
        inside=ANGLE,
        more=f"""<ForceSet name="forceset"><objects><PrescribedForce name="push">
<socket_frame>/bodyset/rod</socket_frame><FunctionSet name="forceFunctions"><objects>{function}{zero}{zero}
</objects></FunctionSet></PrescribedForce></objects></ForceSet>""",
    )


def function_in(tmp_path, text: str):
    return read(tmp_path, with_force(text), strict=True).force("push").force.functions[0].given


def gcv(half: int, variance: float) -> str:
    return (
        f"<GCVSpline><half_order>{half}</half_order><error_variance>{variance}</error_variance>"
        f"<x>{X}</x><y>{Y}</y></GCVSpline>"
    )


@pytest.mark.parametrize(
    ("text", "at", "expected", "tolerance"),
    [
        # OpenSim's search for the smoothing stops at about 1e-7
        (
            gcv(2, -1),
            AT,
            (0.811744971452034, 1.492386189316662, 2.4019122876854624, 2.771936046091118, 0.6128739964625867),
            1e-5,
        ),
        (
            gcv(2, 0.05),
            AT,
            (
                0.307012288689688,
                1.8414184013042327,
                2.013147851608469,
                3.3930436561232606,
                -2.050925891829837,
            ),
            1e-5,
        ),
        (
            gcv(3, 0.05),
            AT,
            (
                -0.6439091040067262,
                1.9678572427366035,
                2.0102347243366525,
                3.343793640664318,
                -5.759511228530108,
            ),
            1e-5,
        ),
        (
            "<PiecewiseConstantFunction><x>-1 1 2</x><y>3 5 6</y></PiecewiseConstantFunction>",
            (-2.5, -1.3, 0.4, 1.7, 6.0),
            (3, 3, 3, 5, 6),
            0.0,
        ),
    ],
)
def test_functions(tmp_path, text, at, expected, tolerance):
    f = function_in(tmp_path, text)
    np.testing.assert_allclose([f(x) for x in at], expected, rtol=0, atol=tolerance)


def test_polynomial_of_several_variables(tmp_path):
    numbers = " ".join(map(str, range(1, 11)))
    names = "".join(f"<Coordinate name='{name}'/>" for name in ("x", "y", "z", "tx", "ty", "tz"))
    text = pendulum(
        inside=f"<coordinates>{names}</coordinates>",
        joint="FreeJoint",
        more=f"""
<ConstraintSet name="c"><objects><CoordinateCouplerConstraint name="couple"><coupled_coordinates_function>
<MultivariatePolynomialFunction><coefficients>{numbers}</coefficients><dimension>3</dimension><order>2</order>
</MultivariatePolynomialFunction></coupled_coordinates_function><independent_coordinate_names>x y z
</independent_coordinate_names><dependent_coordinate_name>tx</dependent_coordinate_name>
</CoordinateCouplerConstraint></objects></ConstraintSet>""",
    )
    f = read(tmp_path, text).constraint("couple").function.function
    assert f(0.3, -0.7, 1.1) == pytest.approx(6.87, abs=1e-14)
    assert f.derivative((0.3, -0.7, 1.1), (0, 0, 2)) == pytest.approx(6.0, abs=1e-14)  # of 3 z^2
    with pytest.raises(cd.errors.DescriptionError, match="has 10 coefficients; got 9"):
        read(tmp_path, text.replace(" 10<", "<"))
    with pytest.raises(cd.errors.DescriptionError, match="an order of 0 to 20"):
        read(tmp_path, text.replace("<order>2", "<order>999999999"))


CURVED = (
    pendulum(
        joint="ConstantCurvatureJoint",
        inside="""<coordinates><Coordinate name="x"/>
<Coordinate name="z"/><Coordinate name="y"/></coordinates>
<neutral_angle_x_z_y>0.1 0.2 -0.3</neutral_angle_x_z_y><length>0.4</length>""",
    )
    .replace("0 1 0<", "0 0 0<")
    .replace("0 0 0.2<", "0 0 0<")
    .replace("0 0.1 0<", "0 0 0<")
)


def test_constant_curvature(tmp_path):
    """Poses are OpenSim's; speeds are the rates of poses, which there they are not."""
    system = read(tmp_path, CURVED)
    q, station = np.array([0.2, -0.3, 0.4]), (0.1, -0.2, 0.3)
    expected = (0.1289712857341242, 0.10566462040084373, 0.2723060495590573)
    np.testing.assert_allclose(system.station_position(q, "rod", station), expected, atol=1e-15)
    assert "velocities are the rates of its poses" in str(system.notes[0])
    for at in (q, np.array([-0.1, -0.2, 0.3]), np.array([-0.1 + 1e-3, -0.2 - 1e-2, 0.3])):  # straight, nearly
        J = system.station_jacobian(at, "rod", station)
        for k, e in enumerate(np.eye(3)):
            d = [system.station_position(at + h * e, "rod", station) for h in (1e-4, -1e-4, 2e-4, -2e-4)]
            slope = (8 * (d[0] - d[1]) - (d[2] - d[3])) / 12e-4
            np.testing.assert_allclose(J[:, k], slope, atol=1e-11)  # differences of order 4
    straight = system.body_pose(np.array([-0.1, -0.2, 0.3]), "rod")
    np.testing.assert_allclose(straight.p, (0, 0.4, 0), atol=1e-15)
    udot = system.forward_dynamics(q, np.ones(3))
    np.testing.assert_allclose(system.inverse_dynamics(q, np.ones(3), udot), 0, atol=1e-12)


def test_what_is_unknown_inside_a_force_is_noted(tmp_path):
    system = read(tmp_path, with_force("<Mystery/>"))
    assert "push" not in system.forces and "Mystery: is not known" in str(system.notes[0])
    path = """<ForceSet name="forceset"><objects><PathSpring name="cord"><path>
<Scholz2015GeometryPath name="p"/></path>
<resting_length>1</resting_length><stiffness>1</stiffness></PathSpring></objects></ForceSet>"""
    system = read(tmp_path, pendulum(inside=ANGLE, more=path))
    assert system.paths == () and "this kind of path is not read" in str(system.notes[0])


def test_a_loop_that_ends_on_ground(tmp_path):
    joint = """<PinJoint name="own"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
<socket_child_frame>/ground</socket_child_frame></PinJoint></objects></JointSet>"""
    text = pendulum(inside=ANGLE).replace("</objects></JointSet>", joint)
    with pytest.raises(
        cd.errors.DescriptionError, match="PinJoint 'own': joins rod to ground, and rod is already attached"
    ):
        read(tmp_path, text)


MUSCLE = """<ForceSet name="forceset"><objects><{kind} name="m"><GeometryPath name="path"><PathPointSet>
<objects><PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>.1 .2 0</location>
</PathPoint><PathPoint name="p2"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0 -.3 0
</location></PathPoint></objects></PathPointSet></GeometryPath><pennation_angle_at_optimal>.3
</pennation_angle_at_optimal>{more}</{kind}></objects></ForceSet>"""


def test_the_greatest_pennation_angle(tmp_path):
    """A slack muscle's fiber stops there."""
    text = MUSCLE.format(
        kind="Thelen2003Muscle",
        more="<maximum_pennation_angle>0.9"
        "</maximum_pennation_angle><tendon_slack_length>2</tendon_slack_length>",
    )
    system = read(tmp_path, pendulum(inside=ANGLE, more=text), strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # it is slack
        z = system.muscles.equilibrium([0.3])
    at = system.state_variables.index("m.fiber_length")
    assert z[at] == pytest.approx(0.1 * np.sin(0.3) / np.sin(0.9), rel=1e-9)
    with pytest.raises(cd.errors.DescriptionError, match=r"must be below 0\.900 rad, the maximum"):
        cd.muscles.Thelen2003(system.force("m").path, 100.0, 0.1, 0.2, 1.0, maximum_pennation_angle=0.9)
    with pytest.raises(cd.errors.DescriptionError, match="below pi / 2"):
        cd.muscles.Thelen2003(system.force("m").path, 100.0, 0.1, 0.2, 1.0, maximum_pennation_angle=2.0)


def test_no_passive_force(tmp_path):
    text = MUSCLE.format(
        kind="DeGrooteFregly2016Muscle",
        more="<tendon_slack_length>.2</tendon_slack_length>"
        "<ignore_tendon_compliance>true</ignore_tendon_compliance>"
        "<ignore_passive_fiber_force>true</ignore_passive_fiber_force>",
    )
    system = read(tmp_path, pendulum(inside=ANGLE, more=text), strict=True)
    motion = cd.Table(np.arange(5) / 10, ["angle"], np.full((5, 1), 0.3), ["rad"])
    analysis = cd.muscle_analysis(system, motion, cd.Table(motion.time, ["m"], np.ones((5, 1))))
    assert analysis["passive_fiber_force"]["m"].max() == 0.0


def test_a_mirrored_ellipsoid(tmp_path):
    """As models have it whose left side was made from the right one."""
    joint = """<coordinates><Coordinate name="x"/><Coordinate name="y"/><Coordinate name="z"/></coordinates>
<radii_x_y_z>-0.1 0.2 0.3</radii_x_y_z>"""
    system = read(tmp_path, pendulum(joint="EllipsoidJoint", inside=joint))
    assert "a radius is negative" in str(system.notes[0])
    q = np.array([0.3, -0.4, 0.5])
    X = system.body_pose(q, "rod")
    turn = rotation_from_euler(np.array([0.0, 0.0, 0.2]), "xyz")
    R = rotation_from_euler(q, "xyz")
    expected = np.array([0, 1, 0]) + turn @ (np.array([-0.1, 0.2, 0.3]) * R[:, 2] - R @ (0, 0.1, 0))
    np.testing.assert_allclose(X.p, expected, atol=1e-15)
    with pytest.raises(cd.errors.DescriptionError, match="above 0"):
        cd.Ellipsoid((-1.0, 1.0, 1.0))
    with pytest.raises(cd.errors.DescriptionError, match="not both"):
        cd.Ellipsoid((-1.0, 1.0, 1.0), normal=True, mirrored=True)


def test_names_of_files_that_are_too_long(tmp_path):
    body = f"<attached_geometry><Mesh name='m'><mesh_file>{'9' * 400}</mesh_file></Mesh></attached_geometry>"
    assert "is not the name of a file" in str(read(tmp_path, pendulum(inside=ANGLE, body=body)).notes[0])


def test_a_warning_names_the_line_that_reads(tmp_path):
    path = tmp_path / "odd.osim"
    path.write_text(
        '<OpenSimDocument Version="40000"><Model name="x"><ForceSet><objects>'
        '<Foo name="f"/></objects></ForceSet></Model></OpenSimDocument>'
    )
    with pytest.warns(UserWarning, match="Foo") as found:
        cd.read_osim(path)
    assert found[0].filename == __file__
    with pytest.raises(cd.errors.ArgumentError, match="no argument coupler=; did you mean couplers="):
        cd.read_osim(path, coupler="joints")


OFF = """<components><PhysicalOffsetFrame name="off"><socket_parent>/bodyset/rod</socket_parent>
<translation>0.1 -0.3 0.2</translation><orientation>0.4 -0.3 0.7</orientation></PhysicalOffsetFrame>
</components><ForceSet name="forceset"><objects>{}</objects></ForceSet>"""
LINE = "<LinearFunction><coefficients>{} {}</coefficients></LinearFunction>"
THREE = '<FunctionSet name="{}Functions"><objects>{}</objects></FunctionSet>'
GIVEN = "".join(
    THREE.format(what, "".join(LINE.format(*pair) for pair in pairs))
    for what, pairs in (
        ("force", ((1, 2), (-3, 9), (2, 1))),
        ("point", ((0, 0.1), (0.1, -0.2), (0, 0.05))),
        ("torque", ((0, 1), (0.5, 0), (0, -1))),
    )
)
PUSH = (
    """<PrescribedForce name="given"><socket_frame>/off</socket_frame><forceIsGlobal>{}</forceIsGlobal>
<pointIsGlobal>{}</pointIsGlobal>"""
    + GIVEN
    + "</PrescribedForce>"
)
MOVING = "".join(
    f"<{axis}_location>{function}</{axis}_location><socket_{axis}_coordinate>"
    f"/jointset/hinge/angle</socket_{axis}_coordinate>"
    for axis, function in (
        ("x", "<SimmSpline><x>-2 -1 0.5 1 2</x><y>0.1 0.2 0.05 0 -0.1</y></SimmSpline>"),
        ("y", LINE.format(0.1, 0.05)),
        ("z", "<Constant><value>0.07</value></Constant>"),
    )
)
CORD = f"""<PathSpring name="cord"><GeometryPath name="path"><PathPointSet><objects><PathPoint name="a">
<socket_parent_frame>/ground</socket_parent_frame><location>0.3 1.1 0</location></PathPoint>
<MovingPathPoint name="b"><socket_parent_frame>/off</socket_parent_frame>{MOVING}</MovingPathPoint></objects>
</PathPointSet></GeometryPath><resting_length>0.2</resting_length><stiffness>90</stiffness>
<dissipation>0.1</dissipation></PathSpring>"""


@pytest.mark.parametrize(
    ("force", "udot"),
    [
        (PUSH.format("false", "false"), (-7.563266060192735, -11.65197032184385)),
        (PUSH.format("true", "false"), (-1.841303792336321, -5.5038385321209855)),
        (PUSH.format("false", "true"), (-17.811757914485455, -23.967759648450503)),
        (CORD, (-1.8570027631376884, -7.504082300409185)),
    ],
)
def test_forces_and_moving_points_on_turned_frames(tmp_path, force, udot):
    system = read(tmp_path, pendulum(inside=ANGLE, more=OFF.format(force)), strict=True)
    for q, u, expected in ((0.3, 0.2, udot[0]), (0.67, 0.5, udot[1])):
        assert system.state(q=[q], u=[u]).udot[0] == pytest.approx(expected, abs=1e-12)


def test_a_function_that_is_given_as_text(tmp_path):
    f = function_in(
        tmp_path,
        "<ExpressionBasedFunction><expression>5+sin(3*t)*t^2</expression>"
        "<variables>t</variables></ExpressionBasedFunction>",
    )
    assert f(0.7) == pytest.approx(5 + np.sin(2.1) * 0.49, abs=1e-15)


def test_what_is_drawn_beside_bodies(tmp_path):
    """Geometry among a model's components is on the frame of its socket; what is wrong with it is noted."""
    text = """<components><Brick name="b"><socket_frame>/bodyset/rod</socket_frame><half_lengths>0.1 0.2 0.3
</half_lengths></Brick><Cylinder name="c"><socket_frame>/bodyset/rod</socket_frame></Cylinder></components>"""
    system = read(tmp_path, pendulum(inside=ANGLE, more=text))
    (box,) = system.geometry
    assert (box.name, box.body) == ("b", "rod")
    (note,) = system.notes
    assert "Cylinder 'c': is not drawn" in str(note) and "<radius> is missing" in str(note)


def test_a_coupler_with_a_constant(tmp_path):
    """It holds the coordinate that it gives; OpenSim 4.6 holds the other one."""
    names = "".join(f"<Coordinate name='{name}'/>" for name in ("x", "y"))
    text = pendulum(
        inside=f"<coordinates>{names}</coordinates>",
        joint="UniversalJoint",
        more="""
<ConstraintSet name="c"><objects><CoordinateCouplerConstraint name="couple"><coupled_coordinates_function>
<Constant><value>0.4</value></Constant></coupled_coordinates_function><independent_coordinate_names>x
</independent_coordinate_names><dependent_coordinate_name>y</dependent_coordinate_name>
</CoordinateCouplerConstraint></objects></ConstraintSet>""",
    )
    system = read(tmp_path, text)
    assert "OpenSim 4.6 holds 'x' at zero instead" in str(system.notes[0])
    q, u = system.project([0.3, 0.1], [0.2, 0.5])
    np.testing.assert_allclose((*q, *u), (0.3, 0.4, 0.2, 0.0), atol=1e-9)


def test_the_second_joint_of_a_name_has_its_own_frames(tmp_path):
    """OpenSim calls it hinge_0; its frame "rod_offset" is not that of the first."""
    more = """<WeldJoint name="hinge"><socket_parent_frame>rod_offset</socket_parent_frame>
      <socket_child_frame>tip_offset</socket_child_frame><frames>
      <PhysicalOffsetFrame name="rod_offset"><socket_parent>/bodyset/rod</socket_parent>
        <translation>0 -0.55 0</translation></PhysicalOffsetFrame>
      <PhysicalOffsetFrame name="tip_offset"><socket_parent>/bodyset/tip</socket_parent></PhysicalOffsetFrame>
      </frames></WeldJoint></objects></JointSet>"""
    text = pendulum(inside="<coordinates><Coordinate name='angle'/></coordinates>")
    tip = (
        "<Body name='tip'><mass>1</mass><mass_center>0 0 0</mass_center><inertia>1 1 1 0 0 0</inertia>"
        "</Body></objects></BodySet>"
    )
    path = tmp_path / "two.osim"
    path.write_text(text.replace("</objects></JointSet>", more).replace("</objects></BodySet>", tip))
    system = cd.read_osim(path)
    # rod: M is 0.1 above its origin, F is turned by 0.2 about z
    assert system.body_pose([-0.2], "tip").p == pytest.approx([0, 1 - 0.1 - 0.55, 0], abs=1e-15)


def test_names_of_geometry_are_written_as_opensim_takes_them(tmp_path):
    system = cd.System()
    for name in ("/bodyset/tibia/bone", "bone", "a b*c"):
        system.add_geometry("ground", cd.shapes.Sphere(0.1), name=name)
    cd.write_osim(system, tmp_path / "bones.osim")
    assert re.findall('<Sphere name="(.*?)"', (tmp_path / "bones.osim").read_text()) == [
        "bone",
        "bone_0",
        "a_b_c",
    ]


def test_a_muscle_whose_activation_stays(tmp_path):
    path = cd.paths.Path([("ground", (0, 0.4, 0)), ("rod", (0.05, 0, 0))])
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1))
    system.add_force(
        "m",
        cd.muscles.Schutte1993(
            path,
            max_isometric_force=100.0,
            optimal_fiber_length=0.1,
            tendon_slack_length=0.25,
            activation1=0.0,
            activation2=0.0,
        ),
    )
    assert system.zdot([0.1], [0.0], inputs=[0.9])[system.state_variables.index("m.activation")] == 0


def test_translations_along_axes_in_one_plane() -> None:
    """p = a4 f4 + a5 f5 + a6 f6, by hand."""
    axes = [*np.eye(3), np.array((1.0, 0, 0)), np.array((0, 1.0, 0)), np.array((0.6, 0.8, 0))]
    laws = [None, None, None, *((cd.functions.Linear((slope,), 0.5), ("a",)) for slope in (1.0, 2.0, 3.0))]
    system = cd.System()
    system.add_body("b", mobilizer=_spatial(("a",), axes, laws), mass=1, inertia=(1, 1, 1))
    f = np.array([1.0, 2.0, 3.0]) * 0.7 + 0.5
    p = system.body_pose([0.7], "b").p
    np.testing.assert_allclose(p, [f[0] + 0.6 * f[2], f[1] + 0.8 * f[2], 0], rtol=0, atol=1e-15)  # rounding
