"""Designs that tests share."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.codesign import DesignStudy, DesignVerdict, WalkingTask, topologies
from homodyn.codesign.design_check import DesignChecker

REGULAR_PLACES = {4: (-0.2, 1.05), 6: (-0.15, 0.75)}
"""Free joints of topology 2 with which all poses are regular."""


@pytest.fixture(autouse=True)
def _virtual_machine(monkeypatch):
    """Short simulations run on the virtual machine: building programs would take longer."""
    monkeypatch.setenv("HOMODYN_TIER", "interpreted")


@pytest.fixture(scope="package")
def study():
    """A short study of topology 2 alone."""
    return DesignStudy(
        "short", topologies=(topologies()[1],), task=WalkingTask(duration=0.2, dt=2e-3)
    )


@pytest.fixture(scope="package")
def candidates(study):
    """Eight candidates that all checks accept: (values, groups)."""
    values, groups = regular_candidates(study, 32)
    found = DesignChecker(study.device(study.topologies[0])).check(
        *study.designs.places(values, groups[:, 0], study.topologies[0])
    )
    accepted = [one is DesignVerdict.ACCEPTED for one in found.verdicts]
    return values[accepted][:8], groups[accepted][:8]


def regular_candidates(study, count, seed=3):
    """Candidates near a regular design, with random motors."""
    rng = np.random.default_rng(seed)
    low, high = study.space.start
    values = study.space.values(rng.uniform(low, high, (count, study.space.size)))
    names = study.space.names
    wanted = {"torso share": 0.25, "thigh share": 0.6, "shank share": 0.6}
    for number, place in REGULAR_PLACES.items():
        wanted |= {f"joint {number} {axis}": place[i] for i, axis in enumerate("xz")}
    for name, value in wanted.items():
        values[:, names.index(name)] = value + rng.uniform(-0.01, 0.01, count)
    bounds = (study.space.lower, study.space.upper)
    groups = rng.integers(0, study.space.subspaces, count)
    return np.clip(values, *bounds), groups[:, None]


@pytest.fixture(scope="session")
def person():
    """The planar person of the catalog."""
    return hd.catalog.winter_human()
