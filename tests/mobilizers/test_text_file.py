"""Text files of mobilizers: read back equal, to the last digit and to the same machine code; everything else
refused by name."""

import json
import re

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import Mobilizer
from tests.mobilizers.every import BENT, EVERY, LOOP, SURFACE, frames

KNOTS = np.linspace(-2, 1, 7)
SECTIONS = np.sin(KNOTS) / 3
PITCH = cd.Parameter("pitch", 0.1)
KNEE = cd.FunctionBased(
    ("knee",),
    (cd.functions.Polynomial((0, 0.1)), None, cd.functions.Linear(1)),
    (cd.functions.SimmSpline(KNOTS, SECTIONS), cd.Spline(KNOTS, SECTIONS, degree=5), 0.1),
    axes=("z", (1, 2, 3), "x"),
    units=("rad",),
    domain=(-np.inf, 1.0),
)
CURVE = cd.SplineCurve(frames(9), domain=(-1.9, 0.2), coordinate="knee", unit="rad")
HARD = cd.SplineCurve(
    frames(8), 5, knots=np.cumsum(np.r_[0, 0, 0, 0, 0, np.full(3, 1 / 3), 0.1, 0, 0, 0, 0]), metric=0.3
)
PLAIN = set(map(type, EVERY.values())) - {
    cd.FunctionBased,
    cd.Custom,
    type(CURVE.reversed()),
    type(cd.compose(cd.Pin(), cd.Pin())),
}
SOME = cd.FunctionBased(
    ("hip", "knee"),
    ((cd.functions.Linear(1), "hip"), None, (cd.functions.Sine(), "knee")),
    (
        (cd.functions.Scaled(cd.functions.SimmSpline(KNOTS, SECTIONS), 1.1), "knee"),
        None,
        (cd.functions.Linear((0.1, 0.2)), ("knee", "hip")),
    ),
)
SAVED = {
    "functions of some coordinates": SOME,
    "curve": CURVE,
    "order 5, own knots and metric": HARD,
    "mirrored": cd.SplineCurve(frames(7), ends="mirrored"),
    "closed": cd.SplineCurve(frames(11, LOOP), 6, True, domain=(0, 2 * np.pi), unit="rad"),
    "closed, not from a knot on": cd.SplineCurve.natural(frames(11, LOOP), 5, True, domain=(0, 2)),
    "functions": KNEE,
    "reversed": CURVE.reversed(),
    "composed": cd.compose(CURVE, cd.Pin("x").reversed(), cd.Slider()),
    "surface in time": cd.SplineSurface(
        SURFACE, modes=[(SURFACE, cd.functions.Sine(0.1)), (SURFACE, PITCH)], axes=BENT
    ),
    "parameter": cd.Screw(PITCH, axis=(1, 2, 2)),
    **{name: m for name, m in EVERY.items() if type(m) in PLAIN and not m.uses_time},
}


@pytest.mark.parametrize("name", SAVED)
def test_reads_back_equal(tmp_path, name):
    mobilizer = SAVED[name]
    mobilizer.save(tmp_path / "joint.json")
    again = cd.read_mobilizer(tmp_path / "joint.json")
    assert again == mobilizer
    assert again.description() == mobilizer.description()  # the key of the machine code
    assert (again.units, again.speed_units, again.domains) == (
        mobilizer.units,
        mobilizer.speed_units,
        mobilizer.domains,
    )
    assert getattr(again, "domain", None) == getattr(mobilizer, "domain", None)
    assert again.named_by_user == mobilizer.named_by_user
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "joint.json").read_bytes()


def test_a_person_can_read_it(tmp_path):
    CURVE.save(tmp_path / "knee.json")
    text = (tmp_path / "knee.json").read_text()
    assert text.startswith(
        '{\n "condyle mobilizer": 1,\n "units": "m, rad; coordinates as stated",\n '
        '"coordinates": {"knee": "rad"}'
    )
    assert max(map(len, text.splitlines())) <= 110
    found = json.loads(text)["mobilizer"]
    assert (found["class"], found["order"], found["unit"]) == ("SplineCurve", 4, "rad")
    assert found["frames"]["Transforms"][3]["p"] == frames(9)[1][3].tolist()  # every digit
    again = cd.read_mobilizer(tmp_path / "knee.json")
    assert again.metric == CURVE.metric and np.array_equal(again.knots, CURVE.knots)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda s: s[: len(s) // 2], r"line \d+, column \d+: .*cut off"),
        (lambda s: "", "line 1, column 1: .*cut off"),
        (
            lambda s: s.replace('"condyle mobilizer": 1', '"condyle mobilizer": 2'),
            "it is of version 2, .* reads version 1",
        ),
        (lambda s: "{}", "it has no entry 'condyle mobilizer'"),
        (
            lambda s: s.replace("SplineCurve", "SplineCurvy"),
            "unknown class 'SplineCurvy'; did you mean 'SplineCurve'",
        ),
        (lambda s: s.replace('"order": 4', '"order": NaN'), "it has the number NaN"),
        (lambda s: s.replace('"order": 4', '"order": -Infinity'), "it has the number -Infinity"),
        (
            lambda s: s.replace('"order": 4', '"order": 3'),
            "mobilizer: SplineCurve: order must be a whole number from 4",
        ),
        (
            lambda s: s.replace('"order": 4', '"orders": 4'),
            "there is no argument orders=; did you mean order=",
        ),
        (lambda s: s.replace('"order": 4', '"order": 4, "order": 4'), "'order' occurs twice"),
        (lambda s: s.replace('"p": [', '"p": ["a", ', 1), "frames"),
        (lambda s: s.replace('"p": [', '"p": [9, ', 1), "frames"),
        (lambda s: re.sub(r'"R": \[\s*\[', '"R": [[9, ', s, count=1), "frames"),
        (lambda s: re.sub(r'"R": \[\s*\[[^,]*,', '"R": [[2,', s, count=1), "frames: R is not a rotation"),
    ],
)
def test_files_that_cannot_be_right(tmp_path, spoil, message):
    file = tmp_path / "knee.json"
    CURVE.save(file)
    file.write_text(spoil(file.read_text()))
    with pytest.raises(cd.errors.CondyleError, match=message) as error:
        cd.read_mobilizer(file)
    assert "knee.json" in str(error.value)


def test_what_cannot_be_written_is_named(tmp_path):
    class Mine(Mobilizer):
        coordinate_names = speed_names = ("a",)
        units, speed_units = ("rad",), ("rad/s",)

    for mobilizer, message in (
        (cd.FunctionBased(("a",), (None, np.sin, None)), "FunctionBased.angles[1] is the Python function"),
        (
            cd.compose(cd.Pin(), cd.Custom(("a",), lambda a: (np.eye(3), (a, 0, 0)))),
            "Composition.b: Custom has a pose that is a Python function",
        ),
        (EVERY["SplineSurface-time"], "SplineSurface.modes[0][1] is a Python function of t"),
        (Mine(), "Mine is a class of your own"),
        (cd.Screw(2 * PITCH), "Screw.pitch is computed from Parameters"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=re.escape(message)):
            mobilizer.save(tmp_path / "joint.json")
    assert not list(tmp_path.iterdir())
    for path, message in (("joint.txt", "must end in .json"), ("nowhere/joint.json", "there is no folder")):
        with pytest.raises(cd.errors.DescriptionError, match=message):
            CURVE.save(tmp_path / path)
    with pytest.raises(FileNotFoundError):
        cd.read_mobilizer(tmp_path / "joint.json")
