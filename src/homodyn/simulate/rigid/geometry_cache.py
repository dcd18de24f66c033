"""Kernels of event-driven runs, kept with the model while runs of the same geometry use them."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields
from typing import Any

import numpy as np

from homodyn.model.model_cache import ModelCache
from homodyn.motion.obstacles import PlaneObstacle
from homodyn.simulate.geometry import ContactGeometry
from homodyn.symbolic import Kernel

MAX_CACHED_KERNELS = 24
"""Kernels of one model; five serve one geometry."""

_KERNELS: ModelCache[Kernel] = ModelCache("event-driven kernels")


def geometry_kernel(
    geometry: ContactGeometry, key: Hashable, compute: Callable[[], Kernel]
) -> Kernel:
    """A kernel of a geometry, traced at the first request.

    Only planes have few enough values to recognize them again: kernels of other obstacles are
    traced for each run.

    Args:
        geometry: The geometry.
        key: Identifies the kernel and everything that it depends on beside the geometry; None for
            what cannot be recognized again.
        compute: Traces the kernel.

    Returns:
        The kernel.
    """
    own = geometry_key(geometry)
    if own is None or key is None:
        return compute()
    kernels = _KERNELS.of(geometry.model)
    if (own, key) not in kernels and len(kernels) >= MAX_CACHED_KERNELS:
        kernels.clear()
    return _KERNELS.get(geometry.model, (own, key), compute)


def geometry_key(geometry: ContactGeometry) -> Hashable | None:
    """What distinguishes a geometry from others of its model; None if it is not all planes."""
    planes = []
    for part in geometry.obstacles:
        if type(part) is not PlaneObstacle:
            return None
        values = tuple(_constant(getattr(part, field.name)) for field in fields(part))
        if None in values:
            return None
        planes.append(values)
    return geometry.contacts, geometry.pairs, tuple(planes)


def _constant(value: Any) -> Hashable | None:
    """A text or number or array of them as a key with its type; None for anything else."""
    if value is None or isinstance(value, str):
        return ("text", value)
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        return None
    return ("numbers", array.shape, array.tobytes())
