import numpy as np
import pytest

from homodyn.errors import FormatError
from homodyn.track.experiments import read_experiment
from support.reach_experiment import REACH


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "e.toml"
        path.write_text(text)
        return path

    return write


def test_a_complete_file(write):
    experiment = read_experiment(write(REACH))
    assert experiment.headline() == "Experiment 'reach and trace': 2 blocks, 5 trials"
    assert experiment.pointer == "FIN"
    assert experiment.targets[1].radius == 0.08
    np.testing.assert_allclose(experiment.paths[0].points[2], [0.3, 0.0, 1.1])
    reaching, tracing = experiment.blocks
    assert (reaching.trials, reaching.repeat, reaching.condition) == (("one", "two"), 2, "light")
    assert tracing.trials == ("loop",)
    assert tracing.stimuli[0].quantity == "torque:elbow"


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ('format = "homodyn experiment 1"', "", "homodyn experiment 1"),
        ('pointer = "FIN"', "", "pointer"),
        ('trials = ["one", "two"]', 'trials = ["ten"]', "'ten'"),
        ('task = "trace"', 'task = "swim"', "reach"),
        ("high = 10.0", "high = -1.0", "below"),
        ('quantity = "effort"', 'quantity = "mood"', "effort, power"),
        ("last = [1.0, 0.0, 0.0]", "last = [1.0]", "3"),
        ("repeat = 2", "repeat = 0", "from 1 up"),
        ("position = [0.2, 0.0, 0.95]", "", "position"),
        ('name = "two"', 'name = "one"', "same name"),
        ("shuffle = true", "shufle = true", "shufle"),
        ("points = [[0, 0, 0], [0.4, 0, 0], [0.4, 0, 0.4], [0, 0, 0.4]]", "points = 3", "points"),
    ],
)
def test_errors_name_line_and_field(write, before, after, reason):
    assert before in REACH
    with pytest.raises(FormatError, match=reason) as error:
        read_experiment(write(REACH.replace(before, after, 1)))
    assert "line " in str(error.value)


def test_all_errors_are_reported_at_once(write):
    text = REACH.replace("repeat = 2", "repeat = 0").replace("seed = 3", 'seed = "x"')
    with pytest.raises(FormatError, match="2 errors"):
        read_experiment(write(text))
