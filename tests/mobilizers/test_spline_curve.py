"""SplineCurve against 40 digits, automatic differentiation and SciPy; its ends, its checks."""
import json
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import control_frames, motion_at
from condyle.spatial import exp_so3

DATA = json.loads((Path(__file__).parents[1] / "data" / "spline_joints" / "values.json").read_text())


def frames_of(case):
    vectors = np.array(case["frames"])
    return exp_so3(vectors[:, :3]), vectors[:, 3:]


def numbers(case, at):
    return [np.array(at[name], float) for name in ("R", "p", "s", "ds")]


@pytest.mark.parametrize("case", DATA["curves"], ids=lambda case: case["name"])
def test_values_are_those_of_forty_digits(case, monkeypatch):
    # one case has 179.9 degrees per step
    monkeypatch.setattr(control_frames, "LARGEST_STEP", np.pi)
    curve = cd.SplineCurve(frames_of(case), case["order"], case["closed"], knots=case["knots"])
    for at in case["values"]:
        R, p, s, ds = numbers(case, at)
        u = 0.7
        H, bias = (np.concatenate([R @ x[:3], R @ x[3:]]) for x in (
            s, ds + np.concatenate([np.zeros(3), np.cross(s[:3], s[3:])])))
        ours = motion_at(curve, 0.0, [at["q"]], [u])
        pose, twists = curve.pose(at["q"]), curve.twists(at["q"])
        # a few roundings of numbers of size 1
        for X in (ours, pose):
            np.testing.assert_allclose(X.R, R, rtol=0, atol=1e-14)
            np.testing.assert_allclose(np.ravel(X.p), p, rtol=0, atol=1e-14)
        for name, given, true in (("H", [ours.H_w, ours.H_v], H), ("bias", [ours.bias_w, ours.bias_v],
                                                                   bias * u * u)):
            got = np.concatenate(given).ravel()
            assert np.abs(got - true).max() <= 1e-13 * max(1.0, np.abs(true).max()), name
        for got, true in zip(twists, (s, ds), strict=True):
            assert np.abs(got - true).max() <= 1e-13 * max(1.0, np.abs(true).max())
