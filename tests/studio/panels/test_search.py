"""A study on the page."""

import pytest

from homodyn.errors import HomodynError
from homodyn.studio.file_opening import open_path
from homodyn.studio.panels.search import SearchPanel
from homodyn.studio.study_progress import StudyDatabase
from support.studio_bodies import run_bowl_study
from support.waiting import until


def test_a_study_on_the_page_shows_its_progress(studio, study):
    place, _ = study
    studio.open(open_path(place), "bowl.db")
    studio.wait_until_drawn()
    panel = studio.layout.panel(SearchPanel)
    assert "generation 12 of 12" in panel.state.content
    assert panel.bar.value == 100.0
    assert panel.plot is not None
    with pytest.raises(HomodynError, match="there is no study"):
        studio.open(StudyDatabase(place.with_name("none.db")), "none.db")


def test_a_study_is_read_again_when_it_grows(studio, study, monkeypatch):
    monkeypatch.setattr("homodyn.studio.panels.search.POLL_INTERVAL_S", 0.05)
    place, _ = study
    studio.open(open_path(place), "bowl.db")
    panel = studio.layout.panel(SearchPanel)
    run_bowl_study(place, 15)
    until(lambda: "generation 15 of 15" in panel.state.content, "another look")
