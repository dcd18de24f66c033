"""Recipes rebuild the bodies of the catalog."""

from dataclasses import replace

import pytest

from homodyn import catalog
from homodyn.studio.catalog_recipe import CatalogRecipe
from homodyn.studio.file_opening import from_catalog
from homodyn.studio.model_editing import (
    editable_parameters,
    set_parameter,
)


@pytest.mark.parametrize("entry", [entry.name for entry in catalog.entries()])
def test_recipes_rebuild_every_body_of_the_catalog(entry):
    actor = from_catalog(entry)
    assert actor.recipe.build() == actor.model
    for name, value in actor.recipe.values().items():
        assert value > 0, name
    unrecorded = replace(actor, recipe=None)
    name, (value, _) = next(iter(editable_parameters(unrecorded).items()))
    changed = set_parameter(unrecorded, name, 1.1 * value)
    assert editable_parameters(changed)[name][0] == pytest.approx(1.1 * value)


def test_stature_changes_all_segments_that_were_not_set():
    chosen = CatalogRecipe("heiman").with_number("ThighLeftLength", 0.4).with_number("height", 1.9)
    values = chosen.values()
    assert values["ThighLeftLength"] == 0.4
    assert (
        values["ThighRightLength"]
        == CatalogRecipe("heiman", {"height": 1.9}).values()["ThighRightLength"]
    )
    assert chosen.build() == catalog.heiman(1.9, overrides={"ThighLeftLength": 0.4})
