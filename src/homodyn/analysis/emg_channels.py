"""Which analog channels are muscles, and on which side, by what their names and units tell."""

from __future__ import annotations

import re
from collections.abc import Sequence

from homodyn.capture import Trial
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


def find_emg_channels(trial: Trial, asked: Sequence[str] = ()) -> list[str]:
    """Names of the EMG channels of a trial: those asked for, or those that look like muscles.

    A name asked for may be a whole name or a part of some, as in ``--emg EMG``.
    """
    names = trial.analog.names
    if not asked:
        return [
            name
            for name in names
            if MUSCLE_NAMES.search(name) and not _FORCE_PATTERN.fullmatch(name)
        ]
    found: list[str] = []
    for word in asked:
        some = [n for n in names if n == word] or [n for n in names if word.lower() in n.lower()]
        if not some:
            raise CaptureError(
                f"{trial.source or trial.name}: {unknown_name('EMG channel', word, names)}"
            )
        found += [name for name in some if name not in found]
    return found


def channel_side(name: str) -> str | None:
    """``"left"``, ``"right"`` or None, by the name of a channel."""
    lowered = name.replace("Left", "left").replace("Right", "right").replace("LEFT", "left")
    lowered = lowered.replace("RIGHT", "right")
    left, right = bool(_LEFT_PATTERN.search(lowered)), bool(_RIGHT_PATTERN.search(lowered))
    if left == right:
        return None
    return "left" if left else "right"
