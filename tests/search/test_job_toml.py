import os
from pathlib import Path

import pytest

from homodyn.errors import SearchError
from homodyn.foundation.toml import line_number, line_numbers
from homodyn.search import MMPSO, LinearConstraint, read_job
from homodyn.search.job_toml import job_from_toml

GOOD = """
name = "hopper"
iterations = 200
seed = 1

[optimizer]
kind = "mmpso"
population = 40
explore = "0.05 * sigmoid((80 - k) / 10)"

[[parameter]]
name = "stiffness"
lower = 1e3
upper = 1e5
unit = "N/m"
scale = "log"

[[parameter]]
name = "damping"
lower = 0
upper = 10

[[pool]]
name = "ankle"
groups = { passive = ["stiffness"], both = ["stiffness", "damping"], none = [] }

[[constraint]]
terms = { stiffness = 1e-3, damping = 1 }
upper = 90

[[objective]]
name = "speed"
maximize = true
until = "> 1.2"

[[objective]]
name = "cost"
unit = "J/m"

[evaluate]
python = "hopper.py:evaluate"
time_limit = 10
settings = { world = "$OPTIMIZATION_JOB_PATH/flat", home = "${HOMODYN_TEST_HOME}" }

[run]
where = "pool"
workers = 4
"""


def test_a_job_is_read(tmp_path, monkeypatch):
    monkeypatch.setenv("HOMODYN_TEST_HOME", "/there")
    path = tmp_path / "job.toml"
    path.write_text(GOOD)
    job = read_job(path)
    assert isinstance(job.optimizer, MMPSO)
    assert job.space.names == ("stiffness", "damping")
    assert job.space.subspaces == 3
    assert job.constraints[0] == LinearConstraint({"stiffness": 1e-3, "damping": 1}, 90)
    assert job.goal.stages == 1
    assert job.run.workers == 4
    assert job.evaluate.settings == {"world": f"{tmp_path}/flat", "home": "/there"}


MISTAKES = """
name = "hopper"
iterations = "many"
[optimizer]
kind = "pso"
population = -3

[[parameter]]
name = "x"
lower = 2
upper = 1
[[parameter]]
name = "x"
lower = 0

[[pool]]
name = "p"
groups = { a = ["z"], b = [] }

[[objective]]
name = "f"
[[objective]]
name = "g"
weight = "heavy"

[evaluate]
pyhton = "a.py:f"
settings = { home = "$NO_SUCH_VARIABLE" }
"""


def test_all_mistakes_are_told_at_once_with_their_lines():
    with pytest.raises(SearchError) as caught:
        job_from_toml(MISTAKES, Path("job.toml"))
    told = {int(fault.split(":")[0].removeprefix("line ")): fault for fault in caught.value.faults}
    for line, words in {
        3: "iterations",
        6: "population",
        11: "lower (2) must be below upper (1)",
        12: "upper: is missing",
        13: "two parameters are named 'x'",
        18: "unknown parameter 'z'",
        20: "objective 'f' needs until",
        24: "weight",
        27: "pyhton: is unknown",
        28: "no environment variable NO_SUCH_VARIABLE",
    }.items():
        assert words in told[line], told
    assert len(caught.value.faults) == 10
    assert "job.toml: 10 mistakes" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = = 1", "at line 1"),
        ("", r"parameter: is missing"),
        (GOOD.replace('"mmpso"', '"magic"'), r"line 6: .*'magic'"),
        (
            GOOD.replace('kind = "mmpso"', 'kind = "pso"').replace("explore", "#"),
            "line .*mmpso, ga",
        ),
        (GOOD.replace('"> 1.2"', '"fast"'), "line 34: until"),
        (GOOD.replace("seed = 1", "seed = 1.5"), "line 4: seed"),
    ],
)
def test_mistakes_are_told_where_they_are(text, told, monkeypatch):
    monkeypatch.setenv("HOMODYN_TEST_HOME", "/there")
    with pytest.raises(SearchError, match=told):
        job_from_toml(text, Path("job.toml"))


def test_one_mistake_of_a_parameter_does_not_hide_another():
    text = """name = "a"
[[parameter]]
name = "x"
lower = -2
upper = -3
scale = "logarithmic"
start = [5, 4]
[[parameter]]
name = "y"
lower = -1
upper = 1
scale = "log"
start = [0, 2]
[[objective]]
name = "f"
"""
    with pytest.raises(SearchError) as caught:
        job_from_toml(text, Path("job.toml"))
    lines = [fault.split(":")[0] for fault in caught.value.faults]
    assert lines == ["line 5", "line 6", "line 7", "line 12", "line 13"]


def test_files_that_are_no_jobs_are_told(tmp_path):
    with pytest.raises(SearchError, match="cannot be read: No such file"):
        read_job(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SearchError, match="not UTF-8"):
        read_job(tmp_path / "bad.toml")
    with pytest.raises(SearchError, match=r"a \.toml or \.xml file"):
        read_job(tmp_path / "job.yaml")
    assert os.listdir(tmp_path) == ["bad.toml"]


def test_lines_of_values_in_arrays_and_inline_tables():
    text = '''# a comment
title = "a [strange] # title"
[one]
numbers = [
  1,   # first
  2,
  [3, 4],
]
[[many]]
a = 1
[[many]]
a = { b = 2, c = [1, 2] }
[many.deep]
text = """
[not.a.table]
x = 1
"""
y.z = 3
points = [
  { x = 1, y = 2 },
  { x = 3,
    y = 4 },
]
'''.replace("3,\n    y = 4 }", "3, y = 4 }")
    lines = line_numbers(text)
    assert lines["title",] == 2
    assert lines["one", "numbers", 1] == 6
    assert lines["one", "numbers", 2, 1] == 7
    assert lines["many", 0, "a"] == 10
    assert lines["many", 1, "a", "c"] == 12
    assert lines["many", 1, "deep", "text"] == 14
    assert lines["many", 1, "deep", "y", "z"] == 18
    assert lines["many", 1, "deep", "points", 1, "y"] == 21
    assert not any("x" in place and len(place) == 1 for place in lines)
    assert line_number(text, ("many", 1, "deep", "nothing", 3)) == 13
