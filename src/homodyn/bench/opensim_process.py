"""OpenSim in a separate process, and the recordings that both programs read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from homodyn.bench.harness import BenchmarkRow

OPENSIM_TIMEOUT_S = 300.0
"""Time limit of a script (s)."""


def data_folder() -> Path:
    """The folder of recordings: ``HOMODYN_DATA``, else ``../shared/data``."""
    return Path(os.environ.get("HOMODYN_DATA") or Path("..") / "shared" / "data")


def missing_data_row(name: str, unit: str, path: Path) -> BenchmarkRow:
    """The row of a benchmark whose data is missing.

    Args:
        name: What would be measured.
        unit: Its unit.
        path: The missing file or folder.

    Returns:
        A row without figures.
    """
    note = f"{path} does not exist; set HOMODYN_DATA to the folder of recordings"
    return BenchmarkRow(name, None, None, unit, None, None, note)


def run_opensim_script(
    script: str | Path, *arguments: object, timeout: float = OPENSIM_TIMEOUT_S
) -> dict[str, Any]:
    """Run a script that uses OpenSim, in a separate process and a temporary folder.

    Args:
        script: The file of the script. Its last line of output is a JSON object.
        *arguments: Its arguments; paths are made absolute.
        timeout: Time limit (s).

    Returns:
        The JSON object.

    Raises:
        subprocess.SubprocessError: The script failed, or it exceeded its time limit.
    """
    words = [str(each.resolve() if isinstance(each, Path) else each) for each in arguments]
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.run(
            [sys.executable, "-I", str(script), *words],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    return dict(json.loads(process.stdout.splitlines()[-1]))


def write_force_setup(setup: Path, forces: Path, target: Path) -> None:
    """Write the setup of external forces of a recording with the absolute path of its data.

    Args:
        setup: Setup file of the recording.
        forces: Table of the forces.
        target: File to write.
    """
    data = f"<datafile>{forces.resolve()}</datafile>"
    target.write_text(re.sub("<datafile>.*</datafile>", lambda _: data, setup.read_text()))
