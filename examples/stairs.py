"""A ball rolls down stairs: boxes with rounded edges, friction that sets it spinning, and
an account of where its energy goes."""

import numpy as np

import condyle as cd

C = cd.contact
RUBBER = C.Material(
    2e5, dissipation=0.3, static_friction=0.8, dynamic_friction=0.7, transition_speed=0.02
)
WOOD = C.Material(1e7, static_friction=0.8, dynamic_friction=0.7)

system = cd.System()
system.add_body("ball", mobilizer=cd.Free(), mass=0.2, inertia=(0.4 * 0.2 * 0.05**2,) * 3)
ball = C.Sphere("ball", (0, 0, 0), 0.05, RUBBER)
steps = [
    C.Box(
        "ground",
        (0.15 + 0.3 * k, -0.1 - 0.15 * k, 0),
        (0.15, 0.1, 0.5),
        WOOD,
        edge=0.01,
        name=f"step{k}",
    )
    for k in range(6)
]
system.add_contact("stairs", steps, ball)
losses = [C.Loss(system.force(name)) for name in system.contacts]
system.add_measure(
    "lost", cd.measures.Integral(lambda s: sum(s.ask(loss)[0] for loss in losses))
)

start = system.state(q={"ball_tx": 0.1, "ball_ty": 0.06}, u={"ball_vx": 1.2})
run = cd.simulate(system, start, 2.0, accuracy=1e-8)

stored = [sum(state.energy()) for state in (run[0], run[-1])]
print(
    f"down {-run['ball_ty'][-1]:.2f} m, forward {run['ball_tx'][-1]:.2f} m, turning at "
    f"{-run['ball_wz'][-1]:.0f} rad/s; {run['lost'][-1]:.3f} J lost"
)
depths = np.array([run(t).contacts.depths() for t in np.linspace(0, 2.0, 2001)])
print("steps touched:", [k for k in range(6) if depths[:, k].max() > 0])

assert run["ball_ty"][-1] < -0.5 and run["ball_wz"][-1] < -5  # rolling forwards
assert abs(stored[1] + run["lost"][-1] - stored[0]) < 1e-6  # all is accounted for
assert (depths.max(axis=0) > 0).sum() >= 3
