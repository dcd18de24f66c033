"""Units, vertical axis, sides and exchanged labels, by what is known of the body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from homodyn.capture.labeling.landmarks import left_right_pairs
from homodyn.capture.quality import body_checks
from homodyn.capture.quality.finding import (
    TrialFinding,
)
from homodyn.capture.quality.label_exchanges import evidence_text, find_exchanges
from homodyn.capture.quality.orientation import Orientation, find_orientation
from homodyn.capture.trial import Trial
from homodyn.foundation.findings import Severity
from homodyn.model import Model

if TYPE_CHECKING:
    pass

MIN_UPRIGHT_HEIGHT_M = 0.3
"""Height (m) of the head above the feet in an upright body."""


def unit_findings(extent: float) -> list[TrialFinding]:
    """Wrong units, by the distance between the markers farthest apart (m)."""
    low, high = body_checks.MIN_BODY_SIZE_M, body_checks.MAX_BODY_SIZE_M
    if not np.isfinite(extent) or low <= extent <= high:
        return []
    remedy = (
        "millimeters were read as meters: divide by 1000"
        if extent > high
        else "meters were read as millimeters: multiply by 1000"
    )
    return [
        TrialFinding(
            Severity.ERROR,
            "units",
            f"the markers span {extent:.3g} m; if it is a person, {remedy}, or state the unit in "
            "the file",
        )
    ]


def length_findings(length: float) -> list[TrialFinding]:
    """A person of centimeters, or another unit, by the distance of head or pelvis from the feet."""
    low, high = body_checks.MIN_BODY_LENGTH_M, body_checks.MAX_BODY_LENGTH_M
    if not np.isfinite(length) or low <= length <= high:
        return []
    units = ("millimeters", "centimeters") if length > high else ("centimeters", "millimeters")
    factor = "divide by 10" if length > high else "multiply by 10"
    return [
        TrialFinding(
            Severity.ERROR,
            "units",
            f"feet and head are {length:.3g} m apart; if {units[0]} were read as {units[1]}, "
            f"{factor}, or state the unit in the file",
        )
    ]


def _orientation_finding(orientation: Orientation) -> TrialFinding:
    sentence = orientation.conflict or (
        f"the vertical axis is {orientation.tilt_deg:.0f} deg from the vertical by "
        f"{orientation.evidence}; state the vertical axis with --up (in Python, up=), or "
        "export the file with a vertical axis"
    )
    return TrialFinding(Severity.ERROR, "axes", sentence)


def label_findings(
    positions: np.ndarray, trial: Trial, model: Model | None, others: Sequence[Trial]
) -> list[TrialFinding]:
    """Vertical axis, sides, and labels that are exchanged in all frames; each pair once."""
    found = _axis_findings(positions, trial)
    known = {frozenset(finding.markers) for finding in found if finding.subject == "swap"}
    wrong_side = {
        one for finding in found if finding.subject == "mirrored" for one in finding.markers
    }
    known |= {
        frozenset((trial.markers[left], trial.markers[right]))
        for left, right in left_right_pairs(trial.markers)
        if trial.markers[left] in wrong_side
    }
    for one in find_exchanges(positions, trial.markers, model=model, others=others):
        markers = (trial.markers[one.a], trial.markers[one.b])
        if frozenset(markers) in known:
            continue
        also = ""
        if one.alternative is not None:
            also = " (or {} and {}, which fit as well)".format(
                *(trial.markers[k] for k in one.alternative)
            )
        found.append(
            TrialFinding(
                Severity.ERROR,
                "swap",
                f"the two labels are exchanged in all frames{also}, by {evidence_text(one)}; "
                "exchange them",
                markers,
                frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
            )
        )
    return found


def _axis_findings(positions: np.ndarray, trial: Trial) -> list[TrialFinding]:
    """Vertical axis and sides, as far as the labels are known landmarks."""
    orientation = find_orientation(replace(trial, positions=positions))
    if not orientation.is_upright:
        return [_orientation_finding(orientation)]
    height = body_checks.head_height(positions, trial.markers)
    if height < -MIN_UPRIGHT_HEIGHT_M and orientation.up is None:
        return [
            TrialFinding(
                Severity.ERROR,
                "axes",
                f"markers of the head are {-height:.2f} m below those of the feet; the vertical "
                "axis is another one or points down: state it with --up (in Python, up=)",
            )
        ]
    if orientation.may_lie:
        return [
            TrialFinding(
                Severity.WARNING,
                "axes",
                f"the body is {orientation.body_tilt_deg:.0f} deg from upright in the mean, and "
                "neither force plates nor steps show whether it lies; if the person stood, "
                "state the vertical axis with --up (in Python, up=)",
            )
        ]
    if not height > MIN_UPRIGHT_HEIGHT_M:
        # The body lies, or the labels are unknown: sides are defined for an upright body only.
        return []
    exchanged = [
        TrialFinding(
            Severity.ERROR,
            "swap",
            "the lateral marker is medial to the other one throughout; exchange the two labels",
            (trial.markers[a], trial.markers[b]),
            frames=((trial.first_frame, trial.first_frame + trial.frames - 1),),
        )
        for a, b in body_checks.exchanged_sides(positions, trial.markers)
    ]
    wrong, correct, votes = body_checks.wrong_sides(positions, trial.markers)
    if not votes or not wrong:
        return exchanged
    if len(wrong) > len(correct) and len(wrong) >= 2:
        return [
            TrialFinding(
                Severity.ERROR,
                "mirrored",
                f"{len(wrong)} of {len(wrong) + len(correct)} left markers are on the right of the "
                "body; either all labels are exchanged or an axis of the world is mirrored",
                tuple(trial.markers[k] for k in wrong),
            )
        ]
    return exchanged + [
        TrialFinding(
            Severity.WARNING,
            "mirrored",
            "the left marker is on the right of the body, unlike the others; exchange the labels "
            "of the pair",
            (trial.markers[k],),
        )
        for k in wrong
    ]
