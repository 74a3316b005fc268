"""Systems with one of everything that write_osim writes, and states of them for both sides."""

from __future__ import annotations

from typing import Any

import numpy as np

import condyle as cd
from condyle.mobilizers import Mobilizer
from condyle.opensim.joints import Scapulothoracic, coordinates_in_file
from condyle.opensim.writing import Writing
from condyle.spatial import euler_from_rotation, exp_so3, rotation_from_quaternion

Q = np.linspace(-2, 2, 7)
F = cd.functions
JOINTS: dict[str, Mobilizer] = {
    "pin": cd.Pin(),
    "pin_axis": cd.Pin((1, 2, 3)),
    "slider": cd.Slider(),
    "slider_axis": cd.Slider((1, 2, -1)),
    "screw": cd.Screw(0.1, (1, 1, 2)),
    "cylinder": cd.Cylinder(),
    "universal": cd.Universal(),
    "gimbal": cd.Gimbal(),
    "ball": cd.Ball(),
    "ball_euler": cd.Ball("euler"),
    "free": cd.Free(),
    "free_euler": cd.Free("euler"),
    "planar": cd.Planar(),
    "translation": cd.Translation(),
    "bushing": cd.Bushing(),
    "ellipsoid": cd.Ellipsoid((0.1, 0.2, 0.3)),
    "weld": cd.Weld(),
    "functions": cd.FunctionBased(
        "knee",
        (F.Polynomial((0.1, 0.2, 0.3)), F.Sine(0.3, 1.1, 0.2, 0.05), lambda q: 2 * q + 1),
        (
            cd.functions.SimmSpline(Q, np.sin(Q) / 9),
            cd.Spline(Q, np.cos(Q) / 8, 5),
            F.SmoothStep(1, -1, 0.1, 0.2),
        ),
        axes=((1, 2, 3), "z", "x", (1, 1, 0), (0, 1, 1), "x"),
    ),
    "two": cd.FunctionBased(
        ("a", "b"),
        ((F.Linear(1.0), "b"), None, 0.3),
        (
            (cd.Spline(Q, Q**2 / 9), "b"),
            (F.Scaled(cd.functions.SimmSpline(Q, Q**2), 0.1), "a"),
            (F.Linear((0.1, 0.2), 0.3), ("b", "a")),
        ),
    ),
    "linear": cd.FunctionBased(
        ("c", "d"),
        (lambda c, d: c - d, lambda c, d: d, None),
        (lambda c, d: 0.1 * c + 0.2 * d + 0.3, F.Constant(0.2), None),
    ),
}


STILL = ("functions", "linear")
"""Joints that do not move in comparisons of accelerations. Where one coordinate moves several angles of a
CustomJoint, what OpenSim 4.6 reports as angular acceleration is not the rate of its angular velocity: at
c = 0.3, d = -0.4 with rates 0.7 and 0.5 "linear" has (5.048, 0.114, 0.553) rad/s^2 there, and (5.048, 0.275,
0.362) by differences of its own velocities, which is Condyle's."""


def joints() -> cd.System:
    """Every joint forward and reversed, each between a body of its own and a tip."""
    rng = np.random.default_rng(1)

    def X() -> cd.Transform:
        return cd.Transform(exp_so3(rng.normal(size=3)), rng.normal(size=3) * 0.3)

    system = cd.System(gravity=(0.3, -9.7, 0.2))
    system.add_body(
        "base",
        mobilizer=cd.Pin("y"),
        X_PF=X(),
        X_BM=X(),
        mass=1.3,
        com=(0.1, 0.2, 0.05),
        inertia=(0.2, 0.3, 0.25),
    )
    for name, joint in JOINTS.items():
        for kind, mobilizer in (("", joint), ("_reversed", joint.reversed())):
            body = f"{name}{kind}"
            short = mobilizer.coordinate_names
            system.add_body(
                body,
                "base",
                mobilizer,
                X_PF=X(),
                X_BM=X(),
                mass=1.7,
                com=rng.normal(size=3) * 0.1,
                inertia=np.diag([0.3, 0.2, 0.4]) + 0.02,
                coordinates=[f"{body}_{s}" for s in short],
            )
    return system


def forces() -> cd.System:
    """Every force."""
    law, path = (
        cd.forces,
        cd.paths.Path([("ground", (0.1, 0.2, 0.3)), ("a", (0.2, 0.1, 0.1)), ("c", (0.1,) * 3)]),
    )
    s = cd.System()
    s.add_body(
        "a", mobilizer=cd.Pin("y"), mass=1.3, com=(0.1, 0.2, 0.3), inertia=(0.2, 0.3, 0.25), coordinates="qa"
    )
    s.add_body("b", "a", cd.Ball(), X_PF=(0.3, 0, 0), mass=1.7, com=(0.1, 0, 0), inertia=(0.3, 0.2, 0.4))
    s.add_body(
        "c",
        "b",
        cd.Slider(),
        X_PF=(0.3, 0.2, 0),
        mass=0.7,
        inertia=(0.03, 0.02, 0.04),
        coordinates=(cd.Coordinate("qc", 0.05, (-1.0, 2.0)),),
    )
    ground, b, c = ("ground", (0.1, 0.2, 0.3)), ("b", (0.1, 0, 0)), ("c", (0.1, 0, 0.1))
    X = cd.Transform(exp_so3((0.3, -0.2, 0.5)), (0.1, 0.2, 0.3))
    for name, force in {
        "spring": law.TwoPointSpring(*ground, *b, 100.0, 0.2),
        "damper": law.TwoPointDamper(*ground, *c, 3.0),
        "push": law.TwoPointForce("a", (0.1, 0.2, 0.3), *c, 5.0),
        "turn": law.MobilitySpring("qa", 4.0, 0.1),
        "slow": law.MobilityDamper("b_wx", 0.4),
        "constant": law.MobilityForce("qc", 1.3),
        "stop": law.MobilityStop("qc", -0.1, 0.2, 30.0, 0.5),
        "half": law.MobilityStop("qa", -0.1, np.inf, 30.0, 0.05),
        "bushing": law.LinearBushing(
            "a", X, "c", (0.1, 0.2, 0), (1, 2, 3, 40, 50, 60), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
        ),
        "pull": law.ConstantForce("b", (0.1, 0.2, 0), (1, 2, 3)),
        "twist": law.ConstantTorque("b", (1, 2, 3)),
        "in_body": law.ExternalWrench("c", (0.1, 0.2, 0), (1, 2, 3), (0.4, 0.5, 0.6), frame="body"),
        "in_ground": law.ExternalWrench(
            "c", (0.1, 0.2, 0), (1, 2, 3), (0.4, 0.5, 0.6), station_frame="ground"
        ),
        "path_spring": law.PathSpring(path, 50.0, 0.1, 0.02),
        "fitted": law.PathSpring(
            cd.paths.FunctionPath(
                F.Polynomial((0.3, 0.05, -0.02, 0.03, 0.01), ((0, 0), (1, 0), (0, 1), (1, 1), (2, 1))),
                ("qa", "qc"),
            ),
            80.0,
            0.1,
            0.02,
        ),
        "fitted_one": law.PathSpring(
            cd.paths.FunctionPath(cd.functions.SimmSpline(Q, 0.3 + Q**2 / 20), "qa"), 60.0, 0.1
        ),
        "ligament": law.Blankevoort1991Ligament(path, 50.0, 0.2),
        "cable": law.PathActuator(path, 10.0, control=0.3),
        "motor": law.CoordinateActuator("qa", 2.0, control=0.4, min_control=-1.0, max_control=1.0),
        "torque": law.TorqueActuator("a", "c", (1, 2, 3), 3.0, control=0.5),
        "torque_in_body": law.TorqueActuator("b", "ground", (1, 2, 3), 3.0, control=0.5, frame="body"),
        "jack": law.PointToPointActuator("a", (0.1, 0, 0), "c", (0, 0.1, 0), 3.0, control=0.5),
        "driven": law.MobilityForce("qc", 2.0 * cd.Input("driven", 0.0)),
    }.items():
        s.add_force(name, force)
    s.add_marker("m1", "b", (0.1, 0.2, 0.3))
    s.add_geometry("b", cd.shapes.Cylinder(0.1, 0.2))
    s.add_geometry("b", cd.shapes.Sphere(0.1), color="#ff0000")
    s.add_geometry("ground", cd.shapes.Box((0.1, 0.1, 0.1)), (0.1, 0, 0))
    return s


def contacts() -> cd.System:
    """Contact, forces over time, a scapula, a wheel that may roll, and groups."""
    contact, law, t = cd.contact, cd.constraints, np.linspace(0, 1, 9)
    series = t, 1e3 * np.stack([np.sin(5 * t), t**2, 1 - t], axis=1)
    s = cd.System()
    s.add_body("ball", mobilizer=cd.Free("euler"), mass=1.3, com=(0.01, 0, 0.02), inertia=(0.1, 0.2, 0.15))
    s.add_body("wheel", mobilizer=cd.Free("euler"), mass=0.7, inertia=(0.1, 0.2, 0.15))
    scapula = Scapulothoracic((0.1, 0.2, 0.15), (0.03, -0.04), 0.4)
    F, M = scapula.frames
    s.add_body(
        "scapula",
        "ball",
        scapula.mobilizer,
        X_PF=cd.Transform(exp_so3((0.3, -0.2, 0.5)), (0.1, 0.2, 0.3)) @ F,
        X_BM=cd.Transform(p=(0.05, 0, 0)) @ M,
        mass=0.8,
        com=(0.02, 0.01, 0),
        inertia=(0.01, 0.02, 0.015),
        coordinates=("abduction", "elevation", "upward", "winging"),
    )
    soft = contact.Material(1e6, 0.4, 0.8, 0.5, 0.1, 0.05)
    hard = contact.Material(1e8, 0.1, 0.9, 0.6, 0.02, 0.05)
    floor = contact.HalfSpace("ground", (0.1, 1, 0.2), -0.05, hard, name="floor")
    ball = contact.Sphere("ball", (0.02, 0.01, 0), 0.2, soft, name="ball")
    for name, force in {
        "hunt": contact.OpenSimHuntCrossley(floor, ball),
        "two": contact.OpenSimHuntCrossley(ball, contact.Sphere("wheel", (0, 0, 0), 0.15, soft)),
        "smooth": contact.SmoothSphereHalfSpace(
            "ground", (0, 1, 0), 0.02, "wheel", (0.01, 0, 0), 0.1, 1e6, 0.5, 0.8, 0.5, 0.1, 0.05
        ),
        "series": cd.forces.ExternalWrench("ball", force=series, station=(0.1, 0, 0)),
        "lines": cd.forces.ExternalWrench("ball", torque=cd.forces.TimeSeries(*series, "linear")),
        "motor": cd.forces.CoordinateActuator(
            "winging", 300.0, control=cd.forces.TimeSeries(t, np.cos(3 * t))
        ),
        "pushed": cd.forces.MobilityForce("winging", cd.forces.TimeSeries(t, 100 * np.cos(2 * t))),
    }.items():
        s.add_force(name, force)
    o, x, z = (0, 0, 0), (1, 0, 0), (0, 0, 1)
    for end, constraint in (
        ("", law.PointInPlane("ground", (0, 1, 0), 0.3, "wheel", o)),
        ("_angle", law.ConstantAngle("ground", x, "wheel", z)),
        ("_x", law.NoSlip1D("ground", o, x, "ground", "wheel")),
        ("_z", law.NoSlip1D("ground", o, z, "ground", "wheel")),
    ):
        s.add_constraint(f"roll{end}", constraint, enabled=False)
    s.groups.update(contacts=("hunt", "smooth"), drives=("motor", "pushed"))
    return s


def muscles() -> cd.System:
    """Every muscle, with elastic and with rigid tendons, on a forearm."""
    s = cd.System()
    s.add_body("arm", mobilizer=cd.Pin(), mass=2.0, com=(0, -0.15, 0), inertia=(0.05, 0.01, 0.05))
    path = cd.paths.Path([("ground", (0.02, 0.3, 0)), ("arm", (0.03, -0.05, 0))])
    own = {
        "max_isometric_force": 500.0,
        "optimal_fiber_length": 0.14,
        "tendon_slack_length": 0.2,
        "pennation_angle": 0.2,
        "max_contraction_velocity": 9.0,
    }
    curve = cd.muscles.MillardTendonForceLength(strain=0.06)
    for name, kind, more in (
        ("thelen", cd.muscles.Thelen2003, {"FmaxTendonStrain": 0.033, "KshapeActive": 0.5, "Flen": 1.6}),
        ("millard", cd.muscles.Millard2012, {"tendon_force_length_curve": curve}),
        ("stiff", cd.muscles.Millard2012, {"tendon": "rigid"}),
        ("undamped", cd.muscles.Millard2012, {"fiber_damping": 0.0}),
        ("degroote", cd.muscles.DeGroote2016, {"active_force_width_scale": 1.2}),
        ("still", cd.muscles.DeGroote2016, {"tendon": "rigid", "fiber_damping": 0.02}),
    ):
        s.add_force(name, kind(path, **own, **more))
    return s


def constrained() -> cd.System:
    """Every constraint, on bodies that meet them at the default pose."""
    law = cd.constraints
    s = cd.System()
    for name in "abcdefg":
        s.add_body(
            name,
            mobilizer=cd.Free("euler"),
            mass=1.0 + ord(name) / 100,
            com=(0.01, 0.02, 0),
            inertia=(0.1, 0.2, 0.15),
        )
    s.add_body("h", mobilizer=cd.Pin(), mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1), coordinates="h")
    s.add_body("i", mobilizer=cd.Pin(), mass=1, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1), coordinates="i")
    s.add_constraint("rod", law.Rod("ground", (0.3, 0, 0), "a", (0, 0, 0), 0.3))
    s.add_constraint("point", law.Ball("a", (0.1, 0, 0), "b", (0.1, 0, 0)))
    s.add_constraint("line", law.PointOnLine("c", (0.1, 0, 0), (1, 2, 3), "d", (0.1, 0, 0)))
    s.add_constraint("weld", law.Weld("e", (0.1, 0.2, 0), "f", (0.1, 0.2, 0)))
    s.add_constraint("gear", law.CoordinateCoupler(lambda h, i: 2 * h + 3 * i, ("h", "i")))
    return s


def states(
    system: cd.System, count: int, seed: int, within: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
    """q, u and z of random states, and the same as OpenSim is told them."""
    rng = np.random.default_rng(seed)
    to = Writing(system, {})
    low, high = (system.default("z") * x for x in (0.9, 1.2))
    rows: list[Any] = []
    for _ in range(count):
        q, u, z = system.defaults()[0], rng.normal(size=system.nu), rng.uniform(low, high)
        told = {}
        for b in system.bodies:
            if b.name.removesuffix("_reversed") in STILL:
                u[b.u] = 0.0
            q[b.q] = (
                b.mobilizer.random_q(rng)
                if not within
                else [rng.uniform(*(c.range or (-1, 1))) for c in b.coordinates]
            )
            mine = q[b.q]
            if b.mobilizer.quaternions:
                turned = euler_from_rotation(rotation_from_quaternion(mine[:4]))
                mine = np.concatenate([turned, mine[4:]])
            names = [c.name for c in coordinates_in_file(b, to)]
            told |= {n: (float(x), float(v)) for n, x, v in zip(names, mine, u[b.u], strict=True)}
        own = {
            "/forceset/" + n.replace(".", "/"): float(v)
            for n, v in zip(system.state_variables, z, strict=True)
        }
        rows.append((q, u, z, {"coordinates": told, "z": own}))
    q, u, z, told = zip(*rows, strict=True)
    return np.array(q), np.array(u), np.array(z), list(told)
