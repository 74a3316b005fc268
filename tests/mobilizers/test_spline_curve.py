"""SplineCurve against 40 digits, automatic differentiation and SciPy; its ends, its checks."""

import dataclasses
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import condyle as cd
from condyle.mobilizers import frame_splines, motion_at, motion_size
from condyle.spatial import Metric, exp_se3, exp_so3, log_se3
from tests.mobilizers.every import EVERY, LOOP, frames

DATA = json.loads((Path(__file__).parents[1] / "data" / "spline_joints" / "values.json").read_text())


def frames_of(case):
    vectors = np.array(case["frames"])
    return exp_so3(vectors[:, :3]), vectors[:, 3:]


def numbers(case, at):
    return [np.array(at[name], float) for name in ("R", "p", "s", "ds")]


@pytest.mark.parametrize("case", DATA["curves"], ids=lambda case: case["name"])
def test_values_are_those_of_forty_digits(case, monkeypatch, evidence):
    # one case has 179.9 degrees per step
    monkeypatch.setattr(frame_splines, "LARGEST_STEP", np.pi)
    curve = cd.SplineCurve(frames_of(case), case["order"], case["closed"], knots=case["knots"])
    poses, rates = [], []
    for at in case["values"]:
        R, p, s, ds = numbers(case, at)
        u = 0.7
        H, bias = (
            np.concatenate([R @ x[:3], R @ x[3:]])
            for x in (s, ds + np.concatenate([np.zeros(3), np.cross(s[:3], s[3:])]))
        )
        ours = motion_at(curve, 0.0, [at["q"]], [u])
        pose, twists = curve.pose(at["q"]), curve.twists(at["q"])
        poses += [np.abs(X.R - R).max() for X in (ours, pose)]
        poses += [np.abs(np.ravel(X.p) - p).max() for X in (ours, pose)]
        for given, true in (
            ([ours.H_w, ours.H_v], H),
            ([ours.bias_w, ours.bias_v], bias * u * u),
            (twists[:1], s),
            (twists[1:], ds),
        ):
            rates.append(np.abs(np.concatenate(given).ravel() - true).max() / max(1.0, np.abs(true).max()))
    # a few roundings of numbers of size 1
    evidence("poses of spline curves against 40 digits [m, 1]", max(poses), 1e-14, headline="spline poses")
    evidence(
        "H and bias of spline curves against 40 digits, relative", max(rates), 1e-13, headline="spline rates"
    )


# ---- Ends, periods ----

CURVES = {
    "open": cd.SplineCurve(frames(7)),
    "order 5": cd.SplineCurve(frames(9), 5, domain=(-1, 2)),
    "order 6": cd.SplineCurve(frames(9), 6),
    "mirrored": cd.SplineCurve(frames(6), ends="mirrored"),
    "closed": cd.SplineCurve(frames(9, LOOP), closed=True),
    "closed 5": cd.SplineCurve(frames(8, LOOP), 5, True, knots=[0, 1, 1.5, 2, 3, 4, 5, 5.5, 6]),
}


@pytest.mark.parametrize("name", CURVES)
def test_pose_jacobian_and_hessian_are_continuous_everywhere(name):
    """At knots, at the ends of the domain, and where a period closes."""
    curve = CURVES[name]
    low, high = curve.spline.edges
    at, h = np.append(low, high[-1]), 1e-9
    below, above = curve.pose(at - h), curve.pose(at + h)
    s, ds = zip(curve.twists(at - h), curve.twists(at + h), strict=True)
    # Each changes by its slope times 2 h; slopes of the third derivative reach 1e5 per unit^3.
    for a, b, slope in ((below.R, above.R, 1e2), (below.p, above.p, 1e2), (*s, 1e3), (*ds, 1e5)):
        np.testing.assert_allclose(a, b, rtol=0, atol=2 * h * slope)


def test_beyond_its_ends_a_curve_goes_on_with_jacobian_and_hessian_of_the_end():
    curve = CURVES["open"]
    for end, x in ((0.0, -0.3), (1.0, 0.4)):
        s, ds = curve.twists(end)
        X = curve.pose(end) @ exp_se3(s * x) @ exp_se3(ds * x * x / 2)
        for R, p in (X, motion_at(curve, 0.0, [end + x], [0.0])[:2]):
            np.testing.assert_allclose(R, curve.pose(end + x).R, rtol=0, atol=1e-14)
            np.testing.assert_allclose(np.ravel(p), curve.pose(end + x).p, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", CURVES)
def test_clamped_and_mirrored_curves_begin_and_end_at_their_frames(name):
    curve = CURVES[name]
    if curve.closed:
        q = curve.samples()
        for periods in (-3, 1, 5):  # q + n L rounds by 1e-15
            np.testing.assert_allclose(
                curve.pose(q + periods * curve.spline.period).R, curve.pose(q).R, atol=1e-13
            )
        return
    ends, (R, p) = curve.pose(np.array(curve.domain)), curve.frames
    np.testing.assert_allclose(ends.R, R[[0, -1]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(ends.p, p[[0, -1]], rtol=0, atol=1e-15)
    if curve.ends == "mirrored":  # and a plain screw follows
        assert np.abs(curve.twists(np.array(curve.domain))[1]).max() < 1e-12


def test_a_curve_takes_the_frames_that_a_user_has():
    R, p = frames(7)
    X = cd.Transform(R, p)
    same = [
        cd.SplineCurve(given)
        for given in (
            X,
            (R, p),
            (R.tolist(), p.tolist()),
            X.matrix,
            [cd.Transform(a, b) for a, b in zip(R, p, strict=True)],
        )
    ]
    assert all(curve == same[0] and hash(curve) == hash(same[0]) for curve in same)
    assert same[0] != cd.SplineCurve(X, order=5) and same[0] != cd.SplineCurve(X, domain=(0, 2))
    assert same[0] != cd.SplineCurve(X, unit="deg") and same[0] != cd.SplineCurve(X, ends="mirrored")
    assert same[0] == pickle.loads(pickle.dumps(same[0])) == dataclasses.replace(same[0])
    assert same[0] == cd.SplineCurve(X, metric=0.3)  # the motion is the same
    other = p.copy()
    other[3, 1] += 1e-15  # the last digit counts
    assert same[0] != cd.SplineCurve((R, other))
    assert "7 frames, order 4" in repr(same[0])


def test_the_domain_is_that_of_the_knots():
    """Also where a closed curve has the period of the default, (0, 1); another period may be named."""
    X, t = frames(9, LOOP), np.linspace(5, 6, 10)
    assert cd.SplineCurve(X, closed=True, knots=t).domain == (5.0, 6.0)
    assert cd.SplineCurve(X, closed=True, knots=t, domain=(0, 1)).domain == (0.0, 1.0)
    assert cd.SplineCurve(X, closed=True).domain == (0.0, 1.0)
    with pytest.raises(cd.errors.DescriptionError, match="knots give the domain"):
        cd.SplineCurve(X, knots=np.r_[[5.0] * 3, np.linspace(5, 6, 7), [6.0] * 3], domain=(0, 1))


# ---- What is refused ----


def changed(index, R=None, p=None, n=7):
    a, b = (np.array(x) for x in frames(n))
    if R is not None:
        a[index] = R
    if p is not None:
        b[index] = p
    return a, b


LINE = np.tile(np.eye(3), (7, 1, 1)), np.outer([0, 1, 2, 3, 2.0, 1, 0], (1, 0, 0))
STILL = np.tile(np.eye(3), (7, 1, 1)), np.outer([0, 1, 2, 2, 2, 3, 4.0], (1, 0, 0))
SPIN = exp_so3(np.outer(np.radians(171) * np.arange(6), (0, 0, 1))), np.outer(np.arange(6), (1, 0, 0))
KNOTS = [0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4]


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        (frames(3), {}, "got 3 control frame.* order 4 needs at least 4"),
        (frames(7), {"order": 3}, "order must be a whole number from 4"),
        (frames(7), {"order": 4.5}, "order must be a whole number"),
        (changed(2, p=np.nan), {}, r"frames\[2\] has a number that is not finite"),
        (changed(3, R=np.diag([1, 1, -1.0])), {}, r"frames\[3\].*determinant -1, it is a reflection"),
        (changed(4, R=1.01 * np.eye(3)), {}, r"frames\[4\]: R is not a rotation.*0.0201"),
        ((frames(7)[0], frames(6)[1]), {}, r"expected R of shape \(n, 3, 3\)"),
        (frames(7)[1], {}, "expected a Transform with leading dimension"),
        (cd.Transform(), {}, r"expected R of shape \(n, 3, 3\)"),
        ("knee.csv", {}, "expected a Transform with leading dimension"),
        (SPIN, {}, r"frames\[0\] and the next one are 171.0 degrees apart.*Give frames between"),
        (LINE, {}, "the Jacobian vanishes in the interval from 0.5 to 0.75.* at q = 0.5"),
        (STILL, {}, "the Jacobian vanishes in the interval from 0.25 to 0.5|from 0.5 to 0.75"),
        (frames(7), {"knots": KNOTS[1:]}, r"expected 11 numbers \(frames \+ order\), got shape \(10,\)"),
        (frames(7), {"knots": [*KNOTS[:5], 0.5, *KNOTS[6:]]}, r"must not decrease, but knots\[4\] = 1"),
        (frames(7), {"knots": [*KNOTS[:5], 1, *KNOTS[6:]]}, "the knot 1 occurs 2 times.*at most 1.*twice"),
        (frames(7), {"knots": [*KNOTS[:5], np.nan, *KNOTS[6:]]}, r"knots\[5\] is not finite"),
        (frames(7), {"knots": KNOTS, "domain": (0, 3)}, "knots give the domain .*but domain"),
        (frames(7), {"domain": (1, 1)}, "domain must be two numbers"),
        (frames(7), {"ends": "free"}, "ends must be 'clamped' or 'mirrored'"),
        (frames(7), {"ends": "mirrored", "order": 5}, "mirrored ends are for open curves of order 4"),
        (frames(7), {"metric": -1.0}, "metric: expected a length > 0"),
        (frames(7), {"unit": 3}, "unit must be text"),
        (frames(9, LOOP), {"closed": True, "knots": np.arange(9.0)}, r"expected 10 numbers \(frames \+ 1\)"),
        (
            frames(9, LOOP),
            {"closed": True, "knots": [0, 1, 2, 2, 3, 4, 5, 6, 7, 8]},
            "the knot 2 occurs 2 times",
        ),
        (frames(6), {"ends": "mirrored", "knots": [0, 1, 1, 2, 3, 4]}, "the knot 1 occurs 2 times"),
    ],
)
def test_what_cannot_be_a_curve_is_refused(given, options, words):
    with pytest.raises(cd.errors.DescriptionError, match=words):
        cd.SplineCurve(given, **options)


def test_rotations_of_few_digits_are_mended():
    R, p = frames(7)
    with pytest.warns(UserWarning, match="rotation to a few digits only.*nearest rotations are taken"):
        curve = cd.SplineCurve((R.round(6), p))
    mended = curve.frames.R
    off = np.swapaxes(mended, 1, 2) @ mended - np.eye(3)
    assert np.abs(off).max() < 1e-14 and np.abs(mended - R).max() < 1e-6


# ---- Natural parameterization ----


def knee(a):
    """A path in SE(3) whose pace in a varies."""
    return cd.Transform(
        exp_so3(np.stack([0.075 * a * a, 0.1 * np.sin(2 * a), a], 1)),
        np.stack([0.02 * np.sin(2 * a), -0.4 + 0.02 * np.cos(a), 0.008 * a], 1),
    )


UNEVEN = np.cumsum(np.concatenate([[0], np.random.default_rng(0).uniform(0.2, 1, 11)]))
PATHS = {
    "even": (knee(np.linspace(0, -2, 20)), 4, False),
    "uneven, 1:5": (knee(-2 * UNEVEN / UNEVEN[-1]), 4, False),
    "order 5": (knee(np.linspace(0, -2, 9)), 5, False),
    "closed": (cd.Transform(*frames(12, LOOP)), 4, True),
    "closed, order 5": (cd.Transform(*frames(12, LOOP)), 5, True),
}


@pytest.mark.parametrize("name", PATHS)
def test_natural_curves_pass_through_their_frames_at_a_constant_pace(name):
    X, order, closed = PATHS[name]
    curve = cd.SplineCurve.natural(X, order, closed, metric=0.1, domain="length")
    at = curve.pose(curve.sites)
    np.testing.assert_allclose(at.R, X.R, rtol=0, atol=1e-12)  # the iteration ends at 1e-13
    np.testing.assert_allclose(at.p, X.p, rtol=0, atol=1e-12)
    q = np.linspace(*curve.domain, 2001)
    np.testing.assert_allclose(curve.speed(q), 1.0, rtol=0, atol=5e-3)
    assert curve.units == ("m",) and curve.domain[0] == curve.sites[0] == 0.0
    # an independent arc length: chords of many points
    between = log_se3(curve.pose(q[:-1]).inverse() @ curve.pose(q[1:]))
    assert Metric.of(0.1).norm(between).sum() == pytest.approx(curve.domain[1], rel=2e-3)
    if name == "even":
        tenth = cd.SplineCurve.natural(X, metric=0.1, domain=(2, 12), coordinate="flexion")
        np.testing.assert_allclose(tenth.pose(2 + 10 * q / q[-1]).p, curve.pose(q).p, rtol=0, atol=1e-13)
        assert tenth.units == ("1",) and tenth.coordinate_names == ("flexion",)


def test_a_report_says_how_even_a_curve_is_and_how_it_bends():
    even = cd.SplineCurve.natural(knee(np.linspace(0, -2, 20)))
    clamped = cd.SplineCurve(knee(np.linspace(0, -2, 20)))
    spread = [np.ptp(c.report().speed) / c.report().speed.mean() for c in (even, clamped)]
    assert spread[0] < 0.005 and spread[1] > 1.5  # .84 .. 2.74 of the mean
    assert "curvature [1/m]" in repr(even.report()) and "<table>" in even.report()._repr_html_()
    # a circle of radius 0.5 m, bodies not turned: curvature 2 per meter
    a = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    circle = cd.SplineCurve(
        (np.tile(np.eye(3), (40, 1, 1)), 0.5 * np.stack([np.cos(a), np.sin(a), 0 * a], 1)), closed=True
    )
    # the spline cuts corners by 0.4 %
    np.testing.assert_allclose(circle.report().curvature, 2.0, rtol=0.01)


def corner(step):
    """Around a right angle, frames `step` apart near it."""
    x = np.concatenate([np.linspace(1, 0.1, 4), np.arange(5, 0, -1) * step])
    p = np.concatenate([np.outer(x, (1, 0, 0)), np.zeros((1, 3)), np.outer(x[::-1], (0, 1, 0))])
    return np.tile(np.eye(3), (len(p), 1, 1)), p


def test_dense_control_frames_make_corners_sharp_and_natural_curves_warn_of_them():
    for step in (0.01, 0.001):
        curve = cd.SplineCurve(corner(step))
        p = curve.pose(np.linspace(0, 1, 4001)).p
        assert np.linalg.norm(p, axis=1).min() < 0.4 * step  # a sixth of two frames' distance
        assert np.minimum(abs(p[:, 0]), abs(p[:, 1])).max() < 0.4 * step and p[:, :2].min() > -1e-12
    with pytest.warns(
        UserWarning, match=r"between frames\[\d+\] and the next one.*rises .* above its chord.*asked"
    ):
        cd.SplineCurve.natural(corner(0.01), even=0.5, accuracy=1e-4)


def test_natural_gives_up_on_frames_that_are_too_rough():
    """Noise turns within every step: no number of control frames would do, and not many are made."""
    R, p = frames(80)
    rng = np.random.default_rng(0)
    rough = cd.Transform(exp_so3(rng.normal(0, 0.03, (80, 3))) @ R, p + rng.normal(0, 3e-3, (80, 3)))
    with pytest.warns(UserWarning, match=r"at most 4000 control frames it cannot be.*fit_spline_curve"):
        curve = cd.SplineCurve.natural(rough)
    assert len(curve.frames.p) < 4000
    np.testing.assert_allclose(curve.pose(curve.sites).p, rough.p, rtol=0, atol=1e-12)


def test_natural_refuses_equal_neighbors():
    R, p = (np.repeat(x, [1, 1, 2, 1, 1, 1, 1], axis=0) for x in frames(7))
    with pytest.raises(cd.errors.DescriptionError, match=r"frames\[2\] and the next one are equal"):
        cd.SplineCurve.natural((R, p))


# ---- In systems ----


def test_energy_is_kept(evidence):
    """Ten seconds of every curve, forward and reversed, alone and composed, held by springs inside its
    domain."""
    system = cd.System(gravity=(0, -9.81, 0))
    for name, curve in EVERY.items():
        if "curve" not in name.lower():
            continue
        for joint in (curve, curve.reversed()):
            body = system.add_body(
                f"b{len(system.bodies)}",
                mobilizer=joint,
                mass=1.0,
                com=(0.05, -0.1, 0.03),
                inertia=(0.02, 0.01, 0.03),
            )
            for coordinate in body.coordinates:
                system.add_force(
                    f"on {coordinate.name}", cd.forces.MobilitySpring(coordinate.name, 30.0, 0.5)
                )
    assert len(system.bodies) == 16
    run = cd.simulate(
        system,
        system.state(q=np.full(system.nq, 0.5), u=np.full(system.nu, 0.5)),
        10.0,
        accuracy=1e-10,
        integrator="dormand-prince",
    )
    energy = sum(system.energy(run.q, run.u))
    domains = np.array([d for b in system.bodies for d in b.mobilizer.domains])
    least, most = run.q.min(axis=0), run.q.max(axis=0)
    assert (most - least > 0.01).all() and (least > domains[:, 0]).all() and (most < domains[:, 1]).all()
    evidence(
        "energy of 16 joints along spline curves over 10 s at accuracy 1e-10, relative",
        np.abs(energy - energy[0]).max() / np.abs(energy).max(),
        1e-8,
        headline="spline energy",
    )


def test_the_text_of_a_curve_has_all_its_numbers():
    """Two of a thousand frames that differ in the last digit of one have machine code of their own."""
    R, p = frames(1000)
    other = p.copy()
    other[500, 2] = np.nextafter(other[500, 2], 1)
    a, b = cd.SplineCurve((R, p)), cd.SplineCurve((R, other))
    assert a.description() != b.description() and motion_size(a) == motion_size(cd.SplineCurve(frames(10)))
