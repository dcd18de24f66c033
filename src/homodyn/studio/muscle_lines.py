"""Muscles as lines along their paths, colored by activation."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from homodyn.model import Model
from homodyn.muscle.path_points import path_points
from homodyn.report.colors import Rgb, mix_colors

REST_COLOR: Rgb = (150, 158, 168)
"""Of muscles at rest, and of those whose activation is not known."""
ACTIVE_COLOR: Rgb = (200, 40, 160)
"""Of muscles from `FULL_COLOR_ACTIVATION` on; neither the red of the right nor the blue of the
left."""
FULL_COLOR_ACTIVATION = 0.5
COLOR_STEPS = 64
"""Colors between rest and activation."""


def muscle_segments(model: Model, q: np.ndarray) -> np.ndarray:
    """Straight parts of all muscle paths in the world of the model.

    Args:
        model: The model; without muscles there are no segments.
        q: Positions, (poses, nq).

    Returns:
        (poses, segments, 2, 3), m, all muscles one after the other.
    """
    if not model.muscles:
        return np.zeros((len(q), 0, 2, 3))
    points, _ = path_points(model, q)
    starts = _segment_starts(model)
    return np.stack([points[:, starts], points[:, starts + 1]], axis=2)


def segment_colors(model: Model, activations: np.ndarray) -> np.ndarray:
    """Colors of the segments of `muscle_segments`.

    Args:
        model: The model.
        activations: (muscles,), 0 to 1, NaN where not known; empty if none is known.

    Returns:
        (segments, 3), 0 to 255.
    """
    if not model.muscles:
        return np.zeros((0, 3), dtype=np.uint8)
    levels = np.zeros(len(model.muscles))
    if len(activations):
        levels = np.clip(np.nan_to_num(activations) / FULL_COLOR_ACTIVATION, 0.0, 1.0)
    colors = _palette()[np.rint(levels * (COLOR_STEPS - 1)).astype(int)]
    return np.repeat(colors, _segment_counts(model), axis=0)


@lru_cache(maxsize=32)
def _segment_counts(model: Model) -> tuple[int, ...]:
    _, counts = path_points(model, model.neutral()[None])
    return tuple(count - 1 for count in counts)


@lru_cache(maxsize=32)
def _segment_starts(model: Model) -> np.ndarray:
    """Indices of the first points of all segments."""
    found: list[int] = []
    first = 0
    for count in _segment_counts(model):
        found += range(first, first + count)
        first += count + 1
    return np.array(found, dtype=int)


@lru_cache(maxsize=1)
def _palette() -> np.ndarray:
    shares = np.linspace(0.0, 1.0, COLOR_STEPS)
    return np.array([mix_colors(REST_COLOR, ACTIVE_COLOR, float(s)) for s in shares], np.uint8)
