"""Muscles of a body as lines in the scene, colored by activation."""

import numpy as np

from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.muscle_lines import (
    ACTIVE_COLOR,
    REST_COLOR,
    muscle_segments,
    segment_colors,
)
from homodyn.studio.studio import Studio
from support import muscled_leg


def test_segments_follow_the_body_and_colors_the_activation():
    leg = muscled_leg.build()
    q = muscled_leg.swing(leg, 5).q
    segments = muscle_segments(leg, q)
    assert segments.shape == (5, 6, 2, 3)
    colors = segment_colors(leg, np.array([0.0, 1.0, np.nan, 0.5, 0.25, 0.6]))
    assert tuple(colors[0]) == tuple(colors[2]) == REST_COLOR
    assert tuple(colors[1]) == tuple(colors[3]) == tuple(colors[5]) == ACTIVE_COLOR
    assert tuple(segment_colors(leg, np.zeros(0))[1]) == REST_COLOR


def test_the_scene_draws_them_until_they_are_turned_off():
    from dataclasses import replace

    leg = muscled_leg.build()
    motion = muscled_leg.swing(leg, 20)
    motion = replace(motion, activations=np.tile(np.linspace(0, 1, 20)[:, None], (1, 6)))
    document = StudioDocument().with_actor(Actor("leg", leg, motion.q[0], motion))
    page = Studio(Session(document), port=0)
    page.start()
    try:
        page.wait_until_drawn()
        lines = page.stage.bodies["leg"].muscles.handle
        assert lines.visible
        assert np.asarray(lines.points).shape == (6, 2, 3)
        page.set_view_options(muscles=False)
        page.wait_until_drawn()
        assert not lines.visible
    finally:
        page.stop()
