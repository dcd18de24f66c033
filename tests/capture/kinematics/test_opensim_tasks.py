"""Weights from the task files of OpenSim."""

from pathlib import Path

import pytest

from homodyn.capture.kinematics import read_tasks
from homodyn.errors import FormatError
from homodyn.model import Assembly, Model, box, joints
from support.movements import marked

TASK = (
    "<IK{kind}Task name='{name}'><apply>{on}</apply><weight>{weight}</weight>{more}</IK{kind}Task>"
)


@pytest.fixture
def model() -> Model:
    top = Assembly("top").add(box("top", 1.0, (0.1, 0.2, 0.3)), joints.universal("x", "y")).model()
    return marked(top)


def write_tasks(path: Path, *tasks: str) -> Path:
    path.write_text(f"<?xml version='1.0'?>\n<IKTaskSet>{''.join(tasks)}</IKTaskSet></stray>")
    return path


def test_unlisted_and_disabled_markers_have_no_weight(model: Model, tmp_path: Path) -> None:
    path = write_tasks(
        tmp_path / "tasks.xml",
        TASK.format(kind="Marker", name="top_0", on="true", weight=3, more=""),
        TASK.format(kind="Marker", name="top_1", on="false", weight=5, more=""),
        TASK.format(kind="Marker", name="elsewhere", on="true", weight=5, more=""),
    )
    weights, track = read_tasks(path, model)
    assert weights == {"top_0": 3.0, "top_1": 0.0, "top_2": 0.0}
    assert track == {}


def test_coordinates_follow_their_default_or_a_number(model: Model, tmp_path: Path) -> None:
    first, second = model.coordinate_names
    manual = "<value_type>manual_value</value_type><value>0.2</value>"
    path = write_tasks(
        tmp_path / "tasks.xml",
        TASK.format(kind="Marker", name="top_0", on="true", weight=3, more=""),
        TASK.format(kind="Marker", name="top_1", on="true", weight=1, more=""),
        TASK.format(kind="Coordinate", name=first, on=" true ", weight=10, more=""),
        TASK.format(kind="Coordinate", name=second, on="true", weight=2, more=manual),
    )
    weights, track = read_tasks(path, model)
    assert weights == {"top_0": 0.75, "top_1": 0.25, "top_2": 0.0}
    assert track == {first: (10.0, 0.0), second: (2.0, 0.2)}


@pytest.mark.parametrize(
    ("more", "weight", "words"),
    [
        ("<value_type>from_file</value_type>", "1", "follows a motion file"),
        ("", "heavy", "expected a number"),
    ],
)
def test_what_cannot_be_read_is_refused(
    model: Model, tmp_path: Path, more: str, weight: str, words: str
) -> None:
    name = model.coordinate_names[0]
    task = TASK.format(kind="Coordinate", name=name, on="true", weight=weight, more=more)
    with pytest.raises(FormatError, match=words):
        read_tasks(write_tasks(tmp_path / "tasks.xml", task), model)


def test_other_files_are_refused(model: Model, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        read_tasks(tmp_path / "absent.xml", model)
    (tmp_path / "other.xml").write_text("<a/>")
    with pytest.raises(FormatError, match="no <IKTaskSet>"):
        read_tasks(tmp_path / "other.xml", model)
