"""Where a mobilizer loses rank: SingularError with names and q, one state, in a batch, by a State; and where
it does not."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.errors import SingularError
from condyle.mobilizers import motion_at, runaway

HALF = np.pi / 2
FLAT = (0.3, HALF, 0.2)


def square(x):
    return x * x


# Mobilizer, coordinates where it is singular, the speed that is blamed, coordinates nearby where all is well.
LOST = {
    "Gimbal": (cd.Gimbal(), FLAT, "rz", (0.3, HALF - 0.01, 0.2)),
    "Gimbal, other side": (cd.Gimbal(), (0.0, -HALF, 0.0), "rz", (0.0, -HALF + 0.01, 0.0)),
    "Gimbal, a turn later": (
        cd.Gimbal(),
        (0.3, HALF + 2 * np.pi, 0.2),
        "rz",
        (0.3, HALF + 2 * np.pi + 0.01, 0.2),
    ),
    "Gimbal reversed": (cd.Gimbal().reversed(), FLAT, "rz", (0.3, HALF - 0.01, 0.2)),
    "Bushing": (cd.Bushing(), (*FLAT, 0.1, 0.2, 0.3), "rz", (0.3, 1.5, 0.2, 0.1, 0.2, 0.3)),
    "angle stands still": (cd.FunctionBased(("x",), (None, None, square)), (0.0,), "x", (0.01,)),
    "translation stands still": (
        cd.FunctionBased(("x",), translations=(None, square, None)),
        (0.0,),
        "x",
        (0.01,),
    ),
    "two move alike": (
        cd.FunctionBased(("x", "y"), (None, None, lambda x, y: x), (lambda x, y: x * y, None, None)),
        (0.0, 1.0),
        "y",
        (0.01, 1.0),
    ),
    "function in gimbal lock": (
        cd.FunctionBased(("x", "y", "z"), (lambda x, y, z: x, lambda x, y, z: y, lambda x, y, z: z)),
        FLAT,
        "z",
        (0.3, 1.5, 0.2),
    ),
    "Custom": (cd.Custom(("x",), lambda x: (np.eye(3), (np.cos(x), 0, 0))), (0.0,), "x", (0.01,)),
    "Custom reversed": (
        cd.Custom(("x",), lambda x: (np.eye(3), (np.cos(x), 0, 0))).reversed(),
        (0.0,),
        "x",
        (0.01,),
    ),
    "composed": (
        cd.compose(cd.Pin("x"), cd.Pin("y"), cd.Pin("x")),
        (0.1, 0.0, 0.2),
        "angle3",
        (0.1, 0.01, 0.2),
    ),
}


def system_of(mobilizer) -> cd.System:
    """A pin, then the mobilizer, then a pin."""
    system = cd.System()
    body = {"mass": 1.0, "com": (0.1, 0.05, 0.02), "inertia": (0.1, 0.12, 0.11)}
    system.add_body("thigh", mobilizer=cd.Pin(), **body)
    system.add_body("shank", "thigh", mobilizer, X_PF=(0.1, -0.3, 0), **body)
    system.add_body("foot", "shank", cd.Pin("x"), X_PF=(0, -0.3, 0), **body)
    return system


def states(system, *qs):
    """q (n, nq) and u (n, nu) with these coordinates of the shank."""
    q = np.tile(system.defaults()[0], (len(qs), 1))
    q[:, system.body("shank").q] = qs
    return q, np.full((len(qs), system.nu), 0.3)


def blamed(system, short):
    body = system.body("shank")
    return next(s for s in body.speeds if s == short or s.endswith(f"_{short}") or len(body.speeds) == 1)


@pytest.mark.parametrize("evaluator", ["native", "casadi"])
@pytest.mark.parametrize("name", LOST)
def test_lost_rank_is_reported(name, evaluator, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    mobilizer, where, speed, near = LOST[name]
    system = system_of(mobilizer)
    q, u = states(system, where, near)
    for call in (
        lambda: system.forward_dynamics(q[0], u[0]),
        lambda: system.solve_mass_matrix(q[0], u[0]),
        lambda: system.state(q=q[0], u=u[0]).udot,
        lambda: system.inverse_mass_matrix(q[0]),
    ):
        with pytest.raises(SingularError) as caught:
            call()
        error, message = caught.value, str(caught.value)
        assert error.body == "shank" and error.speed == blamed(system, speed)
        np.testing.assert_array_equal(error.q, where)
        assert "'shank'" in message and repr(mobilizer) in message and repr(error.speed) in message
        for coordinate, value in zip(system.body("shank").coordinates, where, strict=True):
            assert f"{coordinate.name} = {value:.6g}" in message
        assert "lock that speed" in message
    assert np.isfinite(system.forward_dynamics(q[1], u[1])).all()  # nearby it only gets large


@pytest.mark.parametrize("name", ["Gimbal", "angle stands still", "Custom"])
@pytest.mark.parametrize("threads", [None, 2])
def test_one_singular_state_leaves_the_others(name, threads):
    mobilizer, where, _, near = LOST[name]
    system = system_of(mobilizer)
    away = np.add(near, 0.1)
    q, u = states(system, *[near, away, near, where, away, near, away, near, away, near, where, away])
    q, u = q.reshape(3, 4, -1), u.reshape(3, 4, -1)
    with pytest.raises(
        SingularError, match=r"state \(0, 3\) of the batch; `error\.result` has the others"
    ) as caught:
        system.forward_dynamics(q, u, threads=threads)
    result = caught.value.result
    assert result.shape == (3, 4, system.nu)
    bad = np.zeros((3, 4), bool)
    bad[0, 3] = bad[2, 2] = True
    assert np.isnan(result[bad]).all() and np.isfinite(result[~bad]).all()
    alone = np.array([system.forward_dynamics(a, b) for a, b in zip(q[~bad], u[~bad])])
    # near the place cond(M) is some 1e4
    np.testing.assert_allclose(result[~bad], alone, rtol=1e-9)


@pytest.mark.parametrize("mobilizer", [cd.Gimbal(), cd.Bushing(), cd.Gimbal().reversed()], ids=repr)
def test_lost_rank_is_found_in_chains_of_light_and_heavy_bodies(mobilizer, monkeypatch):
    """Masses from 1 g to 1 t: what rounding leaves of the pivot never passes for an inertia."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    rng, system = np.random.default_rng(0), cd.System()
    for i in range(7):
        mass = 10 ** rng.uniform(-3, 3)
        system.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "ground",
            mobilizer if i == 3 else cd.Pin("xyz"[i % 3]),
            X_PF=rng.uniform(-0.5, 0.5, 3),
            mass=mass,
            com=rng.uniform(-0.3, 0.3, 3),
            inertia=mass * rng.uniform(0.08, 0.12, 3),
        )
    q = rng.uniform(-3, 3, (100, system.nq))
    q[:, system.body("b3").q.start + 1] = HALF
    with pytest.raises(SingularError, match=r"'b3_rz' moves nothing new") as caught:
        system.forward_dynamics(q, rng.uniform(-1, 1, (100, system.nu)))
    assert np.isnan(caught.value.result).all()


def test_a_lock_on_the_lost_speed_helps():
    system = system_of(cd.Gimbal())
    q, u = states(system, FLAT)
    udot = system.forward_dynamics(q[0], u[0], locked=["shank_rz"])
    assert np.isfinite(udot).all() and udot[system.speeds.index("shank_rz")] == 0


REGULAR = {
    "BendStretch at zero": (cd.BendStretch(), (0.4, 0.0)),
    "SphericalCoords at zero": (cd.SphericalCoords(), (0.4, 0.0, 0.0)),
    "Universal": (cd.Universal(), (0.4, HALF)),
    "CantileverFreeBeam": (cd.CantileverFreeBeam(0.4), FLAT),
    "Ball": (cd.Ball(), (np.cos(HALF / 2), 0, np.sin(HALF / 2), 0)),
    "Free": (cd.Free(), (np.cos(HALF / 2), 0, np.sin(HALF / 2), 0, 0, 0, 0)),
    "Ellipsoid": (cd.Ellipsoid((0.1, 0.2, 0.3)), (0, 0, 1.0, 0)),
    "LineOrientation": (cd.LineOrientation(), (0, 0, 1.0, 0)),
    "slow function": (cd.FunctionBased(("x",), (None, None, square)), (1e-5,)),
}


@pytest.mark.parametrize("name", REGULAR)
def test_regular_places_are_not_reported(name, monkeypatch):
    """Coordinates may be special while the mass matrix is not."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    mobilizer, where = REGULAR[name]
    system = system_of(mobilizer)
    q, u = states(system, where)
    udot = system.forward_dynamics(q[0], u[0])
    tau = system.inverse_dynamics(q[0], u[0], udot)
    # What cancels: M udot and h. For the slow function udot is some 1e10 and cond(M) too.
    M, h = system.mass_matrix(q[0]), system.inverse_dynamics(q[0], u[0], 0 * u[0])
    np.testing.assert_allclose(
        tau, 0, atol=1e-12 * max(1, (np.abs(M) @ np.abs(udot)).max() + np.abs(h).max())
    )


def test_a_particle_at_the_origin_is_singular():
    """H keeps its rank, but nothing resists the angle: reported all the same."""
    system = cd.System()
    system.add_body("bead", mobilizer=cd.BendStretch(), mass=1.0)
    with pytest.raises(
        SingularError, match=r"'bead_bend' moves nothing new at bead_bend = 0\.2, bead_stretch = 0"
    ):
        system.forward_dynamics([0.2, 0.0], [1.0, 1.0])
    assert np.isfinite(system.forward_dynamics([0.2, 0.1], [1.0, 1.0])).all()


def test_coordinates_that_are_not_finite_are_not_called_singular():
    system = system_of(cd.Gimbal())
    q, u = states(system, (0.1, np.nan, 0.2))
    with pytest.raises(cd.errors.ShapeError, match="coordinate 'shank_ry' is nan"):
        system.forward_dynamics(q[0], u[0])


def test_inverse_dynamics_needs_no_rank():
    """Forces for a given motion exist everywhere."""
    system = system_of(cd.Gimbal())
    q, u = states(system, FLAT)
    assert np.isfinite(system.inverse_dynamics(q[0], u[0], u[0])).all()
    assert np.isfinite(system.mass_matrix(q[0])).all()


@pytest.mark.parametrize("kind", ["jacobian", "jvp", "vjp"])
def test_derivatives_report_lost_rank_too(kind, monkeypatch):
    monkeypatch.setenv("CONDYLE_EVALUATOR", "casadi")
    system = system_of(cd.Gimbal())
    q, u = states(system, FLAT, (0.3, 1.0, 0.2))
    how = {
        "jacobian": {"wrt": "q"},
        "jvp": {"tangents": {"q": u[0]}},
        "vjp": {"cotangent": u[0], "wrt": ("q",)},
    }[kind]
    ask = getattr(system, kind)
    with pytest.raises(
        SingularError, match=rf"{kind} of forward_dynamics.*'shank'.*shank_ry = 1\.5708"
    ) as caught:
        ask("forward_dynamics", q[0], u[0], **how)
    assert caught.value.speed == "shank_rz"
    with pytest.raises(SingularError, match=r"state \(0,\) of the batch"):
        ask("forward_dynamics", q, u, **how)
    fine = ask("forward_dynamics", q[1], u[1], **how)
    assert np.isfinite(fine["q"] if kind == "vjp" else fine).all()
    inverse = {**how, "wrt": ("q",)} if kind == "vjp" else how
    ask("inverse_dynamics", q[0], u[0], u[0], **inverse)  # needs no rank


@pytest.mark.parametrize(
    "joint",
    [
        cd.FunctionBased(("knee",), (None, None, lambda q: np.sqrt(q + 1))),
        cd.Custom(("knee",), lambda q: (np.eye(3), (1 / (q + 2), 0.0, 0.0))),
    ],
    ids=["root", "division"],
)
def test_a_joint_that_is_not_finite_is_named_itself(joint):
    """Not the healthy pin at the tip, whose inertia is not a number because of it."""
    system = system_of(joint)
    q, u = states(system, (-2.0,))
    with pytest.raises(
        SingularError,
        match=r"body 'shank'.*is not a number or infinite at knee = "
        r"-2.*system\.explain",
    ) as caught:
        system.forward_dynamics(q[0], u[0])
    assert caught.value.body == "shank"
    assert system.explain(system.state(q=q[0], u=u[0])).first.startswith("mobilizer of 'shank'")


# ---- Coordinates that cannot follow the speeds -------------------------------------------------------------


def pole(x):
    """N of a coordinate whose rate has a pole at 1."""
    return [[1 / (1 - x)]]


RUNAWAY = {
    "Ball": (cd.Ball("euler"), FLAT, (0.3, HALF - 1e-7, 0.2)),
    "Ball, other side": (cd.Ball("euler"), (0.0, -HALF, 0.0), (0.0, 1e-7 - HALF, 0.0)),
    "Free": (cd.Free("euler"), (*FLAT, 0.1, 0.2, 0.3), (0.3, HALF + 1e-7, 0.2, 0.1, 0.2, 0.3)),
    "Ellipsoid reversed": (
        cd.Ellipsoid((0.1, 0.2, 0.3), coordinates="euler").reversed(),
        FLAT,
        (0.3, 1.5, 0.2),
    ),
    "composed": (cd.compose(cd.Pin(), cd.Ball("euler")), (0.4, *FLAT), (0.4, 0.3, 1.5, 0.2)),
    "Custom": (
        cd.Custom(("x",), lambda x: (np.eye(3), (x, 0, 0)), N=pole, speeds=("w",)),
        (1.0,),
        (1 - 1e-7,),
    ),
}


@pytest.mark.parametrize("how", ["native", "looped", "casadi"])
@pytest.mark.parametrize("name", RUNAWAY)
def test_coordinates_that_cannot_follow_are_reported(name, how, monkeypatch):
    """One state, a State, a derivative; nearby qdot is only large, and equals N u of the reference
    program."""
    monkeypatch.setenv(
        *{
            "native": ("CONDYLE_LAYOUT", "unrolled"),
            "looped": ("CONDYLE_LAYOUT", "looped"),
            "casadi": ("CONDYLE_EVALUATOR", "casadi"),
        }[how]
    )
    mobilizer, where, near = RUNAWAY[name]
    system = system_of(mobilizer)
    q, u = states(system, where, near)
    body = system.body("shank")
    for call in (
        lambda: system.qdot(q[0], u[0]),
        lambda: system.state(q=q[0], u=u[0]).qdot,
        lambda: system.qdot(list(q[0]), u[0]),
        lambda: system.jacobian("qdot", q[0], u[0], wrt="u"),
    ):
        with pytest.raises(
            SingularError,
            match=r"qdot: the coordinates of body 'shank'.*cannot follow its "
            r"speeds",
        ) as caught:
            call()
        assert caught.value.body == "shank" and repr(mobilizer) in str(caught.value)
        np.testing.assert_array_equal(caught.value.q, where)
        assert f"{body.coordinates[0].name} = {where[0]:.6g}" in str(caught.value)
    rates = system.qdot(q[1], u[1])
    expected = np.concatenate(
        [[0.3], motion_at(mobilizer, 0.0, q[1, body.q], u[1, body.u]).qdot[:, 0], [0.3]]
    )
    # 1 / cos loses half of its digits there
    np.testing.assert_allclose(rates, expected, rtol=1e-7)


def test_one_state_that_cannot_follow_leaves_the_others():
    system = system_of(cd.Ball("euler"))
    q, u = states(system, *[(0.1, 0.1 * k, 0.2) for k in range(20)])
    q[13, system.body("shank").q] = FLAT
    with pytest.raises(SingularError, match=r"state \(13,\) of the batch") as caught:
        system.qdot(q, u)
    assert (
        np.isnan(caught.value.result[13]).all()
        and np.isfinite(np.delete(caught.value.result, 13, axis=0)).all()
    )


def test_a_simulation_does_not_start_where_coordinates_cannot_follow():
    system = system_of(cd.Ball("euler"))
    q, u = states(system, FLAT)
    trajectory = cd.simulate(system, system.state(q=q[0], u=u[0]), t_final=0.1)
    assert trajectory.status.startswith("stopped at t = 0 s") and np.isfinite(trajectory.q).all()


@pytest.mark.parametrize(
    "mobilizer",
    [cd.Pin(), cd.Gimbal(), cd.Ball(), cd.Free(), cd.LineOrientation(), cd.Ellipsoid((1, 2, 3))],
    ids=repr,
)
def test_bounded_rates_cost_nothing(mobilizer):
    """No check where N is made of sums and products."""
    assert runaway(mobilizer, ca.SX.sym("q", mobilizer.nq)) is None


@pytest.mark.parametrize("evaluator", ["native", "casadi"])
def test_derivatives_report_lost_rank(evaluator, monkeypatch):
    """Gimbal lock: not NaN from a Jacobian, nor 1e16 from a jvp."""
    monkeypatch.setenv("CONDYLE_EVALUATOR", evaluator)
    system = cd.System()
    system.add_body("a", "ground", cd.Gimbal(), mass=1.0, com=(0.1, 0.2, 0.3), inertia=(1.0, 1.1, 1.2))
    good, lock, u = np.array([0.3, 0.5, 0.2]), np.array([0.3, np.pi / 2, 0.2]), np.array([0.1, 0.2, 0.3])
    both = np.stack([good, lock])
    ask = {
        "jacobian": lambda q: system.jacobian("forward_dynamics", q, u, wrt=("q", "u", "tau")),
        "jacobian by t": lambda q: system.jacobian("forward_dynamics", q, u, wrt="t"),
        "jvp": lambda q: system.jvp("forward_dynamics", q, u, tangents={"q": u}),
        "vjp": lambda q: system.vjp("forward_dynamics", q, u, cotangent=u, wrt=("q", "u")),
        "solve": lambda q: system.jvp("solve_mass_matrix", q, u, tangents={"q": u}),
    }
    for kind, call in ask.items():
        whole = call(good)
        for q in (lock, both):
            with pytest.raises(cd.errors.SingularError, match=r"'a'.*a_rz") as error:
                call(q)
        first = next(iter(whole.values())) if isinstance(whole, dict) else whole
        np.testing.assert_allclose(error.value.result[0], first.ravel(), rtol=1e-12, err_msg=kind)
        assert np.isnan(error.value.result[1]).all()
