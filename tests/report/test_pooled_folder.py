"""The folder of several steps: an overview, one summary, and a complete folder for each step."""

import json
from dataclasses import replace

import pytest

import homodyn as hd
from homodyn.errors import FormatError
from homodyn.gait.contact_schedule import FootContactPhase
from homodyn.gait.reconstruction import prepare_step, reconstruct_steps, share_body
from homodyn.report.pooled_folder import step_folders, write_pooled_reconstruction

NAMES = ("slow walk", "slow walk")


@pytest.fixture(scope="module")
def result():
    """Two parts of the single support of a walk, as if of two trials."""
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=2, plates=2, variation=0.0, mass=70
    ).truth
    step = prepare_step(walk.motion, walk.loads, events=walk.events, fit_contacts=False)
    first = step.phases[0]
    middle = (first.begin + first.end) / 2
    parts = [
        FootContactPhase(begin, end, first.right, first.left)
        for begin, end in ((first.begin, middle), (middle, first.end))
    ]
    steps = share_body([replace(step, phases=(part,)) for part in parts])
    return reconstruct_steps(steps, preset="recorded", force=0.0, step=0.06, friction=0.8)


@pytest.fixture(scope="module")
def folder(result, tmp_path_factory):
    out = tmp_path_factory.mktemp("pooled") / "steps"
    return write_pooled_reconstruction(result, out, names=NAMES, settings={"preset": "recorded"})


def test_each_step_has_its_own_folder(folder):
    own = step_folders(NAMES)
    assert own == ["1_slow walk", "2_slow walk"]
    assert {p.name for p in folder.iterdir()} == {"report.html", "summary.json", *own}
    for name in own:
        assert (folder / name / "report.html").is_file()
        assert (folder / name / "torques.csv").is_file()


def test_the_summary_has_what_is_shared_and_every_step(folder, result):
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["kind"] == "reconstruction of several steps"
    assert summary["status"] == "solved"
    assert summary["shared"]["mass_kg"] == pytest.approx(70)
    assert -0.9 <= summary["shared"]["load transfer"] <= 0.9
    assert summary["quality"]["light"] in ("good", "fair", "poor")
    subjects = [verdict["subject"] for verdict in summary["quality"]["verdicts"]]
    assert subjects.count("solution") == 1
    assert subjects.count("friction") == len(NAMES)
    assert [step["name"] for step in summary["steps"]] == list(NAMES)
    for step, own in zip(summary["steps"], result.steps, strict=True):
        assert step["friction"]["coefficient"] == 0.8
        assert step["friction"]["required"]["right"] == pytest.approx(
            own.required_friction["right"]
        )
        assert set(step["forces"]) == {"Right", "Left", "both"}


def test_the_page_links_to_all_steps(folder):
    page = (folder / "report.html").read_text()
    for name in step_folders(NAMES):
        assert f'href="{name}/report.html"' in page
    assert "mass of all steps" in page


def test_a_result_is_not_replaced_silently(folder, result):
    with pytest.raises(FormatError, match="exists"):
        write_pooled_reconstruction(result, folder, names=NAMES)
    write_pooled_reconstruction(result, folder, names=NAMES, overwrite=True)
    assert (folder / "summary.json").is_file()
