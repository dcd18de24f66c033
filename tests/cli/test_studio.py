"""``homodyn studio`` serves this machine only, requires a token, and ends on Ctrl-C."""

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from http.client import HTTPConnection

import pytest
from typer.testing import CliRunner

from homodyn.cli import app
from support.waiting import until


@pytest.fixture(autouse=True)
def own_state(monkeypatch, tmp_path):
    """Unsaved work of tests is separate from that of the user."""
    monkeypatch.setenv("HOMODYN_STATE", str(tmp_path / "state"))


ADDRESS = re.compile(r"The studio is at http://(?P<host>[^:/]+):(?P<port>\d+)/(?P<query>\S*)")


@contextmanager
def served(*arguments):
    """The command in a separate process: the process, and the host, port and query it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "homodyn", "studio", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUNBUFFERED": "1"},
    )
    try:
        line = process.stdout.readline()
        found = ADDRESS.match(line)
        assert found, line + process.stdout.read()
        yield process, found["host"], int(found["port"]), found["query"]
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def request(port, path="/", **headers):
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", path, headers=names)
    response = connection.getresponse()
    return response.status, response.read().decode(errors="replace"), dict(response.getheaders())


def handshake(port, **headers):
    return request(
        port,
        Upgrade="websocket",
        Connection="Upgrade",
        Sec_WebSocket_Version="13",
        Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==",
        **headers,
    )[0]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_only_the_loopback_and_ends_cleanly(end):
    with served("heiman", "--no-token") as (process, host, port, query):
        assert (host, query) == ("127.0.0.1", "")
        status, page, _ = request(port)
        assert status == 200
        assert "Homodyn studio" in page
        with socket.socket() as outside:
            outside.settimeout(5)
            addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None)}
            for address in addresses - {"127.0.0.1", "::1", "127.0.1.1"}:
                if "." in address:
                    assert outside.connect_ex((address, port)) != 0
        assert request(port, Host="evil.example")[0] == 403
        assert request(port, Origin="http://evil.example")[0] == 403
        assert handshake(port, Origin="http://evil.example") == 403
        process.send_signal(end)
        assert process.wait(30) == 0
        rest = process.stdout.read()
        assert "Traceback" not in rest
        assert "The studio has ended." in rest
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", port))


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_every_address_needs_the_token(address):
    """Also the loopback: other users of this machine reach it, and send no origin."""
    with served("--host", address, "--port", "0") as (_, host, port, query):
        assert host == address
        token = query.removeprefix("?token=")
        assert len(token) > 20
        status, words, _ = request(port)
        assert status == 403
        assert "token" in words
        assert handshake(port) == 403
        status, _, headers = request(port, f"/?token={token}")
        assert status == 200
        cookie = headers["Set-Cookie"].partition(";")[0]
        assert request(port, Cookie=cookie)[0] == 200
        assert handshake(port, Cookie=cookie) == 101


def test_a_port_that_is_taken_is_refused():
    with socket.socket() as occupied:
        occupied.bind(("127.0.0.1", 0))
        occupied.listen()
        port = occupied.getsockname()[1]
        result = CliRunner().invoke(app, ["studio", "--no-browser", "--port", str(port)])
    assert result.exit_code == 1
    assert "choose another --port" in " ".join(result.output.split())


def test_without_viser_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["studio", "--no-browser"])
    assert result.exit_code == 1
    assert "pip install 'homodyn[studio]'" in " ".join(result.output.split())


def test_an_unknown_name_lists_the_catalog():
    result = CliRunner().invoke(app, ["studio", "no-such-model", "--no-browser"])
    assert result.exit_code == 1
    assert "heiman" in result.output


def test_the_demonstration_is_analyzed_while_the_page_is_open():
    from homodyn.studio import Session, demo
    from homodyn.studio.background_tasks import TaskRunner

    session = Session()
    demo.open_recording(session)
    assert session.document.trial.frames > 100
    stages = []
    tasks = TaskRunner(lambda task: stages.append(task.stage))
    task = tasks.start(demo.NAME, lambda task: demo.analyze_recording(session, task))
    until(task.done.is_set, "the analysis", 300)
    assert task.error == ""
    assert "fitting" in stages
    assert session.document.actor.motion.rms < 0.02
    assert session.document.actor.loads is not None
    assert session.clock.playing


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
@pytest.mark.parametrize(
    ("screen", "requested", "opened"), [(":0", True, True), ("", True, False), (":0", False, False)]
)
def test_the_browser_is_opened_where_there_is_one(monkeypatch, screen, requested, opened):
    shown = []
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", screen)
    monkeypatch.setattr("webbrowser.open", shown.append)
    monkeypatch.setattr("homodyn.cli.studio._wait", lambda stop: None)
    flag = "--browser" if requested else "--no-browser"
    result = CliRunner().invoke(app, ["studio", flag, "--port", "0"])
    assert result.exit_code == 0, result.output
    assert bool(shown) == opened
    assert not shown or re.fullmatch(r"file:///.*/open\.html", shown[0])


def test_the_link_for_the_browser_is_private_and_leads_to_the_page(tmp_path):
    from homodyn.cli.studio import _private_link

    link = _private_link("http://127.0.0.1:1/?token=secret&x=1", tmp_path)
    assert "secret" not in link
    assert "url=http://127.0.0.1:1/?token=secret&amp;x=1" in (tmp_path / "open.html").read_text()


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--no-token", "--host", "0.0.0.0"), "--no-token would open the studio to everyone"),
        (("--token", "short"), "8 or more letters"),
        (("--token", "a\r\nSet-Cookie: b=c"), "8 or more letters"),
    ],
)
def test_unsafe_tokens_are_refused(options, expected):
    result = CliRunner().invoke(app, ["studio", "--no-browser", "--port", "0", *options])
    assert result.exit_code == 1
    assert expected in " ".join(result.output.split())
