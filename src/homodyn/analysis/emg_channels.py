"""EMG channels among the analog channels of a trial, and their sides, by name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from homodyn.capture import Signals
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name

MUSCLE_NAMES = re.compile(
    r"emg|tib(ialis)?[ _.]?a|gastro|sole|rect(us)?[ _.]?f|vast|bic(eps)?[ _.]?f|semi(tend|memb)|"
    r"glut|hamst|quad|peron|ercto|erector|biceps|triceps|delt|trapez|pector|latiss|abdom",
    re.IGNORECASE,
)
_FORCE_PATTERN = re.compile(
    r"^(f|m|fx|fy|fz|mx|my|mz|force|moment|cop)[xyz]?[ _.]?\d*", re.IGNORECASE
)
_LEFT_PATTERN = re.compile(r"left|(?<![A-Za-z])L(?![a-z])|^L(?=[A-Z])|_l$| l$", re.ASCII)
_RIGHT_PATTERN = re.compile(r"right|(?<![A-Za-z])R(?![a-z])|^R(?=[A-Z])|_r$| r$", re.ASCII)


def find_emg_channels(
    signals: Signals, requested: Sequence[str] = (), source: str = ""
) -> list[str]:
    """Names of the EMG channels of a recording.

    Args:
        signals: Its analog channels.
        requested: Names of channels, or parts of names, such as ``EMG``; empty finds channels with
            the names of muscles.
        source: The file, for messages.

    Raises:
        CaptureError: A requested channel does not exist.
    """
    names = signals.names
    if not requested:
        return [
            name
            for name in names
            if MUSCLE_NAMES.search(name) and not _FORCE_PATTERN.fullmatch(name)
        ]
    found: list[str] = []
    for text in requested:
        matches = [n for n in names if n == text] or [n for n in names if text.lower() in n.lower()]
        if not matches:
            raise CaptureError(f"{source}: {unknown_name('EMG channel', text, names)}")
        found += [name for name in matches if name not in found]
    return found


def channel_side(name: str) -> str | None:
    """``"left"``, ``"right"`` or None, by the name of a channel."""
    text = re.sub("(?i)left", "left", re.sub("(?i)right", "right", name))
    left, right = bool(_LEFT_PATTERN.search(text)), bool(_RIGHT_PATTERN.search(text))
    if left == right:
        return None
    return "left" if left else "right"
