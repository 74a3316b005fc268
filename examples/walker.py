"""The simplest walker (Garcia, Chatterjee, Ruina, Coleman 1998) goes down a slope on its
own: its gait is a limit cycle, found by Newton's method with exact derivatives."""

import numpy as np

import condyle as cd

SLOPE, FEET = 0.009, 1e-6  # [rad]; mass of a foot, that of the hip is 1
FOOT, ORIGIN, ACROSS = (0, -1, 0), (0, 0, 0), (0, 0, 1)  # legs are 1 long, gravity is 1

# x goes down the slope, y off it; the hip is at the origin of both legs
walker = cd.System(gravity=(np.sin(SLOPE), -np.cos(SLOPE), 0))
walker.add_body(
    "stance",
    mobilizer=cd.Planar(),
    mass=1 + FEET,
    com=(0, -FEET, 0),
    inertia=(FEET, 0, FEET),
    coordinates=("stance", "x", "y"),
)
walker.add_body(
    "swing",
    "stance",
    cd.Pin(),
    mass=FEET,
    com=FOOT,
    inertia=(0, 0, 0),
    coordinates="swing",
)
for name, leg in (("foothold", "stance"), ("landing", "swing")):
    pin = cd.constraints.PointOnLine("ground", ORIGIN, ACROSS, leg, FOOT)
    walker.add_constraint(name, pin, enabled=name == "foothold")


def exchange(s):
    """The leg that landed is the stance leg from now on, with its foot at the origin."""
    foot = s.station_position("swing", FOOT)
    return {
        "q": {
            "stance": s.q("stance") + s.q("swing"),
            "swing": -s.q("swing"),
            "x": s.q("x") - foot[0],
            "y": s.q("y") - foot[1],
        },
        "u": {"stance": s.u("stance") + s.u("swing"), "swing": -s.u("swing")},
    }


land = cd.Reset(exchange, caught="landing", released="foothold", keep=True)
strike = cd.Event(
    lambda s: -s.q("swing") - 2 * s.q("stance"),
    direction="rising",
    action=land,
    name="strike",
)  # swing in front, both feet on the slope


def start(angle, speed):
    """Just after a strike: the hip moves about the stance foot."""
    sin, cos = np.sin(angle), np.cos(angle)
    return walker.state(
        q={"stance": angle, "swing": -2 * angle, "x": -sin, "y": cos},
        u={"stance": speed, "x": -cos * speed, "y": -sin * speed},
    )


walk = cd.limit_cycle(walker, start(0.2, -0.2), strike)
print(walk, "\nangle", walk.state["stance"], "multipliers", walk.multipliers[:2])
# published for feet without mass: angle and speed of the stance leg by Garcia, 10 digits
assert np.allclose(
    [walk.state.q[0], walk.state.u[0]], [0.20031090049483, -0.19983247291764], atol=FEET
)
assert abs(walk.period - 3.812) < 0.1 and walk.stable  # 3.812092 where the slope vanishes
steps = cd.simulate(walker, start(0.199, -0.2), 60.0, accuracy=1e-8, events=strike)
last = np.diff([e.t for e in steps.events])[-1]
print(f"{len(steps.events)} steps from another start: the last took {last:.6f}")
assert abs(last - walk.period) < 1e-3  # disturbances die out
