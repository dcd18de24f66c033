"""A few random kills of each program; `make kills` does more."""

import subprocess
import sys
import time

import pytest

from kills import series
from kills.series import SERIES, run_series


@pytest.mark.skipif(sys.platform != "linux", reason="processes are watched in /proc")
@pytest.mark.parametrize(("name", "count"), [("cache", 3), ("search", 1)])
def test_nothing_is_lost_and_nothing_is_left(tmp_path, name, count):
    report = run_series(name, count, tmp_path)
    assert report.faults == []
    assert report.kills == count


class Careless(series.Series):
    """A program that leaves a process behind and loses what it wrote."""

    name = "careless"

    def run(self):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        time.sleep(600)

    def is_ready(self):
        return any(self.folder.glob("log"))

    def check(self):
        return ["a file is lost"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are watched in /proc")
def test_planted_faults_are_found(tmp_path, monkeypatch):
    monkeypatch.setitem(SERIES, "careless", Careless)
    monkeypatch.setattr(series, "ORPHAN_PATIENCE_S", 0.2)
    report = run_series("careless", 2, tmp_path)
    assert report.kills == 2
    assert "a file is lost" in report.faults
    assert any("orphans after kill" in fault for fault in report.faults)
