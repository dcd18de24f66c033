"""Masses of scaled models: given, by density, and measured by plates."""

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture.scaling import MassSource, with_measured_mass
from support.subjects import subject


def test_a_measured_mass_gives_the_model_of_the_given_mass():
    generic = hd.catalog.heiman()
    trial = subject(generic, 5, frames=3).trial
    unknown = hd.capture.scale(generic, trial)
    assert unknown.mass_source is MassSource.DENSITY
    measured = with_measured_mass(unknown, 64.0, "the plates carry 64 kg")
    given = hd.capture.scale(generic, trial, mass=64.0, keep_shares=True)
    assert given.mass_source is MassSource.GIVEN
    assert measured.mass_source is MassSource.PLATES
    for ours, theirs in zip(measured.model.bodies, given.model.bodies, strict=True):
        assert ours.mass == pytest.approx(theirs.mass)
        np.testing.assert_allclose(ours.inertia, theirs.inertia, atol=1e-12)
        np.testing.assert_allclose(ours.com, theirs.com)
    assert [row.mass for row in measured.bodies] == [body.mass for body in measured.model.bodies]
    assert not any("mass not given" in warning for warning in measured.warnings)
    assert measured.notes[-1] == "the plates carry 64 kg"
    assert measured.status is unknown.status
