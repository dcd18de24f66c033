"""Tracking with fewer markers: from all of them to those of head, hands and feet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from homodyn.errors import CaptureError
from homodyn.foundation import Record, record, unknown_name
from homodyn.model import Model
from homodyn.track.result import TrackingResult
from homodyn.track.studies.study import (
    StudyCurve,
    StudyPanel,
    TrackingStudy,
    measured_positions,
    without_filter,
)
from homodyn.track.variants import track_variants

MARKER_COUNTS = (20, 10)
"""Numbers of markers of the sweep besides all of them."""
END_SEGMENTS = ("head", "hand", "foot", "feet", "toe", "heel", "calcn")
"""Parts of names of the bodies whose markers are those of head, hands and feet."""


@record
class MarkerStudy(Record, TrackingStudy):
    """Errors of joint angles against the tracking with all markers."""

    names: tuple[str, ...]
    """Name of each set of markers."""
    markers: tuple[tuple[str, ...], ...]
    """The markers of each set."""
    errors: np.ndarray
    """(sets, joints), rad: mean absolute difference of each joint coordinate."""
    coordinates: tuple[str, ...]
    """Names of the joint coordinates."""
    complete: np.ndarray
    """(sets,): whether all frames have a pose."""
    angles: np.ndarray
    """(sets, frames, joints), rad."""
    time: np.ndarray
    """(frames,), s."""

    @property
    def title(self) -> str:
        """One line."""
        return "Joint angles with fewer markers"

    @property
    def paper(self) -> str:
        """What the paper reports."""
        return (
            "Figures 8 and 9 of HDM: markers of head, hands and feet alone give nearly the same "
            "pose, and joint angles that are quite similar (no number); 20 to 41 markers suffice."
        )

    def columns(self) -> dict[str, list[float | str]]:
        """Errors by set of markers."""
        worst = self.errors.argmax(axis=1)
        return {
            "markers": list(self.names),
            "number": [float(len(own)) for own in self.markers],
            "mean (deg)": np.degrees(self.errors.mean(axis=1)).tolist(),
            "median (deg)": np.degrees(np.median(self.errors, axis=1)).tolist(),
            "largest (deg)": np.degrees(self.errors.max(axis=1)).tolist(),
            "largest of": [self.coordinates[k] for k in worst],
        }

    def panels(self) -> tuple[StudyPanel, ...]:
        """Mean error by set, and the four joints that move most with all and fewest markers."""
        places = np.arange(len(self.names), dtype=float)
        bars = StudyCurve("mean", places, np.degrees(self.errors.mean(axis=1)))
        panels = [StudyPanel("mean error of angles", "", "deg", (bars,), True, ticks=self.names)]
        spread = np.ptp(self.angles[0], axis=0)
        for k in np.argsort(spread)[::-1][:3]:
            curves = tuple(
                StudyCurve(self.names[i], self.time, np.degrees(self.angles[i, :, k]))
                for i in (0, len(self.names) - 1)
            )
            panels.append(StudyPanel(self.coordinates[k], "time (s)", "deg", curves))
        return tuple(panels)

    def findings(self) -> tuple[str, ...]:
        """Mean errors."""
        return tuple(
            f"{name} ({len(own)} markers): {np.degrees(error.mean()):.1f} deg mean, "
            f"{np.degrees(np.median(error)):.1f} deg median."
            for name, own, error in zip(self.names, self.markers, self.errors, strict=True)
        )

    def headline(self) -> str:
        """Number of sets."""
        return f"MarkerStudy: {', '.join(str(len(own)) for own in self.markers)} markers"


def end_markers(model: Model) -> tuple[str, ...]:
    """Markers of head, hands and feet.

    Args:
        model: A model with markers.

    Returns:
        Their names.
    """
    names = []
    for marker in model.markers:
        body = model.body_names[model.locate(marker.name)[0]].lower()
        if any(part in body for part in END_SEGMENTS):
            names.append(marker.name)
    return tuple(names)


def spread_markers(model: Model, count: int) -> tuple[str, ...]:
    """Markers on as many different bodies as possible, evenly over the tree.

    Args:
        model: A model with markers.
        count: Number of markers.

    Returns:
        Their names: first one of each body from the ends of the tree inwards, then second ones.
    """
    by_body: dict[int, list[str]] = {}
    for marker in model.markers:
        by_body.setdefault(model.locate(marker.name)[0], []).append(marker.name)
    chosen: list[str] = []
    rounds = max(len(names) for names in by_body.values())
    for number in range(rounds):
        for body in sorted(by_body, reverse=True):
            if number < len(by_body[body]):
                chosen.append(by_body[body][number])
    return tuple(chosen[:count])


def marker_study(
    reference: TrackingResult,
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    progress: Callable[[float], None] | None = None,
) -> MarkerStudy:
    """Track a trial with fewer markers and compare the joint angles with those of all markers.

    Markers that are left out have no springs; the joint springs, the ground and the joint limits
    decide what the others leave open. All sets are elements of one batch.

    Args:
        reference: A tracked trial.
        sets: Markers by name of the set; None: 20 and 10 markers on as many bodies as possible, and
            those of head, hands and feet.
        progress: Called with the completed share.

    Returns:
        The errors.

    Raises:
        CaptureError: A set has a marker that the model does not have, or fewer than three.
    """
    model, motion = reference.motion.model, reference.motion
    known = [marker.name for marker in model.markers]
    if sets is None:
        sets = {
            f"{count}": spread_markers(model, count)
            for count in MARKER_COUNTS
            if count < len(known)
        } | {"head, hands, feet": end_markers(model)}
    chosen: dict[str, tuple[str, ...]] = {"all": tuple(known)}
    chosen |= {name: tuple(markers) for name, markers in sets.items()}
    positions = measured_positions(reference)
    variants = []
    for name, markers in chosen.items():
        unknown = [marker for marker in markers if marker not in known]
        if unknown:
            raise CaptureError(f"set {name!r}: {unknown_name('marker', unknown[0], known)}")
        if len(markers) < 3:
            raise CaptureError(f"set {name!r} has {len(markers)} markers; a pose needs 3 or more")
        seen = np.array([marker in markers for marker in known])
        variants.append(np.where(seen[:, None], positions, np.nan))
    found = track_variants(
        model,
        np.array(variants),
        motion.rate,
        motion.q[0],
        # The recording that was measured has been filtered already.
        without_filter(reference),
        progress=progress,
    )
    joints = list(found.joints)
    difference = [model.difference(found.q[0], q)[:, joints] for q in found.q]
    neutral = model.neutral()
    angles = [model.difference(np.tile(neutral, (len(q), 1)), q)[:, joints] for q in found.q]
    return MarkerStudy(
        tuple(chosen),
        tuple(chosen.values()),
        np.abs(difference).mean(axis=1),
        tuple(model.coordinate_names[k] for k in joints),
        found.complete,
        np.array(angles),
        found.time,
    )
