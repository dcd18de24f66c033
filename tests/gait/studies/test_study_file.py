"""Files of gait studies: bundled ones, changes, and refusals with their line."""

import pytest

from homodyn.errors import HomodynError
from homodyn.gait.studies import BUNDLED_STUDIES, load_study
from homodyn.search import CMAES

SMALL = """
name = "small"
model = "winter_human"
speed = 1.2
modulation = "step"

[[objective]]
name = "time"
until = ">= 0.9"

[[objective]]
name = "torque"
"""


@pytest.mark.parametrize("name", BUNDLED_STUDIES)
def test_bundled_studies(name):
    study = load_study(name)
    assert study.objectives[0].name == "time"
    assert study.objectives[-1].until is None
    assert study.duration == 10.0
    counts = {"constant": 33, "step": 45, "ppoly": 81}
    for modulation, count in counts.items():
        changed = load_study(name, modulation=modulation)
        assert len(changed.space.names) == count + name.startswith("coman")
        assert changed.name == f"{name}-{modulation}"


def test_a_file_of_ones_own(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    study = load_study(file)
    assert study.name == "small-step"
    assert [one.maximize for one in study.objectives] == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('modulation = "step"', 'modulation = "wave"', "line 5: modulation"),
        ("speed = 1.2", "speed = -1", "line 4: speed"),
        ("speed = 1.2", "sped = 1.2", "sped"),
        ('name = "torque"', 'name = "torgue"', "torque"),
        ('model = "winter_human"', 'model = "nobody.osim"', "nobody.osim"),
    ],
)
def test_wrong_files_are_refused(tmp_path, old, new, words):
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace(old, new))
    with pytest.raises(HomodynError, match=words):
        load_study(file)


def test_unknown_studies_are_refused():
    with pytest.raises(HomodynError, match="human, coman, coman-pushes"):
        load_study("cowman")


def test_formulas_contacts_optimizer_and_start(tmp_path):
    file = tmp_path / "small.toml"
    more = 'optimizer = { kind = "cma", step = 0.2 }\ninitial_pose = "stride"\n'
    text = SMALL.replace('name = "small"', f'name = "small"\n{more}')
    text += 'until = "<= 500"\n\n[[objective]]\nname = "mix"\nformula = "torque + 10 * speed_std"\n'
    text += '\n[start]\n"hip target y1" = -0.4\n"hip stiffness" = 300.0\n'
    text += '\n[contact]\nstiffness = 2e4\n[contact.damping]\n"*" = 200.0\nright_sole_5 = 30.0\n'
    file.write_text(text)
    study = load_study(file)
    assert study.optimizer == CMAES(120, step=0.2)
    assert study.gait_objective("mix").description == "torque + 10 * speed_std"
    assert study.contact.damping == {"*": 200.0, "right_sole_5": 30.0}
    # The space of this modulation has no "hip stiffness".
    assert study.initial_values == {"hip target y1": -0.4}
    assert study.start[0][3] < -0.3  # the hip of the right leg at foot strike: flexed
    file.write_text(text.replace("torque + 10", "torgue + 10"))
    with pytest.raises(HomodynError, match="torgue"):
        load_study(file)
