"""cd.compare: one row for each alternative, with errors that are known."""

from __future__ import annotations

import numpy as np
import pytest

import condyle as cd


@pytest.fixture(scope="module")
def pendulum():
    system = cd.System(gravity=(0, -10, 0))
    system.add_body("rod", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    return system


def test_accuracies_of_a_run(pendulum):
    runs = {f"{a:g}": {"accuracy": a} for a in (1e-3, 1e-6, 1e-10)}
    state = pendulum.state(q=[1.0])
    table = cd.compare(runs, lambda options: cd.simulate(pendulum, state, 2.0, **options), repeat=1)
    assert table.alternatives == ("0.001", "1e-06", "1e-10")
    errors = np.abs(table["rod error"])
    assert errors[0] > errors[1] > errors[2] == 0
    assert (np.diff(table["steps"]) > 0).all() and (np.diff(table["energy change"]) < 0).all()
    assert table["finished"].tolist() == [1, 1, 1]
    assert (table["again"] >= 0).all() and table.units[table.names.index("again")] == "s"
    assert "1e-06" in repr(table) and list(table.to_pandas().index) == list(table.alternatives)
    assert table.row("1e-10")["rod error"] == 0


def test_models_and_numbers_of_ones_own(pendulum):
    """Periods of a pendulum and of its linearization: the elliptic integral says how they differ."""
    from scipy.special import ellipk

    def period(system):
        crossing = cd.Event(lambda s: s.q("rod"), "falling")
        run = cd.simulate(system, system.state(q=[1.0]), 5.0, accuracy=1e-9, events=crossing)
        return run, {"period": 4 * run.events[0].t}

    linear = cd.System(gravity=(0, 0, 0))
    linear.add_body("rod", mobilizer=cd.Pin(), X_BM=(0, 1, 0), mass=1.0, inertia=(0.1, 0.1, 0.1))
    linear.add_force("spring", cd.forces.MobilitySpring("rod", 10.0, 0.0))
    table = cd.compare({"linear": linear, "pendulum": pendulum}, period, reference="pendulum", repeat=0)
    whole = 4 * np.sqrt(1.1 / 10) * ellipk(np.sin(0.5) ** 2)
    small = 2 * np.pi * np.sqrt(1.1 / 10)
    np.testing.assert_allclose(table["period"], [small, whole], rtol=1e-7)  # accuracy of the run
    assert table["period error"][0] == pytest.approx(small - whole, rel=1e-5)
    assert np.isnan(table["again"]).all()


def test_failures_and_bad_calls(pendulum):
    def measure(x):
        if x < 0:
            raise cd.errors.DescriptionError("below zero")
        return {"root": np.sqrt(x)}

    table = cd.compare({"good": 4.0, "bad": -1.0, "true": 9.0}, measure, repeat=0)
    assert table.failures == {"bad": "below zero"}
    assert table["finished"].tolist() == [1, 0, 1]
    assert table["root error"][0] == -1 and np.isnan(table["root"][1])
    with pytest.raises(ZeroDivisionError) as error:
        cd.compare({"good": 4.0, "bad": 0.0}, lambda x: 1 / x)
    assert "'bad'" in error.value.__notes__[0]
    with pytest.raises(cd.errors.DescriptionError, match="every alternative fails"):
        cd.compare({"bad": -1.0}, measure)
    with pytest.raises(cd.errors.UnknownNameError, match="goof"):
        cd.compare({"good": 4.0}, measure, reference="goof")
    with pytest.raises(cd.errors.DescriptionError, match="a number, numbers by name"):
        cd.compare({"good": 4.0}, lambda x: "text", repeat=0)
    with pytest.raises(cd.errors.DescriptionError, match="expected a mapping"):
        cd.compare([1, 2], measure)
    with pytest.raises(cd.errors.DescriptionError, match="gives a number 'finished'"):
        cd.compare({"good": 4.0}, lambda x: {"finished": 2.0}, repeat=0)
