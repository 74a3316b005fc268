"""Every joint of OpenSim, in both senses, locks, loops and constraints, against OpenSim itself."""

from importlib.util import find_spec

import numpy as np
import pytest

import condyle as cd
from benchmarks.opensim_model import STATION, about_model
from benchmarks.opensim_process import OpenSimProcess
from tests.opensim.files import model

pytestmark = [
    pytest.mark.peers,
    pytest.mark.skipif(find_spec("opensim") is None, reason="opensim is not installed (extra: peers)"),
]
SPLINE = "<x>-2 -1 0 1 2</x><y>0.1 -0.2 0.05 0.3 -0.1</y>"
CUSTOM = f"""<SpatialTransform>
<TransformAxis name="translation2"><coordinates>NAME_b</coordinates><axis>0 2 1</axis>
  <function><MultiplierFunction><scale>0.5</scale><function><SimmSpline>{SPLINE}</SimmSpline></function>
  </MultiplierFunction></function></TransformAxis>
<TransformAxis name="rotation1"><coordinates>NAME_a</coordinates><axis>1 1 0</axis>
  <function><LinearFunction><coefficients>1 0.1</coefficients></LinearFunction></function></TransformAxis>
<TransformAxis name="rotation3"><coordinates>NAME_a NAME_b</coordinates><axis>0 1 -1</axis>
  <function><LinearFunction><coefficients>0.3 -0.7 0.2</coefficients></LinearFunction></function>
  </TransformAxis>
<TransformAxis name="translation1"><coordinates>NAME_a</coordinates><axis>1 0 0</axis>
  <function><PolynomialFunction><coefficients>0.1 0.2 0</coefficients></PolynomialFunction></function>
  </TransformAxis></SpatialTransform>"""
JOINTS = {
    "PinJoint": 1,
    "SliderJoint": 1,
    "UniversalJoint": 2,
    "GimbalJoint": 3,
    "BallJoint": 3,
    "FreeJoint": 6,
    "PlanarJoint": 3,
    "WeldJoint": 0,
    "EllipsoidJoint": 3,
    "ScapulothoracicJoint": 4,
    "CustomJoint": 2,
}
MORE = {
    "EllipsoidJoint": "<radii_x_y_z>0.1 0.2 0.3</radii_x_y_z>",
    "CustomJoint": CUSTOM,
    "ScapulothoracicJoint": "<thoracic_ellipsoid_radii_x_y_z>0.1 0.2 0.15</thoracic_ellipsoid_radii_x_y_z>"
    "<scapula_winging_axis_origin>0.01 -0.02</scapula_winging_axis_origin>"
    "<scapula_winging_axis_direction>0.3</scapula_winging_axis_direction>",
}


def body(name):
    return (
        f"<Body name='{name}'><mass>2</mass><mass_center>0.1 -0.2 0.05</mass_center>"
        "<inertia>.3 .4 .5 .01 .02 .03</inertia></Body>"
    )


def joint(tag, name, parent, child, more="", coordinates=None):
    names = [f"{name}_{'abcdef'[k]}" for k in range(JOINTS[tag])] if coordinates is None else coordinates
    listed = "".join(f"<Coordinate name='{q}'/>" for q in names)
    frames = "".join(
        f"<PhysicalOffsetFrame name='{side}'><socket_parent>{on}</socket_parent>"
        f"<translation>{p}</translation><orientation>{r}</orientation></PhysicalOffsetFrame>"
        for side, on, p, r in (
            ("F", parent, ".1 .2 .3", ".2 -.1 .3"),
            ("M", child, "-.1 .05 .02", ".1 .4 -.3"),
        )
    )
    return (
        f"<{tag} name='{name}'><socket_parent_frame>F</socket_parent_frame>"
        f"<socket_child_frame>M</socket_child_frame><coordinates>{listed}</coordinates>"
        f"<frames>{frames}</frames>{more}</{tag}>"
    ).replace("NAME", name)


def whole(bodies, joints, more=""):
    return model(
        f"<BodySet><objects>{bodies}</objects></BodySet><JointSet><objects>{joints}</objects>"
        f"</JointSet>{more}"
    )


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "small.osim"
        path.write_text(text)
        return cd.read_osim(path, strict=True), OpenSimProcess(str(path), about_model)

    return write


def test_every_joint_in_both_senses(written, evidence):
    # OpenSim crashes on a ScapulothoracicJoint that goes against the tree
    names = [
        (tag, way)
        for tag in JOINTS
        for way in ("forth", "back")
        if (tag, way) != ("ScapulothoracicJoint", "back")
    ]
    bodies = "".join(body(f"{tag}_{way}") for tag, way in names)
    joints = "".join(
        joint(
            tag,
            f"{tag}_{way}",
            *(
                ("/ground", f"/bodyset/{tag}_{way}")
                if way == "forth"
                else (f"/bodyset/{tag}_{way}", "/ground")
            ),
            MORE.get(tag, ""),
        )
        for tag, way in names
    )
    system, process = written(whole(bodies, joints))
    rng = np.random.default_rng(3)
    q, u, udot = rng.uniform(-0.8, 0.8, (3, 2, system.nu))
    theirs = process.ask("mechanics", list(system.coordinates), q, u, udot)
    tau = system.inverse_dynamics(q, u, udot)
    worst = 0.0
    for name, X in theirs["poses"].items():
        R, p = system.body_pose(q, name)
        worst = max(
            worst,
            np.abs(np.concatenate([R, p[..., None]], axis=-1) - X).max(),
            np.abs(system.station_jacobian(q, name, STATION) - theirs["J"][name]).max(),
        )
    # rounding of a few rotations of bodies of 1 m and 2 kg
    evidence("every joint of OpenSim, forth and back: poses and Jacobians against it [m, 1]", worst, 1e-13)
    assert np.abs(system.mass_matrix(q) - theirs["M"]).max() < 1e-13 * np.abs(theirs["M"]).max()
    assert np.abs(tau - theirs["tau"]).max() < 1e-13 * np.abs(theirs["tau"]).max()


def test_loops_locks_and_constraints(written, evidence):
    """A ring of pins that closes on ground, which splits a body; a locked coordinate; a coupler."""
    link = (
        "<Coordinate name='NAME_a'><locked>true</locked><default_value>0.2</default_value></Coordinate>",
        "<Coordinate name='NAME_a'/>",
    )
    parts = ["/ground", "/bodyset/one", "/bodyset/two", "/bodyset/three", "/ground"]
    ring = "".join(joint("PinJoint", f"ring{k}", parts[k], parts[k + 1]) for k in range(4))
    held = joint("PinJoint", "held", "/bodyset/two", "/bodyset/four").replace(
        link[1].replace("NAME", "held"), link[0].replace("NAME", "held")
    )
    held += joint("SliderJoint", "slide", "/bodyset/four", "/bodyset/five")
    held += joint("PinJoint", "turn", "/bodyset/five", "/bodyset/six")
    coupler = """<ConstraintSet><objects><CoordinateCouplerConstraint name="gear">
<coupled_coordinates_function><LinearFunction><coefficients>0.5 0.1</coefficients></LinearFunction>
</coupled_coordinates_function><independent_coordinate_names>turn_a</independent_coordinate_names>
<dependent_coordinate_name>slide_a</dependent_coordinate_name><scale_factor>0.8</scale_factor>
</CoordinateCouplerConstraint></objects></ConstraintSet>"""
    system, process = written(
        whole("".join(map(body, ("one", "two", "three", "four", "five", "six"))), ring + held, coupler)
    )
    assert [b.name for b in system.bodies][-1].endswith("_slave_0")
    assert dict(system.state().locked) == {"held_a": "position"}
    assert {b.name: b.joint for b in system.bodies}["four"] == "held"
    q = system.default("q") + np.random.default_rng(0).uniform(-0.3, 0.3, system.nq)
    q[system.coordinates.index("held_a")] = 0.2
    u = np.zeros(system.nu)
    # where constraints do not hold, both give the accelerations of their equations
    theirs = process.ask("accelerations", list(system.coordinates), [q], [u])[0]
    ours = system.forward_dynamics(q, u)
    evidence(
        "accelerations of a model with a loop, a lock and a coupler against OpenSim, relative",
        np.abs(ours - theirs).max() / np.abs(theirs).max(),
        1e-9,
    )
