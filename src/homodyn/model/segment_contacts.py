"""Contact shapes of whole segments, from the capsules of a model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from homodyn.errors import ModelError
from homodyn.foundation.text import enumerate_names, unknown_name
from homodyn.model.model_parts import ModelParts
from homodyn.model.shapes import Capsule, ContactShape


def segment_contacts(
    model: ModelParts, bodies: Sequence[str] | None = None
) -> tuple[ContactShape, ...]:
    """Contact shapes with the size of the capsules of segments.

    Args:
        model: The model, without parameters.
        bodies: Names of bodies; None for all bodies that have capsules and no contact shapes.

    Returns:
        One capsule or sphere per capsule, named after it: ``"Head capsule"``.

    Raises:
        ModelError: A body is unknown or has no capsule, no body has one, or the model has
            parameters.
    """
    if model.parameters:
        raise ModelError(
            f"model {model.name!r} has parameters; give them values first, with model.at(values)"
        )
    sized = list(dict.fromkeys(capsule.body for capsule in model.capsules))
    if bodies is None:
        touching = {shape.body for shape in model.contacts}
        bodies = [name for name in sized if name not in touching]
    known = [body.name for body in model.bodies]
    for name in bodies:
        if name not in known:
            raise ModelError(f"model {model.name!r} has {unknown_name('body', name, known)}")
        if name not in sized:
            raise ModelError(
                f"body {name!r} has no capsule that gives its size; bodies with capsules: "
                f"{enumerate_names(sized) or 'none'}"
            )
    if not sized:
        raise ModelError(
            f"model {model.name!r} has no capsules that give the sizes of its segments; add "
            "contact shapes with replace(model, contacts=...)"
        )
    return tuple(_shape(capsule) for capsule in model.capsules if capsule.body in bodies)


def _shape(capsule: Capsule) -> ContactShape:
    start, end = np.asarray(capsule.start, dtype=float), np.asarray(capsule.end, dtype=float)
    name, radius, length = f"{capsule.name} capsule", capsule.radius, np.linalg.norm(end - start)
    if not length:
        return ContactShape(name, capsule.body, "sphere", position=start, radius=radius)
    first = (end - start) / length
    # Any two axes complete the frame: a capsule is round.
    other = np.eye(3)[int(np.argmin(np.abs(first)))]
    second = np.cross(first, other) / np.linalg.norm(np.cross(first, other))
    return ContactShape(
        name,
        capsule.body,
        "capsule",
        position=(start + end) / 2,
        radius=radius,
        size=(length, 0.0, 0.0),
        rotation=np.array([first, second, np.cross(first, second)]),
    )
