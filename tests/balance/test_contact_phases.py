"""Durations of phases: key frames of a recording, and statistics over several motions."""

import numpy as np
import pytest

from homodyn.balance import Stance, SupportPhase, point_contact
from homodyn.balance.contacts import phase_durations, support_durations
from homodyn.errors import ModelError

FEET = ("left", "right")
ORDER = (FEET, ("right",), FEET, ("left",), FEET, ("right",))
"""Double and single supports of getting over a beam, left foot first (Qiu 2012, table 3.2)."""
TABLE = {
    "H1C1": [
        (110, 48, 12, 61, 27, 54), (175, 54, 8, 62, 28, 41), (173, 57, 8, 60, 34, 49),
        (157, 51, 13, 63, 11, 50), (152, 50, 9, 70, 9, 55),
    ],
    "H2C1": [
        (179, 47, 16, 54, 20, 50), (179, 46, 14, 60, 23, 54), (139, 51, 11, 60, 41, 56),
        (197, 60, 6, 55, 33, 49), (172, 50, 11, 64, 20, 46), (157, 57, 9, 77, 16, 56),
    ],
    "H3C1": [
        (122, 44, 11, 63, 49, 65), (130, 47, 11, 59, 61, 52), (194, 57, 5, 62, 73, 44),
        (219, 52, 10, 59, 63, 46), (144, 53, 8, 68, 46, 55), (132, 52, 9, 68, 55, 55),
    ],
    "H2C2": [
        (126, 42, 9, 81, 55, 99), (170, 45, 10, 89, 58, 94), (155, 56, 5, 79, 63, 102),
        (166, 51, 9, 97, 61, 112), (157, 46, 10, 86, 39, 86), (236, 60, 7, 80, 52, 94),
    ],
}  # fmt: skip
"""Frames at 100 Hz, table 3.4, without the motions of eight phases that start with the right."""


def stance(names) -> Stance:
    return Stance(
        tuple(point_contact(n, (0, 0.1 * k, 0), friction=0.5) for k, n in enumerate(names))
    )


def phases(frames, order=ORDER, rate=100.0) -> list[SupportPhase]:
    ends = np.cumsum([0, *frames]) / rate
    return [
        SupportPhase(stance(names), a, b)
        for names, a, b in zip(order, ends[:-1], ends[1:], strict=True)
    ]  # fmt: skip


def times(*groups):
    return phase_durations([phases(row) for group in groups for row in TABLE[group]], FEET)


def test_mean_durations_of_the_recorded_motions_are_the_printed_ones():
    assert times("H3C1")[4].mean == pytest.approx(0.578, abs=5e-4)
    assert times("H1C1", "H2C1")[4].mean == pytest.approx(0.238, abs=5e-4)
    over = times("H2C2")
    assert over[4].mean == pytest.approx(0.547, abs=5e-4)
    assert over[5].mean == pytest.approx(0.978, abs=5e-4)
    low = times("H1C1", "H2C1", "H3C1")
    assert low[5].mean == pytest.approx(0.516, abs=5e-4)
    assert low[5].count == 17
    assert (low[5].shortest, low[5].longest) == pytest.approx((0.41, 0.65))
    assert low[5].supports == ("right",)


def test_key_frames_become_durations_and_a_hand_divides_no_step():
    frames = np.array([1, 158, 209, 222, 240, 285, 296, 346, 372])
    order = [FEET, ("right",), FEET, ("left",), ("left", "hand"), (*FEET, "hand"),
            ("right", "hand"), (*FEET, "hand")]  # fmt: skip
    durations = support_durations(phases(np.diff(frames), order), FEET)
    assert [round(100 * seconds) for _, seconds in durations] == [157, 51, 13, 63, 11, 50, 26]
    assert [names for names, _ in durations] == [*ORDER, FEET]
    assert len(support_durations(phases(np.diff(frames), order), (*FEET, "hand"))) == 8


def test_motions_of_another_sequence_are_refused_by_their_number():
    other = phases((10, 20), (FEET, ("left",)))
    with pytest.raises(ModelError, match="motion 2 uses its supports in another order"):
        phase_durations([phases((10, 20), (FEET, ("right",))), other], FEET)
    with pytest.raises(ModelError, match="got none"):
        phase_durations([], FEET)
