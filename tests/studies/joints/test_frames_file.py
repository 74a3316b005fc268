"""Files of frames: every documented form reads to the same frames; what is written reads back to the last
digit; errors name line and column."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import condyle as cd
from condyle.studies.joints.measured_frames import MeasuredFrames
from tests.studies.joints.test_frames import ANGLES, N, knee

TIME = np.arange(N) / 100


def write(path, head, columns, separator=",", before=""):
    rows = [separator.join(map(str, row)) for row in np.column_stack(columns).tolist()]
    path.write_text("\n".join([*([before] if before else []), separator.join(head), *rows, ""]))
    return path


def test_every_form_reads_to_the_same_frames(tmp_path):
    R, p = knee()
    quaternion = np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=1)
    quaternion[5:9] *= -1
    zxy = Rotation.from_matrix(R).as_euler("ZXY", degrees=True)
    files = [
        write(
            tmp_path / "a.csv",
            ["time [s]", "q [rad]", "x [mm]", "y [mm]", "z [mm]", "qw", "qx", "qy", "qz"],
            [TIME, ANGLES, 1e3 * p, quaternion],
        ),
        write(
            tmp_path / "b.tsv",
            [
                "Z [m]",
                "Y [m]",
                "X [m]",
                "q knee [deg]",
                "T [ms]",
                *(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),
            ],
            [p[:, ::-1], np.degrees(ANGLES), 1e3 * TIME, R.reshape(N, 9)],
            "\t",
        ),
        write(
            tmp_path / "c.csv",
            ["time", "q", "tx", "ty", "tz", "rz [deg]", "rx [deg]", "ry [deg]"],
            [TIME, ANGLES, p, zxy],
            ";",
            "# sequence = zxy",
        ),
    ]
    comma = tmp_path / "c.csv"
    comma.write_text(comma.read_text().replace(".", ","))  # decimals as half of Europe writes them
    for file in files:
        frames = cd.read_frames(file)
        np.testing.assert_allclose(frames.R, R, atol=1e-15)  # rounding of angles and quaternions
        np.testing.assert_allclose(frames.p, p, atol=1e-16)
        np.testing.assert_allclose(frames.q, ANGLES, atol=1e-15)
        np.testing.assert_allclose(frames.time, TIME, atol=1e-17)
    assert cd.read_frames(tmp_path / "b.tsv").coordinates == ("knee",)
    assert cd.read_frames(tmp_path / "b.tsv").units == ("rad",)


def test_what_is_written_reads_back_to_the_last_digit(tmp_path):
    R, p = knee()
    R = cd.read_frames(
        write(
            tmp_path / "a.csv",
            ["x", "y", "z", *(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))],
            [p, R.reshape(N, 9)],
        )
    ).R
    q = np.column_stack([ANGLES, np.sin(ANGLES)])
    for frames in (
        MeasuredFrames(cd.Transform(R, p)),
        MeasuredFrames(cd.Transform(R, p), ANGLES, TIME, ("knee",), ("rad",)),
        MeasuredFrames(cd.Transform(R, p), q, None, ("flexion", "tilt"), ("rad", "1")),
    ):
        frames.save(tmp_path / "again.csv")
        assert cd.read_frames(tmp_path / "again.csv") == frames
    with pytest.raises(cd.errors.DescriptionError, match=r"must end in \.csv"):
        frames.save(tmp_path / "again.xlsx")
    with pytest.raises(cd.errors.DescriptionError, match="there is no folder"):
        frames.save(tmp_path / "nowhere" / "again.csv")


GOOD = "x [m],y [m],z [m],qw,qx,qy,qz\n0,0,0,1,0,0,0\n0,0,.1,1,0,0,0\n"
EULER = GOOD.replace("qw,qx,qy,qz", "rx [rad],ry [rad],rz [rad]").replace("1,0,0,0", "0,0,0.5")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no titles"),
        (GOOD.splitlines()[0], "no titles"),
        ("1,2,3\n1,2,3\n", "line 1: the first row has no titles"),
        (GOOD.replace(".1", "a"), "line 3, column 'z': 'a' is no number"),
        (GOOD.replace("0,0,.1,", "0,.1,"), "line 3: 6 numbers, but 7 columns"),
        (GOOD.replace("y [m]", "u [m]"), "positions x, y, z: the column y is missing"),
        (GOOD.replace("qw,qx,qy,qz", "a,b,c,d"), "the rotation is one of .* got none"),
        (GOOD.replace(",qy", ",q y"), "the quaternion: the column qy is missing"),
        (GOOD.replace("y [m]", "x [m]"), "line 1: columns occur twice: x"),
        (
            GOOD.replace("x [m]", "x [in]"),
            r"column 'x': the unit \[in\] is not known here; it is one of m, cm, "
            r"mm",
        ),
        (GOOD.replace(".1,1,", ".1,.5,"), r"line 3: the quaternion .* has length 0\.5"),
        (
            GOOD.replace("x [m]", "x[m]").replace("\n0,", "\n400,"),
            "line 3 is 400 m from F: are they in millimeters",
        ),
        (EULER, "angles rx, ry, rz need the order of their rotations"),
        (
            "# sequence = zxy\n" + EULER.replace("0.5", "95"),
            r"line 3, column 'rz': the angle 95 rad .* Write rz "
            r"\[deg\]",
        ),
        ("time," + GOOD.replace("\n0", "\n1,0"), "line 3: time 1 s is that of line 2 too"),
        (GOOD.replace(",0,0,0\n", ",,0,0\n"), "no row is whole"),
    ],
)
def test_errors_name_line_and_column(tmp_path, text, message):
    (tmp_path / "knee.csv").write_text(text)
    with pytest.raises(cd.errors.DescriptionError, match=f"knee.csv.*{message}"):
        cd.read_frames(tmp_path / "knee.csv")


def test_lenient_with_a_warning(tmp_path):
    file = tmp_path / "knee.csv"

    def read(text, message):
        file.write_text(text)
        with pytest.warns(UserWarning, match=message):
            return cd.read_frames(file, sequence="zxy" if "rx" in text else None)

    assert read(GOOD.replace(" [m]", "").replace("\n0,", "\n400,"), r"no unit.*taken as mm").p[0, 0] == 0.4
    assert len(read(GOOD + "0,0,NaN,1,0,0,0\n", "1 of 3 rows have a gap and are left out: line 4")) == 2
    frames = read(
        "time," + GOOD.replace("\n0,0,0,", "\n2,0,0,0,").replace("\n0,0,.1", "\n1,0,0,.1"),
        "line 3: time 1 s follows 2 s; rows were sorted",
    )
    assert frames.time.tolist() == [1, 2] and frames.source.tolist() == [1, 0]
    assert len(read(GOOD.replace("qz", "qz,error").replace("0,0,0\n", "0,0,0,1\n"), "not used: error")) == 2
    assert read(EULER.replace(" [rad]", ""), "no unit: taken as rad").R[0, 0, 0] == pytest.approx(np.cos(0.5))
    assert read(EULER.replace(" [rad]", "").replace("0.5", "60"), "too large for rad: taken as deg").R[
        0, 0, 0
    ] == pytest.approx(0.5)
    file.write_text(GOOD.replace("qz", "qz,flexion [deg]").replace("0,0,0\n", "0,0,0,30\n"))
    assert cd.read_frames(file, "flexion").q[0] == pytest.approx(np.pi / 6)
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'flexion'"):
        cd.read_frames(file, "flexio")
