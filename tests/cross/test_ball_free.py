"""Trees of balls, free bodies and pins against Pinocchio and MuJoCo, which share no code with Condyle.

Speeds differ. Ours are w and v of M in F, expressed in F. Pinocchio's are in M; MuJoCo's w is in M, its v in
F. With R = R_FM:

    w_M = R' w,   wdot_M = R' wdot;      v_M = R' v,   vdot_M = R' (vdot - w x v)                          (1)

Their frame of a body is our M. Engines that are not installed are skipped (extra `peers`).
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.oracles import Mechanics, random_plan
from tests.oracles.joints import Joint

STATES = 4
TREES = [(1, 1), (2, 3), (3, 8), (4, 25)]
# n cond(M) eps is below 7e-10 for these trees (n <= 59; cond(M), measured, is below 5e4).
TOLERANCE = 1e-9


@functools.cache
def tree_of(seed, bodies):
    """A plan of pins, balls and free bodies, none reversed, the first one free; states; our accelerations."""
    plan = random_plan(seed, bodies, ("pin", "ball", "free"))
    parts = [replace(part, joint=replace(part.joint, reversed=False)) for part in plan.parts]
    parts[0] = replace(parts[0], joint=Joint("free"))
    plan = replace(plan, parts=tuple(parts))
    q, u, tau = plan.states(STATES)
    assert np.linalg.cond(Mechanics(plan).mass_matrix(q)).max() < 5e4
    return plan, q, u, tau, plan.system().forward_dynamics(q, u, tau)


def depth_first(plan):
    def visit(parent):
        for i, part in enumerate(plan.parts):
            if part.parent == parent:
                yield i
                yield from visit(i)

    return list(visit(-1))


def matrix(frame):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = frame
    return X


def placed(plan):
    """F on the parent's M (4, 4), mass, com and inertia in M, for each body."""
    for part in plan.parts:
        X = (
            matrix(part.X_PF)
            if part.parent < 0
            else np.linalg.inv(matrix(plan.parts[part.parent].X_BM)) @ matrix(part.X_PF)
        )
        R_BM, p_BM = part.X_BM
        yield X, part.mass, R_BM.T @ (part.com - p_BM), R_BM.T @ part.inertia @ R_BM


def pieces(plan, *vectors):
    """Slices of q-like (first) and u-like vectors for each body."""
    iq = iu = 0
    for part in plan.parts:
        nq, nu = part.joint.counts
        yield part.joint.kind, vectors[0][iq : iq + nq], *(x[iu : iu + nu] for x in vectors[1:])
        iq, iu = iq + nq, iu + nu


def turned(q):
    return Rotation.from_quat(q[[1, 2, 3, 0]]).as_matrix()


# ---- Pinocchio ---------------------------------------------------------------------------------------------


def pinocchio_udot(plan, q, u, tau):
    pin = pytest.importorskip("pinocchio", reason="pin is not installed (extra: peers)")
    model = pin.Model()
    model.gravity.linear = np.array(plan.gravity)
    joints, about = {-1: 0}, list(placed(plan))
    for i in depth_first(plan):
        part, (X, m, com, I) = plan.parts[i], about[i]
        kind = {
            "pin": lambda a=part.joint.axis: pin.JointModelRevoluteUnaligned(a),
            "ball": pin.JointModelSpherical,
            "free": pin.JointModelFreeFlyer,
        }[part.joint.kind]()
        joints[i] = model.addJoint(joints[part.parent], kind, pin.SE3(X), f"b{i}")
        model.appendBodyToJoint(joints[i], pin.Inertia(m, com, I), pin.SE3.Identity())
    data, answers = model.createData(), []
    for state in zip(q, u, tau):
        x, v, f = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        each = list(enumerate(pieces(plan, *state)))
        for i, (kind, qi, ui, taui) in each:
            at, dof = model.joints[joints[i]].idx_q, model.joints[joints[i]].idx_v
            if kind == "pin":
                x[at], v[dof], f[dof] = qi[0], ui[0], taui[0]
            else:
                R = turned(qi[:4])
                n = 0 if kind == "ball" else 3  # free: position and velocity first
                x[at : at + n], x[at + n : at + n + 4] = qi[4:], qi[[1, 2, 3, 0]]
                for ours, theirs in ((ui, v), (taui, f)):
                    theirs[dof : dof + n], theirs[dof + n : dof + n + 3] = (
                        (ours[3:] @ R if n else ()),
                        ours[:3] @ R,
                    )  # (1)
        vdot, udot = pin.aba(model, data, x, v, f), []
        for i, (kind, qi, ui, _) in each:
            dof = model.joints[joints[i]].idx_v
            if kind == "pin":
                udot.append([vdot[dof]])
                continue
            R, n = turned(qi[:4]), 0 if kind == "ball" else 3
            udot.append(R @ vdot[dof + n : dof + n + 3])  # (1)
            if n:
                udot.append(R @ vdot[dof : dof + 3] + np.cross(ui[:3], ui[3:]))
        answers.append(np.concatenate(udot))
    return np.array(answers)


# ---- MuJoCo ------------------------------------------------------------------------------------------------


def mujoco_model(mujoco, plan):
    """A free body on the world is a free joint with ground's coordinates; on another body it is three slides
    and a ball."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = plan.gravity
    off = mujoco.mjtDisableBit
    spec.option.disableflags = int(off.mjDSBL_CONSTRAINT | off.mjDSBL_CONTACT | off.mjDSBL_EULERDAMP)
    made, about, J = {-1: spec.worldbody}, list(placed(plan)), mujoco.mjtJoint
    for i in depth_first(plan):
        part, (X, m, com, I) = plan.parts[i], about[i]
        quat = Rotation.from_matrix(X[:3, :3]).as_quat()[[3, 0, 1, 2]]
        body = made[part.parent].add_body(
            name=f"b{i}",
            pos=X[:3, 3],
            quat=quat,
            mass=m,
            ipos=com,
            explicitinertial=True,
            fullinertia=(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]),
        )
        made[i] = body
        if part.joint.kind == "pin":
            body.add_joint(name=f"b{i}", type=J.mjJNT_HINGE, axis=part.joint.axis)
        elif part.joint.kind == "free" and part.parent < 0:
            body.add_joint(name=f"b{i}", type=J.mjJNT_FREE)
        else:
            for k in range(3 if part.joint.kind == "free" else 0):
                body.add_joint(name=f"b{i}{'xyz'[k]}", type=J.mjJNT_SLIDE, axis=np.eye(3)[k])
            body.add_joint(name=f"b{i}", type=J.mjJNT_BALL)
    return spec.compile()


def mujoco_udot(plan, q, u, tau):
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed (extra: peers)")
    model = mujoco_model(mujoco, plan)
    data, answers = mujoco.MjData(model), []
    for state in zip(q, u, tau):
        each = list(enumerate(pieces(plan, *state)))
        read = []
        for i, (kind, qi, ui, taui) in each:
            joint = model.joint(f"b{i}")
            at, dof, root = joint.qposadr[0], joint.dofadr[0], plan.parts[i].parent < 0
            if kind == "pin":
                data.qpos[at], data.qvel[dof], data.qfrc_applied[dof] = qi[0], ui[0], taui[0]
                read.append(lambda a, dof=dof: [a[dof]])
                continue
            R = turned(qi[:4])
            if kind == "free" and root:
                # its coordinates and v are ground's
                R_PF, p_PF = plan.parts[i].X_PF
                data.qpos[at : at + 3] = R_PF @ qi[4:] + p_PF
                data.qpos[at + 3 : at + 7] = Rotation.from_matrix(R_PF @ R).as_quat()[[3, 0, 1, 2]]
                for ours, theirs in ((ui, data.qvel), (taui, data.qfrc_applied)):
                    theirs[dof : dof + 3], theirs[dof + 3 : dof + 6] = R_PF @ ours[3:], ours[:3] @ R
                read.append(
                    lambda a, dof=dof, R=R, R_PF=R_PF: [
                        *(R @ a[dof + 3 : dof + 6]),
                        *(a[dof : dof + 3] @ R_PF),
                    ]
                )
                continue
            data.qpos[at : at + 4] = qi[:4]
            data.qvel[dof : dof + 3], data.qfrc_applied[dof : dof + 3] = ui[:3] @ R, taui[:3] @ R  # (1)
            slides = [model.joint(f"b{i}{c}") for c in "xyz"] if kind == "free" else []
            for slide, x, v, f in zip(slides, qi[4:], ui[3:], taui[3:]):
                data.qpos[slide.qposadr[0]], data.qvel[slide.dofadr[0]] = x, v
                data.qfrc_applied[slide.dofadr[0]] = f
            read.append(
                lambda a, dof=dof, R=R, s=slides: [*(R @ a[dof : dof + 3]), *(a[x.dofadr[0]] for x in s)]
            )
        mujoco.mj_forward(model, data)
        answers.append(np.concatenate([f(data.qacc) for f in read]))
    return np.array(answers)


PEERS = {"Pinocchio": pinocchio_udot, "MuJoCo": mujoco_udot}


@pytest.mark.parametrize(("seed", "bodies"), TREES)
@pytest.mark.parametrize("peer", PEERS)
def test_accelerations(peer, seed, bodies, evidence):
    plan, q, u, tau, udot = tree_of(seed, bodies)
    expected = PEERS[peer](plan, q, u, tau)
    evidence(
        f"accelerations of trees with balls and free bodies against {peer}, relative",
        np.abs(udot - expected).max() / np.abs(expected).max(),
        TOLERANCE,
        headline="engines",
    )


def test_the_trees_hold_every_kind():
    kinds = {(part.joint.kind, part.parent < 0) for tree in TREES for part in tree_of(*tree)[0].parts}
    assert {("free", True), ("free", False), ("ball", False), ("pin", False)} <= kinds
