"""From the labels of a stream to the order of the markers of a model."""

from __future__ import annotations

import numpy as np

from homodyn.capture import Trial, match_labels
from homodyn.errors import CaptureError
from homodyn.foundation.text import count_of, enumerate_names
from homodyn.model import Model

MAX_NAMES = 6
"""Names that a sentence lists."""


class LabelOrder:
    """Picks the markers of a model from frames; the labels may change at any frame.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.markers = tuple(marker.name for marker in model.markers)
        self._labels: tuple[str, ...] | None = None
        self._columns = np.full(len(self.markers), -1)

    @property
    def matched(self) -> int:
        """Number of markers of the model that the stream has."""
        return int((self._columns >= 0).sum())

    def pick(self, labels: tuple[str, ...], positions: np.ndarray) -> np.ndarray:
        """Positions in the order of the markers of the model.

        Args:
            labels: Labels of the frame, as at the last `update`.
            positions: (labels, 3), m.

        Returns:
            (markers, 3), m; NaN for markers that the stream does not have.
        """
        padded = np.vstack([positions, np.full((1, 3), np.nan)])
        return np.asarray(padded[self._columns])

    def update(self, labels: tuple[str, ...]) -> list[str]:
        """Match the labels if they changed.

        Args:
            labels: Labels of a frame.

        Returns:
            Sentences on what changed; empty if the labels are the same.
        """
        if labels == self._labels:
            return []
        before, first = self._columns, self._labels is None
        self._labels = labels
        try:
            trial = Trial("stream", labels, np.zeros((1, len(labels), 3)), 1.0)
            matched = match_labels(self.model, trial).matched
        except CaptureError as error:
            self._columns = np.full(len(self.markers), -1)
            return [f"the labels of the stream cannot be used: {error}"]
        places = {label: k for k, label in enumerate(labels)}
        self._columns = np.array(
            [places[matched[name]] if name in matched else -1 for name in self.markers], dtype=int
        )
        absent = [name for name in self.markers if name not in matched]
        if first:
            text = (
                f"{len(matched)} of {count_of(len(self.markers), 'marker')} of "
                f"{self.model.name} are in the stream"
            )
            return [text + (f"; absent: {_shorten_list(absent)}" if absent else "")]
        gone = [
            n
            for n, was, now in zip(self.markers, before, self._columns, strict=True)
            if was >= 0 > now
        ]
        new = [
            n
            for n, was, now in zip(self.markers, before, self._columns, strict=True)
            if now >= 0 > was
        ]
        parts = [f"the labels changed: {len(matched)} of {len(self.markers)} markers are there"]
        if gone:
            parts.append(f"without {_shorten_list(gone)}")
        if new:
            parts.append(f"now with {_shorten_list(new)}")
        return ["; ".join(parts)]


def _shorten_list(names: list[str]) -> str:
    text = enumerate_names(names[:MAX_NAMES])
    return f"{text} and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else text
