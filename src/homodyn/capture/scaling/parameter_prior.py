"""The prior over the parameters of one subject: scale factors, joint centers and marker offsets."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from homodyn.capture.scaling.bundle_adjustment import PersonParameters
from homodyn.capture.scaling.marker_kinds import MarkerKind, marker_kinds
from homodyn.capture.scaling.options import SubjectScalingOptions
from homodyn.capture.scaling.pelvis_landmarks import pelvis_landmarks
from homodyn.capture.scaling.scaling_prior import ScalingPrior
from homodyn.catalog.mirror import paired_names
from homodyn.errors import CaptureError
from homodyn.foundation.text import unknown_name
from homodyn.model import Model


@dataclass(frozen=True, eq=False)
class ParameterPrior:
    """Normal prior over the unknowns of one subject, for any standard deviations of its markers."""

    unknowns: PersonParameters
    mean: np.ndarray
    """(unknowns,)."""
    size_covariance: np.ndarray
    """(unknowns, unknowns): covariance of scales and centers; zero for markers."""
    kinds: tuple[MarkerKind, ...]
    """Kind of each marker."""

    @property
    def offsets(self) -> slice:
        """The unknowns that are marker offsets."""
        return self.unknowns.offsets

    def covariance(self, spread: ScalingPrior) -> np.ndarray:
        """Covariance of the unknowns for the standard deviations of markers in ``spread``."""
        return self.size_covariance + np.diag(self._marker_deviations(spread) ** 2)

    def precision(self, spread: ScalingPrior) -> np.ndarray:
        """The inverse covariance: markers are independent of the sizes and of each other."""
        size = self.unknowns.shape
        inverse = np.zeros_like(self.size_covariance)
        inverse[:size, :size] = np.linalg.inv(self.size_covariance[:size, :size])
        diagonal = np.arange(size, len(inverse))
        inverse[diagonal, diagonal] = self._marker_deviations(spread)[size:] ** -2.0
        return inverse

    def with_followers(self, undetermined: np.ndarray, spread: ScalingPrior) -> ParameterPrior:
        """The prior in which some scale factors follow the others of their body.

        Args:
            undetermined: (logarithms,): which of the unknown scale factors markers leave open.
            spread: Standard deviations of the prior; those factors have ``follow`` for ``axis``.

        Returns:
            The prior.
        """
        covariance = self.size_covariance.copy()
        entries = np.flatnonzero(undetermined)
        covariance[entries, entries] += min(spread.follow, spread.axis) ** 2 - spread.axis**2
        return replace(self, size_covariance=covariance)

    def with_artifacts(self, features: int) -> ParameterPrior:
        """The prior with soft-tissue artifacts of all markers, of mean zero, as further unknowns.

        Args:
            features: Features of the pose that the artifacts of a marker depend on.

        Returns:
            The prior.
        """
        unknowns = replace(self.unknowns, features=features)
        added = unknowns.size - self.unknowns.size
        return replace(
            self,
            unknowns=unknowns,
            mean=np.pad(self.mean, (0, added)),
            size_covariance=np.pad(self.size_covariance, (0, added)),
        )

    def of_kind(self, kind: MarkerKind) -> np.ndarray:
        """(markers,): which markers are of a kind."""
        return np.array([one is kind for one in self.kinds], dtype=bool)

    def _marker_deviations(self, spread: ScalingPrior) -> np.ndarray:
        deviations = np.zeros(self.unknowns.size)
        deviations[self.offsets] = np.repeat([spread.marker_deviation(k) for k in self.kinds], 3)
        soft = np.repeat([spread.artifact_deviation(k) for k in self.kinds], 3)
        deviations[self.offsets.stop :] = np.tile(soft, self.unknowns.features)
        return deviations


def parameter_prior(
    model: Model,
    markers: Sequence[str],
    options: SubjectScalingOptions,
    *,
    size: float | None,
    uniform: bool = False,
    free_joints: Collection[int] = (),
    kinds: Sequence[MarkerKind] | None = None,
) -> ParameterPrior:
    """The prior over the parameters of a subject.

    Args:
        model: The generic model.
        markers: Names of the recorded markers.
        options: Standard deviations and tied scale factors.
        size: Expected overall size relative to the model; None when the height is not known.
        uniform: Whether each body has one factor for its three axes.
        free_joints: Indices of joints whose centers may leave their scaled positions, beside hips.
        kinds: Kind of each recorded marker; by flags, names and positions of the model by default.

    Returns:
        The prior: scale factors about ``size``, markers and joint centers as in the model.

    Raises:
        CaptureError: A group names an unknown body.
    """
    bodies, spread = len(model.bodies), options.prior
    tie = scale_ties(model, symmetric=options.symmetric, groups=options.scale_groups)
    if uniform:
        tie = tie @ np.kron(np.eye(tie.shape[1] // 3), np.ones((3, 1)))
    first = np.argmax(tie, axis=0)
    scales = spread.log_scales(bodies, stature_known=size is not None)[np.ix_(first, first)]
    # The position of the root body in the world belongs to the pose.
    centers = np.arange(3, 3 * bodies)
    if spread.center <= 0:
        centers = _center_entries({*_hip_joints(model, markers), *free_joints})
    deviation = spread.center if spread.center > 0 else spread.hip_center
    centers = centers[: len(centers) if deviation > 0 else 0]
    unknowns = PersonParameters(tie, centers, len(markers))
    mean = np.zeros(unknowns.size)
    mean[: len(scales)] = np.log(1.0 if size is None else size)
    covariance = np.zeros((unknowns.size, unknowns.size))
    covariance[: len(scales), : len(scales)] = scales
    diagonal = np.arange(len(scales), len(scales) + len(centers))
    covariance[diagonal, diagonal] = deviation**2
    if kinds is None:
        by_name = marker_kinds(model)
        kinds = [by_name[name] for name in markers]
    return ParameterPrior(unknowns, mean, covariance, tuple(kinds))


def _hip_joints(model: Model, markers: Sequence[str]) -> list[int]:
    """Indices of the hips, where the pelvis has landmarks."""
    landmarks = pelvis_landmarks(model, markers)
    hips = [] if landmarks is None else [name for name, _ in landmarks.hips]
    return [k for k, joint in enumerate(model.joints) if joint.name in hips]


def _center_entries(joints: Collection[int]) -> np.ndarray:
    """Indices of joints among the entries of all joint centers."""
    return np.array([3 * joint + k for joint in sorted(joints) for k in range(3)], dtype=int)


def scale_ties(
    model: Model, *, symmetric: bool = False, groups: Sequence[Collection[str]] = ()
) -> np.ndarray:
    """Which scale factors are the same unknown.

    Args:
        model: The model.
        symmetric: Whether left and right share their factors.
        groups: Further groups of bodies that share their factors.

    Returns:
        (3 bodies, unknowns): one in each row.

    Raises:
        CaptureError: A group names an unknown body.
    """
    index = {name: i for i, name in enumerate(model.body_names)}
    tied: list[set[int]] = []
    if symmetric:
        pairs = paired_names(model).items()
        tied = [{index[name] for name in pair} for pair in pairs if pair[0] in index]
    for names in groups:
        for name in names:
            if name not in index:
                raise CaptureError(f"scale_groups: {unknown_name('body', name, model.body_names)}")
        tied.append({index[name] for name in names})
    owner = list(range(len(index)))
    for group in tied:
        joined = {owner[i] for i in group}
        owner = [min(joined) if o in joined else o for o in owner]
    kept = sorted(set(owner))
    bodies = np.zeros((len(owner), len(kept)))
    bodies[np.arange(len(owner)), [kept.index(o) for o in owner]] = 1.0
    return np.kron(bodies, np.eye(3))
