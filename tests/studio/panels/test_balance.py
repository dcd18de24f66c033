"""Balance on the page."""

from pathlib import Path

import numpy as np

from homodyn import motion
from homodyn.studio.balance_evaluation import (
    BalanceScene,
    evaluate_motion,
    evaluate_scene,
    path_trial,
)
from homodyn.studio.file_opening import open_path
from homodyn.studio.panels.balance import BalancePanel

SCENES = Path(motion.__file__).parent / "scenes"


def test_a_scene_file_is_evaluated_and_played(studio):
    item = open_path(SCENES / "car.toml")
    assert isinstance(item, BalanceScene)
    balance = evaluate_scene(item)
    trial = path_trial(item, balance)
    np.testing.assert_allclose(trial.time, balance.time, atol=1e-9)
    studio.open(item, "car.toml")
    studio.wait_until_drawn()
    panel = studio.layout.panel(BalancePanel)
    assert panel.balance.owner == "car"
    assert panel.plot is not None
    assert studio.session.document.trial.name == "car"
    assert not studio.session.view().unsaved


def test_an_evaluation_is_removed_with_its_motion(studio):
    panel = studio.layout.panel(BalancePanel)
    panel.balance = evaluate_motion(studio.session.document, 0.7)
    studio.wait_until_drawn()
    assert "walk" in panel.state.content
    studio.session.change("close", lambda d: d.without("walk"))
    studio.wait_until_drawn()
    assert panel.balance is None
