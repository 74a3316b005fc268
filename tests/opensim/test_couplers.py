"""read_osim(couplers="joints"): the same motion, forces and lengths as with couplers as constraints; what
stays a constraint, and why; written back."""

import re
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_process import OpenSimProcess
from condyle.errors import DescriptionError
from tests.opensim.files import model, reference
from tests.opensim.live import about_files

# Constraints are solved through multipliers, which lose some digits more.
SAME = 1e-9


def both(path):
    """A model twice: couplers as joints, and as constraints."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cd.read_osim(path, couplers="joints"), cd.read_osim(path)


def full(s, c, q):
    """Coordinates of the second model at those of the first."""
    out = np.zeros(c.nq)
    for name, x in zip(s.coordinates, q, strict=True):
        out[c.coordinates.index(name)] = x
    for b in s.bodies:
        if isinstance(b.mobilizer, cd.Coupled):
            for name, x in zip(b.mobilizer.own, b.mobilizer.coupled(q[b.q]), strict=True):
                out[c.coordinates.index(name)] = x
    return out


def rates(s, c, q):
    """C of u_c = C u, shape (nu of c, nu): differences of order 4, exact but for rounding where splines are
    cubic."""
    h, at = 1e-3, lambda e, k: full(s, c, q + k * 1e-3 * e)
    return np.stack(
        [(8 * (at(e, 1) - at(e, -1)) - at(e, 2) + at(e, -2)) / (12 * h) for e in np.eye(s.nu)], axis=1
    )


def near(a, b, tolerance=SAME):
    assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


def compare(s, c, q, u):
    """Accelerations, masses and generalized forces of both; C."""
    keep, C, Q = [c.coordinates.index(name) for name in s.coordinates], rates(s, c, q), full(s, c, q)
    U = C @ u
    udot, other = s.forward_dynamics(q, u, locked=()), c.forward_dynamics(Q, U, locked=())
    near(udot, other[keep])
    near(s.mass_matrix(q), C.T @ c.mass_matrix(Q) @ C)
    # what the knee needs has the patella's share
    near(s.inverse_dynamics(q, u, 2 * udot), C.T @ c.inverse_dynamics(Q, U, other + C @ udot), 1e-8)
    return np.abs(udot - other[keep]).max() / np.abs(udot).max()


def test_rajagopal(tmp_path, monkeypatch, evidence):
    """The skeleton: patellae that follow the knees."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    monkeypatch.setenv("CONDYLE_LAYOUT", "unrolled")
    text = reference("opensim/Rajagopal/Rajagopal2016.osim").read_text()
    bare = re.sub(r"(?s)<ForceSet.*?</ForceSet>|<FrameGeometry.*?</FrameGeometry>", "", text)
    (tmp_path / "bare.osim").write_text(bare)
    s, c = both(tmp_path / "bare.osim")
    assert not s.constraints and set(c.coordinates) - set(s.coordinates) == {
        "knee_angle_r_beta",
        "knee_angle_l_beta",
    }
    assert [s.body(f"patella_{side}").follows.name for side in "rl"] == ["tibia_r", "tibia_l"]
    rng = np.random.default_rng(0)
    q, u = s.defaults()[0] + rng.uniform(0, 0.3, s.nq), rng.normal(size=s.nu)
    evidence(
        "accelerations of Rajagopal's model: couplers as joints against constraints, relative",
        compare(s, c, q, u),
        SAME,
    )


def test_leg39():
    """A knee whose translations follow its angle, a patella on the tibia that follows it too; muscles."""
    s, c = both(reference("opensim/Leg39/leg39.osim"))
    assert not s.constraints and len(c.constraints) == 5 and s.nu == c.nu - 5
    rng = np.random.default_rng(1)
    q, u = s.defaults()[0] + rng.uniform(-0.1, 0.1, s.nq), rng.normal(size=s.nu)
    compare(s, c, q, u)
    Q = full(s, c, q)
    near(s.path_lengths(q), c.path_lengths(Q), 1e-14)
    near(s.moment_arms(q), c.moment_arms(Q)[:, [c.coordinates.index(x) for x in s.coordinates]])
    markers = cd.read_markers(reference("opensim/Leg39/leg39_swing_short.trc"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        own, other = cd.inverse_kinematics(s, markers), cd.inverse_kinematics(c, markers)
    for name in s.coordinates:
        near(own.motion[name], other.motion[name], 1e-6)  # of where a search ends


def test_wrist():
    """Chains of bodies that follow one of two coordinates; one is needed by a path point, and stays."""
    s, c = both(reference("opensim/WristModel/wrist.osim"))
    assert s.constraints == ("auxprfem-auxprrud_coord_con",)
    (note,) = (n for n in s.notes if "remains a constraint" in n.effect)
    assert "ConditionalPathPoint" in note.effect and note.line > 0
    q = s.defaults()[0] + 0.1
    C = rates(s, c, q)
    near(s.mass_matrix(q), C.T @ c.mass_matrix(full(s, c, q)) @ C)


def body(name):
    return (
        f"<Body name='{name}'><mass>1</mass><mass_center>0 -.2 .1</mass_center><inertia>.1 .1 .1 0 0 0"
        "</inertia></Body>"
    )


def joint(name, parent, child, tag="PinJoint", more="", coordinates=None):
    listed = "".join(f"<Coordinate name='{q}'>{more}</Coordinate>" for q in coordinates or (name,))
    return f"""<{tag} name='{name}_joint'><socket_parent_frame>{name}_p</socket_parent_frame>
      <socket_child_frame>{name}_c</socket_child_frame><coordinates>{listed}</coordinates><frames>
      <PhysicalOffsetFrame name='{name}_p'><socket_parent>{parent}</socket_parent><translation>0 -.4 0
      </translation></PhysicalOffsetFrame>
      <PhysicalOffsetFrame name='{name}_c'><socket_parent>/bodyset/{child}</socket_parent>
      </PhysicalOffsetFrame></frames></{tag}>"""


def coupler(name, of, gives, slope=0.5, enforced="true"):
    return f"""<CoordinateCouplerConstraint name='{name}'><isEnforced>{enforced}</isEnforced>
      <coupled_coordinates_function><LinearFunction><coefficients>{slope} 0.1</coefficients></LinearFunction>
      </coupled_coordinates_function><independent_coordinate_names>{of}</independent_coordinate_names>
      <dependent_coordinate_name>{gives}</dependent_coordinate_name></CoordinateCouplerConstraint>"""


def chain(couplers, c="", order="abc", more="", b_tag="PinJoint", b=("b",)):
    """Three bodies one after the other, with coordinates a, b, c."""
    joints = {
        "a": joint("a", "/ground", "A"),
        "b": joint("b", "/bodyset/A", "B", b_tag, coordinates=b),
        "c": joint("c", "/bodyset/B", "C", more=c),
    }
    return model(f"""<BodySet name='bodyset'><objects>{body("A")}{body("B")}{body("C")}</objects></BodySet>
<JointSet name='jointset'><objects>{"".join(joints[x] for x in order)}</objects></JointSet>
<ConstraintSet name='constraintset'><objects>{couplers}</objects></ConstraintSet>{more}""")


def read(tmp_path, text, way="joints"):
    (tmp_path / "small.osim").write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cd.read_osim(tmp_path / "small.osim", couplers=way)


@pytest.mark.parametrize(
    ("couplers", "follower", "leader"),
    [
        (coupler("k", "a", "c"), "C", "A"),  # over a joint between them
        (coupler("k", "b", "c"), "C", "B"),
        # the scapula follows the humerus, which it carries: the first of them has the coordinate
        (coupler("k", "c", "a"), "C", "A"),
    ],
)
def test_any_body_may_follow_any(tmp_path, monkeypatch, couplers, follower, leader):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    s, c = (read(tmp_path, chain(couplers), way) for way in ("joints", "constraints"))
    assert s.body(follower).follows.name == leader and not s.constraints and s.notes == ()
    q, u = np.array([0.3, -0.4]), np.array([1.0, -2.0])
    compare(s, c, q, u)
    cd.write_osim(s, tmp_path / "again.osim")
    again, other = both(tmp_path / "again.osim")
    assert again.coordinates == s.coordinates and set(other.coordinates) == {"a", "b", "c"}
    near(again.mass_matrix(q), s.mass_matrix(q), 1e-14)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (chain(coupler("k", "a", "c"), c="<locked>true</locked>"), "'c' is locked"),
        (chain(coupler("k", "a", "c") + coupler("l", "b", "c")), "another constraint gives 'c'"),
        (chain(coupler("k", "a", "c") + coupler("l", "c", "b")), "needs the coordinate 'c'"),
        (
            chain(
                coupler("k", "a", "c"),
                more="""<ForceSet><objects><CoordinateActuator name='motor'><coordinate>c
     </coordinate></CoordinateActuator></objects></ForceSet>""",
            ),
            "'motor' needs the coordinate 'c'",
        ),
        (chain(coupler("k", "x", "c"), b_tag="BallJoint", b=("x", "y", "z")), "not the rates"),
        (chain(coupler("k", "a", "x"), b_tag="UniversalJoint", b=("x", "y")), "has coordinates of its own"),
        (chain(coupler("k", "a b", "c").replace("0.5 0.1", "0.5 0.2 0.1")), "follows several joints"),
    ],
)
def test_what_stays_a_constraint(tmp_path, text, words):
    s = read(tmp_path, text)
    assert any("remains a constraint" in n.effect and words in n.effect for n in s.notes)
    assert "k" in s.constraints


def test_within_a_joint(tmp_path, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    text = chain(coupler("k", "x", "y"), b_tag="UniversalJoint", b=("x", "y"))
    s, c = read(tmp_path, text), read(tmp_path, text, "constraints")
    assert s.coordinates == ("a", "x", "c") and not s.constraints and s.body("B").follows is None
    compare(s, c, np.array([0.3, -0.4, 0.1]), np.array([1.0, -2.0, 0.5]))


def test_what_is_not_enforced_stays_so(tmp_path):
    s = read(tmp_path, chain(coupler("k", "a", "c", enforced="false")))
    assert s.coordinates == ("a", "b", "c") and s.constraints == ("k",) and not s.notes


def test_other_words_are_refused(tmp_path):
    with pytest.raises(DescriptionError, match="'constraints' or 'joints', got 'joint'"):
        read(tmp_path, chain(""), "joint")


@pytest.mark.peers
def test_opensim_loads_what_was_read_as_joints(tmp_path):
    if find_spec("opensim") is None:
        pytest.skip("opensim is not installed (extra: peers)")
    s, c = both(reference("opensim/Leg6Dof9Musc/leg6dof9musc.osim"))
    cd.write_osim(s, tmp_path / "again.osim")
    opensim = OpenSimProcess(None, about_files)
    q = s.defaults()[0] + 0.05
    Q = full(s, c, q)
    told = {"coordinates": {name: (float(x), 0.0) for name, x in zip(c.coordinates, Q, strict=True)}}
    (answer,) = opensim.ask("states", str(tmp_path / "again.osim"), [told])
    for b in s.bodies:
        for mine, theirs in zip(s.body_pose(q, b.name), answer["poses"][b.name], strict=True):
            near(mine, np.array(theirs))
