"""Small models for tests of models: two links, and a leg with one part of most kinds."""

from homodyn.model import Assembly, Model, box, cylinder, joints, sphere


def two_links() -> Model:
    """A thigh and a shank with hinges, and one marker."""
    return (
        Assembly("two links")
        .add(box("thigh", 8.0, (0.1, 0.1, 0.4)), joints.revolute("y"), joint_name="hip")
        .add(
            box("shank", 4.0, (0.1, 0.1, 0.4)),
            joints.revolute("y"),
            "thigh",
            at=(0, 0, -0.4),
            joint_name="knee",
        )
        .marker("KNE", "thigh", (0, 0.05, -0.4))
        .model()
    )


def leg() -> Model:
    """Three bodies; a joint, a coordinate and a body are called knee."""
    return (
        Assembly("leg")
        .add(
            box("thigh", 8.0, (0.1, 0.1, 0.4), com=(0, 0, -0.2)),
            joints.euler("yxz", stiffness=[1, 2, 3]),
            joint_name="hip",
        )
        .add(
            cylinder("shank", 4.0, 0.05, 0.4, com=(0.0, 0.01, -0.2)),
            joints.revolute("y", lower=0, upper=2.4, damping=0.3),
            "thigh",
            at=(0, 0, -0.41),
            joint_name="knee",
        )
        .add(sphere("knee", 0.2, 0.03), joints.helical("z", 0.01), "shank", joint_name="screw")
        .marker("KNE", "thigh", (0.01, 0.05, -0.4))
        .contact("heel", "shank", "sphere", position=(0, 0, -0.4), radius=0.03)
        .frame("ankle", "shank", (0, 0, -0.4))
        .capsule("skin", "shank", (0, 0, 0), (0, 0, -0.4), 0.06)
        .model()
    )
