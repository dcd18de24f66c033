"""Checks of the sequence of frames: frames that are repeated, and frames that are missing.

A camera that stops, or a table that was resampled by repeating rows, gives frames in which no
marker moves at all. Where frames are missing, or two recordings were joined, all markers jump at
once.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.mask_runs import true_runs
from homodyn.capture.quality.finding import TrialFinding, merge_ranges, ranges_text
from homodyn.foundation.findings import Severity
from homodyn.foundation.text import count_of

MIN_SEQUENCE_MARKERS = 5
"""Markers that have to be seen in two frames to compare them as a whole."""
MIN_MOVING_STEP_M = 2e-4
"""Median step (m) of the markers from frame to frame by which a recording moves."""
MIN_REPEATED_FRAMES = 2
"""Frames that are repeated in a row, or are repeated often, to be named."""
MIN_REPETITIONS = 3
"""Interrupted repetitions from which they are spread over the recording."""
MAX_REPEATED_SHARE = 0.3
"""Share of repeated frames above which the frame rate of the file is not that of the cameras."""
MIN_JUMPING_SHARE = 0.6
"""Share of the seen markers that jump at a frame before which frames are missing."""


def repeated_frames(positions: np.ndarray) -> np.ndarray:
    """Frames in which all markers are exactly where they were in the frame before.

    Args:
        positions: (frames, markers, 3), m.

    Returns:
        (frames,): True for repeated frames; all False where nothing moves at any time.
    """
    repeated = np.zeros(len(positions), dtype=bool)
    step = np.linalg.norm(np.diff(positions, axis=0), axis=2)
    both = np.isfinite(step)
    enough = both.sum(axis=1) >= MIN_SEQUENCE_MARKERS
    repeated[1:] = enough & ~(np.where(both, step, 0.0) > 0.0).any(axis=1)
    moving = step[enough & ~repeated[1:]]
    moving = moving[np.isfinite(moving)]
    if not moving.size or np.median(moving) < MIN_MOVING_STEP_M:
        repeated[:] = False
    return repeated


def repetition_findings(
    positions: np.ndarray, rate: float, first_frame: int = 0
) -> list[TrialFinding]:
    """Frames that repeat the one before, in a row or throughout the recording.

    Args:
        positions: (frames, markers, 3), m.
        rate: Frames per second (Hz).
        first_frame: Number of the first frame.

    Returns:
        At most one finding.
    """
    repeated = repeated_frames(positions)
    # A computed body may stand perfectly still before it starts and after it stops.
    inside = [(a, b) for a, b in true_runs(repeated) if a > 1 and b < len(repeated)]
    share = float(repeated.mean()) if len(repeated) else 0.0
    if share > MAX_REPEATED_SHARE and len(inside) >= MIN_REPETITIONS:
        true_rate = rate * (1.0 - share)
        sentence = (
            f"{100 * share:.0f} % of the frames repeat the one before: the cameras gave about "
            f"{true_rate:.3g} frames per second, not {rate:.4g}; export the trial at the rate of "
            "the cameras"
        )
        return [TrialFinding(Severity.ERROR, "repeated frames", sentence)]
    runs = [(a, b) for a, b in inside if b - a >= MIN_REPEATED_FRAMES]
    if not runs:
        return []
    frames = merge_ranges((first_frame + a, first_frame + b - 1) for a, b in runs)
    sentence = (
        f"no marker moves at all in frames {ranges_text(frames)}: the recording system repeated a "
        "frame; remove these frames and fill the gaps"
    )
    return [TrialFinding(Severity.ERROR, "repeated frames", sentence, frames=frames)]


def sequence_breaks(positions: np.ndarray, jumps: list[tuple[int, int]]) -> list[int]:
    """Frames at which most of the markers jump together: frames are missing before them.

    Args:
        positions: (frames, markers, 3), m.
        jumps: (frame, marker) of each jump of a trajectory.

    Returns:
        The frames, counted from zero.
    """
    seen = np.isfinite(positions).all(axis=2)
    counts: dict[int, int] = {}
    for frame, _ in jumps:
        counts[frame] = counts.get(frame, 0) + 1
    found = []
    for frame, count in sorted(counts.items()):
        present = int((seen[frame] & seen[max(frame - 1, 0)]).sum())
        if present >= MIN_SEQUENCE_MARKERS and count >= MIN_JUMPING_SHARE * present:
            found.append(frame)
    return found


def break_findings(breaks: list[int], repeated: np.ndarray, first_frame: int) -> list[TrialFinding]:
    """Frames before which others are missing, without those that end a repetition.

    Args:
        breaks: The frames, counted from zero.
        repeated: (frames,): True for repeated frames.
        first_frame: Number of the first frame.

    Returns:
        At most one finding.
    """
    left = [frame for frame in breaks if not repeated[frame - 1]]
    if not left:
        return []
    frames = merge_ranges((first_frame + frame, first_frame + frame) for frame in left)
    sentence = (
        f"most markers jump together at {count_of(len(left), 'frame')} ({ranges_text(frames)}): "
        "frames are missing there, or two recordings were joined; export the trial again, or "
        "analyze the parts one by one"
    )
    return [TrialFinding(Severity.ERROR, "missing frames", sentence, frames=frames)]
