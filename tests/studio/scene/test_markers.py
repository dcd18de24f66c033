"""Markers have the color of their side or of their state."""

from dataclasses import replace

import numpy as np
import pytest

from homodyn.studio.marker_editing import remove_markers
from homodyn.studio.scene.markers import (
    BAD_FIT_COLOR,
    MARKER_COLORS,
    SELECTED_COLOR,
    UNASSIGNED_COLOR,
)


def test_markers_have_the_color_of_their_side_and_stand_out_by_their_state(studio):
    def colors():
        return {
            name: tuple(color)
            for name, color in zip(
                studio.session.document.trial.markers,
                studio.stage._trials["walk"].balls.handle.batched_colors.tolist(),
                strict=True,
            )
        }

    assert colors()["RKNE"] == MARKER_COLORS["right"]
    assert colors()["LKNE"] == MARKER_COLORS["left"]
    assert colors()["C7"] == MARKER_COLORS["middle"]
    studio.session.change("remove", lambda d: remove_markers(d, {"LKNE"}, "body"))
    studio.set_view_options(selected_markers=frozenset({"RKNE"}))
    studio.wait_until_drawn()
    assert (colors()["LKNE"], colors()["RKNE"]) == (UNASSIGNED_COLOR, SELECTED_COLOR)
    actor = studio.session.document.actor
    shifted = tuple(
        replace(m, position=m.position + 0.05) if m.name == "LTOE" else m
        for m in actor.model.markers
    )
    other = replace(actor, model=replace(actor.model, markers=shifted))
    studio.session.change("move", lambda d: d.with_active(other))
    studio.wait_until_drawn()
    assert colors()["LTOE"] == BAD_FIT_COLOR
    assert studio.stage.errors["LTOE"] == pytest.approx(0.05 * np.sqrt(3), abs=0.02)
    studio.set_view_options(error_threshold=0.2)
    studio.wait_until_drawn()
    assert colors()["LTOE"] == MARKER_COLORS["left"]
