"""SCoRE and SARA against known centers and axes."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn.capture.scaling import ScalingPrior, functional_axis, functional_center
from homodyn.capture.scaling.functional_evidence import ARTIFACT_FACTOR
from homodyn.errors import CaptureError

CENTER = np.array([0.02, -0.05, 0.09])
"""The joint center in the proximal segment (m)."""
AXIS = np.array([0.1, -0.05, 0.99]) / np.linalg.norm([0.1, -0.05, 0.99])


def segments(turns, noise, seed=0):
    """Markers of two segments that turn about `CENTER`, and the center in the world."""
    rng = np.random.default_rng(seed)
    count = len(turns)
    base = Rotation.from_rotvec(0.3 * rng.normal(size=(count, 3))).as_matrix()
    origin = rng.normal(size=(count, 1, 3))
    upper = rng.uniform(-0.1, 0.1, (4, 3))
    lower = rng.uniform(-0.08, 0.08, (4, 3)) - [0.0, 0.2, 0.0]
    relative = Rotation.from_rotvec(turns).as_matrix()
    world = np.swapaxes(base, 1, 2)
    proximal = upper @ world + origin
    distal = (lower @ np.swapaxes(relative, 1, 2) + CENTER) @ world + origin
    center = CENTER @ world + origin[:, 0]
    proximal, distal = (p + noise * rng.normal(size=p.shape) for p in (proximal, distal))
    return proximal, distal, center, AXIS @ world


def circling(count=200):
    phase = np.linspace(0, 4 * np.pi, count)
    return np.stack([0.5 * np.sin(phase), 0.2 * np.sin(0.7 * phase), 0.5 * np.cos(phase)], axis=1)


@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 1e-9), (0.001, 0.003)])
def test_center_of_a_ball_joint(noise, tolerance):
    proximal, distal, center, _ = segments(circling(), noise)
    found = functional_center(proximal, distal)
    assert np.linalg.norm((found.center - center).mean(0)) < tolerance
    # Four markers about 6 cm from their centroid, at a lever of 20 cm: 3.5 times the noise.
    assert found.residual < 5 * noise + 1e-9


@pytest.mark.parametrize(("noise", "tolerance"), [(0.0, 1e-9), (0.001, 0.02)])
def test_axis_of_a_hinge(noise, tolerance):
    turns = np.linspace(0.0, 1.4, 200)[:, None] * AXIS
    proximal, distal, center, axis = segments(turns, noise)
    found = functional_axis(proximal, distal)
    # The axis of one frame has the noise of the segments in this frame; the mean has not.
    assert np.linalg.norm(np.cross(found.axis, axis).mean(0)) < max(0.5 * tolerance, 1e-7)
    offset = found.center - center
    across = offset - (offset * axis).sum(-1, keepdims=True) * axis
    assert np.linalg.norm(across, axis=-1).mean() < max(0.2 * tolerance, 1e-7)
    with pytest.raises(CaptureError, match="one axis only"):
        functional_center(proximal, distal)


@pytest.mark.parametrize("seed", range(4))
def test_soft_tissue_that_moves_with_the_joint_is_within_the_stated_deviations(seed):
    """Beside a millimeter of noise; skin that turns a cluster turns the axis by as much."""
    slopes = np.random.default_rng(seed).normal(0.0, 1.0, (4, 3))

    def with_artifact(turns, angles, m_per_rad):
        proximal, distal, center, axis = segments(turns, 0.001, seed)
        exact = segments(turns, 0.0, seed)[1]
        shape = exact[0] - exact[0].mean(0)
        turn = [Rotation.align_vectors(one - one.mean(0), shape)[0].as_matrix() for one in exact]
        shift = m_per_rad * angles[:, None, None] * slopes @ np.swapaxes(np.array(turn), 1, 2)
        return proximal, distal + shift, center, axis

    turns = circling()
    proximal, distal, center, _ = with_artifact(turns, turns[:, 0], 0.008)
    found = functional_center(proximal, distal)
    deviation = max(ScalingPrior().functional_center, ARTIFACT_FACTOR * found.residual)
    assert np.linalg.norm((found.center - center).mean(0)) < min(2 * deviation, 0.025)
    angles = np.linspace(0.0, 1.4, 200)
    proximal, distal, _, axis = with_artifact(angles[:, None] * AXIS, angles, 0.002)
    bent = functional_axis(proximal, distal)
    turned = np.linalg.norm(np.cross(bent.axis, axis).mean(0))
    assert turned < 2 * ScalingPrior().functional_axis


def test_frames_with_a_lost_marker_are_left_out():
    proximal, distal, center, _ = segments(circling(), 0.0)
    proximal = proximal.copy()
    proximal[5, 1] = np.nan
    found = functional_center(proximal, distal)
    assert np.isnan(found.center[5]).all()
    assert np.abs(np.delete(found.center - center, 5, axis=0)).max() < 1e-9


def test_refusals_say_what_is_needed():
    proximal, distal, _, _ = segments(circling(), 0.0)
    with pytest.raises(CaptureError, match="3 or more markers"):
        functional_center(proximal[:, :2], distal)
    with pytest.raises(CaptureError, match="same frames"):
        functional_center(proximal[:-1], distal)
    with pytest.raises(CaptureError, match="10 are needed"):
        functional_center(proximal[:5], distal[:5])
    still = segments(np.zeros((50, 3)), 0.0)
    with pytest.raises(CaptureError, match="hardly move"):
        functional_axis(still[0], still[1])
