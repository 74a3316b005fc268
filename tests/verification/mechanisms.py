"""Mechanisms of the library of computational benchmark problems (A01-A04) and two of our own, as trees closed
by constraints.

Each function returns the System; with closed=False it is the open tree, which its `..._joints()` close in
`condyle.maximal`. SI units.
"""

from __future__ import annotations

import numpy as np

import condyle as cd
from condyle import maximal

C = cd.constraints
G = 9.81


def _close(system: cd.System, closed: bool, *points: tuple) -> cd.System:
    for a, p_a, b, p_b in points if closed else ():
        system.add_constraint(f"{a} {b}", C.Ball(a, p_a, b, p_b))
    return system


def _pins(*points: tuple) -> list[maximal.Loop]:
    return [maximal.Loop(*point, cd.Pin()) for point in points]


# ---- A01: a point mass on a rod ----------------------------------------------------------------------------


def pendulum() -> cd.System:
    """1 kg, 1 m: a point that is free to translate and a Rod."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("bob", mobilizer=cd.Translation(), mass=1.0)
    system.add_constraint("rod", C.Rod("ground", (0, 0, 0), "bob", (0, 0, 0), 1.0))
    return system


# ---- A02: N windows of slender links -----------------------------------------------------------------------


def _corners(N: int) -> list[tuple]:
    return [(f"h{k}", (1, 0, 0), f"v{k}", (0, 1, 0)) for k in range(1, N + 1)]


def four_bars(N: int, closed: bool = True) -> cd.System:
    """Uprights v0..vN on the floor, links h1..hN on top of v0..v(N-1), each closed at the top of the next
    upright."""
    system = cd.System(gravity=(0, -G, 0))
    for k in range(N + 1):
        if k:
            system.add_body(
                f"h{k}",
                f"v{k - 1}",
                cd.Pin(),
                X_PF=(0, 1, 0),
                mass=1.0,
                com=(0.5, 0, 0),
                inertia=(0, 1 / 12, 1 / 12),
            )
        system.add_body(
            f"v{k}",
            mobilizer=cd.Pin(),
            X_PF=(k, 0, 0),
            mass=1.0,
            com=(0, 0.5, 0),
            inertia=(1 / 12, 0, 1 / 12),
        )
    return _close(system, closed, *_corners(N))


def four_bars_state(N: int, theta: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and u where the uprights lean by theta toward x; the links stay level."""
    signs = np.array([-1.0] + [1.0, -1.0] * N)
    return theta * signs, rate * signs


def four_bars_joints(N: int) -> list[maximal.Loop]:
    return _pins(*_corners(N))


# ---- A03: Andrews' squeezing mechanism ---------------------------------------------------------------------

ANDREWS_START = {
    "beta": -0.0617138900142764,
    "Theta": 0.0,
    "gamma": 0.455279819163070,
    "Phi": 0.222668390165886,
    "delta": 0.487364979543843,
    "Omega": -0.222668390165886,
    "epsilon": 1.23054744454982,
}
_TIPS = [
    ("K2", (-0.028, 0, 0), "K3", (0, -0.035, 0)),
    ("K2", (-0.028, 0, 0), "K4", (0, -0.02, 0)),
    ("K2", (-0.028, 0, 0), "K6", (0.02, 0, 0)),
]


def andrews(closed: bool = True) -> cd.System:
    """Seven bodies in the plane; the tip of K2 carries those of K3, K4 and K6."""
    system = cd.System(gravity=(0, 0, 0))
    A, B = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0)
    for name, parent, at, mass, com, I, angle in (
        ("K1", "ground", (0, 0, 0), 0.04325, (0.00092, 0, 0), 2.194e-6, "beta"),
        ("K2", "K1", (0.007, 0, 0), 0.00365, (-0.0115, 0, 0), 4.41e-7, "Theta"),
        ("K3", "ground", B, 0.02373, (0.01043, -0.01874, 0), 5.255e-6, "gamma"),
        ("K5", "ground", A, 0.0705, (0.02308, 0.00916, 0), 1.169e-5, "delta"),
        ("K4", "K5", (0.04, 0, 0), 0.00706, (0, 0.01421 - 0.02, 0), 5.667e-7, "Phi"),
        ("K7", "ground", A, 0.05498, (-0.00449, -0.01228, 0), 1.912e-5, "epsilon"),
        ("K6", "K7", (0, -0.04, 0), 0.00706, (0.02 - 0.01421, 0, 0), 5.667e-7, "Omega"),
    ):
        system.add_body(
            name, parent, cd.Pin(), X_PF=at, mass=mass, com=com, inertia=(I, I, I), coordinates=angle
        )
    system.add_force(
        "spring",
        cd.forces.TwoPointSpring("ground", (0.014, 0.072, 0), "K3", (0.02, -0.018, 0), 4530.0, 0.07785),
    )
    system.add_force("drive", cd.forces.MobilityForce("beta", 0.033))
    return _close(system, closed, *_TIPS)


def andrews_joints() -> list[maximal.Loop]:
    return _pins(*_TIPS)


# ---- A04: Bricard's mechanism ------------------------------------------------------------------------------

CORNER = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)


def bricard(closed: bool = True) -> cd.System:
    """Five bricks and six hinges; the last, to ground, is a Ball and two right angles."""
    system = cd.System(gravity=(0, -G, 0))
    for i, axis in enumerate("yzxyz"):
        rod, before = CORNER[i + 1] - CORNER[i], CORNER[i - 1] if i else np.zeros(3)
        system.add_body(
            f"r{i}",
            f"r{i - 1}" if i else "ground",
            cd.Pin(axis=axis),
            X_PF=CORNER[i] - before,
            mass=1.0,
            com=rod / 2,
            inertia=np.where(rod != 0, 0.02, 1.01) / 12,
        )
    if closed:
        system.add_constraint("point", C.Ball("ground", CORNER[5], "r4", CORNER[5] - CORNER[4]))
        system.add_constraint("across y", C.ConstantAngle("ground", (1, 0, 0), "r4", (0, 1, 0)))
        system.add_constraint("across z", C.ConstantAngle("ground", (1, 0, 0), "r4", (0, 0, 1)))
    return system


def bricard_joints() -> list[maximal.Loop]:
    return [maximal.Loop("ground", CORNER[5], "r4", CORNER[5] - CORNER[4], cd.Pin(axis="x"))]


# ---- A slider-crank: one degree of freedom, J(theta) thetadot^2 / 2 + V(theta) -----------------------------

CRANK, ROD = 0.2, 0.5  # [m]
M_CRANK, M_ROD, M_SLIDER = 1.2, 0.8, 1.5  # [kg]


def slider_crank(closed: bool = True) -> cd.System:
    system = cd.System(gravity=(0, -G, 0))
    for name, parent, at, m, length in (
        ("crank", "ground", 0.0, M_CRANK, CRANK),
        ("rod", "crank", CRANK, M_ROD, ROD),
    ):
        I = m * length**2 / 12
        system.add_body(
            name, parent, cd.Pin(), X_PF=(at, 0, 0), mass=m, com=(length / 2, 0, 0), inertia=(0, I, I)
        )
    system.add_body("slider", mobilizer=cd.Slider(), mass=M_SLIDER, inertia=(1e-3,) * 3)
    return _close(system, closed, ("rod", (ROD, 0, 0), "slider", (0, 0, 0)))


def slider_crank_joints() -> list[maximal.Loop]:
    return _pins(("rod", (ROD, 0, 0), "slider", (0, 0, 0)))


def slider_crank_state(theta: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and u from the crank's angle: the rod leans by -asin(r sin(theta) / l)."""
    s = np.sqrt(ROD**2 - (CRANK * np.sin(theta)) ** 2)
    lean, turn = -np.arcsin(CRANK * np.sin(theta) / ROD), -CRANK * np.cos(theta) / s
    x, dx = CRANK * np.cos(theta) + s, -CRANK * np.sin(theta) * (1 + CRANK * np.cos(theta) / s)
    return np.array([theta, lean - theta, x]), rate * np.array([1.0, turn - 1, dx])


def slider_crank_J(theta):
    s = np.sqrt(ROD**2 - (CRANK * np.sin(theta)) ** 2)
    x = -CRANK * np.sin(theta) * (1 + CRANK * np.cos(theta) / s)  # d/dtheta of the slider
    cx, cy = (x - CRANK * np.sin(theta)) / 2, CRANK * np.cos(theta) / 2  # and of the rod's center
    turn = CRANK * np.cos(theta) / s
    return M_CRANK * CRANK**2 / 3 + M_ROD * (cx**2 + cy**2 + (ROD * turn) ** 2 / 12) + M_SLIDER * x**2


def slider_crank_V(theta):
    return G * (M_CRANK + M_ROD) * CRANK / 2 * np.sin(theta)


# ---- A flyball governor: spin psi and spread alpha ---------------------------------------------------------

ARM = 0.3  # [m], arms and links
M_BALL, M_LINK, M_SLEEVE, I_SHAFT, I_SLEEVE = 0.9, 0.2, 1.4, 0.02, 0.004
_ENDS = [(f"link{s}", (0, -ARM, 0), "sleeve", (0, 0, 0)) for s in "ab"]


def governor(closed: bool = True) -> cd.System:
    """A shaft about y, two massless arms with balls (points), two slender links down to a sleeve on the
    shaft."""
    system = cd.System(gravity=(0, -G, 0))
    system.add_body("shaft", mobilizer=cd.Pin(axis="y"), mass=1.0, inertia=(I_SHAFT,) * 3, coordinates="psi")
    I = M_LINK * ARM**2 / 12
    for s in "ab":
        system.add_body(f"arm{s}", "shaft", cd.Pin(), mass=M_BALL, com=(0, -ARM, 0))
        system.add_body(
            f"link{s}",
            f"arm{s}",
            cd.Pin(),
            X_PF=(0, -ARM, 0),
            mass=M_LINK,
            com=(0, -ARM / 2, 0),
            inertia=(I, 0, I),
        )
    system.add_body("sleeve", "shaft", cd.Slider(axis="y"), mass=M_SLEEVE, inertia=(I_SLEEVE,) * 3)
    return _close(system, closed, *_ENDS)


def governor_joints() -> list[maximal.Loop]:
    return _pins(*_ENDS)


def governor_state(psi: float, alpha: float, spin: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and u: psi, arm and link of either side, sleeve at -2 l cos(alpha)."""
    q = np.array([psi, alpha, -2 * alpha, -alpha, 2 * alpha, -2 * ARM * np.cos(alpha)])
    return q, np.array([spin, rate, -2 * rate, -rate, 2 * rate, 2 * ARM * np.sin(alpha) * rate])


def governor_spin_inertia(alpha):
    """About the shaft; a slender link from the axis has m x^2 / 3."""
    return I_SHAFT + I_SLEEVE + 2 * (M_BALL + M_LINK / 3) * (ARM * np.sin(alpha)) ** 2


def governor_J(alpha):
    """The inertia that the spread meets. A link's center is at (l sin / 2, -3 l cos / 2)."""
    s2, c2 = np.sin(alpha) ** 2, np.cos(alpha) ** 2
    return ARM**2 * (2 * M_BALL + 4 * M_SLEEVE * s2 + 2 * M_LINK * (c2 / 4 + 9 * s2 / 4 + 1 / 12))


def governor_V(alpha):
    return -G * ARM * np.cos(alpha) * (2 * M_BALL + 3 * M_LINK + 2 * M_SLEEVE)
