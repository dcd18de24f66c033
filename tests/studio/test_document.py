"""Documents are immutable: bodies and recordings are added, replaced and removed."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import CaptureError, ModelError
from homodyn.motion import (
    Event,
)
from homodyn.studio import StudioDocument
from homodyn.studio.document import COLORS, nearest_frame
from support.studio_bodies import moving_body, two_markers


def test_bodies_get_names_and_colors_of_their_own():
    document = (
        StudioDocument()
        .with_actor(moving_body())
        .with_actor(moving_body())
        .with_actor(moving_body())
    )
    assert document.names == ("walker", "walker 2", "walker 3")
    assert [actor.color for actor in document.actors] == list(COLORS[:3])
    assert document.actor is document.actors[2]


def test_closing_a_body_keeps_the_active_one_if_possible():
    document = StudioDocument().with_actor(moving_body(name="a")).with_actor(moving_body(name="b"))
    assert document.without("a").actor.name == "b"
    assert document.without("b").actor.name == "a"
    assert document.without("a").without("b").actor is None
    with pytest.raises(ModelError, match="'c'"):
        document.without("c")


def test_the_longest_motion_sets_the_time_and_the_active_body_the_events():
    document = StudioDocument().with_actor(moving_body(11)).with_trial(two_markers(21))
    assert len(document.time) == 21
    assert document.events[0].label == "Go"
    step = Event(0.1, "Foot Strike", "Left")
    own = document.with_active(replace(document.actor, events=(step,)))
    assert own.events == (step,)


def test_a_posed_body_is_still_until_its_motion_is_resumed():
    actor = moving_body()
    pose = actor.model.random(1)
    posed = actor.with_pose(pose)
    assert not posed.moving
    np.testing.assert_array_equal(posed.position(0.7), pose)
    assert posed.resume_motion().position(0.5)[0] == pytest.approx(0.5)


def test_nearest_agrees_with_a_search_over_all():
    rng = np.random.default_rng(0)
    time = np.sort(rng.uniform(0, 1, 40))
    for instant in rng.uniform(-0.2, 1.2, 200):
        assert nearest_frame(time, instant) == np.argmin(np.abs(time - instant))


def test_another_recording_can_be_activated(walk_document):
    document = walk_document.with_trial(replace(walk_document.trial, name="later"))
    assert document.trial.name == "later"
    first = walk_document.trial.name
    assert document.activate_trial(first).trial.name == first
    with pytest.raises(CaptureError, match="nothing"):
        document.activate_trial("nothing")
