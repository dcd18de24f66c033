"""Files of designs: what is read, and what is refused with which words."""

import pytest

from homodyn.codesign import load_design
from homodyn.errors import HomodynError

GOOD = """
topology = 2
actuated = [6, 1]
attachments = { torso = 0.3, thigh = 0.5, shank = 0.4 }
joints = { 4 = [-0.12, 0.95], 6 = [-0.1, 0.75] }
"""


def test_a_design_is_read(tmp_path):
    file = tmp_path / "design.toml"
    file.write_text(GOOD)
    design = load_design(file)
    assert (design.topology.number, design.actuated) == (2, (1, 6))
    assert design.shares.tolist() == [0.3, 0.5, 0.4]
    assert design.free_places.tolist() == [[-0.12, 0.95], [-0.1, 0.75]]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("topology = 2", "topology = 11", "number from 1 to 10"),
        ("topology = 2", "topologie = 2", "topology"),
        ("[6, 1]", "[1, 4]", "do not control topology 2; accepted are 1-3"),
        ("thigh = 0.5", "hip = 0.5", "one share for each of torso, thigh, shank"),
        ("6 = [-0.1, 0.75]", "5 = [-0.1, 0.75]", "for each of 4, 6"),
        ("6 = [-0.1, 0.75]", "6 = [-0.1]", "joints.6"),
        ("topology = 2", "topology = ", "line 2"),
    ],
)
def test_wrong_designs_are_refused(tmp_path, old, new, words):
    file = tmp_path / "design.toml"
    file.write_text(GOOD.replace(old, new))
    with pytest.raises(HomodynError, match=words):
        load_design(file)
