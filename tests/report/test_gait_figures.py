"""Figures of gait analysis: curves of both sides, and captions that state how they are averaged."""

from dataclasses import replace

import numpy as np

from homodyn.analysis.curves import CycleSegmentation
from homodyn.report.gait_figures import (
    energy,
    ground_forces,
    joint_angles,
    joint_powers,
    joint_torques,
    pressure_paths,
)


def test_both_sides_are_drawn_in_their_colors(analysis):
    for figures in (
        joint_angles(analysis.motion, analysis.cycles),
        joint_torques(analysis.loads, analysis.cycles),
        joint_powers(analysis.loads, analysis.cycles),
        ground_forces(analysis.loads, analysis.cycles),
    ):
        panel = figures[0].panels[0]
        assert 'class="line right"' in panel
        assert 'class="line left"' in panel
        assert figures[0].legend


def test_captions_state_the_cycles_or_that_there_are_none(analysis):
    (angles, *_) = joint_angles(analysis.motion, analysis.cycles)
    right, left = (analysis.cycles.count(side) for side in ("right", "left"))
    assert f"{right} right and {left} left cycles" in angles.caption
    none = CycleSegmentation(analysis.motion.time, ())
    (angles, *_) = joint_angles(analysis.motion, none)
    assert "no complete gait cycle" in angles.caption
    assert "time (s)" in angles.panels[0]


def test_paths_of_pressure_are_drawn_where_feet_are_loaded(analysis):
    (figure,) = pressure_paths(analysis.loads, analysis.trial.plates)
    assert 'class="plate"' in figure.panels[0]
    assert 'class="line right"' in figure.panels[0]
    feet = tuple(
        replace(foot, point=np.full_like(foot.point, np.nan)) for foot in analysis.loads.feet
    )
    assert pressure_paths(replace(analysis.loads, feet=feet), ()) == []


def test_energy_has_no_side_colors(analysis):
    (figure,) = energy(analysis.motion, analysis.loads, analysis.cycles)
    assert not figure.legend
    assert 'class="line right"' not in "".join(figure.panels)
