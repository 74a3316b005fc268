"""FunctionBasedPath of files: a length that is a function of coordinates."""

import numpy as np
import pytest

import condyle as cd
from tests.opensim.files import pendulum

LENGTH = "<LinearFunction><coefficients>{} 0.5</coefficients></LinearFunction>"


def file(tmp_path, length="0.03", more="", coordinates="/jointset/hinge/angle"):
    path = tmp_path / "fitted.osim"
    path.write_text(
        pendulum(
            inside="<coordinates><Coordinate name='angle'><range>-1 1</range></Coordinate></coordinates>",
            more=f"""<ForceSet name="forceset"><objects><PathSpring name="cord"><stiffness>100</stiffness>
          <resting_length>0.2</resting_length><dissipation>0</dissipation><path>
          <FunctionBasedPath name="path">
          <coordinate_paths>{coordinates}</coordinate_paths>
          <length_function>{LENGTH.format(length)}</length_function>{more}
          </FunctionBasedPath></path></PathSpring></objects></ForceSet>""",
        )
    )
    return path


def constants(tag, *values):
    return f"<{tag}>" + "".join(f"<Constant><value>{x}</value></Constant>" for x in values) + f"</{tag}>"


def test_length_speed_and_moment_arm(tmp_path):
    system = cd.read_osim(file(tmp_path), strict=True)
    q, u = [0.4], [2.0]
    assert system.path_lengths(q) == pytest.approx([0.512], rel=1e-15)
    assert system.path_speeds(q, u) == pytest.approx([0.06], rel=1e-15)
    assert system.moment_arms(q) == pytest.approx(np.array([[-0.03]]), rel=1e-15)
    cd.write_osim(system, tmp_path / "again.osim")
    assert cd.read_osim(tmp_path / "again.osim", strict=True).force("cord").path == system.force("cord").path


def test_moment_arms_that_are_the_derivatives_need_no_word(tmp_path):
    cd.read_osim(file(tmp_path, more=constants("moment_arm_functions", -0.03)), strict=True)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (constants("moment_arm_functions", -0.04), "are not the derivatives of its length, by up to 0.01 m"),
        (
            "<lengthening_speed_function><LinearFunction><coefficients>0 0.05 0</coefficients></LinearFunction>"
            "</lengthening_speed_function>",
            "is not the rate of its length",
        ),
    ],
)
def test_functions_that_contradict_the_length_are_told_of(tmp_path, more, said):
    with pytest.warns(UserWarning, match=said):
        system = cd.read_osim(file(tmp_path, more=more))
    assert system.moment_arms([0.4]) == pytest.approx(np.array([[-0.03]]), rel=1e-15)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"length": "0.1 0.03"}, "expected a function of 1 variables, got one of 2"),
        ({"more": constants("moment_arm_functions", -0.03, 0)}, "expected 1 moment_arm_functions"),
        ({"coordinates": "/jointset/hinge/angel"}, "there is no coordinate"),
        ({"coordinates": ""}, "expected <length_function> and <coordinate_paths>"),
    ],
)
def test_what_is_not_as_the_format_says_is_refused(tmp_path, given, said):
    with pytest.raises(cd.errors.DescriptionError, match=said):
        cd.read_osim(file(tmp_path, **given))
