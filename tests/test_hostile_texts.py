"""Files that once ended in a traceback are refused in a sentence with file and place."""

import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from homodyn import load, network, search
from homodyn.capture.formats.column_map import read_column_map
from homodyn.cli import app
from homodyn.errors import MAX_MESSAGE_BYTES, HomodynError
from homodyn.motion import load_scene
from homodyn.search import read_job
from homodyn.search.expression import Expression
from homodyn.search.studies.study import Study
from homodyn.search.studies.summary import summarize
from homodyn.studio.marker_map import read_map

DEEP = "a = " + "[" * 5000 + "]" * 5000 + "\n"
DEEP_TABLES = "a = " + "{b=" * 3000 + "1" + "}" * 3000 + "\n"
LONG_INTEGER = f"a = {'9' * 5000}\n"
JOB_XML = '<job><dispatcher name="x">{}</dispatcher></job>'


READERS = {
    "model.toml": load,
    "job.toml": read_job,
    "scene.toml": load_scene,
    "columns.toml": read_column_map,
}


@pytest.mark.parametrize(
    "text", [DEEP, DEEP_TABLES, LONG_INTEGER], ids=["deep", "tables", "digits"]
)
@pytest.mark.parametrize("name", READERS)
def test_toml_files(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(HomodynError) as raised:
        READERS[name](path)
    assert str(path) in str(raised.value)
    assert len(str(raised.value).encode()) <= MAX_MESSAGE_BYTES


@pytest.mark.parametrize(
    "content",
    [
        b'<job><dispatcher name="x"><setting name="command">run "it</setting></dispatcher></job>',
        b'<?xml version="1.0" encoding="no-such"?><job/>',
        b'<?xml version="1.0" encoding="utf-7"?><job/>',
        b'<?xml version="1.0" encoding="shift_jis"?><job/>',
        b"<job>" * 5000,
    ],
)
def test_jobs_in_xml(tmp_path, content):
    path = tmp_path / "job.xml"
    path.write_bytes(content)
    with pytest.raises(HomodynError, match=r"job\.xml"):
        read_job(path)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 5000 + "1",
        "1" + "+1" * 5000,
        "1" * 10**6,
        "1?1:" * 3000,
    ],
)
def test_expressions(text):
    with pytest.raises(HomodynError) as raised:
        Expression(text)
    assert len(str(raised.value)) <= MAX_MESSAGE_BYTES
    assert Expression("1" + "+1" * 300)({}) == 301


@pytest.mark.parametrize(
    "text",
    [
        'node "a" { x = "' + "(" * 3000 + "1" + ")" * 3000 + '" }',
        'within "x" { y = 1 }',
        'node "{1:999999999999}" { }',
        'node "a" {' * 2000,
    ],
)
def test_networks(text):
    with pytest.raises(HomodynError) as raised:
        network.parse(text, name="hostile.cdn")
    assert len(str(raised.value).encode()) <= MAX_MESSAGE_BYTES
    assert "hostile.cdn" in str(raised.value)


@pytest.mark.parametrize("job", ["{", "[" * 10_000, "3", '{"a": NaN'])
def test_a_damaged_study(tmp_path, job):
    path = tmp_path / "study.db"
    search.minimize(lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=1, database=path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update study set job = ?", [job])
    for arguments in (["status"], ["best"]):
        result = CliRunner().invoke(app, ["search", *arguments, str(path)])
        assert result.exit_code == 1
        assert "Traceback" not in result.output
        assert isinstance(result.exception, SystemExit)
    with pytest.raises(HomodynError, match="study"):
        _ = Study.open(path).job


def test_messages_contain_no_control_characters():
    with pytest.raises(HomodynError) as raised:
        Expression("1 + \x1b[2J\u202e\r")
    sentence = str(raised.value)
    assert "\\x1b" in sentence
    assert not {"\x1b", "\u202e", "\r"} & set(sentence)
    assert str(HomodynError("line\n\tone")) == "line\n\tone"


@pytest.mark.parametrize("seconds", ["'soon'", "null", "x'00'"])
def test_a_study_with_texts_in_place_of_numbers(tmp_path, seconds):
    path = tmp_path / "study.db"
    search.minimize(lambda at: float(at["x"] ** 2), {"x": (-1, 1)}, iterations=1, database=path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"update generation set seconds = {seconds}")
    with pytest.raises(HomodynError, match=r"its seconds is .*, a number is expected"):
        summarize(Study.open(path))


@pytest.mark.parametrize("row", ["KNE,shank,inf,0,0", "KNE,shank,0,nan,0", "KNE,shank,0,0,0,-1"])
def test_marker_maps_without_finite_numbers(tmp_path, row):
    path = tmp_path / "map.csv"
    path.write_text(f"marker,segment,x (m),y (m),z (m),weight\n{row}\n")
    with pytest.raises(HomodynError, match="line 2: position and weight of 'KNE' must be finite"):
        read_map(path)
