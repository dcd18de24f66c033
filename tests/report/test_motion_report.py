"""A report of any motion is one complete page, with or without loads."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.errors import HomodynError
from homodyn.motion import Motion
from homodyn.report import motion_page
from support.pages import read


def assert_complete(html):
    reader = read(html)
    assert reader.faults == []
    assert all(reference.startswith("#") for reference in reader.references)
    assert "default-src 'none'" in html


def test_a_recorded_motion_with_loads_has_angles_and_torques(analysis, tmp_path):
    path = hd.report.write(
        tmp_path / "walk.html", analysis.motion, analysis.loads, events=analysis.events
    )
    html = path.read_text(encoding="utf-8")
    assert_complete(html)
    assert "Knee flexion" in html
    assert 'id="fig-torques"' in html
    assert 'id="fig-ground-forces"' in html


def test_a_motion_without_loads_says_so(analysis):
    html = motion_page(analysis.motion, title="Walk <1>")
    assert_complete(html)
    assert "no torques" in html
    assert "Walk &lt;1&gt;" in html


def test_a_motion_with_uneven_steps_is_resampled(analysis):
    motion = analysis.motion
    kept = np.unique(np.r_[0, np.arange(1, len(motion.time) - 1, 3), len(motion.time) - 1])
    uneven = Motion(motion.model, motion.time[kept], motion.q[kept], motion.v[kept], motion.a[kept])
    assert_complete(motion_page(uneven))


def test_a_single_frame_is_refused(analysis):
    motion = analysis.motion
    one = Motion(motion.model, motion.time[:1], motion.q[:1], motion.v[:1], motion.a[:1])
    with pytest.raises(HomodynError, match="two frames or more"):
        motion_page(one)
