"""Causes of residuals are found by when they occur and where they point."""

from dataclasses import replace

import numpy as np
import pytest

import homodyn as hd
from homodyn.capture import inverse_dynamics
from homodyn.capture.kinetics import residual_causes, residuals
from homodyn.capture.kinetics.newton_euler import newton_euler_loads
from support.swaying import plates_for, sway


@pytest.fixture(scope="module")
def swaying():
    return sway(hd.catalog.heiman(height=1.75, mass=70))


def loads_of(swaying, plates):
    return inverse_dynamics(swaying, plates, cutoff=None)


def test_consistent_loads_have_no_cause(swaying):
    loads = loads_of(swaying, plates_for(swaying))
    assert residuals(loads).grade == "good"
    assert residual_causes(loads) == ()


def test_a_wrong_mass_is_named(swaying):
    light = [replace(p, force=0.9 * p.force, torque=0.9 * p.torque) for p in plates_for(swaying)]
    (cause,) = residual_causes(loads_of(swaying, light))
    assert cause.endswith("in the mean, the model has 70.0 kg")
    assert float(cause.split()[3]) == pytest.approx(63.0, abs=0.2)


def test_plates_at_a_wrong_place_move_the_weight_aside(swaying):
    aside = [replace(p, point=p.point + np.array([0.04, 0.0, 0.0])) for p in plates_for(swaying)]
    loads = loads_of(swaying, aside)
    (cause,) = residual_causes(loads)
    assert "4.0 cm beside the center of mass" in cause
    assert residuals(loads).grade == "fair"
    far = [replace(p, point=p.point + np.array([0.08, 0.0, 0.0])) for p in plates_for(swaying)]
    assert residuals(loads_of(swaying, far)).grade == "poor"


def test_impacts_and_support_elsewhere_are_distinguished(swaying):
    loads = loads_of(swaying, plates_for(swaying))
    frames = np.arange(loads.motion.frames)
    burst = np.where((frames > 190) & (frames < 210), 200.0, 0.0)
    force = loads.residual_force + burst[:, None] * np.array([1.0, 0.0, 0.0])
    feet = tuple(
        replace(f, force=f.force + 3 * burst[:, None] * np.array([0.0, 0.0, 1.0]))
        for f in loads.feet
    )
    (impact,) = residual_causes(replace(loads, residual_force=force, feet=feet))
    assert "impacts" in impact
    covered = frames > 188
    (chair,) = residual_causes(replace(loads, residual_force=force, usable=covered))
    assert "such as a chair" in chair


def test_exchanged_plates_are_named(swaying):
    loads = loads_of(swaying, plates_for(swaying))
    moved = tuple(
        replace(foot, point=foot.point + np.array([0.3, 0.0, 0.0])) for foot in loads.feet
    )
    exchanged = newton_euler_loads(loads.motion, moved)
    assert any("plates are exchanged" in cause for cause in residual_causes(exchanged))


def test_late_plates_are_named(swaying):
    late = [replace(p, start=p.start + 0.1) for p in plates_for(swaying)]
    causes = residual_causes(loads_of(swaying, late))
    assert any(cause == "the plates seem to be 0.10 s late" for cause in causes)
