"""Events aligned with the transfer of the load from foot to foot."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait.contact_schedule.load_transfer import align_events, total_center_of_pressure


@pytest.fixture(scope="module")
def walk():
    return hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70
    ).truth


def shifted(events, by, source):
    return [replace(e, time=e.time + by, description=source) for e in events]


@pytest.mark.parametrize("by", [-0.025, 0.025])
def test_a_double_support_moves_to_where_the_load_passes(walk, by):
    late = shifted(walk.events, by, "kinematics: speed")
    aligned = align_events(walk.motion, late)
    true = sorted(e.time for e in walk.events)
    moved = [(e.time - t, e.description) for e, t in zip(aligned, true, strict=True)]
    errors = np.array([error for error, text in moved if "load passes" in text])
    assert len(errors) >= 4
    assert np.abs(errors).max() < 0.015


def test_events_of_plates_stay(walk):
    given = shifted(walk.events, 0.02, "forces: plate")
    assert align_events(walk.motion, given) == tuple(sorted(given, key=lambda e: e.time))


def test_the_center_of_pressure_is_that_of_both_feet(walk):
    feet = walk.loads.feet
    load = np.stack([np.asarray(f.force)[:, 2] for f in feet])
    point = np.stack([np.nan_to_num(f.point)[:, :2] for f in feet])
    true = (load[:, :, None] * point).sum(axis=0) / load.sum(axis=0)[:, None]
    found = total_center_of_pressure(walk.motion, None)
    inner = slice(10, -10)
    assert np.nanmedian(np.abs(found - true)[inner]) < 0.01
