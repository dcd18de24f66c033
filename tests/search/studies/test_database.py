"""Databases of studies."""

from homodyn.search.studies.database import database_url, display_name


def test_urls_of_databases():
    assert database_url(None) == "sqlite://"
    assert database_url("a.db") == "sqlite:///a.db"
    assert database_url("postgresql://me@host/db") == "postgresql+psycopg://me@host/db"
    assert display_name("a.db") == "a.db"
    assert display_name("postgresql://me:secret@host/db") == "postgresql://me:***@host/db"
