"""What cannot be is refused in words that help."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.fit.test_assemble import arm

G = cd.goals


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: G.Station("upper", (0, 0), (0, 0, 0)), cd.errors.ShapeError, "three finite numbers"),
        (lambda: G.Station("upper", (0, np.nan, 0), (0, 0, 0)), cd.errors.ShapeError, "three finite numbers"),
        (lambda: G.Station("upper", (0, 0, 0), (0, 0)), cd.errors.ShapeError, r"shape \(2,\).*\(T, 3\)"),
        (lambda: G.Station("upper", (0, 0, 0), np.zeros((2, 5, 3))), cd.errors.ShapeError, r"\(T, 3\)"),
        (lambda: G.Station("upper", (0, 0, 0), np.zeros((0, 3))), cd.errors.ShapeError, "no frames"),
        (lambda: G.Station("upper", (0, 0, 0), (0, np.inf, 0)), cd.errors.ShapeError, "infinite"),
        (lambda: G.Station("upper", (0, 0, 0), "here"), cd.errors.ShapeError, "expected real numbers"),
        (lambda: G.Station("upper", (0, 0, 0), (0, 0, 0), weight=-1), cd.errors.ShapeError, "zero or more"),
        (
            lambda: G.Station("upper", (0, 0, 0), (0, 0, 0), weight=np.ones((2, 2))),
            cd.errors.ShapeError,
            "one per frame",
        ),
        (lambda: G.Station(3, (0, 0, 0), (0, 0, 0)), cd.errors.DescriptionError, "a body or its name"),
        (lambda: G.Orientation("upper", np.ones((3, 3))), cd.errors.ShapeError, "no rotation"),
        (lambda: G.Orientation("upper", np.diag([1, 1, -1.0])), cd.errors.ShapeError, "reflection"),
        (
            lambda: G.Distance("upper", (0, 0, 0), "lower", (0, 0, 0), -0.1),
            cd.errors.ShapeError,
            "zero or more",
        ),
        (lambda: G.Coordinate("", 0.1), cd.errors.DescriptionError, "expected a name"),
    ],
)
def test_goals(make, error, words):
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("goal", "error", "words"),
    [
        (G.Station("uper", (0, 0, 0), (0, 0, 0)), cd.errors.UnknownNameError, "did you mean 'upper'"),
        (G.Station("ground", (0, 0, 0), (0, 0, 0)), cd.errors.DescriptionError, "does not move"),
        (G.Orientation("ground", np.eye(3)), cd.errors.DescriptionError, "does not move"),
        (
            G.Distance("upper", (0, 0, 0), "upper", (0, 0, 1), 0.1),
            cd.errors.DescriptionError,
            "never changes",
        ),
        (G.Coordinate("elbo", 0.1), cd.errors.UnknownNameError, "did you mean 'elbow'"),
        (G.Station("upper", (0, 0, 0), np.zeros((4, 3))), cd.errors.ShapeError, "assemble_frames"),
        (G.Station("upper", (0, 0, 0), (0, np.nan, 0)), cd.errors.ShapeError, "NaN; leave the goal out"),
        ("elbow", cd.errors.DescriptionError, "cd.goals.Station"),
    ],
)
def test_assemble(goal, error, words):
    system = arm()
    with pytest.raises(error, match=words):
        cd.assemble(system, system.state(), [goal])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"accuracy": 0.0}, cd.errors.DescriptionError, "between 1e-12 and 0.1"),
        ({"accuracy": np.nan}, cd.errors.DescriptionError, "between 1e-12 and 0.1"),
        ({"locked": ["elbo"]}, cd.errors.UnknownNameError, "did you mean 'elbow'"),
        ({"limits": {"elbo": (0, 1)}}, cd.errors.UnknownNameError, "did you mean 'elbow'"),
        ({"limits": {"elbow": (1, 0)}}, cd.errors.DescriptionError, "low < high"),
        ({"limits": {"elbow": ("a", "b")}}, cd.errors.DescriptionError, "low < high"),
        ({"limits": [(0, 1)]}, cd.errors.DescriptionError, "a mapping such as"),
        ({"accuracy": "high"}, cd.errors.DescriptionError, "from 1e-12 to 0.1"),
    ],
)
def test_options(options, error, words):
    system = arm()
    with pytest.raises(error, match=words):
        cd.assemble(system, system.state(), G.Coordinate("elbow", 0.1), **options)


def test_other_systems_and_nothing_to_move():
    one, other = arm(), arm()
    with pytest.raises(cd.errors.DescriptionError, match="another system"):
        cd.assemble(one, other.state())
    for call in (
        cd.assemble,
        cd.relax,
        lambda system, state: cd.assemble_frames(system, state, G.Coordinate("elbow", [0.1])),
    ):
        for nothing in (None, [0.0, 0.0]):
            with pytest.raises(cd.errors.DescriptionError, match="expected a State"):
                call(one, nothing)
        with pytest.raises(cd.errors.DescriptionError, match=r"a cd\.System first"):
            call(one.state(), one)
    rigid = cd.System()
    rigid.add_body("rock", mobilizer=cd.Weld(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="nothing moves"):
        cd.assemble(rigid, rigid.state())
    ball = cd.System()
    ball.add_body("ball", mobilizer=cd.Ball(), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="no speed of its own"):
        cd.assemble(ball, ball.state(), G.Orientation("ball", np.eye(3)), limits={"ball_qx": (0, 1)})


@pytest.mark.parametrize(
    ("goals", "t", "error", "words"),
    [
        ([], [0.0], cd.errors.DescriptionError, "no goals"),
        ([G.Coordinate("elbow", 0.1)], None, cd.errors.DescriptionError, "how many frames"),
        (
            [G.Coordinate("elbow", np.zeros(3)), G.Coordinate("shoulder", np.zeros(4))],
            None,
            cd.errors.ShapeError,
            "elbow 3, shoulder 4",
        ),
        ([G.Coordinate("elbow", np.zeros(3))], [0.0, 1.0], cd.errors.ShapeError, "elbow 3, t 2"),
        (
            [G.Coordinate("elbow", np.zeros(3), weight=np.ones(2))],
            None,
            cd.errors.ShapeError,
            "different numbers of frames",
        ),
        ([G.Coordinate("elbow", np.zeros(3))], [0.0, np.nan, 1.0], cd.errors.ShapeError, "finite"),
        ([G.Coordinate("elbow", np.full(3, np.nan))], None, cd.errors.ShapeError, "all are NaN or zero"),
        ([G.Coordinate("elbow", np.zeros(2))], ["a", "b"], cd.errors.ShapeError, "t must be finite numbers"),
        (
            {"elbow": np.zeros(3)},
            None,
            cd.errors.DescriptionError,
            r"assemble_frames: goals are "
            r"cd\.goals\.Station.*'elbow'",
        ),
        ("elbow", None, cd.errors.DescriptionError, "got 'elbow'"),
        (None, None, cd.errors.DescriptionError, "got None"),
    ],
)
def test_frames(goals, t, error, words):
    system = arm()
    with pytest.raises(error, match=words):
        cd.assemble_frames(system, system.state(), goals, t=t)


def test_pictures_of_unknown_names():
    system = arm()
    frames = cd.assemble_frames(system, system.state(), G.Coordinate("shoulder", [0.1, 0.2], name="mark"))
    with pytest.raises(cd.errors.UnknownNameError, match="did you mean 'elbow'"):
        frames.plot("elbo")


def test_speeds_need_time():
    system = arm()
    frames = cd.assemble_frames(system, system.state(), G.Coordinate("elbow", [0.1, 0.2]), t=[1.0, 1.0])
    with pytest.raises(cd.errors.ShapeError, match="times increase"):
        frames.speeds()
