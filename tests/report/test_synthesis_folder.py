"""The page and the tables of synthesized steps."""

import json
import re
from dataclasses import replace

import pytest

from homodyn import gait
from homodyn.analysis import StepComparison
from homodyn.errors import FormatError
from homodyn.report import write_synthesis


@pytest.fixture(scope="module")
def compared():
    every = StepComparison.from_bundled_steps(gait.walking_model())
    kept = [k for k, s in enumerate(every.steps) if s.name in ("mixed free", "torque free")]
    return replace(
        every,
        steps=tuple(every.steps[k] for k in kept),
        statuses=("solved", "solved"),
        searches=(("mixed: solved, 9 iterations, 4.0 s",), ()),
    )


@pytest.fixture(scope="module")
def folder(compared, tmp_path_factory):
    place = tmp_path_factory.mktemp("steps") / "out"
    write_synthesis(compared, place)
    return place


def test_the_page_is_complete_and_self_contained(folder):
    page = (folder / "index.html").read_text()
    for title in (
        "Image strips",
        "Cross evaluation",
        "Ground forces",
        "Elevation angles",
        "Search",
    ):
        assert f"<h2>{title}</h2>" in page
    assert "mixed: solved, 9 iterations" in page
    assert "Bundled with Homodyn." in page
    assert page.count("<svg") >= 3 + 6 + 6 + 4
    assert "nan" not in re.sub(r"<script.*?</script>", "", page, flags=re.S).lower()
    assert not re.search(r'(src|href)="https?:', page)


def test_the_smallest_value_of_each_column_is_bold(folder, compared):
    page = (folder / "index.html").read_text()
    table = page[page.index("All criteria of each step") : page.index("Distance of each step")]
    assert table.count("<b>") == 4
    assert compared.cross_evaluation.values.shape == (2, 4)


def test_the_summary_holds_the_numbers_of_the_table(folder, compared):
    summary = json.loads((folder / "summary.json").read_text())
    names = [row["name"] for row in summary["steps"]]
    assert names == [step.name for step in compared.steps]
    for row, values in zip(summary["steps"], compared.cross_evaluation.values, strict=True):
        assert list(row["criteria"].values()) == pytest.approx(values.tolist())
        assert 0.8 < row["planarity"] <= 1
        assert len(row["springs"]) == 51
        assert row["step_length"] == pytest.approx(row["speed"] * row["duration"], abs=0.01)


def test_tables_have_a_column_for_each_coordinate(folder, compared):
    head = (folder / "mixed_free_motion.csv").read_text().splitlines()[0].split(",")
    assert len(head) == 1 + compared.model.nv
    forces = (folder / "mixed_free_forces.csv").read_text().splitlines()
    assert forces[0].split(",")[1:] == [f"{s} {a}" for s in ("Right", "Left") for a in "xyz"]


def test_all_tables_span_the_same_time(folder):
    times = {
        name: [line.split(",")[0] for line in (folder / name).read_text().splitlines()[1:]]
        for name in (f"mixed_free_{table}.csv" for table in ("motion", "forces", "torques"))
    }
    assert len({tuple(values) for values in times.values()}) == 1
    impulses = (folder / "mixed_free_impulses.csv").read_text().splitlines()[1:]
    assert len(impulses) == 4
    last = float(times["mixed_free_motion.csv"][-1])
    assert all(0 < float(line.split(",")[0]) < last for line in impulses)


def test_the_summary_has_friction_and_impulses(folder, compared):
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["reference"]["name"] == "synthetic walk"
    for row, loads in zip(summary["steps"], compared.ground_loads, strict=True):
        assert row["status"] == "solved"
        assert row["ground"]["friction"] == 0.8
        assert row["ground"]["required_friction"] == pytest.approx(loads.required_friction)
        assert row["ground"]["cone_excess"] == pytest.approx(loads.cone_excess)
        assert row["ground"]["friction_demand"] == pytest.approx(dict(loads.friction_demand))
        assert row["ground"]["impulse_share"] == pytest.approx(loads.impulse_share)
        assert len(row["ground"]["impulses"]) == 4


def test_an_existing_folder_is_not_replaced(folder, compared):
    with pytest.raises(FormatError, match="choose another folder"):
        write_synthesis(compared, folder)
