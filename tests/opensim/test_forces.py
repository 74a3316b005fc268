"""Each class of force, muscle, path point and wrap object is read to the law that it is, with the file's
numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import condyle as cd
from condyle import forces, muscles, paths
from condyle.laws.described import text
from condyle.opensim import read_osim
from tests.opensim.files import pendulum, reference

PATH = """<GeometryPath name="path"><PathPointSet><objects>
  <PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>.1 .2 0</location>
  </PathPoint>
  <PathPoint name="p2"><socket_parent_frame>/jointset/hinge/rod_offset</socket_parent_frame>
    <location>0 -.3 0</location></PathPoint></objects></PathPointSet></GeometryPath>"""
LINE = paths.Path([("ground", (0.1, 0.2, 0.0)), ("rod", (0.0, 0.1 - 0.3, 0.0))])
FRAMES = "<socket_frame1>/ground</socket_frame1><socket_frame2>/jointset/hinge/rod_offset</socket_frame2>"
THIRDS = "<rotational_damping>1 2 3</rotational_damping><translational_damping>4 5 6</translational_damping>"
Q = "hinge_coord_0"
DEGREE = np.pi / 180
NUMBERS = """<max_isometric_force>700</max_isometric_force><optimal_fiber_length>.12</optimal_fiber_length>
<tendon_slack_length>.25</tendon_slack_length><pennation_angle_at_optimal>.1</pennation_angle_at_optimal>"""
FOUR = (700.0, 0.12, 0.25, 0.1)


def read(tmp_path, force: str, more: str = "", **options) -> cd.System:
    file = tmp_path / "model.osim"
    inside = f'<coordinates><Coordinate name="{Q}"><range>-2 1.5</range></Coordinate></coordinates>'
    held = f'<ForceSet name="forceset"><objects>{force}</objects></ForceSet>{more}'
    file.write_text(pendulum(inside=inside, more=held, **options))
    return read_osim(file, strict=True)


LAWS = {
    "CoordinateLimitForce": (
        f"""<coordinate>{Q}</coordinate><upper_limit>30</upper_limit>
        <upper_stiffness>20</upper_stiffness><lower_limit>-10</lower_limit><lower_stiffness>5
        </lower_stiffness>
        <damping>2</damping><transition>4</transition>""",
        lambda: forces.CoordinateLimitForce(
            Q, -10 * DEGREE, 30 * DEGREE, 5 / DEGREE, 20 / DEGREE, 2 / DEGREE, 4 * DEGREE
        ),
    ),
    "SpringGeneralizedForce": (
        f"""<coordinate>{Q}</coordinate><stiffness>3</stiffness>
        <rest_length>.2</rest_length><viscosity>.4
        </viscosity>""",
        lambda: forces.MobilitySpring(Q, 3.0, 0.2, 0.4),
    ),
    "ExpressionBasedCoordinateForce": (
        f"<coordinate>{Q}</coordinate><expression>-2*q - qdot ^ 3</expression>",
        lambda: forces.MobilityFunction(Q, cd.functions.Formula("-2*q - qdot^3", ("q", "qdot"))),
    ),
    "PointToPointSpring": (
        """<socket_body1>/ground</socket_body1><socket_body2>/bodyset/rod</socket_body2>
        <point1>1 2 3</point1><point2>4 5 6</point2><stiffness>7</stiffness><rest_length>.8</rest_length>""",
        lambda: forces.TwoPointSpring("ground", (1, 2, 3), "rod", (4, 5, 6), 7.0, 0.8),
    ),
    "ExpressionBasedPointToPointForce": (
        """<body1>ground</body1><body2>rod</body2>
        <point1>1 2 3</point1><point2>4 5 6</point2><expression>2/d + ddot</expression>""",
        lambda: forces.TwoPointFunction(
            "ground", (1, 2, 3), "rod", (4, 5, 6), cd.functions.Formula("2/d + ddot", ("d", "ddot"))
        ),
    ),
    "BushingForce": (
        FRAMES
        + THIRDS
        + """<rotational_stiffness>7 8 9</rotational_stiffness>
        <translational_stiffness>10 11 12</translational_stiffness>""",
        lambda: forces.LinearBushing(
            "ground", None, "rod", (0, 0.1, 0), (7, 8, 9, 10, 11, 12), (1, 2, 3, 4, 5, 6)
        ),
    ),
    "FunctionBasedBushingForce": (
        FRAMES
        + THIRDS
        + """<m_y_theta_y_function><LinearFunction>
        <coefficients>3 1</coefficients></LinearFunction></m_y_theta_y_function>""",
        lambda: forces.FunctionBushing(
            "ground",
            None,
            "rod",
            (0, 0.1, 0),
            (None, cd.functions.Linear(3.0, 1.0), None, None, None, None),
            (1, 2, 3, 4, 5, 6),
        ),
    ),
    "ExpressionBasedBushingForce": (
        FRAMES + THIRDS + "<Fz_expression>2*theta_x*delta_z</Fz_expression>",
        lambda: forces.FunctionBushing(
            "ground",
            None,
            "rod",
            (0, 0.1, 0),
            [
                cd.functions.Formula(text, forces.bushing.DEFLECTIONS)
                for text in ("0",) * 5 + ("2*theta_x*delta_z",)
            ],
            (1, 2, 3, 4, 5, 6),
        ),
    ),
    "PathSpring": (
        PATH
        + """<resting_length>.3</resting_length><stiffness>40</stiffness>
        <dissipation>.1</dissipation>""",
        lambda: forces.PathSpring(LINE, 40.0, 0.3, 0.1),
    ),
    "ExpressionBasedPathForce": (
        PATH + "<resting_length>.3</resting_length><expression>5*s^2</expression>",
        lambda: forces.PathFunction(LINE, cd.functions.Formula("5*s^2", ("s", "ldot")), 0.3),
    ),
    "Ligament": (
        PATH + "<resting_length>.3</resting_length><pcsa_force>90</pcsa_force>",
        lambda: forces.Ligament(LINE, 0.3, 90.0),
    ),
    "Blankevoort1991Ligament": (
        PATH
        + """<linear_stiffness>90</linear_stiffness>
        <slack_length>.3</slack_length>""",
        lambda: forces.Blankevoort1991Ligament(LINE, 90.0, 0.3),
    ),
    "PathActuator": (
        PATH + "<optimal_force>90</optimal_force><min_control>0</min_control>",
        lambda: forces.PathActuator(LINE, 90.0, min_control=0.0),
    ),
    "CoordinateActuator": (
        f"""<coordinate>{Q}</coordinate><optimal_force>9</optimal_force>
        <max_control>2</max_control>""",
        lambda: forces.CoordinateActuator(Q, 9.0, max_control=2.0),
    ),
    "ActivationCoordinateActuator": (
        f"""<coordinate>{Q}</coordinate><optimal_force>9</optimal_force>
        <activation_time_constant>.02</activation_time_constant><default_activation>.1
        </default_activation>""",
        lambda: forces.ActivationCoordinateActuator(
            Q, 9.0, activation_time_constant=0.02, default_activation=0.1
        ),
    ),
    "PointActuator": (
        """<body>rod</body><point>1 2 3</point><direction>0 2 0</direction>
        <force_is_global>true</force_is_global><optimal_force>9</optimal_force>""",
        lambda: forces.PointActuator("rod", (1, 2, 3), (0, 1, 0), 9.0, frame="ground"),
    ),
    "TorqueActuator": (
        "<bodyA>rod</bodyA><bodyB>ground</bodyB><axis>0 1 0</axis><optimal_force>9</optimal_force>",
        lambda: forces.TorqueActuator("rod", "ground", (0, 1, 0), 9.0),
    ),
    "PointToPointActuator": (
        """<bodyA>ground</bodyA><bodyB>rod</bodyB><pointA>1 2 3</pointA><pointB>4 5 6
    </pointB>
        <optimal_force>9</optimal_force>""",
        lambda: forces.PointToPointActuator("ground", (1, 2, 3), "rod", (4, 5, 6), 9.0),
    ),
    "PrescribedForce": (
        """<socket_frame>/bodyset/rod</socket_frame><FunctionSet name="forceFunctions">
    <objects>
        <Constant><value>1</value></Constant><LinearFunction><coefficients>2 3</coefficients></LinearFunction>
        <Sine><amplitude>4</amplitude></Sine></objects></FunctionSet>""",
        lambda: forces.ExternalWrench(
            "rod", force=(cd.functions.Constant(1.0), cd.functions.Linear(2.0, 3.0), cd.functions.Sine(4.0))
        ),
    ),
    "Thelen2003Muscle": (
        PATH
        + NUMBERS
        + """<FmaxTendonStrain>.033</FmaxTendonStrain><Flen>1.8</Flen>
        <default_fiber_length>.11</default_fiber_length><max_control>.9</max_control>""",
        lambda: muscles.Thelen2003(
            LINE, *FOUR, FmaxTendonStrain=0.033, Flen=1.8, default_fiber_length=0.11, max_control=0.9
        ),
    ),
    "Millard2012EquilibriumMuscle": (
        PATH
        + NUMBERS
        + """<ignore_tendon_compliance>true
    </ignore_tendon_compliance>
        <FiberForceLengthCurve name="f"><strain_at_one_norm_force>.5</strain_at_one_norm_force>
        </FiberForceLengthCurve>
        <TendonForceLengthCurve name="t"><strain_at_one_norm_force>.1</strain_at_one_norm_force>
        <stiffness_at_one_norm_force>14</stiffness_at_one_norm_force><norm_force_at_toe_end>.6
        </norm_force_at_toe_end>
        <curviness>.4</curviness></TendonForceLengthCurve>""",
        lambda: muscles.Millard2012(
            LINE,
            *FOUR,
            tendon="rigid",
            default_fiber_length=0.1,  # OpenSim's, where a file gives none
            fiber_force_length_curve=muscles.MillardPassiveForceLength(strain=0.5, stiffness=4.0),
            tendon_force_length_curve=muscles.MillardTendonForceLength(0.1, 14.0, 0.6, 0.4),
        ),
    ),
    "DeGrooteFregly2016Muscle": (
        PATH + NUMBERS + "<active_force_width_scale>1.5</active_force_width_scale>",
        lambda: muscles.DeGroote2016(LINE, *FOUR, active_force_width_scale=1.5),
    ),
    "Schutte1993Muscle_Deprecated": (
        PATH + NUMBERS + "<time_scale>.2</time_scale><damping>.05</damping>",
        lambda: muscles.Schutte1993(LINE, *FOUR, 5.0, fiber_damping=0.05),
    ),
    "Delp1990Muscle_Deprecated": (
        PATH + NUMBERS + "<mass>.003</mass>",
        lambda: muscles.Delp1990(LINE, *FOUR, mass=0.003),
    ),
    "RigidTendonMuscle": (
        PATH
        + NUMBERS
        + """<active_force_length_curve><PiecewiseLinearFunction><x>0 1 2</x>
        <y>0 1 0</y></PiecewiseLinearFunction></active_force_length_curve>""",
        None,
    ),
}


@pytest.mark.parametrize("tag", LAWS)
def test_laws(tag, tmp_path):
    written, law = LAWS[tag]
    system = read(tmp_path, f'<{tag} name="one">{written}</{tag}>')
    assert system.forces == ("gravity", "one")
    if law is None:
        assert type(system.force("one")).__name__ == "RigidTendon"
        assert system.force("one").active_force_length(0.5) == pytest.approx(0.5)
        law = lambda: system.force("one")
    other = cd.System()
    other.add_body("rod", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates=(Q,))
    other.add_force("one", law())  # gives it the Input of its name
    assert system.force("one") == other.force("one")
    again = tmp_path / "again.osim"
    cd.write_osim(system, again)
    back, law = read_osim(again, strict=True).force("one"), system.force("one")
    assert type(back) is type(law)
    for f, value in vars(law).items():
        if f.startswith("_"):  # what it found out about itself
            continue
        other = getattr(back, f)
        same = (
            text(value) == text(other)
            if not isinstance(value, float)
            else np.isclose(value, other, rtol=1e-15, atol=0)
        )  # degrees and back
        assert same, (f, value, other)


def test_points_and_wraps(tmp_path):
    points = f"""<GeometryPath name="path"><PathPointSet><objects>
      <PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame><location>.1 .2 0</location>
      </PathPoint>
      <ConditionalPathPoint name="b"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
        <location>0 .1 0</location><socket_coordinate>/jointset/hinge/{Q}</socket_coordinate>
        <range>-1 .5</range></ConditionalPathPoint>
      <MovingPathPoint name="c"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
        <socket_x_coordinate>/jointset/hinge/{Q}</socket_x_coordinate>
        <socket_y_coordinate>/jointset/hinge/{Q}</socket_y_coordinate>
        <socket_z_coordinate>/jointset/hinge/{Q}</socket_z_coordinate>
        <x_location><SimmSpline><x>-1 0 1 2</x><y>.1 .2 .1 .3</y></SimmSpline></x_location>
        <y_location><Constant><value>-.2</value></Constant></y_location>
        <z_location><LinearFunction><coefficients>.1 0</coefficients></LinearFunction></z_location>
        </MovingPathPoint>
      <PathPoint name="d"><socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0 -1 0</location>
      </PathPoint>
      </objects></PathPointSet><PathWrapSet><objects>
      <PathWrap name="w1"><wrap_object>drum</wrap_object><method>hybrid</method><range>2 -1</range></PathWrap>
      <PathWrap name="w2"><wrap_object>off</wrap_object></PathWrap>
      <PathWrap name="w3"><wrap_object>egg</wrap_object></PathWrap>
      <PathWrap name="w4"><wrap_object>ring</wrap_object></PathWrap>
      <PathWrap name="w5"><wrap_object>ball</wrap_object></PathWrap></objects></PathWrapSet></GeometryPath>"""
    body = """<WrapObjectSet name="wrapobjectset"><objects>
      <WrapCylinder name="drum"><xyz_body_rotation>.1 .2 .3</xyz_body_rotation><translation>0 -.1 0
      </translation>
        <quadrant>+x</quadrant><radius>.03</radius><length>.5</length></WrapCylinder>
      <WrapSphere name="off"><active>false</active><radius>.03</radius></WrapSphere>
      <WrapEllipsoid name="egg"><dimensions>.01 .02 .03</dimensions><quadrant>-Y</quadrant></WrapEllipsoid>
      <WrapTorus name="ring"><inner_radius>.01</inner_radius><outer_radius>.04</outer_radius></WrapTorus>
      <WrapSphere name="ball"><radius>.02</radius></WrapSphere></objects></WrapObjectSet>"""
    system = read(tmp_path, f'<PathActuator name="one">{points}</PathActuator>', body=body)
    path = system.force("one").path
    assert path.points == (
        paths.Point("ground", (0.1, 0.2, 0)),
        paths.ConditionalPoint("rod", (0, 0.1, 0), Q, (-1 - 1e-5, 0.5 + 1e-5)),
        paths.MovingPoint(
            "rod",
            (cd.functions.SimmSpline((-1, 0, 1, 2), (0.1, 0.2, 0.1, 0.3)), -0.2, cd.functions.Linear(0.1)),
            Q,
            (-2.0, 1.5),
        ),
        paths.Point("rod", (0, -1, 0)),
    )
    drum, egg, ring, ball = path.wraps
    assert (drum.surface, drum.between) == (paths.Cylinder(0.03, 0.5, quadrant="x"), (1, 3))
    np.testing.assert_allclose(drum.X_BS.p, (0, -0.1, 0))
    assert (egg.surface, egg.between) == (paths.Ellipsoid((0.01, 0.02, 0.03), quadrant="-y"), None)
    assert (ring.surface, ball.surface) == (paths.Torus(0.01, 0.04), paths.Sphere(0.02))


def test_a_range_of_many_turns_is_always(tmp_path):
    force = f"""<PathActuator name="one">{PATH}</PathActuator>""".replace(
        "</PathPoint>",
        f"""</PathPoint>
      <ConditionalPathPoint name="b"><socket_parent_frame>/bodyset/rod</socket_parent_frame>
        <location>0 .1 0</location><socket_coordinate>/jointset/hinge/{Q}</socket_coordinate>
        <range>-999.9 .5</range></ConditionalPathPoint>""",
        1,
    )
    point = read(tmp_path, force).force("one").path.points[1]
    assert point.range == (-np.inf, 0.5 + 1e-5)


def test_a_moving_point_stops_at_its_range():
    """Length and speed: the speed is the rate of the length, beyond the range too."""
    system = cd.System()
    system.add_body("rod", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates=(Q,))
    point = paths.MovingPoint("ground", (cd.functions.Linear(0.3), 0.5, 0.0), Q, (-0.4, 0.6))
    path = paths.Path([("ground", (0, 0, 0)), point, ("rod", (0.2, 0, 0))])
    system.add_force("f", forces.PathActuator(path, 1.0))
    q, h = np.array([-0.7, -0.2, 0.3, 0.9])[:, None], 1e-6
    rate = (system.path_lengths(q + h) - system.path_lengths(q - h)) / (2 * h)
    # differences of order two of lengths of 1 m
    np.testing.assert_allclose(system.path_speeds(q, np.ones_like(q)), rate, atol=1e-9)
    stays = cd.System()
    stays.add_body("rod", mobilizer=cd.Pin(), mass=1.0, inertia=(1, 1, 1), coordinates=(Q,))
    stays.add_force(
        "f",
        forces.PathActuator(
            paths.Path([("ground", (0, 0, 0)), ("ground", (0.18, 0.5, 0)), ("rod", (0.2, 0, 0))]), 1.0
        ),
    )
    np.testing.assert_allclose(system.path_lengths([0.9]), stays.path_lengths([0.9]), rtol=1e-14)


def test_a_contact_mesh_that_is_missing_is_a_note(tmp_path):
    text = """<ElasticFoundationForce name="one">
    <ElasticFoundationForce::ContactParametersSet name="contact_parameters"><objects>
      <ElasticFoundationForce::ContactParameters><geometry>floor foot</geometry><stiffness>1e6</stiffness>
      </ElasticFoundationForce::ContactParameters></objects></ElasticFoundationForce::ContactParametersSet>
      </ElasticFoundationForce>"""
    more = """<ContactGeometrySet name="contactgeometryset"><objects>
      <ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame></ContactHalfSpace>
      <ContactMesh name="foot"><socket_frame>/bodyset/rod</socket_frame><filename>nowhere.obj</filename>
      </ContactMesh></objects></ContactGeometrySet>"""
    with pytest.raises(cd.errors.DescriptionError, match="there is no such file; nothing touches it"):
        read(tmp_path, text, more=more)  # strict
    with pytest.warns(UserWarning, match="it does not act"):
        assert "one" not in read_osim(tmp_path / "model.osim", strict=False).forces


def test_what_does_not_apply_is_there_and_disabled(tmp_path):
    text = f"<coordinate>{Q}</coordinate><optimal_force>9</optimal_force><appliesForce>false</appliesForce>"
    system = read(tmp_path, f'<CoordinateActuator name="one">{text}</CoordinateActuator>')
    assert system.forces == ("gravity", "one")
    assert system.state().disabled == {"one"}
    q, u = system.defaults()
    one = system.forward_dynamics(q, u, inputs={"one": 1.0})
    assert one == system.forward_dynamics(q, u)
    assert one != system.forward_dynamics(q, u, inputs={"one": 1.0}, disabled=())
    cd.write_osim(system, tmp_path / "again.osim")
    assert read_osim(tmp_path / "again.osim").state().disabled == {"one"}


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (
            f'<ExpressionBasedCoordinateForce name="e"><coordinate>{Q}</coordinate><expression>2*qq</expression>'
            "</ExpressionBasedCoordinateForce>",
            "model.osim:.*unknown name 'qq'.*column 3",
        ),
        (
            '<CoordinateActuator name="a"><coordinate>knee</coordinate></CoordinateActuator>',
            "no coordinate 'knee'",
        ),
        (f'<PathSpring name="s">{PATH}</PathSpring>', "<stiffness> is missing"),
        (
            '<PathSpring name="s"><stiffness>1</stiffness><resting_length>1</resting_length></PathSpring>',
            "no path",
        ),
        ('<Millard2012AccelerationMuscle name="m"/>', "Millard2012AccelerationMuscle 'm': is not read"),
        (
            f'<Thelen2003Muscle name="m">{PATH}<pennation_angle_at_optimal>12</pennation_angle_at_optimal>'
            "</Thelen2003Muscle>",
            "is it in degrees",
        ),
    ],
)
def test_refusals(force, words, tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        read(tmp_path, force)


CONTACT = """<ContactGeometrySet name="contactgeometryset"><objects>
  <ContactHalfSpace name="floor"><socket_frame>/ground</socket_frame><location>0 -.1 0</location>
    <orientation>0 0 -1.5707963267948966</orientation></ContactHalfSpace>
  <ContactSphere name="foot"><socket_frame>/bodyset/rod</socket_frame><location>0 -1 0</location>
    <radius>.2</radius></ContactSphere></objects></ContactGeometrySet>"""


def test_contact(tmp_path):
    text = """<HuntCrossleyForce name="one">
    <HuntCrossleyForce::ContactParametersSet name="contact_parameters"><objects>
      <HuntCrossleyForce::ContactParameters><geometry>floor foot</geometry><stiffness>1e6</stiffness>
      <dissipation>.5</dissipation><static_friction>.9</static_friction><dynamic_friction>.6
      </dynamic_friction>
      <viscous_friction>.1</viscous_friction></HuntCrossleyForce::ContactParameters></objects>
      </HuntCrossleyForce::ContactParametersSet><transition_velocity>.1</transition_velocity>
      </HuntCrossleyForce>
      <SmoothSphereHalfSpaceForce name="two"><socket_sphere>/contactgeometryset/foot</socket_sphere>
      <socket_half_space>/contactgeometryset/floor</socket_half_space><stiffness>2e6</stiffness>
      </SmoothSphereHalfSpaceForce>"""
    system = read(tmp_path, text, more=CONTACT)
    contact = cd.contact
    one, two = system.force("one"), system.force("two")
    material = contact.Material(1e6, 0.5, 0.9, 0.6, 0.1, 0.1)
    np.testing.assert_allclose(one.a.normal, (0, 1, 0), atol=1e-15)
    assert one.a.height == pytest.approx(-0.1)
    assert one.b == contact.Sphere("rod", (0, -1, 0), 0.2, material, name="foot")
    assert (two.b, two.radius, two.stiffness, two.hertz_smoothing) == ("rod", 0.2, 2e6, 300.0)
    given = "<transition_velocity>.1</transition_velocity>"
    assert (
        read(tmp_path, text.replace(given, ""), more=CONTACT).force("one").b.material.transition_speed == 0.01
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(tmp_path, "", more=CONTACT)  # surfaces without forces are no surprise


@pytest.mark.parametrize(
    "name",
    [
        "elastic_foundation_icosphere2_on_sphere",
        "elastic_foundation_icosphere1_halfspace",
        "hunt_crossley_sphere_halfspace_two_materials",
        "smooth_sphere_halfspace_params1",
        "hunt_crossley_sphere_sphere_two_materials",
    ],
)
def test_contact_forces_of_files(name):
    """Rows that OpenSim 4.6 printed: force on the ball and torque about its center, at depths and
    velocities."""
    if name.startswith("elastic"):
        pytest.importorskip("trimesh")
    system = read_osim(reference(f"contact/{name}.osim"))
    rows = np.genfromtxt(reference(f"contact/{name}.csv"), delimiter=",", names=True)[::7]
    zero = np.zeros_like(rows["wx"])
    q = np.stack([rows["rx"], rows["ry"], rows["rz"], zero, 0.1 - rows["penetration"], zero], axis=1)
    u = np.stack(
        [rows["wx"], rows["wy"], rows["wz"], rows["vt_x"], -rows["approach_speed"], rows["vt_z"]], axis=1
    )
    none, with_contact = (
        np.asarray(system.inverse_dynamics(q, u, np.zeros_like(u), disabled=off))
        for off in (("gravity", "contact"), ("gravity",))
    )
    ball = next(
        column.partition("force")[0]
        for column in rows.dtype.names
        if column.endswith("forceX") and "ground" not in column and "Half" not in column
    )
    expected = np.stack(
        [rows[f"{ball}{kind}{axis}"] for kind in ("torque", "force") for axis in "XYZ"], axis=1
    )
    # forces of 1e4 N; those of the file have all digits
    np.testing.assert_allclose(none - with_contact, expected, rtol=1e-10, atol=1e-9)
