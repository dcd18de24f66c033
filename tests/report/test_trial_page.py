"""The page of an analysis is complete, self-contained and accessible."""

import re
from dataclasses import replace

import numpy as np
import pytest

from homodyn.analysis.quality import quality_verdicts
from homodyn.analysis.verdict import overall_light
from homodyn.capture import Signals
from homodyn.report import (
    analysis_page,
    page_text,
)
from support.pages import read


def test_every_tag_is_closed_and_every_id_is_used_once(html):
    reader = read(html)
    assert reader.faults == []
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)


def test_nothing_is_loaded_from_elsewhere(html):
    reader = read(html)
    assert all(reference.startswith("#") for reference in reader.references)
    assert {reference[1:] for reference in reader.references} <= set(reader.ids)
    assert not re.search(r"https?:|[\"'(]//|@import|url\(|fetch\(|XMLHttp|import\(", html)
    assert "default-src 'none'" in html


def test_every_section_is_present_and_every_figure_has_a_caption(html):
    reader = read(html)
    # Methods are compared where loads were computed by two of them.
    for section in set(page_text.SECTIONS) - {"methods"}:
        assert section in reader.ids
    assert "methods" not in reader.ids
    assert reader.nameless == []
    figures = ("angles", "torques", "powers", "ground-forces", "pressure-paths", "elevation")
    for figure in (*figures, "emg", "energy", "marker-errors", "fit", "residuals"):
        assert f"fig-{figure}" in reader.ids
    assert html.count("<figcaption>") == html.count("<figure")


def test_the_page_is_small(html):
    assert len(html.encode()) < 1.5e6


def test_names_from_files_are_escaped(analysis):
    name = "<script>alert(1)</script>"
    evil = replace(
        analysis,
        name=name,
        motion=replace(analysis.motion, markers=(name, *analysis.motion.markers[1:]), method=name),
        notes=(name,),
        emg=replace(analysis.emg, names=(name, *analysis.emg.names[1:])),
        model=analysis.model,
    )
    # The replay looks markers up by name in the model.
    with pytest.raises(ValueError, match="not in"):
        analysis_page(evil)
    evil = replace(evil, motion=replace(analysis.motion, method=name))
    assert "<script>alert" not in analysis_page(evil)


def test_sections_without_data_state_the_reason(analysis):
    bare = replace(
        analysis,
        loads=None,
        work=None,
        gait=None,
        elevation=None,
        emg=None,
        scaling=None,
        events=(),
        missing={"kinetics": "There are no torques: the plates were off."},
    )
    text = analysis_page(bare)
    assert "the plates were off" in text
    for part in ("gait", "forces", "elevation", "emg", "energy", "residuals", "scaled"):
        assert page_text.MISSING[part].split(":")[0] in text
    assert "over time" in text
    assert read(text).faults == []


def test_the_light_is_the_worst_of_the_verdicts(analysis):
    found = quality_verdicts(analysis)
    assert overall_light(found) in ("good", "fair")
    bad = replace(
        analysis, motion=replace(analysis.motion, residual=analysis.motion.residual + 0.1)
    )
    verdicts = quality_verdicts(bad)
    assert overall_light(verdicts) == "poor"
    assert verdicts[0].light == "poor"
    assert "mm" in verdicts[0].sentence


def test_a_wrong_mass_is_detected(analysis):
    feet = tuple(replace(foot, force=1.3 * foot.force) for foot in analysis.loads.feet)
    heavy = replace(analysis, loads=replace(analysis.loads, feet=feet))
    (weight,) = [v for v in quality_verdicts(heavy) if v.subject == "body weight"]
    assert weight.light == "poor"
    assert "--mass" in weight.sentence


def test_a_recording_without_emg_units_is_drawn(analysis):
    plain = Signals(("a",), 100.0, np.abs(np.sin(np.arange(261)))[:, None])
    text = analysis_page(replace(analysis, emg=plain, emg_sides=(None,)))
    assert "fig-emg" in text


def test_elevation_angles_of_a_part_of_the_recording_are_drawn(analysis):
    angles = analysis.elevation
    part = slice(20, -20)
    shorter = replace(
        angles, time=angles.time[part], left=angles.left[part], right=angles.right[part]
    )
    assert "fig-elevation" in analysis_page(replace(analysis, elevation=shorter))
