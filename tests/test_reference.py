"""The generated pages of the guide are up to date."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("tool", ["write_api_reference.py", "draw_architecture.py"])
def test_generated_pages_are_up_to_date(tool):
    command = [sys.executable, str(REPOSITORY / "tools" / tool), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run python tools/{tool}\n{done.stdout}{done.stderr}"
