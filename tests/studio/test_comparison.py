"""Results over the cycle beside each other: the same numbers as the report, and their distances."""

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
    differences,
    table,
    titles,
)
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.panels.compare import ComparePanel
from support.waiting import until


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


def test_differences_are_told_against_the_first_result_of_the_same_side(pair):
    curves = compared_curves(pair, "Angle", "Knee flexion")
    assert [(c.owner, c.side) for c in curves] == [
        ("walk", "right"), ("walk", "left"), ("half", "right"), ("half", "left"),
    ]  # fmt: skip
    told = differences(curves)
    assert told[0].rms == told[1].rms == 0.0
    assert told[2].rms == pytest.approx(np.sqrt(np.mean((0.5 * curves[0].mean) ** 2)))
    assert told[2].correlation == pytest.approx(1.0)
    assert told[2].greatest == pytest.approx(0.5 * told[0].greatest)


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
    rows = table([("Knee flexion", "deg", curves)]).splitlines()
    assert rows[0].split(",")[:2] == ["gait cycle (%)", "walk: Knee flexion right mean (deg)"]
    assert len(rows) == 102
    first = [float(cell) for cell in rows[1].split(",")]
    assert first[1] == pytest.approx(curves[0].mean[0])
    assert first[2] == pytest.approx(curves[0].sd[0])


def test_plots_are_drawn_again_only_when_the_results_change(studio):
    panel = studio.layout.panel(ComparePanel)
    before = dict(panel.plots)
    assert set(before) == set(QUANTITIES)
    studio.session.change("pose", lambda d: d.with_active(d.actor.with_pose(d.actor.q + 0.1)))
    studio.wait_until_drawn()
    assert panel.plots == before
    half = scaled(studio.session.document.actor, 0.5, "half")
    studio.session.change("open", lambda d: d.with_actor(half), in_file=True)
    studio.wait_until_drawn()
    assert panel.plots["Angle"] is not before["Angle"]
    assert "half" in panel.tables["Angle"].content


def test_curves_of_a_body_follow_when_its_edits_pause(studio):
    panel = studio.layout.panel(ComparePanel)

    def bent(document, degrees):
        motion = document.actor.motion
        q = motion.q.copy()
        q[:, motion.model.coordinate_index("KneeRight_RY")] += np.radians(degrees)
        return document.with_active(replace(document.actor, motion=replace(motion, q=q)))

    tables = [panel.tables["Angle"].content]
    for _ in range(3):
        studio.session.change("edit", lambda document: bent(document, 10.0))
        studio.wait_until_drawn()
        tables.append(panel.tables["Angle"].content)
    assert tables[1] != tables[0]
    assert tables[3] == tables[2] == tables[1]
    until(lambda: panel.tables["Angle"].content != tables[3], "the curves of the last edit")
    most = titled_most(panel.tables["Angle"].content)
    assert most == pytest.approx(titled_most(tables[0]) + 30.0, abs=0.1)


def titled_most(content):
    """The greatest value of the right knee in a table of the page."""
    row = next(line for line in content.splitlines() if line.startswith("| walk right"))
    return float(row.split("|")[3])
