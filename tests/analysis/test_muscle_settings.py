"""Settings of muscles: refused where they cannot be, and part of the command that repeats them."""

import pytest

from homodyn.analysis import MuscleSettings, Settings
from homodyn.errors import CaptureError


@pytest.mark.parametrize(
    ("wrong", "accepted"),
    [
        ({"emg": "maybe"}, "compare, informed, tracking"),
        ({"emg_side": "both"}, "auto, right, left"),
        ({"tendon": "soft"}, "rigid"),
        ({"weights": "mass"}, "volume"),
        ({"power": 0.5}, "1 or more"),
        ({"emg_weight": 0.0}, "above zero"),
        ({"emg_delay": 0.5}, "0 to 0.2 s"),
        ({"tendon": "compliant", "smoothness": 1.0}, "tendon='rigid'"),
    ],
)
def test_values_that_cannot_be_are_refused(wrong, accepted):
    with pytest.raises(CaptureError, match=accepted):
        MuscleSettings(**wrong)


def test_the_command_repeats_the_settings():
    muscles = MuscleSettings(weights="volume", emg="informed", smoothness=0.001)
    settings = Settings(model="heiman", mass=70.0, muscles=muscles)
    command = settings.command_line("walk.c3d")
    assert "--muscles --muscle-weights volume --muscle-smoothness 0.001 " in command
    assert "--muscle-emg informed" in command
    assert Settings.from_dict(settings.to_dict()) == settings
