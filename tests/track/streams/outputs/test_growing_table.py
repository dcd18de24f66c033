import os
import signal
import subprocess
import sys

import pytest

from homodyn.errors import FormatError
from homodyn.track.streams.outputs.growing_table import GrowingTable

WRITER = """
import sys
from pathlib import Path
from homodyn.track.streams.outputs.growing_table import GrowingTable
table = GrowingTable(Path(sys.argv[1]), "rows={rows}\\n")
for k in range(10**9):
    table.append(f"{k},{'x' * 500}")
    if k == 2000:
        print("go", flush=True)
"""


def test_the_number_of_rows_is_in_the_header(tmp_path):
    path = tmp_path / "t.txt"
    table = GrowingTable(path, "head\nnRows={rows}\nend\n")
    for k in range(12):
        table.append(f"row {k}")
        lines = path.read_text().splitlines()
        assert lines[1].strip() == f"nRows={k + 1}"
        assert lines[3:] == [f"row {i}" for i in range(k + 1)]
    table.close()
    table.close()
    with pytest.raises(FormatError, match="closed"):
        table.append("more")


def test_a_kill_loses_no_complete_row(tmp_path):
    path = tmp_path / "t.txt"
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"go\n"
        os.kill(process.pid, signal.SIGKILL)
    head, *rows = path.read_text().splitlines()
    count = int(head.removeprefix("rows="))
    assert count >= 2000
    assert count <= len(rows) <= count + 1
    assert all(row == f"{k},{'x' * 500}" for k, row in enumerate(rows[:count]))


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(FormatError, match="cannot be written"):
        GrowingTable(tmp_path / "absent" / "t.txt", "head\n")
