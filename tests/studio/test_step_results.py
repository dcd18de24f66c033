"""Synthesized steps are read back."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn import gait
from homodyn.analysis.step_comparison import StepComparison
from homodyn.gait.synthesis.problem import STEP_PHASES
from homodyn.report import write_synthesis
from homodyn.studio.file_opening import open_path


def test_every_synthesized_step_is_read_as_a_body(tmp_path):
    every = StepComparison.from_bundled_steps(gait.walking_model())
    two = [k for k, s in enumerate(every.steps) if s.name in ("mixed free", "torque free")]
    write_synthesis(
        replace(
            every,
            steps=tuple(every.steps[k] for k in two),
            statuses=("solved", "solved"),
            searches=((), ()),
        ),
        tmp_path / "steps",
    )

    document = open_path(tmp_path / "steps")

    assert set(document.names) == {"mixed free", "torque free"}
    for actor in document.actors:
        motion, lasting = actor.motion, actor.motion.time[-1] / 2
        weight = 9.81 * actor.model.mass
        by_side = {foot.side: foot.force for foot in actor.loads.feet}
        # Over a step the ground carries the weight, part of it by the impulses of landing.
        lift = sum(force[:, 2] for force in by_side.values())
        impacts = sum(
            float(phase.impulse @ [row.slide[2] for row in footing.contacts.rows])
            for phase, footing in zip(
                gait.stored_steps()[actor.name].phases, STEP_PHASES, strict=True
            )
            if phase.impulse.size
        )
        carried = np.trapezoid(lift, motion.time) + 2 * impacts
        assert carried == pytest.approx(2 * lasting * weight, rel=0.05)
        # The second step is the image of the first: what one foot bore, the other bears.
        within = motion.time[motion.time < lasting]
        later = np.interp(within + lasting, motion.time, by_side["left"][:, 2])
        first = by_side["right"][: len(within), 2]
        assert np.median(np.abs(later - first)) < 0.01 * weight
        assert np.abs(actor.loads.tau).max() < 500
