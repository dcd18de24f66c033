"""The interface of the sources of marker frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from homodyn.track.streams.marker_frame import MarkerFrame


class MarkerSource(ABC):
    """A stream of marker frames: `open`, `read` again and again, `close`.

    A source is used by one thread. After a `StreamError` it is closed and may be opened again.

    Attributes:
        address: The address that names the source, such as ``udp:9763``.
        malformed: Number of packets that could not be read so far.
        complaint: Why the last of them could not be read; empty if there is none.
    """

    address: str = ""

    def __init__(self) -> None:
        self.malformed = 0
        self.complaint = ""

    @abstractmethod
    def open(self) -> None:
        """Connect to the sender, or listen for it.

        Raises:
            StreamError: There is no sender, or the port is not available.
        """

    @abstractmethod
    def read(self, timeout_s: float) -> Sequence[MarkerFrame]:
        """Return the frames that arrived, waiting for the first one.

        Args:
            timeout_s: Longest time to wait (s).

        Returns:
            Frames in the order of their arrival; none after the timeout.

        Raises:
            StreamEnd: The stream is complete.
            StreamError: The connection was lost.
        """

    @abstractmethod
    def close(self) -> None:
        """Release the connection; a closed source may be closed again."""

    def count_malformed(self, reason: str) -> None:
        """Count a packet that cannot be read.

        Args:
            reason: Why it cannot be read.
        """
        self.malformed += 1
        self.complaint = reason
