"""Selection of frames with different poses, whatever the position of the person."""

import numpy as np

from homodyn.capture.scaling.frame_selection import diverse_frames


def moving(angles: np.ndarray) -> np.ndarray:
    """A fixed triangle and a limb of two markers that swings."""
    still = np.array([[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0.0]])
    limb = np.stack([np.cos(angles), np.zeros_like(angles), np.sin(angles)], axis=-1)
    return np.stack([*np.broadcast_to(still[:, None], (3, len(angles), 3)), limb, 2 * limb], axis=1)


def test_frames_spread_over_the_movement():
    angles = np.concatenate([np.zeros(50), np.linspace(0, np.pi, 11)])
    chosen = diverse_frames(moving(angles), 3)
    np.testing.assert_allclose(np.sort(angles[chosen]), [0, np.pi / 2, np.pi], atol=0.4)


def test_walking_away_and_turning_is_no_other_pose():
    positions = moving(np.linspace(0, 1, 20))
    turn = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    displaced = positions @ turn.T + np.linspace(0, 5, 20)[:, None, None]
    np.testing.assert_array_equal(diverse_frames(positions, 5), diverse_frames(displaced, 5))


def test_frames_that_show_little_are_left_out_and_few_are_all_taken():
    positions = moving(np.linspace(0, 1, 6))
    positions[2, 1:] = np.nan
    np.testing.assert_array_equal(diverse_frames(positions, 10), [0, 1, 3, 4, 5])
    assert 2 not in diverse_frames(positions, 4)
