"""Pictures of Tables: panels, sides, colors, files."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest

import condyle as cd
from condyle.table.panels import COLORS
from condyle.table.titles import side

matplotlib.use("Agg")
T = np.linspace(0, 1, 11)


@pytest.fixture(autouse=True)
def _closed():
    yield
    matplotlib.pyplot.close("all")


def table(units: dict[str, str], rows: int = 11) -> cd.Table:
    t = T[:rows]
    values = [np.sin(t + k) for k in range(len(units))]
    return cd.Table(t, list(units), np.transpose(values).reshape(rows, -1), list(units.values()))


COORDINATES = {"pelvis_tx": "m", "hip_r": "rad", "hip_l": "rad", "knee_r": "rad", "knee_l": "rad"}
ANGLES = table(COORDINATES)
MOMENTS = table({"pelvis_tx": "N", **dict.fromkeys(list(COORDINATES)[1:], "N m")})
POWERS = table(dict.fromkeys(COORDINATES, "W"))


def oklab(colors, matrix):
    """Colors in OKLab, a space in which distances are about as people see them (0.02 is just seen)."""
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ np.transpose(matrix)
    cones = [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566]]
    cones.append([0.0883024619, 0.2817188376, 0.6299787005])
    lab = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099]]
    lab.append([0.0259040371, 0.7827717662, -0.8086757660])
    return np.cbrt(linear.clip(0, 1) @ np.transpose(cones)) @ np.transpose(lab)


DEUTAN = [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
PROTAN = [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]


@pytest.mark.parametrize(
    ("matrix", "least"),
    [(np.eye(3), 0.15), (DEUTAN, 0.10), (PROTAN, 0.10)],  # of tab10: 0.11, 0.02, 0.007
    ids=["normal", "deuteranopia", "protanopia"],
)
def test_colors_differ_for_all_eyes(matrix, least):
    """Twelve colors, as those see them who lack a kind of cones (Machado 2009)."""
    lab = oklab(COLORS, matrix)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(len(lab), 1)]
    assert len(COLORS) >= 12 and apart.min() > least
    for page in ("#ffffff", "#12181d"):
        assert np.linalg.norm(lab - oklab([page], matrix), axis=1).min() > 0.15


def test_panels_are_of_one_unit_and_people_read_degrees():
    length, angle = ANGLES.plot()
    assert length.get_ylabel() == "length [m]" and angle.get_ylabel() == "angle [deg]"
    assert [w.get_text() for w in angle.get_legend().get_texts()] == ["hip", "knee", "left", "right"]
    assert length.get_title(loc="left") == "pelvis_tx" and length.get_legend() is None
    assert angle.get_xlabel() == "time [s]" and length.get_xlabel() == ""
    lines = {line.get_gid(): line for line in angle.lines}
    np.testing.assert_allclose(lines["curve knee_l"].get_ydata(), np.degrees(ANGLES["knee_l"]))
    assert lines["curve knee_l"].get_linestyle() == "-" and lines["curve knee_r"].get_linestyle() == "--"
    assert lines["curve knee_l"].get_color() == lines["curve knee_r"].get_color()
    one = ANGLES.plot("knee_r", degrees=False)
    assert one.get_ylabel() == "angle [rad]" and one.lines[0].get_linestyle() == "-"


def test_legends_are_off_the_data():
    for width in ("page", "column"):
        axes = ANGLES.plot(width=width)[1]
        axes.figure.canvas.draw()
        data, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
        assert legend.x0 >= data.x1 or legend.y0 >= data.y1
        assert legend.x1 <= axes.figure.bbox.x1 + 1 and legend.y1 <= axes.figure.bbox.y1 + 1
        one = ANGLES.plot("knee_r", "knee_l", width=width)
        one.figure.canvas.draw()
        title = next(text for text in one.get_children() if getattr(text, "get_text", str)() == "knee")
        assert not one.get_legend().get_window_extent().overlaps(title.get_window_extent())


def test_long_names_leave_room_for_curves():
    long = table(
        {f"a_name_that_is_very_long_indeed_and_goes_on_and_on_{k}_still_more": "N" for k in range(3)}
    )
    for width in ("page", "column"):
        axes = long.plot(width=width)
        axes.figure.canvas.draw()
        data, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
        assert data.width > 0.6 * axes.figure.bbox.width and legend.x1 <= axes.figure.bbox.x1


@pytest.mark.parametrize(("count", "panels"), [(1, 1), (12, 1), (13, 2), (80, 10)])
def test_many_columns(count, panels):
    """In one panel no color occurs twice."""
    drawn = np.ravel(table({f"muscle{k}": "N" for k in range(count)}).plot())
    assert len(drawn) == panels and sum(len(axes.lines) for axes in drawn) == count
    for axes in drawn:
        colors = [line.get_color() for line in axes.lines]
        assert len(set(colors)) == len(colors)


def test_gaps_single_points_and_nothing():
    values = np.sin(T)
    values[3:8] = np.nan
    values[5] = 0.5
    axes = cd.Table(T, ["a"], values[:, None]).plot()
    curve, point = axes.lines
    assert np.isnan(curve.get_ydata()[4]) and point.get_data() == (T[5], 0.5)
    assert len(table({"a": "N"}, 1).plot().lines) == 2  # a line, and the point that it goes through
    assert not cd.Table([], ["a"], np.empty((0, 1))).plot().lines[0].get_ydata().size
    cd.Table(T, [], np.empty((11, 0))).plot()
    cd.Table(T, ["a"], np.full((11, 1), np.nan)).plot()


def test_columns_without_units_go_by_what_names_say():
    names = ["r_force_x", "l_force_x", "r_point_x", "l_point_x", "pelvis_tx", "hip"]
    assert [axes.get_ylabel() for axes in table(dict.fromkeys(names, "")).plot()] == [
        "force",
        "point",
        "translation",
        "",
    ]


def test_grids():
    text = "joints x (angle, moment, power)"
    rows = ANGLES.plot(MOMENTS, POWERS, grid=text)
    assert [axes.get_title(loc="left") for axes in rows[:, 0]] == ["hip", "knee", "pelvis_tx"]
    assert [axes.get_ylabel() for axes in rows[1]] == ["angle [deg]", "moment [N m]", "power [W]"]
    assert [axes.get_ylabel() for axes in rows[2]] == ["position [m]", "force [N]", "power [W]"]
    turned = ANGLES.plot(MOMENTS, "knee_r", "knee_l", grid="(angle, moment) x joints")
    assert turned.shape == (2,) and len(turned[0].lines) == 2
    per_mass = MOMENTS.with_units([u + "/kg" for u in MOMENTS.units])
    named = per_mass.rename({name: f"{name}_moment" for name in per_mass.names})  # as OpenSim's files do
    assert ANGLES.plot(named, grid="joints x (angle, moment)")[0, 1].get_ylabel() == "moment [N m/kg]"
    assert len(ANGLES.plot(MOMENTS, grid="joints x moment", compare=[ANGLES, MOMENTS])[0].lines) == 4
    with pytest.raises(cd.errors.DescriptionError, match="no Table has a column of power"):
        ANGLES.plot(MOMENTS, grid=text)
    with pytest.raises(cd.errors.DescriptionError, match=r"expected 'joints x \(angle"):
        ANGLES.plot(grid="3x2")
    with pytest.raises(cd.errors.UnknownNameError, match="quantity of a grid"):
        ANGLES.plot(grid="joints x (angel)")


def test_comparison():
    axes = ANGLES.plot("knee_r", "knee_l", compare=2 * ANGLES, labels=("before", "after"))
    words = [w.get_text() for w in axes.get_legend().get_texts()]
    assert words == ["before", "after", "left", "right"] and len(axes.lines) == 4
    np.testing.assert_allclose(axes.lines[0].get_ydata(), 2 * axes.lines[2].get_ydata())
    many = ANGLES.plot("knee_r", "hip_r", compare=ANGLES)
    assert many.lines[0].get_linewidth() > many.lines[-1].get_linewidth()


@pytest.mark.parametrize("ending", [".pdf", ".svg", ".png"])
def test_files(tmp_path, ending):
    path = tmp_path / f"knee{ending}"
    axes = ANGLES.plot("knee_r", "knee_l", width="column", path=path)
    assert axes.figure.get_figwidth() == 3.5 and not matplotlib.pyplot.get_fignums()
    content = path.read_bytes()
    assert content[:4] in (b"%PDF", b"<?xm", b"\x89PNG")
    if ending == ".svg":
        assert b"angle [deg]</text>" in content


def test_refusals(tmp_path):
    with pytest.raises(cd.errors.DescriptionError, match=r"ends in .pdf"):
        ANGLES.plot(path=tmp_path / "knee.docx")
    with pytest.raises(cd.errors.DescriptionError, match="'column', 'page' or a number"):
        ANGLES.plot(width="wide")
    with pytest.raises(cd.errors.UnknownNameError, match="knee_r"):
        ANGLES.plot("kne_r")
    with pytest.raises(cd.errors.DescriptionError, match="names of columns and Tables"):
        ANGLES.plot(3)
    figure = matplotlib.pyplot.figure()
    other = cd.Table(T, ["soleus"], T[:, None])
    for given, words in (
        ({"width": 89}, r"inches below 50 \(89 mm are 3.5\), got 89"),
        ({"axes": figure}, r"one Axes of matplotlib, got Figure; figure.subplots\(\)"),
        ({"compare": "other"}, "Tables to compare, got 'other'"),
        ({"compare": other}, "that are drawn, pelvis_tx, .*, is in it: it has soleus"),
        ({"compare": ANGLES, "labels": "before"}, "labels: expected two words, .* got 'before'"),
        ({"compare": ANGLES, "labels": ("a", "b", "c")}, "labels: expected two words"),
    ):
        with pytest.raises(cd.errors.DescriptionError, match=words):
            ANGLES.plot(**given)
    with pytest.raises(cd.errors.DescriptionError, match=r"write plot\(\*names\)"):
        ANGLES.plot(["knee_r", "knee_l"])
    with pytest.raises(cd.errors.DescriptionError, match="got DataFrame"):
        ANGLES.plot(ANGLES.to_pandas())


def test_given_axes():
    _, axes = matplotlib.pyplot.subplots()
    assert ANGLES.plot(axes=axes) is axes and len(axes.lines) == 5
    assert "pelvis_tx [m]" in [w.get_text() for w in axes.get_legend().get_texts()]


def test_sides():
    assert side("knee_angle_r") == ("knee_angle", "right") and side("l_force_x") == ("force_x", "left")
    assert side("calcn_r_fx") == ("calcn_fx", "right") and side("LHEE") == ("HEE", "left")
    assert side("pelvis_tilt") == ("pelvis_tilt", "") and side("r") == ("r", "right")
