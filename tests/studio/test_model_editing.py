"""Bodies with other measures: lengths, masses and joint frames, and what follows from them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from homodyn import catalog, dynamics
from homodyn.capture import assign_markers
from homodyn.catalog.standing_height import placements
from homodyn.errors import ModelError
from homodyn.studio.catalog_recipe import CatalogRecipe
from homodyn.studio.file_opening import from_catalog, standing_actor
from homodyn.studio.model_editing import (
    editable_numbers,
    from_angles,
    in_parent,
    joint_frame,
    moved_to,
    segment_vector,
    set_number,
    with_joint,
    with_model,
)


def test_numbers_of_the_catalog_are_changed_by_name_and_inertias_follow():
    actor = from_catalog("heiman")
    assert editable_numbers(actor)["ThighLeftLength"][1] == "m"
    longer = set_number(actor, "ThighLeftLength", 0.5, both=True)
    expected = catalog.heiman(overrides={"ThighLength": 0.5})
    assert longer.model == expected
    heavier = set_number(longer, "ThighLeftMass", 12.0)
    expected = catalog.heiman(overrides={"ThighLength": 0.5, "ThighLeftMass": 12.0})
    assert heavier.model == expected
    before, after = (m.body("ThighLeft").inertia for m in (longer.model, heavier.model))
    ratio = 12.0 / longer.model.body("ThighLeft").mass
    np.testing.assert_allclose(after, ratio * before)
    assert heavier.recipe.numbers["ThighLeftMass"] == 12.0


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_every_ready_body_is_built_again_by_its_recipe_and_has_numbers(entry):
    actor = from_catalog(entry)
    assert actor.recipe.build() == actor.model
    for name, value in actor.recipe.values().items():
        assert value > 0, name
    unrecorded = replace(actor, recipe=None)
    name, (value, _) = next(iter(editable_numbers(unrecorded).items()))
    changed = set_number(unrecorded, name, 1.1 * value)
    assert editable_numbers(changed)[name][0] == pytest.approx(1.1 * value)


def test_stature_changes_all_segments_but_those_that_were_chosen():
    chosen = CatalogRecipe("heiman").with_number("ThighLeftLength", 0.4).with_number("height", 1.9)
    values = chosen.values()
    assert values["ThighLeftLength"] == 0.4
    assert (
        values["ThighRightLength"]
        == CatalogRecipe("heiman", {"height": 1.9}).values()["ThighRightLength"]
    )
    assert chosen.build() == catalog.heiman(1.9, overrides={"ThighLeftLength": 0.4})


def test_what_was_changed_by_hand_survives_a_number_of_the_catalog():
    actor = from_catalog("heiman")
    model = with_joint(actor.model, "KneeLeft", np.array([0.01, 0.0, -0.4]), np.eye(3))
    edited = with_model(actor, model, actor.recipe)
    taller = set_number(edited, "ShankLeftLength", 0.5)
    np.testing.assert_allclose(taller.model.joint("KneeLeft").placement.r, [0.01, 0.0, -0.4])
    np.testing.assert_allclose(taller.model.joint("AnkleLeft").placement.r, [0.0, 0.0, -0.5])


def test_a_body_of_a_file_is_edited_by_segment_keeping_its_masses():
    actor = standing_actor(catalog.heiman())
    assert actor.recipe is None
    old = actor.model.body("ShankLeft")
    longer = set_number(actor, "ShankLeft length", 0.5, both=True)
    for side in ("Left", "Right"):
        assert np.linalg.norm(segment_vector(longer.model, f"Shank{side}")) == pytest.approx(0.5)
    new = longer.model.body("ShankLeft")
    factor = 0.5 / np.linalg.norm(segment_vector(actor.model, "ShankLeft"))
    assert new.mass == pytest.approx(old.mass)
    # About x the second moments along y stay and those along z are stretched.
    J = np.eye(3) * np.trace(old.inertia) / 2 - old.inertia
    J = np.diag([1, 1, factor]) @ J @ np.diag([1, 1, factor])
    np.testing.assert_allclose(new.inertia, np.eye(3) * np.trace(J) - J)
    heavier = set_number(actor, "ShankLeft mass", 2 * old.mass)
    np.testing.assert_allclose(heavier.model.body("ShankLeft").inertia, 2 * old.inertia)


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_impossible_numbers_are_refused(value):
    with pytest.raises(ModelError, match="above zero"):
        set_number(from_catalog("heiman"), "ThighLeftLength", value)
    with pytest.raises(ModelError, match="ThighLeftLength"):
        set_number(from_catalog("heiman"), "ThighLeftLenght", 0.4)


def test_a_body_on_the_ground_stays_there_when_its_legs_grow():
    actor = from_catalog("heiman")
    longer = set_number(actor, "ThighLeftLength", 0.6, both=True)
    root = actor.model.coordinate_index("Pelvis_TZ")
    grown = 0.6 - editable_numbers(actor)["ThighLeftLength"][0]
    assert longer.q[root] - actor.q[root] == pytest.approx(grown, abs=1e-6)


def test_a_joint_frame_goes_where_the_handle_is_and_the_segment_follows():
    model = catalog.heiman()
    q = model.random(3)
    place, axes = joint_frame(model, q, "KneeLeft")
    turned = axes @ Rotation.from_euler("xyz", [10, 20, 30], degrees=True).as_matrix()
    target = place + np.array([0.01, 0.02, 0.03])
    moved = moved_to(model, q, "KneeLeft", target, turned)
    there, now = joint_frame(moved, q, "KneeLeft")
    np.testing.assert_allclose(there, target, atol=1e-12)
    np.testing.assert_allclose(now, turned, atol=1e-12)
    np.testing.assert_allclose(dynamics.position(moved, q, "ShankLeft"), there, atol=1e-12)
    numbers = in_parent(moved, "KneeLeft")
    again = with_joint(model, "KneeLeft", numbers[0], from_angles(numbers[1]))
    np.testing.assert_allclose(joint_frame(again, q, "KneeLeft")[1], turned, atol=1e-12)


def test_a_joint_that_moves_alone_leaves_all_segments_in_place():
    model = catalog.heiman()
    q = model.random(5)
    place, axes = joint_frame(model, q, "HipRight")
    turned = axes @ Rotation.from_euler("z", 25, degrees=True).as_matrix()
    target = place + np.array([0.02, 0.0, 0.01])
    moved = moved_to(model, q, "HipRight", target, turned, keep=True)
    for (_, old), (_, new) in zip(placements(model, q), placements(moved, q), strict=True):
        np.testing.assert_allclose(new.r, old.r, atol=1e-12)
        np.testing.assert_allclose(new.E, old.E, atol=1e-12)
    bent = q.copy()
    bent[model.coordinate_index("HipRight_RY")] += 0.3
    away = dynamics.position(moved, bent, "FootRight") - dynamics.position(model, bent, "FootRight")
    assert np.linalg.norm(away) > 1e-3


def test_a_motion_keeps_its_coordinates_and_has_its_errors_computed_anew(walk_document):
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
