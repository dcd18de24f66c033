"""``homodyn simulate`` on small models."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from homodyn.cli import app
from homodyn.model import Assembly, joints, rod, save, sphere


def simulate(*words):
    return CliRunner().invoke(app, ["simulate", *map(str, words)])


def test_a_dropped_robot_writes_a_page_a_figure_and_tables(tmp_path):
    out = tmp_path / "dropped"
    done = simulate("coman", "--drop", 0.02, "--hold", 300, "--duration", 0.3, "-o", out)
    assert done.exit_code == 0, done.output
    assert "ran to 0.3 s" in done.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["largest_contact_force"] > 100
    assert (out / "simulation.png").read_bytes()[:4] == b"\x89PNG"
    assert "replay-data" in (out / "replay.html").read_text()
    forces = np.genfromtxt(out / "forces.csv", delimiter=",", names=True)
    assert len(forces) == 301
    energy = np.genfromtxt(out / "energy.csv", delimiter=",", names=True)
    assert np.abs(energy["error"]).max() < 0.5


def test_pose_and_torques_come_from_files(tmp_path):
    model = simulate("coman", "--duration", 0.01, "-o", tmp_path / "plain")
    assert model.exit_code == 0, model.output
    from homodyn import catalog

    names = catalog.coman().coordinate_names
    (tmp_path / "q.csv").write_text(f"{names[1]},{names[4]}\n0.9,0.2\n")
    (tmp_path / "t.csv").write_text(f"time,{names[4]}\n0,0\n0.02,4\n")
    out = tmp_path / "driven"
    done = simulate(
        "coman", "--pose", tmp_path / "q.csv", "--torques", tmp_path / "t.csv",
        "--contact", "none", "--duration", 0.02, "-o", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    positions = np.genfromtxt(out / "positions.csv", delimiter=",", skip_header=1)
    torques = np.genfromtxt(out / "torques.csv", delimiter=",", skip_header=1)
    assert positions[0, 1 + 4] == pytest.approx(0.2)
    assert torques[10, 1 + 4] == pytest.approx(2.0)


def test_a_simulation_continues_from_the_table_of_another(tmp_path):
    """The table of positions, with the quaternion of a floating body, is a pose."""
    assembly = Assembly("ball").add(sphere("ball", 1.0, 0.1), joints.free())
    ball = tmp_path / "ball.toml"
    save(assembly.contact("skin", "ball", "sphere", radius=0.1).model(), ball)
    first = simulate(ball, "--drop", 0.1, "--duration", 0.02, "-o", tmp_path / "first")
    assert first.exit_code == 0, first.output
    table = tmp_path / "first" / "positions.csv"
    head, *rows = table.read_text().splitlines()
    (tmp_path / "last.csv").write_text(f"{head}\n{rows[-1]}\n")
    again = simulate(
        ball, "--pose", tmp_path / "last.csv", "--torques", tmp_path / "first" / "torques.csv",
        "--duration", 0.01, "-o", tmp_path / "second",
    )  # fmt: skip
    assert again.exit_code == 0, again.output
    begun = np.genfromtxt(tmp_path / "second" / "positions.csv", delimiter=",", skip_header=1)
    ended = np.genfromtxt(table, delimiter=",", skip_header=1)
    np.testing.assert_allclose(begun[0, 1:], ended[-1, 1:], atol=1e-9)
    energy = np.genfromtxt(tmp_path / "first" / "energy.csv", delimiter=",", names=True)
    change = energy["kinetic"] + energy["potential"]
    balance = energy["actuators"] + energy["contacts"] - energy["dissipated"] + energy["events"]
    np.testing.assert_allclose(change - change[0], balance + energy["error"], atol=1e-6)


def test_a_model_without_contacts_starts_in_its_neutral_pose(tmp_path):
    arm = Assembly("arm").add(rod("rod", 1.0, (0, 0, 0), (1, 0, 0)), joints.revolute("y"))
    save(arm.model(), tmp_path / "arm.toml")
    done = simulate(tmp_path / "arm.toml", "--duration", 0.1, "-o", tmp_path / "swung")
    assert done.exit_code == 0, done.output
    positions = np.genfromtxt(tmp_path / "swung" / "positions.csv", delimiter=",", skip_header=1)
    assert positions[0, 1] == 0
    assert positions[-1, 1] == pytest.approx(1.5 * 9.81 * 0.1**2 / 2, rel=0.02)
    done = simulate(tmp_path / "arm.toml", "--drop", 0.1, "-o", tmp_path / "dropped")
    assert done.exit_code == 1
    assert "no contacts to stand on" in done.output


def test_errors_are_one_line(tmp_path):
    out = tmp_path / "out"
    done = simulate("coman", "--contact", "sticky", "-o", out)
    assert done.exit_code == 1
    assert "no contact law 'sticky'" in done.output
    (tmp_path / "t.csv").write_text("time,knee\n0,zero\n")
    done = simulate("coman", "--torques", tmp_path / "t.csv", "-o", out)
    assert done.exit_code == 1
    assert "line 2" in done.output
    assert not out.exists()
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    done = simulate("coman", "--duration", 0.01, "-o", out)
    assert done.exit_code == 1
    assert "exists already" in " ".join(done.output.split())
    assert [path.name for path in out.iterdir()] == ["notes.txt"]
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("option", "text", "words"),
    [
        ("--pose", "Pelvis_TX,Nope\n0,1\n", ("q.csv, line 1", "no coordinate 'Nope'", "Pelvis_TZ")),
        ("--torques", "time,Nope\n0,1\n", ("q.csv, line 1", "no coordinate 'Nope'")),
        ("--torques", "time,KneeRight_RY\n0,1\n0.5,nan\n", ("q.csv, line 3", "KneeRight_RY is")),
    ],
)
def test_errors_of_tables_name_the_line(tmp_path, option, text, words):
    (tmp_path / "q.csv").write_text(text)
    done = simulate("heiman", option, tmp_path / "q.csv", "-o", tmp_path / "out")
    assert done.exit_code == 1
    text = " ".join(done.output.split())
    assert all(word in text for word in words), text
    assert not (tmp_path / "out").exists()


def test_a_failing_simulation_writes_its_result_and_exits_with_one(tmp_path):
    out = tmp_path / "broken"
    done = simulate("coman", "--drop", 0.1, "--contact", "soft", "--dt", 0.2, "-o", out)
    assert done.exit_code == 1
    assert "gives a state that is not finite or too large" in done.stdout
    assert json.loads((out / "summary.json").read_text())["status"] == "not_finite"


def test_an_event_driven_run_that_cannot_begin_is_reported(tmp_path):
    out = tmp_path / "sunk"
    done = simulate(
        "coman", "--drop", -0.05, "--contact", "event_driven", "--duration", 0.01, "-o", out
    )
    assert done.exit_code == 1
    assert "a contact starts inside an obstacle at 0 s" in done.stdout
    assert (out / "replay.html").exists()
