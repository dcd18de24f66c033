"""Sessions are restored completely, and only new parts are written."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.studio import StudioDocument
from homodyn.studio.file_opening import (
    add_to_document,
    from_catalog,
    open_upload_content,
)
from homodyn.studio.session_store import SESSION_FILE, SessionWriter, read_session, session_archive


def test_a_whole_session_opens_again_as_it_was(walk_document, tmp_path):
    pose = walk_document.actor.model.random(2)
    document = walk_document.with_active(walk_document.actor.with_pose(pose))
    document = document.with_active(replace(document.actor, weights={"RASI": 0.5}))
    document = document.with_actor(from_catalog("bip"), active=False)
    saved = session_archive(document)
    back = open_upload_content(saved.name, saved.content, tmp_path)
    assert isinstance(back, StudioDocument)
    assert back.names == document.names
    assert back.active == document.active
    assert [actor.color for actor in back.actors] == [actor.color for actor in document.actors]
    assert back.actor.posed
    assert back.actor.weights == {"RASI": 0.5}
    assert back.actors[1].recipe == document.actors[1].recipe
    np.testing.assert_array_equal(back.actor.q, pose)
    np.testing.assert_allclose(back.actor.motion.q, document.actor.motion.q, atol=1e-8)
    trial, before = back.trial, document.trial
    assert (trial.name, trial.markers, trial.rate) == (before.name, before.markers, before.rate)
    np.testing.assert_allclose(trial.positions, before.positions, atol=1e-6)
    assert len(trial.plates) == len(before.plates)
    assert add_to_document(StudioDocument(), back).names == document.names
    assert add_to_document(document, back).names[-1] == f"{document.names[-1]} 2"


def test_only_new_parts_are_written_again(walk_document, tmp_path):
    keeper = SessionWriter(tmp_path / "kept")
    keeper.write(walk_document)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    posed = walk_document.with_active(walk_document.actor.with_pose(walk_document.actor.q + 0.1))
    keeper.write(posed)
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    assert set(after) == set(before)
    changed = [path.name for path in after if after[path] != before[path]]
    assert changed == [SESSION_FILE]
    keeper.write(StudioDocument())
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [SESSION_FILE]


def test_a_list_that_names_other_files_is_refused(walk_document, tmp_path):
    SessionWriter(tmp_path / "kept").write(walk_document)
    path = tmp_path / "kept" / SESSION_FILE
    path.write_text(path.read_text().replace('"body-1"', '"../../elsewhere"'))
    with pytest.raises(FormatError, match="not a file of the session"):
        read_session(tmp_path / "kept")
    path.write_text("{}")
    with pytest.raises(FormatError, match="not a valid session"):
        read_session(tmp_path / "kept")
