"""cd.read_urdf, cd.read_mjcf and their writers: against Pinocchio and MuJoCo where they are installed, and
against closed forms and round trips everywhere."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import condyle as cd
from condyle.robots.robot_file import _mesh_moments, resolved
from tests.robots.files import mjcf, urdf

EPS = 1e-10
"""Relative to the largest entry: two recursions over a few bodies, each with rounding of 1e-14 or so."""


def quiet(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def close(a, b):
    scale = max(1.0, float(np.abs(b).max(initial=0.0)))
    assert np.abs(a - b).max(initial=0.0) < EPS * scale


# ---- Pinocchio ----


@pytest.mark.parametrize("seed", range(10))
def test_urdf_as_pinocchio(seed, tmp_path):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    path = tmp_path / "robot.urdf"
    path.write_text(urdf(seed, 4 + 2 * seed))
    free = seed >= 5
    system = quiet(cd.read_urdf, path, base="free" if free else "fixed")
    model = pin.buildModelFromUrdf(str(path), *([pin.JointModelFreeFlyer()] if free else []))
    data, rng = model.createData(), np.random.default_rng(seed)
    q_pin, q = pin.neutral(model), system.defaults()[0].copy()
    if free:
        w = rng.normal(size=4)
        w /= np.linalg.norm(w)
        q_pin[:7] = *rng.normal(size=3), w[1], w[2], w[3], w[0]
        q[:4], q[4:7] = w, q_pin[:3]
    column = np.zeros(model.nv, dtype=int)
    for name, joint in zip(list(model.names)[1:], list(model.joints)[1:], strict=True):
        if joint.nv != 1:
            continue
        value = rng.uniform(-1, 1)
        place = system.coordinates.index(name)
        column[joint.idx_v] = system.speeds.index(name)
        q[place] = value
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = (
            value if joint.nq == 1 else (math.cos(value), math.sin(value))
        )
    v, a = rng.normal(size=(2, model.nv))
    T = np.zeros((system.nu, model.nv))  # u = T v
    one = np.arange(6 if free else 0, model.nv)
    T[column[one], one] = 1.0
    udot = T @ a
    if free:
        R = _turn(q[:4])
        T[:3, 3:6] = T[3:6, :3] = R
        udot = T @ a
        udot[3:6] += R @ np.cross(v[3:6], v[:3])
    u = T @ v
    M = pin.crba(model, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    close(T.T @ system.mass_matrix(q) @ T, M)
    close(T.T @ system.inverse_dynamics(q, u, udot), pin.rnea(model, data, q_pin, v, a))
    frame = model.getFrameId(f"l{3 + 2 * seed}")
    J = pin.computeFrameJacobian(model, data, q_pin, frame, pin.LOCAL_WORLD_ALIGNED)[:3]
    close(system.station_jacobian(q, f"l{3 + 2 * seed}", (0, 0, 0)) @ T, J)


# ---- MuJoCo ----


def as_mujoco(mujoco, model, system, q):
    """MuJoCo's qpos of q, and T: u = T qvel."""
    qpos, T = np.zeros(model.nq), np.zeros((system.nu, model.nv))
    names, speeds = list(system.coordinates), list(system.speeds)
    for k in range(model.njnt):
        joint = model.joint(k)
        at, v = int(joint.qposadr[0]), int(joint.dofadr[0])
        if joint.type[0] == mujoco.mjtJoint.mjJNT_FREE:
            i = names.index(f"{joint.name}_qw")
            qpos[at : at + 7] = *q[i + 4 : i + 7], *q[i : i + 4]
            s = speeds.index(f"{model.body(int(joint.bodyid[0])).name}_wx")
            T[s : s + 3, v + 3 : v + 6] = _turn(q[i : i + 4])
            T[s + 3 : s + 6, v : v + 3] = np.eye(3)
        elif joint.type[0] == mujoco.mjtJoint.mjJNT_BALL:
            i = names.index(f"{joint.name}_qw")
            qpos[at : at + 4] = q[i : i + 4]
            s = speeds.index(f"{model.body(int(joint.bodyid[0])).name}_wx")
            T[s : s + 3, v : v + 3] = _turn(q[i : i + 4])
        else:
            qpos[at] = q[names.index(joint.name)]
            T[speeds.index(joint.name), v] = 1.0
    return qpos, T


def _turn(w):
    a, b, c, d = w
    return np.array(
        [
            [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
            [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
            [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
        ]
    )


def random_state(system, seed):
    rng = np.random.default_rng(seed)
    state = system.state()
    q = np.array(state.q) + rng.uniform(-0.5, 0.5, system.nq)
    for k, name in enumerate(system.coordinates):
        if name.endswith("_qw"):
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, *rng.normal(size=(2, system.nu))


def check_mujoco(mujoco, model, system, seed, body):
    q, u, udot = random_state(system, seed)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    data = mujoco.MjData(model)
    data.qpos[:], T = as_mujoco(mujoco, model, system, q)
    data.qvel[:], data.qacc[:] = np.linalg.solve(T, u), np.linalg.solve(T, udot)
    mujoco.mj_forward(model, data)
    data.qacc[:] = np.linalg.solve(T, udot)
    mujoco.mj_inverse(model, data)
    M = np.empty((model.nv, model.nv))
    for k, one in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[k], one)
    close(T.T @ system.mass_matrix(q) @ T, M)
    close(T.T @ system.inverse_dynamics(q, u, udot), data.qfrc_inverse)
    J = np.zeros((3, model.nv))
    mujoco.mj_jacBody(model, data, J, None, model.body(body).id)
    close(system.station_jacobian(q, body, (0, 0, 0)) @ T, J)


@pytest.mark.parametrize("seed", range(10))
def test_mjcf_as_mujoco(seed, tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = tmp_path / "robot.xml"
    path.write_text(mjcf(seed))
    model = mujoco.MjModel.from_xml_path(str(path))
    system = quiet(cd.read_mjcf, path)
    last = model.body(model.nbody - 1).name
    check_mujoco(mujoco, model, system, seed, last)
    # written again, MuJoCo reads the same model
    quiet(cd.write_mjcf, system, tmp_path / "again.xml")
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "again.xml"))
    check_mujoco(mujoco, again, system, seed, last)


def test_written_leg_as_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    system = cd.models.arm26()
    bare = cd.System(gravity=(0, -9.80665, 0))
    for body in system.bodies:
        parent = "ground" if body.parent is None else body.parent.name
        m = body.mass_properties
        bare.add_body(
            body.name,
            parent,
            body.mobilizer,
            body.X_PF,
            body.X_BM,
            m.mass,
            m.com,
            m.inertia,
            body.coordinates,
        )
    cd.write_mjcf(bare, tmp_path / "arm.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    check_mujoco(mujoco, model, bare, 3, bare.bodies[-1].name)


# ---- everywhere ----

PENDULUM = """<mujoco><compiler angle="radian"/><option gravity="0 0 -10"/><worldbody>
<body name="rod"><joint name="swing" axis="0 1 0" armature="0.5" damping="0.25" range="-1 1"/>
<geom name="bob" type="sphere" size="0.1" pos="0 0 -2" mass="3"/></body></worldbody>
<actuator><motor name="motor" joint="swing" gear="7" ctrlrange="-2 2"/>
<position name="servo" joint="swing" kp="4" kv="0.5"/></actuator></mujoco>"""


def test_pendulum_in_closed_form(tmp_path):
    """m l^2 + 2/5 m r^2 + armature; gravity, damping, motor and servo by hand."""
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM)
    system = cd.read_mjcf(path)
    inertia = 3 * 4 + 0.4 * 3 * 0.01 + 0.5
    q, u = np.array([0.3]), np.array([1.5])
    assert system.mass_matrix(q)[0, 0] == pytest.approx(inertia, rel=1e-14)
    force = -3 * 10 * 2 * math.sin(0.3) - 0.25 * 1.5 + 7 * 0.6 + 4 * (0.2 - 0.3) - 0.5 * 1.5
    got = system.forward_dynamics(q, u, inputs={"motor": 0.6, "servo": 0.2})
    assert got[0] == pytest.approx(force / inertia, rel=1e-13)
    assert system.body("rod").coordinates[0].range == (-1, 1)
    assert system.mass_center(q)[2] == pytest.approx(-2 * math.cos(0.3), rel=1e-6)  # the rotor weighs nothing


def test_stops_hold(tmp_path):
    """A pendulum let go at 0.9 rad beyond a range of 0.5 rad would swing to -0.9; it stops at -0.5."""
    path = tmp_path / "pendulum.xml"
    path.write_text(PENDULUM.replace('range="-1 1"', 'range="-0.5 1"'))
    loose, held = cd.read_mjcf(path), cd.read_mjcf(path, stops=True)
    assert list(held.constraints) == ["swing_lower", "swing_upper"]
    ends = [cd.simulate(s, s.state(q=[0.9]), 3.0).q.min() for s in (loose, held)]
    assert ends[0] < -0.6 and ends[1] == pytest.approx(-0.5, abs=1e-5)  # events at 1e-3 accuracy
    (tmp_path / "arm.urdf").write_text(urdf(1, 4))
    arm = quiet(cd.read_urdf, tmp_path / "arm.urdf", stops=True)
    assert len(arm.constraints) == 2 * sum(c.range is not None for b in arm.bodies for c in b.coordinates) > 0


def test_round_trips(tmp_path):
    """What is written and read again has the same mass matrix and the same forces."""
    (tmp_path / "a.urdf").write_text(urdf(3, 8))
    first = quiet(cd.read_urdf, tmp_path / "a.urdf", base="free")
    cd.write_urdf(first, tmp_path / "b.urdf")
    cd.write_mjcf(first, tmp_path / "b.xml")
    second, third = cd.read_urdf(tmp_path / "b.urdf"), cd.read_mjcf(tmp_path / "b.xml")
    q, u, udot = random_state(first, 1)
    for other in (second, third):
        order = [other.speeds.index(s) for s in first.speeds]
        places = [other.coordinates.index(c) for c in first.coordinates]
        p = np.empty(other.nq)
        p[places] = q
        v, a = np.empty((2, other.nu))
        v[order], a[order] = u, udot
        close(other.inverse_dynamics(p, v, a)[order], first.inverse_dynamics(q, u, udot))


def test_mimic_and_contact(tmp_path):
    (tmp_path / "gripper.urdf").write_text(
        '<robot name="g"><link name="palm"/>'
        + "".join(
            f'<link name="{n}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial><collision><geometry><sphere radius="0.2"/></geometry></collision></link>'
            f'<joint name="{n}_slide" type="prismatic"><parent link="palm"/><child link="{n}"/>'
            f'<origin xyz="0 0 0.1"/><axis xyz="{x} 0 0"/><limit lower="0" upper="1" effort="5" velocity="1"/>'
            + ('<mimic joint="left_slide" multiplier="2" offset="0.1"/>' if n == "right" else "")
            + "</joint>"
            for n, x in (("left", 1), ("right", -1))
        )
        + "</robot>"
    )
    system = cd.read_urdf(tmp_path / "gripper.urdf", contact=cd.contact.Material(1e5))
    q = np.array([0.2, 0.5])
    got = system.forward_dynamics(q, np.zeros(2), inputs={"left_slide": 1.0, "right_slide": 0.0})
    assert got[1] == pytest.approx(2 * got[0], rel=1e-12)  # the right finger moves twice as fast
    assert got[0] == pytest.approx(5.0 / (1 + 4), rel=1e-12)  # 1 + 2^2: what the left force moves
    assert any("contact" in name for name in system.forces)


def test_errors_name_the_line(tmp_path):
    """One file after the other, each wrong in one thing."""
    body = '<body name="b"><joint name="j"{}/><geom type="sphere" size="0.1"/></body>'
    wrong = {
        "range": (body.format(' range="2 1"'), "above"),
        "axis": (body.format(' axis="0 0 0"'), "no direction"),
        "type": (body.format(' type="hing"'), "none of hinge"),
        "numbers": (body.format(' axis="0 x 1"'), "not 3 numbers"),
        "class": (body.format(' class="legs"'), "default class"),
        "size": ('<body><geom type="box" size="1 1"/></body>', "3 numbers above 0"),
        "replicate": ("<replicate/>", "would be another"),
    }
    for what, (inside, expected) in wrong.items():
        path = tmp_path / f"{what}.xml"
        path.write_text(f"<mujoco>\n<worldbody>{inside}</worldbody></mujoco>")
        with pytest.raises(cd.errors.DescriptionError, match=expected) as caught:
            cd.read_mjcf(path)
        assert f"{what}.xml:2" in str(caught.value)
    for what, text, expected in (
        (
            "loop",
            '<link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint><joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>',
            "loop",
        ),
        (
            "near",
            '<link name="thigh"/><joint name="j" type="fixed"><parent link="thig"/><child link="thigh"/></joint>',
            "did you mean 'thigh'",
        ),
        (
            "kind",
            '<link name="a"/><link name="b"/><joint name="j" type="hinge"><parent link="a"/><child link="b"/></joint>',
            "none of revolute",
        ),
    ):
        path = tmp_path / f"{what}.urdf"
        path.write_text(f'<robot name="r">{text}</robot>')
        with pytest.raises(cd.errors.DescriptionError, match=expected):
            cd.read_urdf(path)
    with pytest.raises(cd.errors.DescriptionError, match="begins with <robot>"):
        cd.read_urdf(tmp_path / "range.xml")
    with pytest.raises(cd.errors.DescriptionError, match='"fixed" or "free"'):
        cd.read_urdf(tmp_path / "kind.urdf", base="floating")


def test_what_is_not_understood_is_noted(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(
        '<mujoco><worldbody><body name="b"><joint name="j" frictionloss="0.1"/><geom type="sphere" size="0.1"/>'
        '</body></worldbody><sensor><jointpos joint="j"/></sensor></mujoco>'
    )
    with pytest.warns(UserWarning, match="what to know"):
        system = cd.read_mjcf(path)
    assert [note.line for note in system.notes] == [1, 1]
    with pytest.raises(cd.errors.DescriptionError, match="strict=True"):
        cd.read_mjcf(path, strict=True)
    ball = cd.System()
    ball.add_body("b", mobilizer=cd.Ball(), mass=1, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="hinges and slides"):
        cd.write_urdf(ball, tmp_path / "ball.urdf")
    assert not (tmp_path / "ball.urdf").exists()


def test_what_a_mesh_encloses():
    """A block away from the origin, and a tetrahedron: volume, center and inertia by closed forms."""
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    triangles = ConvexHull(corners).simplices
    for k, (a, b, c) in enumerate(triangles):  # outward
        if np.cross(corners[b] - corners[a], corners[c] - corners[a]) @ (corners[a] - 0.5) < 0:
            triangles[k] = a, c, b
    sides, at = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 0.7])
    volume, center, about = _mesh_moments(at + corners * sides, triangles)
    np.testing.assert_allclose(volume, sides.prod(), rtol=1e-12)
    np.testing.assert_allclose(center, at + sides / 2, rtol=1e-12)
    J = sides.prod() / 12 * ((sides**2).sum() - sides**2)
    np.testing.assert_allclose(about, np.diag(J), atol=1e-12)  # sums of terms of 0.2
    corner = np.vstack([np.zeros(3), np.eye(3)]) + at
    volume, center, about = _mesh_moments(corner, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    np.testing.assert_allclose([volume, *center - at], [1 / 6, 0.25, 0.25, 0.25], rtol=1e-12)
    np.testing.assert_allclose(about, np.eye(3) / 80 + (np.ones((3, 3)) - np.eye(3)) / 480, atol=1e-12)


def test_where_meshes_of_packages_are(tmp_path):
    """In the folder that the caller names, in a parent of that name, beside a parent, else beside the file."""
    folder = tmp_path / "arm_description" / "urdf"
    (tmp_path / "hand").mkdir()
    folder.mkdir(parents=True)
    for name, packages, place in (
        ("package://arm_description/a.stl", None, "arm_description/a.stl"),
        ("package://hand/meshes/b.stl", None, "hand/meshes/b.stl"),
        ("package://hand/b.stl", {"hand": tmp_path / "other"}, "other/b.stl"),
        ("package://none/b.stl", None, "arm_description/urdf/b.stl"),
        ("file://c.stl", None, "arm_description/urdf/c.stl"),
    ):
        assert resolved(name, [folder], packages) == tmp_path / place
