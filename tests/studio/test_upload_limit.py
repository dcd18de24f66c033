"""Uploads beyond the limit never get into memory."""

from types import SimpleNamespace
from uuid import uuid4

import pytest
from viser import _messages

from homodyn.errors import HomodynError
from homodyn.studio import upload_limit
from homodyn.studio.panels.open import OpenPanel
from homodyn.studio.upload_limit import limit_uploads


def transfer(studio, stated, parts):
    """Send an upload as a page does."""
    interface = studio.server.gui._websock_interface
    button = studio.layout.panel(OpenPanel).upload._impl.uuid
    number = uuid4().hex
    messages = [
        _messages.FileTransferStartUpload(button, number, "walk.c3d", "", len(parts), stated),
        *(_messages.FileTransferPart(button, number, k, part) for k, part in enumerate(parts)),
    ]
    for message in messages:
        for handle in interface._incoming_handlers[type(message)]:
            handle(0, message)
    return studio.server.gui._current_file_upload_states.get(number)


def test_the_size_is_limited(studio, monkeypatch):
    refused = []
    monkeypatch.setattr(studio, "notify", lambda title, sentence, **_: refused.append(sentence))
    assert transfer(studio, 100, [b"x" * 50, b"x" * 49]) is None
    assert not refused
    assert transfer(studio, 600 * 2**20, [b"x"]) is None
    assert "600 MB or more; the limit of uploads is 512 MB" in refused[-1]
    assert transfer(studio, -1, [b"x"]) is None
    assert len(refused) == 2


def test_more_bytes_than_stated_end_the_upload(studio, monkeypatch):
    refused = []
    monkeypatch.setattr(studio, "notify", lambda title, sentence, **_: refused.append(sentence))
    assert transfer(studio, 10, [b"x" * 6, b"x" * 6, b"x" * 10**6, b"x"]) is None
    assert len(refused) == 1


def test_another_viser_is_refused():
    other = SimpleNamespace(gui=SimpleNamespace())
    with pytest.raises(HomodynError, match="uploads cannot be limited"):
        limit_uploads(other, lambda name, size: None)
    assert upload_limit.MAX_UPLOAD_BYTES == 512 * 2**20
