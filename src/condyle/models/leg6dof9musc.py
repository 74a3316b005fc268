"""A right leg with pelvis, a knee that rolls and slides, and nine muscles.

Numbers of OpenSim's model leg6dof9musc. By S.L. Delp, J.P. Loan, M.G. Hoy, F.E. Zajac, E.L. Topp, J.M. Rosen,
D.G. Thelen, F.C. Anderson, A. Seth, J.A. Reinbolt; adapted by J. Reinbolt and A. Seth from gait2354. Joints
after Delp et al. (1990), An interactive graphics-based model of the lower extremity to study orthopaedic
surgical procedures, IEEE Transactions on Biomedical Engineering 37, 757-767; anthropometry after Anderson and
Pandy (1999, 2001); the planar knee of Yamaguchi and Zajac (1989). Creative Commons Attribution 3.0. Names are
OpenSim's. Its authors made it for demonstrations: it has too few muscles for research.

The kneecap moves on the tibia by a coordinate of its own, knee_angle_pat_r, that a constraint, pat_angle_r,
keeps equal to knee_angle_r. The muscles do not touch it: the two that extend the knee end in points that move
on the tibia with the knee's angle.

OpenSim's toes have the inertia (0, 0, 0.00090462), which no body can have. They are welded to calcn_r, with
equal axes, so 0.00045231 about x and y is taken from calcn_r and given to them: the foot as a whole, and so
every motion, force and reaction but that of the weld mtp_r, is as in OpenSim.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from condyle.constraints import CoordinateCoupler
from condyle.functions import SimmSpline
from condyle.mobilizers import FunctionBased, Mobilizer, Pin, Weld
from condyle.models.published import THELEN, known_by, rows_of_text
from condyle.muscles import Muscle, Thelen2003
from condyle.paths import ConditionalPoint, MovingPoint, Path
from condyle.system.system import System
from condyle.tree.body import Coordinate

GRAVITY = (0.0, -9.80665, 0.0)

# mass [kg], mass center [m], inertia about it [kg m^2]
BODIES = {
    "pelvis": (10.75379227, (-0.0739512, 0.0, 0.0), (0.1027, 0.0870155, 0.0578439)),
    "femur_r": (8.54926632, (0.0, -0.199543, 0.0), (0.169564, 0.0444489, 0.178809)),
    "tibia_r": (4.67404243, (0.0, -0.2098, 0.0), (0.0802351, 0.00811903, 0.0813495)),
    "patella_r": (0.09191376, (0.0, 0.0, 0.0), (0.00110296, 0.00110296, 0.00110296)),
    "talus_r": (0.12606858, (0.0, 0.0, 0.0), (0.00202166, 0.00202166, 0.00202166)),
    "calcn_r": (1.07224816, (0.102693, 0.0308079, 0.0), (0.00045231, 0.00316617, 0.00361848)),
    "toes_r": (0.18614228, (0.0359425, 0.00616157, -0.0184847), (0.00045231, 0.00045231, 0.00090462)),
}

# coordinate: default, range [rad, m]
COORDINATES = {
    "pelvis_tilt": (0.0200194, (-1.57079633, 1.57079633)),
    "pelvis_tx": (0.05768549, (-1.0, 1.0)),
    "pelvis_ty": (1.06004667, (-1.0, 3.0)),
    "hip_flexion_r": (-0.17539924, (-2.0943951, 2.0943951)),
    "knee_angle_r": (-0.6469763, (-2.0943951, 0.17453293)),
    "knee_angle_pat_r": (-0.64697628, (-2.094, 10.0)),
    "ankle_angle_r": (0.09735134, (-1.57079633, 1.57079633)),
}

TIBIA_X = """
      -2.0944   -0.0037561
     -1.74533   0.00210107
     -1.39626   0.00482424
      -1.0472   0.00481249
    -0.698132   0.00248841
    -0.349066  -0.00117378
    -0.174533  -0.00363871
     0.197344  -0.00613534
     0.337395  -0.00637949
     0.490178  -0.00654265
      1.52146  -0.00637949
       2.0944  -0.00616234
"""
"""x of the tibia on the femur [m] over the knee's angle [rad]."""
TIBIA_Y = """
      -2.0944  -0.496039
     -1.22173  -0.479137
    -0.523599  -0.468338
    -0.349066  -0.466695
    -0.174533  -0.465521
     0.159149  -0.463953
       2.0944  -0.464817
"""
"""Likewise, y."""
PATELLA_TURN = """
      -2.0944   0.308051
     -1.99997   0.308051
     -1.45752   0.306305
    -0.526391   0.270177
    0.0279253  -0.037001
     0.174533  -0.279951
"""
"""Turn of the kneecap on the tibia [rad] over the knee's angle [rad]."""
PATELLA_X = """
       -2.0944  0.0194405
      -1.39626  0.0364088
       -1.0472   0.042814
     -0.698132  0.0483203
     -0.349066  0.0527029
     -0.174533  0.0543884
           0.0  0.0557369
    0.00017453  0.0557369
    0.00034907  0.0557369
     0.0872665  0.0557369
        2.0944  0.0557369
"""
"""x of the kneecap on the tibia [m]."""
PATELLA_Y = """
       -2.0944  -0.0246096
       -1.5708  -0.0226993
      -1.39626  -0.0224746
       -1.0472  -0.0229241
     -0.698132  -0.0237107
     -0.349066  -0.0246096
     -0.174533  -0.0250591
           0.0  -0.0255086
    0.00017453  -0.0255086
    0.00034907  -0.0255086
     0.0872665  -0.0255086
        2.0944  -0.0255086
"""
"""Likewise, y."""
EXTENSORS = """
       -2.0944  0.0175082   0.0263083  0.00929694   0.0287664
      -1.99997  0.0202202   0.0267012   0.0120089   0.0291593
       -1.5708  0.0309116   0.0282215    0.022704   0.0306917
      -1.45752  0.0333257   0.0284073   0.0251187   0.0308797
      -1.39626  0.0345676   0.0284468   0.0263607   0.0309195
       -1.0472  0.0410942   0.0280015   0.0328932   0.0304938
     -0.698132  0.0474297   0.0272362   0.0392704   0.0298616
     -0.526391  0.0506691    0.026795   0.0425567   0.0295622
     -0.349066  0.0543783   0.0263174   0.0463615   0.0293503
     -0.174533  0.0600407    0.025581   0.0522856   0.0292314
           0.0  0.0693987   0.0235803   0.0623256   0.0284217
    0.00017453  0.0694092   0.0235774   0.0623371   0.0284203
    0.00034907  0.0694196   0.0235745   0.0623486   0.0284189
     0.0279253  0.0711413   0.0230617   0.0642454   0.0281523
     0.0872665   0.075283   0.0215479   0.0688531   0.0272157
      0.174533  0.0823732   0.0179296   0.0769044   0.0245296
        2.0944  0.0644437  -0.0757138   0.0729095  -0.0770547
"""
"""Where the extensors end on the tibia over the knee's angle [rad]: x, y of rect_fem_r, then of vas_int_r
[m]."""
MUSCLES = """
    bifemlh_r    2594.0  0.12823851  0.38353904         0.0
    bifemsh_r     960.0  0.20083733  0.10332094  0.40142573
    glut_max2_r  1944.0  0.16291391  0.14074875         0.0
    psoas_r      2342.0  0.10742816  0.17188505  0.13962634
    rect_fem_r   1169.0   0.1328739  0.36132377  0.08726646
    vas_int_r    4530.0  0.12617328  0.13678598  0.05235988
    med_gas_r    2241.0  0.10311281  0.41245126  0.29670597
    soleus_r     5137.0    0.092647  0.25477925  0.43633231
    tib_ant_r    1759.0  0.11005277  0.25042619  0.08726646
"""
"""Muscle, F_0 [N], l_0 [m], l_S [m], alpha_0 [rad]."""
POINTS = """
    bifemlh_r    pelvis     -0.131752   -0.107287    0.0726333
    bifemlh_r    tibia_r   -0.0338242  -0.0404542    0.0330713
    bifemlh_r    tibia_r   -0.0262952  -0.0632659    0.0385439
    bifemsh_r    femur_r    0.0058689   -0.247785    0.0274665
    bifemsh_r    tibia_r   -0.0338242  -0.0404542    0.0330713
    bifemsh_r    tibia_r   -0.0262952  -0.0632659    0.0385439
    glut_max2_r  pelvis     -0.141103   0.0184094     0.058889
    glut_max2_r  pelvis     -0.143928  -0.0543913    0.0956031
    glut_max2_r  femur_r    -0.050003  -0.0622103    0.0343917
    glut_max2_r  femur_r    -0.018311   -0.119256    0.0491814
    psoas_r      pelvis    -0.0676753   0.0927789     0.030229
    psoas_r      pelvis    -0.0248945  -0.0596212    0.0793903
    psoas_r      pelvis    -0.0301244  -0.0842019    0.0853524  hip_flexion_r    -1.5708  0.785398
    psoas_r      femur_r   0.00187804  -0.0595106   0.00446036
    psoas_r      femur_r   -0.0220671  -0.0700747    0.0122073
    rect_fem_r   pelvis    -0.0308566  -0.0325302     0.101251
    rect_fem_r   femur_r    0.0392043   -0.473033   0.00223019  knee_angle_r    -2.61799  -1.45997
    vas_int_r    femur_r    0.0340396   -0.225835    0.0363872
    vas_int_r    femur_r    0.0393216   -0.244616    0.0334527
    vas_int_r    femur_r    0.0402607   -0.473033   0.00645579  knee_angle_r    -2.61799     -1.42
    med_gas_r    femur_r   -0.0223018   -0.461178   -0.0275838
    med_gas_r    femur_r   -0.0352134   -0.472094   -0.0302835  knee_angle_r   -0.785398  0.174533
    med_gas_r    calcn_r          0.0   0.0318348  -0.00544272
    soleus_r     tibia_r  -0.00269695   -0.172268   0.00797847
    soleus_r     calcn_r          0.0   0.0318348  -0.00544272
    tib_ant_r    tibia_r    0.0201147   -0.182493    0.0129229
    tib_ant_r    tibia_r    0.0369707   -0.443985     -0.01989
    tib_ant_r    calcn_r      0.11974   0.0182793   -0.0313213
"""
"""Muscle, body, place [m], from origin to insertion; of points that come and go, the coordinate and the range in
which they are there [rad]."""


def _splines(table: str) -> list[SimmSpline]:
    """Functions of the first column, one per other column."""
    x, *columns = zip(*rows_of_text(table), strict=True)
    return [SimmSpline(x, y) for y in columns]


def joints() -> dict[str, tuple[str, tuple[float, float, float], Mobilizer]]:
    """Body: its parent, the place of the joint in the parent [m], the joint."""
    return {
        "pelvis": (
            "ground",
            (0.593075, 0.0, 0.017089),
            FunctionBased(
                ("pelvis_tilt", "pelvis_tx", "pelvis_ty"),
                (lambda q, x, y: q, -0.01391361, None),
                (lambda q, x, y: x, lambda q, x, y: y, None),
                axes=("z", "y", "x"),
            ),
        ),
        "femur_r": (
            "pelvis",
            (-0.0739512, -0.0691397, 0.0873398),
            FunctionBased("hip_flexion_r", (lambda q: q, -0.01555646, -0.07460014), axes=("z", "x", "y")),
        ),
        "tibia_r": (
            "femur_r",
            (0.0, 0.0, 0.0),
            FunctionBased(
                "knee_angle_r",
                (lambda q: q, None, None),
                (*_splines(TIBIA_X), *_splines(TIBIA_Y), None),
                axes=("z", "y", "x"),
            ),
        ),
        "patella_r": (
            "tibia_r",
            (0.0, 0.0, 0.0),
            FunctionBased(
                "knee_angle_pat_r",
                (*_splines(PATELLA_TURN), None, None),
                (*_splines(PATELLA_X), *_splines(PATELLA_Y), None),
                axes=("z", "y", "x"),
            ),
        ),
        "talus_r": ("tibia_r", (0.0, -0.483203, 0.0), Pin(axis=(-0.105, -0.174, 0.979))),
        "calcn_r": ("talus_r", (-0.0620508, -0.0531864, 0.0101307), Weld()),
        "toes_r": ("calcn_r", (0.18382, -0.00205386, 0.00102692), Weld()),
    }


def path(muscle: str) -> Path:
    """The path of a muscle."""
    points: list[Any] = [
        ConditionalPoint(body, (x, y, z), given[0], tuple(given[1:])) if given else (body, (x, y, z))
        for name, body, x, y, z, *given in rows_of_text(POINTS)
        if name == muscle
    ]
    rect_x, rect_y, vas_x, vas_y = _splines(EXTENSORS)
    ends = {"rect_fem_r": (rect_x, rect_y, 0.00157322), "vas_int_r": (vas_x, vas_y, 0.00202271)}
    if muscle in ends:
        points.append(MovingPoint("tibia_r", ends[muscle], "knee_angle_r"))
    return Path(points)


def leg6dof9musc(
    muscle: type[Muscle] | None = Thelen2003,
    *,
    parameters: str | Iterable[str] | None = None,
    **options: object,
) -> System:
    """The right leg with pelvis, in a plane: tilt and place of the pelvis, hip, knee, ankle; nine muscles.

    Args:
        muscle: their class, as in OpenSim `cd.muscles.Thelen2003`, or another with curves of its own; None
            leaves them out.
        parameters: numbers that become Parameters, by names and patterns such as "*.mass"; "all" for every
            number: see `System.copy`.
        options: for the muscles, such as tendon="rigid" or activation_dynamics=False.

    Returns:
        a System, y up, x forward, not frozen: forces may be added. Names are those of OpenSim's model.
    """
    system = System(gravity=GRAVITY)
    for body, (parent, place, joint) in joints().items():
        mass, com, inertia = BODIES[body]
        names = ("ankle_angle_r",) if body == "talus_r" else joint.coordinate_names
        system.add_body(
            body,
            parent,
            joint,
            X_PF=place,
            mass=mass,
            com=com,
            inertia=inertia,
            coordinates=tuple(Coordinate(name, *COORDINATES[name]) for name in names),
        )
    system.add_constraint(
        "pat_angle_r",
        CoordinateCoupler(lambda knee, patella: knee - patella, ("knee_angle_r", "knee_angle_pat_r")),
    )
    if muscle is not None:
        numbers = known_by(muscle, THELEN) | options
        for name, *own in rows_of_text(MUSCLES):
            system.add_force(name, muscle(path(name), *own, **numbers))
    return system if parameters is None else system.copy(parameters=parameters)
