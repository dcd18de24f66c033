"""Undo, redo and unsaved parts of a session."""

import threading
from dataclasses import replace

from homodyn.studio import Session, StudioDocument
from support.studio_bodies import moving_body, two_markers


def test_undo_and_redo_walk_through_the_changes():
    session = Session()
    for name in ("a", "b"):
        session.change(f"add {name}", lambda d, name=name: d.with_actor(moving_body(name=name)))
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
    session.change("add c", lambda d: d.with_actor(moving_body(name="c")))
    assert session.view().redo_label == ""


def test_one_drag_is_one_step_back():
    session = Session(StudioDocument().with_actor(moving_body()))
    for value in range(5):
        session.change(
            "drag", lambda d, v=value: d.with_active(d.actor.with_pose(d.actor.q + v)), merge=True
        )
    session.undo()
    assert not session.document.actor.posed


def test_saved_work_is_not_pending():
    session = Session()
    session.change("add", lambda d: d.with_actor(moving_body()))
    assert session.view().unsaved
    session.mark_saved()
    assert not session.view().unsaved
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    assert session.view().unsaved
    session.undo()
    assert not session.view().unsaved


def test_changes_from_many_threads_are_all_kept():
    session = Session()
    trial = two_markers()

    def add():
        for _ in range(20):
            session.change("add", lambda d: d.with_trial(trial))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({trial.name for trial in session.document.trials}) == 80


def test_opening_a_trial_sets_the_clock_to_its_first_frame():
    session = Session()
    session.change("open", lambda d: d.with_trial(replace(two_markers(), start=3.0)))
    assert session.clock.now == 3.0
    assert session.clock.frames == 21
