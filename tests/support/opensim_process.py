"""OpenSim beside the tests: one process that answers questions about models and splines."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest


class OpenSim:
    """The process of ``opensim_peer.py``; a call asks it one question."""

    def __init__(self, folder: Path) -> None:
        script = Path(__file__).parent.parent / "model" / "opensim_peer.py"
        # OpenSim writes a log into the folder it runs in.
        self.process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )

    def __call__(self, ask: str, **request):
        self.process.stdin.write(json.dumps({"ask": ask, **request}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"OpenSim ended while it was asked for {ask}"
        reply = json.loads(line)
        assert "error" not in reply, f"OpenSim refuses {ask}: {reply['error']}"
        return reply["answer"]

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture(scope="session")
def opensim(tmp_path_factory):
    """Ask OpenSim, if it is installed."""
    if importlib.util.find_spec("opensim") is None:
        pytest.skip("opensim is not installed")
    peer = OpenSim(tmp_path_factory.mktemp("opensim"))
    yield peer
    peer.close()
