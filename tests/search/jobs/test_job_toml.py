import os
from pathlib import Path

import pytest

from homodyn.errors import SearchError
from homodyn.search import MMPSO, LinearConstraint, read_job
from homodyn.search.jobs.job_toml import job_from_toml

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


WRONG = """
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


def test_all_errors_are_reported_at_once_with_their_lines():
    with pytest.raises(SearchError) as caught:
        job_from_toml(WRONG, Path("job.toml"))
    by_line = {int(text.split(":")[0].removeprefix("line ")): text for text in caught.value.reasons}
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
        assert words in by_line[line], by_line
    assert len(caught.value.reasons) == 10
    assert "job.toml: 10 errors" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
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
def test_errors_are_reported_with_their_line(text, message, monkeypatch):
    monkeypatch.setenv("HOMODYN_TEST_HOME", "/there")
    with pytest.raises(SearchError, match=message):
        job_from_toml(text, Path("job.toml"))


def test_one_error_of_a_parameter_does_not_hide_another():
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
    lines = [text.split(":")[0] for text in caught.value.reasons]
    assert lines == ["line 5", "line 6", "line 7", "line 12", "line 13"]


def test_files_that_are_not_jobs_are_refused(tmp_path):
    with pytest.raises(SearchError, match="cannot be read: No such file"):
        read_job(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SearchError, match="not UTF-8"):
        read_job(tmp_path / "bad.toml")
    with pytest.raises(SearchError, match=r"expected a \.toml or \.xml file"):
        read_job(tmp_path / "job.yaml")
    assert os.listdir(tmp_path) == ["bad.toml"]
