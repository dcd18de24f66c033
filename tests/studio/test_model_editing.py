"""Editing of lengths, masses and joint frames."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn import catalog, dynamics
from homodyn.capture import assign_markers
from homodyn.catalog.standing_height import placements
from homodyn.errors import ModelError
from homodyn.studio.file_opening import from_catalog, standing_actor
from homodyn.studio.model_editing import (
    axes_from_angles,
    editable_parameters,
    joint_frame,
    joint_placement,
    place_joint_in_world,
    segment_vector,
    set_parameter,
    with_joint,
    with_model,
)


def test_parameters_of_the_catalog_are_changed_with_their_inertias():
    actor = from_catalog("heiman")
    assert editable_parameters(actor)["ThighLeftLength"][1] == "m"
    longer = set_parameter(actor, "ThighLeftLength", 0.5, both=True)
    expected = catalog.heiman(overrides={"ThighLength": 0.5})
    assert longer.model == expected
    heavier = set_parameter(longer, "ThighLeftMass", 12.0)
    expected = catalog.heiman(overrides={"ThighLength": 0.5, "ThighLeftMass": 12.0})
    assert heavier.model == expected
    before, after = (m.body("ThighLeft").inertia for m in (longer.model, heavier.model))
    ratio = 12.0 / longer.model.body("ThighLeft").mass
    np.testing.assert_allclose(after, ratio * before)
    assert heavier.recipe.numbers["ThighLeftMass"] == 12.0


def test_manual_changes_survive_a_change_of_a_parameter():
    actor = from_catalog("heiman")
    model = with_joint(actor.model, "KneeLeft", np.array([0.01, 0.0, -0.4]), np.eye(3))
    edited = with_model(actor, model, actor.recipe)
    taller = set_parameter(edited, "ShankLeftLength", 0.5)
    np.testing.assert_allclose(taller.model.joint("KneeLeft").placement.r, [0.01, 0.0, -0.4])
    np.testing.assert_allclose(taller.model.joint("AnkleLeft").placement.r, [0.0, 0.0, -0.5])


def test_a_body_without_recipe_is_edited_by_segment_and_keeps_its_masses():
    actor = standing_actor(catalog.heiman())
    assert actor.recipe is None
    old = actor.model.body("ShankLeft")
    longer = set_parameter(actor, "ShankLeft length", 0.5, both=True)
    for side in ("Left", "Right"):
        assert np.linalg.norm(segment_vector(longer.model, f"Shank{side}")) == pytest.approx(0.5)
    new = longer.model.body("ShankLeft")
    factor = 0.5 / np.linalg.norm(segment_vector(actor.model, "ShankLeft"))
    assert new.mass == pytest.approx(old.mass)
    # About x the second moments along y stay and those along z are stretched.
    J = np.eye(3) * np.trace(old.inertia) / 2 - old.inertia
    J = np.diag([1, 1, factor]) @ J @ np.diag([1, 1, factor])
    np.testing.assert_allclose(new.inertia, np.eye(3) * np.trace(J) - J)
    heavier = set_parameter(actor, "ShankLeft mass", 2 * old.mass)
    np.testing.assert_allclose(heavier.model.body("ShankLeft").inertia, 2 * old.inertia)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_invalid_values_are_refused(value):
    with pytest.raises(ModelError, match="positive"):
        set_parameter(from_catalog("heiman"), "ThighLeftLength", value)
    with pytest.raises(ModelError, match="ThighLeftLength"):
        set_parameter(from_catalog("heiman"), "ThighLeftLenght", 0.4)


def test_a_body_on_the_ground_stays_there_when_its_legs_grow():
    actor = from_catalog("heiman")
    longer = set_parameter(actor, "ThighLeftLength", 0.6, both=True)
    root = actor.model.coordinate_index("Pelvis_TZ")
    grown = 0.6 - editable_parameters(actor)["ThighLeftLength"][0]
    assert longer.q[root] - actor.q[root] == pytest.approx(grown, abs=1e-6)


def test_a_joint_frame_is_placed_in_the_world_and_its_segment_follows():
    model = catalog.heiman()
    q = model.random(3)
    place, axes = joint_frame(model, q, "KneeLeft")
    turned = axes @ Rotation.from_euler("xyz", [10, 20, 30], degrees=True).as_matrix()
    target = place + np.array([0.01, 0.02, 0.03])
    edited_model = place_joint_in_world(model, q, "KneeLeft", target, turned)
    there, now = joint_frame(edited_model, q, "KneeLeft")
    np.testing.assert_allclose(there, target, atol=1e-12)
    np.testing.assert_allclose(now, turned, atol=1e-12)
    np.testing.assert_allclose(dynamics.position(edited_model, q, "ShankLeft"), there, atol=1e-12)
    numbers = joint_placement(edited_model, "KneeLeft")
    again = with_joint(model, "KneeLeft", numbers[0], axes_from_angles(numbers[1]))
    np.testing.assert_allclose(joint_frame(again, q, "KneeLeft")[1], turned, atol=1e-12)


def test_moving_a_joint_only_keeps_all_segments():
    model = catalog.heiman()
    q = model.random(5)
    place, axes = joint_frame(model, q, "HipRight")
    turned = axes @ Rotation.from_euler("z", 25, degrees=True).as_matrix()
    target = place + np.array([0.02, 0.0, 0.01])
    edited_model = place_joint_in_world(model, q, "HipRight", target, turned, keep=True)
    for (_, old), (_, new) in zip(placements(model, q), placements(edited_model, q), strict=True):
        np.testing.assert_allclose(new.r, old.r, atol=1e-12)
        np.testing.assert_allclose(new.E, old.E, atol=1e-12)
    bent = q.copy()
    bent[model.coordinate_index("HipRight_RY")] += 0.3
    away = dynamics.position(edited_model, bent, "FootRight") - dynamics.position(
        model, bent, "FootRight"
    )
    assert np.linalg.norm(away) > 1e-3


def test_a_motion_keeps_its_coordinates_and_gets_new_marker_errors(walk_document):
    actor = walk_document.actor
    trial = walk_document.trial
    fitted = replace(
        actor,
        motion=replace(
            actor.motion,
            markers=trial.markers,
            measured=trial.positions,
            residual=np.zeros(trial.seen.shape),
        ),
    )
    model = assign_markers(actor.model, actor.motion.q[40], trial, frame=40, markers=["LKNE"])
    changed = with_model(fitted, model, None)
    knee = trial.markers.index("LKNE")
    assert changed.motion.residual[40, knee] == pytest.approx(0.0, abs=1e-9)
    assert np.nanmax(changed.motion.residual[:, knee]) > 1e-4
    np.testing.assert_array_equal(changed.motion.q, actor.motion.q)
    assert changed.loads is None
    assert "edited" in changed.motion.method
    gone = replace(model, markers=model.markers[1:])
    assert model.markers[0].name not in with_model(changed, gone, None).motion.markers


def test_a_model_of_other_coordinates_is_refused():
    actor = from_catalog("heiman")
    with pytest.raises(ModelError, match="other coordinates"):
        with_model(actor, catalog.hdm(), None)
