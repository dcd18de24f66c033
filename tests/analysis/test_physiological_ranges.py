"""Ranges of what people can do: generous for people, closed for errors of the data."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from homodyn.analysis import quality_verdicts
from homodyn.analysis.physiological_ranges import (
    LEG_TORQUE_BOUNDS_N_M_KG,
    Movement,
    classify_movement,
    impossible_loads,
    impossible_measures,
    is_walking,
)
from homodyn.motion import Event


def changed(measures, name, value):
    rows = tuple(
        replace(row, values=np.full(len(row.values), value)) if row.name == name else row
        for row in measures.rows
    )
    return replace(measures, rows=rows)


def test_a_walk_is_within_all_ranges(analysis):
    assert is_walking(analysis.gait)
    assert not list(impossible_measures(analysis.gait))
    movement = classify_movement(analysis.gait, analysis.events)
    assert movement is Movement.WALKING
    assert not list(impossible_loads(analysis.loads, analysis.cycles, movement))
    assert "physiological range" not in {v.subject for v in quality_verdicts(analysis)}


@pytest.mark.parametrize(
    ("name", "impossible", "extreme"),
    [
        ("cadence", 8322.0, 200.0),
        ("stride length", 40.0, 0.2),
        ("stance share", 20.0, 85.0),
        ("velocity", 25.0, 0.05),
        ("peak vertical force", 15.0, 1.6),
    ],
)
def test_impossible_measures_turn_the_light_red(analysis, name, impossible, extreme):
    (found,) = [
        v
        for v in quality_verdicts(replace(analysis, gait=changed(analysis.gait, name, impossible)))
        if v.subject == "physiological range"
    ]
    assert found.light == "poor"
    assert f"{name}" in found.sentence
    assert f"{impossible:.3g}" in found.sentence
    assert not list(impossible_measures(changed(analysis.gait, name, extreme)))


def test_running_has_wider_ranges(analysis):
    rows = tuple(r for r in analysis.gait.rows if not r.name.startswith("double support"))
    running = replace(analysis.gait, rows=rows)
    assert not is_walking(running)
    for name, value in (("velocity", 9.0), ("stance share", 25.0), ("peak vertical force", 4.0)):
        assert not list(impossible_measures(changed(running, name, value)))
        assert list(impossible_measures(changed(analysis.gait, name, value)))


def test_torques_of_a_wrong_unit_are_not_possible(analysis):
    loads = replace(analysis.loads, tau=1000 * analysis.loads.tau)
    found = list(impossible_loads(loads, analysis.cycles))
    assert any("knee flexion" in phrase for phrase in found)


def test_the_kind_of_movement_follows_from_events_and_measures(analysis):
    rows = tuple(r for r in analysis.gait.rows if not r.name.startswith("double support"))
    running = replace(analysis.gait, rows=rows)
    flights = [
        Event(0.35 * k + late, label, ("Left", "Right")[k % 2])
        for k in range(4)
        for late, label in ((0.0, "Foot Strike"), (0.25, "Foot Off"))
    ]
    assert classify_movement(running, flights) is Movement.RUNNING
    # Single steps have no stride, and their double support is in the events.
    assert classify_movement(running, analysis.events) is Movement.WALKING
    landing = [Event(1.0, "Foot Strike", "Left"), Event(1.01, "Foot Strike", "Right")]
    assert classify_movement(None, landing) is Movement.JUMPING
    assert classify_movement(None, ()) is Movement.IN_PLACE
    assert classify_movement(None, (), searched=False) is Movement.ANY
    assert classify_movement(None, landing[:1]) is Movement.ANY


def test_torques_of_a_landing_are_not_possible_in_walking(analysis):
    knee = analysis.model.coordinate_index("KneeRight_RY")
    tau = analysis.loads.tau.copy()
    tau[:, knee] = 5.0 * analysis.model.mass
    loads = replace(analysis.loads, tau=tau)
    assert not list(impossible_loads(loads, analysis.cycles, Movement.JUMPING))
    (found,) = impossible_loads(loads, analysis.cycles, Movement.WALKING)
    bound = LEG_TORQUE_BOUNDS_N_M_KG[Movement.WALKING]
    assert found == f"torque of right knee flexion 5 N m/kg (possible for walking: up to {bound:g})"


def test_the_walking_bounds_are_beyond_all_published_speeds(shared_data):
    path = shared_data / "normative" / "schwartz2008_curves.csv"
    with open(path, encoding="utf-8", newline="") as stream:
        rows = [r for r in csv.DictReader(stream) if r["kind"] == "moment_Nm_per_kg"]
    largest = max(abs(float(r["mean"])) + 3 * float(r["sd"]) for r in rows)
    assert 3.0 < largest < LEG_TORQUE_BOUNDS_N_M_KG[Movement.WALKING]
