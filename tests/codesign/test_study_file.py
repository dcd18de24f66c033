"""Files of design studies."""

import pytest

from homodyn.codesign import PassiveElement, load_design_study
from homodyn.errors import HomodynError
from homodyn.simulate import ImplicitSprings


def test_the_bundled_study_is_the_published_one():
    study = load_design_study("wearable")
    assert study.space.subspaces == 126
    assert (study.optimizer.population, study.iterations) == (200, 800)
    assert (study.task.speed, study.objective) == (1.3, "power")
    assert study.notes


def test_a_file_changes_every_part(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(
        'name = "own"\ntopologies = [2, 5]\npassive = "clutch"\nobjective = "cuff_force"\n'
        'population = 10\n[contact]\nkind = "implicit"\n[bounds]\nheight = [0.2, 1.0]\n'
        "stiffness = 500.0\n[construction]\nactuator_mass = 1.0\n"
    )
    study = load_design_study(file)
    assert [one.number for one in study.topologies] == [2, 5]
    assert study.passive is PassiveElement.CLUTCH
    assert isinstance(study.task.contact, ImplicitSprings)
    assert study.bounds.height == (0.2, 1.0)
    assert study.bounds.robot.max_stiffness == 500.0
    assert study.construction.actuator_mass == 1.0
    assert study.objectives[-1].name == "cuff_force"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "a"\ntopologies = [11]\n', r"line 2: topologies are numbers from 1 to 10"),
        ('name = "a"\nspeeed = 1.0\n', r"line 2: speeed: Extra inputs are not permitted"),
        ('name = "a"\npassive = "glue"\n', r"line 2: passive"),
    ],
)
def test_errors_say_where(tmp_path, text, message):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(HomodynError, match=message):
        load_design_study(file)


def test_unknown_names_are_refused():
    with pytest.raises(HomodynError, match="wearable"):
        load_design_study("werable")
