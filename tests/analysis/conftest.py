"""One recorded walk, analyzed once, for all tests that look at results."""

import pytest

import homodyn as hd
from homodyn.analysis import Settings, analyze
from homodyn.report import write_analysis
from support import strolls
from support.opensim_process import opensim

__all__ = ["opensim"]


@pytest.fixture(scope="session")
def walk_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("recordings") / "stroll.c3d"
    hd.capture.write(strolls.recording(), path)
    return path


@pytest.fixture(scope="session")
def settings():
    return Settings(mass=strolls.MASS, height=strolls.HEIGHT, scale="none", cutoff=8.0)


@pytest.fixture(scope="session")
def analysis(walk_file, settings):
    return analyze(walk_file, settings)


@pytest.fixture(scope="session")
def result(analysis, tmp_path_factory):
    return write_analysis(analysis, tmp_path_factory.mktemp("results") / "stroll")
