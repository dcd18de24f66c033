"""Supports of a plan as contacts of the controller and obstacles of the simulation."""

import numpy as np

import homodyn as hd
from homodyn.plan.execution.support_contacts import (
    body_contacts,
    carriers,
    contact_geometry,
    seat_points,
    support_intervals,
)
from homodyn.plan.phase_sequence import PhaseSequence
from homodyn.plan.plan_context import PlanContext


def sequence(case: str) -> PhaseSequence:
    scene = hd.plan.load_case(case)
    context = PlanContext.of(hd.catalog.manikin(1.75, 70), scene)
    return PhaseSequence(context, np.arange(len(scene.steps) + 1.0))


def test_supports_act_from_their_first_to_their_last_phase():
    found = support_intervals(sequence("board"), 0.5, 20.0)
    assert {s.name: span for s, span in found} == {
        "right 0": (0.0, 6.0),
        "left 0": (0.0, 2.0),
        "left 1": (4.0, 10.0),
        "right 1": (8.0, 20.0),
        "left 2": (12.0, 20.0),
    }


def test_grasps_pull_and_seats_push_at_the_hips():
    car = sequence("car")
    contacts = body_contacts(car, support_intervals(car, 1.0, 7.0), 0.05)
    hand = next(c for c in contacts if c.body == "right_hand")
    assert hand.grasps
    assert hand.max_force == 100.0
    assert len(hand.edges) == 6
    assert {c.body for c in contacts} >= {"right_thigh", "left_thigh"}
    assert seat_points(car.context.bodies["pelvis"]) == ("right_thigh", "left_thigh")


def test_soles_touch_the_ground_and_what_carries_them():
    board = sequence("board")
    assert [each.name for each in carriers(board)] == ["ground", "platform"]
    names = contact_geometry(board).contacts
    assert "right_toe_outer" in names
    assert "right_palm" not in names
