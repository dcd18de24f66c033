"""Models to try the mechanics on: random trees of all joints, a human-like tree, and states."""

from dataclasses import replace

import numpy as np

from homodyn.model import Assembly, Body, Model, box, joints, rod
from homodyn.model.configuration import random
from homodyn.model.functions import Polynomial, Spline
from homodyn.spatial import Transform, rpy_rotation

PLAIN_KINDS = (
    "revolute",
    "oblique revolute",
    "prismatic",
    "oblique prismatic",
    "helical",
    "universal",
    "cylindrical",
    "planar",
    "translation",
    "euler",
    "euler_free",
    "spherical",
    "free",
    "fixed",
)
ALL_KINDS = (*PLAIN_KINDS, "custom")


def joint_type(kind: str, rng: np.random.Generator) -> joints.JointType:
    """A joint of the named kind with random axes."""
    x, y, z = rng.permutation(list("xyz"))
    oblique = rng.normal(size=3)
    created = {
        "revolute": lambda: joints.revolute(x),
        "oblique revolute": lambda: joints.revolute(oblique),
        "prismatic": lambda: joints.prismatic("-" + x),
        "oblique prismatic": lambda: joints.prismatic(oblique),
        "helical": lambda: joints.helical(oblique, rng.uniform(-0.3, 0.3)),
        "universal": lambda: joints.universal(x, y),
        "cylindrical": lambda: joints.cylindrical(oblique),
        "planar": lambda: joints.planar(x),
        "translation": joints.translation,
        "euler": lambda: joints.euler(x + y + (z if rng.random() < 0.5 else x)),
        "euler_free": lambda: joints.euler_free(x + y + z),
        "spherical": joints.spherical,
        "free": joints.free,
        "fixed": joints.fixed,
        "custom": lambda: joints.custom(
            joints.turn(oblique, 0),
            joints.slide(x, 0, Polynomial((0.1, 0.05, -0.2, 0.03))),
            joints.slide(y, 0, Spline((-2.0, -0.5, 0.7, 2.0), (0.0, 0.1, -0.05, 0.2))),
            joints.turn(z, None, Polynomial((0.4,))),
            joints.turn(x, 1, Polynomial((0.0, 1.0, 0.3))),
        ),
    }
    return created[kind]()


def random_placement(rng: np.random.Generator) -> Transform:
    return Transform(rpy_rotation(rng.uniform(-2, 2, 3)), rng.uniform(-0.5, 0.5, 3))


def random_body(name: str, rng: np.random.Generator) -> Body:
    """A body of about one kilogram whose inertia is that of some cloud of points."""
    cloud = rng.normal(size=(4, 3)) * 0.2
    inertia = np.trace(cloud.T @ cloud) * np.eye(3) - cloud.T @ cloud
    return Body(name, rng.uniform(0.5, 2), rng.uniform(-0.3, 0.3, 3), inertia + 0.01 * np.eye(3))


def random_tree(
    seed: int, count: int, kinds: tuple[str, ...] = ALL_KINDS, *, armature: bool = False
) -> Model:
    """A tree of ``count`` bodies that uses every kind of joint in turn, at odd places.

    The last body, at least, can move, and bodies have a frame ``tip<i>`` each.
    """
    rng = np.random.default_rng(seed)
    order = [kind for _ in range(count) for kind in rng.permutation(kinds)][:count]
    if order[-1] == "fixed":
        order[-1] = "revolute"
    build = Assembly(f"random{seed}")
    for i, kind in enumerate(order):
        parent = "world" if i == 0 or rng.random() < 0.05 else f"b{rng.integers(max(0, i - 4), i)}"
        created = joint_type(str(kind), rng)
        if armature and created.coordinates:
            created = joint_type_with_armature(created, rng)
        placements = {"at": random_placement(rng), "child_at": random_placement(rng)}
        build = build.add(
            random_body(f"b{i}", rng), created, parent, joint_name=f"j{i}", **placements
        )
        build = build.frame(f"tip{i}", f"b{i}", random_placement(rng))
    return build.model(gravity=(0.3, -0.2, -9.7))


def joint_type_with_armature(
    created: joints.JointType, rng: np.random.Generator
) -> joints.JointType:
    rotors = (replace(c, armature=rng.uniform(0.01, 0.1)) for c in created.coordinates)
    return replace(created, coordinates=tuple(rotors))


def human_tree(base: joints.JointType | None = None) -> Model:
    """41 degrees of freedom in the shape of a person; free base by default."""
    build = Assembly("human").add(
        _segment("pelvis", 11.0, 0.1), base if base is not None else joints.free()
    )
    for side, sign in (("r", -1), ("l", 1)):
        hip, ankle = (0.0, 0.09 * sign, -0.05), (0.0, 0.0, -0.42)
        build = (
            build.add(_segment(f"thigh_{side}", 8.0, -0.4), joints.euler("yxz"), "pelvis", at=hip)
            .add(
                _segment(f"shank_{side}", 3.5, -0.4),
                joints.revolute("y"),
                f"thigh_{side}",
                at=(0.0, 0.0, -0.43),
            )
            .add(
                _segment(f"foot_{side}", 1.1, -0.1),
                joints.universal("y", "x"),
                f"shank_{side}",
                at=ankle,
            )
            .add(
                _segment(f"toe_{side}", 0.2, -0.05),
                joints.revolute("y"),
                f"foot_{side}",
                at=(0.12, 0.0, -0.05),
            )
        )
    for name, parent, mass, height in (
        ("lumbar", "pelvis", 9.0, 0.1),
        ("thorax", "lumbar", 14.0, 0.2),
        ("head", "thorax", 5.0, 0.35),
    ):
        segment = _segment(name, mass, 0.2)
        build = build.add(segment, joints.euler("yxz"), parent, at=(0.0, 0.0, height))
    for side, sign in (("r", -1), ("l", 1)):
        build = (
            build.add(
                _segment(f"arm_{side}", 2.0, -0.3),
                joints.euler("yxz"),
                "thorax",
                at=(0.0, 0.18 * sign, 0.3),
            )
            .add(
                _segment(f"forearm_{side}", 1.2, -0.25),
                joints.revolute("y"),
                f"arm_{side}",
                at=(0.0, 0.0, -0.3),
            )
            .add(
                _segment(f"hand_{side}", 0.5, -0.1),
                joints.universal("x", "y"),
                f"forearm_{side}",
                at=(0.0, 0.0, -0.25),
            )
        )
    return build.model()


def _segment(name: str, mass: float, length: float) -> Body:
    across = mass * (0.3 * length) ** 2 + 0.01 * mass
    return Body(name, mass, (0.01, 0.0, 0.45 * length), (across, 0.9 * across, 0.004 * mass))


def coupled_tree() -> Model:
    """Coordinates that follow one other, on its path, beside it and inside a joint of several."""
    follow = Polynomial((0.1, 0.4, 0.3, -0.1))
    curved = joints.custom(
        joints.turn("y", 0),
        joints.slide("x", 0, Polynomial((0.0, 0.1, 0.2, 0.05))),
        joints.turn("x", 1, Polynomial((0.0, 0.5, 0.2, 0.1))),
    )
    size = (0.1, 0.2, 0.4)
    return (
        Assembly("coupled")
        .add(box("base", 3.0, size, com=(0.1, 0, 0.2)), joints.free())
        .add(box("upper", 2.0, size, com=(0, 0, 0.2)), joints.revolute("y"), "base")
        .add(box("lower", 1.0, size, com=(0, 0.1, 0.2)), curved, "upper", at=(0, 0, 0.4))
        .add(box("tip", 0.5, size, com=(0, 0, 0.1)), joints.euler("zxy"), "lower", at=(0, 0, 0.4))
        .add(box("beside", 1.0, size, com=(0.2, 0, 0)), joints.revolute("x"), "base")
        .couple("lower_rx", "upper", follow)
        .couple("tip_rx", "upper", follow)
        .couple("beside", "upper", 0.7)
        .couple("tip_ry", "lower_ry", follow)
        .frame("hand", "tip", (0.1, 0.2, 0.3))
        .model()
    )


def random_state(model: Model, seed: int, size: int | tuple[int, ...] = ()) -> tuple:
    """Positions, velocities and accelerations (or forces) of a batch of states."""
    rng = np.random.default_rng(seed)
    batch = (size,) if isinstance(size, int) else size
    q = random(model, rng, batch)
    return q, *(rng.uniform(-1, 1, (*batch, model.nv)) for _ in range(2))


def pendulums(branches: int, length: int, **settings: float) -> Model:
    """Hinges in a number of chains on the world."""
    build = Assembly(f"{branches}x{length}")
    for b in range(branches):
        for k in range(length):
            body = rod(f"b{b}_{k}", 1.0, (0.01, 0, 0), (0, 0.02, -1))
            parent = f"b{b}_{k - 1}" if k else "world"
            hinge = joints.revolute("xy"[k % 2], **settings)
            build = build.add(body, hinge, parent, at=(0, 0, -float(k > 0)))
    return build.model()


def relative_error(ours: np.ndarray, exact: np.ndarray) -> float:
    """Largest difference relative to the largest exact number, at least one."""
    return float(np.abs(ours - exact).max() / max(1.0, np.abs(exact).max()))
