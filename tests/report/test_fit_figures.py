"""Figures of data quality: root residuals are scaled to measured frames, bars have side colors."""

import re
from dataclasses import replace

import numpy as np

from homodyn.capture.kinetics import residuals
from homodyn.motion import Loads
from homodyn.report.fit_figures import marker_errors, root_residuals, visibility


def partly_measured(loads: Loads) -> Loads:
    """Loads whose residual is huge in the first half, in which a foot is off the plates."""
    half = len(loads.motion.time) // 2
    force, moment = np.array(loads.residual_force), np.array(loads.residual_moment)
    force[:half] += [0.0, 0.0, 800.0]
    moment[:half] += [0.0, 100.0, 0.0]
    covered = np.arange(len(force)) >= half
    return replace(loads, residual_force=force, residual_moment=moment, usable=covered)


def axis_limits(svg: str) -> tuple[float, float]:
    """Smallest and largest tick of the vertical axis."""
    ticks = re.findall(r'<text class="tick end"[^>]*>([^<]*)</text>', svg)
    values = [float(tick.replace("−", "-")) for tick in ticks]
    return min(values), max(values)


def test_residuals_are_scaled_to_the_measured_frames_and_show_their_threshold(analysis):
    loads = partly_measured(analysis.loads)
    (figure,) = root_residuals(loads)
    found = residuals(loads)
    limits = (found.force_limit, found.moment_limit)
    for svg, limit, unit in zip(figure.panels, limits, ("N", "N m"), strict=True):
        _, top = axis_limits(svg)
        assert limit / 2 < top < 4 * limit
        assert f"threshold {limit:.0f} {unit}" in svg
        assert 'class="mark dash gray"' in svg
        assert "span unmeasured" in svg
    assert "Shaded" in figure.caption


def test_residuals_of_a_fully_measured_trial_have_no_shading(analysis):
    covered = np.ones(len(analysis.loads.motion.time), dtype=bool)
    (figure,) = root_residuals(replace(analysis.loads, usable=covered, edge=~covered))
    assert "unmeasured" not in "".join(figure.panels)
    assert "Shaded" not in figure.caption


def test_bars_of_markers_have_the_color_of_their_side(analysis):
    bars = marker_errors(analysis.motion)[0].panels[0]
    found = re.findall(r'<rect class="bar (\w+)"[^>]*><title>(\w+):', bars)
    assert {"right", "left"} <= {side for side, _ in found}
    for side, name in found:
        assert side == {"R": "right", "L": "left"}.get(name[0], "middle"), name


def test_a_trial_without_gaps_has_no_figure_of_visibility(analysis):
    complete = replace(
        analysis.trial,
        positions=np.nan_to_num(analysis.trial.positions),
        filled=np.zeros_like(analysis.trial.filled),
    )
    assert visibility(complete) == []
    with_gap = np.array(complete.positions)
    with_gap[5:9, 1] = np.nan
    (figure,) = visibility(replace(complete, positions=with_gap))
    assert complete.markers[1] in figure.panels[0]
    assert "block bad" in figure.panels[0]


def test_frames_without_convergence_are_marked(analysis):
    motion = analysis.motion
    status = np.array(["converged"] * len(motion.time), dtype=object)
    status[3] = "stalled"
    figures = marker_errors(replace(motion, status=status))
    assert figures[1].panels[1].count('class="dot bad"') == 1
    assert "without convergence" in figures[1].caption
