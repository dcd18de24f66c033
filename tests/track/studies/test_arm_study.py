"""Document 001, check 26: the cost of a movement with the arms held against that with arm swing."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.model import Assembly, box, joints
from homodyn.track.studies import arm_study
from homodyn.track.studies.arm_study import arm_bodies, with_held_arms

pytestmark = pytest.mark.usefixtures("interpreted")


def test_a_body_that_only_swings_its_arms_saves_all_work_by_holding_them(tracked):
    study = arm_study(tracked)
    assert study.complete.all()
    swing, held = study.totals()["absolute"]
    assert swing > 1.0
    assert abs(held) < 0.05 * swing
    assert study.totals()["net"][0] == pytest.approx(
        study.totals()["positive"][0] + study.totals()["negative"][0]
    )
    assert study.columns()["change (%)"][3] == pytest.approx(100 * (held - swing) / swing)


def test_held_arms_keep_their_mean_angle_and_all_else_moves(figure, tracked):
    assert arm_bodies(figure) == ("right_arm", "right_hand", "left_arm", "left_hand")
    q = tracked.motion.q
    held = with_held_arms(figure, q)
    column = figure.position_index[figure.coordinate_index("right_swing")]
    np.testing.assert_allclose(held[:, column], q[:, column].mean(), atol=1e-12)
    others = [k for k in range(figure.nq) if k < 7]
    np.testing.assert_allclose(held[:, others], q[:, others], atol=1e-12)


def test_a_model_without_arms_is_refused():
    armless = Assembly("box").add(box("box", 1.0, (1, 1, 1)), joints.free()).model()
    with pytest.raises(hd.CaptureError, match="no arms"):
        with_held_arms(armless, np.zeros((3, armless.nq)))
