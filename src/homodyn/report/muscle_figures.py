"""Figures of muscles: activations beside EMG, forces, fibers, shares of torques, joint forces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from homodyn.analysis.curves import CurveEnsemble, CycleSegmentation
from homodyn.analysis.emg_agreement import channel_activation, envelope_at
from homodyn.analysis.emg_muscles import muscle_heads
from homodyn.analysis.muscle_analysis import CONTACT_RANGES, MuscleAnalysis, contact_joint
from homodyn.analysis.muscle_curves import known_activations, known_ensemble
from homodyn.capture import Signals
from homodyn.model.side import Side, side_of
from homodyn.motion.clinical import LEGS, Reading, readings, sideless
from homodyn.report.html import PageFigure
from homodyn.report.svg import Plot, nice_range

SERIES = ("first", "second", "third", "fourth", "alert")
"""Classes of the colors of the largest contributors to a torque."""
SHARE_PANEL_WIDTH, SHARE_LABEL_WIDTH = 460.0, 130.0
"""Of a panel with the torques of muscles, and of their names at its right."""
SHADED_FIBERS = (0.5, 1.5)
"""Range of fiber lengths that is sensible, in optimal fiber lengths."""


def emg_comparison(
    found: MuscleAnalysis, envelopes: Signals | None, segmentation: CycleSegmentation
) -> list[PageFigure]:
    """Activations beside the EMG that records them, scaled to them, with their agreement."""
    if envelopes is None or not found.agreements:
        return []
    result = found.activations
    known = known_activations(result, found.known)
    panels = []
    for one in found.agreements:
        column = envelopes.names.index(one.channel)
        factor = one.emg_factor or 1.0
        activation = channel_activation(result, known, one.muscles)
        envelope = factor * envelope_at(envelopes, column, result.time)
        everywhere = np.isfinite(envelope)
        own = known_ensemble(segmentation, activation, np.isfinite(activation), one.side)
        measured = known_ensemble(segmentation, envelope, everywhere, one.side)
        if own is None or measured is None:
            continue
        words = f"{one.grade}, r {one.best_correlation:.2f} at {1e3 * one.delay_s:.0f} ms"
        title = f"{sideless(one.channel)} {one.side[0].upper()}"
        plot = _cycle_plot(
            title,
            words if one.used else "not used",
            segmentation,
            own,
            nice_range(own.mean, measured.mean, min_span=0.1, zero=True),
        )
        _shade_stance(plot, segmentation, one.side)
        plot.band(measured.x, np.zeros_like(measured.x), measured.mean, "middle")
        plot.line(measured.x, measured.mean, "thin middle")
        plot.line(own.x, own.mean, one.side)
        panels.append(plot.svg())
    if not panels:
        return []
    caption = (
        "Computed activations (colored line) beside measured EMG (gray area), which is scaled to "
        "the activation by one factor per channel, over the gait cycle; stance is shaded. r: "
        "largest correlation over delays of the activation from 0 to 100 ms, in all frames with "
        "known loads; good from 0.7, fair from 0.4. Where a channel records several parts of a "
        "muscle, the line is their mean weighted by strength."
    )
    return [PageFigure("muscle-emg", tuple(panels), caption)]


def activations(found: MuscleAnalysis, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Activation of every muscle over the cycle."""
    panels = _muscle_panels(found, segmentation, found.activations.activations, "", 0.1)
    caption = "Activations of all muscles, from 0 to 1, over the gait cycle."
    return [PageFigure("muscle-activations", panels, caption, columns=4)] if panels else []


def forces(found: MuscleAnalysis, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Force of every muscle over the cycle, in body weights."""
    weight = found.reactions.body_weight
    values = found.activations.forces / weight
    panels = _muscle_panels(found, segmentation, values, "body weights", 0.1)
    caption = "Forces of muscles along their tendons, in body weights, over the gait cycle."
    return [PageFigure("muscle-forces", panels, caption, columns=4)] if panels else []


def fiber_lengths(found: MuscleAnalysis, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Length of the fibers of every muscle over the cycle."""
    values = found.activations.fiber_lengths
    if not values.size:
        return []

    def mark(plot: Plot) -> None:
        for level in SHADED_FIBERS:
            plot.horizontal_line(level, "dash gray")

    panels = _muscle_panels(found, segmentation, values, "optimal lengths", 0.4, mark, zero=False)
    caption = (
        "Lengths of fibers in optimal fiber lengths over the gait cycle; the dashed lines bound "
        "the sensible range."
    )
    return [PageFigure("fiber-lengths", panels, caption, columns=4)]


def torque_shares(found: MuscleAnalysis, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Torques of the muscles that contribute most to each coordinate of the legs."""
    result = found.activations
    model = result.loads.motion.model
    panels = []
    for reading in readings(model):
        if reading.joint not in LEGS or reading.name not in result.coordinates:
            continue
        panel = _share_panel(found, segmentation, reading)
        panels += [panel] if panel else []
    caption = (
        "Contributions of muscles to the torques of joints (N m), positive as the title names; "
        "the black (on a dark page white) line is the torque that all muscles produce. Parts of a "
        "muscle are added; shown are the five with the largest peaks."
    )
    if not panels:
        return []
    return [PageFigure("muscle-torques", tuple(panels), caption, columns=2, legend=False)]


def joint_forces(found: MuscleAnalysis, segmentation: CycleSegmentation) -> list[PageFigure]:
    """Sizes of the forces in hip, knee and ankle, in body weights."""
    panels = []
    for wanted in CONTACT_RANGES:
        curves = {}
        for side in Side:
            name = contact_joint(found.reactions.joints, wanted, side)
            if name is not None:
                values = found.reactions.per_weight[:, found.reactions.joint(name)]
                curves[side] = known_ensemble(segmentation, values, found.known[side], side)
        shown = {side: one for side, one in curves.items() if one is not None}
        if not shown:
            continue
        strands = list(shown.values())
        span = nice_range(*(one.mean for one in strands), np.array([wanted.high]), zero=True)
        plot = _cycle_plot(f"{wanted.joint} force", "body weights", segmentation, strands[0], span)
        for level in (wanted.low, wanted.high):
            plot.horizontal_line(level, "dash gray")
        for side, one in shown.items():
            plot.line(one.x, one.mean, side)
            _mark_foot_off(plot, segmentation, side)
        panels.append(plot.svg())
    caption = (
        "Forces that bones transmit in the joints: all muscles, weight and inertia together, in "
        "body weights over the gait cycle. The dashed lines bound published peaks of level walking "
        f"({'; '.join(f'{one.joint.lower()}: {one.source}' for one in CONTACT_RANGES)})."
    )
    return [PageFigure("joint-forces", tuple(panels), caption)] if panels else []


def _muscle_panels(
    found: MuscleAnalysis,
    segmentation: CycleSegmentation,
    values: np.ndarray,
    unit: str,
    min_span: float,
    mark: Callable[[Plot], None] | None = None,
    zero: bool = True,
) -> tuple[str, ...]:
    """One panel per muscle, both sides together."""
    result = found.activations
    known = known_activations(result, found.known)
    curves: dict[str, dict[str, CurveEnsemble]] = {}
    for k, name in enumerate(result.muscles):
        side = side_of(name)
        used = str(side or _default_side(segmentation))
        one = known_ensemble(segmentation, values[:, k], known[:, k], used)
        if one is not None:
            title = sideless(name) if side else name
            curves.setdefault(title, {})[str(side or "middle")] = one
    panels = []
    for title, sides in curves.items():
        strands = list(sides.values())
        span = nice_range(*(one.mean for one in strands), min_span=min_span, zero=zero)
        if zero and min(float(np.nanmin(one.mean)) for one in strands) >= 0:
            span = (0.0, max(span[1], min_span))
        plot = _cycle_plot(title, unit, segmentation, strands[0], span)
        if mark is not None:
            mark(plot)
        for style, one in sides.items():
            plot.line(one.x, one.mean, style)
            if style != "middle":
                _mark_foot_off(plot, segmentation, style)
        panels.append(plot.svg())
    return tuple(panels)


def _share_panel(
    found: MuscleAnalysis, segmentation: CycleSegmentation, reading: Reading
) -> str | None:
    """The torques of the largest contributors to a coordinate of a leg."""
    result = found.activations
    sign = reading.mirrored if reading.side == "left" else reading.sign
    groups: dict[str, np.ndarray] = {}
    for name, torque in result.contributions(reading.name).items():
        label = _group_label(name)
        groups[label] = groups.get(label, 0.0) + sign * torque
    known = found.known[reading.side]

    def cut(values: np.ndarray) -> CurveEnsemble | None:
        return known_ensemble(segmentation, values, known, reading.side)

    cuts = {label: cut(values) for label, values in groups.items()}
    shown = {label: one for label, one in cuts.items() if one is not None}
    total = cut(np.sum(list(groups.values()), axis=0)) if groups else None
    if total is None or not shown:
        return None
    largest = sorted(shown, key=lambda label: -float(np.nanmax(np.abs(shown[label].mean))))
    strands = [shown[label] for label in largest[: len(SERIES)]]
    span = nice_range(total.mean, *(one.mean for one in strands), min_span=5.0, margin=0.12)
    title = f"{reading.side.capitalize()} {reading.title[:1].lower()}{reading.title[1:]}"
    plot = _cycle_plot(title, "N m", segmentation, total, span)
    plot.width, plot.right = SHARE_PANEL_WIDTH, SHARE_LABEL_WIDTH
    for row, (label, one, style) in enumerate(zip(largest, strands, SERIES, strict=False)):
        plot.line(one.x, one.mean, f"thin {style}")
        height = span[1] - (0.04 + 0.1 * row) * (span[1] - span[0])
        plot.text(plot.x[1] + 0.02 * (plot.x[1] - plot.x[0]), height, label, f"note {style}")
    plot.line(total.x, total.mean, "ink")
    _mark_foot_off(plot, segmentation, reading.side)
    return plot.svg()


def _group_label(muscle: str) -> str:
    """The anatomical name of a muscle, or its own without side and number of the part."""
    heads = sorted(muscle_heads(muscle))
    if len(heads) == 1:
        return heads[0]
    if heads:
        return sideless(muscle)
    return sideless(muscle).rstrip("0123456789")


def _default_side(segmentation: CycleSegmentation) -> str:
    return next((str(side) for side in Side if segmentation.count(side)), "right")


def _cycle_plot(
    title: str,
    unit: str,
    segmentation: CycleSegmentation,
    strand: CurveEnsemble,
    y: tuple[float, float],
) -> Plot:
    x = (0.0, 100.0)
    if not segmentation.has_cycles:
        x = (float(strand.x[0]), float(strand.x[-1]))
    label = "gait cycle (%)" if segmentation.has_cycles else "time (s)"
    return Plot(title, x, y, label, unit, alt=f"{title}, {unit}, against {label}")


def _shade_stance(plot: Plot, segmentation: CycleSegmentation, side: str) -> None:
    off = segmentation.mean_foot_off(side) if segmentation.has_cycles else None
    if off is not None:
        plot.span(0.0, off, f"stance {side}")


def _mark_foot_off(plot: Plot, segmentation: CycleSegmentation, side: str) -> None:
    off = segmentation.mean_foot_off(side) if segmentation.has_cycles else None
    if off is not None:
        plot.vertical_line(off, f"dash {side}")
