"""Random pushes on the swing foot."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.gait.studies import SwingPushes, load_study
from homodyn.gait.studies.pushes import SEED
from homodyn.simulate import SimulationOptions, rollout, run

COMAN = hd.catalog.coman()
FLOATING = COMAN.with_gravity(0.0)


def pushed(seeds, duration=1.0):
    """Last states of CoMan without weight, where both feet swing from the start, one per seed."""
    pushes = SwingPushes("right_foot", "left_foot")
    q = FLOATING.neutral()
    q[1] += 1.0
    return rollout(
        FLOATING,
        np.tile(q, (len(seeds), 1)),
        duration=duration,
        dt=1e-3,
        contact=None,
        signals=pushes.signals(FLOATING),
        external_forces=pushes.forces(FLOATING),
        batch_parameters={SEED: np.asarray(seeds, float)},
    )


def test_a_push_is_drawn_at_lift_off_with_the_published_numbers():
    rolled = pushed(range(200))
    impulses = hd.dynamics.momentum(FLOATING, rolled.q, rolled.v)[:, 3]
    # Two feet, each N(80, 5) N for N(0.15, 0.05) s, backwards; products of independent numbers.
    spread = np.sqrt(2 * ((80 * 0.05) ** 2 + (5 * 0.15) ** 2 + (5 * 0.05) ** 2))
    assert np.mean(impulses) == pytest.approx(-2 * 80 * 0.15, abs=4 * spread / np.sqrt(200))
    assert np.std(impulses) == pytest.approx(spread, rel=0.2)


def test_the_seed_decides():
    first, again, other = pushed([1, 1, 2], 0.8).q
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_feet_on_the_ground_are_not_pushed():
    pushes = SwingPushes("right_foot", "left_foot")
    q = COMAN.neutral()
    q[1] -= 0.02  # soles below the threshold of a swing
    options = SimulationOptions(
        signals=pushes.signals(COMAN),
        external_forces=pushes.forces(COMAN),
        batch_parameters={SEED: 3},
    )
    fixed = hd.simulate.rows.ResidualJoint(
        dict.fromkeys(("root_tx", "root_tz", "root_ry"), 1e5),
        hd.simulate.rows.SpringLaw(kp=1e6, kd=1e4),
        target=q,
    )
    servos = hd.simulate.PD(1000.0, 20.0, q, stable=True)
    result = run(
        COMAN, q, duration=0.5, dt=1e-3, contact=None, actuation=servos, rows=[fixed],
        options=options,
    )  # fmt: skip
    assert np.abs(result.v[:, 0]).max() < 1e-3


def test_bundled_study_repeats_with_seeds_and_keeps_the_worst():
    study = load_study("coman-pushes", duration=0.6)
    assert study.repeats == 3
    rng = np.random.default_rng(1)
    low = np.array([one.lower for one in study.space.parameters])
    high = np.array([one.upper for one in study.space.parameters])
    rows = np.repeat(low + rng.uniform(size=(20, len(low))) * (high - low), 2, axis=0)
    found = study.evaluate(rows, np.tile([1, 2], 20))
    speed = found.objectives["speed"].reshape(20, 2)
    assert (speed[:, 0] != speed[:, 1]).any()
    same = study.evaluate(rows, 1).objectives["speed"].reshape(20, 2)
    assert np.array_equal(same[:, 0], same[:, 1])
