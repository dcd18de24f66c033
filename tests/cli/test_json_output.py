"""The contract of ``--json``: one JSON object on stdout, on success and on failure."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import homodyn as hd
from homodyn.capture import Table, write_table
from homodyn.cli import app
from homodyn.cli.json_output import wants_json
from support.commands import leaf_commands
from support.live_arm import LABELS, RATE, arm, arm_frame
from support.small_figure import small_figure
from support.standing_block import standing_block, standing_pose, trial_of

LEAVES = leaf_commands(typer.main.get_command(app))

JOB = """
iterations = 2
[optimizer]
kind = "pso"
population = 4
[[parameter]]
name = "x"
lower = 0
upper = 1
[[objective]]
name = "f"
[evaluate]
python = "bowl.py:bowl"
[run]
where = "serial"
"""
GAIT_STUDY = """
name = "short"
model = "winter_human"
speed = 1.2
duration = 0.2
population = 4
iterations = 1
[[objective]]
name = "time"
until = ">= 0.999"
[pushes]
right = "right_foot"
left = "left_foot"
force = [80.0, 5.0]
lasts = [0.05, 0.01]
"""
DESIGN = """
topology = 1
actuated = [1, 3]
attachments = { torso = 0.185, thigh = 0.65, shank = 0.63 }
joints = { 4 = [-0.2, 0.95], 6 = [-0.15, 0.55] }
"""
DESIGN_STUDY = """
name = "short"
topologies = [1]
duration = 0.1
step = 0.002
population = 8
iterations = 1
"""
NETWORK = """
node "ball" { y = 1 y'' = "-9.81" }
expect "ball.y" = 1 at 0
"""

WEIGHT_SHIFT = Path(__file__).parents[1] / "plan" / "weight_shift.toml"
"""A scene of one phase."""


def invoke(*words, **named):
    return CliRunner().invoke(app, [*map(str, words), "--json"], prog_name="homodyn", **named)


def parse(result) -> dict:
    """The JSON object on stdout, which has nothing else."""
    data = json.loads(result.stdout)
    assert isinstance(data, dict)
    assert result.stdout.startswith("{\n")
    assert result.stdout.endswith("}\n")
    assert "NaN" not in result.stdout
    assert ("error" in data) == (result.exit_code != 0)
    return data


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder with a job, a network and a short recorded walk."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "job.toml").write_text(JOB)
    (folder / "bowl.py").write_text("def bowl(p):\n    return p['x'] ** 2\n")
    (folder / "ball.cdn").write_text(NETWORK)
    # Beside the folder, whose recordings other commands process.
    study = folder.parent / "gait"
    study.mkdir()
    (study / "short.toml").write_text(GAIT_STUDY)
    (study / "design.toml").write_text(DESIGN)
    (study / "robots.toml").write_text(DESIGN_STUDY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOMODYN_TIER", "interpreted")
        searched = invoke("codesign", "search", study / "robots.toml", "-o", study / "robots")
    assert searched.exit_code == 0, searched.output
    walk = hd.synthetic.walking_trial(
        noise=0.0, gaps=0.0, strides=1, variation=0.0, mass=70, plates=2
    )
    motion = walk.truth.motion
    hd.capture.write(walk.trial, folder / "walk.c3d")
    names = motion.model.coordinate_names
    write_table(Table(names, motion.time, motion.q, False, "Coordinates"), folder / "walk.sto")
    hd.save(walk.model, folder / "model.toml")
    block = standing_block()
    hd.save(block, folder / "block.toml")
    hd.capture.write(trial_of(block, np.tile(standing_pose(block), (12, 1))), folder / "block.trc")
    first = hd.gait.contact_schedule.contact_phases(motion, events=walk.truth.events)[0]
    half = (first.begin + first.end) / 2
    phase = hd.gait.contact_schedule.FootContactPhase(first.begin, half, first.right, first.left)
    hd.gait.contact_schedule.write_contact_schedule([phase], folder / "phases.csv")
    swing = folder.parent / "swing"
    swing.mkdir()
    hd.save(arm(), swing / "arm.toml")
    positions = np.stack([arm_frame(arm(), k).positions for k in range(40)])
    hd.capture.write(hd.capture.Trial("swing", LABELS, positions, RATE), swing / "swing.csv")
    write_figure(folder.parent / "figure")
    return folder


def write_figure(folder):
    """A figure that swings an arm, for studies of tracking."""
    folder.mkdir()
    figure = small_figure()
    hd.save(figure, folder / "figure.toml")
    poses = np.tile(hd.simulate.place_on_ground(figure, figure.neutral()), (25, 1))
    column = figure.position_index[figure.coordinate_index("right_swing")]
    poses[:, column] += 0.3 * np.sin(np.arange(25) / 4)
    hd.capture.write(trial_of(figure, poses), folder / "figure.trc")


CALLS: dict[tuple[str, ...], tuple[tuple[str, ...], set[str]]] = {
    ("info",): ((), {"homodyn", "python", "cache"}),
    ("cache", "show"): ((), {"folder", "files", "bytes"}),
    ("cache", "clear"): ((), {"folder", "removed_files"}),
    ("bench",): (("--list",), {"benchmarks"}),
    ("model", "list"): (("bip",), {"bip"}),
    ("model", "info"): (("bip",), {"name", "bodies", "coordinates"}),
    ("model", "check"): (("bip",), {"findings"}),
    ("model", "convert"): (("bip", "{out}/bip.urdf"), {"file", "lost"}),
    ("model", "draw"): (("bip", "-o", "{out}/bip.png"), {"file", "model"}),
    ("trial", "check"): (("{lab}",), {"trials"}),
    ("trial", "synthesize"): (("--strides", "1", "--plates", "1", "-o", "{out}/t"), {"files"}),
    ("network", "run"): (("{lab}/ball.cdn", "--until", "0.1"), {"rows", "events"}),
    ("network", "monitor"): (("{lab}/ball.cdn", "--until", "0.2"), {"rows"}),
    ("network", "repl"): (("{lab}/ball.cdn",), {"answers"}),
    ("network", "graph"): (("{lab}/ball.cdn",), {"dot"}),
    ("network", "test"): (("{lab}/ball.cdn",), {"expectations"}),
    ("network", "compile"): (("{lab}/ball.cdn", "-o", "{out}/ball.c"), {"files", "states"}),
    ("search", "run"): (("{lab}/job.toml",), {"status", "best", "evaluations"}),
    ("search", "resume"): (("{lab}/job.toml",), {"status", "best"}),
    ("search", "status"): (("{lab}/job.toml",), {"generations", "statuses"}),
    ("search", "best"): (("{lab}/job.toml",), {"solutions"}),
    ("search", "export"): (("{lab}/job.toml", "-o", "{out}/all.csv"), {"file", "candidates"}),
    ("search", "plot"): (("{lab}/job.toml", "-o", "{out}/figures"), {"files"}),
    ("simulate",): (
        ("bip", "--contact", "none", "--duration", "0.01", "-o", "{out}/sim"),
        {"status", "files"},
    ),
    ("stimulate",): (
        ("knee-swing", "--duration", "0.05", "-o", "{out}/swing"),
        {"study", "simulation", "files"},
    ),
    ("control",): (
        ("bip-step", "--duration", "0.03", "-o", "{out}/bip"),
        {"study", "status", "measures", "files"},
    ),
    ("codesign", "topologies"): ((), {"topologies", "pairs"}),
    ("codesign", "draw"): (("-o", "{out}/ten.png"), {"file", "topologies"}),
    ("codesign", "check"): (("{lab}/../gait/design.toml",), {"verdict", "reason"}),
    ("codesign", "search"): (
        ("{lab}/../gait/robots.toml", "-o", "{out}/robots"),
        {"search", "group", "files"},
    ),
    ("codesign", "report"): (
        ("{lab}/../gait/robots.toml", "{lab}/../gait/robots", "-o", "{out}/best"),
        {"search", "group", "files"},
    ),
    ("gait", "search"): (
        ("{lab}/../gait/short.toml", "-o", "{out}/gait", "--quiet"),
        {"objectives", "search", "files"},
    ),
    ("gait", "replay"): (
        ("{lab}/../gait/short.toml", "{lab}/../gait/out", "-o", "{out}/again"),
        {"objectives", "files"},
    ),
    ("gait", "perturb"): (
        ("{lab}/../gait/short.toml", "{lab}/../gait/out", "--seeds", "1"),
        {"share", "stages"},
    ),
    ("gait", "compare"): (("{lab}/../gait/out",), {"gaits"}),
    ("ergonomics",): (
        ("{lab}/walk.sto", "--model", "{lab}/model.toml", "-o", "{out}/ergonomics"),
        {"sentence", "rula", "reba", "files"},
    ),
    ("balance",): (("biped", "--no-plan", "-o", "{out}/balance"), {"sentence", "phases"}),
    ("plan",): (
        (str(WEIGHT_SHIFT), "-o", "{out}/plan", "--rate", "20"),
        {"sentence", "phases", "flights", "files"},
    ),
    ("synthesize",): (("--stored", "-o", "{out}/steps"), {"steps", "files"}),
    ("explain",): (("--stored", "torque free", "-o", "{out}/explained"), {"weights", "remainder"}),
    ("reconstruct",): (
        (
            *("{lab}/walk.sto", "--model", "{lab}/model.toml", "--phases", "{lab}/phases.csv"),
            *("--nodes", "5", "--cutoff", "20", "-o", "{out}/step"),
        ),
        {"status", "phases"},
    ),
    ("analyze",): (
        ("{lab}/walk.c3d", "--mass", "70", "--scale", "none", "-o", "{out}/results"),
        {"output", "trials"},
    ),
    ("live",): (
        (
            *("{lab}/../swing/swing.csv", "--model", "{lab}/../swing/arm.toml"),
            *("--calibration", "0", "--waiting", "0"),
        ),
        {"frames", "tracked", "latency"},
    ),
    ("track",): (
        ("{lab}/block.trc", "--model", "{lab}/block.toml", "-o", "{out}/tracked"),
        {"status", "files", "residuals"},
    ),
    **{
        ("study", name): (
            ("{lab}/../figure/figure.trc", "-m", "{lab}/../figure/figure.toml", "-o", "{out}/study")
            + (("--trials", "1") if name in ("noise", "reach", "occlusion") else ()),
            {"study", "findings", "table", "files"},
        )
        for name in ("noise", "markers", "arms", "reach", "occlusion", "replay")
    },
    ("validate",): (("{lab}", "-o", "{out}/validation"), {"output", "recordings"}),
    ("demo",): (("-o", "{out}/demo"), {"page", "errors", "quality"}),
}
"""Arguments of every command that ends by itself, and keys of its object."""


def test_every_command_is_called():
    assert set(CALLS) | {("studio",)} == set(LEAVES)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_success_prints_one_object(words, lab, tmp_path, monkeypatch):
    if words[0] == "codesign":
        monkeypatch.setenv("HOMODYN_TIER", "interpreted")
    if words == ("cache", "clear"):
        monkeypatch.setenv("HOMODYN_CACHE", str(tmp_path / "kernels"))
    if words[0] == "search" and words[1] != "run" and not (lab / "job.db").exists():
        invoke("search", "run", lab / "job.toml")
    if words == ("search", "run"):
        (lab / "job.db").unlink(missing_ok=True)
    searched = lab.parent / "gait" / "out"
    if words[0] == "gait" and words[1] != "search" and not searched.exists():
        invoke("gait", "search", searched.parent / "short.toml", "-o", searched, "--quiet")
    arguments, keys = CALLS[words]
    filled = [text.format(lab=lab, out=tmp_path) for text in arguments]
    result = invoke(*words, *filled, input="ball.y\nrun 0.1\n")
    assert result.exit_code == 0, result.output
    assert keys <= set(parse(result))


@pytest.mark.parametrize("words", LEAVES, ids=" ".join)
def test_a_wrong_option_prints_an_object_with_the_error(words):
    result = invoke(*words, "--no-such-option")
    assert result.exit_code == 2
    assert "--no-such-option" in parse(result)["error"]
    assert "--no-such-option" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("model", "info", "no-such-model"),
        ("trial", "check", "none.c3d"),
        ("network", "run", "none.cdn"),
        ("search", "status", "none.toml"),
        ("balance", "none.mot", "-o", "out"),
        ("simulate", "none.urdf", "-o", "out"),
        ("track", "none.c3d", "-o", "out"),
        ("bench", "no-such-benchmark"),
    ],
    ids=" ".join,
)
def test_an_error_of_the_library_prints_an_object_with_its_sentence(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = invoke(*words)
    assert result.exit_code == 1
    message = parse(result)["error"]
    assert " ".join(result.stderr.split()) == f"Error: {message}"


def test_results_that_exist_are_beside_the_error(lab, tmp_path):
    (tmp_path / "wrong.cdn").write_text('x = 1\nexpect "x" = 2 at 0\n')
    data = parse(invoke("network", "test", tmp_path / "wrong.cdn"))
    assert data["error"] == "0 of 1 expectations met"
    assert data["expectations"][0]["value"] == 1.0
    (tmp_path / "empty.c3d").write_bytes(b"")
    words = ("analyze", lab / "walk.c3d", tmp_path / "empty.c3d", "--mass", 70, "--scale", "none")
    data = parse(invoke(*words, "--jobs", 1, "-o", tmp_path / "out"))
    assert data["error"].startswith("1 of 2 trials failed; the first: empty: ")
    assert [trial["status"] for trial in data["trials"]] == ["written", "failed"]


def test_a_folder_of_trials_is_checked_file_by_file(lab, tmp_path):
    trial = hd.capture.read(lab / "walk.c3d")
    hd.capture.write(trial, tmp_path / "a.c3d")
    (tmp_path / "b.c3d").write_bytes(b"")
    data = parse(invoke("trial", "check", tmp_path))
    assert data["error"] == "errors in b.c3d"
    good, bad = data["trials"]
    assert (good["frames"], good["markers"]) == (trial.frames, len(trial.markers))
    assert "error" in bad


def test_a_bug_prints_an_object_and_is_raised(monkeypatch):
    def benchmarks():
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("homodyn.bench.benchmarks", benchmarks)
    result = invoke("bench", "--list")
    assert isinstance(result.exception, ZeroDivisionError)
    assert json.loads(result.stdout) == {"error": "internal error: ZeroDivisionError: by zero"}


def test_numbers_that_are_not_finite_are_valid_json(tmp_path):
    (tmp_path / "decay.cdn").write_text('x = 1\nx\' = "-x"\ny = "1 / (x - x)"\n')
    data = parse(invoke("network", "run", tmp_path / "decay.cdn", "--show", "y"))
    assert set(data["rows"]["y"]) == {"inf"}
    assert np.isfinite(data["rows"]["t"]).all()


def test_help_stays_text():
    assert "Usage:" in invoke("info", "--help").stdout
    assert not wants_json(["--version", "--json"])
    assert wants_json(["info", "--json"])
    assert not wants_json(["model", "info", "--", "--json"])


def test_the_studio_prints_its_address_first(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "homodyn", "studio", "--no-browser", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOMODYN_STATE": str(tmp_path / "state"),
        },
    )
    try:
        head = "".join(process.stdout.readline() for _ in range(3))
        assert json.loads(head)["address"].startswith("http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert rest == ""
    assert process.returncode == 0
