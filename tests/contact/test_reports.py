"""What a contact tells, by every law, against formulas written out in NumPy; and the same of a state, a
batch, a run and an ensemble, in Tables."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd
from tests.contact.meshes import icosphere

C = cd.contact
FLOOR, SOLE = C.Material(2e6, 0.3, 0.8, 0.5, 0.05, 0.05), C.Material(5e5, 0.8, 1.1, 0.9, 0.01, 0.02)
NORMAL, HEIGHT = np.array([0.2, 1.0, -0.1]) / np.linalg.norm([0.2, 1.0, -0.1]), 0.03
CENTER, RADIUS, THICK = np.array([0.01, -0.02, 0.03]), 0.1, 0.02
VERTICES, FACES = icosphere(1, RADIUS)
LAWS = (
    "HuntCrossley",
    "OpenSimHuntCrossley",
    "SmoothSphereHalfSpace",
    "ElasticFoundation",
    "OpenSimElasticFoundation",
)
REPORTS = {
    "depths": ["depth [m]"],
    "points": ["px [m]", "py [m]", "pz [m]"],
    "normals": ["nx", "ny", "nz"],
    "patches": ["major [m]", "minor [m]"],
    "slips": ["vx [m/s]", "vy [m/s]", "vz [m/s]"],
    "forces": ["fx [N]", "fy [N]", "fz [N]"],
    "losses": ["lost [W]"],
    "wrenches": [
        f"{body}_{x}"
        for body in ("ground", "foot")
        for x in ("mx [N m]", "my [N m]", "mz [N m]", "fx [N]", "fy [N]", "fz [N]")
    ],
}
"""Reports, and what their columns are called."""


def system_of(law: str) -> cd.System:
    system = cd.System()
    system.add_body("foot", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    floor = C.HalfSpace("ground", NORMAL, HEIGHT, FLOOR)
    if law == "SmoothSphereHalfSpace":
        system.add_force(
            "sole",
            C.SmoothSphereHalfSpace(
                "ground", NORMAL, HEIGHT, "foot", CENTER, RADIUS, 1e6, 0.5, 0.8, 0.6, 0.1, 0.03
            ),
        )
    elif "Foundation" in law:
        system.add_contact(
            "sole", floor, C.Mesh("foot", CENTER, (VERTICES, FACES), THICK, SOLE), law=getattr(C, law)
        )
    else:
        system.add_contact(
            "sole",
            floor,
            C.Sphere("foot", CENTER, RADIUS, SOLE),
            law=getattr(C, law),
            rolling_resistance=0.002,
            spin_friction=0.01,
        )
    return system


def state_of(system: cd.System) -> cd.State:
    """Turned, moving in all ways, 3 mm deep at its lowest point."""
    turn = np.array([0.8, 0.3, -0.4, 0.33])
    state = system.state(q=[*turn / np.linalg.norm(turn), 0, 0, 0], u=[0.7, 2.0, 1.0, 0.5, -0.1, 0.2])
    return state.replace(q=[*state.q[:4], *(state.q[4:] + (state.contacts.depths()[0] - 3e-3) * NORMAL)])


def step(x: float) -> float:
    """Zero to one with two derivatives that are zero at both ends."""
    return x**3 * (10 - 15 * x + 6 * x**2)


def stribeck(v: float, mu_s: float, mu_d: float, mu_v: float, v_t: float) -> float:
    """sherman2011's three segments."""
    s = v / v_t
    dry = mu_s * step(s) if s < 1 else mu_s - (mu_s - mu_d) * step((s - 1) / 2) if s < 3 else mu_d
    return dry + mu_v * v


def hollars(v: float, mu_s: float, mu_d: float, mu_v: float, v_t: float) -> float:
    """OpenSim's."""
    s = v / v_t
    return min(s, 1) * (mu_d + 2 * (mu_s - mu_d) / (1 + s * s)) + mu_v * v


def pair(law: str) -> tuple[float, ...]:
    """Share of the depth in the floor, stiffness, dissipation, three coefficients, transition speed."""
    mean = lambda f: 2 * getattr(FLOOR, f) * getattr(SOLE, f) / (getattr(FLOOR, f) + getattr(SOLE, f))
    friction = [mean(f"{f}_friction") for f in ("static", "dynamic", "viscous")]
    if law == "SmoothSphereHalfSpace":
        return 0.5, 1e6 ** (2 / 3) / 2, 0.5, 0.8, 0.6, 0.1, 0.03
    if law == "OpenSimElasticFoundation":
        return 0.0, 5e5 / THICK, 0.8, 1.1, 0.9, 0.01, 0.02
    if law == "ElasticFoundation":  # two springs, one behind the other
        s = 5e5 / (2e6 + 5e5)
        return s, s * 2e6 / THICK, s * 0.3 + (1 - s) * 0.8, *friction, 0.05
    s = 5e5 ** (2 / 3) / (2e6 ** (2 / 3) + 5e5 ** (2 / 3))
    return s, (s * 2e6 ** (2 / 3)) ** 1.5, s * 0.3 + (1 - s) * 0.8, *friction, 0.05


def by_hand(law: str, q: np.ndarray, u: np.ndarray) -> dict[str, np.ndarray]:
    """All reports of one contact. P: of the force; of a mesh `points` is that of elastic forces."""
    w, x_, y_, z_ = q[:4]
    r = np.array([[0, -z_, y_], [z_, 0, -x_], [-y_, x_, 0]])
    R, p = np.eye(3) + 2 * w * r + 2 * r @ r, q[4:]
    s, E, c, *mu = pair(law)
    curve = stribeck if law in ("HuntCrossley", "ElasticFoundation") else hollars
    if "Foundation" in law:
        corners = p + (CENTER + VERTICES[FACES]) @ R.T
        y, A = (
            corners.mean(axis=1),
            np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
            / 2,
        )
    else:
        y, A = (p + R @ CENTER - RADIUS * NORMAL)[None], np.ones(1)
    x = HEIGHT - y @ NORMAL
    lowest = float(x.max())
    y, A, x = y[x > 0], A[x > 0], x[x > 0]
    P = y + ((1 - s) * x)[:, None] * NORMAL  # s of the depth is in the floor
    v = u[3:] + np.cross(u[:3], P - p)
    xdot = -v @ NORMAL
    v_t = v + xdot[:, None] * NORMAL
    speed = np.linalg.norm(v_t, axis=1)
    if "Foundation" in law:
        f_e = E * A * x
        f_n = f_e * np.maximum(1 + c * xdot, 0)
    elif law == "SmoothSphereHalfSpace":
        f_e = 4 / 3 * E * np.sqrt(RADIUS * E) * (x**2 + 1e-5) ** 0.75 * (1 + np.tanh(300 * x)) / 2
        f_n = f_e * (1 + 1.5 * c * xdot) * (1 + np.tanh(50 * (xdot + 2 / (3 * c)))) / 2
        speed = np.sqrt(speed**2 + 1e-5)
    else:
        f_e = 4 / 3 * np.sqrt(RADIUS) * E * x**1.5
        f_n = f_e * np.maximum(1 + 1.5 * c * xdot, 0)
    size = np.array([curve(a, *mu) for a in speed])
    f_t = -(f_n * size / speed)[:, None] * v_t
    f = f_n[:, None] * NORMAL + f_t
    lost = float(((f_n - f_e) * xdot - (f_t * v_t).sum(axis=1)).sum())
    moment = np.zeros(3)
    if "HuntCrossley" in law:
        spin = u[:3] @ NORMAL * NORMAL
        for lever, turn in ((0.002, u[:3] - spin), (0.01, spin)):
            rate = np.linalg.norm(turn)
            moment -= lever * f_n[0] * curve(rate * RADIUS, 1, 1, 0, mu[-1]) * turn / rate
        lost -= float(moment @ u[:3])
    whole, center = f.sum(axis=0), f_n @ P / f_n.sum()
    about = lambda o: np.cross(P - o, f).sum(axis=0) + moment
    at_center = u[3:] + np.cross(u[:3], center - p)
    patch = np.sqrt(A.sum() / np.pi) if "Foundation" in law else np.sqrt(RADIUS * x[0])
    return {
        "depths": np.array(lowest),
        "points": f_e @ P / f_e.sum(),
        "normals": NORMAL,
        "patches": np.full(2, patch),
        "slips": at_center - at_center @ NORMAL * NORMAL,
        "forces": whole,
        "losses": np.array(lost),
        "center": center,
        "wrenches": np.stack([[*-about(0), *-whole], [*about(p), *whole]]),
    }


@pytest.mark.parametrize("law", LAWS)
def test_reports_by_hand(law, monkeypatch):
    """Rounding: 1e-12 of what each is large."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = system_of(law)
    state = state_of(system)
    expected = by_hand(law, state.q, state.u)
    assert system.contacts == ("sole",) and expected["depths"] == pytest.approx(3e-3, abs=1e-15)
    near = lambda found, name: np.testing.assert_allclose(
        found, expected[name], rtol=1e-11, atol=1e-12 * max(1, abs(expected[name]).max())
    )
    for name in REPORTS:
        near(getattr(state.contacts, name)()[0], name)
    near(state.contacts.center_of_pressure("sole"), "center")
    assert expected["losses"] > 0 and len({f"{x:.6g}" for x in expected["wrenches"].ravel()}) == 12


@pytest.mark.parametrize("law", [*LAWS, "Rigid"])
def test_reports_of_states_batches_runs_and_ensembles(law, monkeypatch):
    """Names and units of all columns; rows equal those of single states: 1e-9, since a run takes quaternions
    to unit length."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    if law == "Rigid":
        stone = C.Rigid(friction=0.5)
        system = cd.System()
        system.add_body("foot", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
        system.add_contact(
            "sole", C.HalfSpace("ground", (0, 1, 0), 0.0, stone), C.Sphere("foot", (0, 0, 0), 0.1, stone)
        )
        state = system.state(q={"foot_ty": 0.1}, u={"foot_vx": 1.0})
    else:
        system = system_of(law)
        state = state_of(system)
    run = (
        cd.simulate(system, state, 2e-4, step=1e-4, integrator="rk4")
        if law != "Rigid"
        else cd.simulate(system, state, 2e-4)
    )
    ensemble = cd.simulate(system, [state, state.replace(u={"foot_vx": 0.9})], 2e-4)
    k, single = len(run) - 1, run[-1]
    for name, columns in REPORTS.items():
        own = getattr(single.contacts, name)()
        table = getattr(run.contacts, name)()
        assert table.titles == [f"sole_{c}" for c in columns]
        np.testing.assert_allclose(table.values[k], own.ravel(), rtol=1e-9, atol=1e-9)
        many = getattr(ensemble.contacts, name)()
        assert many.titles == ["member", *table.titles] and len(many) == 4
        np.testing.assert_allclose(many.values[0, 1:], table.values[0], rtol=1e-9, atol=1e-9)
    center = run.contacts.center_of_pressure("sole")
    assert center.titles == ["sole_px [m]", "sole_py [m]", "sole_pz [m]"]
    np.testing.assert_allclose(
        center.values[k], single.contacts.center_of_pressure("sole"), rtol=1e-9, atol=1e-12
    )
    if law == "Rigid":  # it slides: mu m g against, m g up
        np.testing.assert_allclose(single.contacts.forces()[0], [-0.5 * 9.81, 9.81, 0], rtol=1e-9, atol=1e-9)
        slip = 1.0 - 0.5 * 9.81 * 2e-4 - 0.1 * 0.5 * 9.81 * 0.1 / 0.004 * 2e-4
        np.testing.assert_allclose(single.contacts.slips()[0], [slip, 0, 0], rtol=1e-9, atol=1e-9)
        assert single.contacts.losses()[0] == pytest.approx(0.5 * 9.81 * slip, rel=1e-9)
        np.testing.assert_allclose(
            single.contacts.wrenches()[0, 1], [0, 0, -0.0981 * 5, -0.5 * 9.81, 9.81, 0], rtol=1e-9, atol=1e-9
        )
    q = np.stack([state.q, single.q])
    depths = system.contacts.depths(q)
    assert depths.shape == (2, 1) and depths[1, 0] == pytest.approx(single.contacts.depths()[0], abs=1e-12)


def test_the_center_of_a_foot():
    """Of four balls, of which one is in the air, by hand: the mean of the points, by normal forces."""
    system = cd.System()
    system.add_body("foot", mobilizer=cd.Free(), mass=5.0, inertia=(0.01, 0.03, 0.03))
    places = [
        (x, -0.06 + 0.01 * (x > 0 and z > 0) - 1e-3 * (x > 0), z)
        for x in (-0.08, 0.12)
        for z in (-0.03, 0.03)
    ]
    sole = [C.Sphere("foot", place, 0.02, SOLE) for place in places]
    system.add_contact("sole", C.HalfSpace("ground", (0, 1, 0), 0.0, FLOOR), sole)
    state = system.state(q={"foot_ty": 0.079}, u={"foot_wz": 0.3})
    f, P = state.contacts.forces()[:, 1], state.contacts.points()
    assert (f > 0).tolist() == [True, True, True, False]
    np.testing.assert_allclose(
        state.contacts.center_of_pressure("sole"), f @ P / f.sum(), rtol=1e-12, atol=1e-15
    )
    np.testing.assert_allclose(state.contacts.center_of_pressure("sole.2"), P[2], rtol=1e-12, atol=1e-15)
    assert np.isnan(state.contacts.center_of_pressure("sole.3")).all()
