"""Verdicts on ground forces: plates, residuals, weight, filter and frame rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from homodyn import dynamics
from homodyn.analysis.pipeline import Analysis
from homodyn.analysis.verdict import QualityLight, QualityVerdict, full_sentence
from homodyn.capture.kinematics.segment_observability import (
    MAX_UNSEEN_MASS_SHARE,
    seen_segments,
)
from homodyn.capture.kinetics import (
    PlateDoubt,
    check_frame_rate,
    check_plates,
    residual_causes,
    residuals,
)
from homodyn.capture.kinetics.motion_filter import (
    EDGE_FRAMES_FACTOR,
    EDGE_PERIODS,
    STANDARD_CUTOFF_HZ,
)
from homodyn.capture.scaling import MassSource
from homodyn.foundation import enumerate_names
from homodyn.motion import STANCE_THRESHOLD, ForcePlate, Loads
from homodyn.motion.anatomical_axes import Axes

MAX_WEIGHT_DEVIATION = 0.05
"""Relative difference of the weight on the plates and that of the model in good data."""
FAIR_WEIGHT_FACTOR = 3.0
"""Multiple of it up to which forces are fair."""
MIN_MEAN_FORCE_TIME_S = 1.0
"""Duration (s) from which the mean vertical force is the weight: accelerations cancel."""
MIN_MEASURED_SHARE = 0.3
"""Share of frames on plates that a comparison of the weight needs."""


def force_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Grade the ground forces of an analysis, measured or predicted, and what depends on them.

    Args:
        analysis: The result of `analyze`.

    Yields:
        The verdicts.
    """
    loads = analysis.loads
    if loads is None:
        reason = full_sentence(analysis.missing.get("kinetics", "There are no torques."))
        # Forces that were recorded or given were meant to be used.
        asked = bool(analysis.trial.plates)
        yield QualityVerdict(QualityLight.FAIR if asked else QualityLight.NOTE, "forces", reason)
    elif loads.predicted:
        yield _prediction_verdict(loads)
        yield from _rate_verdicts(loads)
    elif not loads.covered.any():
        yield from _plate_verdicts(analysis)
        yield from _excess_weight_verdicts(analysis)
        yield _uncovered_verdict(analysis.trial.plates)
    else:
        yield from _plate_verdicts(analysis)
        yield _residual_verdict(loads)
        weighed = analysis.scaling is not None and (
            analysis.scaling.mass_source is MassSource.PLATES
        )
        yield from _weight_verdicts(loads, weighed)
    yield from _filter_verdicts(analysis)


def _prediction_verdict(loads: Loads) -> QualityVerdict:
    """Predicted forces, and the frames in which the feet alone cannot carry the body."""
    text = (
        "Ground forces were computed from the motion, not measured: torques of the legs in double "
        "support are estimates."
    )
    unsupported = int((~loads.covered).sum())
    if not unsupported:
        return QualityVerdict(QualityLight.NOTE, "forces", text)
    return QualityVerdict(
        QualityLight.FAIR,
        "forces",
        f"{text} In {unsupported} of {len(loads.covered)} frames the feet alone cannot carry the "
        "body: a chair or a hand carries weight, or steps were not found. Torques of these frames "
        "are left out.",
    )


def _uncovered_verdict(plates: Sequence[ForcePlate]) -> QualityVerdict:
    """Plates that never carry the whole body, or nothing at all."""
    text = "No frame has all its ground contact on plates"
    peak = max(float(np.abs(np.nan_to_num(plate.force)).max(initial=0.0)) for plate in plates)
    if peak < STANCE_THRESHOLD.plate_check_n:
        text = (
            f"The plates {enumerate_names([plate.name for plate in plates], 4)} were never loaded "
            f"(at most {peak:.3g} N): check their cables and the columns of the file"
        )
    return QualityVerdict(QualityLight.FAIR, "forces", f"{text}; torques are not reliable.")


def _rate_verdicts(loads: Loads) -> Iterator[QualityVerdict]:
    """Whether the weight stays over the feet at the stated frame rate; plates show it otherwise."""
    if residual_light(loads) is QualityLight.NOTE:
        return  # A good part of the body is not seen.
    found = check_frame_rate(loads.motion)
    if found is None:
        yield QualityVerdict(
            QualityLight.NOTE,
            "frame rate",
            f"Nothing shows whether {loads.motion.rate:.4g} frames per second are right: there are "
            "no plates, and no quick single support of both feet. Speeds depend on it.",
        )
        return
    text, light = full_sentence(found.sentence), QualityLight.GOOD
    if not found.plausible:
        light = QualityLight.FAIR if found.possible else QualityLight.POOR
        text += " Speeds and torques depend on it."
    yield QualityVerdict(light, "frame rate", text)


def _plate_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """Plates that cannot belong to the motion, or carry something else."""
    assert analysis.loads is not None
    found = check_plates(analysis.loads, analysis.trial.plates)
    if found.doubt is not PlateDoubt.NONE:
        wrong = found.doubt is PlateDoubt.WRONG
        light = QualityLight.POOR if wrong else QualityLight.FAIR
        yield QualityVerdict(light, "plates", full_sentence(found.sentence))


def _filter_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """What the low-pass filter takes off peaks of forces and accelerations."""
    yield from _short_recording_verdicts(analysis)
    losses = (analysis.force_loss, analysis.acceleration_loss)
    notable = [loss.sentence for loss in losses if loss is not None and loss.notable]
    if notable:
        chosen = analysis.settings.cutoff == "auto" or (
            analysis.settings.cutoff == "standard" and analysis.cutoff != STANDARD_CUTOFF_HZ
        )
        remedy = "--cutoff with a frequency" if chosen else "--cutoff auto, or a frequency"
        yield QualityVerdict(
            QualityLight.FAIR,
            "filter",
            f"{full_sentence('; '.join(notable))} Motion and forces are filtered alike, which "
            f"keeps impacts from appearing as torques. Peaks need a higher cutoff: {remedy}.",
        )


def _short_recording_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """A recording that is so short that the ends of the filter reach every frame."""
    motion, cutoff, settings = analysis.motion, analysis.cutoff, analysis.settings
    whole = settings.first is None and settings.last is None
    if analysis.loads is None or not cutoff or not whole or not motion.edge.size:
        return
    if not motion.edge.any():
        needed = EDGE_FRAMES_FACTOR * EDGE_PERIODS / cutoff
        yield QualityVerdict(
            QualityLight.POOR,
            "filter",
            f"The recording lasts {motion.duration:.2g} s, and the low-pass filter of {cutoff:g} "
            f"Hz needs more than {needed:.2g} s: no frame has reliable accelerations, forces and "
            "torques; angles can be used. Export more frames.",
        )


def residual_light(loads: Loads) -> QualityLight:
    """The grade of the root residuals.

    Args:
        loads: Loads of a motion.

    Returns:
        The grade of `residuals`; a note where no marker shows a good part of the body, because its
        unknown movement is in the residuals.
    """
    if seen_segments(loads.motion).unseen_mass_share > MAX_UNSEEN_MASS_SHARE:
        return QualityLight.NOTE
    return QualityLight(residuals(loads).grade)


def _residual_verdict(loads: Loads) -> QualityVerdict:
    """Root residuals of the measured frames against their limits, as `residuals` defines them."""
    text, light = full_sentence(residuals(loads).sentence), residual_light(loads)
    causes = residual_causes(loads)
    if light is QualityLight.NOTE:
        unseen = 100 * seen_segments(loads.motion).unseen_mass_share
        text += f" Not graded: {unseen:.0f} % of the body mass is not seen."
    elif causes:
        text += f" Likely: {'; '.join(causes)}."
    return QualityVerdict(light, "residuals", text)


def _weight_verdicts(loads: Loads, weighed: bool) -> Iterator[QualityVerdict]:
    """The weight on the plates against that of the model, over the frames of `Loads.valid`.

    Plates that weighed the subject cannot confirm the weight: then agreement is a note.
    """
    measured = loads.valid
    if measured.mean() < MIN_MEASURED_SHARE:
        return
    motion = loads.motion
    axes = Axes.of(motion.model)
    gravity = float(np.linalg.norm(motion.model.gravity))
    vertical = loads.ground_force @ axes.up
    speed = dynamics.center_of_mass_velocity(motion.model, motion.q, motion.v) @ axes.up
    acceleration = np.gradient(speed, motion.time)
    mass = float(np.mean(vertical[measured]) / (gravity + np.mean(acceleration[measured])))
    deviation = abs(mass / motion.model.mass - 1)
    light = QualityLight.POOR
    if deviation <= MAX_WEIGHT_DEVIATION:
        light = QualityLight.NOTE if weighed else QualityLight.GOOD
    elif deviation <= FAIR_WEIGHT_FACTOR * MAX_WEIGHT_DEVIATION:
        light = QualityLight.FAIR
    remedy = " Check --mass, and that all contact is on the plates."
    if light is QualityLight.GOOD:
        remedy = ""
    elif weighed:
        remedy = " Its mass was measured by plates; pass --mass for an independent check."
    yield QualityVerdict(
        light,
        "body weight",
        f"The plates carry {mass:.1f} kg over {int(measured.sum())} of {motion.frames} frames "
        f"(ground forces known); the model has {motion.model.mass:.1f} kg."
        f"{remedy}",
    )


def _excess_weight_verdicts(analysis: Analysis) -> Iterator[QualityVerdict]:
    """More weight on the plates than the model has, where no frame can be weighed.

    The mean vertical force of a second or more is at most the weight, whatever stands beside the
    plates; less than the weight says nothing there.
    """
    motion, model = analysis.motion, analysis.motion.model
    if motion.duration < MIN_MEAN_FORCE_TIME_S:
        return
    vertical = sum(
        float(np.mean(np.interp(motion.time, plate.time, np.nan_to_num(plate.force[:, 2]))))
        for plate in analysis.trial.plates
    )
    mass = vertical / float(np.linalg.norm(model.gravity))
    if mass > (1 + FAIR_WEIGHT_FACTOR * MAX_WEIGHT_DEVIATION) * model.mass:
        yield QualityVerdict(
            QualityLight.POOR,
            "body weight",
            f"The plates carry {mass:.1f} kg in the mean of the recording; the model has "
            f"{model.mass:.1f} kg. Check --mass and the unit of the plates.",
        )
