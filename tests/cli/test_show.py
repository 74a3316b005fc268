"""`condyle show`: a page of a model, or of a motion file."""

from __future__ import annotations

from pathlib import Path

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
