"""Two labels that are exchanged in all frames of a recording.

Trajectories show nothing then: each is smooth. The distances between markers show it: exchanging
the two labels again removes most of the violations of the likely distances (`marker_layout`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.labeling.landmarks import is_unlabeled
from homodyn.capture.quality.marker_layout import (
    MAX_RIGID_RANGE_M,
    MAX_SEGMENT_LENGTH_M,
    MIRROR_SCALE_M,
    MIRROR_SCALE_SHARE,
    RANGE_SCALE_M,
    TRACKING_SCALE_M,
    DistanceBands,
    DistanceStatistics,
    anatomical_bands,
    body_landmark,
    distance_statistics,
    is_tracking,
    mirror_indices,
    model_bands,
    recording_bands,
    segment_pairs,
    squared_violations,
)
from homodyn.capture.trial import Trial
from homodyn.foundation.text import enumerate_names
from homodyn.model import Model

MIN_MARKERS = 6
"""Markers that a recording needs for a comparison of distances."""
MIN_GAIN = 40.0
"""Sum of squared violations that exchanging two labels must remove."""
MAX_REMAINING_SHARE = 0.6
"""Share of the violations of both markers that may remain."""
CERTAIN_GAIN = 150.0
"""Gain of an exchange that is corrected without asking."""
CERTAIN_REMAINING_SHARE = 0.35
"""Share of the violations that may remain then."""
RIVAL_SHARE = 0.7
"""Share of the gain from which another exchange is an equally good explanation."""
EQUAL_SHARE = 0.95
"""Share of the gain from which the data do not decide between two exchanges."""
MAX_EXCHANGES = 6
"""Exchanges that are sought in one recording."""

EVIDENCE_TEXTS = {
    "anatomy": "anatomy",
    "model": "the markers of the model",
    "recordings": "the other recordings",
    "segments": "the constant distances within segments",
    "sides": "the other side of the body",
}


@dataclass(frozen=True)
class LabelExchange:
    """Two markers whose labels are exchanged in all frames."""

    a: int
    """Index of a marker."""
    b: int
    """Index of the other marker."""
    gain: float
    """Sum of squared violations that exchanging the labels removes."""
    certain: bool
    """Whether no other exchange explains the distances, and this one does so well."""
    evidence: tuple[str, ...]
    """Sources that speak for it, the strongest first; keys of `EVIDENCE_TEXTS`."""
    alternative: tuple[int, int] | None = None
    """Another pair whose exchange explains the distances as well."""


@dataclass(frozen=True)
class _Candidate:
    gain: float
    remaining: float
    """Share of the violations of both markers that remains."""
    a: int
    b: int


class _Layout:
    """Sources of likely distances for one set of labels."""

    def __init__(
        self,
        labels: Sequence[str],
        distances: DistanceStatistics,
        model: Model | None,
        others: Sequence[Trial],
    ) -> None:
        self.bands: dict[str, DistanceBands] = {"anatomy": anatomical_bands(labels, distances)}
        if model is not None:
            self.bands["model"] = model_bands(labels, model, distances)
        if others:
            self.bands["recordings"] = recording_bands(labels, others)
        self.same_segment = segment_pairs(labels, model)
        self.mirror = mirror_indices(labels)
        tracking = np.array([is_tracking(label) for label in labels])
        self.loose = (tracking[:, None] | tracking[None]) * TRACKING_SCALE_M
        marks = [body_landmark(label) for label in labels]
        same_mark = np.array([[one == two for two in marks] for one in marks])
        self.same_cluster = same_mark & tracking[:, None] & tracking[None]

    def violations(self, distances: DistanceStatistics) -> Mapping[str, np.ndarray]:
        """By source, (markers, markers): squared violations."""
        median, spread = distances.median, distances.range
        found = {name: bands.violations(median) for name, bands in self.bands.items()}
        if "recordings" in found:
            found["recordings"] = np.where(spread < MAX_RIGID_RANGE_M, found["recordings"], 0.0)
        flat = np.zeros_like(spread)
        excess = squared_violations(flat, flat + MAX_RIGID_RANGE_M, flat + RANGE_SCALE_M, spread)
        found["segments"] = np.where(self.same_segment, excess, 0.0)
        found["sides"] = self._side_violations(median, spread)
        return found

    def _side_violations(self, median: np.ndarray, spread: np.ndarray) -> np.ndarray:
        known = (self.mirror >= 0)[:, None] & (self.mirror >= 0)[None]
        pick = np.ix_(np.maximum(self.mirror, 0), np.maximum(self.mirror, 0))
        shorter = np.fmin(median, median[pick])
        rigid = np.fmin(spread, spread[pick]) < MAX_RIGID_RANGE_M
        compared = known & rigid & (shorter < MAX_SEGMENT_LENGTH_M)
        scale = MIRROR_SCALE_M + MIRROR_SCALE_SHARE * shorter + self.loose
        excess = squared_violations(median[pick], median[pick], scale, median)
        return np.where(compared, excess, 0.0)

    def best_exchanges(self, distances: DistanceStatistics) -> list[_Candidate]:
        """Exchanges that remove enough violations, the best first."""
        before = self.violations(distances)
        total = _sum(before)
        by_marker = total.sum(axis=1)
        found = []
        for a in range(len(total)):
            for b in range(a + 1, len(total)):
                if by_marker[a] + by_marker[b] < MIN_GAIN:
                    continue
                after = dict(self.violations(distances.exchange(a, b)))
                start = total
                if self.same_cluster[a, b]:
                    # The members of a cluster are not numbered alike on both sides.
                    after.pop("sides")
                    start = total - before["sides"]
                end = _sum(after)
                gain = float(start.sum() - end.sum()) / 2
                if gain < MIN_GAIN:
                    continue
                remaining = float(_of_pair(end, a, b) / max(_of_pair(start, a, b), 1e-9))
                if remaining <= MAX_REMAINING_SHARE:
                    found.append(_Candidate(gain, remaining, a, b))
        return sorted(found, key=lambda one: -one.gain)

    def evidence(self, distances: DistanceStatistics, a: int, b: int) -> tuple[str, ...]:
        """Sources that speak for an exchange, the strongest first."""
        before = self.violations(distances)
        after = self.violations(distances.exchange(a, b))
        gains = {name: float(before[name].sum() - after[name].sum()) / 2 for name in before}
        if self.same_cluster[a, b]:
            gains.pop("sides")
        strong = sorted(gains, key=lambda name: -gains[name])
        return tuple(name for name in strong if gains[name] > 0.2 * max(gains.values()))


def find_exchanges(
    positions: np.ndarray,
    labels: Sequence[str],
    *,
    model: Model | None = None,
    others: Sequence[Trial] = (),
) -> list[LabelExchange]:
    """Pairs of labels that are exchanged in all frames.

    Members of one cluster (two thigh markers) are distinguished by other recordings only: their
    places on a model or on the other side mean little.

    Args:
        positions: (frames, markers, 3), m.
        labels: Labels of the markers.
        model: A model with markers of these names.
        others: Other recordings of the same person with the same markers.

    Returns:
        The exchanges, the clearest first. Indices refer to the labels as they are.
    """
    if len(labels) < MIN_MARKERS or not len(positions):
        return []
    distances = distance_statistics(positions)
    layout = _Layout(labels, distances, model, others)
    found: list[LabelExchange] = []
    used: set[int] = set()
    while len(found) < MAX_EXCHANGES:
        candidates = [c for c in layout.best_exchanges(distances) if not used & {c.a, c.b}]
        if not candidates:
            break
        best = candidates[0]
        rivals = [c for c in candidates[1:] if c.gain > RIVAL_SHARE * best.gain]
        equal = next((c for c in rivals if c.gain > EQUAL_SHARE * best.gain), None)
        found.append(
            LabelExchange(
                best.a,
                best.b,
                best.gain,
                not rivals
                and best.gain >= CERTAIN_GAIN
                and best.remaining <= CERTAIN_REMAINING_SHARE,
                layout.evidence(distances, best.a, best.b),
                None if equal is None else (equal.a, equal.b),
            )
        )
        used |= {best.a, best.b}
        distances = distances.exchange(best.a, best.b)
    return found


def correct_exchanges(
    trial: Trial, *, model: Model | None = None, others: Sequence[Trial] = ()
) -> Trial:
    """The recording with labels that are certainly exchanged in all frames put right.

    Args:
        trial: The recording.
        model: A model with markers of these names.
        others: Other recordings of the same person with the same markers.

    Returns:
        The same trial if nothing is certain; else one with a note for each exchange.
    """
    columns = [k for k, label in enumerate(trial.markers) if not is_unlabeled(label)]
    labels = [trial.markers[k] for k in columns]
    found = find_exchanges(trial.positions[:, columns], labels, model=model, others=others)
    certain = [one for one in found if one.certain]
    if not certain:
        return trial
    order = np.arange(len(trial.markers))
    notes = []
    for one in certain:
        a, b = columns[one.a], columns[one.b]
        order[[a, b]] = b, a
        notes.append(
            f"the labels {trial.markers[a]} and {trial.markers[b]} were exchanged in all frames by "
            f"{evidence_text(one)}; they are put right here, correct them in the file"
        )
    return replace(
        trial,
        positions=trial.positions[:, order],
        filled=trial.filled[:, order],
        notes=(*trial.notes, *notes),
    )


def evidence_text(exchange: LabelExchange) -> str:
    """The sources of an exchange in words."""
    return enumerate_names([EVIDENCE_TEXTS[name] for name in exchange.evidence], 2)


def _sum(violations: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.sum(list(violations.values()), axis=0)


def _of_pair(total: np.ndarray, a: int, b: int) -> float:
    return float(total[a].sum() + total[b].sum() - total[a, b])
