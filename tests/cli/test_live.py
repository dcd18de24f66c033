"""``homodyn live`` with a recording, with packets, and with wrong arguments."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner

import homodyn as hd
from homodyn.capture import Trial
from homodyn.cli import app
from homodyn.track.streams.json_messages import format_message
from support.live_arm import LABELS, RATE, arm, arm_frame
from support.reach_experiment import REACH
from support.waiting import until


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab")
    model = arm()
    hd.save(model, folder / "arm.toml")
    positions = np.stack([arm_frame(model, k).positions for k in range(150)])
    hd.capture.write(Trial("swing", LABELS, positions, RATE, start=5.0), folder / "swing.csv")
    return folder


def invoke(*words):
    return CliRunner().invoke(app, ["live", *map(str, words)], prog_name="homodyn")


def test_a_recording(lab, tmp_path):
    result = invoke(
        f"file:{lab / 'swing.csv'}", "--model", lab / "arm.toml", "--calibration", 0,
        "--speed", 5, "--waiting", 0, "-o", tmp_path / "out", "--parquet",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "150 frames" in result.output
    assert "8 of 8 markers of arm are in the stream" in result.output
    assert "filter delay 25 ms by design" in result.output
    rows = pandas.read_csv(tmp_path / "out" / "frames.csv")
    # In the first 25 ms the filter has one result: that of the first frame.
    assert len(rows) == 148
    assert len(pandas.read_parquet(tmp_path / "out" / "frames.parquet")) == 148
    assert hd.capture.read(tmp_path / "out" / "markers.trc", up="y").frames == 150


def test_json(lab):
    result = invoke(
        lab / "swing.csv", "--model", lab / "arm.toml", "--calibration", 0, "--speed", 5,
        "--waiting", 0, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["frames"] == 150
    assert data["tracked"] == data["latency"]["total"]["count"] == 148


def test_a_stream_without_sender_says_so(lab):
    result = invoke("qtm:127.0.0.1:9", "--model", lab / "arm.toml", "--calibration", 0,
                    "--patience", 0.2)  # fmt: skip
    assert result.exit_code == 1
    assert "qtm:127.0.0.1:9 does not answer" in result.output


def test_the_headset_page_and_an_experiment(lab, tmp_path):
    (tmp_path / "reach.toml").write_text(REACH)
    result = invoke(
        lab / "swing.csv", "--model", lab / "arm.toml", "--calibration", 0, "--speed", 5,
        "--waiting", 0, "--headset", 0, "--experiment", tmp_path / "reach.toml",
        "-o", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "The headset page is at http://127.0.0.1:" in result.output
    assert (tmp_path / "out" / "trials" / "trials.csv").exists()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["markers"], "lsl:NAME"),
        (["file:absent.c3d"], "no such file"),
        (["udp:9", "--calibration", "-1"], "calibration_s"),
        (["udp:9", "--window", "20", "--delay", "30"], "delay"),
        (["udp:9", "--model", "nobody"], "nobody"),
        (["udp:9", "--experiment", "absent.toml"], "absent.toml"),
    ],
)
def test_wrong_arguments(words, reason):
    result = invoke(*words)
    assert result.exit_code != 0
    assert reason in result.output


def test_a_folder_with_files_is_not_changed(lab, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    result = invoke(lab / "swing.csv", "--model", lab / "arm.toml", "-o", tmp_path)
    assert result.exit_code == 1
    assert "--overwrite" in result.output


def test_a_killed_session_leaves_whole_files(lab, tmp_path):
    """Packets over UDP into a process that is killed: all frames that it computed are in files."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    out = tmp_path / "out"
    words = [f"udp:{port}", "--model", lab / "arm.toml", "--calibration", 0, "-o", out]
    command = [sys.executable, "-m", "homodyn", "live", *map(str, words)]
    stop = threading.Event()
    model = arm()

    def send():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            k = 0
            while not stop.wait(0.01):
                frame = arm_frame(model, k)
                message = format_message(frame.time, frame.labels, frame.positions, k)
                sender.sendto(message.encode(), ("127.0.0.1", port))
                k += 1

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        table = out / "frames.csv"
        until(lambda: table.exists() and table.read_text().count("\n") > 50, "50 frames")
        os.kill(process.pid, signal.SIGKILL)
    stop.set()
    thread.join()
    rows = pandas.read_csv(table)
    assert len(rows) >= 49
    assert rows.drop(columns="marker_error_mm").notna().all(axis=None)
    motion = hd.capture.read_table(out / "motion.mot")
    assert abs(len(motion.time) - len(rows)) <= 1
    assert hd.capture.read(out / "markers.trc", up="y").frames >= len(rows)
