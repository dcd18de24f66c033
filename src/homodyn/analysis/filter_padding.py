"""Filtering of a cropped motion with the recorded frames beyond its ends.

A low-pass filter needs data on both sides. Where a recording goes on beyond the analyzed interval,
the frames outside are fitted too and used for the filter alone; ends without such frames stay
marked in `Motion.edge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from homodyn import capture
from homodyn.capture import InverseKinematicsOptions, Trial
from homodyn.capture.kinetics.motion_filter import EDGE_PERIODS
from homodyn.errors import HomodynError
from homodyn.motion import Motion

PADDING_PERIODS = 2.0
"""Frames beyond each end that a filter uses, in periods of its cutoff."""
MAX_PADDING_STEP_FACTOR = 3.0
"""Multiple of the largest step between neighboring poses of the motion that the step to a frame
outside may have; a larger one is another pose, not the continuation of the movement."""


def filter_with_padding(
    fitted: Motion,
    recording: Trial,
    labels: Mapping[str, str],
    cutoff: float,
    options: InverseKinematicsOptions,
) -> Motion:
    """Low-pass filter a fitted motion, with the frames of the recording beyond its ends.

    Args:
        fitted: The motion of the analyzed interval.
        recording: The whole recording, on the same clock, with its own labels.
        labels: By marker of the model, the label of the recording.
        cutoff: Cutoff frequency, Hz.
        options: Options of the fit of the frames outside.

    Returns:
        The filtered motion with the frames of ``fitted``.
    """
    matched = recording.select_markers([labels[name] for name in fitted.markers])
    matched = replace(matched, markers=fitted.markers)
    before, after = (
        _outside_poses(fitted, matched, cutoff, options, at_end) for at_end in (False, True)
    )
    q = np.concatenate([before, fitted.q, after])
    step = 1.0 / fitted.rate
    count = (len(before), len(after))
    time = fitted.time[0] + step * (np.arange(len(q)) - count[0])
    rates = np.zeros((len(q), fitted.model.nv))
    padded = Motion(fitted.model, time, q, rates, rates, method=fitted.method)
    filtered = capture.filter_motion(padded, cutoff=cutoff)
    inside = np.arange(count[0], count[0] + len(fitted.time))
    filtered = filtered.take(inside)
    return replace(
        fitted,
        q=filtered.q,
        v=filtered.v,
        a=filtered.a,
        method=filtered.method,
        edge=filtered.edge,
    )


def _outside_poses(
    fitted: Motion,
    recording: Trial,
    cutoff: float,
    options: InverseKinematicsOptions,
    at_end: bool,
) -> np.ndarray:
    """(frames, nq): poses beyond one end, in the order of time; none where they are not reliable.

    Frames are used up to the first one that lacks a marker which the nearest frame inside has.
    """
    none = fitted.q[:0]
    step = 1.0 / fitted.rate
    length = PADDING_PERIODS / cutoff
    if at_end:
        span = (fitted.time[-1] + 0.5 * step, fitted.time[-1] + length)
    else:
        span = (fitted.time[0] - length, fitted.time[0] - 0.5 * step)
    outside = recording.crop(*span)
    end = -1 if at_end else 0
    needed = np.isfinite(fitted.measured[end]).all(-1)
    complete = np.asarray(outside.seen[:, needed].all(axis=1))
    order = complete if at_end else complete[::-1]
    count = int(np.argmin(order)) if not order.all() else len(order)
    # Fewer frames than half a period do not take the end of the filter out of the motion.
    if count < EDGE_PERIODS * fitted.rate / cutoff:
        return none
    kept = slice(0, count) if at_end else slice(len(order) - count, len(order))
    outside = replace(
        outside,
        positions=outside.positions[kept],
        filled=outside.filled[kept],
        start=outside.start + kept.start * step,
        plates=(),
        events=(),
        model_outputs={},
    )
    try:
        poses = capture.inverse_kinematics(
            fitted.model, outside, replace(options, start=fitted.q[end])
        ).q
    except HomodynError:
        return none
    return poses if _continues(fitted, poses, at_end) else none


def _continues(fitted: Motion, poses: np.ndarray, at_end: bool) -> bool:
    """Whether the step from the motion to the poses outside is one of the same movement."""
    model = fitted.model
    pair = (fitted.q[-1], poses[0]) if at_end else (poses[-1], fitted.q[0])
    inside = np.abs(np.asarray(model.difference(fitted.q[:-1], fitted.q[1:]))).max()
    return bool(
        np.abs(np.asarray(model.difference(*pair))).max() <= MAX_PADDING_STEP_FACTOR * inside
    )
