"""Balance of motions and scenes in the studio."""

import numpy as np
import pytest

from homodyn import balance
from homodyn.errors import HomodynError
from homodyn.studio import StudioDocument
from homodyn.studio.balance_evaluation import (
    evaluate_motion,
)
from homodyn.studio.file_opening import from_catalog


def test_balance_of_a_walk_is_that_of_the_toolkit(walk_document):
    result = evaluate_motion(walk_document, 0.7)
    motion = walk_document.actor.motion
    expected = balance.evaluate(motion, balance.detect_contacts(motion, friction=0.7))
    np.testing.assert_allclose(result.evaluation.wrench, expected.wrench)
    best_time = motion.time[int(np.nanargmax(expected.wrench))]
    corners = result.polygon(best_time)
    assert len(corners) >= 3
    middle = corners[:, :2].mean(axis=0)
    assert np.linalg.norm(middle - result.center(best_time)[:2]) < 0.3
    assert len(result.supports(best_time)) >= 3
    assert result.balanced(best_time)
    assert result.path.shape == (200, 2, 3)
    np.testing.assert_allclose(result.path[0, 0], result.center(motion.time[0]), atol=1e-9)


def test_a_body_without_motion_is_refused():
    with pytest.raises(HomodynError, match="no motion"):
        evaluate_motion(StudioDocument().with_actor(from_catalog("bip")), 0.7)
