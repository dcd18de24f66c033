"""The interface of outputs of live sessions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from homodyn.model import Model
from homodyn.track.streams.live_sample import LiveSample


class LiveOutput(ABC):
    """Receives the results of a live session, in the thread that computes them."""

    @abstractmethod
    def start(self, model: Model) -> None:
        """Prepare for the results of a model; called again when the model changes.

        Args:
            model: The model that is tracked.
        """

    @abstractmethod
    def write(self, sample: LiveSample) -> None:
        """Send or store a result.

        Args:
            sample: The result.
        """

    @abstractmethod
    def close(self) -> None:
        """Complete the output."""
