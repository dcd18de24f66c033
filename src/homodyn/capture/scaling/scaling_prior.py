"""Prior knowledge of subjects: how much people differ from a generic model.

The logarithm of the scale of body b along axis a is modeled as ``size + body_b + axis_ba``, three
independent normal deviations. A segment without markers then follows the size of the subject, and
one that markers measure along one axis only follows that axis along the others.

The standard deviations are of the order that surveys report. Among the 4082 men measured by Gordon
et al. (2014, ANSUR II) stature varies by about 4 %, lengths of limb segments by 5 to 6 %, breadths
of the trunk by 5 to 7 % and depths by 10 %. Bodies of generic models are smaller parts than those
measured, so the deviation along single axes is the largest of these.
"""

from __future__ import annotations

import numpy as np

from homodyn.capture.scaling.marker_kinds import MarkerKind
from homodyn.foundation.record import Record, record

ARTIFACT_SHARES = {
    MarkerKind.TRACKING: 1.0,
    MarkerKind.LANDMARK: 0.5,
    MarkerKind.JOINT_CENTER: 0.1,
}
"""Soft-tissue artifact of each kind of marker relative to that of muscle: skin is thin over bony
landmarks, and joint centers are computed."""


@record(eq=True)
class ScalingPrior(Record):
    """Standard deviations of scale factors (relative), marker placement and noise (m)."""

    size: float = 0.10
    """Of the overall size when the height is not known: a generic model may be any adult."""
    size_of_stature: float = 0.03
    """Of the overall size when the height is known."""
    body: float = 0.05
    """Of a body relative to the overall size."""
    axis: float = 0.10
    """Of one axis of a body relative to the body: breadths and depths."""
    follow: float = 0.02
    """Of one axis of a body relative to the body, where markers do not determine it: what they
    leave open follows what they determine. ``axis`` or more lets the weak evidence decide."""
    landmark: float = 0.008
    """Of a bony landmark from its position on the generic model, along each axis (m)."""
    tracking: float = 0.03
    """Of a tracking marker, which sits anywhere on its segment, along each axis (m)."""
    joint_center: float = 0.007
    """Of a joint-center marker from the joint center, along each axis (m)."""
    hip_regression: float = 0.010
    """Of a hip center from its regression on the pelvis, along each axis (m); 0 omits it."""
    functional_center: float = 0.006
    """Of a joint center from the one that a functional trial shows, along each axis (m)."""
    functional_axis: float = 0.07
    """Of the direction of a hinge from the one that a functional trial shows (rad): 4 degrees,
    and more where the images of the axis in the two segments are apart."""
    flat_foot: float = 0.035
    """Of the inclination of a foot that is flat on the floor, from the neutral pose (rad): 2
    degrees, the heel of a shoe included; 0 omits it."""
    artifact: float = 0.01
    """Of the displacement of a tracking marker by soft tissue when a joint of its body turns by one
    radian, along each axis (m/rad); half of it for landmarks; 0 omits it."""
    center: float = 0.0
    """Of a joint center from its scaled position, along each axis (m); 0 fixes it there."""
    hip_center: float = 0.008
    """Of a hip center from its scaled position, where ``center`` is 0 and the pelvis has landmarks,
    and of ball joints that functional trials show: scaling alone does not describe shapes (m)."""
    noise: float = 0.005
    """Of a measured coordinate, soft-tissue artifacts included (m)."""
    learn: bool = True
    """Whether ``landmark``, ``tracking`` and ``noise`` are initial values that are estimated from
    the recording."""
    min_marker: float = 2e-4
    """Smallest estimate of ``landmark`` and ``tracking`` (m)."""
    max_landmark: float = 0.012
    """Largest estimate of ``landmark`` (m): the precision of palpation between examiners."""
    max_tracking: float = 0.15
    """Largest estimate of ``tracking`` (m): generic marker sets have placeholders."""
    min_noise: float = 5e-5
    """Smallest estimate of ``noise`` (m)."""

    def log_scales(self, bodies: int, *, stature_known: bool) -> np.ndarray:
        """Covariance of the logarithms of the scale factors.

        Args:
            bodies: Number of bodies.
            stature_known: Whether the height of the subject is known.

        Returns:
            (3 bodies, 3 bodies).
        """
        size = self.size_of_stature if stature_known else self.size
        same_body = np.kron(np.eye(bodies), np.ones((3, 3)))
        return size**2 + self.body**2 * same_body + self.axis**2 * np.eye(3 * bodies)

    def marker_deviation(self, kind: MarkerKind) -> float:
        """Standard deviation of a marker along each axis (m).

        Args:
            kind: Kind of the marker.

        Returns:
            The field for this kind.
        """
        deviations = {
            MarkerKind.LANDMARK: self.landmark,
            MarkerKind.TRACKING: self.tracking,
            MarkerKind.JOINT_CENTER: self.joint_center,
        }
        return deviations[kind]

    def artifact_deviation(self, kind: MarkerKind) -> float:
        """Standard deviation of the artifact of a marker along each axis (m/rad).

        Args:
            kind: Kind of the marker.

        Returns:
            The share of ``artifact`` for this kind.
        """
        return ARTIFACT_SHARES[kind] * self.artifact
