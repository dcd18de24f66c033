"""Exceptions of marker streams."""

from __future__ import annotations

from homodyn.errors import CaptureError


class StreamError(CaptureError):
    """A stream that cannot be opened, or whose connection was lost; a new attempt may succeed."""


class StreamEnd(StreamError):
    """The end of a stream that will not continue, such as that of a file."""


class PacketError(StreamError):
    """A packet that cannot be read; the stream continues with the next one."""
