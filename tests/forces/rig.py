"""A small system that every law can act on, one of each law, and rates of change along the motion by AD."""

from __future__ import annotations

import casadi as ca
import numpy as np

import condyle as cd
from condyle import forces
from condyle.model.operators import OPERATORS

EPS = np.finfo(float).eps
R_TILT = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
P_A, P_B = (0.1, -0.2, 0.05), (0.0, 0.15, -0.1)
LINE = cd.paths.Path([("base", P_A), ("lower", P_B)])
DEFLECTIONS = ("theta_x", "theta_y", "theta_z", "delta_x", "delta_y", "delta_z")
PAD = (
    cd.functions.Formula("4*theta_x - theta_y*delta_z", DEFLECTIONS),
    None,
    lambda x: 3 * x**3,
    cd.functions.SimmSpline((-1.0, 0.0, 0.5, 2.0), (-30.0, 0.0, 20.0, 90.0)),
    lambda a, b, c, x, y, z: 20 * y + a,
    7.0,
)
STIFF, DAMP = (3.0, 4.0, 5.0, 60.0, 70.0, 80.0), (0.3, 0.4, 0.5, 6.0, 7.0, 8.0)


def arm(gravity=(0.0, -9.81, 0.0), **laws) -> cd.System:
    """base (Free) - upper (Pin) - lower (Slider along a tilted axis), with some laws by name."""
    system = cd.System(gravity=gravity)
    system.add_body("base", mobilizer=cd.Free(), mass=3.0, com=(0.01, 0.02, 0.0), inertia=(0.03, 0.04, 0.05))
    system.add_body(
        "upper",
        "base",
        cd.Pin(),
        X_PF=cd.Transform(R_TILT, (0.1, 0.2, 0.3)),
        X_BM=(0.0, 0.2, 0.0),
        mass=1.5,
        com=(0.0, -0.02, 0.01),
        inertia=(0.02, 0.01, 0.02),
        coordinates=("elbow",),
    )
    system.add_body(
        "lower",
        "upper",
        cd.Slider(axis=(0.0, 0.6, 0.8)),
        X_PF=(0.0, -0.3, 0.0),
        mass=0.7,
        com=(0.03, 0.0, 0.0),
        inertia=(0.01, 0.012, 0.013),
        coordinates=("reach",),
    )
    for name, law in laws.items():
        system.add_force(name, law)
    return system


def state(system: cd.System, seed: int = 0):
    """q with unit quaternion, u."""
    rng = np.random.default_rng(seed)
    q, u = rng.uniform(-0.8, 0.8, system.nq), rng.uniform(-1.0, 1.0, system.nu)
    q[:4] = rng.normal(size=4)
    q[:4] /= np.linalg.norm(q[:4])
    return q, u


def drag(s):
    """Air resistance on a point: quadratic, with a torque and a motor beside it."""
    v = s.station_velocity("lower", P_B) - np.array([s.input("wind", 0.3), 0.0, 0.0])
    f = -0.4 * np.sqrt(v @ v + 1e-6) * v
    return {
        "lower": cd.forces.Wrench(force=f, torque=-0.1 * s.angular_velocity("lower"), at=P_B),
        "elbow": 0.2 * np.sin(s.t) - s.parameter("viscosity", 0.05) * s.u("elbow"),
    }


def web(s):
    """An energy of a station, a pose and two coordinates, one of them of a quaternion."""
    r = s.station_position("lower", P_B) - s.station_position("base", P_A)
    R, p = s.body_pose("upper")
    return (
        4.0 * np.sqrt(1.0 + r @ r)
        + 0.5 * R[0, 1] * p[2]
        + 0.3 * s.q("elbow") ** 4
        + s.q("base_qx") ** 2
        + 0.2 * np.cos(s.coordinate("reach"))
    )


def one_of_each() -> dict[str, forces.Force]:
    """Laws by name; energy-storing ones without damping."""
    t = np.linspace(-1.0, 2.0, 7)
    return {
        "spring": forces.TwoPointSpring("base", P_A, "lower", P_B, 200.0, 0.3),
        "damper": forces.TwoPointDamper("base", P_A, "lower", P_B, 9.0),
        "piston": forces.TwoPointForce("ground", P_A, "lower", P_B, cd.Input("pressure", 7.0)),
        "torsion": forces.MobilitySpring("elbow", cd.Parameter("torsion", 12.0), 0.2),
        "tether": forces.MobilitySpring("base_ty", 15.0, 0.1),
        "friction": forces.MobilityDamper("base_wx", 0.8),
        "motor": forces.MobilityForce("reach", -4.0),
        "stop": forces.MobilityStop("reach", -0.1, 0.05, 900.0),
        "bushing": forces.LinearBushing("base", cd.Transform(R_TILT, P_A), "lower", P_B, STIFF),
        "mount": forces.LinearBushing("upper", P_A, "ground", cd.Transform(R_TILT.T), (0,) * 6, DAMP),
        "ether": forces.GlobalDamper(0.3),
        "thrust": forces.ConstantForce("upper", P_A, (1.0, -2.0, 3.0)),
        "twist": forces.ConstantTorque("upper", (0.1, 0.2, -0.3)),
        "floor": forces.ExternalWrench(
            "lower",
            (t, np.outer(t, (0.1, 0.2, 0.3))),
            (t, np.cos(t)[:, None] * (5.0, 6.0, 7.0)),
            (0.1, cd.Input("screw", 0.4), 0.2),
            station_frame="ground",
        ),
        "rope": forces.PathActuator(LINE, 40.0, control=cd.Input("pull", 0.7)),
        "reserve": forces.CoordinateActuator("elbow", cd.Parameter("strength", 8.0), control=0.3),
        "strut": forces.PointToPointActuator("base", P_A, "lower", P_B, 30.0, control=0.2),
        "wheel": forces.TorqueActuator("upper", "base", (1.0, 2.0, -2.0), 5.0, control=0.4, frame="body"),
        "band": forces.PathSpring(LINE, 300.0, 0.1),
        "ligament": forces.Blankevoort1991Ligament(LINE, 90.0, 0.1, damping_coefficient=0.0),
        "limit": forces.CoordinateLimitForce("reach", -0.1, 0.05, 70.0, 90.0, 0.0, 0.1),
        "bending": forces.MobilityFunction(
            "elbow", cd.functions.Formula("-3*sin(q)^3 - 0.2*qdot", ("q", "qdot"))
        ),
        "string": forces.TwoPointFunction(
            "base", P_A, "lower", P_B, cd.functions.Formula("40*d^2 + 3*ddot", ("d", "ddot"))
        ),
        "lace": forces.PathFunction(LINE, lambda s, ldot: 50.0 * s * s + ldot, 0.1),
        "fibers": forces.Ligament(LINE, 0.2, 60.0),
        "pad": forces.FunctionBushing("base", cd.Transform(R_TILT, P_A), "lower", P_B, PAD, DAMP),
        "jet": forces.PointActuator("lower", P_B, (1.0, 2.0, 2.0), 9.0, control=0.4, frame="ground"),
        "servo": forces.ActivationCoordinateActuator("elbow", 8.0, control=0.3),
        "gust": forces.ExternalWrench(
            "upper", (0.1, 0.0, 0.0), (cd.functions.Sine(3.0), cd.functions.Linear(2.0, 1.0), 0.5)
        ),
        "bath": forces.NoseHooverThermostat(300.0, 0.4, boltzmann=2e-3),
        "drag": forces.Custom(drag),
        "web": forces.Potential(web),
    }


def every_law() -> dict[str, forces.Force]:
    """One of each, and what asks for reactions of joints: that has no loops and no maximal coordinates."""
    return one_of_each() | {"bearing": forces.JointFriction("upper", 0.3, 0.02)}


CONSERVATIVE = ("spring", "torsion", "tether", "stop", "bushing", "web", "band", "ligament", "limit")


def rate(system: cd.System, name: str, q, u, output: int = -1, udot=None, **options) -> np.ndarray:
    """d/dt of an operator of (q, u) along the motion, by CasADi's derivatives of its expressions."""
    model, tail = _frozen(system), system.compiled.tail(**options)
    f = OPERATORS[name].build(model, name)
    x, v = ca.SX.sym("q", system.nq), ca.SX.sym("u", system.nu)
    arguments = [{"q": x, "u": v, "tail": ca.DM(tail)}[a] for a in OPERATORS[name].arguments]
    y = f.call(arguments)[output]
    udot = system.forward_dynamics(q, u, **options) if udot is None else udot
    ydot = ca.jtimes(y, x, ca.DM(system.qdot(q, u))) + ca.jtimes(y, v, ca.DM(udot))
    return np.array(ca.Function("rate", [x, v], [ydot])(q, u)).ravel()


def energy_rate(system: cd.System, q, u, **options) -> float:
    """d/dt of kinetic plus potential energy [W]."""
    return float(
        rate(system, "energy", q, u, 0, **options)[0] + rate(system, "energy", q, u, 1, **options)[0]
    )


def power(system: cd.System, name: str, q, u, **options) -> float:
    return float(system.power(q, u, **options)[system.forces.index(name)])


def _frozen(system: cd.System):
    system.compiled.function("energy")
    return system.compiled.model
