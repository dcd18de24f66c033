"""The page of plans: load, drag, postures, and what stops a plan in red."""

from pathlib import Path

import numpy as np
import pytest

from homodyn.errors import HomodynError
from homodyn.studio.panels.plan import PlanPanel
from homodyn.studio.plan_scene import item_position
from support.waiting import until

STEP_FILE = Path(__file__).parents[2] / "plan" / "step_over_a_bar.toml"


def finished(studio):
    task = studio.tasks.current
    until(task.done.is_set, "the task ends")
    studio.wait_until_drawn()
    return task


def test_a_scene_is_loaded_dragged_and_postured(studio):
    panel = studio.layout.panel(PlanPanel)
    with pytest.raises(HomodynError, match="press Load"):
        panel.find_postures()
    panel.source.value = str(STEP_FILE)
    panel.open()
    studio.wait_until_drawn()
    assert "3 phases" in panel.state.content
    assert "bar" in panel.item.options
    panel.choose("right 1")
    place = item_position(panel.scene, "right 1") + np.array([0.05, 0.0, 0.0])
    panel.move("right 1", place)
    np.testing.assert_allclose(item_position(panel.scene, "right 1"), place)
    with pytest.raises(HomodynError, match="press Motion first"):
        panel.execute()
    panel.find_postures()
    assert finished(studio).error == ""
    assert "3 postures" in panel.state.content
    actor = studio.session.document.actors[studio.session.document.index("postures")]
    assert len(actor.motion.time) == 3
    assert panel.stopping == ()


def test_what_stops_a_plan_is_red_at_its_place(studio):
    panel = studio.layout.panel(PlanPanel)
    panel.source.value = str(STEP_FILE)
    panel.open()
    # The bar goes through both feet of the first stance.
    panel.move("bar", np.array([0.0, 0.0, 0.08]))
    panel.find_postures()
    assert finished(studio).error == ""
    assert panel.state.content.startswith("**Stopped.** Phase 1")
    assert "bar" in panel.stopping
    assert panel.place is not None
    assert np.linalg.norm(panel.place - [0.0, 0.0, 0.08]) < 0.5
    assert "stopped" in studio.session.document.names
    panel.move("bar", np.array([0.22, 0.0, 0.06]))
    assert panel.stopping == ()
    assert panel.place is None
