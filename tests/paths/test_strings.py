"""Lengths over surfaces against strings that a general optimizer pulls tight: no code in common."""

import numpy as np
import pytest

import condyle as cd
from tests.paths.strings import length


@pytest.fixture(scope="module")
def arm():
    return cd.models.arm26()


@pytest.mark.parametrize(
    ("name", "q"),
    [
        ("TRIlong", (1.3, 1.2)),  # over two surfaces, where OpenSim 4.6 is millimeters longer
        ("BRA", (0.4, 0.1)),
        ("BIClong", (-1.0, 1.0)),
        ("TRImed", (0.2, 2.0)),
    ],
)
def test_arm26(arm, name, q, evidence):
    ours = arm.path_lengths(np.array(q))[arm.paths.index(name)]
    string = length(arm, name, np.array(q))
    polygon = arm.path_points(np.array(q))[name]
    straight = np.linalg.norm(polygon[-1] - polygon[0])
    assert ours > straight + 1e-4  # it goes over something
    # Richardson's extrapolation from 400 and 800 points
    evidence(
        f"length of {name} over its surfaces against a string pulled tight by IPOPT [m]",
        abs(ours - string),
        1e-6,
    )


def test_gastrocnemius():
    """The medial one of Rajagopal's model at its default pose, over cylinders at the condyles and at the
    shank. OpenSim 4.6 says 456.7 mm, with an arc of 34.9 mm on the shank between points 40.1 mm apart."""
    system = cd.System()
    system.add_body("heel", mobilizer=cd.Slider(), mass=1.0)
    U, _, V = np.linalg.svd(
        [
            [0.0925075, 0.995319, 0.0279689],
            [0.98106, -0.0863093, -0.173413],
            [-0.170187, 0.0434811, -0.984452],
        ]
    )  # the nearest rotation
    shank = cd.Transform(U @ V, (-0.00740046, -0.478425, -0.00456526))
    path = cd.paths.Path(
        [("ground", (0.008, -0.3788, -0.0208)), ("heel", (-0.05437, -0.815375, 0.001355))],
        [
            cd.paths.Wrap(cd.paths.Cylinder(0.055, 0.1, quadrant="-y"), "ground", shank),
            cd.paths.Wrap(cd.paths.Cylinder(0.025, 0.1), "ground", (0.005, -0.41, 0)),
        ],
    )
    system.add_force("gasmed", cd.forces.PathSpring(path, 1.0, 0.0))
    ours = system.path_lengths([0.0])[0]
    assert abs(ours - 0.4629) < 1e-4  # it is over both
    # Richardson's extrapolation from 400 and 800 points; the string lifts off between two of them
    assert abs(ours - length(system, "gasmed", np.zeros(1))) < 1e-6
