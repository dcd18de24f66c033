"""What an OpenSim file loses of a model besides the limits of the format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model.formats.osim_joint_stages import split_into_stages
from homodyn.model.formats.osim_write_joints import angle_joint
from homodyn.model.formats.osim_write_muscles import (
    LIGAMENT_CLASSES,
    MUSCLE_CLASSES,
    raises_min_control,
)
from homodyn.model.model import Model

MAX_LISTED_NAMES = 3


def osim_losses(model: Model) -> Iterator[str]:
    """What an OpenSim file loses of a model.

    Args:
        model: The model.

    Yields:
        Sentences without a full stop.
    """
    kinds = Counter(contact.kind for contact in model.contacts if contact.kind != "sphere")
    for kind, count in kinds.items():
        what = count_of(count, f"contact {kind}", f"contact {kind}s" if kind != "box" else "boxes")
        yield f"{what} cannot be stored in OpenSim, which has contact spheres"
    for label, owners, classes in (
        ("muscle", model.muscles, MUSCLE_CLASSES),
        ("ligament", model.ligaments, LIGAMENT_CLASSES),
    ):
        unknown = [one.name for one in owners if one.kind not in classes]
        if unknown:
            yield (
                f"{count_of(len(unknown), label)} of kinds that OpenSim lacks "
                f"({enumerate_names(unknown, MAX_LISTED_NAMES)}); it has {', '.join(classes)}"
            )
    raised = [m.name for m in model.muscles if raises_min_control(m.kind, m.settings)]
    if raised:
        yield (
            "min_control is raised to the minimum activation, as OpenSim demands: "
            f"{enumerate_names(raised, MAX_LISTED_NAMES)}"
        )
    for joint in model.joints:
        if joint.quaternion:
            yield (
                f"the quaternion of joint {joint.name!r} becomes angles about x, y and z, since "
                "OpenSim has no coordinates for quaternions; motion.mot files have the same angles"
            )
        stages, _ = split_into_stages(angle_joint(joint))
        if len(stages) > 1:
            names = [f"{joint.name}_{k}" for k in range(1, len(stages))]
            yield (
                f"joint {joint.name!r} becomes {len(stages)} joints with the massless "
                f"{'body' if len(names) == 1 else 'bodies'} {', '.join(names)} between them"
            )
