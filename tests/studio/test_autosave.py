"""Unsaved work is written to disk and found by the next studio."""

import errno
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
    opened = Session()
    opened.change("add", lambda document: document.with_actor(body), in_file=True)
    return opened


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


def test_work_is_written_after_a_pause_and_locked_while_it_runs(session, tmp_path):
    autosave = Autosave(session, tmp_path, delay=0.05)
    autosave.start()
    try:
        posed(session, 0.2)
        until(lambda: (autosave.folder / "session.json").is_file(), "an autosave")
        assert find_recoverable_work(tmp_path) == []
    finally:
        kept = autosave.stop()
    assert kept == autosave.folder
    (work,) = find_recoverable_work(tmp_path)
    np.testing.assert_array_equal(work.read().actor.q, session.document.actor.q)
    work.delete()
    assert list(tmp_path.iterdir()) == []


def test_a_clean_end_without_unsaved_work_leaves_nothing(session, tmp_path):
    autosave = Autosave(session, tmp_path, delay=0.05)
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
autosave = Autosave(session, Path(sys.argv[1]), delay=0.05)
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
    (work,) = find_recoverable_work(tmp_path)
    np.testing.assert_allclose(work.read().actor.q, from_catalog("bip").q + 0.25)


def test_the_writable_parts_of_a_document_are_written(tmp_path):
    document = StudioDocument().with_actor(from_catalog("bip"))
    empty = Trial("empty", (), np.zeros((0, 0, 3)), 100.0)
    lost = SessionWriter(tmp_path / "kept").write(document.with_trial(empty))
    assert len(lost) == 1
    assert "the trial has no frames" in lost[0]
    back = read_session(tmp_path / "kept")
    assert back.names == document.names
    assert back.trials == ()


def test_the_studio_starts_without_a_writable_home(tmp_path, capsys):
    (tmp_path / "file").write_text("no folder")
    studio = Studio(Session(), port=0, home=tmp_path / "file")
    studio.start()
    studio.wait_until_drawn()
    studio.stop()
    assert "Unsaved work is not kept" in capsys.readouterr().err


def test_a_folder_that_vanishes_during_the_search_is_skipped(session, tmp_path, monkeypatch):
    posed(session, 0.1)
    for _ in range(2):
        Autosave(session, tmp_path).write()
    first, second = sorted(path for path in tmp_path.iterdir() if path.is_dir())
    original = type(first).iterdir

    def iterdir(path):
        if path == first:
            raise FileNotFoundError(path)
        return original(path)

    monkeypatch.setattr(type(first), "iterdir", iterdir)
    assert [work.folder for work in find_recoverable_work(tmp_path)] == [second]


def test_a_disk_that_is_full_is_reported_once_and_tried_again(tmp_path, monkeypatch, capsys):
    session = Session()
    session.change("add", lambda d: d.with_actor(from_catalog("bip")))
    autosave = Autosave(session, tmp_path, delay=60.0)
    write, full = SessionWriter.write, OSError(errno.ENOSPC, "No space left on device")

    def fail(self, document):
        raise full

    monkeypatch.setattr(SessionWriter, "write", fail)
    autosave.write()
    autosave.write()
    printed = capsys.readouterr().err
    assert printed.count("unsaved work is not kept") == 1
    assert "No space left on device; save your work" in printed
    monkeypatch.setattr(SessionWriter, "write", write)
    autosave.write()
    assert read_session(autosave.folder).names == session.document.names
    assert not capsys.readouterr().err
