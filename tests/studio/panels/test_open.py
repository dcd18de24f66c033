"""The first panel names the next step."""

from homodyn.studio import Session
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.panels.open import guide_sentence
from support.studio_bodies import moving_body, two_markers


def test_the_page_shows_the_next_step():
    session = Session()
    assert "Start here" in guide_sentence(session.view())
    session.change("open", lambda d: d.with_trial(two_markers()))
    assert "add a model" in guide_sentence(session.view())
    session.change("add", lambda d: d.with_actor(from_catalog("bip")))
    assert "no marker name in common" in guide_sentence(session.view())
    session.undo()
    session.change("add", lambda d: d.with_actor(moving_body()))
    assert "Press" in guide_sentence(session.view())
