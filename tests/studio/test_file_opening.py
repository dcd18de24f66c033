"""Files and folders become bodies and recordings, or the sentence of the command line."""

import io
import tarfile
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from homodyn import catalog, dynamics, gait, save
from homodyn.analysis.demo import DEMO_TRIAL_FOLDER
from homodyn.analysis.result_tables import write_csv
from homodyn.analysis.step_comparison import StepComparison
from homodyn.capture import Trial
from homodyn.cli import app
from homodyn.errors import HomodynError
from homodyn.gait.synthesis.problem import STEP_PHASES
from homodyn.report import write_synthesis
from homodyn.report.simulation_folder import write_simulation
from homodyn.simulate import SimulationOptions, run
from homodyn.studio import Actor
from homodyn.studio.export import write_result
from homodyn.studio.file_opening import from_catalog, open_path, open_upload_content


@pytest.fixture(scope="module")
def fallen(tmp_path_factory):
    """A result of a simulation, and the record it was written from."""
    actor = from_catalog("heiman")
    options = SimulationOptions(record_interval=1e-2)
    record = run(actor.model, actor.q, None, 0.05, 1e-3, contact="implicit", options=options)
    folder = tmp_path_factory.mktemp("results") / "fallen"
    write_simulation(record, folder)
    return folder, record


@pytest.mark.parametrize("suffix", [".toml", ".lua", ".urdf"])
def test_models_are_opened(tmp_path, suffix):
    save(catalog.bip(), tmp_path / f"robot{suffix}")
    thing = open_path(tmp_path / f"robot{suffix}")
    assert isinstance(thing, Actor)
    assert len(thing.model.bodies) >= len(catalog.bip().bodies)


def test_recordings_are_opened():
    thing = open_path(DEMO_TRIAL_FOLDER / "walk.c3d")
    assert isinstance(thing, Trial)
    assert thing.frames > 100


def test_a_simulation_comes_back_from_its_folder(fallen):
    folder, record = fallen
    actor = open_path(folder)
    np.testing.assert_allclose(actor.motion.q, record.q, atol=1e-8)
    np.testing.assert_allclose(actor.loads.tau, record.torques, atol=1e-6)
    assert actor.model == record.model


@pytest.mark.parametrize("kind", [".tar", ".zip"])
def test_a_packed_folder_is_a_folder(fallen, tmp_path, kind):
    folder, record = fallen
    stream = io.BytesIO()
    if kind == ".tar":
        with tarfile.open(fileobj=stream, mode="w") as tar:
            tar.add(folder, "fallen")
    else:
        with zipfile.ZipFile(stream, "w") as archive:
            for path in folder.iterdir():
                archive.write(path, f"fallen/{path.name}")
    actor = open_upload_content(f"fallen{kind}", stream.getvalue(), tmp_path)
    assert actor.motion.q.shape == record.q.shape


def test_a_tar_cannot_write_outside_its_folder(tmp_path):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        member = tarfile.TarInfo("../../escaped.txt")
        member.size = 3
        tar.addfile(member, io.BytesIO(b"bad"))
    with pytest.raises(HomodynError, match="unpacked"):
        open_upload_content("evil.tar", stream.getvalue(), tmp_path)
    assert not list(tmp_path.parent.glob("**/escaped.txt"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.c3d", b"this is no recording"),
        ("broken.trc", b"PathFileType\t4\n"),
        ("broken.lua", b"return {"),
        ("broken.osim", b"<OpenSimDocument><oops>"),
        ("broken.urdf", b"<robot/>"),
        ("notes.txt", b"hello"),
    ],
)
def test_a_bad_file_is_refused_in_the_words_of_the_command_line(
    tmp_path, monkeypatch, name, content
):
    with pytest.raises(HomodynError) as refusal:
        open_upload_content(name, content, tmp_path)
    home = tmp_path / "shell"
    home.mkdir()
    (home / name).write_bytes(content)
    monkeypatch.chdir(home)
    shown = CliRunner().invoke(app, ["studio", name, "--no-browser"])
    assert shown.exit_code == 1
    assert " ".join(shown.output.split()) == f"Error: {' '.join(str(refusal.value).split())}"
    assert str(tmp_path) not in str(refusal.value)


def test_a_folder_without_a_result_says_so(tmp_path):
    with pytest.raises(HomodynError, match=r"no folder of results: summary\.json is missing"):
        open_path(tmp_path)


def test_a_cut_table_names_the_line(fallen, tmp_path):
    folder, _ = fallen
    copy = tmp_path / "cut"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    text = (copy / "positions.csv").read_text().splitlines()
    (copy / "positions.csv").write_text("\n".join([*text[:3], text[3][:20]]))
    with pytest.raises(HomodynError, match=r"positions\.csv, line 4"):
        open_path(copy)


def test_a_reconstruction_comes_back_from_its_folder(tmp_path, walk_document):
    actor = walk_document.actor
    model, motion = actor.model, actor.motion
    folder = tmp_path / "step"
    write_result(replace(actor, loads=None), folder)
    (folder / "markers.csv").unlink()
    (folder / "tracking.csv").write_text("coordinate,unit,mean,sd,rms,largest\n")
    time = motion.time[::13]
    knee = model.coordinate_index("KneeLeft_RY")
    torques = actor.loads.tau[::13, knee]
    write_csv(folder / "torques.csv", time, ["KneeLeft_RY (N m)"], torques[:, None])
    heads = [f"{side} {axis} (N)" for side in ("Right", "Left") for axis in "xyz"]
    write_csv(folder / "forces.csv", time, heads, np.tile([1.0, 2, 300, 4, 5, 600], (len(time), 1)))
    back = open_path(folder)
    np.testing.assert_allclose(back.motion.q, motion.q, atol=1e-8)
    np.testing.assert_allclose(back.loads.tau[::13, knee], torques, rtol=1e-8)
    assert not back.loads.tau[:, :6].any()
    right, left = back.loads.feet
    assert (right.body, left.body) == ("FootRight", "FootLeft")
    np.testing.assert_allclose(left.force[7], [4, 5, 600])
    heel = dynamics.position(model, motion.q[100], "FootLeft")
    assert np.linalg.norm(left.point[100] - heel) < 0.25


def test_synthesized_steps_come_back_as_a_body_each(tmp_path):
    every = StepComparison.from_bundled_steps(gait.walking_model())
    two = [k for k, s in enumerate(every.steps) if s.name in ("mixed free", "torque free")]
    write_synthesis(
        replace(
            every,
            steps=tuple(every.steps[k] for k in two),
            statuses=("stored", "stored"),
            searches=((), ()),
        ),
        tmp_path / "steps",
    )

    document = open_path(tmp_path / "steps")

    assert set(document.names) == {"mixed free", "torque free"}
    for actor in document.actors:
        motion, lasting = actor.motion, actor.motion.time[-1] / 2
        weight = 9.81 * actor.model.mass
        by_side = {foot.side: foot.force for foot in actor.loads.feet}
        # Over a step the ground carries the weight, part of it by the blows of landing.
        lift = sum(force[:, 2] for force in by_side.values())
        blows = sum(
            float(phase.impulse @ [row.slide[2] for row in footing.contacts.rows])
            for phase, footing in zip(
                gait.stored_steps()[actor.name].phases, STEP_PHASES, strict=True
            )
            if phase.impulse.size
        )
        carried = np.trapezoid(lift, motion.time) + 2 * blows
        assert carried == pytest.approx(2 * lasting * weight, rel=0.05)
        # The second step is the image of the first: what one foot bore, the other bears.
        within = motion.time[motion.time < lasting]
        later = np.interp(within + lasting, motion.time, by_side["left"][:, 2])
        first = by_side["right"][: len(within), 2]
        assert np.median(np.abs(later - first)) < 0.01 * weight
        assert np.abs(actor.loads.tau).max() < 500
