"""Compared curves are those of the report, and their differences."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.analysis.curves import CycleSegmentation, angle_curves
from homodyn.studio import StudioDocument
from homodyn.studio.comparison import (
    MAX_COMPARED_RESULTS,
    QUANTITIES,
    compared_curves,
    compared_results,
    curves_csv,
    differences,
    titles,
)
from homodyn.studio.file_opening import from_catalog


def scaled(actor, factor, name):
    """A body that bends all joints by a factor."""
    motion = replace(actor.motion, q=actor.motion.q * factor)
    return replace(actor, name=name, motion=motion, loads=None)


@pytest.fixture
def pair(walk_document):
    walker = walk_document.actor
    return StudioDocument().with_actor(walker).with_actor(scaled(walker, 0.5, "half"))


def test_curves_are_those_of_the_report(pair):
    walker = pair.actors[0]
    segmentation = CycleSegmentation(walker.motion.time, walker.events)
    curve = next(c for c in angle_curves(walker.motion, segmentation) if c.title == "Knee flexion")
    found = compared_curves(pair, "Angle", "Knee flexion", ("left",))
    assert [c.owner for c in found] == ["walk", "half"]
    np.testing.assert_array_equal(found[0].mean, curve.left.mean)
    assert found[0].cycles == segmentation.count("left") > 0
    np.testing.assert_allclose(found[1].mean, 0.5 * found[0].mean, atol=1e-9)


def test_differences_are_relative_to_the_first_result_of_the_same_side(pair):
    curves = compared_curves(pair, "Angle", "Knee flexion")
    assert [(c.owner, c.side) for c in curves] == [
        ("walk", "right"), ("walk", "left"), ("half", "right"), ("half", "left"),
    ]  # fmt: skip
    rows = differences(curves)
    assert rows[0].rms == rows[1].rms == 0.0
    assert rows[2].rms == pytest.approx(np.sqrt(np.mean((0.5 * curves[0].mean) ** 2)))
    assert rows[2].correlation == pytest.approx(1.0)
    assert rows[2].maximum == pytest.approx(0.5 * rows[0].maximum)


def test_torques_powers_and_forces_are_offered_where_they_are_known(pair):
    assert all(titles(pair, quantity) for quantity in QUANTITIES)
    assert titles(pair, "Torque")["Knee flexion"] == "N m/kg"
    upward = compared_curves(pair, "Ground force", "Upward", ("right",))
    assert [c.owner for c in upward] == ["walk"]
    assert 80 < upward[0].mean.max() < 150


def test_a_motion_without_cycles_is_stretched_from_its_first_frame_to_its_last(pair):
    walker = replace(pair.actors[0], events=(), loads=None)
    (curve, _) = compared_curves(StudioDocument().with_actor(walker), "Angle", "Knee flexion")
    assert curve.cycles == 0
    assert len(curve.mean) == 101
    place = walker.model.position_index[walker.model.coordinate_index("KneeRight_RY")]
    knee = np.degrees(walker.motion.q[:, place])
    assert abs(curve.mean[0]) == pytest.approx(abs(knee[0]))
    assert abs(curve.mean[-1]) == pytest.approx(abs(knee[-1]))


def test_eight_results_are_compared_and_hidden_ones_are_not(walk_document):
    document = StudioDocument().with_actor(from_catalog("bip"))
    for k in range(MAX_COMPARED_RESULTS + 2):
        document = document.with_actor(scaled(walk_document.actor, 1.0, f"trial {k}"))
    assert [actor.name for actor in compared_results(document)] == [
        f"trial {k}" for k in range(MAX_COMPARED_RESULTS)
    ]
    document = document.with_actor_at(1, replace(document.actors[1], shown=False))
    assert compared_results(document)[0].name == "trial 1"
    assert len(compared_results(document)) == MAX_COMPARED_RESULTS


def test_the_table_has_mean_and_deviation_of_every_curve(pair):
    curves = compared_curves(pair, "Angle", "Knee flexion", ("right",))
    rows = curves_csv([("Knee flexion", "deg", curves)]).splitlines()
    assert rows[0].split(",")[:2] == ["gait cycle (%)", "walk: Knee flexion right mean (deg)"]
    assert len(rows) == 102
    first = [float(cell) for cell in rows[1].split(",")]
    assert first[1] == pytest.approx(curves[0].mean[0])
    assert first[2] == pytest.approx(curves[0].sd[0])
