"""Artifacts of marker recordings: noise, gaps and exchanged labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name

SHORT_GAPS_S, LONG_GAPS_S = (0.03, 0.15), (0.2, 0.5)
"""Ranges of the uniformly distributed durations of short and long gaps."""
LONG_GAP_SHARE = 0.2
"""Fraction of gaps that are long."""
NOISE_KERNEL = np.array([0.25, 0.5, 0.25])
"""Noise is correlated between neighboring frames, as that of optical systems."""
SWAP_DURATIONS_S = (0.1, 0.4)
"""Range of the uniformly distributed durations of label exchanges."""


@dataclass(frozen=True)
class MarkerInterval:
    """Markers that are missing or exchanged during some frames."""

    markers: tuple[str, ...]
    """Names of the markers."""
    first: int
    """First affected frame."""
    last: int
    """First frame that is not affected anymore."""


def add_noise(positions: np.ndarray, sd: float, rng: np.random.Generator) -> np.ndarray:
    """Positions with Gaussian noise of a standard deviation (m) along each axis."""
    if not sd:
        return positions.copy()
    frames = len(positions)
    white = rng.normal(size=(frames + 2, *positions.shape[1:]))
    correlated = sum(w * white[k : k + frames] for k, w in enumerate(NOISE_KERNEL))
    return positions + sd / np.linalg.norm(NOISE_KERNEL) * correlated


def random_gaps(
    markers: Sequence[str], frames: int, rate: float, share: float, rng: np.random.Generator
) -> tuple[MarkerInterval, ...]:
    """Gaps that hide about a share of all positions, none of them at the ends of the trial."""
    gaps: list[MarkerInterval] = []
    hidden, target = 0, share * frames * len(markers)
    while hidden < target:
        shortest, longest = LONG_GAPS_S if rng.random() < LONG_GAP_SHARE else SHORT_GAPS_S
        length = max(1, round(rng.uniform(shortest, longest) * rate))
        if length > frames - 10:
            length = max(1, frames - 10)
        first = int(rng.integers(5, max(6, frames - length - 4)))
        gaps.append(
            MarkerInterval((markers[int(rng.integers(len(markers)))],), first, first + length)
        )
        hidden += length
    return tuple(gaps)


def gaps_from_list(
    markers: Sequence[str], rate: float, gaps: Sequence[tuple[str, float, float]]
) -> tuple[MarkerInterval, ...]:
    """Gaps from a list of markers with first and last times (s)."""
    for name, first, last in gaps:
        if name not in markers:
            raise CaptureError(unknown_name("marker", name, markers))
        if not 0 <= first < last:
            raise CaptureError(
                f"a gap of {name} from {first} to {last} s: 0 <= first < last is required"
            )
    return tuple(
        MarkerInterval((name,), round(first * rate), round(last * rate))
        for name, first, last in gaps
    )


def random_swaps(
    markers: Sequence[str], frames: int, rate: float, count: int, rng: np.random.Generator
) -> tuple[MarkerInterval, ...]:
    """Exchanges of the labels of a left marker and its right counterpart."""
    pairs = [(m, "R" + m[1:]) for m in markers if m[0] == "L" and "R" + m[1:] in markers]
    if count and not pairs:
        raise CaptureError(
            "there is no pair of markers L... and R... whose labels can be exchanged"
        )
    swaps = []
    for _ in range(count):
        length = round(rng.uniform(*SWAP_DURATIONS_S) * rate)
        first = int(rng.integers(5, max(6, frames - length - 5)))
        swaps.append(MarkerInterval(pairs[int(rng.integers(len(pairs)))], first, first + length))
    return tuple(swaps)


def apply_artifacts(
    markers: Sequence[str],
    positions: np.ndarray,
    *,
    gaps: Sequence[MarkerInterval],
    swaps: Sequence[MarkerInterval],
) -> np.ndarray:
    """Positions with labels exchanged and gaps (NaN)."""
    changed = positions.copy()
    column = {name: k for k, name in enumerate(markers)}
    for swap in swaps:
        pair = [column[name] for name in swap.markers]
        changed[swap.first : swap.last, pair] = changed[swap.first : swap.last, pair[::-1]]
    for gap in gaps:
        changed[gap.first : gap.last, column[gap.markers[0]]] = np.nan
    return changed
