"""`condyle show`: a page of a model, or of a motion file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import condyle as cd
from tests.cli.process import condyle_here
from tests.process import output


def test_show(tmp_path: Path) -> None:
    arm = cd.models.arm26()
    t = np.linspace(0, 1, 11)
    motion = cd.Table(t, arm.coordinates, np.stack([0 * t, t], axis=1), ["rad", "rad"])
    motion.save(tmp_path / "elbow.sto")
    said = output("-m", "condyle", "show", "arm26", "elbow.sto", "--radians", "--no-open", cwd=tmp_path)
    assert "elbow.html" in said and "11 frames" in said
    text = (tmp_path / "elbow.html").read_text(encoding="utf-8")
    assert "<title>arm26 moves as in elbow.sto</title>" in text and "BIClong" in text
    result = condyle_here("show", "arm26", "-o", "elbow.html", "--no-open", cwd=tmp_path)
    assert result.returncode == 1 and "--force" in result.stderr


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from condyle.cli.show import show

    monkeypatch.chdir(tmp_path)
    show("arm26", None, None, None, False, False)
    show("arm26", None, None, None, False, False)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["arm26-2.html", "arm26.html"]


def test_all_that_a_trial_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """Markers, loads, colors, a second motion; a picture and a movie in place of a page."""
    from condyle.cli.show import show

    monkeypatch.chdir(tmp_path)
    arm = cd.models.arm26()
    t = np.linspace(0, 1, 6)
    for name, much in (("slow", 0.5), ("quick", 1.0)):
        cd.Table(t, arm.coordinates, np.stack([0 * t, much * t], 1), ["rad", "rad"]).save(f"{name}.sto")
    cd.Table(t, arm.muscles, np.full((6, 6), 0.3)).with_units(degrees=False).save("activation.sto")
    beside = {"color": Path("activation.sto"), "compare": [Path("slow.sto")]}
    show("arm26", Path("quick.sto"), None, False, False, False, beside)
    text = Path("quick.html").read_text(encoding="utf-8")
    assert '"name":"slow"' in text and "BIClong.activation" in text
    monkeypatch.setattr("condyle.viewer.pictures.chromium", lambda: None)  # drawn by matplotlib
    moves = {"picture": Path("arm.png"), "movie": Path("arm.gif"), "view": "side"}
    show("arm26", Path("quick.sto"), None, False, False, False, {}, **moves)  # type: ignore[arg-type]
    assert "arm.png: " in capsys.readouterr().out
    assert Path("arm.gif").stat().st_size > 1000 and not Path("quick-2.html").exists()
    with pytest.raises(cd.errors.CondyleError, match=r"--picture 'arm\.png': exists already"):
        show("arm26", Path("quick.sto"), None, False, False, False, {}, **moves)  # type: ignore[arg-type]
    with pytest.raises(cd.errors.CondyleError, match="--compare, --movie: needs a motion"):
        show("arm26", None, None, None, True, False, beside, movie=Path("arm.gif"))


def test_a_walk_with_markers_and_loads(tmp_path: Path) -> None:
    """The options of the command, on what `condyle example` writes."""
    output("-m", "condyle", "example", "walk", cwd=tmp_path)
    folder = tmp_path / "walk"
    files = ["generic.osim", "truth.mot", "--markers", "walk.trc", "--loads", "ground_reactions.xml"]
    said = output("-m", "condyle", "show", *files, "--no-open", "-o", "page.html", cwd=folder)
    assert "page.html" in said
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert "markers.rms_error" in text and "load on" in text
