"""Twenty files of robots in the shapes that are public: arms, legs, grippers, carts, loops' trees, random trees."""

from __future__ import annotations

import numpy as np


def _numbers(values: object) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(values))


def _inertia(rng: np.random.Generator) -> np.ndarray:
    points = rng.normal(size=(6, 3)) * 0.1
    return (points**2).sum() * np.eye(3) - points.T @ points


def urdf(seed: int, bodies: int) -> str:
    """A random tree of hinges, slides, turning and fixed joints, some links with no inertia of their own."""
    rng = np.random.default_rng(seed)
    out = [f'<robot name="random{seed}"><material name="red"><color rgba="1 0 0 1"/></material>']
    for k in range(bodies):
        if k and k % 5 == 4:
            out.append(f'<link name="l{k}"/>')  # a frame: what hangs on it has the mass
            continue
        I = _inertia(rng)
        names = {
            f"i{a}{b}": I["xyz".index(a), "xyz".index(b)] for a, b in ("xx", "yy", "zz", "xy", "xz", "yz")
        }
        out.append(
            f'<link name="l{k}"><inertial><origin xyz="{_numbers(rng.normal(size=3) * 0.1)}" '
            f'rpy="{_numbers(rng.uniform(-3, 3, 3))}"/><mass value="{rng.uniform(0.5, 3)!r}"/><inertia '
            + " ".join(f'{n}="{v!r}"' for n, v in ((n, float(v)) for n, v in names.items()))
            + '/></inertial><visual><geometry><box size="0.1 0.2 0.3"/></geometry><material name="red"/></visual>'
            '<collision><geometry><sphere radius="0.1"/></geometry></collision></link>'
        )
    kinds = ("revolute", "prismatic", "continuous", "revolute", "fixed")
    for k in range(1, bodies):
        kind = "fixed" if k % 5 == 4 else kinds[int(rng.integers(5))]
        parent = int(rng.integers(k)) if seed % 2 else k - 1
        out.append(
            f'<joint name="j{k}" type="{kind}"><parent link="l{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{_numbers(rng.normal(size=3) * 0.3)}" rpy="{_numbers(rng.uniform(-3, 3, 3))}"/>'
            f'<axis xyz="{_numbers(np.eye(3)[k % 3] if seed % 3 else rng.normal(size=3))}"/>'
            '<limit lower="-1.5" upper="1.5" effort="20" velocity="5"/></joint>'
        )
    return "".join(out) + "</robot>"


def mjcf(seed: int) -> str:
    """A random tree with the habits of MuJoCo's models: classes, degrees, several joints of a body, armature,
    springs, inertia from geometry, frames."""
    rng = np.random.default_rng(seed)
    euler = ("xyz", "ZYX", "zxz")[seed % 3]

    def pose() -> str:
        kind = int(rng.integers(5))
        turn = (
            f'quat="{_numbers(rng.normal(size=4))}"',
            f'euler="{_numbers(rng.uniform(-90, 90, 3))}"',
            f'axisangle="{_numbers(rng.normal(size=3))} {rng.uniform(-170, 170)!r}"',
            f'xyaxes="{_numbers(rng.normal(size=6))}"',
            f'zaxis="{_numbers(rng.normal(size=3))}"',
        )[kind]
        return f'pos="{_numbers(rng.normal(size=3) * 0.3)}" {turn}'

    def geom() -> str:
        kind = ("sphere", "capsule", "cylinder", "box", "ellipsoid")[int(rng.integers(5))]
        size = _numbers(rng.uniform(0.05, 0.2, {"sphere": 1, "capsule": 2, "cylinder": 2}.get(kind, 3)))
        if kind == "capsule" and rng.integers(2):
            return (
                f'<geom type="capsule" size="0.05" fromto="{_numbers(rng.normal(size=6) * 0.3)}" mass="0.7"/>'
            )
        return f'<geom type="{kind}" size="{size}" {pose()}/>'

    def joint(name: str) -> str:
        kind = ("hinge", "hinge", "slide")[int(rng.integers(3))]
        return (
            f'<joint name="{name}" type="{kind}" axis="{_numbers(rng.normal(size=3))}" '
            f'pos="{_numbers(rng.normal(size=3) * 0.1)}" ref="{rng.uniform(-0.5, 0.5)!r}" '
            f'stiffness="{rng.uniform(0, 5)!r}" springref="{rng.uniform(-0.5, 0.5)!r}"/>'
        )

    count = 0

    def body(depth: int, first: bool = False) -> str:
        nonlocal count
        count += 1
        me = count
        if first and seed % 2:
            joints = '<freejoint name="root"/>'
        elif me % 4 == 3:
            joints = f'<joint name="j{me}" type="ball" pos="0.1 0 0.05" damping="0" armature="0"/>'
        else:
            joints = "".join(joint(f"j{me}_{k}") for k in range(int(rng.integers(0 if depth < 3 else 1, 3))))
        inside = geom() if rng.integers(2) else geom() + geom()
        # fullinertia takes no other orientation
        if rng.integers(3) == 0:
            I = _inertia(rng)
            full = _numbers([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
            inside += (
                f'<inertial pos="{_numbers(rng.normal(size=3) * 0.1)}" mass="1.3" fullinertia="{full}"/>'
            )
        children = "".join(body(depth - 1) for _ in range(int(rng.integers(1, 3)))) if depth else ""
        framed = f'<frame {pose()}>{geom()}<site name="s{me}" pos="0.1 0.2 0.3"/></frame>'
        return f'<body name="b{me}" {pose()}>{joints}{inside}{framed}{children}</body>'

    return (
        f'<mujoco><compiler eulerseq="{euler}"/><option gravity="{_numbers(rng.normal(size=3) * 5)}">'
        '<flag contact="disable" limit="disable"/></option>'
        '<default><joint damping="0.2" armature="0.03"/><geom density="800"/></default>'
        f'<worldbody><geom type="plane" size="1 1 1"/>{body(3, True)}</worldbody></mujoco>'
    )
