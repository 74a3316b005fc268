"""Documents that are not as the format says, and that OpenSim 4.6 loads all the same."""

import pytest

import condyle as cd
from tests.opensim.files import pendulum

ANGLE = "<coordinates><Coordinate name='angle'/></coordinates>"
LINE = '<LinearFunction name="function"><coefficients>1 0</coefficients></LinearFunction>'
PLAIN = pendulum(inside=ANGLE)


def read(tmp_path, text, **options):
    path = tmp_path / "odd.osim"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cd.read_osim(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("<BodySet", "<credits>Smith & Thelen &amp; others</credits><BodySet", 1),
        PLAIN.replace("<BodySet", "<credits>Müller</credits><BodySet", 1).encode("latin-1"),  # says UTF-8
        PLAIN.replace("0 -0.5 0", "(0 -0.5 0)"),
        PLAIN.replace("0 -0.5 0", "~[0,-0.5,0]"),
        PLAIN.replace("<JointSet", "<MarkerSet><groups/></MarkerSet><ForceSet/><JointSet", 1),
        "\ufeff" + PLAIN,
        "<!-- a -- b -->\n" + PLAIN,
    ],
    ids=["ampersand", "latin", "brackets", "Simbody's vector", "sets without objects", "mark", "comment"],
)
def test_read_as_opensim_does(tmp_path, text):
    body = read(tmp_path, text, strict=True).body("rod")
    assert body.mass == 2 and tuple(body.mass_properties.com) == (0, -0.5, 0)


def test_entities_stay_refused(tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match="undefined entity"):
        read(tmp_path, PLAIN.replace("<BodySet", "<credits>A & B &file;</credits><BodySet", 1))


def test_a_body_outside_of_the_body_set(tmp_path):
    text = PLAIN.replace('<BodySet name="bodyset">', "<bodies>").replace("</BodySet>", "</bodies>")
    with pytest.raises(cd.errors.DescriptionError, match="Body 'rod': is neither in the BodySet nor"):
        read(tmp_path, text)


@pytest.mark.filterwarnings("ignore:odd.osim")
def test_what_speaks_of_a_coordinate_that_moves_nothing(tmp_path):
    """Its joint leaves such a coordinate out; what needs it is noted and does not act."""
    axes = "".join(
        f'<TransformAxis name="{n}"><coordinates>{q}</coordinates><axis>{a}</axis>{f}</TransformAxis>'
        for n, q, a, f in (("rotation1", "dead", "0 0 1", ""), ("rotation2", "live", "1 0 0", LINE))
    )
    coordinates = "<coordinates><Coordinate name='dead'/><Coordinate name='live'/></coordinates>"
    coupler = """<ConstraintSet><objects><CoordinateCouplerConstraint name="couple">
<coupled_coordinates_function><LinearFunction><coefficients>2 0</coefficients></LinearFunction>
</coupled_coordinates_function><independent_coordinate_names>live</independent_coordinate_names>
<dependent_coordinate_name>dead</dependent_coordinate_name></CoordinateCouplerConstraint></objects>
</ConstraintSet><ForceSet><objects><CoordinateActuator name="motor"><coordinate>dead</coordinate>
</CoordinateActuator></objects></ForceSet>"""
    system = read(
        tmp_path,
        pendulum("CustomJoint", coupler, f"{coordinates}<SpatialTransform>{axes}</SpatialTransform>"),
    )
    assert system.coordinates == ("live",) and not system.constraints and "motor" not in system.forces
    said = [str(note) for note in system.notes]
    assert sum("'dead' moves nothing, and is left out" in note for note in said) == 2


def test_a_wrap_object_on_a_frame_of_stations(tmp_path):
    """Its pose is that of the frame: turned by 90 degrees about z, at (0.1, 0, 0)."""
    points = {"o": "0.1 0 0", "a": "0.1 1 0", "b": "0.1 0 1"}
    stations = "".join(
        f'<Station name="{n}"><socket_parent_frame>..</socket_parent_frame><location>{p}</location></Station>'
        for n, p in points.items()
    )
    frame = f"""<components>{stations}<StationDefinedFrame name="f">
<socket_point_a>/bodyset/rod/o</socket_point_a><socket_point_b>/bodyset/rod/a</socket_point_b>
<socket_point_c>/bodyset/rod/b</socket_point_c><socket_origin_point>/bodyset/rod/o</socket_origin_point>
<ab_axis>+x</ab_axis><ab_x_ac_axis>-y</ab_x_ac_axis><WrapObjectSet><objects><WrapCylinder name="knob">
<radius>0.02</radius><length>0.1</length><translation>0.3 0 0</translation></WrapCylinder></objects>
</WrapObjectSet></StationDefinedFrame></components>"""
    cord = """<ForceSet><objects><PathSpring name="cord"><GeometryPath><PathPointSet><objects>
<PathPoint name="a"><socket_parent_frame>/ground</socket_parent_frame></PathPoint><PathPoint name="b">
<socket_parent_frame>/bodyset/rod</socket_parent_frame><location>0 1 0</location></PathPoint></objects>
</PathPointSet><PathWrapSet><objects><PathWrap name="w"><wrap_object>knob</wrap_object></PathWrap></objects>
</PathWrapSet></GeometryPath><resting_length>0.2</resting_length><stiffness>9</stiffness>
<dissipation>0</dissipation></PathSpring></objects></ForceSet>"""
    system = read(tmp_path, pendulum(inside=ANGLE, body=frame, more=cord), strict=True)
    (wrap,) = system.force("cord").path.wraps
    assert wrap.body == "rod"
    assert wrap.X_BS.p == pytest.approx((0.1, 0.3, 0), abs=1e-15)
    assert wrap.X_BS.R[:, 0] == pytest.approx((0, 1, 0), abs=1e-15)
