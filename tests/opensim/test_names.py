"""docs/coming-from-opensim.md promises names: each exists, or is an argument that does."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import condyle as cd

PAGE = (Path(__file__).parents[2] / "docs/coming-from-opensim.md").read_text()
NAMES = sorted(set(re.findall(r"`[^`]*?(cd\.[\w.]+)", PAGE)))


@pytest.mark.parametrize("name", NAMES)
def test_names_exist(name):
    found = cd
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    assert found is not None


def test_there_are_many():
    assert len(NAMES) > 60


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (cd.inverse_dynamics, "lowpass"),
        (cd.low_pass, "as_opensim"),
        (cd.muscles.Thelen2003, "tendon"),
        (cd.muscles.Thelen2003, "activation_dynamics"),
        (cd.read_osim, "strict"),
        (cd.Ball, "coordinates"),
    ],
)
def test_arguments_exist(function, argument):
    assert argument in inspect.signature(function).parameters
