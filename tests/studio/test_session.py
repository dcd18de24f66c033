"""What is open, going back and forth through its changes, and the clock over it."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from homodyn import catalog
from homodyn.capture import Trial
from homodyn.errors import ModelError
from homodyn.motion import (
    Event,
    Motion,
)
from homodyn.studio import Actor, Session, StudioDocument
from homodyn.studio.document import COLORS, nearest_frame
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.history import MAX_UNDO_STEPS, History
from homodyn.studio.panels.open import guide_sentence
from homodyn.studio.panels.time import press_button
from homodyn.studio.playback_clock import PlaybackClock


def moving(frames=11, rate=10.0, name="walker") -> Actor:
    model = catalog.heiman()
    q = np.tile(model.neutral(), (frames, 1))
    q[:, 0] = np.linspace(0.0, 1.0, frames)
    still = np.zeros((frames, model.nv))
    motion = Motion(model, np.arange(frames) / rate, q, still, still)
    return Actor(name, model, q[0], motion)


def recording(frames=21, rate=10.0) -> Trial:
    return Trial("walk", ("A", "B"), np.zeros((frames, 2, 3)), rate, events=(Event(0.5, "Go"),))


def test_bodies_get_names_and_colours_of_their_own():
    document = StudioDocument().with_actor(moving()).with_actor(moving()).with_actor(moving())
    assert document.names == ("walker", "walker 2", "walker 3")
    assert [actor.color for actor in document.actors] == list(COLORS[:3])
    assert document.actor is document.actors[2]


def test_closing_a_body_keeps_the_active_one_where_it_can():
    document = StudioDocument().with_actor(moving(name="a")).with_actor(moving(name="b"))
    assert document.without("a").actor.name == "b"
    assert document.without("b").actor.name == "a"
    assert document.without("a").without("b").actor is None
    with pytest.raises(ModelError, match="'c'"):
        document.without("c")


def test_the_longest_motion_sets_the_time_and_the_active_body_the_events():
    document = StudioDocument().with_actor(moving(11)).with_trial(recording(21))
    assert len(document.time) == 21
    assert document.events[0].label == "Go"
    step = Event(0.1, "Foot Strike", "Left")
    own = document.with_active(replace(document.actor, events=(step,)))
    assert own.events == (step,)


def test_a_posed_body_stands_still_until_it_is_released():
    actor = moving()
    pose = actor.model.random(1)
    posed = actor.with_pose(pose)
    assert not posed.moving
    np.testing.assert_array_equal(posed.position(0.7), pose)
    assert posed.resume_motion().position(0.5)[0] == pytest.approx(0.5)


def test_undo_and_redo_walk_through_the_changes():
    session = Session()
    for name in ("a", "b"):
        session.change(f"add {name}", lambda d, name=name: d.with_actor(moving(name=name)))
    view = session.view()
    assert (view.undo_label, view.redo_label, view.unsaved) == ("add b", "", True)
    session.undo()
    assert session.document.names == ("a",)
    assert session.view().redo_label == "add b"
    session.redo()
    assert session.document.names == ("a", "b")
    for _ in range(5):
        session.undo()
    assert session.document.names == ()
    assert not session.view().unsaved
    session.change("add c", lambda d: d.with_actor(moving(name="c")))
    assert session.view().redo_label == ""


def test_one_drag_is_one_step_back():
    session = Session(StudioDocument().with_actor(moving()))
    for value in range(5):
        session.change(
            "drag", lambda d, v=value: d.with_active(d.actor.with_pose(d.actor.q + v)), merge=True
        )
    session.undo()
    assert not session.document.actor.posed


def test_history_forgets_the_oldest():
    history = History(0)
    for number in range(1, MAX_UNDO_STEPS + 50):
        history = history.push(str(number), number)
    assert len(history.past) == MAX_UNDO_STEPS
    assert history.past[0] == ("50", 49)


def test_saved_work_is_not_asked_about():
    session = Session()
    session.change("add", lambda d: d.with_actor(moving()))
    assert session.view().unsaved
    session.mark_saved()
    assert not session.view().unsaved
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    assert session.view().unsaved
    session.undo()
    assert not session.view().unsaved


def test_changes_from_many_threads_are_all_kept():
    session = Session()
    trial = recording()

    def add():
        for _ in range(20):
            session.change("add", lambda d: d.with_trial(trial))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({trial.name for trial in session.document.trials}) == 80


@pytest.mark.parametrize("loop", [True, False])
def test_the_clock_goes_round_or_stops(loop):
    clock = replace(PlaybackClock(np.arange(11) / 10), loop=loop, speed=2.0).play()
    assert clock.advance(0.25).frame == 5
    over = clock.advance(0.6)
    assert over.playing == loop
    assert over.frame == (2 if loop else 10)
    assert over.play().playing


def test_buttons_of_the_time_line_change_speed_loop_and_frame():
    clock = PlaybackClock(np.arange(11) / 10).at_frame(4)
    assert press_button(clock, "faster").speed == 2.0
    assert press_button(press_button(clock, "slower"), "slower").speed == 0.25
    for _ in range(10):
        clock = press_button(clock, "faster")
    assert clock.speed == 4.0
    assert press_button(clock, "loop").loop is not clock.loop
    assert press_button(clock, "|◀").frame == 0
    assert (press_button(clock, "◀").frame, press_button(clock, "▶|").frame) == (3, 5)
    playing = press_button(clock, "▶ / ❚❚")
    assert playing.playing
    assert not press_button(playing, "▶ / ❚❚").playing


def test_the_clock_steps_and_clips():
    clock = PlaybackClock(np.arange(11) / 10).at_frame(9).play()
    assert clock.step(5).frame == 10
    assert not clock.step(1).playing
    assert clock.step(-20).frame == 0
    assert clock.at(99.0).now == 1.0
    assert PlaybackClock(np.zeros(1)).play().playing is False


def test_nearest_agrees_with_a_search_over_all():
    rng = np.random.default_rng(0)
    time = np.sort(rng.uniform(0, 1, 40))
    for instant in rng.uniform(-0.2, 1.2, 200):
        assert nearest_frame(time, instant) == np.argmin(np.abs(time - instant))


def test_opening_a_trial_takes_the_clock_to_its_first_frame():
    session = Session()
    session.change("open", lambda d: d.with_trial(replace(recording(), start=3.0)))
    assert session.clock.now == 3.0
    assert session.clock.frames == 21


def test_the_page_says_what_to_do_next():
    session = Session()
    assert "Begin here" in guide_sentence(session.view())
    session.change("open", lambda d: d.with_trial(recording()))
    assert "add a body" in guide_sentence(session.view())
    session.change("add", lambda d: d.with_actor(from_catalog("bip")))
    assert "no marker name in common" in guide_sentence(session.view())
    session.undo()
    session.change("add", lambda d: d.with_actor(moving()))
    assert "Press" in guide_sentence(session.view())
