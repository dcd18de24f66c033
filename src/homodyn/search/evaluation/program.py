"""Evaluation of candidates by another program, in any language.

The program is started once per candidate. It reads one task as JSON from standard input and writes
one result as JSON to standard output (van den Kieboom 2014, Tables 3.3 and 3.4)::

    {"id": "7.12", "dispatcher": "walker", "parameters": {"k": 1.5}, "structure": {},
     "settings": {}, "seed": 4}
    {"id": "7.12", "status": "success", "fitness": {"speed": 1.2}, "data": {"steps": 9}}

Any other status than "success" is a failure, with "message" as its reason. When the program fails,
the last line of its standard error is recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from homodyn.search.evaluation.resource_limits import TimeLimit

MAX_MESSAGE_CHARACTERS = 500
MAX_OUTPUT_BYTES = 64 * 2**20
"""Bytes that a program may write."""


class ProgramError(Exception):
    """A program that could not be started, failed, or did not write a result."""


class OutOfMemory(Exception):
    """A program that ran out of memory."""


def run_program(
    command: Sequence[str],
    task: Mapping[str, Any],
    *,
    folder: Path | None,
    time_limit: float | None,
    memory_limit: float | None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Evaluate a task by a program.

    Args:
        command: The program and its arguments.
        task: The task as plain data.
        folder: Working folder of the program.
        time_limit: Limit of its time (s).
        memory_limit: Limit of its memory (MB).

    Returns:
        Objectives and other data.

    Raises:
        ProgramError: The program could not be started, failed, or did not write a result.
        OutOfMemory: It ran out of memory.
        TimeLimit: The time limit was reached.
    """
    arguments = list(command)
    if memory_limit is not None and shutil.which("sh"):
        limit = f'ulimit -v {int(memory_limit * 1024)} && exec "$@"'
        arguments = ["sh", "-c", limit, "sh", *arguments]
    try:
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            # A process group, so that processes that the program starts end with it.
            start_new_session=True,
        )
    except OSError as error:
        raise ProgramError(f"{command[0]!r} cannot be started: {error.strerror}") from None
    try:
        output, errors = _communicate(process, json.dumps(task) + "\n", time_limit)
    except BaseException:
        _kill(process)
        process.wait()
        raise
    if output is None:
        raise ProgramError(f"{command[0]!r} wrote more than {MAX_OUTPUT_BYTES // 2**20} MB")
    if process.returncode:
        message = _last_line(errors)
        if memory_limit is not None and _is_out_of_memory(process.returncode, errors):
            raise OutOfMemory(message)
        ending = (
            f"was ended by signal {-process.returncode}"
            if process.returncode < 0
            else f"ended with code {process.returncode}"
        )
        raise ProgramError(f"{command[0]!r} {ending}" + (f": {message}" if message else ""))
    return _parse_result(command[0], output, task["id"])


def _communicate(
    process: subprocess.Popen[bytes], text: str, time_limit: float | None
) -> tuple[str | None, str]:
    """Send text to a program and read its output and errors; None for too much output.

    ``Popen.communicate`` would collect output without limit.
    """
    writer = threading.Thread(target=_write_input, args=(process, text.encode()), daemon=True)
    readers = [_OutputReader(process, process.stdout), _OutputReader(process, process.stderr)]
    start = time.monotonic()
    for thread in (writer, *readers):
        thread.start()
    # Processes that the program started may keep its output open after it has ended.
    for thread in readers:
        thread.join(None if time_limit is None else time_limit - (time.monotonic() - start))
        if thread.is_alive():
            raise TimeLimit
    left = None if time_limit is None else max(time_limit - (time.monotonic() - start), 0.0)
    try:
        process.wait(left)
    except subprocess.TimeoutExpired:
        raise TimeLimit from None
    output, errors = (bytes(reader.content).decode("utf-8", "replace") for reader in readers)
    return (None if any(reader.full for reader in readers) else output), errors


def _write_input(process: subprocess.Popen[bytes], content: bytes) -> None:
    """Write to the standard input of a program, which need not read it."""
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin:
        process.stdin.write(content)


class _OutputReader(threading.Thread):
    """Reads the output of a program, and ends a program that writes too much."""

    def __init__(self, process: subprocess.Popen[bytes], stream: IO[bytes] | None) -> None:
        super().__init__(daemon=True)
        assert stream is not None
        self._process, self._stream = process, stream
        self.content = bytearray()
        self.full = False

    def run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 2**16):
                self.content += chunk
                if len(self.content) > MAX_OUTPUT_BYTES:
                    self.full = True
                    _kill(self._process)
                    return


def _parse_result(name: str, output: str, task: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Objectives and other data in the output of a program."""
    try:
        result = json.loads(output)
    except ValueError:
        raise ProgramError(f"{name!r} wrote {_last_line(output)!r}; expected JSON") from None
    if not isinstance(result, dict):
        raise ProgramError(f"{name!r} did not write a JSON object")
    if result.get("id", task) != task:
        raise ProgramError(f"{name!r} wrote the result of task {result['id']!r}, not {task!r}")
    if result.get("status", "success") != "success":
        raise ProgramError(str(result.get("message", result["status"]))[:MAX_MESSAGE_CHARACTERS])
    fitness, data = result.get("fitness"), result.get("data", {})
    if not isinstance(fitness, dict):
        raise ProgramError(f"{name!r} wrote a result without an object 'fitness'")
    return fitness, data if isinstance(data, dict) else {"data": data}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and the processes that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError, AttributeError):
        os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _is_out_of_memory(code: int, errors: str) -> bool:
    words = ("memory", "bad_alloc", "MemoryError", "alloc")
    return any(word in errors for word in words) or code in (-signal.SIGKILL, 137)


def _last_line(text: str) -> str:
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1].strip()[:MAX_MESSAGE_CHARACTERS] if lines else ""
