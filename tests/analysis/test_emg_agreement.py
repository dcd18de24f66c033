"""Agreement of activations with EMG: known delays and scales are found."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.analysis.emg_agreement import assign_sides, emg_agreements
from support import muscled_leg, muscled_stroll

NAMES = {
    "iliopsoas": "psoas_r",
    "gluteus": "glmax1_r",
    "vastus": "vaslat_r",
    "rectus": "recfem_r",
    "hamstring": "semimem_r",
    "biceps_short": "bfsh_r",
}
TORQUE_FACTOR = 5.0
"""Makes the swing an effort."""


@pytest.fixture(scope="module")
def result():
    leg = muscled_leg.build()
    named = tuple(replace(m, name=NAMES[m.name]) for m in leg.muscles)
    loads = muscled_leg.loads(muscled_leg.swing(replace(leg, muscles=named)))
    hard = replace(loads, tau=TORQUE_FACTOR * loads.tau)
    return hd.muscle.static_optimization(hard.motion, hard)


@pytest.fixture(scope="module")
def known(result):
    mask = np.ones(result.activations.shape, dtype=bool)
    mask[-6:] = False  # the end of a rolled envelope is its start
    mask[:6] = False
    return mask


def test_the_delay_and_the_scale_of_an_envelope_are_found(result, known):
    emg = muscled_stroll.envelopes_of(result, ("psoas_r", "recfem_r"), 0.04)
    found = emg_agreements(result, known, emg, ("right", "right"))
    for one, name in zip(found, ("psoas_r", "recfem_r"), strict=True):
        assert one.muscles == (name,)
        assert one.delay_s == pytest.approx(0.04)
        assert one.best_correlation == pytest.approx(1.0, abs=1e-9)
        assert one.emg_factor == pytest.approx(1 / 2.5)
        assert one.rms_difference < 1e-9
        assert one.timing_share == 1.0
        assert one.grade == "good"
        assert one.correlation < 0.999
        assert one.frames == 44
        assert "good agreement" in one.sentence


def test_the_opposite_activity_is_poor(result, known):
    emg = muscled_stroll.envelopes_of(result, ("psoas_r",), 0.0)
    contrary = replace(emg, values=emg.values.max() - emg.values)
    (one,) = emg_agreements(result, known, contrary, ("right",))
    assert one.grade == "poor"
    assert one.correlation == pytest.approx(-1.0)


def test_a_muscle_that_is_not_used_has_no_agreement(result, known):
    quiet = replace(result, activations=np.full_like(result.activations, 0.01))
    emg = muscled_stroll.envelopes_of(result, ("psoas_r",), 0.0)
    (one,) = emg_agreements(quiet, known, emg, ("right",))
    assert one.grade == "unused"
    assert "does not use the muscle" in one.sentence


def test_channels_without_a_side_are_of_the_leg_that_agrees_better(result, known):
    model = result.loads.motion.model
    copies = tuple(replace(one, name=f"{one.name[:-2]}_l") for one in model.muscles)
    motion = replace(result.loads.motion, model=replace(model, muscles=(*model.muscles, *copies)))
    both = replace(
        result,
        muscles=tuple(one.name for one in motion.model.muscles),
        activations=np.hstack(
            [result.activations, result.activations.max(axis=0) - result.activations]
        ),
        loads=replace(result.loads, motion=motion),
    )
    seen = np.hstack([known, known])
    emg = muscled_stroll.envelopes_of(result, ("psoas_r", "recfem_r"), 0.0, sides=False)
    sides, note = assign_sides(both, seen, emg, (None, None))
    assert sides == ("right", "right")
    assert "agrees better" in note
    assert assign_sides(both, seen, emg, (None, "left"), "left") == (("left", "left"), "")
