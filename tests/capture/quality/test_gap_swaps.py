"""Labels that are swapped when two markers reappear after a gap."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import check_health, match_labels
from support.planted_problems import FIRST
from support.walking import walk


def swapped(trial, names, gap, end=None):
    """The two markers are missing in a gap, and exchanged after it."""
    positions = np.array(trial.positions)
    columns = [trial.markers.index(name) for name in names]
    positions[gap, columns] = np.nan
    later = slice(gap.stop, end)
    positions[later, columns] = positions[later, columns[::-1]]
    if end is not None:
        positions[end : end + 5, columns] = np.nan
    return replace(trial, positions=positions)


def swaps(trial, model=None):
    findings = check_health(trial, model=model).about("swap")
    return {(finding.markers, finding.frames) for finding in findings}


@pytest.mark.parametrize("first", [60, 150, 240])
def test_a_swap_after_a_gap_is_found(first):
    trial = walk(3.0, first=FIRST)
    wrong = swapped(trial, ("RKNE", "RANK"), slice(first, first + 12))
    pair = tuple(name for name in trial.markers if name in ("RKNE", "RANK"))
    model = hd.catalog.heiman(height=1.75, mass=70)
    assert swaps(wrong, model) == {(pair, ((FIRST + first + 12, FIRST + 300),))}


def test_a_swap_that_ends_at_another_gap_has_both_ends():
    trial = walk(3.0, first=FIRST)
    wrong = swapped(trial, ("RKNE", "RANK"), slice(60, 72), end=200)
    ((_, frames),) = swaps(wrong, hd.catalog.heiman(height=1.75, mass=70))
    assert frames == ((FIRST + 72, FIRST + 204),)


def test_gaps_alone_are_no_swaps():
    trial = walk(3.0, first=FIRST)
    positions = np.array(trial.positions)
    positions[100:112] = np.nan
    positions[200:210, ::2] = np.nan
    assert swaps(replace(trial, positions=positions)) == set()


@pytest.mark.parametrize("pair", [("r_ankle", "r_calc"), ("r_knee", "r_sh2"), ("r_calc", "L_calc")])
def test_a_swap_after_a_gap_of_a_recorded_walk(shared_data, pair):
    folder = shared_data / "real_subject4"
    model = hd.load(folder / "manually_scaled.osim")
    trial = match_labels(model, hd.capture.read(folder / "walking1.trc")).trial
    assert swaps(trial, model) == set()
    found = swaps(swapped(trial, pair, slice(60, 70)), model)
    assert {frozenset(markers) for markers, _ in found} == {frozenset(pair)}
