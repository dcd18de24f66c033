"""Unsaved work is on disk before it is lost, and is found by the next studio."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from homodyn.capture import Trial
from homodyn.studio import Session, StudioDocument
from homodyn.studio.autosave import Autosave, find_recoverable_work
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.session_store import SessionWriter, read_session
from homodyn.studio.studio import Studio
from support.waiting import until


@pytest.fixture
def session():
    body = from_catalog("bip")
    made = Session()
    made.change("add", lambda document: document.with_actor(body), in_file=True)
    return made


def posed(session, value):
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + value)))


def test_only_unsaved_work_is_written_and_saving_removes_it(session, tmp_path):
    autosave = Autosave(session, tmp_path)
    autosave.write()
    assert not autosave.folder.exists()
    posed(session, 0.1)
    autosave.write()
    assert autosave.folder.exists()
    session.mark_saved()
    autosave.write()
    assert not autosave.folder.exists()


def test_work_is_written_when_changes_pause_and_is_nobody_s_while_it_runs(session, tmp_path):
    autosave = Autosave(session, tmp_path, pause=0.05)
    autosave.start()
    try:
        posed(session, 0.2)
        until(lambda: (autosave.folder / "session.json").is_file(), "an autosave")
        assert find_recoverable_work(tmp_path) == []
    finally:
        kept = autosave.stop()
    assert kept == autosave.folder
    (left,) = find_recoverable_work(tmp_path)
    np.testing.assert_array_equal(left.read().actor.q, session.document.actor.q)
    left.forget()
    assert list(tmp_path.iterdir()) == []


def test_a_clean_end_without_unsaved_work_leaves_nothing(session, tmp_path):
    autosave = Autosave(session, tmp_path, pause=0.05)
    autosave.start()
    assert autosave.stop() is None
    assert list(tmp_path.iterdir()) == []


CRASHING = """
import os, signal, sys, time
from pathlib import Path
from homodyn.studio import Session
from homodyn.studio.autosave import Autosave
from homodyn.studio.file_opening import from_catalog
body = from_catalog("bip")
session = Session()
session.change("add", lambda d: d.with_actor(body), in_file=True)
autosave = Autosave(session, Path(sys.argv[1]), pause=0.05)
autosave.start()
session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.25)))
print("posed", flush=True)
time.sleep(60)
"""


def test_work_is_found_after_its_process_was_killed(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", CRASHING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "posed\n"
    until(lambda: list(tmp_path.glob("*/session.json")), "an autosave")
    assert find_recoverable_work(tmp_path) == []
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    (left,) = find_recoverable_work(tmp_path)
    np.testing.assert_allclose(left.read().actor.q, from_catalog("bip").q + 0.25)


def test_a_document_that_cannot_be_written_whole_is_written_as_far_as_it_goes(tmp_path):
    document = StudioDocument().with_actor(from_catalog("bip"))
    empty = Trial("empty", (), np.zeros((0, 0, 3)), 100.0)
    lost = SessionWriter(tmp_path / "kept").write(document.with_trial(empty))
    assert len(lost) == 1
    assert "without frames" in lost[0]
    back = read_session(tmp_path / "kept")
    assert back.names == document.names
    assert back.trials == ()


def test_a_home_that_cannot_be_written_does_not_keep_the_studio_from_starting(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    studio = Studio(Session(), port=0, home=tmp_path / "file")
    studio.start()
    studio.wait_until_drawn()
    studio.stop()
    assert "Unsaved work is not kept" in capsys.readouterr().err
