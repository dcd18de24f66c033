"""Sandbox for Lua model files: a script computes a table and can do nothing else.

A script has numbers, strings, tables and functions, and may read other Lua files of its own folder
through ``require`` and ``dofile``. It has no access to files, processes, bytecode, coroutines and
Python objects. Instructions, memory and time are limited, and random numbers repeat, so a file
always gives the same table or the same error.

The script runs in a process of its own (`lua_process`), because Lua cannot interrupt its functions
that are written in C, such as a search in a long string. The system limits the processor time and
the memory of the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from homodyn.errors import FormatError
from homodyn.model.formats import lua_process
from homodyn.model.formats.files import read_bytes

MAX_MEMORY_BYTES = 64 * 2**20
"""Memory that a script may use."""
MAX_LUA_FILE_BYTES = 8 * 2**20
"""Size above which a Lua file is refused."""
MAX_RUN_TIME_S = 1.0
MAX_INSTRUCTIONS = 20_000_000
MAX_TABLE_ENTRIES = 100_000
"""Values in the table of a script; a value that is reached twice counts twice."""
MAX_TABLE_DEPTH = 64

MAX_PROCESS_CPU_S = 4
"""Processor time of the process, start and conversion of the table included."""
MAX_PROCESS_MEMORY_BYTES = 1024 * 2**20
"""Address space of the process."""
MAX_PROCESS_TIME_S = 120.0
"""Time that may pass until the process ends, on a machine that is busy with other work."""


@dataclass
class Script:
    """The result of a Lua file: its table, and the text of all files that were read for it.

    Lists of Lua become lists. Other tables become dictionaries with their keys in the order of the
    text, since the order is undefined in Lua. Functions are left out.
    """

    table: dict[Any, Any]
    sources: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    """Number of functions and other values that were left out."""


def run(path: Path) -> Script:
    """Run a Lua file in the sandbox.

    Args:
        path: The file.

    Returns:
        The table that the script returns.

    Raises:
        FormatError: The script fails, exceeds a limit, or does not return a table with names.
    """
    read_bytes(path, MAX_LUA_FILE_BYTES)
    answer = _ask_process(path)
    if "error" in answer:
        raise FormatError(str(answer["error"]), str(path), str(answer["place"]))
    table = _decode(answer["table"])
    if not isinstance(table, dict):
        if table:
            raise FormatError("a model is a table with keys such as frames, not a list", str(path))
        table = {}
    return Script(table, dict(answer["sources"]), int(answer["left_out"]))


def _ask_process(path: Path) -> dict[str, Any]:
    """The answer of a new process that runs a file."""
    request = {
        "path": str(path),
        "cpu_s": MAX_PROCESS_CPU_S,
        "memory": MAX_PROCESS_MEMORY_BYTES,
        "lua_memory": MAX_MEMORY_BYTES,
        "file_bytes": MAX_LUA_FILE_BYTES,
        "instructions": MAX_INSTRUCTIONS,
        "seconds": MAX_RUN_TIME_S,
        "entries": MAX_TABLE_ENTRIES,
        "depth": MAX_TABLE_DEPTH,
    }
    try:
        # -P keeps the folder of the script, which has a module lua, out of the search path.
        done = subprocess.run(
            [sys.executable, "-P", lua_process.__file__],
            input=json.dumps(request).encode(),
            capture_output=True,
            timeout=MAX_PROCESS_TIME_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FormatError(
            f"its script does not end within {MAX_PROCESS_TIME_S:.0f} s", str(path)
        ) from None
    except OSError as error:
        raise FormatError(
            f"the process that runs its script cannot be started: {error}", str(path)
        ) from error
    if done.returncode == 0:
        try:
            answer: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            raise FormatError("the process that ran its script gave no answer", str(path)) from None
        return answer
    if b"MemoryError" in done.stderr:
        raise FormatError(f"its script needs more than {MAX_MEMORY_BYTES // 2**20} MB", str(path))
    if done.returncode < 0:
        raise FormatError(
            f"its script was ended by the limits: {MAX_PROCESS_CPU_S} s of processor time, "
            f"{MAX_PROCESS_MEMORY_BYTES // 2**20} MB of memory",
            str(path),
        )
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
    raise FormatError(f"the process that ran its script failed: {last}", str(path))


def _decode(value: Any) -> Any:
    """Lists and dictionaries of the answer of a process."""
    if not isinstance(value, list):
        return value
    kind, *content = value
    if kind == "list":
        return [_decode(item) for item in content]
    return {key: _decode(item) for key, item in content}
