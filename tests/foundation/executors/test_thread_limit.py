"""The limit of threads applies inside the context and to processes that start there."""

import os
import subprocess
import sys

import pytest

from homodyn.foundation.executors.thread_limit import THREAD_VARIABLES, thread_limit


@pytest.fixture
def environment(monkeypatch):
    """One variable is set before, the others are not."""
    for name in THREAD_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", "7")


def settings():
    return {name: os.environ.get(name) for name in THREAD_VARIABLES}


def test_processes_inherit_the_limit(environment):
    with thread_limit(3):
        script = "import os; print(os.environ['HOMODYN_THREADS'], os.environ['OMP_NUM_THREADS'])"
        output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert output.stdout.split() == ["3", "3"]


def test_the_settings_of_before_come_back_also_after_an_error(environment):
    before = settings()
    with thread_limit(2):
        assert set(settings().values()) == {"2"}
    assert settings() == before
    with pytest.raises(KeyError), thread_limit(2):
        raise KeyError
    assert settings() == before


def test_none_changes_nothing(environment):
    before = settings()
    with thread_limit(None):
        assert settings() == before
