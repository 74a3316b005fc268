"""Mistakes that users make with paths, muscles and studies: none is wrong in silence."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import condyle as cd
from tests.studies.arm import arm

T = np.linspace(0, 1, 11)
ENDS = [("thigh", (0.04, -0.1, 0)), ("shank", (0.03, -0.06, 0))]


def table(names, value, units=None, degrees=None) -> cd.Table:
    return cd.Table(T, names, np.full((11, len(names)), value), units, degrees=degrees)


MOTION = table(("r_shoulder_elev", "r_elbow_flex"), 0.5, ["rad", "rad"])


def leg() -> cd.System:
    system = cd.System()
    system.add_body("thigh", mobilizer=cd.Weld(), mass=7, inertia=(0.1, 0.1, 0.1))
    system.add_body(
        "shank", "thigh", cd.Pin(), X_PF=(0, -0.4, 0), coordinates="knee", mass=3, inertia=(0.1, 0.1, 0.1)
    )
    return system


def muscle(**options) -> cd.muscles.Muscle:
    return cd.muscles.Thelen2003(cd.paths.Path(ENDS), 5000, 0.09, 0.22, **options)


def conditional(low, high):
    point = cd.paths.ConditionalPoint("thigh", (0, 0, 0), "knee", (low, high))
    return cd.paths.Path([ENDS[0], point, ENDS[1]])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cd.paths.Wrap(cd.paths.Sphere(0.1), "thigh", quadrant="x"), "belongs to the surface"),
        (lambda: cd.paths.Path(ENDS, cd.paths.Wrap(cd.paths.Sphere(0.1), "thigh")), "put it in brackets"),
        (lambda: cd.paths.Path({"thigh": (0, 0, 0), "shank": (0, 0, 0)}), "points: expected a list"),
        (lambda: cd.paths.Path(ENDS, [cd.paths.Sphere(0.1)]), "puts it on a body"),
        (lambda: cd.paths.MovingPoint("thigh", (0, 0, 0)), "missing a required argument: 'coordinate'"),
        (
            lambda: cd.paths.Wrap(cd.paths.Sphere(0.1), "thigh", between=1),
            "between: expected the first and the last",
        ),
        (lambda: cd.paths.Sphere(0.1, quadrant=(0, 0, 0)), "a direction of length 0"),
        (lambda: cd.paths.ImplicitSurface(lambda x, y, z: 1e-3 - x**2 - y**2 - z**2), "with the other sign"),
        (lambda: muscle(pennation_angle_at_optimal=0.1), "did you mean pennation_angle="),
        (lambda: muscle(ignore_tendon_compliance=True), "did you mean tendon="),
        (lambda: muscle(activation_time_constant=-1), r"cd.Parameter \[s\]"),
        (
            lambda: leg().add_force(
                "vasti", cd.forces.PathSpring(cd.paths.Path([("thihg", (0, 0, 0)), ENDS[1]]), 1, 1)
            ),
            "force 'vasti': unknown body 'thihg'; did you mean 'thigh'",
        ),
        (lambda: leg().add_force("vasti", cd.forces.PathSpring(conditional(-120, -10), 1, 1)), "in degrees"),
        (lambda: cd.models.arm26("thelen"), "expected a class such as cd.muscles.Thelen2003"),
        (lambda: arm().moment_arms([0, 0], "BRA"), "all paths come at once"),
        (lambda: arm().equilibrate_muscles([0, 0]), "expected a State"),
        (lambda: cd.static_optimization(arm(), MOTION, physiology="no"), "expected True or False, got 'no'"),
        (lambda: cd.inverse_dynamics(MOTION, arm()), r"expected inverse_dynamics\(system, motion"),
        (lambda: cd.Motion.of(arm(), MOTION, cutoff=6), "it is lowpass="),
        (lambda: cd.inverse_dynamics(arm(), MOTION, external_loads=MOTION), "got Table; make one of it"),
        (
            lambda: cd.ExternalLoad("r_humerus", table(("px", "py", "pz"), 1.0, ["mm"] * 3), "p", "p"),
            "is in 'mm'",
        ),
        (
            lambda: cd.Motion(arm(), MOTION),
            r"expected times \[s\], .* got a Table: that motion is cd.Motion.of",
        ),
        (
            lambda: cd.muscles.Thelen2003(
                cd.paths.Path(ENDS), 100, 0.1, 0.1, excitation=([0, 1], [0.1, 0.3])
            ),
            "Thelen2003: excitation: TimeSeries: 2 samples, but a cubic spline needs at least 3",
        ),
        (lambda: cd.joint_reactions(arm(), MOTION, table(arm().muscles, 1.0, ["kN"] * 6)), "is in 'kN'"),
    ],
)
def test_errors_in_words(call, says):
    with pytest.raises(cd.errors.CondyleError, match=says):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cd.paths.GeometryPath, "it is Path"),
        (lambda: cd.paths.cylinder, "did you mean Cylinder"),
        (lambda: cd.muscles.Millard2012EquilibriumMuscle, "it is Millard2012"),
        (lambda: cd.models.gait2392, "cd.models.leg6dof9musc"),
        (lambda: leg().add_muscle, "system.add_force"),
    ],
)
def test_names_of_other_libraries(call, says):
    with pytest.raises(AttributeError, match=says):
        call()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: cd.inverse_dynamics(arm(), table(arm().coordinates, 90.0, ["rad", "rad"])),
            "'r_shoulder_elev' goes to 90 rad, its range is -1.571 to 3.142 rad: the table is likely in degrees",
        ),
        (lambda: cd.joint_reactions(arm(), MOTION, table(arm().muscles, 0.5)), "are these activations"),
        (
            lambda: cd.joint_reactions(arm(), MOTION, table((*arm().muscles, "BICmid"), 5.0)),
            "left out.*BICmid",
        ),
        (
            lambda: cd.muscle_analysis(arm(), MOTION, table((*arm().muscles, "BICmid"), 0.5)),
            "left out.*BICmid",
        ),
    ],
)
def test_warnings(call, says):
    with pytest.warns(UserWarning, match=says):
        call()


def test_paths_that_slip():
    """paths-and-muscles.md: BIClong jumps by 1.67 mm at a shoulder elevation of 0.546 rad."""
    t = np.linspace(0.0, 1.0, 11)
    moved = cd.Table(t, arm().coordinates, np.column_stack([0.3 + 0.4 * t, 0.3 + 0 * t]), ["rad", "rad"])
    says = r"The path of BIClong jumps by -1.67 mm at 'BIClonghh' at t = 0.6144\d+ s"
    for call in (cd.muscle_analysis, cd.static_optimization):
        with pytest.warns(UserWarning, match=says):
            call(arm(), moved, **({} if call is cd.muscle_analysis else {"reserves": 1.0}))


def test_paths_that_slip_with_every_number_a_parameter():
    """Two cords alike but for their numbers, of which one slips: the search asks for the numbers of this one alone."""
    system = cd.System()
    system.add_body("bob", mobilizer=cd.Pin(), mass=1.0, com=(0, -0.5, 0), coordinates=("angle",))
    for name, at in (("early", 0.4), ("late", 2.0)):
        corner = cd.paths.ConditionalPoint("ground", (0.3, 0.2, 0), "angle", (at, 3.0))
        path = cd.paths.Path([("ground", (0.5, 0, 0)), corner, ("bob", (0, -0.5, 0))])
        system.add_force(name, cd.forces.PathActuator(path, 100.0))
    t = np.linspace(0.0, 1.0, 11)
    moved = cd.Table(t, ["angle"], 0.1 + 0.6 * t[:, None], ["rad"])
    found = []
    for model in (system, system.copy(parameters="all")):
        with pytest.warns(UserWarning, match=r"The path of early jumps by .* at point 1 at t = 0.5"):
            found.append(cd.static_optimization(model, moved, reserves=1.0).controls.values)
    # rounding: constants are folded in one and not in the other
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=0)


def test_elastic_tendons_at_given_activations():
    elastic = cd.models.arm26()
    with pytest.warns(UserWarning, match="tendons of TRIlong, .* are elastic; at given activations"):
        found = cd.muscle_analysis(elastic, MOTION, table(elastic.muscles, 0.5))
    rigid = cd.muscle_analysis(arm(), MOTION, table(arm().muscles, 0.5))
    np.testing.assert_allclose(found["tendon_force"].values, rigid["tendon_force"].values, rtol=1e-12)


def test_pandas():
    """Motions, forces and activations may be DataFrames, with times in a column or in the index."""
    pandas = pytest.importorskip("pandas")
    tau = cd.inverse_dynamics(arm(), MOTION).values
    by_index = MOTION.to_pandas()
    by_column = pandas.DataFrame(MOTION.values, columns=[f"{name} [rad]" for name in MOTION.names])
    by_column.insert(0, "time", MOTION.time)
    for frame in (by_index, by_column):
        np.testing.assert_array_equal(cd.inverse_dynamics(arm(), frame).values, tau)
    tensions = table(arm().muscles, 5.0, ["N"] * 6)
    np.testing.assert_array_equal(
        cd.joint_reactions(arm(), by_index, tensions.to_pandas()).values,
        cd.joint_reactions(arm(), MOTION, tensions).values,
    )
    with pytest.raises(cd.errors.ShapeError, match="no column 'time', and an index of int64 is no time"):
        cd.inverse_dynamics(arm(), by_column.drop(columns="time"))


def test_actuators_are_left_out_of_joint_moments():
    """They were taken for passive forces."""
    path = cd.paths.Path(ENDS)
    laws = {
        "cable": cd.forces.PathActuator(path, 10),
        "motor": cd.forces.CoordinateActuator("knee", 10),
        "rod": cd.forces.PointToPointActuator(*ENDS[0], *ENDS[1], 10),
        "torque": cd.forces.TorqueActuator("thigh", "shank", (0, 0, 1), 10),
    }
    system, driven = leg(), leg()
    for name, law in laws.items():
        driven.add_force(name, law)
    motion = table(("knee",), 0.3, ["rad"])
    on = driven.state(inputs=dict.fromkeys(laws, 1.0))
    np.testing.assert_allclose(
        cd.inverse_dynamics(driven, motion, state=on).values,
        cd.inverse_dynamics(system, motion).values,
        atol=1e-9,
    )


def test_what_is_right_does_not_warn():
    with warnings.catch_warnings(action="error"):
        leg().add_force("vasti", cd.forces.PathSpring(conditional(-np.inf, 0.1), 1, 1))
        cd.joint_reactions(arm(), MOTION, table((*arm().muscles, "r_elbow_flex"), 5.0))


def test_results_in_a_folder_and_in_a_notebook(tmp_path):
    found = cd.static_optimization(arm(), MOTION, reserves=1.0)
    analysis = cd.muscle_analysis(arm(), MOTION, found.activations)
    parts = cd.induced_accelerations(arm(), MOTION, found.forces)
    for k, result in enumerate((found, analysis, parts)):
        folder = tmp_path / str(k)
        with pytest.raises(cd.errors.DescriptionError, match="there is no folder"):
            result.save(folder)
        folder.mkdir()
        files = result.save(folder, "csv")
        assert files
        assert sorted(folder.iterdir()) == sorted(files)
        assert "<table>" in result._repr_html_()
    again = cd.read_table(tmp_path / "0" / "forces.csv")
    np.testing.assert_array_equal(again.values, found.forces.values)
    assert again.units == found.forces.units
    assert found.plot("BRA").get_ylabel() == "activation"
    with pytest.raises(AttributeError, match=r"result\.forces\.to_pandas\(\)"):
        found.to_pandas  # noqa: B018
