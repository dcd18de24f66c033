import numpy as np
import pytest

from homodyn import CaptureError
from homodyn.gait import similarity

# Felis 2015, table 6.5: d, its part by posture, its part by duration; durations of table 6.6.
PRINTED = [
    (0.1027, 0.0718, 0.0309, 0.484),
    (0.1455, 0.0723, 0.0732, 0.389),
    (0.1935, 0.0374, 0.1562, 0.265),
    (0.2761, 0.0645, 0.2116, 0.200),
    (0.0939, 0.0695, 0.0244, 0.504),
]


@pytest.mark.parametrize(("total", "posture", "duration", "seconds"), PRINTED)
def test_similarity_reproduces_the_printed_table_with_factor_one(total, posture, duration, seconds):
    neutral = np.zeros((100, 34))
    other = np.full((100, 34), np.sqrt(posture))
    found = similarity(other, neutral, durations=(seconds, 0.660))
    assert found.posture == pytest.approx(posture)
    # Durations are printed to a millisecond.
    assert found.duration == pytest.approx(duration, abs=4e-4)
    assert found.distance == pytest.approx(total, abs=4e-4)
    # With the halves of equation 6.1 as printed no row comes out.
    assert 0.5 * found.distance != pytest.approx(total, abs=1e-2)


def test_a_motion_is_like_itself_whatever_its_frames():
    t = np.linspace(0, 1, 400)[:, None]
    q = np.sin(2 * np.pi * t * np.array([1, 2, 3]))
    assert similarity(q, q, durations=(1.0, 1.0)).distance == 0
    finer = np.sin(2 * np.pi * np.linspace(0, 1, 901)[:, None] * np.array([1, 2, 3]))
    assert similarity(q, finer, durations=(1.0, 1.2)).posture < 1e-7
    with pytest.raises(CaptureError, match="3 and 2 coordinates"):
        similarity(q, q[:, :2], durations=(1.0, 1.0))
