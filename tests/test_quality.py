"""Quality: the table that results bring with them."""

import pickle

import numpy as np
import pytest

import condyle as cd
from condyle.quality import Check, Quality, Verdict


def table(*values):
    return Quality(
        lambda: [
            Check(f"force {k}", x, "N", 10.0, 50.0, "t = 1 s", "is a load missing?")
            for k, x in enumerate(values)
        ],
        "study",
    )


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0, "ok"),
        (10, "ok"),
        (10.1, "check"),
        (50, "check"),
        (50.1, "fail"),
        (np.inf, "fail"),
        (np.nan, "fail"),
    ],
)
def test_verdicts(value, verdict):
    assert table(value).verdict == table(value)[0].verdict == verdict


def test_the_worst_row_is_the_farthest_above_its_guideline():
    quality = table(1, 70, 20, 60)
    assert quality.worst is quality["force 1"] and quality.verdict is Verdict.FAIL
    assert (quality + [Check("moment", 30, "N m", 1.0)]).worst.what == "moment"
    assert Quality().worst is None and Quality().verdict == "note" and not Quality().summary
    assert Quality([Check("frames", 3)]).verdict == "note"


def test_check_raises_and_one_warning_names_the_worst():
    table(20).check()
    table(20).warn()
    with pytest.raises(cd.errors.QualityError) as caught:
        table(60, 70).check()
    assert str(caught.value) == (
        "study: force 1: 70 N (t = 1 s), above the guideline of 10 N: is a load missing? (and 1 more)"
    )
    assert caught.value.quality.worst.value == 70
    with pytest.warns(cd.errors.QualityWarning, match="force 0: 60 N") as told:
        table(60, 20).warn()
    assert len(told) == 1


def test_numbers_on_both_sides_of_a_guideline_look_different():
    """Not "2 cm, above the guideline of 2 cm"."""
    assert str(Check("RMS", 2.0004, "cm", 2.0)) == "RMS: 2.0004 cm, above the guideline of 2 cm"
    assert str(Check("RMS", 2.0, "cm", 2.0)) == "RMS: 2 cm, guideline 2 cm"
    assert str(Check("force", 1613.4, "N", 40.3)).startswith("force: 1613 N, above")


def test_rows_are_made_once_when_they_are_looked_at_and_go_into_pickles():
    made = []
    quality = Quality(lambda: made.append(1) or [Check("force", 3.0, "N", 2.0)])
    assert not made
    assert pickle.loads(pickle.dumps(quality)).checks == quality.checks and len(made) == 1


def test_tables_show_what_is_above_a_guideline():
    result = cd.Table([0, 1], ["knee"], [[1], [2]], ["N m"], quality=table(60))
    assert "quality fail: force 0 60 N, guideline 10 N" in repr(result)
    assert "<summary>quality</summary>" in result._repr_html_()
    assert "fail: force 0: is a load missing?" in result.quality._repr_html_()
    with pytest.raises(cd.errors.QualityError):
        result.check()
    assert "quality" not in repr(cd.Table([0, 1], ["knee"], [[1], [2]], ["N m"], quality=table(5)))
    assert not cd.Table([0], ["knee"], [[1]]).check().quality.checks


def test_pandas():
    pytest.importorskip("pandas")
    frame = table(5, 60).to_pandas()
    assert frame["verdict"].tolist() == ["ok", "fail"] and frame["guideline"].tolist() == [10, 10]
