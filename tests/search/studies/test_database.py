"""Databases of studies."""

import os

import pytest

from homodyn import search
from homodyn.errors import SearchError
from homodyn.search.studies import database
from homodyn.search.studies.database import database_url, display_name, is_read_only
from homodyn.search.studies.result import best_solutions
from homodyn.search.studies.study import Study


def test_urls_of_databases():
    assert database_url(None) == "sqlite://"
    assert database_url("a.db") == "sqlite:///a.db"
    assert database_url("postgresql://me@host/db") == "postgresql+psycopg://me@host/db"
    assert display_name("a.db") == "a.db"
    assert display_name("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"


def bowl(at):
    return (at["x"] - 0.3) ** 2


def read_back(path):
    study = Study.open(path)
    try:
        return study.job["name"], best_solutions(study)[0].parameters
    finally:
        study.close()


def test_a_study_on_read_only_media_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a study.db"
    search.minimize(bowl, {"x": (-1, 1)}, iterations=2, database=path)
    expected = read_back(path)
    content = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    access = os.access
    monkeypatch.setattr(os, "access", lambda p, mode: mode != os.W_OK and access(p, mode))
    assert is_read_only(str(path))
    assert read_back(path) == expected
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == content
    with pytest.raises(SearchError, match="is read-only; copy it"):
        search.minimize(bowl, {"x": (-1, 1)}, iterations=3, database=path)


def test_commits_are_on_the_disk(tmp_path):
    engine = database.open_database(tmp_path / "a.db", None)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("pragma synchronous").scalar() == 2
        assert connection.exec_driver_sql("pragma journal_mode").scalar() == "wal"
    assert not is_read_only(str(tmp_path / "missing.db"))
