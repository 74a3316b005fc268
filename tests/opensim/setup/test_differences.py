"""Where files of setup files differ from OpenSim's, and why: each cause by an experiment."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields

import casadi as ca
import numpy as np
import pytest

import condyle as cd
from condyle.laws.described import sx
from condyle.muscles.millard2012 import Millard2012
from condyle.opensim.document import read_set
from condyle.opensim.setup.analyze_tool import trial_of
from condyle.opensim.setup.controls import _steps
from condyle.opensim.setup.equilibrium import opensim_equilibrium
from condyle.opensim.setup.setup_file import Setup
from condyle.spatial import rotation_x, rotation_y, rotation_z
from tests.opensim.files import copied, reference

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def helix(one, two, radius):
    """The shortest way round a cylinder about z: two tangents and a helix, rolled out flat."""
    d = [np.hypot(*p[:2]) for p in (one, two)]
    turn = np.arccos(one[:2] @ two[:2] / (d[0] * d[1])) - sum(np.arccos(radius / x) for x in d)
    flat = sum(np.sqrt(x * x - radius * radius) for x in d) + radius * turn
    return np.hypot(flat, one[2] - two[2])


def test_brachialis_over_a_cylinder(evidence):
    """arm26 moves away from OpenSim because of this path: lengths in OpenSim 4.6 at some angles of the elbow
    are up to 2.4e-5 m more than the shortest way."""
    arm = cd.read_osim(reference("opensim/Arm26/arm26.osim"))
    R = rotation_x(-0.14015) @ rotation_y(-0.00628319) @ rotation_z(0.154985)
    ends = ("r_humerus", (0.0068, -0.1739, -0.0036)), ("r_ulna_radius_hand", (-0.0032, -0.0239, 0.0009))
    error = 0.0
    for elbow, theirs in ((0.0, 0.14735269), (0.2, 0.14441841), (0.4, 0.14165087)):
        q = np.array([0.0, elbow])
        X = arm.body_pose(q, "r_humerus")
        points = [
            R.T @ (X.R.T @ (arm.station_position(q, *end) - X.p) - [0.0028, -0.2919, -0.0069]) for end in ends
        ]
        exact, ours = helix(*points, 0.016), arm.path_lengths(q)[arm.paths.index("BRA")]
        error = max(error, abs(ours - exact))
        assert 5e-6 < theirs - exact < 2.5e-5
    evidence("length of arm26's BRA over its cylinder against the closed form [m]", error, 1e-12)
    assert error < 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class AsOpenSim(Millard2012):
    """With the pennation angle that OpenSim's static optimization takes: sin(alpha) = h / (l_M / l_0), as if
    the normalized length were in meters."""

    def active_force(self, s, a):
        fiber = self.rigid_fiber(s, a)
        cos = ca.sqrt(1 - (self._height / fiber.l_n) ** 2)
        return self.known(s, sx(self.max_isometric_force) * a * fiber.f_L * fiber.f_V * cos)


def test_pennation_in_static_optimization(tmp_path, evidence):
    """Activations of the walking trial differ by 0.034 from OpenSim's, and by 0.004 with its angle."""
    folder = copied(reference("gait10dof18musc_pipeline"), tmp_path / "trial") / "SO"
    stored = cd.read_table(folder / "so_phys_on" / "walk_StaticOptimization_activation.sto")
    trial = trial_of(Setup(folder / "setup_so_phys_on.xml"))
    motion, errors = trial.smooth, []
    bent = {}
    for name in trial.system.muscles:
        law = trial.system.force(name)
        bent[name] = AsOpenSim(**{f.name: getattr(law, f.name) for f in fields(law) if f.init})
    for system in (trial.system, trial.system.copy(forces=bent)):
        own = cd.Motion(system, motion.t, motion.q, motion.u, motion.udot)
        found = cd.static_optimization(system, own, trial.loads).activations
        errors.append(max(float(np.abs(found[n] - stored[n]).max()) for n in system.muscles))
    assert 0.02 < errors[0] < 0.04
    evidence(
        "activations against OpenSim's, gait10dof18musc walking, with OpenSim's pennation angle",
        errors[1],
        1e-2,
    )
    assert errors[1] < 1e-2


def test_thelens_fibers_in_motion(evidence):
    """arm26 at an elbow of 14.6772 deg that bends by 119.07 deg/s: lengths that OpenSim 4.6's AnalyzeTool
    gives, of muscles on which both agree about the path."""
    arm = cd.read_osim(reference("opensim/Arm26/arm26.osim"))
    q, u = np.radians([[0.0, 14.6772]]), np.radians([[0.0, 119.07]])
    motion = cd.Motion(arm, [0.3], q, u, np.zeros((1, 2)))
    z = dict(zip(arm.state_variables, opensim_equilibrium(motion, motion.start.z[None])[0], strict=True))
    theirs = {
        "TRIlong": 0.141472772272,
        "TRIlat": 0.075516289759,
        "TRImed": 0.070598828581,
        "BICshort": 0.144138726591,
    }
    error = max(abs(z[f"{name}.fiber_length"] - x) for name, x in theirs.items())
    evidence("Thelen2003 fibers in equilibrium in motion against OpenSim's [m]", error, 1e-9)
    assert error < 1e-9  # its iteration stops at 1e-8 of the force
    still = dict(zip(arm.state_variables, arm.muscles.equilibrium(q[0]), strict=True))
    assert abs(still["TRIlat.fiber_length"] - z["TRIlat.fiber_length"]) > 1e-5


def test_controls_in_steps():
    """Behind a node the value of the next one, at it its own, as OpenSim's ControlLinear says."""
    f = _steps(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(
        f(np.array([0.0, 0.1, 0.1001, 0.2, 0.2001, 0.3, 9.0])), [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0]
    )


def test_forces_without_a_document(tmp_path):
    """A set as outermost element is older than 1.9.5, where directions meant what acted on the other body."""
    file = tmp_path / "reserves.xml"
    file.write_text("""<ActuatorSet name="a"><objects><TorqueActuator name="MZ"><bodyA>pelvis</bodyA>
<bodyB>ground</bodyB><axis>0 0 1</axis></TorqueActuator></objects></ActuatorSet>""")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = read_set(file, "ForceSet").object
    axis = found.descendants("axis")[0].text
    np.testing.assert_array_equal([float(x) for x in axis.split()], [0, 0, -1])
