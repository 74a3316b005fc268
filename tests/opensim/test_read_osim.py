"""Small models, and what is said of what is not understood."""

import numpy as np
import pytest

import condyle as cd
from tests.opensim.files import model, pendulum

ANGLE = '<coordinates><Coordinate name="angle"><default_value>0.3</default_value></Coordinate></coordinates>'


@pytest.fixture
def read(tmp_path):
    def read(text, **options):
        path = tmp_path / "small.osim"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return cd.read_osim(path, **options)

    return read


def test_a_pendulum(read):
    system = read(pendulum(inside=ANGLE))
    assert system.coordinates == ("angle",)
    assert [b.name for b in system.bodies] == ["rod"]
    assert system.notes == ()
    assert system.about == {"name": "small"}
    X = system.body_pose(system.defaults()[0], "rod")
    turn = cd.Transform(
        R=[[np.cos(0.5), -np.sin(0.5), 0], [np.sin(0.5), np.cos(0.5), 0], [0, 0, 1]], p=(0, 1, 0)
    )
    expected = turn @ cd.Transform(p=(0, -0.1, 0))
    np.testing.assert_allclose(X.R, expected.R, atol=1e-15)  # rounding of two rotations
    np.testing.assert_allclose(X.p, expected.p, atol=1e-15)


def test_what_is_not_understood_is_noted(read):
    forces = "\n<ForceSet><objects>\n<FluxCompensator name='flux'/></objects></ForceSet>"
    text = pendulum(inside=ANGLE, more=forces, body="<color_of_hair>red</color_of_hair>")
    with pytest.warns(UserWarning, match="FluxCompensator 'flux': is not read: it does not act"):
        system = read(text)
    assert [(n.line, n.element) for n in system.notes] == [
        (6, "color_of_hair of Body 'rod'"),
        (22, "FluxCompensator 'flux'"),
    ]
    with pytest.raises(cd.errors.DescriptionError, match=r"small.osim:22: FluxCompensator 'flux'"):
        read(text, strict=True)
    assert system.copy().notes == system.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "this is not XML"),
        ("<a/>", "expected <OpenSimDocument"),
        ('<OpenSimDocument Version="40600"/>', "is empty"),
        ('<OpenSimDocument Version="4.6"><Model/></OpenSimDocument>', "Version: expected a number"),
        (
            '<OpenSimDocument Version="40600"><ScaleTool/></OpenSimDocument>',
            "expected a Model, got a ScaleTool",
        ),
        ('<OpenSimDocument Version="10900"><Model/></OpenSimDocument>', "older than 10901"),
        (
            '<!DOCTYPE m [<!ENTITY a "aaaa">]><OpenSimDocument Version="40600"><Model>&a;</Model></OpenSimDocument>',
            "declares the entity 'a'",
        ),
        (
            '<!DOCTYPE m SYSTEM "http://nowhere/m.dtd"><OpenSimDocument Version="40600"><Model>&b;</Model>'
            "</OpenSimDocument>",
            "entity 'b' is not known",
        ),
        ("<a>" * 300, "inside each other"),
        (model("<gravity>0 -9.8</gravity>"), "gravity: expected 3 numbers"),
        (model("<gravity>0 -9.8 zero</gravity>"), "expected a number, got 'zero'"),
        (model("<gravity>0 nan 0</gravity>"), "expected finite numbers"),
        (model("<BodySet><objects><Body name='b'/></objects></BodySet>"), "<mass> is missing"),
        (model("<ForceSet file='../secret.xml'/>"), "outside of the model's folder"),
        (model("<ForceSet file='/etc/passwd'/>"), "outside of the model's folder"),
    ],
)
def test_refusals(read, text, message):
    with pytest.raises(cd.errors.DescriptionError, match=message):
        read(text)


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<clamped>true</clamped><default_value>3</default_value><range>0 1</range>", "3 is outside of its"),
        ("<range>1 0</range>", "its range 1 to 0 is empty"),
    ],
)
def test_ranges_that_contradict_are_noted(read, inside, said):
    angle = f"<coordinates><Coordinate name='angle'>{inside}</Coordinate></coordinates>"
    with pytest.warns(UserWarning, match=said):
        system = read(pendulum(inside=angle))
    assert any(said in str(note) for note in system.notes)
