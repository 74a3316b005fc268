"""cd.personalize on a planar subject made up: sizes, joint centers and angles against the truth."""

import numpy as np
import pytest

import condyle as cd


@pytest.fixture(scope="module")
def subject():
    return cd.models.synthetic_subject()


@pytest.fixture(scope="module")
def person(subject):
    return cd.personalize(subject.generic, subject.walk, subject.static, mass=subject.mass)


LONG = {"femur_r": 1, "tibia_r": 1, "pelvis": 1, "torso": 1}


def test_planar_truth(subject, person):
    for body, axis in LONG.items():
        error = person.factors[body][axis] / subject.factors[body] - 1
        assert abs(error) < 0.025, body  # 3 mm of placement on segments of 0.12 to 0.5 m
    names = list(subject.generic.coordinates)
    q, true = person.motions[0][names].values, subject.motion[names].values
    angles = [k for k, n in enumerate(names) if n not in ("pelvis_tx", "pelvis_ty")]
    assert np.degrees(np.sqrt(((q - true)[:, angles] ** 2).mean(axis=0))).max() < 1.5
    made = person.system
    centers = [
        np.linalg.norm(made.body_pose(q, b).p - subject.system.body_pose(true, b).p, axis=1).mean()
        for b in ("femur_r", "tibia_r", "foot_r")
    ]
    assert max(centers) < 0.002  # the prototype reached 1.5 mm


def test_tables(person):
    assert set(person.sizes) == set(person.sizes.names) and "femur_r" in person.sizes
    assert all(0 < sd < 1 for sd in person.sizes.sd.values())
    assert person.offsets.values.shape == (len(person.offsets), 3)
    frame = person.sizes.to_pandas() if pytest.importorskip("pandas") else None
    assert list(frame.columns) == ["value", "sd", "prior", "prior_sd"]
    assert "sizes" in person.report() and person.quality.verdict in ("ok", "check")


def test_written_and_read_again(person, tmp_path):
    path = person.write(tmp_path / "subject.osim")
    again = cd.read_osim(path)
    q = dict(zip(person.motions[0].names, person.motions[0].values[3], strict=True))
    for b in ("femur_r", "foot_r"):
        a, c = (s.state(q={n: q[n] for n in s.coordinates}).body_pose(b).p for s in (person.system, again))
        assert np.abs(a - c).max() < 1e-9  # digits of the file
    for n in again.markers:
        assert np.allclose(again.marker(n).station, person.stations[n], atol=1e-9)


def test_pictures(person):
    """Sizes and offsets beside their priors."""
    import matplotlib

    matplotlib.use("Agg")
    axes = person.sizes.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(person.sizes.names)
    assert len(person.offsets.plot(width="column").get_legend().get_texts()) == 4  # x, y, z, prior
    matplotlib.pyplot.close("all")
