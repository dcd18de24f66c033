"""Clean recordings of walking and random places in them, for planted problems."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from homodyn.capture import Trial, check_health
from homodyn.model import Model
from support.walking import walk

FIRST = 41
"""Number of the first frame."""
FRAMES = 201
CLEAN = {noise: walk(2.0, noise=noise, seed=7, first=FIRST) for noise in (0.0, 0.0005)}
"""Recordings without problems, by their noise (m)."""
LABELS = CLEAN[0.0].markers

noises = st.sampled_from(sorted(CLEAN))
markers = st.integers(0, len(LABELS) - 1)
starts = st.integers(6, FRAMES - 80)
lengths = st.integers(1, 60)
seeds = st.integers(0, 2**32 - 1)


def direction(seed: int) -> np.ndarray:
    """A random unit vector."""
    vector = np.random.default_rng(seed).normal(size=3)
    return vector / np.linalg.norm(vector)


def by_subject(
    trial: Trial, model: Model | None = None
) -> dict[str, list[tuple[tuple[str, ...], tuple]]]:
    """Markers and frames of all findings, by subject."""
    found: dict = {}
    for finding in check_health(trial, model=model).findings:
        found.setdefault(finding.subject, []).append((finding.markers, finding.frames))
    return found
