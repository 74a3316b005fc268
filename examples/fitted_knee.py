"""A knee fitted to noisy frames, as a spline joint, with and without smoothing.

The truth is the knee of examples/knee.py. We see it at 300 angles, each time with half a
degree and a millimeter of noise, and compare fits with it (lee2008 section 6).
"""

import numpy as np

import condyle as cd

forward = cd.functions.SimmSpline(
    [
        -2.0944,
        -1.74533,
        -1.39626,
        -1.0472,
        -0.698132,
        -0.349066,
        -0.174533,
        0.197344,
        0.337395,
        0.490178,
        1.52146,
        2.0944,
    ],
    [
        -0.0032,
        0.00179,
        0.00411,
        0.0041,
        0.00212,
        -0.001,
        -0.0031,
        -0.005227,
        -0.005435,
        -0.005574,
        -0.005435,
        -0.00525,
    ],
)  # [rad], [m]
up = cd.functions.SimmSpline(
    [-2.0944, -1.22173, -0.523599, -0.349066, -0.174533, 0.159149, 2.0944],
    [-0.4226, -0.4082, -0.399, -0.3976, -0.3966, -0.395264, -0.396],
)
knee = cd.FunctionBased("knee", (None, None, lambda q: q), (forward, up, None))
shank = {"mass": 3.7, "com": (0, -0.19, 0), "inertia": (0.05, 0.005, 0.05)}

true, systems = cd.System(), {"rough": cd.System(), "smooth": cd.System()}
true.add_body("shank", mobilizer=knee, **shank)
rng = np.random.default_rng(0)
q = np.sort(rng.uniform(-2.0, 0.2, 300))
exact = true.body_pose(q[:, None], "shank")
noise = rng.normal(size=(300, 6)) * np.repeat([np.radians(0.5), 1e-3], 3)
frames = exact @ cd.spatial.exp_se3(noise)

# In this metric angles and positions have the same noise [m]: the best one to fit in.
options = {"n": 20, "metric": 1e-3 / np.radians(0.5), "coordinate": "knee", "unit": "rad"}
fits = {
    "rough": cd.fit_spline_curve(frames, q, **options),
    "smooth": cd.fit_spline_curve(frames, q, smoothing=None, **options),
}
print(fits["smooth"].report())  # its weight of smoothing is from cross-validation

at = np.linspace(-1.95, 0.15, 400)[:, None]
truth, moved, error, wrong = true.body_pose(at, "shank"), np.full_like(at, 5.0), {}, {}
for name, system in systems.items():
    system.add_body("shank", mobilizer=fits[name].mobilizer, **shank)
    off = system.body_pose(at, "shank").p - truth.p
    error[name] = 1e3 * np.sqrt(np.mean(np.sum(off**2, axis=1)))
    wrong[name] = np.abs(
        system.forward_dynamics(at, moved) - true.forward_dynamics(at, moved)
    ).max()
    print(
        f"{name}: {error[name]:.2f} mm from the truth, accelerations at 5 rad/s wrong "
        f"by up to {wrong[name]:.0f} rad/s^2"
    )
# One frame is off by 1.7 mm. Smoothing takes a third off what is left of that, and nearly
# all of what the joint adds to accelerations.
assert error["rough"] < 0.8 and error["smooth"] < 0.8 * error["rough"], error
assert wrong["smooth"] < 0.2 * wrong["rough"], wrong

clean = cd.fit_spline_curve(exact, q, **options)
assert clean.rms[1] < 0.01, clean.rms  # [mm]: as near as 20 control frames allow
natural = cd.fit_spline_curve(frames, n=8, metric=options["metric"])  # q unknown
assert natural.rms[1] < 1.8 and abs(np.corrcoef(natural.q, q)[0, 1]) > 0.999
