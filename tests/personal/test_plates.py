"""When plates carry the subject, the mass that they carry, and plates that cannot be right."""

import re
import warnings

import numpy as np
import pytest

import condyle as cd
from condyle.personal.plates import NotCarriedError, _late, beside, covered, free_torques, gravity_of, wrench


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject()


def plates(subject, change=lambda name, x: x, late=0.0):
    """Loads of both feet, their columns changed."""
    table = subject.ground_reactions
    values = np.stack([change(n, table[n]) for n in table.names], axis=1)
    made = cd.Table(table.time + late, table.names, values)
    return [cd.ExternalLoad(f"foot_{s}", made, force=f"{s}_force_", point=f"{s}_point_") for s in "rl"]


EARTH = 9.81, np.array([0.0, 1.0, 0.0])


def jumping(mass=70.0, rate=100, noise=0.002, seconds=4.0, g=9.81):
    """Times, the mass center and the force of someone who bounces, with flights."""
    t = np.arange(round(seconds * rate)) / rate
    w = 2 * np.pi * 2.0
    force = np.maximum(0.0, mass * g * (1 + 1.6 * np.cos(w * t)))
    a = force / mass - g
    fine = np.arange(len(t) * 20) / (20 * rate)
    rise = np.maximum(0.0, g * (1 + 1.6 * np.cos(w * fine))) - g
    rise -= rise[: 10 * rate].mean()
    v = np.cumsum(rise) / (20 * rate)
    z = np.cumsum(v - v.mean()) / (20 * rate)
    center = np.zeros((len(t), 3))
    center[:, 1] = z[::20] + noise * np.random.default_rng(0).normal(size=len(t))
    W = np.zeros((len(t), 6))
    W[:, 4] = mass * (g + rise[::20])
    return t, center, W, a


def test_mass_of_someone_who_bounces():
    """Flights and peaks above twice the weight, 2 mm of noise, sizes that promise 90 kg."""
    t, center, W, _ = jumping()
    windows, mass = covered(t, center, W, np.zeros(len(t)), EARTH, 90.0, False, "x")
    assert mass == pytest.approx(70.0, rel=0.01)
    assert sum(map(len, windows)) > 0.9 * len(t)
    t, center, W, _ = jumping(g=3.7)  # on Mars
    mass = covered(t, center, W, np.zeros(len(t)), (3.7, EARTH[1]), 90.0, False, "x")[1]
    assert mass == pytest.approx(70.0, rel=0.01)


def test_a_foot_off_the_plates():
    """Half of the force is missing for a second: that time is left out, and half a window beside it."""
    t, center, W, _ = jumping()
    W[150:250] *= 0.5
    windows, mass = covered(t, center, W, np.zeros(len(t)), EARTH, 70.0, False, "x")
    assert mass == pytest.approx(70.0, rel=0.02)
    used = np.concatenate(windows)
    assert not ((used > 145) & (used < 255)).any() and len(windows) == 2
    away = np.zeros(len(t))
    away[300:320] = 1.0  # a force beside the subject is of somebody else
    used = np.concatenate(covered(t, center, W, away, EARTH, 70.0, False, "x")[0])
    assert not ((used >= 300) & (used < 320)).any()


def test_signs(subject):
    t, center, W, _ = jumping()
    sway = 0.05 * np.sin(2 * np.pi * t)
    center[:, 0], W[:, 3] = sway, -70 * (2 * np.pi) ** 2 * sway
    with warnings.catch_warnings(action="error"):
        covered(t, center, W, np.zeros(len(t)), EARTH, 70.0, False, "x")
    W[:, 3] *= -1
    with pytest.warns(RuntimeWarning, match="against the force along x"):
        covered(t, center, W, np.zeros(len(t)), EARTH, 70.0, False, "x")
    with pytest.raises(cd.errors.DescriptionError, match="forces point down"):
        cd.personalize(
            subject.generic,
            subject.walk,
            subject.static,
            plates(subject, lambda n, x: -x if "force" in n else x),
        )


def test_plates_that_do_not_fit(subject):
    call = lambda **options: cd.personalize(
        subject.generic, subject.walk, subject.static, plates(subject, **options)
    )
    with pytest.raises(cd.errors.DescriptionError, match="loads are known from 50"):
        call(late=50.0)
    with pytest.raises(cd.errors.DescriptionError, match=r"beside the subject.*in meters"):
        call(change=lambda n, x: x + 3.0 if "point_x" in n else x)
    with pytest.raises(cd.errors.DescriptionError, match="no force above 50 N"):
        call(change=lambda n, x: x / 1000 if "force" in n else x)


def test_masses_that_contradict(subject):
    with (
        pytest.warns(cd.errors.QualityWarning),
        pytest.warns(RuntimeWarning, match=r"carry 6\d\.\d kg, and mass= says 90"),
    ):
        found = cd.personalize(subject.generic, subject.walk, subject.static, plates(subject), mass=90.0)
    assert found.dynamics.total == pytest.approx(subject.mass, rel=0.01)
    half = plates(subject, lambda n, x: x / 2 if "force" in n else x)
    with pytest.warns(RuntimeWarning, match=r"carry 3\d\.\d kg, and a subject of this size has about"):
        found = cd.personalize(subject.generic, subject.walk, subject.static, half)
    assert found.dynamics.total == pytest.approx(subject.mass / 2, rel=0.02)


def test_wrench(subject):
    """One wrench about ground's origin of forces at their points, smoothed within a frame."""
    motion = subject.motion
    t, q = motion.time, motion[list(subject.system.coordinates)].values
    found, table = (
        wrench(subject.system, t, q, [slice(0, len(t))], plates(subject), "x"),
        subject.ground_reactions,
    )
    F, M = np.zeros((len(table), 3)), np.zeros((len(table), 3))
    for s in "rl":
        f, p = (table[[f"{s}_{k}_{a}" for a in "xyz"]].values for k in ("force", "point"))
        F += f
        M += np.cross(p, f)
    at = lambda x: np.stack([np.interp(t, table.time, c) for c in x.T], axis=1)
    inner = slice(5, -5)
    assert np.abs(found[:, 3:] - at(F))[inner].max() < 0.02 * F.max()  # steps of the force are rounded
    assert np.sqrt(((found[:, :3] - at(M))[inner] ** 2).mean()) < 0.01 * np.abs(M).max()
    away = beside(subject.system, {}, q, found)
    assert away.max() < 0.2  # a foot is shorter
    moved = found.copy()
    moved[:, :3] += np.cross([1.0, 0, 0], found[:, 3:])  # the same force, 1 m before the subject
    assert beside(subject.system, {}, q, moved)[inner].min() > 0.5


def test_a_model_without_gravity():
    system = cd.System(gravity=(0, 0, 0))
    system.add_body("trunk", mobilizer=cd.Free(), mass=70.0, inertia=(1, 1, 1))
    with pytest.raises(cd.errors.DescriptionError, match="no gravity"):
        gravity_of(system)


def test_models_whose_masses_cannot_be_found(subject, tmp_path):
    """Models of other programs need no masses. They are refused before anything is computed; without forces they have a
    motion."""
    cd.write_osim(subject.generic, tmp_path / "model.osim")
    model = cd.read_osim(tmp_path / "model.osim")
    said = []
    call = lambda model, **options: cd.personalize(
        model, subject.walk, subject.static, progress=said.append, **options
    )
    light = lambda *names: model.copy(bodies={n: {"mass": 0.0, "inertia": (0, 0, 0)} for n in names})
    with pytest.raises(cd.errors.DescriptionError, match="the model's trunk has no mass"):
        call(light("torso"), loads=plates(subject))
    assert said == ["sizes"]
    empty = light(*(b.name for b in model.bodies))
    with pytest.raises(cd.errors.DescriptionError, match="have none, so it cannot be shared out"):
        call(empty, mass=70.0)
    found = call(empty)
    assert found.rms[0] < 0.01 and not len(found.masses) and "trial 1" in found.report()
    feet = call(light("foot_r", "foot_l"), loads=plates(subject))
    assert feet.dynamics.total == pytest.approx(subject.mass, rel=0.01) and "foot_r" not in feet.masses.names


def test_a_static_trial_alone(subject):
    found = cd.personalize(subject.generic, None, subject.static, mass=70.0)
    assert found.motions == () and sum(b.mass for b in found.system.bodies) == pytest.approx(70.0)
    assert "0 trials)" in repr(found)
    with pytest.raises(cd.errors.DescriptionError, match="there is only a static one; leave them out"):
        cd.personalize(subject.generic, [], subject.static, plates(subject))


def test_torques_about_an_origin(subject):
    """Moments about ground's origin beside points of application would count twice; free torques, and sensors that
    do not move, stay."""
    table, up = subject.ground_reactions, EARTH[1]
    F, p = (table[[f"r_{k}_{a}" for a in "xyz"]].values for k in ("force", "point"))
    p = np.nan_to_num(p) + 0.01 * np.sin(3 * table.time)[:, None]  # the point moves

    def load(T, p=p):
        values = np.concatenate([F, p, T], axis=1)
        names = [k + a for k in ("F", "p", "T") for a in "xyz"]
        return cd.ExternalLoad(
            "foot_r", cd.Table(table.time, names, values), force="F", point="p", torque="T"
        )

    about_origin, free = load(np.cross(p + [0.0, 0.3, 0.0], F)), load(np.outer(F[:, 1], 0.02 * up))
    with pytest.warns(RuntimeWarning, match=r"x: torques .* about horizontal axes: Tx .*count twice"):
        out = free_torques([about_origin, free], up, "x")
    assert out[0].torque is None and out[0].force == about_origin.force and out[1] is free
    sensor = load(np.cross(p, F), 0 * p + 0.2)
    with warnings.catch_warnings(action="error"):
        assert free_torques([sensor], up, "x") == [sensor]


def test_flesh_of_runners():
    """Mass centers that accelerate an eighth more than forces say: the trial counts."""
    t, center, W, _ = jumping()
    center[:, 1] = center[:, 1].mean() + 1.125 * (center[:, 1] - center[:, 1].mean())
    windows, mass = covered(t, center, W, np.zeros(len(t)), EARTH, 70.0, True, "x")
    assert sum(map(len, windows)) > 0.8 * len(t) and mass == pytest.approx(70.0, rel=0.04)
    with pytest.raises(NotCarriedError):
        covered(t, center, 0.4 * W, np.zeros(len(t)), EARTH, 70.0, True, "x")


def test_one_trial_of_two_is_not_carried(subject):
    """It is left out with a warning, and is an error where no other is left."""
    table = subject.ground_reactions
    lame = plates(subject, lambda n, x: x * (table.time % 0.3 < 0.15) if "force" in n else x)
    call = lambda *loads: cd.personalize(
        subject.generic, [subject.walk] * len(loads), subject.static, loads, 68.0
    )
    with pytest.warns(RuntimeWarning, match="trial 2: in no quarter of a second.*They are left out"):
        found = call(plates(subject), lame)
    assert found.residuals[1] is None and found.dynamics.total == pytest.approx(subject.mass, rel=0.01)
    with pytest.raises(NotCarriedError, match="in no quarter"):
        call(lame)


def test_trials_of_two_masses(subject):
    """Forces a quarter too large in one of two trials: both masses are told."""
    more = plates(subject, lambda n, x: 1.25 * x if "force" in n else x)
    with pytest.warns(RuntimeWarning) as said:
        cd.personalize(subject.generic, [subject.walk] * 2, subject.static, [plates(subject), more])
    low, high = subject.mass, 1.25 * subject.mass
    told = next(str(w.message) for w in said if "their mean counts" in str(w.message))
    found = [float(x) for x in re.findall(r"([\d.]+) kg in", told)]
    assert found == pytest.approx([low, high], rel=0.02)


@pytest.mark.parametrize(
    "change", [lambda n, x: -x if "force_x" in n else x, lambda n, x: x + 0.2 * ("point_x" in n)]
)
def test_forces_that_contradict_the_motion(subject, change):
    """A reversed sign, points 20 cm off: nothing follows from them, and it is said."""
    with pytest.warns(RuntimeWarning) as said:
        found = cd.personalize(subject.generic, subject.walk, subject.static, plates(subject, change))
    assert any("motion and forces contradict each other" in str(w.message) for w in said)
    plain = cd.personalize(subject.generic, subject.walk, subject.static)
    share = plain.masses.values / plain.masses.values.sum()
    np.testing.assert_allclose(found.masses.values, share * found.dynamics.total, rtol=1e-9)
    assert found.dynamics.total == pytest.approx(subject.mass, rel=0.02)
    assert found.dynamics.trials[0].changed == (0.0, 0.0) and found.quality.verdict == "fail"
    np.testing.assert_array_equal(found.motions[0].values, plain.motions[0].values)


SHIFTED = {"x": (0.2, 0.0, 0.0), "y": (0.0, 0.3, 0.0), "z": (0.0, 0.0, 0.1)}


@pytest.mark.parametrize(
    ("axis", "says"),
    [
        ("x", r"forces act \d+ cm beside foot_r, \d+ cm beside foot_l"),
        ("y", r"forces act 2\d cm above foot_r"),
        ("z", r"forces act \d cm beside foot_r"),
    ],
)
def test_origin_of_plates(subject, axis, says):
    """20 cm ahead, 30 cm up, 10 cm aside, which a planar model's forces do not show."""
    change = lambda n, x: x + SHIFTED[axis]["xyz".index(n[-1])] if "point" in n else x
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        cd.personalize(subject.generic, subject.walk, subject.static, plates(subject, change))
    assert any(re.search(says, str(w.message)) for w in said)


def test_exchanged_feet(subject):
    given = [
        cd.ExternalLoad(other.body, x.table, force=x.force, point=x.point)
        for x, other in zip(*(plates(subject)[::k] for k in (1, -1)), strict=True)
    ]
    with pytest.warns(RuntimeWarning, match="loads of foot_l, foot_r act under the other foot"):
        cd.personalize(subject.generic, subject.walk, subject.static, given)


@pytest.mark.parametrize("late", [0.03, -0.05, 0.1])
def test_clocks_that_differ(subject, late):
    """Plates that start late or early: by how much is told, as a warning or with the error that no weight is carried."""
    way = "earlier" if late > 0 else "later"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            cd.personalize(subject.generic, subject.walk, subject.static, plates(subject, late=late))
            told = " ".join(str(w.message) for w in said)
        except NotCarriedError as error:
            told = str(error)
    found = re.search(rf"better when they are (\d+) ms {way}", told)
    assert found is not None and abs(float(found[1]) - 1e3 * abs(late)) <= 10  # a frame is 10 ms


def test_standing_still_tells_no_times():
    """Noise has a best lag too, but says nothing of clocks."""
    rng = np.random.default_rng(0)
    noise = lambda: 9.81 + 0.05 * np.convolve(rng.normal(size=300), np.ones(5) / 5, "same")
    assert all(_late(70 * noise(), noise(), np.ones(300, dtype=bool), 0.01) == 0 for _ in range(20))


def test_forces_smoothed_away(subject):
    """At 1 Hz the mass is off by 2 %, and the motion does not agree."""
    from scipy.signal import butter, filtfilt

    rate = 1 / np.median(np.diff(subject.ground_reactions.time))
    b, a = butter(2, 2 * 1.0 / rate)
    smooth = plates(subject, lambda n, x: filtfilt(b, a, x) if "force" in n else x)
    with pytest.warns(RuntimeWarning, match="agree only roughly.*not smoothed much more than the motion"):
        cd.personalize(subject.generic, subject.walk, subject.static, smooth)


def test_one_plate(subject):
    """The other foot's plate is missing: only the time counts in which one carries the subject."""
    found = cd.personalize(subject.generic, subject.walk, subject.static, plates(subject)[:1])
    assert found.dynamics.total == pytest.approx(subject.mass, rel=0.01)
    assert len(found.residuals[0].time) < 0.7 * len(subject.walk.time)


def test_right_plates_are_not_blamed(subject):
    with warnings.catch_warnings(action="error"):
        cd.personalize(subject.generic, subject.walk, subject.static, plates(subject))
    in_kgf = plates(subject, lambda n, x: x / 9.81 if "force" in n else x)
    with pytest.raises(
        NotCarriedError, match=r"They carry about 7 kg, and a subject of this size has about \d\d kg"
    ):
        cd.personalize(subject.generic, subject.walk, subject.static, in_kgf)


def test_wrong_height_and_mass(subject):
    """2.1 m for 1.78 m, and grams or pounds for kilograms, without forces and with them."""
    call = lambda **options: cd.personalize(subject.generic, subject.walk, subject.static, **options)
    with pytest.warns(
        RuntimeWarning, match=r"legs are those of someone 1\.\d+ m tall, and height= says 2\.10 m"
    ):
        call(height=2.1)
    with pytest.warns(RuntimeWarning, match=r"has about \d+ kg, and mass= says 6\.8 kg; is it in kg"):
        call(mass=6.8)
    with pytest.raises(NotCarriedError, match=r"carry about 6\d kg, and mass= says 150 kg"):
        call(loads=plates(subject), mass=150.0)
