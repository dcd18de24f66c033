"""Unsaved parts of a document."""

from dataclasses import replace

from homodyn.studio import Session
from homodyn.studio.export import (
    model_toml,
)
from homodyn.studio.file_opening import (
    add_to_document,
)


def test_opened_parts_are_saved_and_new_parts_are_not(walk_document):
    session = Session()
    session.change("open", lambda d: add_to_document(d, walk_document.actor), in_file=True)
    assert not session.view().unsaved
    session.change("hide", lambda d: d.with_active(replace(d.actor, shown=False)))
    assert not session.view().unsaved
    session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    assert [piece.sentence for piece in session.view().pending] == ["pose of walk"]
    session.undo()
    assert not session.view().unsaved
    session.redo()
    model = replace(walk_document.actor.model, name="another")
    session.change("edit", lambda d: d.with_active(replace(d.actor, model=model)))
    assert [piece.kind for piece in session.view().pending] == ["model", "pose"]
    session.mark_saved(model_toml(session.document.actor).document_parts)
    assert [piece.kind for piece in session.view().pending] == ["pose"]
    session.mark_saved()
    assert not session.view().unsaved
