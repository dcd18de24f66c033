"""Frames that are repeated, and frames that are missing."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.capture import check_health
from homodyn.capture.quality.frame_sequence import repeated_frames
from homodyn.foundation.findings import Severity
from support.planted_problems import FIRST
from support.walking import walk


def with_frames(frames):
    trial = walk(3.0, first=FIRST)
    return replace(trial, positions=trial.positions[frames], filled=trial.filled[frames])


def test_a_walk_repeats_no_frame_and_misses_none():
    trial = walk(3.0, first=FIRST)
    assert not repeated_frames(np.array(trial.positions)).any()
    assert check_health(trial).findings == ()


def test_a_person_who_stands_perfectly_still_repeats_nothing():
    trial = walk(3.0, first=FIRST)
    assert not repeated_frames(np.repeat(trial.positions[:1], 50, axis=0)).any()


def test_cameras_that_stop_are_one_finding():
    frames = np.arange(301)
    frames[100:120] = 100
    found = check_health(with_frames(frames))
    (stopped,) = found.about("repeated frames")
    assert stopped.severity is Severity.ERROR
    assert stopped.frames == ((FIRST + 101, FIRST + 119),)
    assert not found.about("missing frames")


@pytest.mark.parametrize("times", [2, 4, 5])
def test_frames_that_are_repeated_throughout_give_the_rate_of_the_cameras(times):
    frames = np.arange(301) // times * times
    (finding,) = check_health(with_frames(frames)).about("repeated frames")
    rate = float(finding.sentence.split("about ")[1].split()[0])
    assert rate == pytest.approx(100 / times, rel=0.02)


def test_frames_that_were_cut_out_are_one_finding_and_no_label_is_accused():
    frames = np.delete(np.arange(301), slice(100, 130))
    found = check_health(with_frames(frames))
    (missing,) = found.about("missing frames")
    assert missing.frames == ((FIRST + 100, FIRST + 100),)
    assert not {"swap", "mislabel", "mirrored"} & {one.subject for one in found.findings}
