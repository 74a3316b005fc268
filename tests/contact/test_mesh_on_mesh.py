"""Two meshes: forces and derivatives against another program in fifty digits, over all triangles."""

from __future__ import annotations

import mpmath as mp
import numpy as np

import condyle as cd
from condyle import contact
from tests.contact.meshes import icosphere, winding

DIGITS = 50
E_B, E_A, H_B, H_A = 1e6, 3e6, 0.01, 0.02
SOFT = contact.Material(E_B, 0.4, 0.8, 0.5, 0.1, 0.05)
HARD = contact.Material(E_A, 0.2, 0.6, 0.4, 0.2, 0.08)


def dented(times: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A ball with a pit: from inside, edges and corners of the pit may be nearest."""
    v, f = icosphere(times, radius)
    return v * (1 - 0.75 * np.exp(-9 * (1 - v[:, 1:2] / radius))), f


BELOW, ABOVE = dented(1, 0.12), dented(0, 0.09)


def system() -> cd.System:
    s = cd.System(gravity=(0, 0, 0))
    s.add_body("b", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    s.add_contact(
        "c", contact.Mesh("ground", None, BELOW, H_A, HARD), contact.Mesh("b", None, ABOVE, H_B, SOFT)
    )
    return s


def vector(*x):
    return np.array([mp.mpf(t) for t in x], dtype=object)


def cross(a, b):
    return np.roll(a * np.roll(b, -1) - np.roll(a, -1) * b, -1)


def norm(a):
    return mp.sqrt(a @ a)


def rotation(q):
    w, x, y, z = q / norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def nearest(corners, y):
    """The nearest point of a triangle, and how many corners it depends on: the foot on its plane if that is
    within, else the nearest of its sides."""
    a, b, c = corners
    n = cross(b - a, c - a)
    foot = y - (n @ (y - a)) / (n @ n) * n
    sides = ((a, b), (b, c), (c, a))
    if all(n @ cross(q - p, foot - p) > 0 for p, q in sides):
        return foot, 3
    found = []
    for p, q in sides:
        t = (y - p) @ (q - p) / ((q - p) @ (q - p))
        found.append((p + min(max(t, 0), 1) * (q - p), 2 if 0 < t < 1 else 1))
    return min(found, key=lambda at: norm(at[0] - y))


def inside(triangles, y):
    """By solid angles; no centroid is so near to the surface that doubles would not tell."""
    return winding(np.array(triangles).astype(float), y.astype(float)) > 0.5


def placed(mesh, R, p):
    return [[p + R @ vector(*map(float, corner)) for corner in corners] for corners in mesh[0][mesh[1]]]


def friction(slip):
    """Of both materials: twice the product over the sum; the larger transition speed."""
    us, ud, uv = (
        2 * mp.mpf(a) * mp.mpf(b) / (mp.mpf(a) + mp.mpf(b))
        for a, b in (("0.8", "0.6"), ("0.5", "0.4"), ("0.1", "0.2"))
    )
    s = slip / mp.mpf("0.08")
    step = lambda t: t**3 * (10 - 15 * t + 6 * t**2)
    dry = us * step(s) if s < 1 else us - (us - ud) * step((s - 1) / 2) if s < 3 else ud
    return dry + uv * slip


def wrench(q, u, chosen=None):
    """Moment about b's origin and force on b; and which triangle is the nearest to each centroid inside:
    found among all, or as `chosen`."""
    R, p = rotation(q[:4]), q[4:]
    a, b = placed(BELOW, np.eye(3, dtype=int), vector(0, 0, 0)), placed(ABOVE, R, p)
    total, found = vector(*[0] * 6), {}
    stiff = mp.mpf(E_A) / mp.mpf(H_A), mp.mpf(E_B) / mp.mpf(H_B)
    K = stiff[0] * stiff[1] / (stiff[0] + stiff[1])
    for sign, mine, other in ((1, b, a), (-1, a, b)):
        share = K / stiff[1 if sign > 0 else 0]  # of the depth that my layer gives way by
        c = share * mp.mpf("0.4" if sign > 0 else "0.2") + (1 - share) * mp.mpf("0.2" if sign > 0 else "0.4")
        for k, corners in enumerate(mine):
            y = (corners[0] + corners[1] + corners[2]) / 3
            if chosen is None:
                if not inside(other, y):
                    continue
                points = [nearest(t, y) for t in other]
                best = min(range(len(other)), key=lambda j: norm(points[j][0] - y))
                found[sign, k] = best, points[best][1]
            elif (sign, k) not in chosen:
                continue
            S = nearest(other[(found if chosen is None else chosen)[sign, k][0]], y)[0]
            x, n = norm(S - y), (S - y) / norm(S - y)
            area = norm(cross(corners[1] - corners[0], corners[2] - corners[0])) / 2
            P = y + share * x * n
            v = sign * (u[3:] + cross(u[:3], P - p))
            rate = -(n @ v)
            f_n = K / 2 * area * x * max(1 + c * rate, 0)
            v_t = v + rate * n
            f = sign * (f_n * n - friction(norm(v_t)) * f_n * v_t / norm(v_t))
            total = total + np.concatenate([cross(P - p, f), f])
    return total, found


def test_forces_and_derivatives_in_fifty_digits(evidence):
    """With friction and dissipation. The nearest triangle is found among all of them, inside and outside by
    solid angles."""
    s, rng = system(), np.random.default_rng(6)  # faces and edges are nearest
    q = np.array([*rng.normal(size=4), *rng.uniform(-0.02, 0.02, 3)])
    q[:4] /= np.linalg.norm(q[:4])
    q[5] += 0.09
    u = rng.uniform(-0.3, 0.3, 6)
    with mp.workdps(DIGITS):
        exact = lambda e, dq, du, chosen=None: wrench(
            vector(*q) + e * vector(*dq), vector(*u) + e * vector(*du), chosen
        )
        F, chosen = exact(mp.mpf(0), 0 * q, 0 * u)
        N, h = s.kinematics.N(q), mp.mpf(10) ** -15
        columns = [(N[:, j], 0 * u) for j in range(6)] + [(0 * q, e) for e in np.eye(6)]
        slopes = np.array([(exact(h, *c, chosen)[0] - exact(-h, *c, chosen)[0]) / (2 * h) for c in columns]).T
    F, slopes = F.astype(float), slopes.astype(float)
    places = [number for _, number in chosen.values()]
    assert {sign for sign, _ in chosen} == {1, -1} and 3 in places and min(places) < 3
    error = np.abs(s.contacts.wrenches(q, u)[0, 1] - F).max() / np.abs(F).max()
    J = s.jacobian("contacts.wrenches", q, u, wrt=("q", "u"))
    off = np.abs(np.hstack([J["q"], J["u"]])[6:] - slopes).max() / np.abs(slopes).max()
    evidence("forces of meshes on meshes against 50 digits and all triangles, relative", error, 1e-13)
    evidence("derivatives of meshes on meshes against 50 digits, relative", off, 1e-12)
    assert error < 1e-13 and off < 1e-12  # rounding of some 100 sums


def test_a_bounce():
    """Two free balls of triangles meet, slide and part: energy and loss make up for each other, and the net
    wrench is zero, whichever mesh comes first and wherever the world is."""

    def made(swapped):
        s = cd.System(gravity=(0, 0, 0))
        for name in "ab":
            s.add_body(name, mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
        pair = [
            contact.Mesh("a", None, icosphere(2, 0.1), 0.01, HARD),
            contact.Mesh("b", None, icosphere(1, 0.08), 0.02, SOFT),
        ]
        s.add_contact("c", *(pair[::-1] if swapped else pair))
        s.add_measure("lost", cd.measures.Integral(lambda view: view.ask(contact.Loss(s.force("c")))[0]))
        return s

    s, swapped = made(False), made(True)
    run = cd.simulate(
        s,
        s.state(q={"b_tx": 0.2, "b_ty": 0.03}, u={"b_vx": -1.0, "b_wz": 3.0, "a_vy": 0.1}),
        0.12,
        accuracy=1e-10,
    )
    energy = [sum(run(t).energy()) + run(t).z[0] for t in np.linspace(0, 0.12, 13)]
    assert run.z[-1, 0] > 0.1 and np.ptp(energy) < 1e-9  # 6e-12 measured, of 0.5 J
    q, u = run(0.02).q, run(0.02).u
    F = s.contacts.wrenches(q, u)[0]
    most = np.abs(F).max()
    np.testing.assert_allclose(F[0, 3:], -F[1, 3:], rtol=0, atol=1e-14 * most)
    about = [f[:3] + np.cross(s.body_pose(q, b).p, f[3:]) for f, b in zip(F, "ab", strict=True)]
    np.testing.assert_allclose(about[0], -about[1], rtol=0, atol=1e-13 * most)
    np.testing.assert_allclose(swapped.contacts.wrenches(q, u)[0, ::-1], F, rtol=0, atol=1e-14 * most)
    # the world turned by 120 degrees about (1, 1, 1), and moved: x -> y -> z -> x
    moved = q.copy()
    for k in (0, 7):
        w, x = moved[k], moved[k + 1 : k + 4]
        moved[k] = (w - x.sum()) / 2
        moved[k + 1 : k + 4] = (w + x + np.cross((1, 1, 1), x)) / 2
        moved[k + 4 : k + 7] = np.roll(moved[k + 4 : k + 7], 1) + (3, -2, 5)
    turned = np.roll(u.reshape(4, 3), 1, axis=1).ravel()
    found = s.contacts.wrenches(np.stack([moved, q]), np.stack([turned, u]))[:, 0]
    # 5 m away: rounding of positions over depths of some mm
    np.testing.assert_allclose(
        found[0], np.roll(F.reshape(2, 2, 3), 1, axis=2).reshape(2, 6), rtol=0, atol=1e-11 * most
    )
    np.testing.assert_array_equal(found[1], F)  # lanes are scalars
