"""Figures of data quality: marker errors, root residuals, visibility of markers."""

from __future__ import annotations

from html import escape

import numpy as np

from homodyn.analysis.quality import GOOD_MARKER_RMS_M, MAX_MARKER_RMS_M
from homodyn.capture import Trial
from homodyn.capture.kinetics import residuals
from homodyn.capture.kinetics.residuals import MAX_RESIDUAL_FORCE_SHARE, MAX_RESIDUAL_MOMENT_SHARE
from homodyn.motion import (
    Loads,
    Motion,
)
from homodyn.report.html import PageFigure
from homodyn.report.posed_geometry import marker_sides
from homodyn.report.svg import Plot, nice_range


def marker_errors(motion: Motion) -> list[PageFigure]:
    """Errors of each marker and of each frame, and iterations (Felis 2015, fig. 6.1)."""
    if not motion.residual.size:
        return []
    error = 1000 * motion.residual
    figures = [
        PageFigure(
            "marker-errors",
            (_bars(motion, error),),
            "Distance between each marker and its position on the model: mean over the frames "
            "(bars), one standard deviation (whiskers) and the mean of all markers (solid line). "
            f"Dashed: {1000 * GOOD_MARKER_RMS_M:.0f} mm, typical of good data, and "
            f"{1000 * MAX_MARKER_RMS_M:.0f} mm, the recommended maximum (Hicks et al. 2015).",
            columns=1,
        )
    ]
    return [*figures, _frame_errors(motion, error)]


def _frame_errors(motion: Motion, error: np.ndarray) -> PageFigure:
    """Errors (frames, markers), mm, and iterations of each frame."""
    time = motion.time
    span = (float(time[0]), float(time[-1]))
    with np.errstate(invalid="ignore"):
        seen = np.isfinite(error).any(axis=1)
        rms = np.full(len(error), np.nan)
        rms[seen] = np.sqrt(np.nanmean(error[seen] ** 2, axis=1))
        worst = np.full(len(error), np.nan)
        worst[seen] = np.nanmax(error[seen], axis=1)
    frames = Plot(
        "Error of each frame",
        span,
        nice_range(rms, worst, zero=True, min_span=5.0),
        "time (s)",
        "mm",
        width=480,
        height=210,
        alt="Root mean square and largest marker error of each frame",
    )
    frames.horizontal_line(1000 * GOOD_MARKER_RMS_M, "dash gray").horizontal_line(
        1000 * MAX_MARKER_RMS_M, "dash gray"
    )
    frames.line(time, worst, "thin gray").line(time, rms, "ink")
    panels = [frames.svg()]
    caption = "Marker error of each frame: root mean square (thick) and worst marker (thin, gray)"
    if motion.iterations.size:
        count = motion.iterations.astype(float)
        steps = Plot(
            "Iterations of each frame",
            span,
            nice_range(count, zero=True, min_span=5.0),
            "time (s)",
            "",
            width=480,
            height=210,
            alt="Iterations of the fit in each frame",
        )
        steps.line(time, count, "thin ink")
        stalled = np.array([str(status) != "converged" for status in motion.status], dtype=bool)
        if stalled.any():
            steps.dots(time[stalled], count[stalled], "bad", 2.6)
        panels.append(steps.svg())
        caption += "; iterations of the fit"
        caption += "; red dots mark frames without convergence" if stalled.any() else ""
    return PageFigure("fit", tuple(panels), caption + ".", columns=2, legend=False)


def root_residuals(loads: Loads) -> list[PageFigure]:
    """Residual force and moment at the root, with the thresholds of Hicks et al. (2015).

    The axes are scaled to the frames in which the plates measured all contact; the other frames are
    shaded.
    """
    motion = loads.motion
    time = motion.time
    found = residuals(loads)
    limits = (found.force_limit, found.moment_limit)
    panels = []
    quantities = (
        ("Residual force at the root", "N", loads.residual_force),
        ("Residual moment about the center of mass", "N m", loads.residual_moment),
    )
    measured = loads.valid
    for (title, unit, values), limit in zip(quantities, limits, strict=True):
        size = np.linalg.norm(values, axis=1)
        shown = size[measured] if measured.any() else size
        plot = Plot(
            title,
            (float(time[0]), float(time[-1])),
            nice_range(shown, np.array([limit * 1.15]), zero=True),
            "time (s)",
            unit,
            width=480,
            height=210,
            alt=f"{title} over time, with its threshold",
        )
        for first, last in _stretches(~measured):
            plot.span(float(time[first]), float(time[last]), "unmeasured")
        plot.horizontal_line(limit, "dash gray", f"threshold {limit:.0f} {unit}")
        plot.line(time, np.where(measured | ~measured.any(), size, np.nan), "ink")
        panels.append(plot.svg())
    shaded = (
        ""
        if measured.all()
        else " Shaded: frames in which the plates did not measure all contact, and the "
        "ends of the filtered recording."
    )
    caption = (
        "The part of the motion that the ground forces do not explain: magnitude of the residual "
        f"force and moment. Thresholds of the peaks: {100 * MAX_RESIDUAL_FORCE_SHARE:.0f} % of the "
        f"peak net ground force, and {100 * MAX_RESIDUAL_MOMENT_SHARE:.0f} % of it times the "
        f"height of the center of mass (Hicks et al. 2015).{shaded}"
    )
    return [PageFigure("residuals", tuple(panels), caption, columns=2, legend=False)]


def visibility(trial: Trial) -> list[PageFigure]:
    """Times at which each marker was missing, and at which its position was filled in."""
    missing = ~trial.seen
    filled = trial.filled
    rows = [
        place
        for place in range(len(trial.markers))
        if missing[:, place].any() or filled[:, place].any()
    ]
    if not rows:
        return []
    count = len(rows)
    start, end = float(trial.time[0]), float(trial.time[-1])
    longest = max(len(trial.markers[place]) for place in rows)
    plot = Plot(
        "Markers with gaps",
        (start, end),
        (0.0, float(count)),
        "time (s)",
        width=980,
        height=60 + 15.0 * count,
        left=min(30 + 6.2 * longest, 260),
        y_ticks=[(count - k - 0.72, trial.markers[place]) for k, place in enumerate(rows)],
        alt="Times at which each marker was missing or filled in",
    )
    half = 0.5 / trial.rate
    for k, place in enumerate(rows):
        for frames, style in (
            (missing[:, place], "bad"),
            (filled[:, place] & ~missing[:, place], "fill"),
        ):
            for first, last in _stretches(frames):
                x0 = max(trial.time[first] - half, start)
                x1 = min(trial.time[last] + half, end)
                low = count - k - 0.85
                plot.polygon(
                    np.array([x0, x1, x1, x0]),
                    np.array([low, low, low + 0.7, low + 0.7]),
                    f"block {style}",
                )
    caption = "Red: missing and not used in the fit. Amber: missing, position filled in."
    return [PageFigure("visibility", (plot.svg(),), caption, columns=1, legend=False)]


def _bars(motion: Motion, error: np.ndarray) -> str:
    seen = np.isfinite(error).any(axis=0)
    shown = np.flatnonzero(seen).tolist()
    means = np.array([np.nanmean(error[:, place]) for place in shown])
    spreads = np.array([np.nanstd(error[:, place]) for place in shown])
    order = np.argsort(-means, kind="stable")
    longest = max((len(motion.markers[place]) for place in shown), default=4)
    plot = Plot(
        "Error of each marker, the largest first",
        (-0.7, len(shown) - 0.3),
        nice_range(means + spreads, np.array([1000 * GOOD_MARKER_RMS_M]), zero=True),
        "",
        "mm",
        width=980,
        height=190 + 6.0 * min(longest, 22),
        bottom=16 + 5.6 * min(longest, 22),
        x_ticks=[],
        alt="Mean marker errors, the largest first",
    )
    plot.horizontal_line(1000 * GOOD_MARKER_RMS_M, "dash gray").horizontal_line(
        1000 * MAX_MARKER_RMS_M, "dash gray"
    )
    sides = marker_sides(motion.model, motion.markers)
    for k, place in enumerate(order):
        name = motion.markers[shown[place]]
        mean, spread = means[place], spreads[place]
        plot.bar(k, mean, 0.72, sides[name], f"{name}: {mean:.1f} mm, sd {spread:.1f} mm")
        plot.whisker(k, max(mean - spread, 0.0), mean + spread)
        x, y = plot.at(float(k), plot.y[0])
        size = "" if len(shown) <= 48 else ' style="font-size:8px"'
        plot.parts.append(
            f'<text class="tick end" transform="translate({x + 3:.1f} {y + 8:.1f}) rotate(-60)"'
            f"{size}>{_short(name)}</text>"
        )
    plot.horizontal_line(float(means.mean()) if len(means) else 0.0, "ink")
    return plot.svg()


def _short(name: str) -> str:
    return escape(name if len(name) <= 22 else name[:21] + "…")


def _stretches(mask: np.ndarray) -> list[tuple[int, int]]:
    """First and last index of each run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.astype(int), [0]])))
    return [(int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True)]
