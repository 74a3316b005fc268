"""Implausible numbers are asked about, with the value and the likely cause; unusual ones are not."""

import warnings

import numpy as np
import pytest

import condyle as cd

POINTS = [("ground", (0, 0, 0)), ("b", (0, -0.2, 0))]
LEG = {"mobilizer": cd.Pin(), "mass": 7.0, "inertia": (0.1, 0.02, 0.1), "X_BM": (0, 0.2, 0)}


def body(**options):
    system = cd.System()
    system.add_body("b", **{**LEG, **options})
    return system


def muscle(force=1000.0, fiber=0.1, tendon=0.2, **options):
    body().add_force("m", cd.muscles.Thelen2003(cd.paths.Path(POINTS), force, fiber, tendon, **options))


def leg():
    system = body()
    path = cd.paths.Path([("ground", (0.05, 0.1, 0)), POINTS[1]])
    system.add_force("m", cd.muscles.Thelen2003(path, 1000, 0.1, 0.2, tendon="rigid"))
    return system


def plates(step, n=100):
    names = [a + x for a in "fp" for x in "xyz"]
    return cd.ExternalLoad("foot", cd.Table(step * np.arange(n), names, np.ones((n, 6))), "f", "p")


ASKED = {
    "tendon in millimeters": (lambda: muscle(tendon=250.0), r"tendon_slack_length = 250 m .* by 1000"),
    "fibers in millimeters": (lambda: muscle(fiber=100.0), r"optimal_fiber_length = 100 m .* by 1000"),
    "forces beyond animals": (lambda: muscle(force=1e7), r"max_isometric_force = 1e\+07 N"),
    "milliseconds": (lambda: muscle(activation_time_constant=15.0), r"activation_time_constant = 15 s .* ms"),
    "percents": (lambda: muscle(excitation=([0, 1, 2], [0, 50, 0])), "from 0 to 50 leave 0 to 1: divide per"),
    "negative": (lambda: muscle(excitation=([0, 1, 2], [0, -1, 0])), "from -1 to 0 leave 0 to 1"),
    "frames in millimeters": (lambda: body(X_PF=(0, 420, 0)), "X_PF is 420 m away, .* of 0.13 m"),
    "mass in grams": (lambda: body(mass=7000.0), "mass of 7000 kg .* denser than any metal.*divide grams"),
    "inertia in kg cm^2": (lambda: body(inertia=(1e3, 200, 1e3)), "is that of something of 12.5 m"),
    "gravity upward": (lambda: cd.System(gravity=(0, 9.81, 0)), r"acts along \+y, which usually points up"),
    "gravity in mm/s^2": (lambda: cd.System(gravity=(0, -9810, 0)), "gravity of 9810 m/s.2 is implausible"),
    "friction in percent": (lambda: cd.contact.Material(1e6, 0, 80, 80), "friction of 80 .* than 80 %"),
    "rigid friction in percent": (lambda: cd.contact.Rigid(0, 80), "Rigid: friction of 80 .* than 80 %"),
    "loads by the millisecond": (lambda: plates(1.0), "rows are 1 s apart: are times in seconds"),
    "a slow filter": (
        lambda: cd.low_pass(cd.Table(np.linspace(0, 1, 101), ["q"], np.zeros((101, 1))), 0.1),
        "filter of 0.1 Hz takes away nearly all of a motion of 1 s",
    ),
}


@pytest.mark.parametrize("what", ASKED)
def test_implausible_numbers(what):
    call, words = ASKED[what]
    with pytest.warns(cd.errors.PlausibilityWarning, match=words) as told:
        call()
    assert len(told) == 1


def test_unusual_numbers_that_are_right():
    """An elephant, an ant, a truck, the Earth, a protein's atom, the Moon, ice, a foot in the air."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        muscle(1e5, 0.6, 1.5)
        muscle(1e-3, 2e-4, 1e-4)
        body(mass=7000.0, inertia=(1e4, 2e4, 2e4), X_BM=(0, 1, 0))
        body(mass=6e24, inertia=(8e37,) * 3, X_BM=(1.5e11, 0, 0))
        body(mass=2e-26, inertia=(1e-46,) * 3, X_BM=(1.5e-10, 0, 0))
        body(mass=1.0, inertia=(1e-6,) * 3)
        body(mass=1.0, inertia=(1, 1, 1))
        cd.System(gravity=(0, -1.62, 0))
        cd.System(gravity=(0, 0, -9.81))
        cd.contact.Material(1e6, 0, 1.5, 1.5)
        plates(1e-3)
        cd.low_pass(cd.Table(np.linspace(0, 60, 601), ["q"], np.zeros((601, 1))), 0.5)


def test_loads_that_are_not_numbers():
    """Where they are made, not where they are used; a point may be NaN where there is no force."""
    t, names = np.linspace(0, 1, 5), [a + x for a in "fp" for x in "xyz"]
    values = np.ones((5, 6))
    values[2, 1] = np.nan
    with pytest.raises(
        cd.errors.ShapeError, match=r"ExternalLoad on 'foot': 'fy' is nan at t = 0\.5 s: fill"
    ):
        cd.ExternalLoad("foot", cd.Table(t, names, values), "f", "p")
    values[2] = 0, 0, 0, np.nan, np.nan, np.nan
    cd.ExternalLoad("foot", cd.Table(t, names, values), "f", "p")


def test_negative_tensions():
    system = leg()
    t = np.linspace(0, 1, 5)
    moved = cd.Table(t, system.coordinates, np.zeros((5, 1)), ["rad"])
    with pytest.warns(cd.errors.PlausibilityWarning, match="'m' pushes with 30 N, but muscles only pull"):
        cd.joint_reactions(system, moved, cd.Table(t, ["m"], np.full((5, 1), -30.0), ["N"]))


def test_floors_across_gravity():
    """The floor of a file whose z points up, under gravity along -y."""
    system = cd.System()
    system.add_body("ball", mobilizer=cd.Free(), mass=1.0, inertia=(0.004,) * 3)
    rubber = cd.contact.Material(1e6, 0.5)
    system.add_contact(
        "floor",
        cd.contact.HalfSpace("ground", (0, 0, 1), -1.0, rubber),
        cd.contact.Sphere("ball", (0, 0, 0), 0.1, rubber),
    )
    with pytest.warns(
        cd.errors.PlausibilityWarning, match="across the only plane of ground, whose normal is .0, 0"
    ):
        cd.simulate(system, system.state(), 0.01)
    cd.simulate(system, system.state(), 0.01)  # once


def test_excitations_of_runs():
    system = leg()
    with pytest.warns(
        cd.errors.PlausibilityWarning, match="inputs of muscles: excitations from 0 to 50 leave"
    ):
        cd.simulate(system, system.state(inputs={"m": 50.0}), 0.01)
